"""What the PC that trains and the board that is taught share: recordings, windows of them, and what the events of a
stream are worth.
"""

from odt.sensors import Stream, Window

RATE, LENGTH, HOP = 100, 256, 64  # a window of 2.56 s, each 0.64 s
NAMES = "other", "jumpingjack", "lunge", "squat"
RECORDING = 6 * 10 * RATE  # bytes: 10 s of x, y and z, int16, 16384 to 1 g


def recordings(path, most=None):
    """(label, samples) of each recording in a file: a byte, the label's number, then its samples."""
    with open(path, "rb") as file:
        while most is None or most > 0:
            label = file.read(1)
            if not label:
                return
            yield NAMES[label[0]], file.read(RECORDING)
            most = most and most - 1


def pieces(samples):
    """As a sensor's FIFO gives them: a hop at a time."""
    samples = memoryview(samples)
    for at in range(0, len(samples), 6 * HOP):
        yield samples[at : at + 6 * HOP]


def windows(samples):
    """Each window of a recording, in an array that the next one overwrites."""
    window = Window(LENGTH, 3, HOP)
    for piece in pieces(samples):
        window.push(piece)
        x = window.next()
        if x is not None:
            yield x


def watch(predict, events, features, recordings):
    """(hits, misses, false alarms, seconds) of a stream of recordings, one after the other.

    A recording of an exercise in which its event comes is a hit. An event of another label is a false alarm, but of the
    recording before, as long as the windows that are averaged reach into it.
    """
    stream = Stream(Window(LENGTH, 3, HOP), predict, events, features)
    hits = misses = false = seconds = 0
    before = None
    for label, samples in recordings:
        found, end = False, stream.window.position + LENGTH + (events.mean - 1) * HOP
        for piece in pieces(samples):
            for event, _ in stream.feed(piece):
                if event == label:
                    found = True
                elif event != before or stream.window.position > end:
                    false += 1
        if label != "other":
            hits += found
            misses += not found
        seconds += len(samples) // 6 / RATE
        before = label
    return hits, misses, false, seconds
