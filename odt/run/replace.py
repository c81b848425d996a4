"""Replaces a session's state by another: all of it or nothing, whatever fails or interrupts it.

The new state is staged in the arena, whose content means nothing between runs, and, where that is too small,
in heap; then copied at once. Where the heap is too small as well it is written in place. If that ends half way,
``Session.busy`` names it, and every use of the model raises RuntimeError until it is loaded or compiled again.
"""

import gc

from .weights import get


def room(session):
    """Memory for a state, as parts of it in their order: of the arena, then of the heap. MemoryError if it lacks."""
    size = len(session.state)
    first = memoryview(session.arena)[:size]
    if len(first) == size:
        return (first,)
    return first, memoryview(bytearray(size - len(first)))


def adopt(session, name, parts, where):
    """Copy the parts into the state; ``where``: the (calibrated, epoch, underway, seed) that go with it."""

    def write():
        session.busy = name
        at = 0
        for part in parts:
            session.state[at : at + len(part)] = part
            at += len(part)

    in_place(session, write, where)


def restore(session, state, epoch):
    """Adopt a copy of the state as it was after ``epoch`` epochs, calibrated."""
    adopt(session, "load", (state,), (2, epoch, None, get(state, 4)))


def in_place(session, write, where):
    """``write()`` changes the state itself, having set ``busy``.

    If memory, a read or Ctrl-C ends it, it runs once more; Ctrl-C is raised when all is done.
    """
    late = failed = None
    while True:
        try:
            write()
            session.calibrated, session.epoch, session.underway, session.seed = where
            session.busy = False
            break
        except KeyboardInterrupt as error:
            if late:
                raise
            late = error
        except (MemoryError, OSError):
            if failed:
                raise
            failed = True
            gc.collect()
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
    gc.collect()
    nowhere = _Nowhere(session.state)

    def there():
        write(nowhere)
        session.busy = name
        write(session.state)

    in_place(session, there, where)
