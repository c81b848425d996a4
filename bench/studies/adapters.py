"""Adapters from each layer's input to the last layer's output, over a network that stays as it is: what they regain,
and what they cost.

    python bench/studies/adapters.py             writes bench/results/adapters.txt
    python bench/studies/adapters.py --seeds 1 --task digits

Skip2-LoRA (Matsutani et al., 2024): to what the last layer says is added x A B for the input x of each layer with
weights, A of x's size times RANK, drawn, B of RANK times ten, zeros at first. The rest is frozen, so that what it says
of a sample is computed once, and kept: the cache. Here in PyTorch, float32.

digits: networks and worlds of bench/accuracy/shift.py: 900 digits are learned, then 40 labelled ones of a changed
world, the rest is the test. series: MNIST-1D by bench/accuracy/accuracy.py's network: 4,000 series are learned, then 40
labelled others, of the worlds of bench/accuracy/adabn.py; 2,000 others are the test. 30 epochs, batches of 8, Adam with
a cosine decay, its rate that of RATES with which a further seed is best, the same for all worlds.

adapters: as the paper has them, of all layers, the last layer frozen. with last layer: those of the layers before the
last, which itself trains. full rank: the same with one matrix in place of A B, of zeros at first: a last layer that
reads the inputs of all. Accuracy in %, mean +- standard error over seeds; mean: over all worlds; less: the mean less
that of the last layer alone, of the same seeds. weights: those that train. cache: numbers of 40 samples, bytes in int8,
and where the last layer is frozen those of its output, too. MACs of a sample, forward from the cache, and backward.
"""

import argparse
import functools
import gc
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import adabn  # noqa: E402
import numpy as np  # noqa: E402
import shift  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
import written  # noqa: E402
from accuracy import mnist1d, mnist1d_cnn  # noqa: E402
from shift import BATCH, EPOCHS, RATES  # noqa: E402
from twin import Twin  # noqa: E402

import odt  # noqa: E402
from odt.plan.graph import backward_macs  # noqa: E402

RANK, FEW, HELD_OUT, CLASSES = 4, 40, 100, 10


# Data


def digits(world, seed):
    """(to learn first, the few of the changed world, its rest)."""
    return [(x / np.float32(16), y) for x, y in shift.world(world, seed)]


@functools.cache
def all_series(world):
    """The 4,000 that are learned, and 10,000 others as the world has them."""
    train, (x, y) = mnist1d()
    return train, (np.ascontiguousarray(adabn.TASKS["mnist1d"][2][world](x)), y)


def series(world, seed):
    first, (x, y) = all_series(world)
    order = np.random.default_rng(seed).permutation(len(y))
    few = np.concatenate([order[y[order] == label][: FEW // CLASSES] for label in range(CLASSES)])
    rest = np.setdiff1d(order, few)[:2000]
    return first, (x[few], y[few]), (x[rest], y[rest])


def cnn():
    """bench/accuracy/shift.py's, of real numbers."""
    return odt.Sequential([odt.Input((8, 8, 1)), *[node.layer for node in shift.cnn().nodes[1:]]])


def conv1d():
    return odt.Sequential(mnist1d_cnn())


TASKS = {
    "digits": (digits, cnn, 20, shift.SHIFTS),
    "series": (series, conv1d, 12, [world for world in adabn.TASKS["mnist1d"][2] if world != "as in training"]),
}


def pretrained(network, data, epochs, seed):
    model = network()
    steps = epochs * -(-len(data[1]) // 16)
    model.compile(odt.Adam(odt.CosineDecay(0.004, steps)), dtype="float32", batch_size=16, seed=seed)
    model.fit(*data, epochs=epochs, verbose=0)
    return model


# Ways to train: what trains, and what the network says with it


class Net:
    """PyTorch's twin of a trained model: what its layers with weights read, and what it says."""

    def __init__(self, model):
        self.twin = Twin(model, torch.float32)
        self.layers = list(self.twin.parameters)
        self.last = self.twin.parameters[self.layers[-1]]

    def __call__(self, x):
        """([inputs of the layers], output)"""
        outputs = self.twin.outputs(x)
        return [outputs[node.inputs[0]].flatten(1) for node in self.layers], outputs[self.twin.nodes[-1]]


class Whole:
    def __init__(self, net):
        self.net, self.parameters = net, net.twin.flat_parameters()

    def seen(self, x):
        return (x,)

    def say(self, x):
        return self.net(x)[1]


class Skips:
    """Layers that are added to the last one's output; ``rank`` None for one matrix each."""

    def __init__(self, net, rank=None, before_last=True, of_last=True, last=False):
        self.net, self.last = net, net.last if last else None
        first = 0 if before_last else len(net.layers) - 1
        self.chosen = range(first, len(net.layers) - (not of_last))
        self.skips = [self._new(int(np.prod(net.layers[i].inputs[0].shape)), rank) for i in self.chosen]
        self.parameters = [matrix for skip in self.skips for matrix in skip] + list(self.last or ())

    def _new(self, width, rank):
        if rank is None:
            return [torch.zeros(width, CLASSES, requires_grad=True)]
        drawn = torch.randn(width, rank) / width**0.5
        return [drawn.requires_grad_(), torch.zeros(rank, CLASSES, requires_grad=True)]

    def seen(self, x):
        with torch.no_grad():
            inputs, output = self.net(x)
        return (*[inputs[i] for i in self.chosen], inputs[-1] if self.last else output)

    def say(self, *seen):
        out = F.linear(seen[-1], *self.last) if self.last else seen[-1]
        for x, matrices in zip(seen, self.skips):
            for matrix in matrices:
                x = x @ matrix
            out = out + x
        return out


WAYS = {
    "none": None,
    "last layer": lambda net: Skips(net, before_last=False, of_last=False, last=True),
    "adapters": lambda net: Skips(net, RANK),
    "with last layer": lambda net: Skips(net, RANK, of_last=False, last=True),
    "full rank": lambda net: Skips(net, of_last=False, last=True),
    "all layers": Whole,
}


def accuracy(way, model, few, rest, rate, seed):
    torch.manual_seed(seed)
    (x, y), (x_test, y_test) = [(torch.tensor(x), torch.tensor(y.astype("int64"))) for x, y in (few, rest)]
    net = Net(model)
    if WAYS[way] is None:
        with torch.no_grad():
            return 100 * (net(x_test)[1].argmax(1) == y_test).float().mean().item()
    learner = WAYS[way](net)
    seen, steps = learner.seen(x), EPOCHS * -(-len(y) // BATCH)
    adam = torch.optim.Adam(learner.parameters, lr=rate)
    decay = torch.optim.lr_scheduler.LambdaLR(adam, lambda step: (1 + np.cos(np.pi * step / steps)) / 2)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(y)).split(BATCH):
            adam.zero_grad()
            F.cross_entropy(learner.say(*[part[rows] for part in seen]), y[rows]).backward()
            adam.step()
            decay.step()
    with torch.no_grad():
        return 100 * (learner.say(*learner.seen(x_test)).argmax(1) == y_test).float().mean().item()


def costs(way, model):
    """(weights that train, bytes of the cache, MACs forward, MACs backward)"""
    net = Net(model)
    learner = WAYS[way](net)
    weights = sum([matrix.numel() for matrix in learner.parameters])
    if way == "all layers":
        return weights, 0, sum([node.layer.macs for node in model.nodes]), sum(backward_macs(model.nodes))
    cache = FEW * sum([part.shape[1] for part in learner.seen(torch.zeros(1, *model.nodes[0].shape))])
    forward = sum([matrix.numel() for matrix in learner.parameters if matrix.dim() == 2])
    through = sum([skip[1].numel() for skip in learner.skips if len(skip) > 1])  # the error to A's output
    return weights, cache, forward, forward + through


def cell(values):
    return "%5.1f +- %3.1f" % (np.mean(values), np.std(values) / max(len(values) - 1, 1) ** 0.5)


def study(task, seeds):
    world, network, epochs, worlds = TASKS[task]
    models, data = {}, {}
    for name in worlds:
        for seed in [*range(seeds), HELD_OUT]:
            first, *data[name, seed] = world(name, seed)
            key = (name if name == "other classes" else None), seed
            if key not in models:
                models[key] = pretrained(network, first, epochs, seed)
            models[name, seed] = models[key]
    heads = "".join(["%20s" % name for name in (*worlds, "mean", "less")])
    print(
        "\n%s, %d seeds\n%-16s%6s%s%9s%8s%9s%9s"
        % (task, seeds, "", "rate", heads, "weights", "cache", "forward", "backward")
    )
    for way in WAYS:

        def run(name, seed, rate):
            return accuracy(way, models[name, seed], *data[name, seed], rate, seed)

        rates = RATES if WAYS[way] else RATES[:1]
        rate = max(rates, key=lambda rate: sum([run(name, HELD_OUT, rate) for name in worlds]))
        found = np.array([[run(name, seed, rate) for seed in range(seeds)] for name in worlds])
        if way == "last layer":
            alone = found.mean(0)
        columns = [*found, found.mean(0), found.mean(0) - alone] if WAYS[way] else [*found, found.mean(0)]
        text = "%-16s%6s" % (way, rate if WAYS[way] else "") + "".join(["%20s" % cell(values) for values in columns])
        if WAYS[way]:
            text += "%9d%8d%9d%9d" % costs(way, models[worlds[0], 0])
        print(text, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--task", choices=sorted(TASKS), action="append")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    gc.freeze()  # compile() collects garbage: without this, among all that PyTorch has imported
    for task in arguments.task or TASKS:
        study(task, arguments.seeds)


if __name__ == "__main__":
    written.recorded("adapters.txt", main)
