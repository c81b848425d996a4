"""Prototypes of a front in int8 and in float32, by both metrics, and the digests of them. Runs on a machine.

``ODT_ARGS``: "executor".
"""

from array import array

import odt
from odt import executor
from odt.continual import Latents, Prototypes
from odt.slots import Bytes

args = globals().get("ODT_ARGS", {})
if "executor" in args:
    executor.use(args["executor"])
state = 1


def sample(label):
    """6 numbers of 1/64, the same in floats of any width; each label has its place."""
    global state
    x = array("f", [0.0] * 6)
    for i in range(6):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        x[i] = ((state >> 24) - 64) / 64 + 2 * (i == label)
    return x


for dtype in ("int8", "float32"):
    front = odt.Sequential([odt.Input((6,)), odt.Dense(12, "relu"), odt.Dense(8, "relu" if dtype == "int8" else None)])
    front.compile(None, "mse", dtype=dtype, batch_size=1, seed=1)
    x = array("f")
    for i in range(16):
        x.extend(sample(i % 6))
    front.calibrate(x)
    latents = Latents(front, x)
    for metric in ("euclidean", "cosine"):
        prototypes = Prototypes(latents, 6, metric)
        for i in range(15):
            prototypes.learn_one(sample(i % 5), i % 5)
        prototypes.partial_fit(x, [i % 6 for i in range(16)])
        found = []
        for reject in (None, 0.03125, 0.25, 1):
            prototypes.reject = reject
            found += [prototypes.predict_one(sample(i % 6)) for i in range(12)]
        shown = ["-" if label is None else str(label) for label in found]
        print("%s %s: digest %08x, finds %s" % (dtype, metric, prototypes.digest(), "".join(shown)))
        place = Bytes(bytearray(4096))
        prototypes.save(place)
        prototypes.forget(2)
        print("%s %s: without 2 %08x, knows %s" % (dtype, metric, prototypes.digest(), prototypes.labels))
        prototypes.load(place)
        print("%s %s: again %08x" % (dtype, metric, prototypes.digest()))
