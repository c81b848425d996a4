"""Every refusal of the ONNX and the TFLite reader: a node that causes it, and the sentence that names node, what came
and what was expected.
"""

import re

import numpy as np
import onnx
import pytest
from ai_edge_litert import schema_py_generated as schema
from onnx import TensorProto, helper
from onnx_graphs import by_onnxruntime, compare, f, i, i32, model
from tflite_files import File, steps

from odt.host.convert import load, onnxfile, tflitefile

node = helper.make_node
IMAGE, ROW = (4, 6, 5), (6,)
S, Z = np.float32(0.05), np.int8(3)
Q = node("QuantizeLinear", ["x", "s", "z"], ["q"])
STEPS = {"s": S, "z": Z}
I64 = TensorProto.INT64


def one(op, inputs=("x",), shape=IMAGE, weights=(), opset=17, outputs=("y",), before=(), after=(), domain="", **values):
    """A node called t, between others."""
    made = node(op, list(inputs), list(outputs), "t", domain=domain, **values)
    return model([*before, made, *after], shape, dict(weights), opset=opset)


ML = {"domain": "ai.onnx.ml", "shape": ROW}
MS = {"domain": "com.microsoft", "before": [Q]}
ONNX = {
    "old": (one("Relu", opset=6), "opset 6; instead: one of 7 to"),
    "new": (one("Relu", opset=99), "opset 99; instead: one of"),
    "outputs": (model([node("Relu", ["x"], ["y"])], ROW, {}, {"x": 1, "y": 1}),
    "gives 2 outputs: x, y; instead: one tensor"),
    "inputs": (one("Add", ["x", "v"]), "the tensor 'v' is not there"),
    "batch": (model([node("Relu", ["x"], ["y"])], (1 << 40,), {}), "input x: has the shape"),
    "read twice": (one("MaxPool", outputs=["p", "at"], kernel_shape=[1, 1], after=[node("Sum", ["p", "at"], ["y"])]),
    "t (MaxPool): has 2 outputs that are read"),
    "only constants": (one("HardSwish", ["w"], weights={"w": f(4, 1, 1)}, outputs=["h"],
    after=[node("Add", ["x", "h"], ["y"])]), "t (HardSwish): computes with constants alone"),
    "domain of constants": (one("Identity", ["w"], weights={"w": f(4)}, domain="com.microsoft", outputs=["h"],
    after=[node("Add", ["x", "h"], ["y"])]), "t (Identity)"),
    "transposed of rows": (one("ConvTranspose", ["x", "w"], ROW, {"w": f(6, 2, 3)}),
    "t (ConvTranspose): takes samples of 2 axes"),
    "output_shape": (one("ConvTranspose", ["x", "w"], weights={"w": f(4, 2, 3, 3)}, output_shape=[7]),
    "output_shape has 1 sizes, expected 2"),
    "Gemm": (one("Gemm", ["x", "w"], (3, 6), {"w": f(6, 2)}), "takes samples of one axis"),
    "Gemm's C": (one("Gemm", ["x", "w", "c"], ROW, {"w": f(6, 2), "c": f(3, 2)}),
    "adds a constant of shape (3, 2); instead: one number per output"),
    "groups": (one("GroupNormalization", ["x", "g", "g"], weights={"g": f(4)}, opset=21, num_groups=3),
    "3 groups of 4 channels"),
    "instances": (one("InstanceNormalization", ["x", "g", "b"], (6, 20),
    {"g": np.ones(4, "f4"), "b": np.zeros(4, "f4")}, before=()), "t (InstanceNormalization)"),
    "Max": (one("Max", ["x", "x"]), "compares 2 tensors of the network; instead: one, with a number"),
    "Dropout": (one("Dropout", ["x", "r", "m"], weights={"r": np.float32(0.5), "m": np.array(True)}),
    "has training_mode=True; instead: an export in eval mode"),
    "Sum": (one("Sum", ["w", "w", "x"], weights={"w": f(4, 1, 1)}), "adds two constants; instead: one"),
    "Reshape": (one("Reshape", ["x", "s"], weights={"s": i(0, 2, 3, 5, 4, 0)}), "takes axis 5 of a tensor of"),
    "Reshape by": (one("Reshape", ["x", "s"], weights={"s": f(2)}), "input 1 is of float32, (2,); sizes are expected"),
    "Reshape, computed": (one("Reshape", ["x", "x"]), "input 1 is computed; instead: a constant"),
    "Squeeze": (one("Squeeze", ["x", "a"], weights={"a": i(1)}), "axes [1] of (3, 4, 6, 5) are not 1"),
    "Unsqueeze": (one("Unsqueeze", ["x", "a"], weights={"a": i(1, 1)}), "names an axis twice"),
    "Unsqueeze the batch": (one("Unsqueeze", ["x", "a"], weights={"a": i(0)}),
    "changes the axis of the batch; instead: one result per sample"),
    "Pad": (one("Pad", ["x", "p"], weights={"p": i(1, 2)}), "2 pads for 4 axes"),
    "Pad the batch": (one("Pad", ["x", "p"], weights={"p": i(1, 0, 0, 0, 0, 0, 0, 0)}), "pads the batch"),
    "Pad below 0": (one("Pad", ["x", "p"], weights={"p": i(0, 0, -1, 0, 0, 0, 0, 0)}), "cuts the image"),
    "Slice": (one("Slice", ["x", "a", "b"], weights={"a": i(1), "b": i(1, 2)}), "1 starts, 2 ends, 1 axes"),
    "Slice in steps": (one("Slice", ["x", "a", "b", "a", "z"], weights={"a": i(1), "b": i(2), "z": i(0)}),
    "a step of 0"),
    "Slice backwards": (one("Slice", ["x", "a", "b", "a", "z"], weights={"a": i(1), "b": i(-9), "z": i(-1)}),
    "at least one, forwards"),
    "Slice nothing": (one("Slice", ["x", "a", "a", "a"], weights={"a": i(1)}), "takes positions [] of 4"),
    "Slice samples": (one("Slice", ["x", "a", "b", "z"], weights={"a": i(1), "b": i(2), "z": i(0)}),
    "takes some samples of the batch"),
    "Split": (one("Split", outputs=["y", "z"], opset=18, axis=1, num_outputs=3), "3 parts of 4 positions in 2 outputs"),
    "Split by": (one("Split", ["x", "s"], weights={"s": i(1, 2)}, outputs=["y", "z"], axis=1),
    "parts of [1, 2] do not make 4 positions in 2 outputs"),
    "Split samples": (one("Split", outputs=["y", "z"], axis=0), "splits the batch"),
    "Gather": (one("Gather", ["x", "a"], weights={"a": i(9)}, axis=1), "takes positions of shape (1,) of 4"),
    "Gather in another order": (one("Gather", ["x", "a"], weights={"a": i(2, 0)}, axis=1),
    "takes the positions [2, 0]; instead: positions in equal steps"),
    "Gather a sample": (model([node("Gather", ["x", "a"], ["y"], "t", axis=0)], IMAGE, {"a": np.array(0)}, batch=1),
    "changes the axis of the batch"),
    "Resize": (one("Resize", ["x", "", "s"], weights={"s": np.float32([1, 1, 1.5, 2])}),
    "by [1.0, 1.5, 2.0]; instead: whole factors of the image"),
    "Resize by nothing": (one("Resize", ["x"], opset=17), "the sizes or scales of 4 axes are expected"),
    "Cast of bytes": (one("Cast", ["q"], weights=STEPS, before=[Q], to=1),
    "computes with bytes; instead: DequantizeLinear"),
    "channels": (one("QuantizeLinear", ["x", "s", "z"], weights={"s": np.abs(f(4)) + 1, "z": np.zeros(4, "int8")},
    outputs=["q"], after=[node("DequantizeLinear", ["q", "s", "z"], ["y"])]),
    "quantizes a tensor by channels; instead: one scale"),
    "scale": (one("QuantizeLinear", ["x", "s", "z"], weights={"s": np.float32(0), "z": Z}, outputs=["q"],
    after=[node("DequantizeLinear", ["q", "s", "z"], ["y"])]), "a scale of 0.0"),
    "no scale": (one("QLinearSigmoid", ["q", "s", "z", ""], weights=STEPS, **MS), "t (QLinearSigmoid)"),
    "int32": (one("QuantizeLinear", ["x", "s", "z"], weights={"s": S, "z": np.int32(0)}, outputs=["q"],
    after=[node("DequantizeLinear", ["q", "s", "z"], ["y"])]), "quantizes to int32; instead: int8 or uint8"),
    "output_dtype": (one("QuantizeLinear", ["x", "s"], weights=STEPS, opset=21, output_dtype=TensorProto.UINT16,
    outputs=["q"], after=[node("DequantizeLinear", ["q", "s"], ["y"])]), "quantizes to type 4; instead: int8"),
    "read by channels": (one("DequantizeLinear", ["q", "v", "u"],
    weights={**STEPS, "v": np.abs(f(4)) + 1, "u": np.zeros(4, "int8")}, before=[Q]), "reads a tensor by channels"),
    "no bytes": (one("DequantizeLinear", ["x", "s", "z"], weights=STEPS), "takes bytes of what no QuantizeLinear made"),
    "QGemm": (one("QGemm", ["q", "s", "z", "w", "s", "z"], (3, 6), {**STEPS, "w": np.zeros((6, 2), "int8")}, **MS),
    "takes samples of one axis"),
    "QLinearConcat": (one("QLinearConcat", ["s", "z", "q", "s"], weights=STEPS, axis=1, **MS), "has 4 inputs"),
    "channels_last": (one("QLinearGlobalAveragePool", ["q", "s", "z", "s", "z"], weights=STEPS, channels_last=1, **MS),
    "has channels_last=1; instead: channels_last=0"),
    "weights by channels": (one("DequantizeLinear", ["w", "v", "u"], ROW,
    {"w": np.zeros((6, 2), "int8"), "v": f(3), "u": np.zeros(3, "int8")}, outputs=["d"],
    after=[node("MatMul", ["x", "d"], ["y"])]), "3 scales or zero points for a constant of shape (6, 2) along axis 1"),
    "axis of weights": (one("DequantizeLinear", ["w", "v", "u"], ROW,
    {"w": np.zeros((6, 2), "int8"), "v": f(2), "u": np.zeros(2, "int8")}, outputs=["d"], axis=5,
    after=[node("MatMul", ["x", "d"], ["y"])]), "axis 5 of a constant of shape (6, 2)"),
    "empty scale": (one("DequantizeLinear", ["w", "v"], ROW, {"w": np.zeros((6, 2), "int8"), "v": f(0)}, outputs=["d"],
    after=[node("MatMul", ["x", "d"], ["y"])]), "has no scale"),
    "samples of a class": (one("LinearRegressor", domain="ai.onnx.ml", shape=(3, 2), coefficients=[1.0] * 6),
    "takes samples of one axis"),
    "coefficients": (one("LinearRegressor", **ML, coefficients=[1.0] * 5), "coefficients has 5 numbers, expected 6"),
    "classes": (one("LinearClassifier", **ML, outputs=["l", "y"], coefficients=[1.0] * 6),
    "has 1 rows and post_transform NONE"),
    "MatMul": (one("MatMul", ["x", "w"], ROW, {"w": f(2, 6, 3)}),
    "multiplies by a constant of shape (2, 6, 3); instead: a matrix"),
    "MatMul of two": (one("MatMul", ["x", "x"], ROW), "input 1 is computed; instead: a constant"),
    "constant first": (one("MatMul", ["w", "x"], ROW, {"w": f(6, 6)}), "input 0 is no tensor of the network"),
    "words": (one("MatMul", ["x", "w"], ROW, {"w": np.array([["a"]])}), "input 1 is of"),
    "kernel": (one("Conv", ["x", "w"], weights={"w": f(4, 4)}), "a kernel of shape (4, 4)"),
    "kernel_shape": (one("Conv", ["x", "w"], weights={"w": f(4, 4, 3, 3)}, kernel_shape=[2, 2]),
    "kernel_shape is [2, 2], the kernel (4, 4, 3, 3)"),
    "auto_pad": (one("Conv", ["x", "w"], weights={"w": f(4, 4, 3, 3)}, auto_pad="SOME"), "has auto_pad 'SOME'"),
    "auto_pad and pads": (one("Conv", ["x", "w"], weights={"w": f(4, 4, 3, 3)}, auto_pad="VALID", pads=[1] * 4),
    "has pads beside auto_pad VALID"),
    "dilation": (one("Conv", ["x", "w"], weights={"w": f(4, 4, 3, 3)}, dilations=[0, 1]), "a dilation of (0, 1)"),
    "number": (one("Clip", ["x", "w"], weights={"w": f(4)}), "input 1 is a constant of shape (4,); instead: a number"),
    "axis": (one("Softmax", axis=7), "axis 7 of 4"),
    "epsilon": (one("BatchNormalization", ["x", "g", "g", "g", "v"], weights={"g": f(4), "v": f(4) ** 2}, epsilon=-1.0),
    "an epsilon of -1.0"),
    "no such opset": (one("Gelu", opset=17), "opset 17 has no such operator"),
    "few inputs": (one("Add", ["x"]), "has 1 inputs, expected 2 to 2"),
    "left out": (one("Add", ["x", ""]), "input 1 is left out"),
    "unknown attribute": (one("Relu", wide=1), "has the attribute wide, which odt does not know"),
    "type of attribute": (one("Softmax", axis=1.5), "attribute axis is of type FLOAT, expected INT"),
    "infinite": (one("LeakyRelu", alpha=float("inf")), "attribute alpha is inf"),
    "flag": (one("MaxPool", kernel_shape=[1, 1], ceil_mode=2), "attribute ceil_mode is 2, expected 0 or 1"),
    "no attribute": (one("MaxPool"), "has no attribute kernel_shape"),
    "default": (one("Gemm", ["x", "w"], ROW, {"w": f(6, 2)}, transA=1), "has transA=1; instead: transA=0"),
    "shape": (one("Add", ["x", "w"], weights={"w": f(3, 4, 1, 1)}), "meets a constant of shape (3, 4, 1, 1)"),
}  # fmt: skip


@pytest.mark.parametrize("name", ONNX)
def test_each_refusal_of_onnx_names_its_node(name):
    proto, message = ONNX[name]
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        onnxfile.read(proto)
    said = str(caught.value)
    assert "\n" not in said and ("t (" in said or name in ("old", "new", "outputs", "batch", "inputs"))


def test_other_damages_of_onnx_are_named(tmp_path, monkeypatch):
    proto = one("Relu")
    proto.graph.node[0].output[:] = []
    with pytest.raises(ValueError, match="the output y is computed by no node"):
        onnxfile.read(proto)
    proto = one("MatMul", ["x", "w"], ROW, {"w": f(6, 2)})
    proto.graph.initializer[0].dims[:] = [1 << 40, 1 << 40]
    with pytest.raises(ValueError, match="initializer w has the shape"):
        onnxfile.read(proto)
    proto.graph.initializer[0].dims[:] = [60, 2]
    with pytest.raises(ValueError, match="initializer w is damaged"):
        onnxfile.read(proto)
    sparse = one("Relu")
    sparse.graph.sparse_initializer.add().values.name = "v"
    with pytest.raises(ValueError, match="initializer v is sparse; instead: a dense one"):
        onnxfile.read(sparse)
    two = one("Relu")
    two.graph.input.append(helper.make_tensor_value_info("x2", 1, [3, 4]))
    with pytest.raises(ValueError, match="the network takes 2 inputs: x, x2; instead: one"):
        onnxfile.read(two)
    content = one("Relu").SerializeToString().replace(b"\x01t\x22", b"\x01\xff\x22")
    with pytest.raises(ValueError, match="damaged"):
        onnxfile.read(content)
    (tmp_path / "net.onnx").write_bytes(one("Relu").SerializeToString())
    monkeypatch.setattr(onnxfile, "_LARGEST", 10)
    with pytest.raises(ValueError, match="net.onnx: .* bytes, a file of at most 10 is read"):
        onnxfile.read(tmp_path / "net.onnx")


def test_an_error_of_odts_own_is_no_damage(monkeypatch):
    """Neither reader calls a defect of its own the file's."""

    def defect(self, a):
        raise TypeError("a defect")

    monkeypatch.setitem(onnxfile.CALLS, "Relu", defect)
    monkeypatch.setitem(tflitefile.CALLS, "RELU", defect)
    with pytest.raises(TypeError, match="^a defect$"):
        onnxfile.read(one("Relu"))
    file = File(6)
    file.call("RELU", [0], (6,))
    with pytest.raises(TypeError, match="^a defect$"):
        tflitefile.read(file.bytes())


def test_what_is_read_beside_the_usual_is_computed():
    """A GroupNorm as PyTorch writes it; Max of one tensor; axes that are none; 16 bits; a positive sum quantized at its
    zero point.
    """
    cases = [
        one("InstanceNormalization", ["r", "g", "b"], weights={"g": np.ones(2, "f4"), "b": np.zeros(2, "f4"), "a": i(0,
        2, -1), "c": i(-1, 4, 6, 5)},
            before=[node("Reshape", ["x", "a"], ["r"])], outputs=["n"], after=[node("Reshape", ["n", "c"], ["y"])]),
        one("Max", before=[node("Relu", ["x"], ["r"])], inputs=["r"]),
        one("ReduceMean", ["r"], opset=18, before=[node("Relu", ["x"], ["r"])], noop_with_empty_axes=1),
        one("QuantizeLinear", ["x", "s", "z"], weights={"s": np.float32(2e-4), "z": np.int16(0)}, opset=21,
        outputs=["q"],
            after=[node("DequantizeLinear", ["q", "s", "z"], ["d"]), node("LeakyRelu", ["d"], ["y"])]),
        one("QuantizeLinear", ["a", "s", "z"], weights={"s": np.float32(0.1), "z": np.uint8(0)}, outputs=["q"],
            before=[node("Relu", ["x"], ["r"]), node("Sigmoid", ["x"], ["g"]), node("Add", ["r", "g"], ["a"])],
            after=[node("DequantizeLinear", ["q", "s", "z"], ["y"])]),
        one("DequantizeLinear", ["w", "s"], ROW, {"w": np.arange(12, dtype="uint8").reshape(6, 2), "s": S},
        outputs=["d"], after=[node("MatMul", ["x", "d"], ["y"])]),
    ]  # fmt: skip
    for at, proto in enumerate(cases):
        shape = [each.dim_value for each in proto.graph.input[0].type.tensor_type.shape.dim[1:]]
        x = np.random.default_rng(at).normal(size=(3, *shape)).astype("float32")
        compare(load(proto), x, by_onnxruntime(proto, x), 0.06 if at == 4 else 1e-4)


# --- TFLite -------------------------------------------------------------------------------------

CONV = dict(strideH=1, strideW=1, dilationHFactor=1, dilationWFactor=1)
STRIDED = dict(beginMask=0, endMask=0, shrinkAxisMask=0)


def tf(name, inputs=(0,), shape=(6, 5, 4), out=None, options=None, outputs=1, change=None, **values):
    """A file of one operator; ``change``: of the file, at last."""
    file = File(*shape)
    made = file.call(name, list(inputs), shape if out is None else out, options, **values)
    file.graph.operators[-1].outputs = [made] + [file.tensor((1, *shape)) for _ in range(outputs - 1)]
    if change:
        change(file)
    return file


def typed(at, kind):
    def change(file):
        file.graph.tensors[at].type = kind

    return change


def scaled(*places):
    def change(file):
        for at, count, axis in places:
            steps(file, at, 0.1, 0)
            quantization = file.graph.tensors[at].quantization
            quantization.scale, quantization.zeroPoint, quantization.quantizedDimension = (
                [0.1] * count,
                [0] * count,
                axis,
            )

    return change


def many_inputs(file):
    file.graph.inputs = [0, 0]


def sparse(file):
    file.graph.tensors[1].sparsity = schema.SparsityParametersT()


def shorter(file):
    file.graph.tensors[1].shape = [3, 6]


def other(file):
    file.graph.operators[0].inputs = [0, 99]


def of_batch(file):
    file.graph.tensors[0].shape = [0, 6, 5, 4]


def unread(file):
    file.graph.operators[0].inputs = [file.constant(f(6, 5, 4))]


def two_ends(file):
    file.graph.operators[0].outputs = [0]


def joined():
    file = File(6, 6, 2)
    at = file.call("SPACE_TO_BATCH_ND", [0, i32(2, 2), i32((0, 0), (0, 0))], (3, 3, 2), "SpaceToBatchNDOptions")
    at = file.call("ADD", [at, 0], (3, 3, 2), "AddOptions")
    file.call("BATCH_TO_SPACE_ND", [at, i32(2, 2), i32((0, 0), (0, 0))], (6, 6, 2), "BatchToSpaceNDOptions")
    return file


def blocks(block, after=((0, 0), (0, 0)), size=1, **values):
    file = File(6, 6, 2)
    at = file.call("SPACE_TO_BATCH_ND", [0, i32(2, 2), i32((0, 0), (0, 0))], (3, 3, 2), "SpaceToBatchNDOptions")
    at = file.call("CONV_2D", [at, f(2, size, size, 2), -1], (3, 3, 2), "Conv2DOptions", **{**CONV, **values})
    file.call("BATCH_TO_SPACE_ND", [at, i32(*block), i32(*after)], (6, 6, 2), "BatchToSpaceNDOptions")
    return file


TFLITE = {
    "inputs": (tf("RELU", change=many_inputs), "2 inputs and 1 outputs; instead: one of each"),
    "type": (tf("RELU", change=typed(0, 2)), "input t0: is of type 2; instead: float32, int8 or uint8"),
    "batch": (tf("RELU", change=of_batch), "input t0: has the shape (0, 6, 5, 4)"),
    "nothing": (tf("RELU", change=unread), "computes with constants alone"),
    "tensor": (tf("ADD", [0, f(4)], options="AddOptions", change=other), "tensor 99 of 3"),
    "twice": (tf("RELU", change=two_ends), "has 1 inputs, and outputs [0]"),
    "sparse": (tf("FULLY_CONNECTED", [0, f(2, 6), -1], (6,), (2,), "FullyConnectedOptions", change=sparse),
    "tensor t1 is sparse; instead: a dense one"),
    "bytes": (tf("FULLY_CONNECTED", [0, f(2, 6), -1], (6,), (2,), "FullyConnectedOptions", change=shorter),
    "tensor t1: 48 bytes for the shape (3, 6)"),
    "scales": (tf("FULLY_CONNECTED", [0, f(2, 6), -1], (6,), (2,), "FullyConnectedOptions", change=scaled((1, 3, 0))),
    "tensor t1 has 3 scales along axis 0 of (2, 6)"),
    "fills": (tf("FILL", [0, np.float32(1)], options="FillOptions"), "odt has no such operator; instead: constants"),
    "whole": (tf("RELU", change=typed(1, 2)), "gives numbers of type 2; instead: float32, int8 or uint8"),
    "space": (joined(), "joins what SPACE_TO_BATCH_ND gave with something else"),
    "blocks": (blocks((3, 2)), "has blocks of [3, 2]; instead: those of the SPACE_TO_BATCH_ND before it"),
    "steps": (blocks((2, 2), strideH=2), "slides in steps between SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND"),
    "one block": (tf("SPACE_TO_BATCH_ND", [0, i32(2), i32((0, 0), (0, 0))], options="SpaceToBatchNDOptions"),
    "has no BATCH_TO_SPACE_ND after it"),
    "kernel": (tf("CONV_2D", [0, f(4, 4), -1], options="Conv2DOptions", **CONV), "a kernel of shape (4, 4)"),
    "depthwise": (tf("DEPTHWISE_CONV_2D", [0, f(4, 4), -1], options="DepthwiseConv2DOptions", **CONV),
    "expected (1, height, width, channels)"),
    "times": (tf("DEPTHWISE_CONV_2D", [0, f(1, 3, 3, 4), -1], options="DepthwiseConv2DOptions", depthMultiplier=2,
    **CONV), "2 times 4 channels"),
    "transposed": (tf("TRANSPOSE_CONV", [i32(1, 6), f(4, 3, 3, 4), 0], options="TransposeConvOptions", strideH=1,
    strideW=1), "for an output of [1, 6]"),
    "same": (tf("TRANSPOSE_CONV", [i32(1, 20, 5, 4), f(4, 3, 3, 4), 0], options="TransposeConvOptions", strideH=2,
    strideW=1), "makes 20 positions of 6, with strides of 2"),
    "rows": (tf("FULLY_CONNECTED", [0, f(2, 4), -1], options="FullyConnectedOptions"),
    "takes rows of (6, 5, 4) as samples of the batch; instead: keep_num_dims"),
    "matrix": (tf("BATCH_MATMUL", [0, f(2, 4, 4)], options="BatchMatMulOptions"),
    "multiplies by a constant of shape (2, 4, 4)"),
    "mean": (tf("MEAN", [0, i32(0)], options="ReducerOptions"), "goes over the axis of the batch"),
    "maximum": (tf("MAXIMUM", [0, f(4)], options="MaximumMinimumOptions"), "compares with what is no single number"),
    "join": (tf("CONCATENATION", [0, 0], options="ConcatenationOptions", axis=0), "concatenates batches"),
    "pack": (tf("PACK", [0, 0], options="PackOptions", axis=0, valuesCount=2), "concatenates batches"),
    "squeeze": (tf("SQUEEZE", options="SqueezeOptions", squeezeDims=[0]), "changes the axis of the batch"),
    "squeezed": (tf("SQUEEZE", options="SqueezeOptions", squeezeDims=[1]), "axes [1] of (1, 6, 5, 4) are not 1"),
    "expand": (tf("EXPAND_DIMS", [0, i32(0)], options="ExpandDimsOptions"), "changes the axis of the batch"),
    "transpose": (tf("TRANSPOSE", [0, i32(1, 0, 2, 3)], options="TransposeOptions"), "moves the batch"),
    "pad": (tf("PAD", [0, i32((1, 0), (0, 0), (0, 0), (0, 0))], options="PadOptions"), "none of the batch"),
    "odd pads": (tf("PAD", [0, i32(1, 0, 3)], options="PadOptions"), "pairs of sizes are expected"),
    "no step": (tf("STRIDED_SLICE", [0, i32(0, 1), i32(1, 3), i32(1, 0)], options="StridedSliceOptions", **STRIDED),
    "a step of 0"),
    "samples": (tf("SLICE", [0, i32(0, 0, 0, 0), i32(0, -1, -1, -1)], options="SliceOptions"),
    "takes some samples of the batch"),
    "sizes": (tf("SLICE", [0, i32(0), i32(1)], options="SliceOptions"), "takes [1] from [0] on of (1, 6, 5, 4)"),
    "beyond": (tf("SLICE", [0, i32(0, 4, 0, 0), i32(1, 9, 5, 4)], options="SliceOptions"), "of (1, 6, 5, 4)"),
    "cuts": (tf("STRIDED_SLICE", [0, i32(0, 1), i32(1), i32(1, 1)], options="StridedSliceOptions", **STRIDED),
    "cuts [[0, 1], [1], [1, 1]]"),
    "position": (tf("STRIDED_SLICE", [0, i32(0, 9), i32(1, 9), i32(1, 1)], options="StridedSliceOptions",
    **{**STRIDED, "shrinkAxisMask": 2}), "position 9 of 6"),
    "sample": (tf("STRIDED_SLICE", [0, i32(0), i32(1), i32(1)], options="StridedSliceOptions",
    **{**STRIDED, "shrinkAxisMask": 1}), "changes the axis of the batch"),
    "parts": (tf("SPLIT_V", [0, i32(2, 3), i32(1)], options="SplitVOptions", outputs=2, numSplits=2),
    "parts of [2, 3] do not make 6 positions"),
    "uneven": (tf("SPLIT", [i32(2), 0], options="SplitOptions", outputs=2, numSplits=2), "2 parts of 5 positions"),
    "named": (tf("SPLIT_V", [0, i32(2, 4), i32(1)], options="SplitVOptions", outputs=2, numSplits=3),
    "2 sizes of 3 parts"),
    "unpack": (tf("UNPACK", options="UnpackOptions", outputs=2, axis=1, num=2), "6 positions in 2 outputs"),
    "gather": (tf("GATHER", [0, i32(9)], options="GatherOptions", axis=1), "takes positions [9] of 6"),
    "resize": (tf("RESIZE_BILINEAR", [0, i32(12)], options="ResizeBilinearOptions"),
    "enlarges samples of (6, 5, 4) to [12]"),
    "cast": (tf("CAST", options="CastOptions", change=typed(1, 2)), "rounds the network's numbers to type 2"),
    "cast of bytes": (tf("CAST", options="CastOptions", change=scaled((0, 1, 0))),
    "takes bytes as numbers; instead: DEQUANTIZE"),
    "constant first": (tf("RELU", [f(4), 0]), "input 0 is no tensor of the network"),
    "computed": (tf("RESHAPE", [0, 0], options="ReshapeOptions"), "input 1 is computed; instead: a constant"),
    "left out": (tf("PAD", [0], options="PadOptions"), "input 1 is not there; instead: a constant"),
    "float sizes": (tf("RESHAPE", [0, f(2)], options="ReshapeOptions"),
    "input 1 is of float32, (2,); sizes are expected"),
    "axis": (tf("CONCATENATION", [0, 0], options="ConcatenationOptions", axis=7), "axis 7 of 4"),
    "weights": (tf("CONV_2D", [0], options="Conv2DOptions", **CONV), "has 1 inputs, and no weights"),
    "padding": (tf("CONV_2D", [0, f(4, 3, 3, 4), -1], options="Conv2DOptions", padding=5, **CONV), "has the padding 5"),
    "nan": (tf("LEAKY_RELU", options="LeakyReluOptions", alpha=float("nan")), "Alpha is nan"),
}  # fmt: skip


@pytest.mark.parametrize("name", TFLITE)
def test_each_refusal_of_tflite_names_its_node(name):
    file, message = TFLITE[name]
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        tflitefile.read(file.bytes())
    said = str(caught.value)
    assert "\n" not in said and ("node " in said or "tensor " in said or "t0" in said or name in ("inputs", "twice"))


def test_other_damages_of_tflite_are_named(tmp_path, monkeypatch):
    content = tf("RELU").bytes()
    (tmp_path / "net.tflite").write_bytes(content)
    monkeypatch.setattr(tflitefile, "_LARGEST", 10)
    with pytest.raises(ValueError, match="net.tflite: .* bytes, a file of at most 10 is read"):
        tflitefile.read(tmp_path / "net.tflite")


def test_weights_after_the_tables_of_a_tflite_file_are_read():
    """As of files above 2 GB: a buffer that names a place in the file."""
    kernel = f(2, 6)
    file = tf("FULLY_CONNECTED", [0, kernel, -1], (6,), (2,), "FullyConnectedOptions")
    buffer = file.model.buffers[file.graph.tensors[1].buffer]
    buffer.data, buffer.offset, buffer.size = None, 1 << 20, kernel.nbytes
    size = len(file.bytes())
    buffer.offset = size
    content = file.bytes()
    assert len(content) == size
    assert np.array_equal(tflitefile.read(content + kernel.tobytes()).output.weights["kernel"], kernel)
    with pytest.raises(ValueError, match="a buffer of 48 bytes from %d on, of a file of %d" % (size, size + 4)):
        tflitefile.read(content + bytes(4))


@pytest.mark.parametrize(
    "name, options", [("RESHAPE", "ReshapeOptions"), ("TRANSPOSE", "TransposeOptions"), ("SLICE", "SliceOptions")]
)
def test_bytes_that_are_copied_mean_what_their_new_scale_says(name, options):
    """What no converter writes: a scale that changes without a QUANTIZE; LiteRT copies the bytes."""
    file = File(6, 4)
    steps(file, 0, 0.05, 3)
    inputs = {"RESHAPE": i32(1, 4, 6), "TRANSPOSE": i32(0, 2, 1), "SLICE": i32(0, 1, 0)}[name]
    more = [i32(1, 5, 4)] if name == "SLICE" else []
    made = file.call(name, [0, inputs, *more], {"SLICE": (5, 4)}.get(name, (4, 6)), options)
    steps(file, made, 0.1, -7)
    graph = tflitefile.read(file.bytes())
    affine = next(each for each in graph.nodes if each.op == "affine")
    assert np.allclose(affine.weights["gain"], 2) and np.allclose(affine.weights["offset"], 1)


def test_a_field_of_a_type_that_a_checker_would_refuse():
    """onnx's own checker agrees with what is called damage here."""
    for name in ("type of attribute", "no attribute", "few inputs"):
        with pytest.raises(onnx.checker.ValidationError):
            onnx.checker.check_model(ONNX[name][0])
