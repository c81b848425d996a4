"""Replaces a session's state by another: all of it or nothing, whatever fails or interrupts it.

The new state is staged in the arena, whose content means nothing between runs, and, where that is too small,
in heap; then copied at once. Where the heap is too small as well it is written in place. If that ends half way,
``Session.busy`` names it, and every use of the model raises RuntimeError until it is loaded or compiled again.
"""

from ..base.executor import collect
from ..base.fixed import elements, get
from ..base.regions import ARENA, const

_SPARE = const(128)  # bytes that the second try of a copy finds free


def half_way(session, name):
    """Until Session.leave() or load(), part of the state is new, part old: the model may be used by ``name`` alone."""
    session.busy = name


def resume(session, calibrated, epoch, underway, seed):
    """Let training go on from there."""
    session.calibrated, session.epoch, session.underway, session.seed = calibrated, epoch, underway, seed


def set_arena(session, arena):
    """Another arena, or None: its content means nothing between runs."""
    session.arena = session.regions[ARENA] = arena


def room(session):
    """Memory for a state, as parts of it in their order: of the arena, then of the heap. MemoryError if it lacks."""
    size = len(session.state)
    first = memoryview(session.arena)[:size]
    if len(first) == size:
        return (first,)
    return first, memoryview(bytearray(size - len(first)))


def adopt(session, name, parts, where):
    """Copy the parts into the state; ``where``: what resume() takes of it."""

    def write():
        half_way(session, name)
        at = 0
        for part in parts:
            session.state[at : at + len(part)] = part
            at += len(part)

    in_place(session, write, where, [bytearray(_SPARE)])  # nothing has changed where that fails


def restore(session, state, epoch):
    """Adopt a copy of the state as it was after ``epoch`` epochs, calibrated."""
    adopt(session, "load", (state,), (2, epoch, None, get(state, 4)))


def in_place(session, write, where, spare=None):
    """``write()`` changes the state itself, after half_way().

    If anything ends it, it runs once more, without what the list ``spare`` holds; what is not of memory or a read is
    raised when all is done.
    """
    late = failed = None
    while True:
        try:
            write()
            resume(session, *where)
            session.fresh = session.busy = False
            break
        except (MemoryError, OSError):
            if failed:
                raise
            failed = True
            if spare:
                spare.clear()
            collect()
        except BaseException as error:  # Ctrl-C, a timeout's
            if late:
                raise
            late = error
    if late:
        raise late


class _Nowhere:
    """A state that forgets what is written."""

    def __init__(self, state):
        self.state = state

    def __getitem__(self, index):
        return self.state[index]

    def __setitem__(self, index, value):
        pass


def rewrite(session, name, write, where):
    """``write(state)`` changes a copy of the state, which is then adopted.

    If memory lacks it changes the state itself, having shown that it raises nothing and has the memory that it takes.
    """
    copy = None
    try:
        if len(session.arena) < len(session.state):
            copy = bytearray(session.state)
        else:
            copy = room(session)[0]
            copy[:] = session.state
        write(copy)
    except MemoryError:
        copy = None
    if copy is not None:
        return adopt(session, name, (copy,), where)
    collect()
    nowhere = _Nowhere(session.state)

    def there():
        write(nowhere)
        half_way(session, name)
        write(session.state)

    in_place(session, there, where)


_ORDERS = {  # the axes of an array as others have it, in the order of odt: PyTorch's filters first, then Keras's
    2: ((1, 0),),
    3: ((0, 2, 1), (2, 0, 1), (2, 1, 0)),
    4: ((0, 2, 3, 1), (3, 0, 1, 2), (1, 2, 3, 0), (2, 0, 1, 3)),
}


def flat(layer, name, shape, value):
    """``value`` in one axis; ValueError where it is an array of another shape or has not as many numbers."""
    given = getattr(value, "shape", None)
    if given is not None and len(given) > 1 and tuple(given) != shape:
        hint = ""
        for order in _ORDERS.get(len(given), ()):
            if tuple([given[axis] for axis in order]) == shape:
                hint = ": array.transpose%s has it" % (order,)
                break
        raise ValueError("%r: %s has shape %s, got %s%s" % (layer, name, shape, tuple(given), hint))
    value = value.reshape(-1) if hasattr(value, "reshape") else value
    try:
        count = len(value)
    except TypeError:
        raise TypeError("%r: %s is an array, got %r" % (layer, name, value))
    if count != elements(shape):
        raise ValueError("%r: %s has %d numbers, got %d" % (layer, name, elements(shape), count))
    return value
