"""Classes learned one after another with replay, of samples, with their logits and of latents, and the digests of it.

Runs on a machine.

``ODT_ARGS``: "executor".
"""

import gc
from array import array

import odt
from odt import executor
from odt.continual import DarkExperience, Latents, Replay
from odt.slots import Bytes

args = globals().get("ODT_ARGS", {})
if "executor" in args:
    executor.use(args["executor"])
state = 1


def many(count, first, code):
    """Samples of two classes, of 6 numbers of 1/64: the same in floats of any width."""
    global state
    x, y = array(code), bytearray(count)
    for i in range(count):
        y[i] = first + i % 2
        for k in range(6):
            state = (state * 1103515245 + 12345) & 0x7FFFFFFF
            value = (state >> 24) - 64 + 128 * (k == y[i])
            x.append(value / 64 if code == "f" else max(-128, min(127, value)))
    return x, y


def heap(data):
    """Bytes that a batch leaves to the garbage collector."""
    data.order = 12345
    batches = iter(data)
    next(batches)
    gc.collect()
    before = gc.mem_alloc()
    for _ in range(4):
        next(batches)
    return (gc.mem_alloc() - before) // 4


def learn(name, model, replay, code, seen=lambda x: x):
    for first in (0, 2, 4):
        x, y = many(24, first, code)
        x = seen(x)
        model.fit(replay.mixed(x, y), epochs=3, verbose=0)
        replay.add(x, y)
    print("%s: digest %08x of the model, %08x of what is kept, each" % (name, model.digest(), replay.digest()),
        *[replay.count(label) for label in range(6)])  # fmt: skip
    if hasattr(gc, "mem_alloc"):
        print("heap by batch: %d bytes" % heap(replay.mixed(x, y)))
    return x, y


for dtype in ("int8", "float32"):
    for code, format in (("f", "float32"), ("b", "int8"), ("h", "int16")):
        layer = odt.Input((6,)) if code == "f" else odt.Input((6,), dtype=format, scale=1 / 64)
        model = odt.Sequential([layer, odt.Dense(8, "relu"), odt.Dense(6)])
        model.compile(odt.Adam(0.02), dtype=dtype, batch_size=8, seed=1)
        replay = Replay(model, budget=250, seed=2)
        learn(dtype + " of " + format, model, replay, code)
    model = odt.Sequential([odt.Input((6,)), odt.Dense(8, "relu"), odt.Dense(6)])
    model.compile(odt.Adam(0.02), DarkExperience(0.3), dtype=dtype, batch_size=8, seed=1)
    learn(dtype + " of logits", model, Replay(model, budget=400, seed=2), "f")
    front = odt.Sequential([odt.Input((6,)), odt.Dense(8, "relu" if dtype == "int8" else None)])
    front.compile(None, "mse", dtype=dtype, batch_size=1, seed=1)
    x, y = many(16, 0, "f")
    front.calibrate(x)
    latents = Latents(front, x)
    head = odt.Sequential([latents.input(), odt.Dense(6)])
    head.compile(odt.Adam(0.02), dtype=dtype, batch_size=8, seed=1)
    replay = Replay(head, budget=250, front=latents, seed=2)
    print("%s: scale %d millionths, zero_point %d" % (dtype, 1000000 * latents.scale + 0.5, latents.zero_point))
    learn(dtype + " of latents", head, replay, "f", latents)
    place = Bytes(bytearray(2048))
    replay.save(place)
    again = Replay(head, budget=250, front=latents, seed=2)
    again.load(place)
    x, y = many(8, 0, "f")
    again.add(latents(x), y)
    print("%s: loaded, digest %08x of what is kept" % (dtype, again.digest()))
    weights = front.get_weights()
    weights[0][0] = 5.0
    front.set_weights(weights)
    try:
        again.add(latents(x), y)
    except ValueError as error:
        print("%s: refused, %s" % (dtype, error))
