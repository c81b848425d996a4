"""Reads TensorFlow Lite's files: float networks, and int8 ones (weights with a scale for all or for each channel, any zero point).

Of a quantized network the weights are read as what they mean, and each tensor's scale is kept beside it. Needs `tflite`.
"""

import struct
from pathlib import Path

import numpy as np
import tflite

from .builder import Builder, Value
from .graph import MOST, Unsupported, refuse

_LARGEST = 1 << 28  # bytes of a file
_BATCH = 1
_DAMAGED = (
    struct.error, IndexError, KeyError, TypeError, AttributeError, OverflowError, ZeroDivisionError, RuntimeError, MemoryError,
    UnicodeDecodeError,
)  # fmt: skip
_NUMPY = {0: "f4", 1: "f2", 2: "i4", 3: "u1", 4: "i8", 7: "i2", 9: "i1", 6: "?"}  # by tflite.TensorType
_NAMES = {number: name for name, number in vars(tflite.BuiltinOperator).items() if isinstance(number, int)}


def read(source, shape=None):
    """The Graph of a file, by its name or bytes. ValueError for a damaged one."""
    name = "the model" if isinstance(source, bytes) else source
    if not isinstance(source, bytes):
        size = Path(source).stat().st_size
        if size > _LARGEST:
            raise ValueError("%s: %d bytes, a file of at most %d is read" % (name, size, _LARGEST))
        source = Path(source).read_bytes()
    if source[4:8] != b"TFL3":
        raise ValueError("%s is damaged, or no file of TensorFlow Lite: bytes 4 to 7 are %r" % (name, source[4:8]))
    try:
        return _Reader(tflite.Model.GetRootAsModel(source, 0), shape).graph()
    except _DAMAGED as error:
        raise ValueError("%s is damaged: %s: %s" % (name, type(error).__name__, error)) from error


class _Reader:
    """``known`` has, by a tensor's number, a Value or a constant as a NumPy array."""

    def __init__(self, model, shape):
        if model.SubgraphsLength() != 1:
            raise ValueError("the file is damaged or has several networks: %d; one is read" % model.SubgraphsLength())
        self.model, self.plan, self.shape = model, model.Subgraphs(0), shape
        self.known, self.read_by = {-1: None}, {}
        self.builder = Builder(-1)

    def graph(self):
        plan = self.plan
        if plan.InputsLength() != 1 or plan.OutputsLength() != 1:
            raise Unsupported(
                "the network has %d inputs and %d outputs; instead: one of each"
                % (plan.InputsLength(), plan.OutputsLength())
            )
        at = plan.Inputs(0)
        tensor = self.tensor(at)
        sizes, origin = tensor.shape, "input %s" % tensor.name
        if tensor.kind not in ("f4", "i1", "u1"):
            refuse(origin, "is of %s" % np.dtype(tensor.kind), "float32, int8 or uint8")
        if len(sizes) < 2:
            refuse(origin, "has the shape %s" % (sizes,), "one of (batch, ..)")
        if self.shape is not None and tuple(self.shape) != sizes[1:]:
            raise ValueError("%s: samples are of shape %s, got %s" % (origin, sizes[1:], tuple(self.shape)))
        self.known[at] = self.builder.input(tensor.name, sizes[1:])
        self.known[at] = self.noted(self.known[at], tensor, origin, tensor.name)
        for number in range(plan.OperatorsLength()):
            self.call(plan.Operators(number), number)
        value = self.known.get(plan.Outputs(0))
        if not isinstance(value, Value):
            raise Unsupported("the output does not depend on the input")
        return self.builder.finish(value)

    def tensor(self, at):
        if not 0 <= at < self.plan.TensorsLength():
            raise ValueError("tensor %d of %d" % (at, self.plan.TensorsLength()))
        return _Tensor(self.plan.Tensors(at), at)

    def get(self, at):
        """A Value, a constant array, or None where no tensor is given."""
        if at not in self.known:
            tensor = self.tensor(at)
            self.known[at] = tensor.constant(self.model)
        return self.known[at]

    def call(self, node, number):
        code = self.model.OperatorCodes(node.OpcodeIndex())
        kind = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
        name = _NAMES.get(kind, "operator %d" % kind)
        origin = "node %d (%s)" % (number, name)
        if node.OutputsLength() != 1:
            refuse(origin, "has %d outputs" % node.OutputsLength(), "one")
        a = _Arguments(self, node, origin)
        if not any(isinstance(each, Value) for each in a.inputs):
            if name not in ("DEQUANTIZE", "RESHAPE", "PACK", "STRIDED_SLICE"):
                refuse(origin, "computes with constants alone", "a network whose constants are folded")
            self.known[a.output] = self.folded(name, a)
            return
        operator = getattr(self, "_" + name, None) if name in OPERATORS else None
        if operator is None:
            refuse(origin, "odt has no such operator", _INSTEAD.get(name))
        made = operator(a)
        self.known[a.output] = self.noted(made, a.made, origin, a.name) if isinstance(made, Value) else made

    def noted(self, value, tensor, origin, name):
        """The value, with what its tensor's bytes mean."""
        if tensor.kind not in ("i1", "u1", "i2"):
            return value
        scale, zero = tensor.scale, tensor.zero
        if scale is None or scale.size != 1:
            refuse(origin, "gives %s without one scale" % np.dtype(tensor.kind), "int8 with a scale, or float32")
        if tensor.kind == "i2":
            return value
        point = int(zero[0]) - (128 if tensor.kind == "u1" else 0)
        return self.builder.bytes(value, float(scale[0]), point, name, origin)

    @staticmethod
    def folded(name, a):
        x = a.inputs[0]
        if name == "DEQUANTIZE":
            return a.meaning(0)
        if name == "RESHAPE":
            return x.reshape([int(n) for n in (a.inputs[1] if len(a.inputs) > 1 else a.made.shape)])
        if name == "PACK":
            return np.array([int(np.ravel(each)[0]) for each in a.inputs])
        begin, end, step = (int(np.ravel(each)[0]) for each in a.inputs[1:4])
        if x.ndim != 1 or step == 0:
            refuse(a.origin, "cuts a constant of shape %s" % (x.shape,))
        return x[slice(begin, end if end else None, step)]

    # --- operators ----------------------------------------------------------------------------

    def _SHAPE(self, a):
        return np.array((_BATCH, *a.value(0).source))

    def _CONV_2D(self, a):
        options = a.options(tflite.Conv2DOptions)
        kernel = a.weight(1)
        groups = a.value(0).source[-1] // kernel.shape[-1] if kernel.ndim == 4 and kernel.shape[-1] else 1
        return self._windows(a, options, kernel, max(groups, 1), a.steps(1, 0))

    def _DEPTHWISE_CONV_2D(self, a):
        options = a.options(tflite.DepthwiseConv2DOptions)
        kernel = a.weight(1)
        if kernel.ndim != 4 or kernel.shape[0] != 1:
            raise ValueError(
                "%s: the kernel's shape is %s, expected (1, height, width, channels)" % (a.origin, kernel.shape)
            )
        kernel = np.moveaxis(kernel, 3, 0)[:, 0, :, :, None]
        return self._windows(a, options, kernel, a.value(0).source[-1], a.steps(1, 3))

    def _windows(self, a, options, kernel, groups, steps):
        dilation = (options.DilationHFactor(), options.DilationWFactor())
        pads, same = a.padding(options)
        made = self.builder.conv(
            a.value(0), kernel, a.bias(2), (options.StrideH(), options.StrideW()), pads, groups, a.name, a.origin, dilation, same,
            steps,
        )  # fmt: skip
        return a.activated(made, options)

    def _TRANSPOSE_CONV(self, a):
        options = a.options(tflite.TransposeConvOptions)
        kernel, value = a.weight(1), a.value(2)
        out = [int(n) for n in np.ravel(a.inputs[0])][1:3]
        strides, pads, extra = (options.StrideH(), options.StrideW()), [], []
        same = a.padding(options)[1]
        for n, width, stride, wanted in zip(value.source, kernel.shape[1:3], strides, out):
            total = (n - 1) * stride + width - wanted
            first = max(total, 0) // 2 if same else 0
            pads.append((first, max(total, 0) - first))
            extra.append(max(-total, 0))
        made = self.builder.transposed(
            value, kernel, a.bias(3), strides, pads, extra, 1, a.name, a.origin, steps=a.steps(1, 0)
        )
        return a.activated(made, options)

    def _FULLY_CONNECTED(self, a):
        options = a.options(tflite.FullyConnectedOptions)
        value, kernel = a.value(0), a.weight(1)
        if not options.KeepNumDims() and len(value.source) > 1:
            value = self.builder.reshape(value, (value.index.size,), a.origin)
        return a.activated(self.builder.dense(value, kernel, a.bias(2), a.name, a.origin, a.steps(1, 0)), options)

    def _pool(self, a, op):
        options = a.options(tflite.Pool2DOptions)
        size = (options.FilterHeight(), options.FilterWidth())
        value = a.value(0)
        pads, same = a.padding(options)
        if value.source[:2] == size and not same:
            made = self.builder.global_pool(op, value, True, a.name, a.origin, True)
        else:
            strides = (options.StrideH(), options.StrideW())
            made = self.builder.pool(op, value, size, strides, pads, False, a.name, a.origin, same=same, away=True)
        return a.activated(made, options)

    def _MAX_POOL_2D(self, a):
        return self._pool(a, "maxpool")

    def _AVERAGE_POOL_2D(self, a):
        return self._pool(a, "avgpool")

    def _MEAN(self, a):
        value = a.value(0)
        rank = len(value.source) + 1
        if sorted(int(n) % rank for n in np.ravel(a.inputs[1])) != list(range(1, rank - 1)):
            refuse(a.origin, "takes the mean of axes %s" % np.ravel(a.inputs[1]).tolist(), "that of the image's axes")
        return self.builder.global_pool("avgpool", value, a.options(tflite.ReducerOptions).KeepDims(), a.name, a.origin)

    def _ADD(self, a):
        made = self.builder.arithmetic("add", *a.operands(), a.name, a.origin)
        return a.activated(made, a.options(tflite.AddOptions))

    def _MUL(self, a):
        made = self.builder.arithmetic("multiply", *a.operands(), a.name, a.origin)
        return a.activated(made, a.options(tflite.MulOptions))

    def _SUB(self, a):
        return a.activated(self.builder.subtract(*a.operands(), a.name, a.origin), a.options(tflite.SubOptions))

    def _DIV(self, a):
        return a.activated(self.builder.divide(*a.operands(), a.name, a.origin), a.options(tflite.DivOptions))

    def _RELU(self, a):
        return self.builder.unary("relu", a.value(0), a.name, a.origin)

    def _RELU6(self, a):
        return self.builder.unary("relu6", a.value(0), a.name, a.origin)

    def _LEAKY_RELU(self, a):
        return self.builder.leaky_relu(a.value(0), a.options(tflite.LeakyReluOptions).Alpha(), a.name, a.origin)

    def _LOGISTIC(self, a):
        return self.builder.unary("sigmoid", a.value(0), a.name, a.origin)

    def _TANH(self, a):
        return self.builder.unary("tanh", a.value(0), a.name, a.origin)

    def _HARD_SWISH(self, a):
        return self.builder.hard_swish(a.value(0), a.name, a.origin)

    def _SOFTMAX(self, a):
        value, beta = a.value(0), a.options(tflite.SoftmaxOptions).Beta()
        if beta != 1:
            value = self.builder.affine(value, beta, 0, a.name + "_beta", a.origin)
        return self.builder.softmax(value, -1, a.name, a.origin)

    def _CONCATENATION(self, a):
        options = a.options(tflite.ConcatenationOptions)
        rank = 1 + max(len(each.source) for each in a.inputs if isinstance(each, Value))
        axis = options.Axis() % rank
        if axis == 0:
            refuse(a.origin, "concatenates batches")
        return a.activated(self.builder.concatenate(a.inputs, axis - 1, a.name, a.origin), options)

    def _RESHAPE(self, a):
        value = a.value(0)
        wanted = a.inputs[1] if len(a.inputs) > 1 else a.made.shape
        if isinstance(wanted, Value):
            refuse(a.origin, "takes a shape that is computed", "a constant")
        wanted, count = [int(n) for n in np.ravel(wanted)], _BATCH * value.index.size
        if wanted.count(-1) == 1:
            others = -int(np.prod(wanted, dtype=object))
            wanted[wanted.index(-1)] = count // others if others else 0
        if not wanted or wanted[0] != _BATCH:
            refuse(a.origin, "gives %s of a batch of %d" % (tuple(wanted), _BATCH), "one result per sample")
        return self.builder.reshape(value, wanted[1:], a.origin)

    def _SQUEEZE(self, a):
        options, value = a.options(tflite.SqueezeOptions), a.value(0)
        full = (_BATCH, *value.source)
        axes = [options.SqueezeDims(i) % len(full) for i in range(options.SqueezeDimsLength())]
        axes = axes or [at for at, n in enumerate(full) if at and n == 1]
        if 0 in axes:
            refuse(a.origin, "changes the axis of the batch", "one result per sample")
        return self.builder.reshape(
            value, [n for at, n in enumerate(full) if at and (at not in axes or n != 1)], a.origin
        )

    def _EXPAND_DIMS(self, a):
        value = a.value(0)
        axis = int(np.ravel(a.inputs[1])[0]) % (len(value.source) + 2)
        if axis == 0:
            refuse(a.origin, "changes the axis of the batch", "one result per sample")
        return self.builder.reshape(value, value.source[: axis - 1] + (1,) + value.source[axis - 1 :], a.origin)

    def _TRANSPOSE(self, a):
        order = [int(n) for n in np.ravel(a.inputs[1])]
        if not order or order[0] != 0:
            refuse(a.origin, "moves the batch")
        return self.builder.transpose(a.value(0), [axis - 1 for axis in order[1:]], a.origin)

    def _PAD(self, a):
        pads = np.asarray(a.inputs[1]).reshape(-1, 2).tolist()
        if not pads or any(pads[0]):
            refuse(a.origin, "pads the batch")
        return self.builder.pad(a.value(0), pads[1:], a.origin)

    def _RESIZE_NEAREST_NEIGHBOR(self, a):
        options, value = a.options(tflite.ResizeNearestNeighborOptions), a.value(0)
        wanted = [int(n) for n in np.ravel(a.inputs[1])]
        times = [n // extent for n, extent in zip(wanted, value.source)]
        if options.AlignCorners() or [n * extent for n, extent in zip(times, value.source)] != wanted:
            refuse(a.origin, "enlarges %s to %s" % (value.source[:2], wanted), "whole factors, no align_corners")
        return self.builder.upsample(value, times, a.name, a.origin)

    def _QUANTIZE(self, a):
        return a.value(0)

    _DEQUANTIZE = _QUANTIZE


class _Tensor:
    """A tensor as the file describes it: ``kind`` is a NumPy dtype, ``scale`` and ``zero`` arrays or None."""

    def __init__(self, table, number):
        self.table = table
        self.name = (
            (table.Name() or b"tensor_%d" % number)
            .decode("utf-8", "replace")
            .split(";")[0]
            .strip("/")
            .replace("/", ".")
        )
        self.shape = tuple(table.Shape(i) for i in range(min(table.ShapeLength(), 9)))
        self.kind = _NUMPY.get(table.Type(), "V")
        if len(self.shape) > 8 or any(n < 0 for n in self.shape) or np.prod(self.shape, dtype=object) > 4 * MOST:
            raise ValueError("tensor %s has the shape %s" % (self.name, self.shape))
        quantization = table.Quantization()
        self.scale = self.zero = None
        if quantization is not None and quantization.ScaleLength():
            self.scale = np.asarray(quantization.ScaleAsNumpy(), np.float64)
            self.zero = np.asarray(
                quantization.ZeroPointAsNumpy() if quantization.ZeroPointLength() else np.zeros(self.scale.size)
            )
            self.axis = quantization.QuantizedDimension()

    def constant(self, model):
        """Its numbers as they stand in the file."""
        buffer = model.Buffers(self.table.Buffer())
        if self.table.Sparsity() is not None:
            raise Unsupported("tensor %s is sparse; instead: a dense one" % self.name)
        if not buffer.DataLength():
            raise ValueError("tensor %s is neither computed before it is read nor a constant" % self.name)
        if self.kind == "V":
            raise Unsupported(
                "tensor %s is of type %d; instead: float32, int8 or int32" % (self.name, self.table.Type())
            )
        data = np.asarray(buffer.DataAsNumpy(), np.uint8).tobytes()
        if len(data) != np.dtype(self.kind).itemsize * np.prod(self.shape, dtype=object):
            raise ValueError(
                "tensor %s: %d bytes for the shape %s of %s" % (self.name, len(data), self.shape, np.dtype(self.kind))
            )
        return np.frombuffer(data, np.dtype(self.kind).newbyteorder("<")).reshape(self.shape)

    def meaning(self, numbers):
        """Numbers of this tensor as float64."""
        numbers = numbers.astype(np.float64)
        if self.scale is None:
            return numbers
        shape = [1] * numbers.ndim
        if self.scale.size > 1:
            shape[self.axis] = -1
        scale, zero = (np.broadcast_to(each, self.scale.shape).reshape(shape) for each in (self.scale, self.zero))
        return (numbers - zero) * scale


class _Arguments:
    """Inputs and options of one node."""

    def __init__(self, reader, node, origin):
        self.reader, self.node, self.origin = reader, node, origin
        self.numbers = [node.Inputs(i) for i in range(node.InputsLength())]
        self.inputs = [reader.get(at) for at in self.numbers]
        self.output = node.Outputs(0)
        self.made = reader.tensor(self.output)
        self.name = self.made.name

    def options(self, kind):
        table = self.node.BuiltinOptions()
        found = kind()
        if table is None:
            raise ValueError("%s: has no options" % self.origin)
        found.Init(table.Bytes, table.Pos)
        return found

    def value(self, at):
        if at >= len(self.inputs) or not isinstance(self.inputs[at], Value):
            refuse(self.origin, "input %d is no tensor of the network" % at)
        return self.inputs[at]

    def meaning(self, at):
        """A constant's numbers, as what its bytes mean."""
        each = self.inputs[at]
        if not isinstance(each, np.ndarray):
            refuse(self.origin, "input %d is computed" % at, "a constant")
        return (
            self.reader.tensor(self.numbers[at]).meaning(each) if each.dtype.kind in "iu" else each.astype(np.float64)
        )

    def operands(self):
        return [each if isinstance(each, Value) else self.meaning(at) for at, each in enumerate(self.inputs[:2])]

    def weight(self, at):
        if at >= len(self.inputs):
            raise ValueError("%s: has %d inputs, and no weights" % (self.origin, len(self.inputs)))
        number = self.numbers[at]
        if self.reader.read_by.setdefault(number, self.output) != self.output:
            refuse(
                self.origin,
                "shares the weights %s with another node" % self.reader.tensor(number).name,
                "weights of its own",
            )
        return self.meaning(at)

    def steps(self, at, axis):
        """Scales of a weight's bytes, one or one for each index of the axis; None where there are none such."""
        tensor = self.reader.tensor(self.numbers[at])
        if tensor.scale is None or tensor.scale.size > 1 and tensor.axis != axis:
            return None
        return tensor.scale

    def bias(self, at):
        return self.meaning(at) if at < len(self.inputs) and self.inputs[at] is not None else None

    @staticmethod
    def padding(options):
        """pads and same, as the Builder takes them."""
        return (None, "upper") if options.Padding() == tflite.Padding.SAME else (((0, 0), (0, 0)), None)

    def activated(self, value, options):
        kind = options.FusedActivationFunction()
        if kind == tflite.ActivationFunctionType.NONE:
            return value
        op = {tflite.ActivationFunctionType.RELU: "relu", tflite.ActivationFunctionType.RELU6: "relu6"}.get(kind)
        op = "tanh" if kind == tflite.ActivationFunctionType.TANH else op
        if op is None:
            refuse(self.origin, "ends with activation %d" % kind, "RELU, RELU6 or TANH")
        return self.reader.builder.unary(op, value, self.name + "_" + op, self.origin)


OPERATORS = {name[1:] for name in vars(_Reader) if name[:1] == "_" and name[1:2].isupper()}
_INSTEAD = {
    "LSTM": "CONV_2D over the sequence: odt has no recurrence",
    "UNIDIRECTIONAL_SEQUENCE_LSTM": "CONV_2D over the sequence: odt has no recurrence",
    "PRELU": "LEAKY_RELU",
    "ELU": "RELU or LEAKY_RELU",
    "GELU": "RELU, or LOGISTIC and MUL",
    "LOG_SOFTMAX": "no softmax: odt's cross-entropy contains it",
    "RESIZE_BILINEAR": "RESIZE_NEAREST_NEIGHBOR",
    "STRIDED_SLICE": "whole tensors",
    "SPLIT": "two convolutions of the whole tensor",
    "GATHER": "whole tensors",
}
