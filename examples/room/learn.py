"""A board in an office learns from its sensors whether somebody is there.

It begins with nothing, and asks where it is not sure.

    python learn.py                                                on a PC
    micropython learn.py                                           on MicroPython's unix port
    mpremote mount examples/room run examples/room/learn.py        on a board

Every one of them ends with the same digest. bench/examples/stories.py made the file that it reads; see README.md.
"""

import gc

from office import MINUTES, Office, minutes

from odt import executor
from odt.online import OSELM

# A test may ask for less by putting ODT_ARGS before this script.
counts = globals().get("ODT_ARGS", {}).get("minutes", MINUTES)


def model():
    return OSELM(4, classes=2, hidden=None)


frozen = model()
for x, label in minutes(1, counts[1]):  # what a PC would have learned of a week of labels
    frozen.learn_one(x, label)
print("before: %d minutes learned, which only the frozen one knows" % counts[1])
office = Office(model(), model(), frozen)
print("right in %     every minute  last label  answers  one each 200  frozen  questions")
for part, days in enumerate(("2-4 February", "4-10", "11-18")):
    right, questions = office.live(minutes(part, counts[part]))
    shares = [100 * value / counts[part] for value in right]
    print("%-14s%13.1f%12.1f%9.1f%14.1f%8.1f%11d" % tuple([days] + shares + [questions]))
print(office.asks)
print("executor:", executor.backend)
print("digest %08x" % office.asks.digest())
gc.collect()
if hasattr(gc, "mem_alloc"):
    print("heap in use: %d bytes, %d free" % (gc.mem_alloc(), gc.mem_free()))
