"""The pieces of the kernels for stock firmware: their names. CPython only.

Which piece has an instruction's kernel is said in its row (traits/).

There kernels lie in RAM, so what a model does not use is not loaded: each piece is a native module of its own, which
``_odt.load()`` imports when a program needs it. Elsewhere all kernels are one ``_odt``.
"""

from ..boards.capabilities import CAPABILITIES

BASE = "_odt"
# In the order of their numbers, the base first, which every model uses. Sizes of what models use together
# (bytes of README's table) decided where the borders are.
PIECES = {
    "_odt": "verifier, executor, int8 models of dense layers",
    "_odt_conv": "int8 convolutions and pooling",
    "_odt_depth": "int8 depthwise convolutions",
    "_odt_norm": "int8 normalisation",
    "_odt_more": "int8 joins, dropout and weight decay, rarer losses and activations",
    "_odt_rare": "int8 grouped, transposed and dynamic layers, Multiply, upsampling, sampling, zeroth order",
    "_odt_f32": "float32 models of dense layers, and int8 ones with moments in float32",
    "_odt_f32_conv": "float32 convolutions and pooling",
    "_odt_f32_more": "other float32",
    "_odt_import": "int8 layers in another framework's steps, dilation",
    "_odt_own": "int8 losses of odt.continual.dark and odt.continual.tent",
    "_odt_curve": "int8 ELU, SELU and GELU",
    "_odt_packed": "frozen weights of 4 bits",
    "_odt_recurrent": "int8 GRU, LSTM and SimpleRNN",
    "_odt_f32_recurrent": "float32 GRU, LSTM and SimpleRNN",
    "_odt_attention": "int8 attention and positions",
    "_odt_f32_attention": "float32 attention and positions",
    "_odt_embedding": "int8 embeddings of tokens",
    "_odt_f32_embedding": "float32 embeddings of tokens",
}

# Modules beside them, which no instruction needs: Python imports them itself. FILES: what an installation has.
BESIDE = {
    name: "odt." + capability
    for capability, row in CAPABILITIES.items() for name in row.kernels if name not in PIECES
}  # fmt: skip
FILES = {**PIECES, **BESIDE}


def beside(base):
    """The files of one build: ``base``, which is a path of an ``_odt.mpy``, and its pieces."""
    return [base, *sorted(base.parent.glob(BASE + "_*.mpy"))]
