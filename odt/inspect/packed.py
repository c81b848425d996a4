"""Frozen weights of 4 bits, as a compiled model and one from a file know them.

They lie in flash, eight in a word: byte i of a word has weight i in its low nibble and weight i + 4 in its high one,
each from -8 to 7. The program's ``unpack_i4`` makes int8 of them, 16 times as much, in the arena; host/rows/packed.py
plans it, on a PC. Here they are read for get_weights() and its like, and never written.
"""

from ..base.fixed import within
from ..base.regions import CONSTANTS
from ..plan.values import Buffer


def stored(count):
    """Bytes in flash of that many weights."""
    return (count + 7) // 8 * 4


class Packed(Buffer):
    """A kernel of ``size`` weights of 4 bits, from ``offset`` on in flash; memory() has them as int8."""

    bits = 4

    def __init__(self, name, size, offset):
        super().__init__(name, size, None, CONSTANTS)
        self.offset = offset

    def memory(self, state, flash=None):
        """Its bytes from ``offset`` on, as int8."""
        return Unpacked(self.offset, flash)


def _check(kernel, weights, plan):
    """ValueError unless it is a kernel in flash; ``plan`` then tells of it (report.py)."""
    if weights.kernel is not kernel or kernel.offset & 3:
        raise ValueError("%s of 4 bits is no kernel" % kernel.name)
    within("size", kernel.size, 1 << 26)
    within("offset", kernel.offset, plan.constants - stored(kernel.size) + 1)
    plan.of_four = getattr(plan, "of_four", ", of 4 bits:") + " " + kernel.name[: -len(" kernel")]


Packed.check = staticmethod(_check)


class Unpacked:
    """The weights by index, ``at`` being that of the first: bytes 0 to 255."""

    def __init__(self, at, flash):
        self.at, self.flash = at, flash

    def __getitem__(self, index):
        index -= self.at
        byte = self.flash[self.at + (index >> 3 << 2) + (index & 3)]
        return byte << 4 - (index & 4) & 0xF0
