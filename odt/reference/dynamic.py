"""The choice of what trains, by int8 or float32 errors, and tensors of the rows that it names."""

from ..base.fixed import multiplier, nearest_scale, scale_div, scale_int, scale_mul
from ..base.primitives import rescale, scale_add, wrap32
from ..base.regions import KEY
from .float32 import divide, rounded, store, store2, to_int

# The choice


def relative_i8(o):
    """ratio = 2^16 * sum |e| / the largest sum so far

    ratio=i32 largest+i32 e:i8[N] se:i32 c: ; N
    """
    total = min(sum([abs(v) for v in o.e]), 0x7FFFFFFF)
    if not o.c[KEY]:
        o.ratio[0] = 65536
    elif not total:
        o.ratio[0] = 0
    else:
        size = scale_mul(scale_int(total), o.se[0])
        o.largest[0] = max(size, nearest_scale(o.largest[0]))
        o.ratio[0] = rescale(65536, *multiplier(scale_div(size, o.largest[0])))


def rank_i8(o):
    """rows = the count columns of largest sum |e|; count = (low + ratio * (high - low)) * N

    count=i32 rows=i32[R] sums=i32[N] e:i8[M*N] ratio:i32 ; M N R low high
    """
    sums = [sum([abs(o.e[m * o.N + n]) for m in range(o.M)]) & 0xFFFFFFFF for n in range(o.N)]
    for n in range(o.N):
        o.sums[n] = sums[n] - ((sums[n] & 0x80000000) << 1)
    choose(o, sums)


def choose(o, sums):
    share = o.low + (o.ratio[0] * (o.high - o.low) >> 16)
    share = max(0, min(65536, share))
    count = max(1, min(share * o.N >> 16, o.R, o.N))
    order = sorted(range(o.N), key=lambda n: (-sums[n], n))
    for j, n in enumerate(sorted(order[:count])):
        o.rows[j] = n
    o.count[0] = count


def relative_f32(o):
    """the same

    ratio=i32 largest+f32 e:f32[N] c: ; N
    """
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
        o.ratio[0] = max(0, min(65536, to_int(rounded(divide(total, o.largest[0]) * 65536))))


def rank_f32(o):
    """the same

    count=i32 rows=i32[R] sums=f32[N] e:f32[M*N] ratio:i32 ; M N R low high
    """
    for n in range(o.N):
        total = 0.0
        for m in range(o.M):
            total = rounded(total + abs(o.e[m * o.N + n]))
        o.sums[n] = store(total) if total == total else 0.0
    choose(o, o.sums)


# Tensors of the rows alone


def pick(o):
    """y[m, j] = x[m, rows[j]], elements of U bytes, count of them a row

    y=i8[M*R*U] x:i8[M*N*U] count:i32 rows:i32[R] ; M N R U
    """
    at = 0
    for m in range(o.M):
        for n in _listed(o):
            for u in range(o.U):
                o.y[at] = o.x[(m * o.N + n) * o.U + u]
                at += 1


def put(o):
    """y[m, rows[j]] = x[m, j], the others 0

    y=i8[M*N*U] x:i8[M*R*U] count:i32 rows:i32[R] ; M N R U
    """
    at = 0
    for i in range(len(o.y)):
        o.y[i] = 0
    for m in range(o.M):
        for n in _listed(o):
            for u in range(o.U):
                o.y[(m * o.N + n) * o.U + u] = o.x[at]
                at += 1


def _listed(o):
    """The rows that are listed, each within the axis."""
    count = max(1, min(o.count[0], o.R))
    return [max(0, min(o.N - 1, n)) for n in o.rows[:count]]


# Fisher information


def fisher_i8(o):
    """total[n] += sum_b (factor * se * sy * sum_s e * (y - z))^2, as scales; 0 is none

    total+i32[N] e:i8[B*S*N] y:i8[B*S*N] se:i32 sy:i32 ; B S N z factor
    """
    z = max(-128, min(127, o.z))
    unit = scale_mul(scale_mul(o.factor, o.se[0]), o.sy[0])
    width = o.S * o.N
    for b in range(o.B):
        for n in range(o.N):
            places = range(b * width + n, (b + 1) * width, o.N)
            size = abs(wrap32(sum([o.e[i] * (o.y[i] - z) for i in places])))
            if size:
                v = scale_mul(unit, scale_int(size))
                v = scale_mul(v, v)
                o.total[n] = scale_add(nearest_scale(o.total[n]), v) if o.total[n] else v


def fisher_f32(o):
    """total[n] += sum_b (sum_s e * y)^2

    total+f32[N] e:f32[B*S*N] y:f32[B*S*N] ; B S N
    """
    width = o.S * o.N
    for b in range(o.B):
        for n in range(o.N):
            acc = 0.0
            for i in range(b * width + n, (b + 1) * width, o.N):
                acc = rounded(acc + rounded(o.e[i] * o.y[i]))
            acc = store(acc)
            o.total[n] = store2(o.total[n] + rounded(acc * acc))
