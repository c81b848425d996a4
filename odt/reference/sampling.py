"""Sampling and its divergence, forward beside backward, in int8 and float32."""

from ..base.fixed import bits_to_float, hash32, multiplier, scale_div, scale_int, scale_mul, scale_shift
from ..base.primitives import LOG2_E, exp2n, rescale, sat32
from ..base.regions import COUNT, KEY, LOSS, POSITION
from .data import Sink, batch_count
from .dropout import begin
from .float32 import divide, expf, rounded, store
from .loss_f32 import add_loss as add_loss_f32
from .loss_i8 import add_loss

_NORMAL = 0x3B9CC4BF  # 1 / sqrt(8 * 65535 / 12), what the deviation of eight bytes' sum is divided by
_TOP = bits_to_float(0x40B17218)  # 8 ln 2, the largest v that counts
_DEVIATION = bits_to_float(_NORMAL)


def _numbers(o, key):
    """Yield, for each output, the sum of eight random bytes less its mean; 0 where there is no key."""
    stream = hash32(key, o.id)
    first = o.c[POSITION] * o.N
    for i in range(o.B * o.N):
        total = 0
        if key:
            total = -1020
            for half in (0, 1):
                u = hash32(stream, 2 * (first + i) + half)
                total += (u & 255) + (u >> 8 & 255) + (u >> 16 & 255) + (u >> 24)
        yield total


def _rows(o):
    """Offsets in x of the means of the rows that hold a sample."""
    return range(0, 2 * o.N * max(0, min(o.B, o.c[COUNT])), 2 * o.N)


def _rise(o):
    """min(1, (t + 1) / warmup), as a scale."""
    warmup = max(1, o.warmup)
    return scale_div(scale_int(min((o.h[0] & 0xFFFFFFFF) + 1, warmup)), scale_int(warmup))


# int8


class _Input:
    """What x means in int8."""

    def __init__(self, o):
        self.x, self.z, self.N = o.x, max(-128, min(127, o.z)), o.N
        self.scale = scale = scale_mul(o.factor, o.sx[0])
        self.half = multiplier(scale_shift(scale_mul(scale, LOG2_E), -1))
        self.plain = multiplier(scale)
        self.eighth = multiplier(scale_shift(scale, -8))

    def steps(self, i):
        return self.x[i] - self.z

    def power(self, i, double=0):
        """exp(v / 2) in Q16, or exp(v), of the v at i."""
        t = max(-(16 << 16), min(4 << 16, rescale(self.steps(i) << 16, *self.half))) << double
        if t <= 0:
            return exp2n(-t)
        whole = (t + 65535) >> 16
        return exp2n((whole << 16) - t) << whole

    def divergence(self, i):
        """Of the mean at i and its v, in Q16."""
        mean = max(-32767, min(32767, rescale(self.steps(i) << 16, *self.eighth)))
        v = max(-(1 << 22), min(1 << 22, rescale(self.steps(i + self.N) << 16, *self.plain)))
        return max(0, mean * mean + self.power(i + self.N, 1) - 65536 - v) >> 1


def sampling_i8(o):
    """y = clamp((mu + exp(v / 2) * g) / sy), (mu, v) = factor * sx * (x - z); g = normal numbers while KEY is not 0,
        else 0

    y=i8[B*N] peak+i32 x:i8[B*2*N] sx:i32 sy:i32 h:i32[4] c+ ; B N z id factor
    """
    x = _Input(o)
    mean = multiplier(scale_div(x.scale, o.sy[0]))
    random = multiplier(scale_div(scale_shift(_NORMAL, -8), o.sy[0]))
    sink = Sink(o.y, o.peak)
    for i, g in enumerate(_numbers(o, begin(o))):
        at = i // o.N * 2 * o.N + i % o.N
        a = rescale(x.steps(at) * 256, *mean)
        b = rescale(x.power(at + o.N) * g, *random)
        sink.put(i, (sat32(a + b) + 128) >> 8)
    sink.close()


def divergence_i8(o):
    """D = max(free, (mu^2 + exp(v) - v - 1) / 2); LOSS += rise * beta * sum D / (unit * (so / 256)^degree); sk = rise
        * beta / (width * COUNT), rise = min(1, (t + 1) / warmup)

    sk=i32 c+ x:i8[B*2*N] sx:i32 so:i32 h:i32[4] ; B N z factor beta warmup unit free degree width
    """
    x = _Input(o)
    beta = scale_mul(o.beta, _rise(o))
    unit = o.unit
    for _ in range(max(0, min(2, o.degree))):
        unit = scale_mul(unit, scale_shift(o.so[0], -8))
    m, s = multiplier(scale_div(beta, unit))
    total = 0
    for at in _rows(o):
        for i in range(at, at + o.N):
            total += (max(o.free, x.divergence(i)) * m + (1 << s >> 1)) >> s
    add_loss(o.c, total)
    o.sk[0] = scale_div(scale_div(beta, scale_int(max(1, o.width))), scale_int(batch_count(o.c, o.B)))


def sampling_dx_i8(o):
    """dx = clamp((e' + k * mu, (e' * exp(v / 2) * g + k * (exp(v) - 1)) / 2) / sdx), e' = error * se * e; k = sk, 0
        where D is below free

    dx=i8[B*2*N] peak+i32 e:i8[B*N] x:i8[B*2*N] se:i32 sk:i32 sx:i32 sdx:i32 c: ; B N z id factor error free
    """
    x = _Input(o)
    incoming = scale_div(scale_mul(o.error, o.se[0]), o.sdx[0])
    random = multiplier(scale_shift(scale_mul(incoming, _NORMAL), -1))
    incoming = multiplier(incoming)
    own = scale_div(o.sk[0], o.sdx[0])
    mean, spread = multiplier(scale_mul(own, x.scale)), multiplier(scale_shift(own, -9))
    sink = Sink(o.dx, o.peak)
    for i, g in enumerate(_numbers(o, o.c[KEY])):
        at = i // o.N * 2 * o.N + i % o.N
        e = o.e[i]
        a = rescale(e * 256, *incoming)
        b = rescale(e * ((x.power(at + o.N) * g + 128) >> 8), *random)
        if not x.divergence(at) < o.free:
            a += rescale(x.steps(at) * 256, *mean)
            b += rescale(x.power(at + o.N, 1) - 65536, *spread)
        sink.put(at, (sat32(a) + 128) >> 8)
        sink.put(at + o.N, (sat32(b) + 128) >> 8)
    sink.close()


# float32


def _half_power(v):
    """exp(v / 2)."""
    if v > 0:
        v = v if v < _TOP else _TOP
        return divide(1.0, expf(rounded(v * -0.5)))
    return expf(rounded(v * 0.5)) if v <= 0 else v  # NaN


def _divergence(mean, v, power):
    total = rounded(rounded(mean * mean) + rounded(power * power))
    return rounded(rounded(rounded(total - v) - 1.0) * 0.5)


def sampling_f32(o):
    """y = mu + exp(v / 2) * g, (mu, v) = x; g as in sampling_i8

    y=f32[B*N] x:f32[B*2*N] h:i32[4] c+ ; B N id
    """
    for i, g in enumerate(_numbers(o, begin(o))):
        at = i // o.N * 2 * o.N + i % o.N
        o.y[i] = store(o.x[at] + rounded(_half_power(o.x[at + o.N]) * rounded(g * _DEVIATION)))


def divergence_f32(o):
    """D, sk as in divergence_i8; LOSS += rise * beta * sum D

    sk=f32 c+ x:f32[B*2*N] h:i32[4] ; B N beta warmup free width
    """
    beta = bits_to_float(scale_mul(o.beta, _rise(o)))
    free = bits_to_float(o.free)
    for at in _rows(o):
        total = 0.0
        for i in range(at, at + o.N):
            d = _divergence(o.x[i], o.x[i + o.N], _half_power(o.x[i + o.N]))
            total = rounded(total + (free if d < free else d))
        o.c[LOSS] = add_loss_f32(o.c[LOSS], rounded(beta * total))
    rows = rounded(float(batch_count(o.c, o.B)))
    o.sk[0] = store(divide(divide(beta, rounded(float(max(1, o.width)))), rows))


def sampling_dx_f32(o):
    """dx = (e + k * mu, (e * exp(v / 2) * g + k * (exp(v) - 1)) / 2), k as in sampling_dx_i8

    dx=f32[B*2*N] e:f32[B*N] x:f32[B*2*N] sk:f32 c: ; B N id free
    """
    free = bits_to_float(o.free)
    for i, g in enumerate(_numbers(o, o.c[KEY])):
        at = i // o.N * 2 * o.N + i % o.N
        mean, v, e = o.x[at], o.x[at + o.N], o.e[i]
        power = _half_power(v)
        k = 0.0 if _divergence(mean, v, power) < free else o.sk[0]
        o.dx[at] = store(e + rounded(k * mean))
        spread = rounded(k * rounded(rounded(power * power) - 1.0))
        o.dx[at + o.N] = store(rounded(rounded(e * rounded(power * rounded(g * _DEVIATION))) + spread) * 0.5)
