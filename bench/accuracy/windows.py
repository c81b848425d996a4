"""What happened before the window: stateful GRUs over windows of long series, in int8 and float32, beside PyTorch.

    python bench/accuracy/windows.py            five seeds; writes bench/results/windows.txt
    python bench/accuracy/windows.py --seeds 1

A series is noise with a rare cue, +1 or -1 for one step, in a quarter of the windows of 10 steps. Each window's class
is the sign of the last cue, which mostly came before the window. 16 series of 100 windows train, 16 others test. All
train for 40 epochs by Adam with a rate of 0.01 that falls to 0 by a cosine; each epoch begins with a state of 0.
Gradients stop at a window's beginning; PyTorch's state is carried and detached there, as theirs. A GRU without
``stateful`` knows the cues of the window alone.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import numpy as np
import written

import odt

SERIES, WINDOWS, STEPS, UNITS, EPOCHS, RATE = 16, 100, 10, 16, 40, 0.01
ROWS = (
    ("float32, stateful", "float32", True, "float32"),
    ("int8, stateful", "int8", True, "float32"),
    ("int8, stateful, moments int16", "int8", True, "int16"),
    ("int8, not stateful", "int8", False, "float32"),
)


def series(seed):
    """(x, y): sample k * SERIES + r is window k of series r."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 0.2, (WINDOWS, SERIES, STEPS, 2)).astype("float32")
    y = np.zeros((WINDOWS, SERIES), "uint8")
    for number in range(SERIES):
        label = 0
        for window in range(WINDOWS):
            if window == 0 or rng.random() < 0.25:
                label = int(rng.integers(0, 2))
                x[window, number, rng.integers(0, STEPS), 0] += 2 * label - 1
            y[window, number] = label
    return x.reshape(-1, STEPS, 2), y.ravel()


class Begin:
    """Each epoch begins with a state of 0."""

    def set_model(self, model):
        self.model = model

    def on_epoch_begin(self, epoch):
        self.model.reset_states()


def by_odt(seed, data, dtype, stateful, moments):
    (x, y), (test, labels) = data
    model = odt.Sequential([odt.Input((STEPS, 2)), odt.GRU(UNITS, stateful=stateful), odt.Dense(2)])
    rate = odt.CosineDecay(RATE, EPOCHS * WINDOWS)
    model.compile(odt.Adam(rate, state=moments), dtype=dtype, batch_size=SERIES, seed=seed)
    model.fit(x, y, epochs=EPOCHS, shuffle=not stateful, callbacks=[Begin()] * stateful, verbose=0)
    if stateful:
        model.reset_states()
    return 100 * model.evaluate(test, labels)[1]


def by_pytorch(seed, data):
    import torch

    torch.manual_seed(seed)
    (x, y), (test, labels) = [(torch.tensor(x), torch.tensor(y.astype("int64"))) for x, y in data]
    hidden, last = torch.nn.GRU(2, UNITS, batch_first=True), torch.nn.Linear(UNITS, 2)
    optimizer = torch.optim.Adam([*hidden.parameters(), *last.parameters()], RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS * WINDOWS)
    for _ in range(EPOCHS):
        state = None
        for at in range(0, len(x), SERIES):
            outputs, state = hidden(x[at : at + SERIES], state)
            state = state.detach()
            loss = torch.nn.functional.cross_entropy(last(outputs[:, -1]), y[at : at + SERIES])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    state, right = None, 0
    with torch.no_grad():
        for at in range(0, len(test), SERIES):
            outputs, state = hidden(test[at : at + SERIES], state)
            right += (last(outputs[:, -1]).argmax(1) == labels[at : at + SERIES]).sum().item()
    return 100 * right / len(test)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    seeds = parser.parse_args().seeds
    print("test accuracy of %d windows, mean over %d seeds +- standard error, and each" % (WINDOWS * SERIES, seeds))
    rows = [("PyTorch float32, state carried", by_pytorch, ())] + [(row[0], by_odt, row[1:]) for row in ROWS]
    for name, train, options in rows:
        found = [train(seed, (series(2 * seed), series(2 * seed + 1)), *options) for seed in range(seeds)]
        error = np.std(found, ddof=1) / np.sqrt(seeds) if seeds > 1 else 0
        each = " ".join("%.1f" % value for value in found)
        print("%-31s %6.2f +- %.2f    %s" % (name, np.mean(found), error, each))


if __name__ == "__main__":
    written.recorded("windows.txt", main)
