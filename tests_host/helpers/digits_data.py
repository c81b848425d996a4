"""The digits of examples/digits, and a network that reads them."""

import numpy as np
from checkout import ROOT

import odt

DATA = (ROOT / "examples/digits/digits.bin").read_bytes()
X = np.frombuffer(DATA[: 1797 * 64], "uint8").reshape(-1, 8, 8, 1)
Y = np.frombuffer(DATA[1797 * 64 :], "uint8")


def cnn():
    """The layers of examples/digits/train.py."""
    return [
        odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
        odt.Conv2D(8, 3, padding="same", activation="relu"),
        odt.MaxPool2D(),
        odt.Conv2D(16, 3, padding="same", activation="relu"),
        odt.MaxPool2D(),
        odt.Flatten(),
        odt.Dense(10),
    ]


def reader(dtype="int8", batch_size=16, seed=1, rate=0.004, **options):
    model = odt.Sequential([
        odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16), odt.Conv2D(8, 3, padding="same", activation="relu"),
        odt.MaxPool2D(),
        odt.Conv2D(12, 3, padding="same", activation="relu", name="high"), odt.MaxPool2D(), odt.Flatten(),
        odt.Dense(10),
    ])  # fmt: skip
    model.compile(odt.Adam(rate), dtype=dtype, batch_size=batch_size, seed=seed, **options)
    return model
