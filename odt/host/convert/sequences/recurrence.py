"""Recurrent layers as other frameworks have them: the order of their gates, last outputs, and tensors with time first.

ONNX and PyTorch give a layer's last outputs as a tensor of their own, with an axis for the layers before the batch;
ONNX's operators take the steps as the first axis, before the batch. Neither is a tensor of samples: both stay apart
from these until an operator makes one of them.
"""

import numpy as np

from ..graph import refuse

GATES = {"GRU": 3, "LSTM": 4, "SimpleRNN": 1}
# Rows of a kernel, a block for each gate: where those of odt.GRU (z, r, n) and odt.LSTM (i, f, g, o) are in the source.
PYTORCH = {"GRU": (1, 0, 2), "LSTM": (0, 1, 2, 3), "SimpleRNN": (0,)}
KERAS = {"GRU": (0, 1, 2), "LSTM": (0, 1, 2, 3), "SimpleRNN": (0,)}
ONNX = {"GRU": (0, 1, 2), "LSTM": (0, 2, 3, 1), "SimpleRNN": (0,)}
_ACTIVATIONS = {"GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"], "SimpleRNN": ["Tanh"]}


def layer(builder, kind, value, weights, order, name, origin):
    """The outputs of all steps of one layer.

    ``weights``: kernel (gates * units, features), recurrent kernel (gates * units, units) and the biases of both or
    None, their gates in the source's ``order``.
    """
    blocks = GATES[kind]

    def ordered(array):
        if array is None or array.shape[0] % blocks:
            return array  # the builder refuses another number of rows
        return np.concatenate([np.split(array, blocks)[each] for each in order[kind]])

    kernel, recurrent, bias, other = [ordered(array) for array in weights]
    if other is not None and kind != "GRU":  # which alone multiplies a product that has its bias
        bias, other = bias + other, None
    return builder.recurrent(kind, value, kernel, recurrent, bias, other, name, origin)


def begins_with_zeros(states, origin):
    """Refuse a layer whose first state is not 0; ``states``: constants, or None."""
    for each in states:
        if each is not None and np.any(np.asarray(each)):
            refuse(origin, "begins with a state that is not 0", "a layer that is given no state")


class Apart:
    """A tensor that is none of samples."""


class States(Apart):
    """The last outputs of some layers: (layers, batch, units); ``layers`` are Values of all steps."""

    def __init__(self, builder, layers, origin):
        self.builder, self.layers, self.origin = builder, layers, origin

    def take(self, at, origin):
        """The last output of one layer, a Value of (units,)."""
        if not -len(self.layers) <= at < len(self.layers):
            raise ValueError("%s: takes layer %d of %d" % (origin, at, len(self.layers)))
        return self.builder.last_step(self.layers[at], "last", self.origin)


class Moved(Apart):
    """A tensor of ONNX whose axis of samples is not the first: ``value`` without that axis, and where it stands.

    ``origin``: the node that gave it.
    """

    def __init__(self, value, at, origin):
        self.value, self.at, self.origin = value, at, origin

    def shape(self, batch):
        return (*self.value.source[: self.at], batch, *self.value.source[self.at :])


def moved(builder, value, order, origin, at=0):
    """A transposed Value, or the Moved that it is then; ``at``: the axis of the samples before."""
    if sorted(order) != list(range(len(value.source) + 1)):
        raise ValueError("%s: axes %s are not those of %d" % (origin, tuple(order), len(value.source) + 1))
    made = builder.transpose(value, [axis - (axis > at) for axis in order if axis != at], origin)
    return _placed(made, list(order).index(at), origin)


def _placed(value, at, origin):
    return Moved(value, at, origin) if at else value


# --- ONNX's operators on these ------------------------------------------------------------------


def read(reader, a):
    """What an operator makes of tensors that are Apart."""
    call = _CALLS.get(a.node.op_type)
    if call is None:
        first = next(each for each in a.inputs if isinstance(each, Apart))
        refuse(first.origin, "gives a tensor to %s whose first axis is not the batch" % a.origin, "the batch first")
    return call(reader, a)


def recurrent(reader, a):
    """GRU, LSTM or RNN: (steps, batch, features) becomes (steps, 1, batch, units), and the last outputs."""
    kind = {"RNN": "SimpleRNN"}.get(a.node.op_type, a.node.op_type)
    x, units = a.inputs[0], a.get("hidden_size")
    if not isinstance(x, Moved) or x.at != 1 or len(x.value.source) != 2:
        refuse(a.origin, "takes a tensor that is not (steps, batch, features)", "Transpose(perm=[1, 0, 2]) before it")
    if a.constant(4) is not None:
        refuse(a.origin, "is given the lengths of the sequences", "sequences of one length")
    if a.get("clip") is not None:
        refuse(a.origin, "clips what its gates take", "no clip")
    if a.constant(7) is not None:
        refuse(a.origin, "has peepholes", "an LSTM without P")
    if kind == "GRU" and not a.get("linear_before_reset", 0):
        refuse(a.origin, "resets before it multiplies", "linear_before_reset=1, as Keras's reset_after=True")
    activations = [each.decode() if isinstance(each, bytes) else each for each in a.get("activations", ())]
    if activations and activations != _ACTIVATIONS[kind]:
        refuse(a.origin, "has the activations %s" % ", ".join(activations), ", ".join(_ACTIVATIONS[kind]))
    begins_with_zeros([a.constant(5), a.constant(6)], a.origin)
    kernel, other, biases = a.weight(1), a.weight(2), a.weight(3)
    for given, rank in ((kernel, 3), (other, 3), (biases, 2)):
        if given is not None and (given.ndim != rank or len(given) != 1):
            raise ValueError("%s: weights of shape %s, expected those of one direction" % (a.origin, given.shape))
    if units not in (None, other.shape[2]):
        raise ValueError("%s: hidden_size is %s, the weights have %d units" % (a.origin, units, other.shape[2]))
    if biases is not None and biases.shape[1] != 2 * other.shape[1]:
        raise ValueError("%s: a bias of %s for kernels of %s" % (a.origin, biases.shape, other.shape))
    both = (None, None) if biases is None else np.split(biases[0], 2)
    made = layer(reader.builder, kind, x.value, (kernel[0], other[0], *both), ONNX, a.name, a.origin)
    steps, units = made.source
    return [Moved(reader.builder.reshape(made, (steps, 1, units), a.origin), 2, a.origin),
            States(reader.builder, [made], a.origin)]  # fmt: skip


def _shape(reader, a):
    return np.array(_moved(a).shape(reader.batch), np.int64)


def _transpose(reader, a):
    x = _moved(a)
    order = a.get("perm") or list(range(len(x.value.source), -1, -1))
    return moved(reader.builder, x.value, order, a.origin, x.at)


def _squeeze(reader, a):
    if isinstance(a.inputs[0], States):
        return _only(a, a.axes())
    x = _moved(a)
    full, axes = x.shape(None), a.axes()
    axes = [i for i, n in enumerate(full) if n == 1] if axes is None else [axis % len(full) for axis in axes]
    if any(full[axis] != 1 for axis in axes):
        refuse(a.origin, "takes axes %s away from %s" % (axes, full), "axes of size 1")
    return _shaped(reader, a, [n for axis, n in enumerate(full) if axis not in axes])


def _only(a, axes):
    states = a.inputs[0]
    if len(states.layers) != 1 or axes != [0]:
        refuse(a.origin, "takes the last outputs of %d layers" % len(states.layers), "those of the last one")
    return states.take(0, a.origin)


def _reshape(reader, a):
    x, wanted = _moved(a), a.ints(1)
    full = x.shape(reader.batch)
    wanted = [full[at] if n == 0 and at < len(full) else n for at, n in enumerate(wanted or ())]
    before = int(np.prod(full[: x.at]))
    for at, n in enumerate(wanted):
        if n in (reader.batch, -1) and np.prod(wanted[:at], dtype=int) == before:
            return _shaped(reader, a, wanted[:at] + [None] + wanted[at + 1 :])
    return refuse(a.origin, "gives %s of %s" % (wanted, full), "one result per sample")


def _shaped(reader, a, full):
    """The tensor in this shape, with None for the batch."""
    source = [n for n in full if n is not None]
    return _placed(reader.builder.reshape(_moved(a).value, source, a.origin), full.index(None), a.origin)


def _gather(reader, a):
    """One position along an axis before the batch."""
    at = a.constant(1)
    if at is None or at.ndim or a.get("axis", 0) != 0:
        refuse(a.origin, "takes several positions", "one")
    if isinstance(a.inputs[0], States):
        return a.inputs[0].take(int(at), a.origin)
    x, builder = _moved(a), reader.builder
    extent = x.value.source[0]
    if not -extent <= at < extent:
        raise ValueError("%s: takes position %d of %d" % (a.origin, at, extent))
    made = builder.slice(x.value, 0, int(at) % extent, 1, 1, a.name, a.origin)
    return _placed(builder.reshape(made, x.value.source[1:], a.origin), x.at - 1, a.origin)


def _concat(reader, a):
    if a.get("axis") != 0 or any(not isinstance(each, States) for each in a.inputs):
        refuse(a.origin, "joins tensors whose first axis is not the batch", "last outputs of layers alone")
    return States(reader.builder, [layer for each in a.inputs for layer in each.layers], a.origin)


def _moved(a):
    x = a.inputs[0]
    if not isinstance(x, Moved):
        refuse(a.origin, "takes the last outputs of several layers", "those of one")
    return x


_CALLS = {"Transpose": _transpose, "Shape": _shape, "Squeeze": _squeeze, "Reshape": _reshape,
          "Gather": _gather, "Concat": _concat,
          "Identity": lambda reader, a: a.inputs[0], **dict.fromkeys(("GRU", "LSTM", "RNN"), recurrent)}  # fmt: skip
