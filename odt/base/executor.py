"""Which executor runs the programs: the native module where there is one, else Python: float32 with ulab's or NumPy's
vectors.

Both offer ``VERSION``, ``load``, ``run``, ``crc32``, ``find_nonfinite``, ``draw``, ``typecode``, ``nbytes``,
``count_samples`` and ``predict``.
"""

import gc

from . import regions

if 1 - 1:  # for type checkers alone
    from types import ModuleType
    from typing import Literal

engine: "ModuleType"
backend: "Literal['native', 'reference', 'ulab', 'numpy']"

if hasattr(gc, "mem_free"):
    collect = gc.collect
else:  # CPython counts references, and would look through all that NumPy and PyTorch have made: 0.1 s and more

    def collect() -> "int":
        """Collect garbage on a board, so that what is allocated next lies together."""
        return 0


def use(name: "Literal['native', 'reference', 'ulab', 'numpy']") -> None:
    """Run what is compiled from now on with "native", "reference", "ulab" or "numpy"; ImportError without it."""
    global engine, backend
    if name == "native":
        import _odt as chosen
    elif name == "reference":
        from ..reference import program as chosen
    elif name in ("ulab", "numpy"):
        from ..reference import vectors as chosen

        if chosen.name != name:
            raise ImportError("no " + name)
    else:
        raise ValueError('the executor is "native", "reference", "ulab" or "numpy", got %r' % (name,))
    if chosen.VERSION != regions.VERSION:
        raise ImportError(
            "_odt has instruction set %d, odt needs %d: rebuild the firmware" % (chosen.VERSION, regions.VERSION)
        )
    if not hasattr(chosen, "predict"):
        raise ImportError("_odt is older than odt: rebuild the firmware")
    engine = chosen
    backend = name


try:
    use("native")
except (ImportError, ValueError) as error:
    if isinstance(error, ValueError):  # MicroPython's "incompatible .mpy"
        print("odt: _odt.mpy is not for this machine or MicroPython (%s); computing in Python" % error)
    elif "rebuild" in str(error):
        print("odt:", error)
    try:
        from ..reference import vectors

        use(vectors.name)
    except ImportError:
        use("reference")
