"""Targets of a regression brought to mean 0 and deviation 1, each output by itself, and predictions brought back.

    from odt.data import ScaledTargets

    scaled = ScaledTargets(model)
    scaled.fit(x, y, epochs=20)
    scaled.predict(x)                      in the units of y

An int8 output has 255 steps for all channels. Where one output moves by hundredths and another by tens, or all lie at
50 and move by 1, most of the steps lie where no target is. In scikit-learn: TransformedTargetRegressor.
"""

import struct
from array import array

from ..base.exact import UNIT, ratio, statistics, whole
from ..base.fixed import ONE, elements
from ..base.primitives import scale_sqrt
from ..run.data import float32_bits
from ..run.session import ready

if 1 - 1:  # for type checkers alone
    from typing import Any

    from ..run.fit import History
    from ..run.network import Data, Network


class ScaledTargets:
    """Trains ``model`` on ``(y - mean) / deviation`` by output channel, and returns predictions in the units of y.

    ``mean`` and ``deviation``: array('f'), a number for each output channel. The first ``fit`` takes them from its y,
    unless they are given here (those of a model that is loaded). Losses are those of the scaled targets. All by
    integers: the same bits on every machine.
    """

    _kept: "tuple[Any, Any] | None" = None  # means and deviations, as integers times 2^-UNIT

    def __init__(self, model: "Network", mean: "Data | None" = None, deviation: "Data | None" = None) -> None:
        if (mean is None) != (deviation is None):
            raise ValueError("ScaledTargets: mean and deviation come together")
        self.model = model
        if mean is not None:
            self._keep(numbers("mean", mean), numbers("deviation", deviation))

    @property
    def mean(self) -> "array[float] | None":
        """A number for each output channel; None before adapt()."""
        return self._kept and floats(self._kept[0])

    @property
    def deviation(self) -> "array[float] | None":
        """The same of the deviations."""
        return self._kept and floats(self._kept[1])

    def adapt(self, y: "Data") -> None:
        """Take mean and deviation of each output channel from these targets; a channel that does not move counts 1.

        ValueError for numbers that are not finite, or not whole samples.
        """
        width = self._channels()
        values = numbers("y", y)
        if not values or len(values) % width:
            raise ValueError("y: %d numbers are not whole samples of %d outputs" % (len(values), width))
        sums, squares = [0] * width, [0] * width
        for index, value in enumerate(values):
            sums[index % width] += value
            squares[index % width] += value * value
        means, variances = statistics(len(values) // width, sums, squares, UNIT)
        roots = [scale_sqrt(bits) if bits else ONE for bits in struct.unpack("<%dI" % width, variances)]
        self._keep(list(map(whole, struct.unpack("<%dI" % width, means))), list(map(whole, roots)))

    def fit(
        self, x: "Data", y: "Data", epochs: "int" = 1, validation_data: "Any" = None, **options: "Any"
    ) -> "History":
        """As ``model.fit`` on arrays, which gets scaled copies of the targets: 4 bytes a number."""
        ready(self.model).alone("fit")
        if not self._kept:
            self.adapt(y)
        if validation_data is not None:
            validation_data = validation_data[0], self.scale(validation_data[1])
        return self.model.fit(x, self.scale(y), epochs=epochs, validation_data=validation_data, **options)

    def train_step(self, x: "Data", y: "Data") -> "float":
        """As ``model.train_step``, with a scaled copy of y."""
        return self.model.train_step(x, self.scale(y))

    def evaluate(self, x: "Data", y: "Data") -> "tuple[float, float | None]":
        """As ``model.evaluate``, with a scaled copy of y."""
        return self.model.evaluate(x, self.scale(y))

    def predict(self, x: "Data") -> "Any":
        """As ``model.predict``, in the units of y: an array('f'), of a NumPy array x one of the outputs' shape."""
        means, deviations = self._known()
        out = self.model.predict(x)
        width = len(means)
        for index in range(elements(getattr(out, "shape", (len(out),)))):
            channel = index % width
            (bits,) = struct.unpack_from("<I", out, 4 * index)
            value = whole(bits) * deviations[channel] + (means[channel] << UNIT)
            struct.pack_into("<I", out, 4 * index, ratio(value, 1, 2 * UNIT))
        return out

    def scale(self, y: "Data") -> "array[float]":
        """``(y - mean) / deviation``, rounded to float32 once; NumPy arrays keep their shape."""
        means, deviations = self._known()
        values, width = numbers("y", y), len(means)
        made = array("I", bytes(4 * len(values)))
        for index, value in enumerate(values):
            channel = index % width
            made[index] = ratio(value - means[channel], deviations[channel], 0)
        made = array("f", bytes(made))
        if hasattr(y, "shape") and hasattr(y, "reshape"):
            return __import__("numpy").frombuffer(made, "f").reshape(y.shape)
        return made

    def _channels(self):
        shape = ready(self.model).shape
        if self.model.session.loss.labels:
            raise ValueError("ScaledTargets: the loss %s has classes, not targets" % self.model.session.loss.name)
        return shape[-1] if shape else elements(shape)

    def _known(self):
        if not self._kept:
            raise RuntimeError("ScaledTargets: no mean and deviation yet: fit(x, y) or adapt(y) first")
        return self._kept

    def _keep(self, means, deviations):
        width = self._channels()
        for name, found in (("mean", means), ("deviation", deviations)):
            if len(found) != width:
                raise ValueError("%s: %d numbers, the model has %d outputs" % (name, len(found), width))
        if min(deviations) <= 0:
            raise ValueError("deviation: numbers above 0 are expected")
        self._kept = means, deviations


def floats(values):
    return array("f", struct.pack("<%dI" % len(values), *[ratio(value, 1, UNIT) for value in values]))


def numbers(name, data):
    """The numbers, each rounded to float32, as integers times 2^-UNIT."""
    flat = _flat(data)
    values = [whole(float32_bits(flat, index)) for index in range(len(flat))]
    if None in values:
        raise ValueError("%s: number %d is NaN or infinite" % (name, values.index(None)))
    return values


def _flat(data):
    if hasattr(data, "reshape"):
        return array("f", data.reshape(-1).astype("float32").tobytes())
    if isinstance(data, (list, tuple)) and len(data) and isinstance(data[0], (list, tuple)):
        return [value for row in data for value in _flat(row)]
    return data
