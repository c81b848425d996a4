"""The first ranges of an int8 model: what is left to do where the engine finds them, and of batches in parts.

Where all kernels are one ``_odt``, session.calibrate_words() finds all ranges of one batch in one call
(native/calibrate.c); elsewhere stepwise.py does. Here are the ranges of later batches, and those of micro-batches.
"""

from array import array

from ..base.fixed import get, put, scale_div, scale_int, scale_mul, scale_shift
from ..base.regions import ARENA, CONTROL, COUNT, POSITION, REGION_SHIFT, SAMPLES, STATE
from ..plan.listing import updates
from .weights import UNSEEN

_COUNTERS = ("tick", "step_key")  # of steps, and the key of their random numbers
READS = ("gather_i8", "gather_norm_i8")  # the samples
MASK = (1 << REGION_SHIFT) - 1
ROUNDS = 8  # a result may overflow its first scale by more than an int32 holds
_BEYOND = 2  # an input's range is at most 2^2 times that of the batch's median sample


def complete(session, section, done, whole, calibrate):
    """What the engine's part of Session.calibrate(), if it has ``done`` one, leaves: all ranges, by ``calibrate`` of
    stepwise.py, if it is there; and with ``whole`` those of the later batches.
    """
    count, size = session.control[SAMPLES], session.batch_size
    what = (session.program, section, session.engine, session.loaded, session.regions)
    if not done and session.rows < session.count:
        _calibrate_parts(what, lambda: session.starts(0, count), -(-session.count // session.rows), calibrate)
    elif not done:
        for _ in session.starts(0, count):
            calibrate(*what)
    if whole:
        found = peaks(session.program)
        for position in range(size, count, size):
            widen(found, session, lambda: session.starts(position, count))


def _scales(program):
    """Address of a peak -> (address of the scale in the state, limit)."""
    scales = {}
    for _, code, addresses, immediates in program.walk(*program.section("train")):
        if code.name in ("range_i8", "range_x_i8"):
            scales[addresses[-1]] = addresses[0], immediates[0]
    return scales


def is_left_out(code, addresses, backward):
    """Whether no range depends on an instruction: it updates, makes a gradient of weights or counts steps."""
    return code.name in _COUNTERS or backward and (code.name.endswith("_dw_i8") or updates(code, addresses))


def forgotten(program, regions):
    """_scales(), each as at first: whatever an interrupted calibration has left there."""
    scales = _scales(program)
    for scale, _ in scales.values():
        put(regions[scale >> REGION_SHIFT], scale & MASK, UNSEEN)
    return scales


def tidy():
    """Drop the instructions that walks have decoded, which lie all over the heap."""
    from ..base.opcodes import forget

    forget()


def _calibrate_parts(what, parts, number, calibrate):
    """The same, to the same bits, of a batch in ``number`` micro-batches: ``for _ in parts()`` points at each.

    Without memory for an arena for each, all of them are run again from the start for every peak.
    """
    regions = what[-1]
    own = regions[ARENA]
    try:
        arenas = calibrate and [own] + [bytearray(len(own)) for _ in range(1, number)]
    except MemoryError:
        arenas = None
    if not arenas:
        return _calibrate_in_turn(*what, parts)
    try:
        calibrate(*what, None, parts, arenas)
    finally:
        regions[ARENA] = own


def _calibrate_in_turn(program, section, engine, loaded, regions, parts):
    start, stop = program.section(section)
    scales = forgotten(program, regions)
    arena = regions[ARENA]
    forward = []  # peaks of the forward pass
    forward_end = program.section("evaluate")[1]
    done = []  # [start, stop] of what comes before
    for at, code, addresses, _ in program.walk(start, stop):
        if is_left_out(code, addresses, at >= forward_end):
            continue
        end = at + code.words
        names = [operand[0] for operand in code.operands]
        peak = addresses[names.index("peak")] if "peak" in names else None
        if peak in scales and not (at >= forward_end and peak in forward):
            if at < forward_end:
                forward.append(peak)
            scale, limit = scales[peak]
            for number in range(ROUNDS):
                largest = 0
                for _ in parts():
                    for first, last in done:
                        engine.run(loaded, regions, first, last)
                    if number == 0:  # as in calibrate, this instruction's alone
                        put(arena, peak & MASK, 0)
                    engine.run(loaded, regions, at, end)
                    largest = max(largest, get(arena, peak & MASK))
                put(arena, peak & MASK, largest)
                if not follow(regions, (arena,), peak, scale, limit):
                    break
            if code.name in READS and section == "train":
                found = []
                for _ in parts():
                    found += sample_scales(engine, loaded, regions, at, end, peak, scale, limit)
                leave_out(regions[STATE], scale, found)
        if done and done[-1][1] == at:
            done[-1][1] = end
        else:
            done.append([at, end])
    tidy()


def peaks(program):
    """Of every scale that follows a peak: offset of the peak in the arena, address of the scale, limit."""
    found = array("i")
    for peak, (scale, limit) in _scales(program).items():
        for word in (peak & MASK, scale, limit):
            found.append(word)
    tidy()
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
    for _ in range(ROUNDS + len(found)):
        for start in parts():
            session.engine.run(session.loaded, session.regions, start, session.sections["predict"][1], rows)
        grown = False
        for at in range(0, len(found), 3):
            if get(arena, found[at]) > found[at + 2]:
                grown = follow(session.regions, (arena,), found[at], found[at + 1], found[at + 2])
        if not grown:
            break


def sample_scales(engine, loaded, regions, at, end, peak, scale, limit):
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


def leave_out(state, scale, found):
    """Limit the input's scale by the median of its samples' scales."""
    found.sort()
    if found:
        most = scale_shift(found[len(found) // 2], _BEYOND)
        put(state, scale & MASK, min(get(state, scale & MASK), most))


def follow(regions, arenas, peak, scale, limit):
    """Set the scale from the largest of the arenas' peaks and clear these; False when it fits already."""
    memory = regions[scale >> REGION_SHIFT]
    largest = max([get(arena, peak & MASK) for arena in arenas])
    for arena in arenas:
        put(arena, peak & MASK, 0)
    if largest == 0 or limit * 7 // 8 < largest <= limit:
        return False
    offset = scale & MASK
    ratio = scale_div(scale_int(largest), scale_int(limit))
    put(memory, offset, scale_mul(get(memory, offset), ratio))
    return True
