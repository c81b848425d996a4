"""What fit offers beside fitting, to one digest on every machine. Runs on a machine, and on CPython."""

import asyncio
import gc

import odt
from odt.callbacks import Callback, EarlyStopping
from odt.rates import ExponentialDecay, WarmUp

x = bytes([(7 * i + i // 5) % 17 for i in range(64 * 40)])
y = bytes([i % 10 for i in range(40)])
held = x[: 64 * 12], y[:12]


def network(dtype="int8", optimizer=None):
    model = odt.Sequential([
        odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
        odt.Conv2D(4, 3, padding="same", activation="relu"), odt.MaxPool2D(), odt.Flatten(), odt.Dense(10),
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


for dtype in ("int8", "float32"):
    plain = network(dtype)
    plain.fit(x, y, epochs=2, shuffle=False, verbose=0)
    watched = network(dtype)
    watched.fit(
        x, y, epochs=5, shuffle=False, validation_data=held, verbose=0,
        callbacks=[Curious(), Script(), EarlyStopping(patience=2, restore_best_weights=True)],
    )  # fmt: skip
    assert watched.digest() == plain.digest() and watched.epoch == 2
    streamed = network(dtype)
    streamed.fit(batches(), epochs=2, steps_per_epoch=5, verbose=0)
    assert streamed.digest() == plain.digest()
    print(dtype, "digest %08x" % plain.digest())

ticks = 0


async def blink():
    global ticks
    while True:
        ticks += 1
        await asyncio.sleep(0)


async def main(model):
    task = asyncio.create_task(blink())
    await model.fit_async(x, y, epochs=2, validation_data=held, verbose=0, slice_ms=1)
    task.cancel()


plain, sliced = network(), network()
plain.fit(x, y, epochs=2, validation_data=held, verbose=0)
asyncio.run(main(sliced))
assert sliced.digest() == plain.digest()
print("async digest %08x" % sliced.digest(), "while others ran" if ticks else "alone")

if hasattr(gc, "mem_alloc"):
    model = network("float32")
    model._bind(x, y)
    model._batch(0, 40)
    model._train()
    gc.collect()
    gc.disable()
    before = gc.mem_alloc()
    for _ in range(5):
        model._train()
    print("steps took", gc.mem_alloc() - before, "bytes of heap")
    gc.enable()
