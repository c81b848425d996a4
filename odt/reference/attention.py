"""The weights of attention, rows mixed by them, head by head, and positions: int8 beside float32."""

from ..base.fixed import bits_to_float, hash32
from ..base.primitives import exp2n, rescale, rescale_random, sat32, wrap32
from ..base.regions import KEY, POSITION
from .data import Sink
from .float32 import divide, expf, rounded, store


def _heads(o, rows):
    """Yield (sample, head, row) in the order of the weights."""
    for b in range(o.B):
        for g in range(o.G):
            for i in range(rows):
                yield b, g, i


def _row(o, x, b, i, g, rows):
    """A head's part of row i of x[B][rows][G][K]."""
    at = ((b * rows + i) * o.G + g) * o.K
    return x[at : at + o.K]


def _seen(o, t):
    """How many rows row t is mixed of."""
    return min(t + 1, o.S) if o.causal else o.S


def _dot(a, b):
    total = 0
    for u, v in zip(a, b):
        total += u * v
    return wrap32(total)


def attend_i8(o):
    """p[g, t] = 256 * softmax_s(q * sum_k a[t, g, k] * b[s, g, k]) - 128, causal: of s <= t

    p=i8[B*G*T*S] r=i32[S] a:i8[B*T*G*K] b:i8[B*S*G*K] q:mul ; B G T S K causal
    """
    at = 0
    for b, g, t in _heads(o, o.T):
        n = _seen(o, t)
        query = _row(o, o.a, b, t, g, o.T)
        scores = [_dot(query, _row(o, o.b, b, s, g, o.S)) for s in range(n)]
        top = max(scores)
        total = 0
        for s in range(n):
            below = max(0, wrap32(top - scores[s]))
            o.r[s] = exp2n(max(0, rescale(below, o.q[0], o.q[1])))
            total = min(1 << 30, total + o.r[s])
        for s in range(o.S):
            share = (512 * o.r[s] + total) // (2 * total) if s < n else 0
            o.p[at + s] = min(share - 128, 127)
        at += o.S


def attend_dx_i8(o):
    """dp = clamp(q * (p + 128) * (d - sum_s d * (p + 128) / 256)), d[s] = sum_k e[t, g, k] * v[s, g, k], rounded at
        random

    dp=i8[B*G*T*S] peak+i32 r=i32[S] e:i8[B*T*G*K] v:i8[B*S*G*K] p:i8[B*G*T*S] q:mul c: ; B G T S K id
    """
    sink = Sink(o.dp, o.peak)
    key = hash32(o.c[KEY], o.id)
    first = o.c[POSITION] * o.G * o.T * o.S
    at = 0
    for b, g, t in _heads(o, o.T):
        part = [v + 128 for v in o.p[at : at + o.S]]
        error = _row(o, o.e, b, t, g, o.T)
        mean = 128
        for s in range(o.S):
            o.r[s] = _dot(error, _row(o, o.v, b, s, g, o.S))
            mean -= o.r[s] * part[s]
        for s in range(o.S):
            v = wrap32((wrap32(256 * o.r[s] + mean) >> 8) * part[s])
            sink.put(at + s, rescale_random(v, o.q[0], o.q[1], hash32(key, first + at + s)))
        at += o.S
    sink.close()


def _places(o):
    """Rows, terms of each, and the distances from one to the next in a."""
    return (o.T, o.S) + ((1, o.T) if o.back else (o.S, 1))


def mix_i8(o):
    """y[t, g, k] = clamp(q * sum_s (a[g, t, s] - za) * b[s, g, k]), back: a[g, s, t]; rounded at random where id is
        not 0

    y=i8[B*T*G*K] peak+i32 a:i8[B*G*T*S] b:i8[B*S*G*K] q:mul c: ; B G T S K za id back
    """
    rows, terms, row, step = _places(o)
    sink = Sink(o.y, o.peak)
    zero = max(-128, min(127, o.za))
    key = hash32(o.c[KEY], o.id)
    first = o.c[POSITION] * rows * o.G * o.K
    for b, g, i in _heads(o, rows):
        at = (b * o.G + g) * rows * terms + i * row
        totals = [0] * o.K
        for j in range(terms):
            w = o.a[at + j * step] - zero
            if w:
                totals = [total + w * v for total, v in zip(totals, _row(o, o.b, b, j, g, terms))]
        to = ((b * rows + i) * o.G + g) * o.K
        for k in range(o.K):
            v = wrap32(totals[k])
            if o.id:
                v = rescale_random(v, o.q[0], o.q[1], hash32(key, first + to + k))
            else:
                v = rescale(v, o.q[0], o.q[1])
            sink.put(to + k, v)
    sink.close()


def offset_i8(o):
    """y[b] = clamp(zy + qx * (x[b] - zx) + qb * b)

    y=i8[B*N]~x peak+i32 x:i8[B*N] b:i32[N] qx:mul qb:mul ; B N zx zy lo
    """
    sink = Sink(o.y, o.peak, o.zy, o.lo)
    zero = max(-128, min(127, o.zx))
    offsets = [rescale(v, o.qb[0], o.qb[1]) for v in o.b]
    for i in range(o.B * o.N):
        x = rescale((o.x[i] - zero) * 256, o.qx[0], o.qx[1])
        sink.put(i, (sat32(x + offsets[i % o.N]) + 128) >> 8)
    sink.close()


# float32


def _dot_f32(a, b):
    total = 0.0
    for u, v in zip(a, b):
        total = rounded(total + rounded(u * v))
    return store(total)


def attend_f32(o):
    """p[g, t] = softmax_s(factor * sum_k a[t, g, k] * b[s, g, k]), causal: of s <= t

    p=f32[B*G*T*S] a:f32[B*T*G*K] b:f32[B*S*G*K] ; B G T S K causal factor
    """
    factor = bits_to_float(o.factor)
    at = 0
    for b, g, t in _heads(o, o.T):
        n = _seen(o, t)
        query = _row(o, o.a, b, t, g, o.T)
        scores = [rounded(_dot_f32(query, _row(o, o.b, b, s, g, o.S)) * factor) for s in range(n)]
        top = scores[0]
        for v in scores[1:]:
            top = v if v > top else top
        total = 0.0
        powers = [expf(rounded(v - top)) for v in scores]
        for power in powers:
            total = rounded(total + power)
        for s in range(o.S):
            o.p[at + s] = store(divide(powers[s], total)) if s < n else 0.0
        at += o.S


def attend_dx_f32(o):
    """dp = p * (d - sum_s d * p), d[s] = sum_k e[t, g, k] * v[s, g, k]

    dp=f32[B*G*T*S] e:f32[B*T*G*K] v:f32[B*S*G*K] p:f32[B*G*T*S] ; B G T S K
    """
    at = 0
    for b, g, t in _heads(o, o.T):
        error = _row(o, o.e, b, t, g, o.T)
        d = [_dot_f32(error, _row(o, o.v, b, s, g, o.S)) for s in range(o.S)]
        mean = 0.0
        for s in range(o.S):
            mean = rounded(mean + rounded(d[s] * o.p[at + s]))
        for s in range(o.S):
            o.dp[at + s] = store(o.p[at + s] * rounded(d[s] - mean))
        at += o.S


def mix_f32(o):
    """y[t, g, k] = factor * sum_s a[g, t, s] * b[s, g, k], back: a[g, s, t]

    y=f32[B*T*G*K] a:f32[B*G*T*S] b:f32[B*S*G*K] ; B G T S K factor back
    """
    rows, terms, row, step = _places(o)
    factor = bits_to_float(o.factor)
    for b, g, i in _heads(o, rows):
        at = (b * o.G + g) * rows * terms + i * row
        totals = [0.0] * o.K
        for j in range(terms):
            w = o.a[at + j * step]
            totals = [rounded(total + rounded(w * v)) for total, v in zip(totals, _row(o, o.b, b, j, g, terms))]
        to = ((b * rows + i) * o.G + g) * o.K
        for k in range(o.K):
            o.y[to + k] = store(store(totals[k]) * factor)


def offset_f32(o):
    """y[b] = x[b] + b

    y=f32[B*N]~x x:f32[B*N] b:f32[N] ; B N
    """
    for i in range(o.B * o.N):
        o.y[i] = store(o.x[i] + o.b[i % o.N])
