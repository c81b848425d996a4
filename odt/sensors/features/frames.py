"""Rows of a feature: the spectrogram of a recording, as a stream makes it frame by frame."""

from array import array

from ...base.primitives import size_of

if 1 - 1:  # for type checkers alone
    from collections.abc import Callable
    from typing import Any


class Frames:
    """``rows`` frames of ``features``, each ``hop`` samples after the one before: what a network over a spectrogram
    takes.

    features: a LogMel or another feature of a frame, or its ``parameters()``. ``window``: samples that a call takes,
    window + (rows - 1) * hop of the feature's; ``shape``: (rows, numbers of a frame); ``outputs``: their product. In a
    stream, frames come one at a time, to the same bits (``Stream.of``), but of a feature with a memory, which a call
    starts again.
    """

    features: "Callable[..., Any]"
    hop: "int"
    rows: "int"
    axes: "int"
    window: "int"
    outputs: "int"
    shape: "tuple[int, int]"

    def __init__(self, features: "Callable[..., Any] | tuple[str, dict[str, Any]]", hop: "int", rows: "int") -> None:
        if not callable(features):
            from .. import make

            features = make(*features)
        self.features = features
        self.hop = size_of("Frames", "hop", hop, features.window)
        self.rows = size_of("Frames", "rows", rows, 65535)
        self.axes, self.rate = getattr(features, "axes", 1), getattr(features, "rate", None)
        self.window = features.window + (rows - 1) * hop
        self.shape, self.preset = (rows, features.outputs), getattr(features, "preset", None)
        self.outputs = rows * features.outputs

    def layers(self, x: "Any" = None) -> "list[Any]":
        """An Input and, with ``x``, features of the training samples, a Normalization adapted to them: what a network
        begins with.
        """
        from .begin import layers

        return layers(self, x)

    def parameters(self) -> "tuple[str, dict[str, Any]]":
        """(name, {keyword: value}), of which ``odt.sensors.make`` makes it again."""
        return "Frames", {"features": self.features.parameters(), "hop": self.hop, "rows": self.rows}

    def __call__(self, samples: "Any", out: "Any" = None) -> "Any":
        """The frames of ``window`` samples, one after the other: array("h") of ``outputs``, or ``out``.

        samples: int16, or bytes, as the feature takes them. ValueError for another dtype or length; ``out`` is then
        undefined.
        """
        features, count = self.features, self.features.outputs
        if len(getattr(samples, "shape", ())) > 1:
            from ...run.arrays import one_sample

            samples = one_sample("samples", samples, (self.window, self.axes))
        if isinstance(samples, (list, tuple)):
            from .refused import refuse

            refuse(2, samples, None, self.window * self.axes, self.outputs)
        view, to = memoryview(samples), memoryview(array("h", bytes(2 * self.outputs)) if out is None else out)
        unit = self.axes * (2 if len(view) == 2 * self.window * self.axes else 1)  # of bytes
        for name, found, expected in (("samples", len(view), self.window * unit), ("out", len(to), self.outputs)):
            if found != expected:
                raise ValueError("Frames: %s: %d numbers are expected, got %d" % (name, expected, found))
        if hasattr(features, "reset"):
            features.reset()
        for row in range(self.rows):
            at = row * self.hop * unit
            features(view[at : at + features.window * unit], to[row * count : (row + 1) * count])
        return to if out is None else out

    def __repr__(self):
        return "Frames(%r, %d rows, %d samples apart)" % (self.features, self.rows, self.hop)
