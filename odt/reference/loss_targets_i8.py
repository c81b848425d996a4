"""Losses of numbers against targets in int8: binary cross-entropy, squared, absolute and Huber error."""

from ..base.fixed import ONE, multiplier, nearest_scale, scale_div, scale_int, scale_mul, scale_shift
from ..base.primitives import LOG2_E, exp2n, log2q, quantize, rescale, sat32
from ..base.regions import CORRECT, FLOAT32, Y_FORMAT, Y_SCALE, Y_ZERO
from .data import Sink, batch_count, samples
from .loss_i8 import add_loss


def binary_xent_i8(o):
    """e = 127 * (sigmoid(sx * (x - z)) - target); se = 1 / (127 * N * COUNT)

    e=i8[B*N]~x se=i32 c+ target:buf x:i8[B*N] sx:i32 ; B N z
    """
    c = o.c
    m, s = multiplier(scale_mul(o.sx[0], LOG2_E))
    at = loss = 0
    for row in _targets(o, 15, ONE):
        for i in range(o.N):
            if row is None:
                o.e[at + i] = 0
                continue
            v = o.x[at + i] - o.z
            t = max(0, min(32768, row[i]))
            steps = rescale(abs(v) << 16, m, s)
            power = exp2n(steps)
            whole = 65536 + power
            p = (power * 32768 + whole // 2) // whole
            p = p if v < 0 else 32768 - p
            wrong = min(steps, 1 << 24) * (t if v < 0 else 32768 - t)
            part = log2q(whole) - 16 * 65536 + (wrong >> 15)
            loss += max(0, (part * 45426 + 32768) >> 16)
            c[CORRECT] += (v > 0) == (t > 16384)
            o.e[at + i] = ((p - t) * 127 + 16384) >> 15
        at += o.N
    add_loss(c, loss)
    o.se[0] = _mean(o, _part_of_127())


def mse_i8(o):
    """e = (sx * (x - z) - target) / se; so = 2 * se / (N * COUNT)

    e=i8[B*N]~x so=i32 peak+i32 c+ target:buf x:i8[B*N] sx:i32 se:i32 ; B N z
    """
    c, size = o.c, o.N
    sink = Sink(o.e, o.peak)
    kind = c[Y_FORMAT]
    sx = o.sx[0]
    inverse = scale_div(scale_shift(ONE, 8), sx)
    m, s = multiplier(scale_div(scale_shift(c[Y_SCALE], 8), sx))
    me, se = multiplier(scale_div(scale_shift(sx, -8), o.se[0]))
    loss = at = 0
    for raw in samples(c, Y_FORMAT, o.target, o.B, size):
        for i in range(at, at + size):
            if raw is None:
                o.e[i] = 0
                continue
            target = raw[i - at]
            if kind == FLOAT32:
                target = quantize(target, inverse)
            else:
                target = rescale(sat32(target - c[Y_ZERO]), m, s)
            d = max(-(1 << 24), min(1 << 24, ((o.x[i] - o.z) << 8) - target))
            loss += d * d
            sink.put(i, rescale(d, me, se))
        at += size
    sink.close()
    add_loss(c, loss)
    o.so[0] = scale_div(scale_shift(o.se[0], 1), scale_int(size * batch_count(c, o.B)))


def mae_i8(o):
    """e = 127 * sign(sx * (x - z) - target); se = 1 / (127 * N * COUNT)

    e=i8[B*N]~x se=i32 c+ target:buf x:i8[B*N] sx:i32 ; B N z
    """
    loss = 0
    for i, d in _differences(o):
        d = d or 0
        loss += abs(d)
        o.e[i] = 127 if d > 0 else -127 if d < 0 else 0
    add_loss(o.c, loss)
    o.se[0] = _mean(o, _part_of_127())


def huber_i8(o):
    """e = min(max(sx * (x - z) - target, -delta), delta) / se; so = se / (N * COUNT)

    e=i8[B*N] so=i32 peak+i32 c+ target:buf x:i8[B*N] sx:i32 se:i32 ; B N z delta
    """
    sx, se = o.sx[0], o.se[0]
    sink = Sink(o.e, o.peak)
    m, s = multiplier(scale_div(scale_shift(sx, -8), se))
    inverse = scale_div(scale_shift(ONE, 8), sx)
    delta = max(1, min(1 << 24, quantize(nearest_scale(o.delta), inverse)))
    loss = 0
    for i, d in _differences(o):
        if d is None:
            o.e[i] = 0
            continue
        size = abs(d)
        loss += size * size if size <= delta else delta * (2 * size - delta)
        sink.put(i, rescale(max(-delta, min(delta, d)), m, s))
    sink.close()
    add_loss(o.c, loss)
    o.so[0] = _mean(o, se)


def _targets(o, shift, sx):
    """Yield, for each row, its targets in 2^-shift of the scale sx; None for padding."""
    c = o.c
    inverse = scale_div(scale_shift(ONE, shift), sx)
    m, s = multiplier(scale_div(scale_shift(c[Y_SCALE], shift), sx))
    for raw in samples(c, Y_FORMAT, o.target, o.B, o.N):
        if raw is None:
            yield None
        elif c[Y_FORMAT] == FLOAT32:
            yield [quantize(v, inverse) for v in raw]
        else:
            yield [rescale(sat32(v - c[Y_ZERO]), m, s) for v in raw]


def _differences(o):
    """Yield (index, D) of each element, D as in mse_i8; D is None for padding."""
    at = 0
    for row in _targets(o, 8, o.sx[0]):
        for i in range(o.N):
            d = None
            if row:
                d = max(-(1 << 24), min(1 << 24, ((o.x[at] - o.z) << 8) - row[i]))
            yield at, d
            at += 1


def _mean(o, scale):
    """scale / (N * rows)."""
    return scale_div(scale, scale_int(o.N * batch_count(o.c, o.B)))


def _part_of_127():
    return scale_div(ONE, scale_int(127))
