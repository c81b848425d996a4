"""A spectrogram's network, its model file, and the stream that the file says how to make.

Runs on a machine, and on CPython.
"""

import binascii
from array import array

import odt
from odt.sensors import Events, Frames, LogMel, Stream

STATE = [1]


def tone(hertz, count):
    x = array("h")
    for i in range(count):
        STATE[0] = (STATE[0] * 1103515245 + 12345) & 0x7FFFFFFF
        x.append(abs((i * hertz * 4 % 32000) - 16000) // 3 - 2666 + (STATE[0] >> 23))
    return x


frames = Frames(LogMel(rate=8000, window=64, fft=64, channels=8, low=100, high=3800), hop=32, rows=6)
x, y = array("h"), bytes([k % 2 for k in range(16)])
for k in range(16):
    x.extend(frames(tone((400, 1500)[k % 2] + 9 * k, frames.window)))
model = odt.Sequential([odt.Input(frames.shape, dtype="int16", scale=1 / 2048), odt.Flatten(), odt.Dense(2)])
model.compile(odt.Adam(0.02), batch_size=4, seed=1)
model.fit(x, y, epochs=6, verbose=0)
model.export("hears.odt", labels=["low", "high"], features=frames)
opened = odt.load_model("hears.odt")
print(opened.features)
print("digest %08x" % opened.digest())

played = array("h")
for hertz in (420, 1540, 410):
    played.extend(tone(hertz, 1200))
stream = Stream.of(opened, Events(opened.labels, mean=2), hop=2)
seen = []
for at in range(0, len(played), 100):
    for label, confidence in stream.feed(played[at : at + 100]):
        seen.append((label, stream.window.position))
print(seen)
# A frame of the stream is one of the recording, to the bit.
whole = frames(played[: frames.window])
stream = Stream.of(opened, hop=6)
taken = []
stream.model = lambda x: taken.append(bytes(memoryview(x))) or [1.0, 0.0]
stream.feed(played[: frames.window])
assert taken == [bytes(whole)], (len(taken), binascii.crc32(bytes(whole)))
opened.export("again.odt")
again = odt.load_model("again.odt")
print(again.features.parameters() == frames.parameters(), "digest %08x" % again.digest())
