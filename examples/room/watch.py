"""The office of learn.py, to be looked at: how often the board is right, hour by hour, and when it asks.

    python -m odt monitor watch.py                on a board
    python -m odt monitor watch.py --on host      on a PC

Every one of them ends with the same digest.
"""

from office import MINUTES, Office, minutes

from odt import executor
from odt.online import OSELM
from odt.sensors import log

# A test may ask for less by putting ODT_ARGS before this script.
count = globals().get("ODT_ARGS", {}).get("minutes", MINUTES)[0]

office = Office(*[OSELM(4, classes=2, hidden=None) for _ in range(3)])
right, questions = office.live(minutes(0, count), log)
print("right in %.1f %% of %d minutes, by %d answers" % (100 * right[2] / count, count, questions))
print("executor:", executor.backend)
print("digest %08x" % office.asks.digest())
