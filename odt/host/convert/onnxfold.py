"""What nodes of constants alone give: shapes, and weights in another form.

ONNX's reference computes it, so that every attribute counts.

A file of a few bytes can name a tensor of any size: how large a result becomes is known before it is made, and all of
them have a budget.
"""

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

from .graph import parsing, product, refuse, whole_numbers


def _joint(shapes, origin):
    with parsing(origin):
        return product(np.broadcast_shapes(*shapes))


def _largest(inputs, attributes, origin):
    """The bound for an operator whose result has no more numbers than its inputs together."""
    return sum(product([max(n, 1) for n in each.shape]) for each in inputs if each is not None)


def _few(inputs, attributes, origin):
    return 64


def _elementwise(inputs, attributes, origin):
    return _joint([each.shape for each in inputs if each is not None], origin)


def _expand(inputs, attributes, origin):
    return _joint([inputs[0].shape, tuple(max(n, 0) for n in whole_numbers(inputs[1], origin))], origin)


def _tile(inputs, attributes, origin):
    return inputs[0].size * product(whole_numbers(inputs[1], origin))


def _range(inputs, attributes, origin):
    numbers = [each for each in inputs if each is not None and each.size == 1 and each.dtype.kind in "iuf"]
    start, limit, delta = [float(np.ravel(each)[0]) for each in numbers] if len(numbers) == 3 else (0.0, 0.0, 0.0)
    if not delta or not abs((limit - start) / delta) < 1e18:
        raise ValueError("%s: a range of %s, %s, %s" % (origin, start, limit, delta))
    return max(int(np.ceil((limit - start) / delta)), 0)


def _gather(inputs, attributes, origin):
    data, indices, axis = inputs[0], inputs[1], attributes.get("axis", 0)
    if not -data.ndim <= axis < data.ndim:
        raise ValueError("%s: axis %d of a constant of shape %s" % (origin, axis, data.shape))
    return indices.size * product([n for at, n in enumerate(data.shape) if at != axis % data.ndim])


def _matmul(inputs, attributes, origin):
    first, second = inputs[:2]
    if min(first.ndim, second.ndim) < 1 or max(first.ndim, second.ndim) > 2:
        refuse(origin, "multiplies constants of shapes %s and %s" % (first.shape, second.shape), "matrices")
    rows = first.shape[0] if first.ndim > 1 else 1
    columns = second.shape[1] if second.ndim > 1 else 1
    inner = first.shape[-1]
    return max(rows * columns, rows * columns * inner >> 10)  # the multiplications take time


def _pad(inputs, attributes, origin):
    flat = whole_numbers(inputs[1], origin) if len(inputs) > 1 else attributes.get("pads", ())
    return product([n + sum(max(each, 0) for each in flat) for n in inputs[0].shape])


def _resize(inputs, attributes, origin):
    if len(inputs) > 3 and inputs[3] is not None:
        return product(whole_numbers(inputs[3], origin)) * max(inputs[0].size, 1)
    scales = inputs[2] if len(inputs) > 2 else inputs[1] if len(inputs) > 1 else np.array(attributes.get("scales", ()))
    if scales is None or scales.dtype.kind != "f" or scales.size > 8 or not np.all((scales > 0) & (scales < 1e6)):
        raise ValueError("%s: scales of %s" % (origin, scales))
    return int(inputs[0].size * np.prod(np.maximum(scales, 1), dtype=np.float64))


def _of_shape(inputs, attributes, origin):
    return product(whole_numbers(inputs[0], origin))


def _attribute(inputs, attributes, origin):
    for name in ("sparse_value", "value_string", "value_strings"):
        if name in attributes:
            refuse(origin, "is a constant by %s" % name, "one of numbers, and dense")
    return 0  # its numbers stand in the file


_SIZES = {
    _largest: "Abs Cast CastLike Ceil Concat Cos CumSum Erf Exp Flatten Floor Identity Log Neg Not Reciprocal "
    "ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape Round Sigmoid Sign Sin "
    "Slice Softmax Softplus Split Sqrt Squeeze Tanh Transpose Trilu Unsqueeze",
    _elementwise: "Add And Div Equal Greater GreaterOrEqual Less LessOrEqual Max Min Mod Mul Or Pow Sub Sum Where Clip",
    _few: "Shape Size", _attribute: "Constant", _of_shape: "ConstantOfShape", _expand: "Expand", _tile: "Tile",
    _range: "Range", _gather: "Gather",
    _matmul: "MatMul", _pad: "Pad", _resize: "Resize Upsample",
}  # fmt: skip
FOLDED = {name: size for size, names in _SIZES.items() for name in names.split()}


def size(op, inputs, attributes, origin):
    """How many numbers the results of an operator have, at most."""
    return FOLDED[op](inputs, attributes, origin)


def fold(node, inputs, opset, origin):
    """The results of a node, as NumPy arrays, in the order of its outputs."""
    names = ["i%d" % at if each is not None else "" for at, each in enumerate(inputs)]
    outputs = ["o%d" % at for at in range(max(len(node.output), 1))]
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    copy.input[:], copy.output[:], copy.domain = names, outputs, ""
    with parsing(origin), np.errstate(all="ignore"):
        given = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(each.dtype), each.shape)
            for name, each in zip(names, inputs)
            if each is not None
        ]
        made = [helper.make_tensor_value_info(name, onnx.TensorProto.UNDEFINED, None) for name in outputs]
        graph = helper.make_graph([copy], "constants", given, made)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        found = ReferenceEvaluator(model).run(
            None, {name: each for name, each in zip(names, inputs) if each is not None}
        )
        return [np.asarray(each) for each in found]
