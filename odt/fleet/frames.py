"""Frames over a stream of bytes, between a PC and a board of a fleet.

A frame is the byte 0xC0, then kind (one byte), sequence number (one byte), body and their CRC-32 (little-endian), then
0xC0 again. Within it 0x03, 0xC0 and 0xDB are written as two bytes, as in SLIP (RFC 1055): Ctrl-C still interrupts a
board, and a reader that has lost its place finds it at the next 0xC0. What stands between frames is text.
Nothing here executes what it reads.
"""

import struct

from ..base import executor
from ..base.regions import const

END = b"\xc0"
LONGEST = const(512)  # bytes of a body at most
MOST = const(1040)  # bytes of a frame at most: each byte may take two
_END = const(0xC0)
# Plain, and as it is written. Its order matters: what begins the second is replaced first.
_CODES = ((b"\xdb", b"\xdb\xdc"), (b"\x03", b"\xdb\xdd"), (b"\xc0", b"\xdb\xde"))

# Requests of the PC. Integers are little-endian; a round counts from 1.
HELLO = const(0x48)  # version (1 byte) -> ABOUT, name, 0, shapes
PUT = const(0x50)  # round, first word (4 bytes each), int32 words of the model
TRAIN = const(0x54)  # TASK -> DONE
GET = const(0x47)  # round, first byte (4 bytes each), count (2) -> these bytes of the update
EVALUATE = const(0x45)  # round, 1: the model of the PC, 0: the board's own -> loss, accuracy (float32)
KEY = const(0x4B)  # -> public key (32 bytes)
MASK = const(0x4D)  # round, this node's place (1 byte), public keys of all nodes: secret.py
STEP = const(0x53)  # SCALAR: a step's number, the scalar of the step before -> SCALAR: its own of this step. zeroth.py
SUM = const(0x43)  # -> CRC-32 of the shared weights, as int32
QUIT = const(0x51)
# Answers of the board, with the request's sequence number.
ANSWER = const(0x41)
REFUSED = const(0x21)  # why, as text

VERSION = const(1)
ZEROTH = const(2)  # in ABOUT, beside the dtype: a node of zeroth order, whose rounds are steps
ABOUT = "<BBIIIII"  # version, 1: int8 or 0: float32, seed, CRC-32 of the layers, words, samples, last round
TASK = "<IIBBI"  # round, CRC-32 of the model, form of the update, momentum in 1/256, entries that are sent
SCALAR = "<Ii"
DONE = "<fIII"  # loss, samples, bytes of the update, their CRC-32


def pack(kind: "int", sequence: "int", body: "bytes" = b"") -> "bytes":
    """A frame, ready to be written."""
    frame = bytes((kind, sequence)) + body
    frame += struct.pack("<I", executor.engine.crc32(frame))
    for plain, written in _CODES:
        frame = frame.replace(plain, written)
    return END + frame + END


def unpack(raw: "bytes") -> "tuple[int, int, bytes] | None":
    """(kind, sequence number, body) of what stood between two 0xC0; None for what is no frame."""
    for plain, written in (_CODES[2], _CODES[1], _CODES[0]):
        raw = raw.replace(written, plain)
    if not 6 <= len(raw) <= LONGEST + 6:
        return None
    if executor.engine.crc32(raw[:-4]) != struct.unpack("<I", raw[-4:])[0]:
        return None
    return raw[0], raw[1], raw[2:-4]


def read(stream, one: "bytearray", raw: "bytearray") -> "bytes | None":
    """What stands before the next 0xC0 of a stream, at most ``len(raw)`` bytes of it; None where the stream ends.

    ``stream`` has readinto(), which returns None while there is nothing; ``one`` is a bytearray of one byte.
    """
    readinto, most, count = stream.readinto, len(raw), 0
    while True:
        got = readinto(one)
        if got:
            byte = one[0]
            if byte == _END:
                if count:
                    return bytes(memoryview(raw)[:count])
            elif count < most:
                raw[count] = byte
                count += 1
        elif got == 0:
            return None
