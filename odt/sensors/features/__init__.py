"""What a network hears of a sensor, by integers: the same bits in training, on a PC and on a board."""

from array import array

from ...base import executor

if 1 - 1:  # for type checkers alone
    from typing import Any


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


class Feature:
    """What features of windows share: ``window`` samples of each of ``axes`` become ``outputs`` numbers.

    ``keywords``: the arguments of which ``parameters`` has the values. ``preset``: scale and zero point of an Input for
    the outputs; None where these have several units. A class sets ``_tables``, ``_work`` and ``_kernel``.
    """

    window: "int"
    outputs: "int"

    axes: "int" = 1
    keywords: "tuple[str, ...]" = ()
    preset: "tuple[float, int] | None" = None

    @property
    def nbytes(self) -> "int":
        """Of RAM: tables and scratch."""
        return 2 * len(self._tables) + 4 * len(self._work)

    def layers(self, x: "Any" = None) -> "list[Any]":
        """What a network over these features begins with: an Input and, with ``x``, int16 features of the training
        samples, a Normalization adapted to them. ValueError where ``x`` is needed and lacks: without ``preset``.
        """
        from .begin import layers

        return layers(self, x)

    def parameters(self) -> "tuple[str, dict[str, Any]]":
        """(name, {keyword: value}), of which ``odt.sensors.make`` makes it again."""
        return type(self).__name__, {keyword: getattr(self, keyword) for keyword in self.keywords}

    def __call__(self, samples: "Any", out: "Any" = None) -> "Any":
        """The numbers of a window, as the class says.

        samples: window * axes int16, the axes interleaved, in anything with the buffer protocol; bytes are raw int16.
        out: an array("h") of ``outputs``, or a memoryview of one, which is filled and returned, and nothing is
        allocated; None: a new array. ValueError for another dtype or length; then out is as it was.
        """
        if out is None:
            out = array("h", bytes(2 * self.outputs))
        if len(getattr(samples, "shape", ())) > 1:
            from ...run.arrays import one_sample

            samples = one_sample("samples", samples, (self.window, self.axes))
        error = self._kernel(out, samples, self._tables, self._work)
        if error:
            from .refused import refuse

            refuse(error, samples, out, self.window * self.axes, self.outputs)
        return out
