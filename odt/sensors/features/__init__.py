"""What a network hears of a sensor, by integers: the same bits in training, on a PC and on a board."""

from ...base import executor


def kernel(name, file):
    """The kernel of a feature, where the executor is in C: of ``_odt`` in a firmware or on a PC, of the module ``file``
    (.mpy) on a stock board; None where there is neither, and Python is to compute.
    """
    if executor.backend != "native":
        return None
    if hasattr(executor.engine, name):
        return getattr(executor.engine, name)
    try:
        return getattr(__import__(file), name)
    except ImportError:
        return None
