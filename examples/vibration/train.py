"""Learn how a healthy machine vibrates, then tell when its bearing has a fault.

    python train.py                                    on a PC
    micropython train.py                               on MicroPython's unix port
    mpremote cp bearing.bin : + run train.py           on a board

Every one of them ends with the same digest. Data: bearing.bin, windows of 256 samples; see README.md.
"""

import gc

import odt
from odt.data import Column, Normalizer, RawReader

# A test may ask for something else by putting ODT_ARGS before this script.
args = globals().get("ODT_ARGS", {})
EPOCHS = args.get("epochs", 8)
SEED = args.get("seed", 0)
# Windows in the file: to learn from, for the threshold, and to test with: no fault, a mild and a severe one.
PARTS = args.get("parts", (320, 64, 128, 64, 64))


def windows(part, batch_size):
    """A part of the file, one batch at a time. The target is the input."""
    column = Column("bearing.bin", "int8", 256, 256 * sum(PARTS[:part]), samples=PARTS[part])
    return RawReader(column, column, batch_size)


# An autoencoder: 256 samples become 32 x 4 numbers, and from these 256 samples again.
model = odt.Sequential([
    odt.Input((256, 1), dtype="int8", scale=1 / 32),
    odt.Conv1D(8, 9, strides=4, padding="same", activation="relu"),
    odt.Conv1D(4, 5, strides=2, padding="same"),
    odt.Conv1DTranspose(8, 6, strides=2, padding="same", activation="relu"),
    odt.Conv1DTranspose(1, 8, strides=4, padding="same"),
])  # fmt: skip
healthy = windows(0, 4)
rate = odt.CosineDecay(0.01, EPOCHS * len(healthy))
model.compile(odt.Adam(rate), "mse", batch_size=4, micro_batch=1, seed=SEED)
model.summary()
model.fit(healthy, epochs=EPOCHS)


def scores(part):
    """How badly each window is reproduced: its mean squared error."""
    return [model.evaluate(x, x)[0] for x, _ in windows(part, 1)]


def auc(normal, faulty):
    """How often a faulty window has the higher score of a pair."""
    return sum(f > n for f in faulty for n in normal) / (len(faulty) * len(normal))


# The threshold, from healthy windows that were not learnt: mean + 3 standard deviations.
statistics = Normalizer(1)
for score in scores(1):
    statistics.update([score])
threshold = statistics.mean[0] + 3 * statistics.deviation(0)
print("threshold %.4f" % threshold)

normal = scores(2)
for name, part in (("no fault", normal), ("mild fault", scores(3)), ("severe fault", scores(4))):
    alarms = sum([score > threshold for score in part])
    line = "%-12s  mean score %.4f  alarms %d of %d" % (name, sum(part) / len(part), alarms, len(part))
    print(line + ("" if part is normal else "  AUC %.3f" % auc(normal, part)))
print("digest %08x" % model.digest())

gc.collect()
if hasattr(gc, "mem_alloc"):
    print("heap in use: %d bytes, %d free" % (gc.mem_alloc(), gc.mem_free()))
