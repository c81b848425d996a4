"""What instructions work on: buffers, what their numbers mean, and which of them are a layer's weights.

A compiled model keeps some of these, and nothing else of its planning.
"""

from ..fixed import ONE
from ..regions import ARENA

# The kinds of buffers, as summary() groups them.
ACTIVATION = "activations"
ERROR = "errors"
GRADIENT = "gradients"
SCRATCH = "scratch"
WEIGHT = "weights"
OPTIMIZER = "optimizer state"

# The roles of the state's buffers that need one.
HEADER = "header"
SCALE = "scale"  # float32 bits: of an int8 tensor, or of each row of a kernel
EXPONENT = "exponent"  # int8, one per row of an optimizer's int16 state
FLOAT = "float32"  # float32 bits in int8 models, too
ADDED = "float32 plus epsilon"  # the same, of a variance to which the layer's epsilon has been added
CONSTANT = "constant"


class Buffer:
    """A run of bytes in one region. ``kind`` says what for: it groups the RAM plan.

    ``role``: of a buffer of the state, where its kind does not say what its numbers are; ``first``: what it holds at
    first (bytes), where that is known. ``exponents``: of int16 state, the buffer that has them. ``bits_of``: the
    activation whose ReLU mask it is.
    """

    role = first = exponents = bits_of = None

    def __init__(self, name, size, kind, region=ARENA):
        self.name = name
        self.size = size
        self.kind = kind
        self.region = region
        self.offset = None
        self.root = self  # whose memory this is: itself, or the buffer that it is part of or replaces
        self.shift = 0  # bytes after the root's start

    def part(self, name, shift, size):
        """A buffer inside this one."""
        part = Buffer(name, size, self.kind, self.region)
        part.root = self
        part.shift = shift
        return part


def home(buffer):
    """The buffer that owns the memory, and the distance from its start."""
    shift = 0
    while buffer.root is not buffer:
        shift += buffer.shift
        buffer = buffer.root
    return buffer, shift


class Value:
    """A tensor between instructions: its buffer and, in int8, what its numbers mean.

    A stored q stands for ``(q - zero) * scale * factor``; ``lo`` is its lower clamp.
    """

    def __init__(self, buffer, count, scale=None, zero=0, lo=-127, factor=ONE, peak=None):
        self.buffer = buffer
        self.count = count  # elements, the batch included
        self.scale = scale
        self.zero = zero
        self.lo = lo
        self.factor = factor
        self.peak = peak

    def alias(self, factor=None):
        """The same numbers meaning ``factor`` times as much."""
        factor = self.factor if factor is None else factor
        return Value(self.buffer, self.count, self.scale, self.zero, self.lo, factor, self.peak)


class Weights:
    """A layer's parameters in the state: kernel, residual, channel scales, bias; or a normalisation's vectors.

    ``trained``: the Parts of the kernel's rows that train; ``vectors``: all but the kernel, in the order of ``get_weights``; ``folded``:
    the BatchNorm, and its Weights, that kernel and bias hold; ``into``: of such a BatchNorm, the Weights
    that hold it.
    """

    folded = into = None

    def __init__(self, rows, columns, trained, common):
        self.vectors = []
        self.rows = rows
        self.columns = columns
        self.trained = trained
        self.common = common  # int8: all rows have one scale, so that the error's sum over them needs none
        self.kernel = self.residual = self.scale = self.bias = None
        self.frozen = []  # of these, what does not train, in the order of frozen.py


class Part:
    """Rows ``at`` .. ``at + rows - 1`` of a parameter of ``total`` rows of ``columns`` elements.

    Of a kernel they are counted among the rows that train, which have gradient, residual and optimizer state;
    in the kernel itself they lie ``shift`` rows further.
    """

    def __init__(self, total, columns, at=0, rows=None, shift=0):
        self.total = total
        self.columns = columns
        self.at = at
        self.rows = total if rows is None else rows
        self.count = self.rows * columns
        self.room = self.rows  # rows that what is made for one step needs
        self.chosen = None  # dynamic.py: which rows the instructions for row 0 are repeated for
        self.shift = shift

    def of(self, buffer, row):
        """These rows of a buffer whose rows have ``row`` bytes."""
        if self.rows == self.total:
            return buffer
        return buffer.part(buffer.name, self.at * row, self.rows * row)

    def within(self, kernel, row):
        """``total`` rows of a kernel's buffer, such that the rows that this Part counts are its own."""
        return kernel.part(kernel.name, self.shift * row, self.total * row)
