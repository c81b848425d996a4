"""Quantized networks: how far odt's outputs are from those of the source's own runtime, in the source's steps.

    python bench/accuracy/imported.py               some three minutes; writes bench/results/imported.txt
    python bench/accuracy/imported.py --samples 50  prints

Into odt: networks by onnxruntime's quantizer (digits, trained; those of tests_host/convert/test_convert.py with random
weights and samples), and TensorFlow Lite's (digits, trained; MLPerf Tiny's, to the softmax and with it, which makes
much of a step). Runtimes are onnxruntime, LiteRT's interpreter as it is, and by its reference kernels; LiteRT against
itself is how far these two are from one another. Out of odt: int8 models that odt has trained on digits, or imported as
floats, as QDQ by onnxruntime. equal: outputs within a hundredth of a step; beyond: how many are more than one step off;
class: the same largest output.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import written


from odt_networks import gated, means, residual, step  # noqa: E402
from onnx_networks import quantized, run  # noqa: E402
from quantized_networks import FORMS, IMAGES, by_onnxruntime, litert, of_bytes, pixels, up_to  # noqa: E402
from ai_edge_litert.interpreter import Interpreter  # noqa: E402
from tflite_files import FILES, MLPERF, samples  # noqa: E402
from zoo import (  # noqa: E402
    DSCNN,
    ZOO,
    Autoencoder,
    LeNet,
    Mixer,
    MobileNetV2,
    ResNet8,
    Series,
    SqueezeExcite,
    data,
    exported,
    trained,
)

import odt  # noqa: E402
from odt.host.convert import load, save_onnx  # noqa: E402


def line(name, runtime, got, expected, unit):
    count = len(expected)
    got, expected = np.reshape(got, (count, -1)), np.reshape(expected, (count, -1))
    apart = np.abs(got - expected) / unit
    print("%-44s %-18s %7.2f %% %6d of %-6d %5.1f %8.2f %%" % (
        name, runtime, 100 * np.mean(apart < 0.01), np.sum(apart > 1.01), apart.size, apart.max(),
        100 * np.mean(got.argmax(1) == expected.argmax(1))))  # fmt: skip


def predicted(model, x):
    return model.imported.outputs(model.predict(model.imported.samples(x)))


def from_onnx(count):
    images = (trained()[1][1000:] / 16).astype("float32")[: 8 * count]
    for form in (("QDQ", True, True), ("QDQ", False, False), ("QOperator", False, False)):
        content = quantized(*form)
        model = load(onnx.load_from_string(content), dtype="int8", train="none")
        name = "digits, %s%s" % (form[0], " uint8" if not form[1] else "")
        line(name, "onnxruntime", predicted(model, images), run(content, images), model.imported.graph.output.scale)
    for kind in (DSCNN, MobileNetV2, ResNet8, SqueezeExcite, LeNet, Series, Autoencoder, Mixer):
        for form in FORMS:
            if (kind, form) in ((Autoencoder, "operators"),):  # whose transposed convolutions stay floats
                continue
            content = by_onnxruntime(kind, form)
            x = pixels(kind, 100 + count) / np.float32(255) if kind is SqueezeExcite else data(kind, 100 + count)
            model = load(onnx.load_from_string(content), calibrate=x[:100], dtype="int8", train="none")
            x = x[100:]
            name = "%s, %s" % (kind.__name__, form)
            line(name, "onnxruntime", predicted(model, x), run(content, x), model.imported.graph.output.scale)


def inputs(name, count):
    if "str_ww" in name:
        scale = Interpreter(model_path=str(FILES / name)).get_input_details()[0]["quantization"][0]
        return (np.random.default_rng(1).normal(size=(count, 30, 1, 40)) * 30 * scale).astype(np.float32)
    return samples(name, 2, count)


def from_tflite(count):
    cases = [
        (name, (FILES / name).read_bytes(), IMAGES[1000 : 1000 + 8 * count])
        for name in ("digits_int8.tflite", "residual_int8.tflite")
    ]
    for name in MLPERF:
        content = (FILES / name).read_bytes()
        cases.append((name + ", no softmax", up_to(content, -1), inputs(name, count)))
        cases.append((name, content, inputs(name, count)))
    for name, content, x in cases:
        model = of_bytes(content)
        unit, got = model.imported.graph.output.scale, predicted(model, x)
        default, reference = litert(content, x), litert(content, x, True)
        line(name, "LiteRT", got, default, unit)
        line(name, "LiteRT, reference", got, reference, unit)
        line(name, "LiteRT and itself", default, reference, unit)


def to_onnx(count):
    _, x, y = trained()
    x = np.moveaxis(x, 1, -1).astype("int16")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.onnx"
        for kind in [kind for kind in ZOO if kind is not Autoencoder]:
            model = load(exported(kind)[1], calibrate=data(kind, count), train="last")
            given = model.imported.samples(data(kind, count))
            save_onnx(model, path)
            line(
                "%s, from odt" % kind.__name__,
                "onnxruntime",
                run(path.read_bytes(), given),
                model.predict(given),
                step(model),
            )
        for network in (residual, means, gated):
            first, last = network()
            given = (x / 16).astype("float32") if first.layer.dtype == "float32" else x.astype(first.layer.dtype)
            model = odt.Model(first, odt.Dense(10)(odt.Flatten()(last)))
            model.compile(odt.Adam(0.004), seed=3)
            model.fit(given[:1000], y[:1000], epochs=4, verbose=0)
            save_onnx(model, path)
            given = given[1000 : 1000 + 8 * count]
            name = "%s, trained by odt" % network.__name__
            line(name, "onnxruntime", run(path.read_bytes(), given), model.predict(given), step(model))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=100)
    count = parser.parse_args().samples
    print("%-44s %-18s %9s %16s %5s %10s" % ("network", "runtime", "equal", "beyond a step", "most", "class"))
    from_onnx(count)
    from_tflite(count)
    to_onnx(count)


if __name__ == "__main__":
    written.recorded("imported.txt", main)
