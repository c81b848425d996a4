"""The reference executor with float32's loops in ulab or, on CPython, NumPy: the same code, the same bits as
docs/reference/numerics.md.

Sums run along the axis that docs/reference/numerics.md orders, a whole array at each step; so each element is summed in
the stated order. ulab has two axes in most builds: nothing here has more. Constants come as bits, for a board's Python
float may have two bits less. Outside an image x counts as 0, where the reference skips it: other bits only with weights
that are not finite.
"""

from array import array

try:  # before anything else is loaded: most boards have neither
    from ulab import numpy as np

    name = "ulab"
    _FLOAT = np.float
except ImportError:
    import numpy as np

    name = "numpy"
    _FLOAT = np.float32

from ..base.regions import VERSION  # noqa: F401
from . import program
from .buffers import count_samples, crc32, draw, find_nonfinite, nbytes, predict, typecode  # noqa: F401
from .data import blank, rows, zeros

if np.zeros(1, dtype=_FLOAT).itemsize != 4:
    raise ImportError("ulab's floats have 8 bytes here, not 4")


def _flat(buffer):
    """An array('f') as a vector that shares its memory."""
    return np.frombuffer(buffer, dtype=_FLOAT)


def _matrix(buffer, height, width):
    return _flat(buffer).reshape((height, width))


def _bits(*words):
    return _flat(array("I", [word & 0xFFFFFFFF for word in words]))


_ZERO = _bits(0)
_TINY = _bits(76 << 23)  # 2^-51
_TINY2 = _bits(25 << 23)  # 2^-102


def _stored(v, tiny=_TINY):
    return np.where(abs(v) < tiny, _ZERO, v)


def _clamped(v, relu):
    return np.where(v < _ZERO, _ZERO, v) if relu else v


def _products(acc, x, w, depth):
    """acc[m, n] + sum over k of x[m, k] * w[n, k], k ascending."""
    columns = w.transpose()
    for k in range(depth):
        acc = acc + x[:, k : k + 1] * columns[k : k + 1, :]
    return acc


def dense_f32(o):
    acc = _matrix(zeros(o.M * o.N), o.M, o.N) + _matrix(o.b, 1, o.N)
    acc = _products(acc, _matrix(o.x, o.M, o.K), _matrix(o.w, o.N, o.K), o.K)
    _matrix(o.y, o.M, o.N)[:, :] = _clamped(_stored(acc), o.relu)


def dense_dx_f32(o):
    e, w = _matrix(o.e, o.M, o.N), _matrix(o.w, o.N, o.K)
    acc = _matrix(zeros(o.M * o.K), o.M, o.K)
    for n in range(o.N):
        acc = acc + e[:, n : n + 1] * w[n : n + 1, :]
    _matrix(o.dx, o.M, o.K)[:, :] = _stored(acc)


def dense_dw_f32(o):
    _outer(o, o.K, [(_matrix(o.e, o.M, o.N), _matrix(o.x, o.M, o.K))])


def _outer(o, width, pairs):
    """dw = the sum of outer products of the rows of each (e, x), in their order."""
    blank(o.dw)
    trained = rows(o)
    if not len(trained):
        return
    acc = _matrix(zeros(o.R * width), o.R, width)
    for e, x in pairs:
        columns = e.transpose()
        for m in range(e.shape[0]):
            acc = acc + columns[o.at : o.at + o.R, m : m + 1] * x[m : m + 1, :]
    _matrix(o.dw, o.R, width)[:, :] = _stored(acc)


def bias_dw_f32(o):
    e = _matrix(o.e, o.M, o.N)
    acc = _matrix(zeros(o.N), 1, o.N)
    for m in range(o.M):
        acc = acc + e[m : m + 1, :]
    _matrix(o.db, 1, o.N)[:, :] = _stored(acc)


def _taps(o):
    """For each row of a window's tap: (tap, output positions from, to, input positions from, to), of a sample."""
    for kh in range(o.KH):
        for kw in range(o.KW):
            left = max(0, -(-(o.PL - kw) // o.SW))
            right = min(o.OW, (o.W - 1 + o.PL - kw) // o.SW + 1)
            if left >= right:
                continue
            for oh in range(o.OH):
                ih = oh * o.SH - o.PT + kh
                if 0 <= ih < o.H:
                    first = ih * o.W + left * o.SW - o.PL + kw
                    yield (
                        kh * o.KW + kw,
                        oh * o.OW + left,
                        oh * o.OW + right,
                        first,
                        first + (right - left - 1) * o.SW + 1,
                    )


def _patches(o, taps):
    """For each sample a matrix whose rows are what the windows see; one matrix, overwritten each time."""
    x = _matrix(o.x, o.B * o.H * o.W, o.C)
    size = o.OH * o.OW
    patch = _matrix(zeros(size * o.KH * o.KW * o.C), size, o.KH * o.KW * o.C)
    for b in range(o.B):
        at = b * o.H * o.W
        for tap, start, stop, first, last in taps:
            patch[start:stop, tap * o.C : (tap + 1) * o.C] = x[at + first : at + last : o.SW, :]
        yield b * size, patch


def conv2d_f32(o):
    size, depth = o.OH * o.OW, o.KH * o.KW * o.C
    w, bias = _matrix(o.w, o.N, depth), _matrix(o.b, 1, o.N)
    y = _matrix(o.y, o.B * size, o.N)
    for at, patch in _patches(o, list(_taps(o))):
        acc = _matrix(zeros(size * o.N), size, o.N) + bias
        y[at : at + size, :] = _clamped(_stored(_products(acc, patch, w, depth)), o.relu)


def conv2d_dx_f32(o):
    size, image = o.OH * o.OW, o.H * o.W
    e, w = _matrix(o.e, o.B * size, o.N), _matrix(o.w, o.N, o.KH * o.KW * o.C)
    dx = _matrix(o.dx, o.B * image, o.C)
    taps = list(_taps(o))
    for b in range(o.B):
        acc = _matrix(zeros(image * o.C), image, o.C)
        for tap, start, stop, first, last in taps:
            part = acc[first : last : o.SW, :]
            for n in range(o.N):
                part = (
                    part + e[b * size + start : b * size + stop, n : n + 1] * w[n : n + 1, tap * o.C : (tap + 1) * o.C]
                )
            acc[first : last : o.SW, :] = part
        dx[b * image : (b + 1) * image, :] = _stored(acc)


def conv2d_dw_f32(o):
    size = o.OH * o.OW
    e = _matrix(o.e, o.B * size, o.N)
    pairs = ((e[at : at + size, :], patch) for at, patch in _patches(o, list(_taps(o))))
    _outer(o, o.KH * o.KW * o.C, pairs)


def relu_f32(o):
    _flat(o.y)[:] = _clamped(_flat(o.x), True)


def relu_dx_f32(o):
    _flat(o.dx)[:] = np.where(_flat(o.y) > _ZERO, _flat(o.e), _ZERO)


def add_f32(o):
    _flat(o.y)[:] = _clamped(_stored(_flat(o.a) + _flat(o.b)), o.relu)


def accumulate_f32(o):
    _flat(o.y)[:] = _stored(_flat(o.y) + _flat(o.d))


def momentum_f32(o):
    v = _flat(o.v)
    v[:] = _stored(v * _bits(o.mu) + _flat(o.d))
    _flat(o.d)[:] = v


def adam_f32(o):
    d, m, v = _flat(o.d), _flat(o.m), _flat(o.v)
    m[:] = _stored(m * _bits(o.b1) + d * _bits(o.c1))
    v[:] = _stored(v * _bits(o.b2) + (d * d) * _bits(o.c2), _TINY2)
    d[:] = _stored(m / (np.sqrt(v) + _bits(o.eps) * _bits(o.rate[1])))


def apply_f32(o):
    if o.rate[0]:
        w = _flat(o.w)
        w[:] = _stored(w - _flat(o.d) * _bits(o.rate[0]))


FASTER = {
    "dense_f32": dense_f32, "dense_dx_f32": dense_dx_f32, "dense_dw_f32": dense_dw_f32, "bias_dw_f32": bias_dw_f32,
    "conv2d_f32": conv2d_f32, "conv2d_dx_f32": conv2d_dx_f32, "conv2d_dw_f32": conv2d_dw_f32,
    "relu_f32": relu_f32, "relu_dx_f32": relu_dx_f32, "add_f32": add_f32, "accumulate_f32": accumulate_f32,
    "momentum_f32": momentum_f32, "adam_f32": adam_f32, "apply_f32": apply_f32,
}  # fmt: skip
FASTER.update(program.faster)  # of int8


def load(code):
    """As program.load; what is here is not imported from elsewhere."""
    return _with_these(program.load, code)


def run(loaded, regions, start, stop, rows=0):
    """As program.run."""
    _with_these(program.run, loaded, regions, start, stop, rows)


def _with_these(function, *arguments):
    before, program.faster = program.faster, FASTER
    try:
        return function(*arguments)
    finally:
        program.faster = before
