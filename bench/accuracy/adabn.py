"""BatchNorm's statistics moved to unlabelled samples of another place, and gamma and beta by its own predictions:
accuracy before, after, and of training there with labels.

    python bench/accuracy/adabn.py                      a quarter of an hour; writes bench/results/adabn.txt
    python bench/accuracy/adabn.py --seeds 1 --task digits

Digits: two convolutions of 8 and 16 channels, 8 epochs; MNIST-1D: three of 25, 12 epochs; a BatchNorm after each, Adam,
batches of 16. Each is trained on the data as they are; then update_bn on 32 or 200 unlabelled samples of the changed
data; accuracy in % on others of these (2,000 of MNIST-1D). labels: of the same network trained on changed data with all
labels. One class: the samples are all of class 0, the data unchanged (of MNIST-1D, too). PyTorch: a network of the same
sizes, trained by itself, and torch.optim.swa_utils.update_bn. entropy, various: after update_bn on the 200,
odt.continual.tent on the same for 5 and 20 epochs, Adam of 0.004, without a guard, by the loss Entropy of diversity 0
and 1; in PyTorch the same loss of the layers in training mode. Means +- standard error over seeds. Costs, all that
Python does included: first, update_bn of a batch of 16 digits on a model for the first time, which finds the
instructions; then a batch more; without the guard's two predictions; step: of fit; tent's: of fit with the loss
Entropy, where gamma and beta alone train.
"""

import argparse
import copy
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import counting
import numpy as np
import torch
from accuracy import digits, mnist1d

import odt
from odt.continual import adabn, tent
from odt.continual.tent import Entropy
from odt.slots import Bytes

DRAW = np.random.default_rng(7)
BATCH, RATE = 16, 0.004
ENTROPIES = (0, 5), (1, 5), (1, 20)  # diversity, epochs


def blurred(x):
    x = x.astype("int32")
    around = sum(np.roll(x, by, axis) for by in (-1, 1) for axis in (1, 2))
    return np.rint((x + around) / 5).astype("uint8")


def noisy(x):
    return np.clip(np.rint(x + DRAW.normal(0, 4, x.shape)), 0, 16).astype("uint8")


def wander(x):
    """A slow wave below the signal, of another phase in each series."""
    at = np.arange(x.shape[1])[None, :, None] / x.shape[1] + DRAW.uniform(size=(len(x), 1, 1))
    return (x + 0.5 * np.sin(2 * np.pi * at)).astype("float32")


TASKS = {
    "digits": (digits, 8, {
        "as in training": lambda x: x,
        "a third as bright": lambda x: x // 3,
        "little contrast": lambda x: np.minimum(16, x // 2 + 8).astype("uint8"),
        "blurred": blurred,
        "noise": noisy,
        "a pixel aside": lambda x: np.roll(x, 1, 2),
        "inverted": lambda x: 16 - x,
    }),
    "mnist1d": (mnist1d, 12, {
        "as in training": lambda x: x,
        "a third of the gain": lambda x: x / np.float32(3),
        "an offset": lambda x: x + np.float32(1),
        "noise": lambda x: (x + DRAW.normal(0, 0.3, x.shape)).astype("float32"),
        "a slow wave": wander,
    }),
}  # fmt: skip


def network(name):
    if name == "digits":
        layers = [odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16)]
        for channels in (8, 16):
            layers += [odt.Conv2D(channels, 3, padding="same"), odt.BatchNorm(), odt.ReLU(), odt.MaxPool2D()]
    else:
        layers = [odt.Input((40, 1))]
        for width in (5, 3, 3):
            layers += [odt.Conv1D(25, width, strides=2, padding="same"), odt.BatchNorm(), odt.ReLU()]
    return odt.Sequential([*layers, odt.Flatten(), odt.Dense(10)])


class Odt:
    def __init__(self, name, dtype, x, y, seed, epochs):
        self.name, self.model = name, network(name)
        rate = odt.CosineDecay(RATE, epochs * -(-len(x) // BATCH))
        self.model.compile(odt.Adam(rate), dtype=dtype, batch_size=BATCH, seed=seed)
        self.model.fit(x, y, epochs=epochs, verbose=0)
        self.place = Bytes(bytearray(1 << 17))
        self.model.save(self.place)

    def reset(self):
        self.model.load(self.place)

    def follow(self, x):
        adabn.update_bn(self.model, np.ascontiguousarray(x), guard=False)

    def adapted(self, x, diversity, epochs):
        """A network that has followed x, and learned from its own predictions of it."""
        made = copy.copy(self)
        made.model = network(self.name)
        odt.adapt.update.norm(made.model)
        made.model.compile(odt.Adam(RATE), Entropy(diversity), dtype=self.model.dtype, batch_size=BATCH, seed=1)
        made.model.load_weights(self.model)
        made.model.calibrate(np.ascontiguousarray(x))
        made.follow(x)
        tent.adapt(made.model, np.ascontiguousarray(x), epochs, guard=False)
        return made

    def right(self, x, y):
        return 100 * self.model.evaluate(np.ascontiguousarray(x), y)[1]


class Torch:
    def __init__(self, name, x, y, seed, epochs):
        torch.manual_seed(seed)
        self.name, n = name, torch.nn
        if name == "digits":
            parts, before = [], 1
            for channels in (8, 16):
                parts += [
                    n.Conv2d(before, channels, 3, padding=1),
                    n.BatchNorm2d(channels, eps=1e-3),
                    n.ReLU(),
                    n.MaxPool2d(2),
                ]
                before = channels
            parts += [n.Flatten(), n.Linear(64, 10)]
        else:
            parts, before = [], 1
            for width in (5, 3, 3):
                parts += [n.Conv1d(before, 25, width, 2, width // 2), n.BatchNorm1d(25, eps=1e-3), n.ReLU()]
                before = 25
            parts += [n.Flatten(), n.Linear(125, 10)]
        self.net = n.Sequential(*parts)
        steps = epochs * -(-len(x) // BATCH)
        adam = torch.optim.Adam(self.net.parameters(), RATE)
        decay = torch.optim.lr_scheduler.LambdaLR(adam, lambda step: (1 + np.cos(np.pi * min(step, steps) / steps)) / 2)
        x, y = self.given(x), torch.tensor(y.astype("int64"))
        for _ in range(epochs):
            for rows in torch.randperm(len(x)).split(BATCH):
                adam.zero_grad()
                n.functional.cross_entropy(self.net(x[rows]), y[rows]).backward()
                adam.step()
                decay.step()
        self.kept = {key: value.clone() for key, value in self.net.state_dict().items()}

    def given(self, x):
        x = x / 16 if self.name == "digits" else x
        return torch.tensor(np.ascontiguousarray(np.moveaxis(x, -1, 1)), dtype=torch.float32)

    def reset(self):
        self.net.load_state_dict(self.kept)

    def adapted(self, x, diversity, epochs):
        self.follow(x)
        net, x = self.net.train(), self.given(x)
        norms = [part for part in net if isinstance(part, (torch.nn.BatchNorm1d, torch.nn.BatchNorm2d))]
        adam = torch.optim.Adam([p for norm in norms for p in norm.parameters()], RATE)
        whole = len(x) - (len(x) % BATCH if len(x) % BATCH < BATCH // 2 else 0)
        for _ in range(epochs):
            for rows in torch.randperm(whole).split(BATCH):
                logits = net(x[rows])
                mean = torch.softmax(logits, 1).mean(0)
                entropy = torch.distributions.Categorical(logits=logits).entropy().mean()
                adam.zero_grad()
                (entropy - diversity * torch.distributions.Categorical(mean).entropy()).backward()
                adam.step()
        return self

    def follow(self, x):
        torch.optim.swa_utils.update_bn(list(self.given(x).split(BATCH)), self.net)

    def right(self, x, y):
        with torch.no_grad():
            return 100 * (self.net.eval()(self.given(x)).argmax(1).numpy() == y).mean()


def made(kind, name, x, y, seed, epochs):
    return Torch(name, x, y, seed, epochs) if kind == "PyTorch" else Odt(name, kind, x, y, seed, epochs)


def figures(values):
    values = np.array(values)
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0
    return "%9.1f +- %3.1f" % (values.mean(), error)


def qualities(tasks, seeds):
    heads = (
        "before",
        "32 samples",
        "200 samples",
        *["%s, %d" % (("entropy", "various")[d], n) for d, n in ENTROPIES],
        "labels",
    )
    print("%-9s%-20s%-9s%s" % ("task", "data", "", "".join("%16s" % head for head in heads)))
    for name in tasks:
        get, epochs, changes = TASKS[name]
        (x, y), (x_test, y_test) = get()
        own, x_test, y_test = x_test[:200], x_test[200:2200], y_test[200:2200]
        data = {label: (change(x), change(own), change(x_test)) for label, change in changes.items()}
        for kind in ("float32", "int8", "PyTorch"):
            found = {}
            for seed in range(seeds):
                net = made(kind, name, x, y, seed, epochs)
                for label, (changed, new, test) in data.items():
                    cells = []
                    for count in (0, 32, 200):
                        net.reset()
                        if count:
                            net.follow(new[:count])
                        cells.append(net.right(test, y_test))
                    for diversity, passes in ENTROPIES:
                        net.reset()
                        cells.append(net.adapted(new, diversity, passes).right(test, y_test))
                    cells.append(made(kind, name, changed, y, seed, epochs).right(test, y_test))
                    found.setdefault(label, []).append(cells)
                net.reset()
                cells = [net.right(x_test, y_test)]
                for count in (32, 200):
                    net.reset()
                    alike = x[y == 0][: min(count, (y == 0).sum())]
                    net.follow(alike)
                    cells.append(net.right(x_test, y_test))
                for diversity, passes in ENTROPIES:
                    net.reset()
                    cells.append(net.adapted(alike, diversity, passes).right(x_test, y_test))
                found.setdefault("one class", []).append(cells)
            for label, rows in found.items():
                columns = [figures(column) for column in zip(*rows)]
                print("%-9s%-20s%-9s%s" % (name, label, kind, "".join("%16s" % each for each in columns)), flush=True)


ON_BOARD = """
import gc
import odt
from odt.continual import adabn
from odt.continual.tent import Entropy
x = bytes([(7 * i + i // 5) %% 17 for i in range(64 * 16)])
def network():
    layers = [odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16)]
    for channels in (8, 16):
        layers += [odt.Conv2D(channels, 3, padding="same"), odt.BatchNorm(), odt.ReLU(), odt.MaxPool2D()]
    return odt.Sequential(layers + [odt.Flatten(), odt.Dense(10)])
model = network()
model.compile(odt.Adam(), dtype="%s", batch_size=16)
y = bytes(16)
model.train_step(x, y)
begin()
end()
for epochs in (1, 1, 2):
    begin()
    adabn.update_bn(model, x, epochs=epochs, guard=False)
    end()
model.train_step(x, y)
begin()
model.train_step(x, y)
end()
model = None
gc.collect()
model = network()
odt.adapt.update.norm(model)
model.compile(odt.Adam(), Entropy(), dtype="%s", batch_size=16)
model.train_step(x, y)
begin()
model.train_step(x, y)
end()
"""


def costs(names):
    for name in names:
        print(counting.heading(name))
    print("%-8s%-12s%12s%12s%12s%12s%12s" % ("", "", "first", "update_bn", "a batch", "step", "tent's"))
    for dtype in ("int8", "float32"):
        for name in names:
            machine = counting.open(name)
            first, once, twice, step, own = machine.run(ON_BOARD % (dtype, dtype))
            machine.close()
            cells = (dtype, name, first, once, twice - once, step, own)
            print("%-8s%-12s%12d%12d%12d%12d%12d" % cells, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=sorted(TASKS), action="append")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--machines", default="qemu_m4,qemu_m4hf,rp2040")
    arguments = parser.parse_args()
    costs([name for name in arguments.machines.split(",") if name])
    print()
    qualities(arguments.task or TASKS, arguments.seeds)


if __name__ == "__main__":
    import written

    written.recorded("adabn.txt", main)
