"""A fleet of boards: accuracy against bytes, beside PyTorch, and what liars do.

    python bench/accuracy/fleet.py              all, twenty minutes; writes bench/results/fleet.txt
    python bench/accuracy/fleet.py --seeds 1    a look at it
    python bench/accuracy/fleet.py --thousand   a thousand nodes alone

Nodes are twins of boards (odt.host.fleet.Twin): the same bits. Data and split are those of bench/accuracy/accuracy.py:
1400 digits to train, 397 to test. The 1400 are split by Dirichlet's distribution (Hsu et al., 2019) with alpha 0.3, at
least 16 samples per node. The network is the digits CNN in int8, 1898 weights; two epochs per round, batches of 16,
Adam(0.004). "PyTorch": FedAvg in float32 from the same first weights on the same splits, each node's Adam moments kept,
4 bytes per weight. Accuracy in %, of the fleet's model on the test images: mean over seeds +- standard error. "bytes":
of an update, per node and round, without frames.

Zeroth order: 8 nodes of the same splits, which measure one number for each step (odt.fleet.ZerothNode): ZerothOrder
with a rate of 0.01 that falls to 0 as a cosine, 5,000 steps on batches of 16. "bytes": of all steps until then.

Liars: ten nodes, of which the first lie: their update is negated and five times as large. "robust" is what odt fleet
--robust chooses for ten nodes, "robust, 3" what it chooses with --liars 3. The next table has one liar of ten: its
update is negated and five times as large, ten times as large, of turned labels (9 - label), or of a backdoor: half of
its images have four bright pixels in a corner and the label 0, and its update is five times as large. "success": the
share of test images, of other labels than 0, that are taken for 0 when they have these pixels.

A thousand nodes: odt fleet bench/accuracy/digits_node.py --twins 1000 --rounds 2, of 64 images each; seconds by the
clock, of a round and of the whole command with its two evaluations of all nodes, and its largest memory.

Own classes: eight nodes whose data differ more, alpha 0.1. The accuracy of each node's model on the test images, which
are weighed by the shares of classes in the node's data; then the mean and the worst over the nodes, after 20 rounds.
"tuned": each node trains three more epochs by itself. "personal": the last layer stays on its node (FedPer). "alone":
each node trains as many epochs without the others.
"""

import argparse
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402
import numpy as np
import torch
from accuracy import digits, digits_cnn, digits_mlp
from lies import LIES, lying, marked
from twin import Twin as Reference
from written import recorded

import odt
from odt.fleet import Node, ZerothNode
from odt.host.fleet import SUMS, Fleet, Robust, Twin, ZerothFleet

NODES, ALPHA, EPOCHS, BATCH, RATE = 8, 0.3, 2, 16, 0.004
LEAST = 16  # samples of a node
ROUNDS = 10, 20, 40
STEPS, FAST = (1000, 2000, 5000), 0.01
UNLIKE = {
    "alone": {"alone": True},
    "int8": {},
    "int8, tuned": {"tuned": True},
    "int8, personal": {"personal": ("dense",)},
    "int8, personal, tuned": {"personal": ("dense",), "tuned": True},
}
WAYS = {
    "int32": {"form": "whole"},
    "int8": {"form": "int8"},
    "top 10 %": {"form": "top", "share": 0.1},
    "top 1 %": {"form": "top", "share": 0.01},
    "top 1 %, momentum": {"form": "top", "share": 0.01, "momentum": 0.5},
}


def dirichlet(y, nodes, seed, alpha=ALPHA):
    """Of each node the indices of its samples."""
    rng = np.random.default_rng(seed)
    while True:
        parts = [[] for _ in range(nodes)]
        for label in range(10):
            indices = rng.permutation(np.where(y == label)[0])
            cuts = (np.cumsum(rng.dirichlet([alpha] * nodes))[:-1] * len(indices)).astype(int)
            for part, piece in zip(parts, np.split(indices, cuts)):
                part.extend(piece)
        if min(map(len, parts)) >= LEAST:
            return [np.sort(part) for part in parts]


def compiled(seed):
    model = odt.Sequential(digits_cnn())
    model.compile(odt.Adam(RATE), batch_size=BATCH, seed=seed)
    return model


def run(train, test, nodes, seed, rounds, poison=None, **options):
    """(accuracies after these rounds, bytes of an update, digest, model); ``poison`` changes the first node's data."""
    links = []
    for number, part in enumerate(dirichlet(train[1], nodes, seed)):
        own = train[0][part], train[1][part]
        own = poison(*own) if poison and not number else own
        links.append(Twin(Node(compiled(seed), *own, "node %d" % number, EPOCHS, least=LEAST)))
    fleet = Fleet(compiled(seed), links, workers=1, **options)
    found, sizes = [], []
    for number in range(1, rounds[-1] + 1):
        taken = fleet.run_round().parts.values()
        assert not [part.why for part in taken if part.why]
        sizes += [part.size for part in taken]
        if number in rounds:
            fleet.model.calibrate(train[0][:64])
            found.append(fleet.model.evaluate(*test)[1])
    return found, np.mean(sizes), fleet.digest(), fleet.model


def run_zeroth(train, test, seed, network):
    """(accuracies after STEPS, digest of all nodes)"""

    def node(x, y, name):
        model = odt.Sequential(network())
        rate = odt.CosineDecay(FAST, STEPS[-1])
        model.compile(odt.ZerothOrder(rate), batch_size=BATCH, seed=seed)
        return ZerothNode(model, x, y, name, least=LEAST)

    parts = dirichlet(train[1], NODES, seed)
    links = [Twin(node(train[0][part], train[1][part], "node %d" % number)) for number, part in enumerate(parts)]
    fleet = ZerothFleet(node(train[0][:64], train[1][:64], "PC"), links, steps=200, workers=1)
    found = []
    for number in range(1, STEPS[-1] // 200 + 1):
        taken = fleet.run_round().parts.values()
        assert not [part.why for part in taken if part.why]  # all have the weights of the PC, too
        if 200 * number in STEPS:
            found.append(fleet.model.evaluate(*test)[1])
    return found, fleet.digest()


def run_torch(train, test, seed):
    """The accuracies of FedAvg in PyTorch."""
    model = compiled(seed)
    weights = [np.array(each) for each in model.get_weights()]
    parts = dirichlet(train[1], NODES, seed)
    nodes = [Reference(model, torch.float32) for _ in parts]
    steers = [torch.optim.Adam(node.flat_parameters(), lr=RATE, eps=1e-7) for node in nodes]
    x, y = torch.tensor(train[0].astype("float32") / 16), torch.tensor(train[1].astype("int64"))
    rng, found = np.random.default_rng(seed), []
    server = [torch.tensor(each) for each in weights]
    for number in range(1, ROUNDS[-1] + 1):
        learnt = []
        for part, node, steer in zip(parts, nodes, steers):
            with torch.no_grad():
                for own, value in zip(node.flat_parameters(), server):
                    own.copy_(value.reshape(own.shape))
            for _ in range(EPOCHS):
                order = rng.permutation(part)
                for at in range(0, len(order), BATCH):
                    rows = torch.tensor(order[at : at + BATCH])
                    steer.zero_grad()
                    torch.nn.functional.cross_entropy(node.forward(x[rows]), y[rows]).backward()
                    steer.step()
            learnt.append([own.detach().clone() for own in node.flat_parameters()])
        total = sum(map(len, parts))
        server = [sum(len(part) / total * each for part, each in zip(parts, column)) for column in zip(*learnt)]
        if number in ROUNDS:
            with torch.no_grad():
                for own, value in zip(nodes[0].flat_parameters(), server):
                    own.copy_(value)
                out = nodes[0].forward(torch.tensor(test[0].astype("float32") / 16))
            found.append((out.numpy().argmax(1) == test[1]).mean())
    return found


def own_classes(model, labels, test):
    """The accuracy of a node's model where classes are as frequent as among its labels."""
    right = np.array(model.predict(test[0])).reshape(-1, 10).argmax(1) == test[1]
    share = np.bincount(labels, minlength=10) / len(labels)
    return sum(share[label] * right[test[1] == label].mean() for label in range(10) if share[label])


def run_unlike(train, test, seed, rounds, personal=(), tuned=False, alone=False):
    """(mean, worst) over nodes of the accuracy on their own classes; alpha is 0.1."""
    found = []
    parts = [(train[0][part], train[1][part]) for part in dirichlet(train[1], NODES, seed, 0.1)]
    if alone:
        models = [compiled(seed) for _ in parts]
        for model, part in zip(models, parts):
            model.fit(*part, epochs=rounds * EPOCHS, verbose=0)
        found = [own_classes(model, part[1], test) for model, part in zip(models, parts)]
        return np.mean(found), min(found)
    nodes = [
        Node(compiled(seed), *part, "node %d" % number, EPOCHS, personal=personal, least=LEAST)
        for number, part in enumerate(parts)
    ]
    fleet = Fleet(compiled(seed), [Twin(node) for node in nodes], workers=1, personal=personal)
    for _ in range(rounds):
        assert not [part.why for part in fleet.run_round().parts.values() if part.why]
    for node, part in zip(nodes, parts):
        node.shared.write(fleet.weights)
        if tuned:
            node.model.fit(*part, epochs=3, verbose=0)
        else:
            node.model.calibrate(part[0][:64])
        found.append(own_classes(node.model, part[1], test))
    return np.mean(found), min(found)


SENT = {**SUMS, "robust": Robust(10)}


def run_liar(train, test, seed, combine, times, poison=None):
    """(accuracy, success of the backdoor)"""
    found, _, _, model = run(train, test, 10, seed, (20,), poison, combine=lying(combine, 1, times))
    others = test[0][test[1] != 0]
    taken = np.array(model.predict(marked(others))).reshape(-1, 10).argmax(1) == 0
    return found[0], taken.mean()


def thousand():
    """A line about the command with a thousand nodes."""
    begun = time.perf_counter()
    words = ["-m", "odt", "fleet", str(folders.ROOT / "bench" / "accuracy" / "digits_node.py"), "--twins", "1000"]
    done = subprocess.run(
        [sys.executable, *words, "--rounds", "2"], capture_output=True, text=True, check=True, cwd=folders.ROOT
    )
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    seconds = re.findall(r" down, ([\d.]+) s$", done.stdout, re.M)
    digest = done.stdout.split()[-1]
    return "a thousand nodes: rounds of %s s, %.0f s in all, %.0f MB, digest %s" % (
        " and ".join(seconds), time.perf_counter() - begun, memory, digest)  # fmt: skip


def words(accuracies):
    values = 100 * np.array(accuracies)
    error = values.std(0, ddof=1) / len(values) ** 0.5 if len(values) > 1 else 0 * values[0]
    return "".join("%9.2f +- %4.2f" % pair for pair in zip(values.mean(0), error))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--thousand", action="store_true")
    arguments = parser.parse_args()
    if arguments.thousand:
        return print(thousand())
    seeds = range(arguments.seeds)
    torch.set_num_threads(1)
    train, test = digits()
    print("%d nodes%32s" % (NODES, "bytes") + "".join("%9d rounds " % number for number in ROUNDS))
    for name, options in WAYS.items():
        begun = time.perf_counter()
        results = [run(train, test, NODES, seed, ROUNDS, **options) for seed in seeds]
        print("%-28s%11d" % (name, np.mean([each[1] for each in results])) + words([each[0] for each in results]),
              " digest of seed 0: %08x" % results[0][2], flush=True)  # fmt: skip
        print("odt: %.0f s" % (time.perf_counter() - begun), file=sys.stderr)
    results = [run_torch(train, test, seed) for seed in seeds]
    print("%-28s%11d" % ("PyTorch, float32", 4 * 1898) + words(results), flush=True)
    print("\nzeroth order, 8 bytes per step, after steps" + "".join("%9d       " % number for number in STEPS))
    print("%-39s" % "bytes" + "".join("%9d       " % (8 * number) for number in STEPS))
    for name, network in (("CNN", digits_cnn), ("MLP 64-32-10", digits_mlp)):
        results = [run_zeroth(train, test, seed, network) for seed in seeds]
        print("%-39s" % name + words([each[0] for each in results]), " digest of seed 0: %08x" % results[0][1],
              flush=True)  # fmt: skip
    print("\nten nodes, after 20 rounds" + "".join("%9d liars   " % liars for liars in (0, 1, 3)))
    for name, combine in {**SENT, "robust, 3": Robust(10, 3)}.items():
        columns = []
        for liars in (0, 1, 3):
            results = [run(train, test, 10, seed, (20,), combine=lying(combine, liars)) for seed in seeds]
            columns.append([each[0][0] for each in results])
        print("%-26s" % name + words(list(zip(*columns))), flush=True)
    print("\none liar of ten, after 20 rounds: mean, robust; %s" % SENT["robust"])
    print("%-26s" % "" + "".join("%16s" % each for each in ("accuracy", "success") * 2))
    for name, options in LIES.items():
        rows = [sum([run_liar(train, test, seed, SENT[each], **options) for each in ("mean", "robust")], ())
                for seed in seeds]  # fmt: skip
        print("%-26s" % name + words(rows), flush=True)
    print("\nown classes, alpha 0.1, after 20 rounds        mean            worst")
    for name, options in UNLIKE.items():
        print("%-36s" % name + words([run_unlike(train, test, seed, 20, **options) for seed in seeds]), flush=True)
    print("\n" + thousand())


if __name__ == "__main__":
    recorded("fleet.txt", main)
