"""The softmax loss with class weights and label smoothing in int8."""

from ..fixed import (
    LOG2_E,
    exp2n,
    hash32,
    log2q,
    multiplier,
    rescale,
    rescale_random,
    sat32,
    scale_div,
    scale_int,
    scale_mul,
    scale_shift,
)
from ..regions import CORRECT, COUNT, KEY, Y_FORMAT
from .data import batch_count, label, samples
from .loss_i8 import add_loss


def weighted_xent_i8(o):
    """e = 127 * (softmax(sx * x) * sum_n t - t) / top, t = weights * ((1 - smooth) * onehot + smooth / N), top = the
        largest sum_n t, rounded at random; se = top / (127 * sum of weights[label])

    e=i8[B*N]~x se=i32[1] c+i32[16] labels:buf x:i8[B*N] sx:i32[1] weights:i16[N] ; B N smooth id
    """
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
