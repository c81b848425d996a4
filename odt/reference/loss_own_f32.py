"""Losses of what a network says against what it said before, and by itself, in float32."""

from ..base.fixed import bits_to_float
from ..base.regions import CORRECT, LOSS, Y_FORMAT, Y_ZERO
from .data import batch_count, label, samples
from .float32 import divide, logf, rounded, store
from .loss_f32 import add_loss, powers_of


def distil_xent_f32(o):
    """as softmax_xent_f32; of rows that have logits L: e += 2 * alpha * (x - L / 4) / COUNT

    e=f32[B*N]~x c+ labels:buf x:f32[B*N] ; B N alpha
    """
    c, size = o.c, o.N
    rows = c[Y_ZERO] == 1
    count = rounded(float(batch_count(c, o.B)))
    alpha = bits_to_float(o.alpha & 0xFFFFFFFF)
    twice = rounded(alpha + alpha)
    at = 0
    for raw in samples(c, Y_FORMAT, o.labels, o.B, size + 1 if rows else 1):
        if raw is None:
            for i in range(at, at + size):
                o.e[i] = 0.0
            at += size
            continue
        x = list(o.x[at : at + size])
        right = label(c, raw, size)
        best, powers, total = powers_of(x)
        if right >= 0:
            c[LOSS] = add_loss(c[LOSS], rounded(logf(total) - rounded(x[right] - x[best])))
            c[CORRECT] += right == best
        logits = [(v + 128 & 255) - 128 for v in raw[1:]]
        squares = 0.0
        for i in range(size):
            v = rounded(divide(powers[i], total) - (1.0 if i == right else 0.0))
            if logits and logits[0] != -128:
                d = rounded(x[i] - logits[i] * 0.25)
                squares = rounded(squares + rounded(d * d))
                v = rounded(v + rounded(d * twice))
            o.e[at + i] = store(v / count)
        if logits and logits[0] != -128:
            c[LOSS] = add_loss(c[LOSS], rounded(squares * alpha))
        at += size


def entropy_f32(o):
    """e = p * (a - sum_n p * a) / COUNT, p, a, LOSS as in entropy_i8

    e=f32[B*N]~x sums=f32[N] c+ labels:buf x:f32[B*N] ; B N diversity
    """
    c, size = o.c, o.N
    count = rounded(float(batch_count(c, o.B)))
    diversity = bits_to_float(o.diversity & 0xFFFFFFFF)
    sums, rows = [0.0] * size, []
    for b, raw in enumerate(samples(c, Y_FORMAT, o.labels, o.B, 1)):
        at = b * size
        if raw is None:
            for i in range(at, at + size):
                o.e[i] = 0.0
            continue
        rows.append(at)
        x = list(o.x[at : at + size])
        best, powers, total = powers_of(x)
        for i in range(size):
            p = store(divide(powers[i], total))
            o.e[at + i] = p
            sums[i] = rounded(sums[i] + p)
        c[CORRECT] += label(c, raw, size) == best
    for i in range(size):
        sums[i] = rounded(diversity * _log(store(divide(sums[i], float(len(rows))))))
        o.sums[i] = sums[i]
    for at in rows:
        mean = entropy = 0.0
        terms = []
        for i in range(size):
            p = o.e[at + i]
            own = _log(p)
            terms.append(rounded(sums[i] - own))
            mean = rounded(mean + rounded(p * terms[i]))
            entropy = rounded(entropy + rounded(p * own))
        for i in range(size):
            o.e[at + i] = store(rounded(o.e[at + i] * rounded(terms[i] - mean)) / count)
        c[LOSS] = add_loss(c[LOSS], -entropy)


def _log(x):
    """Of what is above 0; else 0."""
    return logf(x) if x > 0 else 0.0
