"""ONNX's operators on Numbers: what moves heads and time before the batch, and the products of an attention."""

import numpy as np

from ..builder import Value
from ..graph import refuse
from ..onnxfold import fold
from . import attention
from .attention import Numbers, Scores
from .recurrence import Moved

_MOVES = ("Transpose", "Reshape", "Squeeze", "Unsqueeze", "Slice", "Split", "Gather", "Flatten", "Identity")
_BETWEEN = ("Mul", "Div", "Add", "Softmax", "Dropout", "Where")


def projections(nodes, given):
    """Outputs of the MatMul and Gemm nodes that may meet in an attention: that multiply a constant, before a product of
    two tensors of the network.

    ``given``: the names of the network's input.
    """
    made, live = {name: node for node in nodes for name in node.output}, set(given)
    for node in nodes:
        if live & set(node.input) and node.op_type not in ("Shape", "Size"):
            live |= set(node.output)
    products = [node for node in nodes if node.op_type == "MatMul" and live >= set(node.input)]
    todo, seen, found = [name for node in products for name in node.input], set(), set()
    while todo:
        name = todo.pop()
        node = made.get(name)
        if node is None or name in seen:
            continue
        seen.add(name)
        if node.op_type in ("MatMul", "Gemm") and node not in products:
            found.add(name)
        elif node in products or node.op_type in _MOVES + _BETWEEN:
            todo += [each for each in node.input if each in live]
    return found


def read(reader, a):
    """What an operator makes of Numbers, or of what becomes some; None where it takes tensors of samples."""
    at = [index for index, each in enumerate(a.inputs) if isinstance(each, Numbers)]
    op = a.node.op_type
    if a.output in reader.with_bias:
        return next(each for each in a.inputs if not isinstance(each, np.ndarray))
    if not at and a.output not in reader.projections:
        return None
    if op == "Shape" and at:
        return np.array(np.shape(a.inputs[0].places), np.int64)
    if op in _MOVES and at == [0]:
        return _moved(reader, a)
    made = _CALLS[op](reader, a) if op in _CALLS else None
    if made is not None:
        return made
    for index in at:
        numbers = a.inputs[index]
        a.inputs[index] = numbers.settled(reader.builder, reader.batch)
        if a.inputs[index] is numbers:
            refuse(numbers.origin, "gives %s a tensor that is none of samples" % a.origin, "the batch first")
    return None


def _moved(reader, a):
    """The same numbers in another order, as ONNX's reference moves them."""
    x = a.inputs[0]
    constants = [a.constant(at) for at in range(1, len(a.inputs))]
    found = [x.moved(each, a.origin) for each in fold(a.node, [x.places, *constants], reader.opset, a.origin)]
    if isinstance(x.source, Value):
        found = [each.settled(reader.builder, reader.batch) for each in found]
    return found


def _numbers(reader, a, at):
    """An input as Numbers: of (batch, ..), or of a tensor whose batch is not the first axis."""
    x = a.inputs[at]
    if isinstance(x, Moved):
        whole = Numbers.of(x.value, reader.batch, x.origin)
        return whole.moved(np.moveaxis(whole.places, 0, x.at), x.origin)
    return x if isinstance(x, Numbers) else Numbers.of(a.value(at), reader.batch, a.origin)


def _product(reader, a):
    """Of rows and a constant: a projection, or what follows an attention; of two tensors: scores, or what these mix."""
    constant = [isinstance(each, np.ndarray) for each in a.inputs[:2]]
    if constant == [True, False]:
        return None
    first = _numbers(reader, a, 0)
    if constant[1]:
        kernel = a.matrix(1, a.get("transB", 0)) * a.get("alpha", 1.0)
        if a.node.op_type == "Gemm":
            bias = a.weight(2)
            bias = None if bias is None else np.broadcast_to(bias * a.get("beta", 1.0), kernel.shape[:1])
        else:
            bias = _bias_after(reader, a, len(kernel))
        made = attention.dense(reader.builder, first, reader.batch, kernel, bias, a.name, a.origin)
        return made.settled(reader.builder, reader.batch) if isinstance(made.source, Value) else made
    second = _numbers(reader, a, 1)
    if isinstance(first.source, Scores):
        return attention.mixed(first, second, reader.batch, a.origin)
    return attention.scores(first, second, reader.batch, a.origin)


def _bias_after(reader, a, units):
    """The constant that the one node that reads this product adds to it, or None."""
    readers = [node for _, node in reader.nodes if a.output in node.input]
    if len(readers) != 1 or readers[0].op_type != "Add":
        return None
    others = [reader.known.get(name) for name in readers[0].input if name != a.output]
    if len(others) != 1 or not isinstance(others[0], np.ndarray) or others[0].shape != (units,):
        return None
    reader.with_bias.add(readers[0].output[0])
    return others[0]


def _scaled(reader, a):
    at = 0 if isinstance(a.inputs[0], Numbers) else 1
    factor = a.inputs[1 - at]
    if not isinstance(factor, np.ndarray) or factor.size != 1:
        return None
    factor = float(factor.ravel()[0])
    if a.node.op_type == "Div":
        if at or not factor:
            refuse(a.origin, "divides by a tensor or by 0", "a division by a number")
        factor = 1 / factor
    return attention.scaled(a.inputs[at], factor, a.origin)


def _added(reader, a):
    at = 0 if isinstance(a.inputs[0], Numbers) else 1
    x, constant = a.inputs[at], a.inputs[1 - at]
    if not isinstance(constant, np.ndarray):
        return None
    return attention.masked(x, constant, a.origin) if isinstance(x.source, Scores) else None


def _chosen(reader, a):
    """Scores, or a constant where a mask is not 0."""
    mask, first, second = a.inputs
    if not isinstance(mask, np.ndarray) or isinstance(first, Numbers) == isinstance(second, Numbers):
        return None
    x, constant = (first, second) if isinstance(first, Numbers) else (second, first)
    if not isinstance(constant, np.ndarray) or not isinstance(x.source, Scores):
        return None
    hidden = np.where(mask, 0.0, constant) if x is first else np.where(mask, constant, 0.0)
    return attention.masked(x, hidden, a.origin)


def _softmax(reader, a):
    usual = 1 if reader.opset < 13 else -1
    return attention.softmax(a.inputs[0], a.get("axis", usual), a.origin)


_CALLS = {
    "MatMul": _product, "Gemm": _product, "Mul": _scaled, "Div": _scaled, "Add": _added, "Softmax": _softmax,
    "Where": _chosen, "Dropout": lambda reader, a: a.inputs[0],
}  # fmt: skip
