"""Reads PyTorch: an nn.Module by torch.export, or an ExportedProgram. In ``eval`` mode; the module is left as it was."""

import numpy as np
import torch
from torch.export import ExportedProgram, export

from .builder import Builder, Value
from .graph import Unsupported, refuse

_BATCH = 3  # samples of the example; another first size in the graph would mix samples


def read(source, shape):
    """The Graph of a module that takes samples of this shape, channels first: (channels, height, width) for one."""
    if isinstance(source, ExportedProgram):
        return _Reader(source).graph()
    if not isinstance(source, torch.nn.Module):
        raise TypeError("an nn.Module or an ExportedProgram is expected, got %r" % type(source))
    if shape is None:
        raise ValueError("shape: of one sample as the module takes it is needed, as (1, 28, 28)")
    shape = tuple(int(size) for size in shape)
    if not shape or min(shape) < 1:
        raise ValueError("shape: sizes of at least 1 are expected, got %s" % (shape,))
    modes = [(module, module.training) for module in source.modules()]
    dtype = next((p.dtype for p in source.parameters()), torch.float32)
    try:
        source.eval()
        program = export(source, (torch.zeros((_BATCH, *shape), dtype=dtype),))
    except ValueError:
        raise
    except Exception as error:  # of the module itself, or of what torch.export does not follow
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise ValueError("torch.export of the module for samples of %s: %s" % (shape, lines[0])) from error
    finally:
        for module, training in modes:
            module.training = training
    return _Reader(program).graph()


class _Reader:
    """Follows the nodes of an ExportedProgram. ``known`` has, by name, a Value, a constant as a NumPy array, or None."""

    def __init__(self, program):
        self.program = program
        self.nodes = list(program.graph.nodes)
        self.builder = Builder(0)
        self.known = {}
        self.owner = {}  # of a parameter, its name in the module
        self.read_by = {}  # of a weight, the node that has taken it

    def graph(self):
        signature = self.program.graph_signature
        state, constants = self.program.state_dict, self.program.constants
        inputs = []
        for spec in signature.input_specs:
            name = spec.arg.name
            kind = spec.kind.name
            if kind == "USER_INPUT":
                inputs.append(name)
                continue
            tensor = state[spec.target] if spec.target in state else constants.get(spec.target)
            self.owner[name] = spec.target
            self.known[name] = tensor.detach().cpu().numpy() if isinstance(tensor, torch.Tensor) else None
        if len(inputs) != 1:
            raise Unsupported("the module takes %d inputs: %s; instead: one" % (len(inputs), ", ".join(inputs)))
        for node in self.nodes:
            if node.op == "placeholder":
                if node.name == inputs[0]:
                    self.known[node.name] = self._input(node)
            elif node.op == "call_function":
                self.known[node.name] = self._call(node)
            elif node.op == "output":
                return self._output(node)
        raise Unsupported("the module has no output")

    def _input(self, node):
        shape = tuple(node.meta["val"].shape)
        if any(not isinstance(size, int) for size in shape[1:]):
            raise Unsupported(
                "input %s: has the dynamic shape %s; instead: fixed sizes beside the batch" % (node.name, shape)
            )
        self.batch = shape[0]
        readers = list(node.users)
        channel = 0
        if (
            any(_operator(each) in ("permute", "transpose") for each in readers)
            or len(shape) == 3
            and not any(_operator(each) in _OF_IMAGES for each in readers)
        ):
            channel = -1
        return self.builder.input(node.name, shape[1:], channel)

    def _output(self, node):
        outputs = node.args[0]
        if len(outputs) != 1 or not isinstance(outputs[0], torch.fx.Node):
            raise Unsupported("the module gives %d outputs; instead: one tensor" % len(outputs))
        value = self.known[outputs[0].name]
        if not isinstance(value, Value):
            raise Unsupported("the output does not depend on the input")
        return self.builder.finish(value)

    def _call(self, node):
        operator = _operator(node)
        origin = "node %s (%s)" % (node.name, str(node.target).removeprefix("aten."))
        call = getattr(self, "_" + operator, None) if operator in _OPERATORS else None
        arguments = _Arguments(self, node, origin)
        if not any(isinstance(each, Value) for each in arguments.tensors()):
            refuse(origin, "computes with constants alone", "a buffer with the result")
        if call is None:
            refuse(origin, "odt has no such operator", _INSTEAD.get(operator))
        expected = node.meta["val"].shape
        if not len(expected) or expected[0] != self.batch:
            refuse(origin, "gives %s of a batch of %d" % (tuple(expected), self.batch), "one result per sample")
        made = call(arguments)
        if made.pads is None and made.source != tuple(expected[1:]):
            refuse(origin, "gives %s, odt's layer %s" % (tuple(expected[1:]), made.source))
        return made

    # --- operators ----------------------------------------------------------------------------

    def _linear(self, a):
        return self.builder.dense(a.value(0), a.weight(1), a.weight(2), a.layer(1), a.origin)

    def _conv2d(self, a):
        kernel = a.weight(1)
        axes = kernel.ndim - 2
        value, strides, dilation = a.value(0), a.sizes(3, axes, 1), a.sizes(5, axes, 1)
        groups = a.get(6, 1)
        kernel = np.moveaxis(kernel, 1, -1)
        pads, same = a.get(4, 0), None
        if isinstance(pads, str):
            pads, same = (None, "upper") if pads == "same" else (((0, 0),) * axes, None)
        else:
            pads = tuple((n, n) for n in a.sizes(4, axes, 0))
        return self.builder.conv(
            value, kernel, a.weight(2), strides, pads, groups, a.layer(1), a.origin, dilation, same
        )

    _conv1d = _conv2d

    def _conv_transpose2d(self, a):
        kernel = a.weight(1)
        axes = kernel.ndim - 2
        strides, pads, extra = a.sizes(3, axes, 1), a.sizes(4, axes, 0), a.sizes(5, axes, 0)
        kernel = np.moveaxis(np.swapaxes(kernel, 0, 1), 1, -1) if a.get(6, 1) == 1 else kernel
        return self.builder.transposed(
            a.value(0), kernel, a.weight(2), strides, [(n, n) for n in pads], extra, a.get(6, 1), a.layer(1), a.origin,
            a.sizes(7, axes, 1),
        )  # fmt: skip

    _conv_transpose1d = _conv_transpose2d

    def _batch_norm(self, a):
        value = a.value(0)
        gamma, beta, mean, variance = (a.weight(i) for i in (1, 2, 3, 4))
        if mean is None:
            refuse(a.origin, "has no running statistics", "track_running_stats=True")
        ones = np.ones_like(mean)
        weights = {
            "gamma": ones if gamma is None else gamma, "beta": 0 * ones if beta is None else beta,
            "mean": mean, "variance": variance,
        }  # fmt: skip
        momentum = min(max(1 - a.get(6, 0.1), 0.0001), 0.9999)
        name = a.layer(1) if gamma is not None else a.layer(3)
        return self.builder.norm("batch", value, weights, name, a.origin, epsilon=a.get(7, 1e-5), momentum=momentum)

    def _layer_norm(self, a):
        shape = tuple(a.get(1, ()))
        if len(shape) != 1:
            refuse(a.origin, "normalises %d axes" % len(shape), "the last axis, or a GroupNorm")
        return self._gamma_beta("layer", a, 2, shape[0], epsilon=a.get(4, 1e-5))

    def _group_norm(self, a):
        groups = a.get(1, 1)
        return self._gamma_beta("group", a, 2, a.value(0).source[0], epsilon=a.get(4, 1e-5), groups=groups)

    def _instance_norm(self, a):
        if not a.get(5, True):
            refuse(a.origin, "uses running statistics", "track_running_stats=False")
        channels = a.value(0).source[0]
        return self._gamma_beta("group", a, 1, channels, epsilon=a.get(7, 1e-5), groups=channels)

    def _gamma_beta(self, kind, a, at, count, **options):
        gamma, beta = a.weight(at), a.weight(at + 1)
        weights = {
            "gamma": np.ones(count) if gamma is None else gamma, "beta": np.zeros(count) if beta is None else beta,
        }  # fmt: skip
        return self.builder.norm(kind, a.value(0), weights, a.layer(at), a.origin, **options)

    def _pooled(self, op, a, counts=False):
        axes = len(a.value(0).source) - 1
        size = a.sizes(1, axes, 1)
        strides = a.sizes(2, axes, size)
        pads = tuple((n, n) for n in a.sizes(3, axes, 0))
        at = 5 if op == "maxpool" else 4
        dilation = a.sizes(4, axes, 1) if op == "maxpool" else None
        return self.builder.pool(
            op, a.value(0), size, strides, pads, a.get(at, False), a.name, a.origin, dilation, counts
        )

    def _max_pool2d(self, a):
        return self._pooled("maxpool", a)

    _max_pool1d = _max_pool2d

    def _avg_pool2d(self, a):
        if a.get(6) is not None:
            refuse(a.origin, "has a divisor_override")
        return self._pooled("avgpool", a, a.get(5, True))

    _avg_pool1d = _avg_pool2d

    def _adaptive_avg_pool2d(self, a):
        axes = len(a.value(0).source) - 1
        return self.builder.adaptive(a.value(0), a.sizes(1, axes, 1), a.name, a.origin)

    _adaptive_avg_pool1d = _adaptive_avg_pool2d

    def _mean(self, a):
        value, axes = a.value(0), a.get(1)
        rank = len(value.source) + 1
        axes = sorted(axis % rank for axis in axes) if axes else list(range(rank))
        if axes != list(range(2, rank)):
            refuse(a.origin, "takes the mean of axes %s of %d" % (axes, rank), "the mean of all positions of a channel")
        return self.builder.global_pool("avgpool", value, a.get(2, False), a.name, a.origin)

    def _upsample_nearest2d(self, a):
        value = a.value(0)
        size = list(a.node.meta["val"].shape[2:])
        times = [n // extent for n, extent in zip(size, value.source[1:])]
        if [n * extent for n, extent in zip(times, value.source[1:])] != size:
            refuse(a.origin, "enlarges %s to %s" % (value.source[1:], tuple(size)), "a whole factor")
        return self.builder.upsample(value, times, a.name, a.origin)

    _upsample_nearest1d = _upsample_nearest2d

    def _relu(self, a):
        return self.builder.unary("relu", a.value(0), a.name, a.origin)

    def _relu6(self, a):
        return self.builder.unary("relu6", a.value(0), a.name, a.origin)

    def _hardtanh(self, a):
        return self.builder.limited(a.value(0), a.get(1, -1.0), a.get(2, 1.0), a.name, a.origin)

    def _clamp(self, a):
        return self.builder.limited(a.value(0), a.get(1), a.get(2), a.name, a.origin)

    def _clamp_min(self, a):
        return self.builder.limited(a.value(0), a.get(1), None, a.name, a.origin)

    def _leaky_relu(self, a):
        return self.builder.leaky_relu(a.value(0), a.get(1, 0.01), a.name, a.origin)

    def _sigmoid(self, a):
        return self.builder.unary("sigmoid", a.value(0), a.name, a.origin)

    def _tanh(self, a):
        return self.builder.unary("tanh", a.value(0), a.name, a.origin)

    def _silu(self, a):
        gate = self.builder.unary("sigmoid", a.value(0), a.name + "_gate", a.origin)
        return self.builder.join("multiply", [a.value(0), gate], a.name, a.origin)

    def _hardsigmoid(self, a):
        return self.builder.hard_sigmoid(a.value(0), a.name, a.origin)

    def _hardswish(self, a):
        return self.builder.join("multiply", [a.value(0), self._hardsigmoid(a)], a.name, a.origin)

    def _softmax(self, a):
        axis = a.get(1, -1)
        rank = len(a.value(0).source) + 1
        if axis % rank == 0:
            refuse(a.origin, "takes the softmax over the batch")
        return self.builder.softmax(a.value(0), axis % rank - 1, a.name, a.origin)

    def _dropout(self, a):
        return self.builder.unary("dropout", a.value(0), a.name, a.origin, rate=a.get(1, 0.5))

    _feature_dropout = _dropout

    def _add(self, a):
        if a.options.get("alpha", 1) != 1:
            refuse(a.origin, "adds %r times a tensor" % a.options["alpha"], "alpha=1")
        return self._joined("add", a)

    def _mul(self, a):
        return self._joined("multiply", a)

    def _joined(self, op, a):
        return self.builder.arithmetic(op, a.operand(0), a.operand(1), a.name, a.origin)

    def _sub(self, a):
        return self._subtracted(a, 0, 1)

    def _rsub(self, a):
        return self._subtracted(a, 1, 0)

    def _subtracted(self, a, first, second):
        if a.options.get("alpha", 1) != 1:
            refuse(a.origin, "has alpha=%r" % a.options["alpha"], "alpha=1")
        return self.builder.subtract(a.operand(first), a.operand(second), a.name, a.origin)

    def _div(self, a):
        return self.builder.divide(a.operand(0), a.operand(1), a.name, a.origin)

    def _cat(self, a):
        values = [self.known.get(each.name) for each in a.node.args[0]]
        axis = a.get(1, 0)
        rank = len(a.node.meta["val"].shape)
        if axis % rank == 0:
            refuse(a.origin, "concatenates batches")
        return self.builder.concatenate(values, axis % rank - 1, a.name, a.origin)

    def _view(self, a):
        """Any change of shape that keeps the order of the numbers."""
        return self.builder.reshape(a.value(0), tuple(a.node.meta["val"].shape)[1:], a.origin)

    _reshape = _flatten = _unflatten = _squeeze = _unsqueeze = _unsafe_view = _view

    def _permute(self, a):
        return self._ordered(a, list(a.get(1)))

    def _transpose(self, a):
        order = list(range(len(a.value(0).source) + 1))
        first, second = a.get(1), a.get(2)
        order[first], order[second] = order[second], order[first]
        return self._ordered(a, order)

    def _ordered(self, a, order):
        rank = len(order)
        order = [axis % rank for axis in order]
        if order[0] != 0:
            refuse(a.origin, "moves the batch")
        return self.builder.transpose(a.value(0), [axis - 1 for axis in order[1:]], a.origin)

    def _pad(self, a):
        if a.get(2, "constant") != "constant" or (a.get(3) or 0) != 0:
            refuse(a.origin, "pads by %r with %r" % (a.get(2, "constant"), a.get(3)), "zeros")
        return self._padded(a)

    def _constant_pad_nd(self, a):
        if a.get(2, 0) != 0:
            refuse(a.origin, "pads with %r" % a.get(2), "zeros")
        return self._padded(a)

    def _padded(self, a):
        flat = list(a.get(1))
        pads = [(0, 0)] * len(a.value(0).source)
        if len(flat) // 2 > len(pads):
            refuse(a.origin, "pads the batch")
        for number in range(len(flat) // 2):
            pads[-1 - number] = (flat[2 * number], flat[2 * number + 1])
        return self.builder.pad(a.value(0), pads, a.origin)

    def _same(self, a):
        return a.value(0)

    _contiguous = _clone = _detach = _alias = _same

    def _to(self, a):
        if not a.node.meta["val"].dtype.is_floating_point:
            refuse(a.origin, "makes %s" % a.node.meta["val"].dtype, "floats throughout")
        return a.value(0)

    _to_copy = _to


class _Arguments:
    """The arguments of one node, by their position."""

    def __init__(self, reader, node, origin):
        self.reader, self.node, self.origin, self.name = reader, node, origin, node.name
        schema = node.target._schema.arguments
        self.options = dict(node.kwargs)
        self.values = list(node.args)
        for argument in schema[len(self.values) :]:
            self.values.append(self.options.get(argument.name, _MISSING))

    def tensors(self):
        for each in self.node.all_input_nodes:
            yield self.reader.known.get(each.name)

    def get(self, at, default=None):
        value = self.values[at] if at < len(self.values) else _MISSING
        return default if value is _MISSING or value is None else value

    def operand(self, at):
        """A Value, a constant array, or a number."""
        each = self.get(at)
        return self.reader.known.get(each.name) if isinstance(each, torch.fx.Node) else each

    def value(self, at):
        value = self.operand(at)
        if not isinstance(value, Value):
            refuse(self.origin, "argument %d is no tensor of the network" % at)
        return value

    def weight(self, at):
        """A parameter or buffer, or None where none is given."""
        each = self.get(at)
        if each is None:
            return None
        weight = self.reader.known.get(each.name)
        if not isinstance(weight, np.ndarray):
            refuse(self.origin, "argument %d is computed" % at, "a parameter or a buffer")
        taken = self.reader.read_by.setdefault(self.reader.owner.get(each.name, each.name), self.node.name)
        if taken != self.node.name:
            refuse(self.origin, "shares weights with node %s" % taken, "a module of its own for each use")
        return weight

    def layer(self, at):
        """What the module with this parameter is called."""
        each = self.get(at)
        if each is None:
            return self.name
        return self.reader.owner.get(each.name, each.name).rpartition(".")[0] or self.name

    def sizes(self, at, count, default):
        value = self.get(at, default)
        value = (value,) * count if isinstance(value, int) or value is None else tuple(value) or default
        if len(value) == 1:
            value = tuple(value) * count
        if any(each is not None and not isinstance(each, int) for each in value):
            refuse(self.origin, "has a dynamic size %s" % (value,), "fixed sizes")
        return tuple(value)


class _Missing:
    pass


_MISSING = _Missing()


def _operator(node):
    """conv2d of aten.conv2d.default, relu of aten.relu_.default."""
    schema = getattr(node.target, "_schema", None)
    return schema.name.rpartition("::")[2].strip("_") if schema else str(node.target)


_OF_IMAGES = (
    "conv1d", "max_pool1d", "avg_pool1d", "adaptive_avg_pool1d", "batch_norm", "group_norm", "instance_norm", "conv_transpose1d",
    "pad", "constant_pad_nd", "flatten", "view", "reshape", "upsample_nearest1d",
)  # fmt: skip
_OPERATORS = {name[1:] for name in vars(_Reader) if name.startswith("_") and name != "__init__"} - {
    "input", "output", "call", "pooled", "gamma_beta", "limited", "joined", "ordered", "padded", "same",
}  # fmt: skip
_INSTEAD = {
    "log_softmax": "no softmax: odt's cross-entropy contains it",
    "gelu": "ReLU, or SiLU, which imports as Sigmoid and Multiply",
    "elu": "ReLU or LeakyReLU",
    "prelu": "LeakyReLU with a fixed slope",
    "max_pool2d_with_indices": "max_pool2d without return_indices",
    "matmul": "nn.Linear",
    "bmm": "layers without products of two tensors",
    "scaled_dot_product_attention": "convolutions: odt has no attention",
    "lstm": "Conv1D over the sequence: odt has no recurrence",
    "gru": "Conv1D over the sequence: odt has no recurrence",
    "rnn_tanh": "Conv1D over the sequence: odt has no recurrence",
    "embedding": "one-hot samples and a Linear",
    "slice": "whole tensors",
    "select": "whole tensors, or AdaptiveAvgPool",
    "split": "two convolutions of the whole tensor",
    "chunk": "two convolutions of the whole tensor",
    "max": "AdaptiveAvgPool, or MaxPool with a window as large as the image",
    "adaptive_max_pool2d": "MaxPool with a window as large as the image",
    "conv3d": "2-D convolutions",
    "upsample_bilinear2d": "upsampling by mode='nearest'",
    "flip": "data that are flipped before",
}
