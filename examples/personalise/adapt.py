"""A network that knows eight digits learns 3 and 7 on the board, from ten images of each, while a LED blinks.

    python adapt.py                                                  on a PC
    micropython adapt.py                                             on MicroPython's unix port
    mpremote mount examples/personalise run examples/personalise/adapt.py     on a board

Every one of them ends with the same digest. pretrain.py made the files that it reads; see README.md.
"""

import asyncio
import gc
import os

import odt

# A test may ask for less by putting ODT_ARGS before this script.
EPOCHS = globals().get("ODT_ARGS", {}).get("epochs", 8)
TEACH, NEW = 20, 159  # images of 3 and 7 in person.bin: to learn from, in all


def read(name):
    """Images of 64 bytes, and their labels."""
    count = os.stat(name)[6] // 65
    x, y = bytearray(64 * count), bytearray(count)
    with open(name, "rb") as file:
        file.readinto(x)
        file.readinto(y)
    return x, y


def part(data, first, last):
    return memoryview(data[0])[64 * first : 64 * last], memoryview(data[1])[first:last]


model = odt.Sequential([
    odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
    odt.Conv2D(8, 3, padding="same", activation="relu"),
    odt.MaxPool2D(),
    odt.Conv2D(16, 3, padding="same", activation="relu"),
    odt.MaxPool2D(),
    odt.Flatten(),
    odt.Dense(10),
])  # fmt: skip
person = read("person.bin")
x, y = read("memory.bin")
teach = part(person, 0, TEACH)
x += 4 * bytes(teach[0])  # as many of a new digit as of an old one
y += 4 * bytes(teach[1])
model.compile(odt.Adam(odt.CosineDecay(0.006, EPOCHS * len(y) // 8)), batch_size=8, seed=1)
model.summary()
weights = model.get_weights()
with open("weights.bin", "rb") as file:
    for values in weights:
        file.readinto(values)
model.set_weights(weights)


def test():
    old = model.evaluate(*part(person, NEW, len(person[1])))[1]
    new = model.evaluate(*part(person, TEACH, NEW))[1]
    return "the eight %.1f %%, 3 and 7 %.1f %%" % (100 * old, 100 * new)


try:
    from machine import Pin

    led = Pin("LED", Pin.OUT)
except (ImportError, ValueError, TypeError):  # a PC, or a board without a LED of that name
    led = None
blinks = 0


async def blink():
    global blinks
    while True:
        blinks += 1
        if led:
            led.value(blinks & 1)
        await asyncio.sleep(0.1)


async def learn():
    blinking = asyncio.create_task(blink())
    await model.fit_async(x, y, epochs=EPOCHS)
    blinking.cancel()


print("before:", test())
asyncio.run(learn())
print("after: ", test())
print("the LED was switched %d times" % blinks)
print("digest %08x" % model.digest())
gc.collect()
if hasattr(gc, "mem_alloc"):
    print("heap in use: %d bytes, %d free" % (gc.mem_alloc(), gc.mem_free()))
