"""Small networks as today's exporters write them (tf2onnx, skl2onnx, onnxruntime's tools, TensorFlow's and
litert-torch's converters): outputs are the runtime's to 1e-4, or one sentence says what odt has not.
"""

import numpy as np
import onnx
import pytest
from ai_edge_litert import schema_py_generated as schema
from onnx import TensorProto, helper, numpy_helper
from onnx_graphs import RNG, by_onnxruntime, compare, f, i, i32, model
from onnxruntime import quantization
from tflite_files import File, litert, load_of, steps

from odt.host.convert import Unsupported, load, read, tflitefile

node = helper.make_node


# --- tf2onnx ------------------------------------------------------------------------------------


def one_channel():
    """A Reshape in place of the Transpose of an image of one channel."""
    weights = {"s": i(-1, 1, 13, 11), "k": f(4, 1, 3, 3), "b": f(4), "flat": i(-1, 120), "w": f(120, 5), "c": f(5)}
    return model([
        node("Reshape", ["x", "s"], ["r"]), node("Conv", ["r", "k", "b"], ["h"], auto_pad="SAME_UPPER"),
        node("Relu", ["h"], ["a"]),
        node("MaxPool", ["a"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Transpose", ["p"], ["t"], perm=[0, 2, 3, 1]),
        node("Reshape", ["t", "flat"], ["d"]), node("MatMul", ["d", "w"], ["m"]), node("Add", ["m", "c"], ["z"]),
        node("Softmax", ["z"], ["y"]),
    ], (13, 11, 1), weights)  # fmt: skip


def three_channels():
    weights = {
        "k": f(8, 3, 3, 3),
        "v": f(8, 1, 3, 3),
        "six": np.float32(6),
        "zero": np.float32(0),
        "w": f(8, 4),
        "c": f(4),
    }
    return model([
        node("Transpose", ["x"], ["r"], perm=[0, 3, 1, 2]), node("Conv", ["r", "k"], ["h"], auto_pad="SAME_UPPER",
        strides=[2, 2]),
        node("Relu", ["h"], ["a"]), node("Min", ["a", "six"], ["a6"]),
        node("Conv", ["a6", "v"], ["g"], group=8, pads=[1, 1, 1, 1]),
        node("Clip", ["g", "zero", "six"], ["e"]), node("Transpose", ["e"], ["t"], perm=[0, 2, 3, 1]),
        node("ReduceMean", ["t"], ["q"], axes=[1, 2], keepdims=0), node("MatMul", ["q", "w"], ["m"]),
        node("Add", ["m", "c"], ["y"]),
    ], (12, 10, 3), weights)  # fmt: skip


def series():
    """A causal, dilated Conv1D, channels last."""
    weights = {"k": f(6, 3, 1, 3), "pads": i(0, 4, 0, 0, 0, 0), "ax": i(2), "w": f(6, 2)}
    return model([
        node("Pad", ["x", "pads"], ["p"]), node("Transpose", ["p"], ["t"], perm=[0, 2, 1]),
        node("Unsqueeze", ["t", "ax"], ["u"]),
        node("Conv", ["u", "k"], ["h"], dilations=[1, 2]), node("Squeeze", ["h", "ax"], ["s"]),
        node("Transpose", ["s"], ["r"], perm=[0, 2, 1]),
        node("Tanh", ["r"], ["a"]), node("ReduceMean", ["a"], ["m"], axes=[1], keepdims=0),
        node("MatMul", ["m", "w"], ["y"]),
    ], (20, 3), weights)  # fmt: skip


def larger():
    """UpSampling2D(interpolation="bilinear"): the size by shape arithmetic."""
    weights = {"k": f(4, 2, 3, 3), "from": i(2), "to": i(4), "two": i(2, 2), "ax": i(0)}
    return model([
        node("Transpose", ["x"], ["r"], perm=[0, 3, 1, 2]), node("Conv", ["r", "k"], ["h"], pads=[1, 1, 1, 1]),
        node("Shape", ["h"], ["sh"]),
        node("Slice", ["sh", "from", "to", "ax"], ["hw"]), node("Mul", ["hw", "two"], ["size"]),
        node("Slice", ["sh", "ax", "from", "ax"], ["nc"]),
        node("Concat", ["nc", "size"], ["all"], axis=0),
        node("Resize", ["h", "", "", "all"], ["u"], mode="linear", coordinate_transformation_mode="half_pixel"),
        node("Transpose", ["u"], ["y"], perm=[0, 2, 3, 1]),
    ], (5, 6, 2), weights)  # fmt: skip


def constants():
    """Weights in Constant nodes, a BatchNormalization that nothing has folded, opset 9."""
    weights = {"g": f(4) ** 2 + 1, "b": f(4), "m": f(4), "v": f(4) ** 2 + 0.5}
    kernel = numpy_helper.from_array(f(4, 3, 3, 3), "k")
    return model([
        node("Constant", [], ["k"], value=kernel), node("Conv", ["x", "k"], ["h"], pads=[1, 1, 1, 1]),
        node("BatchNormalization", ["h", "g", "b", "m", "v"], ["n"], epsilon=1e-3),
        node("LeakyRelu", ["n"], ["a"], alpha=0.3),
        node("GlobalMaxPool", ["a"], ["p"]), node("Squeeze", ["p"], ["y"], axes=[2, 3]),
    ], (3, 7, 6), weights, opset=9)  # fmt: skip


# --- PyTorch's older exporter, and graphs that others make ---------------------------------------


def flattened():
    """x.view(x.size(0), -1), traced."""
    weights = {"k": f(4, 3, 3, 3), "zero": i(0).reshape(()), "one": i(-1), "w": f(5, 80), "c": f(5), "ax": i(0)}
    return model([
        node("Conv", ["x", "k"], ["h"]), node("Shape", ["h"], ["sh"]), node("Gather", ["sh", "zero"], ["n0"], axis=0),
        node("Unsqueeze", ["n0", "ax"], ["n1"]), node("Concat", ["n1", "one"], ["to"], axis=0),
        node("Reshape", ["h", "to"], ["d"]),
        node("Gemm", ["d", "w", "c"], ["y"], transB=1),
    ], (3, 7, 6), weights)  # fmt: skip


def split():
    """A block that computes half of the channels."""
    weights = {"k": f(8, 3, 3, 3), "v": f(4, 4, 3, 3), "s": i(4, 4)}
    return model([
        node("Conv", ["x", "k"], ["h"], pads=[1, 1, 1, 1]), node("Split", ["h", "s"], ["a", "b"], axis=1),
        node("Conv", ["b", "v"], ["c"], pads=[1, 1, 1, 1]), node("Sigmoid", ["c"], ["g"]),
        node("Mul", ["c", "g"], ["e"]),
        node("Concat", ["a", "e"], ["j"], axis=1), node("GlobalAveragePool", ["j"], ["p"]),
        node("Flatten", ["p"], ["y"]),
    ], (3, 6, 6), weights)  # fmt: skip


def last_step():
    weights = {
        "k": f(6, 3, 3),
        "at": i(-1).reshape(()),
        "p": f(6, 1),
        "w": f(6, 2),
        "from": i(1),
        "to": i(2**31),
        "ax": i(2),
    }
    return model([
        node("Slice", ["x", "from", "to", "ax"], ["r"]), node("Conv", ["r", "k"], ["h"], pads=[2, 0]),
        node("PRelu", ["h", "p"], ["a"]),
        node("Gather", ["a", "at"], ["l"], axis=2), node("MatMul", ["l", "w"], ["y"]),
    ], (3, 16), weights)  # fmt: skip


def functions():
    """GELU as tanh, limits other than 0 to 6, powers, differences."""
    weights = {"w": f(6, 8), "low": np.float32(-0.5), "high": np.float32(1.5), "two": np.float32(2)}
    return model([
        node("MatMul", ["x", "w"], ["h"]), node("Gelu", ["h"], ["g"], approximate="tanh"),
        node("Clip", ["g", "low", "high"], ["c"]),
        node("Pow", ["h", "two"], ["q"]), node("Sub", ["q", "c"], ["d"]), node("Neg", ["d"], ["e"]),
        node("HardSwish", ["e"], ["y"]),
    ], (6,), weights, opset=20)  # fmt: skip


def half():
    """Weights and activations of 16 bits, as onnxconverter-common leaves them."""
    weights = {"w": f(6, 8).astype("float16"), "v": f(8, 3).astype("float16")}
    return model([
        node("Cast", ["x"], ["h"], to=TensorProto.FLOAT16), node("MatMul", ["h", "w"], ["m"]),
        node("Relu", ["m"], ["r"]),
        node("MatMul", ["r", "v"], ["o"]), node("Cast", ["o"], ["y"], to=TensorProto.FLOAT),
    ], (6,), weights)  # fmt: skip


# --- skl2onnx -----------------------------------------------------------------------------------

TWO = {"label": TensorProto.INT64, "probabilities": TensorProto.FLOAT}
LABEL = [node("ArgMax", ["probabilities"], ["best"], axis=1),
    node("ArrayFeatureExtractor", ["classes", "best"], ["l0"], domain="ai.onnx.ml"),
         node("Cast", ["l0"], ["l1"], to=TensorProto.INT64), node("Reshape", ["l1", "flat"], ["label"])]  # fmt: skip


def perceptron():
    weights = {"w": f(4, 8), "b": f(8), "v": f(8, 3), "c": f(3), "classes": i(0, 1, 2), "flat": i(-1)}
    return model([
        node("Cast", ["x"], ["h"], to=TensorProto.FLOAT), node("MatMul", ["h", "w"], ["m"]),
        node("Add", ["m", "b"], ["a"]), node("Relu", ["a"], ["r"]),
        node("MatMul", ["r", "v"], ["n"]), node("Add", ["n", "c"], ["z"]),
        node("Softmax", ["z"], ["probabilities"], axis=1), *LABEL,
    ], (4,), weights, TWO)  # fmt: skip


def of_two_classes():
    weights = {"w": f(4, 8), "v": f(8, 1), "one": np.float32([1]), "classes": i(0, 1), "flat": i(-1)}
    return model([
        node("MatMul", ["x", "w"], ["m"]), node("Tanh", ["m"], ["r"]), node("MatMul", ["r", "v"], ["z"]),
        node("Sigmoid", ["z"], ["p"]),
        node("Sub", ["one", "p"], ["q"]), node("Concat", ["q", "p"], ["probabilities"], axis=1), *LABEL,
    ], (4,), weights, TWO)  # fmt: skip


def regression(after, classes, maps=False):
    """Scaler, LinearClassifier, Normalizer and, where ``maps``, ZipMap."""
    rows = f(classes, 4)
    rows = np.stack([-rows[0], rows[0]]) if after == "LOGISTIC" else rows
    ml = {"domain": "ai.onnx.ml"}
    nodes = [
        node("Scaler", ["x"], ["s"], offset=f(4).tolist(), scale=[0.5, 1.5, 2, 0.1], **ml),
        node("LinearClassifier", ["s"], ["label", "z"], coefficients=rows.ravel().tolist(),
        intercepts=[0.0] * len(rows),
             classlabels_ints=list(range(len(rows))), post_transform=after, multi_class=int(after == "LOGISTIC"), **ml),
        node("Normalizer", ["z"], ["n" if maps else "probabilities"], norm="L1", **ml),
    ]  # fmt: skip
    if maps:
        nodes.append(node("ZipMap", ["n"], ["probabilities"], classlabels_int64s=list(range(len(rows))), **ml))
    return model(nodes, (4,), {}, {"label": TensorProto.INT64, "probabilities": "maps" if maps else TensorProto.FLOAT})


def line():
    ml = {"domain": "ai.onnx.ml"}
    return model([
        node("Scaler", ["x"], ["s"], offset=[0.5], scale=[2.0], **ml),
        node("LinearRegressor", ["s"], ["y"], coefficients=f(8).tolist(), intercepts=[0.5, -1], targets=2, **ml),
    ], (4,), {})  # fmt: skip


ONNX = {
    "tf2onnx, one channel": one_channel, "tf2onnx, three channels": three_channels, "tf2onnx, series": series,
    "tf2onnx, bilinear": larger,
    "constants": constants, "flattened": flattened, "split": split, "last step": last_step, "functions": functions,
    "half": half,
    "skl2onnx, perceptron": perceptron, "skl2onnx, two classes": of_two_classes,
    "skl2onnx, softmax": lambda: regression("SOFTMAX", 3),
    "skl2onnx, maps": lambda: regression("SOFTMAX", 3, True), "skl2onnx, logistic": lambda: regression("LOGISTIC", 1),
    "skl2onnx, line": line,
}  # fmt: skip


@pytest.mark.parametrize("name", ONNX)
def test_onnx_is_onnxruntime_s(name):
    proto = ONNX[name]()
    shape = [each.dim_value for each in proto.graph.input[0].type.tensor_type.shape.dim[1:]]
    x = RNG.normal(size=(5, *shape)).astype("float32")
    compare(load(proto), x, by_onnxruntime(proto, x), 2e-3 if name == "half" else 1e-4)  # that runtime has 11 bits


@pytest.mark.parametrize("several", [True, False])
def test_weights_beside_the_file_are_onnxruntime_s(several, tmp_path):
    proto = three_channels()
    path = str(tmp_path / "net.onnx")
    onnx.save_model(
        proto, path, save_as_external_data=True, all_tensors_to_one_file=not several,
        location=None if several else "net.onnx.data",
        size_threshold=0,
    )  # fmt: skip
    x = RNG.normal(size=(5, 12, 10, 3)).astype("float32")
    compare(load(path), x, by_onnxruntime(path, x))
    compare(load(onnx.load(path)), x, by_onnxruntime(path, x))


# --- onnxruntime's own tools --------------------------------------------------------------------


class Batches(quantization.CalibrationDataReader):
    def __init__(self, x):
        self.left = iter([{"x": each} for each in np.split(x, 10)])

    def get_next(self):
        return next(self.left, None)


@pytest.mark.parametrize("form", ["QDQ", "QOperator"])
@pytest.mark.parametrize("name", ["three channels", "split", "flattened"])
def test_what_onnxruntime_quantizes_is_onnxruntime_s(name, form, tmp_path):
    """An int8 network that is trained no further, to four steps: what clips, joins and splits included."""
    proto = {"three channels": three_channels, "split": split, "flattened": flattened}[name]()
    shape = [each.dim_value for each in proto.graph.input[0].type.tensor_type.shape.dim[1:]]
    x = RNG.normal(size=(50, *shape)).astype("float32")
    onnx.save(proto, tmp_path / "float.onnx")
    kind = quantization.QuantType.QInt8 if form == "QDQ" else quantization.QuantType.QUInt8
    quantization.quantize_static(
        str(tmp_path / "float.onnx"), str(tmp_path / "int8.onnx"), Batches(x),
        quant_format=quantization.QuantFormat[form],
        activation_type=kind, weight_type=quantization.QuantType.QInt8, per_channel=form == "QDQ",
        reduce_range=True,  # or its sums of int16 saturate on AVX2 without VNNI
    )  # fmt: skip
    made = load(tmp_path / "int8.onnx", calibrate=x, train="none")
    expected = by_onnxruntime(onnx.load(tmp_path / "int8.onnx"), x)
    got = np.asarray(made.imported.outputs(made.predict(made.imported.samples(x))))
    assert np.abs(got - expected).max() <= 4 * (expected.max() - expected.min()) / 255


# --- what is refused, in one sentence -----------------------------------------------------------

LSTM = {"w": f(1, 16, 3), "r": f(1, 16, 4)}


def gru(sizes=(), first=("Transpose", {"perm": [1, 0, 2]}), inputs=("t", "w", "r"), of="GRU", **attributes):
    """A recurrent node of 4 units over 7 steps of 3, and a Transpose back; ``sizes``: of further constants."""
    rows = {"GRU": 12, "LSTM": 16, "RNN": 4}[of]
    given = LSTM if of == "LSTM" else {"w": f(1, rows, 3), "r": f(1, rows, 4)}
    given = {**given, **{name: f(*size) for name, size in dict(sizes).items()}}
    back = node("Transpose", ["s"], ["y"], perm=[1, 0, 2])
    return model(
        [
            node(first[0], ["x"], ["t"], **first[1]),
            node(of, inputs, ["o"], of.lower(), **attributes),
            node("Squeeze", ["o", "one"], ["s"]),
            back,
        ],
        (7, 3),
        {**given, "one": np.array([1])},
    )


REFUSED = {
    "GRU": lambda: gru(hidden_size=4),  # which resets before it multiplies
    "LSTM": lambda: gru({"p": (1, 12)}, inputs=("t", "w", "r", "", "", "", "", "p"), of="LSTM"),
    "RNN": lambda: gru(of="RNN", first=("Identity", {})),
    "GRU of lengths": lambda: gru({"l": (3,)}, inputs=("t", "w", "r", "", "l"), linear_before_reset=1),
    "RNN of ones": lambda: gru({"h": (1, 3, 4)}, inputs=("t", "w", "r", "", "", "h"), of="RNN"),
    "LSTM of clips": lambda: gru(of="LSTM", clip=1.0),
    "GRU of elus": lambda: gru(activations=["Elu", "Tanh"], linear_before_reset=1),
    "Attention": lambda: model([node("Attention", ["x", "x", "x"], ["y"])], (7, 3), {}, opset=23),
    "MultiHeadAttention": lambda: model([node("MultiHeadAttention", ["x", "x", "x"], ["y"], domain="com.microsoft",
    num_heads=1)], (7, 3), {}),
    "MatMulNBits": lambda: model([node("MatMulNBits", ["x", "q", "s"], ["y"], domain="com.microsoft", K=32, N=2, bits=4,
    block_size=32)], (32,), {"q": np.zeros((2, 1, 16), "uint8"), "s": f(2)}),
    "DynamicQuantizeLinear": lambda: model([node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
    node("DequantizeLinear", ["q", "s", "z"], ["y"])], (7,), {}),
    "Mish": lambda: model([node("Mish", ["x"], ["y"])], (7,), {}, opset=18),
    "If": lambda: model([node("If", ["x"], ["y"])], (7,), {}),
    "Normalizer": lambda: model([node("Normalizer", ["x"], ["y"], norm="L2", domain="ai.onnx.ml")], (7,), {}),
    "TreeEnsembleClassifier": lambda: model([node("TreeEnsembleClassifier", ["x"], ["label", "y"],
    domain="ai.onnx.ml")], (7,), {}),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_odt_has_not_is_said_by_its_name(name):
    with pytest.raises(Unsupported, match=r"^node \S+ \(%s\): .+" % name.partition(" ")[0]) as caught:
        read(REFUSED[name]())
    assert "\n" not in str(caught.value) and ("; instead: " in str(caught.value) or name[:4] == "Tree")


RECURRENT = {"a bias": dict(inputs=("t", "w", "r", "b"), sizes={"b": (1, 24)}), "no bias": {}}


@pytest.mark.parametrize("name", RECURRENT)
def test_a_recurrent_node_is_onnxruntime_s(name):
    proto = gru(linear_before_reset=1, hidden_size=4, **RECURRENT[name])
    x = RNG.normal(size=(3, 7, 3)).astype("float32")
    expected = by_onnxruntime(proto, x)
    made = load(proto)
    np.testing.assert_allclose(made.imported.outputs(made.predict(made.imported.samples(x))), expected, atol=1e-5)


DAMAGED = {
    "two directions": ({"w2": (2, 12, 3)}, ("t", "w2", "r"), r"weights of shape \(2, 12, 3\)"),
    "units": ({"r2": (1, 12, 5)}, ("t", "w", "r2"), "hidden_size is 4, the weights have 5 units"),
    "rows": ({"w2": (1, 11, 3)}, ("t", "w2", "r"), r"kernels \(11, 3\) and \(12, 4\) do not take"),
    "features": ({"w2": (1, 12, 2)}, ("t", "w2", "r"), r"do not take samples of \(7, 3\)"),
    "bias": ({"b": (1, 12)}, ("t", "w", "r", "b"), r"a bias of \(1, 12\)"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_weights_of_recurrent_nodes_that_do_not_fit_are_damage(name):
    sizes, inputs, words = DAMAGED[name]
    with pytest.raises(ValueError, match=r"^node gru \(GRU\): .*" + words):
        read(gru(sizes, inputs=inputs, linear_before_reset=1, hidden_size=4))


# --- TensorFlow's converter and litert-torch ----------------------------------------------------

CONV = dict(strideH=1, strideW=1, dilationHFactor=1, dilationWFactor=1)


def nchw():
    """litert-torch: the module's own axes outside, TRANSPOSE within."""
    file = File(3, 8, 6)
    at = file.call("TRANSPOSE", [0, i32(0, 2, 3, 1)], (8, 6, 3), "TransposeOptions")
    at = file.call(
        "CONV_2D", [at, f(4, 3, 3, 3), f(4)], (8, 6, 4), "Conv2DOptions", padding=0, fusedActivationFunction=1, **CONV
    )
    at = file.call(
        "MAX_POOL_2D", [at], (4, 3, 4), "Pool2DOptions", padding=1, strideH=2, strideW=2, filterHeight=2, filterWidth=2
    )
    at = file.call("TRANSPOSE", [at, i32(0, 3, 1, 2)], (4, 4, 3), "TransposeOptions")
    at = file.call("RESHAPE", [at, i32(1, 48)], (48,), "ReshapeOptions", newShape=[1, 48])
    at = file.call("FULLY_CONNECTED", [at, f(5, 48), f(5)], (5,), "FullyConnectedOptions")
    file.call("SOFTMAX", [at], (5,), "SoftmaxOptions", beta=1.0)
    return file


def matmul():
    """litert-torch: a Linear of a sequence."""
    file = File(7, 6)
    at = file.call("BATCH_MATMUL", [0, f(6, 5)], (7, 5), "BatchMatMulOptions")
    at = file.call("ADD", [at, f(5)], (7, 5), "AddOptions")
    at = file.call("GELU", [at], (7, 5), "GeluOptions", approximate=True)
    at = file.call("SUM", [at, i32(1)], (5,), "ReducerOptions", keepDims=False)
    file.call("MUL", [at, np.float32([0.5])], (5,), "MulOptions")
    return file


def dilated_series(pad=((4, 0),), crop=((0, 0),), reshape=False):
    """Conv1D(dilation_rate=2, padding="causal")."""
    file = File(10, 3)
    at = file.call("SPACE_TO_BATCH_ND", [0, i32(2), i32(*pad)], (7, 3), "SpaceToBatchNDOptions")
    file.graph.tensors[at].shape = [2, 7, 3]
    if reshape:
        at = file.call("RESHAPE", [at, i32(2, 1, 7, 3)], (1, 7, 3), "ReshapeOptions")
    else:
        at = file.call("EXPAND_DIMS", [at, i32(1)], (1, 7, 3), "ExpandDimsOptions")
    file.graph.tensors[at].shape = [2, 1, 7, 3]
    at = file.call(
        "CONV_2D", [at, f(4, 1, 3, 3), f(4)], (1, 5, 4), "Conv2DOptions", padding=1, fusedActivationFunction=1, **CONV
    )
    file.graph.tensors[at].shape = [2, 1, 5, 4]
    at = file.call("SQUEEZE", [at], (5, 4), "SqueezeOptions", squeezeDims=[1])
    file.graph.tensors[at].shape = [2, 5, 4]
    at = file.call("BATCH_TO_SPACE_ND", [at, i32(2), i32(*crop)], (10, 4), "BatchToSpaceNDOptions")
    file.call("MEAN", [at, i32(1)], (4,), "ReducerOptions", keepDims=False)
    return file


def dilated_image():
    """DepthwiseConv2D and Conv2D of dilation 2: of 7x6 the last row is padded and cut again."""
    file = File(7, 6, 3)
    at = file.call("SPACE_TO_BATCH_ND", [0, i32(2, 2), i32((2, 3), (2, 2))], (6, 5, 3), "SpaceToBatchNDOptions")
    file.graph.tensors[at].shape = [4, 6, 5, 3]
    at = file.call(
        "DEPTHWISE_CONV_2D",
        [at, f(1, 3, 3, 3), f(3)],
        (4, 3, 3),
        "DepthwiseConv2DOptions",
        padding=1,
        depthMultiplier=1,
        **CONV,
    )
    file.graph.tensors[at].shape = [4, 4, 3, 3]
    at = file.call("ADD", [at, f(3)], (4, 3, 3), "AddOptions", fusedActivationFunction=1)
    file.graph.tensors[at].shape = [4, 4, 3, 3]
    at = file.call("BATCH_TO_SPACE_ND", [at, i32(2, 2), i32((0, 1), (0, 0))], (7, 6, 3), "BatchToSpaceNDOptions")
    file.call(
        "CONV_2D",
        [at, f(2, 3, 3, 3), f(2)],
        (7, 6, 2),
        "Conv2DOptions",
        **{**CONV, "dilationHFactor": 2, "dilationWFactor": 2},
    )
    return file


def causal():
    """Conv1D(padding="causal"): PAD, EXPAND_DIMS, CONV_2D."""
    file = File(10, 3)
    at = file.call("PAD", [0, i32((0, 0), (2, 0), (0, 0))], (12, 3), "PadOptions")
    at = file.call("EXPAND_DIMS", [at, i32(-3)], (1, 12, 3), "ExpandDimsOptions")
    at = file.call("CONV_2D", [at, f(4, 1, 3, 3), f(4)], (1, 10, 4), "Conv2DOptions", padding=1, **CONV)
    at = file.call("SQUEEZE", [at], (10, 4), "SqueezeOptions", squeezeDims=[-3])
    at = file.call(
        "STRIDED_SLICE",
        [at, i32(0, -1, 0), i32(0, 0, 0), i32(1, 1, 1)],
        (4,),
        "StridedSliceOptions",
        beginMask=5,
        endMask=5,
        shrinkAxisMask=2,
    )
    file.call("FULLY_CONNECTED", [at, f(2, 4), f(2)], (2,), "FullyConnectedOptions")
    return file


def arithmetic():
    """Reshape((-1,)) of what has no fixed batch: SHAPE, STRIDED_SLICE, PACK."""
    file = File(4, 6)
    one = dict(beginMask=0, endMask=0, shrinkAxisMask=1)
    size = file.call("SHAPE", [0], (), "ShapeOptions", outType=2)
    batch = file.call("STRIDED_SLICE", [size, i32(0), i32(1), i32(1)], (), "StridedSliceOptions", **one)
    rest = file.call("STRIDED_SLICE", [size, i32(1), i32(3), i32(1)], (), "StridedSliceOptions")
    count = file.call("REDUCE_PROD", [rest, i32(0)], (), "ReducerOptions", keepDims=False)
    wanted = file.call("PACK", [batch, count], (), "PackOptions", valuesCount=2, axis=0)
    for at, shape in ((size, [3]), (batch, []), (rest, [2]), (count, []), (wanted, [2])):
        file.graph.tensors[at].shape, file.graph.tensors[at].type = shape, schema.TensorType.INT32
    at = file.call("RESHAPE", [0, wanted], (24,), "ReshapeOptions")
    file.call("FULLY_CONNECTED", [at, f(3, 24), f(3)], (3,), "FullyConnectedOptions")
    return file


def gate():
    """Squeeze-and-excite, bilinear UpSampling2D, channels in two parts."""
    file = File(6, 5, 4)
    at = file.call("MEAN", [0, i32(1, 2)], (1, 1, 4), "ReducerOptions", keepDims=True)
    at = file.call("CONV_2D", [at, f(4, 1, 1, 4), f(4)], (1, 1, 4), "Conv2DOptions", fusedActivationFunction=1, **CONV)
    at = file.call("LOGISTIC", [at], (1, 1, 4))
    at = file.call("MUL", [0, at], (6, 5, 4), "MulOptions")
    at = file.call("RESIZE_BILINEAR", [at, i32(12, 10)], (12, 10, 4), "ResizeBilinearOptions", halfPixelCenters=True)
    parts = file.call("SPLIT", [np.int32(3), at], (12, 10, 2), "SplitOptions", numSplits=2)
    file.graph.operators[-1].outputs = [parts, other := file.tensor((1, 12, 10, 2))]
    at = file.call("PRELU", [other, f(1, 1, 2)], (12, 10, 2))
    file.call("CONCATENATION", [at, parts], (12, 10, 4), "ConcatenationOptions", axis=-1)
    return file


TFLITE = {
    "NCHW": nchw, "matmul": matmul, "dilated series": dilated_series,
    "dilated series, reshaped": lambda: dilated_series(reshape=True),
    "dilated series, cut": lambda: dilated_series(((2, 2),), ((1, 1),)), "dilated image": dilated_image,
    "causal": causal,
    "shape arithmetic": arithmetic, "gate": gate,
}  # fmt: skip


@pytest.mark.parametrize("name", TFLITE)
def test_tflite_is_litert_s(name):
    file = TFLITE[name]()
    content, x = file.bytes(), RNG.normal(size=(5, *file.shape)).astype("float32")
    expected = litert(content, x)
    assert expected is not None
    compare(load_of(content), x, expected[:, 0] if expected.shape[1] == 1 else expected)


def hard_swish():
    file = File(6, 4)
    steps(file, 0, 0.05, 0)
    steps(file, at := file.call("HARD_SWISH", [0], (6, 4), "HardSwishOptions"), 0.04, -118)
    steps(file, file.call("SOFTMAX", [at], (6, 4), "SoftmaxOptions", beta=1.0), 1 / 256, -128)
    return file


def test_int8_hard_swish_with_softmax_is_litert_s(tmp_path):
    (tmp_path / "net.tflite").write_bytes(hard_swish().bytes())
    made = load(tmp_path / "net.tflite", dtype="int8", train="none", input={"dtype": "int8"})
    x = RNG.integers(-128, 128, (20, 6, 4)).astype("int8")
    expected = (litert(hard_swish().bytes(), x)[:, 0].astype(float) + 128) / 256
    assert np.abs(made.predict(x) - expected).max() <= 5.01 / 256  # a softmax makes much of a step


@pytest.mark.parametrize("name", ["MUL", "ADD", "SUB", "DIV"])
def test_an_operator_of_one_input_is_named(name):
    file = File(6, 4)
    file.call(name, [0], (6, 4), name.capitalize() + "Options")
    with pytest.raises(ValueError, match=r"node 0 \(%s\): has 1 inputs, expected 2" % name):
        tflitefile.read(file.bytes())


def operator(name, options=None, **values):
    def make():
        file = File(7, 3)
        file.call(name, [0, f(4, 3), f(4, 4), f(4)], (7, 4), options, **values)
        return file

    return make


def custom():
    file = operator("CUSTOM")()
    file.model.operatorCodes[0].customCode = b"FlexErf"
    return file


def of_type(kind, blocks=False):
    def make():
        file = File(6)
        file.call("FULLY_CONNECTED", [0, f(2, 6), -1], (2,), "FullyConnectedOptions")
        tensor = file.graph.tensors[1]
        tensor.type = kind
        if blocks:
            tensor.quantization = schema.QuantizationParametersT()
            tensor.quantization.detailsType = schema.QuantizationDetails.BlockwiseQuantization
            tensor.quantization.details = schema.BlockwiseQuantizationT()
        return file

    return make


REFUSED_TFLITE = {
    "LSTM": (operator("UNIDIRECTIONAL_SEQUENCE_LSTM"),
    r"node 0 \(UNIDIRECTIONAL_SEQUENCE_LSTM\): .*instead: the .keras file"),
    "GRU": (operator("WHILE"), r"node 0 \(WHILE\): .*instead: the .keras file"),
    "custom": (custom, r"node 0 \(CUSTOM FlexErf\): "),
    "int4": (of_type(17), "tensor t1 is of type 17; instead: float32, int8"),
    "blocks": (of_type(17, True), "tensor t1 has a scale per block; instead: one for each channel"),
    "no end": (lambda: unended(), "has no BATCH_TO_SPACE_ND after it"),
    "cut more": (lambda: dilated_series(((1, 3),), ((2, 0),)), "pads less than BATCH_TO_SPACE_ND cuts"),
    "between": (lambda: between("SOFTMAX", "SoftmaxOptions", beta=1.0), r"\(SOFTMAX\): lies between SPACE_TO_BATCH_ND"),
}  # fmt: skip


def unended():
    file = dilated_series()
    del file.graph.operators[4:]
    return file


def between(name, options, **values):
    file = File(6, 6, 2)
    at = file.call("SPACE_TO_BATCH_ND", [0, i32(2, 2), i32((0, 0), (0, 0))], (3, 3, 2), "SpaceToBatchNDOptions")
    at = file.call(name, [at], (3, 3, 2), options, **values)
    file.call("BATCH_TO_SPACE_ND", [at, i32(2, 2), i32((0, 0), (0, 0))], (6, 6, 2), "BatchToSpaceNDOptions")
    return file


@pytest.mark.parametrize("name", REFUSED_TFLITE)
def test_what_odt_has_not_of_tflite_is_said_in_a_sentence(name):
    make, message = REFUSED_TFLITE[name]
    with pytest.raises(Unsupported, match=message) as caught:
        tflitefile.read(make().bytes())
    assert "\n" not in str(caught.value)
