"""docs/reference/features.md, Edge Impulse's blocks: how far LogMel and MFCC are from their MFE and MFCC (version 4),
written here in float64 from their description.
"""

import numpy as np
import pytest

from odt.sensors import MFCC, LogMel, make
from odt.sensors.features import edge_impulse

RATE = 16000


def _mfe(x, window, fft, filters, low, high):
    """Pre-emphasis 0.98, no window, power / fft, triangles between bins that are rounded down, dB."""
    x = x / 2**15
    x = x - 0.98 * np.roll(x, 1)
    power = np.abs(np.fft.rfft(x[:window], fft)) ** 2 / fft
    mels = np.linspace(1127 * np.log1p(low / 700), 1127 * np.log1p(high / 700), filters + 2)
    bins = np.floor((fft + 1) * (700 * np.expm1(mels / 1127) - 0.001) / RATE).astype(int)
    k = np.arange(fft // 2 + 1)
    bank = [np.interp(k, bins[i : i + 3], (0, 1, 0)) for i in range(filters)]
    return 10 * np.log10(np.maximum(np.array(bank) @ power, 1e-30))


def _voices(window):
    rng, t = np.random.default_rng(1), np.arange(window) / RATE
    for _ in range(200):
        pitch, slope = rng.uniform(90, 250), rng.uniform(0.8, 1.6)
        x = sum(np.sin(2 * np.pi * pitch * h * t + rng.uniform(0, 7)) / h**slope for h in range(1, 40))
        x = 6000 * x / np.abs(x).max() + rng.normal(0, rng.uniform(20, 400), window)
        yield np.round(x).astype("int16")


@pytest.mark.parametrize("window, filters", [(320, 32), (512, 32), (320, 20)])
def test_log_mel_is_the_mfe_block_s_but_for_a_constant_per_channel_and_its_missing_window(window, filters):
    mel = LogMel(RATE, window, 512, filters, 300, 8000)
    frames = list(_voices(window))
    theirs = np.array([_mfe(x.astype(float), window, 512, filters, 300, 8000) for x in frames])
    ours = np.array([mel(x) for x in frames]) * 10 * np.log10(2) / 256
    error = theirs - ours
    error = np.abs(error - np.median(error, axis=0))
    assert np.median(error) <= 0.8 and np.quantile(error, 0.95) <= 4.5


def test_mfcc_are_the_mfcc_block_s_but_for_a_constant_per_coefficient_and_its_first():
    mfcc = MFCC(RATE, 320, 512, 32, 300, 8000, 13)
    frames = list(_voices(320))
    logs = np.array([_mfe(x.astype(float), 320, 512, 32, 300, 8000) for x in frames]) * np.log(10) / 10
    k = np.arange(32)
    theirs = logs @ (np.sqrt(2 / 32) * np.cos(np.pi * k[:, None] * (2 * k + 1) / 64)).T[:, :13]
    ours = np.array([mfcc(x) for x in frames]) * np.log(2) / 32
    error = (theirs - ours)[:, 1:]
    error = np.abs(error - np.median(error, axis=0))
    assert np.median(error) <= 0.3 and np.quantile(error, 0.95) <= 1.2, (np.median(error), np.quantile(error, 0.95))


def test_blocks_have_the_names_defaults_and_sizes_of_theirs():
    """A second at 16 kHz: 99 frames of MFE's 32 filters, 50 of MFCC's 13 coefficients; RMS and bins 1 to 8 of an FFT of
    16.
    """
    mfe, mfcc, motion = edge_impulse.mfe(), edge_impulse.mfcc(), edge_impulse.spectral()
    assert mfe.shape == (99, 32) and mfe.hop == 160 and mfe.window <= 16000 < mfe.window + mfe.hop
    assert mfcc.shape == (50, 13) and mfcc.hop == 320
    for made in (mfe.features, mfcc.features):
        assert (made.rate, made.window, made.fft, made.low, made.high, made.channels) == (
            16000,
            320,
            512,
            300,
            8000,
            32,
        )
    assert motion.outputs == 3 * (6 + 8) and motion.bands == (3, 9, 16, 22, 28, 34, 41, 47, 50)
    x = np.round(3000 * np.sin(2 * np.pi * 18.75 * np.arange(128) / 100)).astype("int16")
    bands = np.array(edge_impulse.spectral(axes=1)(x))[6:]
    assert bands.argmax() == 2 and np.sort(bands)[-2] < bands.max() - 512  # the third bin, by a factor of 4 at least


def test_their_parameters_travel_and_may_be_others():
    made = edge_impulse.mfe(8000, 4000, frame_length=0.032, frame_stride=0.016, num_filters=20, low_frequency=0)
    assert made.shape == (1 + (4000 - 256) // 128, 20)
    assert (made.features.window, made.features.fft, made.features.high) == (256, 256, 4000)
    again = make(*made.parameters())
    x = np.random.default_rng(1).normal(0, 500, made.window).astype("int16")
    assert list(again(x)) == list(made(x))


def test_what_no_block_can_have_is_named():
    for wrong, text in (
        (lambda: edge_impulse.mfe(frame_length=0), "frame_length: 0 seconds are no sample at 16000 Hz"),
        (lambda: edge_impulse.mfcc(frame_stride=1e-9), "frame_stride: 1e-09 seconds"),
        (lambda: edge_impulse.mfe(window=319), "window: 319 samples, a frame has 320"),
        (lambda: edge_impulse.spectral(fft_length=20), "fft_length: a power of two in 4..128 is expected, got 20"),
        (lambda: edge_impulse.mfe(num_filters=0), "LogMel: channels"),
    ):
        with pytest.raises(ValueError, match=text):
            wrong()
