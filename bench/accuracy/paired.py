"""Networks of odt and of PyTorch, trained alike: what recurrent.py, attention.py and spoken.py share.

Both train for ``epochs`` in batches of BATCH by Adam with a rate that falls to 0 by a cosine.
"""

import argparse
import sys
import time

import numpy as np

import odt

EPOCHS, BATCH = 40, 32


def ours(model, seed, dtype, state, data, rate, epochs=EPOCHS):
    """The test accuracy of a model of odt; ``state``: the dtype of Adam's moments."""
    (x, y), test = data
    rate = odt.CosineDecay(rate, epochs * -(-len(x) // BATCH))
    optimizer = odt.Adam(rate, state="float32") if (dtype, state) == ("int8", "float32") else odt.Adam(rate)
    model.compile(optimizer, dtype=dtype, batch_size=BATCH, seed=seed)
    model.fit(x, y, epochs=epochs, verbose=0)
    return model.evaluate(*test)[1]


def torchs(make, seed, data, rate, epochs=EPOCHS):
    """That of the nn.Module that ``make`` gives, with its own first weights of this seed, on each part after the first
    of ``data``: one number, or a list of several.
    """
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    (x, y), *tests = [(torch.tensor(x), torch.tensor(np.asarray(y, "int64"))) for x, y in data]
    model = make()
    optimizer = torch.optim.Adam(model.parameters(), rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * -(-len(x) // BATCH))
    for _ in range(epochs):
        for at in torch.randperm(len(x)).split(BATCH):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x[at]), y[at]).backward()
            optimizer.step()
            schedule.step()
    model.eval()
    with torch.no_grad():
        found = [(model(x).argmax(1) == y).float().mean().item() for x, y in tests]
    return found if len(found) > 1 else found[0]


def tuned(twin, seed, data, rate, epochs, batch, falls=False):
    """What torchs() gives, of a Twin of one of odt's models: what trains there trains on, at one rate, or at one that
    ``falls`` to 0 by a cosine.
    """
    import torch

    torch.manual_seed(seed)
    (x, y), *tests = [(torch.tensor(np.asarray(x)), torch.tensor(np.asarray(y, "int64"))) for x, y in data]
    optimizer = torch.optim.Adam([each for each in twin.flat_parameters() if each.requires_grad], rate)
    steps = epochs * -(-len(x) // batch)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps, 0 if falls else rate)
    for _ in range(epochs):
        for at in torch.randperm(len(x)).split(batch):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(twin.forward(x[at]), y[at]).backward()
            optimizer.step()
            schedule.step()
    with torch.no_grad():
        found = [(twin.forward(x).argmax(1) == y).float().mean().item() for x, y in tests]
    return found if len(found) > 1 else found[0]


def table(about, kind, kinds, data, rows, network, module, rate):
    """Print the accuracies of each kind of network by each row, and RAM.

    ``about``: the script's docstring. ``kind``: the option that chooses kinds, ``kinds``: those without it. ``rows``:
    (name, dtype or None for PyTorch, dtype of the moments). ``network(kind)`` gives odt's, ``module(kind)`` PyTorch's.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--" + kind, nargs="*", type=type(kinds[0]), default=kinds)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", nargs="*", default=[row[0] for row in rows])
    options = parser.parse_args()
    chosen = getattr(options, kind)
    print("test accuracy of 10,000 series, mean over %d seeds +- standard error, and each" % options.seeds)
    print("%-10s %-22s %16s   %-40s %6s" % ("", "", "%", "each seed", "s"))
    for each in chosen:
        for name, dtype, state in rows:
            if name not in options.rows:
                continue
            start, found = time.time(), []
            for seed in range(options.seeds):
                if dtype:
                    found.append(100 * ours(network(each), seed, dtype, state, data, rate))
                else:
                    found.append(100 * torchs(lambda each=each: module(each), seed, data, rate))
            error = np.std(found, ddof=1) / len(found) ** 0.5 if len(found) > 1 else 0
            seeds, taken = " ".join(["%.1f" % value for value in found]), (time.time() - start) / len(found)
            print("%-10s %-22s %6.2f +- %4.2f    %-40s %6.0f" % (each, name, np.mean(found), error, seeds, taken))
            sys.stdout.flush()
    print()
    print("RAM of training, bytes: arena and state; 8 samples at a time, moments in int16")
    for each in chosen:
        model = network(each)
        model.compile(odt.Adam(), batch_size=8)
        print("%-10s %7d %7d" % (each, len(model.session.arena), len(model.session.state)))
