"""Spoken digits as sound comes: what a frame and a decision take on a Cortex-M0+ and a Cortex-M4.

    python bench/costs/frames.py            writes bench/results/frames.txt (two minutes)
    python bench/costs/frames.py rp2040     prints only, of this machine

The networks of bench/accuracy/spoken.py, int8: a GRU of 32 units over 20 log-mel channels, by odt.recurrent.Steps, a
step for each frame of 30 ms, one every 20 ms; and the transformer over 32 frames. Their weights are drawn and their
ranges calibrated, on a PC, on the 30 utterances of examples/keyword/teach.bin; boards open the model files. Per frame:
LogMel, the step, and both with Window and Events in a Stream; per decision: one prediction of the transformer. The time
of a frame is 20 ms, at 125 MHz of an RP2040, at 100 MHz of a Cortex-M4 with one instruction per cycle. The digest, of
the outputs after every frame and of the transformer, is the PC's. Kernels: cycles or instructions per multiplication
(and addition), of the recurrent product and what belongs to a cell, and of attention, forward and backward, in one
training step of 8 samples.
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from folders import ROOT  # noqa: E402

KEYWORD = ROOT / "examples" / "keyword"
sys.path.insert(0, str(KEYWORD))

import counting  # noqa: E402
import numpy as np  # noqa: E402
import spoken  # noqa: E402
import words  # noqa: E402
import written  # noqa: E402

from odt.recurrent import Steps  # noqa: E402

MACHINES = "rp2040", "qemu_m4"
HERTZ = {"rp2040": 125000000, "qemu_m4": 100000000}
FRAME = words.HOP / words.RATE  # seconds
SOUNDS = 30
STREAM = """
import gc
from array import array
import odt
from odt.recurrent import Steps
from odt.sensors import Events, LogMel, Stream, Window
folder = globals().get("ODT_ARGS", {}).get("folder", "")
with open(folder + "sound.bin", "rb") as file:
    data = file.read()
sound = array("h", bytes(2 * len(data)))
for at in range(len(data)):
    sound[at] = (data[at] - 256 if data[at] > 127 else data[at]) * 256
sound = memoryview(sound)
mel = LogMel(rate=8000, window=240, fft=256, channels=20, low=100, high=3900)
steps = Steps(odt.load_model(folder + "steps.odt"))
row, out, crc = array("h", bytes(40)), array("f", bytes(40)), 0
frames = [sound[at : at + 240] for at in range(0, len(sound) - 239, 160)]
crc32 = odt.executor.engine.crc32
for frame in frames:
    mel(frame, row)
    crc = crc32(steps.predict(row, out), crc)
begin()
end()
gc.collect()
for work in (mel, steps.predict):
    begin()
    for frame in frames:
        work(frame if work is mel else row, row if work is mel else out)
    end()
steps.reset()
stream = Stream(Window(240, hop=160), steps, Events(10), mel)
hops = [sound[at : at + 160] for at in range(0, len(sound) - 159, 160)]
gc.collect()
begin()
for hop in hops:
    stream.window.push(hop)
    stream.poll()
end()
word = odt.load_model(folder + "word.odt")
x, out = array("h", bytes(2 * 32 * 20)), array("f", bytes(40))
view = memoryview(x)
for at in range(32):
    mel(frames[at], view[20 * at : 20 * at + 20])
crc = crc32(word.predict(x, out), crc)
gc.collect()
begin()
word.predict(x, out)
end()
print("frames %d hops %d digest %08x" % (len(frames), len(hops), crc))
sizes = [len(part) for model in (steps, word) for part in (model.session.arena, model.session.state)]
print("bytes %d %d %d %d" % tuple(sizes))
"""


def files(folder):
    """The model files, and a sound of two words, in a folder."""
    data = (KEYWORD / "teach.bin").read_bytes()
    sounds = [np.frombuffer(data, "int8", words.LENGTH, at * (words.LENGTH + 1)) for at in range(SOUNDS)]
    x = np.array([spoken.frames(sound.astype("int16") * 256) for sound in sounds])
    for kind, name in (("GRU", "steps.odt"), ("transformer", "word.odt")):
        model = spoken.network(kind)
        model.compile(None, batch_size=1, seed=1)
        model.calibrate(x)
        model.session.fix_ranges()
        if kind == "GRU":
            Steps(model).export(str(folder / name))
        else:
            model.export(str(folder / name), purpose="inference")
    (folder / "sound.bin").write_bytes(b"".join([sound.tobytes() for sound in sounds[:2]]))
    return [folder / name for name in ("steps.odt", "word.odt", "sound.bin")]


def streamed(name, paths):
    """What STREAM counts on a machine, and its last lines' numbers."""
    machine = counting.open(name)
    try:
        script = STREAM
        if name == "rp2040":
            code, output = machine.machine.mpremote("cp", *[str(path) for path in paths], ":", timeout=300)
            assert code == 0, output
            script = "import os\nos.chdir('/')\n" + script
        else:
            machine.machine.put(paths)
        counts = machine.run(script)
        return counts, machine.said.split("frames", 1)[1].split()
    finally:
        machine.close()


KERNELS = """
import gc
from array import array
import odt
from odt.run import session as sessions
kind = ODT_ARGS["kind"]
x = odt.Input((32, 20), dtype="int16", scale=1 / 1024, zero_point=5120)
y = x
if kind == "GRU":
    y = odt.GRU(32)(y)
else:
    y = odt.PositionEmbedding()(odt.Conv1D(32, 3, strides=2, padding="same", activation="relu")(y))
    y = odt.Add()([y, odt.MultiHeadAttention(4)(odt.LayerNorm()(y))])
    y = odt.GlobalAvgPool()(odt.Add()([y, odt.Dense(32)(odt.Dense(64, activation="relu")(odt.LayerNorm()(y)))]))
model = odt.Model(x, odt.Dense(10)(y))
model.compile(odt.Adam(0.004), batch_size=4, seed=1)
samples = array("h", [5120 + (i * i * 7919 >> 3) % 8001 - 4000 for i in range(4 * 640)])
model.train_step(samples, bytes(range(4)))
sess = model.session
sessions.bind(sess, samples, bytes(range(4)))
sessions.clear(sess)
sessions.batch(sess, 0, 4)
sess.set_rate()
sessions.next_part(sess)
run, loaded, regions = sess.engine.run, sess.loaded, sess.regions
places = array("i", [at for at, _, _, _ in sess.program.walk(*sess.sections["train"])] + [sess.sections["train"][1]])
gc.collect()
begin()
end()
for at in range(len(places) - 1):
    start, stop = places[at], places[at + 1]
    begin()
    run(loaded, regions, start, stop)
    end()
print("digest %08x" % model.digest())
"""
SHOWN = "recur_i8", "recur_dx_i8", "attend_i8", "attend_dx_i8", "mix_i8"


def macs_of(name, sizes):
    """The largest product of its cost's terms."""
    from odt.host import traits

    found = 1
    for term in (traits.TRAITS[name].cost or "").split():
        value = 1
        for size in term.split("*"):
            value *= int(size) if size.isdigit() else sizes.get(size, 1)
        found = max(found, value)
    return found


def kernels(name, kind):
    """{instruction: [how often, multiplications, count]} of a training step, and the digest after it."""
    scope = {"ODT_ARGS": {"kind": kind}, "begin": lambda: None, "end": lambda: None, "print": lambda *words: None}
    exec(KERNELS, scope)  # the PC plans the same
    model, found = scope["model"], {}
    machine = counting.open(name)
    try:
        counts = machine.run(KERNELS, {"kind": kind})
        digest = machine.said.rpartition("digest ")[2].split()[0]
    finally:
        machine.close()
    program = model.session.program
    for (_, code, _, immediates), count in zip(program.walk(*program.section("train")), counts):
        row = found.setdefault(code.name, [0, 0, 0])
        row[0] += 1
        row[1] += macs_of(code.name, dict(zip(code.immediates, immediates)))
        row[2] += count
    return found, digest, "%08x" % model.digest()


def main():
    names = sys.argv[1:] or MACHINES
    lines = counting.head("Spoken digits as sound comes. Written by: python bench/costs/frames.py")[:-1]
    lines += [counting.heading(name) for name in names]

    def say(text=""):
        lines.append(text)
        print(text, flush=True)

    with tempfile.TemporaryDirectory() as folder:
        paths = files(Path(folder))
        scope = {"ODT_ARGS": {"folder": folder + "/"}, "begin": lambda: None, "end": lambda: None}
        heard = []
        exec(STREAM, dict(scope, print=lambda text: heard.extend(text.split())))
        files_of = [path.stat().st_size for path in paths[:2]]
        say("\nPC: digest %s" % heard[5])
        for about, at in (("a step of the GRU", 0), ("the transformer", 1)):
            place = (about, heard[7 + 2 * at], heard[8 + 2 * at], files_of[at])
            say("%s: arena %s bytes, state %s bytes, model file %d bytes" % place)
        say("%-10s%14s%14s%14s%14s%14s%12s%16s%10s" % (
            "a frame", "features", "step", "of its time", "with Stream", "of its time", "digest", "a decision",
            "ms"))  # fmt: skip
        for name in names:
            (mel, step, both, word), said = streamed(name, paths)
            frames, hops = int(said[0]), int(said[2])
            mel, step, both = mel / frames, step / frames, both / hops
            shares = [100 * count / (FRAME * HERTZ[name]) for count in (mel + step, both)]
            cells = (name, mel, step, shares[0], both, shares[1])
            equal = "equal" if said[4] == heard[5] else "OTHER"
            say("%-10s%14d%14d%13.1f%%%14d%13.1f%%%12s%16d%10.1f" % (cells + (equal, word, 1000 * word / HERTZ[name])))
    for kind in ("GRU", "transformer"):
        say("\nA training step of 4 words, %s%22s%14s%14s%10s" % (kind, "multiplications", "count", "each", "share"))
        for name in names:
            found, digest, other = kernels(name, kind)
            total = sum([row[2] for row in found.values()])
            for shown in [each for each in SHOWN if each in found]:
                times, macs, count = found[shown]
                cells = (name, shown, times, macs, count, count / macs, 100 * count / total)
                say("%-10s%-20s%4d%28d%14d%14.2f%9.1f%%" % cells)
            equal = "equal" if digest == other else "OTHER"
            say("%-10s%-20s%46d%24s" % (name, "all", total, "digest " + equal))
    if not sys.argv[1:]:
        written.write("frames.txt", lines)


if __name__ == "__main__":
    main()
