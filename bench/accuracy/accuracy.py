"""Accuracy from scratch: odt's int8 and float32 against PyTorch's float32, on equal terms.

    python bench/accuracy/accuracy.py                          everything: digits and MNIST-1D
    python bench/accuracy/accuracy.py --task digits-cnn --seeds 2

Every row trains the same network from the same first weights on the same batches with the same
schedule (cosine to 0). Prints a table, and writes bench/results/accuracy.txt where it is given no arguments.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from folders import ROOT  # noqa: E402
from twin import Twin  # noqa: E402

import odt  # noqa: E402
from odt.base.fixed import hash32
from odt.base.primitives import order  # noqa: E402


def digits():
    data = (ROOT / "examples/digits/digits.bin").read_bytes()
    x = np.frombuffer(data[: 1797 * 64], "uint8").reshape(-1, 8, 8, 1)
    y = np.frombuffer(data[1797 * 64 :], "uint8")
    shuffled = np.random.default_rng(0).permutation(1797)
    x, y = x[shuffled], y[shuffled]
    return (x[:1400], y[:1400]), (x[1400:], y[1400:])


def mnist1d():
    """The package's 4000 training series, and 10,000 more to test on: the generator makes any number."""
    from mnist1d.data import get_dataset_args, make_dataset

    arguments = get_dataset_args()
    train = make_dataset(arguments)
    arguments.seed += 1
    arguments.num_samples = 12500
    arguments.train_split = 0.2
    test = make_dataset(arguments)
    return tuple(
        (data["x" + end].astype("float32")[:, :, None], data["y" + end].astype("uint8"))
        for data, end in ((train, ""), (test, "_test"))
    )


def digits_input():
    return odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16)


def digits_cnn():
    return [
        digits_input(),
        odt.Conv2D(8, 3, padding="same", activation="relu"),
        odt.MaxPool2D(),
        odt.Conv2D(16, 3, padding="same", activation="relu"),
        odt.MaxPool2D(),
        odt.Flatten(),
        odt.Dense(10),
    ]


def digits_mlp():
    return [digits_input(), odt.Flatten(), odt.Dense(32, activation="relu"), odt.Dense(10)]


def digits_separable():
    return [
        digits_input(),
        odt.Conv2D(16, 3, padding="same", activation="relu"),
        odt.DepthwiseConv2D(3, strides=2, padding="same", activation="relu"),
        odt.Conv2D(32, 1, activation="relu"),
        odt.DepthwiseConv2D(3, strides=2, padding="same", activation="relu"),
        odt.Conv2D(32, 1, activation="relu"),
        odt.GlobalAvgPool(),
        odt.Dense(10),
    ]


def mnist1d_cnn():
    return [
        odt.Input((40, 1)),
        odt.Conv1D(25, 5, strides=2, padding="same", activation="relu"),
        odt.Conv1D(25, 3, strides=2, padding="same", activation="relu"),
        odt.Conv1D(25, 3, strides=2, padding="same", activation="relu"),
        odt.Flatten(),
        odt.Dense(10),
    ]


# name: data, network, epochs, seeds, Adam's rate, momentum's rate
TASKS = {
    "digits-cnn": (digits, digits_cnn, 20, 5, 0.004, 0.05),
    "digits-mlp": (digits, digits_mlp, 20, 5, 0.004, 0.05),
    "digits-separable": (digits, digits_separable, 20, 5, 0.004, 0.05),
    "mnist1d-cnn": (mnist1d, mnist1d_cnn, 30, 10, 0.002, 0.05),
}
SEEDS_OF_ADAM = dict.fromkeys(("digits-cnn", "digits-mlp", "digits-separable"), 40)  # which README.md compares
BATCH = 16
OPTIMIZERS = ("adam", "momentum", "sgd")


def optimizer(kind, rates, steps, state):
    rate = {"adam": rates[0], "momentum": rates[1], "sgd": 2 * rates[1]}[kind]
    schedule = odt.CosineDecay(rate, steps)
    if kind == "adam":
        return odt.Adam(schedule, state=state)
    return odt.SGD(schedule, momentum=0.9 if kind == "momentum" else 0, state=state)


def train_odt(layers, train, test, epochs, kind, rates, dtype, state, seed):
    model = odt.Sequential(layers())
    steps = epochs * -(-len(train[0]) // BATCH)
    model.compile(optimizer(kind, rates, steps, state), dtype=dtype, batch_size=BATCH, seed=seed)
    model.fit(*train, epochs=epochs, verbose=0)
    return 100 * model.evaluate(*test)[1]


def train_torch(layers, train, test, epochs, kind, rates, seed, network=Twin):
    """The same first weights, order of samples, schedule and optimizer, in PyTorch's float32.

    ``network``: the Twin, or what qat.py makes of it.
    """
    model = odt.Sequential(layers())
    steps_an_epoch = -(-len(train[0]) // BATCH)
    steps = epochs * steps_an_epoch
    ours = optimizer(kind, rates, steps, None)
    model.compile(ours, dtype="float32", batch_size=BATCH, seed=seed)
    twin = network(model, torch.float32)
    scale = model.nodes[0].layer.scale
    x, y = torch.tensor(train[0].astype("float32") * scale), torch.tensor(train[1].astype("int64"))
    rate = {"adam": rates[0], "momentum": rates[1], "sgd": 2 * rates[1]}[kind]
    parameters = twin.flat_parameters()
    if kind == "adam":
        steer = torch.optim.Adam(parameters, lr=rate, eps=1e-7)
    else:
        steer = torch.optim.SGD(parameters, lr=rate, momentum=0.9 if kind == "momentum" else 0)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(steer, steps)
    for epoch in range(epochs):
        key = (hash32(seed, epoch * steps_an_epoch) >> 3) | 1
        index = torch.tensor([order(p, len(x), key) for p in range(len(x))])
        for at in range(0, len(x), BATCH):
            rows = index[at : at + BATCH]
            steer.zero_grad()
            torch.nn.functional.cross_entropy(twin.forward(x[rows]), y[rows]).backward()
            steer.step()
            schedule.step()
    twin.training = False
    with torch.no_grad():
        out = twin.forward(torch.tensor(test[0].astype("float32") * scale))
    return 100 * (out.argmax(1).numpy() == test[1]).mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=sorted(TASKS), action="append")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--optimizer", choices=OPTIMIZERS, action="append")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print("test accuracy, mean over seeds +- standard error; difference to PyTorch, paired")
    print("%-17s %-9s %-24s %16s %16s %6s" % ("task", "optimizer", "", "accuracy %", "difference", "s"))
    for task in arguments.task or TASKS:
        data, layers, epochs, few, *rates = TASKS[task]
        train, test = data()
        for kind in arguments.optimizer or OPTIMIZERS:
            seeds = range(arguments.seeds or (few if kind != "adam" else SEEDS_OF_ADAM.get(task, few)))
            base = None
            for label, dtype, state in (
                ("PyTorch float32", None, None),
                ("odt float32", "float32", None),
                ("odt int8, float32 state", "int8", "float32"),
                ("odt int8, int16 state", "int8", "int16"),
            ):
                if kind == "sgd" and state == "float32":
                    continue  # no state
                begin = time.time()
                results = []
                for seed in seeds:
                    common = (layers, train, test, epochs, kind, rates)
                    if dtype is None:
                        results.append(train_torch(*common, seed))
                    else:
                        results.append(train_odt(*common, dtype, state, seed))
                results = np.array(results)
                base = results if base is None else base
                spread = max(len(results) - 1, 1) ** 0.5
                difference = results - base
                print(
                    "%-17s %-9s %-24s %7.2f +- %4.2f  %+6.2f +- %4.2f %6.0f"
                    % (task, kind, label, results.mean(), results.std() / spread, difference.mean(),
                       difference.std() / spread, time.time() - begin),
                    flush=True,
                )  # fmt: skip


if __name__ == "__main__":
    import written

    written.recorded("accuracy.txt", main)
