"""A network that understands 20 commands is taught another one on the board, by ten typed sentences.

    python teach.py                                                  on a PC
    micropython teach.py                                             on MicroPython's unix port
    mpremote mount examples/command run examples/command/teach.py    on a board

Every one of them ends with the same digest. pretrain.py made the files that it reads; see README.md.
"""

import gc

from tokens import Tokens

import odt

# A test may ask for less by putting ODT_ARGS before this script.
args = globals().get("ODT_ARGS", {})
EPOCHS, KEPT, TESTS = args.get("epochs", 8), args.get("kept", 120), args.get("tests", 300)
NEW = 20  # the number of the new command


def read(name, most):
    """The first lines of a file, a label and a sentence each: yields (tokens, label)."""
    with open(name, "rb") as file:
        for _ in range(most):
            label, _, text = str(file.readline(), "utf-8").partition(" ")
            if text:
                yield tokens.samples([text]), int(label)


def test():
    """How many of the old commands and of the new one are understood."""
    right, seen = [0, 0], [0, 0]
    for x, label in read("test.bin", TESTS):
        scores = model.predict(x)
        seen[label == NEW] += 1
        right[label == NEW] += max(range(len(scores)), key=lambda i: scores[i]) == label
    return "20 commands %.1f %%, the new one %.1f %%" % tuple([100 * a / max(1, b) for a, b in zip(right, seen)])


with open("pieces.bin", "rb") as file:
    tokens = Tokens(str(file.read(), "utf-8"))
model = odt.load_model("learn.odt")
model.summary()
gc.collect()
print("before:", test())
x, y = bytearray(), bytearray()
for name, most in (("kept.bin", KEPT), ("new.bin", 10)):
    for sample, label in read(name, most):
        x += sample
        y.append(label)
model.fit(x, y, epochs=EPOCHS)
print("after:", test())
print("digest %08x" % model.digest())
