"""A network that knows eight digits is taught 3 and 7, ten images of each, one at a time; then it unlearns the 7.

    python teach.py                                                  on a PC
    micropython teach.py                                             on MicroPython's unix port
    mpremote mount examples/personalise run examples/personalise/teach.py     on a board

Only a last layer learns, of what odt.continual.teach keeps of each class; every machine ends with the same digest.
pretrain.py made the files that it reads; see README.md.
"""

import gc
import os

import odt
from odt.continual import teach

# A test may ask for less by putting ODT_ARGS before this script.
STEPS = globals().get("ODT_ARGS", {}).get("steps", 1000)
TEACH = 20  # the first images of person.bin: ten of 3 and ten of 7, to learn from


def read(name):
    """Images of 64 bytes, and their labels."""
    count = os.stat(name)[6] // 65
    with open(name, "rb") as file:
        return memoryview(file.read(64 * count)), file.read(count)


def image(data, i):
    return data[0][64 * i : 64 * i + 64]


front = odt.Sequential([
    odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
    odt.Conv2D(8, 3, padding="same", activation="relu"),
    odt.MaxPool2D(),
    odt.Conv2D(16, 3, padding="same", activation="relu"),
    odt.MaxPool2D(),
    odt.Flatten(),
])  # fmt: skip
front.compile(None, "mse", batch_size=1)
front.summary()
weights = front.get_weights()
with open("weights.bin", "rb") as file:  # those of the last layer follow
    for values in weights:
        file.readinto(values)
front.set_weights(weights)
memory = read("memory.bin")
front.calibrate(memory[0])
teacher = teach.Teacher(front, classes=10, budget=20480, steps=STEPS)
print(teacher)
for i in range(len(memory[1])):
    teacher.learn(image(memory, i), memory[1][i])
teacher.place = "taught.bin"  # from now on each change is saved
del memory
gc.collect()
person = read("person.bin")


def test():
    right, seen = [0, 0], [0, 0]
    for i in range(TEACH, len(person[1])):
        label = person[1][i]
        seen[label in (3, 7)] += 1
        right[label in (3, 7)] += teacher.predict(image(person, i))[0] == label
    return "the eight %.1f %%, 3 and 7 %.1f %%" % (100 * right[0] / seen[0], 100 * right[1] / seen[1])


print("before:", test())
for i in range(TEACH):
    teacher.learn(image(person, i), person[1][i])
print("after: ", test())
print("a %d: is %d, confidence %.2f" % ((person[1][TEACH],) + teacher.predict(image(person, TEACH))))
print("digest %08x" % teacher.digest())
teacher.forget(7)
print("no 7:  ", test())
again = teach.Teacher(front, classes=10, budget=20480, steps=STEPS)
again.load("taught.bin")
print("the same after power was off:", again.digest() == teacher.digest())
os.remove("taught.bin")
gc.collect()
if hasattr(gc, "mem_alloc"):
    print("heap in use: %d bytes, %d free" % (gc.mem_alloc(), gc.mem_free()))
