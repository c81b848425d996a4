"""Quantized networks keep the source's own steps: outputs are those of onnxruntime and LiteRT to the step, and training
goes on behind them.
"""

import tempfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter
from hypothesis import given
from hypothesis import strategies as st
from onnx import numpy_helper
from onnx_networks import FUZZED, network, node, quantized, run, written
from quantized_networks import FORMS, IMAGES, by_onnxruntime, litert, of_bytes, pixels, up_to
from tflite_files import FILES, MLPERF, SAME, File, samples
from zoo import DSCNN, Autoencoder, LeNet, Mixer, MobileNetV2, ResNet8, Series, SqueezeExcite, data, trained

import odt
from odt.host import commands
from odt.host.convert import load, read
from odt.inspect import Trace

RNG = np.random.default_rng(0)


def apart(model, x, expected):
    """How many of the source's steps each output is from what is expected."""
    got, last = model.imported.outputs(model.predict(model.imported.samples(x))), model.imported.graph.output
    while last.scale is None:
        (last,) = last.inputs
    return np.abs(got.reshape(expected.shape) - expected) / last.scale


def same_class(model, x, expected):
    got = np.asarray(model.predict(model.imported.samples(x)))
    return np.mean(got.reshape(len(x), -1).argmax(1) == expected.reshape(len(x), -1).argmax(1))


# --- onnxruntime ------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [DSCNN, MobileNetV2, ResNet8])
def test_every_output_is_within_a_step_of_onnxruntimes(kind, form):
    content, x = by_onnxruntime(kind, form), data(kind, 300)[100:]
    model, expected = load(onnx.load_from_string(content), dtype="int8", train="none"), run(content, x)
    steps = apart(model, x, expected)
    assert not model.imported.left
    assert steps.max() < 1.01 and np.mean(steps < 0.01) >= 0.99
    assert same_class(model, x, expected) >= 0.995


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind, form, most, left",
    [
        (LeNet, "qdq", 1, {"Tanh"}),  # the mean of a tanh that the source does not round
        (LeNet, "operators", 1, set()),
        (Series, "qdq uint8", 1, {"Softmax"}),
        (Series, "operators", 1, set()),
        (Autoencoder, "qdq", 3, set()),  # a GroupNorm, whose deviation odt has in fewer bits
        (Mixer, "qdq symmetric", 2, set()),  # a LayerNorm
    ],
)
def test_where_the_source_computes_floats_odt_is_near(kind, form, most, left):
    content, x = by_onnxruntime(kind, form), data(kind, 200)[100:]
    model = load(onnx.load_from_string(content), calibrate=data(kind, 100), train="none")
    steps = apart(model, x, run(content, x))
    assert set(model.imported.left) == left
    assert steps.max() < most + 0.01 and np.mean(steps < 1.01) >= 0.99


@pytest.mark.parametrize("raw", [True, False])
def test_pixels_that_the_source_standardises_as_floats_are_rounded_once(raw):
    content, x = by_onnxruntime(SqueezeExcite, "qdq"), pixels(SqueezeExcite, 300)
    floats = x / np.float32(255)
    given, options = (x, {"input": {"dtype": "uint8", "scale": 1 / 255}}) if raw else (floats, {})
    model = load(onnx.load_from_string(content), calibrate=given[:100], train="none", **options)
    expected = run(content, floats[100:])
    steps = apart(model, given[100:], expected)
    assert steps.max() < 1.01 and np.mean(steps < 0.01) >= 0.75
    assert same_class(model, given[100:], expected) >= 0.995


@pytest.mark.parametrize(
    "form, signed, per_channel", [("QDQ", True, True), ("QDQ", False, False), ("QOperator", False, False)]
)
def test_digits_are_onnxruntimes_to_the_byte(form, signed, per_channel):
    content, images = quantized(form, signed, per_channel), (trained()[1] / 16).astype("float32")
    model, expected = load(onnx.load_from_string(content), dtype="int8", train="none"), run(content, images[1000:])
    assert apart(model, images[1000:], expected).max() < 1e-3
    assert same_class(model, images[1000:], expected) == 1


# --- LiteRT -----------------------------------------------------------------------------------


LABELS = trained()[2]


@pytest.mark.parametrize("taken", [None, {"dtype": "int8"}, {"dtype": "uint8"}])
@pytest.mark.parametrize("name, equal", [("digits_int8.tflite", 1), ("residual_int8.tflite", 0.99)])
def test_every_output_is_within_a_step_of_litert(name, equal, taken):
    """Of floats, and of the bytes that these are; by either kind of LiteRT's kernels, whose rounding differs."""
    content, x = (FILES / name).read_bytes(), IMAGES[1000:]
    model = of_bytes(content, input=taken)
    assert not model.imported.left
    assert model.imported.samples(x).dtype == (taken or {"dtype": "float32"})["dtype"]
    for reference in (False, True):
        expected = litert(content, x, reference)
        steps = apart(model, x, expected)
        assert steps.max() < 1.01 and (reference or np.mean(steps < 0.01) >= equal)
        assert same_class(model, x, expected) >= 0.995


@pytest.mark.slow
@pytest.mark.parametrize("name", MLPERF)
def test_networks_of_mlperf_tiny_are_litert_but_for_a_float_that_lies_half_way(name):
    """LiteRT rounds float32 products: where one is next to half way, one byte of a million is another, and later layers
    tell.
    """
    if "str_ww" in name:
        scale = Interpreter(model_path=str(FILES / name)).get_input_details()[0]["quantization"][0]
        x = (np.random.default_rng(1).normal(size=(100, 30, 1, 40)) * 30 * scale).astype(np.float32)
    else:
        x = samples(name, 2)
    content = up_to((FILES / name).read_bytes(), -1)  # without the softmax, which makes much of a step
    steps = apart(of_bytes(content), x, litert(content, x))
    assert np.mean(steps < 0.01) >= 0.98 and np.mean(steps < 1.01) >= 0.998
    whole = (FILES / name).read_bytes()
    assert same_class(of_bytes(whole), x, litert(whole, x)) >= 0.995


class Bytes(File):
    """A network of int8 in the making; ``steps`` are (scale, zero point) of tensors, the first being the input's."""

    def of(self, at, scale, zero, axis=None):
        tensor = self.graph.tensors[at]
        tensor.type, tensor.quantization = schema.TensorType.INT8, schema.QuantizationParametersT()
        scales = np.ravel(scale)
        tensor.quantization.scale, tensor.quantization.zeroPoint = scales.tolist(), [zero] * len(scales)
        tensor.quantization.quantizedDimension = axis or 0
        return at

    def kernel(self, values, scale, axis=0):
        return self.of(self.tensor(values.shape, schema.TensorType.INT8, values.astype(np.int8)), scale, 0, axis)

    def bias(self, values, scale):
        at = self.tensor(values.shape, schema.TensorType.INT32, values.astype(np.int32))
        tensor = self.graph.tensors[at]
        tensor.quantization = schema.QuantizationParametersT()
        tensor.quantization.scale, tensor.quantization.zeroPoint = np.ravel(scale).tolist(), [0] * np.size(scale)
        return at


POOL = dict(strideH=2, strideW=1, filterHeight=3, filterWidth=2, fusedActivationFunction=0)


def one_input(name, shape, out, after, options=None, inputs=(0,), before=(0.05, -5), **values):
    def make():
        file = Bytes(*shape)
        file.of(0, *before)
        file.of(file.call(name, list(inputs), out, options, **values), *after)
        return file

    return make


def requantized():
    file = one_input("QUANTIZE", (6, 4), (6, 4), (0.11, 20))()
    shape = np.array([1, 24])
    file.of(file.call("RESHAPE", [1, shape], (24,), "ReshapeOptions"), 0.11, 20)
    return file


def joined(name, options, after, out=(4, 5, 3), **values):
    """Of the input and of its logistic function."""

    def make():
        file = Bytes(4, 5, 3)
        file.of(0, 0.05, -5)
        other = file.of(file.call("LOGISTIC", [0], (4, 5, 3)), 1 / 256, -128)
        file.of(file.call(name, [0, other], out, options, **values), *after)
        return file

    return make


def convolved(name, kernel, axis, out, after, options, activation=0, **values):
    def make():
        file, scale = Bytes(7, 6, 4), RNG.uniform(0.001, 0.01, kernel[axis]).astype(np.float32)
        file.of(0, 0.04, 9)
        weights = file.kernel(RNG.integers(-127, 128, kernel), scale, axis)
        bias = file.bias(RNG.integers(-3000, 3000, kernel[axis]), np.float32(0.04) * scale)
        made = file.call(
            name, [0, weights, bias], out, options, fusedActivationFunction=activation, padding=SAME, strideH=2,
            strideW=1,
            dilationHFactor=1, dilationWFactor=1, **values,
        )  # fmt: skip
        file.of(made, *after)
        return file

    return make


ALONE = {
    "logistic": one_input("LOGISTIC", (6, 4), (6, 4), (1 / 256, -128)),
    "tanh": one_input("TANH", (6, 4), (6, 4), (1 / 128, 0)),
    "elu": one_input("ELU", (6, 4), (6, 4), (0.03, -90)),
    "gelu": one_input("GELU", (6, 4), (6, 4), (0.03, -110), "GeluOptions", approximate=False),
    "hard swish": one_input("HARD_SWISH", (6, 4), (6, 4), (0.03, -90)),
    "leaky relu": one_input("LEAKY_RELU", (6, 4), (6, 4), (0.04, -40), "LeakyReluOptions", alpha=0.2),
    "relu": one_input("RELU", (6, 4), (6, 4), (0.03, -128)),
    "relu6": one_input("RELU6", (6, 4), (6, 4), (0.06, -100)),
    "other steps": requantized,
    "softmax": one_input("SOFTMAX", (6, 4), (6, 4), (1 / 256, -128), "SoftmaxOptions", beta=1.0),
    "mean": one_input(
        "MEAN", (4, 4, 3), (3,), (0.04, 7), "ReducerOptions", (0, np.array([1, 2])), keepDims=False
    ),
    "mean of even zero point": one_input(
        "MEAN", (4, 4, 3), (3,), (0.05, -128), "ReducerOptions", (0, np.array([1, 2])), (0.05, -128), keepDims=False
    ),
    "average pool": one_input("AVERAGE_POOL_2D", (7, 6, 5), (4, 6, 5), (0.05, -5), "Pool2DOptions", padding=SAME,
    **POOL),
    "max pool": one_input("MAX_POOL_2D", (7, 6, 5), (4, 6, 5), (0.05, -5), "Pool2DOptions", padding=SAME, **POOL),
    "sum": joined("ADD", "AddOptions", (0.06, -11)),
    "sum, relu": joined("ADD", "AddOptions", (0.03, -60), fusedActivationFunction=1),
    "product": joined("MUL", "MulOptions", (0.04, 3)),
    "convolution": convolved("CONV_2D", (5, 3, 2, 4), 0, (4, 6, 5), (0.07, -20), "Conv2DOptions"),
    "convolution, relu": convolved("CONV_2D", (5, 3, 2, 4), 0, (4, 6, 5), (0.05, -77), "Conv2DOptions", 1),
    "convolution, relu6": convolved("CONV_2D", (5, 3, 2, 4), 0, (4, 6, 5), (0.04, -128), "Conv2DOptions", 3),
    "depthwise": convolved(
        "DEPTHWISE_CONV_2D", (1, 3, 3, 4), 3, (4, 6, 4), (0.05, 30), "DepthwiseConv2DOptions", depthMultiplier=1
    ),
}  # fmt: skip
# How many bytes may be the next one, of others 0.002: LiteRT's leaky ReLU, hard swish and other steps are of few bits.
OFF = {"mean": 0.01, "average pool": 0, "max pool": 0, "leaky relu": 0.15, "hard swish": 0.03, "other steps": 0.12}


@pytest.mark.parametrize("name", ALONE)
def test_each_operator_alone_gives_litert_s_bytes(name):
    content, rng = ALONE[name]().bytes(), np.random.default_rng(3)
    first = read(_file(content)).nodes[0]
    raw = rng.integers(-128, 128, (300, *first.shape))
    x = ((raw - first.zero_point) * np.float32(first.scale)).astype(np.float32)
    model = of_bytes(content)
    steps = apart(model, x, litert(content, x))
    assert not model.imported.left
    assert steps.max() < 1.01 and np.mean(steps > 0.01) <= OFF.get(name, 0.002)


def _file(content):
    path = Path(tempfile.mkdtemp()) / "net.tflite"
    path.write_bytes(content)
    return path


# --- training behind the front ----------------------------------------------------------------

RESIDUAL = (FILES / "residual_int8.tflite").read_bytes()


def learning(train, **options):
    return of_bytes(
        RESIDUAL, train=train, calibrate=IMAGES[:200], input={"dtype": "int8"}, optimizer=odt.Adam(0.003),
        batch_size=20, seed=1,
        **options,
    )  # fmt: skip


def test_the_last_layer_learns_on_from_bytes_that_are_litert_s(tmp_path):
    """Of images that a board sees mirrored: what is before the last layer stays LiteRT's to the byte."""
    model = learning("last")
    x = model.imported.samples(IMAGES[:, :, ::-1].copy())
    before, state = model.evaluate(x[1000:], LABELS[1000:])[1], bytes(model.session.state)
    with Trace(model, ["flatten"], raw=True) as trace:
        model.train_step(x[:20], LABELS[:20])
    pooled = read(_file(up_to(RESIDUAL, 8))).output
    expected = litert(up_to(RESIDUAL, 8), IMAGES[:20, :, ::-1]) / pooled.scale + pooled.zero_point
    assert np.mean(np.array(trace["flatten"]) == np.rint(expected).ravel()) >= 0.99
    model.fit(x[:1000], LABELS[:1000], epochs=8, verbose=0)
    assert model.evaluate(x[1000:], LABELS[1000:])[1] > before + 0.2
    for layer, weights in model.session.plan.weights:
        for buffer in weights.frozen:
            assert not layer.trainable
            place = slice(buffer.offset, buffer.offset + buffer.size)
            assert bytes(model.session.state[place]) == state[place]
    model.export(tmp_path / "model.odt")
    opened = odt.load_model(str(tmp_path / "model.odt"))
    assert bytes(opened.predict(x[:50])) == bytes(model.predict(x[:50]))
    for each in (model, opened):
        each.train_step(x[:20], LABELS[:20])
    assert opened.digest() == model.digest()


@pytest.mark.parametrize("train", [["t16", "t23"], "bias", "all", lambda model: odt.adapt.update.last(model, 3)])
def test_where_more_trains_the_front_is_shorter_and_learns_on(train):
    model = learning(train)
    fixed = [layer.name for layer in model.layers if layer.steps]
    names = [layer.name for layer in model.layers]
    trained_first = min(names.index(layer.name) for layer in model.layers if layer.trainable and layer.weight_shapes())
    assert fixed and all(names.index(name) < trained_first for name in fixed)
    x = model.imported.samples(IMAGES)
    losses = model.fit(x[:400], LABELS[:400], epochs=3, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


def test_where_other_layers_are_to_train_than_was_said_steps_follow_values_or_it_is_refused():
    """A table has no gradient, and floats are no bytes."""
    model = of_bytes(RESIDUAL)
    for change, dtype in (("nothing", "float32"), ("train", "int8")):
        model.layers[1].trainable = change == "train"
        with pytest.raises(ValueError, match="t17: imported for int8 and before all that trains"):
            model.compile("adam", dtype=dtype)
    model = learning("last")
    with pytest.raises(ValueError, match="t17: a table of an imported network"):
        odt.adapt.fisher.fisher(model, model.imported.samples(IMAGES[:8]), LABELS[:8])
    model = of_bytes((FILES / "digits_int8.tflite").read_bytes())
    assert all(node.steps for node in model.nodes if node.layer.steps)
    odt.adapt.update.whole(model)
    model.compile(odt.Adam(0.002), batch_size=20)
    assert [node.layer.kind for node in model.nodes if node.steps] == ["input"]
    losses = model.fit(IMAGES[:200], LABELS[:200], epochs=3, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


def test_weights_may_stay_in_flash_and_a_file_for_prediction_has_them_there(tmp_path):
    model = of_bytes(RESIDUAL, input={"dtype": "int8"})
    x = model.imported.samples(IMAGES[:40])
    expected = bytes(model.predict(x))
    given = of_bytes(RESIDUAL, input={"dtype": "int8"}, frozen=odt.files.frozen.pack(model))
    assert bytes(given.predict(x)) == expected and len(given.session.state) < len(model.session.state) / 2
    model.export(tmp_path / "model.odt", purpose="inference")
    assert bytes(odt.load_model(str(tmp_path / "model.odt")).predict(x)) == expected
    learnt = learning("last")
    learnt.fit(learnt.imported.samples(IMAGES[:200]), LABELS[:200], verbose=0)
    learnt.export(tmp_path / "model.odt", purpose="inference")
    opened = odt.load_model(str(tmp_path / "model.odt"))
    assert bytes(opened.predict(x)) == bytes(learnt.predict(x))


# --- what does not fit ------------------------------------------------------------------------


def test_ranges_that_the_source_has_not_want_samples():
    with pytest.raises(ValueError, match="calibrate: samples are needed"):
        of_bytes(RESIDUAL, train="last")
    with pytest.raises(ValueError, match="calibrate: samples are needed"):
        load(onnx.load_from_string(written(Series)), dtype="int8", train="none")


def test_samples_in_other_steps_than_the_source_s_are_named():
    model = of_bytes(RESIDUAL, calibrate=(IMAGES[:50] * 16).astype("uint8"), input={"dtype": "uint8", "scale": 1 / 16})
    assert model.imported.left == {"t0": "the samples have steps of their own"}
    got = model.predict((IMAGES[1000:] * 16).astype("uint8"))
    assert np.mean(got.argmax(1) == litert(RESIDUAL, IMAGES[1000:]).argmax(1)) >= 0.98


def test_weights_that_int8_has_not_are_rounded_again_and_named():
    """A byte of -128, and a zero point of its own."""
    for weights, zero in ((np.int8([[-128, 5], [7, 127]]), np.int8(0)), (np.uint8([[0, 5], [255, 9]]), np.uint8(10))):
        values = {
            "s": np.float32(0.02), "z": np.int8(3), "w": weights, "sw": np.float32(0.01), "zw": zero,
            "sy": np.float32(0.05), "zy": np.int8(-7)
        }  # fmt: skip
        proto = network([
            node("QuantizeLinear", ["x", "s", "z"], ["xq"]), node("DequantizeLinear", ["xq", "s", "z"], ["xd"]),
            node("DequantizeLinear", ["w", "sw", "zw"], ["wd"]), node("Gemm", ["xd", "wd"], ["g"], "dense"),
            node("QuantizeLinear", ["g", "sy", "zy"], ["gq"]), node("DequantizeLinear", ["gq", "sy", "zy"], ["y"]),
        ], ("n", 2), values)  # fmt: skip
        model, x = load(proto, dtype="int8", train="none"), RNG.normal(size=(200, 2)).astype("float32")
        assert list(model.imported.left) == ["dense"] and "bytes of -127 to 127" in model.imported.left["dense"]
        assert apart(model, x, run(proto.SerializeToString(), x)).max() <= 2.01


def bytes_of(name, scale, zero):
    """QuantizeLinear and DequantizeLinear after a tensor, and what they read."""
    values = {"s" + name: np.float32(scale), "z" + name: np.int8(zero)}
    made = [node("QuantizeLinear", [name, "s" + name, "z" + name], [name + "q"]),
        node("DequantizeLinear", [name + "q", "s" + name, "z" + name], [name + "d"])]  # fmt: skip
    return made, values


@pytest.mark.parametrize(
    "op, options", [("LeakyRelu", {"alpha": 0.1}), ("Relu", {}), ("Sigmoid", {}), ("MaxPool", {"kernel_shape": [2, 2]})]
)
def test_functions_after_a_tensor_that_the_source_leaves_floats_are_computed_as_before(op, options):
    """Of an unrounded convolution that two read, a function, bytes, another function, bytes."""
    nodes, values = (
        [],
        {"w": RNG.normal(size=(3, 2, 3, 3)).astype("float32"), "v": RNG.normal(size=(3, 3, 3, 3)).astype("float32")},
    )
    steps = [
        bytes_of("x", 0.03, 4),
        bytes_of("f", 0.1, -128 if op in ("Relu", "Sigmoid") else -20),
        bytes_of("g", 1 / 128, -3),
    ]
    between = [
        [], [node("Conv", ["xd", "w"], ["c"], "c", pads=[1] * 4), node(op, ["c"], ["f"], "f", **options)],
        [node("Tanh", ["fd"], ["g"], "g")],
    ]  # fmt: skip
    for (made, more), first in zip(steps, between):
        nodes += first + made
        values.update(more)
    nodes += [
        node("Conv", ["c", "v"], ["d"], "d", pads=[1] * 4),
        node("GlobalAveragePool", ["d"], ["e"]),
        node("Mul", ["gd", "e"], ["y"]),
    ]
    proto, x = network(nodes, ("n", 2, 4, 4), values), RNG.normal(size=(60, 2, 4, 4)).astype("float32")
    model, expected = load(proto, calibrate=x, train="none"), run(proto.SerializeToString(), x)
    got = model.imported.outputs(model.predict(model.imported.samples(x)))
    assert "c" in model.imported.left
    assert np.abs(got - expected).max() < 0.15 * np.abs(expected).max()  # steps of 0.1 there, odt's own here


def test_the_command_needs_no_samples_for_a_quantized_file(tmp_path, capsys):
    (tmp_path / "net.tflite").write_bytes(RESIDUAL)
    words = [
        "import",
        tmp_path / "net.tflite",
        "--dtype",
        "int8",
        "--train",
        "none",
        "--input",
        "uint8",
        "-o",
        tmp_path / "net.odt",
    ]
    assert commands.main([str(word) for word in words]) == 0
    assert "the source's own int8 steps up to what trains\n" in capsys.readouterr().out
    opened = odt.load_model(str(tmp_path / "net.odt"))
    model = of_bytes(RESIDUAL, input={"dtype": "uint8"})
    assert opened.digest() == model.digest()
    words[5] = "last"
    assert commands.main([str(word) for word in words]) == 1
    assert "calibrate: samples are needed" in capsys.readouterr().out
    (tmp_path / "net.onnx").write_bytes(written(Series))
    words[1:6] = [tmp_path / "net.onnx", "--dtype", "float32", "--train", "none"]
    assert commands.main([str(word) for word in words]) == 1
    assert "--input: the network does not take bytes" in capsys.readouterr().out
    assert odt.load_model(str(tmp_path / "net.odt")).digest() == model.digest()


SCALES = [0.0, -1.0, np.nan, np.inf, 1e-38, 1e-31, 1e38, 1e-20, 1e20, 0.1]


@FUZZED
@given(st.data())
def test_damaged_steps_of_onnx_are_a_value_error_or_still_a_network(draw):
    """Scales, zero points and weights of any value, type and shape."""
    proto = onnx.load_from_string(quantized("QDQ", *draw.draw(st.sampled_from([(True, True), (False, False)]))))
    for _ in range(draw.draw(st.integers(1, 3))):
        tensor = proto.graph.initializer[draw.draw(st.integers(0, len(proto.graph.initializer) - 1))]
        values = numpy_helper.to_array(tensor).copy()
        kind = draw.draw(st.sampled_from(["value", "type", "shape", "repeat"]))
        if kind == "value" and values.size:
            at = draw.draw(st.integers(0, values.size - 1))
            some = SCALES if values.dtype.kind == "f" else [-(2**31), -128, -1, 0, 127, 255, 2**31 - 1]
            with np.errstate(all="ignore"):
                values.reshape(-1)[at] = np.array(draw.draw(st.sampled_from(some))).astype(values.dtype)
        elif kind == "type":
            with np.errstate(all="ignore"):
                values = values.astype(
                    draw.draw(st.sampled_from(["int8", "uint8", "int16", "uint16", "int32", "float32", "float16"]))
                )
        elif kind == "shape":
            values = values.reshape(-1)[: draw.draw(st.integers(0, 2))]
        else:
            values = np.tile(values, 2)
        tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
    x = (trained()[1][:4] / 16).astype("float32")
    try:
        model = load(proto, calibrate=x, train="none")
        model.predict(model.imported.samples(x))
    except (ValueError, MemoryError):
        pass


@FUZZED
@given(
    st.lists(st.tuples(st.integers(0, len(RESIDUAL) - 1), st.integers(0, 255)), min_size=1, max_size=6),
    st.integers(0, len(RESIDUAL)),
)
def test_a_damaged_int8_file_is_a_value_error_or_still_a_network(changes, cut):
    content = bytearray(RESIDUAL)
    for at, value in changes:
        content[at] = value
    path = _file(bytes(content[: cut or len(content)]))
    try:
        model = load(path, calibrate=IMAGES[:2], train="none")
        model.predict(model.imported.samples(IMAGES[:2]))
    except (ValueError, MemoryError):
        pass
