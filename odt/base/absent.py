"""What a board's odt is without: an import says which package has it. In RAM only where something is missing."""

import os
import sys

from . import executor


class _Absent:
    """In sys.modules for a capability, until its module is."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        from .extension import find

        return find(self._name, self, name)


def enter(path, names):
    """Let the import of a capability that neither this firmware nor the files in ``path`` have say so."""
    if path[:7] == ".frozen":
        without = getattr(executor.engine, "WITHOUT", "").split()
        missing = [name for name in names.split() if name in without]
    else:
        there = os.listdir(path)
        missing = [name for name in names.split() if name not in there]
    for name in missing:
        sys.modules.setdefault("odt." + name, _Absent(name))
    if not missing:
        del sys.modules["odt.base.absent"], sys.modules["odt.base"].absent
