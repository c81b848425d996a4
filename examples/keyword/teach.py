"""A network of nine spoken digits is taught the voice of somebody whom it never heard, and a tenth word: each by three
utterances.

    python teach.py                                                  on a PC
    micropython teach.py                                             on MicroPython's unix port
    mpremote mount examples/keyword run examples/keyword/teach.py    on a board

Every one of them ends with the same digest. bench/examples/stories.py made the files that it reads; see README.md.
"""

import gc
import os
from array import array

from words import CHANNELS, HOP, LENGTH, RATE, ROWS, WINDOW, Listener, features

import odt
from odt import executor
from odt.continual import teach
from odt.sensors import Window

# A test may ask for less by putting ODT_ARGS before this script.
args = globals().get("ODT_ARGS", {})
STEPS, EACH = args.get("steps", 1000), 3
NEW = 3  # the digit that the network never heard
SIZE = ROWS * CHANNELS


def sound(file):
    """The next utterance: LENGTH samples of int8 and their label, as a microphone's int16."""
    data = file.read(LENGTH + 1)
    samples = array("h", bytes(2 * LENGTH))
    for i in range(LENGTH):
        samples[i] = (data[i] - 256 if data[i] > 127 else data[i]) * 256
    return samples, data[LENGTH]


def listened(count):
    """Words with pauses and noise, as samples of a microphone: how many are found, and how many correctly."""
    window, listener, found, right = Window(WINDOW, 1, HOP), Listener(), 0, 0
    noise, heard = 1, array("h", bytes(2 * HOP))
    with open("stream.bin", "rb") as file:
        for _ in range(count):
            said, label = sound(file)
            for at in range(0, 2 * RATE, HOP):
                for i in range(HOP):
                    noise = (noise * 75 + 74) % 65537
                    heard[i] = (noise >> 7) - 256 + (said[at + i] >> 1 if at + i < LENGTH else 0)
                window.push(heard)
                frame = window.next()
                if frame is not None and listener.push(frame):
                    found += 1
                    right += teacher.predict(listener.word())[0] == label
    return "%d words found of %d, %d of them right" % (found, count, right)


def test():
    right, seen = [0, 0], [0, 0]
    with open("test.bin", "rb") as file:
        for _ in range(os.stat("test.bin")[6] // (SIZE + 1) if not args else args["test"]):
            data = file.read(SIZE + 1)
            label = data[SIZE]
            seen[label == NEW] += 1
            right[label == NEW] += teacher.predict(memoryview(data)[:SIZE])[0] == label
    return "nine words %.1f %%, the tenth %.1f %%" % (100 * right[0] / seen[0], 100 * right[1] / max(1, seen[1]))


front = odt.load_model("front.bin")
teacher = teach.Teacher(front, classes=10, budget=10 * 2 * EACH * 192, steps=STEPS)
with open(
    "known.bin", "rb"
) as file:  # three samples of each word it knows, by other voices: what the front said of them
    for _ in range(args.get("known", 9 * EACH)):
        data = file.read(SIZE + 1)
        teacher.learn(memoryview(data)[:SIZE], data[SIZE])
del data
gc.collect()
print(teacher)
print("before:", test())
with open("teach.bin", "rb") as file:
    for _ in range(args.get("taught", 10 * EACH)):
        samples, label = sound(file)
        teacher.learn(features(samples), label)
print("after: ", test())
print("a %d: is %d, confidence %.2f" % ((label,) + teacher.predict(features(samples))))
print("in a stream:", listened(args.get("stream", 10)))
print("executor:", executor.backend)
print("digest %08x" % teacher.digest())
del samples
gc.collect()
if hasattr(gc, "mem_alloc"):
    print("heap in use: %d bytes, %d free" % (gc.mem_alloc(), gc.mem_free()))
