"""Learn to tell ten kinds of time series apart, from a file that is never in RAM.

    python train.py                                    on a PC
    micropython train.py                               on MicroPython's unix port
    mpremote cp series.bin : + run train.py            on a board

Every one of them ends with the same digest. Data: series.bin, MNIST-1D; see README.md.
"""

import gc

import odt
from odt import metrics
from odt.data import Column, RawReader

# A test may ask for less by putting ODT_ARGS before this script.
args = globals().get("ODT_ARGS", {})
TRAIN = args.get("train", 4000)
TEST = args.get("test", 800)
EPOCHS = args.get("epochs", 12)


def records(first, count):
    """A record is a label and 40 readings, a byte each; a batch of them at a time is read."""
    at = 41 * first
    x = Column("series.bin", "int8", 40, offset=at + 1, stride=41, samples=count)
    y = Column("series.bin", "uint8", 1, offset=at, stride=41, samples=count)
    return RawReader(x, y, batch_size=16)


train, test = records(0, TRAIN), records(TRAIN, TEST)

model = odt.Sequential([
    odt.Input((40, 1), dtype="int8", scale=1 / 23),
    odt.Conv1D(25, 5, strides=2, padding="same", activation="relu"),
    odt.Conv1D(25, 3, strides=2, padding="same", activation="relu"),
    odt.Conv1D(25, 3, strides=2, padding="same", activation="relu"),
    odt.Flatten(),
    odt.Dense(10),
])  # fmt: skip
rate = odt.CosineDecay(0.05, EPOCHS * len(train))
model.compile(odt.SGD(rate, momentum=0.9), batch_size=16, seed=args.get("seed", 1))
model.summary()
model.fit(train, epochs=EPOCHS, validation_data=test)
metrics.report(model, test)
print("digest %08x" % model.digest())

gc.collect()
if hasattr(gc, "mem_alloc"):
    print("heap in use: %d bytes, %d free" % (gc.mem_alloc(), gc.mem_free()))
