"""Old module names: a script that imports a module by its name from before the folders runs, and a warning names the
new one.
"""

import importlib
import importlib.machinery
import sys
import warnings

# Folder of odt/, and what has moved there; another name after a colon.
_ROWS = {
    "base": "regions fixed primitives opcodes lines",
    "layers": "joins norms normalization resizing",
    "optimizers": "schedules rates",
    "files": "frozen",
    "data": "readers",
    "adapt": "update fisher lite",
    "continual": "replay dark latents teach prototypes labels reservoir adabn tent",
    "sensors": "record rules features stream",
    "inspect": "profile:timing watch",
    "": "vae:generative",
}
MOVED = {
    name.partition(":")[0]: (folder + "." if folder else "") + (name.partition(":")[2] or name)
    for folder, row in _ROWS.items()
    for name in row.split()
}
_OFFERED = ("features", "stream")  # of these sensors has the classes


def found(name):
    """The module that was odt.<name>."""
    first, _, rest = name.partition(".")
    place = "odt." + ("sensors" if first in _OFFERED and not rest else MOVED[first] + "." * bool(rest) + rest)
    warnings.warn("odt.%s is %s now" % (name, place), FutureWarning, stacklevel=4)
    return importlib.import_module(place)


class _Finder:
    """Finds a module under its old name."""

    def find_spec(self, name, path=None, target=None):
        if name.startswith("odt.") and name[4:].partition(".")[0] in MOVED:
            return importlib.machinery.ModuleSpec(name, self)
        return None

    def create_module(self, spec):
        module = found(spec.name[4:])
        self.spec = module.__spec__
        return module

    def exec_module(self, module):
        module.__spec__ = self.spec  # the import system has set the old name's


def install():
    """Look for old names after all others."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
