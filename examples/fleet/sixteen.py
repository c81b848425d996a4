"""Sixteen boards learn to read ten digits together. Each was shown 84 images of four or five of them.

    python sixteen.py                                                             one board alone
    python -m odt fleet sixteen.py --twins 16                                     sixteen simulated boards
    python -m odt fleet sixteen.py --connect PORT PORT PORT PORT --processes 12   four boards, twelve processes

Data: digits.bin of examples/digits, beside this script on a board. See README.md.
"""

import odt
from odt import executor
from odt.fleet import Node, place

COUNT, TRAIN, SIZE, SHARD = 1797, 1400, 64, 21  # 64 shards of the images to train, sorted by their label


def opened():
    try:
        return open("digits.bin", "rb")
    except OSError:
        return open("../digits/digits.bin", "rb")


def shown(number):
    """The images of this board: four shards, far apart."""
    with opened() as file:
        file.seek(SIZE * COUNT)
        labels = file.read(TRAIN)
        shards = [(4 * number + 17 * each) % 64 for each in range(4)]
        at, x, y = 0, bytearray(), bytearray()
        for label in range(10):
            for index in range(TRAIN):
                if labels[index] == label:
                    if at // SHARD in shards:
                        file.seek(SIZE * index)
                        x += file.read(SIZE)
                        y.append(label)
                    at += 1
    return x, y


def test():
    """The last 397 images, which no board was shown."""
    with opened() as file:
        file.seek(SIZE * TRAIN)
        x = file.read(SIZE * (COUNT - TRAIN))
        file.seek(SIZE * COUNT + TRAIN)
        return x, file.read(COUNT - TRAIN)


number, nodes = place
model = odt.Sequential([
    odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
    odt.Conv2D(8, 3, padding="same", activation="relu"),
    odt.MaxPool2D(),
    odt.Conv2D(16, 3, padding="same", activation="relu"),
    odt.MaxPool2D(),
    odt.Flatten(),
    odt.Dense(10),
])  # fmt: skip
model.compile(odt.Adam(0.004), batch_size=8, seed=1)
x, y = shown(number % 16)
if nodes > 1:  # the PC, whose number is ``nodes``, tests on new images; a board on those that it was shown
    Node(model, x, y, "board %d" % number, 3, (x, y) if number < nodes else test()).serve()
else:
    model.fit(x, y, epochs=40, verbose=0)
    print("digits that it was shown:", sorted(set(y)))
    print("loss %.4f, accuracy %.4f" % model.evaluate(*test()))
    print("executor:", executor.backend)
    print("digest %08x" % model.digest())
