"""What odt.continual.teach learns from a few samples of new classes, and what it costs.

    python bench/accuracy/teach.py            digits and costs; without arguments it writes bench/results/teach.txt (ten
                                     minutes)
    python bench/accuracy/teach.py --task mnist1d --no-machines      (half an hour)

Digits: eight classes train the network of examples/digits on the file's first 1,000 images (15 epochs, Adam 0.006 with
cosine decay), the two others are taught by 3 or 10 images of each; the 797 others, by other writers, are the test.
MNIST-1D: bench/accuracy/accuracy.py's network and data, 2,000 of the test, 15 epochs, Adam 0.004. Of what was known the
Teacher keeps ``kept`` samples of each class, drawn by the seed; its front is the network without the last layer. Two
pairs of new classes, each with seeds 0.. (first weights, samples): accuracy in %, mean +- standard error over all of
them.

known: test samples of the eight classes; before: by the network itself, which knows only these. new: of the two.
nearest mean, nearest sample: what is kept decides without training, by the least squared distance and the largest
cosine. PyTorch: float32, from the float32 network's weights, with all data: all samples of the eight, and of each new
class the taught ones, repeated to as many as a known one's; Adam with cosine decay, 20 epochs, of the rates 0.003 and
0.01 the one with the best accuracy over both (which favours it): all layers, and the last one alone.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from folders import ROOT  # noqa: E402
import counting  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
import written  # noqa: E402
from accuracy import digits_cnn, mnist1d, mnist1d_cnn  # noqa: E402
from twin import Twin  # noqa: E402

import odt  # noqa: E402
from odt.continual import teach  # noqa: E402

PAIRS = (3, 7), (4, 9)
KEPT = 8, 32
MACHINES = "rp2040", "qemu_m4"


def series():
    """MNIST-1D with 2,000 series to test on."""
    train, (x, y) = mnist1d()
    return train, (x[:2000], y[:2000])


def digits():
    data = (ROOT / "examples/digits/digits.bin").read_bytes()
    x = np.frombuffer(data[: 1797 * 64], "uint8").reshape(-1, 8, 8, 1)
    y = np.frombuffer(data[1797 * 64 :], "uint8")
    return (x[:1000], y[:1000]), (x[1000:], y[1000:])


TASKS = {"digits": (digits, digits_cnn, 0.006), "mnist1d": (series, mnist1d_cnn, 0.004)}


def pretrained(layers, x, y, rate, dtype, seed):
    model = odt.Sequential(layers())
    model.compile(odt.Adam(odt.CosineDecay(rate, 15 * -(-len(x) // 16))), dtype=dtype, batch_size=16, seed=seed)
    model.fit(x, y, epochs=15, verbose=0)
    return model


class Trial:
    """One pair of new classes and one seed."""

    def __init__(self, task, new, shots, seed, models):
        data, layers, rate = TASKS[task]
        (self.x, self.y), (self.xt, self.yt) = DATA.setdefault(task, data())
        self.new, self.seed = new, seed
        self.known = np.flatnonzero(~np.isin(self.y, new))
        rng = np.random.default_rng(seed)
        self.order = [rng.permutation(np.flatnonzero(self.y == label)) for label in range(10)]
        self.shots = [self.order[label][:shots] for label in new]
        self.models = {}
        for dtype in ("int8", "float32"):
            key = task, new, seed, dtype
            if key not in models:
                models[key] = pretrained(layers, self.x[self.known], self.y[self.known], rate, dtype, seed)
            self.models[dtype] = models[key]

    def score(self, found):
        right, new = np.asarray(found) == self.yt, np.isin(self.yt, self.new)
        return 100 * right[~new].mean(), 100 * right[new].mean()

    def before(self, dtype):
        return self.score(np.array(self.models[dtype].predict(self.xt)).reshape(-1, 10).argmax(1))

    def taught(self, dtype, kept):
        """Scores by name."""
        front = teach.front(self.models[dtype])
        width = int(np.prod(front.nodes[-1].shape))
        teacher = teach.Teacher(front, classes=10, budget=10 * kept * width, seed=self.seed)
        for label in range(10):
            for i in self.shots[self.new.index(label)] if label in self.new else self.order[label][:kept]:
                teacher.learn(self.x[i], label)
        found = {"odt.continual.teach": self.score([teacher.predict(row)[0] for row in self.xt])}
        stored = (
            np.frombuffer(bytes(teacher.state), "int8")[-10 * kept * width :].reshape(10, kept, width).astype("float32")
        )
        test = np.array(front.predict(self.xt)).reshape(len(self.xt), width)
        test = np.rint(127 * test / np.maximum(np.abs(test).max(1, keepdims=True), 1e-30))
        means = stored.mean(1)
        found["nearest mean"] = self.score(((means**2).sum(1) - 2 * test @ means.T).argmin(1))
        rows = stored.reshape(-1, width)
        cosines = test @ (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)).T
        found["nearest sample"] = self.score(cosines.argmax(1) // kept)
        return found

    def torch(self, last):
        model = self.models["float32"]
        scale = model.nodes[0].layer.scale
        x, y = torch.tensor(self.x.astype("float32") * scale), torch.tensor(self.y.astype("int64"))
        often = len(self.known) // 8
        index = torch.tensor(np.concatenate([self.known] + [np.resize(shots, often) for shots in self.shots]))
        best = None
        for rate in (0.003, 0.01):
            twin = Twin(model, torch.float32)
            parameters = twin.flat_parameters()[-2 if last else 0 :]
            torch.manual_seed(self.seed)
            steer = torch.optim.Adam(parameters, lr=rate)
            schedule = torch.optim.lr_scheduler.CosineAnnealingLR(steer, 20 * -(-len(index) // 32))
            for _ in range(20):
                for rows in index[torch.randperm(len(index))].split(32):
                    steer.zero_grad()
                    torch.nn.functional.cross_entropy(twin.forward(x[rows]), y[rows]).backward()
                    steer.step()
                    schedule.step()
            with torch.no_grad():
                out = twin.forward(torch.tensor(self.xt.astype("float32") * scale))
            found = self.score(out.argmax(1).numpy())
            if best is None or sum(found) > sum(best):
                best = found
        return best


DATA = {}


def cell(values):
    return "%5.1f +- %3.1f" % (np.mean(values), np.std(values) / max(len(values) - 1, 1) ** 0.5)


def table(task, seeds):
    models = {}
    print("%-9s%6s%6s  %-28s%15s%15s%15s" % (task, "shots", "kept", "", "known before", "known", "new"))
    for shots in (3, 10):
        trials = [Trial(task, new, shots, seed, models) for new in PAIRS for seed in range(seeds)]
        rows = {}
        for trial in trials:
            for kept in KEPT:
                for dtype in ("int8", "float32"):
                    for name, found in trial.taught(dtype, kept).items():
                        if name == "odt.continual.teach" or dtype == "int8":
                            rows.setdefault((kept, name + " " + dtype), []).append(trial.before(dtype)[:1] + found)
            for last in (False, True):
                name = "PyTorch, %s" % ("the last layer" if last else "all layers")
                rows.setdefault(("all", name), []).append(trial.before("float32")[:1] + trial.torch(last))
        for kept, name in sorted(rows, key=lambda row: (row[0] == "all", row[0] if row[0] != "all" else 0)):
            cells = "".join(["%15s" % cell(column) for column in zip(*rows[kept, name])])
            print("%15d%6s  %-28s%s" % (shots, kept, name, cells), flush=True)
    print()


ON_BOARD = """
import odt
from odt.continual import teach
front = odt.Sequential([
    odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16), odt.Conv2D(8, 3, padding="same", activation="relu"), odt.MaxPool2D(),
    odt.Conv2D(16, 3, padding="same", activation="relu"), odt.MaxPool2D(), odt.Flatten(),
])
front.compile(None, "mse", batch_size=1)
image = bytearray(64)
def draw(i):
    for k in range(64):
        image[k] = (k * (i + 3) + 5 * i) % 17
draw(0)
front.calibrate(image)
teacher = teach.Teacher(front, classes=10, budget=20480)
for i in range(10):
    draw(i)
    teacher.learn(image, i)
teacher.predict(image)
begin()
end()
draw(4)
begin()
front.predict(image)
end()
begin()
teacher.learn(image, 4)
end()
begin()
teacher.fit()
end()
begin()
teacher.predict(image)
end()
begin()
teacher.similarity(image)
end()
"""  # noqa: E501


def costs(names):
    """Of the digits' network: a front of 64 numbers, 10 classes, 32 samples of each."""
    (x, y), _ = digits()
    front = teach.front(pretrained(digits_cnn, x, y, 0.006, "int8", 0))
    teacher = teach.Teacher(front, classes=10, budget=20480)
    head = vars(teacher)["_head"].session
    kept, learns = len(teacher.state), len(head.state) + len(head.arena)
    print("digits, 10 classes, 32 samples of each: %d bytes kept, %d for the layer that learns, front %d bytes" % (
        kept, learns, len(front.session.state) + len(front.session.arena)))  # fmt: skip
    print("%-10s%14s%14s%14s%14s%14s%14s" % ("", "", "front alone", "learn", "fit", "predict", "similarity"))
    for name in names:
        machine = counting.open(name)
        found = machine.run(ON_BOARD)
        machine.close()
        print("%-10s%14s%s" % (name, counting.UNITS[name], "".join(["%14d" % count for count in found])), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--task", choices=sorted(TASKS), action="append")
    parser.add_argument("--no-machines", action="store_true")
    parser.add_argument("--costs", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print("%d seeds, %d pairs of new classes\n" % (arguments.seeds, len(PAIRS)))
    if not arguments.costs:
        for task in arguments.task or ("digits",):
            table(task, arguments.seeds)
    if not arguments.no_machines:
        costs(MACHINES)


if __name__ == "__main__":
    written.recorded("teach.txt", main)
