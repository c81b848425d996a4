"""Quantized networks for tests of the readers, and what their own runtimes compute."""

import functools
import os
import tempfile
import warnings
from pathlib import Path

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from onnx_networks import Batches, written
from onnxruntime import quantization
from zoo import SqueezeExcite, data, trained

from odt.host.convert import load

FORMS = {
    "qdq": ("QDQ", True, True, {}), "qdq uint8": ("QDQ", False, False, {}),
    "qdq symmetric": ("QDQ", True, True, {"ActivationSymmetric": True}), "operators": ("QOperator", False, False, {}),
}  # fmt: skip


def pixels(kind, count):
    return np.random.default_rng(2).integers(0, 256, (count, *kind.shape)).astype("uint8")


@functools.cache
def by_onnxruntime(kind, form):
    """A network of the zoo by onnxruntime's quantizer, as bytes; of that which standardises its samples they are
    pixels.
    """
    x = pixels(kind, 100) / np.float32(255) if kind is SqueezeExcite else data(kind, 100)
    form, signed, per_channel, options = FORMS[form]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = [os.path.join(folder, name) for name in ("float.onnx", "prepared.onnx", "int8.onnx")]
        Path(names[0]).write_bytes(written(kind))
        quantization.shape_inference.quant_pre_process(names[0], names[1], skip_symbolic_shape=True)
        quantization.quantize_static(
            names[1], names[2], Batches(x), quant_format=quantization.QuantFormat[form], per_channel=per_channel,
            activation_type=quantization.QuantType.QInt8 if signed else quantization.QuantType.QUInt8,
            weight_type=quantization.QuantType.QInt8, extra_options=options,
        )  # fmt: skip
        return Path(names[2]).read_bytes()


def litert(content, x, reference=False):
    """The outputs of LiteRT's interpreter, as it is or by its reference kernels: what their bytes mean."""
    options = {"experimental_op_resolver_type": OpResolverType.BUILTIN_REF} if reference else {}
    machine = Interpreter(model_content=content, **options)
    machine.allocate_tensors()
    (given,), (found,) = machine.get_input_details(), machine.get_output_details()
    rows = []
    for row in x:
        if given["dtype"] == np.int8:
            scale, zero = given["quantization"]
            row = np.clip(np.rint(row / np.float32(scale)) + zero, -128, 127)
        machine.set_tensor(given["index"], row[None].astype(given["dtype"]))
        machine.invoke()
        rows.append(machine.get_tensor(found["index"])[0].copy())
    scale, zero = found["quantization"]
    return (np.array(rows, np.float64) - zero) * (scale or 1)


def of_bytes(content, **options):
    """The int8 model of a file, frozen if not said otherwise."""
    with tempfile.NamedTemporaryFile(suffix=".tflite") as file:
        file.write(content)
        file.flush()
        return load(file.name, dtype="int8", **{"train": "none", **options})


IMAGES = (trained()[1] / 16).astype("float32").reshape(-1, 8, 8, 1)


def up_to(content, end):
    """The file's operators before ``end`` alone."""
    model = schema.ModelT.InitFromPackedBuf(content, 0)
    graph = model.subgraphs[0]
    del graph.operators[end:]
    graph.outputs, model.signatureDefs = list(graph.operators[-1].outputs), None
    builder = flatbuffers.Builder()
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())
