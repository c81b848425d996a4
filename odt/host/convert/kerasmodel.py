"""Reads Keras 3: a Sequential or functional model, or a .keras file (opened by kerasfile.py).

LAYERS and OPERATIONS name what is read. Each row says which options of a class are read and which have no effect in
inference; any other option that is not at its default is refused, so is one that a later Keras adds. All variables of a
layer must have been read.
"""

import inspect
import os
import sys
from pathlib import Path

import numpy as np

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras  # noqa: E402

from .builder import SELU, Builder, Value  # noqa: E402
from .graph import refuse  # noqa: E402
from .sequences.recurrence import KERAS  # noqa: E402
from .sequences.recurrence import layer as recurrent_layer  # noqa: E402

READS = ".keras", "keras"

LAYERS, OPERATIONS = {}, {}  # name of the class: its Row
_MODULES = ("keras.src.ops.numpy", "keras.src.ops.nn", "keras.src.ops.core", "keras.src.activations.activations")
_MODULES += ("keras.src.ops.math",)
_IDLE = ("name", "trainable", "seed")  # options without effect in inference; so are those that end with:
_IDLE_ENDS = ("_initializer", "_regularizer", "_constraint")


class Row:
    """How a layer or an operation becomes nodes: ``make(reader, layer, input or inputs, origin)``.

    ``reads``: the options that ``make`` takes into account. ``idle``: those without effect in inference. ``defaults``:
    of options that the class does not have as arguments.
    """

    def __init__(self, make, reads="", idle="", **defaults):
        self.make = make
        self.reads, self.idle, self.defaults = set(reads.split()), set(idle.split()), defaults

    def check(self, cls, options, origin):
        """Unsupported where an option has an effect that ``make`` does not know."""
        arguments = inspect.signature(cls.__init__).parameters
        for name, value in options.items():
            if name == "dtype":
                _check_policy(value, origin)
            elif name == "data_format":
                if value not in ("channels_last", None):
                    refuse(origin, "has its channels first", 'data_format="channels_last"')
            elif not (name in self.reads or name in self.idle or name in _IDLE or name.endswith(_IDLE_ENDS)):
                default = self.defaults.get(name, arguments[name].default if name in arguments else inspect._empty)
                if _listed(value) != _listed(default):
                    instead = "a layer without it" if default is inspect._empty else "%s=%r" % (name, default)
                    refuse(origin, "has the option %s=%.60r, which odt does not read" % (name, value), instead)


def _listed(value):
    return [_listed(each) for each in value] if isinstance(value, (list, tuple)) else value


def _check_policy(policy, origin):
    """``policy``: a name, or a description with one."""
    options = policy.get("config") if isinstance(policy, dict) else None
    name = policy
    if isinstance(options, dict):
        name = options.get("name") or "%s of %s" % (options.get("mode"), policy.get("class_name"))
    if name not in ("float32", None):
        refuse(
            origin, "computes in %s" % (name,),
            'a network of dtype "float32" that is not quantized, with the same weights (set_weights)',
        )  # fmt: skip


class Described:
    """A class that a file names: its row, if odt reads it."""

    def __init__(self, cls, row):
        self.cls, self.row = cls, row

    def check(self, options, origin):
        if self.row is None:
            refuse_layer(self.cls.__name__, origin)
        self.row.check(self.cls, options, origin)


def described(module, name):
    """The Described of a module's class as a file names it; None where it is none of Keras's layers and operations."""
    if module == "keras.layers":
        cls = getattr(keras.layers, name, None)
    else:
        cls = vars(sys.modules[module]).get(name) if module in _MODULES and module in sys.modules else None
    known = isinstance(cls, type) and issubclass(cls, keras.Operation)
    return Described(cls, _row(cls)) if known else None


def _is_own(cls):
    """Whether a class is one of Keras's, and not one that has its name or is made of it."""
    return cls.__module__.startswith("keras.src.") and vars(sys.modules[cls.__module__]).get(cls.__name__) is cls


def _row(cls):
    """The row of a class that is Keras's own, or None."""
    if getattr(keras.layers, cls.__name__, None) is cls:
        return LAYERS.get(cls.__name__)
    return OPERATIONS.get(cls.__name__) if cls.__module__ in _MODULES else None


def refuse_layer(kind, origin):
    for names, instead in _INSTEAD.items():
        if kind in names.split():
            refuse(origin, "odt has no such layer", instead)
    refuse(origin, "odt has no such layer", "layers and operations that docs/howto/import.md names")


def _layer(names, reads="", idle="", **defaults):
    def register(make):
        for name in names.split():
            LAYERS[name] = Row(make, reads, idle, **defaults)
        return make

    return register


def _operation(names, reads=""):
    def register(make):
        for name in names.split():
            OPERATIONS[name] = Row(make, reads)
        return make

    return register


def read(source, shape=None):
    """The Graph of a model or a file. ValueError for a damaged file, or one that names code of its own."""
    if isinstance(source, (str, Path)):
        from . import kerasfile

        source = kerasfile.opened(source)
    return _Reader().graph(source)


class _Reader:
    def __init__(self):
        self.builder = Builder(-1)
        self.seen = set()  # layers with weights
        self.read = set()  # variables

    def graph(self, model):
        first, _ = _ends(model)
        shape = tuple(first.shape)[1:]
        if None in shape:
            refuse("model %s" % model.name, "its input has the dynamic shape %s" % (shape,), "fixed sizes")
        value = self._run(model, self.builder.input(first.name, shape))
        return self.builder.finish(self.builder.padded(value, "the output"))

    def _run(self, model, value):
        """The output of a model, or of one within it, for the value of its input."""
        first, last = _ends(model)
        _check_policy(model.dtype_policy.name, "model %s" % model.name)
        known = {id(first): value}
        model = getattr(model, "_functional", None) or model
        for depth in sorted(model._nodes_by_depth, reverse=True):
            for node in model._nodes_by_depth[depth]:
                if node.is_input:
                    _check_input(node.operation, model)
                elif node.operation in model.operations:
                    known[id(node.output_tensors[0])] = self._called(node, known)
        return known[id(last)]

    def _called(self, node, known):
        """The value of one call of a layer, a model or an operation."""
        called = node.operation
        origin = "layer %s (%s)" % (called.name, type(called).__name__)
        if not isinstance(called, keras.Model):
            self._known(called, origin)
        usual = inspect.signature(called.call).parameters
        inputs, named = list(node.arguments.args), dict(node.arguments.kwargs)
        self.causal = type(called) is keras.layers.MultiHeadAttention and named.pop("use_causal_mask", False)
        if type(called) is keras.layers.MultiHeadAttention:
            inputs += [named.pop(name) for name in ("query", "value", "key")[len(inputs) :] if name in named]
            inputs = [inputs]
        options = {name: each for name, each in named.items()
                   if not (_is_none(each) or name in usual and each is usual[name].default
                           or name == "training" and each is False)}  # fmt: skip
        if options:
            text = ", ".join("%s=%.40r" % pair for pair in sorted(options.items()))
            refuse(origin, "is called with %s" % text, "a call with its input alone")
        if len(node.output_tensors) != 1:
            refuse(origin, "has %d outputs" % len(node.output_tensors), "one")
        inputs = [_replaced(each, known) for each in inputs]
        if not isinstance(called, keras.Layer):
            row = self._checked(called, origin)
            inputs = self._padded(inputs, called, row, origin)
            return row.make(self, called, inputs, origin, tuple(node.output_tensors[0].shape)[1:])
        if len(inputs) != 1:
            refuse(origin, "is called with %d arguments" % len(inputs), "a call with its input alone")
        if isinstance(called, keras.Model):
            values = inputs[0] if isinstance(inputs[0], list) else inputs
            if any(not isinstance(each, Value) for each in values):
                refuse(origin, "is called with a %s" % type(inputs[0]).__name__, "a call with one tensor")
            return self._run(called, values[0])
        return self._applied(called, inputs[0], origin)

    def _known(self, called, origin):
        """The row of a layer or an operation; Unsupported where it is not Keras's, or odt has none for it."""
        cls = type(called)
        if not _is_own(cls) or "call" in vars(called):
            refuse(origin, "is no class of Keras's own", "Keras's own layers")
        return _row(cls) or refuse_layer(cls.__name__, origin)

    def _checked(self, called, origin):
        """The row of a layer or an operation, whose options odt reads."""
        row = self._known(called, origin)
        if isinstance(called, keras.Layer):
            _check_policy(called.dtype_policy.name, origin)
            if not called.built:
                refuse(origin, "has not been built", "a model that was called once, as by predict(x)")
        try:
            options = called.get_config()
        except Exception as error:  # of Keras, where an option cannot be described
            refuse(origin, "has an option that Keras cannot describe (%s)" % error, "Keras's own functions")
        row.check(type(called), options, origin)
        return row

    def _applied(self, layer, x, origin):
        """The value of a layer's output."""
        row = self._checked(layer, origin)
        if layer.weights:
            if id(layer) in self.seen:
                refuse(origin, "is called twice", "a layer of its own for each use")
            self.seen.add(id(layer))
        tensors = x if isinstance(x, list) and row.make in _JOINS else [x]
        if not tensors or any(not isinstance(each, Value) for each in tensors):
            refuse(origin, "is called with what is no tensor of the network", "a Rescaling for constants")
        tensors = self._padded(tensors, layer, row, origin)
        value = row.make(self, layer, tensors if row.make in _JOINS else tensors[0], origin)
        left = [each.path for each in layer.variables
                if id(each) not in self.read and each.name != "seed_generator_state"]  # fmt: skip
        if left:
            refuse(origin, "has the variables %s, which odt does not read" % ", ".join(left), "a layer without them")
        return value

    def _padded(self, inputs, called, row, origin):
        """The inputs, with the zeros that a padding before adds where no window follows that begins in them."""
        if row.make in _AFTER_PADS and getattr(called, "padding", None) != "same":
            return inputs
        if isinstance(inputs, (list, tuple)):
            return [self._padded(each, called, row, origin) for each in inputs]
        return self.builder.padded(inputs, origin) if isinstance(inputs, Value) else inputs

    def _array(self, variable):
        self.read.add(id(variable))
        return np.asarray(keras.ops.convert_to_numpy(variable))

    def _or(self, variable, other):
        return other if variable is None else self._array(variable)

    def _bias(self, layer):
        return self._or(layer.bias, None)

    # --- activations --------------------------------------------------------------------------

    def _activated(self, value, layer, origin):
        """The value after a layer's activation: a function of Keras's, or a layer."""
        activation = layer.activation
        if isinstance(activation, keras.Layer):
            origin = "%s, activation %s (%s)" % (origin, activation.name, type(activation).__name__)
            return self._applied(activation, value, origin)
        name = getattr(activation, "__name__", None) or type(activation).__name__
        if not any(getattr(module, name, None) is activation for module in (keras.activations, keras.ops)):
            refuse(origin, "has the activation %s, which is not Keras's" % name, "a function of keras.activations")
        return self._named(name, value, layer.name + "_" + name, origin)

    def _named(self, name, value, called, origin):
        """What Keras's function of this name makes, with its defaults."""
        b = self.builder
        if name == "linear":
            return value
        if name in ("relu", "relu6", "sigmoid", "tanh"):
            return b.unary(name, value, called, origin)
        if name == "leaky_relu":
            return b.leaky_relu(value, 0.2, called, origin)
        if name == "softmax":
            return b.softmax(value, -1, called, origin)
        if name in ("silu", "swish"):
            return b.silu(value, called, origin)
        if name == "hard_sigmoid":
            return b.hard_sigmoid(value, called, origin)
        if name in ("hard_silu", "hard_swish"):
            return b.hard_swish(value, called, origin)
        if name == "hard_tanh":
            return b.limited(value, -1, 1, called, origin)
        if name == "gelu":
            return b.gelu(value, False, called, origin)
        if name == "elu":
            return b.elu(value, 1, called, origin)
        if name == "selu":
            return b.selu(value, *SELU, called, origin)
        if name == "celu":
            return b.celu(value, 1, called, origin)
        if name == "erf":
            return b.unary("erf", value, called, origin)
        return refuse(
            origin, "has the activation %s" % name,
            "relu, relu6, leaky_relu, hard_tanh, sigmoid, hard_sigmoid, tanh, softmax, silu, hard_silu, elu, selu or "
            "gelu",
        )  # fmt: skip

    @_layer("Activation", "activation")
    def _activation(self, layer, x, origin):
        return self._activated(x, layer, origin)

    @_layer("ReLU", "max_value negative_slope threshold")
    def _relu(self, layer, x, origin):
        b, name, slope, high = self.builder, layer.name, layer.negative_slope, layer.max_value
        if layer.threshold:
            refuse(origin, "has threshold=%s" % layer.threshold, "threshold=0")
        if high is None:
            return b.leaky_relu(x, slope, name, origin) if slope else b.unary("relu", x, name, origin)
        if not slope:
            return b.limited(x, 0, high, name, origin)
        above = b.limited(x, 0, high, name + "_above", origin)
        turned = b.affine(x, -1, 0, name + "_turned", origin)
        below = b.affine(b.unary("relu", turned, name + "_below", origin), -slope, 0, name + "_slope", origin)
        return b.join("add", [above, below], name, origin)

    @_layer("LeakyReLU", "negative_slope")
    def _leaky_relu(self, layer, x, origin):
        return self.builder.leaky_relu(x, layer.negative_slope, layer.name, origin)

    @_layer("ELU", "alpha")
    def _elu(self, layer, x, origin):
        return self.builder.elu(x, layer.alpha, layer.name, origin)

    @_layer("PReLU", "shared_axes")
    def _prelu(self, layer, x, origin):
        return self.builder.leaky_relu(x, self._array(layer.alpha), layer.name, origin)

    @_layer("Softmax", "axis")
    def _softmax(self, layer, x, origin):
        return self.builder.softmax(x, _axis(layer.axis, x, origin), layer.name, origin)

    # --- layers with weights ------------------------------------------------------------------

    @_layer("Dense", "units activation use_bias")
    def _dense(self, layer, x, origin):
        kernel = self._array(layer.kernel).T
        return self._activated(self.builder.dense(x, kernel, self._bias(layer), layer.name, origin), layer, origin)

    @_layer("Embedding", "input_dim output_dim")
    def _embedding(self, layer, x, origin):
        return self.builder.embedding(x, self._array(layer.embeddings), layer.name, origin)

    @_layer(
        "GRU LSTM SimpleRNN", "units use_bias return_sequences stateful",
        "unroll implementation dropout recurrent_dropout", zero_output_for_mask=False,
    )  # fmt: skip
    def _recurrent(self, layer, x, origin):
        cell, kind = layer.cell, type(layer).__name__
        bias = self._bias(cell)
        biases = bias if kind == "GRU" and bias is not None else (bias, None)
        weights = self._array(cell.kernel).T, self._array(cell.recurrent_kernel).T, *biases
        made = recurrent_layer(self.builder, kind, x, weights, KERAS, layer.name, origin)
        made.node.options["stateful"] = layer.stateful
        return made if layer.return_sequences else self.builder.last_step(made, layer.name, origin)

    @_layer("MultiHeadAttention", "num_heads key_dim value_dim use_bias attention_axes", "dropout")
    def _attention(self, layer, tensors, origin):
        query, value, key = (tensors + tensors[-1:] * 2)[:3]
        if len(tensors) > 3 or any(len(each.source) != 2 for each in tensors) or tuple(layer.attention_axes) != (1,):
            refuse(origin, "takes %s" % [each.source for each in tensors], "query, value and key of (steps, features)")
        if layer.value_dim != layer.key_dim:
            refuse(origin, "has value_dim=%d and key_dim=%d" % (layer.value_dim, layer.key_dim), "value_dim=None")
        weights = {}
        for name in ("query", "key", "value", "output"):
            part = getattr(layer, "_%s_dense" % name)
            bias = self._or(part.bias, None)
            kernel = self._array(part.kernel)
            features = kernel.shape[-1] if name == "output" else kernel.shape[0]
            kernel = kernel.reshape(-1, features).T if name == "output" else kernel.reshape(features, -1).T
            weights[name] = kernel, None if bias is None else bias.ravel()
        return self.builder.attention(
            [query, value, key], weights, layer.num_heads, bool(self.causal), layer.name, origin
        )

    def _windowed(self, layer, x, kernel, bias, groups, name, origin):
        axes = kernel.ndim - 2
        strides, dilation = _sizes(layer.strides, axes), _sizes(layer.dilation_rate, axes)
        same, pads = ("upper", None) if layer.padding == "same" else (None, ((0, 0),) * axes)
        if layer.padding == "causal":
            pads = (((kernel.shape[1] - 1) * dilation[0], 0),)
        return self.builder.conv(x, kernel, bias, strides, pads, groups, name, origin, dilation, same)

    @_layer("Conv1D Conv2D", "filters kernel_size strides padding dilation_rate groups activation use_bias")
    def _conv(self, layer, x, origin):
        kernel = np.moveaxis(self._array(layer.kernel), -1, 0)
        made = self._windowed(layer, x, kernel, self._bias(layer), layer.groups, layer.name, origin)
        return self._activated(made, layer, origin)

    @_layer(
        "DepthwiseConv1D DepthwiseConv2D",
        "kernel_size strides padding depth_multiplier dilation_rate activation use_bias",
    )
    def _depthwise(self, layer, x, origin):
        made = self._by_channel(layer, layer.kernel, x, self._bias(layer), layer.name, origin)
        return self._activated(made, layer, origin)

    def _by_channel(self, layer, kernel, x, bias, name, origin):
        kernel = self._array(kernel)  # (.., channels, multiplier)
        made = np.moveaxis(kernel, (-2, -1), (0, 1))
        made = made.reshape((-1, *kernel.shape[:-2], 1))
        return self._windowed(layer, x, made, bias, kernel.shape[-2], name, origin)

    @_layer(
        "SeparableConv1D SeparableConv2D",
        "filters kernel_size strides padding depth_multiplier dilation_rate activation use_bias",
    )
    def _separable(self, layer, x, origin):
        value = self._by_channel(layer, layer.depthwise_kernel, x, None, layer.name + "_depthwise", origin)
        point = np.moveaxis(self._array(layer.pointwise_kernel), -1, 0)
        ones, zeros = (1,) * (point.ndim - 2), ((0, 0),) * (point.ndim - 2)
        value = self.builder.conv(value, point, self._bias(layer), ones, zeros, 1, layer.name + "_pointwise", origin)
        return self._activated(value, layer, origin)

    @_layer("Conv1DTranspose Conv2DTranspose", "filters kernel_size strides padding dilation_rate activation use_bias")
    def _transposed(self, layer, x, origin):
        kernel = np.moveaxis(self._array(layer.kernel), -2, 0)
        axes = kernel.ndim - 2
        strides, extra, pads = _sizes(layer.strides, axes), [], []
        for size, stride in zip(kernel.shape[1:], strides):
            total = max(size - stride, 0) if layer.padding == "same" else 0
            pads.append((total // 2, total - total // 2))
            extra.append(max(stride - size, 0))
        value = self.builder.transposed(
            x, kernel, self._bias(layer), strides, pads, extra, 1, layer.name, origin, _sizes(layer.dilation_rate, axes)
        )
        return self._activated(value, layer, origin)

    @_layer(
        "BatchNormalization", "axis momentum epsilon center scale", "synchronized renorm_clipping renorm_momentum",
    )  # fmt: skip
    def _batch_normalization(self, layer, x, origin):
        mean, variance = self._array(layer.moving_mean), self._array(layer.moving_variance)
        _last_axis(layer.axis, x, origin)
        weights = {
            "gamma": self._or(layer.gamma, np.ones_like(mean)), "beta": self._or(layer.beta, np.zeros_like(mean)),
                   "mean": mean, "variance": variance}  # fmt: skip
        momentum = min(max(layer.momentum, 0.0001), 0.9999)
        return self.builder.norm("batch", x, weights, layer.name, origin, epsilon=layer.epsilon, momentum=momentum)

    @_layer("LayerNormalization", "axis epsilon center scale", rms_scaling=False)
    def _layer_normalization(self, layer, x, origin):
        _last_axis(layer.axis, x, origin)
        return self.builder.norm("layer", x, self._factors(layer, x), layer.name, origin, epsilon=layer.epsilon)

    @_layer("GroupNormalization", "groups axis epsilon center scale")
    def _group_normalization(self, layer, x, origin):
        _last_axis(layer.axis, x, origin)
        groups = layer.groups if layer.groups > 0 else x.source[-1]
        return self.builder.norm(
            "group", x, self._factors(layer, x), layer.name, origin, epsilon=layer.epsilon, groups=groups
        )

    def _factors(self, layer, x):
        ones = np.ones(x.source[-1])
        return {"gamma": self._or(layer.gamma, ones), "beta": self._or(layer.beta, 0 * ones)}

    @_layer("Normalization", "axis mean variance invert")
    def _normalization(self, layer, x, origin):
        mean, variance = self._array(layer.mean), self._array(layer.variance)
        self.read.update(id(each) for each in layer.variables)  # of which mean and variance are made
        deviation = np.maximum(np.sqrt(variance.astype(np.float64)), keras.config.epsilon())
        gain, offset = (deviation, mean) if layer.invert else (1 / deviation, -mean / deviation)
        return self.builder.affine(x, gain, offset, layer.name, origin)

    # --- layers without weights ---------------------------------------------------------------

    @_layer("MaxPooling1D MaxPooling2D AveragePooling1D AveragePooling2D", "pool_size strides padding")
    def _pool(self, layer, x, origin):
        op = "maxpool" if type(layer).__name__.startswith("Max") else "avgpool"
        size = _sizes(layer.pool_size, len(x.source) - 1)
        same, pads = ("upper", None) if layer.padding == "same" else (None, ((0, 0),) * len(size))
        strides = _sizes(layer.strides or size, len(size))
        if same and op == "avgpool" and keras.backend.backend() == "torch":
            short = [(n - 1) // step * step + width - n for n, width, step in zip(x.source, size, strides)]
            if any(n > 0 and n % 2 for n in short):
                refuse(
                    origin,
                    "pads by %s in all, where Keras on PyTorch repeats the edge and on others leaves it out" % short,
                    'padding="valid", or KERAS_BACKEND=tensorflow or jax, as which odt computes',
                )  # fmt: skip
        return self.builder.pool(op, x, size, strides, pads, False, layer.name, origin, same=same)

    @_layer("GlobalMaxPooling1D GlobalMaxPooling2D GlobalAveragePooling1D GlobalAveragePooling2D", "keepdims")
    def _global_pool(self, layer, x, origin):
        op = "maxpool" if type(layer).__name__.startswith("GlobalMax") else "avgpool"
        return self.builder.global_pool(op, x, layer.keepdims, layer.name, origin)

    @_layer("AdaptiveAveragePooling1D AdaptiveAveragePooling2D", "output_size")
    def _adaptive(self, layer, x, origin):
        return self.builder.adaptive(x, _sizes(layer.output_size, len(x.source) - 1), layer.name, origin)

    @_layer("UpSampling1D UpSampling2D", "size interpolation")
    def _upsampling(self, layer, x, origin):
        times = _sizes(layer.size, len(x.source) - 1)
        return self._enlarged(x, times, getattr(layer, "interpolation", "nearest"), layer, origin)

    def _enlarged(self, x, times, how, layer, origin):
        if how not in ("nearest", "bilinear"):
            refuse(origin, "enlarges by %r" % how, 'interpolation="nearest" or "bilinear"')
        enlarge = self.builder.upsample if how == "nearest" else self.builder.bilinear
        return enlarge(x, times, layer.name, origin)

    @_layer("Resizing", "height width interpolation")
    def _resizing(self, layer, x, origin):
        wanted, extents = (layer.height, layer.width), x.source[:2]
        if len(x.source) != 3 or any(new % old for new, old in zip(wanted, extents)):
            refuse(origin, "makes %s of %s" % (wanted, extents), "sizes that are multiples, or samples of that size")
        times = tuple(new // old for new, old in zip(wanted, extents))
        return x if times == (1, 1) else self._enlarged(x, times, layer.interpolation, layer, origin)

    @_layer("ZeroPadding1D ZeroPadding2D", "padding")
    def _zero_padding(self, layer, x, origin):
        return self.builder.pad(x, [*_pairs(layer.padding, x), (0, 0)], origin)

    @_layer("Cropping1D Cropping2D", "cropping")
    def _cropping(self, layer, x, origin):
        return self._cut(x, [(a, n - b) for n, (a, b) in zip(x.source, _pairs(layer.cropping, x))], layer.name, origin)

    @_layer("CenterCrop", "height width")
    def _center_crop(self, layer, x, origin):
        wanted, extents = (layer.height, layer.width), x.source[-3:-1]
        if len(extents) != 2 or any(new > old for new, old in zip(wanted, extents)):
            refuse(origin, "makes %s of %s" % (wanted, extents), "sizes of at most the samples'")
        starts = [(old - new) // 2 for new, old in zip(wanted, extents)]
        return self._cut(x, [(at, at + new) for at, new in zip(starts, wanted)], layer.name, origin)

    def _cut(self, x, ends, name, origin):
        """The part of a value between these positions of its first axes."""
        for axis, (start, end) in enumerate(ends):
            x = self.builder.slice(x, axis, start, 1, end - start, name, origin)
        return x

    @_layer("Flatten")
    def _flatten(self, layer, x, origin):
        return self.builder.reshape(x, (x.index.size,), origin)

    @_layer("Reshape", "target_shape")
    def _reshape(self, layer, x, origin):
        wanted = list(layer.target_shape)
        if -1 in wanted:
            wanted[wanted.index(-1)] = x.index.size // max(-int(np.prod(wanted)), 1)
        return self.builder.reshape(x, wanted, origin)

    @_layer("RepeatVector", "n")
    def _repeat_vector(self, layer, x, origin):
        row = self.builder.reshape(x, (1, x.index.size), origin)
        return self.builder.upsample(row, (layer.n,), layer.name, origin)

    @_layer("Permute", "dims")
    def _permute(self, layer, x, origin):
        return self.builder.transpose(x, [axis - 1 for axis in layer.dims], origin)

    @_layer("Dropout AlphaDropout SpatialDropout1D SpatialDropout2D", "rate", "noise_shape")
    def _dropout(self, layer, x, origin):
        return self.builder.unary("dropout", x, layer.name, origin, rate=float(layer.rate))

    @_layer("Identity")
    @_layer("ActivityRegularization", "", "l1 l2")
    @_layer("GaussianDropout", "", "rate")
    @_layer("GaussianNoise", "", "stddev")
    @_layer("RandomBrightness RandomColorDegeneration RandomContrast RandomGrayscale RandomHue RandomInvert", "",
            "factor value_range")  # fmt: skip
    @_layer("RandomPosterization RandomSaturation RandomSharpness", "", "factor value_range")
    @_layer("RandomColorJitter", "", "value_range brightness_factor contrast_factor saturation_factor hue_factor")
    @_layer("RandomErasing", "", "factor scale fill_value value_range")
    @_layer("RandomFlip", "", "mode")
    @_layer("RandomGaussianBlur", "", "factor kernel_size sigma value_range")
    @_layer("RandomPerspective", "", "factor scale interpolation fill_value")
    @_layer("RandomElasticTransform", "", "factor scale interpolation fill_mode fill_value value_range")
    @_layer("RandomRotation", "", "factor fill_mode fill_value interpolation")
    @_layer("RandomShear", "", "x_factor y_factor fill_mode fill_value interpolation")
    @_layer("RandomTranslation RandomZoom", "", "height_factor width_factor fill_mode fill_value interpolation")
    def _idle(self, layer, x, origin):
        """Layers that have an effect in training alone."""
        return x

    @_layer("Rescaling", "scale offset")
    def _rescaling(self, layer, x, origin):
        if np.ndim(layer.scale) and keras.config.image_data_format() != "channels_last":
            refuse(origin, "has its channels first", 'keras.config.set_image_data_format("channels_last")')
        return self.builder.affine(x, np.asarray(layer.scale), np.asarray(layer.offset), layer.name, origin)

    @_layer("TimeDistributed", "layer")
    def _time_distributed(self, layer, x, origin):
        inner = layer.layer
        origin = "%s, layer %s (%s)" % (origin, inner.name, type(inner).__name__)
        if type(inner).__name__ not in ("Dense", "Activation", "ReLU", "LeakyReLU", "Dropout"):
            refuse(origin, "is applied to each step", "a Dense, or Conv1D over the sequence")
        return self._applied(inner, x, origin)

    # --- several inputs -----------------------------------------------------------------------

    @_layer("Add Multiply")
    def _join(self, layer, inputs, origin):
        if len(inputs) < 2:
            refuse(origin, "joins a single tensor", "two or more")
        return self.builder.join(type(layer).__name__.lower(), inputs, layer.name, origin)

    @_layer("Average")
    def _average(self, layer, inputs, origin):
        total = self.builder.join("add", inputs, layer.name + "_sum", origin)
        return self.builder.affine(total, 1 / len(inputs), 0, layer.name, origin)

    @_layer("Subtract")
    def _subtract_layer(self, layer, inputs, origin):
        return self.builder.subtract(*inputs, layer.name, origin)

    @_layer("Maximum Minimum")
    def _extreme_layer(self, layer, inputs, origin):
        value = inputs[0]
        for each in inputs[1:]:
            value = self._extreme(value, each, type(layer).__name__ == "Maximum", layer.name, origin)
        return value

    def _extreme(self, first, second, largest, name, origin):
        """first + relu(second - first), or first - relu(first - second)."""
        b = self.builder
        ends = (second, first) if largest else (first, second)
        more = b.unary("relu", b.subtract(*ends, name + "_difference", origin), name + "_more", origin)
        return b.join("add", [first, more], name, origin) if largest else b.subtract(first, more, name, origin)

    @_layer("Concatenate", "axis")
    def _concatenate_layer(self, layer, inputs, origin):
        return self.builder.concatenate(inputs, _axis(layer.axis, inputs[0], origin), layer.name, origin)

    # --- operations: arguments, of which some may be constants; out: the shape of a sample of the result ----

    @_operation("Add Multiply")
    def _arithmetic(self, called, inputs, origin, out):
        op = type(called).__name__.lower()
        return self.builder.arithmetic(op, *map(_constant, inputs), called.name, origin)

    @_operation("Subtract")
    def _subtract(self, called, inputs, origin, out):
        return self.builder.subtract(*map(_constant, inputs), called.name, origin)

    @_operation("Divide TrueDivide")
    def _divide(self, called, inputs, origin, out):
        return self.builder.divide(*map(_constant, inputs), called.name, origin)

    @_operation("Negative")
    def _negative(self, called, inputs, origin, out):
        return self.builder.affine(inputs[0], -1, 0, called.name, origin)

    @_operation("Square")
    def _square(self, called, inputs, origin, out):
        return self.builder.power(inputs[0], 2, called.name, origin)

    @_operation("Power")
    def _power(self, called, inputs, origin, out):
        if not isinstance(inputs[0], Value) or isinstance(inputs[1], Value):
            refuse(origin, "raises to a power that is a tensor", "a whole power of 1 to 4")
        return self.builder.power(inputs[0], _single(inputs[1], origin), called.name, origin)

    @_operation("Absolute")
    def _absolute(self, called, inputs, origin, out):
        return self.builder.absolute(inputs[0], called.name, origin)

    @_operation("Maximum Minimum")
    def _limit(self, called, inputs, origin, out):
        largest = type(called).__name__ == "Maximum"
        first, second = map(_constant, inputs)
        if isinstance(first, Value) and isinstance(second, Value):
            return self._extreme(first, second, largest, called.name, origin)
        value, limit = (first, second) if isinstance(first, Value) else (second, first)
        limit = _single(limit, origin)
        return self.builder.limited(value, *((limit, None) if largest else (None, limit)), called.name, origin)

    @_operation("Clip", "x_min x_max")
    def _clip(self, called, inputs, origin, out):
        low, high = (each if each is None else _single(each, origin) for each in (called.x_min, called.x_max))
        return self.builder.limited(inputs[0], low, high, called.name, origin)

    @_operation("Relu Relu6 Sigmoid Tanh Silu HardSigmoid HardSilu HardTanh Selu Erf")
    def _function(self, called, inputs, origin, out):
        words = {"HardSigmoid": "hard_sigmoid", "HardSilu": "hard_silu", "HardTanh": "hard_tanh"}
        name = type(called).__name__
        return self._named(words.get(name, name.lower()), inputs[0], called.name, origin)

    @_operation("ReLU", "negative_slope max_value threshold")
    def _relu_operation(self, called, inputs, origin, out):
        return self._relu(called, inputs[0], origin)

    @_operation("Gelu", "approximate")
    def _gelu(self, called, inputs, origin, out):
        return self.builder.gelu(inputs[0], called.approximate, called.name, origin)

    @_operation("Elu", "alpha")
    def _elu_operation(self, called, inputs, origin, out):
        return self._elu(called, inputs[0], origin)

    @_operation("Celu", "alpha")
    def _celu(self, called, inputs, origin, out):
        return self.builder.celu(inputs[0], called.alpha, called.name, origin)

    @_operation("LeakyRelu", "negative_slope")
    def _leaky_relu_operation(self, called, inputs, origin, out):
        return self._leaky_relu(called, inputs[0], origin)

    @_operation("Softmax", "axis")
    def _softmax_operation(self, called, inputs, origin, out):
        return self._softmax(called, inputs[0], origin)

    @_operation("Concatenate", "axis")
    def _concatenate(self, called, inputs, origin, out):
        if any(not isinstance(each, Value) for each in inputs[0]):
            refuse(origin, "concatenates what is no tensor of the network")
        return self._concatenate_layer(called, inputs[0], origin)

    @_operation("Reshape", "newshape")
    @_operation("Squeeze ExpandDims", "axis")
    def _reshaped(self, called, inputs, origin, out):
        x = inputs[0]
        if None in out or int(np.prod(out)) != x.index.size:
            refuse(origin, "makes %s of samples of %s" % (out, x.source), "a shape that leaves the batch's axis")
        return self.builder.reshape(x, out, origin)

    @_operation("Transpose", "axes")
    def _transpose(self, called, inputs, origin, out):
        axes = called.axes or range(len(inputs[0].source), -1, -1)
        if axes[0] != 0:
            refuse(origin, "moves the batch's axis", "axes that begin with 0")
        return self.builder.transpose(inputs[0], [axis - 1 for axis in axes[1:]], origin)

    @_operation("Mean Sum Max", "axis keepdims")
    def _reduced(self, called, inputs, origin, out):
        x, kind = inputs[0], type(called).__name__
        axes = range(-1, len(x.source)) if called.axis is None else called.axis
        axes = [_axis(axis, x, origin) for axis in (axes if isinstance(axes, (list, tuple, range)) else [axes])]
        op = "maxpool" if kind == "Max" else "avgpool"
        value = self.builder.reduce(op, x, axes, called.keepdims, called.name, origin)
        if kind == "Sum":
            count = int(np.prod([x.source[axis] for axis in axes]))
            value = self.builder.affine(value, count, 0, called.name + "_sum", origin)
        return value

    @_operation("GetItem")
    def _part(self, called, inputs, origin, out):
        x, keys = inputs[0], inputs[1] if isinstance(inputs[1], (list, tuple)) else [inputs[1]]
        rank = len(x.source) + 1
        keys = list(keys)
        if Ellipsis in keys:
            at = keys.index(Ellipsis)
            keys[at : at + 1] = [slice(None)] * (rank - len(keys) + 1)
        if keys[0] != slice(None) or any(not isinstance(each, (slice, int)) for each in keys):
            refuse(origin, "takes the part %s" % (keys,), "slices and positions of a sample's axes, of the batch all")
        for axis, key in enumerate(keys[1:]):
            size = x.source[axis]
            places = range(size)[key] if isinstance(key, slice) else range(key % size, key % size + 1)
            x = self.builder.slice(x, axis, places.start, places.step, len(places), called.name, origin)
        return self.builder.reshape(x, out, origin)

    @_operation("Pad", "pad_width mode")
    def _pad(self, called, inputs, origin, out):
        pads = np.asarray(called.pad_width)
        if called.mode != "constant" or pads.shape != (len(inputs[0].source) + 1, 2) or pads[0].any():
            refuse(origin, "pads by %s in the mode %s" % (pads.tolist(), called.mode), "zeros around the image")
        return self.builder.pad(inputs[0], pads[1:].tolist(), origin)

    @_operation("AveragePool MaxPool", "pool_size strides padding")
    def _pool_operation(self, called, inputs, origin, out):
        return self._pool(called, inputs[0], origin)

    @_operation("StopGradient")
    @_operation("Cast", "dtype")
    def _same(self, called, inputs, origin, out):
        return inputs[0]


def _ends(model):
    """(input, output) of a model that has been built, and has one of each."""
    name = "model %s" % model.name
    sequential = isinstance(model, keras.Sequential)
    if not (sequential or hasattr(model, "_nodes_by_depth")):
        refuse(name, "is a class of its own", "a Sequential or a functional model")
    if sequential and model._functional is None:
        refuse(
            name, "has not been built, so it has no shapes", "a first layer keras.Input(shape), or model.build(shape)"
        )
    for method in ("call", "__call__"):
        owner = next(each for each in type(model).__mro__ if method in vars(each))
        if not owner.__module__.startswith("keras.src."):
            refuse(name, "has a %s() of its own" % method, "a Sequential or a functional model")
    if len(model.inputs) != 1 or len(model.outputs) != 1:
        refuse(name, "has %d inputs and %d outputs" % (len(model.inputs), len(model.outputs)), "one of each")
    return model.inputs[0], model.outputs[0]


def _check_input(layer, model):
    """Refuse an input that is not of floats,
    except of whole numbers that a Rescaling or a Normalization makes floats, or an Embedding takes.
    """
    origin = "layer %s (%s)" % (layer.name, type(layer).__name__)
    LAYERS["InputLayer"].check(type(layer), {**layer.get_config(), "dtype": None}, origin)
    readers = [node.operation for node in layer._outbound_nodes if node.operation in model.operations]
    kinds = [type(each) for each in readers]
    converted = keras.layers.Embedding in kinds or set(kinds) <= {keras.layers.Rescaling, keras.layers.Normalization}
    known = all(map(_row, kinds))  # else a layer is refused by its own name
    if layer.dtype != "float32" and not ("int" in layer.dtype and converted) and known:
        refuse(origin, "takes samples of %s" % layer.dtype, "float32")


LAYERS["InputLayer"] = Row(None, "batch_shape", "optional", sparse=False, ragged=False)
_LISTS = "Add Average Subtract Maximum Concatenate MultiHeadAttention"
_JOINS = {LAYERS[name].make for name in _LISTS.split()}
_WINDOWS = "Conv2D DepthwiseConv2D SeparableConv2D MaxPooling2D ZeroPadding2D Identity"
_AFTER_PADS = {LAYERS[name].make for name in _WINDOWS.split()} | {OPERATIONS["Pad"].make}


def _is_none(argument):
    """Whether an argument is None, or the masks of several inputs that have none."""
    return all(map(_is_none, argument)) if isinstance(argument, (list, tuple)) else argument is None


def _replaced(argument, known):
    """An argument of a call, with the values of its tensors."""
    if isinstance(argument, (list, tuple)):
        return [_replaced(each, known) for each in argument]
    return known[id(argument)] if isinstance(argument, keras.KerasTensor) else argument


def _constant(argument):
    """An argument of an operation: a value of the network, or a constant as an array."""
    return argument if isinstance(argument, Value) else np.asarray(keras.ops.convert_to_numpy(argument))


def _single(constant, origin):
    constant = np.asarray(_constant(constant))
    if constant.size != 1:
        refuse(origin, "has limits of shape %s" % (constant.shape,), "one number")
    return float(constant.ravel()[0])


def _axis(axis, x, origin):
    """The axis of a sample of this axis of a batch."""
    rank = len(x.source)
    if not isinstance(axis, int) or axis in (0, -rank - 1):
        refuse(origin, "works along axis %s" % (axis,), "one axis, which is not the batch's")
    return axis if axis < 0 else axis - 1


def _last_axis(axis, x, origin):
    axis = axis[0] if isinstance(axis, (list, tuple)) and len(axis) == 1 else axis
    if axis not in (-1, len(x.source)):
        refuse(origin, "normalises axis %s" % (axis,), "the last one")


def _sizes(value, count):
    return (int(value),) * count if isinstance(value, int) else tuple(int(each) for each in value)


def _pairs(padding, x):
    """(before, after) of each axis of the image."""
    return [tuple(pair) for pair in padding] if len(x.source) == 3 else [tuple(padding)]


_RECURRENCE = "GRU, LSTM or SimpleRNN, or Conv1D over the sequence, causal or dilated"
_INSTEAD = {
    "RNN Bidirectional ConvLSTM1D ConvLSTM2D ConvLSTM3D StackedRNNCells": _RECURRENCE,
    "LSTMCell GRUCell SimpleRNNCell": _RECURRENCE,
    "Attention AdditiveAttention GroupedQueryAttention GroupQueryAttention": "MultiHeadAttention",
    "Masking": "sequences of one length, padded beforehand",
    "ReversibleEmbedding": "an Embedding, and a Dense of its own",
    "CategoryEncoding": "one-hot samples and a Dense",
    "StringLookup IntegerLookup TextVectorization Hashing HashedCrossing Discretization":
        "numbers that the program makes",
    "MelSpectrogram STFTSpectrogram": "odt.sensors.features, before the network",
    "Lambda": "layers",
    "EinsumDense": "Dense",
    "SpectralNormalization": "the layer within it, with its weights",
    "RMSNormalization UnitNormalization": "LayerNormalization",
    "Dot": "a Multiply and a Dense",
    "RandomCrop AutoContrast Equalization Solarization AugMix CutMix MixUp RandAugment MaxNumBoundingBoxes Pipeline":
        "the augmentation in the pipeline of the data",
    "Conv3D Conv3DTranspose MaxPooling3D AveragePooling3D UpSampling3D ZeroPadding3D Cropping3D SpatialDropout3D "
    "GlobalMaxPooling3D GlobalAveragePooling3D AdaptiveAveragePooling3D AdaptiveMaxPooling3D": "layers of 1 or 2 axes",
    "AdaptiveMaxPooling1D AdaptiveMaxPooling2D": "MaxPooling",
}  # fmt: skip
