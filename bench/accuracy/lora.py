"""LoRA beside the last layer and beside training of all: a 21st command, by ten sentences.

    python bench/accuracy/lora.py            five seeds, and an emulated Cortex-M7; writes bench/results/lora.txt
    python bench/accuracy/lora.py --seeds 1

The networks, sentences and the lesson are those of bench/accuracy/text.py: 20 intents, width 32, one block; then 130
sentences, of which ten are of the new intent, 8 epochs in batches of 8. LoRA: odt.adapt.lora, the pairs and the last
layer train; of all seven Dense layers before it, or of the four of the attention, or of its queries and values as the
paper has it. 4 bits: the frozen kernels have 4, by 512 sentences. Adam; rates are the best of 0.001, 0.002, 0.003,
0.005, 0.01 and 0.02 of a sixth seed: 0.02 for the last layer, 0.003 for all, 0.005 for LoRA of seven, else 0.01.

PyTorch float32: the same steps by PyTorch, from the same weights (those that odt trained in int8), in an order of
its own.

old, new: % of the sentences of other constructions and of the misspelt ones, mean over seeds; +-: standard error. RAM:
bytes of arena and state, with what is frozen in flash; by 1: with micro_batch=1. M7: millions of instructions of a
step, by QEMU. RP2040: millions of cycles of a step with micro_batch=1, emulated, of a model file that lies in flash and
reads it without its cache; two steps end with the PC's digest. All layers do not fit there.
"""

import argparse
import contextlib
import sys
import tempfile
from pathlib import Path

import numpy as np

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import counting  # noqa: E402
import paired  # noqa: E402
import written  # noqa: E402
from text import STEPS, Tokens, pretrain  # noqa: E402
from twin import Twin  # noqa: E402

import odt  # noqa: E402
from odt.adapt import update  # noqa: E402
from odt.adapt.lora import lora, take_weights  # noqa: E402
from odt.files import frozen  # noqa: E402

BATCH, EPOCHS = 8, 8
ATTENTION = ["query", "key", "value", "attentionoutput"]
# (name, rate, arguments of lora() or None, bits)
ROWS = (
    ("last layer", 0.02, None, 8),
    ("all layers", 0.003, None, 8),
    *[("LoRA, rank %d" % rank, 0.005, (None, rank), 8) for rank in (1, 2, 4, 8)],
    ("LoRA, rank 4, 4 bits", 0.005, (None, 4), 4),
    ("LoRA, 4, attention", 0.01, (ATTENTION, 4), 8),
    ("LoRA, 4, query value", 0.01, (["query", "value"], 4), 8),
)
WHOLE = ROWS[1]
BY_TORCH = ROWS[0], WHOLE, ROWS[4]


class Data:
    """Sentences as samples: of the lesson, of the tests, and those that calibrate."""

    def __init__(self):
        train, *old = pretrain.sets()
        self.train = train
        self.tokens = Tokens("\n".join(pretrain.learnt(train[0], pretrain.PIECES)))
        new, kept = pretrain.new_sets(), pretrain.kept(train)
        self.x, self.y = self.tokens.samples(kept[0] + new[0][0]), bytes(kept[1] + new[0][1])
        self.few = self.tokens.samples(train[0][:512])
        self.tests = [(self.tokens.samples(texts), bytes(labels)) for texts, labels in (*old, *new[1:])]

    def of(self, row, weights, **options):
        """A model that is ready to learn."""
        _, rate, pairs, bits = row
        base = pretrain.network(self.tokens.vocabulary)
        base.compile(None, batch_size=BATCH, seed=1)
        base.set_weights(weights)
        model = base
        if pairs:
            model = lora(base, *pairs, train=[base.nodes[-1].layer.name])
        else:
            (update.whole if row is WHOLE else update.last)(model)
        model.compile(odt.Adam(rate), batch_size=BATCH, seed=1, **options)
        if pairs:
            take_weights(model, base)
        if row is not WHOLE:
            with contextlib.redirect_stdout(None):  # which samples calibrate
                given, values = frozen.pack(model, bits, self.few if bits == 4 else None), model.get_weights()
            model.compile(odt.Adam(rate), batch_size=BATCH, seed=1, frozen=given, **options)
            model.set_weights(values)
        model.calibrate(self.few)
        return model


def by_odt(data, row, weights):
    """% of each test."""
    model = data.of(row, weights)
    model.fit(data.x, data.y, epochs=EPOCHS, verbose=0)
    return [100 * model.evaluate(*test)[1] for test in data.tests]


def by_torch(data, row, weights, seed):
    twin = Twin(data.of(row, weights), torch.float32)
    parts = [(np.frombuffer(x, "uint8").reshape(-1, STEPS), list(y)) for x, y in [(data.x, data.y), *data.tests]]
    return [100 * share for share in paired.tuned(twin, seed, parts, row[1], EPOCHS, BATCH)]


def counted(name, path):
    """What the second step of a model file takes on a machine, which ends with the PC's digest."""
    x, y = bytes(BATCH * STEPS), bytes(BATCH)
    model = odt.load_model(str(path))
    for _ in range(2):
        model.train_step(x, y)
    count, digest = counting.of_file(name, path, len(x), len(y))
    assert digest == "%08x" % model.digest(), digest
    return count


def size(data, row, weights):
    """The columns of RAM, state and time."""
    model = data.of(row, weights)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.odt"
        model.export(str(path))
        m7 = counted("qemu_m7", path) / 1e6
        state, arena = [len(each) for each in (model.session.state, model.session.arena)]
        by_one = data.of(row, weights, micro_batch=1)
        by_one.export(str(path))
        rp2040 = "%9s" % "-" if row is WHOLE else "%9.2f" % (counted("rp2040", path) / 1e6)
    return "%9d%9d%9d%8.2f%s" % (
        arena + state, len(by_one.session.arena) + len(by_one.session.state), state, m7, rp2040)  # fmt: skip


def line(name, found, more=""):
    cells = []
    for column in np.array(found).T:
        error = np.std(column, ddof=1) / len(column) ** 0.5 if len(column) > 1 else 0
        cells.append("%7.1f +- %3.1f" % (np.mean(column), error))
    print("%-22s%s%s" % (name, "".join(cells), more), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    seeds = parser.parse_args().seeds
    torch.set_num_threads(1)
    data = Data()
    weights = [pretrain.trained(data.tokens, data.train, seed).get_weights() for seed in range(seeds)]
    columns = "old", "misspelt", "new", "misspelt"
    heads = "".join(["%14s" % each for each in columns])
    print("%-22s%s%9s%9s%9s%8s%9s" % ("int8", heads, "RAM", "by 1", "state", "M7", "RP2040"))
    for row in ROWS:
        line(row[0], [by_odt(data, row, each) for each in weights], size(data, row, weights[0]))
    print("\n%-22s%s" % ("PyTorch float32", heads))
    for row in BY_TORCH:
        line(row[0], [by_torch(data, row, each, seed) for seed, each in enumerate(weights)])


if __name__ == "__main__":
    written.recorded("lora.txt", main)
