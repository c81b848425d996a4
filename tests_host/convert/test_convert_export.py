"""odt models as ONNX: onnxruntime computes what odt does, in float32 and, as QDQ, in int8."""

import numpy as np
import onnx
import pytest
from odt_networks import gated, means, residual, step
from onnx_networks import run
from tflite_files import FILES
from zoo import ZOO, Autoencoder, Mixer, data, exported, trained

import odt
from odt.host.convert import load, save_onnx


def written(model, path, x):
    save_onnx(model, path)
    return run(path.read_bytes(), x)


@pytest.mark.parametrize("kind", [kind for kind in ZOO if kind is not Autoencoder])
def test_onnxruntime_computes_float32_models_alike(kind, tmp_path):
    model = load(exported(kind)[1], batch_norm="keep")
    x = model.imported.samples(data(kind))
    got, expected = written(model, tmp_path / "net.onnx", x), model.predict(x)
    assert got.shape == expected.shape
    assert np.abs(got - expected).max() <= 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize("kind", [kind for kind in ZOO if kind not in (Autoencoder, Mixer)])
def test_onnxruntime_computes_int8_models_to_the_step(kind, tmp_path):
    x = data(kind, 100)
    model = load(exported(kind)[1], calibrate=x, train="last")
    x = model.imported.samples(x)
    got, expected = written(model, tmp_path / "net.onnx", x), model.predict(x)
    assert np.abs(got - expected).max() <= 1.01 * step(model)
    assert np.mean(np.abs(got - expected) <= 0.01 * step(model)) >= 0.9


def bent():
    """Odt's curves are 0.01 steps off at most, and each of three layers may round to the next step."""
    x = odt.Input((8, 8, 1), "int16", 1 / 16)
    y = odt.Conv2D(8, 3, padding="same", activation="gelu")(x)
    return x, odt.Conv2D(8, 3, 2, activation="selu")(odt.Conv2D(8, 3, padding="same", activation="elu")(y))


@pytest.mark.parametrize("network", [residual, means, gated, bent])
def test_int8_models_that_odt_has_trained_are_onnxruntime_s_to_the_step(network, tmp_path):
    _, x, y = trained()
    x = np.moveaxis(x, 1, -1).astype("int16").copy()
    first, last = network()
    x = (x / 16).astype("float32") if first.layer.dtype == "float32" else x.astype(first.layer.dtype)
    model = odt.Model(first, odt.Dense(10)(odt.Flatten()(last)))
    model.compile(odt.Adam(0.004), seed=3)
    model.fit(x[:1000], y[:1000], epochs=4, verbose=0)
    got, expected = written(model, tmp_path / "net.onnx", x[1000:]), model.predict(x[1000:])
    assert np.mean(np.abs(got - expected) <= 1.01 * step(model)) >= {gated: 0.999, bent: 0.99}.get(network, 1)
    assert np.mean(np.abs(got - expected) <= 0.01 * step(model)) >= 0.9
    assert np.mean(got.argmax(1) == expected.argmax(1)) >= 0.995


@pytest.mark.parametrize("name", ["digits_int8.tflite", "residual_int8.tflite"])
def test_what_came_in_as_bytes_goes_out_as_the_same(name, tmp_path):
    """TensorFlow Lite's steps, and tables of what each byte becomes."""
    images = (np.moveaxis(trained()[1][1000:], 1, -1) / 16).astype("float32")
    model = load(FILES / name, dtype="int8", train="none", input={"dtype": "int8"})
    x = model.imported.samples(images)
    got, expected = written(model, tmp_path / "net.onnx", x), model.predict(x)
    assert np.abs(got - expected).max() <= 1.01 * step(model)
    assert np.mean(np.abs(got - expected) <= 0.01 * step(model)) >= 0.95
    assert np.mean(got.argmax(1) == expected.argmax(1)) >= 0.995


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_a_model_that_odt_has_trained_gives_the_same_classes(dtype, tmp_path):
    """Of raw pixels, with layers of each family; written before it has predicted anything."""
    _, x, y = trained()
    x = np.moveaxis(x, 1, -1).copy()
    image = odt.Input((8, 8, 1), "uint8", 1 / 16)
    a = odt.Conv2D(8, 3, padding="same", use_bias=False)(image)
    a = odt.ReLU()(odt.BatchNorm()(a))
    b = odt.Conv2D(8, 3, padding="same", groups=2)(a)
    a = odt.Add(activation="relu")([a, b])
    c = odt.DepthwiseConv2D(3, 2, "same", activation="relu6")(a)
    d = odt.Concatenate()([odt.MaxPool2D()(a), odt.LeakyReLU(0.1)(c)])
    d = odt.Conv2DTranspose(6, 3, 2, "same", activation="relu")(d)
    d = odt.AvgPool2D(2)(odt.Dropout(0.1)(d))
    model = odt.Model(image, odt.Dense(10)(odt.Flatten()(d)))
    model.compile(odt.Adam(0.004), dtype=dtype, seed=3)
    model.fit(x[:1000], y[:1000], epochs=4, verbose=0)
    got = written(model, tmp_path / "net.onnx", x[1000:])
    expected = model.predict(x[1000:])
    assert np.mean(got.argmax(1) == expected.argmax(1)) >= (0.995 if dtype == "int8" else 1)
    if dtype == "int8":
        assert np.abs(got - expected).max() <= 1.01 * step(model)


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_a_batchnorm_that_compile_has_folded_is_written_once(dtype, tmp_path):
    rng = np.random.default_rng(0)
    model = odt.Sequential([
        odt.Input((6, 6, 2)), odt.Conv2D(4, 3, trainable=False), odt.BatchNorm(trainable=False), odt.ReLU(),
        odt.GlobalAvgPool(),
        odt.Dense(3),
    ])  # fmt: skip
    model.compile(dtype=dtype)
    weights = [rng.normal(size=shape) for layer, _ in model.session.plan.weights for _, shape in layer.weight_shapes()]
    weights[5] = np.abs(weights[5]) + 0.5
    model.set_weights([value.ravel() for value in weights])
    x = rng.normal(size=(40, 6, 6, 2)).astype("float32")
    if dtype == "int8":
        model.calibrate(x)
    got, expected = written(model, tmp_path / "net.onnx", x), model.predict(x)
    assert np.abs(got - expected).max() <= (0.03 if dtype == "int8" else 1e-5) * np.abs(expected).max()
    names = [node.op_type for node in onnx.load(tmp_path / "net.onnx").graph.node]
    assert "BatchNormalization" not in names


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_what_was_written_is_read_again(dtype, tmp_path):
    _, x, _ = trained()
    images = (x / 16).astype("float32")
    model = load(exported_digits(), calibrate=images[:200], dtype=dtype, train="none")
    samples = model.imported.samples(images[1000:])
    save_onnx(model, tmp_path / "net.onnx")
    again = load(tmp_path / "net.onnx", calibrate=samples[:200], dtype=dtype, train="none")
    assert np.mean(again.predict(samples).argmax(1) == model.predict(samples).argmax(1)) >= 0.99


def exported_digits():
    import torch

    return torch.export.export(trained()[0], (torch.zeros(2, 1, 8, 8),))


def test_what_onnx_has_not_is_named_and_nothing_is_written(tmp_path):
    path = tmp_path / "net.onnx"
    path.write_bytes(b"before")
    model = odt.Sequential([odt.Input((4, 4, 2)), odt.GroupNorm(2, name="groups"), odt.Flatten(), odt.Dense(2)])
    with pytest.raises(RuntimeError):
        save_onnx(model, path)
    model.compile(dtype="float32")
    with pytest.raises(ValueError, match=r"layer groups \(GroupNorm\): ONNX has no operator"):
        save_onnx(model, path)
    model.compile(dtype="int8")
    with pytest.raises(ValueError, match="ranges are not known yet"):
        save_onnx(model, path)
    model.export(str(tmp_path / "model.odt"))
    with pytest.raises(ValueError, match="make it by its script, and load_weights"):
        save_onnx(odt.load_model(str(tmp_path / "model.odt")), path)
    assert path.read_bytes() == b"before"


@pytest.mark.parametrize("kind", ("uint16", "int16", "int32"))
def test_samples_of_integers_are_read_as_odt_reads_them(kind, tmp_path):
    x = np.random.default_rng(1).integers(0, 30000, (9, 6)).astype(kind)
    model = odt.Sequential([odt.Input((6,), kind, 1 / 4096, 15000), odt.Dense(4, "relu"), odt.Dense(2)])
    model.compile(None, dtype="float32", seed=1)
    got, expected = written(model, tmp_path / "net.onnx", x), model.predict(x)
    assert np.abs(got - expected).max() <= 1e-5 * np.abs(expected).max()


def gru_of_rows(x):
    return odt.Dense(10)(odt.GRU(24)(odt.GRU(16, return_sequences=True)(x)))


def lstm_of_rows(x):
    x = odt.LSTM(12, use_bias=False, return_sequences=True)(odt.SimpleRNN(16, return_sequences=True)(x))
    return odt.Dense(10)(odt.Flatten()(x))


def attention_of_rows(x):
    x = odt.PositionEmbedding()(odt.Dense(16)(x))
    for causal in (False, True):
        x = odt.Add()([x, odt.MultiHeadAttention(2, use_causal_mask=causal)(odt.LayerNorm()(x))])
        x = odt.Add()([x, odt.Dense(16)(odt.GELU()(odt.Dense(24)(odt.LayerNorm()(x))))])
    return odt.Dense(10)(odt.Flatten()(x))


@pytest.mark.parametrize("dtype", ["int8", "float32"])
@pytest.mark.parametrize("network", [gru_of_rows, lstm_of_rows, attention_of_rows])
def test_layers_over_steps_are_onnx_s(network, dtype, tmp_path):
    """A digit's rows are the steps. In int8 onnxruntime has the bytes of weights, inputs and outputs alone."""
    _, x, y = trained()
    x = (x[:, 0] / 16).astype("float32")
    rows = odt.Input((8, 8))
    model = odt.Model(rows, network(rows))
    model.compile(odt.Adam(0.01, state="float32") if dtype == "int8" else odt.Adam(0.01), dtype=dtype, seed=3)
    model.fit(x[:1000], y[:1000], epochs=6, verbose=0)
    got, expected = written(model, tmp_path / "net.onnx", x[1000:]), model.predict(x[1000:])
    assert np.mean(got.argmax(1) == expected.argmax(1)) >= (0.98 if dtype == "int8" else 1)
    if dtype == "int8":
        assert np.mean(np.abs(got - expected)) <= step(model)
    else:
        assert np.abs(got - expected).max() <= 1e-5 * np.abs(expected).max()
        again = load(tmp_path / "net.onnx")
        back = again.imported.outputs(again.predict(again.imported.samples(x[1000:])))
        assert np.abs(back - expected).max() <= 1e-5 * np.abs(expected).max()
