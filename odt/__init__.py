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

from . import executor

__version__ = "0.1.0"
backend = executor.backend

# Where each name comes from: its module is loaded when it is used, as a board's RAM is small.
HOMES = {
    "activations": " LeakyReLU ReLU6 Sigmoid Softmax Tanh ",
    "joins": " Add Concatenate Multiply ",
    "layers": " Activation AvgPool1D AvgPool2D Conv1D Conv2D Dense DepthwiseConv2D Dropout Flatten GlobalAvgPool Input MaxPool1D "
    "MaxPool2D ReLU ",
    "losses": " BinaryCrossentropy CategoricalCrossentropy Huber MeanAbsoluteError MeanSquaredError "
    "SparseCategoricalCrossentropy ",
    "model": " Model Sequential ",
    "normalization": " Normalization ",
    "norms": " BatchNorm GroupNorm LayerNorm ",
    "open": " load_model ",
    "optimizers": " SGD Adam AdamW ",
    "resizing": " AdaptiveAvgPool1D AdaptiveAvgPool2D Conv1DTranspose Conv2DTranspose Reshape UpSampling1D UpSampling2D ",
    "run.threads": " get_num_threads set_num_threads ",
    "schedules": " CosineDecay StepDecay ",
    "zeroth": " ZerothOrder ",
}
KERAS = {  # what odt calls by a shorter name; also those of odt.layers
    "AveragePooling1D": "AvgPool1D", "AveragePooling2D": "AvgPool2D", "BatchNormalization": "BatchNorm",
    "GlobalAveragePooling1D": "GlobalAvgPool", "GlobalAveragePooling2D": "GlobalAvgPool", "GroupNormalization": "GroupNorm",
    "LayerNormalization": "LayerNorm", "MaxPooling1D": "MaxPool1D", "MaxPooling2D": "MaxPool2D",
}  # fmt: skip
_MODULES = (
    " adapt callbacks features frozen inspect labels latents layers lite losses metrics model norms online optimizers "
    "profile rates readers record replay reservoir slots stream teach update watch "
)
_INNER = (  # what these are made of
    " activations classes drawing export fisher fixed folding joins network normalization opcodes open plan posteriors "
    "reference regions report resizing run schedules zeroth "
)


def _load(home, name=None):
    """The module, or what it calls ``name``. From .mpy files it lies in RAM: not scattered, or no arena fits."""
    if hasattr(gc, "threshold"):
        threshold = gc.threshold()
        gc.threshold(8192)
    try:
        module = __import__("odt." + home, None, None, ("*",))
    finally:
        if hasattr(gc, "threshold"):
            gc.threshold(threshold)
    names = globals()
    for public in HOMES.get(home, "").split():
        names[public] = getattr(module, public)
    return names[name] if name else module


class _Later:
    """Stands for a class or function until it is called: a board's TAB and dir() ask for every name that they know."""

    def __init__(self, home, name):
        self._of = home, name

    def __call__(self, *args, **options):
        return _load(*self._of)(*args, **options)

    def __repr__(self):
        return "odt.%s.%s" % self._of


class _Module:
    """Stands for a module until something of it is used, as _Later does."""

    def __init__(self, home):
        self._of = home

    def __getattr__(self, name):
        return getattr(_load(self._of), name)

    def __repr__(self):
        return "odt." + self._of


def __getattr__(name):
    name = KERAS.get(name, name)
    if name in globals():
        return globals()[name]
    word, on_a_board = " %s " % name, sys.implementation.name != "cpython"
    for home in HOMES:
        if word in HOMES[home]:
            return _Later(home, name) if on_a_board else _load(home, name)
    if word in _MODULES or word in _INNER:
        return _Module(name) if on_a_board else _load(name)
    if not on_a_board:
        try:
            return _load(name)
        except ImportError:
            pass
    raise AttributeError("module 'odt' has no attribute %r" % name)


def __dir__():
    return sorted(set(globals()) | set(" ".join(HOMES.values()).split()) | set(_MODULES.split()) | set(KERAS))
