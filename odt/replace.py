"""Replaces a model's state by another: all of it or nothing, whatever fails or interrupts it.

The new state is staged in the arena, whose content means nothing between runs, and, where that is too small,
in heap; then copied at once. Where the heap is too small as well it is written in place. If that ends half way,
``Model._busy`` names it, and every use of the model raises RuntimeError until it is loaded or compiled again.
"""

import gc


def room(model):
    """Memory for a state, as parts of it in their order: of the arena, then of the heap. MemoryError if it lacks."""
    size = len(model._state)
    first = memoryview(model._arena)[:size]
    if len(first) == size:
        return (first,)
    return first, memoryview(bytearray(size - len(first)))


def adopt(model, name, parts, where):
    """Copy the parts into the state; ``where``: the (calibrated, epoch, underway, seed) that go with it."""

    def write():
        model._busy = name
        at = 0
        for part in parts:
            model._state[at : at + len(part)] = part
            at += len(part)

    in_place(model, write, where)


def in_place(model, write, where):
    """``write()`` changes the state itself, having set ``_busy``.

    If memory, a read or Ctrl-C ends it, it runs once more; Ctrl-C is raised when all is done.
    """
    late = failed = None
    while True:
        try:
            write()
            model._calibrated, model.epoch, model._underway, model.seed = where
            model._busy = False
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


def rewrite(model, name, write, where):
    """``write(state)`` changes a copy of the state, which is then adopted.

    If memory lacks it changes the state itself, having shown that it raises nothing and has the memory that it takes.
    """
    copy = None
    try:
        if len(model._arena) < len(model._state):
            copy = bytearray(model._state)
        else:
            copy = room(model)[0]
            copy[:] = model._state
        write(copy)
    except MemoryError:
        copy = None
    if copy is not None:
        return adopt(model, name, (copy,), where)
    gc.collect()
    nowhere = _Nowhere(model._state)

    def there():
        write(nowhere)
        model._busy = name
        write(model._state)

    in_place(model, there, where)
