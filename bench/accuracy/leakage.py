"""What a server sees of a board's data in what the board sends: deep leakage from gradients.

    python bench/accuracy/leakage.py              all, 15 minutes: bench/results/leakage.txt, docs/pictures/leakage.svg
    python bench/accuracy/leakage.py --seeds 1    a look at it, without the picture

The attack is that of Zhu et al. (2019), with the labels known (Zhao et al., 2020), the cosine between updates as its
measure (Geiping et al., 2020), and local steps repeated inside of it (Dimitrov et al., 2022): images are changed until
training on them would have given the update. It knows the network, the first weights, the optimizer, the labels and the
order of the batches. Several updates of one node are matched together. Where there are two ways to repeat the steps,
the row shows the one which sees more.

Victims are nodes of odt.fleet in int8; their updates are read as a server reads them. Images are of the digits that
bench/accuracy/accuracy.py trains with. Each image is paired with one that the attack found, so that the squares of all
differences are least: PSNR in dB and SSIM, means over images and seeds. For comparison: the data's mean image, other
images of the data, and what the attack finds in random numbers. "silhouette" is no search: of one image, Adam's first
step leaves weights of pixels that are 0 where they were, and moves all others.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from accuracy import digits, digits_cnn, digits_mlp
from twin import Twin as Reference
from written import recorded

import odt
from odt.base.fixed import hash32
from odt.base.primitives import order
from odt.fleet import Node
from odt.host.fleet import Fleet, Twin

NETWORKS = {"MLP": digits_mlp, "CNN": digits_cnn}
RATES = 0.05, 0.004  # of SGD, of Adam
SEED, APART = 7, 150  # images between the first of two seeds
SMOOTH = 0.02  # added to |gradient| in Adam's first step, as a share of its mean: else it has no slope


def compiled(network, dtype, adam, batch):
    model = odt.Sequential(NETWORKS[network]())
    model.compile(odt.Adam(RATES[1]) if adam else odt.SGD(RATES[0]), batch_size=batch, seed=SEED, dtype=dtype)
    return model


class Victim:
    """What a server has after ``rounds``: of each round the model that it sent, and the update of node 0."""

    def __init__(
        self, network, seed, samples, batch=16, dtype="int8", adam=True, rounds=1, nodes=1, secret=False, form="int8",
        share=0.1,
    ):  # fmt: skip
        self.samples, self.batch, self.adam = samples, batch, adam
        train, _ = digits()
        links, images = [], train[0].astype("float32") / 16
        for number in range(nodes):
            part = slice(APART * seed + number * samples, APART * seed + (number + 1) * samples)
            node = Node(
                compiled(network, dtype, adam, batch), train[0][part], train[1][part], "node %d" % number,
                secret=secret, least=1,
            )  # fmt: skip
            links.append(Twin(node))
            if not number:
                self.x, self.y = torch.tensor(images[part]), torch.tensor(train[1][part].astype("int64"))
        fleet = Fleet(
            compiled(network, dtype, adam, batch), links, form, share, timeout=60, workers=1, secret=secret
        )  # fmt: skip
        self.twin = Reference(fleet.model, torch.float32)
        combine, self.models, self.updates = fleet.combine, [], []

        def seen(updates, samples):
            self.updates.append(torch.tensor(np.array(updates[0]) / 2**20, dtype=torch.float32))
            return combine(updates, samples)

        fleet.combine = seen
        for _ in range(rounds):
            self.models.append(torch.tensor(np.array(fleet.weights) / 2**20, dtype=torch.float32))
            parts = fleet.run_round().parts.values()
            assert not [part.why for part in parts if part.why], parts

    def steps(self):
        """The batches of the first round, as indices."""
        key = hash32(SEED, 0) >> 3 | 1
        index = [order(p, self.samples, key) for p in range(self.samples)]
        return [index[at : at + self.batch] for at in range(0, self.samples, self.batch)]


def tensors(twin, flat):
    """The vector of all weights as tensors of the twin's shapes."""
    found, at = [], 0
    for own in twin.flat_parameters():
        found.append(flat[at : at + own.numel()].reshape(own.shape))
        at += own.numel()
    return found


def gradient(twin, weights, x, y):
    """Of the loss, at weights: a list of tensors."""
    values = iter(weights)
    twin.parameters = {node: [next(values) for _ in own] for node, own in twin.parameters.items()}
    return torch.autograd.grad(torch.nn.functional.cross_entropy(twin.forward(x), y), weights, create_graph=True)


def smoothed(grads):
    flat = torch.cat([each.flatten() for each in grads])
    return [each / (each.abs() + SMOOTH * flat.abs().mean().detach()) for each in grads]


def predicted(victim, start, x, whole, signs):
    """The direction of the update that training on x would give; ``whole``: of one step on all images."""
    twin = victim.twin
    weights = [each.requires_grad_() for each in tensors(twin, start)]
    rate, change = RATES[victim.adam], None
    for index in [list(range(victim.samples))] if whole else victim.steps():
        grads = gradient(twin, weights, x[index], victim.y[index])
        if signs:
            grads = smoothed(grads)
        weights = [own - rate * each for own, each in zip(weights, grads)]
        change = grads if change is None else [a + b for a, b in zip(change, grads)]
    return -torch.cat([each.flatten() for each in change])


def paired(found, x):
    """[(place of an image that was found, place of one of x)]: the least sum of square distances."""
    distances = ((found[:, None] - x[None]) ** 2).flatten(2).sum(2)
    return sorted(zip(*linear_sum_assignment(distances.numpy())), key=lambda pair: pair[1])


def attack(victim, whole, signs):
    """The images that the server finds."""
    best, several = None, len(victim.models) > 1
    for number in range(1 if several else 2):
        torch.manual_seed(number)
        x = torch.rand(victim.x.shape, requires_grad=True)
        steer = torch.optim.Adam([x], 0.1)
        steps = 150 if several else 300
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(steer, steps)
        for _ in range(steps):
            steer.zero_grad()
            loss = 1e-3 * ((x[:, 1:] - x[:, :-1]).abs().mean() + (x[:, :, 1:] - x[:, :, :-1]).abs().mean())
            for start, target in zip(victim.models, victim.updates):
                change, sent = predicted(victim, start, x, whole, signs), target != 0
                far = 1 - torch.nn.functional.cosine_similarity(change[sent], target[sent], 0)
                loss = loss + far / len(victim.models)
            loss.backward()
            steer.step()
            schedule.step()
            with torch.no_grad():
                x.clamp_(0, 1)
        if best is None or loss.item() < best[0]:
            best = loss.item(), x.detach()
    return best[1]


def silhouette(victim):
    """What the first layer's weights, (units, pixels), say of one image: where it is not 0."""
    moved = tensors(victim.twin, victim.updates[0])[0].abs().mean(0)
    return (0.7 * moved / moved.max()).reshape(victim.x.shape)


def searched(victim):
    """What the better of the ways to repeat the training finds, and its figures."""
    ways = [(True, False)]
    if victim.samples > victim.batch and len(victim.models) == 1:
        ways.append((False, False))
    if victim.adam and len(victim.models) == 1:
        ways.append((victim.samples <= victim.batch, True))
    found = [attack(victim, *way) for way in ways]
    figures = [compared(each, victim.x) for each in found]
    best = max(range(len(ways)), key=lambda way: figures[way][0])
    return found[best], figures[best]


def psnr(a, b):
    return 10 * np.log10(1 / max(1e-10, ((a - b) ** 2).mean().item()))


def ssim(a, b):
    """Of two whole images (Wang et al., 2004), one window."""
    covariance = ((a - a.mean()) * (b - b.mean())).mean()
    means, spreads = (2 * a.mean() * b.mean() + 1e-4), (2 * covariance + 9e-4)
    return (
        means * spreads / ((a.mean() ** 2 + b.mean() ** 2 + 1e-4) * (a.var(correction=0) + b.var(correction=0) + 9e-4))
    ).item()


def compared(found, x):
    """(PSNR, SSIM), means over images, each with the one that was found for it."""
    return np.mean([(psnr(found[a], x[b]), ssim(found[a], x[b])) for a, b in paired(found, x)], 0)


def rows():
    """(what is sent, of how many images, Victim's options)"""
    forms = ("int32", "whole", 0.1), ("int8", "int8", 0.1), ("top 10 %", "top", 0.1), ("top 1 %", "top", 0.01)
    for name, form, share in forms:
        for samples in (1, 4, 16):
            yield "SGD, one step, " + name, samples, {"adam": False, "form": form, "share": share}
    for batch in (1, 4):
        yield "SGD, 5 steps of %d, int8" % batch, 5 * batch, {"adam": False, "batch": batch}
    for samples in (1, 4, 16):
        yield "Adam, one step, int8", samples, {}
    for name, adam in (("SGD", False), ("Adam", True)):
        for samples in (16, 32, 64):
            yield name + ", steps of 16, int8", samples, {"adam": adam}
    yield "SGD, top 1 %, 20 rounds", 4, {"adam": False, "form": "top", "share": 0.01, "rounds": 20, "nodes": 2}
    for name, adam in (("SGD", False), ("Adam", True)):
        yield name + ", default, 20 rounds", 64, {"adam": adam, "rounds": 20, "nodes": 2}
    for samples in (1, 4):
        yield "SGD, one step, masked", samples, {"adam": False, "form": "whole", "secret": True, "nodes": 3}


def seeds_of(samples, seeds):
    return range(seeds * max(1, 4 // samples))


def show(name, samples, figures):
    values = ["%5.1f +- %3.1f%6.2f" % (each[:, 0].mean(), each[:, 0].std(), each[:, 1].mean()) for each in figures]
    print("%-26s%6d" % (name, samples) + "".join("%22s" % value for value in values), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--only", default="", help="rows whose names begin so")
    arguments = parser.parse_args()
    seeds = arguments.seeds or 2
    torch.set_num_threads(1)
    print("%-26s%6s" % ("", "images") + "".join("%14s dB  SSIM" % name for name in NETWORKS))
    images = torch.tensor(digits()[0][0].astype("float32") / 16)
    for name, others in (("mean image", images.mean(0, keepdim=True).expand(images.shape)), ("other images", images)):
        for samples in (1, 16, 64):
            own = [images[APART * seed :][:samples] for seed in seeds_of(samples, seeds)]
            show(name, samples, [np.array([compared(others[-samples:], x) for x in own])] * 2)
    for name, samples, options in rows():
        if not name.startswith(arguments.only):
            continue
        begun = time.perf_counter()
        several = [
            [Victim(network, seed, samples, **options) for seed in seeds_of(samples, seeds)] for network in NETWORKS
        ]
        show(name, samples, [np.array([searched(victim)[1] for victim in victims]) for victims in several])
        if name.startswith("Adam, one step") and samples == 1:
            show("Adam, silhouette", 1, [np.array([compared(silhouette(victim), victim.x) for victim in several[0]])])
        if "masked" in name:
            torch.manual_seed(100)
            for victim in sum(several, []):
                victim.updates = [4096 * torch.rand(victim.updates[0].shape) - 2048]
            show("random numbers", samples, [np.array([searched(each)[1] for each in victims]) for victims in several])
        print("odt: %.0f s" % (time.perf_counter() - begun), file=sys.stderr)
    if not arguments.seeds and not arguments.only:
        picture()


PICTURED = (
    ("int32", {"form": "whole"}), ("int8", {}), ("top 10 %", {"form": "top"}),
    ("top 1 %", {"form": "top", "share": 0.01}), ("default", {"samples": 64}),
    ("masked", {"form": "whole", "secret": True, "nodes": 3}),
)  # fmt: skip


def picture():
    """Four images, what the attack finds of them, and, for the default's 64, other images in their place."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "odt"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(NETWORKS), len(PICTURED) + 2, figsize=(8, 2.4))
    for row, network in zip(axes, NETWORKS):
        shown = [("the data", Victim(network, 0, 4).x)]
        for name, options in PICTURED:
            victim = Victim(network, 0, **{"samples": 4, "adam": False, **options})
            found = searched(victim)[0]
            shown.append((name, found[[a for a, _ in paired(found, victim.x)[:4]]]))
            if name == "default":
                found = torch.tensor(digits()[0][0][-64:].astype("float32") / 16)
                shown.append(("others", found[[a for a, _ in paired(found, victim.x)[:4]]]))
        for axis, (name, images) in zip(row, shown):
            tiles = np.pad(images[..., 0].numpy(), ((0, 0), (0, 1), (0, 1)), constant_values=0.5)
            axis.imshow(
                np.block([[tiles[0], tiles[1]], [tiles[2], tiles[3]]]), "gray", vmin=0, vmax=1, interpolation="none"
            )
            axis.set(xticks=[], yticks=[])
            axis.set_title(name, fontsize=8)
        row[0].set_ylabel(network, fontsize=8)
    figure.tight_layout()
    figure.savefig(folders.ROOT / "docs" / "pictures" / "leakage.svg", metadata={"Date": None})


if __name__ == "__main__":
    recorded("leakage.txt", main)
