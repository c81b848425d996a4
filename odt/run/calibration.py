"""The ranges that samples after the first batch widen.

Those of the first batch are found by session.calibrate_words() in one call where all kernels are one ``_odt``
(native/calibrate.c), elsewhere by stepwise.py.
"""

from array import array

from ..base.fixed import get, put, scale_div, scale_int, scale_mul
from ..base.regions import REGION_SHIFT, SAMPLES

MASK = (1 << REGION_SHIFT) - 1
ROUNDS = 8  # a result may overflow its first scale by more than an int32 holds


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
