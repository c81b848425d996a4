"""Features of motion: statistics of a window of an accelerometer's or gyroscope's samples, and their power in bands.

    motion = Motion(rate=100, window=128, axes=3, bands=(1, 3, 5, 10, 20))
    out = array("h", bytes(2 * motion.outputs))
    motion(samples, out)  # x, y, z, x, y, z, ..

The arithmetic: docs/reference/numerics.md, Features.
"""

from array import array

from ...base.fixed import is_int, is_number, own
from ...base.primitives import decimal, size_of
from . import Feature, kernel

if 1 - 1:  # for type checkers alone
    from collections.abc import Sequence

STATISTICS = 6  # mean, deviation, root of the mean square, crossings of the mean, highest and lowest less the mean


class Motion(Feature):
    """Of each axis of a window: mean, deviation, root of the mean square, crossings of the mean, highest and lowest
    value less the mean; then of each band 256 log2 of its power, 0 where that is below 1.

    rate: Hz; window: samples of each axis, 2..2048, fft: a power of two, 32..2048, not below it (None: the next).
    bands: two or more numbers, rising, in Hz, of 4 digits: the edges of the bands, each from one edge up to, without
    it, the next; () for statistics alone, which need next to no RAM. A band without a bin of the transform, which are
    rate / fft Hz apart, is a ValueError.

    ``outputs``: axes * (6 + bands). TypeError, ValueError for what is out of range.
    """

    rate: "int"
    window: "int"
    axes: "int"
    bands: "tuple[float, ...]"
    fft: "int"
    outputs: "int"

    keywords = "rate", "window", "axes", "bands", "fft"

    def __init__(
        self,
        rate: "int" = 100,
        window: "int" = 128,
        axes: "int" = 3,
        bands: "Sequence[float]" = (1, 3, 5, 10, 20, 40),
        fft: "int | None" = None,
    ) -> None:
        self.rate = rate = size_of("Motion", "rate", rate, 1000000)
        self.window = window = size_of("Motion", "window", window, 2048)
        self.axes = axes = size_of("Motion", "axes", axes, 16)
        if window < 2:
            raise ValueError("Motion: window is in 2..2048, got 1")
        if fft is None:
            fft = 32
            while fft < window:
                fft *= 2
        self.fft = fft = size_of("Motion", "fft", fft, 2048)
        if fft < max(32, window) or fft & fft - 1:
            raise ValueError("Motion: fft is a power of two in 32..2048, not below the window, got %d" % fft)
        self.bands = bands = tuple(own(edge) for edge in bands)
        tables = array("h", (0x4D4F, window, fft, axes, max(len(bands) - 1, 0)))
        if len(bands) == 1 or len(bands) > 65:
            raise ValueError("Motion: bands are () or 2..65 edges, got %d" % len(bands))
        last = -1
        for edge in bands:
            if not is_number(edge):
                raise TypeError("Motion: the edges of bands are numbers, in Hz, got %r" % (edge,))
            if not max(last, 0) <= edge <= rate // 2 or edge == last:
                raise ValueError("Motion: bands rise from 0 to rate / 2 = %d Hz at most, got %r" % (rate // 2, bands))
            over, power = (edge, 0) if is_int(edge) else decimal(edge)
            bin = -(-over * fft * 10 ** max(power, 0) // (rate * 10 ** max(-power, 0)))
            if last >= 0 and bin == tables[-1]:
                raise ValueError("Motion: no bin of the transform is from %g up to %g Hz: a larger fft" % (last, edge))
            tables.append(bin)
            last = edge
        self._tables, self._work = tables, array("i", (0,))
        if bands:
            from ...plan import drop
            from .tables import waves

            self._work = waves(window, fft)
            drop("odt.sensors.features.tables")
        self.outputs = axes * (STATISTICS + tables[4])
        self._kernel = kernel("motion", "_odt_motion")
        if self._kernel is None:
            from ...reference.motion import motion

            self._kernel = motion

    def __repr__(self):
        return "Motion(%d samples of %d axes at %d Hz -> %d numbers, %d bytes)" % (
            self.window, self.axes, self.rate, self.outputs, self.nbytes)  # fmt: skip
