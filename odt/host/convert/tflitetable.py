"""What the TFLite reader makes of each operator: the table of its options, and one row per field of that.

"read": its value counts (and may be refused by name). "default": refused unless it is its default. "ignored": no number
of the output depends on it. A field that has no row, or that this `tflite` does not know, is refused where the file
sets it.
"""

import struct

import numpy as np
import tflite
from flatbuffers.table import Table

from .graph import refuse


def _rows(read="", default="", ignored=""):
    rows = (("read", read), ("default", default), ("ignored", ignored))
    return {name: word for word, names in rows for name in names.split()}


_ENDS = "FusedActivationFunction"
_WINDOW = _ENDS + " Padding StrideH StrideW"
_POOL = _rows(_WINDOW + " FilterHeight FilterWidth")
_DILATED = _WINDOW + " DilationHFactor DilationWFactor"
_RESIZE = _rows("AlignCorners HalfPixelCenters")
_REDUCED = _rows("KeepDims")
_SUM = _rows(_ENDS, "", "PotScaleInt16")  # how int16 is rounded
ATTRIBUTES = {
    "ABS": {},
    "ADD": _SUM,
    "AVERAGE_POOL_2D": _POOL,
    "BATCH_MATMUL": _rows("AdjY", "AdjX", "AsymmetricQuantizeInputs"),  # what a runtime rounds beside int8 weights
    "BATCH_TO_SPACE_ND": {},
    "CAST": _rows("", "", "InDataType OutDataType"),  # the tensors say it
    "CONCATENATION": _rows("Axis " + _ENDS),
    "CONV_2D": _rows(_DILATED, "", "QuantizedBiasType"),
    "DEPTHWISE_CONV_2D": _rows(_DILATED + " DepthMultiplier"),
    "DEQUANTIZE": {},
    "DIV": _rows(_ENDS),
    "ELU": {},
    "EXPAND_DIMS": {},
    "FULLY_CONNECTED": _rows(_ENDS + " KeepNumDims", "WeightsFormat", "AsymmetricQuantizeInputs QuantizedBiasType"),
    "GATHER": _rows("Axis", "BatchDims"),
    "GELU": _rows("Approximate"),
    "HARD_SWISH": {},
    "LEAKY_RELU": _rows("Alpha"),
    "LOGISTIC": {},
    "MAXIMUM": {},
    "MAX_POOL_2D": _POOL,
    "MEAN": _REDUCED,
    "MINIMUM": {},
    "MUL": _rows(_ENDS),
    "NEG": {},
    "PACK": _rows("Axis", "", "ValuesCount"),  # the inputs say it
    "PAD": {},
    "PADV2": {},
    "POW": {},
    "PRELU": {},
    "QUANTIZE": {},
    "REDUCE_MAX": _REDUCED,
    "RELU": {},
    "RELU6": {},
    "RELU_0_TO_1": {},
    "RELU_N1_TO_1": {},
    "RESHAPE": _rows("NewShape"),
    "RESIZE_BILINEAR": _RESIZE,
    "RESIZE_NEAREST_NEIGHBOR": _RESIZE,
    "SHAPE": _rows("", "", "OutType"),
    "SLICE": {},
    "SOFTMAX": _rows("Beta"),
    "SPACE_TO_BATCH_ND": {},
    "SPLIT": _rows("NumSplits"),
    "SPLIT_V": _rows("NumSplits"),
    "SQUARE": {},
    "SQUEEZE": _rows("SqueezeDims"),
    "STRIDED_SLICE": _rows("BeginMask EndMask ShrinkAxisMask", "EllipsisMask NewAxisMask Offset"),
    "SUB": _SUM,
    "SUM": _REDUCED,
    "TANH": {},
    "TRANSPOSE": {},
    "TRANSPOSE_CONV": _rows(_WINDOW, "", "QuantizedBiasType"),
    "UNPACK": _rows("Axis", "", "Num"),  # the outputs say it
}
_ONLY_CONSTANTS = {
    "FILL": {},
    "RANGE": {},
    "BROADCAST_TO": {},
    "TILE": {},
    "FLOOR_DIV": {},
    "FLOOR_MOD": {},
    "REDUCE_PROD": _REDUCED,
}
ROWS = {**ATTRIBUTES, **_ONLY_CONSTANTS}
_KINDS = {  # of options, where their name is not the operator's
    "AVERAGE_POOL_2D": "Pool2D", "MAX_POOL_2D": "Pool2D", "CONV_2D": "Conv2D", "DEPTHWISE_CONV_2D": "DepthwiseConv2D",
    "MEAN": "Reducer", "REDUCE_MAX": "Reducer", "SUM": "Reducer", "REDUCE_PROD": "Reducer",
    "BATCH_MATMUL": "BatchMatMul",
    "BATCH_TO_SPACE_ND": "BatchToSpaceND", "SPACE_TO_BATCH_ND": "SpaceToBatchND", "MAXIMUM": "MaximumMinimum",
    "MINIMUM": "MaximumMinimum", "PADV2": "PadV2",
}  # fmt: skip
_NEEDED = ["Pool2D", "Conv2D", "DepthwiseConv2D", "TransposeConv", "Softmax", "LeakyRelu", "Concatenation"]
_EMPTY = Table(bytearray(struct.pack("<HHi", 4, 4, 4)), 4)  # of no fields: all are at their defaults


class _Slots:
    """Takes what begins a table, to see how many fields it has."""

    def StartObject(self, count):
        self.count = count


def kind_of(name):
    """The class of an operator's options, or None."""
    word = _KINDS.get(name) or "".join(part.capitalize() for part in name.split("_"))
    return getattr(tflite, word + "Options", None)


def fields(kind):
    """The names of the fields of a class of options."""
    ends = ("AsNumpy", "Length", "IsNone")
    return [
        name for name in vars(kind)
        if name[0].isupper() and name != "Init" and not name.startswith("GetRootAs") and not name.endswith(ends)
        and "BufferHasIdentifier" not in name
    ]  # fmt: skip


def _value(table, kind, name):
    if hasattr(kind, name + "Length"):
        return (
            [int(n) for n in np.ravel(getattr(table, name + "AsNumpy")())] if getattr(table, name + "Length")() else []
        )
    return getattr(table, name)()


def parsed(node, name):
    """{field: value} of a node's options, and what is wrong with them: "" or a word that ``checked`` knows."""
    kind, table = kind_of(name), node.BuiltinOptions()
    if kind is None or name not in ROWS:
        return {}, ""
    found = kind()
    expected = getattr(tflite.BuiltinOptions, kind.__name__)
    if table is None or node.BuiltinOptionsType() != expected:
        found._tab = _EMPTY
        return {field: _value(found, kind, field) for field in fields(kind)}, "none" * (kind.__name__[:-7] in _NEEDED)
    found.Init(table.Bytes, table.Pos)
    slots = _Slots()
    getattr(tflite, kind.__name__ + "Start")(slots)
    start = table.Pos - struct.unpack_from("<i", table.Bytes, table.Pos)[0]
    length = struct.unpack_from("<H", table.Bytes, start)[0]
    more = struct.unpack_from(
        "<%dH" % max((length - 4) // 2 - slots.count, 0), table.Bytes, start + 4 + 2 * slots.count
    )
    return {field: _value(found, kind, field) for field in fields(kind)}, "unknown" * any(more)


def checked(name, options, wrong, origin):
    """Refuse what the table refuses."""
    kind = kind_of(name)
    if wrong == "none":
        raise ValueError("%s: has no options" % origin)
    if wrong:
        refuse(origin, "has options that the installed tflite does not know", "a newer tflite")
    for field, value in options.items():
        word = ROWS[name].get(field)
        if np.size(value) and isinstance(value, float) and not np.isfinite(value):
            raise ValueError("%s: %s is %s" % (origin, field, value))
        if word not in ("read", "ignored"):
            table = kind()
            table._tab = _EMPTY
            usual = _value(table, kind, field)
            if value != usual:
                refuse(origin, "has %s=%s" % (field, value), "%s=%s" % (field, usual))
