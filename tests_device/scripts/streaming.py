"""A recording, as CSV and WAV, streamed into a trained model: its events, and what the feed allocates.

Runs on a machine, and on CPython.
"""

import asyncio
import gc
import struct
from array import array

import odt
from odt.sensors import CsvSource, Events, Stream, WavSource, Window

LABELS = ["down", "still", "up"]
STATE = [1]


def noise():
    STATE[0] = (STATE[0] * 1103515245 + 12345) & 0x7FFFFFFF
    return (STATE[0] >> 16) % 401 - 200


def samples(levels, each):
    x = array("h")
    for level in levels:
        for _ in range(2 * each):
            x.append(600 * level + noise())
    return x


model = odt.Sequential([odt.Input((16, 2), dtype="int16", scale=1 / 1024), odt.Flatten(), odt.Dense(3)])
model.compile(odt.Adam(0.02), batch_size=4, seed=1)
model.fit(samples([-1, 0, 1] * 10, 16), [0, 1, 2] * 10, epochs=8, verbose=0)
played = samples([0, 1, -1, 0, -1, 1], 60)
with open("played.csv", "w") as file:
    file.write("x,y\n")
    for k in range(0, len(played), 2):
        file.write("%d,%d\n" % (played[k], played[k + 1]))
with open("played.wav", "wb") as file:
    size = 2 * len(played)
    file.write(b"RIFF" + struct.pack("<I", 36 + size) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 2, 50, 200, 4, 16))
    file.write(b"data" + struct.pack("<I", size))
    file.write(played)


def fresh():
    return Stream(Window(16, 2, 6), model, Events(LABELS, hold_off=1))


async def listen(source):
    async for label, confidence in fresh().listen(source):
        print(source.__class__.__name__, label, "%d/1024" % int(confidence * 1024))


asyncio.run(listen(CsvSource("played.csv")))
asyncio.run(listen(WavSource("played.wav", rate=50)))
print("fed", fresh().feed(played))
print("digest %08x" % model.digest())
print("cost", len(fresh().cost()))

window = Window(18, 2, 6)
one, hop, raw = array("h", [1, 2]), array("h", bytes(24)), bytes(24)


def allocated(call):
    gc.collect()
    before = gc.mem_alloc()
    call()
    return gc.mem_alloc() - before


def one_each():
    for _ in range(60):
        window.push(one)
        window.next()


def hops():
    for _ in range(10):
        window.push(hop)
        window.push(raw)
        window.slot()
        window.commit()
        while window.next():
            pass
    for _ in range(9):
        window.push(hop)
    while window.next():
        pass


one_each()
hops()
print("lost", window.overruns, window.position)
if hasattr(gc, "mem_alloc"):
    print("a feed took %d and %d bytes of heap" % (allocated(one_each), allocated(hops)))
    from micropython import heap_lock, heap_unlock

    heap_lock()  # as in a hard interrupt: an allocation is a MemoryError
    hops()
    one_each()
    heap_unlock()
    print("so in an interrupt: lost", window.overruns)
    row, events = array("b", [100, -120, -128]), Events(LABELS)
    print("an update took %d bytes of heap" % allocated(lambda: events.update(row)))
    from odt.data import CsvReader

    source, two = CsvSource("played.csv"), bytearray(4)
    source.readinto(two)
    reader = iter(CsvReader("played.csv", 1))
    next(reader)
    kept = []
    for size, left in ((16384, 120000), (2048, 0)):  # a heap whose largest piece is of 4 KB
        try:
            while gc.mem_free() > left:
                kept.append(bytearray(size))
        except MemoryError:
            pass
    for k in range(-40, 0):
        if k % 4 < 2:
            kept[k] = None
    try:
        source.readinto(two)
        next(reader)
        print("lines are read in a heap of small pieces")
    except MemoryError as error:
        kept.clear()
        print(error)
