"""The first ranges of an int8 model: each result is computed, measured, and computed again.

Walks a section of the program on one batch, without updates and what is made for them alone. After an instruction with
a peak, the scale becomes peak / limit, whatever it was, and the instruction runs again in that scale. The range of the
input leaves out a sample that is far beyond the others of the batch. Where all kernels are one ``_odt``,
session.calibrate_words() has it do this in one call instead (native/calibrate.c), to the same bits, and a first step
with it.
"""

import sys
from array import array

_BEFORE = list(sys.modules)  # that complete() does not unload

from ..base.fixed import get, put, scale_div, scale_int, scale_mul, scale_shift
from ..base.regions import ARENA, CONTROL, COUNT, POSITION, REGION_SHIFT, SAMPLES, STATE
from ..plan import drop
from ..plan.listing import updates
from .weights import UNSEEN

# What this module imports, when it runs, too.
_MODULES = (
    "run.calibration", "plan.listing", "base.opcodes", "base.lines", "base.primitives", "run.weights", "plan.values"
)  # fmt: skip
_COUNTERS = ("tick", "step_key")  # of steps, and the key of their random numbers
_READS = ("gather_i8", "gather_norm_i8")  # the samples
_MASK = (1 << REGION_SHIFT) - 1
_ROUNDS = 8  # a result may overflow its first scale by more than an int32 holds
_BEYOND = 2  # an input's range is at most 2^2 times that of the batch's median sample


def complete(session, section, done, whole):
    """What the engine's part of Session.calibrate(), if it has ``done`` one, leaves: all ranges; and with ``whole``
    those of the later batches.

    Afterwards this module, in RAM if it is a file, and what it has imported are unloaded.
    """
    count, size = session.control[SAMPLES], session.batch_size
    what = (session.program, section, session.engine, session.loaded, session.regions)
    if not done and session.rows < session.count:
        calibrate_parts(*what, lambda: session.starts(0, count), (session.count + session.rows - 1) // session.rows)
    elif not done:
        for _ in session.starts(0, count):
            calibrate(*what)
    if whole:
        found = peaks(session.program)
        for position in range(size, count, size):
            widen(found, session, lambda: session.starts(position, count))
    if __file__.endswith(".mpy"):
        for name in _MODULES:
            name = "odt." + name
            if name == __name__ or name not in _BEFORE:
                drop(name)


def _scales(program):
    """Address of a peak -> (address of the scale in the state, limit)."""
    scales = {}
    for _, code, addresses, immediates in program.walk(*program.section("train")):
        if code.name in ("range_i8", "range_x_i8"):
            scales[addresses[-1]] = addresses[0], immediates[0]
    return scales


def _is_left_out(code, addresses, backward):
    """Whether no range depends on an instruction: it updates, makes a gradient of weights or counts steps."""
    return code.name in _COUNTERS or backward and (code.name.endswith("_dw_i8") or updates(code, addresses))


def _forgotten(program, regions):
    """_scales(), each as at first: whatever an interrupted calibration has left there."""
    scales = _scales(program)
    for scale, _ in scales.values():
        put(regions[scale >> REGION_SHIFT], scale & _MASK, UNSEEN)
    return scales


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
        for _ in range(_ROUNDS):
            if not _follow(regions, arenas, peak, scale, limit):
                break
            whole = whole or _overwritten(program, named[0][0], end, scale)
            for number, arena in enumerate(runs()):
                for first, last, _ in done if whole else named:
                    if kept and first == at and not whole:
                        offset = addresses[0] & _MASK
                        arena[offset : offset + len(kept[number])] = kept[number]
                    engine.run(loaded, regions, first, last)
        if code.name in _READS and section == "train":
            found = []
            for _ in runs():
                found += _sample_scales(engine, loaded, regions, at, end, peak, scale, limit)
            _leave_out(regions[STATE], scale, found)
            for _ in runs():
                engine.run(loaded, regions, at, end)
    _tidy()


def _kept(code, addresses, immediates, arenas):
    """(of each arena what an instruction with a peak reads where it writes, whether there is no memory for that)."""
    if addresses.count(addresses[0]) < 2 or "peak" not in [operand[0] for operand in code.operands]:
        return None, False
    offset = addresses[0] & _MASK
    try:
        size = code.bytes(0, dict(zip(code.immediates, immediates)))
        return [bytes(memoryview(arena)[offset : offset + size]) for arena in arenas], False
    except MemoryError:
        return None, True


def _tidy():
    """Drop the instructions that walks have decoded, which lie all over the heap."""
    from ..base.opcodes import forget

    forget()


def calibrate_parts(program, section, engine, loaded, regions, parts, number):
    """The same, to the same bits, of a batch in ``number`` micro-batches: ``for _ in parts()`` points at each.

    Without memory for an arena for each, all of them are run again from the start for every peak.
    """
    own = regions[ARENA]
    try:
        arenas = [own] + [bytearray(len(own)) for _ in range(1, number)]
    except MemoryError:
        return _calibrate_in_turn(program, section, engine, loaded, regions, parts)
    try:
        calibrate(program, section, engine, loaded, regions, None, parts, arenas)
    finally:
        regions[ARENA] = own


def _calibrate_in_turn(program, section, engine, loaded, regions, parts):
    start, stop = program.section(section)
    scales = _forgotten(program, regions)
    arena = regions[ARENA]
    forward = []  # peaks of the forward pass
    forward_end = program.section("evaluate")[1]
    done = []  # [start, stop] of what comes before
    for at, code, addresses, _ in program.walk(start, stop):
        if _is_left_out(code, addresses, at >= forward_end):
            continue
        end = at + code.words
        names = [operand[0] for operand in code.operands]
        peak = addresses[names.index("peak")] if "peak" in names else None
        if peak in scales and not (at >= forward_end and peak in forward):
            if at < forward_end:
                forward.append(peak)
            scale, limit = scales[peak]
            for number in range(_ROUNDS):
                largest = 0
                for _ in parts():
                    for first, last in done:
                        engine.run(loaded, regions, first, last)
                    if number == 0:  # as in calibrate, this instruction's alone
                        put(arena, peak & _MASK, 0)
                    engine.run(loaded, regions, at, end)
                    largest = max(largest, get(arena, peak & _MASK))
                put(arena, peak & _MASK, largest)
                if not _follow(regions, (arena,), peak, scale, limit):
                    break
            if code.name in _READS and section == "train":
                found = []
                for _ in parts():
                    found += _sample_scales(engine, loaded, regions, at, end, peak, scale, limit)
                _leave_out(regions[STATE], scale, found)
        if done and done[-1][1] == at:
            done[-1][1] = end
        else:
            done.append([at, end])
    _tidy()


def peaks(program):
    """Of every scale that follows a peak: offset of the peak in the arena, address of the scale, limit."""
    found = array("i")
    for peak, (scale, limit) in _scales(program).items():
        for word in (peak & _MASK, scale, limit):
            found.append(word)
    _tidy()
    return found


def held(session):
    """The peaks() of the session's program, found once."""
    if session.peaks is None:
        session.peaks = peaks(session.program)
    return session.peaks


def widen(found, session, parts, rows=0):
    """Run what ``parts()`` points at forward, from where it yields, until every range holds it; ``rows``: as run() has
    it.

    ``found``: of peaks(). A range that was too small hides how far the next ones are, hence a round for each at most.
    """
    arena = session.arena
    for _ in range(_ROUNDS + len(found)):
        for start in parts():
            session.engine.run(session.loaded, session.regions, start, session.sections["predict"][1], rows)
        grown = False
        for at in range(0, len(found), 3):
            if get(arena, found[at]) > found[at + 2]:
                grown = _follow(session.regions, (arena,), found[at], found[at + 1], found[at + 2])
        if not grown:
            break


def _sample_scales(engine, loaded, regions, at, end, peak, scale, limit):
    """The scale that each sample of the batch would have on its own; none of those that are 0."""
    control, state = regions[CONTROL], regions[STATE]
    position, count, before = control[POSITION], control[COUNT], get(state, scale & _MASK)
    found = []
    control[COUNT] = 1
    for row in range(count):
        control[POSITION] = position + row
        put(state, scale & _MASK, UNSEEN)
        for _ in range(_ROUNDS):
            engine.run(loaded, regions, at, end)
            if not _follow(regions, (regions[ARENA],), peak, scale, limit):
                break
        word = get(state, scale & _MASK)
        if word != UNSEEN:
            found.append(word)
    control[POSITION], control[COUNT] = position, count
    put(state, scale & _MASK, before)
    return found


def _leave_out(state, scale, found):
    """Limit the input's scale by the median of its samples' scales."""
    found.sort()
    if found:
        most = scale_shift(found[len(found) // 2], _BEYOND)
        put(state, scale & _MASK, min(get(state, scale & _MASK), most))


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


def _follow(regions, arenas, peak, scale, limit):
    """Set the scale from the largest of the arenas' peaks and clear these; False when it fits already."""
    memory = regions[scale >> REGION_SHIFT]
    largest = max([get(arena, peak & _MASK) for arena in arenas])
    for arena in arenas:
        put(arena, peak & _MASK, 0)
    if largest == 0 or limit * 7 // 8 < largest <= limit:
        return False
    offset = scale & _MASK
    ratio = scale_div(scale_int(largest), scale_int(limit))
    put(memory, offset, scale_mul(get(memory, offset), ratio))
    return True
