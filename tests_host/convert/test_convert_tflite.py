"""Networks of TensorFlow Lite become odt models: outputs are LiteRT's, what is refused is named, damaged files change
nothing.
"""

import flatbuffers
import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tflite_files import FILES, MLPERF, RELU, RELU6, SAME, VALID, File, load_of, samples

from odt.host import commands
from odt.host.convert import Unsupported, load, read, tflitefile

RNG = np.random.default_rng(0)


def weights(*shape):
    return (RNG.normal(size=shape) / np.sqrt(np.prod(shape[1:]) or 1)).astype(np.float32)


def conv(file, at, filters, shape, size=(3, 3), strides=(2, 1), padding=SAME, activation=RELU):
    channels = file.graph.tensors[at].shape[-1]
    return file.call(
        "CONV_2D", [at, weights(filters, *size, channels), weights(filters)], shape + (filters,), "Conv2DOptions",
        strideH=strides[0], strideW=strides[1], padding=padding, fusedActivationFunction=activation, dilationHFactor=1,
        dilationWFactor=1,
    )  # fmt: skip


def pooled(name):
    def make(file):
        return file.call(
            name, [0], (4, 3, 5), "Pool2DOptions",
            strideH=2, strideW=2, filterHeight=3, filterWidth=2, padding=SAME, fusedActivationFunction=0,
        )  # fmt: skip

    return (7, 6, 5), make


def depthwise(file):
    kernel = weights(1, 3, 3, 10) * 3
    return file.call(
        "DEPTHWISE_CONV_2D", [0, kernel, weights(10)], (4, 3, 10), "DepthwiseConv2DOptions",
        strideH=2, strideW=2, padding=SAME, depthMultiplier=2, fusedActivationFunction=RELU6, dilationHFactor=1,
        dilationWFactor=1,
    )  # fmt: skip


def transposed(file):
    shape = np.array([1, 9, 8, 4])
    return file.call(
        "TRANSPOSE_CONV",
        [shape, weights(4, 3, 2, 3), 0],
        (9, 8, 4),
        "TransposeConvOptions",
        strideH=2,
        strideW=2,
        padding=VALID,
    )


def dense(file):
    flat = file.call("RESHAPE", [conv(file, 0, 6, (4, 6)), np.array([1, -1])], (144,), "ReshapeOptions")
    made = file.call(
        "FULLY_CONNECTED", [flat, weights(20, 144), -1], (20,), "FullyConnectedOptions", fusedActivationFunction=RELU
    )
    made = file.call("FULLY_CONNECTED", [made, weights(5, 20), weights(5)], (5,), "FullyConnectedOptions")
    return file.call("SOFTMAX", [made], (5,), "SoftmaxOptions", beta=1.0)


def series(file):
    """A Conv1D as Keras's converter writes it."""
    wide = file.call("EXPAND_DIMS", [0, np.int32(1)], (1, 20, 3), "ExpandDimsOptions")
    made = conv(file, wide, 6, (1, 10), (1, 5), (1, 2))
    made = file.call("SQUEEZE", [made], (10, 6), "SqueezeOptions", squeezeDims=[1])
    return file.call("MEAN", [made, np.array([1])], (6,), "ReducerOptions", keepDims=False)


def residual(file):
    first = conv(file, 0, 5, (7, 6), strides=(1, 1))
    second = conv(file, first, 5, (7, 6), strides=(1, 1), activation=0)
    made = file.call("ADD", [first, second], (7, 6, 5), "AddOptions", fusedActivationFunction=RELU)
    both = file.call("CONCATENATION", [made, first], (7, 6, 10), "ConcatenationOptions", axis=3)
    padded = file.call("PAD", [both, np.array([[0, 0], [1, 0], [0, 1], [0, 0]])], (8, 7, 10), "PadOptions")
    last = conv(file, padded, 3, (6, 5), padding=VALID, strides=(1, 1), activation=0)
    return file.call(
        "AVERAGE_POOL_2D",
        [last],
        (1, 1, 3),
        "Pool2DOptions",
        strideH=1,
        strideW=1,
        filterHeight=6,
        filterWidth=5,
        padding=VALID,
    )


def one(name, options=None, **values):
    return (6, 4), lambda file: file.call(name, [0], (6, 4), options, **values)


def with_constant(name, constant, options, turned=False):
    order = [constant, 0] if turned else [0, constant]
    return (6, 4), lambda file: file.call(name, order, (6, 4), options, fusedActivationFunction=0)


NETWORKS = {
    "conv": ((7, 6, 5), lambda file: conv(file, 0, 4, (4, 6))),
    "depthwise": ((7, 6, 5), depthwise),
    "transposed": ((4, 4, 3), transposed),
    "dense": ((7, 6, 5), dense),
    "series": ((20, 3), series),
    "residual": ((7, 6, 5), residual),
    "max pool": pooled("MAX_POOL_2D"),
    "average pool": pooled("AVERAGE_POOL_2D"),
    "relu": one("RELU"),
    "relu6": one("RELU6"),
    "logistic": one("LOGISTIC"),
    "tanh": one("TANH"),
    "elu": one("ELU"),
    "gelu": one("GELU", "GeluOptions", approximate=False),
    "leaky relu": one("LEAKY_RELU", "LeakyReluOptions", alpha=0.2),
    "hard swish": one("HARD_SWISH"),
    "softmax": one("SOFTMAX", "SoftmaxOptions", beta=0.5),
    "plus": with_constant("ADD", weights(4), "AddOptions"),
    "times": with_constant("MUL", weights(4), "MulOptions"),
    "minus": with_constant("SUB", weights(4), "SubOptions"),
    "from": with_constant("SUB", np.float32([0.5]), "SubOptions", turned=True),
    "over": with_constant("DIV", 1 + np.arange(4, dtype=np.float32), "DivOptions"),
    "larger": (
        (3, 4, 2),
        lambda file: file.call(
            "RESIZE_NEAREST_NEIGHBOR", [0, np.array([6, 12])], (6, 12, 2), "ResizeNearestNeighborOptions"
        ),
    ),
}


def built(name):
    shape, make = NETWORKS[name]
    file = File(*shape)
    make(file)
    return file.bytes()


def run(content, x, tensor=None):
    """LiteRT's numbers of the output, or of a tensor, each as what it means, and the size of a step."""
    machine = Interpreter(model_content=content, experimental_preserve_all_tensors=True)
    machine.allocate_tensors()
    (given,), (found,) = machine.get_input_details(), machine.get_output_details()
    if tensor is not None:
        found = next(each for each in machine.get_tensor_details() if each["index"] == tensor)
    rows = []
    for row in x:
        if given["dtype"] == np.int8:
            scale, zero = given["quantization"]
            row = np.clip(np.round(row / scale) + zero, -128, 127)
        machine.set_tensor(given["index"], row[None].astype(given["dtype"]))
        machine.invoke()
        rows.append(machine.get_tensor(found["index"])[0].copy())
    scale, zero = found["quantization"]
    return (np.array(rows, np.float64) - zero) * (scale or 1), scale


@pytest.mark.parametrize("name", NETWORKS)
def test_float32_outputs_are_those_of_litert(name, tmp_path):
    path, x = tmp_path / "net.tflite", RNG.normal(size=(8, *NETWORKS[name][0])).astype(np.float32) * 2
    path.write_bytes(built(name))
    model = load(path)
    expected = run(path.read_bytes(), x)[0]
    got = np.asarray(model.imported.outputs(model.predict(model.imported.samples(x))))
    assert got.shape == expected.shape
    assert np.abs(got - expected).max() <= 1e-5 * np.abs(expected).max()


def alone(name):
    """Each operator of a file that reads one tensor, as a file of its own."""
    content = (FILES / name).read_bytes()
    for number in range(len(schema.ModelT.InitFromPackedBuf(content, 0).subgraphs[0].operators)):
        model = schema.ModelT.InitFromPackedBuf(content, 0)
        graph = model.subgraphs[0]
        operator = graph.operators[number]
        read = [at for at in operator.inputs if at >= 0 and model.buffers[graph.tensors[at].buffer].data is None]
        if len(read) == 1:
            graph.operators, graph.inputs, graph.outputs = [operator], read, list(operator.outputs)
            model.signatureDefs = None
            builder = flatbuffers.Builder()
            builder.Finish(model.Pack(builder), b"TFL3")
            yield number, bytes(builder.Output())


@pytest.mark.slow
@pytest.mark.parametrize("name", MLPERF)
def test_every_layer_of_networks_of_mlperf_tiny_is_within_a_step_of_litert(name):
    """Of random bytes, each layer on its own: what LiteRT rounds is the output alone."""
    seen = 0
    for number, content in alone(name):
        machine = Interpreter(model_content=content)
        (given,), (found,) = machine.get_input_details(), machine.get_output_details()
        if given["dtype"] != np.int8 or found["dtype"] != np.int8:
            continue
        (scale, zero), (step, middle) = given["quantization"], found["quantization"]
        x = ((RNG.integers(-128, 128, (5, *given["shape"][1:])) - zero) * scale).astype(np.float32)
        expected = run(content, x)[0]
        model = load_of(content)
        got = np.clip(
            model.imported.outputs(model.predict(model.imported.samples(x))),
            (-128 - middle) * step,
            (127 - middle) * step,
        )
        assert np.abs(got - expected).max() <= 1.001 * step, number
        seen += 1
    assert seen > 8


@pytest.mark.slow
@pytest.mark.parametrize("name", MLPERF[:2])
def test_int8_of_odt_is_about_litert_and_learns_on(name):
    """Where all trains, both round between the layers, each in its own steps."""
    x = samples(name, 2)
    expected, step = run((FILES / name).read_bytes(), x)
    model = load(FILES / name, calibrate=samples(name, 3), batch_size=10)
    rows = model.imported.samples(x)
    got = np.asarray(model.predict(rows))
    assert np.abs(got - expected).mean() < 10 * step
    assert (got.argmax(1) == expected.argmax(1)).mean() >= 0.7
    labels = (expected.argmax(1) + 1).astype("uint8") % expected.shape[1]
    losses = model.fit(rows, labels, epochs=3, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


def test_the_command_writes_a_model_file(tmp_path, capsys):
    np.savez(tmp_path / "data.npz", x=samples("kws_ref_model.tflite", 4))
    arguments = [
        "import",
        FILES / "kws_ref_model.tflite",
        "--calibrate",
        tmp_path / "data.npz",
        "-o",
        tmp_path / "net.odt",
        "--train",
        "last",
    ]
    assert commands.main([str(each) for each in arguments]) == 0
    assert (tmp_path / "net.odt").exists() and "ready for odt.load_model" in capsys.readouterr().out


def no_buffer(file):
    return file.call("FULLY_CONNECTED", [0, file.tensor((3, 24)), -1], (3,), "FullyConnectedOptions")


def two_outputs(file):
    made = file.call("RELU", [0], (6, 4))
    file.graph.operators[-1].outputs = [made, made]


def shared(file):
    kernel = file.constant(weights(24, 24))
    first = file.call("FULLY_CONNECTED", [0, kernel, -1], (24,), "FullyConnectedOptions")
    return file.call("FULLY_CONNECTED", [first, kernel, -1], (24,), "FullyConnectedOptions")


def unscaled(file):
    file.graph.tensors[0].type = schema.TensorType.INT8
    return file.call("RELU", [0], (6, 4))


def dilated(file):
    made = conv(file, file.call("RESHAPE", [0, np.array([1, 6, 4, 1])], (6, 4, 1), "ReshapeOptions"), 2, (3, 4))
    options = file.graph.operators[-1].builtinOptions
    options.strideH = options.strideW = options.dilationHFactor = 2
    return made


REFUSED = {
    "no buffer": (no_buffer, r"neither computed before it is read nor a constant"),
    "two outputs": (two_outputs, r"node 0 \(RELU\): has 2 outputs"),
    "shared": (shared, r"node 1 \(FULLY_CONNECTED\): shares the weights"),
    "unscaled": (unscaled, r"input t0: gives int8 without one scale"),
    "dilated": (dilated, r"node 1 \(CONV_2D\): has strides \(2, 2\) and dilation \(2, 1\)"),
    "batch": (
        lambda file: file.call("RESHAPE", [0, np.array([2, 12])], (12,), "ReshapeOptions"),
        r"one result per sample",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_odt_has_not_is_named_with_its_node(name):
    make, expected = REFUSED[name]
    file = File(6, 4)
    make(file)
    with pytest.raises(ValueError, match=expected):
        tflitefile.read(file.bytes())


def test_another_shape_than_the_files_is_named():
    with pytest.raises(ValueError, match=r"samples are of shape \(49, 10, 1\), got \(49, 10\)"):
        read(FILES / "kws_ref_model.tflite", (49, 10))


@pytest.mark.parametrize("content", [b"", b"TFL3", b"\0\0\0\0TFL3", b"\x1c\0\0\0TFL3" + bytes(60), b"PK\3\4" * 20])
def test_what_is_no_such_file_is_a_value_error(content):
    with pytest.raises(ValueError, match="damaged"):
        tflitefile.read(content)


SOUND = built("dense")


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.tuples(st.integers(0, len(SOUND) - 1), st.integers(0, 255)), min_size=1, max_size=4),
    st.integers(0, len(SOUND)),
)
def test_a_damaged_file_is_a_value_error_or_still_a_network(changes, cut):
    content = bytearray(SOUND)
    for at, value in changes:
        content[at] = value
    try:
        tflitefile.read(bytes(content[: cut or len(content)]))
    except (ValueError, Unsupported):
        pass
