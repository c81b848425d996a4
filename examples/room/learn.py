"""A board in an office learns from its sensors whether somebody is there. It begins with nothing, and asks where it is not sure.

    python learn.py                                                on a PC
    micropython learn.py                                           on MicroPython's unix port
    mpremote mount examples/room run examples/room/learn.py        on a board

Every one of them ends with the same digest. bench/stories.py made the file that it reads; see README.md.
"""

import gc

from odt import executor
from odt.online import OSELM
from office import MINUTES, NAMES, Office, minutes

# A test may ask for less by putting ODT_ARGS before this script.
counts = globals().get("ODT_ARGS", {}).get("minutes", MINUTES)


def model():
    return OSELM(4, classes=2, hidden=None)


frozen = model()
for x, label in minutes(1, counts[1]):  # what a PC would have learned of a week of labels
    frozen.learn_one(x, label)
office = Office(model(), model(), frozen)
found = [office.live(minutes(part, counts[part])) for part in range(3)]
print("right in %                      2-4    4-10   11-18 February")
for k in range(len(NAMES)):
    shares = [100 * right[k] / count for (right, _), count in zip(found, counts)]
    print("%-28s%7.1f%8.1f%8.1f" % (NAMES[k], shares[0], shares[1], shares[2]))
print("questions                   %7d%8d%8d" % (found[0][1], found[1][1], found[2][1]))
print(office.asks)
print("executor:", executor.backend)
print("digest %08x" % office.asks.digest())
gc.collect()
if hasattr(gc, "mem_alloc"):
    print("heap in use: %d bytes, %d free" % (gc.mem_alloc(), gc.mem_free()))
