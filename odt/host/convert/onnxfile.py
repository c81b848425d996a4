"""Reads ONNX: float networks, and quantized ones (QDQ and QLinear operators) with their weights as floats and their
scales beside.

Of a file what is in it is read, and weights in a file beside it, in the same folder: no functions, no code. What each
operator's attributes do is in onnxtable.py.
"""

import stat
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from .sequences import products, recurrence, tokens
from .builder import SELU, Builder, Value
from .graph import BUDGET, MOST, Unsupported, parsing, refuse
from .onnxfold import FOLDED, fold, size
from .onnxtable import ATTRIBUTES, NEWEST, OLDEST, attributes, key_of

READS = ".onnx", "onnx"

_LARGEST = 1 << 28  # bytes of a file
_BATCH = 3  # of a network that leaves it open
_RANGES = {"uint8": (0, 255), "int8": (-128, 127), "uint16": (0, 65535), "int16": (-32768, 32767)}
_TYPES = onnx.TensorProto


def read(source, shape=None):
    """The Graph of a file, by its name or bytes, or of an onnx.ModelProto. ValueError for a damaged one."""
    name, folder = source if isinstance(source, (str, Path)) else "the model", None
    if isinstance(source, (str, Path)):
        folder = Path(source).parent
        length = Path(source).stat().st_size
        if length > _LARGEST:
            raise ValueError("%s: %d bytes, a file of at most %d is read" % (name, length, _LARGEST))
        source = Path(source).read_bytes()
    if isinstance(source, bytes):
        with parsing(name, "damaged, or no ONNX file"):
            source = onnx.ModelProto.FromString(source)
    if not source.graph.node:
        raise ValueError("%s is damaged, or no ONNX file: it has no nodes" % name)
    opsets = {"" if each.domain == "ai.onnx" else each.domain: each.version for each in source.opset_import}
    version = opsets.setdefault("", 1)
    if not OLDEST <= version <= NEWEST:
        place = (name, version, OLDEST, NEWEST)
        raise Unsupported("%s: opset %d; instead: one of %d to %d (onnx.version_converter, or a newer onnx)" % place)
    if not all(isinstance(each, str) for each in _names(source.graph)):
        raise ValueError("%s is damaged: a name in it is no text" % name)
    reader = _Reader(source.graph, opsets, shape, folder)
    try:
        return reader.graph()
    except Unsupported as error:  # the axis of the channels was a guess
        try:
            return reader.graph(other=True)
        except ValueError:
            raise error from None


def _names(graph):
    """Each name in a graph: of what is no UTF-8 protobuf gives bytes."""
    for each in (*graph.input, *graph.output, *graph.initializer):
        yield each.name
    for node in graph.node:
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        yield from (each.name for each in node.attribute)
    for tensor in graph.initializer:
        yield from (each for pair in tensor.external_data for each in (pair.key, pair.value))


class _Reader:
    """``known`` has, by name, a Value or a constant as a NumPy array; ``bytes``, of a Value that is bytes there, what
    they mean.
    """

    def __init__(self, proto, opsets, shape, folder):
        self.proto, self.opsets, self.opset, self.shape, self.folder = proto, opsets, opsets[""], shape, folder
        if proto.sparse_initializer:
            raise Unsupported(
                "initializer %s is sparse; instead: a dense one" % proto.sparse_initializer[0].values.name
            )
        self.constants = {tensor.name: _array(tensor, tensor.name, folder) for tensor in proto.initializer}

    def graph(self, other=False):
        self.known = {"": None, **self.constants}
        self.read_by, self.budget = {}, BUDGET
        self.steps = {}  # of what DequantizeLinear made of constants: (scales, their axis)
        self.bytes = {}
        inputs = [each for each in self.proto.input if each.name not in self.known]
        output = self._output()
        self.nodes = self._needed(output)
        self.projections = products.projections([node for _, node in self.nodes], [each.name for each in inputs])
        self.with_bias = set()  # outputs of Add whose constant the layer before has taken
        if len(inputs) != 1:
            raise Unsupported(
                "the network takes %d inputs: %s; instead: one" % (len(inputs), ", ".join(i.name for i in inputs))
            )
        self._input(inputs[0], other)
        for origin, node in self.nodes:
            self._call(node, origin)
        if output not in self.known:
            raise ValueError("the output %s is computed by no node" % output)
        value = self.known[output]
        if isinstance(value, recurrence.Apart):
            raise Unsupported("the output %s has its batch not as the first axis; instead: a Transpose" % output)
        if not isinstance(value, Value):
            raise Unsupported("the output does not depend on the input")
        return self.builder.finish(self.builder.padded(value, "the output"))

    def _output(self):
        """The name of the one output; where a classifier gives a label, too, that of the scores."""
        outputs = list(self.proto.output)
        if len(outputs) > 1:
            scores = [
                each for each in outputs
                if each.type.WhichOneof("value") == "sequence_type" or each.type.tensor_type.elem_type in _FLOATS
            ]  # fmt: skip
            outputs = scores if len(scores) == 1 else outputs
        if len(outputs) != 1:
            names = ", ".join(each.name for each in outputs)
            raise Unsupported("the network gives %d outputs: %s; instead: one tensor" % (len(outputs), names))
        return outputs[0].name

    def _needed(self, output):
        """(what messages call it, a node) of all that the output depends on; Unsupported where odt has no such
        operator.
        """
        names, found = {output}, []
        for number, node in reversed(list(enumerate(self.proto.node))):
            if names & set(node.output) - {""}:
                names |= set(node.input)
                found.append(("node %s (%s)" % (node.name or number, node.op_type), node))
        for origin, node in found[::-1]:
            if key_of(node) not in ATTRIBUTES and key_of(node) not in FOLDED:
                known = node.domain in ("", "ai.onnx", "ai.onnx.ml", "com.microsoft")
                what = "odt has no such operator" if known else "is an operator of %s" % node.domain
                refuse(origin, what, _INSTEAD.get(node.op_type))
        return found[::-1]

    def _input(self, proto, other):
        tensor = proto.type.tensor_type
        sizes = [each.dim_value if each.WhichOneof("value") == "dim_value" else None for each in tensor.shape.dim]
        origin = "input %s" % proto.name
        self.tokens = tokens.is_only_gathered([node for _, node in self.nodes], proto.name)
        if tensor.elem_type not in (*_FLOATS, _TYPES.UINT8, _TYPES.INT8, *(_TOKENS if self.tokens else ())):
            names = {number: name for name, number in _TYPES.DataType.items()}
            refuse(origin, "is of %s" % names.get(tensor.elem_type, "?"), "FLOAT")
        if len(sizes) < 2:
            refuse(origin, "has the shape %s" % (sizes,), "one of (batch, ..)")
        if any(n is not None and not 0 <= n <= MOST for n in sizes):
            raise ValueError("%s: has the shape %s" % (origin, sizes))
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
        last = "Transpose" in readers or len(shape) == 2 and not readers & _OF_IMAGES
        self.builder = Builder(0)
        self.known[proto.name] = self.builder.input(proto.name, shape, -1 if last != other else 0)
        self.unsigned = tensor.elem_type == _TYPES.UINT8
        if tensor.elem_type not in _FLOATS and not self.tokens:
            self.bytes[proto.name] = [None]

    def _readers(self, name):
        """The operators that read a tensor, through those that change nothing."""
        names, found = {name}, set()
        for _, node in self.nodes:
            if names & set(node.input):
                if node.op_type in _SAME:
                    names |= set(node.output)
                else:
                    found.add(node.op_type)
        return found

    def _call(self, node, origin):
        a = _Arguments(self, node, origin)
        made = products.read(self, a)
        if made is not None:
            pass
        elif any(isinstance(each, recurrence.Apart) for each in a.inputs):
            made = recurrence.read(self, a)
        elif not any(isinstance(each, Value) for each in a.inputs):
            made = self._folded(a)
        else:
            call = CALLS.get(node.op_type) or getattr(_Reader, "_" + node.op_type, None)
            if call is None or key_of(node) not in ATTRIBUTES:
                refuse(origin, "odt has no such operator", _INSTEAD.get(node.op_type))
            of = [self.bytes[name] for name in node.input if name in self.bytes]
            if of and node.op_type in _MOVES and all(each == of[0] for each in of):
                self.bytes.update((name, of[0]) for name in node.output)
            elif (
                of and "uantize" not in node.op_type and node.op_type[:1] != "Q" and node.op_type not in ("Cast", "Pad")
            ):
                refuse(origin, "computes with bytes", "DequantizeLinear before it and QuantizeLinear after it")
            made = call(self, a)
        made = made if isinstance(made, list) else [made]
        self.known.update(zip(node.output, made))
        self.known[""] = None
        for name in node.output[len(made) :]:
            if name and any(name in other.input for _, other in self.nodes):
                refuse(origin, "has %d outputs that are read" % len(node.output), "one")

    # --- constants ----------------------------------------------------------------------------

    def _folded(self, a):
        """What operators on shapes and weights give."""
        op, x = a.node.op_type, a.inputs[0] if a.inputs else None
        if op in ("QuantizeLinear", "DequantizeLinear"):
            scale, zero, axis = a.quantization(1)
            if op == "DequantizeLinear":
                self.steps[a.output] = scale, axis
                return _dequantized(x, scale, zero, axis, a.origin)
            low, high = a.range(zero)
            with np.errstate(all="ignore"):
                made = np.rint(x / _along(scale, x, axis, a.origin)) + _along(zero, x, axis, a.origin)
            return np.clip(np.nan_to_num(made), low, high).astype(zero.dtype)
        if op not in FOLDED:
            refuse(a.origin, "computes with constants alone", "a network whose constants are folded")
        if a.node.domain not in ("", "ai.onnx"):
            refuse(a.origin, "computes with constants alone", "ONNX's own operator")
        count = size(op, a.inputs, a.attributes, a.origin)
        self.budget -= count
        if count > MOST or self.budget < 0:
            refuse(a.origin, "makes %d numbers of constants, above %d or %d in all" % (count, MOST, BUDGET))
        if op == "Constant" and "value" in a.attributes:
            return _array(a.attributes["value"], a.origin, self.folder)
        made = fold(a.node, a.inputs, self.opset, a.origin)
        if a.node.input and a.node.input[0] in self.steps and op in ("Identity", "Transpose"):
            scale, axis = self.steps[a.node.input[0]]
            order = a.get("perm") or list(range(x.ndim))[::-1]
            self.steps[a.output] = scale, axis if op == "Identity" else list(order).index(axis)
        return made

    # --- operators ----------------------------------------------------------------------------

    def _Shape(self, a):
        source = (self.batch, *self.builder.padded_source(a.value(0)))
        return np.array(source[a.get("start", 0) : a.get("end", len(source))], np.int64)

    def _conv(self, a, value, kernel, bias, steps):
        axes = a.kernel_axes(kernel)
        pads, same = a.pads(axes)
        kernel = np.moveaxis(kernel, 1, -1)
        return self.builder.conv(
            value, kernel, bias, a.sizes("strides", axes, 1), pads, a.get("group", 1), a.name, a.origin,
            a.sizes("dilations", axes, 1), same, steps,
        )  # fmt: skip

    def _ConvTranspose(self, a):
        kernel, value = a.weight(1), a.value(0)
        axes = a.kernel_axes(kernel)
        strides, extra = a.sizes("strides", axes, 1), a.sizes("output_padding", axes, 0)
        dilation = a.sizes("dilations", axes, 1)
        pads, same = a.pads(axes)
        wanted = a.get("output_shape")
        if len(value.source) != axes + 1:
            refuse(a.origin, "takes samples of %d axes, got %s" % (axes + 1, value.source))
        if same or wanted is not None:
            wanted = wanted or [n * stride for n, stride in zip(value.source[1:], strides)]
            if len(wanted) not in (axes, axes + 2):
                raise ValueError("%s: output_shape has %d sizes, expected %d" % (a.origin, len(wanted), axes))
            sides, more = [], []
            whole = zip(value.source[1:], kernel.shape[2:], strides, extra, dilation, wanted[-axes:])
            for n, width, stride, added, apart, out in whole:
                total = (n - 1) * stride + added + (width - 1) * apart + 1 - out
                if total < 0 and a.get("output_shape") is None:  # here onnxruntime is not what ONNX says
                    refuse(
                        a.origin,
                        "has auto_pad with strides %s above the kernel's %s" % (strides, kernel.shape[2:]),
                        "output_shape",
                    )
                cut = max(total, 0)
                sides.append((cut // 2, cut - cut // 2) if same == "upper" else (cut - cut // 2, cut // 2))
                more.append(added + max(-total, 0))
            pads, extra = tuple(sides), tuple(more)
        groups = a.get("group", 1)
        kernel = np.moveaxis(np.swapaxes(kernel, 0, 1), 1, -1) if groups == 1 else kernel
        return self.builder.transposed(
            value, kernel, a.weight(2), strides, pads, extra, groups, a.name, a.origin, dilation, a.steps(1, 1)
        )

    def _Gemm(self, a):
        value, kernel = a.value(0), a.matrix(1, a.get("transB", 0))
        bias, beta, alpha = a.weight(2), a.get("beta", 1.0), a.get("alpha", 1.0)
        if len(value.source) != 1:
            raise ValueError("%s: takes samples of one axis, got %s" % (a.origin, value.source))
        if bias is not None:
            if bias.ndim > 2 or bias.ndim == 2 and len(bias) != 1 or bias.size not in (1, len(kernel)):
                refuse(a.origin, "adds a constant of shape %s" % (bias.shape,), "one number per output")
            bias = np.broadcast_to(bias.ravel(), kernel.shape[:1]) * beta
        steps = a.steps(1, 0 if a.get("transB", 0) else 1)
        steps = None if steps is None else steps * abs(alpha)
        return self.builder.dense(value, kernel * alpha, bias, a.name, a.origin, steps)

    def _BatchNormalization(self, a):
        weights = dict(zip(("gamma", "beta", "mean", "variance"), (a.weight(i) for i in (1, 2, 3, 4))))
        momentum = min(max(a.get("momentum", 0.9), 0.0001), 0.9999)
        return self.builder.norm("batch", a.value(0), weights, a.name, a.origin, epsilon=a.epsilon(), momentum=momentum)

    def _LayerNormalization(self, a):
        value = a.value(0)
        if a.axis(a.get("axis", -1)) != len(value.source):
            refuse(a.origin, "normalises several axes", "the last axis")
        gamma, beta = a.weight(1), a.weight(2)
        weights = {"gamma": gamma, "beta": np.zeros_like(gamma) if beta is None else beta}
        return self.builder.norm("layer", value, weights, a.name, a.origin, epsilon=a.epsilon())

    def _InstanceNormalization(self, a):
        value, gamma, beta = a.value(0), a.weight(1), a.weight(2)
        options = {"epsilon": a.epsilon(), "groups": gamma.size}
        channels = value.shape[-1]
        if len(value.source) == 2 and len(value.shape) > 1 and np.all(gamma == gamma[:1]) and np.all(beta == beta[:1]):
            if value.source[0] != gamma.size or beta.size != gamma.size or channels % gamma.size:
                raise ValueError("%s: %d factors for samples of shape %s" % (a.origin, gamma.size, value.source))
            # A GroupNorm as PyTorch writes it: images as rows of groups.
            weights = {"gamma": np.full(channels, gamma.ravel()[0]), "beta": np.full(channels, beta.ravel()[0])}
            images = self.builder.reshape(value, (channels, *value.shape[:-1]), a.origin)
            made = self.builder.norm("group", images, weights, a.name, a.origin, **options)
            return self.builder.reshape(made, value.source, a.origin)
        return self.builder.norm("group", value, {"gamma": gamma, "beta": beta}, a.name, a.origin, **options)

    def _GroupNormalization(self, a):
        if self.opset < 21:
            refuse(a.origin, "has a factor per group (opset %d)" % self.opset, "opset 21, or InstanceNormalization")
        value, groups = a.value(0), a.get("num_groups")
        if groups < 1 or value.source[0] % groups:
            raise ValueError("%s: %d groups of %d channels" % (a.origin, groups, value.source[0]))
        weights = {"gamma": a.weight(1), "beta": a.weight(2)}
        return self.builder.norm("group", value, weights, a.name, a.origin, epsilon=a.epsilon(), groups=groups)

    def _pool(self, op, a, value):
        size = tuple(a.get("kernel_shape"))
        pads, same = a.pads(len(size))
        strides = a.sizes("strides", len(size), 1)
        ceil, counts = bool(a.get("ceil_mode", 0)), bool(a.get("count_include_pad", 0))
        dilation = a.sizes("dilations", len(size), 1)
        return self.builder.pool(op, value, size, strides, pads, ceil, a.name, a.origin, dilation, counts, same)

    def _reduced(self, op, a):
        value, axes = a.value(0), a.axes()
        if not axes and a.get("noop_with_empty_axes", 0):
            return value
        rank = len(value.source) + 1
        axes = [a.axis(axis) for axis in axes] if axes else list(range(rank))
        if 0 in axes:
            refuse(a.origin, "goes over the axis of the batch", "axes=%s" % list(range(1, rank)))
        axes = [axis - 1 for axis in axes]
        return self.builder.reduce(op, value, axes, bool(a.get("keepdims", 1)), a.name, a.origin)

    def _ReduceSum(self, a):
        made = self._reduced("avgpool", a)
        count = a.value(0).index.size // made.index.size
        return self.builder.affine(made, count, 0, a.name + "_count", a.origin) if count > 1 else made

    def _Clip(self, a):
        low = a.get("min") if self.opset < 11 else a.number(1)
        high = a.get("max") if self.opset < 11 else a.number(2)
        return self._limited(a, a.value(0), low, high)

    def _limited(self, a, value, low, high):
        low = None if low is None or low < -3e38 else low
        high = None if high is None or high > 3e38 else high
        return self.builder.limited(value, low, high, a.name, a.origin)

    def _extreme(self, a, larger):
        """The larger or the smaller of one tensor and single numbers."""
        values = [each for each in a.inputs if isinstance(each, Value)]
        numbers = [a.number(at) for at, each in enumerate(a.inputs) if not isinstance(each, Value)]
        if len(values) != 1:
            refuse(a.origin, "compares %d tensors of the network" % len(values), "one, with a number")
        if not numbers:
            return values[0]
        return self._limited(a, values[0], *((max(numbers), None) if larger else (None, min(numbers))))

    def _Swish(self, a):
        value, alpha = a.value(0), a.get("alpha", 1.0)
        gate = value if alpha == 1 else self.builder.affine(value, alpha, 0, a.name + "_alpha", a.origin)
        gate = self.builder.unary("sigmoid", gate, a.name + "_gate", a.origin)
        return self.builder.join("multiply", [value, gate], a.name, a.origin)

    def _softmax(self, a, value, opset):
        axis = a.axis(a.get("axis", 1 if opset < 13 else -1))
        if axis == 0 or opset < 13 and any(n != 1 for n in value.source[axis:]):
            refuse(
                a.origin, "takes the softmax over axes from %d of %d" % (axis, len(value.source) + 1), "the last axis"
            )
        return self.builder.softmax(value, axis - 1, a.name, a.origin)

    def _Dropout(self, a):
        rate = a.get("ratio", 0.5) if self.opset < 12 else a.number(1)
        if a.number(2):
            refuse(a.origin, "has training_mode=True", "an export in eval mode")
        return self.builder.unary("dropout", a.value(0), a.name, a.origin, rate=0.5 if rate is None else rate)

    def _Sum(self, a):
        made = a.inputs[0]
        for each in a.inputs[1:]:
            if isinstance(made, np.ndarray) and isinstance(each, np.ndarray):
                refuse(a.origin, "adds two constants", "one")
            made = self.builder.arithmetic("add", made, each, a.name, a.origin)
        return made

    def _concatenated(self, a, values):
        rank = 1 + max(len(each.source) for each in values if isinstance(each, Value))
        axis = a.axis(a.get("axis"), rank)
        if axis == 0:
            refuse(a.origin, "concatenates batches")
        return self.builder.concatenate(values, axis - 1, a.name, a.origin)

    def _Flatten(self, a):
        value, axis = a.value(0), a.get("axis", 1)
        if axis % (len(value.source) + 1) != 1:
            refuse(a.origin, "flattens from axis %d" % axis, "axis 1")
        return self.builder.reshape(value, (value.index.size,), a.origin)

    def _Reshape(self, a):
        value, wanted = a.value(0), a.ints(1)
        full = (self.batch, *self.builder.padded_source(value))
        if not a.get("allowzero", 0):
            if any(n == 0 for n in wanted[len(full) :]):
                raise ValueError("%s: takes axis %d of a tensor of %s" % (a.origin, len(wanted) - 1, full))
            wanted = [full[at] if n == 0 else n for at, n in enumerate(wanted)]
        count = int(np.prod(full, dtype=object))
        if wanted.count(-1) == 1:
            others = -int(np.prod(wanted, dtype=object))
            wanted[wanted.index(-1)] = count // others if others else 0
        if not wanted or wanted[0] != self.batch:
            refuse(a.origin, "gives %s of a batch of %d" % (tuple(wanted), self.batch), "one result per sample")
        return self.builder.reshape(value, wanted[1:], a.origin)

    def _Squeeze(self, a):
        value, axes = a.value(0), a.axes()
        full = (self.batch, *self.builder.padded_source(value))
        axes = [i for i, n in enumerate(full) if i and n == 1] if axes is None else [a.axis(axis) for axis in axes]
        if any(at and full[at] != 1 for at in axes):
            raise ValueError("%s: axes %s of %s are not 1" % (a.origin, axes, full))
        return self._without_batch(a, [n for at, n in enumerate(full) if at not in axes], 0 in axes)

    def _Unsqueeze(self, a):
        value, axes = a.value(0), a.axes() or []
        rank = len(value.source) + 1 + len(axes)
        axes = {a.axis(axis, rank) for axis in axes}
        left = [self.batch, *self.builder.padded_source(value)]
        if len(axes) + len(left) != rank:
            raise ValueError("%s: names an axis twice" % a.origin)
        return self._without_batch(a, [1 if at in axes else left.pop(0) for at in range(rank)], 0 in axes)

    def _without_batch(self, a, shape, moved):
        if moved:
            refuse(a.origin, "changes the axis of the batch", "one result per sample")
        return self.builder.reshape(a.value(0), shape[1:], a.origin)

    def _Transpose(self, a):
        value = a.value(0)
        order = a.get("perm") or list(range(len(value.source), -1, -1))
        return recurrence.moved(self.builder, value, order, a.origin)

    def _recurrent(self, a):
        return recurrence.recurrent(self, a)

    _GRU = _LSTM = _RNN = _recurrent

    def _Pad(self, a):
        value, mode = a.value(0), a.get("mode", "constant")
        flat = list(a.get("pads")) if self.opset < 11 else a.ints(1)
        constant = a.get("value", 0) if self.opset < 11 else a.number(2) or 0
        of = self.bytes.get(a.node.input[0])
        if of:
            self.bytes[a.output] = of
            constant -= of[0][1] if of[0] else 0
        if mode != "constant" or constant != 0:
            refuse(a.origin, "pads by %r with %r" % (mode, constant), "zeros")
        rank = len(value.source) + 1
        axes = list(range(rank)) if self.opset < 18 else a.ints(3)
        axes = list(range(rank)) if axes is None else [a.axis(n) for n in axes]
        if len(flat) != 2 * len(axes):
            raise ValueError("%s: %d pads for %d axes" % (a.origin, len(flat), len(axes)))
        pads = [(0, 0)] * rank
        for at, axis in enumerate(axes):
            pads[axis] = flat[at], flat[len(axes) + at]
        if any(pads[0]):
            refuse(a.origin, "pads the batch")
        return self.builder.pad(value, pads[1:], a.origin)

    def _Slice(self, a):
        value, ranks = a.value(0), len(a.value(0).source) + 1
        old = self.opset < 10
        starts, ends = (list(a.get("starts")), list(a.get("ends"))) if old else (a.ints(1), a.ints(2))
        axes, steps = (a.get("axes"), None) if old else (a.ints(3), a.ints(4))
        axes = list(range(len(starts))) if axes is None else axes
        steps = [1] * len(starts) if steps is None else steps
        if not len(starts) == len(ends) == len(axes) == len(steps):
            raise ValueError("%s: %d starts, %d ends, %d axes" % (a.origin, len(starts), len(ends), len(axes)))
        for axis, *cut in zip(axes, starts, ends, steps):
            value = self.builder.cut(value, self.batch, a.axis(axis, ranks), slice(*cut), a.name, a.origin)
        return value

    def _Split(self, a):
        value = a.value(0)
        axis = a.axis(a.get("axis", 0))
        sizes = a.get("split") if self.opset < 13 else a.ints(1)
        extent, count = (self.batch, *value.source)[axis], len(a.node.output)
        if axis == 0:
            refuse(a.origin, "splits the batch", "one result per sample")
        if sizes is None:
            if a.get("num_outputs", count) != count or self.opset < 18 and extent % count:
                raise ValueError(
                    "%s: %d parts of %d positions in %d outputs"
                    % (a.origin, a.get("num_outputs", count), extent, count)
                )
            part = -(-extent // count)
            sizes = [min(part, extent - part * at) for at in range(count)]
        if len(sizes) != count or sum(sizes) != extent or min(sizes) < 1:
            raise ValueError(
                "%s: parts of %s do not make %d positions in %d outputs" % (a.origin, sizes, extent, count)
            )
        ends = np.cumsum(sizes).tolist()
        return [
            self.builder.cut(value, self.batch, axis, slice(end - n, end), a.name, a.origin) if name else None
            for name, end, n in zip(a.node.output, ends, sizes)
        ]

    def _Gather(self, a):
        if isinstance(a.inputs[0], np.ndarray):
            return tokens.gather(self, a)
        value, axis = a.value(0), a.axis(a.get("axis", 0))
        chosen = a.weight(1)
        extent = (self.batch, *value.source)[axis]
        if chosen.dtype.kind not in "iu" or chosen.ndim > 1 or np.any((chosen < -extent) | (chosen >= extent)):
            raise ValueError("%s: takes positions of shape %s of %d" % (a.origin, chosen.shape, extent))
        at = [int(n) % extent for n in np.ravel(chosen)]
        step = at[1] - at[0] if len(at) > 1 else 1
        if not at or step < 1 or at != list(range(at[0], at[0] + step * len(at), step)):
            refuse(a.origin, "takes the positions %s" % at[:8], "positions in equal steps, forwards")
        made = self.builder.cut(value, self.batch, axis, slice(at[0], at[-1] + 1, step), a.name, a.origin)
        if chosen.ndim:
            return made
        return self._without_batch_of(a, made, axis)

    def _without_batch_of(self, a, value, axis):
        if axis == 0:
            refuse(a.origin, "changes the axis of the batch", "one result per sample")
        return self.builder.reshape(value, value.source[: axis - 1] + value.source[axis:], a.origin)

    def _Resize(self, a):
        value, full = a.value(0), (self.batch, *a.value(0).source)
        times = self._times(a, full)
        if len(times) != len(full) or times[0] != 1 or times[1] != 1 or any(n < 1 or n % 1 for n in times):
            refuse(a.origin, "enlarges %s by %s" % (value.source, times[1:]), "whole factors of the image")
        times = [int(n) for n in times[2:]]
        mode, where = a.get("mode", "nearest"), a.get("coordinate_transformation_mode", "half_pixel")
        if self.opset < 11:
            where = "asymmetric"
        if mode == "linear" and where in _HALF_PIXEL:
            return self.builder.bilinear(value, times, a.name, a.origin)
        rounding = a.get("nearest_mode", "round_prefer_floor") if self.opset > 10 else "floor"
        if mode != "nearest" or not _repeats(where, rounding, full[2:], times):
            refuse(
                a.origin, "enlarges by %s, %s and %s" % (mode, where, rounding),
                "mode nearest, which repeats each position, or linear with half_pixel",
            )  # fmt: skip
        return self.builder.upsample(value, times, a.name, a.origin)

    _Upsample = _Resize

    def _times(self, a, full):
        """How many times larger each axis becomes."""
        at = 2 if self.opset > 10 else 1
        axes = [a.axis(axis) for axis in a.get("axes", range(len(full)))]
        sizes = a.ints(at + 1)
        if sizes is None:
            scales = a.get("scales") if self.opset < 9 else a.weight(at)
            sizes = None if scales is None else np.ravel(scales).tolist()
        else:
            sizes = [n / full[axis] for n, axis in zip(sizes, axes)] if len(sizes) == len(axes) else []
        if sizes is None or len(sizes) != len(axes) or not all(n == n for n in sizes):
            raise ValueError("%s: the sizes or scales of %d axes are expected" % (a.origin, len(axes)))
        times = [1] * len(full)
        for axis, n in zip(axes, sizes):
            times[axis] = n
        return times

    def _Cast(self, a):
        to = a.get("to")
        if self.tokens and a.value(0).node.op == "input":
            return a.value(0)
        if to not in (_TYPES.FLOAT, _TYPES.DOUBLE) and not (to == _TYPES.FLOAT16 and self._is_half()):
            names = {number: name for name, number in _TYPES.DataType.items()}
            refuse(a.origin, "rounds the network's numbers to %s" % names.get(to, to), "float32 throughout")
        of = self.bytes.get(a.node.input[0])
        if of and of[0]:
            refuse(a.origin, "computes with bytes", "DequantizeLinear")
        return a.value(0)

    def _is_half(self):
        """Whether the file computes in half precision throughout, so that its weights have 16 bits at most."""
        return any(each.dtype == np.float16 for each in self.constants.values())

    # --- quantized networks -------------------------------------------------------------------

    def _noted(self, a, value, scale, zero):
        """A value whose bytes are known: its scale is kept; below its zero point nothing is left."""
        if scale is None:
            raise ValueError("%s: has no scale" % a.origin)
        zero = np.zeros(1, np.uint8) if zero is None else zero
        if scale.size != 1 or zero.size != 1:
            refuse(a.origin, "quantizes a tensor by channels", "one scale")
        low, high = a.range(zero)
        steps = scale, point = float(scale.ravel()[0]), int(zero.ravel()[0])
        if not 1e-30 < scale < 1e30:
            raise ValueError("%s: a scale of %r" % (a.origin, scale))
        self.bytes[a.output] = [steps]
        if point == low and value.node.op != "input" and not _positive(value.node):
            six = value.node.op in ("conv", "dense", "add", "transposed") and abs(scale * (high - low) - 6) < 1e-4
            value = self.builder.unary("relu6" if six else "relu", value, a.name + "_clamp", a.origin)
        if high - low != 255:
            return value
        return self.builder.bytes(value, scale, point - low - 128, a.name, a.origin)

    def _QLinearConv(self, a):
        kernel, sx, sw = a.weight(3), a.constant(1), np.ravel(a.constant(4))
        bias = a.weight(8)
        if bias is not None:
            bias = bias * (np.float64(sx.ravel()[0]) * sw)
        kernel = _dequantized(kernel, sw, a.constant(5), 0, a.origin)
        return self._noted(a, self._conv(a, a.meant(0), kernel, bias, sw), a.constant(6), a.constant(7))

    def _QLinearMatMul(self, a):
        sw = np.ravel(a.constant(4))
        kernel = _dequantized(a.matrix(3).T, sw, a.constant(5), 1, a.origin)
        made = self.builder.dense(a.meant(0), kernel.T, None, a.name, a.origin, sw)
        return self._noted(a, made, a.constant(6), a.constant(7))

    def _QGemm(self, a):
        sw, alpha = np.ravel(a.constant(4)), a.get("alpha", 1.0)
        kernel = _dequantized(a.matrix(3, a.get("transB", 0)), sw, a.constant(5), 0, a.origin) * alpha
        bias, value = a.weight(6), a.meant(0)
        if len(value.source) != 1:
            raise ValueError("%s: takes samples of one axis, got %s" % (a.origin, value.source))
        if bias is not None:
            bias = bias.ravel() * (np.float64(a.constant(1).ravel()[0]) * sw * alpha)
        made = self.builder.dense(value, kernel, bias, a.name, a.origin, sw * abs(alpha))
        scale = a.constant(7)
        return made if scale is None else self._noted(a, made, scale, a.constant(8))

    def _QLinearAdd(self, a, op="add"):
        operands = []
        for at in (0, 3):
            if isinstance(a.inputs[at], np.ndarray):
                operands.append(_dequantized(a.inputs[at], a.constant(at + 1), a.constant(at + 2), 0, a.origin))
            else:
                operands.append(a.meant(at))
        return self._noted(a, self.builder.arithmetic(op, *operands, a.name, a.origin), a.constant(6), a.constant(7))

    def _QLinearGlobalAveragePool(self, a):
        made = self.builder.global_pool("avgpool", a.meant(0), True, a.name, a.origin)
        return self._noted(a, made, a.constant(3), a.constant(4))

    def _QLinearLeakyRelu(self, a):
        made = self.builder.leaky_relu(a.meant(0), a.get("alpha", 0.01), a.name, a.origin)
        return self._noted(a, made, a.constant(3), a.constant(4))

    def _QLinearSigmoid(self, a):
        made = self.builder.unary("sigmoid", a.meant(0), a.name, a.origin)
        return self._noted(a, made, a.constant(3), a.constant(4))

    def _QLinearConcat(self, a):
        if len(a.inputs) % 3 != 2:
            raise ValueError("%s: has %d inputs" % (a.origin, len(a.inputs)))
        values = [a.meant(at) for at in range(2, len(a.inputs), 3)]
        return self._noted(a, self._concatenated(a, values), a.constant(0), a.constant(1))

    # --- ONNX-ML ------------------------------------------------------------------------------

    def _Scaler(self, a):
        value = a.value(0)
        offset, scale = (a.floats(name, value.source[-1], usual) for name, usual in (("offset", 0), ("scale", 1)))
        return self.builder.affine(value, scale, -offset * scale, a.name, a.origin)

    def _linear(self, a, count):
        value = a.value(0)
        if len(value.source) != 1:
            raise ValueError("%s: takes samples of one axis, got %s" % (a.origin, value.source))
        kernel = a.floats("coefficients", count * value.source[0]).reshape(count, value.source[0])
        return self.builder.dense(value, kernel, a.floats("intercepts", count, 0), a.name, a.origin)

    def _LinearClassifier(self, a):
        """Its second output, the scores."""
        count = len(a.get("intercepts", ())) or len(a.get("coefficients")) // max(a.value(0).index.size, 1)
        after = a.get("post_transform", "NONE")
        if count < 2 or after not in ("NONE", "SOFTMAX", "LOGISTIC"):
            refuse(a.origin, "has %d rows and post_transform %s" % (count, after), "a row per class, and SOFTMAX")
        made = self._linear(a, count)
        if after == "SOFTMAX":
            made = self.builder.softmax(made, -1, a.name + "_softmax", a.origin)
        elif after == "LOGISTIC":
            made = self.builder.unary("sigmoid", made, a.name + "_sigmoid", a.origin)
        return [None, made]

    def _Normalizer(self, a):
        """Of what sums to 1 already."""
        node = a.value(0).node
        rows = node.inputs[0].weights.get("kernel") if node.op == "sigmoid" else None
        pair = rows is not None and len(rows) == 2 and np.array_equal(rows[0], -rows[1])
        bias = node.inputs[0].weights.get("bias") if pair else None
        pair = pair and (bias is None or bias[0] == -bias[1])
        if a.get("norm", "MAX") != "L1" or node.op != "softmax" and not pair:
            refuse(a.origin, "divides each sample by its own norm", "a softmax, whose norm is 1")
        return a.value(0)


# Operators that are one call: of the reader r and the arguments a.
CALLS = {
    "Size": lambda r, a: np.array(r.batch * np.prod(r.builder.padded_source(a.value(0)), dtype=object), np.int64),
    "Conv": lambda r, a: r._conv(a, a.value(0), a.weight(1), a.weight(2), a.steps(1, 0)),
    "MatMul": lambda r, a: r.builder.dense(a.value(0), a.matrix(1), None, a.name, a.origin, a.steps(1, 1)),
    "MaxPool": lambda r, a: r._pool("maxpool", a, a.value(0)),
    "AveragePool": lambda r, a: r._pool("avgpool", a, a.value(0)),
    "GlobalAveragePool": lambda r, a: r.builder.global_pool("avgpool", a.value(0), True, a.name, a.origin),
    "GlobalMaxPool": lambda r, a: r.builder.global_pool("maxpool", a.value(0), True, a.name, a.origin),
    "ReduceMean": lambda r, a: r._reduced("avgpool", a),
    "ReduceMax": lambda r, a: r._reduced("maxpool", a),
    "Relu": lambda r, a: r.builder.unary("relu", a.value(0), a.name, a.origin),
    "Max": lambda r, a: r._extreme(a, True),
    "Min": lambda r, a: r._extreme(a, False),
    "LeakyRelu": lambda r, a: r.builder.leaky_relu(a.value(0), a.get("alpha", 0.01), a.name, a.origin),
    "PRelu": lambda r, a: r.builder.leaky_relu(a.value(0), a.weight(1), a.name, a.origin),
    "Abs": lambda r, a: r.builder.absolute(a.value(0), a.name, a.origin),
    "Neg": lambda r, a: r.builder.affine(a.value(0), -1, 0, a.name, a.origin),
    "Pow": lambda r, a: r.builder.power(a.value(0), a.number(1), a.name, a.origin),
    "Sigmoid": lambda r, a: r.builder.unary("sigmoid", a.value(0), a.name, a.origin),
    "Tanh": lambda r, a: r.builder.unary("tanh", a.value(0), a.name, a.origin),
    "HardSigmoid": lambda r, a: r.builder.hard_sigmoid(
        a.value(0), a.name, a.origin, a.get("alpha", 0.2), a.get("beta", 0.5)
    ),
    "HardSwish": lambda r, a: r.builder.hard_swish(a.value(0), a.name, a.origin),
    "Gelu": lambda r, a: r.builder.gelu(a.value(0), a.get("approximate", "none") == "tanh", a.name, a.origin),
    "Erf": lambda r, a: r.builder.unary("erf", a.value(0), a.name, a.origin),
    "Elu": lambda r, a: r.builder.elu(a.value(0), a.get("alpha", 1.0), a.name, a.origin),
    "Selu": lambda r, a: r.builder.selu(a.value(0), a.get("alpha", SELU[0]), a.get("gamma", SELU[1]), a.name, a.origin),
    "Celu": lambda r, a: r.builder.celu(a.value(0), a.get("alpha", 1.0), a.name, a.origin),
    "Softmax": lambda r, a: r._softmax(a, a.value(0), r.opset),
    "Add": lambda r, a: r.builder.arithmetic("add", *a.inputs, a.name, a.origin),
    "Mul": lambda r, a: r.builder.arithmetic("multiply", *a.inputs, a.name, a.origin),
    "Sub": lambda r, a: r.builder.subtract(*a.inputs, a.name, a.origin),
    "Div": lambda r, a: r.builder.divide(*a.inputs, a.name, a.origin),
    "Concat": lambda r, a: r._concatenated(a, a.inputs),
    "Identity": lambda r, a: a.value(0),
    "QuantizeLinear": lambda r, a: r._noted(a, a.value(0), *a.quantization(1)[:2]),
    "DequantizeLinear": lambda r, a: a.meant(0),
    "QLinearMul": lambda r, a: r._QLinearAdd(a, "multiply"),
    "QLinearSoftmax": lambda r, a: r._noted(a, r._softmax(a, a.meant(0), a.get("opset")), a.constant(3), a.constant(4)),
    "QLinearAveragePool": lambda r, a: r._noted(a, r._pool("avgpool", a, a.meant(0)), a.constant(3), a.constant(4)),
    "LinearRegressor": lambda r, a: r._linear(a, max(a.get("targets", 1), 1)),
    "ZipMap": lambda r, a: a.value(0),
}


class _Arguments:
    """Inputs and attributes of one node."""

    def __init__(self, reader, node, origin):
        self.reader, self.node, self.origin = reader, node, origin
        if not node.output or not any(node.output):
            raise ValueError("%s: has no output" % origin)
        self.output = node.output[0]
        self.name = (node.name or node.output[0]).strip("/").replace("/", ".")
        self.inputs = []
        for name in node.input:
            if name not in reader.known:
                raise ValueError("%s: the tensor %r is not there" % (origin, name))
            given = reader.known[name]
            if isinstance(given, Value) and node.op_type not in _AFTER_PADS:
                given = reader.builder.padded(given, origin)
            self.inputs.append(given)
        folded = not any(isinstance(each, (Value, recurrence.Apart)) for each in self.inputs)
        self.attributes = attributes(node, reader.opsets, origin, folded)

    def get(self, name, default=None):
        return self.attributes.get(name, default)

    def value(self, at):
        if at >= len(self.inputs) or not isinstance(self.inputs[at], Value):
            refuse(self.origin, "input %d is no tensor of the network" % at)
        return self.inputs[at]

    def constant(self, at):
        """A constant, or None where none is given."""
        given = self.inputs[at] if at < len(self.inputs) else None
        if given is not None and not isinstance(given, np.ndarray):
            refuse(self.origin, "input %d is computed" % at, "a constant")
        if given is not None and (given.dtype.kind not in "iufb" and not str(given.dtype).startswith(("int", "uint"))):
            raise ValueError("%s: input %d is of %s, expected numbers" % (self.origin, at, given.dtype))
        return given

    def weight(self, at):
        """A constant that trains, or None where none is given."""
        weight = self.constant(at)
        if weight is None:
            return None
        name = self.node.input[at]
        taken = self.reader.read_by.setdefault(name, self.node.output[0])
        if taken != self.node.output[0] and weight.ndim > 1:
            refuse(self.origin, "shares the weights %s with the node of %s" % (name, taken), "weights of its own")
        return weight

    def matrix(self, at, turned=False):
        """A constant of two axes as (units, features)."""
        weight = self.weight(at)
        if weight is None or weight.ndim != 2:
            shape = None if weight is None else weight.shape
            refuse(self.origin, "multiplies by a constant of shape %s" % (shape,), "a matrix")
        return weight if turned else weight.T

    def kernel_axes(self, kernel):
        """The axes along which a convolution's kernel slides."""
        if kernel is None or kernel.ndim < 3:
            raise ValueError("%s: a kernel of shape %s" % (self.origin, None if kernel is None else kernel.shape))
        axes = kernel.ndim - 2
        if tuple(self.get("kernel_shape") or kernel.shape[2:]) != kernel.shape[2:]:
            place = (self.origin, self.get("kernel_shape"), kernel.shape)
            raise ValueError("%s: kernel_shape is %s, the kernel %s" % place)
        return axes

    def meant(self, at):
        """A tensor of bytes by the scale and zero point that the node's next two inputs name."""
        value, of = self.value(at), self.reader.bytes.get(self.node.input[at])
        scale, zero = self.constant(at + 1), self.constant(at + 2)
        zero = np.zeros(1, np.uint8) if zero is None else zero
        if scale is None or scale.size != 1 or zero.size != 1:
            refuse(self.origin, "reads a tensor by channels", "one scale")
        scale, zero = float(scale.ravel()[0]), int(zero.ravel()[0])
        if of is None:
            refuse(self.origin, "takes bytes of what no QuantizeLinear made", "QuantizeLinear before it")
        if of[0] is None:  # the input: floats are given as what its bytes mean
            of[0] = scale, zero
            low = 0 if self.reader.unsigned else -128
            return self.reader.builder.bytes(value, scale, zero - low - 128, self.name, self.origin)
        if of[0] == (scale, zero):
            return value
        gain, offset = scale / of[0][0], (of[0][1] - zero) * scale
        return self.reader.builder.affine(value, gain, offset, self.name + "_steps", self.origin)

    def steps(self, at, axis):
        """Scales of the bytes that a weight was made of, one or one for each index of the axis; None where there are
        none such.
        """
        scale, along = self.reader.steps.get(self.node.input[at], (None, None))
        return None if scale is None or scale.size > 1 and along != axis else np.ravel(scale)

    def number(self, at):
        """A constant of one number, or None."""
        given = self.constant(at)
        if given is None:
            return None
        if given.size != 1:
            refuse(self.origin, "input %d is a constant of shape %s" % (at, given.shape), "a number")
        return float(given.ravel()[0])

    def ints(self, at):
        """A constant of whole numbers as a list, or None. Of newer opsets, what older ones have as an attribute."""
        given = self.constant(at)
        if given is None:
            return None
        if given.dtype.kind not in "iu" or given.size > 64:
            raise ValueError(
                "%s: input %d is of %s, %s; sizes are expected" % (self.origin, at, given.dtype, given.shape)
            )
        return [int(n) for n in np.ravel(given)]

    def floats(self, name, count, usual=None):
        """An attribute of that many numbers, or of one that counts for all; ``usual`` where it is not set."""
        given = np.asarray(self.get(name, [] if usual is None else [usual]), np.float64)
        if given.size not in (1, count):
            raise ValueError("%s: %s has %d numbers, expected %d" % (self.origin, name, given.size, count))
        return np.broadcast_to(given, (count,))

    def sizes(self, name, count, default):
        value = tuple(self.get(name) or (default,) * count)
        if len(value) != count:
            raise ValueError("%s: %s has %d sizes, expected %d" % (self.origin, name, len(value), count))
        return value

    def axis(self, axis, rank=None):
        """An axis counted from the first one, the batch."""
        rank = rank or len(self.value(0).source) + 1
        if axis is None or not -rank <= axis < rank:
            raise ValueError("%s: axis %s of %d" % (self.origin, axis, rank))
        return axis % rank

    def axes(self):
        """The attribute or, of newer opsets, the second input."""
        axes = self.ints(1)
        return self.get("axes") if axes is None else axes

    def epsilon(self):
        epsilon = self.get("epsilon", 1e-5)
        if epsilon < 0:
            raise ValueError("%s: an epsilon of %r" % (self.origin, epsilon))
        return epsilon

    def pads(self, axes):
        """(before, after) of each axis and None, or None and "upper" or "lower"."""
        auto = self.get("auto_pad", "NOTSET")
        if auto not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
            raise ValueError("%s: has auto_pad %r" % (self.origin, auto))
        flat = self.sizes("pads", 2 * axes, 0)
        if auto != "NOTSET" and any(flat):
            refuse(self.origin, "has pads beside auto_pad %s" % auto, "one of both")
        if auto[:4] == "SAME":
            return None, auto[5:].lower()
        return tuple(zip(flat[:axes], flat[axes:])), None

    def range(self, zero):
        """The least and the largest of the numbers that a zero point is one of."""
        if zero.dtype.name not in _RANGES:
            refuse(self.origin, "quantizes to %s" % zero.dtype.name, "int8 or uint8")
        return _RANGES[zero.dtype.name]

    def quantization(self, at):
        """Scale, zero point (0 where none is given) and axis."""
        scale, zero = self.constant(at), self.constant(at + 1)
        if scale is None or not scale.size:
            raise ValueError("%s: has no scale" % self.origin)
        x = self.inputs[0]
        if zero is None:
            kind = self.get("output_dtype", 0)
            kind = {0: np.uint8, _TYPES.UINT8: np.uint8, _TYPES.INT8: np.int8}.get(kind)
            if kind is None:
                refuse(self.origin, "quantizes to type %d" % self.get("output_dtype"), "int8 or uint8")
            zero = np.zeros(1, x.dtype if isinstance(x, np.ndarray) and x.dtype.kind in "iu" else kind)
        axis = self.get("axis", 1)
        if isinstance(x, np.ndarray):
            axis = 0 if scale.size == 1 and zero.size == 1 else self.axis_of(x, axis)
        return scale, zero, axis

    def axis_of(self, x, axis):
        if not -x.ndim <= axis < x.ndim:
            raise ValueError("%s: axis %d of a constant of shape %s" % (self.origin, axis, x.shape))
        return axis % x.ndim


def _positive(node):
    """Whether no number that the node gives is below 0."""
    while node.op in ("maxpool", "avgpool", "adaptive", "globalavg", "upsample", "flatten", "reshape"):
        node = node.inputs[0]
    if node.op in ("concatenate", "add", "multiply"):
        return all(_positive(each) for each in node.inputs)
    return node.op in ("relu", "relu6", "sigmoid", "softmax") or "positive" in node.options


def _repeats(where, rounding, extents, times):
    """Whether a Resize by nearest neighbour repeats each position that many times."""
    for extent, n in zip(extents, times):
        at = np.arange(extent * n, dtype=np.float64)
        if where in _HALF_PIXEL:
            at = (at + 0.5) / n - 0.5 if where != "pytorch_half_pixel" or extent * n > 1 else at * 0
        elif where == "asymmetric":
            at = at / n
        elif where == "tf_half_pixel_for_nn":
            at = (at + 0.5) / n
        else:
            return False
        at = {
            "floor": np.floor, "ceil": np.ceil, "round_prefer_floor": lambda x: np.ceil(x - 0.5),
            "round_prefer_ceil": lambda x: np.floor(x + 0.5),
        }.get(rounding, lambda x: x + 0.1)(at)  # fmt: skip
        if not np.array_equal(np.clip(at, 0, extent - 1), np.arange(extent * n) // n):
            return False
    return True


def _array(tensor, name, folder):
    """A tensor's numbers; of one that lies beside the file, in the same folder, from there."""
    count = np.prod(list(tensor.dims) or [1], dtype=object)
    if count > 4 * MOST or any(n < 0 for n in tensor.dims):
        raise ValueError("initializer %s has the shape %s" % (name, tuple(tensor.dims)))
    if tensor.data_location == _TYPES.EXTERNAL:
        whole = onnx.TensorProto()
        whole.name, whole.data_type, whole.dims[:] = tensor.name, tensor.data_type, tensor.dims
        with parsing("initializer %s" % name):
            kind = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
        bits = {"int4": 4, "uint4": 4, "int2": 2, "uint2": 2, "float4_e2m1fn": 4}.get(kind.name, 8 * kind.itemsize)
        whole.raw_data = _beside(tensor, "initializer %s" % name, folder, int(-(-count * bits // 8)))
        tensor = whole
    with parsing("initializer %s" % name):
        return np.asarray(numpy_helper.to_array(tensor))


def _beside(tensor, origin, folder, length):
    """The bytes of a tensor in a file of the same folder."""
    given = {str(each.key): str(each.value) for each in tensor.external_data}
    where = given.get("location", "").removeprefix("./")
    if folder is None:
        raise Unsupported(
            "%s lies in another file, %r; instead: the name of the .onnx file beside it" % (origin, where)
        )
    if where in ("", ".", "..") or any(each in where for each in "/\\:\0"):
        raise Unsupported("%s lies in %r; instead: a file in the same folder" % (origin, where))
    path = Path(folder) / where
    try:
        at, size = int(given.get("offset", 0)), int(given.get("length", length))
    except ValueError:
        raise ValueError("%s: offset and length are no numbers: %s" % (origin, given)) from None
    if path.is_symlink() or not path.exists() or not stat.S_ISREG(path.stat().st_mode):
        raise ValueError("%s: its file %s is not there, or no file" % (origin, path))
    whole = path.stat().st_size
    if size != length or at < 0 or at + size > whole:
        place = (origin, size, at, path, length, whole)
        raise ValueError("%s: %d bytes from %d on of %s, expected %d of the file's %d" % place)
    with open(path, "rb") as file:
        file.seek(at)
        return file.read(length)


def _along(vector, x, axis, origin):
    """A scale or zero point of one axis, to broadcast with x."""
    vector = np.asarray(vector, np.float64).ravel()
    if vector.size == 1:
        return vector[0]
    if not x.ndim or vector.size != x.shape[axis]:
        place = (origin, vector.size, x.shape, axis)
        raise ValueError("%s: %d scales or zero points for a constant of shape %s along axis %d" % place)
    shape = [1] * x.ndim
    shape[axis] = vector.size
    return vector.reshape(shape)


def _dequantized(x, scale, zero, axis, origin):
    """The numbers that bytes mean, in float64."""
    if scale is None:
        raise ValueError("%s: has no scale" % origin)
    zero = np.zeros(1) if zero is None else zero
    with np.errstate(all="ignore"):
        return (x.astype(np.float64) - _along(zero, x, axis, origin)) * _along(scale, x, axis, origin)


_FLOATS = (_TYPES.FLOAT, _TYPES.DOUBLE, _TYPES.FLOAT16)
_TOKENS = (_TYPES.INT32, _TYPES.INT64, _TYPES.INT16, _TYPES.UINT16, _TYPES.UINT32, _TYPES.UINT64)
_HALF_PIXEL = ("half_pixel", "pytorch_half_pixel", "half_pixel_symmetric")
_SAME = ("QuantizeLinear", "DequantizeLinear", "Cast", "Identity", "Dropout")
_AFTER_PADS = (
    "Transpose",
    "Conv",
    "MaxPool",
    "AveragePool",
    "Pad",
    "Reshape",
    "Squeeze",
    "Unsqueeze",
    "Identity",
    "Cast",
    "Shape",
    "Size",
)
_MOVES = (  # and compute nothing
    "Concat", "Flatten", "Gather", "Identity", "MaxPool", "Reshape", "Slice", "Split", "Squeeze", "Transpose",
    "Unsqueeze", "Shape",
    "Size",
)  # fmt: skip
_OF_IMAGES = {
    "Conv", "ConvTranspose", "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "BatchNormalization",
    "Pad",
    "InstanceNormalization", "GroupNormalization", "QLinearConv", "Resize", "Upsample", "Flatten", "Reshape",
}  # fmt: skip
OPERATORS = set(ATTRIBUTES)
_NO_RECURRENCE = "GRU, LSTM or RNN, in float"
_NO_ATTENTION = "MatMul, Softmax and MatMul, as PyTorch's exporters write it"
_STATIC = "static quantization to int8 (QDQ)"
_INSTEAD = {
    "Gelu": "Relu, or Sigmoid and Mul",
    "Softplus": "Relu",
    "Mish": "HardSwish",
    "LogSoftmax": "no softmax: odt's cross-entropy contains it",
    "Scan": _NO_RECURRENCE,
    "Loop": _NO_RECURRENCE,
    "If": "an export without branches",
    "Attention": _NO_ATTENTION,
    "MultiHeadAttention": _NO_ATTENTION,
    "Einsum": "MatMul with a constant",
    "GatherND": "Slice",
    "ConvInteger": "QLinearConv, or QDQ",
    "MatMulInteger": "QLinearMatMul, or QDQ",
    "MatMulNBits": _STATIC,
    "MatMulBnb4": _STATIC,
    "DynamicQuantizeLinear": _STATIC,
    "DynamicQuantizeMatMul": _STATIC,
    "DynamicQuantizeLSTM": _NO_RECURRENCE,
}
