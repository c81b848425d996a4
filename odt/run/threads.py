"""Both cores of an RP2040 or RP2350, or two threads of a PC: opt-in, the same bits (native/threads.h)."""

import sys
import time

from ..base import executor


def stack():
    """Bytes of the second core's stack on a board, from its heap. The deepest kernel takes 4.4 KB on an RP2040, where
    MicroPython's number of the architecture is 4, and up to 7.5 KB on others: panels, sums and lists.
    """
    return 6144 if getattr(sys.implementation, "_mpy", 0) >> 10 & 15 == 4 else 9216


def get_num_threads() -> "int":
    """Cores that kernels compute on: 1, or 2 after ``set_num_threads(2)``."""
    return (executor.engine.threads() or 1) if hasattr(executor.engine, "threads") else 1


def set_num_threads(n: "int") -> None:
    """Split each large int8 kernel over ``n`` cores: 1 (the default) or 2.

    The second core is got from ``_thread``, as a thread of the program's own with a stack of 6 KB (9 KB on an
    RP2350), and kept until ``set_num_threads(1)`` or a soft reset. Only the main thread's models use it. ValueError
    for other numbers; RuntimeError, with one core as before, if the kernels are not compiled for two or a thread of
    the program's has the second core; MemoryError without room for the stack.
    """
    if n not in (1, 2):
        raise ValueError("set_num_threads: n is 1 or 2, got %r" % (n,))
    engine = executor.engine
    if n == get_num_threads() == 2:
        return
    if n == 1:
        if hasattr(engine, "threads") and engine.threads() != 1:
            engine.threads(1)
        return
    try:
        import _thread

        threads = engine.threads
    except (ImportError, AttributeError):
        raise RuntimeError(
            "set_num_threads: n = 2 needs kernels in the firmware of an RP2040 or RP2350, or a PC's; "
            "these (%r) compute on one core" % executor.backend
        )
    number = threads(2)
    try:
        _start(_thread, engine.serve, (number,))
        for _ in range(5000):
            if threads():  # 2, or 1 where another call has had its way
                return
            time.sleep(0.001)
        raise RuntimeError("set_num_threads: the second thread does not run")
    except BaseException:
        if not threads():
            threads(1)
        raise


def _start(_thread, function, arguments):
    on_board = sys.implementation.name != "cpython"
    for left in range(9, -1, -1):
        before = _thread.stack_size(stack()) if on_board else 0
        try:
            _thread.start_new_thread(function, arguments)
            return
        except OSError as error:
            if not left:
                raise RuntimeError(
                    "set_num_threads: the second core is not free (%s): a thread of the program's has it" % error
                )
        finally:
            if on_board:
                _thread.stack_size(before)
        time.sleep(0.001)  # a worker that has ended leaves the core a moment later
