"""1000 samples of a stream learned one by one, and the digests of what was learned. Runs on a machine.

``ODT_ARGS``: "steps", and "executor".
"""

import gc
from array import array

from odt import executor
from odt.online import (
    ADWIN,
    DDM,
    KNN,
    KSWIN,
    NCM,
    OSELM,
    RCE,
    Autoencoder,
    CentroidDrift,
    EchoState,
    KMeans,
    PageHinkley,
)
from odt.slots import Bytes

args = globals().get("ODT_ARGS", {})
if "executor" in args:
    executor.use(args["executor"])
state = 1


def numbers(x):
    """Into x: integers below 2^23 over 2^20, the same in floats of any width."""
    global state
    for i in range(len(x)):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        x[i] = ((state >> 20) - 1024) / 512


x, y = array("f", [0.0] * 6), array("f", [0.0] * 2)
models = (
    ("regressor", OSELM(6, 2, 12, forgetting=0.99, seed=3)),
    ("classifier", OSELM(6, classes=3, hidden=8, activation="sigmoid", seed=4)),
    ("linear", OSELM(6, 2, hidden=None, forgetting=0.98)),
    ("autoencoder", Autoencoder(6, hidden=3, activation="relu", seed=5)),
    ("echo", EchoState(2, units=4, leak=0.3, connections=2, forgetting=0.99, seed=6)),
)


def learn(steps):
    for i in range(steps):
        numbers(x)
        numbers(y)
        models[0][1].learn_one(x, y)
        models[1][1].learn_one(x, i % 3)
        models[2][1].learn_one(x, y)
        models[3][1].learn_one(x)
        models[4][1].learn_one(y, x[0])


learn(args.get("steps", 1000))
for name, model in models:
    print("%s: %d learned, digest %08x" % (name, model.seen, model.digest()))
detectors = (
    ("pagehinkley", PageHinkley(threshold=5, alpha=0.99)),
    ("ddm", DDM(warm_start=10)),
    ("adwin", ADWIN(clock=8, delta=0.05)),
    ("kswin", KSWIN(window_size=60, stat_size=20)),
)
for name, detector in detectors:
    alarms = []
    for i in range(400):
        numbers(y)
        value = y[0] / 2 + (i > 200) * 1.5
        detector.update(int(value > 0.5) if name == "ddm" else value)
        if detector.drift_detected:
            alarms.append(i)
    digest, place = detector.digest(), Bytes(bytearray(8192))
    detector.save(place)
    detector.update(0)
    detector.load(place)
    print("%s: %d learned, digest %08x" % (name, detector.n, detector.digest()), *alarms)
    assert detector.digest() == digest
kept = (
    ("ncm", NCM(6, 3)),
    ("kmeans", KMeans(6, 4)),
    ("knn", KNN(6, 20, k=3)),
    ("condensed", KNN(6, 20, condense=True, metric="l1")),
    ("rce", RCE(6, 40, reach=3)),
)
for name, model in kept:
    decisions = []
    for i in range(60):
        numbers(x)
        label = (x[0] > 0) + (x[1] > 0)
        if name == "kmeans":
            decisions.append(model.learn_one(x))
        else:
            decisions.append(model.predict_one(x))
            model.learn_one(x, label)
    print("%s: %d learned, digest %08x" % (name, len(model), model.digest()))
    print("labels of", name, *decisions)
centroids, alarms = CentroidDrift(6, 2, window=20, threshold=5), []
for i in range(300):
    numbers(x)
    if i < 100:
        centroids.learn_one(x, i % 2)
    else:
        x[0] += 4 * (i > 200)
        centroids.update(x, i % 2 if i % 3 else None, x[1] > 0)
        if centroids.drift_detected:
            alarms.append(i)
print("centroids: %d learned, digest %08x" % (len(alarms), centroids.digest()), *alarms)
print("labels", *[models[1][1].predict_one([i / 4, 1, -1, i / 8, 0, 2]) for i in range(10)])


def heap(learn_one):
    gc.collect()
    before = gc.mem_alloc()
    for _ in range(20):
        learn_one(x, y)
    return gc.mem_alloc() - before


if hasattr(gc, "mem_alloc"):
    print("20 samples took %d bytes of heap" % heap(models[0][1].learn_one))
