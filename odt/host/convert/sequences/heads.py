"""PyTorch's operators on Numbers: what moves heads and time before the batch, and the products of an attention."""

import math

import numpy as np
import torch

from ..builder import Value
from ..graph import refuse
from . import attention
from .attention import Numbers, Projection, Scores

_ORDERS = ("transpose", "permute", "swapaxes", "swapdims", "movedim", "moveaxis")
_SHAPES = ("view", "reshape", "_unsafe_view", "flatten", "unflatten", "unsqueeze", "squeeze")
_MOVES = (
    *_ORDERS, *_SHAPES, "select", "slice", "narrow", "split", "split_with_sizes", "chunk", "unbind", "contiguous",
    "clone", "alias", "detach",
)  # fmt: skip
_PRODUCTS = ("scaled_dot_product_attention", "bmm", "baddbmm", "matmul")
_BETWEEN = ("mul", "div", "softmax", "_softmax", "dropout", "add", "masked_fill", "getitem")


def name_of(node):
    """conv2d of aten.conv2d.default, relu of aten.relu_.default; getitem."""
    schema = getattr(node.target, "_schema", None)
    return schema.name.rpartition("::")[2].rstrip("_") if schema else getattr(node.target, "__name__", str(node.target))


def projections(nodes):
    """The Linear nodes whose outputs may meet in an attention."""
    todo = [each for node in nodes if name_of(node) in _PRODUCTS for each in node.all_input_nodes]
    found, seen = set(), set()
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        name = name_of(node)
        if name == "linear":
            found.add(node)
        elif name in _MOVES or name in _BETWEEN:
            todo += node.all_input_nodes
    return found


def read(reader, a):
    """What an operator makes of Numbers, or of what becomes some; None where it takes tensors of samples."""
    given = [each for each in a.node.all_input_nodes if isinstance(reader.known.get(each.name), Numbers)]
    name = name_of(a.node)
    if not given and name in _MOVES and _moves_the_batch(reader, a):
        return _moved(reader, a, Numbers.of(a.value("self"), reader.batch, a.origin))
    if not given and a.node not in reader.projections and name not in _PRODUCTS:
        return None
    if name in _MOVES and len(given) == 1:
        return _moved(reader, a, reader.known[given[0].name])
    made = _CALLS[name](reader, a) if name in _CALLS else None
    if made is not None:
        return made
    for each in given:
        numbers = reader.known[each.name]
        reader.known[each.name] = numbers.settled(reader.builder, reader.batch)
        if reader.known[each.name] is numbers:
            refuse(numbers.origin, "gives %s a tensor that is none of samples" % a.origin, "the batch first")
    return None


def _moves_the_batch(reader, a):
    """Whether the first axis of what comes is not that of the samples."""
    made = a.node.meta["val"]
    if not isinstance(a.get("self"), Value) or not isinstance(made, torch.Tensor) or not made.ndim:
        return False
    before = a.node.args[0].meta["val"].ndim
    if name_of(a.node) in _ORDERS:
        sizes = torch.empty(tuple(range(2, 2 + before)))
        return a.node.target(sizes, *a.node.args[1:], **a.node.kwargs).shape[0] != 2
    return made.shape[0] != reader.batch and name_of(a.node) in _SHAPES


def _numbers(reader, a, name):
    x = a[name]
    return x if isinstance(x, Numbers) else Numbers.of(a.value(name), reader.batch, a.origin)


def _moved(reader, a, x):
    """The same numbers in another order, as PyTorch itself moves them."""

    def places(each):
        return torch.from_numpy(np.ascontiguousarray(x.places))

    args, options = torch.fx.node.map_arg((a.node.args, dict(a.node.kwargs)), places)
    made = a.node.target(*args, **options)
    several = isinstance(made, (list, tuple))
    found = [x.moved(each.numpy(), a.origin) for each in (made if several else [made])]
    if isinstance(x.source, Value):
        found = [each.settled(reader.builder, reader.batch) for each in found]
    return found if several else found[0]


def _linear(reader, a):
    x, kernel, bias, name = a["input"], a.part("weight"), a.part("bias"), a.layer("weight")
    if not isinstance(x, Numbers):
        made = Projection(a.value("input"), kernel, bias, name, a.origin)
        return Numbers.of(made, reader.batch, a.origin)
    made = attention.dense(reader.builder, x, reader.batch, kernel, bias, name, a.origin)
    return made.settled(reader.builder, reader.batch) if isinstance(made.source, Value) else made


def _attended(reader, a):
    query, key, value = (_numbers(reader, a, name) for name in ("query", "key", "value"))
    mask, scale = a["attn_mask"], a["scale"]
    steps, width = query.places.shape[-2:]
    if a["is_causal"]:
        mask = torch.full((steps, key.places.shape[-2]), -torch.inf).triu(1)
    elif isinstance(mask, torch.Tensor) and mask.dtype == torch.bool:
        mask = torch.where(mask, 0.0, -torch.inf)
    key = key.moved(key.places.swapaxes(-1, -2), a.origin)
    mask = None if mask is None else mask.numpy()
    scores = attention.scores(
        query, key, reader.batch, a.origin, mask, 1 / math.sqrt(width) if scale is None else scale
    )
    return attention.mixed(attention.softmax(scores, -1, a.origin), value, reader.batch, a.origin)


def _multiplied(reader, a):
    """Of two tensors: scores, or what softmax of them mixes; None where one is a constant."""
    names = [name for name in ("self", "other", "mat2", "batch1", "batch2") if name in a.values][-2:]
    if any(isinstance(a[name], torch.Tensor) for name in names):
        return None
    first, second = (_numbers(reader, a, name) for name in names)
    if isinstance(first.source, Scores):
        return attention.mixed(first, second, reader.batch, a.origin)
    mask = None
    if "batch1" in a.values:  # baddbmm: beta * self + alpha * product
        if a["beta"] != 1:
            refuse(a.origin, "has beta=%r" % a["beta"], "beta=1")
        mask = a.array("self")
    return attention.scores(first, second, reader.batch, a.origin, mask, a["alpha"] if mask is not None else 1)


def _scaled(reader, a):
    first = "self" if isinstance(a["self"], Numbers) else "other"
    other = a["other" if first == "self" else "self"]
    if not isinstance(other, (int, float)) and not (isinstance(other, torch.Tensor) and other.numel() == 1):
        return None
    factor = float(other)
    if name_of(a.node) == "div":
        if first == "other" or not factor:
            refuse(a.origin, "divides by a tensor or by 0", "a division by a number")
        factor = 1 / factor
    return attention.scaled(a[first], factor, a.origin)


def _masked(reader, a):
    if not isinstance(a["self"], Numbers) or not isinstance(a["self"].source, Scores):
        return None
    if name_of(a.node) == "add":
        return attention.masked(a["self"], a.array("other") * a["alpha"], a.origin)
    return attention.masked(a["self"], np.where(a.array("mask"), a.number("value"), 0.0), a.origin)


def _softmax(reader, a):
    return attention.softmax(a["self"], a["dim"], a.origin) if isinstance(a["self"].source, Scores) else None


def _same(reader, a):
    return a["input"]


_CALLS = {
    "linear": _linear, "scaled_dot_product_attention": _attended, "bmm": _multiplied, "baddbmm": _multiplied,
    "matmul": _multiplied, "mul": _scaled, "div": _scaled, "add": _masked, "masked_fill": _masked, "softmax": _softmax,
    "_softmax": _softmax, "dropout": _same,
}  # fmt: skip
