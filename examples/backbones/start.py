"""A network that learned MNIST on a PC meets other digits, and a board fits its last layer to ten of each.

    python start.py                                                    on a PC
    micropython start.py                                               on MicroPython's unix port
    mpremote mount examples/backbones run examples/backbones/start.py  on a board

Every one of them ends with the same digest. bench/examples/backbones.py made the files that it reads; see README.md.
"""

import gc
import os

import odt
from odt import executor

# A test may ask for less by putting ODT_ARGS before this script.
args = globals().get("ODT_ARGS", {})
TEACH, TEST, EPOCHS = args.get("teach", 100), args.get("test", 400), args.get("epochs", 20)


def enlarge(small, out):
    """8x8 pixels of 0..16 as 28x28 of 0..255: each three by three, a border of two."""
    for y in range(24):
        for x in range(24):
            out[28 * (y + 2) + x + 2] = small[8 * (y // 3) + x // 3] * 255 // 16


class Digits:
    """Images ``first`` ..

    ``last - 1`` of digits.bin, 16 at a time: all of them, enlarged, are more than a board's RAM.
    """

    def __init__(self, first, last):
        self.first, self.last = first, last
        self.images, self.small = bytearray(16 * 784), bytearray(64)

    def __iter__(self):
        with open("digits.bin", "rb") as file:
            for first in range(self.first, self.last, 16):
                count = min(16, self.last - first)
                images = memoryview(self.images)[: 784 * count]
                file.seek(64 * first)
                for i in range(count):
                    file.readinto(self.small)
                    enlarge(self.small, images[784 * i : 784 * (i + 1)])
                file.seek(64 * (os.stat("digits.bin")[6] // 65) + first)
                yield images, file.read(count)


model, test = odt.load_model("image.odt"), Digits(100, 100 + TEST)
print("before: %.1f %%" % (100 * model.evaluate(test)[1]))
model.fit(Digits(0, TEACH), epochs=EPOCHS, verbose=0)
print("after:  %.1f %%" % (100 * model.evaluate(test)[1]))
print("executor:", executor.backend)
print("digest %08x" % model.digest())
gc.collect()
if hasattr(gc, "mem_alloc"):
    print("heap in use: %d bytes, %d free" % (gc.mem_alloc(), gc.mem_free()))
