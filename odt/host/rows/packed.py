"""Kernels of 4 bits in flash: half the bytes, unpacked into the arena before each instruction that reads them.

The planner emits kernels at addresses of a region that there is not (Buffers below); then rewrite() puts an
``unpack_i4`` before each instruction that reads one. What it makes is scratch: planned, and gone after the instruction.
Where a whole kernel would make the arena larger, a forward pass of Dense and Conv2D may unpack and run it by groups of
output channels, to the same bits. An input's gradient, a sum over all rows, takes a kernel whole.
"""

from ...base.opcodes import opcode
from ...base.regions import CONSTANTS, REGION_SHIFT
from ...files.frozen import HEADER
from ...inspect.packed import Packed, stored
from ...plan.buffers import Buffers as WholeBuffers
from ...plan.instruction import END, FIRST, MARK, NAME, ROW, STOP
from .rewriting import live, replace
from .split import Buffers as SplitRows
from .split import SplitPlan

FOUR = 7  # in place of a region: a kernel of 4 bits, whose offset is that of its bytes in flash
LEAST, LEAST_DENSE = 2048, 512  # bytes of a group of rows: a convolution gathers its input once more for each
# What is unpacked at once: as much as leaves the step's peak as it is, the least bytes if none does; always these.
PEAK, FEW = "peak", "few"

# What calibration repeats with an input's gradient: it must not write over the kernel, which therefore comes before.
_PREPARES_DX = ("rescale_dx", "channel_scale_i8")


class Flash(int):
    """Bytes of frozen weights before the first of them, for data of which some kernels have 4 bits.

    ``bits``: of each kernel of the network 4 or 8, 0 of one that trains.
    """

    def __new__(cls, data):
        data = bytes(data)
        count = data[HEADER] if len(data) > HEADER else 0
        made = super().__new__(cls, HEADER + (1 + count + 3 & ~3))
        made.bits = bytes(data[HEADER + 1 : HEADER + 1 + count])
        return made


def table(bits):
    """What follows the header: the number of kernels, then Flash.bits of each, as whole words."""
    made = bytes([len(bits), *bits])
    return made + bytes(-len(made) % 4)


class Kernel:
    """Of a kernel of 4 bits: its rows, weights of a row, and the owner's name."""

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns


class _Freezes:
    """What buffers do otherwise where ``flash`` is a Flash."""

    layer4 = None  # the layer in hand, if its kernel has 4 bits

    def __init__(self, int8, flash, trains, named):
        super().__init__(int8, flash, trains, named)
        if not int8:
            raise ValueError("frozen: weights of 4 bits are for int8 models, this one is float32")
        self.bits = list(flash.bits)
        self.kernels = {}  # operand -> Kernel

    def parameters(self, node):
        """As of all buffers; ValueError for a layer that trains and has 4 bits."""
        if node in self.weights or node.layer.kernel_shape is None:
            return super().parameters(node)
        if not self.bits:
            raise ValueError("frozen: weights of another network, which has fewer layers")
        self.layer4 = node.layer if self.bits.pop(0) == 4 else None
        try:
            return super().parameters(node)
        finally:
            self.layer4 = None

    def keep(self, name, *what, **more):
        """As of all buffers."""
        if self.layer4 and name == self.layer4.name + " kernel":
            raise ValueError(
                "%r: its weights have 4 bits in what frozen= gives, so it cannot train: trainable=False, or pack() it "
                "with 8 bits" % self.layer4
            )
        return super().keep(name, *what, **more)

    def freeze(self, name, size, kind=None, role=None):
        """As of all buffers."""
        if not self.layer4 or name != self.layer4.name + " kernel":
            return super().freeze(name, size, kind, role)
        operand = super().freeze(name, stored(size)) & (1 << REGION_SHIFT) - 1 | FOUR << REGION_SHIFT
        rows = self.layer4.kernel_shape[0]
        self.kernels[operand] = Kernel(rows, size // rows)
        return operand


class Buffers(_Freezes, WholeBuffers):
    """Those of a plan with kernels of 4 bits."""


class SplitBuffers(_Freezes, SplitRows):
    """The same, where kernels that train in part are split."""


def rewrite(s, ends, parts):
    """Let kernels be unpacked before what reads them; the ``ends`` of the sections move.

    ``parts``: PEAK or FEW.
    """
    if not s.buffers.kernels:
        return
    used = live(s)
    most = max(used) if parts == PEAK else 0

    def extend(made, index, instruction):
        found = _unpacked(s, instruction, most - used[index])
        at = len(made)
        while at and made[at - 1][ROW][NAME] in _PREPARES_DX:
            at -= 1
        made[at:at] = found[:1]
        made += found[1:]

    replace(s, ends, FOUR, extend)


def _unpacked(s, instruction, room):
    """What an instruction becomes, one of whose operands is a kernel of 4 bits; ``room``: bytes for scratch."""
    kind, mark = instruction[ROW], instruction[MARK]
    operands, sizes = list(instruction[FIRST : kind[STOP]]), list(instruction[kind[STOP] : kind[END]])
    at = [operand >> REGION_SHIFT for operand in operands].index(FOUR)
    kernel = s.buffers.kernels[operands[at]]
    place = operands[at] & (1 << REGION_SHIFT) - 1
    rows, pixels, number = _group(kind[NAME], sizes, kernel, room)
    made = []
    for first in range(0, kernel.rows, rows):
        count = min(rows, kernel.rows - first)
        words = stored(count * kernel.columns) // 4
        parts, numbers = list(operands), list(sizes)
        parts[at] = s.scratch("kernel", 8 * words)
        source = CONSTANTS << REGION_SHIFT | place + first * kernel.columns // 2
        made.append(s.instruction("unpack_i4", (parts[at], source), (words,), mark))
        if count < kernel.rows:
            numbers[number] = count
            parts[at + 1] = s.arena.part(operands[at + 1], 4 * first, 4 * count)  # biases and multipliers
            parts[at + 2] = s.arena.part(operands[at + 2], 8 * first, 8 * count)
            if pixels == 1:
                parts[0] = s.arena.part(operands[0], first, count)
            else:
                parts[0] = s.scratch("channels", pixels * count, s.arena.kinds[operands[0]])
        made.append(s.instruction(kind[NAME], tuple(parts), tuple(numbers), mark))
        if count < kernel.rows and pixels > 1:
            made.append(s.instruction("place", (operands[0], parts[0]), (pixels, count, kernel.rows, first), mark))
    return made


def _group(name, sizes, kernel, room):
    """(rows at once, pixels of the output, index of the immediate that counts channels) of an instruction."""
    if name not in ("dense_i8", "conv2d_i8"):
        return kernel.rows, 1, None
    immediates = opcode(name).immediates
    names = dict(zip(immediates, sizes))
    pixels = names["B"] * names["OH"] * names["OW"] if "OH" in names else names["M"]

    def takes(rows):
        beside = pixels * rows if pixels > 1 and rows < kernel.rows else 0
        return 2 * stored(rows * kernel.columns) + beside

    # rows after which a word of eight weights begins
    step = min([rows for rows in (1, 2, 4, 8) if rows * kernel.columns % 8 == 0])
    least = step * -(-(LEAST if pixels > 1 else LEAST_DENSE) // (step * kernel.columns))
    counts = [kernel.rows, *range(kernel.rows // step * step, least - 1, -step)]
    rows = next((count for count in counts if takes(count) <= room), None) or min(counts, key=takes)
    rows = step * -(-kernel.rows // (step * -(-kernel.rows // rows)))  # groups of about one size
    return rows, pixels, immediates.index("N")


class PackedPlan(SplitPlan):
    """The Plan of a program that unpacks kernels; ``of_four``: what summary() says of them."""

    def __init__(self, plan, found):
        super().__init__(plan, found)
        names = [layer.name for layer, weights in self.each() if hasattr(weights.kernel, "bits")]
        self.of_four = ", of 4 bits: " + " ".join(names)

    def with_rows(self, data):
        """The bytes of flash: ``data``, and the rows of split kernels."""
        return super().with_rows(data) if self.found else data

    def commit(self):
        """As of a SplitPlan."""
        if self.found:
            super().commit()

    def _each(self):
        for layer, weights, into in super()._each():
            kernel = weights.kernel
            if kernel is not None and kernel.region == FOUR:
                weights.kernel = Packed(kernel.name, kernel.size, kernel.offset)
                weights.frozen = [weights.kernel if each is kernel else each for each in weights.frozen]
            yield layer, weights, into
