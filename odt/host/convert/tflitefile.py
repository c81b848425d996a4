"""Reads TensorFlow Lite's files: float networks, and int8 ones (weights with a scale for all or for each channel, any
zero point).

Of a quantized network the weights are read as what they mean, and each tensor's scale is kept beside it. What each
operator's options do is in tflitetable.py. Needs `tflite`.
"""

from pathlib import Path

import numpy as np
import tflite

from .builder import Builder, Value
from .graph import BUDGET, MOST, Unsupported, parsing, refuse
from .tflitefold import FOLDED, fold
from .tflitetable import ATTRIBUTES, ROWS, checked, parsed

READS = (".tflite",)

_LARGEST = 1 << 28  # bytes of a file
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
    with parsing(name):
        file = _File(source)
    if file.networks != 1:
        raise ValueError("the file is damaged or has several networks: %d; one is read" % file.networks)
    try:
        return _Reader(file, shape).graph()
    except Unsupported as error:  # the axis of the channels was a guess
        try:
            return _Reader(file, shape, other=True).graph()
        except ValueError:
            raise error from None


class _File:
    """All that is read of a file, as Python's own objects.

    What reads a damaged one raises whatever it likes, here alone.
    """

    def __init__(self, source):
        model = tflite.Model.GetRootAsModel(source, 0)
        self.networks = model.SubgraphsLength()
        if self.networks != 1:
            return
        plan = model.Subgraphs(0)
        buffers = [_buffer(model.Buffers(at), source) for at in range(model.BuffersLength())]
        self.tensors = [_Tensor(plan.Tensors(at), at, buffers) for at in range(plan.TensorsLength())]
        self.inputs = [plan.Inputs(at) for at in range(plan.InputsLength())]
        self.outputs = [plan.Outputs(at) for at in range(plan.OutputsLength())]
        self.nodes = [_Node(plan.Operators(at), at, model) for at in range(plan.OperatorsLength())]


def _buffer(buffer, source):
    """A buffer's bytes; of a large file they lie after its tables."""
    if buffer.Offset() > 1:
        at, size = buffer.Offset(), buffer.Size()
        if at + size > len(source):
            raise ValueError("a buffer of %d bytes from %d on, of a file of %d" % (size, at, len(source)))
        return np.frombuffer(source, np.uint8, size, at)
    return buffer.DataAsNumpy() if buffer.DataLength() else np.zeros(0, np.uint8)


class _Tensor:
    """A tensor as the file describes it: ``kind`` is a NumPy dtype, ``scale`` and ``zero`` arrays or None, ``data``
    bytes.
    """

    def __init__(self, table, number, buffers):
        name = (table.Name() or b"tensor_%d" % number).decode("utf-8", "replace")
        self.name = name.split(";")[0].strip("/").replace("/", ".")
        self.shape = tuple(table.Shape(i) for i in range(min(table.ShapeLength(), 9)))
        self.type, self.data = table.Type(), buffers[table.Buffer()]
        self.kind = _NUMPY.get(self.type, "V")
        self.sparse = table.Sparsity() is not None
        self.scale = self.zero = None
        self.axis, self.blocks = 0, False
        quantization = table.Quantization()
        if quantization is not None:
            self.blocks = quantization.DetailsType() != 0
            if quantization.ScaleLength():
                self.scale = quantization.ScaleAsNumpy()
                self.zero = quantization.ZeroPointAsNumpy() if quantization.ZeroPointLength() else np.zeros(1, np.int64)
                self.axis = quantization.QuantizedDimension()

    def check(self):
        """ValueError or Unsupported for what no tensor may be."""
        if len(self.shape) > 8 or any(n < 0 for n in self.shape) or np.prod(self.shape, dtype=object) > 4 * MOST:
            raise ValueError("tensor %s has the shape %s" % (self.name, self.shape))
        if self.blocks:
            raise Unsupported("tensor %s has a scale per block; instead: one for each channel (int8)" % self.name)
        if self.scale is not None:
            if not np.all(np.isfinite(self.scale)) or self.zero.size not in (1, self.scale.size):
                raise ValueError(
                    "tensor %s has scales of %s, zero points %s" % (self.name, self.scale[:4], self.zero[:4])
                )
            if self.scale.size > 1 and not (
                0 <= self.axis < len(self.shape) and self.shape[self.axis] == self.scale.size
            ):
                place = (self.name, self.scale.size, self.axis, self.shape)
                raise ValueError("tensor %s has %d scales along axis %d of %s" % place)
        return self

    def constant(self):
        """Its numbers as they stand in the file."""
        self.check()
        if self.sparse:
            raise Unsupported("tensor %s is sparse; instead: a dense one" % self.name)
        if not self.data.size:
            raise ValueError("tensor %s is neither computed before it is read nor a constant" % self.name)
        if self.kind == "V":
            raise Unsupported("tensor %s is of type %d; instead: float32, int8 or int32" % (self.name, self.type))
        data = self.data.astype(np.uint8).tobytes()
        if len(data) != np.dtype(self.kind).itemsize * np.prod(self.shape, dtype=object):
            raise ValueError(
                "tensor %s: %d bytes for the shape %s of %s" % (self.name, len(data), self.shape, np.dtype(self.kind))
            )
        return np.frombuffer(data, np.dtype(self.kind).newbyteorder("<")).reshape(self.shape)

    def meaning(self, numbers):
        """Numbers of this tensor as float64."""
        numbers = numbers.astype(np.float64)
        if self.scale is None or self.kind[0] == "f":
            return numbers
        shape = [1] * numbers.ndim
        if self.scale.size > 1:
            shape[self.axis] = -1
        scale, zero = (np.broadcast_to(each, self.scale.shape).reshape(shape) for each in (self.scale, self.zero))
        return (numbers - zero) * scale.astype(np.float64)

    def steps(self):
        """(scale, zero point) of a tensor of bytes, or None."""
        return None if self.scale is None or self.kind[0] == "f" else (float(self.scale[0]), int(self.zero[0]))


class _Node:
    """An operator of the file, by its name."""

    def __init__(self, node, number, model):
        code = model.OperatorCodes(node.OpcodeIndex())
        kind = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
        self.name = _NAMES.get(kind, "operator %d" % kind)
        called = self.name
        if self.name == "CUSTOM":
            called += " " + (code.CustomCode() or b"").decode("utf-8", "replace")
        self.origin = "node %d (%s)" % (number, called)
        self.inputs = [node.Inputs(i) for i in range(node.InputsLength())]
        self.outputs = [node.Outputs(i) for i in range(node.OutputsLength())]
        self.options, self.wrong = parsed(node, self.name)


class _Reader:
    """``known`` has, by a tensor's number, a Value or a constant as a NumPy array.

    ``spread``: of what SPACE_TO_BATCH_ND gives, the dilation that it means along each axis of the source's sample.
    """

    def __init__(self, file, shape, other=False):
        self.file, self.shape, self.other = file, shape, other
        self.known, self.read_by, self.spread = {-1: None}, {}, {}
        self.builder, self.budget = Builder(-1), BUDGET

    def graph(self):
        file = self.file
        if len(file.inputs) != 1 or len(file.outputs) != 1:
            raise Unsupported(
                "the network has %d inputs and %d outputs; instead: one of each" % (len(file.inputs), len(file.outputs))
            )
        nodes = self._needed()
        at = file.inputs[0]
        tensor = self.tensor(at)
        sizes, origin = tensor.shape, "input %s" % tensor.name
        if tensor.kind not in ("f4", "i1", "u1"):
            refuse(origin, "is of type %d" % tensor.type, "float32, int8 or uint8")
        if len(sizes) < 2 or not 1 <= sizes[0] <= MOST:
            refuse(origin, "has the shape %s" % (sizes,), "one of (batch, ..)")
        if self.shape is not None and tuple(self.shape) != sizes[1:]:
            raise ValueError("%s: samples are of shape %s, got %s" % (origin, sizes[1:], tuple(self.shape)))
        self.batch = sizes[0]
        readers = {node.name for node in nodes if at in node.inputs}
        last = readers != {"TRANSPOSE"}
        self.known[at] = self.builder.input(tensor.name, sizes[1:], -1 if last != self.other else 0)
        self.known[at] = self.noted(self.known[at], tensor, origin, tensor.name)
        for node in nodes:
            self.call(node)
        value = self.known.get(file.outputs[0])
        if not isinstance(value, Value):
            raise Unsupported("the output does not depend on the input")
        return self.builder.finish(self.builder.padded(value, "the output"))

    def _needed(self):
        """The nodes that the output depends on; Unsupported where odt has no such operator."""
        names, found = {self.file.outputs[0]}, []
        for node in reversed(self.file.nodes):
            if names & set(node.outputs):
                names |= set(node.inputs)
                found.append(node)
        for node in found[::-1]:
            if node.name not in ROWS:
                refuse(node.origin, "odt has no such operator", _INSTEAD.get(node.name))
        return found[::-1]

    def tensor(self, at):
        if not 0 <= at < len(self.file.tensors):
            raise ValueError("tensor %d of %d" % (at, len(self.file.tensors)))
        return self.file.tensors[at].check()

    def get(self, at):
        """A Value, a constant array, or None where no tensor is given."""
        if at not in self.known:
            self.known[at] = self.tensor(at).constant()
        return self.known[at]

    def call(self, node):
        a = _Arguments(self, node)
        if not any(isinstance(each, Value) for each in a.inputs):
            if node.name not in FOLDED:
                refuse(a.origin, "computes with constants alone", "a network whose constants are folded")
            numbers = [
                each if each is None or node.name != "DEQUANTIZE" else a.meaning(at) for at, each in enumerate(a.inputs)
            ]
            made, count = fold(node.name, numbers, node.options, a.made, len(node.outputs), self.budget, a.origin)
            self.budget -= count
        else:
            if node.name not in ATTRIBUTES:
                refuse(a.origin, "odt has no such operator", "constants")
            call = CALLS.get(node.name) or getattr(_Reader, "_" + node.name)
            made = call(self, a)
        made = made if isinstance(made, list) else [made]
        if len(made) != len(node.outputs):
            refuse(a.origin, "has %d outputs" % len(node.outputs), "%d" % len(made))
        spread = [self.spread[at] for at in node.inputs if at in self.spread]
        if spread and node.name not in (*_RESHAPES, *_SPREADS, "BATCH_TO_SPACE_ND"):
            refuse(a.origin, "lies between SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND", "a convolution there")
        for at, each in zip(node.outputs, made):
            if isinstance(each, Value):
                tensor = self.tensor(at)
                each = self._copied(a, each, tensor) if node.name in _COPIES else each
                each = self.noted(each, tensor, a.origin, a.name)
                if spread and node.name in _SPREADS:
                    if any(other != spread[0] for other in spread) or sum(
                        isinstance(v, Value) for v in a.inputs
                    ) != len(spread):
                        refuse(a.origin, "joins what SPACE_TO_BATCH_ND gave with something else", "one path")
                    self.spread[at] = spread[0]
            self.known[at] = each

    def _copied(self, a, value, tensor):
        """What copied bytes mean where their scale or zero point is another after than before."""
        before, after = self.tensor(a.numbers[a.first]).steps(), tensor.steps()
        if before is None or after is None or before == after:
            return value
        gain = after[0] / before[0]
        return self.builder.affine(value, gain, (before[1] - after[1]) * after[0], a.name + "_steps", a.origin)

    def noted(self, value, tensor, origin, name):
        """The value, with what its tensor's bytes mean."""
        if tensor.kind[0] == "f":
            return value
        if tensor.kind not in ("i1", "u1", "i2"):
            refuse(origin, "gives numbers of type %d" % tensor.type, "float32, int8 or uint8")
        if tensor.scale is None or tensor.scale.size != 1:
            refuse(origin, "gives %s without one scale" % np.dtype(tensor.kind), "int8 with a scale, or float32")
        if tensor.kind == "i2":
            return value
        scale, zero = tensor.steps()
        return self.builder.bytes(value, scale, zero - (128 if tensor.kind == "u1" else 0), name, origin)

    # --- operators ----------------------------------------------------------------------------

    def _CONV_2D(self, a):
        kernel = a.weight(1)
        if kernel.ndim != 4 or not kernel.size:
            raise ValueError("%s: a kernel of shape %s" % (a.origin, kernel.shape))
        groups = a.value(0).source[-1] // kernel.shape[-1]
        return self._windows(a, kernel, max(groups, 1), a.steps(1, 0))

    def _DEPTHWISE_CONV_2D(self, a):
        kernel, channels = a.weight(1), a.value(0).source[-1]
        if kernel.ndim != 4 or kernel.shape[0] != 1:
            raise ValueError(
                "%s: the kernel's shape is %s, expected (1, height, width, channels)" % (a.origin, kernel.shape)
            )
        times = a.options["DepthMultiplier"]
        if times and times * channels != kernel.shape[3]:
            place = (a.origin, times, channels, kernel.shape)
            raise ValueError("%s: %d times %d channels, the kernel's shape is %s" % place)
        kernel = np.moveaxis(kernel, 3, 0)[:, 0, :, :, None]
        return self._windows(a, kernel, channels, a.steps(1, 3))

    def _windows(self, a, kernel, groups, steps):
        options, value = a.options, a.value(0)
        dilation = options["DilationHFactor"], options["DilationWFactor"]
        strides = options["StrideH"], options["StrideW"]
        pads, same = a.padding()
        if a.numbers[0] in self.spread:
            apart = self.spread[a.numbers[0]][0]
            if dilation != (1, 1) or strides != (1, 1) or same and kernel.shape[1:3] != (1, 1) or len(apart) != 3:
                refuse(
                    a.origin, "slides in steps between SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND", "dilation of its own"
                )
            dilation, same, pads = tuple(apart[:2]), None, ((0, 0), (0, 0))
        made = self.builder.conv(
            value, kernel, a.bias(2), strides, pads, groups, a.name, a.origin, dilation, same, steps,
        )  # fmt: skip
        return a.activated(made)

    def _SPACE_TO_BATCH_ND(self, a):
        """With the convolution and the BATCH_TO_SPACE_ND after it, a dilation; what that cuts is not padded here."""
        value, block, pads = a.value(0), a.ints(1), a.pairs(2)
        rank, crops = len(value.source), self._cut_after(a)
        if a.numbers[0] in self.spread or len(block) != len(pads) or len(block) != len(crops) or len(block) >= rank:
            refuse(
                a.origin,
                "has blocks of %s for samples of shape %s" % (block, value.source),
                "one along each axis of an image",
            )
        pads = [(first - less, last - more) for (first, last), (less, more) in zip(pads, crops)]
        if min(block) < 1 or any(n < 0 for pair in pads for n in pair):
            refuse(a.origin, "pads less than BATCH_TO_SPACE_ND cuts: %s" % pads, "a convolution with a dilation")
        rest = rank - len(block)
        self.spread[a.outputs[0]] = [*block, *[1] * rest], crops
        return self.builder.pad(value, [*pads, *[(0, 0)] * rest], a.origin)

    def _cut_after(self, a):
        """What the BATCH_TO_SPACE_ND cuts that follows, of each axis."""
        at = a.outputs[0]
        for node in self.file.nodes:
            if at in node.inputs:
                if node.name == "BATCH_TO_SPACE_ND" and len(node.inputs) == 3:
                    crops = self.get(node.inputs[2])
                    return _pairs(crops, a.origin) if isinstance(crops, np.ndarray) else []
                at = (node.outputs or [None])[0]
        return refuse(a.origin, "has no BATCH_TO_SPACE_ND after it", "a convolution with a dilation")

    def _BATCH_TO_SPACE_ND(self, a):
        apart, crops = self.spread.get(a.numbers[0], ([], []))
        block = a.ints(1)
        if not apart or apart != block + [1] * (len(apart) - len(block)) or crops != a.pairs(2):
            refuse(a.origin, "has blocks of %s" % block, "those of the SPACE_TO_BATCH_ND before it")
        return a.value(0)

    def _TRANSPOSE_CONV(self, a):
        options, kernel, value, shape = a.options, a.weight(1), a.value(2), a.ints(0)
        if kernel.ndim != 4 or len(shape) != 4 or len(value.source) != 3:
            raise ValueError("%s: a kernel of shape %s for an output of %s" % (a.origin, kernel.shape, shape))
        strides, pads, extra = (options["StrideH"], options["StrideW"]), [], []
        same = a.padding()[1]
        for n, width, stride, wanted in zip(value.source, kernel.shape[1:3], strides, shape[1:3]):
            total = (n - 1) * stride + width - wanted
            if same and n != -(-wanted // max(stride, 1)):
                refuse(
                    a.origin, "makes %d positions of %d, with strides of %d" % (wanted, n, stride), "the sizes of SAME"
                )
            first = max(total, 0) // 2 if same else 0
            pads.append((first, max(total, 0) - first))
            extra.append(max(-total, 0))
        made = self.builder.transposed(
            value, kernel, a.bias(3), strides, pads, extra, 1, a.name, a.origin, steps=a.steps(1, 0)
        )
        return a.activated(made)

    def _FULLY_CONNECTED(self, a):
        value, kernel = a.value(0), a.weight(1)
        if not a.options["KeepNumDims"] and len(value.source) > 1:
            if kernel.ndim != 2 or kernel.shape[1] != value.index.size:
                refuse(
                    a.origin, "takes rows of %s as samples of the batch" % (value.source,),
                    "keep_num_dims, or a kernel that takes all of a sample",
                )  # fmt: skip
            value = self.builder.reshape(value, (value.index.size,), a.origin)
        return a.activated(self.builder.dense(value, kernel, a.bias(2), a.name, a.origin, a.steps(1, 0)))

    def _BATCH_MATMUL(self, a):
        kernel, axis = a.weight(1), 1
        if kernel.ndim < 2 or any(n != 1 for n in kernel.shape[:-2]):
            refuse(a.origin, "multiplies by a constant of shape %s" % (kernel.shape,), "a matrix")
        kernel = kernel.reshape(kernel.shape[-2:])
        if not a.options["AdjY"]:
            kernel, axis = kernel.T, 0
        steps = a.steps(1, a.shape(1) - 1 - axis)
        return self.builder.dense(a.value(0), kernel, None, a.name, a.origin, steps)

    def _pool(self, a, op):
        options, value = a.options, a.value(0)
        size, strides = (options["FilterHeight"], options["FilterWidth"]), (options["StrideH"], options["StrideW"])
        pads, same = a.padding()
        if value.source[:2] == size and not same and value.pads is None:
            made = self.builder.global_pool(op, value, True, a.name, a.origin, True)
        else:
            made = self.builder.pool(op, value, size, strides, pads, False, a.name, a.origin, same=same, away=True)
        return a.activated(made)

    def _reduced(self, a, op):
        value = a.value(0)
        axes = [a.axis(axis) for axis in a.ints(1)]
        if 0 in axes:
            refuse(a.origin, "goes over the axis of the batch", "axes from 1 on")
        axes = [axis - 1 for axis in axes]
        return self.builder.reduce(op, value, axes, a.options["KeepDims"], a.name, a.origin)

    def _SUM(self, a):
        made = self._reduced(a, "avgpool")
        count = a.value(0).index.size // made.index.size
        return self.builder.affine(made, count, 0, a.name + "_count", a.origin) if count > 1 else made

    def _extreme(self, a, larger):
        first, second = a.operands()
        value, number = (first, second) if isinstance(first, Value) else (second, first)
        if isinstance(number, Value) or number.size != 1:
            refuse(a.origin, "compares with what is no single number", "a number")
        number = float(number.ravel()[0])
        limits = (number, None) if larger else (None, number)
        return self.builder.limited(value, *limits, a.name, a.origin)

    def _POW(self, a):
        exponent = a.meaning(1)
        return self.builder.power(a.value(0), exponent.ravel()[0] if exponent.size == 1 else None, a.name, a.origin)

    def _SOFTMAX(self, a):
        value, beta = a.value(0), a.options["Beta"]
        if beta != 1:
            value = self.builder.affine(value, beta, 0, a.name + "_beta", a.origin)
        return self.builder.softmax(value, -1, a.name, a.origin)

    def _CONCATENATION(self, a):
        axis = a.axis(a.options["Axis"])
        if axis == 0:
            refuse(a.origin, "concatenates batches")
        return a.activated(self.builder.concatenate(a.inputs, axis - 1, a.name, a.origin))

    def _PACK(self, a):
        axis = a.axis(a.options["Axis"], len(a.value(a.first).source) + 2)
        if axis == 0:
            refuse(a.origin, "concatenates batches")
        parts = [self._with_axis(a, a.value(at), axis) for at in range(len(a.inputs))]
        return self.builder.concatenate(parts, axis - 1, a.name, a.origin)

    def _RESHAPE(self, a):
        value = a.value(0)
        wanted = a.ints(1) if len(a.inputs) > 1 and a.inputs[1] is not None else a.options["NewShape"]
        if len(a.inputs) > 1 and a.inputs[1] is None or not wanted:
            wanted = list(a.made.shape)
        full = (self.batch, *self.builder.padded_source(value))
        if wanted.count(-1) == 1:
            others = -int(np.prod(wanted, dtype=object))
            wanted[wanted.index(-1)] = int(np.prod(full, dtype=object)) // others if others else 0
        if a.numbers[0] not in self.spread and (not wanted or wanted[0] != self.batch):
            refuse(a.origin, "gives %s of a batch of %d" % (tuple(wanted), self.batch), "one result per sample")
        return self._reshaped(a, value, wanted[1:])

    def _reshaped(self, a, value, source):
        """Another shape, in which a dilation's axes stay where they are; other axes of size 1 may come and go."""
        if a.numbers[a.first] in self.spread:
            apart, crops = self.spread[a.numbers[a.first]]
            left = zip(self.tensor(a.numbers[a.first]).shape[1:], self.builder.padded_source(value), apart)
            left = [each for each in left if each[0] != 1]
            made = [left.pop(0) if left and n != 1 and n == left[0][0] else (n, 1, 1) for n in a.made.shape[1:]]
            source = [n for _, n, _ in made]
            self.spread[a.outputs[0]] = [each for _, _, each in made], crops
        return self.builder.reshape(value, source, a.origin)

    def _SQUEEZE(self, a):
        value = a.value(0)
        full = (self.batch, *self.builder.padded_source(value))
        axes = [a.axis(axis) for axis in a.options["SqueezeDims"]]
        axes = axes or [at for at, n in enumerate(full) if at and n == 1]
        if 0 in axes:
            refuse(a.origin, "changes the axis of the batch", "one result per sample")
        if any(full[at] != 1 for at in axes):
            raise ValueError("%s: axes %s of %s are not 1" % (a.origin, axes, full))
        return self._reshaped(a, value, [n for at, n in enumerate(full) if at and at not in axes])

    def _EXPAND_DIMS(self, a):
        value, axes = a.value(0), a.ints(1)
        axis = a.axis(axes[0] if len(axes) == 1 else None, len(value.source) + 2)
        if axis == 0:
            refuse(a.origin, "changes the axis of the batch", "one result per sample")
        return self._with_axis(a, value, axis)

    def _with_axis(self, a, value, axis):
        source = self.builder.padded_source(value)
        return self._reshaped(a, value, source[: axis - 1] + (1,) + source[axis - 1 :])

    def _TRANSPOSE(self, a):
        order = a.ints(1)
        if not order or order[0] != 0:
            refuse(a.origin, "moves the batch")
        return self.builder.transpose(a.value(0), [axis - 1 for axis in order[1:]], a.origin)

    def _PAD(self, a):
        value, pads = a.value(0), a.pairs(1)
        if len(pads) != len(value.source) + 1 or any(pads[0]):
            refuse(a.origin, "pads by %s" % (pads,), "pads of each axis, none of the batch")
        return self.builder.pad(value, pads[1:], a.origin)

    def _PADV2(self, a):
        if np.any(a.meaning(2) != 0):
            refuse(a.origin, "pads with %s" % a.meaning(2), "zeros")
        return self._PAD(a)

    def _SLICE(self, a):
        value, starts, sizes = a.value(0), a.ints(1), a.ints(2)
        full = (self.batch, *value.source)
        if len(starts) != len(full) or len(sizes) != len(full):
            raise ValueError("%s: takes %s from %s on of %s" % (a.origin, sizes, starts, full))
        for axis, (start, count) in enumerate(zip(starts, sizes)):
            end = full[axis] if count == -1 else start + count
            if not 0 <= start <= end <= full[axis]:
                raise ValueError("%s: takes %s from %s on of %s" % (a.origin, sizes, starts, full))
            value = self.builder.cut(value, self.batch, axis, slice(start, end), a.name, a.origin)
        return value

    def _STRIDED_SLICE(self, a):
        value, cuts = a.value(0), [a.ints(at) for at in (1, 2, 3)]
        full = (self.batch, *value.source)
        if len({len(each) for each in cuts}) != 1 or len(cuts[0]) > len(full):
            raise ValueError("%s: cuts %s of %s" % (a.origin, cuts, full))
        gone = []
        for axis, (start, end, step) in enumerate(zip(*cuts)):
            masked = {name: a.options[name] >> axis & 1 for name in ("BeginMask", "EndMask", "ShrinkAxisMask")}
            if masked["ShrinkAxisMask"]:
                gone.append(axis)
                start = 0 if masked["BeginMask"] else start + full[axis] if start < 0 else start  # as LiteRT has it
                if not 0 <= start < full[axis]:
                    raise ValueError("%s: position %d of %d" % (a.origin, start, full[axis]))
                cut = slice(start, start + 1)
            else:
                cut = slice(None if masked["BeginMask"] else start, None if masked["EndMask"] else end, step)
            value = self.builder.cut(value, self.batch, axis, cut, a.name, a.origin)
        return self._without(a, value, gone)

    def _without(self, a, value, axes):
        if 0 in axes:
            refuse(a.origin, "changes the axis of the batch", "one result per sample")
        source = [n for at, n in enumerate(value.source) if at + 1 not in axes]
        return self.builder.reshape(value, source, a.origin) if axes else value

    def _parts(self, a, value, axis, sizes):
        axis = a.axis(axis, len(value.source) + 1)
        extent = (self.batch, *value.source)[axis]
        if not sizes or min(sizes) < 1 or sum(sizes) != extent:
            raise ValueError("%s: parts of %s do not make %d positions" % (a.origin, sizes, extent))
        ends = np.cumsum(sizes).tolist()
        return [
            self.builder.cut(value, self.batch, axis, slice(end - n, end), a.name, a.origin)
            for end, n in zip(ends, sizes)
        ]

    def _SPLIT(self, a):
        value, axes, count = a.value(1), a.ints(0), a.options["NumSplits"]
        axis = a.axis(axes[0] if len(axes) == 1 else None, len(value.source) + 1)
        extent = (self.batch, *value.source)[axis]
        if count != len(a.outputs) or extent % count:
            raise ValueError("%s: %d parts of %d positions" % (a.origin, count, extent))
        return self._parts(a, value, axis, [extent // count] * count)

    def _SPLIT_V(self, a):
        value, sizes, axes = a.value(0), a.ints(1), a.ints(2)
        axis = a.axis(axes[0] if len(axes) == 1 else None)
        extent = (self.batch, *value.source)[axis]
        sizes = [extent - sum(sizes) - 1 if n == -1 else n for n in sizes]
        if len(sizes) != a.options["NumSplits"]:
            raise ValueError("%s: %d sizes of %d parts" % (a.origin, len(sizes), a.options["NumSplits"]))
        return self._parts(a, value, axis, sizes)

    def _UNPACK(self, a):
        value, axis = a.value(0), a.axis(a.options["Axis"])
        extent = (self.batch, *value.source)[axis]
        if extent != len(a.outputs):
            raise ValueError("%s: %d positions in %d outputs" % (a.origin, extent, len(a.outputs)))
        parts = self._parts(a, value, axis, [1] * extent)
        return [self._without(a, part, [axis]) for part in parts]

    def _GATHER(self, a):
        value, chosen = a.value(0), a.ints(1)
        axis = a.axis(a.options["Axis"])
        extent = (self.batch, *value.source)[axis]
        if any(not 0 <= n < extent for n in chosen) or len(a.inputs[1].shape) > 1:
            raise ValueError("%s: takes positions %s of %d" % (a.origin, chosen[:8], extent))
        step = chosen[1] - chosen[0] if len(chosen) > 1 else 1
        if not chosen or step < 1 or chosen != list(range(chosen[0], chosen[0] + step * len(chosen), step)):
            refuse(a.origin, "takes the positions %s" % chosen[:8], "positions in equal steps, forwards")
        made = self.builder.cut(value, self.batch, axis, slice(chosen[0], chosen[-1] + 1, step), a.name, a.origin)
        return made if a.inputs[1].ndim else self._without(a, made, [axis])

    def _times(self, a):
        """The factors by which an image is enlarged, if they are whole numbers."""
        value, wanted = a.value(0), a.ints(1)
        if len(value.source) != 3 or len(wanted) != 2:
            raise ValueError("%s: enlarges samples of %s to %s" % (a.origin, value.source, wanted))
        times = [n // extent for n, extent in zip(wanted, value.source)]
        if min(times) < 1 or [n * extent for n, extent in zip(times, value.source)] != wanted:
            refuse(a.origin, "enlarges %s to %s" % (value.source[:2], wanted), "whole factors")
        if a.options["AlignCorners"]:
            refuse(a.origin, "enlarges with align_corners", "half_pixel_centers")
        return times

    def _RESIZE_BILINEAR(self, a):
        times = self._times(a)
        if not a.options["HalfPixelCenters"] and max(times) > 1:
            refuse(a.origin, "enlarges without half_pixel_centers", "half_pixel_centers")
        return self.builder.bilinear(a.value(0), times, a.name, a.origin)

    def _QUANTIZE(self, a):
        return a.value(0)

    _DEQUANTIZE = _QUANTIZE

    def _CAST(self, a):
        if a.made.kind != "f4":
            refuse(a.origin, "rounds the network's numbers to type %d" % a.made.type, "float32 throughout")
        if self.tensor(a.numbers[0]).kind != "f4":
            refuse(a.origin, "takes bytes as numbers", "DEQUANTIZE")
        return a.value(0)


# Operators that are one call: of the reader r and the arguments a.
CALLS = {
    "SHAPE": lambda r, a: np.array((r.batch, *r.builder.padded_source(a.value(0)))),
    "MAX_POOL_2D": lambda r, a: r._pool(a, "maxpool"),
    "AVERAGE_POOL_2D": lambda r, a: r._pool(a, "avgpool"),
    "MEAN": lambda r, a: r._reduced(a, "avgpool"),
    "REDUCE_MAX": lambda r, a: r._reduced(a, "maxpool"),
    "ADD": lambda r, a: a.activated(r.builder.arithmetic("add", *a.operands(), a.name, a.origin)),
    "MUL": lambda r, a: a.activated(r.builder.arithmetic("multiply", *a.operands(), a.name, a.origin)),
    "SUB": lambda r, a: a.activated(r.builder.subtract(*a.operands(), a.name, a.origin)),
    "DIV": lambda r, a: a.activated(r.builder.divide(*a.operands(), a.name, a.origin)),
    "MAXIMUM": lambda r, a: r._extreme(a, True),
    "MINIMUM": lambda r, a: r._extreme(a, False),
    "RELU": lambda r, a: r.builder.unary("relu", a.value(0), a.name, a.origin),
    "RELU6": lambda r, a: r.builder.unary("relu6", a.value(0), a.name, a.origin),
    "RELU_0_TO_1": lambda r, a: r.builder.limited(a.value(0), 0, 1, a.name, a.origin),
    "RELU_N1_TO_1": lambda r, a: r.builder.limited(a.value(0), -1, 1, a.name, a.origin),
    "LEAKY_RELU": lambda r, a: r.builder.leaky_relu(a.value(0), a.options["Alpha"], a.name, a.origin),
    "PRELU": lambda r, a: r.builder.leaky_relu(a.value(0), a.weight(1), a.name, a.origin),
    "LOGISTIC": lambda r, a: r.builder.unary("sigmoid", a.value(0), a.name, a.origin),
    "TANH": lambda r, a: r.builder.unary("tanh", a.value(0), a.name, a.origin),
    "GELU": lambda r, a: r.builder.gelu(a.value(0), a.options["Approximate"], a.name, a.origin),
    "ELU": lambda r, a: r.builder.elu(a.value(0), 1, a.name, a.origin),
    "HARD_SWISH": lambda r, a: r.builder.hard_swish(a.value(0), a.name, a.origin),
    "ABS": lambda r, a: r.builder.absolute(a.value(0), a.name, a.origin),
    "NEG": lambda r, a: r.builder.affine(a.value(0), -1, 0, a.name, a.origin),
    "SQUARE": lambda r, a: r.builder.power(a.value(0), 2, a.name, a.origin),
    "RESIZE_NEAREST_NEIGHBOR": lambda r, a: r.builder.upsample(a.value(0), r._times(a), a.name, a.origin),
}


class _Arguments:
    """Inputs and options of one node; ``first``: the number of the first input that is a tensor of the network."""

    def __init__(self, reader, node):
        self.reader, self.node, self.origin = reader, node, node.origin
        self.numbers, self.outputs = node.inputs, node.outputs
        self.inputs = [reader.get(at) for at in self.numbers]
        if not self.inputs or not self.outputs or any(at in reader.known for at in self.outputs):
            raise ValueError("%s: has %d inputs, and outputs %s" % (node.origin, len(self.inputs), self.outputs))
        checked(node.name, node.options, node.wrong, node.origin)
        self.options, self.made = node.options, reader.tensor(self.outputs[0])
        self.name, self.first = self.made.name, None
        for at, each in enumerate(self.inputs):
            if isinstance(each, Value):
                self.first = at if self.first is None else self.first
                if node.name not in _AFTER_PADS:
                    self.inputs[at] = reader.builder.padded(each, node.origin)

    def value(self, at):
        if at >= len(self.inputs) or not isinstance(self.inputs[at], Value):
            refuse(self.origin, "input %d is no tensor of the network" % at)
        return self.inputs[at]

    def constant(self, at):
        given = self.inputs[at] if at < len(self.inputs) else None
        if not isinstance(given, np.ndarray):
            refuse(self.origin, "input %d is %s" % (at, "not there" if given is None else "computed"), "a constant")
        return given

    def shape(self, at):
        return self.constant(at).ndim

    def ints(self, at):
        """A constant of whole numbers, as a list."""
        given = self.constant(at)
        if given.dtype.kind not in "iu" or given.size > 64:
            raise ValueError(
                "%s: input %d is of %s, %s; sizes are expected" % (self.origin, at, given.dtype, given.shape)
            )
        return [int(n) for n in np.ravel(given)]

    def pairs(self, at):
        """A constant of two whole numbers for each axis."""
        return _pairs(self.constant(at), self.origin)

    def axis(self, axis, rank=None):
        """An axis counted from the first one, the batch."""
        rank = rank or len(self.value(self.first).source) + 1
        if axis is None or not -rank <= axis < rank:
            raise ValueError("%s: axis %s of %d" % (self.origin, axis, rank))
        return axis % rank

    def meaning(self, at):
        """A constant's numbers, as what its bytes mean."""
        each = self.constant(at)
        return (
            self.reader.tensor(self.numbers[at]).meaning(each) if each.dtype.kind in "iu" else each.astype(np.float64)
        )

    def operands(self):
        if len(self.inputs) != 2:
            raise ValueError("%s: has %d inputs, expected 2" % (self.origin, len(self.inputs)))
        return [each if isinstance(each, Value) else self.meaning(at) for at, each in enumerate(self.inputs)]

    def weight(self, at):
        if at >= len(self.inputs):
            raise ValueError("%s: has %d inputs, and no weights" % (self.origin, len(self.inputs)))
        number = self.numbers[at]
        if self.reader.read_by.setdefault(number, self.outputs[0]) != self.outputs[0]:
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
        return tensor.scale.astype(np.float64)

    def bias(self, at):
        return self.meaning(at) if at < len(self.inputs) and self.inputs[at] is not None else None

    def padding(self):
        """pads and same, as the Builder takes them."""
        word = self.options["Padding"]
        if word not in (tflite.Padding.SAME, tflite.Padding.VALID):
            raise ValueError("%s: has the padding %d" % (self.origin, word))
        return (None, "upper") if word == tflite.Padding.SAME else (((0, 0), (0, 0)), None)

    def activated(self, value):
        kind, builder = self.options["FusedActivationFunction"], self.reader.builder
        kinds = tflite.ActivationFunctionType
        if kind == kinds.NONE:
            return value
        if kind == kinds.RELU_N1_TO_1:
            return builder.limited(value, -1, 1, self.name + "_limits", self.origin)
        op = {kinds.RELU: "relu", kinds.RELU6: "relu6"}.get(kind)
        if op is None:  # of a TANH here LiteRT computes nothing
            refuse(self.origin, "ends with activation %d" % kind, "RELU or RELU6, or an operator of its own")
        return builder.unary(op, value, self.name + "_" + op, self.origin)


def _pairs(given, origin):
    if given.dtype.kind not in "iu" or given.size % 2 or given.size > 64:
        raise ValueError("%s: pairs of sizes are expected, got %s of shape %s" % (origin, given.dtype, given.shape))
    return [(int(first), int(last)) for first, last in given.reshape(-1, 2)]


_AFTER_PADS = (
    "CONV_2D", "DEPTHWISE_CONV_2D", "MAX_POOL_2D", "AVERAGE_POOL_2D", "PAD", "PADV2", "RESHAPE", "SQUEEZE",
    "EXPAND_DIMS", "SHAPE",
    "SPACE_TO_BATCH_ND", "DEQUANTIZE", "TRANSPOSE",
)  # fmt: skip
_RESHAPES = ("RESHAPE", "SQUEEZE", "EXPAND_DIMS")
_COPIES = (  # bytes as they are, whatever they mean
    *_RESHAPES, "TRANSPOSE", "SLICE", "STRIDED_SLICE", "SPLIT", "SPLIT_V", "UNPACK", "GATHER",
)  # fmt: skip
_SPREADS = (  # computes the same of samples that SPACE_TO_BATCH_ND has made
    "CONV_2D", "DEPTHWISE_CONV_2D", "ADD", "SUB", "MUL", "DIV", "RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1",
    "LEAKY_RELU", "PRELU",
    "LOGISTIC", "TANH", "HARD_SWISH", "GELU", "ELU", "QUANTIZE", "DEQUANTIZE",
)  # fmt: skip
OPERATORS = set(ATTRIBUTES)
_NO_RECURRENCE = "the .keras file, whose GRU, LSTM and SimpleRNN are imported, or CONV_2D over the sequence"
_INSTEAD = {
    "LSTM": _NO_RECURRENCE,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _NO_RECURRENCE,
    "BIDIRECTIONAL_SEQUENCE_LSTM": _NO_RECURRENCE,
    "RNN": _NO_RECURRENCE,
    "UNIDIRECTIONAL_SEQUENCE_RNN": _NO_RECURRENCE,
    "BIDIRECTIONAL_SEQUENCE_RNN": _NO_RECURRENCE,
    "SVDF": _NO_RECURRENCE,
    "WHILE": _NO_RECURRENCE + "; a GRU or LSTM of Keras becomes WHILE, too",
    "IF": "a network without branches",
    "CUSTOM": "TensorFlow Lite's own operators",
    "LOG_SOFTMAX": "no softmax: odt's cross-entropy contains it",
    "CONV_3D": "CONV_2D",
    "ARG_MAX": "the scores: odt's predict gives them all",
    "DEPTH_TO_SPACE": "TRANSPOSE_CONV, or RESIZE_NEAREST_NEIGHBOR and CONV_2D",
    "SPACE_TO_DEPTH": "CONV_2D with strides",
    "L2_NORMALIZATION": "BATCH_NORMALIZATION before it, folded",
    "EMBEDDING_LOOKUP": "the .keras or .onnx file, whose Embedding is imported",
}
