"""Each option of each operator that the TFLite reader takes: its table has a row, and a value that is not the default
is computed or refused.
"""

import itertools
import types

import flatbuffers
import numpy as np
import pytest
import tflite
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import OpResolverType
from hypothesis import given
from hypothesis import strategies as st
from onnx_networks import FUZZED
from tflite_files import File, litert, load_of, steps

from odt.host.convert import tflitefile
from odt.host.convert.tflitetable import ATTRIBUTES, ROWS, fields, kind_of

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_every_field_of_the_options_has_a_row(name):
    kind = kind_of(name)
    newest = getattr(schema, kind.__name__ + "T", None) if kind else None
    assert set(fields(kind) if kind else ()) == set(ATTRIBUTES[name])
    if newest:  # LiteRT's own description knows no other
        known = {each.lower() for each in ATTRIBUTES[name]}
        assert {each.lower() for each in vars(newest())} <= known | {
            "newheight",
            "newwidth",
            "quantspec",
        }  # refused where set


def f(*shape):
    return (RNG.normal(0, 1, shape)).astype("float32")


IMAGE, ROW = (6, 5, 3), (6,)
CONV = dict(strideH=1, strideW=1, dilationHFactor=1, dilationWFactor=1)
POOL = dict(strideH=1, strideW=1, filterHeight=3, filterWidth=2)
i = np.array
NODES = {  # the sample's shape, the inputs (None is the network's), the options and the outputs
    "ABS": (IMAGE, [None], {}),
    "ADD": (IMAGE, [None, f(3)], {}),
    "AVERAGE_POOL_2D": (IMAGE, [None], POOL),
    "BATCH_MATMUL": (ROW, [None, f(6, 6)], {}),
    "CAST": (IMAGE, [None], {}),
    "CONCATENATION": (IMAGE, [None, None], {"axis": 3}),
    "CONV_2D": (IMAGE, [None, f(4, 3, 2, 3), f(4)], CONV),
    "DEPTHWISE_CONV_2D": (IMAGE, [None, f(1, 3, 2, 6), f(6)], {**CONV, "depthMultiplier": 2}),
    "DEQUANTIZE": (IMAGE, ["q"], {}),
    "DIV": (IMAGE, [None, 1 + f(3) ** 2], {}),
    "ELU": (IMAGE, [None], {}),
    "EXPAND_DIMS": ((6, 5), [None, i(1)], {}),
    "FULLY_CONNECTED": (ROW, [None, f(4, 6), f(4)], {}),
    "GATHER": (IMAGE, [None, i([1, 2])], {"axis": 3}),
    "GELU": (IMAGE, [None], {}),
    "HARD_SWISH": (IMAGE, [None], {}),
    "LEAKY_RELU": (IMAGE, [None], {"alpha": 0.2}),
    "LOGISTIC": (IMAGE, [None], {}),
    "MAXIMUM": (IMAGE, [None, f(1)], {}),
    "MAX_POOL_2D": (IMAGE, [None], POOL),
    "MEAN": (IMAGE, [None, i([1, 2])], {}),
    "MINIMUM": (IMAGE, [f(1), None], {}),
    "MUL": (IMAGE, [f(3), None], {}),
    "NEG": (IMAGE, [None], {}),
    "PACK": (ROW, [None, None], {"axis": 1, "valuesCount": 2}),
    "PAD": (IMAGE, [None, i([[0, 0], [1, 0], [0, 2], [0, 0]])], {}),
    "PADV2": (IMAGE, [None, i([[0, 0], [1, 0], [0, 2], [0, 0]]), np.float32(0)], {}),
    "POW": (IMAGE, [None, np.float32([3])], {}),
    "PRELU": (IMAGE, [None, f(1, 1, 3)], {}),
    "QUANTIZE": (IMAGE, [None], {}),
    "REDUCE_MAX": (IMAGE, [None, i([1, 2])], {}),
    "RELU": (IMAGE, [None], {}),
    "RELU6": (IMAGE, [None], {}),
    "RELU_0_TO_1": (IMAGE, [None], {}),
    "RELU_N1_TO_1": (IMAGE, [None], {}),
    "RESHAPE": (IMAGE, [None, i([1, 30, 3])], {}),
    "RESIZE_BILINEAR": (IMAGE, [None, i([12, 15])], {"halfPixelCenters": True}),
    "RESIZE_NEAREST_NEIGHBOR": (IMAGE, [None, i([12, 15])], {}),
    "SHAPE": (IMAGE, [None], {}),
    "SLICE": (IMAGE, [None, i([0, 1, 0, 1]), i([1, 4, -1, 2])], {}),
    "SOFTMAX": (ROW, [None], {"beta": 1.0}),
    "SPLIT": (IMAGE, [i(1), None], {"numSplits": 2}),
    "SPLIT_V": (IMAGE, [None, i([2, 4]), i(1)], {"numSplits": 2}),
    "SQUARE": (IMAGE, [None], {}),
    "SQUEEZE": ((6, 1, 3), [None], {}),
    "STRIDED_SLICE": (IMAGE, [None, i([0, 1, 0, 0]), i([1, 5, 4, 3]), i([1, 2, 1, 1])], {}),
    "SUB": (IMAGE, [f(3), None], {}),
    "SUM": (IMAGE, [None, i([1, 2])], {}),
    "TANH": (IMAGE, [None], {}),
    "TRANSPOSE": (IMAGE, [None, i([0, 3, 1, 2])], {}),
    "TRANSPOSE_CONV": (IMAGE, [i([1, 8, 6, 4]), f(4, 3, 2, 3), None], dict(strideH=1, strideW=1, padding=1)),
    "UNPACK": ((2, 5), [None], {"axis": 1, "num": 2}),
}  # fmt: skip
PAIR = ("SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND")  # tested as they come, around a convolution
VALUES = {
    "fusedActivationFunction": range(6), "padding": [0, 1], "strideH": [1, 2, 3], "strideW": [1, 2, 3],
    "dilationHFactor": [1, 2],
    "dilationWFactor": [1, 2], "filterHeight": [2, 6], "filterWidth": [1, 5], "axis": [-2, -1, 1, 2, 3],
    "depthMultiplier": [1, 2, 3],
    "keepNumDims": [False, True], "weightsFormat": [0, 1], "approximate": [False, True], "alpha": [0.0, 0.5, 1.5, -0.5],
    "beta": [0.5, 1.0, 2.0], "newShape": [[], [1, 30, 3]], "squeezeDims": [[], [2], [-2]], "numSplits": [1, 2, 3],
    "beginMask": [0, 1, 2, 15], "endMask": [0, 1, 2, 15], "shrinkAxisMask": [0, 2, 8], "ellipsisMask": [0, 2],
    "newAxisMask": [0, 2],
    "batchDims": [0, 1], "outType": [2, 4], "inDataType": [0, 2], "outDataType": [0, 2], "num": [2], "valuesCount": [2],
    "quantizedBiasType": [0, 2, 4],
}  # fmt: skip
TOGETHER = {
    "CONV_2D": [("padding", "strideH"), ("padding", "dilationHFactor"),
    ("padding", "strideW", "fusedActivationFunction")],
    "DEPTHWISE_CONV_2D": [("padding", "strideH", "strideW")],
    "MAX_POOL_2D": [("padding", "strideH", "filterHeight"), ("padding", "filterWidth", "filterHeight")],
    "AVERAGE_POOL_2D": [("padding", "strideH", "filterHeight"), ("padding", "filterWidth", "filterHeight")],
    "RESIZE_BILINEAR": [("alignCorners", "halfPixelCenters")],
    "RESIZE_NEAREST_NEIGHBOR": [("alignCorners", "halfPixelCenters")],
    "STRIDED_SLICE": [("beginMask", "endMask"), ("beginMask", "shrinkAxisMask")],
}  # fmt: skip
BESIDE = {  # other inputs, with the options as they are
    "MEAN": [[None, i(axes)] for axes in ([1], [2], [3], [-1], [1, 2, 3], [2, 3])],
    "SUM": [[None, i(axes)] for axes in ([1], [3])],
    "REDUCE_MAX": [[None, i(axes)] for axes in ([1], [3])],
    "TRANSPOSE_CONV": [[i([1, *size, 4]), f(4, 3, 2, 3), None] for size in ([6, 5], [7, 5], [9, 9], [5, 5])],
    "STRIDED_SLICE": [[None, i([0, -1, 0, 0]), i([1, 99, -1, 3]), i([1, 1, 1, 1])],
    [None, i([0, 5, 0, 0]), i([1, -7, 4, 3]), i([1, -1, 1, 1])]],
    "RESIZE_NEAREST_NEIGHBOR": [[None, i([9, 15])], [None, i([3, 5])], [None, i([6, 5])]],
    "RESIZE_BILINEAR": [[None, i([9, 15])], [None, i([18, 10])], [None, i([6, 5])]],
    "PADV2": [[None, i([[0, 0], [1, 0], [0, 2], [0, 0]]), np.float32(1)]],
    "PAD": [[None, i([[0, 0], [0, 0], [0, 0], [1, 0]])]],
    "GATHER": [[None, i(1)], [None, i([2, 0])], [None, i([0, 2])]],
    "POW": [[None, np.float32([2])], [None, np.float32([0.5])]],
    "SPLIT_V": [[None, i([2, -1]), i(1)], [None, i([1, 2]), i(3)]],
    "EXPAND_DIMS": [[None, i(-1)], [None, i(2)]],
    "CONCATENATION": [[None, f(1, 6, 5, 3)]],
    "BATCH_MATMUL": [[None, f(1, 6, 6)]],
}  # fmt: skip


def camel(name):
    return name[0].lower() + name[1:]


def network(name, shape, inputs, values, outputs):
    """The bytes of one operator, of int8 after a QUANTIZE where it takes that, with a LEAKY_RELU after it."""
    file = File(*shape)
    given = []
    for each in inputs:
        if isinstance(each, str):
            at = file.call("QUANTIZE", [0], shape, "QuantizeOptions")
            steps(file, at, 0.05, 3)
            given.append(at)
        else:
            given.append(0 if each is None else each)
    kind = kind_of(name)
    made = file.call(name, given, (4, 5, 2) if name == "SLICE" else shape, kind and kind.__name__, **values)
    node = file.graph.operators[-1]
    node.outputs = [made] + [file.tensor((1, *shape)) for _ in range(outputs - 1)]
    last = node.outputs[-1]
    if name == "SHAPE":
        kinds = {2: schema.TensorType.INT32, 4: schema.TensorType.INT64}
        file.graph.tensors[made].type = kinds.get(values.get("outType", 2))
        file.graph.tensors[made].shape = [1 + len(shape)]
        last = file.call("RESHAPE", [0, made], shape, "ReshapeOptions")
    if name == "QUANTIZE":
        steps(file, made, 0.05, 3)
        last = file.call("DEQUANTIZE", [made], shape, "DequantizeOptions")
    file.call("LEAKY_RELU", [last], shape, "LeakyReluOptions", alpha=0.5)
    return file.bytes()


BY_OTHERS = {"ELU": (OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,)}  # of which there is no reference kernel


def trials(name):
    kind = kind_of(name)
    values = {camel(each): list(VALUES.get(camel(each), [False, True])) for each in (fields(kind) if kind else ())}
    yield {}
    for each, choices in values.items():
        for value in choices:
            yield {each: value}
    for names in TOGETHER.get(name, ()):
        for chosen in itertools.product(*(values[each] for each in names)):
            yield dict(zip(names, chosen))


@pytest.mark.parametrize("name", sorted(set(ATTRIBUTES) - set(PAIR)))
def test_values_that_are_no_default_are_litert_s_or_refused(name):
    shape, inputs, needed = NODES[name]
    x = RNG.normal(0, 1.5, (3, *shape)).astype("float32")
    if name in ("QUANTIZE", "DEQUANTIZE"):
        x = (RNG.integers(-128, 128, x.shape) - 3).astype("float32") * np.float32(0.05)
    seen = {"equal": 0, "refused": 0}
    for taken, values in [(inputs, each) for each in trials(name)] + [(each, {}) for each in BESIDE.get(name, ())]:
        values = {**needed, **values}
        outputs = values.get("numSplits", 2 if name == "UNPACK" else 1)
        content = network(name, shape, taken, values, outputs)
        expected = litert(content, x, *BY_OTHERS.get(name, ()))
        if expected is None or not np.all(np.isfinite(expected)):
            continue
        try:
            model = load_of(content)
        except ValueError as error:
            assert name in str(error), (values, taken, str(error))
            seen["refused"] += 1
            continue
        got = np.asarray(model.imported.outputs(model.predict(model.imported.samples(x))))
        assert got.size == expected.size, (values, got.shape, expected.shape)
        off = np.abs(got.reshape(expected.shape) - expected).max()
        assert off <= 1e-4 * max(1, np.abs(expected).max()) + (0.0251 if "QUANTIZE" in name else 0), (
            values,
            taken,
            off,
        )
        seen["equal"] += 1
    assert seen["equal"], seen


def test_what_litert_knows_and_this_tflite_does_not_is_refused(monkeypatch):
    """A field of a newer description, as a table that is shorter than the file's."""
    content = network("CONV_2D", IMAGE, NODES["CONV_2D"][1], {**CONV, "quantizedBiasType": 2}, 1)
    monkeypatch.setattr(tflite, "Conv2DOptionsStart", lambda builder: builder.StartObject(6))
    with pytest.raises(ValueError, match=r"node 0 \(CONV_2D\): has options that the installed tflite does not know"):
        tflitefile.read(content)


NUMBERS = [-(2**31), -2, -1, 0, 1, 2, 3, 4, 7, 100, 2**31 - 1]


@FUZZED
@given(st.data())
def test_a_file_whose_tables_say_something_else_is_a_value_error_or_a_network(draw):
    """Operators, options, inputs, outputs, shapes, types, steps and sizes given other values: no error of odt's own
    comes of it.
    """
    name = draw.draw(st.sampled_from(sorted(NODES)))
    shape, inputs, values = NODES[name]
    content = network(name, shape, inputs, values, values.get("numSplits", 2 if name == "UNPACK" else 1))
    model = schema.ModelT.InitFromPackedBuf(content, 0)
    graph = model.subgraphs[0]
    for _ in range(draw.draw(st.integers(1, 3))):
        node = draw.draw(st.sampled_from(graph.operators))
        tensor = draw.draw(st.sampled_from(graph.tensors))
        kind = draw.draw(
            st.sampled_from(["op", "inputs", "outputs", "option", "shape", "type", "data", "steps", "drop"])
        )
        number = draw.draw(st.sampled_from(NUMBERS))
        if kind == "op":
            other = getattr(schema.BuiltinOperator, draw.draw(st.sampled_from(sorted(ROWS))))
            model.operatorCodes[node.opcodeIndex].builtinCode = other
            model.operatorCodes[node.opcodeIndex].deprecatedBuiltinCode = min(other, 127)
        elif kind in ("inputs", "outputs") and len(getattr(node, kind)):
            which = list(getattr(node, kind))
            which[draw.draw(st.integers(0, len(which) - 1))] = draw.draw(st.integers(-1, len(graph.tensors)))
            setattr(node, kind, which)
        elif kind == "option" and node.builtinOptions is not None and vars(node.builtinOptions):
            field = draw.draw(st.sampled_from(sorted(vars(node.builtinOptions))))
            before = getattr(node.builtinOptions, field)
            if isinstance(before, (int, bool)):
                setattr(node.builtinOptions, field, type(before)(min(max(number, 0), 127)))
            elif isinstance(before, float):
                setattr(
                    node.builtinOptions,
                    field,
                    draw.draw(st.sampled_from([0.0, -1.0, float("nan"), float("inf"), 1e30])),
                )
        elif kind == "shape" and len(tensor.shape):
            sizes = [int(n) for n in tensor.shape]
            sizes[draw.draw(st.integers(0, len(sizes) - 1))] = number
            tensor.shape = draw.draw(st.sampled_from([sizes, sizes[1:], [1, *sizes], []]))
        elif kind == "type":
            tensor.type = draw.draw(st.integers(0, 18))
        elif kind == "data" and model.buffers[tensor.buffer].data is not None:
            data = np.array(model.buffers[tensor.buffer].data, np.uint8)
            if data.size >= 4:
                at = 4 * draw.draw(st.integers(0, data.size // 4 - 1))
                data[at : at + 4] = np.frombuffer(np.int32(number).tobytes(), np.uint8)
            model.buffers[tensor.buffer].data = draw.draw(st.sampled_from([data, data[:4], data[:0]]))
        elif kind == "steps":
            steps(
                types.SimpleNamespace(graph=graph),
                graph.tensors.index(tensor),
                draw.draw(st.sampled_from([0.0, 0.1, float("nan"), 1e-38])),
                3,
            )
        elif kind == "drop":
            node.inputs = list(node.inputs)[: draw.draw(st.integers(0, len(node.inputs)))]
    builder = flatbuffers.Builder()
    builder.Finish(model.Pack(builder), b"TFL3")
    try:
        tflitefile.read(bytes(builder.Output()))
    except ValueError:
        pass


@pytest.mark.parametrize("name", ["CONV_2D", "SOFTMAX", "MAX_POOL_2D", "LEAKY_RELU"])
def test_options_that_are_not_there_are_named(name):
    shape, inputs, values = NODES[name]
    file = File(*shape)
    file.call(name, [0 if each is None else each for each in inputs], shape)
    with pytest.raises(ValueError, match="has no options"):
        tflitefile.read(file.bytes())
