"""What is seen within a step, to one digest on every machine. Runs on a machine, and on CPython."""

import gc

import odt
from odt.inspect import Ranges, Trace, names, profile

x = bytes([(7 * i + i // 5) % 17 for i in range(64 * 40)])
y = bytes([i % 10 for i in range(40)])


def network(dtype):
    model = odt.Sequential([
        odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
        odt.Conv2D(3, 3, padding="same", activation="relu"), odt.MaxPool2D(), odt.Flatten(), odt.Dense(10),
    ])  # fmt: skip
    model.compile(odt.Adam(0.01), dtype=dtype, batch_size=8, seed=1)
    return model


crc = odt.executor.engine.crc32
for dtype in ("int8", "float32"):
    model = network(dtype)
    with Trace(model, names(model), raw=True) as trace:
        model.fit(x, y, epochs=1, shuffle=False, verbose=0)
    total = 0
    for name in sorted(trace.values):
        total = crc(trace[name], total)
    print(dtype, "trace digest %08x" % total, "of", len(trace.values))
    if dtype == "int8":
        with Ranges(model) as ranges:
            model.fit(x, y, epochs=1, shuffle=False, verbose=0)
        ranges.report()
    with Trace(model, ["dense gradient"], folder=".") as trace:
        model.train_step(x[:512], y[:8])
    with open("dense_gradient.npy", "rb") as file:
        print(dtype, "file digest %08x" % crc(file.read()))
    rows = profile(model, x[:512], y[:8])
    print(dtype, "MACs", [row[4:7] for row in rows])
    print(dtype, "bytes", [row[7:] for row in rows])
    print(dtype, "took time" if sum([sum(row[1:4]) for row in rows]) > 0 else "took none")
    print(dtype, "model digest %08x" % model.digest())
    model = trace = ranges = None
    gc.collect()
