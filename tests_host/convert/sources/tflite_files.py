"""Files of TensorFlow Lite for tests of the reader: those of others, and what writes small ones."""

import tempfile
import warnings
from pathlib import Path

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from sklearn.datasets import load_sample_images

from odt.host.convert import load

FILES = Path(__file__).resolve().parent / "tflite"


class File:
    """A network in the making, call by call."""

    def __init__(self, *shape):
        self.graph, self.model = schema.SubGraphT(), schema.ModelT()
        self.graph.tensors, self.graph.operators = [], []
        self.model.version, self.model.operatorCodes, self.model.buffers = 3, [], [schema.BufferT()]
        self.graph.inputs, self.shape = [self.tensor((1, *shape))], shape

    def tensor(self, shape, kind=schema.TensorType.FLOAT32, data=None):
        made = schema.TensorT()
        made.name, made.shape, made.type = b"t%d" % len(self.graph.tensors), list(shape), kind
        if data is not None:
            made.buffer = len(self.model.buffers)
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(data.tobytes(), np.uint8)
            self.model.buffers.append(buffer)
        self.graph.tensors.append(made)
        return len(self.graph.tensors) - 1

    def constant(self, value):
        value = np.asarray(value)
        value = value.astype(np.int32 if value.dtype.kind in "iu" else np.float32)
        kind = schema.TensorType.INT32 if value.dtype == np.int32 else schema.TensorType.FLOAT32
        return self.tensor(value.shape, kind, value)

    def call(self, name, inputs, shape, options=None, **values):
        code, node = schema.OperatorCodeT(), schema.OperatorT()
        code.builtinCode = getattr(schema.BuiltinOperator, name)
        code.deprecatedBuiltinCode, code.version = min(code.builtinCode, 127), 1
        node.opcodeIndex = len(self.model.operatorCodes)
        self.model.operatorCodes.append(code)
        node.inputs = [each if isinstance(each, int) else self.constant(each) for each in inputs]
        node.outputs = [self.tensor((1, *shape))]
        if options:
            node.builtinOptions = getattr(schema, options + "T")()
            node.builtinOptionsType = getattr(schema.BuiltinOptions, options)
            for key, value in values.items():
                assert hasattr(node.builtinOptions, key)
                setattr(node.builtinOptions, key, value)
        self.graph.operators.append(node)
        return node.outputs[0]

    def bytes(self):
        self.graph.outputs = [self.graph.operators[-1].outputs[0]]
        self.model.subgraphs = [self.graph]
        builder = flatbuffers.Builder()
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


SAME, VALID, RELU, RELU6 = 0, 1, 1, 3


MLPERF = ["kws_ref_model.tflite", "pretrainedResnet_quant.tflite", "str_ww_ref_model.tflite"]


def load_of(content):
    with tempfile.NamedTemporaryFile(suffix=".tflite") as file:
        file.write(content)
        file.flush()
        return load(file.name)


PHOTOS = load_sample_images().images  # two, of scikit-learn


def samples(name, seed, count=100):
    """Pieces of photos for the network that takes images; for the one that takes features, smooth noise of about their
    range.
    """
    rng = np.random.default_rng(seed)
    if "Resnet" in name:
        rows = []
        for _ in range(count):
            photo, times = PHOTOS[rng.integers(2)], int(rng.integers(3, 9))
            y, x = (rng.integers(size - 32 * times) for size in photo.shape[:2])
            piece = photo[y : y + 32 * times, x : x + 32 * times]
            rows.append(piece.reshape(32, times, 32, times, 3).mean((1, 3)).round())
        return np.array(rows, np.float32)
    x = rng.normal(size=(count, 49, 10, 1))
    for axis in (1, 2) * 3:
        x = x + np.roll(x, 1, axis)
    scale = Interpreter(model_path=str(FILES / name)).get_input_details()[0]["quantization"][0]
    return (np.round(x / x.std() * 15) * scale).astype(np.float32)


def steps(file, at, scale, zero):
    tensor = file.graph.tensors[at]
    tensor.type, tensor.quantization = schema.TensorType.INT8, schema.QuantizationParametersT()
    tensor.quantization.scale, tensor.quantization.zeroPoint = [scale], [zero]


def litert(content, x, kernels=OpResolverType.BUILTIN_REF):
    """LiteRT's outputs by its reference kernels, or None where it does not take the network."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            machine = Interpreter(model_content=content, experimental_op_resolver_type=kernels)
            machine.allocate_tensors()
            rows = []
            for row in x:
                machine.set_tensor(machine.get_input_details()[0]["index"], row[None])
                machine.invoke()
                rows.append(machine.get_tensor(machine.get_output_details()[0]["index"]).copy())
    except (RuntimeError, ValueError):
        return None
    return np.array(rows)
