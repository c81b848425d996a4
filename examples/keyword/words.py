"""What a word is to the network: 32 rows of 20 log-mel channels. The PC that trains and the board that hears run this code."""

from array import array

from odt.features import LogMel

RATE, WINDOW, HOP = 8000, 240, 160  # frames of 30 ms, one each 20 ms
ROWS, CHANNELS = 32, 20
LENGTH = HOP * (ROWS - 1) + WINDOW  # samples of a word: 0.65 s
mel = LogMel(rate=RATE, window=WINDOW, fft=256, channels=CHANNELS, low=100, high=3900)


def features(samples):
    """Of LENGTH int16 samples: uint8, 255 at the loudest, 0 at 48 dB below it, so that how loud a voice is says nothing."""
    samples, rows = memoryview(samples), array("h", bytes(2 * ROWS * CHANNELS))
    view, out = memoryview(rows), bytearray(len(rows))
    for row in range(ROWS):
        mel(samples[row * HOP : row * HOP + WINDOW], view[row * CHANNELS : (row + 1) * CHANNELS])
    floor = max(rows) - 4095
    for i in range(len(rows)):
        out[i] = max(0, rows[i] - floor) >> 4
    return out
