"""Digits under noise of weights: odt.noise.Noisy in int8 and float32, beside PyTorch in float32 with IBM's formulas.

    python bench/accuracy/noise.py                     five seeds, two minutes; writes bench/results/noise.txt
    python bench/accuracy/noise.py --seeds 1 --machines ""

Every row trains the CNN of bench/accuracy/accuracy.py for 40 epochs in batches of 16 by Adam with a rate of 0.004 that
falls to 0 by a cosine, from the same first weights on the same batches. "plain": without noise; "noise s": the weights
of each step have Gaussian noise with a standard deviation of s times the layer's largest weight. In PyTorch that is the
formula of aihwkit's weight modifier AddNormal with rel_to_actual_wmax: the noisy weights serve forward and backward,
the update changes those without noise.

Columns: test accuracy in % without noise, and the mean of 10 draws of such noise of .05, .1 and .2 of the largest
weight (odt's rows by odt.noise.evaluate, PyTorch's by torch.randn); "PCM": weights as phase-change cells hold them a
day after programming, by the formulas of aihwkit's PCMLikeNoiseModel (programming noise, drift, read noise; 25 uS; a
weight is a pair of cells, of which one holds it) with its compensation of the mean drift, network and sums in float32.
Means over seeds +- standard error. aihwkit itself is not run. Costs: bytes of arena, state and program; a train_step
of 16 samples.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import counting
import numpy as np
import torch
import torch.nn.functional as F
import written
from accuracy import BATCH, digits, digits_cnn
from steps import DIGITS, PIXELS

import odt
from odt.base.fixed import hash32
from odt.base.primitives import order
from odt.noise import Noisy, evaluate

EPOCHS, RATE, DRAWS, SHARES, TRAINED = 40, 0.004, 10, (0.05, 0.1, 0.2), (0, 0.05, 0.1, 0.15)
SHAPES = (8, 3, 3, 1), (16, 3, 3, 8), (10, 64)


def forward(x, w, b):
    """The logits of digits_cnn(); kernels as odt has them, (filters, height, width, channels)."""
    h = x.permute(0, 3, 1, 2)
    for kernel, bias in zip(w[:2], b):
        h = F.max_pool2d(F.relu(F.conv2d(h, kernel.permute(0, 3, 1, 2), bias, padding=1)), 2)
    return F.linear(h.permute(0, 2, 3, 1).flatten(1), w[2], b[2])


def parts(model):
    """(kernels, biases) of odt's model, as tensors."""
    weights = [torch.tensor(np.array(each)) for each in model.get_weights()]
    return [each.reshape(shape) for each, shape in zip(weights[::2], SHAPES)], weights[1::2]


def added(w, share):
    """aihwkit's AddNormal, relative to the largest weight."""
    return [each + share * each.detach().abs().max() * torch.randn_like(each) for each in w]


def programmed(w, seconds=86400.0):
    """Weights a day after they were programmed: aihwkit's PCMLikeNoiseModel and compensation, by their formulas."""
    found = []
    for each in w:
        target = each.abs() / each.abs().max()  # of the largest conductance, 25 uS
        spread = (0.26348 + 1.9650 * target - 1.1731 * target**2) / 25
        conductance = (target + spread * torch.randn_like(target)).clamp(min=0)
        log = target.clamp(min=1e-7).log()
        nu = (-0.0155 * log + 0.0244).clamp(0.049, 0.1)
        nu = (nu + (-0.0125 * log - 0.0059).clamp(0.008, 0.045) * torch.randn_like(log)).abs()
        drifted = conductance * ((seconds + 20) / 20) ** -nu
        read = (0.0088 / (conductance**0.65).clamp(min=1e-3)).clamp(max=0.2)
        read = read * np.sqrt(np.log((seconds + 20 + 250e-9) / (2 * 250e-9)))
        held = (drifted * (1 + read * torch.randn_like(drifted))).clamp(min=0)
        held = held * conductance.sum() / held.sum()
        found.append(each.sign() * held * each.abs().max())
    return found


def accuracy(x, y, w, b):
    with torch.no_grad():
        return 100 * (forward(x, w, b).argmax(1) == y).float().mean().item()


def under(x, y, w, b, change):
    """The mean over draws."""
    return np.mean([accuracy(x, y, change(w), b) for _ in range(DRAWS)])


def tensors(data):
    x, y = data
    return torch.tensor(x.astype("float32") / 16), torch.tensor(y.astype("int64"))


def first(seed, train, dtype, noise):
    """odt's model before its training."""
    model = odt.Sequential(digits_cnn())
    optimizer = odt.Adam(odt.CosineDecay(RATE, EPOCHS * -(-len(train[0]) // BATCH)))
    model.compile(Noisy(optimizer, noise) if noise else optimizer, dtype=dtype, batch_size=BATCH, seed=seed)
    return model


def ours(dtype, noise, seed, train, test):
    model = first(seed, train, dtype, noise)
    model.fit(*train, epochs=EPOCHS, verbose=0)
    found = [100 * model.evaluate(*test)[1]]
    found += [100 * evaluate(model, *test, share, draws=DRAWS, seed=seed)[0] for share in SHARES]
    torch.manual_seed(seed)
    return found + [under(*tensors(test), *parts(model), programmed)]


def torchs(noise, seed, train, test):
    w, b = parts(first(seed, train, "float32", 0))
    torch.manual_seed(seed)
    parameters = [each.requires_grad_() for each in w + b]
    steer = torch.optim.Adam(parameters, lr=RATE, eps=1e-7)
    x, y = tensors(train)
    steps = -(-len(x) // BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(steer, EPOCHS * steps)
    for epoch in range(EPOCHS):
        key = (hash32(seed, epoch * steps) >> 3) | 1
        index = torch.tensor([order(p, len(x), key) for p in range(len(x))])
        for at in index.split(BATCH):
            steer.zero_grad()
            F.cross_entropy(forward(x[at], added(w, noise) if noise else w, b), y[at]).backward()
            steer.step()
            schedule.step()
    w, b = [[each.detach() for each in group] for group in (w, b)]
    xt, yt = tensors(test)
    found = [accuracy(xt, yt, w, b)] + [under(xt, yt, w, b, lambda v, s=s: added(v, s)) for s in SHARES]
    return found + [under(xt, yt, w, b, programmed)]


def accuracies(seeds):
    train, test = digits()
    titles = ["no noise"] + ["%g" % share for share in SHARES] + ["PCM"]
    print("%-18s%-12s%s %6s" % ("", "", "".join("%16s" % title for title in titles), "s"))
    for name, dtype in (("PyTorch float32", None), ("odt float32", "float32"), ("odt int8", "int8")):
        for noise in TRAINED:
            begin, found = time.time(), []
            for seed in range(seeds):
                found.append(ours(dtype, noise, seed, train, test) if dtype else torchs(noise, seed, train, test))
            error = np.std(found, 0, ddof=1) / seeds**0.5 if seeds > 1 else np.zeros(len(titles))
            cells = "".join("%8.2f +- %4.2f" % pair for pair in zip(np.mean(found, 0), error))
            label = "noise %g" % noise if noise else "plain"
            print("%-18s%-12s%s %6.1f" % (name, label, cells, (time.time() - begin) / seeds), flush=True)


ON_BOARD = """
import odt
from odt.noise import Noisy
model = odt.Sequential([%s])
model.compile(%s, batch_size=16, seed=7)
%s
for _ in range(3):
    model.train_step(x, y)
begin()
end()
begin()
model.train_step(x, y)
end()
"""
COSTS = (("plain", "odt.Adam()"), ("noise", "Noisy(odt.Adam(), 0.1)"), ("and drift", "Noisy(odt.Adam(), 0.1, 0.1)"))


def costs(names):
    for name in names:
        print(counting.heading(name))
    print("%-10s%8s%8s%8s%s" % ("int8", "arena", "state", "program", "".join("%12s" % name for name in names)))
    for label, optimizer in COSTS:
        model = odt.Sequential(digits_cnn())
        model.compile(eval(optimizer, {"odt": odt, "Noisy": Noisy}), batch_size=16)
        plan, cells = model.session.plan, []
        for name in names:
            machine = counting.open(name)
            cells.append("%12d" % machine.run(ON_BOARD % (DIGITS, optimizer, PIXELS))[-1])
            machine.close()
        sizes = plan.arena, plan.state, len(plan.code)
        print(("%-10s%8d%8d%8d" % (label, *sizes)) + "".join(cells), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--machines", default="qemu_m4,rp2040")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    accuracies(arguments.seeds)
    print()
    costs([name for name in arguments.machines.split(",") if name])


if __name__ == "__main__":
    written.recorded("noise.txt", main)
