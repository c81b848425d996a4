"""A training step allocates nothing, and the arena is as large as summary() says. Runs on a machine."""

import gc

import odt
from odt.run import session

model = odt.Sequential([
    odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
    odt.Conv2D(4, 3, padding="same", activation="relu"),
    odt.MaxPool2D(),
    odt.Flatten(),
    odt.Dense(10),
])  # fmt: skip
model.compile(odt.Adam(odt.CosineDecay(0.004, 100)), batch_size=8, seed=1)
model.summary()
print("allocated: arena", len(model.session.arena))

x = bytes([(7 * i) % 17 for i in range(64 * 32)])
y = bytes([i % 10 for i in range(32)])
count = session.bind(model.session, x, y)
model.session.prepare(2)  # calibration may allocate: it happens once


def steps(count):
    """Heap bytes that 100 steps take."""
    position = 0
    gc.collect()
    gc.disable()
    before = gc.mem_alloc()
    for _ in range(100):
        session.batch(model.session, position, count)
        session.train(model.session)
        position = (position + 8) % count
    after = gc.mem_alloc()
    gc.enable()
    return after - before


print("100 steps took", steps(count), "bytes of heap")
print("digest %08x" % model.digest())


# The same through the public API: what a call of train_step takes beside the float that it returns.
from array import array

targets = array("f", [i % 7 / 7 for i in range(8 * 10)])
model = None


def bytes_of(call):
    """Heap bytes of each of 50 calls, where all take the same."""
    gc.collect()
    gc.disable()
    least, most = 1 << 20, 0
    for _ in range(50):
        before = gc.mem_alloc()
        call()
        taken = gc.mem_alloc() - before
        least, most = min(least, taken), max(most, taken)
    gc.enable()
    return str(most) if least == most else "%d..%d" % (least, most)


pi = 3.14159
print("a float takes", bytes_of(lambda: pi * 2), "bytes")
for dtype in ("int8", "float32"):
    for loss, micro in (
        ("sparse_categorical_crossentropy", None),
        ("binary_crossentropy", 3),
        ("mae", None),
        ("mse", None),
    ):
        model = None
        gc.collect()
        model = odt.Sequential([odt.Input((8,), dtype="uint8", scale=1 / 16), odt.Dense(4, "relu"), odt.Dense(10)])
        model.compile(odt.Adam(odt.StepDecay(1e-4, 1, 0.99)), loss, dtype, batch_size=8, seed=1, micro_batch=micro)
        batch, answers = x[:64], y[:8] if loss[0] == "s" else targets
        for _ in range(30):  # ranges settle
            model.train_step(batch, answers)
        taken = bytes_of(lambda: model.train_step(batch, answers))
        print("train_step of %s, %s takes %s bytes" % (dtype, loss, taken))


def fitted(epochs, batches):
    gc.collect()
    gc.disable()
    before = gc.mem_alloc()
    model.fit(x[: 512 * batches], answers[: 8 * batches], epochs=epochs, verbose=0)  # views: no copy
    taken = gc.mem_alloc() - before
    gc.enable()
    return taken


model = None
gc.collect()
model = odt.Sequential([odt.Input((64,), dtype="uint8", scale=1 / 16), odt.Dense(3)])
model.compile(odt.Adam(1e-4), batch_size=8, seed=1)
x, answers = memoryview(bytes(512 * 101)), memoryview(bytes([i % 3 for i in range(8 * 101)]))
model.fit(x[:2048], answers[:32], epochs=3, verbose=0)
few, many = [fitted(4, batches) - fitted(2, batches) for batches in (1, 101)]
print("of fit, 100 batches more in each of two epochs take", many - few, "bytes")
