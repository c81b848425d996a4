"""Frozen weights of 4 bits: accuracy, flash, RAM and time beside the same networks in 8 bits.

    python bench/accuracy/four_bits.py              some ten minutes; writes bench/results/four_bits.txt
    python bench/accuracy/four_bits.py --seeds 1    prints
    python bench/accuracy/four_bits.py --cycles     cycles of predict() by 8 bits and by 4, of the model files; writes
                                                    bench/results/four_bits_cycles.txt

First: networks that odt trained in int8 (bench/accuracy/accuracy.py), all layers but the last then frozen. "4 bits" is
frozen.pack(bits=4) by 128 training samples, and calibrate() of these; "nearest": the same without GPTQ's correction of
the next weights (Frantar et al., 2022); "+ last": then the last layer trains on for 5 epochs. "8 + last" is that
without 4 bits. Bytes are those of pack(). Then what else a kernel could be, in NumPy, of the same networks: the largest
weight of a row as 7 steps (plain), without the bias correction (no bias), with it (squares), and GPTQ's, where a
layer's inputs are those of the changed layers before it, scales for blocks of 32 weights in a row, and a codebook of 16
values for each layer; all but plain and no bias have the bias correction.

Then the model files of examples/backbones: how many outputs are right, and how many of the same class by 4 and by 8
bits, on data of which others calibrate. image: MNIST's test, 10,000 images. keyword: 20 spoken digits of
examples/keyword; motion: windows of exercises of examples/gesture; both of the data that these networks were trained
on. digits, imported: networks that PyTorch trained on 1000 digits, their other images, mean of five; two of the same
data by TensorFlow Lite's quantizer; camera: the MobileNetV2 of examples/camera, by PyTorch on MNIST, 2,000 images of
its test. RAM is arena and state, of batches of one. --cycles: of an emulated RP2040, counted by odt's own interpreter
(tests_device/rp2040js/README.md), without the flash's cache.
"""

import argparse
import contextlib
import sys
import tempfile
from array import array
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from folders import ROOT  # noqa: E402

for example in ("backbones", "gesture"):
    sys.path.insert(0, str(ROOT / "examples" / example))

import camera_net  # noqa: E402
import motions  # noqa: E402
import nets  # noqa: E402
import counting  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
import written  # noqa: E402
from nitro import mnist  # noqa: E402
from quantized_networks import IMAGES, of_bytes  # noqa: E402
from tflite_files import FILES  # noqa: E402
from accuracy import TASKS  # noqa: E402
from twin import Twin, _padding, _two  # noqa: E402
from zoo import trained  # noqa: E402

import odt  # noqa: E402
from odt.adapt import update  # noqa: E402
from odt.files import frozen  # noqa: E402
from odt.host.convert import load  # noqa: E402
from odt.host import four_bits  # noqa: E402
from odt.host.four_bits import step_of  # noqa: E402

BATCH, FEW, EPOCHS = 16, 128, 5
RP2040 = "rp2040", "rp2040_cached"


def trained_by_odt(task, seed):
    data, layers, epochs, _, rate, _ = TASKS[task]
    train, test = data()
    model = odt.Sequential(layers())
    schedule = odt.CosineDecay(rate, epochs * -(-len(train[0]) // BATCH))
    model.compile(odt.Adam(schedule), batch_size=BATCH, seed=seed)
    model.fit(*train, epochs=epochs, verbose=0)
    return model, train, test


def again(task, seed, **options):
    """The same network, of which the last layer trains."""
    _, layers, _, _, rate, _ = TASKS[task]
    model = odt.Sequential(layers())
    update.last(model)
    steps = EPOCHS * -(-len(TASKS[task][0]()[0][0]) // BATCH)
    model.compile(odt.Adam(odt.CosineDecay(rate / 2, steps)), batch_size=BATCH, seed=seed, **options)
    return model


def right(model, test):
    return 100 * model.evaluate(*test)[1]


def put(model, values):
    model.set_weights([array("f", np.asarray(each, np.float32).tobytes()) for each in values])


@contextlib.contextmanager
def plainly():
    """frozen.pack() rounds each weight by itself."""
    found = four_bits.Windows.factors
    four_bits.Windows.factors = lambda windows: None
    try:
        yield
    finally:
        four_bits.Windows.factors = found


def accuracies(task, seeds):
    rows, others = [], []
    for seed in range(seeds):
        model, train, test = trained_by_odt(task, seed)
        few = train[0][:FEW]
        eight = again(task, seed)
        put(eight, model.get_weights())
        eight.calibrate(few)
        four = again(task, seed, frozen=frozen.pack(eight, bits=4, x=few))
        put(four, model.get_weights())
        four.calibrate(few)
        with plainly():
            nearest = again(task, seed, frozen=frozen.pack(eight, bits=4, x=few))
        put(nearest, model.get_weights())
        nearest.calibrate(few)
        row = [right(model, test), right(nearest, test), right(four, test)]
        sizes = [len(frozen.pack(eight)), len(frozen.pack(four))]
        others.append([of_numpy(task, eight, how, few, test, seed) for how in OTHERS])
        for each in (four, eight):
            each.fit(*train, epochs=EPOCHS, verbose=0)
            row.append(right(each, test))
        rows.append(row)
    deviation = np.std(np.array(rows)[:, 2] - np.array(rows)[:, 0], ddof=1) / seeds**0.5 if seeds > 1 else 0
    print("%-18s%8.2f%9.2f%8.2f%10.2f%10.2f%10.2f%10d%8d" % (task, *np.mean(rows, 0), deviation, *sizes), flush=True)
    return np.mean(others, 0)


# --- what else a kernel could be -----------------------------------------------------------------


def rounded(rows, steps):
    return np.clip(np.rint(rows / steps), -7, 7) * steps


def best(rows):
    """The steps of odt.host.four_bits, of rows scaled to 127 as odt's int8 has them."""
    unit = np.abs(rows).max(1, keepdims=True) / 127
    unit[unit == 0] = 1
    return np.array([[step_of(row)] for row in np.rint(rows / unit).astype(int).tolist()]) * unit


def plain(rows, x):
    return rounded(rows, np.maximum(np.abs(rows).max(1, keepdims=True), 1e-30) / 7)


def squares(rows, x):
    return rounded(rows, best(rows))


def gptq(rows, x):
    rows, hessian, steps = rows.astype(float), x.T @ x / len(x), best(rows)
    hessian = hessian + np.eye(len(hessian)) * (0.01 * np.mean(np.diag(hessian)) + 1e-9)
    order = np.argsort(-np.diag(hessian))
    rows, inverse = rows[:, order], np.linalg.cholesky(np.linalg.inv(hessian[order][:, order])).T
    out = np.zeros_like(rows)
    for i in range(len(order)):
        out[:, i : i + 1] = rounded(rows[:, i : i + 1], steps)
        rows[:, i:] -= np.outer((rows[:, i] - out[:, i]) / inverse[i, i], inverse[i, i:])
    return out[:, np.argsort(order)]


def blocks(rows, x):
    parts = [rows[:, at : at + 32] for at in range(0, rows.shape[1], 32)]
    return np.concatenate([squares(part, x) for part in parts], 1)


def codebook(rows, x):
    unit = np.maximum(np.abs(rows).max(1, keepdims=True), 1e-30) / 127
    values = (rows / unit).ravel()
    centres = np.quantile(values, np.linspace(0, 1, 16))
    for _ in range(40):
        nearest = np.abs(values[:, None] - centres).argmin(1)
        for k in np.unique(nearest):
            centres[k] = values[nearest == k].mean()
    centres = np.rint(centres)
    return centres[np.abs(values[:, None] - centres).argmin(1)].reshape(rows.shape) * unit


OTHERS = {"plain": plain, "no bias": squares, "squares": squares, "GPTQ": gptq, "blocks": blocks, "codebook": codebook}


def windows(node, image):
    """(output channels or 1, positions, weights of a row): what the weights of a row meet."""
    layer = node.layer
    if layer.kind == "dense":
        return image.reshape(1, -1, layer.kernel_shape[1])
    shape = _two(layer, node.inputs[0].shape[:-1])
    image = image.reshape(-1, *shape, node.inputs[0].shape[-1]).permute(0, 3, 1, 2)
    window = _two(layer, layer.kernel_shape[1 : 1 + layer.axes])
    image = torch.nn.functional.pad(image, _padding(layer, shape, window))
    found = torch.nn.functional.unfold(image, window, stride=_two(layer, layer.strides))
    found = found.reshape(found.shape[0], image.shape[1], -1, found.shape[-1])
    if layer.by_channel:
        return found.permute(1, 0, 3, 2).reshape(image.shape[1], -1, found.shape[2])
    return found.permute(0, 3, 2, 1).reshape(1, -1, found.shape[2] * image.shape[1])


def of_numpy(task, model, how, few, test, seed):
    values = [np.array(each) for each in model.get_weights()]
    x = few.astype("float32") * model.nodes[0].layer.scale
    whole, at = Twin(model, torch.float32, values).outputs(x), 0
    changed = [value.copy() for value in values]
    for node in model.nodes:
        if node.layer.kernel_shape and not node.layer.trainable:
            shape = (node.layer.kernel_shape[0], -1)
            now = Twin(model, torch.float32, changed).outputs(x)[node.inputs[0]]
            found, before = [windows(node, each).detach().numpy() for each in (now, whole[node.inputs[0]])]
            rows, parts = values[at].reshape(shape), len(found)
            groups = np.split(rows, parts)
            made = [OTHERS[how](part, met) for part, met in zip(groups, found)]
            changed[at] = np.concatenate(made).ravel()
            if how not in ("plain", "no bias") and len(node.layer.weight_shapes()) > 1:
                pairs = zip(groups, made, before, found)
                moved = [(b @ part.T).mean(0) - (met @ new.T).mean(0) for part, new, b, met in pairs]
                changed[at + 1] = values[at + 1] + np.concatenate(moved)
        at += len(node.layer.weight_shapes())
    made = again(task, seed)
    put(made, changed)
    made.calibrate(few)
    return right(made, test)


# --- model files ---------------------------------------------------------------------------------


def image():
    """MNIST's test, after as many images of training that calibrate."""
    (x, y), (xt, yt) = mnist()
    x, y = np.concatenate([x[:10000], xt]), np.concatenate([y[:10000], yt])
    return x.reshape(-1, 28, 28, 1), y


def keyword():
    raw = [np.fromfile(ROOT / "examples/keyword" / name, "uint8") for name in ("teach.bin", "stream.bin")]
    raw = np.concatenate(raw).reshape(-1, 5201)
    frames = nets.frames()
    x = [np.array(frames(each[:-1].view("int8").astype("int16") * 256)) for each in raw]
    return np.array(x, "int16").reshape(-1, 32, 20), raw[:, -1]


def motion():
    features, x, y = nets.moves(), [], []
    for label, samples in motions.recordings(str(ROOT / "examples/gesture/day.bin")):
        for window in motions.windows(samples):
            x.append(np.array(features(window)))
            y.append(nets.EXERCISES.index(label))
    return np.array(x, "int16"), np.array(y, "uint8")


def timed(name, eight, four, x):
    """Cycles of both, of one sample of zeros, on each machine."""
    line = "%-18s" % name
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / file for file in ("eight.odt", "four.odt")]
        for model, path in zip((eight, four), paths):
            model.export(str(path))
        for machine in RP2040:
            counts = [counting.of_file(machine, path, x[:1].nbytes)[0] for path in paths]
            line += "%11d%11d%+8.1f %%" % (*counts, 100 * (counts[1] / counts[0] - 1))
    print(line, flush=True)


def compared(name, pairs, x, y):
    """A row of the table of model files; ``pairs``: (of 8 bits, of 4), compiled, of which the mean is taken."""
    if "--cycles" in sys.argv:
        return timed(name, *pairs[0], x)
    shares = []
    for pair in pairs:
        found = [np.array(model.predict(x)).reshape(len(x), -1).argmax(1) for model in pair]
        shares.append([*[100 * np.mean(each == y) for each in found], 100 * np.mean(found[0] == found[1])])
    plans = [model.session.plan for model in pairs[0]]
    print("%-18s%8.2f%8.2f%8.2f%10d%8d%8d%8d" % (
        name, *np.mean(shares, 0), *[plan.constants for plan in plans],
        *[plan.arena + plan.state for plan in plans]), flush=True)  # fmt: skip


def backbone(name, data):
    x, y = data()
    order = np.arange(len(x)) if name == "image" else np.random.default_rng(0).permutation(len(x))
    few, rest = order[: len(x) // 2][:FEW], order[len(x) // 2 :]
    path = str(ROOT / "examples/backbones" / (name + ".odt"))

    def compiled(given=None):
        model = getattr(nets, name)()
        update.last(model)
        model.compile(odt.Adam(0.01), batch_size=1, seed=0, frozen=given)
        model.load_weights(path)
        model.calibrate(x[few], y[few])
        return model

    whole = compiled()
    pair = [compiled(each) for each in (frozen.pack(whole), frozen.pack(whole, bits=4, x=x[few]))]
    compared(name, [pair], x[rest], y[rest])


def imported():
    pairs = [of_digits(seed) for seed in range(1 if "--cycles" in sys.argv else 5)]
    _, x, y = trained()
    compared("digits, imported", pairs, x.transpose(0, 2, 3, 1)[1000:], y[1000:])


def of_digits(seed):
    net, x, y = trained(seed)
    x = x.transpose(0, 2, 3, 1)

    def made(**options):
        model = load(net, (1, 8, 8), calibrate=x[:FEW], train="last", batch_size=1, optimizer=odt.Adam(0.01),
                     input={"dtype": "uint8", "scale": 1 / 16}, **options)  # fmt: skip
        model.calibrate(x[:FEW], y[:FEW])
        return model

    whole = made()
    given = [frozen.pack(whole), frozen.pack(whole, bits=4, x=x[:FEW])]
    return [made(frozen=each) for each in given]


def by_tflite(name):
    content, (_, _, y) = (FILES / name).read_bytes(), trained()

    def made(**options):
        given = dict(options, train="last", batch_size=1, optimizer=odt.Adam(0.01), calibrate=IMAGES[:FEW])
        model = of_bytes(content, **given)
        model.calibrate(model.imported.samples(IMAGES[:FEW]), y[:FEW])
        return model

    whole = made()
    x = whole.imported.samples(IMAGES)
    given = [frozen.pack(whole), frozen.pack(whole, bits=4, x=x[:FEW])]
    pair = [made(frozen=each) for each in given]
    compared(name.replace("_int8.tflite", ", TFLite"), [pair], x[1000:], y[1000:])


def camera():
    (x, y), (xt, yt) = mnist()
    few, test = [camera_net.seen(each, np.random.default_rng(1)) for each in (x[:FEW], xt[:2000])]

    def made(**options):
        model = camera_net.imported("last", odt.SGD(0.004), **options)
        model.calibrate(few, y[:FEW])
        return model

    whole = made()
    given = [frozen.pack(whole), frozen.pack(whole, bits=4, x=few)]
    compared("camera, imported", [[made(frozen=each) for each in given]], test, yt[:2000])


def accuracy_of_tasks(seeds):
    tasks = "digits-cnn", "digits-separable", "mnist1d-cnn"
    print("%-18s%8s%9s%8s%10s%10s%10s%10s%8s" % (
        "accuracy, %", "int8", "nearest", "4 bits", "+ last", "8 + last", "+-", "bytes, 8", "4"))  # fmt: skip
    others = [accuracies(task, seeds) for task in tasks]
    print("\n%-18s" % "4 bits, otherwise" + "".join(["%10s" % how for how in OTHERS]))
    for task, row in zip(tasks, others):
        print("%-18s" % task + "".join(["%10.2f" % value for value in row]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--cycles", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.cycles:
        print("%-18s%11s%11s%10s%11s%11s" % ("cycles, RP2040", "8 bits", "4 bits", "", "8, cache", "4, cache"))
    else:
        accuracy_of_tasks(arguments.seeds)
        print("\n%-18s%8s%8s%8s%10s%8s%8s%8s" % (
            "right, %", "int8", "4 bits", "same", "bytes, 8", "4", "RAM, 8", "4"))  # fmt: skip
    for name, data in (("image", image), ("keyword", keyword), ("motion", motion)):
        backbone(name, data)
    imported()
    if not arguments.cycles:
        for name in ("digits_int8.tflite", "residual_int8.tflite"):
            by_tflite(name)
        camera()


if __name__ == "__main__":
    if sys.argv[1:] == ["--cycles"]:
        written.kept("four_bits_cycles.txt", main)
    else:
        written.recorded("four_bits.txt", main)
