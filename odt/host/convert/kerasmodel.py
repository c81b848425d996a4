"""Reads Keras 3: a Sequential or functional model, or a .keras file whose description names Keras's own layers alone."""

import json
import os
import zipfile
from pathlib import Path

import numpy as np

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras  # noqa: E402

from .builder import Builder, Value  # noqa: E402
from .graph import Unsupported, refuse  # noqa: E402

_LARGEST = 1 << 28  # bytes of what a file unpacks to
_MODULES = ("keras", "keras.layers", "keras.models", "keras.initializers", "keras.regularizers", "keras.constraints")
_MODELS = (("keras.src.models.functional", "Functional"), ("keras.src.models.sequential", "Sequential"))
_PLAIN = ("__tuple__", "__keras_tensor__", "__numpy__", "__tensor__", "__typespec__", "__ellipsis__", "slice")


def read(source, shape=None):
    """The Graph of a model or a file. ValueError for a damaged file, or one that names code of its own."""
    if isinstance(source, (str, Path)):
        source = _opened(source)
    return _Reader().graph(source)


def _opened(path):
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(each.file_size for each in archive.infolist())
            if size > _LARGEST:
                raise ValueError("unpacks to %d bytes, at most %d are read" % (size, _LARGEST))
            _check(json.loads(archive.read("config.json")))
        return keras.saving.load_model(path, compile=False, safe_mode=True)
    except OSError as error:
        if isinstance(error, (FileNotFoundError, PermissionError, IsADirectoryError)):
            raise
        raise ValueError("%s is damaged: %s" % (path, error)) from error
    except Unsupported:
        raise
    except Exception as error:  # of Keras and HDF5, whatever a damaged file makes them raise
        lines = str(error).strip().splitlines() or [""]
        raise ValueError("%s is damaged, or no .keras file: %s: %s" % (path, type(error).__name__, lines[0])) from error


def _check(config):
    """Unsupported where a description names a class that is not Keras's own, or a function."""
    if isinstance(config, dict):
        name, module = config.get("class_name"), config.get("module")
        if isinstance(name, str) and name not in _PLAIN:
            own = module in _MODULES or (module, name) in _MODELS
            if not own or name == "Lambda" or config.get("registered_name") not in (None, name):
                raise Unsupported(
                    "the file names %s of %s, which is not executed; instead: Keras's own layers" % (name, module)
                )
        for each in config.values():
            _check(each)
    elif isinstance(config, list):
        for each in config:
            _check(each)


class _Reader:
    def __init__(self):
        self.builder = Builder(-1)
        self.seen = set()

    def graph(self, model):
        if len(model.inputs or ()) != 1 or len(model.outputs or ()) != 1:
            raise Unsupported("the model has %d inputs and %d outputs; instead: a built Sequential or functional model "
                              "of one each" % (len(model.inputs or ()), len(model.outputs or ())))  # fmt: skip
        shape = tuple(model.inputs[0].shape)[1:]
        if None in shape:
            raise Unsupported("the input has the dynamic shape %s; instead: fixed sizes" % (shape,))
        return self.builder.finish(self._run(model, self.builder.input(model.inputs[0].name, shape)))

    def _run(self, model, value):
        """The model's output for its input's value."""
        model = getattr(model, "_functional", None) or model
        depths = getattr(model, "_nodes_by_depth", None)
        if depths is None:
            raise Unsupported(
                "the model %s is a class of its own; instead: a Sequential or a functional model" % model.name
            )
        known = {id(model.inputs[0]): value}
        for depth in sorted(depths, reverse=True):
            for node in depths[depth]:
                if node.operation in model.operations and not node.is_input:
                    inputs = [known[id(each)] for each in node.input_tensors]
                    known[id(node.output_tensors[0])] = self._call(node.operation, inputs, len(node.output_tensors))
        return known[id(model.outputs[0])]

    def _call(self, layer, inputs, outputs):
        kind = type(layer).__name__
        origin = "layer %s (%s)" % (layer.name, kind)
        if isinstance(layer, (keras.Model,)):
            return self._run(layer, inputs[0])
        if id(layer) in self.seen and layer.weights:
            refuse(origin, "is called twice", "a layer of its own for each use")
        self.seen.add(id(layer))
        make = (
            getattr(self, "_" + kind, None) if kind in LAYERS and type(layer).__module__.startswith("keras.") else None
        )
        if make is None or outputs != 1:
            refuse(origin, "odt has no such layer", _INSTEAD.get(kind))
        if getattr(layer, "data_format", "channels_last") not in ("channels_last", None):
            refuse(origin, "has its channels first", 'data_format="channels_last"')
        if not inputs:
            refuse(origin, "computes with constants alone")
        value = make(layer, inputs if kind in _JOINS else inputs[0], origin)
        return value if isinstance(value, Value) else refuse(origin, "gives nothing")

    def _activated(self, value, layer, origin):
        name = getattr(getattr(layer, "activation", None), "__name__", "linear")
        return self._named(name, value, layer.name + "_" + name, origin)

    def _named(self, name, value, called, origin):
        b = self.builder
        if name == "linear":
            return value
        if name in ("relu", "relu6", "sigmoid", "tanh"):
            return b.unary(name, value, called, origin)
        if name == "leaky_relu":
            return b.unary(name, value, called, origin, slope=0.2)
        if name == "softmax":
            return b.softmax(value, -1, called, origin)
        if name in ("silu", "swish"):
            return b.join("multiply", [value, b.unary("sigmoid", value, called + "_gate", origin)], called, origin)
        if name in ("hard_sigmoid", "hard_silu", "hard_swish"):
            moved = b.unary("relu6", b.affine(value, 1, 3, called + "_moved", origin), called + "_limited", origin)
            gate = b.affine(moved, 1 / 6, 0, called + "_gate", origin)
            return gate if name == "hard_sigmoid" else b.join("multiply", [value, gate], called, origin)
        return refuse(origin, "has the activation %s" % name, "relu, relu6, leaky_relu, sigmoid, tanh, softmax or silu")

    # --- layers -------------------------------------------------------------------------------

    def _Dense(self, layer, x, origin):
        return self._activated(
            self.builder.dense(x, _array(layer.kernel).T, _bias(layer), layer.name, origin), layer, origin
        )

    def _windowed(self, layer, x, kernel, bias, groups, name, origin):
        axes = kernel.ndim - 2
        strides, dilation = _sizes(layer.strides, axes), _sizes(layer.dilation_rate, axes)
        if layer.padding not in ("same", "valid"):
            refuse(origin, "has the padding %r" % layer.padding, '"same" or "valid"')
        same, pads = ("upper", None) if layer.padding == "same" else (None, ((0, 0),) * axes)
        if same and x.pads is not None:
            refuse(origin, "pads what is padded already")
        return self.builder.conv(x, kernel, bias, strides, pads, groups, name, origin, dilation, same)

    def _Conv2D(self, layer, x, origin):
        kernel = np.moveaxis(_array(layer.kernel), -1, 0)
        return self._activated(
            self._windowed(layer, x, kernel, _bias(layer), layer.groups, layer.name, origin), layer, origin
        )

    _Conv1D = _Conv2D

    def _DepthwiseConv2D(self, layer, x, origin):
        return self._activated(
            self._by_channel(layer, layer.kernel, x, _bias(layer), layer.name, origin), layer, origin
        )

    _DepthwiseConv1D = _DepthwiseConv2D

    def _by_channel(self, layer, kernel, x, bias, name, origin):
        kernel = _array(kernel)  # (.., channels, multiplier)
        made = np.moveaxis(kernel, (-2, -1), (0, 1))
        made = made.reshape((-1, *kernel.shape[:-2], 1))
        return self._windowed(layer, x, made, bias, kernel.shape[-2], name, origin)

    def _SeparableConv2D(self, layer, x, origin):
        value = self._by_channel(layer, layer.depthwise_kernel, x, None, layer.name + "_depthwise", origin)
        point = np.moveaxis(_array(layer.pointwise_kernel), -1, 0)
        axes = point.ndim - 2
        value = self.builder.conv(
            value, point, _bias(layer), (1,) * axes, ((0, 0),) * axes, 1, layer.name + "_pointwise", origin
        )
        return self._activated(value, layer, origin)

    _SeparableConv1D = _SeparableConv2D

    def _Conv2DTranspose(self, layer, x, origin):
        kernel = np.moveaxis(_array(layer.kernel), -2, 0)
        axes = kernel.ndim - 2
        strides, extra, pads = _sizes(layer.strides, axes), [], []
        if getattr(layer, "output_padding", None) is not None:
            refuse(origin, "has an output_padding", "padding alone")
        for size, stride in zip(kernel.shape[1:], strides):
            total = max(size - stride, 0) if layer.padding == "same" else 0
            pads.append((total // 2, total - total // 2))
            extra.append(max(stride - size, 0))
        value = self.builder.transposed(
            x, kernel, _bias(layer), strides, pads, extra, 1, layer.name, origin, _sizes(layer.dilation_rate, axes)
        )
        return self._activated(value, layer, origin)

    _Conv1DTranspose = _Conv2DTranspose

    def _BatchNormalization(self, layer, x, origin):
        mean, variance = _array(layer.moving_mean), _array(layer.moving_variance)
        if layer.axis not in (-1, len(x.source)):
            refuse(origin, "normalises axis %d" % layer.axis, "the last one")
        weights = {"gamma": _or(layer.gamma, np.ones_like(mean)), "beta": _or(layer.beta, np.zeros_like(mean)),
                   "mean": mean, "variance": variance}  # fmt: skip
        momentum = min(max(layer.momentum, 0.0001), 0.9999)
        return self.builder.norm("batch", x, weights, layer.name, origin, epsilon=layer.epsilon, momentum=momentum)

    def _LayerNormalization(self, layer, x, origin):
        axis = list(layer.axis) if isinstance(layer.axis, (list, tuple)) else [layer.axis]
        if axis not in ([-1], [len(x.source)]):
            refuse(origin, "normalises axes %s" % axis, "the last one")
        ones = np.ones(x.source[-1])
        weights = {"gamma": _or(layer.gamma, ones), "beta": _or(layer.beta, 0 * ones)}
        return self.builder.norm("layer", x, weights, layer.name, origin, epsilon=layer.epsilon)

    def _GroupNormalization(self, layer, x, origin):
        ones = np.ones(x.source[-1])
        weights = {"gamma": _or(layer.gamma, ones), "beta": _or(layer.beta, 0 * ones)}
        groups = layer.groups if layer.groups > 0 else x.source[-1]
        return self.builder.norm("group", x, weights, layer.name, origin, epsilon=layer.epsilon, groups=groups)

    def _pool(self, op, layer, x, origin):
        size = _sizes(layer.pool_size, len(x.source) - 1)
        same, pads = ("upper", None) if layer.padding == "same" else (None, ((0, 0),) * len(size))
        strides = _sizes(layer.strides or size, len(size))
        return self.builder.pool(op, x, size, strides, pads, False, layer.name, origin, same=same)

    def _MaxPooling2D(self, layer, x, origin):
        return self._pool("maxpool", layer, x, origin)

    _MaxPooling1D = _MaxPooling2D

    def _AveragePooling2D(self, layer, x, origin):
        return self._pool("avgpool", layer, x, origin)

    _AveragePooling1D = _AveragePooling2D

    def _GlobalAveragePooling2D(self, layer, x, origin):
        return self.builder.global_pool("avgpool", x, layer.keepdims, layer.name, origin)

    _GlobalAveragePooling1D = _GlobalAveragePooling2D

    def _GlobalMaxPooling2D(self, layer, x, origin):
        return self.builder.global_pool("maxpool", x, layer.keepdims, layer.name, origin)

    _GlobalMaxPooling1D = _GlobalMaxPooling2D

    def _UpSampling2D(self, layer, x, origin):
        if getattr(layer, "interpolation", "nearest") != "nearest":
            refuse(origin, "enlarges by %r" % layer.interpolation, 'interpolation="nearest"')
        return self.builder.upsample(x, _sizes(layer.size, len(x.source) - 1), layer.name, origin)

    _UpSampling1D = _UpSampling2D

    def _ZeroPadding2D(self, layer, x, origin):
        pads = [tuple(pair) for pair in layer.padding] if len(x.source) == 3 else [tuple(layer.padding)]
        return self.builder.pad(x, [*pads, (0, 0)], origin)

    _ZeroPadding1D = _ZeroPadding2D

    def _Flatten(self, layer, x, origin):
        return self.builder.reshape(x, (x.index.size,), origin)

    def _Reshape(self, layer, x, origin):
        wanted = list(layer.target_shape)
        if -1 in wanted:
            wanted[wanted.index(-1)] = x.index.size // max(-int(np.prod(wanted)), 1)
        return self.builder.reshape(x, wanted, origin)

    def _Permute(self, layer, x, origin):
        return self.builder.transpose(x, [axis - 1 for axis in layer.dims], origin)

    def _Activation(self, layer, x, origin):
        return self._activated(x, layer, origin)

    def _ReLU(self, layer, x, origin):
        if layer.threshold or layer.max_value not in (None, 6):
            refuse(origin, "has max_value=%s, threshold=%s" % (layer.max_value, layer.threshold), "ReLU or ReLU6")
        if layer.negative_slope:
            return self.builder.unary("leaky_relu", x, layer.name, origin, slope=float(layer.negative_slope))
        return self.builder.unary("relu6" if layer.max_value else "relu", x, layer.name, origin)

    def _LeakyReLU(self, layer, x, origin):
        return self.builder.unary("leaky_relu", x, layer.name, origin, slope=float(layer.negative_slope))

    def _Softmax(self, layer, x, origin):
        return self.builder.softmax(x, layer.axis if layer.axis < 0 else layer.axis - 1, layer.name, origin)

    def _Dropout(self, layer, x, origin):
        return self.builder.unary("dropout", x, layer.name, origin, rate=float(layer.rate))

    _SpatialDropout1D = _SpatialDropout2D = _Dropout

    def _Identity(self, layer, x, origin):
        return x

    def _Rescaling(self, layer, x, origin):
        return self.builder.affine(x, np.asarray(layer.scale), np.asarray(layer.offset), layer.name, origin)

    def _Add(self, layer, inputs, origin):
        return self._joined("add", layer, inputs, origin)

    def _Multiply(self, layer, inputs, origin):
        return self._joined("multiply", layer, inputs, origin)

    def _joined(self, op, layer, inputs, origin):
        if len(inputs) < 2:
            refuse(origin, "meets a constant", "a Rescaling")
        return self.builder.join(op, inputs, layer.name, origin)

    def _Concatenate(self, layer, inputs, origin):
        axis = layer.axis if layer.axis < 0 else layer.axis - 1
        return self.builder.concatenate(inputs, axis, layer.name, origin)


def _array(variable):
    return np.asarray(keras.ops.convert_to_numpy(variable))


def _bias(layer):
    return _array(layer.bias) if getattr(layer, "bias", None) is not None else None


def _or(variable, other):
    return other if variable is None else _array(variable)


def _sizes(value, count):
    return (value,) * count if isinstance(value, int) else tuple(value)


_JOINS = ("Add", "Multiply", "Concatenate")
LAYERS = {name[1:] for name in vars(_Reader) if name[:1] == "_" and name[1:2].isupper()}
_INSTEAD = {
    "Subtract": "an Add after a layer with negated weights",
    "LSTM": "Conv1D over the sequence: odt has no recurrence",
    "GRU": "Conv1D over the sequence: odt has no recurrence",
    "SimpleRNN": "Conv1D over the sequence: odt has no recurrence",
    "MultiHeadAttention": "convolutions: odt has no attention",
    "Embedding": "one-hot samples and a Dense",
    "Lambda": "layers",
    "PReLU": "LeakyReLU",
    "ELU": "ReLU or LeakyReLU",
    "Cropping2D": 'padding="valid"',
    "Normalization": "Rescaling, or samples that are normalised before",
}
