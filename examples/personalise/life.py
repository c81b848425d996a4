"""What becomes of a network on a board: it gets used to a camera without labels, then learns 3 and 7 from three images
of each.

    python life.py                                                   on a PC
    micropython life.py                                              on MicroPython's unix port
    mpremote mount examples/personalise run examples/personalise/life.py      on a board

The power may fail at any time: started again, it goes on from life.ckpt and replay.ckpt, and ends with the digest of a
run that was not interrupted, the same on every machine but CircuitPython's, whose floats have 30 bits. Without these
two files it starts from the beginning. pretrain.py made what it reads; see README.md.
"""

import gc
import os

import odt
from odt.callbacks import ModelCheckpoint
from odt.continual import Replay, adabn, labels, tent

# A test may ask for less by putting ODT_ARGS before this script.
ARGS = globals().get("ODT_ARGS", {})
DIGITS = (3, 7)
PASSES, EPOCHS = ARGS.get("passes", 10), ARGS.get("epochs", 10)
TEACH, NEW = 20, 159  # images of 3 and 7 in person.bin: to learn from, in all
SEEN = NEW + ARGS.get("seen", 100)  # up to here the person's images of the other eight, whose labels are not read


def read(name):
    """Images as the board's camera gives them, faint on grey paper, and their labels."""
    count = os.stat(name)[6] // 65
    with open(name, "rb") as file:
        x = bytearray(file.read(64 * count))
        for i in range(len(x)):
            x[i] = x[i] // 2 + 8
        return memoryview(x), memoryview(file.read(count))


def part(first, last):
    return x[64 * first : 64 * last], y[first:last]


def test(model):
    eight = model.evaluate(*part(SEEN, len(y)))[1]
    two = model.evaluate(*part(TEACH, NEW))[1]
    return "the eight %.1f %%, 3 and 7 %.1f %%" % (100 * eight, 100 * two)


def kept(what, place):
    """Whether there is a checkpoint; then it is loaded."""
    try:
        what.load(place)
    except OSError:
        return False
    print("goes on from %s" % place)
    return True


x, y = read("person.bin")
seen = part(NEW, SEEN)[0]
model = odt.load_model("learn.odt")  # its last layer learns
model.summary()
replay = Replay(model, budget=8192)

if not kept(model, "life.ckpt"):
    warm = odt.load_model("warm.odt")  # the same network; gamma and beta learn, without labels
    print("as it came:          ", test(warm))
    adabn.update_bn(warm, seen)
    print("the camera's light:  ", test(warm))
    tent.adapt(warm, seen, epochs=PASSES)
    print("its own predictions: ", test(warm))
    model.load_weights(warm)
    model.calibrate(seen)
    model.save("life.ckpt")
    del warm
    gc.collect()

if not kept(replay, "replay.ckpt"):  # what it is sure of stands for what it knows
    for i, label in zip(*labels.pseudo(model, seen, 0.8)):
        if label not in DIGITS:
            replay.add(seen[64 * i : 64 * i + 64], label)
    replay.save("replay.ckpt")
    print("%d of %d images kept, as what they seem to be" % (len(replay), len(seen) // 64))

for number, digit in enumerate(DIGITS):
    shown = [i for i in range(TEACH) if y[i] == digit][:3]
    three = b"".join([bytes(x[64 * i : 64 * i + 64]) for i in shown]), bytes([digit] * 3)
    if model.epoch < EPOCHS * (number + 1):
        epochs = EPOCHS * (number + 1)
        batches = replay.mixed(5 * three[0], 5 * three[1])
        model.fit(
            batches, epochs=epochs, initial_epoch=model.epoch, verbose=0, callbacks=[ModelCheckpoint("life.ckpt")]
        )
        print("three images of a %d: " % digit, test(model))
    if not replay.count(digit):
        replay.add(*three)
        replay.save("replay.ckpt")

print("in the end:          ", test(model))
print("digest %08x %08x" % (model.digest(), replay.digest()))
gc.collect()
if hasattr(gc, "mem_alloc"):
    print("heap in use: %d bytes, %d free" % (gc.mem_alloc(), gc.mem_free()))
