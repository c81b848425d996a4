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
# program names, "capabilities" those that a board may be without (base/absent.py), "inner" what they are made of. As
# texts, which take less RAM than a dict: each name between two blanks.
_HOMES = (
    ("layers", " Activation AvgPool1D AvgPool2D Conv1D Conv2D Dense DepthwiseConv2D Dropout Flatten GlobalAvgPool "
     "Input MaxPool1D MaxPool2D ReLU "),
    ("layers.activations", " ELU GELU SELU LeakyReLU ReLU6 Sigmoid Softmax Tanh "),
    ("layers.joins", " Add Concatenate Multiply "),
    ("layers.norms", " BatchNorm GroupNorm LayerNorm "),
    ("layers.normalization", " Normalization "),
    ("layers.resizing", " AdaptiveAvgPool1D AdaptiveAvgPool2D Conv1DTranspose Conv2DTranspose Reshape UpSampling1D "
     "UpSampling2D "),
    ("losses", " BinaryCrossentropy CategoricalCrossentropy Huber MeanAbsoluteError MeanSquaredError "
     "SparseCategoricalCrossentropy "),
    ("model", " Model Sequential "),
    ("files.open", " load_model "),
    ("optimizers", " SGD Adam AdamW RMSprop "),
    ("optimizers.schedules", " CosineDecay StepDecay "),
    ("optimizers.rates", " ExponentialDecay WarmUp "),
    ("adapt.zeroth", " ZerothOrder "),
    ("run.threads", " get_num_threads set_num_threads "),
    ("generative", " Sampling "),
    ("recurrent", " GRU LSTM SimpleRNN "),
    ("attention", " MultiHeadAttention PositionEmbedding "),
    ("embedding", " Embedding "),
    ("modules", " callbacks files layers losses metrics model optimizers "),
    ("capabilities", " adapt attention continual data embedding fleet generative inspect noise online recurrent "
     "sensors slots "),
    ("inner", " base plan reference run "),
)  # fmt: skip
# What odt calls by a shorter name; also those of odt.layers.
_KERAS = (
    " AveragePooling1D=AvgPool1D AveragePooling2D=AvgPool2D BatchNormalization=BatchNorm "
    "GlobalAveragePooling1D=GlobalAvgPool GlobalAveragePooling2D=GlobalAvgPool GroupNormalization=GroupNorm "
    "LayerNormalization=LayerNorm MaxPooling1D=MaxPool1D MaxPooling2D=MaxPool2D "
)


def home(name):
    """The module that has a public name, "modules", "capabilities", "inner", or None."""
    name = " %s " % name
    for place, names in _HOMES:
        if name in names:
            return place


def own_name(name):
    """odt's name for one of Keras's; any other as it is."""
    at = _KERAS.find(" %s=" % name)
    return name if at < 0 else _KERAS[at + len(name) + 2 :].split(" ", 1)[0]


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


_FOLDERS = (None, "modules", "capabilities", "inner")
_on_a_board = sys.implementation.name != "cpython"


def __getattr__(name):
    name = own_name(name)
    place = home(name)
    if _on_a_board and not place:  # as some thousand times for a TAB
        raise AttributeError("odt has no " + name)
    if _on_a_board and place in _FOLDERS:
        return _Later(name)
    if _on_a_board and "odt." + place not in sys.modules:
        return _Later(place, name)
    if place not in _FOLDERS:
        return _load(place, name)
    try:
        return _load(name)
    except ImportError:
        raise AttributeError("odt has no " + name) from None


if _on_a_board:
    __import__("odt.base.absent", None, None, ("*",)).enter(__path__, _HOMES[-2][1])
else:
    from .host.guard import install

    install(_HOMES, _KERAS)
