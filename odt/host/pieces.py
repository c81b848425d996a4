"""The pieces of the kernels for stock firmware: which file has which instruction's kernel. CPython only.

There kernels lie in RAM, so what a model does not use is not loaded: each piece is a native module of its own, which
``_odt.load()`` imports when a program needs it. Elsewhere all kernels are one ``_odt``.
"""

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
}

# Modules beside them, which no instruction needs: Python imports them itself. FILES: what an installation has.
BESIDE = {
    "_odt_online": "odt.online",
    "_odt_features": "odt.sensors.features",
    "_odt_frontend": "odt.sensors.features.frontend",
    "_odt_motion": "odt.sensors.features.motion and filter",
    "_odt_rocket": "odt.sensors.features.rocket",
}
FILES = {**PIECES, **BESIDE}

_FLOATS = ("momentum_i32", "nesterov_i32", "adam_i32")  # which compute floats
_ZEROTH = ("passed", "slope", "room", "perturb", "walk")  # odt.ZerothOrder
_OWN = ("distil", "entropy")  # odt.continual.dark, odt.continual.tent
_MORE = (
    "leaky_relu_i8", "leaky_relu_dx_i8", "weighted_xent_i8", "mae_i8", "huber_i8", "decay_i8", "decay_i32", "add_i8",
    "concat_i8", "place", "slice", "dropout_i8", "dropout_dx_i8", "channel_scale_i8", "rescale_dx",
)  # fmt: skip
_LOSSES = ("weighted", "mae", "huber")  # which few float32 models have
_IMPORTED = ("add_once_i8", "mean2d_i8", "lookup_i8", "space_to_batch", "batch_to_space")


def piece(name, family):
    """The piece that has the kernel of the instruction ``name`` of a family."""
    layer = name.split("_")[0]
    float32 = name.endswith("_f32")
    if name in _IMPORTED:
        return "_odt_import"
    if family == "pool" or layer == "conv2d":
        return "_odt_f32_conv" if float32 else "_odt_conv"
    if layer in _OWN:
        return "_odt_f32_more" if float32 else "_odt_own"
    if layer == "curve":
        return "_odt_f32_more" if float32 else "_odt_curve"
    if layer in _ZEROTH:
        return "_odt_f32_more" if float32 else "_odt_rare"
    dense = (
        family in ("step", "activation", "loss", "update")
        or layer in ("dense", "bias", "gather")
        or name in ("few", "each")
    )
    if float32 or name in _FLOATS:
        return "_odt_f32" if dense and layer not in _LOSSES else "_odt_f32_more"
    if family == "norm":
        return "_odt_norm"
    if layer == "depthwise2d":
        return "_odt_depth"
    if name in _MORE:
        return "_odt_more"
    return BASE if dense else "_odt_rare"


def beside(base):
    """The files of one build: ``base``, which is a path of an ``_odt.mpy``, and its pieces."""
    return [base, *sorted(base.parent.glob(BASE + "_*.mpy"))]
