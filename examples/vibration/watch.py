"""Learn how a healthy machine sounds, alarm where that changes, and learn on where a person says that it is healthy
still.

    python watch.py                                                      on a PC
    micropython watch.py                                                 on MicroPython's unix port
    mpremote mount examples/vibration run examples/vibration/watch.py    on a board
    python -m odt monitor examples/vibration/watch.py                    on a board, drawn

Every one of them ends with the same digest. Data: bearing.bin and change.bin, windows of 256 samples; see README.md.
"""

import gc
from array import array

from watching import WINDOW, Bands, Watch

from odt import executor
from odt.sensors import Above, Rules, log

# A test may ask for something else by putting ODT_ARGS before this script.
args = globals().get("ODT_ARGS", {})
PARTS = args.get("parts", (320, 64, 128))  # healthy windows: to learn from, for the threshold, to watch
CHANGED = args.get("changed", (144, 192))  # louder noise: healthy windows, then those in which a fault grows


def windows(name, first, count):
    """Of a file; on a board: as the accelerometer says them."""
    with open(name, "rb") as file:
        file.seek(WINDOW * first)
        for _ in range(count):
            yield array("h", array("b", file.read(WINDOW)))


watch = Watch(Bands())
watch.model.center(windows("bearing.bin", 0, 64))
watch.healthy(*PARTS[:2])
rules = Rules()
rules.add("odd", Above("score", 1, hold=80), log)  # three windows in a row above the limit
louder = sum(PARTS[:3])
onset = louder + CHANGED[0]  # the fault grows from there on
seen = 0


def live(window):
    """Whether the machine may run on."""
    score, alarm = watch.see(window)
    if score is None:
        return True
    if watch.measuring:
        log("score", score)
        return True
    log("score", score, watch.limit)
    rules.value("score", score / watch.limit, 40 * seen)  # ms
    if not alarm:
        return True
    log("alarm")
    if seen > onset:
        print("after %d windows: an alarm, %d after the fault's first" % (seen, seen - onset))
        return False
    # A person has listened, and pressed the button that means "healthy": what comes now is learned, too.
    print("after %d windows: an alarm, %d after the noise is louder" % (seen, seen - louder))
    log("healthy")
    watch.healthy()
    return True


for name, count in (("bearing.bin", louder), ("change.bin", sum(CHANGED))):
    for window in windows(name, 0, count):
        seen += 1
        if not live(window):
            break
print(watch.model.model)
print("executor:", executor.backend)
print("digest %08x" % watch.model.model.digest())

gc.collect()
if hasattr(gc, "mem_alloc"):
    print("heap in use: %d bytes, %d free" % (gc.mem_alloc(), gc.mem_free()))
