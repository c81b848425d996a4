"""What nodes of constants alone give is the runtime's; how large it becomes is known before it is made, whatever the
file says.
"""

import resource
import subprocess
import sys

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from onnx import TensorProto, helper
from onnx_graphs import by_onnxruntime, i32, model
from tflite_files import File, litert, load_of

from odt.host.convert import Unsupported, load, onnxfile, tflitefile
from odt.host.convert.onnxfold import FOLDED
from odt.host.convert.tflitefold import FOLDED as FOLDED_TFLITE

RNG = np.random.default_rng(0)
node = helper.make_node


def f(*shape):
    return RNG.normal(size=shape).astype("float32")


def i(*values):
    return np.array(values, np.int64)


POSITIVE, BOOLS = np.abs(f(3, 4)) + 0.5, np.array([[True, False, True, True]])
ONNX = {  # of each operator: inputs, attributes, opset
    **dict.fromkeys(["Abs", "Ceil", "Cos", "Erf", "Exp", "Floor", "Identity", "Neg", "Relu", "Round", "Sigmoid", "Sign",
    "Sin", "Softmax", "Softplus", "Tanh", "Flatten"], ([f(3, 4)], {}, 17)),
    **dict.fromkeys(["Log", "Reciprocal", "Sqrt"], ([POSITIVE], {}, 17)),
    **dict.fromkeys(["Add", "Div", "Max", "Min", "Mul", "Pow", "Sub", "Sum"], ([POSITIVE, POSITIVE[:1]], {}, 17)),
    **dict.fromkeys(["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"], ([f(3, 4), f(1, 4)], {}, 17)),
    **dict.fromkeys(["And", "Or"], ([BOOLS, ~BOOLS[:, :1]], {}, 17)),
    **dict.fromkeys(["ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSumSquare"],
    ([f(3, 4)], {"axes": [1]}, 17)),
    "ReduceSum": ([f(3, 4), i(0)], {"keepdims": 0}, 17), "Cast": ([f(3, 4) * 5], {"to": TensorProto.INT32}, 17),
    "CastLike": ([f(3, 4) * 5, i(0)], {}, 17), "Clip": ([f(3, 4), np.float32(-0.1), np.float32(0.5)], {}, 17),
    "Concat": ([f(3, 4), f(2, 4)], {"axis": -2}, 17), "Constant": ([], {"value_floats": [1.0, 2.5]}, 17),
    "ConstantOfShape": ([i(2, 3)], {}, 17), "CumSum": ([f(3, 4), np.int64(1)], {"exclusive": 1, "reverse": 1}, 17),
    "Expand": ([f(3, 1), i(2, 1, 4)], {}, 17), "Gather": ([f(3, 4), i(-1, 0)], {"axis": 1}, 17),
    "MatMul": ([f(3, 4), f(4, 2)], {}, 17),
    "Mod": ([i(7, -7), i(3)], {"fmod": 0}, 17), "Not": ([BOOLS], {}, 17),
    "Pad": ([f(3, 4), i(1, 0, 0, 2), np.float32(1.5)], {"mode": "constant"}, 17),
    "Range": ([np.int64(2), np.int64(9), np.int64(3)], {}, 17), "Reshape": ([f(3, 4), i(0, -1, 2)], {}, 17),
    "Resize": ([f(1, 1, 2, 3), None, np.float32([1, 1, 2, 2])], {"mode": "linear"}, 17),
    "Shape": ([f(3, 4)], {"start": 1}, 17), "Size": ([f(3, 4)], {}, 17),
    "Slice": ([f(3, 4), i(-1), i(-9), i(1), i(-2)], {}, 17), "Split": ([f(3, 4), i(1, 3)], {"axis": 1}, 17),
    "Squeeze": ([f(1, 4), i(0)], {}, 17),
    "Tile": ([f(3, 4), i(2, 1)], {}, 17), "Transpose": ([f(3, 4)], {"perm": [1, 0]}, 17),
    "Trilu": ([f(3, 4)], {"upper": 1}, 17),
    "Unsqueeze": ([f(3, 4), i(1)], {}, 17),
    "Upsample": ([f(1, 1, 2, 3), np.float32([1, 1, 2, 2])], {"mode": "nearest"}, 9),
    "Where": ([BOOLS, f(3, 4), np.float32(2)], {}, 17),
}  # fmt: skip


def of_constants(op, inputs, values, opset, outputs=1):
    """x plus the sum of what a node of constants gives, each number by another weight."""
    weights = {"w%d" % at: np.asarray(each) for at, each in enumerate(inputs) if each is not None}
    names = ["w%d" % at if each is not None else "" for at, each in enumerate(inputs)]
    nodes = [
        node(op, names, ["c%d" % at for at in range(outputs)], "tested", **values),
        node("Cast", ["c%d" % (outputs - 1)], ["f"], to=1),
        node("Reshape", ["f", "flat"], ["r"]), node("Shape", ["r"], ["n"]),
        node("ConstantOfShape", ["n"], ["o"], value=helper.make_tensor("v", 1, [1], [0.5])),
        node("CumSum", ["o", "zero"], ["k"]) if opset > 10 else node("Identity", ["o"], ["k"]),
        node("Mul", ["r", "k"], ["m"]),
        node("ReduceMean", ["m"], ["s"], keepdims=0, axes=[0]), node("Add", ["x", "s"], ["a"]),
        node("LeakyRelu", ["a"], ["y"], alpha=0.5),
    ]  # fmt: skip
    return model(nodes, (4,), {**weights, "flat": i(-1), "zero": np.int64(0)}, opset=opset)


@pytest.mark.parametrize("op", FOLDED)
def test_onnx_constants_are_onnxruntime_s(op):
    inputs, values, opset = ONNX[op]
    proto = of_constants(op, inputs, values, opset, 2 if op == "Split" else 1)
    x = f(3, 4)
    expected, made = by_onnxruntime(proto, x), load(proto)
    assert np.abs(made.imported.outputs(made.predict(made.imported.samples(x))) - expected).max() < 1e-4 * max(
        1, np.abs(expected).max()
    )


HUGE = 1 << 40
TOO_MUCH = {
    "ConstantOfShape": [i(HUGE)], "Expand": [f(1), i(HUGE)], "Tile": [f(1), i(HUGE)],
    "Range": [np.int64(0), np.int64(HUGE), np.int64(1)],
    "Gather": [f(2, 1 << 12), np.zeros(1 << 12, np.int64)], "Pad": [f(1), i(HUGE, 0)],
    "Resize": [f(100), None, np.float32([1e5])],
    "Upsample": [f(100), np.float32([1e5])], "Add": [f(1 << 12, 1), f(1, 1 << 12)],
    "MatMul": [f(1 << 12, 1), f(1, 1 << 12)],
    "Where": [BOOLS[:, :1], f(1 << 12, 1), f(1, 1 << 12)], "ReduceSum": [np.zeros((0, HUGE), "float32"), i(0)],
    "Concat": [f(1 << 21)] * 8,
}  # fmt: skip


@pytest.mark.parametrize("op", TOO_MUCH)
def test_onnx_constants_are_refused_before_they_are_made(op):
    values = {"axis": 0} if op == "Concat" else {"mode": "nearest"} if op == "Upsample" else {}
    proto = of_constants(op, TOO_MUCH[op], values, 9 if op == "Upsample" else 17)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(Unsupported, match=r"node tested \(%s\): makes \d+ numbers of constants, above" % op):
        onnxfile.read(proto)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 << 10


def test_many_constants_have_one_budget():
    """Each may be; all together are too much."""
    nodes = [node("ConstantOfShape", ["s"], ["c%d" % at], "n%d" % at) for at in range(8)]
    nodes += [
        node("Sum", ["c%d" % at for at in range(8)], ["t"]),
        node("ReduceMax", ["t"], ["m"], keepdims=0),
        node("Add", ["x", "m"], ["y"]),
    ]
    with pytest.raises(Unsupported, match=r"node n4 .*above 8388608 or 33554432 in all"):
        onnxfile.read(model(nodes, (4,), {"s": i(8000000)}))


WRONG = {
    "float sizes": ("ConstantOfShape", [f(2)], {}), "steps of 0": ("Range", [np.int64(0), np.int64(3), np.int64(0)],
    {}),
    "axis": ("Gather", [f(3), i(0)], {"axis": 2}), "shapes": ("Add", [f(3), f(4)], {}),
    "scales": ("Resize", [f(1), None, np.float32([-1])], {}),
    "position": ("Gather", [f(3), i(7)], {}), "reshape": ("Reshape", [f(3), i(2, 2)], {}),
    "concat": ("Concat", [f(3, 2), f(3, 3)], {"axis": 0}),
    "tensors": ("MatMul", [f(2, 3, 4), f(4, 2)], {}), "words": ("Constant", [], {"value_string": "a"}),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_onnx_constants_that_do_not_fit_are_named(name):
    op, inputs, values = WRONG[name]
    with pytest.raises(ValueError, match=r"node tested \(%s\)" % op):
        onnxfile.read(of_constants(op, inputs, values, 17))


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_weights_that_the_file_quantizes_itself_are_onnxruntime_s(dtype):
    """QuantizeLinear and DequantizeLinear of constants, along an axis, a Transpose after them."""
    weights = {"w": f(5, 6), "s": np.abs(f(5)) / 50 + 0.01, "z": np.zeros(5, dtype) + (3 if dtype == "uint8" else 0)}
    nodes = [node("QuantizeLinear", ["w", "s", "z"], ["q"], axis=0),
        node("DequantizeLinear", ["q", "s", "z"], ["d"], axis=0),
             node("Transpose", ["d"], ["t"]), node("Identity", ["t"], ["u"]),
             node("MatMul", ["x", "u"], ["y"])]  # fmt: skip
    proto, x = model(nodes, (6,), weights), f(7, 6)
    made = load(proto)
    assert np.abs(made.imported.outputs(made.predict(made.imported.samples(x))) - by_onnxruntime(proto, x)).max() < 1e-4
    assert ("steps" in made.imported.graph.output.weights) == (dtype == "int8") or dtype == "uint8"


# --- TFLite -------------------------------------------------------------------------------------

STRIDED = dict(beginMask=0, endMask=0, shrinkAxisMask=0)
TFLITE = {  # of each operator: inputs, the result's shape, options
    **dict.fromkeys(["ADD", "SUB", "MUL", "DIV"], ([i32(7, -7, 9), i32(2)], (3,), dict(fusedActivationFunction=0))),
    "FLOOR_DIV": ([i32(7, -7), i32(2)], (2,), {}), "FLOOR_MOD": ([i32(7, -7), i32(3)], (2,), {}),
    "POW": ([i32(2, 3), i32(3)], (2,), {}),
    "MAXIMUM": ([i32(7, -7), i32(3)], (2,), {}), "MINIMUM": ([i32(7, -7), i32(3)], (2,), {}), "ABS": ([f(3)], (3,), {}),
    "NEG": ([i32(1, -2)], (2,), {}),
    "SQUARE": ([f(3)], (3,), {}), "REDUCE_PROD": ([i32(2, 3, 4), i32(0)], (1,), dict(keepDims=True)),
    "SUM": ([f(2, 3), i32(1)], (2,), dict(keepDims=False)),
    "REDUCE_MAX": ([f(2, 3), i32(-1)], (2,), dict(keepDims=False)),
    "MEAN": ([f(2, 3), i32(0)], (1, 3), dict(keepDims=True)),
    "BROADCAST_TO": ([f(3, 1), i32(3, 2)], (3, 2), {}), "CAST": ([i32(1, 2)], (2,), dict(inDataType=2, outDataType=0)),
    "CONCATENATION": ([f(2, 3), f(1, 3)], (3, 3), dict(axis=0)), "EXPAND_DIMS": ([f(3), i32(0)], (1, 3), {}),
    "FILL": ([i32(2, 2), np.float32(1.5)], (2, 2), {}),
    "GATHER": ([f(3, 2), i32(2, 0)], (2, 2), dict(axis=0)), "PACK": ([f(3), f(3)], (3, 2), dict(valuesCount=2, axis=1)),
    "RANGE": ([np.int32(1), np.int32(9), np.int32(3)], (3,), {}), "RESHAPE": ([f(2, 3), i32(3, -1)], (3, 2), {}),
    "SHAPE": ([f(2, 3)], (2,), dict(outType=2)),
    "SLICE": ([f(3, 4), i32(1, 0), i32(2, -1)], (2, 4), {}), "SPLIT": ([np.int32(0), f(4, 2)], (2, 2),
    dict(numSplits=2)),
    "SQUEEZE": ([f(1, 3)], (3,), dict(squeezeDims=[0])), "TILE": ([f(2), i32(3)], (6,), {}),
    "TRANSPOSE": ([f(2, 3), i32(1, 0)], (3, 2), {}),
    "STRIDED_SLICE": ([f(4, 3), i32(3, 1), i32(-9, 2), i32(-2, 1)], (2,), dict(STRIDED, shrinkAxisMask=2)),
    "UNPACK": ([f(2, 3)], (3,), dict(num=2, axis=0)),
}  # fmt: skip


def of_tflite(name, inputs, shape, values, kind=None):
    """x plus the mean of what an operator of constants gives."""
    file = File(4)
    words = {
        "MAXIMUM": "MaximumMinimum",
        "MINIMUM": "MaximumMinimum",
        "SUM": "Reducer",
        "MEAN": "Reducer",
        "REDUCE_MAX": "Reducer",
        "REDUCE_PROD": "Reducer",
    }
    options = words.get(name) or "".join(part.capitalize() for part in name.split("_"))
    made = file.call(name, inputs, (), options + "Options", **values)
    file.model.operatorCodes[0].version = 2 if name == "BROADCAST_TO" else 1
    whole = name == "SHAPE" or kind or all(np.asarray(each).dtype.kind == "i" for each in inputs) and name != "CAST"
    outputs = [made] + [file.tensor(()) for _ in range(values.get("num", values.get("numSplits", 1)) - 1)]
    for at in outputs:
        file.graph.tensors[at].shape = list(shape)
        file.graph.tensors[at].type = schema.TensorType.INT32 if whole else schema.TensorType.FLOAT32
    file.graph.operators[-1].outputs = outputs
    last = outputs[-1]
    if whole:
        last = file.call("CAST", [last], (), "CastOptions", inDataType=2, outDataType=0)
        file.graph.tensors[last].shape = list(shape)
    last = file.call("MEAN", [last, i32(*range(len(shape)))], (), "ReducerOptions", keepDims=False)
    file.graph.tensors[last].shape = []
    last = file.call("ADD", [0, last], (4,), "AddOptions")
    file.call("LEAKY_RELU", [last], (4,), "LeakyReluOptions", alpha=0.5)
    return file.bytes()


@pytest.mark.parametrize("name", sorted(FOLDED_TFLITE - {"DEQUANTIZE"}))
def test_tflite_constants_are_litert_s(name):
    content, x = of_tflite(name, *TFLITE[name]), f(3, 4)
    expected = litert(content, x)
    assert expected is not None
    made = load_of(content)
    got = np.asarray(made.imported.outputs(made.predict(made.imported.samples(x))))
    assert np.abs(got - expected[:, 0]).max() < 1e-4 * max(1, np.abs(expected).max())


@pytest.mark.parametrize("activation, message", [(1, None), (2, None), (3, None), (4, "ends with activation 4")])
def test_tflite_constants_with_an_activation_are_litert_s(activation, message):
    content, x = (
        of_tflite("ADD", [np.float32([-3, 5, 9]), np.float32([0.5])], (3,), dict(fusedActivationFunction=activation)),
        f(3, 4),
    )
    if message:
        with pytest.raises(Unsupported, match=message):
            tflitefile.read(content)
        return
    made = load_of(content)
    got = np.asarray(made.imported.outputs(made.predict(made.imported.samples(x))))
    assert np.abs(got - litert(content, x)[:, 0]).max() < 1e-5


MUCH = 1 << 30
TOO_MUCH_TFLITE = {
    "FILL": [i32(MUCH), np.float32(1)], "BROADCAST_TO": [f(1), i32(MUCH)], "TILE": [f(1), i32(MUCH)],
    "RANGE": [np.int32(0), np.int32(MUCH), np.int32(1)],
    "GATHER": [f(1 << 12), np.zeros(1 << 12, np.int32)], "ADD": [f(1 << 12, 1), f(1, 1 << 12)],
}  # fmt: skip


@pytest.mark.parametrize("name", TOO_MUCH_TFLITE)
def test_tflite_constants_are_refused_before_they_are_made(name):
    options = dict(TFLITE[name][2])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(Unsupported, match=r"node 0 \(%s\): makes \d+ numbers of constants, above" % name):
        tflitefile.read(of_tflite(name, TOO_MUCH_TFLITE[name], (1,), options))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 << 10


WRONG_TFLITE = {
    "shapes": ("ADD", [f(3), f(4)], {}), "floats": ("FILL", [f(2), np.float32(1)], {}),
    "steps of 0": ("RANGE", [np.int32(0), np.int32(3), np.int32(0)], {}),
    "two numbers": ("RANGE", [i32(0, 1), np.int32(3), np.int32(1)], {}), "few": ("SLICE", [f(3), i32(0)], {}),
    "far": ("SLICE", [f(3), i32(-1), i32(1)], {}),
    "mask": ("STRIDED_SLICE", [f(3), i32(0), i32(1), i32(1)], dict(ellipsisMask=1)),
    "axes": ("STRIDED_SLICE", [f(3), i32(0, 0), i32(1, 1), i32(1, 1)], STRIDED),
    "batch": ("GATHER", [f(3), i32(0)], dict(axis=0, batchDims=1)),
    "uneven": ("SPLIT", [np.int32(0), f(3)], dict(numSplits=2)),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_TFLITE)
def test_tflite_constants_that_do_not_fit_are_named(name):
    op, inputs, values = WRONG_TFLITE[name]
    with pytest.raises(ValueError, match=r"node 0 \(%s\)" % op):
        tflitefile.read(of_tflite(op, inputs, (1,), values))


@pytest.mark.parametrize("shape", [(1 << 30, 1 << 30), (-1, 4), (1,) * 9])
def test_sizes_of_a_tflite_tensor_are_checked(shape):
    file = File(4)
    at = file.call("RELU", [0], (4,))
    file.graph.tensors[at].shape = list(shape)
    with pytest.raises(ValueError, match="tensor t1 has the shape"):
        tflitefile.read(file.bytes())


def test_a_file_of_233_bytes_takes_no_memory():
    """ConstantOfShape and Concats of Concats, which the output depends on: in a process of its own, whose peak is
    measured.
    """
    script = """
import resource, numpy as np
from onnx import helper, numpy_helper, TensorProto
from odt.host import convert
node = helper.make_node
nodes = [node('ConstantOfShape', ['s'], ['c0'])]
nodes += [node('Concat', ['c%d' % i] * 8, ['c%d' % (i + 1)], axis=0) for i in range(2)]
nodes += [node('ReduceMax', ['c2'], ['m'], keepdims=0), node('Add', ['x', 'm'], ['y'])]
info = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4])
graph = helper.make_graph(nodes, 'g', [info('x')], [info('y')], [numpy_helper.from_array(np.array([8000000]), 's')])
proto = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)])
import odt.host.convert.onnxfile
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    convert.read(proto)
except ValueError as error:
    print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split("\n")
    assert "makes 64000000 numbers of constants" in said[0] and int(said[1]) < 200
