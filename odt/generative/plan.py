"""A variational autoencoder's sampling: mean and log-variance in, a random point out,
and the divergence in the loss.
"""

from ..base.primitives import millionths, scale_of
from ..plan.values import ACTIVATION, ERROR


def _sampling(s, node, inputs):
    (x,) = inputs
    layer = node.layer
    size = node.shape[0]
    y = s.tensor(layer.name, s.batch * size, ACTIVATION)
    stream = s.stream(layer.name)
    if s.int8:
        operands = (y.buffer, y.peak, x.buffer, x.scale, y.scale, s.header, s.control)
        s.emit("sampling_i8", operands, (s.batch, size, x.zero, stream, x.factor))
    else:
        s.emit("sampling_f32", (y.buffer, x.buffer, s.header, s.control), (s.batch, size, stream))
    return y


def divergence(s, node, loss, output):
    """Add the divergence to the loss of ``output``; its weight, for the backward pass, is kept."""
    layer = node.layer
    s.owner = layer.name
    x = s.values[node.inputs[0]]
    width = 1 if loss.labels else output.count // s.batch
    if s.unit is not None:
        raise ValueError("%r: class_weight counts errors in another unit: leave it out" % layer)
    s.choices[node] = weight = s.scratch("divergence", 4)
    sizes = (s.batch, node.shape[0])
    beta = scale_of(layer.beta)
    if s.int8:
        unit = scale_of(loss.unit(1) * 65536 if loss.degree else 1)
        operands = (weight, s.control, x.buffer, x.scale, output.scale, s.header)
        more = (x.zero, x.factor, beta, layer.warmup, unit, _free(s, layer), loss.degree, width)
        s.emit("divergence_i8", operands, sizes + more)
    else:
        operands = (weight, s.control, x.buffer, s.header)
        s.emit("divergence_f32", operands, sizes + (beta, layer.warmup, _free(s, layer), width))


def _free(s, layer):
    """Nats below which a divergence does not count: in Q16, or as a float32's bits."""
    if s.int8:
        return int(layer.free_bits) * 65536 + (millionths(layer.free_bits % 1) * 65536 + 500000) // 1000000
    return scale_of(layer.free_bits) if layer.free_bits else 0


def _sampling_dx(s, node, error, needed):
    if s.probing:
        raise ValueError("%r: Fisher information is not measured through it" % node.layer)
    layer = node.layer
    x = s.values[node.inputs[0]]
    sizes = (s.batch, node.shape[0])
    dx = s.tensor(layer.name + " dx", x.count, ERROR)
    if s.int8:
        operands = (
            dx.buffer,
            dx.peak,
            error.buffer,
            x.buffer,
            error.scale,
            s.choices[node],
            x.scale,
            dx.scale,
            s.control,
        )
        more = (x.zero, s.stream(layer.name), x.factor, error.factor, _free(s, layer))
        s.emit("sampling_dx_i8", operands, sizes + more)
    else:
        operands = (dx.buffer, error.buffer, x.buffer, s.choices[node], s.control)
        s.emit("sampling_dx_f32", operands, sizes + (s.stream(layer.name), _free(s, layer)))
    return [dx]


ROWS = {
    "sampling": (_sampling, _sampling_dx),
}
