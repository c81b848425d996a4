"""From a network to its program: which instructions, in which order, on which bytes. The way through: compiler.py."""

import sys


def unload():
    """On MicroPython let go of what only compile() needs, this package and run/build.py: of .mpy files it lies in RAM.

    Also where memory ended in an import: MicroPython 1.25 keeps a module whose object it could not allocate, a null pointer.
    """
    if sys.implementation.name == "cpython":
        return
    for name in list(sys.modules):
        room, _, part = name.rpartition(".")
        if name == "odt.run.build" or room == "odt.plan" and part not in ("graph", "program", "values"):
            try:
                del sys.modules[name]
            except KeyError:  # the null pointer's
                pass
            if hasattr(sys.modules[room], part):
                delattr(sys.modules[room], part)
