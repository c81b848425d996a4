"""What a window takes, by the clock: see Stream.cost()."""

import time


def cost(stream, clock=None):
    since = _difference
    if clock is None:
        clock = getattr(time, "ticks_us", None)
        if clock:
            since = time.ticks_diff
        else:
            clock = _microseconds
    x = stream.window.data
    begun = clock()
    if stream.features:
        x = stream.features(x)
    between = clock()
    stream.posteriors(stream.frames.data if stream.frames else x)
    return since(between, begun), since(clock(), between)


def _difference(later, earlier):
    return later - earlier


def _microseconds():
    return time.perf_counter_ns() // 1000
