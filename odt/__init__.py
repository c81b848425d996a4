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
_HOMES = {
    "layers": "Activation AdaptiveAvgPool1D AdaptiveAvgPool2D Add AvgPool1D AvgPool2D Concatenate Conv1D Conv1DTranspose Conv2D "
    "Conv2DTranspose Dense DepthwiseConv2D Dropout Flatten GlobalAvgPool Input LeakyReLU MaxPool1D MaxPool2D Multiply "
    "ReLU ReLU6 Reshape Sigmoid Softmax Tanh UpSampling1D UpSampling2D",
    "losses": "BinaryCrossentropy CategoricalCrossentropy Huber MeanAbsoluteError MeanSquaredError SparseCategoricalCrossentropy",
    "model": "Model Sequential",
    "normalization": "Normalization",
    "norms": "BatchNorm GroupNorm LayerNorm",
    "open": "load_model",
    "optimizers": "SGD Adam AdamW CosineDecay StepDecay",
    "zeroth": "ZerothOrder",
    "run.threads": "get_num_threads set_num_threads",
}
KERAS = {  # what odt calls by a shorter name; also those of odt.layers
    "AveragePooling1D": "AvgPool1D", "AveragePooling2D": "AvgPool2D", "BatchNormalization": "BatchNorm",
    "GlobalAveragePooling1D": "GlobalAvgPool", "GlobalAveragePooling2D": "GlobalAvgPool", "GroupNormalization": "GroupNorm",
    "LayerNormalization": "LayerNorm", "MaxPooling1D": "MaxPool1D", "MaxPooling2D": "MaxPool2D",
}  # fmt: skip
_MODULES = (
    "adapt callbacks features frozen inspect labels layers lite losses metrics model norms online optimizers profile "
    "rates readers record reservoir slots stream teach update watch"
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
    for public in _HOMES.get(home, "").split():
        names[public] = getattr(module, public)
    for alias in KERAS:
        if alias in names:
            names[alias] = names[KERAS[alias]]
    return names[name] if name else module


if sys.implementation.name == "cpython":

    def __getattr__(name):
        name = KERAS.get(name, name)
        if name in globals():
            return globals()[name]
        for home, names in _HOMES.items():
            if name in names.split():
                return _load(home, name)
        try:
            return _load(name)
        except ImportError:
            raise AttributeError("module 'odt' has no attribute %r" % name) from None

    def __dir__():
        return sorted(set(globals()) | set(" ".join(_HOMES.values()).split()) | set(_MODULES.split()) | set(KERAS))

else:
    # MicroPython's dir() and TAB ask a module for every name there is: what __getattr__ loads would fill the heap.

    class _Later:
        """Stands for a class or function until it is called."""

        def __init__(self, home, name):
            self._of = home, name

        def __call__(self, *args, **options):
            return _load(*self._of)(*args, **options)

        def __repr__(self):
            return "odt.%s.%s" % self._of

    class _Module:
        """Stands for a module until something of it is used."""

        def __init__(self, home):
            self._of = home

        def __getattr__(self, name):
            return getattr(_load(self._of), name)

        def __repr__(self):
            return "odt." + self._of

    for _home in _HOMES:
        for _name in _HOMES[_home].split():
            globals()[_name] = _Later(_home, _name)
    for _name in KERAS:
        globals()[_name] = globals()[KERAS[_name]]
    for _name in _MODULES.split():
        globals()[_name] = _Module(_name)
