"""Models of Keras 3 become odt models: outputs, the .keras file, and what is refused by name."""

import json
import os
import zipfile

import numpy as np
import pytest

import odt
from odt.host.convert import load

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras  # noqa: E402
from keras import layers as L  # noqa: E402


def stack():
    return keras.Sequential([
        L.Input((9, 8, 3)), L.Rescaling(0.5, 0.1), L.Conv2D(6, 3, strides=2, padding="same", activation="relu6"),
        L.DepthwiseConv2D(3, padding="same", depth_multiplier=2), L.BatchNormalization(), L.LeakyReLU(0.1),
        L.SeparableConv2D(8, 3, padding="same", activation="silu"), L.MaxPooling2D(2, padding="same"), L.Dropout(0.2),
        L.ZeroPadding2D(((1, 0), (0, 2))), L.Conv2D(4, 2, groups=2), L.Flatten(), L.Dense(7, activation="tanh"),
        L.Dense(5, activation="softmax"),
    ])  # fmt: skip


def residual():
    x = keras.Input((8, 8, 2))
    a = L.ReLU()(L.BatchNormalization(scale=False)(L.Conv2D(4, 3, padding="same", use_bias=False)(x)))
    b = L.Add()([a, keras.Sequential([L.Input((8, 8, 4)), L.Conv2D(4, 3, padding="same")])(a)])
    gate = L.Reshape((1, 1, 4))(L.Dense(4, activation="hard_sigmoid")(L.GlobalAveragePooling2D()(b)))
    b = L.Multiply()([b, gate])
    c = L.Concatenate()([L.UpSampling2D(2)(L.AveragePooling2D(2)(b)), L.Conv2DTranspose(3, 2, 2)(L.MaxPooling2D()(a))])
    return keras.Model(x, L.Dense(3)(L.GlobalMaxPooling2D()(c)))


def series():
    return keras.Sequential([
        L.Input((30, 4)), L.Conv1D(8, 5, strides=2, padding="same", activation="relu"), L.LayerNormalization(),
        L.AveragePooling1D(2), L.Conv1D(6, 3), L.GroupNormalization(2), L.Dense(5, activation="relu"), L.GlobalAveragePooling1D(), L.Dense(3),
    ])  # fmt: skip


def made(network):
    keras.utils.set_random_seed(1)
    model = network()
    rng = np.random.default_rng(2)
    for weight in model.weights:
        if any(word in weight.path for word in ("gamma", "moving", "bias", "beta")):
            low = 0.5 if "variance" in weight.path or "gamma" in weight.path else -0.3
            weight.assign(rng.uniform(low, low + 1, weight.shape))
    return model


@pytest.mark.parametrize(
    "network, batch_norm", [(stack, "fold"), (stack, "keep"), (residual, "keep"), (series, "fold")]
)
def test_outputs_are_those_of_keras_from_memory_and_from_a_file(network, batch_norm, tmp_path):
    source = made(network)
    source.save(tmp_path / "net.keras")
    x = np.random.default_rng(0).normal(size=(5, *source.inputs[0].shape[1:])).astype("float32")
    expected = source.predict(x, verbose=0)
    for each in (source, tmp_path / "net.keras"):
        got = load(each, batch_norm=batch_norm).predict(x)
        assert got.shape == expected.shape
        assert np.abs(got - expected).max() <= 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize("network", [residual, series])
def test_training_goes_on_in_int8(network):
    source = made(network)
    x = np.random.default_rng(0).normal(size=(16, *source.inputs[0].shape[1:])).astype("float32")
    model = load(source, calibrate=x, optimizer=odt.Adam(0.003), batch_size=8)
    losses = model.fit(x, np.arange(16, dtype="uint8") % 3, epochs=6, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


class Mine(L.Layer):
    def call(self, x):
        return x


@pytest.mark.parametrize(
    "layer, message",
    [
        (L.Dense(3, activation="softsign"), "has the activation softsign; instead: relu"),
        (L.UpSampling2D(2, interpolation="lanczos3"), "enlarges by 'lanczos3'; instead: interpolation"),
        (L.Conv2D(2, 2, data_format="channels_first"), "has its channels first"),
        (L.UnitNormalization(), r"\(UnitNormalization\): odt has no such layer; instead: LayerNormalization"),
        (L.TimeDistributed(L.LSTM(2)), r"\(TimeDistributed\), layer lstm\w* \(LSTM\): is applied to each step"),
        (L.Dense(2, activation=lambda x: x), "has the activation <lambda>, which is not Keras's"),
        (Mine(), r"\(Mine\): is no class of Keras's own; instead: Keras's own layers"),
    ],
)
def test_what_odt_has_not_is_named(layer, message):
    with pytest.raises(ValueError, match=message):
        load(keras.Sequential([L.Input((6, 6, 2)), layer]))


def test_a_layer_that_is_called_twice_is_refused():
    x, layer = keras.Input((4,)), L.Dense(4, name="twice")
    with pytest.raises(ValueError, match=r"layer twice \(Dense\): is called twice"):
        load(keras.Model(x, layer(layer(x))))


@pytest.mark.parametrize("change", ["module", "lambda", "registered", "text", "weights", "zip", "h5"])
def test_a_file_with_code_or_damage_is_refused_and_runs_nothing(change, tmp_path):
    made(series).save(tmp_path / "net.keras")
    with zipfile.ZipFile(tmp_path / "net.keras") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    config = json.loads(parts["config.json"])
    layer = config["config"]["layers"][1]
    if change == "module":
        layer["module"], layer["class_name"] = "os", "system"
    elif change == "lambda":
        layer["config"]["activation"] = {"class_name": "__lambda__", "config": {"value": "4wEA"}, "module": "builtins"}
    elif change == "registered":
        layer["registered_name"] = "mine>Conv1D"
    parts["config.json"] = b"{" if change == "text" else json.dumps(config).encode()
    if change == "weights":
        parts["model.weights.h5"] = parts["model.weights.h5"][:2000]
    path = tmp_path / ("bad.h5" if change == "h5" else "bad.keras")
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    if change == "zip":
        path.write_bytes(path.read_bytes()[:500])
    message = "not executed" if change in ("module", "lambda", "registered", "h5") else "is damaged"
    with pytest.raises(ValueError, match=message):
        load(path)
