"""More losses of the reference executor, int8 and float32, and dropout."""

from .fixed import (
    LOG2_E,
    ONE,
    bits_to_float,
    exp2n,
    hash32,
    log2q,
    multiplier,
    nearest_scale,
    quantize,
    rescale,
    rescale_random,
    sat32,
    scale_div,
    scale_int,
    scale_mul,
    scale_shift,
    wrap32,
)
from .opcodes import CORRECT, COUNT, FLOAT32, KEY, LOSS, POSITION, Y_FORMAT, Y_SCALE, Y_ZERO
from .reference_data import batch_count, first_largest, label, samples
from .reference_f32 import add_float_loss, affine, divide, expf, logf, rounded, store
from .reference_i8 import Sink, add_loss


# Losses, int8


def _mean(o, scale):
    """scale / (N * rows)."""
    return scale_div(scale, scale_int(o.N * batch_count(o.c, o.B)))


def _part_of_127():
    return scale_div(ONE, scale_int(127))


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


def binary_xent_i8(o):
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


def mae_i8(o):
    loss = 0
    for i, d in _differences(o):
        d = d or 0
        loss += abs(d)
        o.e[i] = 127 if d > 0 else -127 if d < 0 else 0
    add_loss(o.c, loss)
    o.se[0] = _mean(o, _part_of_127())


def huber_i8(o):
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


def weighted_xent_i8(o):
    c, size = o.c, o.N
    smooth = max(0, min(65536, o.smooth))
    weights = [max(0, weight) for weight in o.weights]
    m, s = multiplier(scale_mul(o.sx[0], LOG2_E))
    labels = [-1 if raw is None else label(c, raw, size) for raw in samples(c, Y_FORMAT, o.labels, o.B, 1)]
    largest = max([1] + [sum(_shares(weights, smooth, right)) for right in labels if right >= 0])
    spread = multiplier(scale_div(scale_int(127), scale_shift(scale_int(largest), 15)))
    key = hash32(c[KEY], o.id)
    at = loss = total = 0
    for right in labels:
        x = list(o.x[at : at + size])
        at += size
        if right < 0:
            for i in range(at - size, at):
                o.e[i] = 0
            continue
        total += weights[right]
        shares = _shares(weights, smooth, right)
        whole = sum(shares)
        top = max(x)
        steps = [rescale((top - v) << 16, m, s) for v in x]
        powers = [exp2n(v) for v in steps]
        powers_sum = min(1 << 30, sum(powers))
        base = log2q(powers_sum) - 16 * 65536
        row = 0
        for i in range(size):
            p = (powers[i] * 32768 + powers_sum // 2) // powers_sum
            row += shares[i] * (base + min(steps[i], 1 << 24))
            place = at - size + i
            v = rescale_random(sat32(p * whole - shares[i] * 32768), *spread, hash32(key, place))
            o.e[place] = max(-127, min(127, v))
        loss += max(0, row)
        c[CORRECT] += x.index(top) == right
    total = total or 1
    rows = max(1, min(c[COUNT], o.B))
    loss = loss // total * rows * 45426 + 32768
    add_loss(c, (loss & 0xFFFFFFFFFFFFFFFF) >> 16)
    whole = min(total * batch_count(c, o.B) // rows, 0xFFFFFFFF)
    o.se[0] = scale_div(scale_div(scale_int(largest), scale_int(127)), scale_int(whole))


def _shares(weights, smooth, right):
    """What the softmax of a row with this label should be, times its sum: Q15."""
    shares = [smooth * weight // len(weights) for weight in weights]
    shares[right] += (65536 - smooth) * weights[right]
    return [(v + 32768) >> 16 for v in shares]


# Losses, float32


def _float_targets(o):
    """Yield each row's targets as float32, None for padding."""
    c = o.c
    scale = bits_to_float(c[Y_SCALE])
    for raw in samples(c, Y_FORMAT, o.target, o.B, o.N, "f"):
        if raw is None or c[Y_FORMAT] == FLOAT32:
            yield raw
        else:
            yield [affine(v, c[Y_ZERO], scale) for v in raw]


def _float_differences(o):
    """Yield (index, D), D as in mse_f32; padding gets its error 0 here."""
    at = 0
    for row in _float_targets(o):
        for i in range(o.N):
            if row is None:
                o.e[at] = 0.0
            else:
                yield at, store(o.x[at] - row[i])
            at += 1


def _elements(o):
    return rounded(float(o.N * batch_count(o.c, o.B)))


def binary_xent_f32(o):
    c = o.c
    count = _elements(o)
    at = 0
    for row in _float_targets(o):
        for i in range(at, at + o.N):
            if row is None:
                o.e[i] = 0.0
                continue
            x, y = o.x[i], store(row[i - at])
            power = expf(x if x < 0 else -x)
            whole = rounded(1.0 + power)
            p = divide(power, whole) if x < 0 else divide(1.0, whole) if x >= 0 else x
            loss = rounded((x if x > 0 else 0.0) - rounded(x * y))
            c[LOSS] = add_float_loss(c[LOSS], rounded(loss + logf(whole)))
            c[CORRECT] += (x > 0) == (y > 0.5)
            o.e[i] = store(rounded(p - y) / count)
        at += o.N


def mae_f32(o):
    c = o.c
    step = rounded(1.0 / _elements(o))
    for i, d in _float_differences(o):
        c[LOSS] = add_float_loss(c[LOSS], -d if d < 0 else d)
        o.e[i] = -step if d < 0 else step if d > 0 else d


def huber_f32(o):
    c = o.c
    count = _elements(o)
    delta = bits_to_float(nearest_scale(o.delta))
    half = rounded(delta * 0.5)
    for i, d in _float_differences(o):
        size = -d if d < 0 else d
        if size > delta:
            loss = rounded(delta * rounded(size - half))
            d = -delta if d < 0 else delta
        else:
            loss = rounded(rounded(d * d) * 0.5)
        c[LOSS] = add_float_loss(c[LOSS], loss)
        o.e[i] = store(d / count)


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
        c[LOSS] = add_float_loss(c[LOSS], rounded(rounded(losses / total) * rows))


# Dropout


def _begin(o):
    """The key of this step, whose tick is still to come; 0 outside of training."""
    if o.c[KEY]:
        o.c[KEY] = wrap32(hash32(o.h[1], o.h[0] + 1))
    return o.c[KEY]


def _dropped(o, key):
    """Yield, for each element, whether it is dropped."""
    drop = max(0, min(65535, o.drop)) if key else 0
    key = hash32(key, o.id)
    first = o.c[POSITION] * o.N
    for i in range(o.B * o.N):
        yield hash32(key, first + i) >> 16 < drop


def _kept(o):
    return 65536 - max(0, min(65535, o.drop))


def dropout_i8(o):
    key = _begin(o)
    scale = scale_mul(o.factor, o.sx[0])
    if key:
        scale = scale_div(scale, scale_shift(scale_int(_kept(o)), -16))
    for i, gone in enumerate(_dropped(o, key)):
        o.y[i] = o.z if gone else o.x[i]
    o.sy[0] = scale


def dropout_dx_i8(o):
    for i, gone in enumerate(_dropped(o, o.c[KEY])):
        o.dx[i] = 0 if gone else o.e[i]


def _scaled(o, out, values, key):
    factor = rounded(65536.0 / _kept(o)) if key else 1.0
    for i, gone in enumerate(_dropped(o, key)):
        out[i] = 0.0 if gone else values[i] * factor


def dropout_f32(o):
    _scaled(o, o.y, o.x, _begin(o))


def dropout_dx_f32(o):
    _scaled(o, o.dx, o.e, o.c[KEY])
