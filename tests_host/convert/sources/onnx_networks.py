"""Networks of ONNX for tests of the reader: how they are written and run."""

import functools
import io
import os
import tempfile
import warnings

import numpy as np
import onnxruntime
import torch
from hypothesis import HealthCheck, settings
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import quantization
from zoo import made, trained


@functools.cache
def written(kind, dynamic=True):
    """The bytes of a network of the zoo as PyTorch writes them."""
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            made(kind), (torch.zeros(1, *kind.shape),), file, dynamo=False, input_names=["x"],
            dynamic_axes={"x": {0: "n"}} if dynamic else None,
            opset_version=17, training=torch.onnx.TrainingMode.EVAL if dynamic else torch.onnx.TrainingMode.PRESERVE,
        )  # fmt: skip
    return file.getvalue()


def run(proto, x):
    """The outputs of onnxruntime."""
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")  # AVX2 without VNNI saturates sums otherwise
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(proto, options, providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: x})[0]


class Batches(quantization.CalibrationDataReader):
    def __init__(self, x):
        self.left = iter([{"x": x[i : i + 50]} for i in range(0, len(x), 50)])

    def get_next(self):
        return next(self.left, None)


@functools.cache
def quantized(form, signed, per_channel):
    """The digits network by onnxruntime's own quantizer, as bytes."""
    net, x, _ = trained()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = [os.path.join(folder, name) for name in ("float.onnx", "int8.onnx")]
        torch.onnx.export(
            net, (torch.zeros(1, 1, 8, 8),), names[0], dynamo=False, input_names=["x"], dynamic_axes={"x": {0: "n"}}
        )
        kind = quantization.QuantType.QInt8 if signed else quantization.QuantType.QUInt8
        quantization.quantize_static(
            names[0], names[1], Batches((x[:200] / 16).astype("float32")), per_channel=per_channel,
            quant_format=quantization.QuantFormat[form], activation_type=kind, weight_type=quantization.QuantType.QInt8,
        )  # fmt: skip
        with open(names[1], "rb") as file:
            return file.read()


def network(nodes, shape=("n", 2, 4, 4), weights=(), output="y", kind=TensorProto.FLOAT, opset=17):
    """A ModelProto of these nodes, from x to ``output``."""
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info("x", kind, shape)],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in dict(weights).items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


node = helper.make_node


FUZZED = settings(
    max_examples=int(os.environ.get("ODT_FUZZ_IMPORT", 60)),
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
