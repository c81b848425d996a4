"""From a network to its program: which instructions, in which order, on which bytes. The way through: compiler.py."""

import sys


def drop(name):
    """On MicroPython unload a module of odt, if it is loaded: an .mpy file lies in RAM.

    Also where memory ended in an import: MicroPython 1.25 keeps a module whose object it could not allocate, a null
    pointer.
    """
    if sys.implementation.name == "cpython":
        return
    room, _, part = name.rpartition(".")
    try:
        del sys.modules[name]
    except KeyError:  # it is not there, or the null pointer's
        pass
    try:
        delattr(sys.modules[room], part)
    except (AttributeError, KeyError):
        pass


def unload():
    """Unload what only compile() needs: this package, run/build.py, the capabilities' plan.py and instructions."""
    for name in list(sys.modules):
        room, _, part = name.rpartition(".")
        planner = room == "odt.plan" and part not in ("graph", "listing", "program", "values")
        if planner or name == "odt.run.build" or part in ("plan", "instructions") and room != "odt":
            drop(name)
