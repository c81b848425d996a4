"""Train a small convolutional network on handwritten digits, fully in int8.

    python train.py                                    on a PC
    micropython train.py                               on MicroPython's unix port
    mpremote mount examples/digits run examples/digits/train.py     on a board

Every one of them ends with the same digest. Data: digits.bin, 1797 images of 8x8 pixels of 0..16, then
their labels (scikit-learn's copy of the UCI set; see README.md).
"""

import gc
import os
import sys

import odt

# A test may ask for something else by putting ODT_ARGS before this script.
args = globals().get("ODT_ARGS", {})
gc.collect()
# A Pico with stock firmware holds odt itself in RAM: fewer images fit, and smaller batches.
SMALL = hasattr(gc, "mem_free") and gc.mem_free() < 150000
TRAIN = args.get("train", 96 if SMALL else 1000)
TEST = args.get("test", 48 if SMALL else 500)
BATCH = args.get("batch", 2 if SMALL else 16)
EPOCHS = args.get("epochs", 8)
STEPS = args.get("steps", 0)  # instead of epochs: this many steps, then the digest
DTYPE = args.get("dtype", "int8")
if "executor" in args:
    odt.executor.use(args["executor"])

SAMPLES = 1797
path = "digits.bin"
try:
    os.stat(path)
except OSError:  # not in the current folder: beside this script
    path = __file__.rpartition("/")[0] + "/" + path
x_train, x_test, y_train, y_test = [bytearray(n) for n in (64 * TRAIN, 64 * TEST, TRAIN, TEST)]
with open(path, "rb") as file:
    file.readinto(x_train)
    file.readinto(x_test)
    file.seek(64 * SAMPLES)
    file.readinto(y_train)
    file.readinto(y_test)

model = odt.Sequential([
    odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
    odt.Conv2D(8, 3, padding="same", activation="relu"),
    odt.MaxPool2D(),
    odt.Conv2D(16, 3, padding="same", activation="relu"),
    odt.MaxPool2D(),
    odt.Flatten(),
    odt.Dense(10),
])  # fmt: skip
model.compile(odt.Adam(0.004), dtype=DTYPE, batch_size=BATCH, seed=7)
model.summary()

if STEPS:
    for step in range(STEPS):
        at = step * BATCH % (TRAIN - BATCH + 1)
        end = at + BATCH
        loss = model.train_step(memoryview(x_train)[64 * at : 64 * end], y_train[at:end])
    print("steps %d, loss %.6f, digest %08x" % (STEPS, loss, model.digest()))
else:
    history = model.fit(x_train, y_train, epochs=EPOCHS, validation_data=(x_test, y_test)).history
    print("losses", " ".join(["%.4f" % loss for loss in history["loss"]]))
    print("val_losses", " ".join(["%.4f" % loss for loss in history["val_loss"]]))
    print("test accuracy %.2f %%, digest %08x" % (100 * history["val_accuracy"][-1], model.digest()))
gc.collect()
if hasattr(gc, "mem_alloc"):
    print("heap in use: %d bytes, %d free" % (gc.mem_alloc(), gc.mem_free()))
print("ran on", sys.implementation.name, "with the", odt.executor.backend, "executor")
