"""Losses of numbers against targets in float32: binary cross-entropy, squared, absolute and Huber error."""

from ..base.fixed import bits_to_float, nearest_scale
from ..base.regions import CORRECT, FLOAT32, LOSS, Y_FORMAT, Y_SCALE, Y_ZERO
from .data import batch_count, samples
from .float32 import affine, divide, expf, logf, rounded, store
from .loss_f32 import add_loss


def binary_xent_f32(o):
    """e = (sigmoid(x) - target) / (N * COUNT)

    e=f32[B*N]~x c+ target:buf x:f32[B*N] ; B N
    """
    c = o.c
    count = _elements(o)
    at = 0
    for row in _targets(o):
        for i in range(at, at + o.N):
            if row is None:
                o.e[i] = 0.0
                continue
            x, y = o.x[i], store(row[i - at])
            power = expf(x if x < 0 else -x)
            whole = rounded(1.0 + power)
            p = divide(power, whole) if x < 0 else divide(1.0, whole) if x >= 0 else x
            loss = rounded((x if x > 0 else 0.0) - rounded(x * y))
            c[LOSS] = add_loss(c[LOSS], rounded(loss + logf(whole)))
            c[CORRECT] += (x > 0) == (y > 0.5)
            o.e[i] = store(rounded(p - y) / count)
        at += o.N


def mse_f32(o):
    """e = 2 * (x - target) / (N * COUNT)

    e=f32[B*N]~x c+ target:buf x:f32[B*N] ; B N
    """
    c, size = o.c, o.N
    kind, zero = c[Y_FORMAT], c[Y_ZERO]
    scale = bits_to_float(c[Y_SCALE])
    count = rounded(float(size * batch_count(c, o.B)))
    at = 0
    for raw in samples(c, Y_FORMAT, o.target, o.B, size, "f"):
        for i in range(size):
            if raw is None:
                o.e[at + i] = 0.0
                continue
            target = raw[i] if kind == FLOAT32 else affine(raw[i], zero, scale)
            d = store(o.x[at + i] - target)
            o.e[at + i] = store(rounded(d * 2) / count)
            c[LOSS] = add_loss(c[LOSS], rounded(d * d))
        at += size


def mae_f32(o):
    """e = sign(x - target) / (N * COUNT)

    e=f32[B*N]~x c+ target:buf x:f32[B*N] ; B N
    """
    c = o.c
    step = rounded(1.0 / _elements(o))
    for i, d in _differences(o):
        c[LOSS] = add_loss(c[LOSS], -d if d < 0 else d)
        o.e[i] = -step if d < 0 else step if d > 0 else d


def huber_f32(o):
    """e = min(max(x - target, -delta), delta) / (N * COUNT)

    e=f32[B*N]~x c+ target:buf x:f32[B*N] ; B N delta
    """
    c = o.c
    count = _elements(o)
    delta = bits_to_float(nearest_scale(o.delta))
    half = rounded(delta * 0.5)
    for i, d in _differences(o):
        size = -d if d < 0 else d
        if size > delta:
            loss = rounded(delta * rounded(size - half))
            d = -delta if d < 0 else delta
        else:
            loss = rounded(rounded(d * d) * 0.5)
        c[LOSS] = add_loss(c[LOSS], loss)
        o.e[i] = store(d / count)


def _targets(o):
    """Yield each row's targets as float32, None for padding."""
    c = o.c
    scale = bits_to_float(c[Y_SCALE])
    for raw in samples(c, Y_FORMAT, o.target, o.B, o.N, "f"):
        if raw is None or c[Y_FORMAT] == FLOAT32:
            yield raw
        else:
            yield [affine(v, c[Y_ZERO], scale) for v in raw]


def _differences(o):
    """Yield (index, D), D as in mse_f32; padding gets its error 0 here."""
    at = 0
    for row in _targets(o):
        for i in range(o.N):
            if row is None:
                o.e[at] = 0.0
            else:
                yield at, store(o.x[at] - row[i])
            at += 1


def _elements(o):
    return rounded(float(o.N * batch_count(o.c, o.B)))
