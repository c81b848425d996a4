"""Makes digits_int8.tflite and residual_int8.tflite: networks that PyTorch has trained on digits, quantized by Google's
quantizer.

build/venv/bin/pip install ai-edge-quantizer==0.10.0
PYTHONPATH=. build/venv/bin/python tests_host/convert/sources/tflite/make.py
"""

import sys
from pathlib import Path

import numpy as np
import torch
from ai_edge_quantizer import quantizer, recipe
from torch import nn
from torch.nn import functional as F

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE.parents[2] / "helpers"))

from ai_edge_litert import schema_py_generated as schema  # noqa: E402
from checkout import ROOT  # noqa: E402
from tflite_files import RELU, RELU6, SAME, VALID, File  # noqa: E402

RAW = np.fromfile(ROOT / "examples/digits/digits.bin", "uint8")
X = (RAW[: 1797 * 64].reshape(-1, 8, 8, 1) / 16).astype("float32")
Y = RAW[1797 * 64 :].astype("int64")


class Digits(nn.Module):
    epochs = 4

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(1, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1)
        self.last = nn.Linear(64, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.a(x)), 2)
        return self.last(F.max_pool2d(F.relu(self.b(x)), 2).permute(0, 2, 3, 1).flatten(1))

    def write(self, file):
        at = conv(file, 0, self.a, (8, 8, 8))
        at = pooled(file, "MAX_POOL_2D", at, (4, 4, 8))
        at = conv(file, at, self.b, (4, 4, 16))
        at = pooled(file, "MAX_POOL_2D", at, (2, 2, 16))
        dense(file, at, self.last, 64)


class Residual(nn.Module):
    """Depthwise convolutions, a sum, a hard swish, a mean of windows."""

    epochs = 30

    def __init__(self):
        super().__init__()
        self.a, self.d, self.p = (
            nn.Conv2d(1, 12, 3, padding=1),
            nn.Conv2d(12, 12, 3, padding=1, groups=12),
            nn.Conv2d(12, 12, 1),
        )
        self.e, self.q = nn.Conv2d(12, 12, 3, 2, groups=12), nn.Conv2d(12, 24, 1)
        self.last = nn.Linear(96, 10)

    def forward(self, x):
        x = F.relu6(self.a(x))
        x = x + self.p(F.relu6(self.d(x)))
        x = F.relu(self.e(F.pad(x, (0, 1, 0, 1))))  # TensorFlow's SAME
        x = F.avg_pool2d(F.hardswish(self.q(x)), 2)
        return self.last(x.permute(0, 2, 3, 1).flatten(1))

    def write(self, file):
        first = conv(file, 0, self.a, (8, 8, 12), activation=RELU6)
        at = conv(file, first, self.d, (8, 8, 12), activation=RELU6)
        at = conv(file, at, self.p, (8, 8, 12), activation=0)
        at = file.call("ADD", [first, at], (8, 8, 12), "AddOptions")
        at = conv(file, at, self.e, (4, 4, 12), 2)
        at = conv(file, at, self.q, (4, 4, 24), activation=0)
        at = file.call("HARD_SWISH", [at], (4, 4, 24), "HardSwishOptions")
        dense(file, pooled(file, "AVERAGE_POOL_2D", at, (2, 2, 24)), self.last, 96)


def conv(file, at, layer, shape, stride=1, activation=RELU):
    kernel, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    options = dict(
        strideH=stride, strideW=stride, padding=SAME, fusedActivationFunction=activation, dilationHFactor=1,
        dilationWFactor=1,
    )  # fmt: skip
    if layer.groups > 1:
        kernel = np.ascontiguousarray(kernel[:, 0].transpose(1, 2, 0)[None])
        return file.call(
            "DEPTHWISE_CONV_2D", [at, kernel, bias], shape, "DepthwiseConv2DOptions", depthMultiplier=1, **options
        )
    return file.call(
        "CONV_2D", [at, np.ascontiguousarray(kernel.transpose(0, 2, 3, 1)), bias], shape, "Conv2DOptions", **options
    )


def pooled(file, name, at, shape):
    return file.call(
        name, [at], shape, "Pool2DOptions",
        strideH=2, strideW=2, filterHeight=2, filterWidth=2, padding=VALID, fusedActivationFunction=0,
    )  # fmt: skip


def dense(file, at, layer, count):
    at = file.call("RESHAPE", [at, np.array([1, count])], (count,), "ReshapeOptions")
    weights = [layer.weight.detach().numpy(), layer.bias.detach().numpy()]
    return file.call("FULLY_CONNECTED", [at, *weights], (10,), "FullyConnectedOptions")


def trained(kind):
    torch.manual_seed(0)
    net, x, y = kind(), torch.tensor(X).permute(0, 3, 1, 2), torch.tensor(Y)
    optimizer = torch.optim.Adam(net.parameters(), 0.005)
    for _ in range(kind.epochs):
        for i in range(0, 1000, 20):
            optimizer.zero_grad()
            F.cross_entropy(net(x[i : i + 20]), y[i : i + 20]).backward()
            optimizer.step()
    print(kind.__name__, "accuracy", (net(x[1000:]).argmax(1) == y[1000:]).float().mean().item())
    return net


def signed(file):
    """The file with a signature, by which the quantizer calls the network."""
    file.graph.name = b"main"
    signature = schema.SignatureDefT()
    signature.signatureKey, signature.subgraphIndex = b"serving_default", 0
    signature.inputs, signature.outputs = [schema.TensorMapT()], [schema.TensorMapT()]
    last = file.graph.operators[-1].outputs[0]
    for map, name, at in ((signature.inputs[0], b"x", 0), (signature.outputs[0], b"y", last)):
        map.name, map.tensorIndex = name, at
    file.model.signatureDefs = [signature]
    return file.bytes()


for kind in (Digits, Residual):
    file = File(8, 8, 1)
    trained(kind).write(file)
    made = quantizer.Quantizer(signed(file), recipe.static_wi8_ai8())
    ranges = made.calibrate({"serving_default": [{"x": row[None]} for row in X[:200]]})
    made.quantize(ranges).export_model(str(HERE / (kind.__name__.lower() + "_int8.tflite")), overwrite=True)
