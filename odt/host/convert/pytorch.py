"""Reads PyTorch: an nn.Module by torch.export, or an ExportedProgram. In ``eval`` mode; the module is left as it was.

Each operator has a row: ``@_reads("names", "arguments")``. Of the arguments of the operator's own schema a row names
those that the method reads; ``name=value`` is refused unless it has that value, ``name~`` has no effect on the numbers.
What a row does not name is refused unless it has the schema's default.
"""

import operator
import re

import numpy as np
import torch
from torch.export import ExportedProgram, export

from .builder import SELU, Builder, Value
from .graph import MOST, Unsupported, refuse
from .sequences import heads
from .sequences.heads import name_of
from .sequences.recurrence import PYTORCH, Apart, States, begins_with_zeros, layer

READS = ("torch",)

_BATCH = 3  # samples of the example; another first size in the graph would mix samples
# {operator: (method, {argument: None where it is read, else (the value it must have,), or () without effect})}
ROWS = {}


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
    if np.prod(shape, dtype=object) > MOST:
        raise ValueError("shape: %s is above %d numbers" % (shape, MOST))
    modes = [(module, module.training) for module in source.modules()]
    dtype = next((p.dtype for p in source.parameters() if p.dtype.is_floating_point), torch.float32)
    try:
        source.eval()
        program = _exported(source, (_BATCH, *shape), dtype)
    except ValueError:
        raise
    except Exception as error:  # of the module itself, or of what torch.export does not follow
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise ValueError("torch.export of the module for samples of %s: %s" % (shape, lines[0])) from error
    finally:
        for module, training in modes:
            module.training = training
    return _Reader(program).graph()


def _exported(source, shape, dtype):
    """The module's program for samples of this dtype, or of whole numbers where it takes them as tokens."""
    try:
        return export(source, (torch.zeros(shape, dtype=dtype),))
    except Exception as error:
        if not re.search("indices.*long or int|indices.*Long, Int", str(error)):
            raise
    return export(source, (torch.zeros(shape, dtype=torch.int64),))


def _reads(names, arguments):
    """The method reads these operators; ``arguments`` as the module's first lines say."""
    row = {}
    for each in arguments.split():
        name, equals, value = each.partition("=")
        needed = ({"True": True, "False": False, "None": None}[value],) if equals else None
        row[name.rstrip("~")] = () if name.endswith("~") else needed

    def note(method):
        ROWS.update(dict.fromkeys(names.split(), (method, row)))
        return method

    return note


class _Reader:
    """Follows the nodes of an ExportedProgram.

    ``known`` has, by name, a Value, a constant as a tensor, a list of these, or None.
    """

    def __init__(self, program):
        self.program = program
        self.nodes = list(program.graph.nodes)
        self.place = {node: number for number, node in enumerate(self.nodes)}
        self.builder = Builder(0)
        self.known = {}
        self.owner = {}  # of a parameter or what is computed of it, its name in the module
        self.state = {}  # of a parameter or buffer, the same
        self.read_by = {}  # of a weight, [(a node that has taken some of its numbers, the first, the end)]
        self.root = {}  # of a view, the tensor whose memory it may show
        self.version = {}  # of a tensor that is changed in place, the node that gave it at first
        self.constants = 0  # numbers of all that was computed of constants
        self.read = _behind([node for node in self.nodes if node.op == "output"])  # what the output depends on
        self.projections = heads.projections(self.nodes)

    def graph(self):
        for node in self.nodes:
            _no_counterpart(node)
        signature = self.program.graph_signature
        state, constants = self.program.state_dict, self.program.constants
        changes = any(map(_is_mutable, self.nodes))  # then constants are copied first
        inputs = []
        for spec in signature.input_specs:
            name = spec.arg.name
            if spec.kind.name == "USER_INPUT":
                inputs.append(name)
                continue
            tensor = state[spec.target] if spec.target in state else constants.get(spec.target)
            self.owner[name] = self.state[name] = spec.target
            if isinstance(tensor, torch.Tensor):
                self.known[name] = tensor.detach().cpu().clone() if changes else tensor.detach().cpu()
        if len(inputs) != 1:
            raise Unsupported("the module takes %d inputs: %s; instead: one" % (len(inputs), ", ".join(inputs)))
        for node in self.nodes:
            if node.op == "placeholder":
                if node.name == inputs[0]:
                    self.known[node.name] = self._input(node)
            elif node.op == "call_function":
                self._call(node)
            elif node.op == "output":
                return self._output(node)
        raise Unsupported("the module has no output")

    def _input(self, node):
        value = node.meta.get("val")
        if not isinstance(value, torch.Tensor):
            raise Unsupported("input %s: is %r; instead: a tensor" % (node.name, value))
        shape = tuple(value.shape)
        if len(shape) < 2 or any(not isinstance(size, int) for size in shape[1:]):
            raise Unsupported(
                "input %s: has the shape %s; instead: a batch of samples of fixed sizes" % (node.name, shape)
            )
        self.batch = shape[0]
        return self.builder.input(node.name, shape[1:], _channel(node, len(shape)) - 1)

    def _output(self, node):
        specs = self.program.graph_signature.output_specs
        outputs = [each for each, spec in zip(node.args[0], specs) if spec.kind.name == "USER_OUTPUT"]
        if len(outputs) != 1 or not isinstance(outputs[0], torch.fx.Node):
            raise Unsupported("the module gives %d outputs; instead: one tensor" % len(outputs))
        value = self.known.get(outputs[0].name)
        if isinstance(value, Apart):
            refuse(value.origin, "gives a tensor that is none of samples", "one result per sample")
        if not isinstance(value, Value):
            raise Unsupported("the output does not depend on the input")
        return self.builder.finish(value)

    def _call(self, node):
        """Read one node: what it gives is in ``known`` then."""
        name = name_of(node)
        if name.startswith("_assert") or node not in self.read and not _is_mutable(node):
            return
        if node.target is operator.getitem:
            self.known[node.name] = self._item(node)
            return
        if name.startswith("sym_") or not isinstance(node.meta.get("val"), (torch.Tensor, list, tuple)):
            return  # a size
        origin = "node %s (%s)" % (node.name, str(node.target).removeprefix("aten."))
        arguments = _Arguments(self, node, origin)
        if not any(isinstance(each, (Value, Apart, list)) for each in arguments.tensors()):
            made = self._folded(node, origin)
        else:
            made = self._read(node, name, arguments)
        self.known[node.name] = made
        if node.args and isinstance(node.args[0], torch.fx.Node):
            self._alias(node, name, origin)

    def _read(self, node, name, a):
        if name not in ROWS:
            refuse(a.origin, "odt has no such operator", INSTEAD.get(name))
        method, row = ROWS[name]
        a.check(row)
        made = heads.read(self, a)
        if made is not None:
            return made
        expected = node.meta["val"]
        several = isinstance(expected, (list, tuple))
        first = expected[0] if several else expected
        if not first.shape or first.shape[0] != self.batch:
            refuse(a.origin, "gives %s of a batch of %d" % (tuple(first.shape), self.batch), "one result per sample")
        made = self._of_states(a, name) if any(isinstance(each, States) for each in a.tensors()) else method(self, a)
        for value, each in zip(made, expected) if several else [(made, expected)]:
            if value is None or isinstance(value, Apart):
                continue
            if each.dtype not in (torch.float32, torch.float64, *a.dtypes()) or not each.dtype.is_floating_point:
                refuse(a.origin, "makes %s" % each.dtype, "float32 throughout")
            if value.pads is None and value.source != tuple(each.shape[1:]):
                refuse(a.origin, "gives %s, odt's layer %s" % (tuple(each.shape[1:]), value.source))
        return made

    def _item(self, node):
        value, at = self.known.get(node.args[0].name), node.args[1]
        made = value[at] if isinstance(value, (list, tuple)) else None
        if made is None:
            refuse(
                "node %s" % node.name, "takes result %s of node %s" % (at, node.args[0].name), "its first result alone"
            )
        self.root[node.name] = self.root.get(node.args[0].name, node.args[0].name)
        if node.args[0].name in self.owner:
            self.owner[node.name] = self.owner[node.args[0].name]
        return made

    def _folded(self, node, origin):
        """What PyTorch computes of constants."""
        results = node.meta["val"]
        for each in results if isinstance(results, (list, tuple)) else [results]:
            count = np.prod([n if isinstance(n, int) else MOST for n in each.shape], dtype=object)
            self.constants += count
            if count > MOST or self.constants > 8 * MOST:
                refuse(origin, "computes constants of shape %s, above %d numbers" % (tuple(each.shape), MOST))
        if (
            _schema(node) is None
            or node.target.namespace != "aten"
            or torch.Tag.nondeterministic_seeded in node.target.tags
        ):
            refuse(origin, "computes with constants alone, and not by an operator of PyTorch's that gives the same "
                "each time",
                   "a buffer with the result")  # fmt: skip
        sources = [each.name for each in node.all_input_nodes if each.name in self.owner]
        if sources:
            self.owner[node.name] = self.owner[sources[0]]

        def constant(each):
            if isinstance(each, torch.fx.Node):
                if each.name not in self.known:
                    refuse(origin, "computes with a size of the batch", "fixed sizes")
                return self.known[each.name]
            return torch.device("cpu") if isinstance(each, torch.device) else each

        args, options = torch.fx.node.map_aggregate((node.args, dict(node.kwargs)), constant)
        with torch.no_grad():
            return node.target(*args, **options)

    def _alias(self, node, name, origin):
        """Note that the node shows the memory of its first argument; or, where it changes that, that others see it."""
        first = node.args[0].name
        root = self.root.get(first, first)
        schema = _schema(node)
        if schema is None:
            return
        if _is_mutable(node):
            if root in self.state:
                refuse(
                    origin,
                    "changes %s, which the next call finds" % self.state[root],
                    "a forward that changes no state",
                )
            made = self.known[node.name]
            version = self.version.get(first, first)
            self.version[node.name] = version
            self.root[node.name] = root
            for other in self.nodes[: self.place[node]]:
                if self.root.get(other.name, other.name) != root:
                    continue
                if self.version.get(other.name, other.name) == version:
                    self.known[other.name] = made
                elif isinstance(made, Value) and any(self.place[user] > self.place[node] for user in other.users):
                    refuse(origin, "changes a tensor in place, which node %s shows too" % other.name, "a new tensor")
        elif name in _MAY_SHOW or any(each.alias_info is not None for each in schema.returns):
            self.root[node.name] = root

    # --- layers with weights ------------------------------------------------------------------

    @_reads("linear", "input weight bias")
    def _linear(self, a):
        return self.builder.dense(a.value("input"), a.weight("weight"), a.weight("bias"), a.layer("weight"), a.origin)

    @_reads("embedding", "weight indices padding_idx scale_grad_by_freq=False sparse~")
    def _embedding(self, a):
        padding = a["padding_idx"]
        name, table = a.layer("weight"), a.weight("weight")
        return self.builder.embedding(a.value("indices"), table, name, a.origin, None if padding < 0 else padding)

    @_reads("matmul mm", "self other mat2")
    def _matmul(self, a):
        other = "other" if "other" in a.values else "mat2"
        return self._product(a, "self", other, None, 1)

    @_reads("addmm", "self mat1 mat2 beta alpha")
    def _addmm(self, a):
        bias = a.array("self") * a["beta"]
        return self._product(a, "mat1", "mat2", bias, a["alpha"])

    def _product(self, a, first, second, bias, factor):
        if isinstance(a[second], Value) or not isinstance(a[first], Value) or a.array(second).ndim != 2:
            refuse(a.origin, "multiplies matrices that both depend on the sample", "nn.Linear")
        return self.builder.dense(a.value(first), a.weight(second).T * factor, bias, a.layer(second), a.origin)

    @_reads("conv1d conv2d", "input weight bias stride padding dilation groups")
    def _conv(self, a):
        kernel = a.weight("weight")
        axes = kernel.ndim - 2
        if isinstance(a["padding"], str):
            pads, same = (None, "upper") if a["padding"] == "same" else (((0, 0),) * axes, None)
        else:
            pads, same = tuple((n, n) for n in a.sizes("padding", axes)), None
        return self.builder.conv(
            a.value("input"), np.moveaxis(kernel, 1, -1), a.weight("bias"), a.sizes("stride", axes), pads, a["groups"],
            a.layer("weight"), a.origin, a.sizes("dilation", axes), same,
        )  # fmt: skip

    @_reads("conv_transpose1d conv_transpose2d", "input weight bias stride padding output_padding groups dilation")
    def _conv_transpose(self, a):
        kernel = a.weight("weight")
        axes = kernel.ndim - 2
        kernel = np.moveaxis(np.swapaxes(kernel, 0, 1), 1, -1) if a["groups"] == 1 else kernel
        pads = [(n, n) for n in a.sizes("padding", axes)]
        return self.builder.transposed(
            a.value("input"), kernel, a.weight("bias"), a.sizes("stride", axes), pads, a.sizes("output_padding", axes),
            a["groups"], a.layer("weight"), a.origin, a.sizes("dilation", axes),
        )  # fmt: skip

    @_reads("convolution", "input weight bias stride padding dilation transposed output_padding groups")
    def _convolution(self, a):
        return self._conv_transpose(a) if a["transposed"] else self._conv(a)

    @_reads(
        "gru lstm rnn_tanh",
        "input hx params has_biases num_layers dropout train=False bidirectional=False batch_first=True",
    )
    def _recurrent(self, a):
        kind = {"gru": "GRU", "lstm": "LSTM"}.get(name_of(a.node), "SimpleRNN")
        begins_with_zeros(a["hx"] if isinstance(a["hx"], list) else [a.array("hx")], a.origin)
        params, name = a.weights("params")
        value, count, made = a.value("input"), len(params) // a["num_layers"], []
        for number in range(a["num_layers"]):
            called = name if a["num_layers"] == 1 else "%s_%d" % (name, number)
            if number and a["dropout"]:
                value = self.builder.unary("dropout", value, called + "_dropout", a.origin, rate=a["dropout"])
            weights = (*params[number * count : (number + 1) * count], None, None)[:4]
            value = layer(self.builder, kind, value, weights, PYTORCH, called, a.origin)
            made.append(value)
        return [value, States(self.builder, made, a.origin), None]

    def _of_states(self, a, name):
        """What takes a recurrent module's last outputs: h[-1], or h.squeeze(0) of one layer."""
        states = a["self"] if "self" in a.values else None
        if isinstance(states, States) and a.get("dim") == 0:
            if name == "select":
                return states.take(a["index"], a.origin)
            if name == "squeeze" and len(states.layers) == 1:
                return states.take(0, a.origin)
        return refuse(a.origin, "takes the last outputs of several layers", "those of one, h[-1]")

    # --- normalisations -----------------------------------------------------------------------

    @_reads("batch_norm", "input weight bias running_mean running_var training=False momentum eps cudnn_enabled~")
    def _batch_norm(self, a):
        gamma, beta = a.weight("weight"), a.weight("bias")
        mean, variance = a.weight("running_mean"), a.weight("running_var")
        if mean is None:
            refuse(a.origin, "has no running statistics", "track_running_stats=True")
        ones = np.ones_like(mean)
        weights = {
            "gamma": ones if gamma is None else gamma, "beta": 0 * ones if beta is None else beta,
            "mean": mean, "variance": variance,
        }  # fmt: skip
        momentum = min(max(1 - a["momentum"], 0.0001), 0.9999)
        name = a.layer("running_mean" if gamma is None else "weight")
        return self.builder.norm(
            "batch", a.value("input"), weights, name, a.origin, epsilon=a["eps"], momentum=momentum
        )

    @_reads("_native_batch_norm_legit_no_training", "input weight bias running_mean running_var momentum eps")
    def _native_batch_norm(self, a):
        return [self._batch_norm(a), None, None]

    @_reads("layer_norm", "input normalized_shape weight bias eps cudnn_enable~")
    def _layer_norm(self, a):
        shape = tuple(a["normalized_shape"])
        if len(shape) != 1:
            refuse(a.origin, "normalises %d axes" % len(shape), "the last axis, or a GroupNorm")
        return self._gamma_beta("layer", a, shape[0])

    @_reads("native_layer_norm", "input normalized_shape weight bias eps")
    def _native_layer_norm(self, a):
        return [self._layer_norm(a), None, None]

    @_reads("group_norm", "input num_groups weight bias eps cudnn_enabled~")
    def _group_norm(self, a):
        return self._gamma_beta("group", a, a.value("input").source[0], groups=a["num_groups"])

    @_reads("instance_norm", "input weight bias running_mean running_var use_input_stats momentum eps cudnn_enabled~")
    def _instance_norm(self, a):
        if not a["use_input_stats"]:
            return self._batch_norm(a)
        channels = a.value("input").source[0]
        return self._gamma_beta("group", a, channels, groups=channels)

    def _gamma_beta(self, kind, a, count, **options):
        gamma, beta = a.weight("weight"), a.weight("bias")
        weights = {
            "gamma": np.ones(count) if gamma is None else gamma, "beta": np.zeros(count) if beta is None else beta,
        }  # fmt: skip
        return self.builder.norm(
            kind, a.value("input"), weights, a.layer("weight"), a.origin, epsilon=a["eps"], **options
        )

    # --- pools, means and sizes ---------------------------------------------------------------

    def _pooled(self, op, a, dilation=None, counts=False):
        axes = len(a.value("self").source) - 1
        size = a.sizes("kernel_size", axes)
        strides = a.sizes("stride", axes) if a["stride"] else size
        pads = tuple((n, n) for n in a.sizes("padding", axes))
        return self.builder.pool(
            op, a.value("self"), size, strides, pads, a["ceil_mode"], a.name, a.origin, dilation, counts
        )

    @_reads("max_pool1d max_pool2d", "self kernel_size stride padding dilation ceil_mode")
    def _max_pool(self, a):
        return self._pooled("maxpool", a, a.sizes("dilation", len(a.value("self").source) - 1))

    @_reads("max_pool1d_with_indices max_pool2d_with_indices", "self kernel_size stride padding dilation ceil_mode")
    def _max_pool_indices(self, a):
        return [self._max_pool(a), None]

    @_reads("avg_pool1d avg_pool2d", "self kernel_size stride padding ceil_mode count_include_pad")
    def _avg_pool(self, a):
        return self._pooled("avgpool", a, None, a["count_include_pad"])

    @_reads("adaptive_avg_pool1d adaptive_avg_pool2d _adaptive_avg_pool2d", "self output_size")
    def _adaptive_avg_pool(self, a):
        axes = len(a.value("self").source) - 1
        return self.builder.adaptive(a.value("self"), a.sizes("output_size", axes), a.name, a.origin)

    @_reads("adaptive_max_pool1d adaptive_max_pool2d", "self output_size")
    def _adaptive_max_pool(self, a):
        value = a.value("self")
        extents = value.source[1:]
        out = a.sizes("output_size", len(extents))
        if any(extent % n for extent, n in zip(extents, out)):
            refuse(a.origin, "divides %s into %s windows" % (extents, out), "sizes that divide the image")
        size = tuple(extent // n for extent, n in zip(extents, out))
        none = tuple((0, 0) for _ in size)
        return [self.builder.pool("maxpool", value, size, size, none, False, a.name, a.origin), None]

    def _reduced(self, op, a, value):
        axes, keep = a.get("dim"), bool(a.get("keepdim"))
        rank = len(value.source) + 1
        axes = list(range(rank)) if axes is None or axes == [] else [axes] if isinstance(axes, int) else axes
        axes = [axis % rank for axis in axes]
        if 0 in axes:
            refuse(a.origin, "reduces the batch", "axes of a sample")
        return self.builder.reduce(op, value, [axis - 1 for axis in axes], keep, a.name, a.origin)

    @_reads("mean", "self dim keepdim dtype")
    def _mean(self, a):
        return self._reduced("avgpool", a, a.value("self"))

    @_reads("sum", "self dim keepdim dtype")
    def _sum(self, a):
        made = self._reduced("avgpool", a, a.value("self"))
        count = a.value("self").index.size // max(made.index.size, 1)
        return self.builder.affine(made, count, 0, a.name + "_sum", a.origin)

    @_reads("amax", "self dim keepdim")
    def _amax(self, a):
        return self._reduced("maxpool", a, a.value("self"))

    @_reads("amin", "self dim keepdim")
    def _amin(self, a):
        turned = self.builder.affine(a.value("self"), -1, 0, a.name + "_minus", a.origin)
        return self.builder.affine(self._reduced("maxpool", a, turned), -1, 0, a.name, a.origin)

    @_reads("max", "self dim keepdim other")
    def _max(self, a):
        if "other" in a.values:
            return self._maximum(a)
        return [self._amax(a), None]

    @_reads("min", "self dim keepdim other")
    def _min(self, a):
        if "other" in a.values:
            return self._minimum(a)
        return [self._amin(a), None]

    def _factors(self, a, value):
        """The factors by which an image grows; where one shrinks, one over it."""
        size = a.node.meta["val"].shape[2:]
        scales = a.get("scale_factors") or [
            a.get(name) for name in ("scales_h", "scales_w", "scales") if name in a.values
        ]
        found = []
        for at, (n, extent) in enumerate(zip(size, value.source[1:])):
            factor = n / extent
            given = scales[at] if at < len(scales) and scales[at] is not None else factor
            if given != factor:
                refuse(
                    a.origin,
                    "enlarges %s to %s by a factor of %r" % (value.source[1:], tuple(size), given),
                    "a whole factor",
                )
            found.append(factor)
        return found

    @_reads("upsample_nearest1d upsample_nearest2d", "self input output_size scale_factors scales scales_h scales_w")
    def _nearest(self, a):
        value = a.value("input" if "input" in a.values else "self")
        factors = self._factors(a, value)
        if all(factor % 1 == 0 for factor in factors):
            return self.builder.upsample(value, [int(factor) for factor in factors], a.name, a.origin)
        for axis, factor in enumerate(factors):
            if factor > 1 or 1 / factor % 1:
                refuse(a.origin, "enlarges %s by %s" % (value.source[1:], factors), "whole factors")
            step = round(1 / factor)
            value = self.builder.slice(value, axis + 1, 0, step, value.source[axis + 1] // step, a.name, a.origin)
        return value

    @_reads(
        "upsample_linear1d upsample_bilinear2d",
        "self input output_size align_corners=False scale_factors scales scales_h scales_w",
    )
    def _bilinear(self, a):
        value = a.value("input" if "input" in a.values else "self")
        factors = self._factors(a, value)
        if any(factor % 1 for factor in factors):
            refuse(a.origin, "enlarges %s by %s" % (value.source[1:], factors), "whole factors")
        return self.builder.bilinear(value, [int(factor) for factor in factors], a.name, a.origin)

    # --- activations --------------------------------------------------------------------------

    @_reads("relu relu6 sigmoid tanh", "self")
    def _plain(self, a):
        return self.builder.unary(name_of(a.node), a.value("self"), a.name, a.origin)

    @_reads("hardtanh", "self min_val max_val")
    def _hardtanh(self, a):
        return self.builder.limited(a.value("self"), a["min_val"], a["max_val"], a.name, a.origin)

    @_reads("clamp clip clamp_min clamp_max", "self min max")
    def _clamp(self, a):
        return self.builder.limited(a.value("self"), a.number("min"), a.number("max"), a.name, a.origin)

    @_reads("maximum fmax", "self other")
    def _maximum(self, a):
        return self._larger(a, 1)

    @_reads("minimum fmin", "self other")
    def _minimum(self, a):
        return self._larger(a, -1)

    def _larger(self, a, sign):
        """first + relu(second - first), and for the smaller first - relu(first - second)."""
        first, second = a["self"], a["other"]
        if not (isinstance(first, Value) and isinstance(second, Value)):
            value, limit = (first, a.number("other")) if isinstance(first, Value) else (second, a.number("self"))
            low, high = (limit, None) if sign > 0 else (None, limit)
            return self.builder.limited(value, low, high, a.name, a.origin)
        pair = (second, first) if sign > 0 else (first, second)
        more = self.builder.subtract(*pair, a.name + "_difference", a.origin)
        more = self.builder.unary("relu", more, a.name + "_above", a.origin)
        if sign > 0:
            return self.builder.join("add", [first, more], a.name, a.origin)
        return self.builder.subtract(first, more, a.name, a.origin)

    @_reads("leaky_relu", "self negative_slope")
    def _leaky_relu(self, a):
        return self.builder.leaky_relu(a.value("self"), a["negative_slope"], a.name, a.origin)

    @_reads("prelu", "self weight")
    def _prelu(self, a):
        value, slope = a.value("self"), a.array("weight")
        if slope.size > 1:
            slope = slope.reshape((-1,) + (1,) * (len(value.source) - 1))
        return self.builder.leaky_relu(value, slope, a.name, a.origin)

    @_reads("silu", "self")
    def _silu(self, a):
        return self.builder.silu(a.value("self"), a.name, a.origin)

    @_reads("gelu", "self approximate")
    def _gelu(self, a):
        return self.builder.gelu(a.value("self"), a["approximate"] == "tanh", a.name, a.origin)

    @_reads("erf special_erf", "self")
    def _erf(self, a):
        return self.builder.unary("erf", a.value("self"), a.name, a.origin)

    @_reads("elu", "self alpha scale input_scale")
    def _elu(self, a):
        value, alpha, gain, within = a.value("self"), a["alpha"], a["scale"], a["input_scale"]
        if not within > 0:
            refuse(a.origin, "has input_scale %s" % within, "a positive one")
        if within != 1:
            value = self.builder.affine(value, within, 0, a.name + "_within", a.origin)
        return self.builder.selu(value, alpha * within, gain / within, a.name, a.origin)

    @_reads("selu", "self")
    def _selu(self, a):
        return self.builder.selu(a.value("self"), *SELU, a.name, a.origin)

    @_reads("celu", "self alpha")
    def _celu(self, a):
        return self.builder.celu(a.value("self"), a["alpha"], a.name, a.origin)

    @_reads("glu", "self dim")
    def _glu(self, a):
        value = a.value("self")
        axis = self._axis(a, "dim") - 1
        half = value.source[axis] // 2
        first, second = (self.builder.slice(value, axis, at, 1, half, a.name, a.origin) for at in (0, half))
        gate = self.builder.unary("sigmoid", second, a.name + "_gate", a.origin)
        return self.builder.join("multiply", [first, gate], a.name, a.origin)

    @_reads("hardsigmoid", "self")
    def _hardsigmoid(self, a):
        return self.builder.hard_sigmoid(a.value("self"), a.name, a.origin)

    @_reads("hardswish", "self")
    def _hardswish(self, a):
        return self.builder.join("multiply", [a.value("self"), self._hardsigmoid(a)], a.name, a.origin)

    @_reads("softmax _softmax", "self dim dtype half_to_float=False")
    def _softmax(self, a):
        return self.builder.softmax(a.value("self"), self._axis(a, "dim") - 1, a.name, a.origin)

    @_reads("scaled_dot_product_attention", "query key value attn_mask is_causal scale")
    @_reads("bmm", "self mat2")
    @_reads("baddbmm", "self batch1 batch2 beta alpha")
    @_reads("masked_fill", "self mask value")
    def _of_heads(self, a):
        refuse(a.origin, "is no part of an attention", "queries, keys and values by nn.Linear, and softmax between")

    @_reads("dropout feature_dropout", "input p train=False")
    def _dropout(self, a):
        return self.builder.unary("dropout", a.value("input"), a.name, a.origin, rate=a["p"])

    # --- arithmetic ---------------------------------------------------------------------------

    @_reads("add", "self other alpha")
    def _add(self, a):
        return self.builder.arithmetic("add", a.operand("self"), self._times_alpha(a, "other"), a.name, a.origin)

    def _times_alpha(self, a, name):
        operand = a.operand(name)
        if a["alpha"] == 1:
            return operand
        if isinstance(operand, Value):
            return self.builder.affine(operand, a["alpha"], 0, a.name + "_alpha", a.origin)
        return operand * a["alpha"]

    @_reads("mul", "self other")
    def _mul(self, a):
        return self.builder.arithmetic("multiply", a.operand("self"), a.operand("other"), a.name, a.origin)

    @_reads("sub", "self other alpha")
    def _sub(self, a):
        return self.builder.subtract(a.operand("self"), self._times_alpha(a, "other"), a.name, a.origin)

    @_reads("rsub", "self other alpha")
    def _rsub(self, a):
        return self.builder.subtract(a.operand("other"), self._times_alpha(a, "self"), a.name, a.origin)

    @_reads("div", "self other rounding_mode=None")
    def _div(self, a):
        return self.builder.divide(a.operand("self"), a.operand("other"), a.name, a.origin)

    @_reads("neg", "self")
    def _neg(self, a):
        return self.builder.affine(a.value("self"), -1, 0, a.name, a.origin)

    @_reads("abs", "self")
    def _abs(self, a):
        return self.builder.absolute(a.value("self"), a.name, a.origin)

    @_reads("square", "self")
    def _square(self, a):
        return self.builder.power(a.value("self"), 2, a.name, a.origin)

    @_reads("pow", "self exponent")
    def _pow(self, a):
        return self.builder.power(a.value("self"), a.number("exponent"), a.name, a.origin)

    # --- axes and parts -----------------------------------------------------------------------

    def _axis(self, a, name):
        """An axis of the batch's tensor, which is not the batch's own."""
        rank = len(a.value("self" if "self" in a.values else "input").source) + 1
        if a[name] % rank == 0:
            refuse(a.origin, "works along the batch", "an axis of a sample")
        return a[name] % rank

    @_reads("cat concat concatenate", "tensors dim")
    def _cat(self, a):
        values = a["tensors"]
        axis = a["dim"] % len(a.node.meta["val"].shape)
        if axis == 0:
            refuse(a.origin, "concatenates batches")
        return self.builder.concatenate(values, axis - 1, a.name, a.origin)

    @_reads("stack", "tensors dim")
    def _stack(self, a):
        axis = a["dim"] % len(a.node.meta["val"].shape)
        if axis == 0 or not all(isinstance(value, Value) for value in a["tensors"]):
            refuse(a.origin, "stacks batches, or constants", "tensors of the network, along an axis of a sample")
        rows = [
            self.builder.reshape(value, value.source[: axis - 1] + (1,) + value.source[axis - 1 :], a.origin)
            for value in a["tensors"]
        ]
        return self.builder.concatenate(rows, axis - 1, a.name, a.origin)

    @_reads("view reshape _unsafe_view", "self size shape")
    @_reads("flatten", "self start_dim end_dim")
    @_reads("unflatten", "self dim sizes")
    @_reads("squeeze unsqueeze", "self dim")
    @_reads("view_as reshape_as", "self other")
    def _view(self, a):
        """Any change of shape that keeps the order of the numbers; the graph has the new one."""
        return self.builder.reshape(a.value("self"), tuple(a.node.meta["val"].shape)[1:], a.origin)

    @_reads("permute", "self dims")
    def _permute(self, a):
        rank = len(a["dims"])
        return self._ordered(a, [axis % rank for axis in a["dims"]])

    @_reads("transpose swapaxes swapdims", "self dim0 dim1 axis0 axis1")
    def _transpose(self, a):
        order = list(range(len(a.value("self").source) + 1))
        first, second = (a[name] for name in ("dim0", "dim1", "axis0", "axis1") if name in a.values)
        order[first], order[second] = order[second], order[first]
        return self._ordered(a, order)

    @_reads("movedim moveaxis", "self source destination")
    def _movedim(self, a):
        rank = len(a.value("self").source) + 1
        source, to = (np.atleast_1d(a[name]) % rank for name in ("source", "destination"))
        order = [axis for axis in range(rank) if axis not in source]
        for at, axis in sorted(zip(to.tolist(), source.tolist())):
            order.insert(at, axis)
        return self._ordered(a, order)

    def _ordered(self, a, order):
        return self.builder.transpose(a.value("self"), [axis - 1 for axis in order[1:]], a.origin)

    @_reads("slice", "self dim start end step")
    def _slice(self, a):
        value, axis = a.value("self"), a["dim"] % (len(a.value("self").source) + 1)
        if axis == 0:
            if a.node.meta["val"].shape != a.node.args[0].meta["val"].shape:
                refuse(a.origin, "takes a part of the batch", "an axis of a sample")
            return value
        places = range(value.source[axis - 1])[slice(a.number("start"), a.number("end"), a["step"])]
        return self._part(a, value, axis, places)

    @_reads("narrow", "self dim start length")
    def _narrow(self, a):
        value, axis = a.value("self"), self._axis(a, "dim")
        start = int(a.number("start")) % value.source[axis - 1]
        return self._part(a, value, axis, range(start, start + a["length"]))

    def _part(self, a, value, axis, places):
        return self.builder.slice(value, axis - 1, places.start, places.step, len(places), a.name, a.origin)

    @_reads("select", "self dim index")
    def _select(self, a):
        value, axis = a.value("self"), self._axis(a, "dim")
        at = a["index"] % value.source[axis - 1]
        made = self._part(a, value, axis, range(at, at + 1))
        return self._view_of(a, made, axis)

    def _view_of(self, a, value, axis):
        return self.builder.reshape(value, value.source[: axis - 1] + value.source[axis:], a.origin)

    @_reads(
        "split split_with_sizes chunk unsafe_chunk tensor_split",
        "self split_size split_sizes chunks sections indices dim",
    )
    def _split(self, a):
        value, axis = a.value("self"), self._axis(a, "dim")
        start, made = 0, []
        for each in a.node.meta["val"]:
            made.append(self._part(a, value, axis, range(start, start + each.shape[axis])))
            start += each.shape[axis]
        return made

    @_reads("unbind", "self dim")
    def _unbind(self, a):
        value, axis = a.value("self"), self._axis(a, "dim")
        parts = (self._part(a, value, axis, range(at, at + 1)) for at in range(value.source[axis - 1]))
        return [self._view_of(a, part, axis) for part in parts]

    @_reads("pad", "self pad mode value")
    def _pad(self, a):
        if a["mode"] != "constant" or (a["value"] or 0) != 0:
            refuse(a.origin, "pads by %r with %r" % (a["mode"], a["value"]), "zeros")
        return self._padded(a)

    @_reads("constant_pad_nd", "self pad value")
    def _constant_pad_nd(self, a):
        if a["value"] != 0:
            refuse(a.origin, "pads with %r" % a["value"], "zeros")
        return self._padded(a)

    def _padded(self, a):
        flat = list(a["pad"])
        value = a.value("self")
        rank = len(value.source)
        pads = [(0, 0)] * rank
        if len(flat) // 2 > rank:
            refuse(a.origin, "pads the batch")
        for number in range(len(flat) // 2):
            pads[-1 - number] = (flat[2 * number], flat[2 * number + 1])
        for axis, (before, after) in enumerate(pads):  # below 0 they cut
            if min(before, after) < 0:
                count = value.source[axis] + min(before, 0) + min(after, 0)
                value = self.builder.slice(value, axis, -min(before, 0), 1, count, a.name, a.origin)
        pads = [(max(before, 0), max(after, 0)) for before, after in pads]
        return self.builder.pad(value, pads, a.origin) if any(map(any, pads)) else value

    @_reads("contiguous clone", "self memory_format~")
    @_reads("detach alias lift_fresh_copy", "self")
    @_reads("to _to_copy", "self dtype device~ non_blocking~ copy~ memory_format~ layout~ pin_memory~ other")
    @_reads("type_as", "self other")
    def _same(self, a):
        return a.value("self")


class _Arguments:
    """The arguments of one node, by their names in the operator's schema; defaults are the schema's."""

    def __init__(self, reader, node, origin):
        self.reader, self.node, self.origin, self.name = reader, node, origin, node.name
        schema = _schema(node)
        self.schema = [] if schema is None else schema.arguments
        self.values = {}
        for at, argument in enumerate(self.schema):
            if at < len(node.args):
                self.values[argument.name] = node.args[at]
            elif argument.name in node.kwargs:
                self.values[argument.name] = node.kwargs[argument.name]
            elif argument.has_default_value():
                self.values[argument.name] = argument.default_value

    def check(self, row):
        """Refuse what the operator's row does not know."""
        for argument in self.schema:
            if argument.name not in self.values or row.get(argument.name, ()) is None:
                continue
            value, needed = self.values[argument.name], row.get(argument.name)
            if needed is None:
                needed = (argument.default_value,) if argument.has_default_value() else (_NONE,)
            if needed and value != needed[0]:
                instead = "" if needed[0] is _NONE else "%s=%r" % (argument.name, needed[0])
                refuse(self.origin, "has %s=%r" % (argument.name, value), instead)

    def tensors(self):
        for each in self.node.all_input_nodes:
            yield self.reader.known.get(each.name)

    def dtypes(self):
        """Those of the network's tensors that it takes."""
        for each in self.node.all_input_nodes:
            if isinstance(self.reader.known.get(each.name), Value):
                yield each.meta["val"].dtype

    def __getitem__(self, name):
        """A Value, a constant as a tensor, a number, or a list of such."""
        value = self.values[name]
        if isinstance(value, (list, tuple)):
            return [self._known(each) for each in value]
        return self._known(value)

    def get(self, name):
        return self[name] if name in self.values else None

    def _known(self, value):
        if not isinstance(value, torch.fx.Node):
            return value
        if value.name not in self.reader.known:
            refuse(self.origin, "has the dynamic size %s" % value.name, "fixed sizes")
        return self.reader.known[value.name]

    def operand(self, name):
        """A Value,
        or a constant as an array; one that has the same numbers for each sample of the batch has them once.
        """
        value = self[name]
        if not isinstance(value, torch.Tensor):
            return value
        value = _array(value)
        if value.ndim == self.node.meta["val"].ndim and len(value) > 1 and np.all(value == value[:1]):
            value = value[:1]
        return value

    def value(self, name):
        value = self[name]
        if not isinstance(value, Value):
            refuse(self.origin, "%s is no tensor of the network" % name)
        return value

    def array(self, name):
        """A constant, or a number, as an array."""
        value = self[name]
        if isinstance(value, Value):
            refuse(self.origin, "%s is computed of the sample" % name, "a constant")
        return _array(value) if isinstance(value, torch.Tensor) else np.asarray(value)

    def number(self, name):
        """A constant of one number, or None where none is given."""
        if self.get(name) is None:
            return None
        value = self.array(name)
        if value.size != 1:
            refuse(self.origin, "%s has %d numbers" % (name, value.size), "one number")
        return value.ravel()[0].item()

    def weight(self, name):
        """A parameter, a buffer or what is computed of such; None where none is given."""
        return None if self[name] is None else self._weight(self.values[name], self[name], name)

    def part(self, name):
        """A parameter, or a part of one, of which other nodes may read others."""
        tensor = self[name]
        return None if tensor is None else self._weight(self.values[name], tensor, name, True)

    def weights(self, name):
        """Those of a list, and what the module with the first of them is called."""
        found = [self._weight(*both, name) for both in zip(self.values[name], self[name])]
        return found, self._layer(self.values[name][0])

    def _weight(self, each, tensor, name, part=False):
        if not isinstance(tensor, torch.Tensor):
            refuse(self.origin, "%s is computed of the sample" % name, "a parameter or a buffer")
        first, count = (tensor.storage_offset(), tensor.numel()) if part else (0, MOST)
        read_by = self.reader.read_by.setdefault(self.reader.owner.get(each.name, each.name), [])
        for taken, start, stop in read_by:
            if taken != self.node.name and start < first + count and first < stop:
                refuse(self.origin, "shares weights with node %s" % taken, "a module of its own for each use")
        read_by.append((self.node.name, first, first + count))
        return _array(tensor)

    def layer(self, name):
        """What the module with this parameter is called."""
        return self._layer(self.values[name])

    def _layer(self, each):
        owner = self.reader.owner.get(each.name, "") if each is not None else ""
        return owner.partition(".parametrizations.")[0].rpartition(".")[0] if "." in owner else self.name

    def sizes(self, name, count):
        value = self[name]
        value = (value,) * count if isinstance(value, int) else tuple(value)
        if len(value) == 1:
            value = value * count
        if len(value) != count or any(not isinstance(each, int) for each in value):
            refuse(self.origin, "has %s=%s" % (name, value), "%d fixed sizes" % count)
        return value


class _None:
    def __repr__(self):
        return "none"


_NONE = _None()


def _array(tensor):
    return (tensor.double() if tensor.dtype == torch.bfloat16 else tensor).numpy()


def _behind(nodes):
    """These nodes and all that they depend on."""
    found, todo = set(), list(nodes)
    while todo:
        node = todo.pop()
        if node not in found:
            found.add(node)
            todo += node.all_input_nodes
    return found


def _schema(node):
    return getattr(node.target, "_schema", None)


def _is_mutable(node):
    schema = _schema(node)
    return schema is not None and schema.is_mutable


def _no_counterpart(node):
    """Refuse modules that have no counterpart by their own name, before what they are made of is met."""
    for path, kind in (node.meta.get("nn_module_stack") or {}).values():
        name = (kind if isinstance(kind, str) else kind.__name__).rpartition(".")[2]
        instead = next((INSTEAD[key] for key in _MODULES if name.startswith(key)), None)
        if instead:
            refuse("module %s (%s)" % (path or "itself", name), "odt has no such layer", instead)


def _channel(node, rank):
    """The axis of the input that becomes the last: what the first layer that tells them apart takes as channels."""
    todo, seen, flat = [(node, tuple(range(rank)))], set(), False
    for node, axes in todo:
        for user in node.users:
            name = name_of(user)
            if user in seen:
                continue
            seen.add(user)
            if name in _OF_CHANNELS and axes[1]:
                return axes[1]
            if name in _OF_FEATURES and axes[-1]:
                return axes[-1]
            if name in ("permute", "transpose"):
                order = list(range(rank))
                if name == "permute":
                    order = [axis % rank for axis in user.args[1]]
                else:
                    first, second = user.args[1:3]
                    order[first], order[second] = order[second], order[first]
                todo.append((user, tuple(axes[axis] for axis in order)))
            elif name in ("flatten", "view", "reshape"):
                flat = True
            elif name in ROWS and isinstance(user.meta.get("val"), torch.Tensor) and user.meta["val"].ndim == rank:
                todo.append((user, axes))
    return rank - 1 if rank == 3 and not flat else 1


_OF_CHANNELS = (
    "conv1d", "conv2d", "max_pool1d", "max_pool2d", "max_pool1d_with_indices", "max_pool2d_with_indices", "avg_pool1d",
    "avg_pool2d", "adaptive_avg_pool1d", "adaptive_avg_pool2d",
    "adaptive_max_pool1d", "adaptive_max_pool2d", "batch_norm", "group_norm", "instance_norm", "conv_transpose1d",
    "conv_transpose2d", "convolution", "upsample_nearest1d", "upsample_nearest2d", "upsample_linear1d",
    "upsample_bilinear2d", "prelu",
)  # fmt: skip
_OF_FEATURES = ("linear", "layer_norm", "native_layer_norm", "matmul", "gru", "lstm", "rnn_tanh")
_MAY_SHOW = (
    "dropout",
    "feature_dropout",
    "contiguous",
    "reshape",
    "flatten",
    "to",
)  # what these give is at times what they took
_RECURRENCE = "nn.GRU, nn.LSTM, or nn.RNN with nonlinearity='tanh'"
_MODULES = ("LSTMCell", "GRUCell", "RNNCell")
INSTEAD = {
    **dict.fromkeys(("LSTMCell", "GRUCell", "RNNCell", "rnn_relu"), _RECURRENCE),
    "log_softmax": "no softmax: odt's cross-entropy contains it",
    "softplus": "ReLU",
    "mish": "SiLU, or ReLU",
    "rms_norm": "LayerNorm",
    "wrap_with_set_grad_enabled": "a forward without torch.no_grad(), which load needs not",
    "einsum": "nn.Linear, or x @ weights",
    "where": "ReLU or LeakyReLU",
    "gt": "ReLU or LeakyReLU",
    "argmax": "the scores: odt's predict_classes takes the largest",
    "pixel_shuffle": "ConvTranspose2d",
    "unfold": "a convolution",
    "im2col": "a convolution",
    "softshrink": "ReLU",
    "embedding_bag": "nn.Embedding, and mean over its steps",
    "embedding_renorm": "nn.Embedding of max_norm=None, with weights that are as they should be",
    "conv3d": "2-D convolutions",
    "upsample_bicubic2d": "upsampling by mode='bilinear'",
    "flip": "data that are flipped before",
    "expand": "an Add or a product, which repeat a number per channel",
    "repeat": "nn.Upsample",
    "alpha_dropout": "Dropout",
}
