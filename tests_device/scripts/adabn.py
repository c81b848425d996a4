"""BatchNorm's statistics moved to other data, and the digests of it. Runs on a machine.

``ODT_ARGS``: "executor".
"""

import gc

import odt
from odt import executor
from odt.continual import adabn

args = globals().get("ODT_ARGS", {})
if "executor" in args:
    executor.use(args["executor"])
y = bytes([i % 4 for i in range(40)])
x = bytes([(11 * i + i // 7 + i * i // 97) % 13 + (i // 36 % 4 == i % 4) * 9 for i in range(36 * 40)])
bright = bytes([value // 3 + 9 for value in x])

for dtype in ("int8", "float32"):
    for micro in (None, 4):
        model = odt.Sequential([
            odt.Input((6, 6, 1), dtype="uint8", scale=1 / 16),
            odt.Conv2D(4, 3), odt.BatchNorm(momentum=0.7), odt.ReLU(), odt.Flatten(),
            odt.Dense(8), odt.BatchNorm(), odt.ReLU(), odt.Dense(4),
        ])  # fmt: skip
        model.compile(odt.Adam(0.01), dtype=dtype, batch_size=8, micro_batch=micro, seed=1)
        model.fit(x, y, epochs=2, verbose=0)
        adabn.update_bn(model, bright[: 36 * 21], epochs=2)
        print("%s: by %s, digest %08x" % (dtype, micro or 8, model.digest()))
    before = model.digest()
    try:
        adabn.update_bn(model, bright[:36] * 5)
    except ValueError as error:
        print("%s: refused, %s, %s" % (dtype, error, model.digest() == before))
    model.export("adabn.odt")
    model = odt.load_model("adabn.odt")
    gc.collect()
    adabn.update_bn(model, x)
    print("%s: of a file, digest %08x" % (dtype, model.digest()))
