"""Continual learning without kept samples, beside odt.continual.replay: LwF, EWC and CWR*.

    python bench/accuracy/continual.py              a quarter of an hour of one core; writes bench/results/continual.txt
    python bench/accuracy/continual.py --seeds 1 --part turns
    python bench/accuracy/continual.py --generated  latents drawn from a model of each class:
                                           bench/results/continual_generated.txt

Tasks, network, epochs and scores are those of bench/accuracy/replay.py, and so is what a row's rate and strength are
chosen with: three further seeds. PyTorch starts from odt's first weights. In % and points, mean +- standard error;
bytes: of what is kept beside the network.

LwF (Li and Hoiem, 2016): cross-entropy, and strength times the divergence of what the network says of the new samples,
of the classes seen, from what it said before the task, at temperature 2. odt's, without a kept sample:
odt.continual.dark's loss on the new samples, alpha the strength. EWC (Kirkpatrick et al., 2017; online: Schwarz et al.,
2018): a penalty by the Fisher information of 200 samples of each task, on all weights. replay, logits:
odt.continual.replay, odt.continual.dark in a budget of 4 KB.

head: as in bench/accuracy/replay.py's latents: four digits are learned at first, the layers up to the second pooling do
not change from then on, three tasks of two digits follow. CWR* (Maltoni and Lomonaco, 2019): each task trains a layer
of its own classes from zeros by momentum, whose rows less their mean are joined with those of before by how many
samples came; the front is odt's in float32. latents: odt.continual.latents in 8 bits, and how many of them are kept.

generated: as head, and with two other lists of tasks: turns, whose front learned all digits as they are, and series,
the first 1,000 of MNIST-1D by bench/accuracy/accuracy.py's network, whose convolutions are the front. Latents that are
kept, beside latents that are drawn, in NumPy, from a Gaussian of each class in as many bytes. PPCA, q (Tipping and
Bishop, 1999): mean + W z + noise, W of q vectors; diagonal: the mean, and each number's own noise. A class that comes
again is fitted to its new latents and to as many drawn as came before. A fit takes a class's latents, that of PPCA
their covariance: bytes that are not counted.
"""

import argparse
import gc
import sys
from pathlib import Path


import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import replay as bench  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
import written  # noqa: E402
from replay import BATCH, EPOCHS, HELD_OUT, LAYERS, RATES, Base, Score, cell  # noqa: E402
from twin import Twin  # noqa: E402

import odt  # noqa: E402
from odt.continual import Replay  # noqa: E402

TEMPERATURE, FISHER, BUDGET, FRONT = 2, 200, 4096, LAYERS["second pooling"]
MODELS = {
    "PPCA, 0": (0, False),
    "diagonal": (0, True),
    "PPCA, 1": (1, False),
    "PPCA, 4": (4, False),
    "PPCA, 8": (8, False),
}
STRENGTHS = {"LwF": (0.5, 1, 4), "EWC": (10, 100, 1000), "odt's": (0.1, 0.3, 1)}
KINDS = "PyTorch", "float32", "int8"


def tensors(x, y):
    x = x / np.float32(16) if x.dtype == np.uint8 else x
    return torch.tensor(np.array(x, "float32")), torch.tensor(y.astype("int64"))


class Net:
    """odt's network in PyTorch, with its first weights."""

    def __init__(self, seed):
        model = bench.made(bench.digits_cnn(), "float32", 0.001, seed)
        torch.manual_seed(seed)
        self.forward = Twin(model, torch.float32)
        self.parameters = self.forward.flat_parameters()

    def __call__(self, x):
        return self.forward.forward(x)

    def evaluate(self, x, y):
        with torch.no_grad():
            x, y = tensors(x, y)
            return None, (self(x).argmax(1) == y).float().mean().item()


def fisher(net, x):
    """The diagonal of the Fisher information, of labels drawn from what the network says."""
    found = [torch.zeros_like(p) for p in net.parameters]
    for i in torch.randperm(len(x))[:FISHER]:
        out = net(x[i : i + 1])
        label = torch.distributions.Categorical(logits=out.detach()).sample()
        for total, gradient in zip(found, torch.autograd.grad(F.cross_entropy(out, label), net.parameters)):
            total += gradient**2 / FISHER
    return found


def by_torch(tasks, method, rate, strength, seed):
    net = Net(seed)
    adam = torch.optim.Adam(net.parameters, lr=rate, eps=1e-7)
    score, seen, information, anchors = Score([test for _, test in tasks]), [], None, None
    for train, _ in tasks:
        x, y = tensors(*train)
        with torch.no_grad():
            before = net(x)
        for _ in range(EPOCHS):
            for rows in torch.randperm(len(x)).split(BATCH):
                out = net(x[rows])
                loss = F.cross_entropy(out, y[rows])
                if method == "LwF" and seen:
                    softened = [F.log_softmax(z[:, seen] / TEMPERATURE, 1) for z in (out, before[rows])]
                    loss = loss + strength * TEMPERATURE**2 * F.kl_div(
                        *softened, reduction="batchmean", log_target=True
                    )
                if anchors:
                    moved = zip(information, anchors, net.parameters)
                    loss = loss + strength / 2 * sum([(f * (p - a) ** 2).sum() for f, a, p in moved])
                adam.zero_grad()
                loss.backward()
                adam.step()
        if method == "EWC":
            found = fisher(net, x)
            information = [a + b for a, b in zip(found, information)] if information else found
            anchors = [p.detach().clone() for p in net.parameters]
        seen = sorted({*seen, *y.tolist()})
        score.add(net)
    return score.result


class Distilled:
    """Batches of a task, whose samples all have the logits of the network before it."""

    epoch = order = 0

    def __init__(self, model, x, y):
        z = np.clip(np.rint(4 * np.array(model.predict(x)).reshape(len(x), -1)), -127, 127).astype("int8")
        self.x, self.y = x, np.concatenate([y[:, None], z.view("uint8")], 1)

    def __len__(self):
        return -(-len(self.x) // BATCH)

    def __iter__(self):
        order = np.random.default_rng(self.order).permutation(len(self.x))
        for first in range(0, len(order), BATCH):
            rows = order[first : first + BATCH]
            yield self.x[rows], memoryview(np.ascontiguousarray(self.y[rows]).ravel())


def lwf(tasks, dtype, rate, strength, seed):
    model = odt.Sequential(bench.digits_cnn())
    model.compile(odt.Adam(rate), bench.DarkExperience(strength), dtype=dtype, batch_size=BATCH, seed=seed)
    score = Score([test for _, test in tasks])
    for number, (train, _) in enumerate(tasks):
        data = (Distilled(model, *train),) if number else train
        model.fit(*data, epochs=EPOCHS, verbose=0)
        score.add(model)
    return score.result


def cwr(base, rate, seed):
    """CWR* on what the front says."""
    parts, weights = bench.digits_cnn(), base.model.get_weights()
    front = odt.Sequential(parts[:FRONT])
    front.compile(None, "mse", dtype="float32", batch_size=1)
    front.set_weights(weights[: len(front.get_weights())])
    tasks = [[(np.array(front.predict(x), "float32").reshape(len(x), -1), y) for x, y in task] for task in base.tasks]
    rows, came = np.zeros((10, tasks[0][0][0].shape[1] + 1), "float32"), np.zeros(10)
    score = Score([test for _, test in tasks])
    for (x, y), _ in tasks:
        torch.manual_seed(seed)
        labels = np.unique(y)
        layer = torch.nn.Linear(x.shape[1], len(labels))
        torch.nn.init.zeros_(layer.weight), torch.nn.init.zeros_(layer.bias)
        momentum = torch.optim.SGD(layer.parameters(), lr=rate, momentum=0.9)
        xt, yt = tensors(x, np.searchsorted(labels, y))
        for _ in range(EPOCHS):
            for batch in torch.randperm(len(xt)).split(BATCH):
                momentum.zero_grad()
                F.cross_entropy(layer(xt[batch]), yt[batch]).backward()
                momentum.step()
        trained = torch.cat([layer.weight, layer.bias[:, None]], 1).detach().numpy()
        for label, row in zip(labels, trained - trained.mean(0)):
            now = (y == label).sum()
            before = (came[label] / now) ** 0.5
            rows[label] = (rows[label] * before + row) / (before + 1)
            came[label] += now
        score.add(Last(rows.copy()))
    return score.result


class Gaussian:
    """A class's latents as mean + W z + noise, in int8 with a step for each vector: PPCA, or ``diagonal``, where each
    number has its own noise.
    """

    def __init__(self, rows, components, diagonal):
        self.count, covariance = len(rows), np.cov(rows.T, bias=True)
        values, vectors = np.linalg.eigh(covariance)
        values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
        noise = values[components:].mean()
        axes = vectors[:, :components] * np.maximum(values[:components] - noise, 0) ** 0.5
        self.mean, self.axes = np.rint(rows.mean(0)), [quantized(axis) for axis in axes.T]
        self.noise = quantized(np.diag(covariance) ** 0.5) if diagonal else np.float32(noise**0.5)

    def draw(self, count, rng):
        rows = self.mean + self.noise * rng.standard_normal((count, len(self.mean)))
        for axis in self.axes:
            rows += rng.standard_normal((count, 1)) * axis
        return np.clip(np.rint(rows), -128, 127).astype("int8")

    @staticmethod
    def size(width, components, diagonal):
        """Bytes: the mean, axes and noises with a step each, a noise, and how many samples came."""
        return width + (components + diagonal) * (width + 4) + (0 if diagonal else 4) + 2


def quantized(values):
    """As multiples of a step, of -127 to 127."""
    step = np.float32(max(np.abs(values).max(), 1e-9) / 127)
    return np.rint(values / step) * step


class Generator:
    """Latents drawn from a Gaussian for each class, in place of latents that odt.continual.replay keeps."""

    def __init__(self, latents, model, seed):
        self.width, self.model, self.rng, self.classes = latents.width, model, np.random.default_rng(seed), {}

    def rows(self, x):
        return np.frombuffer(x, "int8").reshape(-1, self.width)

    def add(self, x, y):
        """What came of a class before is there as as many latents drawn."""
        for label in np.unique(y):
            rows, known = self.rows(x)[y == label], self.classes.get(label)
            if known:
                rows = np.concatenate([rows, known.draw(known.count, self.rng)])
            self.classes[label] = Gaussian(rows.astype("float64"), *self.model)

    def mixed(self, x, y):
        return Drawn(self, self.rows(x), y)


class Drawn:
    """Batches as odt.continual.replay mixes them: a class known weighs as much as one of y.

    No latent is drawn twice.
    """

    epoch = order = 0

    def __init__(self, generator, x, y):
        self.generator, self.x, self.y, known = generator, x, y, len(generator.classes)
        self.old = max(1, min(BATCH - 1, round(BATCH * known / (known + len(np.unique(y))))))

    def __len__(self):
        return -(-len(self.x) // (BATCH - self.old))

    def __iter__(self):
        classes, rng = self.generator.classes, self.generator.rng
        labels = np.resize(sorted(classes), len(self) * self.old).astype("uint8")
        drawn = np.empty((len(labels), self.x.shape[1]), "int8")
        for label in classes:
            drawn[labels == label] = classes[label].draw((labels == label).sum(), rng)
        order = rng.permutation(len(self.x))
        for batch in range(len(self)):
            new, old = [slice(batch * count, (batch + 1) * count) for count in (BATCH - self.old, self.old)]
            x = np.concatenate([self.x[order[new]], drawn[old]])
            yield x, memoryview(np.concatenate([self.y[order[new]], labels[old]]))


class Last:
    def __init__(self, rows):
        self.rows = rows

    def evaluate(self, x, y):
        return None, ((x @ self.rows[:, :-1].T + self.rows[:, -1]).argmax(1) == y).mean()


def line(name, size, runs, seeds):
    """``runs``: {kind: (run of a rate, a strength and a seed, strengths)}."""
    text = "%-14s%8s  " % (name, size or "")
    for kind in KINDS:
        if kind in runs:
            run, strengths = runs[kind]
            choices = [(rate, strength) for rate in RATES for strength in strengths]
            best = max(choices, key=lambda choice: sum(run(*choice, seed)[0] for seed in HELD_OUT))
            found = np.array([run(*best, seed) for seed in range(seeds)])
            text += "%15s%15s%16s  " % (
                cell(found[:, 0]),
                cell(found[:, 1]),
                "%g, %g" % best if best[1] else "%g" % best[0],
            )
        else:
            text += " " * 48
    print(text.rstrip(), flush=True)


def heading(title, seeds):
    print("\n%s, %d seeds" % (title, seeds))
    print(
        "%-14s%8s  " % ("", "bytes")
        + "".join(["%15s%15s%16s  " % (kind, "forgetting", "rate, strength") for kind in KINDS]).rstrip()
    )


def protocol(make, seeds):
    heading(make.__name__, seeds)
    tasks = {seed: make(seed) for seed in [*range(seeds), *HELD_OUT]}
    weights = sum(p.numel() for p in Net(0).parameters)
    largest = max([len(train[1]) for train, _ in tasks[0]])

    def of_torch(method):
        return lambda rate, strength, seed: by_torch(tasks[seed], method, rate, strength, seed)

    def of_replay(dtype, budget, logits=False):
        return lambda rate, _, seed: bench.in_turn(tasks[seed], bench.digits_cnn, dtype, rate, seed, budget, logits)[0]

    odts = {dtype: (of_replay(dtype, 0), (0,)) for dtype in KINDS[1:]}
    line("fine-tuning", 0, {"PyTorch": (of_torch(""), (0,)), **odts}, seeds)
    odts = {d: (lambda r, s, seed, d=d: lwf(tasks[seed], d, r, s, seed), STRENGTHS["odt's"]) for d in KINDS[1:]}
    line("LwF", 10 * largest, {"PyTorch": (of_torch("LwF"), STRENGTHS["LwF"]), **odts}, seeds)
    line("EWC", 8 * weights, {"PyTorch": (of_torch("EWC"), STRENGTHS["EWC"])}, seeds)
    for name, logits in (("replay", False), ("logits", True)):
        kept = Replay(bench.made(bench.digits_cnn(), "int8", 0.1, 0, logits), BUDGET)
        line(name, len(kept.state), {d: (of_replay(d, BUDGET, logits), (0,)) for d in KINDS[1:]}, seeds)


def head(seeds):
    heading("head", seeds)
    line("CWR*", 40, {"PyTorch": (lambda r, _, s: cwr(Base.of("float32", s), r, s), (0,))}, seeds)
    for kept in (20, 50):

        def of(dtype, kept=kept):
            return lambda rate, _, seed: bench.with_latents(Base.of(dtype, seed), dtype, FRONT, kept, rate, seed, 8)

        line("latents, %d" % kept, 72 + kept * 65, {dtype: (of(dtype), (0,)) for dtype in KINDS[1:]}, seeds)


def series(seed):
    (x, y), test = bench.all_series()
    return bench.four_first(seed, ((x[:1000], y[:1000]), test))


# tasks, network, layers of the front, latents of a sample
FRONTS = {
    "head": (bench.four_first, bench.digits_cnn, FRONT, 64),
    "head, turns": (bench.turns, bench.digits_cnn, FRONT, 64),
    "head, series": (series, bench.mnist1d_cnn, 5, 125),
}


def generated(seeds):
    for title, (tasks, layers, front, width) in FRONTS.items():
        heading(title, seeds)

        def of(dtype, kept=0, memory=None):
            def run(rate, _, seed):
                base = Base.of(dtype, seed, tasks, layers)
                return bench.with_latents(base, dtype, front, kept, rate, seed, 8, memory and memory(seed))

            return run

        before = 0
        for name, model in MODELS.items():
            size = 32 + 10 * Gaussian.size(width, *model)
            kept = (size - 72) // (width + 1)
            if kept > before:
                runs = {dtype: (of(dtype, kept), (0,)) for dtype in KINDS[1:]}
                line("latents, %d" % kept, 72 + kept * (width + 1), runs, seeds)
            before = kept

            def memory(seed, model=model):
                return lambda latents: Generator(latents, model, seed)

            line(name, size, {dtype: (of(dtype, memory=memory), (0,)) for dtype in KINDS[1:]}, seeds)


PARTS = {
    "classes": lambda seeds: protocol(bench.classes, seeds),
    "turns": lambda seeds: protocol(bench.turns, seeds),
    "head": head,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--generated", action="store_true")
    parser.add_argument("--part", choices=sorted(PARTS), action="append")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    gc.freeze()  # compile() collects garbage: without this, among all that PyTorch has imported
    print("%d epochs of each task, rates %s" % (EPOCHS, ", ".join([str(rate) for rate in RATES])))
    if arguments.generated:
        return generated(arguments.seeds)
    for part in arguments.part or PARTS:
        PARTS[part](arguments.seeds)


if __name__ == "__main__":
    if sys.argv[1:] == ["--generated"]:
        written.kept("continual_generated.txt", main)
    else:
        written.recorded("continual.txt", main)
