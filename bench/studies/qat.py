"""Quantization-aware training on a PC, the baseline that saves nothing, beside odt's training in int8.

    python bench/studies/qat.py               prints the table, writes bench/results/qat.txt
    python bench/studies/qat.py --seeds 2

QAT trains float32 weights through a forward pass of fake quantization (Jacob et al., 2018; PyTorch's own function,
straight-through gradients): weights symmetric int8, activations affine uint8 by a moving average of their range, both
per tensor; what it ends with runs in int8. Same first weights, batches and schedule for all. Bytes of PyTorch:
parameters, gradients and optimizer state, and what autograd keeps for the backward pass; of odt: arena and state, which
is all.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import written  # noqa: E402
from accuracy import BATCH, TASKS, optimizer, train_odt, train_torch  # noqa: E402
from twin import Twin  # noqa: E402

import odt  # noqa: E402

TASK = "digits-cnn"
FOLLOW = 0.01  # of a range, what a batch adds to its moving average: PyTorch's default


class Fake(Twin):
    """The twin with fake quantization of each kernel and of each output but views and poolings,
    which change no range.
    """

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.ranges = {}

    def _layer(self, node, inputs):
        if node.layer.kind in ("flatten", "reshape", "maxpool2d"):
            return super()._layer(node, inputs)
        kernel, *rest = self.parameters[node]
        scale = float(kernel.detach().abs().max()) / 127
        whole = self.parameters[node]
        self.parameters[node] = [torch.fake_quantize_per_tensor_affine(kernel, scale, 0, -127, 127)] + rest
        y = super()._layer(node, inputs)
        self.parameters[node] = whole
        return self._activation(node, y)

    def _activation(self, node, y):
        now = min(float(y.detach().min()), 0.0), max(float(y.detach().max()), 0.0)
        if node not in self.ranges:
            self.ranges[node] = now
        elif self.training:
            self.ranges[node] = tuple(a + FOLLOW * (b - a) for a, b in zip(self.ranges[node], now))
        low, high = self.ranges[node]
        scale = (high - low) / 255
        return torch.fake_quantize_per_tensor_affine(y, scale, round(-low / scale), 0, 255)


def torch_bytes(network, kind):
    """Of a training step on a batch: parameters, gradients, optimizer state, and what autograd keeps."""
    model = odt.Sequential(TASKS[TASK][1]())
    model.compile(optimizer(kind, (0.01, 0.01), 10, None), dtype="float32", batch_size=BATCH)
    twin = network(model, torch.float32)
    own = {p.data_ptr() for p in twin.flat_parameters()}
    kept = {}

    def keep(tensor):
        if tensor.data_ptr() not in own:
            kept[tensor.data_ptr()] = tensor  # held, so that no other gets its address
        return tensor

    x = np.random.default_rng(0).random((BATCH, 8, 8, 1)).astype("float32")
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        twin.loss(x, np.zeros(BATCH))
    parameters = sum(p.nbytes for p in twin.flat_parameters())
    return parameters * (4 if kind == "adam" else 3) + sum(tensor.nbytes for tensor in kept.values())


def odt_bytes(kind, dtype):
    model = odt.Sequential(TASKS[TASK][1]())
    model.compile(optimizer(kind, (0.01, 0.01), 10, None), dtype=dtype, batch_size=BATCH)
    return model.program.arena + model.program.state


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    seeds = parser.parse_args().seeds
    torch.set_num_threads(1)
    data, layers, epochs, _, *rates = TASKS[TASK]
    train, test = data()
    ways = (
        ("PyTorch float32", Twin, None), ("PyTorch QAT, int8", Fake, None), ("odt float32", None, "float32"),
        ("odt int8", None, "int8"),
    )  # fmt: skip
    lines = [__doc__.splitlines()[0], "Written by: python bench/studies/qat.py --seeds %d" % seeds, ""]
    lines.append("%-11s %-9s %-18s %16s %16s %12s %6s" % (
        "task", "optimizer", "", "accuracy %", "less float32", "bytes", "s"))  # fmt: skip
    print("\n".join(lines))
    for kind in ("momentum", "adam"):
        base = None
        for label, network, dtype in ways:
            begin = time.time()
            common = layers, train, test, epochs, kind, rates
            found = []
            for seed in range(seeds):
                if network:
                    found.append(train_torch(*common, seed, network))
                else:
                    found.append(train_odt(*common, dtype, None, seed))
            found = np.array(found)
            base = found if base is None else base
            spread = max(seeds - 1, 1) ** 0.5
            less = found - base
            size = torch_bytes(network, kind) if network else odt_bytes(kind, dtype)
            lines.append("%-11s %-9s %-18s %7.2f +- %4.2f  %+6.2f +- %4.2f %12s %6.0f" % (
                TASK, kind, label, found.mean(), found.std() / spread, less.mean(), less.std() / spread,
                format(size, ","), time.time() - begin))  # fmt: skip
            print(lines[-1], flush=True)
    written.write("qat.txt", lines)


if __name__ == "__main__":
    main()
