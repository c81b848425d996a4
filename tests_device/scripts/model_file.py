"""Opens a model file and trains on. Runs on a machine, and on CPython. ODT_ARGS: steps, file, largest."""

import gc
import sys

if hasattr(gc, "mem_free"):
    gc.collect()
    before = gc.mem_free()

import odt

arguments = globals().get("ODT_ARGS", {})
model = odt.load_model(arguments.get("file", "model.odt"))
if hasattr(gc, "mem_free"):
    gc.collect()
    print("heap of %d: %d" % (before, gc.mem_free()), end="")
    if arguments.get("largest"):
        low, high = 0, gc.mem_free()
        while high - low > 256:
            middle, block = (low + high) // 2, None
            gc.collect()
            try:
                block = bytearray(middle)
                low = middle
            except MemoryError:
                high = middle
        block = None
        print(", in one piece", low, end="")
    print()
x = bytes([(7 * i + i // 5) % 17 for i in range(64 * 40)])
y = bytes([i % 10 for i in range(40)])
print(odt.backend, "executor, labels", model.labels[0], model.labels[-1])
print("opened digest %08x" % model.digest())
for step in range(arguments.get("steps", 20)):
    at = 8 * (step % 5)
    model.train_step(x[64 * at : 64 * (at + 8)], y[at : at + 8])
if hasattr(gc, "mem_free"):
    gc.collect()
    print("after steps %d" % gc.mem_free())
print("trained digest %08x" % model.digest())
model.fit(x, y, verbose=0)
print("fitted digest %08x" % model.digest())
print("predicted digest %08x" % model.session.engine.crc32(bytes(model.predict(x[:64]))))
print("modules", sorted([name for name in sys.modules if name.startswith("odt.")]))
