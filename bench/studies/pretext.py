"""Learning from samples without labels first: denoising and filling a gap as pretexts, then a classifier by few labels.

    python bench/studies/pretext.py                   ten minutes; writes bench/results/pretext.txt
    python bench/studies/pretext.py --seeds 1 --task digits

The layers of bench/accuracy/accuracy.py's CNNs up to Flatten are the encoder, one Dense after it gives the sample back
("mse"): from the sample and normal noise of half the data's deviation (denoising), or from the sample with a half of it
at 0 (gap: the lower half of a digit, the later half of a series, which is thus predicted from the earlier one). Noise
and gaps are drawn again in each epoch. None: the first weights. 20 epochs of all training samples in batches of 16,
Adam of 0.002 on a cosine to 0. Then k labels of each class: frozen, a Dense(10) on what the encoder says; tuned, the
encoder and a Dense(10), all layers, in as many steps. Test accuracy in %, means +- standard error over seeds, each of
which draws its labels.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
from accuracy import digits, digits_cnn, mnist1d, mnist1d_cnn

import odt
from odt.continual import teach

BATCH, RATE, EPOCHS, STEPS = 16, 0.002, 20, 1000
LABELS = 5, 20, 100
TASKS = {"digits": (digits, digits_cnn), "mnist1d": (mnist1d, mnist1d_cnn)}
PRETEXTS = "none", "denoising", "gap"


def data(name):
    (x, y), (x_test, y_test) = TASKS[name][0]()
    unit = np.float32(16 if name == "digits" else 1)
    return ((x / unit).astype("float32"), y), ((x_test[:2000] / unit).astype("float32"), y_test[:2000])


def encoder(name):
    first, *layers = TASKS[name][1]()[:-1]
    layers[-1].name = "seen"
    return [odt.Input(data(name)[0][0].shape[1:]), *layers]


def hidden(x, pretext, rng):
    if pretext == "denoising":
        return (x + rng.normal(0, x.std() / 2, x.shape)).astype("float32")
    shown = x.copy()
    shown[:, x.shape[1] // 2 :] = 0
    return shown


def learned(name, dtype, pretext, x, seed):
    """The model of a pretext, whose layer "seen" ends the encoder."""
    rng = np.random.default_rng(seed)
    model = odt.Sequential([*encoder(name), odt.Dense(x[0].size)])
    steps = EPOCHS * -(-len(x) // BATCH)
    model.compile(odt.Adam(odt.CosineDecay(RATE, steps)), "mse", dtype=dtype, batch_size=BATCH, seed=seed)
    model.calibrate(x)
    for _ in range(EPOCHS if pretext != "none" else 0):
        model.fit(hidden(x, pretext, rng), x.reshape(len(x), -1), epochs=1, verbose=0)
    return model


def classifier(layers, dtype, x, y, seed, weights=None):
    epochs = -(-STEPS // -(-len(x) // BATCH))
    model = odt.Sequential([*layers, odt.Dense(10)])
    optimizer = odt.Adam(odt.CosineDecay(RATE, epochs * -(-len(x) // BATCH)))
    model.compile(optimizer, dtype=dtype, batch_size=BATCH, seed=seed)
    if weights:
        model.set_weights([*weights, *model.get_weights()[-2:]])
    model.fit(x, y, epochs=epochs, verbose=0)
    return model


def measured(name, dtype, pretext, seed):
    """Accuracy of frozen and tuned encoders, by each number of labels."""
    (x, y), (x_test, y_test) = data(name)
    model = learned(name, dtype, pretext, x, seed)
    weights = model.get_weights()[:-2]
    front = teach.front(model, "seen")
    see = lambda x: np.array(front.predict(x), "float32").reshape(len(x), -1)  # noqa: E731
    z, z_test = see(x), see(x_test)
    order = np.random.default_rng(seed).permutation(len(y))
    frozen, tuned = [], []
    for count in LABELS:
        rows = np.concatenate([order[y[order] == label][:count] for label in range(10)])
        head = classifier([odt.Input((z.shape[1],))], dtype, z[rows], y[rows], seed)
        frozen.append(100 * head.evaluate(z_test, y_test)[1])
        whole = classifier(encoder(name), dtype, x[rows], y[rows], seed, weights)
        tuned.append(100 * whole.evaluate(x_test, y_test)[1])
    return frozen + tuned


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=sorted(TASKS), action="append")
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    print("%d seeds" % arguments.seeds)
    columns = ["%s %d" % (way, count) for way in ("frozen", "tuned") for count in LABELS]
    print("%-9s%-9s%-11s" % ("task", "", "pretext") + "".join(["%16s" % column for column in columns]))
    for name in arguments.task or TASKS:
        for dtype in ("float32", "int8"):
            for pretext in PRETEXTS:
                found = np.array([measured(name, dtype, pretext, seed) for seed in range(arguments.seeds)])
                error = found.std(0) / max(len(found) - 1, 1) ** 0.5
                cells = ["%16s" % ("%.2f +- %.2f" % pair) for pair in zip(found.mean(0), error)]
                print("%-9s%-9s%-11s" % (name, dtype, pretext) + "".join(cells), flush=True)


if __name__ == "__main__":
    import written

    written.recorded("pretext.txt", main)
