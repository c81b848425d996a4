"""The inner description of a network that comes in: nodes in odt's shapes, with float weights.

No framework is imported here.

A Node is one application of one operation. Shapes have no batch and end with the channels: (features,), (length,
channels) or (height, width, channels). Kernels are (out, .., in) as odt's. ``scale`` and ``zero_point`` are those of
the source's own int8 output, None where it has none; the scales of a kernel's bytes, one per row, are its weights
"steps".

| op | options | weights |
|---|---|---|
| input | | |
| dense | | kernel, bias or None; steps, where it was of bytes |
| conv, transposed | size, strides, pads ((before, after) of each axis), of conv also groups and, if not 1, dilation, of
  transposed out | kernel, bias or None |
| recurrent | kind "GRU", "LSTM" or "SimpleRNN"; sequences; of Keras stateful | kernel, bias, recurrent,
  recurrent_bias: odt's, or None |
| embedding | padding: None, or a row that the source does not train | kernel: a row for each token |
| attention, of query, value and key | heads, causal | query, key, value, output, each also with " bias", or None |
| position | | position: a number for each of the input's |
| norm | kind "batch", "layer" or "group"; epsilon, momentum, groups | gamma, beta; of "batch" also mean, variance |
| affine | | gain, offset: one number per channel each |
| maxpool, avgpool | size, strides, pads, out | |
| adaptive | out | |
| globalavg, flatten, reshape | | |
| upsample | size | |
| relu, relu6, sigmoid, tanh, softmax, selu, gelu; erf, which is a part of gelu | | |
| elu | alpha | |
| leaky_relu | slope | |
| same: the same numbers, in other bytes | | |
| lookup, in place of several | function | |
| dropout | rate | |
| add, multiply, concatenate | | |
"""

from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

MOST = 1 << 23  # numbers of a tensor: what is larger is a damaged file, or no board's network
BUDGET = 4 * MOST  # numbers of all results that a file's constants give
LINEAR = ("dense", "conv", "transposed")


class Unsupported(ValueError):
    """A network has what odt has not: the message names node and operator, and what would do instead."""


@dataclass(eq=False)
class Node:
    op: str
    name: str
    origin: str  # for messages: the source's name of the node, and its operator
    inputs: list
    shape: tuple
    options: dict = field(default_factory=dict)
    weights: dict = field(default_factory=dict)
    scale: float = None
    zero_point: int = None
    trainable: bool = True
    whole: "Node" = None  # that this one and those between compute of one number alone


@dataclass
class Graph:
    """``nodes`` are in an order in which they can be computed; the first is the input, ``output`` one of them.

    ``source_shape``, ``source_output``: the shapes of a sample there; ``order`` and ``output_order``: of each number of
    odt's input and output, row after row, where it is among the source's.
    """

    nodes: list
    output: Node
    source_shape: tuple
    order: np.ndarray
    source_output: tuple
    output_order: np.ndarray

    def readers(self, node):
        return [other for other in self.nodes if any(each is node for each in other.inputs)]


def product(sizes):
    """How many numbers a tensor of these sizes has, however large they are."""
    return int(np.prod([max(int(n), 0) for n in sizes], dtype=object))


def whole_numbers(constant, origin):
    """The sizes or positions that a constant of a file names, a list; ValueError if it names none."""
    if constant is None or constant.dtype.kind not in "iu" or constant.size > 64:
        raise ValueError(
            "%s: whole numbers are expected, got %s" % (origin, "none" if constant is None else constant.dtype)
        )
    return [int(n) for n in np.ravel(constant)]


def refuse(origin, what, instead=None):
    """Raise Unsupported for a node."""
    raise Unsupported("%s: %s%s" % (origin, what, "; instead: " + instead if instead else ""))


@contextmanager
def parsing(name, what="damaged", errors=Exception):
    """What another library raises in this block, where it parses or computes what a file says, is the file's damage: a
    ValueError.

    Nothing of odt's own runs in such a block, or ``errors`` are those of the other alone: an error of odt's is a defect
    and keeps its type.
    """
    try:
        yield
    except (FileNotFoundError, PermissionError, IsADirectoryError, Unsupported):
        raise
    except errors as error:
        lines = str(error).strip().splitlines() or [""]
        raise ValueError("%s is %s: %s: %s" % (name, what, type(error).__name__, lines[0])) from error


def finite(origin, name, values):
    """The weights as a float64 array; ValueError where one is NaN, infinite or beyond float32."""
    values = np.asarray(values)
    if values.dtype.kind not in "fiub":
        raise ValueError("%s: %s is of %s, expected numbers" % (origin, name, values.dtype))
    values = values.astype(np.float64)
    wrong = np.flatnonzero(~(np.abs(values) <= 3e38))
    if len(wrong):
        place = (origin, name, wrong[0], float(values.ravel()[wrong[0]]), len(wrong), values.size)
        raise ValueError("%s: %s, number %d is %r (%d of %d are NaN, infinite or beyond float32)" % place)
    return values
