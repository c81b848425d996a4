"""Variational autoencoders: odt's int8 beside its float32 and PyTorch's, on digits and MNIST-1D.

    python bench/accuracy/vae.py                       a quarter of an hour; writes bench/results/vae.txt
    python bench/accuracy/vae.py --seeds 1 --task digits

Networks n-64-2*8-8-64-n, Adam(0.002) on a cosine to 0, batches of 16, 60 epochs and 20; PyTorch begins with odt's
weights. bound: the negative ELBO in nats of the test samples, ten points drawn for each (MNIST-1D, a decoder of
variance 1/2: less a constant). labels k: test accuracy in % of a classifier 8-32-10 on the frozen encoder's means, by k
labels of each class (raw: on the samples themselves, in float32). odd: a class is left out, the area under the ROC
curve of the loss that tells it from test samples of the others. Means +- standard error over seeds; less: less odt's
float32 of the same seed. Costs: of a step on 16 digits, all that Python does included; qemu_m4hf has an FPU.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import counting
import numpy as np
import torch
import torch.nn.functional as F
from accuracy import digits, mnist1d

import odt
from odt import generative as vae
from odt.continual import teach

BATCH, RATE, HIDDEN, LATENT = 16, 0.002, 64, 8
LABELS = 5, 20, 100
TASKS = {"digits": (digits, 60, "binary_crossentropy"), "mnist1d": (mnist1d, 20, "mse")}


def data(name):
    (x, y), (x_test, y_test) = TASKS[name][0]()
    return (x.reshape(len(x), -1), y), (x_test.reshape(len(x_test), -1)[:2000], y_test[:2000])


def network(name, width):
    first = odt.Input((width,), dtype="uint8", scale=1 / 16) if name == "digits" else odt.Input((width,))
    parts = [odt.Dense(HIDDEN, "relu"), odt.Dense(2 * LATENT, name="latent"), odt.Sampling(name="z")]
    return odt.Sequential([first, *parts, odt.Dense(HIDDEN, "relu"), odt.Dense(width)])


class Odt:
    def __init__(self, name, dtype, x, seed, epochs, loss):
        steps = epochs * -(-len(x) // BATCH)
        self.model = model = network(name, x.shape[1])
        model.compile(odt.Adam(odt.CosineDecay(RATE, steps)), loss, dtype=dtype, batch_size=BATCH, seed=seed)
        model.fit(x, x, epochs=epochs, verbose=0)
        self.front, self.back = teach.front(model, "latent"), vae.decoder(model)
        self.dtype = dtype

    def encode(self, x):
        out = np.array(self.front.predict(x)).reshape(len(x), -1)
        return out[:, :LATENT], out[:, LATENT:]

    def decode(self, z):
        return np.array(self.back.predict(np.ascontiguousarray(z, "float32"))).reshape(len(z), -1)


class Torch:
    dtype = "float32"

    def __init__(self, x, seed, epochs, loss, first):
        torch.manual_seed(seed)
        x = torch.tensor(x)
        shapes = (x.shape[1], HIDDEN), (HIDDEN, 2 * LATENT), (LATENT, HIDDEN), (HIDDEN, x.shape[1])
        self.layers = [torch.nn.Linear(*shape) for shape in shapes]
        values = iter(first)
        for layer in self.layers:
            layer.weight.data = torch.tensor(np.array(next(values))).reshape(layer.weight.shape)
            layer.bias.data = torch.tensor(np.array(next(values)))
        own = torch.optim.Adam([p for layer in self.layers for p in layer.parameters()], RATE, eps=1e-7)
        plan = torch.optim.lr_scheduler.CosineAnnealingLR(own, epochs * -(-len(x) // BATCH))
        for _ in range(epochs):
            for part in torch.randperm(len(x)).split(BATCH):
                mean, v = self._encode(x[part])
                out = self._decode(mean + torch.exp(v / 2) * torch.randn_like(mean))
                total = F.binary_cross_entropy_with_logits if loss == "binary_crossentropy" else F.mse_loss
                divergence = (mean**2 + torch.exp(v) - v - 1).sum(1).mean() / 2
                error = total(out, x[part]) + divergence / x.shape[1]
                own.zero_grad()
                error.backward()
                own.step()
                plan.step()

    def _encode(self, x):
        return self.layers[1](F.relu(self.layers[0](x))).chunk(2, 1)

    def _decode(self, z):
        return self.layers[3](F.relu(self.layers[2](z)))

    def encode(self, x):
        with torch.no_grad():
            return [each.numpy() for each in self._encode(torch.tensor(x))]

    def decode(self, z):
        with torch.no_grad():
            return self._decode(torch.tensor(z, dtype=torch.float32)).numpy()


def losses(way, x, real, loss, draws, seed):
    """The negative ELBO of each sample."""
    random = np.random.default_rng(seed)
    mean, v = [each.astype("float64") for each in way.encode(x)]
    total = np.zeros(len(x))
    for _ in range(draws):
        noise = random.normal(size=mean.shape) if draws > 1 else 0
        out = way.decode(mean + np.exp(v / 2) * noise).astype("float64")
        if loss == "mse":
            total += ((out - real) ** 2).sum(1) / draws
        else:
            total += (np.logaddexp(0, out) - out * real).sum(1) / draws
    return total + (mean**2 + np.exp(v) - v - 1).sum(1) / 2


def classified(train, test, dtype, seed):
    (x, y), (x_test, y_test) = train, test
    x, x_test = [np.ascontiguousarray(each, "float32") for each in (x, x_test)]
    epochs = max(20, 10000 // len(x))
    model = odt.Sequential([odt.Input((x.shape[1],)), odt.Dense(32, "relu"), odt.Dense(10)])
    optimizer = odt.Adam(odt.CosineDecay(0.005, epochs * -(-len(x) // BATCH)))
    model.compile(optimizer, dtype=dtype, batch_size=BATCH, seed=seed)
    model.fit(x, y, epochs=epochs, verbose=0)
    return 100 * model.evaluate(x_test, y_test)[1]


def area(usual, odd):
    """Of the ROC curve: how often an odd one scores above a usual one."""
    return np.mean([np.mean(one > usual) + np.mean(one == usual) / 2 for one in odd])


def measured(name, seed):
    """{way: figures} of one seed."""
    _, epochs, loss = TASKS[name]
    (x, y), (x_test, y_test) = data(name)
    unit = 16 if name == "digits" else 1
    real, real_test = [(each / unit).astype("float32") for each in (x, x_test)]
    found = {}
    chosen = np.random.default_rng(seed).permutation(len(y))
    for way in ("float32", "int8", "PyTorch"):

        def trained(rows, way=way):
            if way != "PyTorch":
                return Odt(name, way, x[rows], seed, epochs, loss)
            return Torch(real[rows], seed, epochs, loss, initial(name, x.shape[1], seed))

        inputs = (real, real_test) if way == "PyTorch" else (x, x_test)
        made = trained(np.arange(len(x)))
        figures = [losses(made, inputs[1], real_test, loss, 10, seed).mean()]
        means = [made.encode(each)[0] for each in inputs]
        for labels in LABELS:
            few = np.concatenate([chosen[y[chosen] == c][:labels] for c in range(10)])
            figures.append(classified((means[0][few], y[few]), (means[1], y_test), made.dtype, seed))
            if way == "float32":
                raw = classified((real[few], y[few]), (real_test, y_test), "float32", seed)
                found.setdefault("raw", [np.nan]).append(raw)
        if way == "PyTorch":
            found[way] = [*figures, np.nan]
            continue
        left = 2 * seed % 10
        made = trained(np.flatnonzero(y != left))
        scores = losses(made, inputs[1], real_test, loss, 1, seed)
        figures.append(100 * area(scores[y_test != left], scores[y_test == left]))
        found[way] = figures
    found["raw"].append(np.nan)
    return found


def initial(name, width, seed):
    model = network(name, width)
    model.compile("adam", "mse", dtype="float32", batch_size=BATCH, seed=seed)
    return model.get_weights()


def qualities(names, seeds):
    heads = ["bound", *["labels %d" % k for k in LABELS], "odd"]
    print("%-8s %-8s%s" % ("task", "", "".join("%18s" % head for head in heads)))
    for name in names:
        every = [measured(name, seed) for seed in range(seeds)]
        base = np.array([found["float32"] for found in every])
        for way in ("float32", "int8", "PyTorch", "raw"):
            values = np.array([found[way] for found in every])
            for label, table in ((way, values), ("  less", values - base))[: 1 if way == "float32" else 2]:
                cells = [
                    "%18s" % ("" if np.isnan(m) else "%.2f +- %.2f" % (m, e))
                    for m, e in zip(table.mean(0), table.std(0) / max(seeds - 1, 1) ** 0.5)
                ]
                print("%-8s %-8s%s" % (name, label, "".join(cells)), flush=True)


ON_BOARD = """
import odt
model = odt.Sequential([
    odt.Input((64,), dtype="uint8", scale=1 / 16), odt.Dense(64, "relu"), odt.Dense(16), odt.Sampling(),
    odt.Dense(64, "relu"), odt.Dense(64)])
model.compile(odt.Adam(), "binary_crossentropy", dtype=%r, batch_size=16, seed=7)
x = bytes([i * 37 %% 17 for i in range(1024)])
for _ in range(3):
    model.train_step(x, x)
begin()
end()
begin()
model.train_step(x, x)
end()
"""


def costs(names):
    for name in names:
        print(counting.heading(name))
    print("%-8s%12s%12s%s" % ("", "arena", "state", "".join("%12s" % name for name in names)))
    for dtype in ("int8", "float32"):
        model = network("digits", 64)
        model.compile(odt.Adam(), "binary_crossentropy", dtype=dtype, batch_size=16)
        cells = [len(model.session.arena), len(model.session.state)]
        for name in names:
            machine = counting.open(name)
            cells.append(machine.run(ON_BOARD % dtype)[-1])
            machine.close()
        print("%-8s%s" % (dtype, "".join("%12d" % cell for cell in cells)), flush=True)


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

    written.recorded("vae.txt", main)
