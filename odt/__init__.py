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
import sys

from .base import executor

__version__ = "0.1.0"
backend = executor.backend

# Where each name comes from: its module is loaded when it is used, as a board's RAM is small. "modules" are what a
# program names, "inner" what these are made of.
HOMES = {
    "ELU": "layers.activations", "GELU": "layers.activations", "SELU": "layers.activations",
    "LeakyReLU": "layers.activations", "ReLU6": "layers.activations", "Sigmoid": "layers.activations",
    "Softmax": "layers.activations", "Tanh": "layers.activations",
    "Add": "layers.joins", "Concatenate": "layers.joins", "Multiply": "layers.joins",
    "Activation": "layers", "AvgPool1D": "layers", "AvgPool2D": "layers", "Conv1D": "layers", "Conv2D": "layers",
    "Dense": "layers", "DepthwiseConv2D": "layers", "Dropout": "layers", "Flatten": "layers",
    "GlobalAvgPool": "layers", "Input": "layers", "MaxPool1D": "layers", "MaxPool2D": "layers", "ReLU": "layers",
    "BinaryCrossentropy": "losses", "CategoricalCrossentropy": "losses", "Huber": "losses",
    "MeanAbsoluteError": "losses", "MeanSquaredError": "losses", "SparseCategoricalCrossentropy": "losses",
    "Model": "model", "Sequential": "model",
    "Normalization": "layers.normalization",
    "BatchNorm": "layers.norms", "GroupNorm": "layers.norms", "LayerNorm": "layers.norms",
    "load_model": "files.open",
    "SGD": "optimizers", "Adam": "optimizers", "AdamW": "optimizers", "RMSprop": "optimizers",
    "AdaptiveAvgPool1D": "layers.resizing", "AdaptiveAvgPool2D": "layers.resizing",
    "Conv1DTranspose": "layers.resizing", "Conv2DTranspose": "layers.resizing", "Reshape": "layers.resizing",
    "UpSampling1D": "layers.resizing", "UpSampling2D": "layers.resizing",
    "get_num_threads": "run.threads", "set_num_threads": "run.threads",
    "CosineDecay": "optimizers.schedules", "StepDecay": "optimizers.schedules",
    "ExponentialDecay": "optimizers.rates", "WarmUp": "optimizers.rates",
    "Sampling": "generative",
    "ZerothOrder": "optimizers.zeroth",
    "adapt": "modules", "callbacks": "modules", "continual": "modules", "data": "modules", "files": "modules",
    "generative": "modules",
    "inspect": "modules", "layers": "modules", "losses": "modules", "metrics": "modules", "model": "modules",
    "online": "modules", "optimizers": "modules", "sensors": "modules",
    "base": "inner", "plan": "inner", "reference": "inner", "run": "inner",
}  # fmt: skip
KERAS = {  # what odt calls by a shorter name; also those of odt.layers
    "AveragePooling1D": "AvgPool1D", "AveragePooling2D": "AvgPool2D", "BatchNormalization": "BatchNorm",
    "GlobalAveragePooling1D": "GlobalAvgPool", "GlobalAveragePooling2D": "GlobalAvgPool",
    "GroupNormalization": "GroupNorm",
    "LayerNormalization": "LayerNorm", "MaxPooling1D": "MaxPool1D", "MaxPooling2D": "MaxPool2D",
}  # fmt: skip


def _load(place, name=None):
    """The module, or what it calls ``name``. From .mpy files it lies in RAM: not scattered, or no arena fits."""
    if hasattr(gc, "threshold"):
        threshold = gc.threshold()
        gc.threshold(8192)
    try:
        module = __import__("odt." + place, None, None, ("*",))
    finally:
        if hasattr(gc, "threshold"):
            gc.threshold(threshold)
    if name:
        module = globals()[name] = getattr(module, name)
    return module


class _Later:
    """Stands for a module, or for what it calls ``name``, until it is used: a board's TAB and dir() ask for every name
    that they know.
    """

    def __init__(self, place, name=None):
        self._of = place, name

    def __call__(self, *args, **options):
        return _load(*self._of)(*args, **options)

    def __getattr__(self, name):
        place, own = self._of
        found = _load(place, own)
        return getattr(found, name) if own or hasattr(found, name) else _load(place + "." + name)

    def __repr__(self):
        return "odt." + (self._of[1] or self._of[0])


_on_a_board = sys.implementation.name != "cpython"


def __getattr__(name):
    if _on_a_board and name not in HOMES and name not in KERAS:  # as some thousand times for a TAB
        raise AttributeError("odt has no " + name)
    name = KERAS.get(name, name)
    place = HOMES.get(name)
    if _on_a_board and place in ("modules", "inner"):
        return _Later(name)
    if _on_a_board and "odt." + place not in sys.modules:
        return _Later(place, name)
    try:
        return _load(name) if place in (None, "modules", "inner") else _load(place, name)
    except ImportError:
        raise AttributeError("odt has no " + name) from None


def __dir__():
    return sorted(set(globals()) | set(HOMES) | set(KERAS))


if not _on_a_board:
    from .host.guard import install

    install()
