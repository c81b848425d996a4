"""Capabilities and kernels that come as files, beside an odt in firmware or in files.

A frozen package does not see files of its name, so its path leads to them while the capability's ``__init__`` is
loaded, which imports odt.base alone.
"""

import os
import sys


def find(capability, absent, name):
    """An attribute of the capability's module, for which ``absent`` stands; ImportError that names its package."""
    module = _module(capability, absent)
    try:
        return getattr(module, name)
    except AttributeError:
        if name[:2] == "__":
            raise
        return __import__("odt.%s.%s" % (capability, name), None, None, ("*",))


def _module(capability, absent):
    full, odt = "odt." + capability, sys.modules["odt"]
    if sys.modules[full] is not absent:
        return sys.modules[full]
    path = odt.__path__
    for folder in sys.path:
        folder += "/odt"
        try:
            os.stat("%s/%s" % (folder, capability))
        except OSError:
            continue
        del sys.modules[full]
        odt.__path__ = folder
        try:
            return __import__(full, None, None, ("*",))
        except BaseException:
            sys.modules[full] = absent
            raise
        finally:
            odt.__path__ = path
    text = "%s is not on this board: odt install --with %s, or mip install %s.json"
    raise ImportError(text % (full, capability, capability))


def bring(name):
    """Import kernels that a firmware leaves to files; MemoryError or ImportError names what could not be loaded."""
    sys.modules.pop(name, None)  # of an import that was interrupted
    try:
        __import__(name)
    except (ImportError, ValueError, MemoryError) as error:
        kind = MemoryError if isinstance(error, MemoryError) else ImportError
        text = "%s.mpy, kernels that this program needs: %s; odt install --with %s brings it"
        raise kind(text % (name, error, "continual" if name == "_odt_own" else "kernels")) from None
