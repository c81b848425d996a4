"""Heads that are cut from two blocks of attention on MNIST-1D: accuracy, bytes and time of what is left.

    python bench/accuracy/heads.py            five seeds; writes bench/results/heads.txt
    python bench/accuracy/heads.py --seeds 1

The network is that of bench/accuracy/attention.py, 40 epochs in int8: four heads of width 8 in each of two blocks.
odt.host.heads.prune_heads then takes one head after another, whose absence raises the loss of 512 training series
least. tuned: five epochs of training after that, in batches of 32 by Adam with a rate of 0.001 that falls to 0 by a
cosine. PyTorch: the same weights in float32, and the same five epochs by PyTorch in an order of its own. Accuracy of
10,000 other series, %, mean over seeds +- standard error.

left: heads of the first and the second block, of the first seed, whose figures follow. weights: parameters. RAM: bytes
of arena and state to train 8 series at a time. step: millions of instructions of such a step on QEMU's Cortex-M7.
predict: millions of cycles of one prediction on the emulated RP2040, of a model file in flash, without its cache.
"""

import argparse
import contextlib
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import attention  # noqa: E402
import counting  # noqa: E402
import paired  # noqa: E402
import written  # noqa: E402
from accuracy import mnist1d  # noqa: E402
from twin import Twin  # noqa: E402

import odt  # noqa: E402
from odt.host.heads import prune_heads  # noqa: E402

GONE, FEW, RATE, EPOCHS, BATCH = (0, 1, 2, 4), 512, 0.001, 5, 32


def trained(seed, data):
    model = attention.network(2)
    paired.ours(model, seed, "int8", "int16", data, attention.RATE)
    return model


def accuracies(model, data, seed):
    """% of a model as it is, tuned, and tuned by PyTorch; its int8 weights are then the tuned ones."""
    train, test = data
    found = [100 * model.evaluate(*test)[1]]
    rate = odt.CosineDecay(RATE, EPOCHS * -(-len(train[0]) // BATCH))
    with contextlib.redirect_stdout(None):  # that it keeps the weights
        model.compile(odt.Adam(rate), batch_size=BATCH, seed=seed)
    twin = Twin(model, torch.float32)
    model.fit(*train, epochs=EPOCHS, verbose=0)
    found.append(100 * model.evaluate(*test)[1])
    return [*found, 100 * paired.tuned(twin, seed, data, RATE, EPOCHS, BATCH, True)]


def size(model):
    left = "+".join([str(node.layer.num_heads) for node in model.nodes if node.layer.kind == "attention"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.odt"
        model.compile(None, batch_size=1)
        model.export(str(path))
        predict = counting.of_file("rp2040", path, 4 * 40)[0]
        model.compile(odt.Adam(RATE), batch_size=8)
        model.export(str(path))
        step = counting.of_file("qemu_m7", path, 4 * 40 * 8, 8)[0]
    ram = len(model.session.arena) + len(model.session.state)
    return "%8s%9d%9d%8.2f%9.3f" % (left, model.count_params(), ram, step / 1e6, predict / 1e6)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    seeds = parser.parse_args().seeds
    torch.set_num_threads(1)
    data = mnist1d()
    few = [np.asarray(part)[:FEW] for part in data[0]]
    models = [trained(seed, data) for seed in range(seeds)]
    print("%-14s%14s%14s%16s%8s%9s%9s%8s%9s" % (
        "heads fewer", "as cut", "tuned", "PyTorch", "left", "weights", "RAM", "step", "predict"))  # fmt: skip
    cut = 0
    for gone in GONE:
        if gone:
            models = [prune_heads(model, gone - cut, *few) for model in models]
        cut = gone
        copies = [prune_heads(model, {}, few[0]) for model in models]
        found = np.array([accuracies(model, data, seed) for seed, model in enumerate(copies)])
        errors = found.std(0, ddof=1) / seeds**0.5 if seeds > 1 else found.std(0)
        cells = "".join(["%7.2f +- %4.2f" % pair for pair in zip(found.mean(0), errors)])
        print("%-14d%s  %s" % (gone, cells, size(copies[0])), flush=True)


if __name__ == "__main__":
    written.recorded("heads.txt", main)
