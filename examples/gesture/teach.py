"""A network that knows two exercises and what is none, by an accelerometer on the wrist, is shown a third for 20 s, and
recognises it in a stream.

    python teach.py                                                  on a PC
    micropython teach.py                                             on MicroPython's unix port
    mpremote mount examples/gesture run examples/gesture/teach.py    on a board

Every one of them ends with the same digest. bench/examples/stories.py made the files that it reads; see README.md.
"""

import gc

from motions import recordings, watch, windows

import odt
from odt import executor
from odt.continual import teach
from odt.sensors import Events

# A test may ask for less by putting ODT_ARGS before this script.
args = globals().get("ODT_ARGS", {})


def report(when):
    events = Events(teacher.labels, mean=5, threshold=0.9, hold_off=3, unknown="other")
    day = recordings("day.bin", args.get("day"))
    hits, misses, false, seconds = watch(teacher.predict, events, motion, day)
    total = hits + misses
    print("%s %d of %d recordings of exercises found, %d false alarms in %d s" % (when, hits, total, false, seconds))


front = odt.load_model("front.bin")
motion = front.features
teacher = teach.Teacher(front, classes=4, budget=4 * 48 * 32)
teacher.load("known.bin")  # 48 windows of each class that it knows: what the front said of them
report("before:")
for label, samples in recordings("teach.bin", args.get("taught")):
    for x in windows(samples):
        teacher.learn(motion(x), label)
print(teacher, teacher.labels)
report("after: ")
print("executor:", executor.backend)
print("digest %08x" % teacher.digest())
gc.collect()
if hasattr(gc, "mem_alloc"):
    print("heap in use: %d bytes, %d free" % (gc.mem_alloc(), gc.mem_free()))
