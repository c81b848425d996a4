"""Dynamic sparse updates in the reference executor: the choice of channels, and tensors of these alone."""

from .fixed import multiplier, nearest_scale, scale_div, scale_int, scale_mul
from .fixed import rescale as rescaled
from .opcodes import KEY
from .reference_f32 import _to_int, divide, rounded, store


def relative_i8(o):
    total = min(sum([abs(v) for v in o.e]), 0x7FFFFFFF)
    if not o.c[KEY]:
        o.ratio[0] = 65536
    elif not total:
        o.ratio[0] = 0
    else:
        size = scale_mul(scale_int(total), o.se[0])
        o.largest[0] = max(size, nearest_scale(o.largest[0]))
        o.ratio[0] = rescaled(65536, *multiplier(scale_div(size, o.largest[0])))


def relative_f32(o):
    total = 0.0
    for v in o.e:
        total = rounded(total + abs(v))
    total = store(total)
    if not o.c[KEY]:
        o.ratio[0] = 65536
        return
    if total > o.largest[0]:
        o.largest[0] = total
    o.ratio[0] = 0
    if total > 0:
        o.ratio[0] = max(0, min(65536, _to_int(rounded(divide(total, o.largest[0]) * 65536))))


def _choose(o, sums):
    share = o.low + (o.ratio[0] * (o.high - o.low) >> 16)
    share = max(0, min(65536, share))
    count = max(1, min(share * o.N >> 16, o.R, o.N))
    order = sorted(range(o.N), key=lambda n: (-sums[n], n))
    for j, n in enumerate(sorted(order[:count])):
        o.rows[j] = n
    o.count[0] = count


def rank_i8(o):
    sums = [sum([abs(o.e[m * o.N + n]) for m in range(o.M)]) & 0xFFFFFFFF for n in range(o.N)]
    for n in range(o.N):
        o.sums[n] = sums[n] - ((sums[n] & 0x80000000) << 1)
    _choose(o, sums)


def rank_f32(o):
    for n in range(o.N):
        total = 0.0
        for m in range(o.M):
            total = rounded(total + abs(o.e[m * o.N + n]))
        o.sums[n] = store(total) if total == total else 0.0
    _choose(o, o.sums)


def _chosen(o):
    """The rows that are listed, each within the axis."""
    count = max(1, min(o.count[0], o.R))
    return [max(0, min(o.N - 1, n)) for n in o.rows[:count]]


def pick(o):
    at = 0
    for m in range(o.M):
        for n in _chosen(o):
            for u in range(o.U):
                o.y[at] = o.x[(m * o.N + n) * o.U + u]
                at += 1


def put(o):
    at = 0
    for i in range(len(o.y)):
        o.y[i] = 0
    for m in range(o.M):
        for n in _chosen(o):
            for u in range(o.U):
                o.y[(m * o.N + n) * o.U + u] = o.x[at]
                at += 1
