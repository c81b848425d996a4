"""Programs as they are read: a flat array of int32, and its header. Format: docs/reference/program.md."""

import struct
from array import array

from ..base.regions import const

MAGIC = const(0x3154444F)  # "ODT1"
HEADER_WORDS = const(12)

_ARENA = const(3)
SECTIONS_AT = const(6)
SECTIONS = ("predict", "evaluate", "train")


class Program:
    """A program, its words readable by name."""

    code: "bytes"
    arena: "int"
    state: "int"
    constants: "int"

    def __init__(self, code: "bytes") -> None:
        self.code = code
        self.arena, self.state, self.constants = self._read(_ARENA, 3)

    @property
    def words(self) -> "array[int]":
        """All words, as an array; where RAM is short, ``walk``."""
        return array("i", bytes(self.code))

    def _read(self, at, count):
        return struct.unpack_from("<%di" % count, self.code, 4 * at)

    def section(self, name: "str") -> "tuple[int, int]":
        """(start, stop) in words."""
        return self._read(SECTIONS_AT + 2 * SECTIONS.index(name), 2)

    def walk(self, start, stop):
        """Yield ``(word, Opcode, addresses, immediates)`` of each instruction; with its prefix it is a Prefixed."""
        from ..base.opcodes import PREFIXES, opcode  # the table of instructions: in RAM only where a program is walked

        while start < stop:
            code, addresses, immediates = self._decode(start, opcode)
            if code.name in PREFIXES:
                prefix = code, addresses, immediates
                code, addresses, immediates = self._decode(start + code.words, opcode)
                code = Prefixed(code, prefix)
            yield start, code, addresses, immediates
            start += code.words

    def _decode(self, start, opcode):
        code = opcode(self._read(start, 1)[0])
        words = self._read(start + 1, code.words - 1)
        split = len(code.operands)
        return code, list(words[:split]), list(words[split:])


class Prefixed:
    """An Opcode with its ``prefix``, (Opcode, addresses, immediates)."""

    def __init__(self, code, prefix):
        self.prefix = prefix
        self.number, self.name, self.bytes = code.number, code.name, code.bytes
        self.operands, self.immediates = code.operands, code.immediates
        self.words = prefix[0].words + code.words
