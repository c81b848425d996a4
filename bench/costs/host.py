"""odt in int8 on this PC beside PyTorch, LiteRT and scikit-learn, each on one thread.

    python bench/costs/host.py              two minutes; writes bench/results/host.txt
    python bench/costs/host.py PART ..      prints parts: epochs predictions fits compile

Epochs: `fit` beside PyTorch in float32 by Adam and by Adam(fused=True), four networks at each batch size: the digits
CNN, one of images of 32x32x3 with 16 and 32 filters, MLPerf Tiny's DS-CNN without BatchNorms, a perceptron of
784-128-10. Samples are digits, for the others random numbers. Network, batch size, optimizer and order at random are
the same; the data lies in memory. Predictions: int8 networks of TensorFlow Lite, imported by odt, one sample at a time,
beside LiteRT's interpreter with XNNPACK. Fits: scikit-learn's MLPClassifier on digits, from the constructor to the end.
Compile: from layers, and `load_model`, with NumPy, PyTorch and scikit-learn imported.

Both of a pair take turns in one process, so that what else the PC does hits both. Milliseconds are medians of TURNS
turns after 2 to warm up; a ratio is the median of the turns' own ratios, the worst of PyTorch's two.
"""

import argparse
import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import counting  # noqa: E402
import numpy as np  # noqa: E402
import sklearn  # noqa: E402
import torch  # noqa: E402
from ai_edge_litert.interpreter import Interpreter  # noqa: E402
from counting import ROOT  # noqa: E402
from sklearn.neural_network import MLPClassifier  # noqa: E402
from tflite_files import FILES  # noqa: E402
from torch import nn  # noqa: E402
import written  # noqa: E402

import odt  # noqa: E402
from odt.host import convert  # noqa: E402

TURNS, RATE = 15, 0.004
PREDICTIONS = 50  # to a turn


def digits(count):
    data = np.fromfile(ROOT / "examples/digits/digits.bin", "uint8")
    return data[: 64 * count].copy(), data[64 * 1797 :][:count].copy()


def noise(size):
    def drawn(count):
        rng = np.random.default_rng(0)
        return rng.integers(0, 256, count * size).astype("uint8"), rng.integers(0, 10, count).astype("uint8")

    return drawn


def cnn(shape, *filters):
    """(odt's layers, PyTorch's) of 3x3 convolutions with ReLU and max-pooling, and a dense layer."""
    height, width, channels = shape
    ours, theirs = [], []
    for count in filters:
        ours += [odt.Conv2D(count, 3, padding="same", activation="relu"), odt.MaxPool2D()]
        theirs += [nn.Conv2d(channels, count, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        channels, height, width = count, height // 2, width // 2
    return [*ours, odt.Flatten(), odt.Dense(10)], [*theirs, nn.Flatten(), nn.Linear(height * width * channels, 10)]


def separable(channels=64):
    """(odt's layers, PyTorch's) of DS-CNN."""
    first = odt.Conv2D(channels, (10, 4), strides=2, padding="same", activation="relu")
    ours, theirs = [first], [nn.ZeroPad2d((1, 1, 4, 5)), nn.Conv2d(1, channels, (10, 4), 2), nn.ReLU()]
    for _ in range(4):
        ours.append(odt.DepthwiseConv2D(3, padding="same", activation="relu"))
        ours.append(odt.Conv2D(channels, 1, activation="relu"))
        theirs += [nn.Conv2d(channels, channels, 3, padding=1, groups=channels), nn.ReLU()]
        theirs += [nn.Conv2d(channels, channels, 1), nn.ReLU()]
    theirs += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10)]
    return [*ours, odt.GlobalAveragePooling2D(), odt.Dense(10)], theirs


def perceptron():
    return [odt.Dense(128, "relu"), odt.Dense(10)], [nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10)]


# Of each the input's shape, the largest value there, samples of an epoch at most, what makes samples, layers, batch
# sizes.
NETWORKS = {
    "digits": ((8, 8, 1), 16, 1000, digits, lambda: cnn((8, 8, 1), 8, 16), (1, 16, 64, 250)),
    "32x32x3": ((32, 32, 3), 255, 128, noise(3072), lambda: cnn((32, 32, 3), 16, 32), (1, 16, 64)),
    "DS-CNN": ((49, 10, 1), 255, 256, noise(490), separable, (1, 16, 64)),
    "784-128-10": ((784,), 255, 500, noise(784), perceptron, (1, 16, 64, 250)),
}  # fmt: skip


def ours(layers, shape, largest, batch, x, y):
    """An epoch."""
    model = odt.Sequential([odt.Input(shape, dtype="uint8", scale=1 / largest), *layers])
    model.compile(odt.Adam(RATE), batch_size=batch, seed=7)
    return lambda: model.fit(x, y, verbose=0)


def theirs(layers, shape, largest, batch, x, y, **options):
    """An epoch, with options of Adam's."""
    torch.manual_seed(7)
    network = nn.Sequential(*layers)
    x = x.reshape(-1, *shape)
    images = torch.from_numpy(np.moveaxis(x, -1, 1).copy() if len(shape) == 3 else x).float() / largest
    labels = torch.from_numpy(y).long()
    optimizer = torch.optim.Adam(network.parameters(), RATE, **options)
    loss = nn.CrossEntropyLoss()

    def epoch():
        order = torch.randperm(len(y))
        for at in range(0, len(y), batch):
            chosen = order[at : at + batch]
            optimizer.zero_grad()
            loss(network(images[chosen]), labels[chosen]).backward()
            optimizer.step()

    return epoch


def turns(*runs):
    """Seconds of each, turn by turn."""
    times = [[] for _ in runs]
    for turn in range(2 + TURNS):
        for run, found in zip(runs, times):
            begin = time.perf_counter()
            run()
            if turn >= 2:
                found.append(time.perf_counter() - begin)
    return times


def compared(first, *others):
    """(milliseconds of each, the worst median of first's time in another's)"""
    times = turns(first, *others)
    ratios = [statistics.median(map(float.__truediv__, times[0], other)) for other in times[1:]]
    return [1e3 * statistics.median(each) for each in times], max(ratios, default=None)


def epochs():
    for network, (shape, largest, most, samples, layers, batches) in NETWORKS.items():
        for batch in batches:
            data = samples(most // batch * batch)
            given = shape, largest, batch, *data
            found, ratio = compared(
                ours(layers()[0], *given), theirs(layers()[1], *given), theirs(layers()[1], *given, fused=True)
            )
            yield ratio, "%-12s%7d%9d%11.1f%11.1f%11.1f%8.2f" % (network, batch, len(data[1]), *found, ratio)


def predictions():
    for path in sorted(FILES.glob("*.tflite")):
        content = path.read_bytes()
        machine = Interpreter(model_content=content, num_threads=1)
        machine.allocate_tensors()
        (given,), (made,) = machine.get_input_details(), machine.get_output_details()
        kind = np.dtype(given["dtype"]).name
        options = {} if kind == "float32" else {"input": {"dtype": kind}}
        model = convert.load(path, dtype="int8", train="none", **options)
        row = np.random.default_rng(0).integers(-128, 128, given["shape"]).astype(kind)

        def by_odt():
            for _ in range(PREDICTIONS):
                model.predict(row)

        def by_litert():
            for _ in range(PREDICTIONS):
                machine.set_tensor(given["index"], row)
                machine.invoke()
                machine.get_tensor(made["index"])

        found, ratio = compared(by_odt, by_litert)
        yield ratio, "%-28s%11.2f%11.2f%8.2f" % (path.stem, *found, ratio)


def fits():
    x, y = digits(1797)
    scaled = x.reshape(-1, 64) / 16
    for hidden in ((32,), (100,), (64, 32)):
        for batch, count in ((32, 5), (200, 20)):

            def by_odt():
                layers = [odt.Dense(units, "relu") for units in hidden]
                model = odt.Sequential([odt.Input((64,), dtype="uint8", scale=1 / 16), *layers, odt.Dense(10)])
                model.compile(odt.Adam(RATE), batch_size=batch)
                model.fit(x, y, epochs=count, verbose=0)

            def by_sklearn():
                MLPClassifier(hidden, batch_size=batch, learning_rate_init=RATE, max_iter=count).fit(scaled, y)

            found, ratio = compared(by_odt, by_sklearn)
            name = " ".join(map(str, hidden))
            yield ratio, "%-12s%7d%9d%11.1f%11.1f%8.2f" % (name, batch, count, *found, ratio)


def compiled():
    with tempfile.TemporaryDirectory() as folder:
        for network, (shape, largest, _, _, layers, _) in NETWORKS.items():
            path = Path(folder) / network

            def compile_it():
                model = odt.Sequential([odt.Input(shape, dtype="uint8", scale=1 / largest), *layers()[0]])
                model.compile(odt.Adam(RATE), batch_size=16)
                return model

            model = compile_it()
            model.calibrate(*NETWORKS[network][3](64))
            model.export(path)
            found, _ = compared(compile_it, lambda: odt.load_model(path))
            yield max(found), "%-12s%8.2f%12.2f" % (network, *found)


# Of each its rows, the heading, and the bound of what a row gives first: a ratio, or milliseconds.
PARTS = {
    "epochs": (epochs, "network       batch  samples   odt int8    PyTorch      fused   ratio", 0.8),
    "predictions": (predictions, "50 predictions                      odt     LiteRT   ratio", 1),
    "fits": (fits, "hidden        batch   epochs   odt int8    sklearn   ratio", 0.5),
    "compile": (compiled, "network      compile  load_model", 15),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=" ".join(PARTS))
    parts = parser.parse_args().parts or PARTS
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # scikit-learn's of epochs that were not enough
    print("\n".join(counting.head("odt on a PC. Written by: python bench/costs/host.py")))
    print("torch %s, scikit-learn %s; one thread; milliseconds" % (torch.__version__, sklearn.__version__))
    print(written.processor())
    for part in parts:
        rows, heading, bound = PARTS[part]
        print("\n" + heading)
        found = []
        for value, text in rows():
            found.append(value)
            print(text, flush=True)
        worst = max(found)
        print("worst %.2f, bound %g: %s" % (worst, bound, "met" if worst <= bound else "MISSED"))


if __name__ == "__main__":
    written.recorded("host.txt", main)
