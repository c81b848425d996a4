"""Writes an odt model as ONNX: float, or with its bytes and scales as QDQ, for the tools that other people have.

Samples stay as odt has them, channels last; a Transpose in the file turns them. Weights are those that odt computes
with: in int8 the bytes and their scales, without the residuals, which only training reads.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from ...base.fixed import ONE, bits_to_float, get
from ...base.regions import ARENA, CONSTANTS, STATE, X_SCALE
from ...plan.compiler import compile_graph
from ...plan.values import home
from ...recurrent.layers import Projection
from ...run.session import is_untrained, ready
from ...run.weights import read
from ..files import write_file
from .graph import Unsupported
from .sequences.recurrence import ONNX

_OPSET = 17
_TYPES = {"float32": TensorProto.FLOAT, "uint8": TensorProto.UINT8, "int8": TensorProto.INT8,
          "int16": TensorProto.INT16, "uint16": TensorProto.UINT16, "int32": TensorProto.INT32}  # fmt: skip
_SAME = ("maxpool2d", "upsample2d", "dropout")  # their numbers are bytes of the scale before


def save_onnx(model, path):
    """Write the network of a compiled model, with its weights and ranges, to ``path``.

    Its input "x" takes (samples, *shape of the Input) in the Input's dtype, its output is what ``predict`` gives. An
    int8 model becomes a network of QuantizeLinear and DequantizeLinear. A model of ``load_model`` has no layers: make
    it by its script and ``load_weights`` from the file. Unsupported (a ValueError) names a layer that ONNX has no
    operator for; nothing is written then. RuntimeError before ``compile``.
    """
    session = ready(model)
    if not hasattr(model, "nodes"):
        raise Unsupported("a model of load_model has no layers; instead: make it by its script, and load_weights(file)")
    if session.dtype == "int8" and not session.calibrated:
        raise ValueError("the model's ranges are not known yet: calibrate(x) or fit first")
    proto = _Writer(model, session).proto()
    onnx.checker.check_model(proto)
    write_file(path, [proto.SerializeToString()])


def _values(model, session):
    """The buffer of each node's output, in int8: the network is planned once more.

    RuntimeError where it has changed since.
    """
    optimizer = None if is_untrained(session) else session.optimizer
    noted = []
    plan = compile_graph(
        model.nodes, session.loss, optimizer, session.dtype, session.batch_size, session.micro, session.plan.segments,
        session.plan.flash, noted, session.plan.bits, session.plan.rows,
    )  # fmt: skip
    if plan.code != model.program.code:
        raise RuntimeError("the network, its loss or its optimizer has changed since compile()")
    return plan.values


class _Writer:
    def __init__(self, model, session):
        self.model, self.session = model, session
        self.int8 = session.dtype == "int8"
        self.nodes, self.constants, self.names = [], [], {}
        self.values = _values(model, session) if self.int8 else {}
        self.parameters = dict(session.plan.weights)
        self.turned = set()  # tensors whose channels are first
        self.scales = {}  # of a node's name: (scale, zero point)

    def proto(self):
        first, last = self.model.nodes[0], self.model.nodes[-1]
        for node in self.model.nodes:
            self.names[node] = self._node(node)
        name = self._last(self.names[last], last)
        self._add("Identity", [name], "y")
        graph = helper.make_graph(
            self.nodes, "odt",
            [helper.make_tensor_value_info("x", _TYPES[first.layer.dtype], ("n", *first.shape))],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, ("n", *last.shape))], self.constants,
        )  # fmt: skip
        return helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=9, producer_name="odt"
        )

    # --- pieces -------------------------------------------------------------------------------

    def _add(self, op, inputs, name, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        return name

    def _constant(self, name, values, dtype=np.float32):
        self.constants.append(numpy_helper.from_array(np.array(values, dtype, order="C"), name))
        return name

    def _first(self, name, node):
        """The tensor with its channels first."""
        rank = len(node.shape)
        if rank == 1 or name in self.turned:
            return name
        made = name + " first"
        if made not in self.turned:
            self._add("Transpose", [name], made, perm=[0, rank, *range(1, rank)])
            self.turned.add(made)
        return made

    def _last(self, name, node):
        """The tensor with its channels last."""
        rank = len(node.shape)
        if name not in self.turned:
            return name
        made = name + " last"
        if not any(made in each.output for each in self.nodes):
            self._add("Transpose", [name], made, perm=[0, *range(2, rank + 1), 1])
        return made

    def _quantized(self, name, node):
        """The tensor as its bytes mean it."""
        value = self.values[node]
        owner, shift = home(value.scale)
        if owner.region == ARENA:  # a Dropout's, which while nothing trains is that of its input
            scale = self._scale_of(node.inputs[0])
        else:
            bits = get(self.session.regions[owner.region], owner.offset + shift)
            scale = np.float32(bits_to_float(bits) * bits_to_float(value.factor))
        zero = value.zero
        self.scales[node] = scale
        scale = self._constant(name + " scale", scale)
        zero = self._constant(name + " zero", zero, np.int8)
        self._add("QuantizeLinear", [name, scale, zero], name + " q")
        made = self._add("DequantizeLinear", [name + " q", scale, zero], name + " dq")
        if name in self.turned:
            self.turned.add(made)
        return made

    def _weights(self, node):
        """Names of kernel and bias (or None), the kernel channels first."""
        layer, parameters = node.layer, self.parameters[node.layer]
        state, frozen = self.session.state, self.session.frozen
        values = read(layer, state, frozen, parameters, self.int8)
        shape = layer.weight_shapes()[0][1]
        bias = values[1] if len(values) > 1 else [0] * shape[0]
        if parameters.folded and len(values) == 1:  # a BatchNorm's
            bias = read(parameters.folded[0], state, frozen, parameters.folded[1], self.int8)[1]
        bias = np.array(bias, np.float64)
        order = (0, len(shape) - 1, *range(1, len(shape) - 1)) if len(shape) > 2 else (0, 1)
        if layer.kind == "transposed2d":
            order = (len(shape) - 1, 0, *range(1, len(shape) - 1))
        if not self.int8:
            kernel = np.array(values[0], np.float32).reshape(shape).transpose(order)
            return self._constant(layer.name + " kernel", kernel), self._constant(layer.name + " bias", bias)
        at = parameters.kernel.offset
        memory = self._memory(parameters.kernel)
        count = parameters.rows * parameters.columns
        kernel = np.frombuffer(bytes(memory[at : at + count]), np.int8).reshape(shape).transpose(order)
        memory, at = self._memory(parameters.scale), parameters.scale.offset
        scales = np.array([bits_to_float(get(memory, at + 4 * row)) for row in range(parameters.rows)], np.float32)
        zeros = np.zeros(len(scales), np.int8)
        axis = order.index(0)
        names = [
            self._constant(layer.name + " kernel q", kernel, np.int8),
            self._constant(layer.name + " kernel scale", scales),
            self._constant(layer.name + " kernel zero", zeros, np.int8),
        ]
        self._add("DequantizeLinear", names, layer.name + " kernel", axis=axis)
        unit = scales * np.float32(self._scale_of(node.inputs[0]))
        whole = np.clip(np.rint(bias / unit), -(2**30), 2**30)
        names = [
            self._constant(layer.name + " bias q", whole, np.int32),
            self._constant(layer.name + " bias scale", unit),
            self._constant(layer.name + " bias zero", np.zeros(len(unit)), np.int32),
        ]
        self._add("DequantizeLinear", names, layer.name + " bias", axis=0)
        return layer.name + " kernel", layer.name + " bias"

    def _memory(self, buffer):
        regions = self.session.regions
        if hasattr(buffer, "memory"):  # files/split.py, inspect/packed.py
            memory = buffer.memory(regions[STATE], regions[CONSTANTS])
            return bytes(buffer.offset) + bytes([memory[buffer.offset + index] for index in range(buffer.size)])
        return regions[buffer.region]

    def _scale_of(self, node):
        """The scale of a node's bytes, or of those that they are."""
        while node not in self.scales:
            node = node.inputs[0] if node.alias is None else node.alias
        return self.scales[node]

    # --- layers -------------------------------------------------------------------------------

    def _node(self, node):
        layer = node.layer
        if layer.kind == "input":
            return self._input(node)
        if isinstance(layer, Projection):  # a part of the recurrent operator
            return self.names[node.inputs[0]]
        if node.alias is not None:
            return self.names[node.alias]
        inputs = [self.names[each] for each in node.inputs]
        make = getattr(self, "_joined" if layer.kind == "add" else "_" + layer.kind, None)
        if make is None:
            raise Unsupported("layer %s (%s): ONNX has no operator for it" % (layer.name, type(layer).__name__))
        name = make(node, inputs)
        clamp = node.relu or node.clamp
        if clamp:
            turned = name in self.turned
            name = self._clamped(name, clamp)
            if turned:
                self.turned.add(name)
        if not self.int8 or layer.view or layer.kind in _SAME:
            return name
        return self._quantized(name, node)

    def _clamped(self, name, clamp):
        if clamp == 1:
            return self._add("Relu", [name], name + " relu")
        limits = [self._constant(name + " low", 0.0), self._constant(name + " high", 6.0)]
        return self._add("Clip", [name, *limits], name + " relu6")

    def _input(self, node):
        layer = node.layer
        if all(each.layer.kind == "embedding" for each in self.model.nodes if node in each.inputs):
            return "x"
        if layer.dtype == "float32":
            return self._quantized("x", node) if self.int8 else "x"
        scale = np.float32(bits_to_float(self.session.control[X_SCALE]))  # as compile() has rounded it
        if layer.dtype in ("uint8", "int8"):
            names = [self._constant("x scale", scale), self._constant("x zero", layer.zero_point, layer.dtype)]
            self.scales[node] = scale
            return self._add("DequantizeLinear", ["x", *names], "x dq")
        name = self._add("Cast", ["x"], "x float", to=TensorProto.FLOAT)
        name = self._add("Sub", [name, self._constant("x zero", layer.zero_point)], "x less zero")
        name = self._add("Mul", [name, self._constant("x scale", scale)], "x real")
        return self._quantized(name, node) if self.int8 else name

    def _dense(self, node, inputs):
        kernel, bias = self._weights(node)
        name, (x,) = node.layer.name, [self._last(inputs[0], node.inputs[0])]
        if len(node.shape) == 1:
            return self._add("Gemm", [x, kernel, bias], name, transB=1)
        turned = self._add("Transpose", [kernel], name + " turned", perm=[1, 0])
        return self._add("Add", [self._add("MatMul", [x, turned], name + " product"), bias], name)

    def _recurrent(self, op, node, inputs, **attributes):
        """Steps come first there, and directions before the batch. In int8 between the bytes of input and output the
        operator computes in float.
        """
        layer, projection = node.layer, node.inputs[0]
        if layer.stateful:
            raise Unsupported("layer %s: is stateful; ONNX's operators begin with 0: build it without" % layer.name)
        name, units, blocks = layer.name, layer.units, layer.gates
        weights, order = {}, np.argsort(ONNX[type(layer).__name__])  # where ONNX's gates are in odt's
        for prefix, each in (("", projection.layer), ("recurrent ", layer)):
            values = read(each, self.session.state, self.session.frozen, self.parameters[each], self.int8)
            for (kind, shape), value in zip(each.weight_shapes(), values):
                weights[prefix + kind] = np.array(value, np.float32).reshape(blocks, units, *shape[1:])[order]
        none = np.zeros((blocks, units))
        both = [weights.get(kind, none).reshape(1, -1) for kind in ("bias", "recurrent bias")]
        given = [
            self._constant(name + " kernel", weights["kernel"].reshape(1, blocks * units, -1)),
            self._constant(name + " recurrent kernel", weights["recurrent kernel"].reshape(1, blocks * units, -1)),
            self._constant(name + " bias", np.concatenate(both, 1)),
        ]
        x = self._last(inputs[0], projection.inputs[0])
        x = self._add("Transpose", [x], name + " steps first", perm=[1, 0, 2])
        outputs = [name + " all", name + " end"]
        self.nodes.append(helper.make_node(op, [x, *given], outputs, name + " cells", hidden_size=units, **attributes))
        if not layer.return_sequences:
            return self._add("Squeeze", [outputs[1], self._constant(name + " axis", [0], np.int64)], name)
        made = self._add("Squeeze", [outputs[0], self._constant(name + " axis", [1], np.int64)], name + " each")
        return self._add("Transpose", [made], name, perm=[1, 0, 2])

    def _gru(self, node, inputs):
        return self._recurrent("GRU", node, inputs, linear_before_reset=1)

    def _lstm(self, node, inputs):
        return self._recurrent("LSTM", node, inputs)

    def _simple_rnn(self, node, inputs):
        return self._recurrent("RNN", node, inputs)

    def _images(self, node, op, inputs, **attributes):
        x = [self._first(inputs[0], node.inputs[0]), *inputs[1:]]
        name = self._add(op, x, node.layer.name, **attributes)
        self.turned.add(name)
        return name

    def _window(self, layer):
        """(size, strides, before, after) of each axis of the layer."""
        h, w, _, _, kh, kw, sh, sw, pt, pl, oh, ow = layer.window
        rows = [(kh, sh, pt, h, oh), (kw, sw, pl, w, ow)][2 - layer.axes :]
        after = [
            max((out - 1) * stride + (size - 1) * rate + 1 - extent - before, 0)
            for (size, stride, before, extent, out), rate in zip(rows, layer.dilation_rate)
        ]
        return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows], after

    def _conv2d(self, node, inputs):
        size, strides, before, after = self._window(node.layer)
        kernel, bias = self._weights(node)
        group = getattr(node.layer, "groups", None) or (node.shape[-1] if node.layer.by_channel else 1)
        return self._images(
            node,
            "Conv",
            [inputs[0], kernel, bias],
            kernel_shape=size,
            strides=strides,
            dilations=node.layer.dilation_rate,
            pads=before + after,
            group=group,
        )

    _group_conv2d = _depthwise2d = _conv2d

    def _transposed2d(self, node, inputs):
        h, w, _, _, kh, kw, sh, sw, pt, pl, oh, ow = node.layer.window
        rows = [(kh, sh, pt, h, oh), (kw, sw, pl, w, ow)][2 - node.layer.axes :]
        after = [(extent - 1) * stride + size - before - out for size, stride, before, extent, out in rows]
        kernel, bias = self._weights(node)
        return self._images(
            node, "ConvTranspose", [inputs[0], kernel, bias], kernel_shape=[row[0] for row in rows],
            strides=[row[1] for row in rows], pads=[row[2] for row in rows] + [max(n, 0) for n in after],
            output_padding=[max(-n, 0) for n in after],
        )  # fmt: skip

    def _maxpool2d(self, node, inputs, op="MaxPool", **more):
        size, strides, before, after = self._window(node.layer)
        return self._images(node, op, inputs, kernel_shape=size, strides=strides, pads=before + after, **more)

    def _avgpool2d(self, node, inputs):
        made, layer = self._mean(node, inputs), node.layer
        if not self.int8 or layer.steps and not layer.away:
            return made
        # QuantizeLinear rounds half a step to even; odt up, or away from byte 0: by a part of a step that changes
        # nothing else.
        name, step = layer.name, self._scale_of(node.inputs[0])
        part = self._constant(name + " part", step / (4 * np.prod(layer.window[:2])))
        if layer.steps:
            raw = self._add(
                "Add", [made, self._constant(name + " zero byte", step * self.values[node].zero)], name + " byte"
            )
            part = self._add("Mul", [self._add("Sign", [raw], name + " sign"), part], name + " signed part")
        made = self._add("Add", [made, part], name + " rounded")
        self.turned.add(made)
        return made

    def _mean(self, node, inputs):
        layer = node.layer
        if not layer.adaptive:
            return self._maxpool2d(node, inputs, "AveragePool", count_include_pad=0)
        extents, outs = node.inputs[0].shape[:-1], node.shape[:-1]
        if any(extent % out for extent, out in zip(extents, outs)):
            raise Unsupported(
                "layer %s: windows of %s in %s differ in size; ONNX has one" % (layer.name, extents, outs)
            )
        size = [extent // out for extent, out in zip(extents, outs)]
        return self._images(node, "AveragePool", inputs, kernel_shape=size, strides=size)

    def _globalavg(self, node, inputs):
        name = self._images(node, "GlobalAveragePool", inputs)
        return self._add("Flatten", [name], name + " flat", axis=1)

    def _upsample2d(self, node, inputs):
        scales = self._constant(node.layer.name + " size", (1, 1, *node.layer.size))
        options = {"mode": "nearest", "nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}
        return self._images(node, "Resize", [inputs[0], "", scales], **options)

    def _reshape(self, node, inputs):
        name = node.layer.name
        shape = self._constant(name + " shape", (-1, *node.shape), np.int64)
        return self._add("Reshape", [self._last(inputs[0], node.inputs[0]), shape], name)

    _flatten = _reshape

    def _dropout(self, node, inputs):
        return inputs[0]

    def _lookup(self, node, inputs):
        """A table between bytes, which an imported int8 network has: by Gather, of what its bytes mean."""
        name, value = node.layer.name, self.values[node]
        before = self.values[node.inputs[0]]
        meaning = np.frombuffer(node.layer.table, np.int8).astype(np.float32) - value.zero
        meaning *= np.float32(bits_to_float(node.layer.steps[0]))
        scale = self._constant(name + " scale before", self._scale_of(node.inputs[0]))
        zero = self._constant(name + " zero before", before.zero, np.int8)
        at = self._add("QuantizeLinear", [inputs[0], scale, zero], name + " byte")
        at = self._add("Cast", [at], name + " number", to=TensorProto.INT32)
        at = self._add("Add", [at, self._constant(name + " 128", 128, np.int32)], name + " index")
        made = self._add("Gather", [self._constant(name + " table", meaning), at], name)
        if inputs[0] in self.turned:
            self.turned.add(made)
        return made

    def _normalization(self, node, inputs):
        raise Unsupported(
            "layer %s: a Normalization is part of the samples' format; instead: give them normalised" % node.layer.name
        )

    def _unary(self, op, node, inputs, **attributes):
        name = self._add(op, [inputs[0]], node.layer.name, **attributes)
        if inputs[0] in self.turned:
            self.turned.add(name)
        return name

    def _relu(self, node, inputs):
        return self._unary("Relu", node, inputs)

    def _relu6(self, node, inputs):
        return self._clamped(self._last(inputs[0], node.inputs[0]), 6)

    def _leaky_relu(self, node, inputs):
        slope = bits_to_float(node.layer.slope) if node.layer.slope else 0.0
        return self._unary("LeakyRelu", node, inputs, alpha=slope)

    def _curve(self, node, inputs):
        """GELU, as an operator of opset 20, is x * (0.5 + 0.5 * erf(x / sqrt(2)))."""
        name, x = node.layer.name, inputs[0]
        kind, alpha, gain = node.layer.curve
        if kind == 0:
            attributes = {"alpha": bits_to_float(alpha) if alpha else 0.0}
            if gain != ONE:
                attributes["gamma"] = bits_to_float(gain)
            return self._unary("Elu" if gain == ONE else "Selu", node, inputs, **attributes)
        made = self._add("Mul", [x, self._constant(name + " root", 0.5**0.5)], name + " within")
        made = self._add("Erf", [made], name + " erf")
        half = self._constant(name + " half", 0.5)
        made = self._add("Add", [self._add("Mul", [made, half], name + " part"), half], name + " gate")
        made = self._add("Mul", [x, made], name)
        if x in self.turned:
            self.turned.add(made)
        return made

    def _sigmoid(self, node, inputs):
        return self._unary("Sigmoid", node, inputs)

    def _tanh(self, node, inputs):
        return self._unary("Tanh", node, inputs)

    def _softmax(self, node, inputs):
        return self._add("Softmax", [self._last(inputs[0], node.inputs[0])], node.layer.name, axis=-1)

    def _joined(self, node, inputs):
        return self._add("Sum", [self._last(x, each) for x, each in zip(inputs, node.inputs)], node.layer.name)

    def _multiply(self, node, inputs):
        made = self._last(inputs[0], node.inputs[0])
        for number, (x, each) in enumerate(zip(inputs[1:], node.inputs[1:])):
            made = self._add("Mul", [made, self._last(x, each)], "%s %d" % (node.layer.name, number))
        return made

    def _attention(self, node, inputs):
        """Heads become an axis before the steps. In int8 the weights between steps are bytes, too."""
        layer, name = node.layer, node.layer.name
        heads, rows, keys, width = layer.sizes
        parts = []
        for what, x, steps, order in zip(
            ("query", "key", "value"), inputs, (rows, keys, keys), ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
        ):
            sizes = self._constant("%s sizes of %s" % (name, what), [0, steps, heads, width], np.int64)
            split = self._add("Reshape", [x, sizes], "%s heads of %s" % (name, what))
            parts.append(self._add("Transpose", [split], "%s %s" % (name, what), perm=order))
        made = self._add("MatMul", parts[:2], name + " products")
        made = self._add("Mul", [made, self._constant(name + " factor", width**-0.5)], name + " scores")
        if layer.causal:
            mask = np.triu(np.full((rows, keys), -1e9), 1)
            made = self._add("Add", [made, self._constant(name + " mask", mask)], name + " masked")
        made = self._add("Softmax", [made], name + " weights", axis=-1)
        if self.int8:
            steps = [self._constant(name + " step", 1 / 256), self._constant(name + " zero of weights", -128, np.int8)]
            made = self._add("QuantizeLinear", [made, *steps], name + " weights q")
            made = self._add("DequantizeLinear", [made, *steps], name + " weights dq")
        made = self._add("MatMul", [made, parts[2]], name + " heads mixed")
        made = self._add("Transpose", [made], name + " steps before heads", perm=[0, 2, 1, 3])
        return self._add("Reshape", [made, self._constant(name + " sizes", [0, rows, heads * width], np.int64)], name)

    def _embedding(self, node, inputs):
        """Rows by the samples' own numbers."""
        name = node.layer.name
        tokens = self._add("Cast", ["x"], name + " tokens", to=TensorProto.INT32)
        return self._add("Gather", [self._table(node), tokens], name)

    def _table(self, node):
        """The rows of an embedding; in int8 bytes of one scale."""
        if not self.int8:
            return self._vectors(node)[0]
        name, parameters = node.layer.name, self.parameters[node.layer]
        at, count = parameters.kernel.offset, parameters.rows * parameters.columns
        rows = np.frombuffer(bytes(self._memory(parameters.kernel)[at : at + count]), np.int8)
        scale = bits_to_float(get(self._memory(parameters.scale), parameters.scale.offset))
        names = [
            self._constant(name + " rows q", rows.reshape(parameters.rows, -1), np.int8),
            self._constant(name + " rows scale", scale),
            self._constant(name + " rows zero", 0, np.int8),
        ]
        return self._add("DequantizeLinear", names, name + " rows")

    def _position(self, node, inputs):
        return self._add("Add", [self._last(inputs[0], node.inputs[0]), *self._vectors(node)], node.layer.name)

    def _concatenate(self, node, inputs):
        made = [self._last(x, each) for x, each in zip(inputs, node.inputs)]
        return self._add("Concat", made, node.layer.name, axis=-1)

    def _vectors(self, node):
        layer = node.layer
        values = read(layer, self.session.state, self.session.frozen, self.parameters[layer], self.int8)
        return [
            self._constant("%s %s" % (layer.name, name), np.reshape(value, shape))
            for (name, shape), value in zip(layer.weight_shapes(), values)
        ]

    def _batchnorm(self, node, inputs):
        if self.parameters[node.layer].into:  # the weights before it hold it
            return inputs[0]
        vectors = self._vectors(node)
        x = self._first(inputs[0], node.inputs[0])
        name = self._add(
            "BatchNormalization", [x, *vectors], node.layer.name, epsilon=bits_to_float(node.layer.epsilon)
        )
        if x in self.turned:
            self.turned.add(name)
        return name

    def _layernorm(self, node, inputs):
        x = self._last(inputs[0], node.inputs[0])
        return self._add(
            "LayerNormalization", [x, *self._vectors(node)], node.layer.name, axis=-1,
            epsilon=bits_to_float(node.layer.epsilon),
        )  # fmt: skip
