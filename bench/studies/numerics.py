"""Which integer arithmetic trains as well as float32?  A study on MNIST-1D, emulated in PyTorch.

    pip install torch numpy mnist1d
    python bench/studies/numerics.py                      every group, ten seeds: an hour or two of one core
    python bench/studies/numerics.py adam "fall=1e-4"     only this group, and a variant of your own

Every variant changes the default arithmetic (DEFAULT) in one place.  All seeds run at once, along
the first dimension of every tensor; seed i has the same initial weights and order of batches in
every variant, float32 included.  Tensors hold exact integers: in float32 where the sums of products
stay below 2**24, in float64 elsewhere.  No code is shared with odt.  Symbols: S seeds, B batch,
L positions, C channels, K inputs of one output, N output channels.
"""

import argparse
import functools
import math
import sys
from pathlib import Path

import torch
from mnist1d.data import get_dataset_args, make_dataset

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401

CONVOLUTIONS = ((5, 1, 25), (3, 25, 25), (3, 25, 25))  # kernel, C, N; stride 2, padding 1, ReLU
LENGTHS = (40, 19, 10, 5)
SHAPES = [(5, 25), (75, 25), (75, 25), (125, 10)]  # K, N; the last is Dense
BATCH, CLASSES = 16, 10
INT16, BIAS_UNIT, BETA1, BETA2 = 32767, 2.0**-20, 0.9, 0.999

DEFAULT = {
    "samples": 4000,  # the package's; another number: new ones
    "epochs": 30,
    "number": "int8",  # "float32": the twin it is compared with
    "input": "symmetric",  # "affine"
    "fall": 0.0,  # part of a range lost at each step
    "margin": 1.0,  # on the growth of a range
    "growth": "peak",  # "double": in powers of two
    "error_bits": 8,
    "error_round": "nearest",
    "loss_error": "fixed",  # "stochastic" rounding at the same scale; "running" range
    "weight_scale": "channel",  # "tensor"
    "headroom": 64,  # the Glorot limit maps to this int8 weight
    "master": 256,  # steps of the trained weight in one int8 step; 1: no residual byte
    "update_round": "nearest",
    "optimizer": "adam",  # "sgd"
    "rate": 2e-3,
    "state": "stochastic",  # "nearest"; "float"
    "gradient_round": "stochastic",
    "root": "hypot",  # "exact"; "shared": one division for root and quotient; "mean": of |g|
    "epsilon": 1.0,  # in units of the int16 gradient
    "peak_bits": 13,  # the first gradient's peak maps to 2**peak_bits
    "quotient_bits": 14,
}

GROUPS = {  # each variant: what differs from DEFAULT
    "range": ["fall=1e-3", "growth=double"],
    "error": ["error_round=stochastic", "error_bits=16"],
    "loss": ["loss_error=stochastic"],
    "weight": ["weight_scale=tensor"],
    "master": ["master=1", "master=1 update_round=stochastic", "update_round=stochastic"]
    + ["master=1 update_round=stochastic headroom=127"],
    "adam": ["state=nearest", "state=float", "gradient_round=nearest"]
    + ["root=exact", "root=shared", "root=mean"]
    + ["epsilon=4"],
    "data": ["samples=20000 epochs=6 number=float32", "samples=20000 epochs=6"]
    + ["samples=20000 epochs=6 error_round=stochastic"]
    + ["samples=20000 epochs=6 weight_scale=tensor"],
    "cheap": ["root=shared gradient_round=nearest quotient_bits=8 growth=double"]
    + ["weight_scale=tensor root=shared gradient_round=nearest"]
    + ["weight_scale=tensor root=shared gradient_round=nearest growth=double quotient_bits=10"]
    + ["weight_scale=tensor root=mean", "weight_scale=tensor master=1 update_round=stochastic"],
    "sgd": [f"number=float32 optimizer=sgd rate={rate}" for rate in (0.02, 0.05, 0.1)]
    + ["optimizer=sgd rate=0.05 peak_bits=11"]
    + ["optimizer=sgd rate=0.05 peak_bits=11 weight_scale=tensor"],
}


def per_seed(s, like):  # (S), shaped to broadcast over `like`
    return s.reshape(-1, *[1] * (like.dim() - 1))


def nearest(x):
    return torch.floor(x + 0.5)


def stochastic(x):
    return torch.floor(x + torch.rand(x.shape, dtype=x.dtype))


ROUNDING = {"nearest": nearest, "stochastic": stochastic, "float": torch.clone}


def columns(x, layer):
    """(S,B,L,C) -> (S,B*L',K): each output's inputs, in the order C, kernel."""
    if layer == len(CONVOLUTIONS):
        return x.flatten(2)
    s, b, _, c = x.shape
    kernel = CONVOLUTIONS[layer][0]
    x = torch.nn.functional.pad(x, (0, 0, 1, 1)).unfold(2, kernel, 2)
    return x.reshape(s, b * x.shape[2], c * kernel)


def uncolumns(d, layer):
    """The transpose of columns(): (S,B*L',K) -> (S,B,L,C), overlaps added."""
    if layer == len(CONVOLUTIONS):
        return d.unflatten(2, (5, 25))
    size, outputs = (1, CONVOLUTIONS[layer][0]), LENGTHS[layer + 1]
    d = d.reshape(-1, outputs, d.shape[2]).transpose(1, 2)
    x = torch.nn.functional.fold(d, (1, LENGTHS[layer]), size, padding=(0, 1), stride=(1, 2))
    return x.reshape(-1, BATCH, 25, LENGTHS[layer]).transpose(2, 3)


@functools.cache
def mnist1d(samples, seed, train_split):
    """x, y for training and x, y for testing, as the package makes them."""
    args = get_dataset_args()
    args.seed, args.num_samples, args.train_split = seed, samples, train_split
    data = make_dataset(args)
    return [torch.tensor(data[key]) for key in ("x", "y", "x_test", "y_test")]


def glorot(layer):
    kernel = (*CONVOLUTIONS, (1,))[layer][0]
    return math.sqrt(6 / (SHAPES[layer][0] + SHAPES[layer][1] * kernel))


def initial_weights(layer, seeds):
    """Glorot-uniform, float64 (S,K,N)."""
    generators = [torch.Generator().manual_seed(1000 * seed + layer) for seed in seeds]
    w = torch.stack([torch.rand(SHAPES[layer], generator=g) for g in generators]).double()
    return (w * 2 - 1) * glorot(layer)


class Float:
    """The twin: the network in float32, by PyTorch's autograd and optimizers."""

    def __init__(self, variant, seeds, train_x):
        self.w = [initial_weights(i, seeds).float().requires_grad_() for i in range(4)]
        self.b = [torch.zeros(len(seeds), 1, n, requires_grad=True) for _, n in SHAPES]
        self.optimizer = torch.optim.Adam(self.w + self.b, betas=(BETA1, BETA2))
        if variant["optimizer"] == "sgd":
            self.optimizer = torch.optim.SGD(self.w + self.b, momentum=BETA1)

    def quantize(self, x):
        return x.float().unsqueeze(-1)  # one channel

    def forward(self, x):
        for layer, (w, b) in enumerate(zip(self.w, self.b)):
            y = torch.bmm(columns(x, layer), w) + b
            x = y.clamp(min=0).unflatten(1, (x.shape[1], -1))
        return y

    def step(self, x, y, rate, t):
        self.optimizer.param_groups[0]["lr"] = rate
        self.optimizer.zero_grad()
        logits = self.forward(x).flatten(0, 1)
        loss = torch.nn.functional.cross_entropy(logits, y.flatten(), reduction="sum")
        (loss / BATCH).backward()
        self.optimizer.step()


class Range:
    """The scale of one int8 tensor, per seed: known from earlier steps, corrected after each."""

    def __init__(self, variant, limit, signed=True, scale=None):
        self.v, self.limit, self.signed, self.scale = variant, limit, signed, scale

    def measure(self, x):
        return (x.abs() if self.signed else x).flatten(1).amax(1).double()

    def fit(self, acc, unit, round_=nearest):
        """acc * unit, in steps of this range: rounded, its peak noted, saturated."""
        if self.scale is None:  # the very first batch: run, measure, run again
            self.scale = self.measure(acc * unit) / self.limit
        x = round_(acc * (unit / per_seed(self.scale, acc)))
        self.peak = self.measure(x)
        x = x.clamp(-self.limit if self.signed else 0, self.limit)
        return x.float() if self.limit <= 255 else x

    def adapt(self):
        growth = self.peak / self.limit * self.v["margin"]
        if self.v["growth"] == "double":
            growth = 2 ** torch.ceil(torch.log2(growth.clamp(min=1)))
        more = self.peak > self.limit
        self.scale = self.scale * torch.where(more, growth, 1 - self.v["fall"])


class Int:
    """The same network, int8 forward and backward, int16 optimizer state."""

    def __init__(self, variant, seeds, train_x):
        self.v, v, s = variant, variant, len(seeds)
        low, high = train_x.min().item(), train_x.max().item()
        self.x_scale, self.x_limits = max(high, -low) / 127, (-127, 127)
        if v["input"] == "affine":
            self.x_scale = (high - low) / 255
            self.x_limits = (round(low / self.x_scale), round(low / self.x_scale) + 255)
        self.ranges = [Range(v, 255, signed=False) for _ in CONVOLUTIONS] + [Range(v, 127)]
        limit = 2 ** (v["error_bits"] - 1) - 1
        self.errors = [None] + [Range(v, limit) for _ in CONVOLUTIONS]
        fixed = torch.full((s,), 1 / limit, dtype=torch.float64)
        self.loss = Range(v, limit, scale=None if v["loss_error"] == "running" else fixed)

        # All parameters in one row: four layers' weights, then their biases.
        sizes = torch.tensor([k * n for k, n in SHAPES] + [n for _, n in SHAPES])
        self.slices = [slice(e - n, e) for n, e in zip(sizes.tolist(), sizes.cumsum(0).tolist())]
        self.tensor = torch.repeat_interleave(torch.arange(len(sizes)), sizes)
        self.p = torch.zeros(s, len(self.tensor), dtype=torch.float64)
        self.unit = torch.full_like(self.p, BIAS_UNIT)  # of each parameter, in reality
        self.w_scale = []
        for layer, (_, n) in enumerate(SHAPES):
            scale = torch.full((s, 1, n), glorot(layer) / v["headroom"]).double()
            w = initial_weights(layer, seeds) / scale
            self.p[:, self.slices[layer]] = nearest(w * v["master"]).flatten(1)
            self.w_scale.append(scale)
        self.set_units()
        self.m, self.root, self.g_scale = torch.zeros_like(self.p), torch.zeros_like(self.p), None

    def set_units(self):
        for layer, scale in enumerate(self.w_scale):
            unit = scale.expand(-1, SHAPES[layer][0], -1) / self.v["master"]
            self.unit[:, self.slices[layer]] = unit.flatten(1)

    def part(self, flat, tensor):
        n = SHAPES[tensor % len(SHAPES)][1]
        return flat[:, self.slices[tensor]].unflatten(1, (-1, n))

    def int8_weights(self, layer):
        return nearest(self.part(self.p, layer) / self.v["master"]).clamp(-127, 127).float()

    def quantize(self, x):
        return nearest(x / self.x_scale).clamp(*self.x_limits).float().unsqueeze(-1)

    def forward(self, x):
        """Logits.  x is int8 less its zero point, as every activation here."""
        self.x, self.x_scales, self.y = [], [], []
        scale = torch.full((self.p.shape[0],), self.x_scale).double()
        for layer in range(len(SHAPES)):
            self.x, self.x_scales = self.x + [columns(x, layer)], self.x_scales + [scale]
            unit = per_seed(scale, self.w_scale[layer]) * self.w_scale[layer]
            acc = torch.bmm(self.x[-1], self.int8_weights(layer)).double()
            acc += nearest(self.part(self.p, layer + len(SHAPES)) * BIAS_UNIT / unit)
            x = self.ranges[layer].fit(acc, unit)
            if layer < len(CONVOLUTIONS):
                x = x.reshape(x.shape[0], -1, LENGTHS[layer + 1], x.shape[2])
            self.y.append(x)
            scale = self.ranges[layer].scale
        return x

    def step(self, x, y, rate, t):
        logits = self.forward(x).double() * per_seed(self.ranges[-1].scale, self.y[-1])
        p = nearest(torch.softmax(logits, 2) * 65536)
        e = p - 65536 * torch.nn.functional.one_hot(y, CLASSES)
        e = self.loss.fit(e, torch.tensor(1 / 65536), ROUNDING.get(self.v["loss_error"], nearest))
        scale, round_ = self.loss.scale, ROUNDING[self.v["error_round"]]
        dw, db, dw_unit, db_unit = [], [], [], []
        for layer in reversed(range(len(SHAPES))):
            x = self.x[layer].transpose(1, 2).to(e.dtype)  # int16 errors: sums need float64
            dw.insert(0, torch.bmm(x, e).double().flatten(1))
            db.insert(0, e.sum(1).double())
            dw_unit.insert(0, scale * self.x_scales[layer] / BATCH)
            db_unit.insert(0, scale / BATCH)
            if layer == 0:
                break
            w, w_scale = self.int8_weights(layer).to(e.dtype), self.w_scale[layer]
            largest = w_scale.amax(2, keepdim=True)
            e = round_(e * (w_scale / largest)).to(e.dtype)  # one scale for all channels
            acc = uncolumns(torch.bmm(e, w.transpose(1, 2)), layer).double()
            acc, unit = acc * (self.y[layer - 1] > 0), per_seed(scale * largest.flatten(), acc)
            e = self.errors[layer].fit(acc, unit, round_).flatten(1, 2)
            scale = self.errors[layer].scale
        self.optimize(torch.cat(dw + db, 1), torch.stack(dw_unit + db_unit, 1), rate, t)
        running = [self.loss] if self.v["loss_error"] == "running" else []
        for range_ in self.ranges + self.errors[1:] + running:
            range_.adapt()
        self.widen_weights()

    def optimize(self, gradient, g_unit, rate, t):
        """gradient (S,P) * g_unit (S,tensor) is the real one."""
        v, state = self.v, ROUNDING[self.v["state"]]
        if self.g_scale is None:
            peaks = torch.stack([gradient[:, s].abs().amax(1) for s in self.slices], 1)
            exponent = torch.log2(peaks.clamp(min=1) * g_unit) - v["peak_bits"]
            self.g_scale = 2 ** torch.ceil(exponent)
        g = gradient * (g_unit / self.g_scale)[:, self.tensor]
        g = ROUNDING["float" if v["state"] == "float" else v["gradient_round"]](g)
        if v["optimizer"] == "sgd":
            self.m = state(self.m * BETA1 + g)
            step = rate * self.m * self.g_scale[:, self.tensor]
        else:
            step = self.adam(g, state, rate, t)
        self.p -= ROUNDING[v["update_round"]](step / self.unit)
        if max(g.abs().max(), self.m.abs().max(), self.root.max()) > INT16:
            self.double_gradient_scale(g)

    def adam(self, g, state, rate, t):
        v, g = self.v, g.clamp(-INT16, INT16)
        self.m = state(self.m + (g - self.m) * (1 - BETA1))
        size, correction = g.abs(), math.sqrt(1 - BETA2**t) / (1 - BETA1**t)
        a, b = self.root * math.sqrt(BETA2), size * math.sqrt(1 - BETA2)
        small, large = torch.minimum(a, b), torch.maximum(a, b)
        divisor = torch.floor(large) + v["epsilon"]
        if v["state"] == "float":
            self.root = torch.hypot(a, b)
            return rate * correction * self.m / (self.root + 1e-6)
        if v["root"] == "mean":
            self.root = state(self.root + (size - self.root) * (1 - BETA2))
            divisor = self.root * 1.25 + v["epsilon"]
            correction = (1 - BETA2**t) / (1 - BETA1**t)
        elif v["root"] == "shared":
            self.root = state(large + small**2 / (2 * divisor))
        else:
            approximate = large + small**2 / (2 * large).clamp(min=1e-9)
            self.root = state(torch.hypot(a, b) if v["root"] == "exact" else approximate)
            divisor = self.root + v["epsilon"]
        quotient = nearest(self.m / divisor * 2 ** v["quotient_bits"]) / 2 ** v["quotient_bits"]
        return rate * correction * quotient.clamp(-8, 8)  # at most 7.3 in exact Adam

    def double_gradient_scale(self, g):
        worst = torch.stack([g.abs(), self.m.abs(), self.root]).amax(0)
        over = torch.stack([worst[:, s].amax(1) > INT16 for s in self.slices], 1).double()
        self.g_scale = self.g_scale * (1 + over)
        half = 1 - over[:, self.tensor] / 2
        round_ = torch.clone if self.v["state"] == "float" else nearest
        self.m = round_(self.m * half).clamp(-INT16, INT16)
        self.root = round_(self.root * half).clamp(max=INT16)

    def widen_weights(self):
        """A channel whose int8 weight would pass 127: its scale doubles, its weights halve."""
        weights, full = self.p[:, : self.slices[3].stop], 127.5 * self.v["master"]
        if weights.abs().max() < full:
            return
        for layer in range(len(SHAPES)):
            w = self.part(self.p, layer)
            worst = w.abs().amax(1, keepdim=True)
            if self.v["weight_scale"] == "tensor":
                worst[:] = worst.amax(2, keepdim=True)
            factor = torch.where(worst >= full, 0.5, 1.0).double()
            self.w_scale[layer] = self.w_scale[layer] / factor
            self.p[:, self.slices[layer]] = nearest(w * factor).flatten(1)
        self.set_units()


def train(variant, seeds):
    """Accuracy in percent, a list of seeds for each test set, after the last epoch."""
    changes = dict(assignment.split("=") for assignment in variant.split())
    v = DEFAULT | {key: type(DEFAULT[key])(value) for key, value in changes.items()}
    train_x, train_y, *test = mnist1d(5000, 42, 0.8)  # the package's defaults
    if v["samples"] != 4000:
        train_x, train_y, *_ = mnist1d(v["samples"], 44, 1.0)
    torch.manual_seed(1)
    net = (Float if v["number"] == "float32" else Int)(v, seeds, train_x)
    x, n = net.quantize(train_x), len(train_x)
    orders = [torch.Generator().manual_seed(1000 * s + 500) for s in seeds]
    t, steps = 0, v["epochs"] * n // BATCH
    for _ in range(v["epochs"]):
        order = torch.stack([torch.randperm(n, generator=g) for g in orders])
        for batch in order.split(BATCH, 1):
            rate, t = v["rate"] * (1 + math.cos(math.pi * t / steps)) / 2, t + 1
            net.step(x[batch], train_y[batch], rate, t)
    accuracies = []
    for x, y in test, mnist1d(10000, 43, 0.0)[2:]:
        with torch.no_grad():
            parts = [part.expand(len(seeds), *part.shape) for part in net.quantize(x).split(500)]
            right = torch.cat([net.forward(part).argmax(2) for part in parts], 1) == y
        accuracies.append((100 * right.double().mean(1)).tolist())
    return accuracies


def line(result, default, twin):
    """Means on both test sets; differences on the large one, paired by seed, +- standard error."""

    def paired(other):
        d = torch.tensor(result[1]) - torch.tensor(other[1])
        return f"{d.mean().item():+6.2f} +- {d.std().item() / math.sqrt(len(d)):4.2f}"

    means = " ".join(f"{torch.tensor(r).mean().item():6.2f}" for r in result)
    return f"{means}   {paired(twin)}   {paired(default)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", help=f"of {' '.join(GROUPS)}, or variants; none: all")
    parser.add_argument("--seeds", type=int, default=10)
    args = parser.parse_args()
    torch.set_num_threads(1)
    seeds = range(args.seeds)
    twin, default = train("number=float32", seeds), train("", seeds)
    print(f"{args.seeds} seeds; accuracy in % on the package's 1,000 test series, on 10,000 more,")
    print("and differences on the 10,000, paired by seed, +- standard error")
    print(f"{'':46} {'1,000':>6} {'10,000':>6}   {'- float32':>14}   {'- default':>14}")
    for label, row in ("float32", twin), ("default", default):
        print(f"{label:46} {line(row, default, twin)}")
    for group in args.groups or GROUPS:
        print(group)
        for variant in GROUPS.get(group, [group]):
            print(f"  {variant:44} {line(train(variant, seeds), default, twin)}", flush=True)


if __name__ == "__main__":
    import written

    written.recorded("numerics.txt", main)
