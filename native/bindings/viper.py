"""Loops of the Python executor as native code of MicroPython's own compiler, for boards without C kernels.

mpy-cross compiles this file for one architecture to _odt_viper.mpy (boards/mpy.mk). FASTER has functions by the names
of instructions, with the bits of those in odt/reference/, whose program.py takes them. Three loops serve convolutions
and dense layers, which are convolutions of one position.

A viper function has at most four arguments, so that sizes come in an array of words, ``p``. Arithmetic is modulo 2^32:
words are 64 bits wide on a PC, where p[0] masks them. Loads have no sign: int8 is x ^ 128, less 128.
"""
# ruff: noqa: F821 (ptr8, ptr32 and uint are the compiler's)

from array import array

import micropython

# Words of p. What differs in size follows from word 24 on.
#  0  mask of 32 bits       13 zx                            18 outputs of a sample
#  1  H W C N               14 the first filter: at          19 zy + 128
#  5  KH KW OH OW           15 filters: R                    20 lo + 128
#  9  SH SW PT PL           16 where the sample begins in x  21 the peak
#                           17 where it begins in e or y
_NAMES = ("H", "W", "C", "N", "KH", "KW", "OH", "OW", "SH", "SW", "PT", "PL")


@micropython.viper
def _forward(t: ptr32, x: ptr8, w: ptr8, p: ptr32):
    # t[position, n] = b[n] + sum of (x - zx) * w, of the sample at x[p[16]]. From p[24] on: a window, then b.
    height = int(p[1])
    width = int(p[2])
    channels = int(p[3])
    filters = int(p[4])
    rows = int(p[5])
    columns = int(p[6])
    size = int(p[5]) * int(p[6]) * int(p[3])
    zero = int(p[13]) + 128
    out = 0
    for oh in range(int(p[7])):
        for ow in range(int(p[8])):
            to = 24
            total = 0
            top = oh * int(p[9]) - int(p[11])
            left = ow * int(p[10]) - int(p[12])
            for kh in range(rows):
                ih = top + kh
                for kw in range(columns):
                    iw = left + kw
                    if ih >= 0 and ih < height and iw >= 0 and iw < width:
                        at = int(p[16]) + (ih * width + iw) * channels
                        end = at + channels
                        while at < end:
                            v = (int(x[at]) ^ 128) - zero
                            p[to] = v
                            total += v
                            to += 1
                            at += 1
                    else:
                        end = to + channels
                        while to < end:
                            p[to] = 0
                            to += 1
            total *= 128
            at = 0
            bias = 24 + size
            fours = 24 + (size & -4)
            for n in range(filters):
                acc = int(p[bias + n]) - total
                i = 24
                while i < fours:
                    acc += int(p[i]) * (int(w[at]) ^ 128) + int(p[i + 1]) * (int(w[at + 1]) ^ 128)
                    acc += int(p[i + 2]) * (int(w[at + 2]) ^ 128) + int(p[i + 3]) * (int(w[at + 3]) ^ 128)
                    i += 4
                    at += 4
                while i < bias:
                    acc += int(p[i]) * (int(w[at]) ^ 128)
                    i += 1
                    at += 1
                t[out] = acc
                out += 1


@micropython.viper
def _back(t: ptr32, e: ptr8, w: ptr8, p: ptr32):
    # t[input] += sum of e * w, of the sample whose errors begin at e[p[17]].
    height = int(p[1])
    width = int(p[2])
    channels = int(p[3])
    filters = int(p[4])
    rows = int(p[5])
    columns = int(p[6])
    size = int(p[5]) * int(p[6]) * int(p[3])
    at = int(p[17])
    for oh in range(int(p[7])):
        for ow in range(int(p[8])):
            top = oh * int(p[9]) - int(p[11])
            left = ow * int(p[10]) - int(p[12])
            for n in range(filters):
                v = (int(e[at]) ^ 128) - 128
                at += 1
                if v != 0:
                    for kh in range(rows):
                        ih = top + kh
                        if ih >= 0 and ih < height:
                            for kw in range(columns):
                                iw = left + kw
                                if iw >= 0 and iw < width:
                                    i = (ih * width + iw) * channels
                                    j = n * size + (kh * columns + kw) * channels
                                    end = i + channels
                                    while i < end:
                                        t[i] = int(t[i]) + v * ((int(w[j]) ^ 128) - 128)
                                        i += 1
                                        j += 1


@micropython.viper
def _outer(t: ptr32, e: ptr8, x: ptr8, p: ptr32):
    # t[filter, tap] += sum of e * (x - zx), of the sample at x[p[16]], whose errors begin at
    # e[p[17]].
    height = int(p[1])
    width = int(p[2])
    channels = int(p[3])
    filters = int(p[4])
    rows = int(p[5])
    columns = int(p[6])
    size = int(p[5]) * int(p[6]) * int(p[3])
    zero = int(p[13]) + 128
    at = int(p[17]) + int(p[14])
    for oh in range(int(p[7])):
        for ow in range(int(p[8])):
            top = oh * int(p[9]) - int(p[11])
            left = ow * int(p[10]) - int(p[12])
            for n in range(int(p[15])):
                v = (int(e[at + n]) ^ 128) - 128
                if v != 0:
                    for kh in range(rows):
                        ih = top + kh
                        if ih >= 0 and ih < height:
                            for kw in range(columns):
                                iw = left + kw
                                if iw >= 0 and iw < width:
                                    i = int(p[16]) + (ih * width + iw) * channels
                                    j = n * size + (kh * columns + kw) * channels
                                    end = i + channels
                                    while i < end:
                                        t[j] = int(t[j]) + v * ((int(x[i]) ^ 128) - zero)
                                        i += 1
                                        j += 1
            at += filters


@micropython.viper
def _clear(t: ptr32, count: int):
    for i in range(count):
        t[i] = 0


@micropython.viper
def _finish(y: ptr8, t: ptr32, q: ptr32, p: ptr32):
    # y = clamp(zy + rescale(t)), p[18] of them to y[p[17]] on; p[4] multipliers in turn.
    mask = uint(p[0])
    to = int(p[17])
    zero = int(p[19]) - 128
    low = int(p[20]) - 128
    top = uint(p[21])
    one_sided = int(p[19]) == int(p[20])
    filters = int(p[4])
    n = 0
    for i in range(int(p[18])):
        v = uint(t[i])
        m = uint(q[2 * n])
        s = uint(q[2 * n + 1])
        negative = (v >> uint(31)) & uint(1)
        if negative:
            v = (uint(0) - v) & mask
        # The product, of 64 bits: high and low.
        a0 = v & uint(65535)
        a1 = v >> uint(16)
        m0 = m & uint(65535)
        m1 = m >> uint(16)
        low0 = a0 * m0
        mid = (low0 >> uint(16)) + (a0 * m1 & uint(65535)) + (a1 * m0 & uint(65535))
        lo = (low0 & uint(65535)) | (mid << uint(16) & mask)
        hi = a1 * m1 + (a0 * m1 >> uint(16)) + (a1 * m0 >> uint(16)) + (mid >> uint(16))
        # A half, less 1 for the magnitude of a negative number.
        if s <= uint(32):
            more = (uint(1) << s - uint(1)) - negative
            above = uint(0)
        else:
            more = (uint(0) - negative) & mask
            above = (uint(1) << s - uint(33)) - negative
        total = (lo + more) & mask
        carry = ((lo & more) | ((lo | more) & (total ^ mask))) >> uint(31)
        hi = hi + above + carry
        if s < uint(32):
            r = (total >> s) | (hi << uint(32) - s & mask)
            if hi >> s or r >> uint(31):
                r = mask >> uint(1)
        else:
            r = hi >> s - uint(32)
        if negative:
            if not one_sided:
                if r > top:
                    top = r
            k = zero - int(r) if r < uint(512) else 0 - 512
        else:
            if r > top:
                top = r
            k = zero + int(r) if r < uint(512) else 512
        if k < low:
            k = low
        if k > 127:
            k = 127
        y[to] = k
        to += 1
        n += 1
        if n == filters:
            n = 0
    p[21] = int(top)


def _sizes(o, tail=0):
    """p of a convolution, or of a dense layer, with that many words more."""
    p = array("I", bytes(4 * (24 + tail)))
    p[0] = 0xFFFFFFFF
    if hasattr(o, "KH"):
        for i in range(len(_NAMES)):
            p[1 + i] = getattr(o, _NAMES[i])
    else:
        for i in (1, 2, 5, 6, 7, 8, 9, 10):
            p[i] = 1
        p[3], p[4] = o.K, o.N
    return p


def _shape(o):
    """(samples, bytes of a sample of x, of y)."""
    if hasattr(o, "KH"):
        return o.B, o.H * o.W * o.C, o.OH * o.OW * o.N
    return o.M, o.K, o.N


def _word(v):
    return v & 0xFFFFFFFF


def _dense(o):
    samples, width, outputs = _shape(o)
    size = len(o.w) // o.N
    p = _sizes(o, size + o.N)
    p[13], p[18], p[19], p[20], p[21] = _word(o.zx), outputs, o.zy + 128, o.lo + 128, o.peak[0]
    for n in range(o.N):
        p[24 + size + n] = _word(o.b[n])
    t = array("i", bytes(4 * outputs))
    for b in range(samples):
        p[16], p[17] = b * width, b * outputs
        _forward(t, o.x, o.w, p)
        _finish(o.y, t, o.q, p)
    o.peak[0] = p[21]


def _dense_dx(o):
    samples, width, outputs = _shape(o)
    p = _sizes(o)
    p[18], p[19], p[20], p[21] = width, 128, 1, o.peak[0]  # a zero point of 0, no less than -127
    for b in range(samples):
        t = array("i", bytes(4 * width))
        p[4], p[17] = o.N, b * outputs
        _back(t, o.e, o.w, p)
        p[4], p[17] = 1, b * width
        _finish(o.dx, t, o.q, p)
    o.peak[0] = p[21]


def _dense_dw(o):
    samples, width, outputs = _shape(o)
    p = _sizes(o)
    p[13], p[14], p[15] = _word(o.zx), _word(o.at), o.R
    _clear(o.dw, len(o.dw))
    if 0 <= o.at <= o.N - o.R:
        for b in range(samples):
            p[16], p[17] = b * width, b * outputs
            _outer(o.dw, o.e, o.x, p)


FASTER = {
    "dense_i8": _dense, "dense_dx_i8": _dense_dx, "dense_dw_i8": _dense_dw,
    "conv2d_i8": _dense, "conv2d_dx_i8": _dense_dx, "conv2d_dw_i8": _dense_dw,
}  # fmt: skip
