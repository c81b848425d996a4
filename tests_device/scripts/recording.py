"""Windows recorded with their labels, taken away, and trained on from the file. Runs on a machine, and on CPython."""

import binascii
import os
from array import array

import odt
from odt.sensors import PolledSource, Recorder, Window

STATE = [1]


def reading(level):
    x = array("h")
    for _ in range(24):
        STATE[0] = (STATE[0] * 1103515245 + 12345) & 0x7FFFFFFF
        x.append(600 * level + (STATE[0] >> 16) % 401 - 200)
    return x


class Sensor:
    """Has ``readinto``, as a driver."""

    def __init__(self, level):
        self.data = bytes(memoryview(reading(level))) + bytes(memoryview(reading(level)))
        self.at = 0

    def readinto(self, buffer):
        count = min(len(buffer), len(self.data) - self.at, 10)
        buffer[:count] = self.data[self.at : self.at + count]
        self.at += count
        return count


try:
    os.remove("gestures.npy")
except OSError:
    pass


def again():
    return Recorder("gestures.npy", Window(12, 2), rate=50, budget=192 + 60 * 68, classes=3)


recorder = again()
for k in range(30):
    recorder.add(reading(k % 3 - 1), ("down", "still", "up")[k % 3])
print("captured", recorder.capture("up", 2, Sensor(1)))
now = [0]


def clock():
    now[0] += 3000
    return now[0]


def tilt():
    return now[0] / 100000 - 1, 40.0 if now[0] > 120000 else -0.25


polled = PolledSource(tilt, 50, 2, scale=1024, clock=clock)
print("polled", recorder.capture("still", 2, polled, pause=0), polled.clipped, polled.late)
recorder.remove(4)
recorder.forget("down")
recorder.add(reading(-1), "down")
recorder.remove()
recorder.close()
recorder = again()
print(recorder, recorder.labels, recorder.rate)
try:
    recorder.add(array("h", [1]), "up")
except ValueError as error:
    print(error)
with open("gestures.npy", "rb") as file:
    print("digest %08x" % (binascii.crc32(file.read()) & 0xFFFFFFFF))
model = odt.Sequential([odt.Input((12, 2), dtype="int16", scale=1 / 1024), odt.Flatten(), odt.Dense(2)])
model.compile(odt.Adam(0.02), batch_size=4, seed=1)
model.fit(recorder.reader(4), epochs=4, verbose=0)
print("digest %08x" % model.digest())
