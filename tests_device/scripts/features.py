"""Features of frames: their CRC-32 for sizes and signals of many kinds. Runs on a machine.

``ODT_ARGS``: "frames" of each size, and "executor".
"""

import gc
from array import array

import odt
from odt import executor
from odt.sensors import MFCC, Filter, LogMel, MicroFrontend, MiniRocket, Motion

args = globals().get("ODT_ARGS", {})
if "executor" in args:
    executor.use(args["executor"])
state = 1


def numbers(x, shift, offset):
    """Into x: random int16 around an offset."""
    global state
    for i in range(len(x)):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        x[i] = max(-32768, min(32767, ((state >> 15) - 32768 >> shift) + offset))


def of(rate, window, fft, channels, low, high, kind=LogMel):
    return run(kind(rate, window, fft, channels, low, high), window, fft)


def run(mel, window, fft):
    x, out, crc = array("h", bytes(2 * window)), array("h", bytes(2 * mel.outputs)), 0
    for frame in range(args.get("frames", 8)):
        numbers(x, frame * 3 % 17, (frame % 3 - 1) * 20000)
        mel(x, out)
        crc = executor.engine.crc32(out, crc)
    mel(bytes(2 * window), out)
    print("%d of %d, %d channels: %08x" % (window, fft, mel.outputs, executor.engine.crc32(out, crc)))
    return mel, x, out


of(16000, 32, 32, 3, 300, 8000)
of(8000, 240, 256, 20, 100, 4000)
of(22050, 777, 1024, 64, 60, 11025)
of(16000, 400, 512, 40, 20, 8000, MFCC)
of(8000, 240, 256, 20, 100, 4000, MicroFrontend)
front, x, out = of(16000, 480, 512, 39, 125, 7500, MicroFrontend)
motion, moves, _ = run(Motion(100, 100, 1, (1, 3, 10, 50)), 100, 128)
smooth = Filter(((10782175, 21564350, 10782175, 1 << 29, -838065198, 344322985),) * 2)
smooth.outputs = 300
run(smooth, 300, 0)
rocket = MiniRocket(20, 2, 168, biases=[i * 7919 % 30011 - 15000 for i in range(168)])
_, two, shares = run(rocket, 40, 168)
few = MiniRocket(9, 1, 84, seed=5).fit(two[:36])
assert few.fit(memoryview(two)[:18]).biases != few.fit(two[:36]).biases
run(few, 9, 84)
mel, x, out = of(16000, 480, 512, 40, 125, 7500)
print(mel)
mel(x, out)
try:
    mel(x[:479], out)
except ValueError as error:
    print("refused:", error)
model = odt.Sequential([odt.Input((40,), dtype="int16", scale=1 / 2048), odt.Dense(2)])
model.compile(odt.SGD(0.1), batch_size=1, seed=1)
model.train_step(out, bytes(1))
print("trained: %08x" % model.digest())


rest, nine = memoryview(out)[:39], memoryview(out)[:9]


def heap():
    gc.collect()
    before = gc.mem_alloc()
    for _ in range(4):
        mel(x, out)
        front(x, rest)
        motion(moves, nine)
        smooth(x, x)
        rocket(two, shares)
    return gc.mem_alloc() - before


if hasattr(gc, "mem_alloc"):
    print("4 frames took %d bytes of heap" % heap())
