"""A keyword loop: what of an RP2040 is left by sound at 16 kHz, a frame each 10 ms and inference each 100 ms.

    python bench/costs/loop.py            writes bench/results/loop.txt (a minute)
    python bench/costs/loop.py rp2040     prints only, of this machine

A Stream is fed as machine.I2S feeds it, by readinto() of 160 samples (here from memory), 100 hops, 1 s: Window,
LogMel(16000, 480, 512, 40), the Window of 49 frames, a model each 10 frames, Events. The models: the network of
TensorFlow Lite Micro's micro_speech (a convolution of 8 filters, 10x8, stride 2, and a dense layer of 4), and one with
three convolutions; int8, weights drawn. Per second of sound, by parts: all, without a model (one that returns
constants), features alone. Share of an RP2040 at 125 MHz, of a Cortex-M4 at 100 MHz at one instruction per cycle.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import counting  # noqa: E402
import written  # noqa: E402

MACHINES = "rp2040", "qemu_m4"
HERTZ = {"rp2040": 125000000, "qemu_m4": 100000000}
MODELS = {
    "micro_speech": "odt.Conv2D(8, (10, 8), strides=2, padding='same', activation='relu')",
    "three convolutions": "odt.Conv2D(8, 3, strides=2, activation='relu'), odt.Conv2D(16, 3, strides=2, "
    "activation='relu'), odt.Conv2D(16, 3, strides=2, activation='relu')",
}
ON_BOARD = """
import gc
from array import array
import odt
from odt.sensors import LogMel
from odt.sensors import Events, Stream, Window
sound = bytes(memoryview(array("h", [(i * i * 7919 >> 3) %% 20011 - 10005 for i in range(160)])))
class Source:
    def readinto(self, buffer):
        buffer[:] = sound
        return len(buffer)
source, mel = Source(), LogMel(16000, 480, 512, 40)
x = array("h", [5000 + (i * 7919 >> 3) %% 4000 for i in range(49 * 40)])
model = odt.Sequential([odt.Input((49, 40, 1), dtype="int16", scale=1 / 2048), %s, odt.Flatten(), odt.Dense(4)])
model.compile(None, batch_size=1, seed=1)
model.calibrate(x)
even = [0.25] * 4
def constants(x):
    return even
def second(model):
    gc.collect()
    stream = Stream(Window(480, hop=160), model, Events(["silence", "unknown", "yes", "no"]), mel, Window(49, 40, 10))
    runs = 0
    for hop in range(51 + 100):
        if hop == 51:
            before = stream.frames.position
            begin()
        window = stream.window
        window.commit(source.readinto(window.slot()))
        stream.poll()
    end()
    assert stream.frames.position == before + 100
begin()
end()
second(model)
second(constants)
out, samples = array("h", bytes(80)), sound * 3
begin()
for _ in range(100):
    mel(samples, out)
end()
"""


def rows(names):
    yield "%-22s%-10s%14s%14s%14s%12s" % ("a second of sound", "", "all", "no model", "features", "share")
    for kind, layers in MODELS.items():
        for name in names:
            machine = counting.open(name)
            whole, without, features = machine.run(ON_BOARD % layers)
            machine.close()
            yield "%-22s%-10s%14d%14d%14d%10.1f %%" % (kind, name, whole, without, features, 100 * whole / HERTZ[name])


def main():
    names = sys.argv[1:] or MACHINES
    lines = counting.head("A keyword loop. Written by: python bench/costs/loop.py")[:-1]
    lines += [counting.heading(name) for name in names] + [""]
    print(*lines, sep="\n")
    for line in rows(names):
        print(line, flush=True)
        lines.append(line)
    if not sys.argv[1:]:
        written.write("loop.txt", lines)


if __name__ == "__main__":
    main()
