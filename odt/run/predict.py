"""predict(): samples in, outputs as floats out.

If the samples have the same type as in the call before, predict() is one call of the engine.
"""

from array import array

from ..base.fixed import get
from ..base.regions import COUNT, POSITION, X_DATA, X_FORMAT, Y_DATA
from .session import point, release


class Seen:
    """The form of a session's outputs, and of the last samples.

    ``kind``: the type of these samples, None if the next ones must be checked in any case; ``samples``, ``call``: the
    arguments of count_samples() and of the engine's predict(); ``width``: how many numbers a sample's output has.
    """

    def __init__(self, session):
        output = session.plan.output
        if session.raw:
            session.raw.say(session)
        self.kind = self.samples = None
        self.width = output.count // session.rows
        scale = session.plan.output.scale.offset if session.scale is not None else -1
        self.place = session.sections["predict"] + (session.rows, self.width, output.buffer.offset, output.zero, scale)
        self.call = (session.loaded, session.regions, 0, 0, session.row) + self.place
        self.engine = session.engine.predict
        self.predict = predict  # not a method, which takes long to find


# Short, as in session.py: MicroPython keeps the names and operands of a call on the C stack if there are at most 11.


def predict(session, x, out):
    """See Network.predict()."""
    seen = session.seen
    if session.calibrated < 2 or x.__class__ is not seen.kind:
        return _look(session, x, out)
    regions = session.regions
    regions[X_DATA] = x
    regions[Y_DATA] = session.used = None
    result = _new(session.engine.count_samples(x, seen.samples), seen) if out is None else out
    if seen.engine(seen.call, result):
        regions[X_DATA] = None
        return result
    return _look(session, x, out)


def _new(count, seen):
    size = count * seen.width
    # Any values. A range takes one block of a board's heap; to find room for more takes up to 34,000 cycles.
    return array("f", range(size) if size < 32 else bytes(4 * size))


def _look(session, x, out):
    """predict() for samples of any type: checks the data and the ranges first."""
    seen, engine, given = session.seen, session.engine, x
    if session.calibrated == 1 and x.__class__ is seen.kind:
        result = _held(session, x, out)
        if result is not None:
            return result
    seen.kind = None
    x, _, count = session.look_at(x, None, "", True)
    size = count * seen.width
    whole = out is None
    if whole:
        out = _new(count, seen)
    else:
        _check(engine, out, size)
    point(session, x, None, count)
    session.prepare(1)
    for position in range(0, count, session.rows):
        session.control[POSITION] = position
        session.control[COUNT] = min(session.rows, count - position)
        session.run("predict")
        engine.predict(seen.call, out, position)
    release(session)
    if x is given and not hasattr(x, "shape"):
        seen.kind = x.__class__
        seen.samples = ord(engine.typecode(x) or "?"), session.control[X_FORMAT], session.row, 0
        seen.call = (session.loaded, session.regions) + seen.samples[:3] + seen.place
    elif (
        whole and hasattr(given, "shape") and getattr(type(given), "__module__", "builtins") != "builtins"
    ):  # NumPy can read it
        from ..host.arrays import shaped

        out = shaped(session, given, out)
    return out


def _held(session, x, out):
    """predict() before the first training step has checked the ranges: None if a value was clipped, or if the samples
    do not fit one run of the program.
    """
    seen, found = session.seen, session.peaks
    count = session.engine.count_samples(x, seen.samples)
    if found is None or not 0 < count <= session.rows:
        return None
    regions = session.regions
    regions[X_DATA] = x
    regions[Y_DATA] = session.used = None
    result = _new(count, seen) if out is None else out
    if not seen.engine(seen.call, result):
        return None
    regions[X_DATA] = None
    for at in range(0, len(found), 3):
        if get(session.arena, found[at]) > found[at + 2]:
            return None
    return result


def _check(engine, out, size):
    """TypeError unless ``out`` is an array of float32, ValueError unless it has ``size`` numbers."""
    try:
        code, found = engine.typecode(out), engine.nbytes(out) // 4
    except TypeError:
        code, found = None, 0
    if code != "f":
        hint = ": write batch_size=%d" % out if isinstance(out, int) else ""
        raise TypeError("out: an array of float32, as array('f'), is expected, got %r%s" % (type(out), hint))
    if found != size:
        raise ValueError("out: %d numbers, the outputs are %d" % (found, size))
