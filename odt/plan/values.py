"""What instructions work on: buffers, what their numbers mean, and which of them are a layer's weights.

While a network is planned an operand is an int, as there are hundreds of them and a board's RAM is small. Outside of
the arena it is the operand's address, as a program has it: ``region << REGION_SHIFT | offset``. In the arena, where
nothing has an address yet, it is the number of a buffer (memory.Arena). A compiled model keeps Buffers, and of its
planning nothing else that is in this file.
"""

from ..base.fixed import ONE
from ..base.regions import ARENA, REGION_SHIFT

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
ROLES = (None, FLOAT, ADDED)  # of vectors


class Buffer:
    """A run of bytes in one region, as a compiled model knows it and as who looks inside sees it (seen.py).

    ``kind`` says what for: it groups the RAM plan. ``role``: of a buffer of the state, where its kind does not say what
    its numbers are. ``root``: of a part of another buffer, or of one that takes another's place, that one; it begins
    ``shift`` bytes after. ``exponents``: of int16 state, the buffer that has them. ``bits_of``: the activation whose
    ReLU mask it is.
    """

    role = root = exponents = bits_of = offset = None
    shift = 0

    def __init__(self, name, size, kind, region=ARENA):
        self.name = name
        self.size = size
        self.kind = kind
        self.region = region


def home(buffer):
    """The buffer that owns the memory, and the distance from its start."""
    shift = 0
    while buffer.root is not None:
        shift += buffer.shift
        buffer = buffer.root
    return buffer, shift


class Value:
    """A tensor between instructions: its buffer and, in int8, what its numbers mean.

    A stored q stands for ``(q - zero) * scale * factor``; ``lo`` is its lower clamp. ``buffer``, ``scale`` and ``peak``
    are operands.
    """

    scale = peak = None
    zero = 0
    lo = -127
    factor = ONE

    def __init__(self, buffer, count):
        self.buffer = buffer
        self.count = count  # elements, the batch included

    def alias(self):
        """The same numbers once more, for a caller to give another meaning."""
        twin = Value(self.buffer, self.count)
        if self.scale is not None:  # else the class's: a board's RAM is small
            twin.scale, twin.zero, twin.lo, twin.factor, twin.peak = (
                self.scale, self.zero, self.lo, self.factor, self.peak
            )  # fmt: skip
        return twin


class Weights:
    """A layer's parameters in the state: kernel, residual, channel scales, bias; or a normalisation's vectors.

    ``trained``: the Parts of the kernel's rows that train; ``vectors``: all but the kernel, in the order of
    ``get_weights``; ``folded``: the BatchNorm, and its Weights, that kernel and bias hold; ``into``: of such a
    BatchNorm, the Weights that hold it.
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
    in the kernel itself they lie ``shift`` rows further. ``chosen``: which rows the instructions for row 0 are repeated
    for (adapt/plan.py).
    """

    chosen = None

    def __init__(self, total, columns, at=0, rows=None, shift=0):
        self.total = total
        self.columns = columns
        self.at = at
        self.rows = total if rows is None else rows
        self.count = self.rows * columns
        self.shift = shift

    def room(self):
        """Rows that what is made for one step needs."""
        return self.chosen.most if self.chosen else self.rows

    def of(self, arena, operand, row):
        """These rows of an operand whose rows have ``row`` bytes."""
        if self.rows == self.total:
            return operand
        return arena.part(operand, self.at * row, self.rows * row)

    def within(self, kernel, row):
        """Where ``total`` rows of a kernel of the state or of flash begin such that the rows that this Part counts are
        its own.
        """
        return kernel + self.shift * row


def placed(operand, name, size, role=None, kind=WEIGHT):
    """A Buffer at the address that an operand is."""
    made = Buffer(name, size, kind, operand >> REGION_SHIFT)
    made.offset = operand & (1 << REGION_SHIFT) - 1
    if role:  # else the class's: a board's RAM is small
        made.role = role
    return made


class Plan:
    """What compile() decided: the program's bytes, where things lie in the state, the RAM plan.

    ``reading``: (mean, variance, channels, epsilon) of the BatchNorm by which samples are read, offsets in the state;
    None without. ``owners``: the layers that have weights, in the order of the nodes; ``words``: what
    Parameters.words() says of them. Weights are made of it when they are asked for: as objects they would take seven
    hundred bytes of a board's RAM for a dense layer. ``rows``: on a PC, host.rows.Rows of a plan whose forward pass
    runs by rows.
    """

    reading = rows = None

    @property
    def weights(self):
        """[(layer, Weights)], new objects."""
        found = list(self._each())
        for layer, weights, into in found:
            if into >= 0:
                weights.into = found[into][1]
                weights.into.folded = layer, weights
        return [(layer, weights) for layer, weights, _ in found]

    def each(self):
        """Yield the same, one after the other, without ``folded`` and ``into``."""
        for layer, weights, _ in self._each():
            yield layer, weights

    def _each(self):
        words = iter(self.words)
        for layer in self.owners:
            into = next(words)
            yield layer, _weights(layer, words), into


def _weights(layer, words):
    """A layer's Weights, of the next words; of what buffers.py gives names and sizes to, these are the same."""

    def buffer(name, size, role=None):
        operand = next(words)
        return None if operand < 0 else placed(operand, "%s %s" % (layer.name, name), size, role)

    rows, columns, unit, common, fixed, parts, vectors = [next(words) for _ in range(7)]
    made = Weights(rows, columns, [Part(*[next(words) for _ in range(5)]) for _ in range(parts)], common == 1)
    made.kernel = buffer("kernel", rows * columns * unit)
    made.residual = buffer("residual", made.trained[0].total * columns if parts else 0)
    made.scale = buffer("kernel scale", 4 * rows, SCALE)
    made.bias = buffer("bias", 4 * rows)
    made.frozen = [each for bit, each in ((1, made.kernel), (2, made.scale), (4, made.bias)) if fixed & bit]
    names = [name for name, _ in layer.weight_shapes() if name != "kernel"]
    for name in names[:vectors]:
        made.vectors.append(made.bias if name == "bias" else buffer(name, 4 * rows, ROLES[next(words)]))
    return made
