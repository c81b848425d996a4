# Trains three small networks for ten steps and prints their times: on a board and on the PC that expects the same.
# Sent by report.py; never imported. It has no literal of a float: a port without floats compiles it, too.

import gc

try:
    float  # noqa: B018
except NameError:
    raise RuntimeError("this MicroPython has no floats, without which odt plans no model")

import odt  # noqa: E402

try:
    from time import ticks_diff, ticks_us
except ImportError:  # CPython's
    from time import perf_counter_ns

    def ticks_us():
        return perf_counter_ns() // 1000

    def ticks_diff(end, begin):
        return end - begin


def free():
    gc.collect()
    return gc.mem_free() if hasattr(gc, "mem_free") else 0


x = bytes([(7 * i * i + 3 * i) % 17 for i in range(8 * 64)])
y = bytes([i * 5 % 3 for i in range(8)])
cells = [odt.Flatten(), odt.Dense(16, activation="relu"), odt.Dense(3)]
filters = [odt.Conv2D(4, 3, activation="relu"), odt.MaxPool2D(), odt.Flatten(), odt.Dense(3)]
for name, dtype, layers in (("dense", "int8", cells), ("conv", "int8", filters), ("conv", "float32", filters)):
    if dtype == "float32" and odt.backend == "reference" and hasattr(gc, "mem_free"):
        continue  # on boards in C alone, or by ulab
    before = free()
    model = odt.Sequential([odt.Input((8, 8, 1), dtype="uint8")] + layers)
    model.compile(dtype=dtype, batch_size=4, seed=1)
    model.train_step(x[:256], y[:4])
    times = []
    for step in range(10):
        at = step % 2 * 4
        batch, labels = x[64 * at : 64 * (at + 4)], y[at : at + 4]
        begin = ticks_us()
        model.train_step(batch, labels)
        times.append(ticks_diff(ticks_us(), begin))
    times.sort()
    plan = model.session.plan
    print("odt-steps", name, dtype, odt.backend, "%08x" % model.digest(), times[5], plan.arena, plan.state, before)
    model = None
