"""The first ranges of an int8 model, one instruction at a time: each result is computed, measured, and computed again.

Walks a section of the program on one batch, without updates and what is made for them alone. After an instruction with
a peak, the scale becomes peak / limit, whatever it was, and the instruction runs again in that scale. The range of the
input leaves out a sample that is far beyond the others of the batch. The same as native/calibrate.c, to the bit, for
engines without ``calibrate``: a firmware with kernels does not freeze this module.
"""

import sys

_BEFORE = list(sys.modules)  # that unload() leaves

from ..base.regions import ARENA, REGION_SHIFT, STATE
from ..plan import drop
from .calibration import MASK, READS, ROUNDS, follow, forgotten, is_left_out, leave_out, sample_scales, tidy

# What this module and calibration.py import, when they run, too.
_MODULES = (
    "run.calibration", "run.stepwise", "plan.listing", "base.opcodes", "base.lines", "base.primitives", "run.weights",
    "plan.values", "recurrent.instructions", "attention.instructions", "embedding.instructions",
    "adapt.instructions",
)  # fmt: skip
_OWN = __name__, "odt.run.calibration"


def unload():
    """Unload this module, calibration.py and what they have imported, where they are files and so lie in RAM."""
    if __file__.endswith(".mpy"):
        for name in _MODULES:
            name = "odt." + name
            if name not in _BEFORE or name in _OWN:
                drop(name)


def calibrate(program, section, engine, loaded, regions, start=None, parts=None, arenas=()):
    """Set every scale of the section, from its first instruction or that at ``start``, that follows a peak.

    With ``parts``, of a batch in micro-batches: ``for _ in parts()`` points at each, and ``arenas`` has one for each.
    """
    arenas = arenas or (regions[ARENA],)

    def runs():
        """For each micro-batch, its arena is the program's."""
        for _, arena in zip(parts() if parts else arenas, arenas):
            regions[ARENA] = arena
            yield arena

    first, stop = program.section(section)
    start = first if start is None else start
    scales = forgotten(program, regions)
    seen = []  # peaks of earlier instructions
    forward = []  # those of the forward pass
    forward_end = program.section("evaluate")[1]
    done = []  # (start, stop, addresses) of what ran
    for at, code, addresses, immediates in program.walk(start, stop):
        if is_left_out(code, addresses, at >= forward_end):
            continue
        end = at + code.words
        done.append((at, end, addresses))
        kept, lost = _kept(code, addresses, immediates, arenas)
        for _ in runs():
            engine.run(loaded, regions, at, end)
        names = [operand[0] for operand in code.operands]
        if "peak" not in names:
            continue
        peak = addresses[names.index("peak")]
        if peak not in scales or (at >= forward_end and peak in forward):
            continue  # a fixed scale, or an activation that is computed once more
        scale, limit = scales[peak]
        # Inputs that are overwritten, or whose scale this result shares, must be made again.
        whole = lost or peak in seen
        seen.append(peak)
        if at < forward_end:
            forward.append(peak)
        named = [each for each in done if each[0] == at or scale in each[2]]
        for _ in range(ROUNDS):
            if not follow(regions, arenas, peak, scale, limit):
                break
            whole = whole or _overwritten(program, named[0][0], end, scale)
            for number, arena in enumerate(runs()):
                for first, last, _ in done if whole else named:
                    if kept and first == at and not whole:
                        offset = addresses[0] & MASK
                        arena[offset : offset + len(kept[number])] = kept[number]
                    engine.run(loaded, regions, first, last)
        if code.name in READS and section == "train":
            found = []
            for _ in runs():
                found += sample_scales(engine, loaded, regions, at, end, peak, scale, limit)
            leave_out(regions[STATE], scale, found)
            for _ in runs():
                engine.run(loaded, regions, at, end)
    tidy()


def _kept(code, addresses, immediates, arenas):
    """(of each arena what an instruction with a peak reads where it writes, whether there is no memory for that)."""
    if addresses.count(addresses[0]) < 2 or "peak" not in [operand[0] for operand in code.operands]:
        return None, False
    offset = addresses[0] & MASK
    try:
        size = code.bytes(0, dict(zip(code.immediates, immediates)))
        return [bytes(memoryview(arena)[offset : offset + size]) for arena in arenas], False
    except MemoryError:
        return None, True


def _overwritten(program, start, stop, scale):
    """Whether an instruction that reads the scale has lost an input since."""
    inputs = []
    for _, code, addresses, immediates in program.walk(start, stop):
        sizes = dict(zip(code.immediates, immediates))
        reads = []
        for number, address in enumerate(addresses):
            if address >> REGION_SHIFT != ARENA:
                continue
            extent = address, address + code.bytes(number, sizes)
            if code.operands[number][1] == ":":
                reads.append(extent)
            elif any([first < extent[1] and address < last for first, last in inputs]):
                return True
        if scale in addresses:
            inputs += reads
    return False
