"""Instructions before they have addresses, and the program that they become.

An instruction is a tuple, as a network has hundreds and a board's RAM is small:

- its row: what the planner knows of its kind (row()), a tuple of NUMBER, ACCESS, STOP, END, SHARES, FORMAT and NAME;
- a mark, mostly None. A node: this computes it a second time. Of a ReLU's mask: the name, and the immediates but the
  sizes, of the instruction that makes the same mask as bits (masks.py);
- its operands, up to STOP (values.py), then its immediates, up to END;
- where names are noted, the name of its layer.
"""

import struct

from ..base.opcodes import line
from ..base.regions import REGION_SHIFT, VERSION, const
from .program import HEADER_WORDS, MAGIC, SECTIONS_AT

# Of a row.
NUMBER = const(0)
ACCESS = const(1)  # of each operand a byte, WRITES, READS or UPDATES
STOP = const(2)  # where in an instruction its operands end,
END = const(3)  # and its immediates
SHARES = const(4)  # (output, input), if the output may lie in the memory of the input, else None
FORMAT = const(5)  # of the instruction's words, for struct
NAME = const(6)

# Of an instruction.
ROW = const(0)
MARK = const(1)
FIRST = const(2)  # operand

READS = const(58)  # ":"
UPDATES = const(43)  # "+"
WRITES = const(61)  # "="

_WINDOW = const(12)  # words more than "@"
_NAME = b"abcdefghijklmnopqrstuvwxyz_0123456789"  # of an operand


def row(name):
    """What the planner knows of an instruction: read from its line of opcodes.TABLE, of which it decodes no more."""
    number, text = line(name)
    head, _, tail = text.partition(b";")
    accesses = bytes(
        [letter for letter in head if letter <= WRITES and (letter >= READS or letter == UPDATES)]
    )  # soonest for letters
    stop = FIRST + len(accesses)
    end = stop + tail.count(b" ") + (_WINDOW if b"@" in tail else 0)
    shares, at = None, head.find(b"~")
    if at > 0:
        names = [word[: len(word) - len(word.lstrip(_NAME))] for word in head.split()[1:]]
        shares = head[:at].count(b" ") - 1, names.index(head[at + 1 :].split()[0])
    return number, accesses, stop, end, shares, "<%di" % (end - 1), name


def room(instructions):
    """A bytearray as long as their program. A board finds one piece for it sooner before it places buffers."""
    words = HEADER_WORDS
    for instruction in instructions:
        words += instruction[0][END] - 1
    return bytearray(4 * words)


def encode(code, instructions, addresses, arena, state, constants, ends):
    """Write the program, of regions of these bytes, into ``code`` (room()), and return it.

    ``addresses``: Arena.addresses(); ``ends`` gives each section's number of instructions, all from the first.
    """
    struct.pack_into("<6I", code, 0, MAGIC, VERSION, len(code) // 4, arena, state, constants)
    at = 4 * HEADER_WORDS
    done = 0
    for number, end in enumerate(ends):
        for instruction in instructions[done:end]:
            kind = instruction[ROW]
            stop = kind[STOP]
            words = [kind[NUMBER]]
            for operand in instruction[FIRST:stop]:
                words.append(operand if operand >> REGION_SHIFT else addresses[operand])
            words += instruction[stop : kind[END]]
            struct.pack_into(kind[FORMAT], code, at, *words)
            at += 4 * len(words)
        struct.pack_into("<2I", code, 4 * (SECTIONS_AT + 2 * number), HEADER_WORDS, at // 4)
        done = end
    return code
