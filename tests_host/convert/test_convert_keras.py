"""Models of Keras 3 become odt models: outputs, the .keras file, and what is refused by name."""

import io
import json
import os
import resource
import zipfile

import h5py
import numpy as np
import pytest

import odt
from odt.host.convert import Unsupported, load

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras  # noqa: E402
from keras import layers as L  # noqa: E402

from odt.host.convert import kerasfile, kerasmodel  # noqa: E402


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
        L.AveragePooling1D(2), L.Conv1D(6, 3), L.GroupNormalization(2), L.Dense(5, activation="relu"),
        L.GlobalAveragePooling1D(), L.Dense(3),
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


def recurrent():
    return keras.Sequential([L.Input((9, 3)), L.GRU(6, return_sequences=True), L.LSTM(5), L.Dense(3)])


@pytest.mark.parametrize("network", [residual, series, recurrent])
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


@pytest.mark.parametrize(
    "layer",
    [
        L.RNN(L.GRUCell(2)), L.Bidirectional(L.LSTM(2)), L.Masking(), L.Lambda(lambda x: x),
        L.Conv1D(2, 2, dtype="mixed_float16"), L.Dense(2, activation=keras.Sequential([L.Dense(2)])),
        L.Dense(2, activation=L.PReLU()), L.Activation(lambda x: x),
    ],
)  # fmt: skip
def test_a_layer_that_odt_has_not_is_named_with_what_would_do(layer):
    with pytest.raises(Unsupported, match=r"layer %s \(%s\).*; instead: \w+" % (layer.name, type(layer).__name__)):
        load(keras.Sequential([L.Input((6, 2)), layer]))


def relu(x):
    return 2 * x


class Dense(L.Dense):
    def call(self, x):
        return 2 * super().call(x)


class Doubled(keras.Model):
    def call(self, x):
        return 2 * super().call(x)


class Called(keras.Sequential):
    def __call__(self, *arguments, **options):
        return 2 * super().__call__(*arguments, **options)


class Layers(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = L.Dense(2)

    def call(self, x):
        return self.dense(x)


def functional(call, *arguments, of=keras.Model):
    x = keras.Input((4,))
    return of(x, call(x, *arguments))


def joined_model():
    inputs = [keras.Input((4,)), keras.Input((4,))]
    return keras.Model(inputs, inputs[0] + inputs[1])


def changed(change):
    """A model of a Dense, changed by a function of the model and the Dense."""
    model = functional(L.Dense(4, name="changed"))
    change(model, model.layers[1])
    return model


@pytest.mark.parametrize("made, message", [
    (lambda: functional(L.Dense(2, activation=relu)), "has the activation relu, which is not Keras's"),
    (lambda: functional(Dense(2)), "is no class of Keras's own"),
    (lambda: functional(L.Dense(2), of=Doubled), "has a call\\(\\) of its own"),
    (Layers, "is a class of its own"),
    (lambda: Called([L.Input((4,)), L.Dense(2)]), "has a __call__\\(\\) of its own"),
    (lambda: changed(lambda model, layer: model.quantize("int8")), "layer changed .* computes in int8"),
    (lambda: changed(lambda model, layer: layer.enable_lora(2)), "layer changed .* lora_rank=2"),
    (lambda: changed(lambda model, layer: setattr(layer, "call", relu)), "layer changed .* no class of Keras's own"),
    (lambda: changed(lambda model, layer: setattr(layer, "activation", len)), "activation len, which is not Keras's"),
    (lambda: changed(lambda model, layer: layer._non_trainable_variables.append(keras.Variable([1.0], name="more"))),
     "layer changed .* has the variables .*more.*, which odt does not read"),
    (lambda: changed(lambda model, layer: setattr(layer, "get_config", lambda: {**L.Dense.get_config(layer),
    "later": 1})),
     "layer changed .* has the option later=1, which odt does not read; instead: a layer without it"),
    (lambda: changed(lambda model, layer: setattr(layer, "get_config", lambda: 1 / 0)), "cannot describe"),
    (lambda: keras.Sequential([L.Dense(2)]), "has not been built, so it has no shapes; instead: .*keras.Input"),
    (lambda: functional(lambda x: [x, -x]), "has 1 inputs and 2 outputs"),
    (lambda: keras.Sequential([L.Input((None, 3)), L.Dense(2)]), "dynamic shape"),
    (lambda: keras.Sequential([L.Input((3,), dtype="uint8"), L.Dense(2)]), "takes samples of uint8"),
    (lambda: functional(lambda x: L.Concatenate()([x, np.ones((1, 4), "float32")])), "no tensor of the network"),
    (lambda: functional(lambda x: L.Add()([x])), "joins a single tensor|at least 2"),
    (lambda: functional(lambda x: L.Dropout(0.5)(x, training=True)), "is called with training=True"),
    (lambda: functional(lambda x: keras.ops.mean(x)), "works along axis 0"),
    (lambda: functional(lambda x: keras.ops.exp(x)), "layer exp.* odt has no such layer"),
    (lambda: functional(lambda x: keras.ops.split(x, 2, axis=1)[0]), "layer split.* odt has no such layer"),
    (lambda: functional(lambda x: functional(lambda x: [x * 2, -x])(x)[0]), "has 2 outputs"),
    (lambda: functional(lambda x: joined_model()([x, x])), "has 2 inputs and 1 outputs"),
    (lambda: functional(lambda x: functional(lambda x: x * 2)([x])), None),
    (lambda: functional(lambda x: keras.ops.reshape(x, (-1, 2))), "leaves the batch's axis"),
    (lambda: functional(lambda x: keras.ops.transpose(x)), "moves the batch's axis"),
    (lambda: functional(lambda x: x[0]), "takes the part"),
    (lambda: functional(lambda x: x**x), "raises to a power that is a tensor"),
    (lambda: functional(lambda x: keras.ops.concatenate([x, np.ones((1, 4), "float32")])),
    "concatenates what is no tensor"),
    (lambda: functional(lambda x: keras.ops.maximum(x, np.ones(4, "float32"))), "has limits of shape"),
    (lambda: functional(lambda x: keras.ops.pad(x, [[0, 0], [1, 1]], "reflect")), "pads by"),
    (lambda: functional(lambda x: keras.ops.pad(x, [[0, 0], [1, 1]], constant_values=1.0)),
    "is called with constant_values"),
])  # fmt: skip
def test_what_is_not_keras_s_own_is_refused(made, message):
    if message is None:
        load(made())
        return
    with pytest.raises(Unsupported, match=message):
        load(made())


@pytest.mark.parametrize("layers", [
    [L.Conv2D(2, 3, padding="same")], [L.Conv2D(2, 3, strides=2)], [L.MaxPooling2D()],
    [L.MaxPooling2D(3, 2, padding="same")],
    [L.AveragePooling2D(2)], [L.ReLU(), L.BatchNormalization()], [L.Flatten(), L.Dense(3)], [L.GlobalMaxPooling2D()],
    [],
    [L.ZeroPadding2D(2), L.Conv2D(2, 3)], [L.Identity(), L.UpSampling2D(2)], [L.Conv2DTranspose(2, 2)],
])  # fmt: skip
def test_whatever_follows_a_padding_meets_its_zeros(layers):
    model = keras.Sequential([L.Input((5, 5, 2)), L.Rescaling(1.0, -3.0), L.ZeroPadding2D(((1, 0), (2, 1))), *layers])
    x = np.random.default_rng(0).normal(size=(3, 5, 5, 2)).astype("float32")
    taken = load(model, train="none", batch_size=1)
    expected = model.predict(x, verbose=0)
    assert np.abs(taken.imported.outputs(taken.predict(x)) - expected).max() <= 1e-5 * np.abs(expected).max()


def parts_of(model, path):
    """(the description, {name: bytes}) of the file of a model."""
    model.save(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(parts["config.json"]), parts


def written(path, config, parts):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, json.dumps(config) if name == "config.json" else data)
    return path


@pytest.mark.parametrize(
    "change",
    [
        "module",
        "lambda",
        "registered",
        "function",
        "class",
        "options",
        "list",
        "extra",
        "quantized",
        "vanished",
        "text",
        "weights",
        "zip",
        "h5",
    ],
)
def test_a_file_with_code_or_damage_is_refused_and_runs_nothing(change, tmp_path):
    config, parts = parts_of(made(series), tmp_path / "net.keras")
    layer = config["config"]["layers"][1]
    if change == "module":
        layer["module"], layer["class_name"] = "os", "system"
    elif change == "lambda":
        layer["config"]["activation"] = {"class_name": "__lambda__", "config": {"value": "4wEA"}, "module": "builtins"}
    elif change == "registered":
        layer["registered_name"] = "mine>Conv1D"
    elif change == "function":
        layer["config"]["activation"] = {"class_name": "function", "config": "mine>relu", "module": "builtins"}
    elif change == "class":
        layer["class_name"] = 5
    elif change == "options":
        layer["config"] = "none"
    elif change == "list":
        config = [config]
    elif change == "extra":
        layer["config"]["later"] = 3
    elif change == "quantized":
        layer["config"]["dtype"] = {"module": "keras.dtype_policies", "class_name": "QuantizedDTypePolicy",
                                    "config": {"mode": "int8", "source_name": "float32"}}  # fmt: skip
    elif change == "vanished":
        del parts["model.weights.h5"]
    parts["config.json"] = b"{" if change == "text" else json.dumps(config).encode()
    if change == "weights":
        parts["model.weights.h5"] = parts["model.weights.h5"][:2000]
    path = tmp_path / ("bad.h5" if change == "h5" else "bad.keras")
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    if change == "zip":
        path.write_bytes(path.read_bytes()[:500])
    message = "not executed" if change in ("module", "lambda", "registered", "function", "h5") else "is damaged"
    message = {"extra": "option later=3", "quantized": "computes in int8"}.get(change, message)
    with pytest.raises(ValueError, match=message):
        load(path)


def test_a_compiled_model_with_an_optimizer_and_a_loss_of_its_own_is_read(tmp_path):
    inner = functional(L.Dense(3, activation="relu"))
    inner.compile(keras.optimizers.Lion(), loss=lambda y, p: keras.ops.mean(p))
    x = keras.Input((4,))
    model = keras.Model(x, L.Dense(2)(inner(x)))
    model.compile(keras.optimizers.Adam(1e-4, clipnorm=1.0), "mse", metrics=["mae", keras.metrics.MeanSquaredError()])
    model.fit(np.ones((4, 4)), np.ones((4, 2)), verbose=0)
    model.save(tmp_path / "net.keras")
    data = np.random.default_rng(0).normal(size=(5, 4)).astype("float32")
    assert np.abs(load(tmp_path / "net.keras").predict(data) - model.predict(data, verbose=0)).max() < 1e-5


def stored_weights(change):
    """An HDF5 file of weights of a Dense of 8 inputs, in which something is not as it seems."""

    def changed(data):
        file = io.BytesIO(data)
        with h5py.File(file, "r+") as weights:
            del weights["layers/dense/vars/0"]
            if change == "declared":
                options = dict(shape=(1 << 28,), dtype="f4", chunks=(1 << 20,), fillvalue=1.0)
                weights.create_dataset("layers/dense/vars/0", **options)
            elif change == "packed":
                weights.create_dataset("layers/dense/vars/0", data=np.zeros((1 << 16, 4)), compression="gzip")
            elif change == "link":
                weights["layers/dense/vars/0"] = h5py.ExternalLink("other.h5", "/kernel")
            elif change == "external":
                other = [("other.bin", 0, h5py.h5f.UNLIMITED)]
                weights.create_dataset("layers/dense/vars/0", shape=(8, 3), dtype="f4", external=other)
            elif change == "loop":
                weights["layers/dense/vars/0"] = weights["layers"]
        return file.getvalue()

    return changed


@pytest.mark.parametrize("change, message", [
    ("declared", "is damaged: 1073741824 bytes of weights .*, 0 of them stored"),
    ("packed", "is damaged: 2097152 bytes of weights"),
    ("link", "weights 0 lie in another file"),
    ("external", "weights .* lie in another file"),
    ("loop", "is damaged"),
    ("gone", "is damaged"),
    ("units", r"layer dense \(Dense\): has a tensor of shape \(8, 1000000000\), above"),
    ("layers", r"layer dense\w* \(Dense\): has a tensor of shape \(2048, 2048\), above"),
    ("input", r"layer \w+ \(InputLayer\): has a tensor of shape \(None, 1000000000\), above"),
    ("row", r"layer \w+ \(InputLayer\): has a tensor of shape \(1000000000,\), above"),
    ("nested", "is damaged.* nested"),
    ("description", "is damaged.*its description has"),
    ("archive", "is damaged.*unpacks to"),
    ("sum", "is damaged: .* bytes of weights, at most"),
])  # fmt: skip
def test_no_file_takes_more_than_its_budget(change, message, tmp_path, monkeypatch):
    model = keras.Sequential([L.Input((8,)), L.Dense(3, name="dense")])
    config, parts = parts_of(model, tmp_path / "net.keras")
    name, layers = "model.weights.h5", config["config"]["layers"]
    if change == "units":
        layers[1]["config"]["units"] = 10**9
    elif change == "layers":
        layers[0]["config"]["batch_shape"] = config["config"]["build_input_shape"] = [None, 2048]
        more = [json.loads(json.dumps(layers[1]).replace('"dense"', '"dense_%d"' % at)) for at in range(12)]
        layers += more
        for each in layers[1:]:
            each["config"]["units"] = 2048
            each.pop("build_config", None)
    elif change == "input":
        layers[0]["config"]["batch_shape"] = [None, 10**9]
    elif change == "row":
        layers[0]["config"]["batch_shape"] = 10**9
    elif change == "nested":
        layers[1]["config"]["later"] = json.loads("[" * 900 + "]" * 900)
    elif change == "description":
        monkeypatch.setattr(kerasfile, "_LONGEST", 100)
    elif change == "archive":
        monkeypatch.setattr(kerasfile, "_LARGEST", 1000)
    elif change == "sum":
        monkeypatch.setattr(kerasfile, "_stored", lambda data: [("a", 1 << 28, 1 << 28), ("b", 8, 8)])
    else:
        parts[name] = stored_weights(change)(parts[name])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match=message):
        load(written(tmp_path / "bad.keras", config, parts))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400 << 10


def test_a_file_that_is_not_there_and_an_error_of_odt_s_own_keep_their_types(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.keras")
    made(series).save(tmp_path / "net.keras")
    for name in ("_check", "_check_weights", "_check_object", "_check_size"):
        with monkeypatch.context() as patch:
            patch.setattr(kerasfile, name, lambda *arguments: {}["missing"])
            with pytest.raises(KeyError):
                load(tmp_path / "net.keras")
    monkeypatch.setattr(kerasmodel, "_sizes", lambda value, count: None + 1)
    with pytest.raises(TypeError):
        load(tmp_path / "net.keras")


def test_rescaling_of_channels_that_come_first():
    keras.config.set_image_data_format("channels_first")
    try:
        with pytest.raises(Unsupported, match=r"layer rescaling\w* \(Rescaling\): has its channels first"):
            load(keras.Sequential([L.Input((3, 3, 3)), L.Rescaling([1.0, 2.0, 3.0])]))
    finally:
        keras.config.set_image_data_format("channels_last")


def places(config, path=()):
    """Where the values of a description are."""
    for key, each in config.items() if isinstance(config, dict) else enumerate(config):
        if key not in ("compile_config", "registered_name"):
            yield path + (key,)
            if isinstance(each, (dict, list)):
                yield from places(each, path + (key,))


@pytest.mark.parametrize("network", [stack, residual, series])
def test_a_description_with_another_value_is_read_or_a_value_error(network, tmp_path):
    config, parts = parts_of(made(network), tmp_path / "net.keras")
    found = list(places(config))
    rng = np.random.default_rng(4)
    for value in [None, -1, 0, 3, 10**9, "x", [], [2, 2, 2], {}, True, 0.5, float("nan")] * 2:
        changed = json.loads(json.dumps(config))
        *path, last = found[rng.integers(len(found))]
        inner = changed
        for key in path:
            inner = inner[key]
        inner[last] = value
        try:
            kerasmodel.read(written(tmp_path / "bad.keras", changed, parts))
        except ValueError:
            pass
