"""Loads programs from read-only buffers. Runs on a machine.

ODT_ARGS: program, start, stop; of one that clears two words.
"""

import gc
from array import array

import _odt

arguments = globals()["ODT_ARGS"]
program = arguments["program"]


def check(loaded):
    """It clears what it did when it was verified, whatever has become of the buffer."""
    gc.collect()
    for size in (16, 64, 256, 1024):  # what would take the place of a program that was let go
        len([bytes([165]) * size for _ in range(20)])
    arena = array("i", [5, 6])
    control = array("i", [0] * 17)
    _odt.run(loaded, [arena, bytearray(), control, None, None, None], arguments["start"], arguments["stop"])
    return list(arena) == [0, 0]


loaded, refused = [], 0
for shift in range(8):
    data = bytes(shift) + program
    try:
        loaded.append(_odt.load(memoryview(data)[shift:]))
    except ValueError:  # it lies at no multiple of 4
        refused += 1
    data = None
print("aligned", len(loaded), "refused", refused, all(check(each) for each in loaded))
count = 0
for other in (bytearray(program), memoryview(bytearray(program)), array("B", program), "text", None, 5, [1]):
    try:
        _odt.load(other)
    except TypeError:
        count += 1
print("written", count)
# A longer one: its buffer is not copied.
long = arguments["head"] + program[48:] * 2000
view = memoryview(long)
gc.collect()
before = gc.mem_free()
kept = _odt.load(view)
gc.collect()
print("copied", before - gc.mem_free() > 1000)
