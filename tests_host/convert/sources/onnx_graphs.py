"""Graphs of ONNX as exporters write them, and what onnxruntime computes of them."""

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(0)


def f(*shape):
    return (RNG.normal(size=shape) / np.sqrt(np.prod(shape[1:]) or 1)).astype("float32")


def i(*values):
    return np.array(values, np.int64)


def model(nodes, shape, weights, outputs="y", opset=17, batch="n", kind=TensorProto.FLOAT):
    """A ModelProto; ``outputs``: a name, or {name: its type, or "maps"}."""
    made = []
    for name, of in ({outputs: kind} if isinstance(outputs, str) else outputs).items():
        each = helper.make_tensor_value_info(name, TensorProto.FLOAT if of == "maps" else of, None)
        if of == "maps":
            each = onnx.ValueInfoProto(name=name)
            each.type.sequence_type.elem_type.map_type.key_type = TensorProto.INT64
            each.type.sequence_type.elem_type.map_type.value_type.tensor_type.elem_type = TensorProto.FLOAT
        made.append(each)
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info("x", kind, (batch, *shape))], made,
        [numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()],
    )  # fmt: skip
    opsets = [("", opset), ("ai.onnx.ml", 3), ("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(*each) for each in opsets], ir_version=9)


def by_onnxruntime(proto, x):
    """Its last output, of a ModelProto or a file."""
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")  # AVX2 without VNNI saturates sums otherwise
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL  # some round more
    found = onnxruntime.InferenceSession(proto if isinstance(proto, str) else proto.SerializeToString(), options).run(
        None, {"x": x}
    )[-1]
    return np.array([list(row.values()) for row in found]) if isinstance(found, list) else found


def compare(made, x, expected, most=1e-4):
    got = np.asarray(made.imported.outputs(made.predict(made.imported.samples(x))))
    assert got.shape == expected.shape
    assert np.abs(got - expected).max() <= most * max(1, np.abs(expected).max())


def i32(*values):
    return np.array(values, np.int32)
