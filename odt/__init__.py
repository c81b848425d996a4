"""odt: training neural networks on microcontrollers.

import odt

model = odt.Sequential([
    odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
    odt.Conv2D(8, 3, activation="relu"),
    odt.MaxPool2D(),
    odt.Flatten(),
    odt.Dense(10),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.summary()
model.fit(x, y, epochs=10)
"""

import gc

# From .mpy files the package takes a third of a Pico's heap. It must not lie scattered over all of
# it, or no arena fits: garbage is collected often while it is loaded.
if hasattr(gc, "threshold"):
    _threshold = gc.threshold()
    gc.threshold(8192)

from . import executor
from .layers import (
    AdaptiveAvgPool1D, AdaptiveAvgPool2D, Add, AvgPool1D, AvgPool2D, Concatenate, Conv1D, Conv1DTranspose, Conv2D,
    Conv2DTranspose, Dense, DepthwiseConv2D, Dropout, Flatten, GlobalAvgPool, Input, LeakyReLU, MaxPool1D, MaxPool2D, Multiply, ReLU, ReLU6,
    Reshape, Sigmoid, Softmax, Tanh, UpSampling1D, UpSampling2D,
)  # fmt: skip
from .losses import (
    BinaryCrossentropy, Huber, MeanAbsoluteError, MeanSquaredError, SparseCategoricalCrossentropy,
)  # fmt: skip
from .model import Model, Sequential
from .optimizers import SGD, Adam, AdamW, CosineDecay, StepDecay


def __getattr__(name):
    """A module of odt, or of its names those that few need, is loaded when it is named: a board's RAM is small."""
    home = "norms" if name in ("BatchNorm", "GroupNorm", "LayerNorm") else name
    if name.endswith("_num_threads"):
        home = "run.threads"
    try:
        if name[:1] == "_":
            raise ImportError
        module = __import__("odt." + home, None, None, (name,))
    except ImportError:
        raise AttributeError("module 'odt' has no attribute %r" % name)
    return module if home is name else getattr(module, name)


__version__ = "0.1.0"
backend = executor.backend

if hasattr(gc, "threshold"):
    gc.threshold(_threshold)
