"""The softmax loss with class weights and label smoothing in int8."""

from ..base.fixed import hash32, multiplier, scale_div, scale_int, scale_mul, scale_shift
from ..base.primitives import LOG2_E, exp2n, log2q, rescale, rescale_random, sat32
from ..base.regions import CORRECT, COUNT, KEY, Y_FORMAT
from .data import batch_count, label, samples
from .loss_i8 import add_loss


def weighted_xent_i8(o):
    """e = 127 * (softmax(sx * x) * sum_n t - t) / top, t = weights * ((1 - smooth) * onehot + smooth / N), rounded at
        random; top = the largest in magnitude where weights differ, else the largest sum_n t; se = top / (127 * sum
        of weights[label])

    e=i8[B*N]~x se=i32 c+ labels:buf x:i8[B*N] sx:i32 weights:i16[N] ; B N smooth id
    """
    c, size = o.c, o.N
    smooth = max(0, min(65536, o.smooth))
    differ = len(set(o.weights)) > 1
    weights = [max(0, weight) for weight in o.weights]
    m, s = multiplier(scale_mul(o.sx[0], LOG2_E))
    rows = []
    at = largest = 0
    for raw in samples(c, Y_FORMAT, o.labels, o.B, 1):
        right = -1 if raw is None else label(c, raw, size)
        x = list(o.x[at : at + size])
        at += size
        if right < 0:
            rows.append(None)
            continue
        top = max(x)
        steps = [rescale((top - v) << 16, m, s) for v in x]
        powers = [exp2n(v) for v in steps]
        total = min(1 << 30, sum(powers))
        shares = _shares(weights, smooth, right)
        whole = sum(shares)
        errors = [sat32((p * 32768 + total // 2) // total * whole - (t << 15)) for p, t in zip(powers, shares)]
        largest = max([largest] + [abs(v) for v in errors] if differ else (largest, sat32(whole << 15)))
        rows.append((right, x.index(top), shares, steps, log2q(total) - 16 * 65536, errors))
    largest = max(1, largest)
    spread = multiplier(scale_div(scale_int(127), scale_int(largest)))
    key = hash32(c[KEY], o.id)
    at = loss = total = 0
    for row in rows:
        if not row:
            for i in range(at, at + size):
                o.e[i] = 0
            at += size
            continue
        right, best, shares, steps, base, errors = row
        total += weights[right]
        loss += max(0, sum([t * (base + min(step, 1 << 24)) for t, step in zip(shares, steps)]))
        c[CORRECT] += best == right
        for v in errors:
            o.e[at] = max(-127, min(127, rescale_random(v, *spread, hash32(key, at))))
            at += 1
    total = total or 1
    rows = max(1, min(c[COUNT], o.B))
    loss = loss // total * rows * 45426 + 32768
    add_loss(c, (loss & 0xFFFFFFFFFFFFFFFF) >> 16)
    whole = min(total * batch_count(c, o.B) // rows, 0xFFFFFFFF)
    o.se[0] = scale_div(scale_shift(scale_div(scale_int(largest), scale_int(127)), -15), scale_int(whole))


def _shares(weights, smooth, right):
    """What the softmax of a row with this label should be, times its sum: Q15."""
    shares = [smooth * weight // len(weights) for weight in weights]
    shares[right] += (65536 - smooth) * weights[right]
    return [(v + 32768) >> 16 for v in shares]
