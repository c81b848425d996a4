"""Losses of what a network says against what it said before, and by itself, in int8."""

from ..base.fixed import ONE, multiplier, scale_div, scale_int, scale_mul, scale_shift
from ..base.primitives import LOG2_E, log2q, rescale, sat32
from ..base.regions import CORRECT, Y_FORMAT, Y_ZERO
from .data import Sink, batch_count, label, samples
from .loss_i8 import add_loss, powers_of


def distil_xent_i8(o):
    """as softmax_xent_i8; of rows that have logits L, too (Y_ZERO is 1): e += 127 * 2 * a * (sx * (x - z) - L / 4), a
        = alpha / 65536

    e=i8[B*N]~x se=i32 c+ labels:buf x:i8[B*N] sx:i32 ; B N z alpha
    """
    c, size = o.c, o.N
    rows = c[Y_ZERO] == 1
    z = max(-128, min(127, o.z))
    weight = max(0, min(1 << 23, o.alpha))
    to_power = multiplier(scale_mul(o.sx[0], LOG2_E))
    nats = multiplier(scale_shift(o.sx[0], 8))
    at = 0
    for raw in samples(c, Y_FORMAT, o.labels, o.B, size + 1 if rows else 1):
        x = list(o.x[at : at + size])
        errors = [0] * size
        if raw is not None:
            right, top = label(c, raw, size), max(x)
            t, powers, total = powers_of(x, top, to_power)
            errors = [(p * 254 + total) // (2 * total) for p in powers]
            loss = 0
            if right >= 0:
                errors[right] -= 127
                loss = max(0, ((log2q(total) - 16 * 65536 + min(t[right], 1 << 24)) * 45426 + 32768) >> 16)
                c[CORRECT] += x.index(top) == right
            logits = [(v + 128 & 255) - 128 for v in raw[1:]]
            if logits and logits[0] != -128:
                squares = 0
                for i in range(size):
                    d = max(-16384, min(16384, sat32(rescale(x[i] - z, *nats) - 64 * logits[i])))
                    squares += d * d
                    errors[i] += (254 * weight * d + (1 << 23)) >> 24
                loss += weight * min(squares, 1 << 40) >> 16
            add_loss(c, loss)
        for v in errors:
            o.e[at] = max(-127, min(127, v))
            at += 1
    o.se[0] = scale_div(ONE, scale_int(127 * batch_count(c, o.B)))


def entropy_i8(o):
    """e = p * (a - sum_n p * a) / se, p = softmax(sx * x), a = diversity * log(mean p over the rows) - log(p); so = se
        / COUNT; LOSS += -sum p * log(p)

    e=i8[B*N] so=i32 sums=i32[N] peak+i32 c+ labels:buf x:i8[B*N] sx:i32 se:i32 ; B N diversity
    """
    c, size = o.c, o.N
    diversity = max(0, min(1 << 20, o.diversity))
    to_power = multiplier(scale_mul(o.sx[0], LOG2_E))
    to_error = multiplier(scale_div(scale_shift(ONE, -16), o.se[0]))
    rows, sums = [], [0] * size
    for b, raw in enumerate(samples(c, Y_FORMAT, o.labels, o.B, 1)):
        if raw is None:
            rows.append(None)
            continue
        x = list(o.x[b * size : (b + 1) * size])
        top = max(x)
        t, powers, total = powers_of(x, top, to_power)
        base = log2q(total) - 16 * 65536
        parts = [(p * 32768 + total // 2) // total for p in powers]
        rows.append((parts, [base + min(v, 1 << 24) for v in t]))
        sums = [(s + p) & 0xFFFFFFFF for s, p in zip(sums, parts)]
        c[CORRECT] += label(c, raw, size) == x.index(top)
    count = len(rows) - rows.count(None)
    means = [diversity * (log2q(count or 1) + 15 * 65536 - log2q(s or 1)) >> 16 for s in sums]
    for i in range(size):
        o.sums[i] = means[i]
    sink = Sink(o.e, o.peak)
    at = loss = 0
    for row in rows:
        if row is None:
            for i in range(at, at + size):
                o.e[i] = 0
            at += size
            continue
        parts, bits = row
        terms = [b - m for b, m in zip(bits, means)]
        mean = sum([p * a for p, a in zip(parts, terms)]) >> 15
        for p, a in zip(parts, terms):
            w = p * (a - mean) >> 15
            sink.put(at, rescale((w * 45426 + 32768) >> 16, *to_error))
            at += 1
        entropy = sum([p * b for p, b in zip(parts, bits)]) >> 15
        loss += max(0, (entropy * 45426 + 32768) >> 16)
    sink.close()
    add_loss(c, loss)
    o.so[0] = scale_div(o.se[0], scale_int(batch_count(c, o.B)))
