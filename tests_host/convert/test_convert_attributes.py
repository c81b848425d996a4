"""Each attribute of each operator that the ONNX reader takes: its table has a row, and a value that is not the default
is computed or refused.
"""

import itertools

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from onnx_networks import FUZZED
from onnxruntime.capi import onnxruntime_pybind11_state as native

from odt.host.convert import load, onnxfile
from odt.host.convert.onnxfold import FOLDED
from odt.host.convert.onnxtable import ATTRIBUTES, NEWEST, OLDEST

RNG = np.random.default_rng(0)
SCHEMAS = {}  # of each operator in the table, by what the table calls it, every version that a file can name
for each in onnx.defs.get_all_schemas_with_history():
    if each.domain in ("", "ai.onnx.ml"):
        SCHEMAS.setdefault((each.domain + "." if each.domain else "") + each.name, []).append(each)
for each in native.get_all_operator_schema():
    if each.domain == "com.microsoft":
        SCHEMAS.setdefault("com.microsoft." + each.name, []).append(each)


def versions(key):
    """The operator's descriptions in the opsets that are read."""
    found = sorted(SCHEMAS[key], key=lambda each: each.since_version)
    if key.startswith("com.microsoft") or key.startswith("ai.onnx.ml"):
        return found
    return [
        each for each, after in zip(found, found[1:] + [None])
        if (after is None or after.since_version > OLDEST) and each.since_version <= NEWEST
    ]  # fmt: skip


@pytest.mark.parametrize("key", ATTRIBUTES)
def test_every_attribute_and_optional_input_has_a_row(key):
    names = set()
    for schema in versions(key):
        names |= set(schema.attributes)
        names |= {each.name for each in schema.inputs if str(each.option).endswith("Optional")}
    if key == "Pad":
        names |= {"pads"}
    rows = set(ATTRIBUTES[key]) - {
        "axes",
        "ratio",
        "scales",
        "shape",
        "split",
        "starts",
        "ends",
        "steps",
        "pads",
        "value",
    }
    assert rows <= names <= set(ATTRIBUTES[key]), (rows - names, names - set(ATTRIBUTES[key]))


# --- a node of each operator, whose attributes are then varied ----------------------------------


def f(*shape):
    return RNG.normal(0, 1, shape).astype("float32")


IMAGE, ROW, STEPS = (3, 6, 5), (6,), (7, 3)
I8 = lambda *shape: RNG.integers(-100, 100, shape).astype("int8")  # noqa: E731
S, Z = np.float32(0.05), np.int8(3)
Q = [np.float32(0.02), np.int8(0)]
NODES = {  # the sample's shape, the inputs (None is the network's) and what the node needs
    "Abs": (IMAGE, [None], {}),
    "Add": (IMAGE, [None, f(3, 1, 1)], {}),
    "AveragePool": (IMAGE, [None], {"kernel_shape": [3, 2]}),
    "BatchNormalization": (IMAGE, [None, f(3), f(3), f(3), 1 + f(3) ** 2], {}),
    "Cast": (IMAGE, [None], {"to": 1}),
    "Celu": (IMAGE, [None], {}),
    "Clip": (IMAGE, [None, np.float32(-0.5), np.float32(1.5)], {}),
    "Concat": (IMAGE, [None, None], {"axis": 1}),
    "Conv": (IMAGE, [None, f(6, 3, 3, 2), f(6)], {}),
    "ConvTranspose": (IMAGE, [None, f(3, 4, 3, 2), f(4)], {}),
    "DequantizeLinear": (ROW, [I8(6, 4), np.float32(0.1), np.int8(1)], {}),
    "Div": (IMAGE, [None, 1 + f(3, 1, 1) ** 2], {}),
    "Dropout": (IMAGE, [None], {}),
    "Elu": (IMAGE, [None], {}),
    "Erf": (IMAGE, [None], {}),
    "Flatten": (IMAGE, [None], {}),
    "Gather": (IMAGE, [None, np.array([0, 2])], {"axis": 1}),
    "Gelu": (IMAGE, [None], {}),
    "Gemm": (ROW, [None, f(6, 4), f(4)], {}),
    "GlobalAveragePool": (IMAGE, [None], {}),
    "GlobalMaxPool": (IMAGE, [None], {}),
    "GRU": (STEPS, [None, f(1, 12, 3), f(1, 12, 4), f(1, 24)], {"hidden_size": 4, "linear_before_reset": 1}),
    "GroupNormalization": ((4, 6, 5), [None, f(4), f(4)], {"num_groups": 2}),
    "HardSigmoid": (IMAGE, [None], {}),
    "HardSwish": (IMAGE, [None], {}),
    "Identity": (IMAGE, [None], {}),
    "InstanceNormalization": (IMAGE, [None, f(3), f(3)], {}),
    "LSTM": (STEPS, [None, f(1, 16, 3), f(1, 16, 4), f(1, 32)], {"hidden_size": 4}),
    "LayerNormalization": (ROW, [None, f(6), f(6)], {}),
    "LeakyRelu": (IMAGE, [None], {}),
    "MatMul": (ROW, [None, f(6, 4)], {}),
    "Max": (IMAGE, [None, np.float32(0.25)], {}),
    "MaxPool": (IMAGE, [None], {"kernel_shape": [3, 2]}),
    "Min": (IMAGE, [None, np.float32(0.25), np.float32(0.5)], {}),
    "Mul": (IMAGE, [None, f(3, 1, 1)], {}),
    "Neg": (IMAGE, [None], {}),
    "PRelu": (IMAGE, [None, f(3, 1, 1)], {}),
    "Pad": (IMAGE, [None, np.array([0, 0, 1, 0, 0, 0, 0, 1])], {}),
    "Pow": (IMAGE, [None, np.float32(3)], {}),
    "QLinearConv": (IMAGE, ["q", S, Z, I8(6, 3, 3, 2), *Q, np.float32(0.5), Z, np.arange(6, dtype="int32")], {}),
    "QLinearMatMul": (ROW, ["q", S, Z, I8(6, 4), *Q, np.float32(0.3), Z], {}),
    "QuantizeLinear": (IMAGE, [None, S, Z], {}),
    "RNN": (STEPS, [None, f(1, 4, 3), f(1, 4, 4), f(1, 8)], {"hidden_size": 4}),
    "ReduceMax": (IMAGE, [None, np.array([2, 3])], {}),
    "ReduceMean": (IMAGE, [None, np.array([2, 3])], {}),
    "ReduceSum": (IMAGE, [None, np.array([2, 3])], {}),
    "Relu": (IMAGE, [None], {}),
    "Reshape": (IMAGE, [None, np.array([-1, 5, 18])], {}),
    "Resize": (IMAGE, [None, None, np.array([1, 1, 2, 3], "float32")], {}),
    "Selu": (IMAGE, [None], {}),
    "Shape": (IMAGE, [None], {}),
    "Sigmoid": (IMAGE, [None], {}),
    "Size": (IMAGE, [None], {}),
    "Slice": (IMAGE, [None, np.array([1]), np.array([4]), np.array([2]), np.array([2])], {}),
    "Softmax": (ROW, [None], {}),
    "Split": (IMAGE, [None], {"axis": 2, "num_outputs": 1}),
    "Squeeze": ((3, 1, 5), [None, np.array([2])], {}),
    "Sub": (IMAGE, [f(3, 1, 1), None], {}),
    "Sum": (IMAGE, [None, f(3, 1, 1), None], {}),
    "Swish": (IMAGE, [None], {}),
    "Tanh": (IMAGE, [None], {}),
    "Transpose": (IMAGE, [None], {"perm": [0, 2, 3, 1]}),
    "Unsqueeze": ((3, 5), [None, np.array([2])], {}),
    "Where": (ROW, [RNG.random((6, 4)) > 0.5, f(6, 4), f(6, 4)], {}),  # of scores: test_convert_corpus.py
    "Upsample": (IMAGE, [None, np.array([1, 1, 2, 3], "float32")], {}),
    "ai.onnx.ml.LinearClassifier": (
        ROW, [None], {"coefficients": f(18).tolist(), "intercepts": f(3).tolist(), "classlabels_ints": [1, 2, 3]},
    ),
    "ai.onnx.ml.LinearRegressor": (ROW, [None], {"coefficients": f(12).tolist(), "intercepts": f(2).tolist(),
    "targets": 2}),
    "ai.onnx.ml.Normalizer": (ROW, [None], {}),
    "ai.onnx.ml.Scaler": (ROW, [None], {"offset": f(6).tolist(), "scale": f(6).tolist()}),
    "ai.onnx.ml.ZipMap": (ROW, [None], {"classlabels_int64s": [0, 1, 2, 3, 4, 5]}),
    "com.microsoft.DequantizeLinear": (ROW, [I8(6, 4), np.float32(0.1), np.int8(1)], {}),
    "com.microsoft.Gelu": (IMAGE, [None], {}),
    "com.microsoft.QGemm": (ROW, ["q", S, Z, I8(6, 4), *Q, np.arange(4, dtype="int32"), np.float32(0.5), Z], {}),
    "com.microsoft.QLinearAdd": (IMAGE, ["q", S, Z, "q", S, Z, np.float32(0.1), Z], {}),
    "com.microsoft.QLinearAveragePool": (IMAGE, ["q", S, Z, S, Z], {"kernel_shape": [3, 2]}),
    "com.microsoft.QLinearConcat": (IMAGE, [S, Z, "q", S, Z, "q", S, Z], {"axis": 1}),
    "com.microsoft.QLinearConv": (IMAGE, ["q", S, Z, I8(6, 3, 3, 2), *Q, np.float32(0.5), Z, np.arange(6,
    dtype="int32")], {}),
    "com.microsoft.QLinearGlobalAveragePool": (IMAGE, ["q", S, Z, S, Z], {}),
    "com.microsoft.QLinearLeakyRelu": (IMAGE, ["q", S, Z, np.float32(0.1), Z], {}),
    "com.microsoft.QLinearMul": (IMAGE, ["q", S, Z, "q", S, Z, np.float32(0.25), Z], {}),
    "com.microsoft.QLinearSigmoid": (IMAGE, ["q", S, Z, np.float32(1 / 256), np.int8(-128)], {}),
    "com.microsoft.QLinearSoftmax": (ROW, ["q", S, Z, np.float32(1 / 256), np.int8(-128)], {"opset": 13}),
    "com.microsoft.QuantizeLinear": (IMAGE, [None, S, Z], {}),
}  # fmt: skip
VALUES = {  # that each attribute takes beside those that its type has
    "auto_pad": ["SAME_UPPER", "SAME_LOWER", "VALID"],
    "mode": ["constant", "reflect", "edge", "wrap", "nearest", "linear", "cubic"],
    "coordinate_transformation_mode": [
        "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
        "tf_half_pixel_for_nn",
        "tf_crop_and_resize",
    ],
    "nearest_mode": ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"],
    "keep_aspect_ratio_policy": ["stretch", "not_larger", "not_smaller"],
    "approximate": ["none", "tanh"],
    "round_mode": ["up", "down", "nearest"],
    "norm": ["MAX", "L1", "L2"],
    "post_transform": ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"],
    "axis": [-3, -2, -1, 0, 1, 2, 3],
    "axes": [[2], [3], [1], [-1], [2, 3], [1, 2, 3], [0], []],
    "perm": [[0, 1, 2, 3], [0, 3, 1, 2], [0, 2, 1, 3], [1, 0, 2, 3]],
    "pads": [[1, 0, 0, 1], [1, 1, 1, 1], [0, 1, 2, 0], [2, 2, 2, 2]],
    "kernel_shape": [[3, 2], [2, 2], [1, 1], [6, 5]],
    "strides": [[2, 1], [3, 3], [2, 2], [5, 4]],
    "dilations": [[2, 1], [2, 2]],
    "output_padding": [[1, 0], [0, 1], [1, 1]],
    "output_shape": [[8, 6], [6, 5], [12, 10], [9, 7], [7, 7], [20, 20]],
    "group": [1, 3, 2], "num_groups": [1, 2, 4], "num_outputs": [1, 2], "targets": [1, 2], "block_size": [0, 2, 3],
    "to": list(range(1, 20)), "output_dtype": [0, 1, 2, 3], "start": [1, -1], "end": [1, 2, -1], "opset": [11, 13],
    "activations": [["Sigmoid", "Tanh"], ["Tanh"], ["Sigmoid", "Tanh", "Tanh"], ["Relu"], ["HardSigmoid", "Tanh"]],
    "direction": ["forward", "reverse"], "layout": [0, 1], "activation_alpha": [[0.2]], "activation_beta": [[0.3]],
    "hidden_size": [4, 5], "stash_type": [1, 10, 11], "shape": [[0, 30, 3], [0, 0, 30]], "epsilon": [0.1, 1e-3],
}  # fmt: skip
TYPES = {"INT": [0, 1, 2], "FLOAT": [0.3, 1.7, -0.5, 0.0], "STRING": [], "INTS": [[1, 1], [2, 2]]}
TOGETHER = {  # attributes that mean something only beside others
    "ConvTranspose": [("strides", "output_padding"), ("strides", "output_shape"), ("strides", "auto_pad"),
    ("strides", "pads"), ("auto_pad", "output_shape")],
    "Conv": [("strides", "auto_pad"), ("strides", "pads"), ("dilations", "auto_pad"), ("auto_pad", "pads"),
    ("dilations", "strides")],
    "MaxPool": [("strides", "auto_pad"), ("strides", "ceil_mode"), ("pads", "ceil_mode"), ("dilations", "strides")],
    "AveragePool": [("pads", "count_include_pad"), ("strides", "ceil_mode"), ("strides", "auto_pad"),
    ("auto_pad", "count_include_pad")],
    "com.microsoft.QLinearAveragePool": [("pads", "count_include_pad"), ("strides", "ceil_mode")],
    "Resize": [("mode", "coordinate_transformation_mode"), ("nearest_mode", "coordinate_transformation_mode"),
    ("mode", "antialias")],
    "Gemm": [("alpha", "beta")],
    "QLinearConv": [("strides", "auto_pad")],
    "com.microsoft.QLinearSoftmax": [("axis", "opset")],
    "ReduceMean": [("axes", "keepdims")],
}  # fmt: skip
# what older descriptions have as an attribute and newer ones as an input: the inputs there, and where it is one, which
OLD = {
    "Clip": (6, 1, {"min": -0.5, "max": 1.5}), "Dropout": (7, 1, {"ratio": 0.3}),
    "Pad": (2, 1, {"pads": [0, 0, 1, 0, 0, 0, 0, 1], "value": 0.0}),
    "Slice": (1, 1, {"starts": [1], "ends": [4], "axes": [2]}), "Squeeze": (1, 1, {"axes": [2]}),
    "Unsqueeze": (1, 1, {"axes": [2]}),
    "ReduceMean": (1, 1, {"axes": [2, 3]}), "ReduceMax": (1, 1, {"axes": [2, 3]}),
    "ReduceSum": (1, 1, {"axes": [2, 3]}),
    "Split": (2, 1, {"split": [6], "axis": 2}), "Upsample": (7, 1, {"scales": [1.0, 1.0, 2.0, 3.0], "mode": "nearest"}),
}  # fmt: skip


def network(key, opset, inputs, values, shape):
    """A ModelProto of one node, after a Relu or a quantization where it takes what these give, and a MatMul where it
    makes weights.
    """
    domain, _, op = key.rpartition(".")
    weights, names, nodes = {}, [], []
    for at, each in enumerate(inputs):
        if isinstance(each, np.ndarray | np.generic):
            weights["w%d" % at] = np.asarray(each)
            names.append("w%d" % at)
        elif each is None and op == "Resize" and at == 1:
            names.append("")
        else:
            names.append("xq" if each == "q" else "x")
    if "xq" in names:
        weights.update(xs=S, xz=Z)
        nodes.append(helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["xq"]))
    outputs = ["label", "made"] if op == "LinearClassifier" else ["made"]
    if op in ("GRU", "LSTM", "RNN"):
        nodes.append(helper.make_node("Transpose", ["x"], ["first"], perm=[1, 0, 2]))
        names[0] = "first"
    tested = helper.make_node(op, names, outputs, "tested", domain=domain)
    for name, value in values.items():
        empty = {"attr_type": onnx.AttributeProto.INTS} if isinstance(value, list) and not value else {}
        tested.attribute.append(helper.make_attribute(name, value, **empty))
    nodes.append(tested)
    last, kind = "y", TensorProto.FLOAT
    if op in ("GRU", "LSTM", "RNN"):
        weights["axis"] = np.array([1])
        nodes += [helper.make_node("Squeeze", ["made", "axis"], ["each"]),
                  helper.make_node("Transpose", ["each"], ["y"], perm=[1, 0, 2])]  # fmt: skip
    elif "x" not in names and "xq" not in names:  # weights in the making
        nodes.append(helper.make_node("MatMul", ["x", "made"], ["y"]))
    elif op == "QuantizeLinear" or op[:1] == "Q" and not (op == "QGemm" and len(names) < 8):
        at = {
            "QLinearConcat": 0,
            "QuantizeLinear": 1,
            "QLinearConv": 6,
            "QLinearMatMul": 6,
            "QGemm": 7,
            "QLinearAdd": 6,
            "QLinearMul": 6,
        }.get(op, 3)
        zero = names[at + 1] if at + 1 < len(names) else ""
        nodes.append(helper.make_node("DequantizeLinear", ["made", names[at], zero], ["real"]))
        nodes.append(helper.make_node("LeakyRelu", ["real"], ["y"], alpha=0.5))
    elif op in ("Shape", "Size"):
        nodes += [helper.make_node("Cast", ["made"], ["sizes"], to=1),
            helper.make_node("ReduceProd", ["sizes"], ["one"], keepdims=0),
                  helper.make_node("Mul", ["x", "one"], ["y"])]  # fmt: skip
    elif op == "Cast":
        nodes += [
            helper.make_node("Cast", ["made"], ["real"], to=1),
            helper.make_node("LeakyRelu", ["real"], ["y"], alpha=0.5),
        ]
    elif op == "Pad":
        weights["v"] = f(2, 3, 2, 1)
        nodes.append(helper.make_node("Conv", ["made", "v"], ["y"]))
    elif op == "ZipMap":
        nodes[:0] = [helper.make_node("LeakyRelu", ["x"], ["activated"], alpha=0.5)]
        nodes[-1].input[0], last, kind = "activated", "made", None
    else:
        nodes.append(helper.make_node("LeakyRelu", ["made"], ["y"], alpha=0.5))
    made = helper.make_tensor_value_info(last, kind or TensorProto.FLOAT, None)
    if kind is None:
        made = onnx.ValueInfoProto(name=last)
        made.type.sequence_type.elem_type.map_type.key_type = TensorProto.INT64
        made.type.sequence_type.elem_type.map_type.value_type.tensor_type.elem_type = TensorProto.FLOAT
    batch = 3 if op in ("Shape", "Size") else "n"  # the sizes themselves are the network's numbers there
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, (batch, *shape))], [made],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )  # fmt: skip
    opsets = [
        helper.make_opsetid("", opset),
        helper.make_opsetid("com.microsoft", 1),
        helper.make_opsetid("ai.onnx.ml", 3),
    ]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def reference(proto, x):
    """onnxruntime's output, or None where it does not take the network."""
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")  # AVX2 without VNNI saturates sums otherwise
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        made = onnxruntime.InferenceSession(proto.SerializeToString(), options).run(None, {"x": x})[0]
    except Exception:  # noqa: BLE001  of onnxruntime, whatever it does not take
        return None
    return np.array([list(row.values()) for row in made]) if isinstance(made, list) else np.asarray(made)


def compared(proto, x, expected):
    """ "equal", "refused" by the node's name, or what is wrong."""
    try:
        model = load(proto)
    except ValueError as error:
        assert "tested" in str(error), str(error)
        return "refused"
    got = np.asarray(model.imported.outputs(model.predict(model.imported.samples(x))))
    step = next((each.scale for each in model.imported.graph.nodes if each.op != "input" and each.scale), None)
    step = step or (S if "Q" in "".join(node.op_type[:1] for node in proto.graph.node) else 0)
    assert got.size == expected.size
    off = np.abs(got.reshape(expected.shape) - expected).max()
    assert off <= 1e-4 * max(1, np.abs(expected).max()) + 1.01 * step, off
    return "equal"


def trials(key):
    """(opset, attributes beside those that the node needs) of each value of each attribute, and of some together."""
    rows = []
    for schema in versions(key):
        opset = max(schema.since_version, OLDEST) if "." not in key else 17
        if opset > 25:
            continue  # newer than this onnxruntime
        if key in ("GRU", "LSTM", "RNN") and opset < 13:
            continue  # the Squeeze after it has its axes as an input
        known = {}
        for name, attribute in schema.attributes.items():
            if key == "Split" and name == "num_outputs" and opset < 18:
                continue
            kind = str(attribute.type).split(".")[-1]
            known[name] = VALUES.get(name, []) + (TYPES.get(kind, []) if name not in VALUES else [])
        rows += [(opset, schema, {})]
        rows += [(opset, schema, {name: value}) for name, values in known.items() for value in values]
        for pair in TOGETHER.get(key, ()):
            rows += [
                (opset, schema, dict(zip(pair, values))) for values in itertools.product(*(known.get(name,
                []) for name in pair))
            ]  # fmt: skip
    return rows


@pytest.mark.parametrize("key", ATTRIBUTES)
def test_values_that_are_no_default_are_onnxruntime_s_or_refused(key):
    shape, inputs, needed = NODES[key]
    x = RNG.normal(0, 1.5, (3, *shape)).astype("float32")
    if "q" in [each for each in inputs if isinstance(each, str)]:  # what has a byte
        x = RNG.integers(-100, 100, x.shape).astype("float32") * S
    seen = {"equal": 0, "refused": 0}
    for opset, schema, values in trials(key):
        given, wanted = list(inputs), dict(needed)
        if key in OLD and not (len(schema.inputs) > OLD[key][1]):
            given, wanted = (
                given[: OLD[key][1]],
                {name: value for name, value in OLD[key][2].items() if name in schema.attributes},
            )
        elif key == "Resize" and opset < 11:
            given = [None, given[2]]
        elif key == "Split" and opset < 18:
            given, wanted = [None, np.array([6])], {"axis": 2}
        given = (
            given[: len(schema.inputs)]
            if "QLinearConcat" not in key and key not in ("Concat", "Max", "Min", "Sum")
            else given
        )
        if (
            any(isinstance(each, np.ndarray) and each.ndim == 4 for each in given)
            and values.get("group", 1) > 1
            and "Conv" in key
        ):
            given[3 if "Q" in key else 1] = (
                given[3 if "Q" in key else 1][:, : 3 // values["group"]] if "Transpose" not in key else given[1]
            )
        if key == "Gemm" and values.get("transB"):
            given[1] = given[1].T.copy()
        if "QGemm" in key and values.get("transB"):
            given[3] = given[3].T.copy()
        proto = network(key, opset, given, {**wanted, **values}, shape)
        expected = reference(proto, x)
        if expected is None or not np.all(np.isfinite(expected)):
            continue
        try:
            seen[compared(proto, x, expected)] += 1
        except AssertionError as error:
            raise AssertionError("%s, opset %d, %s: %s" % (key, opset, values, error)) from None
    assert seen["equal"] or key in ALWAYS_REFUSED, seen


ALWAYS_REFUSED = ("Erf", "com.microsoft.Gelu", "ai.onnx.ml.Normalizer")


NUMBERS = [-(2**63), -2, -1, 0, 1, 2, 3, 4, 7, 1000, 2**31, 2**62]


@FUZZED
@given(st.data())
def test_a_node_that_says_something_else_is_a_value_error_or_a_network(draw):
    """Operators, attributes, inputs, outputs, constants, shapes and opsets given other values: no error of odt's own
    comes of it.
    """
    key = draw.draw(st.sampled_from(sorted(ATTRIBUTES)))
    shape, inputs, values = NODES[key]
    proto = network(key, draw.draw(st.sampled_from([7, 9, 11, 13, 17, 18, 21, 23])), inputs, values, shape)
    graph = proto.graph
    names = [name for each in graph.node for name in (*each.input, *each.output)] + ["", "x", "none"]
    for _ in range(draw.draw(st.integers(1, 3))):
        at = draw.draw(st.sampled_from(list(graph.node)))
        kind = draw.draw(st.sampled_from(["op", "input", "output", "attribute", "new", "constant", "dims", "drop"]))
        number = draw.draw(st.sampled_from(NUMBERS))
        if kind == "op":
            other = draw.draw(st.sampled_from(sorted(ATTRIBUTES) + sorted(FOLDED)))
            at.domain, _, at.op_type = other.rpartition(".")
        elif kind == "input" and at.input:
            at.input[draw.draw(st.integers(0, len(at.input) - 1))] = draw.draw(st.sampled_from(names))
        elif kind == "output":
            at.output[0] = draw.draw(st.sampled_from(names))
        elif kind == "drop" and at.input:
            del at.input[draw.draw(st.integers(0, len(at.input) - 1)) :]
        elif kind == "attribute" and at.attribute:
            each = draw.draw(st.sampled_from(list(at.attribute)))
            if each.ints:
                each.ints[draw.draw(st.integers(0, len(each.ints) - 1))] = number
            each.i, each.f = number, draw.draw(st.sampled_from([0.0, -1.0, 1e38, float("nan"), float("inf")]))
        elif kind == "new":
            schema = SCHEMAS[draw.draw(st.sampled_from(sorted(ATTRIBUTES)))][-1]
            if schema.attributes:
                name = draw.draw(st.sampled_from(sorted(schema.attributes)))
                some = {"INT": number, "FLOAT": -1.0, "INTS": [number] * 2, "FLOATS": [0.5] * 3, "STRING": "x"}
                value = some.get(str(schema.attributes[name].type).split(".")[-1])
                if value is not None:
                    at.attribute.append(helper.make_attribute(name, value))
        elif kind in ("constant", "dims") and graph.initializer:
            tensor = draw.draw(st.sampled_from(list(graph.initializer)))
            given = numpy_helper.to_array(tensor).copy()
            if kind == "constant" and given.size:
                with np.errstate(all="ignore"):
                    given.reshape(-1)[draw.draw(st.integers(0, given.size - 1))] = np.array(number).astype(given.dtype)
            elif kind == "dims":
                given = draw.draw(
                    st.sampled_from(
                        [given[None], given.ravel(), given.ravel()[:1], given.ravel()[:0], given.astype("float64")]
                    )
                )
            tensor.CopyFrom(numpy_helper.from_array(given, tensor.name))
    try:
        onnxfile.read(proto)
    except ValueError:
        pass
