"""The choice of what trains by float32 errors."""

from ..base.regions import KEY
from .dynamic import choose
from .float32 import divide, rounded, store, store2, to_int

# The choice


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


# Fisher information


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
