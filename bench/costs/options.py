"""What the remedies cost that docs/explanation/int8.md names: for a step, for a sample, in RAM.

    python bench/costs/options.py            writes bench/results/options.txt (two minutes)
    python bench/costs/options.py rp2040     prints only

An MLP of 12 features, 32 and 24 units and 4 outputs; steps are train_step() of a batch of 16, a sample is one of 12
features, or of a regression's 4 outputs. RAM of a step: arena and state. Of a remedy for samples: what the object
keeps, and what a call leaves to the garbage collector.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import counting  # noqa: E402
from counting import ROOT  # noqa: E402

RESULTS = ROOT / "bench" / "results" / "options.txt"
MACHINES = ("rp2040", "qemu_m4")
STEPS = {
    "SGD(momentum=0.9)": "odt.SGD(0.01, momentum=0.9)",
    'SGD(momentum=0.9, state="float32")': 'odt.SGD(0.01, momentum=0.9, state="float32")',
    "SGD(momentum=0.9, global_clipnorm=1)": "odt.SGD(0.01, momentum=0.9, global_clipnorm=1)",
    "Adam()": "odt.Adam(0.01)",
    'Adam(state="float32")': 'odt.Adam(0.01, state="float32")',
    "Adam(global_clipnorm=1)": "odt.Adam(0.01, global_clipnorm=1)",
    "Adam(WarmUp(0.01, 100))": "odt.Adam(odt.WarmUp(0.01, 100))",
}
STEP = """
import odt
from array import array
model = odt.Sequential([odt.Input((12,)), odt.Dense(32, "relu"), odt.Dense(24, "relu"), odt.Dense(4)])
model.compile({optimizer}, batch_size=16, seed=1)
x = array("f", [(i * 37 % 101) / 50 - 1 for i in range(12 * 16)])
y = bytes([i % 4 for i in range(16)])
for _ in range(3):
    model.train_step(x, y)
begin()
end()
begin()
model.train_step(x, y)
end()
print("bytes", len(model.session.arena) + len(model.session.state))
"""
SAMPLES = """
import gc, odt
from array import array
from odt.data import Companding, ScaledTargets, Whitening
x = array("f", [(i * 37 % 101) / 50 - 1 for i in range(12 * 32)])
y = array("f", [(i * 53 % 97) / 50 - 1 for i in range(4 * 32)])
one = x[:12]
model = odt.Sequential([odt.Input((12,)), odt.Dense(32, "relu"), odt.Dense(24, "relu"), odt.Dense(4)])
model.compile(odt.Adam(0.01), "mse", batch_size=16, seed=1)
model.fit(x, y, epochs=1, verbose=0)
def used():
    gc.collect()
    return gc.mem_alloc()
def tried(call):
    call(one)
    begin()
    call(one)
    end()
    before = used()
    for _ in range(20):
        call(one)
    print("left", (gc.mem_alloc() - before) // 20)
begin()
end()
tried(model.predict)
def made(cls, *data):
    before = used()
    each = cls(model if cls is ScaledTargets else 12)
    each.adapt(*data)
    print("kept", used() - before)
    return each
whitening, companding, scaled = made(Whitening, x), made(Companding, x), made(ScaledTargets, y)
tried(companding.transform)
tried(whitening.transform)
tried(scaled.predict)
"""


def steps(machine):
    yield "%-40s%14s%12s" % ("train_step, batch 16", machine.name, "RAM")
    for name, optimizer in STEPS.items():
        (count,) = machine.run(STEP.format(optimizer=optimizer))
        yield "%-40s%14d%12s" % (name, count, machine.said.split("bytes ")[1].split()[0])


def samples(machine):
    yield "%-40s%14s%12s%12s" % ("a sample", machine.name, "bytes kept", "bytes left")
    counts = machine.run(SAMPLES)
    said = [line.split() for line in machine.said.splitlines()]
    left = [int(words[1]) for words in said if words[0] == "left"]
    whitening, companding, scaled = [int(words[1]) for words in said if words[0] == "kept"]
    names = "model.predict", "Companding.transform", "Whitening.transform", "ScaledTargets.predict"
    for row in zip(names, counts, (0, companding, whitening, scaled), left):
        yield "%-40s%14d%12d%12d" % row


def main():
    lines = counting.head("Remedies where eight bits are few. Written by: python bench/costs/options.py")
    names = sys.argv[1:] or MACHINES
    lines += [counting.heading(name) for name in names]
    for part in (steps, samples):
        for name in names:
            machine = counting.open(name)
            lines += ["", *part(machine)]
            machine.close()
    print("\n".join(lines))
    if not sys.argv[1:]:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
