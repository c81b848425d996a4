"""The first ranges of an int8 model, one instruction at a time: each result is computed, measured, and computed again.

Walks a section of the program on one batch, without updates and what is made for them alone. After an instruction with
a peak, the scale becomes peak / limit, whatever it was, and the instruction runs again in that scale. The range of the
input leaves out a sample that is far beyond the others of the batch. The same as native/calibrate.c, to the bit, for
engines without ``calibrate``: a firmware with kernels does not freeze this module.
"""

import sys

_BEFORE = list(sys.modules)  # that unload() leaves

from ..base.fixed import UNSEEN, get, put, scale_shift
from ..base.regions import ARENA, CONTROL, COUNT, POSITION, REGION_SHIFT, STATE
from ..plan import drop
from ..plan.listing import updates
from .calibration import MASK, ROUNDS, follow, scales_of, tidy

_COUNTERS = ("tick", "step_key")  # of steps, and the key of their random numbers
_READS = ("gather_i8", "gather_norm_i8")  # the samples
_BEYOND = 2  # an input's range is at most 2^2 times that of the batch's median sample

# What this module and calibration.py import, when they run, too.
_MODULES = (
    "run.calibration", "run.stepwise", "plan.listing", "base.opcodes", "base.lines", "recurrent.instructions",
    "attention.instructions", "embedding.instructions", "adapt.instructions",
)  # fmt: skip
_OWN = __name__, "odt.run.calibration"


def unload():
    """Unload this module, calibration.py and what they have imported, where they are files and so lie in RAM."""
    if __file__.endswith(".mpy"):
        for name in _MODULES:
            name = "odt." + name
            if name not in _BEFORE or name in _OWN:
                drop(name)


def calibrate(program, section, engine, loaded, regions, start=None, parts=None, number=1):
    """Set every scale of the section, from its first instruction or that at ``start``, that follows a peak.

    Of a batch in ``number`` micro-batches ``for _ in parts()`` points at each. Each has an arena, if there is memory
    for that; else all before an instruction is run again for each of them.
    """
    own = regions[ARENA]
    arenas = [own] * number
    try:
        arenas = [own] + [bytearray(len(own)) for _ in range(1, number)]
    except MemoryError:
        pass
    try:
        _calibrate(program, section, engine, loaded, regions, start, parts, arenas)
    finally:
        regions[ARENA] = own
    tidy()


def _calibrate(program, section, engine, loaded, regions, start, parts, arenas):
    def runs():
        """For each micro-batch, its arena is the program's."""
        for _, arena in zip(parts() if len(arenas) > 1 else arenas, arenas):
            regions[ARENA] = arena
            yield arena

    first, stop = program.section(section)
    start = first if start is None else start
    shared = len(arenas) > 1 and arenas[0] is arenas[1]
    scales = _forgotten(program, regions)
    seen = []  # peaks of earlier instructions
    forward = []  # those of the forward pass
    forward_end = program.section("evaluate")[1]
    done = []  # (start, stop, addresses) of what ran
    for at, code, addresses, immediates in program.walk(start, stop):
        if _is_left_out(code, addresses, at >= forward_end):
            continue
        end = at + code.words
        done.append((at, end, addresses))
        kept, lost = (None, True) if shared else _kept(code, addresses, immediates, arenas)
        names = [operand[0] for operand in code.operands]
        peak = addresses[names.index("peak")] if "peak" in names else None
        if not shared:
            for _ in runs():
                engine.run(loaded, regions, at, end)
        if peak not in scales or (at >= forward_end and peak in forward):
            continue  # none, a fixed scale, or an activation that is computed once more
        scale, limit = scales[peak]
        # Inputs that are overwritten, or whose scale this result shares, must be made again.
        whole = lost or peak in seen
        seen.append(peak)
        if at < forward_end:
            forward.append(peak)
        named = [each for each in done if each[0] == at or scale in each[2]]
        if shared:
            _run_all(engine, loaded, regions, done, runs, peak, True)
        for _ in range(ROUNDS):
            if not follow(regions, arenas, peak, scale, limit):
                break
            whole = whole or _overwritten(program, named[0][0], end, scale)
            if shared:
                _run_all(engine, loaded, regions, done, runs, peak, False)
                continue
            for number, arena in enumerate(runs()):
                for first, last, _ in done if whole else named:
                    if kept and first == at and not whole:
                        offset = addresses[0] & MASK
                        arena[offset : offset + len(kept[number])] = kept[number]
                    engine.run(loaded, regions, first, last)
        if code.name in _READS and section == "train":
            found = []
            for _ in runs():
                found += _sample_scales(engine, loaded, regions, at, end, peak, scale, limit)
            _leave_out(regions[STATE], scale, found)
            for _ in runs():
                engine.run(loaded, regions, at, end)


def _run_all(engine, loaded, regions, done, runs, peak, alone):
    """Run what is ``done`` for each micro-batch, in one arena. The peak is the largest, of the last instruction
    ``alone`` or of all.
    """
    largest = 0
    for arena in runs():
        for first, last, _ in done:
            if alone and first == done[-1][0]:
                put(arena, peak & MASK, 0)
            engine.run(loaded, regions, first, last)
        largest = max(largest, get(arena, peak & MASK))
    put(arena, peak & MASK, largest)


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


def _forgotten(program, regions):
    """_scales(), each as at first: whatever an interrupted calibration has left there."""
    scales = scales_of(program)
    for scale, _ in scales.values():
        put(regions[scale >> REGION_SHIFT], scale & MASK, UNSEEN)
    return scales


def _is_left_out(code, addresses, backward):
    """Whether no range depends on an instruction: it updates, makes a gradient of weights or counts steps."""
    return code.name in _COUNTERS or backward and (code.name.endswith("_dw_i8") or updates(code, addresses))


def _sample_scales(engine, loaded, regions, at, end, peak, scale, limit):
    """The scale that each sample of the batch would have on its own; none of those that are 0."""
    control, state = regions[CONTROL], regions[STATE]
    position, count, before = control[POSITION], control[COUNT], get(state, scale & MASK)
    found = []
    control[COUNT] = 1
    for row in range(count):
        control[POSITION] = position + row
        put(state, scale & MASK, UNSEEN)
        for _ in range(ROUNDS):
            engine.run(loaded, regions, at, end)
            if not follow(regions, (regions[ARENA],), peak, scale, limit):
                break
        word = get(state, scale & MASK)
        if word != UNSEEN:
            found.append(word)
    control[POSITION], control[COUNT] = position, count
    put(state, scale & MASK, before)
    return found


def _leave_out(state, scale, found):
    """Limit the input's scale by the median of its samples' scales."""
    found.sort()
    if found:
        most = scale_shift(found[len(found) // 2], _BEYOND)
        put(state, scale & MASK, min(get(state, scale & MASK), most))
