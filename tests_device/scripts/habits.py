"""What fit offers beside fitting, to one digest on every machine. Runs on a machine, and on CPython."""

import asyncio
import gc

import odt
from odt import ExponentialDecay, WarmUp
from odt.callbacks import Callback, EarlyStopping
from odt.inspect import Phases
from odt.run import session

x = bytes([(7 * i + i // 5) % 17 for i in range(64 * 40)])
y = bytes([i % 10 for i in range(40)])
held = x[: 64 * 12], y[:12]


def network(dtype="int8", optimizer=None):
    model = odt.Sequential([
        odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
        odt.Conv2D(3, 3, padding="same", activation="relu"), odt.MaxPool2D(), odt.Flatten(), odt.Dense(10),
    ])  # fmt: skip
    model.compile(optimizer or odt.Adam(WarmUp(ExponentialDecay(0.01, 20, 0.8), 4)), dtype=dtype, batch_size=8, seed=1)
    return model


def batches():
    view_x, view_y = memoryview(x), memoryview(y)
    while True:
        for at in range(0, 40, 8):
            yield view_x[64 * at : 64 * (at + 8)], view_y[at : at + 8]


class Curious(Callback):
    def on_batch_end(self, step):
        self.model.predict(x[:64])


class Script(Callback):
    def on_epoch_end(self, epoch, logs):
        logs["val_loss"] = abs(epoch - 1)


def plainly(model):
    model.fit(x, y, epochs=2, shuffle=False, verbose=0)


def watched(model):
    model.fit(
        x, y, epochs=5, shuffle=False, validation_data=held, verbose=0,
        callbacks=[Curious(), Script(), EarlyStopping(patience=2, restore_best_weights=True)],
    )  # fmt: skip
    assert model.epoch == 2


def streamed(model):
    model.fit(batches(), epochs=2, steps_per_epoch=5, verbose=0)


def validated(model):
    model.fit(x, y, epochs=12, validation_data=held, verbose=0)


def weighed(model):
    model.fit(x, y, epochs=2, class_weight={0: 1.0, 1: 5.0}, verbose=0)
    model.predict(x, batch_size=32, verbose=0)


def sliced(model):
    asyncio.run(main(model))


def digest(train, dtype="int8"):
    """One model at a time: a Pico has room for one."""
    model = network(dtype)
    train(model)
    result = model.digest()
    model = None
    gc.collect()
    return result


for dtype in ("int8", "float32"):
    plain = digest(plainly, dtype)
    assert digest(watched, dtype) == plain
    assert digest(streamed, dtype) == plain
    print(dtype, "digest %08x" % plain)

print("weighed digest %08x" % digest(weighed))
ticks = 0


async def blink():
    global ticks
    while True:
        ticks += 1
        await asyncio.sleep(0)


async def main(model):
    task = asyncio.create_task(blink())
    await model.fit_async(x, y, epochs=12, validation_data=held, verbose=0, slice_ms=1)
    task.cancel()


plain = digest(sliced)
assert plain == digest(validated)
print("async digest %08x" % plain, "while others ran" if ticks else "alone")


class Pin:
    """As a pin that a logic analyser watches."""

    level = 0

    def on_update_begin(self):
        self.level = 1

    def on_update_end(self):
        self.level = 0


def heap_of_steps(callbacks):
    """Bytes that 5 float32 steps take. In a function: a new global may take heap of its own."""
    model = network("float32")
    session.bind(model.session, x, y)
    session.batch(model.session, 0, 40)
    Phases(model, callbacks).__enter__()
    session.train(model.session)
    gc.collect()
    gc.disable()
    before = gc.mem_alloc()
    for _ in range(5):
        session.train(model.session)
    after = gc.mem_alloc()
    gc.enable()
    return after - before


if hasattr(gc, "mem_alloc"):
    print("steps took", heap_of_steps([]), "bytes of heap")
    print("watched steps took", heap_of_steps([Pin()]), "bytes of heap")
gc.collect()

# Readers: the same samples from files.
import struct

from odt.continual import Reservoir
from odt.data import Column, CsvReader, NpyReader, RawReader

real = [[(((i * 37 + k * 11) * 2654435761) % 1000 - 500) / 128 for k in range(5)] for i in range(21)]
labels = [i % 3 for i in range(21)]
flat = b"".join([struct.pack("<5f", *row) for row in real])


def npy(path, descr, shape, data):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    header += " " * (117 - len(header)) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


npy("x.npy", "<f4", "(21, 5)", flat)
npy("y.npy", "|u1", "(21,)", bytes(labels))
with open("data.bin", "wb") as file:
    for i in range(21):
        file.write(flat[20 * i : 20 * i + 20] + bytes([labels[i]]))
with open("data.csv", "w") as file:
    file.write("a,b,c,d,e,label\n")
    for row, label in zip(real, labels):
        file.write(",".join(["%d.%07d" % (int(v + 4) - 4 if v < 0 else int(v), 0) for v in row]) + ",%d\n" % label)


def small(data, *more, dtype="int8"):
    model = odt.Sequential([odt.Input((5,)), odt.Dense(6, "relu"), odt.Dense(3)])
    model.compile(odt.Adam(0.01), dtype=dtype, batch_size=4, seed=1)
    model.fit(data, *more, epochs=2, verbose=0)
    return model.digest()


expected = small(real, labels)
assert small(NpyReader("x.npy", "y.npy", 4)) == expected
assert small(RawReader(Column("data.bin", "float32", 5, 0, 21), Column("data.bin", "uint8", 1, 20, 21), 4)) == expected
print("npy digest %08x" % expected)
print("csv digest %08x" % small(CsvReader("data.csv", 4), dtype="float32"))
assert small(RawReader(Column("data.bin", "float32", 5, 0, 21), labels, 4)) == expected
targets = Reservoir(2, 1, targets=2)
targets.add([1], [2, 3])
assert list(targets.y) == [2, 3]
kept = Reservoir(8, 5, seed=3)
for row, label in zip(real, labels):
    kept.add(row, label)
print("reservoir digest %08x" % small(kept.x, kept.y))

# Checkpoints: a run that is stopped within an epoch, and goes on from a file and from blocks.
from odt.callbacks import ModelCheckpoint
from odt.slots import Blocks, Bytes


class Memory:
    def __init__(self):
        self.data = bytearray(40 * 128)

    def ioctl(self, operation, argument):
        return {4: 40, 5: 128}.get(operation)

    def readblocks(self, number, buffer):
        buffer[:] = self.data[128 * number : 128 * (number + 1)]

    def writeblocks(self, number, buffer):
        self.data[128 * number : 128 * (number + 1)] = buffer


class Stop:
    def __init__(self, step):
        self.step = step

    def on_batch_end(self, step):
        if step == self.step:
            raise KeyboardInterrupt


def resumable():
    model = odt.Sequential([odt.Input((5,)), odt.Dense(6, "relu"), odt.Dense(3)])
    model.compile(odt.Adam(odt.CosineDecay(0.01, 30)), batch_size=4, seed=1)
    return model


whole = resumable()
whole.fit(real, labels, epochs=3, verbose=0)
for place in ("model.odt", Blocks(Memory()), Bytes(bytearray(4096))):
    model = resumable()
    try:
        model.fit(real, labels, epochs=3, verbose=0, callbacks=[ModelCheckpoint(place, steps=1), Stop(8)])
    except KeyboardInterrupt:
        pass
    model = resumable()
    model.load(place)
    model.fit(real, labels, epochs=3, initial_epoch=model.epoch, verbose=0)
    assert model.digest() == whole.digest()
print("checkpoint digest %08x" % whole.digest())

# A batch in micro-batches, with the optimizers.
for dtype in ("int8", "float32"):
    for optimizer in (odt.AdamW(0.01), odt.SGD(0.05, 0.9, nesterov=True, weight_decay=0.1)):
        model = odt.Sequential([odt.Input((5,)), odt.Dense(6, "relu"), odt.Dense(3)])
        model.compile(optimizer, dtype=dtype, batch_size=8, seed=1, micro_batch=3)
        model.fit(real, labels, epochs=3, verbose=0)
        print("micro digest %08x" % model.digest())
