"""The softmax loss in float32: the error of the output, and the loss of the batch."""

from ..base.fixed import bits_to_float, float_to_bits
from ..base.regions import CORRECT, LOSS, Y_FORMAT
from .data import batch_count, first_largest, label, samples
from .float32 import divide, expf, logf, rounded, store


def softmax_xent_f32(o):
    """e = (softmax(x) - onehot) / COUNT

    e=f32[B*N]~x c+ labels:buf x:f32[B*N] ; B N
    """
    c, size = o.c, o.N
    count = rounded(float(batch_count(c, o.B)))
    at = 0
    for raw in samples(c, Y_FORMAT, o.labels, o.B, 1):
        if raw is None:
            for i in range(at, at + size):
                o.e[i] = 0.0
            at += size
            continue
        x = list(o.x[at : at + size])
        right = label(c, raw, size)
        best, powers, total = powers_of(x)
        for i in range(size):
            v = divide(powers[i], total)
            if i == right:
                v = rounded(v - 1.0)
            o.e[at + i] = store(v / count)
        if right >= 0:
            loss = rounded(logf(total) - rounded(x[right] - x[best]))
            c[LOSS] = add_loss(c[LOSS], loss)
            if right == best:
                c[CORRECT] += 1
        at += size


def powers_of(x):
    """(where the largest of x is, exp(x - x[there]), the sum of these)"""
    best = first_largest(x, range(len(x)))
    powers = [expf(rounded(v - x[best])) for v in x]
    total = 0.0
    for p in powers:
        total = rounded(total + p)
    return best, powers, total


def add_loss(bits, loss):
    """bits + loss as the bits of a float32 that fit an int32 word."""
    bits = float_to_bits(rounded(bits_to_float(bits) + loss))
    return bits - (1 << 32) if bits >> 31 else bits
