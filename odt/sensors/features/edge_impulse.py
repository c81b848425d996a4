"""Features with the parameters of Edge Impulse's blocks, by their names and with their defaults:
docs/reference/features.md says what differs.

frames = edge_impulse.mfe(rate=16000, frame_length=0.02, frame_stride=0.01, num_filters=32)
"""

from .frames import Frames
from .logmel import MFCC, LogMel
from .motion import Motion


def _samples(name, rate, seconds):
    count = int(rate * seconds + 0.5)
    if count < 1:
        raise ValueError("%s: %r seconds are no sample at %r Hz" % (name, seconds, rate))
    return count


def _frames(kind, rate, window, frame_length, frame_stride, num_filters, fft_length, low, high, more):
    length, hop = _samples("frame_length", rate, frame_length), _samples("frame_stride", rate, frame_stride)
    window = rate if window is None else window
    if window < length:
        raise ValueError("window: %d samples, a frame has %d" % (window, length))
    while fft_length < length:  # where they cut the frame
        fft_length *= 2
    made = kind(rate, length, fft_length, num_filters, low, high or rate // 2, *more)
    return Frames(made, hop, 1 + (window - length) // hop)


def mfe(
    rate: "int" = 16000,
    window: "int | None" = None,
    frame_length: "float" = 0.02,
    frame_stride: "float" = 0.01,
    num_filters: "int" = 32,
    fft_length: "int" = 256,
    low_frequency: "int" = 300,
    high_frequency: "int" = 0,
) -> "Frames":
    """Audio (MFE): Frames of LogMel. rate: Hz; window: samples, None: a second; lengths in seconds, frequencies in Hz,
    high 0: rate / 2.
    """
    return _frames(
        LogMel, rate, window, frame_length, frame_stride, num_filters, fft_length, low_frequency, high_frequency, ()
    )


def mfcc(
    rate: "int" = 16000,
    window: "int | None" = None,
    num_cepstral: "int" = 13,
    frame_length: "float" = 0.02,
    frame_stride: "float" = 0.02,
    num_filters: "int" = 32,
    fft_length: "int" = 256,
    low_frequency: "int" = 300,
    high_frequency: "int" = 0,
) -> "Frames":
    """Audio (MFCC): Frames of MFCC; arguments as mfe's, and the coefficients of a frame."""
    more = (num_cepstral,)
    return _frames(
        MFCC, rate, window, frame_length, frame_stride, num_filters, fft_length, low_frequency, high_frequency, more
    )


def spectral(rate: "int" = 100, window: "int" = 128, axes: "int" = 3, fft_length: "int" = 16) -> "Motion":
    """Spectral analysis: a Motion whose bands are the bins of a transform of ``fft_length``, a power of two in 4..128,
    but the first.
    """
    if fft_length not in (4, 8, 16, 32, 64, 128):
        raise ValueError("fft_length: a power of two in 4..128 is expected, got %r" % (fft_length,))
    bands = [(rate * (2 * k - 1) + fft_length) // (2 * fft_length) for k in range(1, fft_length // 2 + 1)]
    return Motion(rate, window, axes, bands + [rate // 2])
