"""Gamma and beta that learn from a network's own predictions, and the digests of it. Runs on a machine.

``ODT_ARGS``: "executor".
"""

import gc

import odt
from odt import executor
from odt.continual import tent
from odt.continual.tent import Entropy

args = globals().get("ODT_ARGS", {})
if "executor" in args:
    executor.use(args["executor"])
y = bytes([i % 4 for i in range(40)])
x = bytes([(11 * i + i // 7 + i * i // 97) % 13 + (i // 36 % 4 == i % 4) * 9 for i in range(36 * 40)])


def layers():
    return [
        odt.Input((6, 6, 1), dtype="uint8", scale=1 / 16),
        odt.Conv2D(4, 3), odt.BatchNorm(momentum=0.7), odt.ReLU(), odt.Flatten(),
        odt.Dense(8), odt.BatchNorm(), odt.ReLU(), odt.Dense(4),
    ]  # fmt: skip


def network(dtype, batch_size, rate, diversity):
    model = odt.Sequential(layers())
    odt.adapt.update.norm(model)
    model.compile(odt.Adam(rate), Entropy(diversity), dtype=dtype, batch_size=batch_size, seed=1)
    model.load_weights(trained)
    model.predict(x)
    return model


for dtype in ("int8", "float32"):
    trained = odt.Sequential(layers())
    trained.compile(odt.Adam(0.01), dtype=dtype, batch_size=8, seed=1)
    trained.fit(x, y, epochs=3, verbose=0)
    for batch_size, diversity in ((8, 1), (5, 0.3)):
        model = network(dtype, batch_size, 0.02, diversity)
        tent.adapt(model, x, epochs=3, guard=False)
        print("%s: by %d, digest %08x" % (dtype, batch_size, model.digest()))
    model = network(dtype, 8, 5, 0)
    before = model.digest()
    try:
        tent.adapt(model, x, epochs=30)
    except ValueError as error:
        print("%s: refused, %s, %s" % (dtype, error, model.digest() == before))
    network(dtype, 8, 0.02, 1).export("tent.odt")
    model = odt.load_model("tent.odt")
    gc.collect()
    tent.adapt(model, x, epochs=2, guard=False)
    print("%s: of a file, digest %08x" % (dtype, model.digest()))
