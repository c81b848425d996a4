"""The softmax loss in int8: the error of the output, and the loss of the batch."""

from ..base.fixed import ONE, multiplier, scale_div, scale_int, scale_mul
from ..base.primitives import LOG2_E, exp2n, log2q, rescale, wrap32
from ..base.regions import CORRECT, LOSS, LOSS_HIGH, Y_FORMAT
from .data import batch_count, label, samples


def softmax_xent_i8(o):
    """e = 127 * (softmax(sx * x) - onehot); se = 1 / (127 * COUNT)

    e=i8[B*N]~x se=i32 c+ labels:buf x:i8[B*N] sx:i32 ; B N z
    """
    c, size = o.c, o.N
    to_power = multiplier(scale_mul(o.sx[0], LOG2_E))
    at = 0
    for raw in samples(c, Y_FORMAT, o.labels, o.B, 1):
        x = list(o.x[at : at + size])
        right = -1
        if raw is None:
            errors = [0] * size
        else:
            top = max(x)
            t, powers, total = powers_of(x, top, to_power)
            errors = [(p * 254 + total) // (2 * total) for p in powers]
            right = label(c, raw, size)
        if right >= 0:
            errors[right] -= 127
            loss = log2q(total) - 16 * 65536 + min(t[right], 1 << 24)
            add_loss(c, max(0, (loss * 45426 + 32768) >> 16))
            if x.index(top) == right:
                c[CORRECT] += 1
        for i in range(size):
            o.e[at + i] = errors[i]
        at += size
    o.se[0] = scale_div(ONE, scale_int(127 * batch_count(c, o.B)))


def powers_of(x, top, to_power):
    """(how far below the largest of x each is in bits, 2 to the power of less that, the sum of these)"""
    t = [rescale((top - v) << 16, *to_power) for v in x]
    powers = [exp2n(v) for v in t]
    return t, powers, min(1 << 30, sum(powers))


def add_loss(c, loss):
    """Add to the 64-bit loss of the control block c."""
    loss += (c[LOSS_HIGH] << 32) + (c[LOSS] & 0xFFFFFFFF)
    c[LOSS] = wrap32(loss)
    c[LOSS_HIGH] = wrap32(loss >> 32)
