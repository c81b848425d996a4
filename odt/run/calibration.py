"""The first ranges of an int8 model, and those that samples after the first batch widen.

Those of the first batch are found by calibrate_words() in one call where all kernels are one ``_odt``
(native/calibrate.c), elsewhere by stepwise.py.
"""

from array import array

from ..base.fixed import get, put, scale_div, scale_int, scale_mul
from ..base.regions import ARENA, KEY, REGION_SHIFT, SAMPLES

MASK = (1 << REGION_SHIFT) - 1
ROUNDS = 8  # a result may overflow its first scale by more than an int32 holds


def calibrate(session, level, step, section):
    """What Session.calibrate() does by calibrate_words(), and its result; a ``step`` is one run."""
    session.calibrated = 0  # if interrupted, the next call starts again
    count = session.control[SAMPLES]
    if session.plan.reading and session.fresh and not session.steps():
        from .prime import prime

        prime(session)
    session.control[KEY] = level - 1
    next(session.starts(0, count))
    start, stop = session.sections[section]
    limited, parts = session.count if level == 2 else 0, -(-session.count // session.rows)
    return calibrate_words(session.engine, session.loaded, session.regions, start, stop, limited, step, parts)


def calibrate_words(engine, loaded, regions, start, stop, samples, step=False, parts=1):
    """Calibrate the instructions of these words in one call, for a batch in ``parts`` micro-batches. The magnitudes of
    the first ``samples`` limit the input's scale.

    Returns 0 if the engine cannot do it, 2 if the words are a ``step`` and it has also trained, otherwise 1.
    """
    if not hasattr(engine, "calibrate"):
        return 0
    own, scales = regions[ARENA], None
    needed = parts * len(own)  # later this buffer saves what in-place sums overwrite
    try:
        if parts > 1:
            try:
                regions[ARENA] = bytearray(needed)
            except MemoryError:  # all before a result is run again for each micro-batch
                pass
        while samples and scales is None:
            try:
                scales = bytearray(max(4 * samples, needed))
            except MemoryError:
                if needed <= 4 * samples:
                    raise
                needed -= needed // 4  # too small for a copy: the sum and all before it run again
        return 1 + engine.calibrate(loaded, regions, start, stop, scales, step, parts)
    finally:
        if parts > 1:
            regions[ARENA] = own


def complete(session):
    """Widen the forward pass's ranges by the batches after the first one."""
    count, size = session.control[SAMPLES], session.batch_size
    found = peaks(session.program)
    for position in range(size, count, size):
        widen(found, session, lambda: session.starts(position, count))


def scales_of(program):
    """Address of a peak -> (address of the scale in the state, limit)."""
    scales = {}
    for _, code, addresses, immediates in program.walk(*program.section("train")):
        if code.name in ("range_i8", "range_x_i8"):
            scales[addresses[-1]] = addresses[0], immediates[0]
    return scales


def tidy():
    """Drop the instructions that walks have decoded, which lie all over the heap."""
    from ..base.opcodes import forget

    forget()


def peaks(program):
    """Of every scale that follows a peak: offset of the peak in the arena, address of the scale, limit."""
    found = array("i")
    for peak, (scale, limit) in scales_of(program).items():
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


def hold(session):
    """Run the forward pass on the current micro-batch and widen its ranges until nothing is clipped; returns the word
    after the pass.
    """
    start, stop = session.sections["predict"]
    widen(held(session), session, lambda: (start,), session.rows)
    if session.watched is not None and session.watched != session.now:
        session.end_step()
    return stop


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
