"""What the ONNX reader makes of each operator: one row per attribute and per input that may be left out.

"read": its value counts (and may be refused by name). "default": refused unless it is its default. "ignored": no number
of the output depends on it. What has no row is refused. Operators of other domains than ONNX's own have their domain
before them.
"""

import numpy as np
import onnx

from .graph import parsing, refuse

OLDEST = 7  # opset: older ones broadcast by attributes
NEWEST = onnx.defs.onnx_opset_version()


def _rows(read="", default="", ignored=""):
    rows = (("read", read), ("default", default), ("ignored", ignored))
    return {name: word for word, names in rows for name in names.split()}


_WINDOW = "auto_pad kernel_shape pads strides"
_CELL = "activation_alpha activation_beta direction layout"
_REDUCED = _rows("axes keepdims noop_with_empty_axes")
ATTRIBUTES = {
    "Abs": {},
    "Add": {},
    "AveragePool": _rows(_WINDOW + " ceil_mode count_include_pad dilations"),
    "BatchNormalization": _rows("epsilon momentum", "spatial training_mode"),
    "Cast": _rows("to", "", "saturate round_mode"),  # these two of float8, which is refused
    "Celu": _rows("alpha"),
    "Clip": _rows("min max"),
    "Concat": _rows("axis"),
    "Conv": _rows(_WINDOW + " dilations group B"),
    "ConvTranspose": _rows(_WINDOW + " dilations group output_padding output_shape B"),
    "DequantizeLinear": _rows("axis x_zero_point", "block_size output_dtype"),
    "Div": {},
    "Dropout": _rows("ratio", "training_mode", "seed"),
    "Elu": _rows("alpha"),
    "Erf": {},
    "Flatten": _rows("axis"),
    "Gather": _rows("axis"),
    "GRU": _rows("activations clip hidden_size linear_before_reset B initial_h sequence_lens", _CELL),
    "Gelu": _rows("approximate"),
    "Gemm": _rows("alpha beta transB C", "transA"),
    "GlobalAveragePool": {},
    "GlobalMaxPool": {},
    "GroupNormalization": _rows("epsilon num_groups", "stash_type"),
    "HardSigmoid": _rows("alpha beta"),
    "HardSwish": {},
    "Identity": {},
    "InstanceNormalization": _rows("epsilon"),
    "LSTM": _rows("activations clip hidden_size B P initial_c initial_h sequence_lens", _CELL + " input_forget"),
    "LayerNormalization": _rows("axis epsilon B", "stash_type"),
    "LeakyRelu": _rows("alpha"),
    "MatMul": {},
    "Max": {},
    "MaxPool": _rows(_WINDOW + " ceil_mode dilations", "", "storage_order"),  # the order of indices, which are refused
    "Min": {},
    "Mul": {},
    "Neg": {},
    "PRelu": {},
    "Pad": _rows("axes constant_value mode pads value"),
    "Pow": {},
    "QLinearConv": _rows(_WINDOW + " dilations group B"),
    "QLinearMatMul": {},
    "QuantizeLinear": _rows("axis output_dtype y_zero_point", "block_size precision", "saturate"),  # of float8
    "RNN": _rows("activations clip hidden_size B initial_h sequence_lens", _CELL),
    "ReduceMax": _REDUCED,
    "ReduceMean": _REDUCED,
    "ReduceSum": _REDUCED,
    "Relu": {},
    "Reshape": _rows("allowzero shape"),
    "Resize": _rows(
        "axes coordinate_transformation_mode mode nearest_mode scales sizes",
        "antialias exclude_outside keep_aspect_ratio_policy",
        "cubic_coeff_a extrapolation_value roi",  # of modes that are refused
    ),
    "Selu": _rows("alpha gamma"),
    "Shape": _rows("end start"),
    "Sigmoid": {},
    "Size": {},
    "Slice": _rows("axes ends starts steps"),
    "Softmax": _rows("axis"),
    "Split": _rows("axis num_outputs split"),
    "Squeeze": _rows("axes"),
    "Sub": {},
    "Sum": {},
    "Swish": _rows("alpha"),
    "Tanh": {},
    "Transpose": _rows("perm"),
    "Unsqueeze": _rows("axes"),
    "Upsample": _rows("mode scales"),
    "Where": {},
    "ai.onnx.ml.LinearClassifier": _rows(
        "coefficients intercepts post_transform", "", "classlabels_ints classlabels_strings multi_class"
    ),
    "ai.onnx.ml.LinearRegressor": _rows("coefficients intercepts targets", "post_transform"),
    "ai.onnx.ml.Normalizer": _rows("norm"),
    "ai.onnx.ml.Scaler": _rows("offset scale"),
    "ai.onnx.ml.ZipMap": _rows("", "", "classlabels_int64s classlabels_strings"),
    "com.microsoft.DequantizeLinear": _rows("axis x_zero_point"),
    "com.microsoft.Gelu": {},
    "com.microsoft.QGemm": _rows("alpha transB C y_scale y_zero_point", "transA"),
    "com.microsoft.QLinearAdd": _rows("A_zero_point B_zero_point C_zero_point"),
    "com.microsoft.QLinearAveragePool": _rows(
        _WINDOW + " ceil_mode count_include_pad x_zero_point y_zero_point", "channels_last"
    ),
    "com.microsoft.QLinearConcat": _rows("axis"),
    "com.microsoft.QLinearConv": _rows(_WINDOW + " dilations group B", "channels_last"),
    "com.microsoft.QLinearGlobalAveragePool": _rows("", "channels_last"),
    "com.microsoft.QLinearLeakyRelu": _rows("alpha X_zero_point Y_zero_point"),
    "com.microsoft.QLinearMul": _rows("A_zero_point B_zero_point C_zero_point"),
    "com.microsoft.QLinearSigmoid": _rows("X_zero_point Y_zero_point"),
    "com.microsoft.QLinearSoftmax": _rows("axis opset x_zero_point"),
    "com.microsoft.QuantizeLinear": _rows("axis y_zero_point"),
}
_INPUTS = {  # of Microsoft's operators, for which onnx has no schemas: the least and the most
    "DequantizeLinear": (2, 3), "Gelu": (1, 1), "QGemm": (6, 9), "QLinearAdd": (7, 8), "QLinearAveragePool": (4, 5),
    "QLinearConcat": (3, 1 << 20), "QLinearConv": (8, 9), "QLinearGlobalAveragePool": (5, 5),
    "QLinearLeakyRelu": (4, 5),
    "QLinearMul": (7, 8), "QLinearSigmoid": (4, 5), "QLinearSoftmax": (5, 5), "QuantizeLinear": (2, 3),
}  # fmt: skip
_KIND = onnx.AttributeProto
_KINDS = {  # of their attributes
    "alpha": _KIND.FLOAT, "auto_pad": _KIND.STRING, "kernel_shape": _KIND.INTS, "pads": _KIND.INTS,
    "strides": _KIND.INTS,
    "dilations": _KIND.INTS,
}  # fmt: skip
_NEEDED = {"QLinearAveragePool": ("kernel_shape",), "QLinearConcat": ("axis",), "QLinearSoftmax": ("opset",)}
_FLAGS = (
    "ceil_mode", "count_include_pad", "keepdims", "noop_with_empty_axes", "transA", "transB", "allowzero",
    "channels_last",
)  # fmt: skip
_WORDS = {kind: name for name, kind in _KIND.AttributeType.items()}


def key_of(node):
    """An operator's name as the table has it."""
    return node.op_type if node.domain in ("", "ai.onnx") else "%s.%s" % (node.domain, node.op_type)


def schema_of(node, opsets):
    """The operator's own description in the file's opset, or None where onnx has none."""
    domain = "" if node.domain == "ai.onnx" else node.domain
    try:
        return onnx.defs.get_schema(node.op_type, opsets.get(domain, 1), domain)
    except onnx.defs.SchemaError:
        return None


def attributes(node, opsets, origin, folded=False):
    """{name: value} of a node as its operator's description allows; ValueError for others, Unsupported where the table
    says so.

    Where all inputs are constants (``folded``) every attribute is computed, except those of a quantization that the
    table refuses.
    """
    schema, key = schema_of(node, opsets), key_of(node)
    if schema is None and node.domain != "com.microsoft":
        raise ValueError("%s: opset %s has no such operator" % (origin, opsets.get(node.domain, 1)))
    if folded and "Quantize" not in key.replace("Dequantize", "Quantize"):
        rows = None
    else:
        rows = ATTRIBUTES.get(key)
    least, most = (schema.min_input, schema.max_input) if schema else _INPUTS[node.op_type]
    if not least <= len(node.input) <= most:
        raise ValueError("%s: has %d inputs, expected %d to %d" % (origin, len(node.input), least, most))
    for at, name in enumerate(node.input):
        if not name and (schema.inputs[min(at, len(schema.inputs) - 1)].option.name == "Single" if schema else at == 0):
            raise ValueError("%s: input %d is left out" % (origin, at))
    known = schema.attributes if schema else {}
    needed = [name for name, each in known.items() if each.required] if schema else _NEEDED.get(node.op_type, ())
    found = {}
    for each in node.attribute:
        name = each.name
        kind = known[name].type.value if name in known else None if schema else _KINDS.get(name, _KIND.INT)
        word = None if kind is None else "read" if rows is None else rows.get(name)
        if word is None:
            refuse(origin, "has the attribute %s, which odt does not know" % name, "none such")
        if each.ref_attr_name or each.type != kind:
            place = (origin, name, _WORDS.get(each.type, "?"), _WORDS[kind])
            raise ValueError("%s: attribute %s is of type %s, expected %s" % place)
        with parsing(origin):
            value = onnx.helper.get_attribute_value(each)
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        if np.size(value) and kind in (_KIND.FLOAT, _KIND.FLOATS) and not np.all(np.isfinite(value)):
            raise ValueError("%s: attribute %s is %s" % (origin, name, value))
        if name in _FLAGS and value not in (0, 1):
            raise ValueError("%s: attribute %s is %s, expected 0 or 1" % (origin, name, value))
        if word == "default":
            usual = known[name].default_value if name in known else None
            usual = onnx.helper.get_attribute_value(usual) if usual is not None and usual.type else 0
            usual = usual.decode() if isinstance(usual, bytes) else usual
            if value != usual:
                better = (
                    "one scale for the tensor or for each channel" if name == "block_size" else "%s=%s" % (name, usual)
                )
                refuse(origin, "has %s=%s" % (name, value), better)
        found[name] = value
    for name in needed:
        if name not in found:
            raise ValueError("%s: has no attribute %s" % (origin, name))
    return found
