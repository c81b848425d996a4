"""Commands that are typed: 20 intents by a small transformer with an embedding, and a 21st that a board is taught.

    python bench/accuracy/text.py            five seeds, and an emulated Cortex-M7; writes bench/results/text.txt
    python bench/accuracy/text.py --seeds 2

The sentences are those of examples/command/grammar.py, the network is that of pretrain.py: 256 tokens, width 32, one
pre-norm block of 4 heads, 28 steps. Tests have other constructions than any sentence that trained, and a misspelling
that no sentence had. PyTorch has its own first weights, except those of the table, which are drawn as odt draws them,
and positions, which begin with 0; batches of 32, Adam with a rate of 0.003 that falls to 0 by a cosine, 10 epochs, as
odt.

Then examples/command/teach.py as it is: the last layer trains in 8 epochs on ten sentences of the new intent and 120
of the old ones, six of each. On QEMU's Cortex-M7 (mps2-an500) instructions are counted; QEMU counts no cycles.
"""

import argparse
import re
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import counting  # noqa: E402
import paired  # noqa: E402
import written  # noqa: E402

EXAMPLE = written.ROOT / "examples" / "command"
sys.path.insert(0, str(EXAMPLE))

import pretrain  # noqa: E402
from tokens import STEPS, Tokens  # noqa: E402

FILES = "tokens.py learn.odt pieces.bin kept.bin new.bin test.bin"


def module(vocabulary):
    import torch
    import torch.nn.functional as F
    from torch import nn

    width = pretrain.WIDTH

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.position = nn.Embedding(vocabulary, width), nn.Parameter(torch.zeros(STEPS, width))
            nn.init.uniform_(self.table.weight, -((3 / width) ** 0.5), (3 / width) ** 0.5)
            self.first, self.second = [nn.LayerNorm(width, pretrain.EPSILON) for _ in range(2)]
            self.attention = nn.MultiheadAttention(width, pretrain.HEADS, batch_first=True)
            self.hidden, self.last = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
            self.output = nn.Linear(width, len(pretrain.NAMES))

        def forward(self, x):
            x = self.table(x) + self.position
            y = self.first(x)
            x = x + self.attention(y, y, y, need_weights=False)[0]
            return self.output((x + self.last(F.relu(self.hidden(self.second(x))))).mean(1))

    return Network()


def torchs(tokens, train, tests, seed):
    """PyTorch's accuracies of the tests, in %."""
    data = [
        (np.frombuffer(tokens.samples(texts), "uint8").reshape(-1, STEPS).astype("int64"), labels)
        for texts, labels in (train, *tests)
    ]
    found = paired.torchs(lambda: module(tokens.vocabulary), seed, data, pretrain.RATE, pretrain.EPOCHS)
    return [100 * share for share in found]


def measured(model, tokens, tests):
    return [100 * model.evaluate(tokens.samples(texts), bytes(labels))[1] for texts, labels in tests]


def accuracy(seeds):
    train, *tests = pretrain.sets()
    tokens = Tokens("\n".join(pretrain.learnt(train[0], pretrain.PIECES)))
    print("20 intents, %d sentences to train; %% of %d sentences of other constructions, of %d misspelt ones:" % (
        len(train[0]), *[len(part[0]) for part in tests]))  # fmt: skip
    print("mean over %d seeds +- standard error, and each" % seeds)
    models = []
    for name in ("int8", "PyTorch float32"):
        found = []
        for seed in range(seeds):
            if name == "int8":
                models.append(pretrain.trained(tokens, train, seed))
                found.append(measured(models[-1], tokens, tests))
            else:
                found.append(torchs(tokens, train, tests, seed))
        for kind, values in zip(("constructions", "misspelt"), zip(*found)):
            error = np.std(values, ddof=1) / seeds**0.5 if seeds > 1 else 0
            each = " ".join(["%.1f" % value for value in values])
            print("%-16s %-14s %6.2f +- %4.2f    %s" % (name, kind, np.mean(values), error, each))
        sys.stdout.flush()
    print()
    print("a 21st intent by ten sentences, PC, int8; mean over these seeds")
    new, old = pretrain.new_sets(), pretrain.kept(train)
    print("%-42s %15s %15s" % ("", "old before, after", "new after"))
    found = []
    for model in models:
        learner = pretrain.ready_to_learn(tokens, model, train)
        before = measured(learner, tokens, tests)
        x, y = tokens.samples(old[0] + new[0][0]), bytes(old[1] + new[0][1])
        learner.fit(x, y, epochs=8, verbose=0)
        found.append(before + measured(learner, tokens, tests) + measured(learner, tokens, new[1:]))
    mean = np.mean(found, 0)
    for at, kind in enumerate(("other constructions", "misspelt")):
        print("%-42s %7.1f %7.1f %15.1f" % (kind, mean[at], mean[2 + at], mean[4 + at]))


def taught():
    """The example on the emulated board, and what its fit takes."""
    script = (EXAMPLE / "teach.py").read_text()
    line = "model.fit(x, y, epochs=EPOCHS)"
    assert script.count(line) == 1
    fit = "gc.collect()\nbegin()\nend()\nbegin()\nmodel.fit(x, y, epochs=EPOCHS, verbose=0)\nend()"
    script = script.replace(line, fit)
    script += "model.predict(sample)\nbegin()\nmodel.predict(sample)\nend()\n"
    script += "begin()\ntokens.samples(['turn on the light in the kitchen'])\nend()\n"
    board = counting.Board("qemu_m7")
    board.machine.put([EXAMPLE / name for name in FILES.split()])
    fit, predict, split = board.run(script)
    steps = 8 * -(-130 // 8)
    print()
    print("examples/command/teach.py on QEMU's Cortex-M7")
    for name in ("before", "after", "digest", "total RAM"):
        print("  " + re.search("^%s.*$" % name, board.said, re.M)[0])
    print("  learn.odt, the whole model: %d bytes; pieces.bin %d" % tuple(
        [(EXAMPLE / name).stat().st_size for name in ("learn.odt", "pieces.bin")]))  # fmt: skip
    print("  millions of instructions: fit %.0f, of %d steps %.2f each; a sentence: tokens %.2f, prediction %.2f" % (
        fit / 1e6, steps, fit / 1e6 / steps, split / 1e6, predict / 1e6))  # fmt: skip
    print("  at 216 MHz, were each instruction one cycle: fit %.1f s, a sentence %.0f ms" % (
        fit / 216e6, (split + predict) / 216e3))  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    accuracy(parser.parse_args().seeds)
    taught()


if __name__ == "__main__":
    written.recorded("text.txt", main)
