"""Every option of every Keras layer that odt reads, at a value that is not its default: Keras's own numbers, or a
refusal by name.

A layer or an option that has no row here fails test_each_option_has_a_value.
"""

import inspect
import os
import types

import numpy as np
import pytest

from odt.host.convert import Unsupported, load

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras  # noqa: E402
from keras import layers as L  # noqa: E402
from keras import ops  # noqa: E402

from odt.host.convert import kerasmodel  # noqa: E402


class Refused:
    """A value of an option that odt reads and refuses."""

    def __init__(self, value):
        self.value = value


IMAGE, SERIES, ROW = (8, 6, 4), (9, 4), (6,)
# name of the layer: its arguments, and the shape of a sample
CASES = {
    "Activation": (dict(activation="tanh"), ROW),
    "ActivityRegularization": ({}, ROW),
    "AdaptiveAveragePooling1D": (dict(output_size=2), SERIES),
    "AdaptiveAveragePooling2D": (dict(output_size=2), IMAGE),
    "Add": ({}, ROW),
    "AlphaDropout": (dict(rate=0.2), ROW),
    "Average": ({}, ROW),
    "AveragePooling1D": (dict(pool_size=3, strides=1), SERIES),
    "AveragePooling2D": (dict(pool_size=3, strides=1), IMAGE),
    "BatchNormalization": ({}, IMAGE),
    "Concatenate": ({}, SERIES),
    "Conv1D": (dict(filters=4, kernel_size=3), SERIES),
    "Conv1DTranspose": (dict(filters=3, kernel_size=3), SERIES),
    "Conv2D": (dict(filters=4, kernel_size=3), IMAGE),
    "Conv2DTranspose": (dict(filters=3, kernel_size=3), IMAGE),
    "CenterCrop": (dict(height=4, width=4), IMAGE),
    "Cropping1D": ({}, SERIES),
    "Cropping2D": ({}, IMAGE),
    "Dense": (dict(units=3), ROW),
    "DepthwiseConv1D": (dict(kernel_size=3), SERIES),
    "DepthwiseConv2D": (dict(kernel_size=3), IMAGE),
    "Dropout": (dict(rate=0.2), SERIES),
    "Embedding": (dict(input_dim=9, output_dim=3), ROW),
    "Flatten": ({}, IMAGE),
    **{name: (dict(units=3), SERIES) for name in ("GRU", "LSTM", "SimpleRNN")},
    "GaussianDropout": (dict(rate=0.2), ROW),
    "GaussianNoise": (dict(stddev=0.2), ROW),
    "GlobalAveragePooling1D": ({}, SERIES),
    "GlobalAveragePooling2D": ({}, IMAGE),
    "GlobalMaxPooling1D": ({}, SERIES),
    "GlobalMaxPooling2D": ({}, IMAGE),
    "GroupNormalization": (dict(groups=2), IMAGE),
    "Identity": ({}, ROW),
    "LayerNormalization": ({}, SERIES),
    "LeakyReLU": ({}, ROW),
    "ELU": (dict(alpha=0.7), ROW),
    "MaxPooling1D": (dict(pool_size=2), SERIES),
    "MaxPooling2D": (dict(pool_size=2), IMAGE),
    "Maximum": ({}, ROW),
    "Minimum": ({}, ROW),
    "MultiHeadAttention": (dict(num_heads=2, key_dim=3), SERIES),
    "Multiply": ({}, ROW),
    "Normalization": ({}, SERIES),
    "PReLU": (dict(shared_axes=[1, 2]), IMAGE),
    "Permute": (dict(dims=(1, 2)), SERIES),
    "ReLU": ({}, ROW),
    "RepeatVector": (dict(n=2), ROW),
    "Rescaling": (dict(scale=1.0), ROW),
    "Reshape": (dict(target_shape=(2, 3)), ROW),
    "Resizing": (dict(height=16, width=12), IMAGE),
    "SeparableConv1D": (dict(filters=4, kernel_size=3), SERIES),
    "SeparableConv2D": (dict(filters=4, kernel_size=3), IMAGE),
    "Softmax": ({}, SERIES),
    "SpatialDropout1D": (dict(rate=0.2), SERIES),
    "SpatialDropout2D": (dict(rate=0.2), IMAGE),
    "Subtract": ({}, ROW),
    "TimeDistributed": (dict(layer=lambda: L.Dense(3)), SERIES),
    "UpSampling1D": (dict(size=2), SERIES),
    "UpSampling2D": ({}, IMAGE),
    "ZeroPadding1D": ({}, SERIES),
    "ZeroPadding2D": ({}, IMAGE),
}
FACTORS = (
    "RandomBrightness",
    "RandomColorDegeneration",
    "RandomContrast",
    "RandomHue",
    "RandomSaturation",
    "RandomSharpness",
)
CASES.update({name: (dict(factor=0.2), (8, 6, 3)) for name in FACTORS + ("RandomZoom", "RandomRotation")})
CASES["RandomZoom"] = dict(height_factor=0.2), (8, 6, 3)
CASES["RandomTranslation"] = dict(height_factor=0.2, width_factor=0.2), (8, 6, 3)
CASES["RandomPosterization"] = dict(factor=4), (8, 6, 3)
CASES.update({name: ({}, (8, 6, 3)) for name in kerasmodel.LAYERS if name.startswith("Random") and name not in CASES})
SEVERAL = ("Add", "Average", "Concatenate", "Maximum", "Minimum", "Multiply", "Subtract")

# values of options that are read, by the option, or by layer and option
READ = {
    "units": [5],
    "input_dim": [12],
    "output_dim": [5],
    "num_heads": [3],
    "key_dim": [2],
    "value_dim": [3, Refused(2)],
    "attention_axes": [(1,), Refused((2,))],
    "return_sequences": [True],
    "stateful": [True],
    "ELU.alpha": [0.3, 3.0],
    "activation": [
        "relu",
        "softmax",
        "elu",
        "selu",
        "celu",
        lambda: L.LeakyReLU(0.1),
        lambda: L.ReLU(max_value=1.5),
        Refused("softsign"),
    ],
    "use_bias": [False],
    "filters": [6],
    "kernel_size": [2],
    "strides": [2],
    "padding": ["same"],
    "Conv1D.padding": ["same", "causal"],
    "ZeroPadding1D.padding": [(2, 1)],
    "ZeroPadding2D.padding": [((2, 1), (0, 3))],
    "dilation_rate": [2],
    "Conv1DTranspose.dilation_rate": [Refused(2)],
    "Conv2DTranspose.dilation_rate": [Refused(2)],
    "groups": [2],
    "GroupNormalization.groups": [4],
    "depth_multiplier": [2],
    "axis": [Refused(1)],
    "BatchNormalization.axis": [3, Refused(1)],
    "Softmax.axis": [2, Refused((1, 2))],
    "Concatenate.axis": [1, 2],
    "Normalization.axis": [None, 2, 1],
    "LayerNormalization.axis": [2, Refused((1, 2))],
    "momentum": [0.5],
    "epsilon": [0.3],
    "center": [False],
    "scale": [False],
    "Rescaling.scale": [0.25, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]],
    "offset": [0.5],
    "output_size": [3],
    "pool_size": [3],
    "AveragePooling1D.pool_size": [2],
    "AveragePooling2D.pool_size": [2],
    "keepdims": [True],
    "size": [3],
    "interpolation": ["nearest", "bilinear", Refused("bicubic")],
    "height": [24, Refused(7)],
    "CenterCrop.height": [3, Refused(9)],
    "width": [6, Refused(3)],
    "CenterCrop.width": [3, Refused(7)],
    "cropping": [1, (0, 2)],
    "Cropping2D.cropping": [((2, 1), (0, 3)), ((0, 0), (2, 2))],
    "target_shape": [(3, 2), (-1, 2)],
    "n": [3],
    "dims": [(2, 1)],
    "max_value": [6, 1.5],
    "negative_slope": [0.5, 1.5],
    "threshold": [Refused(0.5)],
    "shared_axes": [[1, 2], [1]],
    "rate": [0.4],
    "mean": [],  # see test_a_normalization_that_is_given_its_mean
    "variance": [],
    "invert": [True],
    "layer": [lambda: L.Activation("tanh"), Refused(lambda: L.LayerNormalization())],
    "output_padding": [],
}
# of options without effect in inference
IDLE = {
    "unroll": True,
    "dropout": 0.1,
    "recurrent_dropout": 0.1,
    "noise_shape": (None, 1, 4),
    "AlphaDropout.noise_shape": (None, 1),
    "synchronized": False,  # True is TensorFlow's alone
    "renorm_momentum": 0.5,
    "renorm_clipping": {"rmax": 2.0},
    "l1": 0.1,
    "l2": 0.1,
    "rate": 0.4,
    "stddev": 0.4,
    "factor": 0.3,
    "RandomPosterization.factor": 3,
    "value_range": (0, 1),
    "mode": "horizontal",
    "fill_mode": "constant",
    "fill_value": 0.5,
    "scale": 0.5,
    "RandomErasing.scale": (0.1, 0.2),
    "kernel_size": 5,
    "interpolation": "nearest",
    "height_factor": 0.3,
    "width_factor": 0.3,
    "x_factor": 0.3,
    "y_factor": 0.3,
    "sigma": 0.5,
    "brightness_factor": 0.3,
    "contrast_factor": 0.3,
    "saturation_factor": 0.3,
    "hue_factor": 0.3,
    "trainable": False,
    "name": "another",
    "seed": 5,
    "_initializer": "ones",
    "_regularizer": "l2",
    "_constraint": "non_neg",
}
# of options that are refused unless at their default
REFUSED = {
    **{"%s.activation" % name: "relu" for name in ("GRU", "LSTM", "SimpleRNN")},
    "recurrent_activation": "hard_sigmoid",
    "mask_zero": True,
    "use_gate": True,
    "output_shape": (3,),
    "sliding_window": 2,
    "return_state": True,
    "go_backwards": True,
    "unit_forget_bias": False,
    "reset_after": False,
    "zero_output_for_mask": True,
    "output_padding": 0,
    "renorm": True,
    "rms_scaling": True,
    "quantization_config": lambda: keras.quantizers.Int8QuantizationConfig(),
    "crop_to_aspect_ratio": True,
    "pad_to_aspect_ratio": True,
    "fill_mode": "reflect",
    "fill_value": 0.5,
    "antialias": True,
    "dtype": "mixed_float16",
    "data_format": "channels_first",
}
NAMES = sorted(name for name in kerasmodel.LAYERS if name != "InputLayer" and hasattr(L, name))


def options_of(name):
    """{option: (how, value or values)} of a layer, ``how`` one of "read", "idle" and "refused"."""
    row, found = kerasmodel.LAYERS[name], {}
    for option in getattr(L, name)(**arguments(name)).get_config():
        end = next((end for end in kerasmodel._IDLE_ENDS if option.endswith(end)), option)
        idle = option in row.idle or option in kerasmodel._IDLE or end != option
        how = "read" if option in row.reads else "idle" if idle else "refused"
        table = {"read": READ, "idle": IDLE, "refused": REFUSED}[how]
        key = "%s.%s" % (name, option)
        assert key in table or end in table, "%s: give the option a value that is not its default" % key
        found[option] = how, table[key if key in table else end]
    return found


def arguments(name):
    return {option: settled(value) for option, value in CASES[name][0].items()}


def settled(value):
    return value() if isinstance(value, types.FunctionType) else value


def network(name, layer, shape=None):
    """A model of a layer, all its weights at random."""
    keras.utils.set_random_seed(1)
    kind, size = "int32" if name == "Embedding" else "float32", 3 if getattr(layer, "stateful", False) else None
    x = keras.Input(shape or CASES[name][1], batch_size=size, dtype=kind)
    first = L.Rescaling(0.5, 0.1)(x) if kind == "float32" else x
    if name == "MultiHeadAttention":
        y = layer(first, L.Dense(CASES[name][1][-1])(x))
    else:
        y = layer([first, L.Dense(CASES[name][1][-1])(x)]) if name in SEVERAL else layer(first)
    y = y[0] if isinstance(y, (list, tuple)) else y  # and states
    if name.startswith("ZeroPadding"):
        y = getattr(L, "Conv" + name[-2:])(2, 1)(y)
    model = keras.Model(x, y)
    rng = np.random.default_rng(2)
    for weight in model.weights:
        low = 0.5 if "variance" in weight.path or "gamma" in weight.path else -0.3
        if weight.dtype == "float32":
            weight.assign(rng.uniform(low, low + 1, weight.shape))
        elif isinstance(layer, L.Normalization):
            continue
    for each in model.layers:
        if isinstance(each, L.Normalization):
            each.finalize_state()
    return model


def compare(model):
    x = np.random.default_rng(0).normal(size=(3, *model.inputs[0].shape[1:])).astype("float32") * 4
    x = np.abs(x).astype("int32") % 9 if "int" in model.inputs[0].dtype else x
    taken = load(model, train="none", batch_size=model.inputs[0].shape[0] or 1)
    for _ in range(2):  # a stateful layer goes on
        expected = keras.ops.convert_to_numpy(model(x, training=False))
        got = taken.imported.outputs(taken.predict(taken.imported.samples(x)))
        assert got.shape == expected.shape
        assert np.abs(got - expected).max() <= 1e-5 * max(1, np.abs(expected).max())


def refused(model, layer):
    with pytest.raises(Unsupported, match=r"layer %s \(%s\)" % (layer.name, type(layer).__name__)):
        load(model)


@pytest.mark.parametrize("name", NAMES)
def test_each_option_has_a_value(name):
    assert name in CASES, "a row for the layer %s" % name
    options_of(name)


@pytest.mark.parametrize("name", NAMES)
def test_options_that_are_read(name):
    for option, (how, values) in options_of(name).items():
        for value in values if how == "read" else ():
            made = settled(value.value if isinstance(value, Refused) else value)
            layer = getattr(L, name)(**{**arguments(name), option: made})
            model = network(name, layer)
            if isinstance(value, Refused):
                refused(model, layer)
            else:
                compare(model)


@pytest.mark.parametrize("name", NAMES)
def test_options_without_effect(name):
    idle = {option: value for option, (how, value) in options_of(name).items() if how == "idle"}
    if name.startswith("Spatial"):
        idle.pop("trainable", None)
    compare(network(name, getattr(L, name)(**{**arguments(name), **idle})))


@pytest.mark.parametrize("name", NAMES)
def test_options_that_are_refused(name):
    for option, (how, value) in options_of(name).items():
        if how == "refused":
            layer = getattr(L, name)(**{**arguments(name), option: settled(value)})
            refused(network(name, layer, (3, 3, 3) if name.startswith("Random") else None), layer)


def test_a_normalization_that_is_given_its_mean():
    for shape in ((), (4,)):
        layer = L.Normalization(mean=np.full(shape, 2.0), variance=np.full(shape, 3.0))
        compare(network("Normalization", layer))


# calls of each operation, at arguments that are not its defaults
OPERATIONS = {
    "Absolute": [lambda x: abs(x)],
    "Add": [lambda x: x + x, lambda x: 1.5 + x, lambda x: x + np.arange(4.0, dtype="float32")],
    "AveragePool": [lambda x: ops.average_pool(x, 3, strides=1, padding="same")],
    "Cast": [lambda x: ops.cast(x, "float32")],
    "Clip": [lambda x: ops.clip(x, -1, 0.5), lambda x: ops.clip(x, 0, float("inf"))],
    "Concatenate": [lambda x: ops.concatenate([x, x * 2], axis=3), lambda x: ops.concatenate([x, -x], axis=-1)],
    "Divide": [lambda x: ops.divide(x, 3.0)],
    "Celu": [lambda x: ops.celu(x), lambda x: ops.celu(x, alpha=0.3)],
    "Elu": [lambda x: ops.elu(x), lambda x: ops.elu(x, alpha=0.3)],
    "Erf": [lambda x: 0.5 * x * (1 + ops.erf(x / 2**0.5))],
    "ExpandDims": [lambda x: ops.expand_dims(ops.mean(x, axis=1), 2)],
    "Gelu": [lambda x: ops.gelu(x, approximate=True), lambda x: ops.gelu(x, approximate=False)],
    "GetItem": [lambda x: x[..., 1:3], lambda x: x[:, 2], lambda x: x[:, ::2, 1:4], lambda x: x[:, -3:-1]],
    "HardSigmoid": [lambda x: ops.hard_sigmoid(x)],
    "HardSilu": [lambda x: ops.hard_silu(x)],
    "HardTanh": [lambda x: ops.hard_tanh(x)],
    "LeakyRelu": [lambda x: ops.leaky_relu(x, negative_slope=0.4)],
    "Max": [lambda x: ops.max(x, axis=(1, 2), keepdims=True), lambda x: ops.max(x, axis=1)],
    "MaxPool": [lambda x: ops.max_pool(x, 3, strides=1, padding="same")],
    "Maximum": [lambda x: ops.maximum(x, 0.5), lambda x: ops.maximum(-x, x * 2)],
    "Mean": [lambda x: ops.mean(x, axis=(1, 2), keepdims=True), lambda x: ops.mean(x, axis=2)],
    "Minimum": [lambda x: ops.minimum(0.5, x), lambda x: ops.minimum(-x, x * 2)],
    "Multiply": [lambda x: 2 * x, lambda x: x * x],
    "Negative": [lambda x: -x],
    "Pad": [lambda x: L.Conv2D(2, 2)(ops.pad(x, [[0, 0], [1, 2], [0, 3], [0, 0]]))],
    "Power": [lambda x: x**2, lambda x: x**3],
    "ReLU": [lambda x: keras.activations.relu(x, negative_slope=0.2), lambda x: keras.activations.relu(x, max_value=2)],
    "Relu": [lambda x: ops.relu(x)],
    "Relu6": [lambda x: ops.relu6(x)],
    "Reshape": [lambda x: ops.reshape(x, (-1, 16, 12))],
    "Selu": [lambda x: ops.selu(x)],
    "Sigmoid": [lambda x: ops.sigmoid(x)],
    "Silu": [lambda x: ops.silu(x)],
    "Softmax": [lambda x: ops.softmax(x, axis=3)],
    "Square": [lambda x: ops.square(x)],
    "Squeeze": [lambda x: ops.squeeze(x[:, 1:2], 1)],
    "StopGradient": [lambda x: ops.stop_gradient(x)],
    "Subtract": [lambda x: 1 - x, lambda x: x - 1, lambda x: x - x * x],
    "Sum": [lambda x: ops.sum(x, axis=(1, 2), keepdims=True), lambda x: ops.sum(x, axis=-3)],
    "Tanh": [lambda x: ops.tanh(x)],
    "Transpose": [lambda x: ops.transpose(x, (0, 2, 1, 3))],
    "TrueDivide": [lambda x: x / 255],
}
REFUSED_OPERATIONS = {
    ("AveragePool", "data_format"): lambda x: ops.average_pool(x, 2, data_format="channels_first"),
    ("Cast", "dtype"): lambda x: ops.cast(x, "float16"),
    ("Max", "initial"): lambda x: ops.max(x, axis=1, initial=1.0),
    ("MaxPool", "data_format"): lambda x: ops.max_pool(x, 2, data_format="channels_first"),
    ("Pad", "mode"): lambda x: ops.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="reflect"),
    ("ReLU", "threshold"): lambda x: keras.activations.relu(x, threshold=0.5),
}


def called(call):
    x = keras.Input(IMAGE)
    return keras.Model(x, call(L.Rescaling(0.5, 0.1)(x)))


@pytest.mark.parametrize("name", sorted(kerasmodel.OPERATIONS))
def test_operations(name):
    row = kerasmodel.OPERATIONS[name]
    for call in OPERATIONS[name]:
        model = called(call)
        cls = next(type(each) for each in model.operations if type(each).__name__ == name)
        compare(model)
    for option in inspect.signature(cls.__init__).parameters:
        known = option in row.reads or option in ("self", "name") or (name, option) in REFUSED_OPERATIONS
        assert known, "%s: a call in REFUSED_OPERATIONS, or in what the row reads: %s" % (name, option)


@pytest.mark.parametrize("name, option", sorted(REFUSED_OPERATIONS))
def test_options_of_operations_that_are_refused(name, option):
    with pytest.raises(Unsupported, match=r"layer \w+ \(%s\): " % name):
        load(called(REFUSED_OPERATIONS[name, option]))


def test_each_activation_of_keras_is_its_own_or_refused():
    taken = []
    for name in sorted(set(dir(keras.activations)) - {"deserialize", "get", "serialize", "glu", "threshold"}):
        if not name.startswith("_"):
            layer = L.Activation(name)
            model = network("Activation", layer)
            try:
                load(model)
            except Unsupported as error:
                assert str(error).startswith("layer %s (Activation): " % layer.name)
            else:
                taken.append(name)
                compare(model)
    assert {"relu", "relu6", "leaky_relu", "sigmoid", "silu", "tanh", "softmax", "hard_tanh"} < set(taken)


def test_an_average_pool_that_pads_one_side_more_is_refused_where_backends_differ():
    x = keras.Input((9, 8, 2))
    layer = L.AveragePooling2D(2, padding="same")
    refused(keras.Model(x, layer(x)), layer)


@pytest.mark.parametrize(
    "kind", ["Conv1D", "Conv1DTranspose", "DepthwiseConv1D", "MaxPooling1D", "AveragePooling1D", "SeparableConv1D"]
)
def test_windows_of_all_sizes_and_strides(kind):
    places = [(size, stride, word) for size in (1, 2, 3, 4) for stride in (1, 2, 3, 5) for word in ("same", "valid")]
    for at, (size, stride, padding) in enumerate(places):
        x = keras.Input((7 + at % 3, 2))
        first = (3, size) if kind in ("Conv1D", "Conv1DTranspose", "SeparableConv1D") else (size,)
        layer = getattr(L, kind)(*first, strides=stride, padding=padding)
        try:
            compare(keras.Model(x, layer(x)))
        except Unsupported as error:
            assert str(error).startswith("layer %s (%s): " % (layer.name, kind))
            assert kind == "AveragePooling1D" and padding == "same"


@pytest.mark.parametrize("kind", ["Conv1D", "Conv1DTranspose", "DepthwiseConv1D", "SeparableConv1D"])
def test_dilations(kind):
    for padding in ("same", "valid") + ("causal",) * (kind == "Conv1D"):
        for size, rate in ((2, 2), (3, 3), (4, 2), (1, 5)):
            first = (size,) if kind == "DepthwiseConv1D" else (3, size)
            layer = getattr(L, kind)(*first, dilation_rate=rate, padding=padding)
            x = keras.Input((11, 2))
            try:
                compare(keras.Model(x, layer(x)))
            except Unsupported as error:
                assert kind == "Conv1DTranspose" and str(error).startswith("layer %s (%s): " % (layer.name, kind))
