"""Activations with an exponential function in int8: sigmoid (tanh with factor 2) and softmax."""

from ..base.fixed import LOG2_E, multiplier, scale_mul
from ..base.primitives import exp2n, rescale, wrap32
from .data import Sink


def sigmoid_i8(o):
    """y = 256 / (1 + exp(-factor * sx * (x - z))) - 128; with factor 2: 128 * tanh

    y=i8[N]~x x:i8[N] sx:i32[1] ; N' z factor
    """
    m, s = _exponent(o)
    for i in range(o.N):
        v = o.x[i] - o.z
        power = exp2n(rescale(abs(v) << 16, m, s))
        whole = 65536 + power
        part = (256 * (power if v < 0 else 65536) + whole // 2) // whole
        o.y[i] = min(part - 128, 127)


def sigmoid_dx_i8(o):
    """dx = clamp(q * e * (128 + y) * (128 - y))

    dx=i8[N] peak+i32[1] e:i8[N] y:i8[N] q:mul[1] ; N'
    """
    sink = Sink(o.dx, o.peak)
    for i in range(o.N):
        v = o.e[i] * (16384 - o.y[i] * o.y[i])
        sink.put(i, rescale(v, o.q[0], o.q[1]))
    sink.close()


def softmax_i8(o):
    """y = 256 * softmax(factor * sx * x) - 128

    y=i8[M*N]~x x:i8[M*N] sx:i32[1] ; M N factor
    """
    size = o.N
    m, s = _exponent(o)
    for at in range(0, o.M * size, size):
        x = o.x[at : at + size]
        top = max(x)
        powers = [exp2n(rescale((top - v) << 16, m, s)) for v in x]
        total = min(1 << 30, sum(powers))
        for i in range(size):
            o.y[at + i] = min((512 * powers[i] + total) // (2 * total) - 128, 127)


def softmax_dx_i8(o):
    """dx = clamp(q * (y + 128) * (256 * e - sum_n e * (y + 128)))

    dx=i8[M*N] peak+i32[1] e:i8[M*N] y:i8[M*N] q:mul[1] ; M N
    """
    size = o.N
    sink = Sink(o.dx, o.peak)
    for at in range(0, o.M * size, size):
        part = [v + 128 for v in o.y[at : at + size]]
        e = o.e[at : at + size]
        mean = sum([u * v for u, v in zip(e, part)])
        for i in range(size):
            v = wrap32(part[i] * (256 * e[i] - mean))
            sink.put(at + i, rescale(v, o.q[0], o.q[1]))
    sink.close()


def _exponent(o):
    """The multiplier that makes steps << 16 of x an argument of exp2n."""
    return multiplier(scale_mul(scale_mul(o.factor, o.sx[0]), LOG2_E))
