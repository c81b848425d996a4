# Trains two tiny networks and prints their digests: on a board and on the PC that expects the same.
# Sent by install.py, after ``dtypes = [...]``; never imported.

import gc

gc.collect()
import odt  # noqa: E402

gc.collect()
free = gc.mem_free() if hasattr(gc, "mem_free") else 0
x = bytes([(7 * i * i + 3 * i) % 17 for i in range(8 * 36)])
y = bytes([i * 5 % 3 for i in range(8)])
for dtype in globals().get("dtypes", ("int8", "float32")):
    model = odt.Sequential([
        odt.Input((6, 6, 1), dtype="uint8", scale=1 / 16),
        odt.Conv2D(2, 3, activation="relu"),
        odt.MaxPool2D(),
        odt.Flatten(),
        odt.Dense(3),
    ])  # fmt: skip
    model.compile(odt.Adam(0.01), dtype=dtype, batch_size=4, seed=1)
    for at in (0, 4, 0):
        loss = model.train_step(x[36 * at : 36 * (at + 4)], y[at : at + 4])
    print("odt-test", odt.executor.backend, dtype, "%08x" % model.digest(), free)
    model = None
    gc.collect()
