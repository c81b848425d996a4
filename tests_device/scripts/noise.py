"""odt.noise in int8 and in float32: digests after training under noise, and what evaluate finds. Runs on a machine.

``ODT_ARGS``: "executor", "steps".
"""

import gc

import odt
from odt.noise import Noisy, evaluate

args = globals().get("ODT_ARGS", {})
if "executor" in args:
    odt.executor.use(args["executor"])
steps = args.get("steps", 8)
state = 1


def batch():
    """12 samples of 36 bytes, each label brighter in its row."""
    global state
    x, y = bytearray(12 * 36), bytearray(12)
    for i in range(12):
        y[i] = i % 4
        for k in range(36):
            state = (state * 1103515245 + 12345) & 0x7FFFFFFF
            x[36 * i + k] = (state >> 26) + (8 if k // 9 == y[i] else 0)
    return x, y


def layers(kind):
    if kind == "dense":
        return [odt.Input((36,), dtype="uint8", scale=1 / 16), odt.Dense(16, "relu"), odt.Dense(4)]
    return [
        odt.Input((6, 6, 1), dtype="uint8", scale=1 / 16),
        odt.Conv2D(4, 3, activation="relu"),
        odt.DepthwiseConv2D(3, padding="same"),
        odt.LayerNorm(),
        odt.ReLU(),
        odt.MaxPool2D(),
        odt.Dropout(0.1),
        odt.Flatten(),
        odt.Dense(4),
    ]


def taken(model):
    if not hasattr(gc, "mem_alloc"):
        return 0
    model.train_step(*batches[0])
    gc.collect()
    before = gc.mem_alloc()
    model.train_step(*batches[1])
    return gc.mem_alloc() - before


batches = [batch() for _ in range(3)]
for dtype in ("int8", "float32"):
    for kind, noise, more in (
        ("dense", (0.1,), {}),
        ("dense", (0.1, 0.2), {"micro_batch": 5}),
        ("image", (0.1, 0.1), {}),
    ):
        gc.collect()
        model = odt.Sequential(layers(kind))
        model.compile(Noisy(odt.Adam(0.01), *noise), dtype=dtype, batch_size=12, seed=5, **more)
        for step in range(steps):
            model.train_step(*batches[step % 3])
        digest = model.digest()
        mean, worst, each = evaluate(model, batches[0][0], batches[0][1], 0.3, 0.2, draws=3)
        assert model.digest() == digest and worst == min(each)
        name = " ".join([dtype, kind] + sorted(more))
        hits = " ".join(["%d" % (12 * accuracy + 0.5) for accuracy in each])
        print("%s: %d steps, digest %08x, hits %s, arena %d" % (name, steps, digest, hits, model.session.plan.arena))
        plain = odt.Sequential(layers(kind))
        plain.compile(odt.Adam(0.01), dtype=dtype, batch_size=12, seed=5, **more)
        print("a step took %d bytes of heap, of Adam %d" % (taken(model), taken(plain)))
