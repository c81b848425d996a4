"""A node of a fleet, for tests: a small network that learns which of four corners of an image is lit.

Runs on CPython, on MicroPython and on boards, as a script: it takes samples of its own by its number.
"""

import odt
from odt.fleet import Node, ZerothNode, place


def samples(number, count=64):
    """(x, y): images of 4x4 bytes and their labels, all of this node's own; three of four labels are of two classes."""
    x, y, key = bytearray(), bytearray(), 1 + 7919 * number
    for index in range(count):
        key = (key * 1103515245 + 12345) & 0x7FFFFFFF
        label = (key >> 8) % 4 if index % 4 == 0 else (number + (key >> 12) % 2) % 4
        image = bytearray([(key >> 16) % 5 + (index * pixel) % 3 for pixel in range(16)])
        corner = (0, 2, 8, 10)[label]
        for pixel in (corner, corner + 1, corner + 4, corner + 5):
            image[pixel] = 12 + (key >> 4) % 4
        x += image
        y.append(label)
    return x, y


def network(dtype="int8", seed=5, optimizer=None):
    model = odt.Sequential([
        odt.Input((4, 4, 1), dtype="uint8", scale=1 / 16), odt.Conv2D(4, 3, padding="same", activation="relu"),
        odt.MaxPool2D(), odt.Flatten(), odt.Dense(4),
    ])  # fmt: skip
    model.compile(optimizer or odt.Adam(0.01), batch_size=8, seed=seed, dtype=dtype)
    return model


def node(number, **options):
    return Node(network(), *samples(number), name="corner %d" % number, **options)


def zeroth_node(number, dtype="int8", sign=True, count=64):
    model = network(dtype, optimizer=odt.ZerothOrder(0.01, sign=sign))
    return ZerothNode(model, *samples(number, count), name="corner %d" % number)


if __name__ == "__main__":
    node(place[0]).serve()
