"""A training step allocates nothing, and the arena is as large as summary() says. Runs on a machine."""

import gc

import odt

model = odt.Sequential([
    odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
    odt.Conv2D(4, 3, padding="same", activation="relu"),
    odt.MaxPool2D(),
    odt.Flatten(),
    odt.Dense(10),
])  # fmt: skip
model.compile(odt.Adam(odt.CosineDecay(0.004, 100)), batch_size=8, seed=1)
model.summary()
print("allocated: arena", len(model._arena))

x = bytes([(7 * i) % 17 for i in range(64 * 32)])
y = bytes([i % 10 for i in range(32)])
count = model._bind(x, y)
model._prepare(2)  # calibration may allocate: it happens once


def steps(count):
    """Heap bytes that 100 steps take."""
    position = 0
    gc.collect()
    gc.disable()
    before = gc.mem_alloc()
    for _ in range(100):
        model._batch(position, count)
        model._train()
        position = (position + 8) % count
    after = gc.mem_alloc()
    gc.enable()
    return after - before


print("100 steps took", steps(count), "bytes of heap")
print("digest %08x" % model.digest())
