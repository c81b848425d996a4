"""Classes taught, forgotten and kept, over a front in int8 and in float32, and the digests of it. Runs on a machine.

``ODT_ARGS``: "executor", and "front", a model file of one.
"""

import gc
from array import array

import odt
from odt import executor
from odt.continual import teach
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


def many(count, classes):
    x, y = array("f"), bytearray(count)
    for i in range(count):
        x.extend(sample(i % classes))
        y[i] = i % classes
    return x, y


def heap(call, x):
    gc.collect()
    before = gc.mem_alloc()
    for _ in range(20):
        call(x)
    return gc.mem_alloc() - before


def tell(name, teacher):
    shown = [teacher.predict(sample(i % 5)) for i in range(10)]
    shown = ["%s/%d" % (label, 1024 * share) for label, share in shown]
    print(
        "%s: %d learned, digest %08x" % (name, sum([teacher.count(each) for each in teacher.labels]), teacher.digest()),
        *shown,
    )


for dtype in ("int8", "float32"):
    model = odt.Sequential(
        [odt.Input((6,)), odt.Dense(12, "relu"), odt.Dense(8, "relu" if dtype == "int8" else None), odt.Dense(3)]
    )
    model.compile(odt.Adam(0.02), dtype=dtype, batch_size=8, seed=1)
    x, y = many(48, 3)
    model.fit(x, y, epochs=4, verbose=0)
    front = teach.front(model)
    del model, x, y
    gc.collect()
    place = Bytes(bytearray(2048))
    teacher = teach.Teacher(front, classes=5, budget=5 * 8 * 6, place=place, steps=40)
    for i in range(20):
        teacher.learn(sample(i % 3), ("low", "mid", "high")[i % 3])
    tell(dtype + " known", teacher)
    for i in range(4):
        teacher.learn(sample(4), 4)
    tell(dtype + " taught", teacher)
    print("labels of", dtype, *["%d" % (1024 * teacher.similarity(sample(i % 5))) for i in range(10)])
    one = sample(1)
    teacher.predict(one)
    if hasattr(gc, "mem_alloc"):
        print("%s: 20 predictions took %d bytes of heap, of the front %d" % (
            dtype, heap(teacher.predict, one), heap(front.predict, one)))  # fmt: skip
    teacher.forget("mid")
    tell(dtype + " forgot", teacher)
    again = teach.Teacher(front, classes=5, budget=5 * 8 * 6, steps=40, reject=0.9)
    again.load(place)
    tell(dtype + " loaded", again)
    if hasattr(gc, "mem_alloc"):
        print("RAM of the teacher %d bytes" % len(teacher.state))
    del front, teacher, again
    gc.collect()
