"""Reads a model file: ``odt.load_model("gesture.odt")``. The format: docs/reference/model_file.md; export.py writes it.

It loads neither the layers nor what plans: a board needs only what trains, evaluates and predicts.
"""

from ..plan import drop
from ..run.network import Network

if 1 - 1:  # for type checkers alone
    from os import PathLike

    from ..run.network import Bytes


def load_model(source: "str | PathLike[str] | Bytes") -> "Loaded":
    """A model from a file of ``export``, ready to train, to evaluate and to predict.

    ``source``: a file's name, or its bytes (a memoryview of a ROMFS, a frozen module's): the program and what is
    frozen are then read where they lie, if that is a multiple of 4 bytes, at no RAM; of a file on a ROMFS, too. Raises
    OSError where it cannot be read, ValueError with the reason for what is damaged or made for another odt, MemoryError
    with the bytes that are needed and there.
    """
    try:
        from ..run.start import Tidy

        with Tidy():
            from .session import opened

            parts = opened(source)
    finally:
        opened = Tidy = None
        for name in ("files.session", "files.reader", "run.start"):
            drop("odt." + name)
    return Loaded(*parts)


class Loaded(Network):
    """A model from a file: all that a compiled one does, but what its layers are needed for."""

    kind: "str"

    def __init__(self, kind, session, labels, features):
        self.kind, self.session, self.labels, self._features = kind, session, labels, features

    @property
    def features(self):
        """What makes the Input's numbers of samples, as ``export(features=)`` kept it, made when it is first asked for;
        or None.
        """
        if isinstance(self._features, (list, tuple)):
            from ..sensors import make

            self._features = make(*self._features, self.session.plan)
        return self._features

    @features.setter
    def features(self, features):
        self._features = features
