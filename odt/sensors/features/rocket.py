"""MiniRocket (Dempster et al. 2021): how much of a window's convolutions with fixed kernels lies above fixed values.

A front that needs no training before a Dense or odt.online's OSELM, for small sets.

    rocket = MiniRocket(window=128, axes=3, features=420).fit(windows)
    out = array("h", bytes(2 * rocket.outputs))
    rocket(samples, out)  # x, y, z, x, y, z, ..; in an Input(.., dtype="int16", scale=1 / 16384) a number from 0 to 1

The arithmetic: docs/reference/numerics.md, Features.
"""

from array import array

from ...base import executor
from ...base.fixed import hash32, is_int, own
from ...base.primitives import size_of
from . import Feature, kernel

if 1 - 1:  # for type checkers alone
    from collections.abc import Sequence
    from typing import Any

KERNELS = 84


def _dilations(window, count):
    """{dilation: features of each kernel that have it}: ``count`` in all, evenly spaced by their logarithm."""
    most = min(count, 32)
    found = {1: 1} if most == 1 else {}
    for j in range(most if most > 1 else 0):
        d = 1
        while (d + 1) ** (most - 1) * 8**j <= (window - 1) ** j:
            d += 1
        found[d] = found.get(d, 0) + 1
    rest = count
    for d in found:
        found[d] = found[d] * count // most
        rest -= found[d]
    for d in sorted(found)[:rest]:
        found[d] += 1
    return found


def _channels(axes, key):
    """Which channels a kernel adds up, as bits: one in half of all cases, two in a quarter .., at most 9."""
    draw, left = hash32(key, 0), list(range(axes))
    mask = 0
    for i in range(min(axes, 9)):
        mask |= 1 << left.pop(hash32(key, i + 1) % len(left))
        if draw >> i & 1:
            break
    return mask


class MiniRocket(Feature):
    """Of a window: for each of 84 kernels of nine numbers, at several dilations, the share of its convolution that
    is above a bias, times 16384.

    window: samples of each axis, 9..2048; axes: 1..16, of which each kernel adds up some; features: a multiple of 84,
    84..10080; seed: of what is chosen by chance. biases: what ``fit`` found, ``features`` ints; None: fit(x) comes
    first.

    ``outputs``: features. TypeError, ValueError for what is out of range.
    """

    window: "int"
    axes: "int"
    features: "int"
    seed: "int"
    biases: "tuple[int, ...] | None"
    outputs: "int"

    keywords = "window", "axes", "features", "seed", "biases"
    preset = 1 / 16384, 0  # numbers from 0 to 1

    def __init__(
        self,
        window: "int" = 128,
        axes: "int" = 3,
        features: "int" = 420,
        seed: "int" = 0,
        biases: "Sequence[int] | None" = None,
    ) -> None:
        self.window = window = size_of("MiniRocket", "window", window, 2048)
        self.axes = axes = size_of("MiniRocket", "axes", axes, 16)
        self.features = self.outputs = size_of("MiniRocket", "features", features, 10080)
        self.seed = seed = own(seed)
        if window < 9:
            raise ValueError("MiniRocket: window is in 9..2048, got %d" % window)
        if features % KERNELS:
            raise ValueError("MiniRocket: features is a multiple of 84, got %d" % features)
        if not is_int(seed) or not 0 <= seed < 1 << 32:
            raise ValueError("MiniRocket: seed is an int in 0..2^32 - 1, got %r" % (seed,))
        found = _dilations(window, features // KERNELS)
        dilations = sorted(found)
        self._tables = tables = array("h", (0x4D52, window, axes, len(dilations)))
        tables.extend(array("h", dilations))
        tables.extend(array("h", [found[d] for d in dilations]))
        for i in range(KERNELS * len(dilations)):
            mask = _channels(axes, hash32(seed, i))
            tables.append(mask - 0x10000 if mask & 0x8000 else mask)
        self._work = array("i", bytes(4 * (features + 3 * window)))
        self.biases = None
        if biases is not None:
            biases = tuple([own(bias) for bias in biases])
            if len(biases) != features or not all([is_int(bias) and abs(bias) < 1 << 24 for bias in biases]):
                raise ValueError("MiniRocket: biases are %d ints below 2^24, as fit() finds them" % features)
            self._keep(biases)
        self._kernel = kernel("rocket", "_odt_rocket")
        if self._kernel is None:
            from ...reference.rocket import rocket

            self._kernel = rocket

    def _keep(self, biases):
        from ...files.stored import whole

        def change():
            for i in range(self.features):
                self._work[i] = biases[i]
            self.biases = biases

        whole(change)

    def fit(self, x: "Any") -> "MiniRocket":
        """Take the biases of windows: of each kernel from its convolution with one of them, by chance. Returns self.

        x: any number of windows, window * axes int16 each, one after the other: what ``__call__`` takes, an array
        (windows, window, axes) of ints or a list of windows. In Python, once: on a board it takes seconds. TypeError,
        ValueError for no window, or a part of one.
        """
        flat = x
        if isinstance(x, (list, tuple)) or hasattr(x, "shape"):
            from .refused import windows

            flat = windows(x, self.window, self.axes)
        try:
            view, count = memoryview(flat), executor.engine.nbytes(flat) // 2
        except TypeError:
            raise TypeError("MiniRocket.fit: x: windows of int16 are expected, got %r" % (type(x),)) from None
        tables, size, unit, biases = self._tables, self.window * self.axes, 2 if len(view) == 2 * count else 1, []
        if not count or count % size:
            raise ValueError("MiniRocket.fit: x: windows of %d int16 are expected, got %d" % (size, count))
        if self._kernel(array("h", bytes(2 * self.outputs)), view[: size * unit], tables, self._work):
            raise TypeError("MiniRocket.fit: x: windows of int16 are expected, got %r" % (type(x),))
        dilations = tables[3]
        for i in range(dilations):
            for k in range(KERNELS):
                at = hash32(self.seed ^ 0x4D52, KERNELS * i + k) % (count // size) * size * unit
                samples = view[at : at + size * unit]
                mask = tables[4 + 2 * dilations + KERNELS * i + k]
                v = self._convolved(array("h", bytes(samples)) if unit == 2 else samples, mask, tables[4 + i], k)
                if (i + k) % 2:
                    v = v[4 * tables[4 + i] : len(v) - 4 * tables[4 + i]]
                v.sort()
                for _ in range(tables[4 + dilations + i]):
                    golden = (len(biases) + 1) * 0x9E3779B9 & 0xFFFFFFFF
                    biases.append(v[golden * len(v) >> 32])
        self._keep(tuple(biases))
        return self

    def _convolved(self, samples, mask, dilation, kernel):
        """A window's convolution with a kernel, zeros around it; as odt/reference/rocket.py, which a firmware does not
        have.
        """
        x = [0] * (4 * dilation)
        for t in range(0, len(samples), self.axes):
            x.append(sum([int(samples[t + c]) for c in range(self.axes) if mask >> c & 1]))
        x += [0] * (4 * dilation)
        twos = [(a, b, c) for a in range(7) for b in range(a + 1, 8) for c in range(b + 1, 9)][kernel]
        return [
            3 * sum([x[t + j * dilation] for j in twos]) - sum([x[t + j * dilation] for j in range(9)])
            for t in range(self.window)
        ]

    def __call__(self, samples: "Any", out: "Any" = None) -> "Any":
        """As of Feature; ValueError before ``fit``, too."""
        if self.biases is None:
            raise ValueError("MiniRocket: fit(x) comes first, or biases=")
        return Feature.__call__(self, samples, out)

    def __repr__(self):
        return "MiniRocket(%d samples of %d axes -> %d numbers, %d bytes)" % (
            self.window, self.axes, self.outputs, self.nbytes)  # fmt: skip
