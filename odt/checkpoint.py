"""Model files: a header and the state. The format: docs/program.md."""

import os
import struct

_MAGIC = b"ODTM"
_VERSION = 1
_HEADER = "<4sIIIII"  # magic, version, CRC of the program, bytes, calibration, CRC of what stands before and the state
_CHUNK = 512


def save(path, engine, code, state, calibrated):
    """Write beside ``path``, then rename: the old file is whole until the new one is."""
    header = struct.pack("<4sIIII", _MAGIC, _VERSION, engine.crc32(code), len(state), calibrated)
    check = engine.crc32(state, engine.crc32(header))
    beside = path + ".new"
    with open(beside, "wb") as file:
        file.write(header)
        file.write(struct.pack("<I", check))
        file.write(state)
    try:
        os.rename(beside, path)
    except OSError:  # FAT and Windows do not rename onto a file
        os.remove(path)
        os.rename(beside, path)


def load(path, engine, code, state):
    """Check the whole file, then read it into ``state``; returns the calibration."""
    size = struct.calcsize(_HEADER)
    with open(path, "rb") as file:
        header = file.read(size)
        if len(header) < size or header[:4] != _MAGIC:
            raise ValueError("%s is not an odt model file" % path)
        _, version, program, length, calibrated, check = struct.unpack(_HEADER, header)
        if version != _VERSION:
            raise ValueError("%s: format %d, this odt reads %d" % (path, version, _VERSION))
        if program != engine.crc32(code) or length != len(state):
            raise ValueError("%s: saved by another network, or one compiled otherwise" % path)
        found = engine.crc32(header[:-4])
        for chunk in _chunks(file, length):
            found = engine.crc32(chunk, found)
        if found != check:
            raise ValueError("%s is damaged: CRC %08x, expected %08x" % (path, found, check))
        if file.read(1):
            raise ValueError("%s is damaged: longer than %d bytes" % (path, size + length))
        file.seek(size)
        at = 0
        for chunk in _chunks(file, length):
            state[at : at + len(chunk)] = chunk
            at += len(chunk)
    return calibrated


def _chunks(file, length):
    while length > 0:
        chunk = file.read(min(_CHUNK, length))
        if not chunk:
            return
        length -= len(chunk)
        yield chunk
