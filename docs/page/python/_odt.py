"""odt's native module on a page: native/bindings/wasm.c computes in a memory of its own, which JavaScript holds.

The same interface as the module of a firmware (native/bindings/entry_points.h). Buffers are passed by their address and
length in MicroPython's memory; docs/page/src/binding.js copies them there and back.
"""

import odtwasm
from uctypes import addressof

from odt.reference.buffers import count_samples, find_nonfinite, nbytes, predict, typecode  # noqa: F401

VERSION = odtwasm.version()
_NAMES = ("ARENA", "STATE", "CONTROL", "X_DATA", "Y_DATA", "CONSTANTS")
_WRITTEN = 3  # the first regions


class Program:
    """A verified program, and the bytes that it needs of each region."""

    def __init__(self, code):
        self.code, self.words, self.place = code, len(code) // 4, addressof(code)
        self.bytes = [odtwasm.region_bytes(self.place, self.words, region) for region in range(len(_NAMES))]


def load(program):
    if not isinstance(program, bytes):
        raise TypeError("program must be bytes")
    if len(program) % 4:
        raise ValueError("program: not of whole words")
    fault = bytearray(24)
    error = odtwasm.verify(addressof(program), len(program) // 4, addressof(fault))
    if error:
        raise ValueError("program: word %d: error %d of odt_verify()" % (int.from_bytes(fault[:4], "little"), error))
    return Program(program)


def run(program, regions, start, stop, rows=0):
    if not isinstance(program, Program):
        raise TypeError("expected a Program from load()")
    if len(regions) != len(_NAMES):
        raise ValueError("regions: expected 6")
    places = []
    for index, region in enumerate(regions):
        size = 0 if region is None else nbytes(region)
        if size < program.bytes[index]:
            raise ValueError("region %s has %d bytes, program needs %d" % (_NAMES[index], size, program.bytes[index]))
        if size and index < _WRITTEN:
            view = memoryview(region)
            view[0:0] = view[0:0]  # TypeError where it may not be written
        places += (addressof(region) if size else 0, size)
    if not odtwasm.run(program.place, program.words, start, stop, rows, *places):
        raise ValueError("words %d to %d are not a run of instructions" % (start, stop))


def crc32(buffer, crc=0):
    return odtwasm.crc32(addressof(buffer), nbytes(buffer), crc) & 0xFFFFFFFF


def draw(buffer, key, first):
    odtwasm.draw(addressof(buffer), nbytes(buffer) // 2, key, first)


def draw_bytes(buffer, at, count, key, first, low):
    if at < 0 or count < 0 or at + count > nbytes(buffer):
        raise ValueError("the buffer does not have these bytes")
    odtwasm.draw_bytes(addressof(buffer) + at, count, key, first, int(low))


def _places(*buffers):
    found = []
    for buffer in buffers:
        found += (addressof(buffer), nbytes(buffer))
    return found


def log_mel(out, samples, tables, work):
    return odtwasm.log_mel(*_places(out, samples, tables, work))


def motion(out, samples, tables, work):
    return odtwasm.motion(*_places(out, samples, tables, work))
