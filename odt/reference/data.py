"""What several families share: the user's samples, a window's positions, rows, masks.

`samples` is the one place that reads the user's data, whatever its format and its order.
"""

import struct
from array import array

from ..base.fixed import ONE
from ..base.primitives import order, quantize
from ..base.regions import BATCH, COUNT, FLOAT32, ORDER, POSITION, SAMPLES, UINT16, Y_FORMAT

# Samples


def samples(c, base, data, rows, count, floats="I"):
    """Yield, for each row of a batch, its count raw elements as a tuple, None for padding.

    base is X_FORMAT or Y_FORMAT, floats the struct code by which float32 elements are read.
    """
    kind = c[base]
    code = ("b", "B", "h", "i", floats, "H")[kind] if 0 <= kind <= UINT16 else "b"
    size = count * (1, 1, 2, 4, 4, 2)[kind] if 0 <= kind <= UINT16 else len(data) + 1
    code = "<%d%s" % (count, code)
    for r in range(rows):
        p = c[POSITION] + r
        raw = None
        if r < c[COUNT] and c[POSITION] >= 0 and p < c[SAMPLES]:
            at = order(p, c[SAMPLES], c[ORDER]) * size
            if at + size <= len(data):
                raw = struct.unpack_from(code, data, at)
        yield raw


def label(c, raw, classes):
    """The label of a row, -1 where it is none of 0 .. classes - 1."""
    value = quantize(raw[0], ONE) if c[Y_FORMAT] == FLOAT32 else raw[0]
    return value if 0 <= value < classes else -1


def batch_count(c, rows):
    """Rows that the loss is the mean of, at least 1."""
    if c[BATCH] > 0:
        return min(c[BATCH], 65535)
    return max(1, min(c[COUNT], rows))


# Windows


def windows(o):
    """Yield (sample, ih, iw) of each window's first position, in the order (b, oh, ow)."""
    for b in range(o.B):
        for oh in range(o.OH):
            for ow in range(o.OW):
                yield b, oh * o.SH - o.PT, ow * o.SW - o.PL


def positions(o, window, channels):
    """Yield (tap, offset in x) for the window's positions inside x, taps counted as (kh, kw)."""
    b, ih, iw = window
    for kh in range(max(0, -ih), min(o.KH, o.H - ih)):
        for kw in range(max(0, -iw), min(o.KW, o.W - iw)):
            yield kh * o.KW + kw, ((b * o.H + ih + kh) * o.W + iw + kw) * channels


def outputs(o, ih, iw, rows, columns):
    """Yield (tap, output position) for the windows that contain (ih, iw), taps ascending."""
    for kh in range(o.KH):
        oh, rest = divmod(ih + o.PT - kh, o.SH)
        if rest or not 0 <= oh < rows:
            continue
        for kw in range(o.KW):
            ow, rest = divmod(iw + o.PL - kw, o.SW)
            if rest == 0 and 0 <= ow < columns:
                yield kh * o.KW + kw, oh * columns + ow


# Rows and elements


def rows(o):
    """Rows at .. at+R-1 of N, as a range; none where they do not lie among them."""
    return range(o.at, o.at + o.R) if 0 <= o.at <= o.N - o.R else range(0)


def blank(buffer):
    """Set every element to 0."""
    for i in range(len(buffer)):
        buffer[i] = 0


def zeros(n):
    """n float32 zeros."""
    return array("f", bytes(4 * n))


def first_largest(x, offsets):
    """Index in offsets of the first largest element, None if there are no offsets."""
    best = None
    for index, i in enumerate(offsets):
        if best is None or x[i] > x[offsets[best]]:
            best = index
    return best


def limit30(v):
    return max(-(1 << 30), min(1 << 30, v))


# Results in int8


class Sink:
    """Where int8 results go: adds the zero point, clamps, collects the peak."""

    def __init__(self, out, peak, zero=0, lo=-127):
        self.out = out
        self.peak = peak
        self.zero = zero
        self.lo = lo
        self.top = peak[0]

    def put(self, i, v):
        if v > self.top:
            self.top = v
        elif -v > self.top and self.lo != self.zero:
            self.top = -v
        v += self.zero
        self.out[i] = self.lo if v < self.lo else 127 if v > 127 else v

    def close(self):
        self.peak[0] = self.top


# Masks


def open_bits(o, low, high):
    """The bits of open_i8 and open_f32."""
    if o.N > 8 * o.S:
        return
    for i in range(o.N):
        if not i & 7:
            o.bits[i >> 3] = 0
        if low < o.y[i] < high:
            bit = 1 << (i & 7)
            o.bits[i >> 3] += bit if bit < 128 else -128


def masked(o):
    """masked_i8 and masked_f32."""
    if o.N <= 8 * o.S:
        for i in range(o.N):
            o.dx[i] = o.e[i] if o.bits[i >> 3] >> (i & 7) & 1 else 0
