"""Features that int8 would hold badly: heavy tails are compressed, nearly equal features taken apart.

    from odt.data import Companding, Whitening

    companding = Companding(12)            of 12 features
    companding.adapt(x)
    model.fit(companding.transform(x), y, epochs=20)

An int8 input has 255 steps for all features. Where one value in a thousand takes most of them, or where two features
differ by less than a step, float32 sees what int8 rounds away. Both classes give float32 numbers of the same shape, and
both take one after the other. All by integers: the same bits on every machine.
"""

from array import array

from ..base.exact import UNIT, ratio, whole
from ..base.fixed import is_int, own
from ..base.primitives import log2q, scale_sqrt
from .targets import floats, numbers

if 1 - 1:  # for type checkers alone
    from typing import Any
    from ..run.network import Data

_STEEP = 4
_ONE = 1 << 16  # log2q's
_MOST = (1 << 31) - 1  # of 1 + 4 * abs(u), in 1 / _ONE: a result stays below 15
_FINE = 128  # bits of a factor while others are found from it
_ALIKE = 40  # bits that a feature's variance has beyond what others leave of it, where it is one of them


class _Features:
    """What both keep: two lists of integers times 2^-UNIT, each the exact value of a float32."""

    _kept: "tuple[Any, Any] | None" = None

    def __init__(self, features, named):
        self.features = features = own(features)
        if not is_int(features) or features < 1:
            raise ValueError("%s: features is an int above 0, got %r" % (type(self).__name__, features))
        found = [numbers(name, data) for name, data, _ in named if data is not None]
        if len(found) == 1:
            raise ValueError("%s: %s and %s come together" % ((type(self).__name__,) + (named[0][0], named[1][0])))
        for values, (name, _, count) in zip(found, named):
            if len(values) != count:
                raise ValueError("%s: %d numbers, expected %d" % (name, len(values), count))
        if found:
            self._check(*found)
            self._kept = tuple(found)

    def _known(self):
        if not self._kept:
            raise RuntimeError("%s: it knows no data yet: adapt(x) first" % type(self).__name__)
        return self._kept

    def _numbers(self, x):
        shape = tuple(getattr(x, "shape", ()))
        if len(shape) > 1 and shape[-1] != self.features:
            raise ValueError("x: shape %s, expected (.., %d)" % (shape, self.features))
        values = numbers("x", x)
        if not values or len(values) % self.features:
            raise ValueError("x: %d numbers are not whole samples of %d features" % (len(values), self.features))
        return values


class Companding(_Features):
    """Compresses each of ``features`` features, the last axis of samples: a number becomes ``sign(u) * log2(1 + 4 *
    abs(u))``, u = (number - median) / (upper - lower quartile), at most 15.

    ``median`` and ``spread``: array('f'), a number for each feature. ``adapt(x)`` takes them from data, unless they are
    given here (those of a model that is loaded). Compare scikit-learn: RobustScaler, PowerTransformer.
    """

    def __init__(self, features: "int", median: "Data | None" = None, spread: "Data | None" = None) -> None:
        super().__init__(features, (("median", median, features), ("spread", spread, features)))

    def _check(self, medians, spreads):
        if min(spreads) <= 0:
            raise ValueError("spread: numbers above 0 are expected")

    @property
    def median(self) -> "array[float] | None":
        """A number for each feature; None before adapt()."""
        return self._kept and floats(self._kept[0])

    @property
    def spread(self) -> "array[float] | None":
        """The distance between the quartiles of each feature."""
        return self._kept and floats(self._kept[1])

    def adapt(self, x: "Data") -> None:
        """Take each feature's median and quartiles from these samples.

        Where the quartiles are one number, the mean distance from the median counts, and 1 where that is 0. ValueError
        for numbers that are not finite, or not whole samples.
        """
        values = self._numbers(x)
        medians, spreads = [], []
        for feature in range(self.features):
            column = sorted(values[feature :: self.features])
            count = len(column)
            median, spread = column[count // 2], column[count * 3 // 4] - column[count // 4]
            spread = spread or sum([abs(value - median) for value in column]) // count or 1 << UNIT
            medians.append(median)
            spreads.append(whole(ratio(spread, 1, UNIT)))
        self._kept = medians, spreads

    def transform(self, x: "Data") -> "array[float]":
        """The samples compressed: an array('f'), of a NumPy array one of its shape."""
        medians, spreads = self._known()
        values, width = self._numbers(x), self.features
        made = array("f", bytes(4 * len(values)))
        for index, value in enumerate(values):
            distance = value - medians[index % width]
            grown = min(abs(distance) * (_STEEP * _ONE) // spreads[index % width] + _ONE, _MOST)
            level = log2q(grown) - 16 * _ONE
            made[index] = (level if distance > 0 else -level) / _ONE  # exact: 20 bits
        return _shaped(made, x)


class Whitening(_Features):
    """Takes away from each of ``features`` features what those before it say about it, by least squares; what is left
    gets mean 0 and deviation 1. So the difference of two nearly equal features has all of int8's steps.

    ``mean``: array('f'), a number for each feature. ``factors``: array('f'), features * features numbers by rows; in
    row j how much of what is left of each feature before j is taken away, then the deviation of what is left, then
    zeros. ``adapt(x)`` takes both from data, unless they are given here. A feature that others determine is 0. Noise
    that is all that others leave of a feature gets the size of the others, too: for tables, not for images. The
    method: Cholesky whitening, A. Kessy, A. Lewin, K. Strimmer, Optimal Whitening and Decorrelation, 2018.
    """

    def __init__(self, features: "int", mean: "Data | None" = None, factors: "Data | None" = None) -> None:
        super().__init__(features, (("mean", mean, features), ("factors", factors, features * features)))

    def _check(self, means, factors):
        if min(factors[:: self.features + 1]) <= 0:
            raise ValueError("factors: deviations, the diagonal, are above 0")

    @property
    def mean(self) -> "array[float] | None":
        """A number for each feature; None before adapt()."""
        return self._kept and floats(self._kept[0])

    @property
    def factors(self) -> "array[float] | None":
        """What is taken away of features before, and deviations, as in the class."""
        return self._kept and floats(self._kept[1])

    def adapt(self, x: "Data") -> None:
        """Take means and factors from these samples.

        ValueError for numbers that are not finite, or not whole samples.
        """
        values, width = self._numbers(x), self.features
        count = len(values) // width
        sums = [sum(values[feature::width]) for feature in range(width)]
        factors, exact = [0] * (width * width), [0] * (width * width)  # float32s; times 2^-_FINE
        left = []  # of each feature the variance that is left, times count^2, in 2^(-2 * UNIT)
        for j in range(width):
            for i in range(j + 1):
                shared = count * sum(a * b for a, b in zip(values[i::width], values[j::width]))
                shared = variance = shared - sums[i] * sums[j]
                for k in range(i):
                    shared -= exact[j * width + k] * exact[i * width + k] * left[k] >> 2 * _FINE
                if i < j and left[i]:
                    exact[j * width + i] = (shared << _FINE) // left[i]
                    factors[j * width + i] = whole(ratio(shared, left[i], 0))
            is_new = shared > variance >> _ALIKE
            left.append(shared if is_new else 0)
            bits = ratio(shared if is_new else variance, count * count, 2 * UNIT)
            factors[j * width + j] = whole(scale_sqrt(bits)) if bits else 1 << UNIT
        self._kept = [whole(ratio(total, count, UNIT)) for total in sums], factors

    def transform(self, x: "Data") -> "array[float]":
        """What is left of the samples: an array('f'), of a NumPy array one of its shape."""
        means, factors = self._known()
        values, width = self._numbers(x), self.features
        made = array("I", bytes(4 * len(values)))
        for first in range(0, len(values), width):
            left = []
            for j in range(width):
                value = values[first + j] - means[j]
                for k in range(j):
                    value -= left[k] * factors[j * width + k] >> UNIT
                left.append(value)
                made[first + j] = ratio(value, factors[j * width + j], 0)
        return _shaped(array("f", bytes(made)), x)


def _shaped(made, x):
    if hasattr(x, "shape") and hasattr(x, "reshape"):
        return __import__("numpy").frombuffer(made, "f").reshape(x.shape)
    return made
