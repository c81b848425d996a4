"""Reads ONNX: float networks, and quantized ones (QDQ and QLinear operators) with their weights as floats and their scales beside.

Of a file only what is in it is read: no external data, no functions, no code.
"""

from pathlib import Path

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import numpy_helper

from .builder import Builder, Value
from .graph import MOST, Unsupported, refuse

_LARGEST = 1 << 28  # bytes of a file
_BATCH = 3  # of a network that leaves it open
_DAMAGED = (
    IndexError,
    KeyError,
    TypeError,
    AttributeError,
    OverflowError,
    ZeroDivisionError,
    RuntimeError,
    MemoryError,
)
_RANGES = {"uint8": (0, 255), "int8": (-128, 127), "uint16": (0, 65535), "int16": (-32768, 32767)}


def read(source, shape=None):
    """The Graph of a file, by its name or bytes, or of an onnx.ModelProto. ValueError for a damaged one."""
    name = source if isinstance(source, (str, Path)) else "the model"
    if isinstance(source, (str, Path)):
        size = Path(source).stat().st_size
        if size > _LARGEST:
            raise ValueError("%s: %d bytes, a file of at most %d is read" % (name, size, _LARGEST))
        source = Path(source).read_bytes()
    if isinstance(source, bytes):
        try:
            source = onnx.ModelProto.FromString(source)
        except DecodeError as error:
            raise ValueError("%s is damaged, or no ONNX file: %s" % (name, error)) from None
    if not source.graph.node:
        raise ValueError("%s is damaged, or no ONNX file: it has no nodes" % name)
    try:
        return _Reader(source.graph, {each.domain: each.version for each in source.opset_import}, shape).graph()
    except _DAMAGED as error:
        raise ValueError("%s is damaged: %s: %s" % (name, type(error).__name__, error)) from error


class _Reader:
    """``known`` has, by name, a Value or a constant as a NumPy array."""

    def __init__(self, proto, opsets, shape):
        self.proto, self.shape = proto, shape
        self.opset = opsets.get("", opsets.get("ai.onnx", 1))
        self.known = {"": None}
        self.read_by = {}
        self.steps = {}  # of what DequantizeLinear made of constants: (scales, their axis)
        self.weights = set()
        for tensor in proto.initializer:
            self.known[tensor.name] = _array(tensor, tensor.name)
            self.weights.add(tensor.name)
        if proto.sparse_initializer:
            raise Unsupported(
                "initializer %s is sparse; instead: a dense one" % proto.sparse_initializer[0].values.name
            )

    def graph(self):
        inputs = [each for each in self.proto.input if each.name not in self.known]
        if len(inputs) != 1:
            raise Unsupported(
                "the network takes %d inputs: %s; instead: one" % (len(inputs), ", ".join(i.name for i in inputs))
            )
        if len(self.proto.output) != 1:
            raise Unsupported("the network gives %d outputs; instead: one tensor" % len(self.proto.output))
        self._input(inputs[0])
        output = self.proto.output[0].name
        for number, node in enumerate(self.proto.node):
            origin = "node %s (%s)" % (node.name or number, node.op_type)
            self._call(node, origin)
            if output in node.output:
                break
        if output not in self.known:
            raise ValueError("the output %s is computed by no node" % output)
        value = self.known[output]
        if not isinstance(value, Value):
            raise Unsupported("the output does not depend on the input")
        return self.builder.finish(value)

    def _input(self, proto):
        tensor = proto.type.tensor_type
        sizes = [each.dim_value if each.WhichOneof("value") == "dim_value" else None for each in tensor.shape.dim]
        origin = "input %s" % proto.name
        if tensor.elem_type not in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16):
            kind = onnx.TensorProto.DataType.Name(tensor.elem_type) if tensor.elem_type in range(1, 17) else "?"
            if kind not in ("UINT8", "INT8"):
                refuse(origin, "is of %s" % kind, "FLOAT")
        if len(sizes) < 2:
            refuse(origin, "has the shape %s" % (sizes,), "one of (batch, ..)")
        shape = self.shape
        if shape is not None:
            shape = tuple(shape)
            if len(shape) != len(sizes) - 1 or any(b is not None and a != b for a, b in zip(shape, sizes[1:])):
                raise ValueError("%s: samples are of shape %s, got %s" % (origin, tuple(sizes[1:]), shape))
        elif None in sizes[1:]:
            refuse(origin, "has the dynamic shape %s" % (tuple(sizes),), "fixed sizes beside the batch, or shape=")
        else:
            shape = tuple(sizes[1:])
        self.batch = sizes[0] or _BATCH
        readers = self._readers(proto.name)
        channel = 0
        if "Transpose" in readers or len(shape) == 2 and not readers & _OF_IMAGES:
            channel = -1
        self.builder = Builder(0)
        self.known[proto.name] = self.builder.input(proto.name, shape, channel)

    def _readers(self, name):
        """The operators that read a tensor, through those that change nothing."""
        names, found = {name}, set()
        for node in self.proto.node:
            if names & set(node.input):
                if node.op_type in _SAME:
                    names |= set(node.output)
                else:
                    found.add(node.op_type)
        return found

    def _call(self, node, origin):
        a = _Arguments(self, node, origin)
        values = [each for each in a.inputs if isinstance(each, Value)]
        if node.domain not in ("", "ai.onnx", "com.microsoft"):
            refuse(origin, "is an operator of %s" % node.domain)
        if not values:
            if node.op_type in _FOLDED:
                self.known[node.output[0]] = self._folded(node.op_type, a)
                if any(name in self.weights for name in node.input):
                    self.weights.add(node.output[0])
                return
            refuse(origin, "computes with constants alone", "a network whose constants are folded")
        operator = getattr(self, "_" + node.op_type, None) if node.op_type in OPERATORS else None
        if operator is None:
            refuse(origin, "odt has no such operator", _INSTEAD.get(node.op_type))
        self.known[node.output[0]] = operator(a)
        for name in node.output[1:]:
            if name and any(name in other.input for other in self.proto.node):
                refuse(origin, "has %d outputs that are read" % len(node.output), "one")

    # --- constants ----------------------------------------------------------------------------

    def _folded(self, op, a):
        """What operators on shapes and weights give, in NumPy."""
        x = a.inputs[0] if a.inputs else None
        if op == "Constant":
            for name in ("value_float", "value_int", "value_floats", "value_ints"):
                if name in a.attributes:
                    return np.asarray(a.attributes[name])
            return _array(a.attributes["value"], a.origin)
        if op == "ConstantOfShape":
            if np.prod(x, dtype=object) > MOST:
                refuse(a.origin, "makes %s numbers" % np.prod(x, dtype=object))
            value = _array(a.attributes["value"], a.origin) if "value" in a.attributes else np.zeros(1, np.float32)
            return np.full([int(n) for n in x], value.ravel()[0])
        if op in ("Identity", "Cast"):
            return x if op == "Identity" else x.astype(onnx.helper.tensor_dtype_to_np_dtype(a.attributes["to"]))
        if op == "Gather":
            return np.take(x, a.inputs[1], axis=a.get("axis", 0))
        if op == "Concat":
            return np.concatenate(a.inputs, a.attributes["axis"])
        if op in ("Unsqueeze", "Squeeze"):
            axes = a.axes()
            if op == "Unsqueeze":
                return np.expand_dims(x, tuple(axes))
            return np.squeeze(x, tuple(axes) if axes is not None else None)
        if op == "Slice":
            starts, ends = a.inputs[1], a.inputs[2]
            axes = a.inputs[3] if len(a.inputs) > 3 and a.inputs[3] is not None else range(len(starts))
            steps = a.inputs[4] if len(a.inputs) > 4 and a.inputs[4] is not None else [1] * len(starts)
            cut = [slice(None)] * x.ndim
            for axis, start, end, step in zip(axes, starts, ends, steps):
                cut[int(axis)] = slice(int(start), int(end), int(step))
            return x[tuple(cut)]
        if op == "Transpose":
            return np.transpose(x, a.get("perm"))
        if op == "Reshape":
            return x.reshape([int(n) for n in a.inputs[1]])
        if op == "Shape":
            return np.array(x.shape)
        if op in ("Add", "Sub", "Mul", "Div", "Mod"):
            first, second = a.inputs[:2]
            if max(first.size, 1) * max(second.size, 1) > MOST:
                refuse(a.origin, "computes with constants of %s and %s" % (first.shape, second.shape))
            with np.errstate(all="ignore"):
                whole = op == "Div" and first.dtype.kind in "iu"
                divide = np.floor_divide if whole else np.divide
                operators = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": divide, "Mod": np.mod}
                return operators[op](first, second)
        if op == "QuantizeLinear":
            scale, zero, axis = a.quantization(1)
            low, high = _RANGES[zero.dtype.name]
            made = np.rint(x / _along(scale, x, axis)) + _along(zero, x, axis)
            return np.clip(made, low, high).astype(zero.dtype)
        if op == "DequantizeLinear":
            scale, zero, axis = a.quantization(1)
            self.steps[a.output] = scale, axis % max(x.ndim, 1)
            return _dequantized(x, scale, zero, axis)
        raise KeyError(op)

    # --- operators ----------------------------------------------------------------------------

    def _Shape(self, a):
        source = (self.batch, *a.value(0).source)
        return np.array(source[a.get("start", 0) : a.get("end", len(source))])

    def _Conv(self, a):
        return self._conv(a, a.value(0), a.weight(1), a.weight(2), a.steps(1, 0))

    def _conv(self, a, value, kernel, bias, steps):
        axes = kernel.ndim - 2
        pads, same = a.pads(axes)
        kernel = np.moveaxis(kernel, 1, -1)
        return self.builder.conv(
            value, kernel, bias, a.sizes("strides", axes, 1), pads, a.get("group", 1), a.name, a.origin,
            a.sizes("dilations", axes, 1), same, steps,
        )  # fmt: skip

    def _ConvTranspose(self, a):
        kernel, value = a.weight(1), a.value(0)
        axes = kernel.ndim - 2
        strides, extra = a.sizes("strides", axes, 1), a.sizes("output_padding", axes, 0)
        pads, same = a.pads(axes)
        wanted = a.get("output_shape")
        if same or wanted is not None:
            wanted = wanted or [n * stride for n, stride in zip(value.source[1:], strides)]
            pads = []
            for n, width, stride, more, out in zip(value.source[1:], kernel.shape[2:], strides, extra, wanted[-axes:]):
                total = (n - 1) * stride + more + width - out
                first = total - total // 2 if same == "lower" else total // 2
                pads.append((first, total - first))
        groups = a.get("group", 1)
        kernel = np.moveaxis(np.swapaxes(kernel, 0, 1), 1, -1) if groups == 1 else kernel
        return self.builder.transposed(
            value, kernel, a.weight(2), strides, pads, extra, groups, a.name, a.origin, a.sizes("dilations", axes, 1),
            a.steps(1, 1),
        )  # fmt: skip

    def _Gemm(self, a):
        if a.get("transA", 0):
            refuse(a.origin, "transposes its samples", "transA=0")
        kernel = a.weight(1) if a.get("transB", 0) else a.weight(1).T
        bias = a.weight(2)
        if bias is not None:
            bias = np.broadcast_to(bias.ravel() if bias.ndim > 1 and bias.shape[0] == 1 else bias, kernel.shape[:1])
            bias = bias * a.get("beta", 1.0)
        alpha, steps = a.get("alpha", 1.0), a.steps(1, 0 if a.get("transB", 0) else 1)
        steps = None if steps is None else steps * abs(alpha)
        return self.builder.dense(a.value(0), kernel * alpha, bias, a.name, a.origin, steps)

    def _MatMul(self, a):
        kernel = a.weight(1)
        if kernel.ndim != 2:
            refuse(a.origin, "multiplies by a constant of shape %s" % (kernel.shape,), "a matrix")
        return self.builder.dense(a.value(0), kernel.T, None, a.name, a.origin, a.steps(1, 1))

    def _BatchNormalization(self, a):
        if a.get("training_mode", 0):
            refuse(a.origin, "is in training mode", "an export in eval mode")
        weights = dict(zip(("gamma", "beta", "mean", "variance"), (a.weight(i) for i in (1, 2, 3, 4))))
        momentum = min(max(a.get("momentum", 0.9), 0.0001), 0.9999)
        return self.builder.norm(
            "batch", a.value(0), weights, a.name, a.origin, epsilon=a.get("epsilon", 1e-5), momentum=momentum
        )

    def _LayerNormalization(self, a):
        value = a.value(0)
        rank = len(value.source) + 1
        if a.get("axis", -1) % rank != rank - 1:
            refuse(a.origin, "normalises several axes", "the last axis")
        gamma, beta = a.weight(1), a.weight(2)
        weights = {"gamma": gamma, "beta": np.zeros_like(gamma) if beta is None else beta}
        return self.builder.norm("layer", value, weights, a.name, a.origin, epsilon=a.get("epsilon", 1e-5))

    def _InstanceNormalization(self, a):
        value, gamma, beta = a.value(0), a.weight(1), a.weight(2)
        options = {"epsilon": a.get("epsilon", 1e-5), "groups": gamma.size}
        channels = value.shape[-1]
        if len(value.source) == 2 and len(value.shape) > 1 and np.all(gamma == gamma[0]) and np.all(beta == beta[0]):
            # A GroupNorm as PyTorch writes it: images as rows of groups.
            weights = {"gamma": np.full(channels, gamma[0]), "beta": np.full(channels, beta[0])}
            images = self.builder.reshape(value, (channels, *value.shape[:-1]), a.origin)
            made = self.builder.norm("group", images, weights, a.name, a.origin, **options)
            return self.builder.reshape(made, value.source, a.origin)
        return self.builder.norm("group", value, {"gamma": gamma, "beta": beta}, a.name, a.origin, **options)

    def _GroupNormalization(self, a):
        if self.opset < 21:
            refuse(a.origin, "has a factor per group (opset %d)" % self.opset, "opset 21, or InstanceNormalization")
        weights = {"gamma": a.weight(1), "beta": a.weight(2)}
        options = {"epsilon": a.get("epsilon", 1e-5), "groups": a.attributes["num_groups"]}
        return self.builder.norm("group", a.value(0), weights, a.name, a.origin, **options)

    def _MaxPool(self, a):
        return self._pool("maxpool", a)

    def _AveragePool(self, a):
        return self._pool("avgpool", a)

    def _pool(self, op, a):
        size = tuple(a.attributes["kernel_shape"])
        pads, same = a.pads(len(size))
        strides = a.sizes("strides", len(size), 1)
        ceil, counts = bool(a.get("ceil_mode", 0)), bool(a.get("count_include_pad", 0))
        dilation = a.sizes("dilations", len(size), 1)
        return self.builder.pool(op, a.value(0), size, strides, pads, ceil, a.name, a.origin, dilation, counts, same)

    def _GlobalAveragePool(self, a):
        return self.builder.global_pool("avgpool", a.value(0), True, a.name, a.origin)

    def _GlobalMaxPool(self, a):
        return self.builder.global_pool("maxpool", a.value(0), True, a.name, a.origin)

    def _ReduceMean(self, a):
        value, axes = a.value(0), a.axes()
        rank = len(value.source) + 1
        axes = sorted(axis % rank for axis in axes) if axes is not None else list(range(rank))
        if axes != list(range(2, rank)):
            refuse(a.origin, "takes the mean of axes %s of %d" % (axes, rank), "the mean of all positions of a channel")
        return self.builder.global_pool("avgpool", value, bool(a.get("keepdims", 1)), a.name, a.origin)

    def _Relu(self, a):
        return self.builder.unary("relu", a.value(0), a.name, a.origin)

    def _Clip(self, a):
        low = a.get("min") if self.opset < 11 else a.number(1)
        high = a.get("max") if self.opset < 11 else a.number(2)
        high = None if high is not None and high > 3e38 else high
        return self.builder.limited(a.value(0), low, high, a.name, a.origin)

    def _LeakyRelu(self, a):
        return self.builder.leaky_relu(a.value(0), a.get("alpha", 0.01), a.name, a.origin)

    def _Sigmoid(self, a):
        return self.builder.unary("sigmoid", a.value(0), a.name, a.origin)

    def _Tanh(self, a):
        return self.builder.unary("tanh", a.value(0), a.name, a.origin)

    def _HardSigmoid(self, a):
        return self.builder.hard_sigmoid(a.value(0), a.name, a.origin, a.get("alpha", 0.2), a.get("beta", 0.5))

    def _HardSwish(self, a):
        return self.builder.hard_swish(a.value(0), a.name, a.origin)

    def _Softmax(self, a):
        rank = len(a.value(0).source) + 1
        axis = a.get("axis", 1 if self.opset < 13 else -1) % rank
        if axis == 0 or self.opset < 13 and axis != rank - 1:
            refuse(a.origin, "takes the softmax over axes from %d of %d" % (axis, rank), "the last axis")
        return self.builder.softmax(a.value(0), axis - 1, a.name, a.origin)

    def _Dropout(self, a):
        rate = a.get("ratio", 0.5) if self.opset < 12 else a.number(1)
        return self.builder.unary("dropout", a.value(0), a.name, a.origin, rate=0.5 if rate is None else rate)

    def _Add(self, a):
        return self._joined("add", a)

    def _Mul(self, a):
        return self._joined("multiply", a)

    def _Sum(self, a):
        return self.builder.join("add", a.inputs, a.name, a.origin)

    def _joined(self, op, a):
        return self.builder.arithmetic(op, *a.inputs[:2], a.name, a.origin)

    def _Sub(self, a):
        return self.builder.subtract(*a.inputs[:2], a.name, a.origin)

    def _Div(self, a):
        return self.builder.divide(*a.inputs[:2], a.name, a.origin)

    def _Concat(self, a):
        rank = 1 + max(len(each.source) for each in a.inputs if isinstance(each, Value))
        axis = a.attributes["axis"] % rank
        if axis == 0:
            refuse(a.origin, "concatenates batches")
        return self.builder.concatenate(a.inputs, axis - 1, a.name, a.origin)

    def _Flatten(self, a):
        value = a.value(0)
        if a.get("axis", 1) % (len(value.source) + 1) != 1:
            refuse(a.origin, "flattens from axis %d" % a.get("axis", 1), "axis 1")
        return self.builder.reshape(value, (value.index.size,), a.origin)

    def _Reshape(self, a):
        value, wanted = (
            a.value(0),
            [int(n) for n in np.ravel(a.inputs[1] if len(a.inputs) > 1 else a.attributes["shape"])],
        )
        full = (self.batch, *value.source)
        if not a.get("allowzero", 0):
            wanted = [full[at] if n == 0 else n for at, n in enumerate(wanted)]
        count = self.batch * value.index.size
        if wanted.count(-1) == 1:
            others = -int(np.prod(wanted, dtype=object))
            wanted[wanted.index(-1)] = count // others if others else 0
        if not wanted or wanted[0] != self.batch:
            refuse(a.origin, "gives %s of a batch of %d" % (tuple(wanted), self.batch), "one result per sample")
        return self.builder.reshape(value, wanted[1:], a.origin)

    def _Squeeze(self, a):
        value, axes = a.value(0), a.axes()
        full = (self.batch, *value.source)
        axes = (
            [axis % len(full) for axis in axes] if axes is not None else [i for i, n in enumerate(full) if i and n == 1]
        )
        return self._without_batch(a, [n for at, n in enumerate(full) if at not in axes or n != 1], 0 in axes)

    def _Unsqueeze(self, a):
        value, axes = a.value(0), a.axes()
        rank = len(value.source) + 1 + len(axes)
        axes = {axis % rank for axis in axes}
        left = iter((self.batch, *value.source))
        return self._without_batch(a, [1 if at in axes else next(left) for at in range(rank)], 0 in axes)

    def _without_batch(self, a, shape, moved):
        if moved:
            refuse(a.origin, "changes the axis of the batch", "one result per sample")
        return self.builder.reshape(a.value(0), shape[1:], a.origin)

    def _Transpose(self, a):
        value = a.value(0)
        order = a.get("perm") or list(range(len(value.source), -1, -1))
        if order[0] != 0:
            refuse(a.origin, "moves the batch")
        return self.builder.transpose(value, [axis - 1 for axis in order[1:]], a.origin)

    def _Pad(self, a):
        value, mode = a.value(0), a.get("mode", "constant")
        flat = a.get("pads") if self.opset < 11 else [int(n) for n in a.inputs[1]]
        constant = a.get("value", 0) if self.opset < 11 else a.number(2) or 0
        if mode != "constant" or constant != 0:
            refuse(a.origin, "pads by %r with %r" % (mode, constant), "zeros")
        rank = len(value.source) + 1
        if len(a.inputs) > 3 and a.inputs[3] is not None:
            axes, short, flat = [int(n) % rank for n in a.inputs[3]], flat, [0] * (2 * rank)
            for at, axis in enumerate(axes):
                flat[axis], flat[rank + axis] = short[at], short[len(axes) + at]
        if len(flat) != 2 * rank or flat[0] or flat[rank]:
            refuse(a.origin, "pads the batch")
        return self.builder.pad(value, list(zip(flat[1:rank], flat[rank + 1 :])), a.origin)

    def _Resize(self, a):
        value = a.value(0)
        mode, where = a.get("mode", "nearest"), a.get("coordinate_transformation_mode", "half_pixel")
        rounding = a.get("nearest_mode", "round_prefer_floor")
        if mode != "nearest":
            refuse(a.origin, "enlarges by %r" % mode, "mode nearest")
        plain = where == "asymmetric" and rounding == "floor"
        if self.opset > 10 and not plain and not (where.endswith("half_pixel") and rounding.startswith("round")):
            refuse(a.origin, "enlarges by %s and %s" % (where, rounding), "asymmetric and floor")
        full = (self.batch, *value.source)
        at = 2 if self.opset > 10 else 1
        if len(a.inputs) > at + 1 and a.inputs[at + 1] is not None:
            times = [n / m for n, m in zip(np.ravel(a.inputs[at + 1]), full)]
        else:
            times = [float(n) for n in (np.ravel(a.inputs[at]) if len(a.inputs) > at else a.attributes["scales"])]
        if len(times) != len(full) or times[0] != 1 or times[1] != 1 or any(n < 1 or n % 1 for n in times):
            refuse(a.origin, "enlarges %s by %s" % (value.source, times[1:]), "whole factors of the image")
        return self.builder.upsample(value, [int(n) for n in times[2:]], a.name, a.origin)

    _Upsample = _Resize

    def _Identity(self, a):
        return a.value(0)

    _Cast = _Identity

    # --- quantized networks -------------------------------------------------------------------

    def _QuantizeLinear(self, a):
        return self._noted(a, a.value(0), *a.quantization(1)[:2])

    def _DequantizeLinear(self, a):
        """Of what QuantizeLinear gave, the same numbers; of an input of bytes, the numbers that they mean."""
        return a.value(0)

    def _noted(self, a, value, scale, zero):
        """A value whose bytes are known: its scale is kept; below its zero point nothing is left."""
        if scale.size != 1 or zero.size != 1:
            refuse(a.origin, "quantizes a tensor by channels", "one scale")
        low, high = _RANGES[zero.dtype.name]
        scale, point = float(scale.ravel()[0]), int(zero.ravel()[0])
        if not 1e-30 < scale < 1e30:
            raise ValueError("%s: a scale of %r" % (a.origin, scale))
        if point == low and value.node.op != "input" and not _positive(value.node):
            six = value.node.op in ("conv", "dense", "add", "transposed") and abs(scale * (high - low) - 6) < 1e-4
            value = self.builder.unary("relu6" if six else "relu", value, a.name + "_clamp", a.origin)
        if high - low != 255:
            return value
        return self.builder.bytes(value, scale, point - low - 128, a.name, a.origin)

    def _QLinearConv(self, a):
        kernel = a.weight(3)
        sx, sw = a.inputs[1], np.ravel(a.inputs[4])
        bias = a.weight(8) if len(a.inputs) > 8 else None
        if bias is not None:
            bias = bias * (np.float64(sx.ravel()[0]) * sw)
        kernel = _dequantized(kernel, sw, np.ravel(a.inputs[5]), 0)
        return self._noted(a, self._conv(a, a.value(0), kernel, bias, sw), a.inputs[6], a.inputs[7])

    def _QLinearMatMul(self, a):
        kernel = _dequantized(a.weight(3), np.ravel(a.inputs[4]), np.ravel(a.inputs[5]), 1)
        return self._noted(
            a, self.builder.dense(a.value(0), kernel.T, None, a.name, a.origin, np.ravel(a.inputs[4])), a.inputs[6],
            a.inputs[7],
        )  # fmt: skip

    def _QGemm(self, a):
        if a.get("transA", 0):
            refuse(a.origin, "transposes its samples", "transA=0")
        turned = a.get("transB", 0)
        sw = np.ravel(a.inputs[4])
        kernel = _dequantized(a.weight(3), sw, np.ravel(a.inputs[5]), 0 if turned else 1)
        kernel = (kernel if turned else kernel.T) * a.get("alpha", 1.0)
        bias = a.weight(6)
        if bias is not None:
            bias = bias.ravel() * (np.float64(a.inputs[1].ravel()[0]) * sw * a.get("alpha", 1.0))
        made = self.builder.dense(a.value(0), kernel, bias, a.name, a.origin, sw * abs(a.get("alpha", 1.0)))
        return self._noted(a, made, a.inputs[7], a.inputs[8]) if len(a.inputs) > 7 else made

    def _QLinearAdd(self, a, op="add"):
        operands = []
        for at in (0, 3):
            each = a.inputs[at]
            if isinstance(each, np.ndarray):
                each = _dequantized(each, a.inputs[at + 1], a.inputs[at + 2], 0)
            operands.append(each)
        return self._noted(a, self.builder.arithmetic(op, *operands, a.name, a.origin), a.inputs[6], a.inputs[7])

    def _QLinearMul(self, a):
        return self._QLinearAdd(a, "multiply")

    def _QLinearSoftmax(self, a):
        return self._noted(a, self._Softmax(a), a.inputs[3], a.inputs[4])

    def _QLinearGlobalAveragePool(self, a):
        if a.get("channels_last", 0):
            refuse(a.origin, "has its channels last", "channels_last=0")
        made = self.builder.global_pool("avgpool", a.value(0), True, a.name, a.origin)
        return self._noted(a, made, a.inputs[3], a.inputs[4])

    def _QLinearAveragePool(self, a):
        return self._noted(a, self._pool("avgpool", a), a.inputs[3], a.inputs[4])

    def _QLinearLeakyRelu(self, a):
        return self._noted(a, self._LeakyRelu(a), a.inputs[3], a.inputs[4])

    def _QLinearSigmoid(self, a):
        return self._noted(a, self._Sigmoid(a), a.inputs[3], a.inputs[4])

    def _QLinearConcat(self, a):
        values = a.inputs[2::3]
        rank = 1 + max(len(each.source) for each in values if isinstance(each, Value))
        axis = a.attributes["axis"] % rank
        if axis == 0:
            refuse(a.origin, "concatenates batches")
        return self._noted(a, self.builder.concatenate(values, axis - 1, a.name, a.origin), a.inputs[0], a.inputs[1])


class _Arguments:
    """Inputs and attributes of one node."""

    def __init__(self, reader, node, origin):
        self.reader, self.node, self.origin = reader, node, origin
        self.output = node.output[0]
        self.name = (node.name or node.output[0]).strip("/").replace("/", ".")
        self.inputs = []
        for name in node.input:
            if name not in reader.known:
                raise ValueError("%s: the tensor %r is not there" % (origin, name))
            self.inputs.append(reader.known[name])
        self.attributes = {}
        for each in node.attribute:
            value = onnx.helper.get_attribute_value(each)
            self.attributes[each.name] = value.decode("utf-8", "replace") if isinstance(value, bytes) else value

    def get(self, name, default=None):
        return self.attributes.get(name, default)

    def value(self, at):
        if at >= len(self.inputs) or not isinstance(self.inputs[at], Value):
            refuse(self.origin, "input %d is no tensor of the network" % at)
        return self.inputs[at]

    def weight(self, at):
        """A constant, or None where none is given."""
        if at >= len(self.inputs) or self.inputs[at] is None:
            return None
        name, weight = self.node.input[at], self.inputs[at]
        if not isinstance(weight, np.ndarray):
            refuse(self.origin, "input %d is computed" % at, "a constant")
        taken = self.reader.read_by.setdefault(name, self.node.output[0])
        if taken != self.node.output[0] and weight.ndim > 1:
            refuse(self.origin, "shares the weights %s with the node of %s" % (name, taken), "weights of its own")
        return weight

    def steps(self, at, axis):
        """Scales of the bytes that a weight was made of, one or one for each index of the axis; None where there are none such."""
        scale, along = self.reader.steps.get(self.node.input[at], (None, None))
        return None if scale is None or scale.size > 1 and along != axis else np.ravel(scale)

    def number(self, at):
        """A constant of one number, or None."""
        weight = self.inputs[at] if at < len(self.inputs) else None
        if weight is None:
            return None
        if not isinstance(weight, np.ndarray) or weight.size != 1:
            refuse(self.origin, "input %d is no single constant" % at, "a number")
        return float(weight.ravel()[0])

    def sizes(self, name, count, default):
        value = tuple(self.get(name) or (default,) * count)
        if len(value) != count:
            raise ValueError("%s: %s has %d sizes, expected %d" % (self.origin, name, len(value), count))
        return value

    def axes(self):
        """The attribute or, of newer opsets, the second input."""
        if len(self.inputs) > 1 and self.inputs[1] is not None:
            return [int(n) for n in np.ravel(self.inputs[1])]
        axes = self.get("axes")
        return None if axes is None else list(axes)

    def pads(self, axes):
        """(before, after) of each axis and None, or None and "upper" or "lower"."""
        auto = self.get("auto_pad", "NOTSET")
        if auto in ("SAME_UPPER", "SAME_LOWER"):
            return None, auto[5:].lower()
        if auto not in ("NOTSET", "VALID", ""):
            refuse(self.origin, "has auto_pad %r" % auto)
        flat = self.sizes("pads", 2 * axes, 0) if auto != "VALID" else (0,) * (2 * axes)
        return tuple(zip(flat[:axes], flat[axes:])), None

    def quantization(self, at):
        """Scale, zero point (0 where none is given) and axis."""
        scale = self.inputs[at]
        zero = self.inputs[at + 1] if len(self.inputs) > at + 1 else None
        if not isinstance(scale, np.ndarray) or not (zero is None or isinstance(zero, np.ndarray)):
            refuse(self.origin, "has a scale that is computed", "a constant")
        if zero is None:
            x = self.inputs[0]
            zero = np.zeros(1, x.dtype if isinstance(x, np.ndarray) and x.dtype.kind in "iu" else np.uint8)
        return scale, zero, self.get("axis", 1)


def _positive(node):
    """Whether no number that the node gives is below 0."""
    while node.op in ("maxpool", "avgpool", "adaptive", "globalavg", "upsample", "flatten", "reshape"):
        node = node.inputs[0]
    if node.op in ("concatenate", "add", "multiply"):
        return all(_positive(each) for each in node.inputs)
    return node.op in ("relu", "relu6", "sigmoid", "softmax") or "positive" in node.options


def _array(tensor, name):
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        raise Unsupported("initializer %s lies in another file; instead: onnx.save without external data" % name)
    if np.prod(list(tensor.dims) or [1], dtype=object) > 4 * MOST or any(n < 0 for n in tensor.dims):
        raise ValueError("initializer %s has the shape %s" % (name, tuple(tensor.dims)))
    return np.asarray(numpy_helper.to_array(tensor))


def _along(vector, x, axis):
    """A scale or zero point of one axis, to broadcast with x."""
    vector = np.asarray(vector, np.float64).ravel()
    if vector.size == 1:
        return vector[0]
    shape = [1] * x.ndim
    shape[axis] = vector.size
    return vector.reshape(shape)


def _dequantized(x, scale, zero, axis):
    """The numbers that bytes mean, in float64."""
    return (x.astype(np.float64) - _along(zero, x, axis)) * _along(scale, x, axis)


_SAME = ("QuantizeLinear", "DequantizeLinear", "Cast", "Identity", "Dropout")
_OF_IMAGES = {
    "Conv", "ConvTranspose", "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "BatchNormalization", "Pad",
    "InstanceNormalization", "GroupNormalization", "QLinearConv", "Resize", "Upsample", "Flatten", "Reshape",
}  # fmt: skip
_FOLDED = {
    "Constant", "ConstantOfShape", "Identity", "Cast", "Gather", "Concat", "Unsqueeze", "Squeeze", "Slice", "Transpose", "Reshape",
    "Add", "Sub", "Mul", "Div", "Mod", "Shape", "QuantizeLinear", "DequantizeLinear",
}  # fmt: skip
OPERATORS = {name[1:] for name in vars(_Reader) if name[:1] == "_" and name[1:2].isupper()}
_INSTEAD = {
    "Gelu": "Relu, or Sigmoid and Mul",
    "Elu": "Relu or LeakyRelu",
    "PRelu": "LeakyRelu",
    "LogSoftmax": "no softmax: odt's cross-entropy contains it",
    "LSTM": "Conv over the sequence: odt has no recurrence",
    "GRU": "Conv over the sequence: odt has no recurrence",
    "Slice": "whole tensors",
    "Split": "two convolutions of the whole tensor",
    "Gather": "whole tensors",
    "ReduceMax": "GlobalMaxPool",
    "ConvInteger": "QLinearConv, or QDQ",
    "MatMulInteger": "QLinearMatMul, or QDQ",
    "DynamicQuantizeLinear": "static quantization (QDQ)",
}
