"""What a word is to the network: 32 rows of 20 log-mel channels.

The PC that trains and the board that hears run this code.
"""

from array import array

from odt.sensors import LogMel

RATE, WINDOW, HOP = 8000, 240, 160  # frames of 30 ms, one each 20 ms
ROWS, CHANNELS = 32, 20
LENGTH = HOP * (ROWS - 1) + WINDOW  # samples of a word: 0.65 s
mel = LogMel(rate=RATE, window=WINDOW, fft=256, channels=CHANNELS, low=100, high=3900)


BEFORE, LOUD = 5, 1500  # rows of a word before the first loud one, which is 18 dB above the noise


def pixels(rows, first=0, noise=-1):
    """Of ROWS rows, the oldest from ``first`` on: uint8, 255 at the loudest, 0 at 48 dB below it and where it is not
    above the noise.

    So how loud a voice is says nothing.
    """
    out, floor, count = bytearray(ROWS * CHANNELS), max(rows) - 4095, len(rows)
    for i in range(count):
        v = rows[(first + i) % count]
        if v > noise:
            out[i] = max(0, v - floor) >> 4
    return out


def features(samples):
    """Of LENGTH int16 samples that are a word."""
    samples, rows = memoryview(samples), array("h", bytes(2 * ROWS * CHANNELS))
    view = memoryview(rows)
    for row in range(ROWS):
        mel(samples[row * HOP : row * HOP + WINDOW], view[row * CHANNELS : (row + 1) * CHANNELS])
    return pixels(rows)


class Listener:
    """Finds words in frames of WINDOW samples, HOP apart, as they come: each begins BEFORE rows before the first loud
    one.
    """

    def __init__(self):
        self.rows, self.at, self.left, self.noise = array("h", bytes(2 * ROWS * CHANNELS)), 0, 0, None
        self.seen = 0  # rows since the last word
        self.view = [memoryview(self.rows)[at : at + CHANNELS] for at in range(0, ROWS * CHANNELS, CHANNELS)]

    def push(self, frame):
        """Whether a word ends with this frame: word() is it."""
        level = max(mel(frame, self.view[self.at]))
        self.at = (self.at + 1) % ROWS
        if self.noise is None:
            self.noise = level
        if self.left > 0:  # of a word
            self.left -= 1
            return self.left == 0
        if level > self.noise + LOUD and self.seen >= BEFORE:
            self.left = ROWS - BEFORE - 1
            self.seen = 0
        else:
            self.noise += (level - self.noise) >> 4
            self.seen += 1
        return False

    def word(self):
        return pixels(self.rows, self.at * CHANNELS, self.noise)
