"""On a PC: learn eight of the ten digits, write what a board needs to learn the others.

    python pretrain.py [folder [seed]]

weights.bin   the weights, float32, in the order of model.get_weights()
memory.bin    320 images of the eight: 64 bytes each, then their labels, a byte each
person.bin    images by other writers, likewise: 10 of each new digit, the rest of these, the eight
warm.odt      a network with BatchNorm for life.py: its gamma and beta learn without labels
learn.odt     the same, whose last layer learns
"""

import random
import sys

import odt
from odt.continual import Reservoir, tent

FOLDER = sys.argv[1] if len(sys.argv) > 1 else "."
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 0
NEW = (3, 7)
EPOCHS, BATCH = 12, 16
with open(__file__.rpartition("personalise")[0] + "digits/digits.bin", "rb") as file:
    data = file.read()
images = [data[64 * i : 64 * (i + 1)] for i in range(1797)]
labels = data[64 * 1797 :]


def shifted(image, down, right):
    """The image moved by a pixel, with an empty border."""
    rows = [image[8 * r : 8 * (r + 1)] for r in range(8)]
    rows = [bytes(8)] * down + rows + [bytes(8)] * -down
    rows = rows[:8] if down > 0 else rows[-8:]
    if right:
        rows = [bytes(1) + row[:7] if right > 0 else row[1:] + bytes(1) for row in rows]
    return b"".join(rows)


def write(name, chosen):
    with open(FOLDER + "/" + name, "wb") as file:
        file.write(b"".join([images[i] for i in chosen]) + bytes([labels[i] for i in chosen]))


# The first 1000 images teach the eight, each as it is and moved to both sides.
known = [i for i in range(1000) if labels[i] not in NEW]
x, y = bytearray(), bytearray()
for down, right in ((0, 0), (0, 1), (0, -1)):
    for i in known:
        x += shifted(images[i], down, right)
        y.append(labels[i])
model = odt.Sequential([
    odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
    odt.Conv2D(8, 3, padding="same", activation="relu"),
    odt.MaxPool2D(),
    odt.Conv2D(16, 3, padding="same", activation="relu"),
    odt.MaxPool2D(),
    odt.Flatten(),
    odt.Dense(10),
])  # fmt: skip
model.compile(odt.Adam(odt.CosineDecay(0.004, EPOCHS * len(y) // BATCH)), batch_size=BATCH, seed=SEED)
model.fit(x, y, epochs=EPOCHS)
with open(FOLDER + "/weights.bin", "wb") as file:
    for values in model.get_weights():
        file.write(values)

memory = Reservoir(320, 64, "uint8", seed=SEED)
for i in known:
    memory.add(images[i], labels[i])
with open(FOLDER + "/memory.bin", "wb") as file:
    file.write(bytes(memory.x) + bytes(memory.y.tolist()))

# The others were written by other people: one of them teaches the new digits.
others = list(range(1000, 1797))
random.Random(SEED).shuffle(others)
tens = [[i for i in others if labels[i] == digit][:10] for digit in NEW]
teach = [i for pair in zip(*tens) for i in pair]
rest = sorted([i for i in others if i not in teach], key=lambda i: labels[i] not in NEW)
write("person.bin", teach + rest)


def network():
    return odt.Sequential([
        odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
        odt.Conv2D(8, 3, padding="same"),
        odt.BatchNorm(),
        odt.ReLU(),
        odt.MaxPool2D(),
        odt.Conv2D(16, 3, padding="same"),
        odt.BatchNorm(),
        odt.ReLU(),
        odt.MaxPool2D(),
        odt.Flatten(),
        odt.Dense(10),
    ])  # fmt: skip


trained = network()
trained.compile(odt.Adam(odt.CosineDecay(0.004, EPOCHS * len(y) // BATCH)), batch_size=BATCH, seed=SEED)
trained.fit(x, y, epochs=EPOCHS)
for name, trains, rate, loss in (
    ("warm.odt", odt.adapt.update.norm, 0.004, tent.Entropy()),
    ("learn.odt", odt.adapt.update.last, 0.005, "sparse_categorical_crossentropy"),
):
    model = network()
    trains(model)
    model.compile(odt.Adam(rate), loss, batch_size=BATCH, seed=SEED)
    model.load_weights(trained)
    model.calibrate(x)
    model.export(FOLDER + "/" + name)
