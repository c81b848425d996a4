"""What compile() costs a board before the first step, and how much of its heap it leaves in one piece.

    build/venv/bin/python bench/costs/planning.py            an emulated Pico with odt's firmware; writes
                                                       bench/results/planning.txt
    build/venv/bin/python bench/costs/planning.py digits     networks whose names hold one of these words

Cycles by odt's own interpreter (tests_device/rp2040js/README.md), of one run, as they repeat exactly. first step:
calibration with it, before anything else was trained or predicted. blocks: the largest that bytearray() gets, before
the model is compiled and after. large: the largest batch, or of DS-CNN, where a sample takes a seventh of the heap, of
one sample the most frames, with which compile() succeeds on a board that has compiled nothing before; its arena, and
arena, state and program together in percent of the heap that is free when the layers are made and nothing is compiled.
Samples and labels are not in the heap then, and all are computed at once.

taken: of the heap, from before the layers are made to after the second step, all objects included but samples. left: of
the heap, after compile() or after a first step with a model that was opened from a file.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import counting
import written

import odt

DIGITS = """
    odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
    odt.Conv2D(8, 3, padding="same", activation="relu"), odt.MaxPool2D(),
    odt.Conv2D(16, 3, padding="same", activation="relu"), odt.MaxPool2D(),
    odt.Flatten(), odt.Dense(10),
"""
BLOCK = 'odt.DepthwiseConv2D(3, padding="same", activation="relu"), odt.Conv2D(24, 1, activation="relu"),\n'
KEYWORDS = """
    odt.Input((49, 10, 1), dtype="int8", scale=1 / 32),
    odt.Conv2D(24, (10, 4), strides=2, padding="same", activation="relu"),
    %s    odt.GlobalAvgPool(), odt.Dense(12),
""" % (4 * BLOCK)
MLP = 'odt.Input((64,), dtype="uint8", scale=1 / 16), odt.Dense(32, "relu"), odt.Dense(10)'
ACTIVITY = """
    odt.Input((128, 9), dtype="int8", scale=1 / 32),
    odt.Conv1D(16, 7, padding="same", activation="relu"), odt.MaxPool1D(2),
    odt.Conv1D(32, 5, padding="same", activation="relu"), odt.MaxPool1D(2),
    odt.Conv1D(64, 3, padding="same", activation="relu"), odt.GlobalAvgPool(), odt.Dense(6),
"""
BYTES = "x = bytearray([i * 7 % 17 for i in range({size})])"
FLOATS = "x = array.array('f', [i * 7 % 17 / 16 for i in range({size})])"


RESIDUAL = """
def residual(blocks):
    x = inputs = odt.Input((5, 5, 3), dtype="uint8", scale=1 / 64)
    x = odt.Conv2D(4, 3, padding="same", activation="relu")(x)
    for _ in range(blocks):
        y = odt.Conv2D(4, 3, padding="same", activation="relu")(x)
        x = odt.ReLU()(odt.Add()([x, odt.Conv2D(4, 3, padding="same")(y)]))
    return odt.Model(inputs, odt.Dense(10)(odt.GlobalAvgPool()(x)))
"""


def sequential(layers):
    return "odt.Sequential([%s])" % layers


def dense(count):
    return sequential("odt.Input((16,)), " + "odt.Dense(16, 'relu'), " * (count - 1) + "odt.Dense(10)")


# A name: the model, numbers of a sample, the batch size, a batch, and samples of a micro-batch.
NETWORKS = {
    "digits CNN": (sequential(DIGITS), 64, 16, BYTES),
    "digits CNN, 4 at a time": (sequential(DIGITS), 64, 16, BYTES, 4),
    "6 residual blocks": ("residual(6)", 75, 4, BYTES),
    "12 residual blocks": ("residual(12)", 75, 4, BYTES),
    "6 residual blocks, 2 at a time": ("residual(6)", 75, 4, BYTES, 2),
    "DS-CNN 49x10, 24 channels": (sequential(KEYWORDS), 490, 2, BYTES),
    "MLP 64-32-10": (sequential(MLP), 64, 16, BYTES),
    "10 dense layers of 16": (dense(10), 16, 16, FLOATS),
    "20 dense layers of 16": (dense(20), 16, 16, FLOATS),
    "40 dense layers of 16": (dense(40), 16, 16, FLOATS),
}
BOARD = (
    counting.machines.PIECE
    + """
import array, gc, odt
begin()
end()
"""
    + RESIDUAL
)
COSTS = """
begin()
gc.collect()
end()
made = {model}
gc.collect()
heap = [gc.mem_free(), piece()]
begin()
made.compile(odt.Adam(0.002), batch_size={batch}, seed=7, micro_batch={micro})
end()
heap += [piece(), gc.mem_free()]
{data}
y = bytearray([i % 10 for i in range({batch})])
for _ in range(2):
    begin()
    made.train_step(x, y)
    end()
print("heap", *heap)
"""
LARGEST = """
made = {model}
gc.collect()
free = gc.mem_free()
try:
    made.compile(odt.Adam(0.002), batch_size={batch}, seed=7)
    plan = made.session.plan
    sizes = plan.arena, plan.arena + plan.state + len(plan.code)
    made = plan = None
    print("largest", free, *sizes)
except MemoryError:
    made = None
"""
TAKEN = """
x, y = array.array("b", [i * 7 % 17 for i in range(4 * 1152)]), bytearray(4)
gc.collect()
free = gc.mem_free()
made = {model}
made.compile({optimizer}, batch_size=64, seed=7, micro_batch=1)
for _ in range(2):
    made.train_step(x, y)
gc.collect()
print("bytes", free - gc.mem_free())
"""
LEFT = """
import gc, odt
made = odt.Sequential([odt.Input((16,))] + [odt.Dense(16, "relu") for _ in range({layers} - 1)] + [odt.Dense(10)])
try:
    for _ in range({times}):
        made.compile({optimizer}, batch_size=16, seed=7)
    gc.collect()
    print("bytes", gc.mem_free())
except MemoryError:
    print("bytes 0")
"""
OPENED = """
import gc, odt
model = odt.load_model("model.odt")
def step():
    model.train_step(bytes([i % 17 for i in range(1024)]), bytes(16))
step()  # its frame holds the samples no longer
gc.collect()
print("bytes", gc.mem_free())
"""
# Of the heap: a machine, what prints the bytes, the sign of the bound (at most, or at least), and the bound.
MOMENTUM, ADAM, SGD = "odt.SGD(0.01, momentum=0.9)", "odt.Adam(0.002)", "odt.SGD(0.01)"
HEAP = {
    "taken by HAR, 64 one at a time, momentum": (
        "rp2040", BOARD + TAKEN.format(model=sequential(ACTIVITY), optimizer=MOMENTUM), "<", 120000),
    "taken by HAR, 64 one at a time, Adam": (
        "rp2040", BOARD + TAKEN.format(model=sequential(ACTIVITY), optimizer=ADAM), "<", 140000),
    "left by 60 dense layers of 16, SGD": (
        "rp2040", LEFT.format(layers=60, optimizer=SGD, times=1), ">", 0),
    "left by 40 dense layers of 16, Adam, twice": (
        "rp2040", LEFT.format(layers=40, optimizer=ADAM, times=2), ">", 0),
    "left by the digits CNN, a file, stock firmware": ("stock_rp2040", OPENED, ">", 138000),
}  # fmt: skip


def largest(machine, model, batch):
    """The largest batch, or the most frames, that compiles; the heap that was free, the arena, and arena, state and
    program.

    Each try is a board's first.
    """
    good, bad, found, frames = 0, 0, (), 49 if "(49," in model else 0
    tried = frames or batch
    while not bad or bad - good > 1:
        network = model.replace("(49,", "(%d," % tried) if frames else model
        machine.run((BOARD + LARGEST).format(model=network, batch=1 if frames else tried))
        if "largest" in machine.said:
            good, found = tried, [int(word) for word in machine.said.rpartition("largest ")[2].split()]
        else:
            bad = tried
        tried = (good + bad) // 2 if bad else 2 * good
    return good, *found


def measured(machine, name):
    """A line of the table."""
    model, numbers, batch, data, *micro = NETWORKS[name]
    data = data.format(size=numbers * batch)
    common = {"model": model, "batch": batch, "data": data, "micro": micro[0] if micro else None}
    collect, planned, first, second = machine.run((BOARD + COSTS).format(**common))
    heap = [int(word) for word in machine.said.rpartition("heap ")[2].split()]
    most, free, arena, total = largest(machine, model, batch)
    return collect, "%-30s %11d %6.2f  %10d %10d %5.2f  %7d %7d  %7d %7d  %5d %7d %5.1f" % (
        name, planned, planned / 125e6, first, second, first / second, heap[0], heap[1], heap[3], heap[2], most, arena,
        100 * total / free,
    )  # fmt: skip


def of_heap(name):
    """A line about bytes of the heap."""
    board, script, sign, bound = HEAP[name]
    machine = counting.open(board)
    try:
        if script == OPENED:
            layers = eval(sequential(DIGITS), {"odt": odt})
            layers.compile(odt.Adam(0.01), batch_size=16)
            layers.export(machine.files / "model.odt", labels=[str(number) for number in range(10)])
        machine.run(script)
    finally:
        machine.close()
    found = int(machine.said.rpartition("bytes ")[2].split()[0])
    is_met = found < bound if sign == "<" else found > bound
    return "%-46s %8d  %s %d: %s" % (name, found, sign, bound, "met" if is_met else "MISSED")


def main():
    words = sys.argv[1:]
    names, others = ([name for name in each if not words or any(w in name for w in words)] for each in (NETWORKS, HEAP))
    machine = counting.open("rp2040")
    try:
        found = [measured(machine, name) for name in names]
    finally:
        machine.close()
    print(counting.heading("rp2040"))
    if found:
        print("gc.collect() after import odt: %d cycles" % found[0][0])
        print()
        heads()
    for _, line in found:
        print(line)
    print()
    print("bytes of the heap")
    for name in others:
        print(of_heap(name))


def heads():
    print("%30s %11s %6s  %10s %10s %5s  %7s %7s  %7s %7s  %5s %7s %5s" % (
        "", "compile", "s at", "first", "second", "", "before:", "", "after:", "", "large", "", "% of"))  # fmt: skip
    print("%30s %11s %6s  %10s %10s %5s  %7s %7s  %7s %7s  %5s %7s %5s" % (
        "", "cycles", "125MHz", "step", "step", "times", "free", "block", "free", "block", "", "arena",
        "free"))  # fmt: skip


if __name__ == "__main__":
    written.recorded("planning.txt", main)
