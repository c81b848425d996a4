"""Losses in float32: the error of the output, and the loss of the batch."""

from ..fixed import bits_to_float, float_to_bits, nearest_scale
from ..opcodes import CORRECT, COUNT, FLOAT32, LOSS, Y_FORMAT, Y_SCALE, Y_ZERO
from .data import batch_count, first_largest, label, samples
from .float32 import affine, divide, expf, logf, rounded, store


def softmax_xent_f32(o):
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
        best = first_largest(x, range(size))
        powers = [expf(rounded(v - x[best])) for v in x]
        total = 0.0
        for p in powers:
            total = rounded(total + p)
        for i in range(size):
            v = divide(powers[i], total)
            if i == right:
                v = rounded(v - 1.0)
            o.e[at + i] = store(v / count)
        if right >= 0:
            loss = rounded(logf(total) - rounded(x[right] - x[best]))
            c[LOSS] = _add_loss(c[LOSS], loss)
            if right == best:
                c[CORRECT] += 1
        at += size


def weighted_xent_f32(o):
    c, size = o.c, o.N
    smooth = bits_to_float(o.smooth)
    part = rounded(smooth / rounded(float(size)))
    top_part = rounded(part + rounded(1.0 - smooth))
    labels = []
    total = 0.0
    for raw in samples(c, Y_FORMAT, o.labels, o.B, 1):
        labels.append(-1 if raw is None else label(c, raw, size))
        if labels[-1] >= 0:
            total = rounded(total + o.weights[labels[-1]])
    losses = 0.0
    rows = rounded(float(max(1, min(c[COUNT], o.B))))
    batch = rounded(rounded(total * rounded(float(batch_count(c, o.B)))) / rows)
    for b in range(o.B):
        at = b * size
        right = labels[b]
        x = list(o.x[at : at + size])
        if right < 0 or not total > 0:
            for i in range(at, at + size):
                o.e[i] = 0.0
            continue
        best = first_largest(x, range(size))
        parts = [part] * size
        parts[right] = top_part
        parts = [rounded(u * v) for u, v in zip(parts, o.weights)]
        powers = [expf(rounded(v - x[best])) for v in x]
        powers_sum = whole = loss = 0.0
        for i in range(size):
            whole = rounded(whole + parts[i])
            powers_sum = rounded(powers_sum + powers[i])
        log_sum = logf(powers_sum)
        for i in range(size):
            loss = rounded(loss + rounded(parts[i] * rounded(log_sum - rounded(x[i] - x[best]))))
            v = rounded(divide(powers[i], powers_sum) * whole)
            o.e[at + i] = store(divide(rounded(v - parts[i]), batch))
        losses = rounded(losses + loss)
        c[CORRECT] += right == best
    if total > 0:
        c[LOSS] = _add_loss(c[LOSS], rounded(rounded(losses / total) * rows))


def binary_xent_f32(o):
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
            c[LOSS] = _add_loss(c[LOSS], rounded(loss + logf(whole)))
            c[CORRECT] += (x > 0) == (y > 0.5)
            o.e[i] = store(rounded(p - y) / count)
        at += o.N


def mse_f32(o):
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
            c[LOSS] = _add_loss(c[LOSS], rounded(d * d))
        at += size


def mae_f32(o):
    c = o.c
    step = rounded(1.0 / _elements(o))
    for i, d in _differences(o):
        c[LOSS] = _add_loss(c[LOSS], -d if d < 0 else d)
        o.e[i] = -step if d < 0 else step if d > 0 else d


def huber_f32(o):
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
        c[LOSS] = _add_loss(c[LOSS], loss)
        o.e[i] = store(d / count)


# What they share


def _add_loss(bits, loss):
    """bits + loss as the bits of a float32 that fit an int32 word."""
    bits = float_to_bits(rounded(bits_to_float(bits) + loss))
    return bits - (1 << 32) if bits >> 31 else bits


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
