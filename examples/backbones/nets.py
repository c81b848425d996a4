"""The networks of the model files in this folder: to compile them otherwise, and then load_weights() of the file."""

import odt
from odt.sensors import Frames, LogMel, Motion

DIGITS = [str(number) for number in range(10)]
EXERCISES = ["other", "jumpingjack", "lunge", "squat"]


def image():
    """28x28 uint8 images, 255 the brightest: handwritten digits."""
    return odt.Sequential([
        odt.Input((28, 28, 1), dtype="uint8", scale=1 / 255),
        odt.Conv2D(8, 3, strides=2, padding="same", activation="relu"),
        odt.Conv2D(16, 3, padding="same", activation="relu"),
        odt.MaxPool2D(),
        odt.Conv2D(32, 3, padding="same", activation="relu"),
        odt.MaxPool2D(),
        odt.Conv2D(48, 3, padding="same", activation="relu"),
        odt.GlobalAvgPool(name="features"),
        odt.Dense(10),
    ])  # fmt: skip


def frames():
    """What the keyword network hears of 5,200 samples, 0.65 s at 8 kHz: 32 frames of 20 log-mel channels."""
    return Frames(LogMel(rate=8000, window=240, fft=256, channels=20, low=100, high=3900), hop=160, rows=32)


def keyword():
    """Spoken digits, of frames(); each channel less its mean, so that a microphone may be another one."""
    return odt.Sequential([
        odt.Input((32, 20), dtype="int16", scale=1 / 2048),
        odt.BatchNorm(),
        odt.Reshape((32, 20, 1)),
        odt.Conv2D(12, 3, padding="same", activation="relu"),
        odt.MaxPool2D(),
        odt.Conv2D(24, 3, padding="same", activation="relu"),
        odt.MaxPool2D(),
        odt.Conv2D(32, 3, padding="same", activation="relu"),
        odt.MaxPool2D(),
        odt.Flatten(name="features"),
        odt.Dense(10),
    ])  # fmt: skip


def moves():
    """What the motion network knows of 256 samples of x, y and z, 2.56 s at 100 Hz, 16384 to 1 g."""
    return Motion(rate=100, window=256, axes=3, bands=(1, 2, 3, 5, 8, 13, 20))


def motion():
    """Exercises by an accelerometer on the wrist, of moves()."""
    return odt.Sequential([
        odt.Input((moves().outputs,), dtype="int16", scale=1 / 1024),
        odt.BatchNorm(),
        odt.Dense(48, activation="relu"),
        odt.Dense(32, activation="relu", name="features"),
        odt.Dense(4),
    ])  # fmt: skip
