"""Checkpoints: what a model needs to go on as if it had not stopped. The format: docs/checkpoint.md.

A checkpoint goes to a file, by its name, or to two slots of a block device or of a region of bytes
(slots.py). Wherever the power fails, the old one or the new one is whole.
"""

import gc
import os
import struct

HEADER = 64  # bytes
_MAGIC = b"ODTM"
_VERSION = 2
_CHUNK = 512
_READ_ONLY = 30  # EROFS


def save(place, engine, code, state, calibrated, epoch, underway):
    """Write a checkpoint; ``underway`` is Model._underway. The old one is whole until the new one is."""
    samples, order, loss, high, correct = underway or (0, 0, 0, 0, 0)
    words = [_VERSION, engine.crc32(code), len(state), calibrated, epoch, samples, order]
    words += [word & 0xFFFFFFFF for word in (loss, high, correct)]

    def header(sequence):
        head = _MAGIC + struct.pack("<14I", *words, sequence, 0, 0, 0)
        return head + struct.pack("<I", engine.crc32(state, engine.crc32(head)))

    if isinstance(place, str):
        _save_file(place, engine, header(0), state)
    else:
        place.write(engine, header, state)


def load(place, engine, code, state):
    """Check the whole checkpoint, then read it into ``state``.

    Returns (calibrated, epoch, underway, seed), made before the first byte is changed.
    """
    name = place if isinstance(place, str) else repr(place)
    file = _open_file(place, engine) if isinstance(place, str) else place.read(engine)
    try:
        words = check(file, name, engine)
        if isinstance(place, str) and file.read(1):
            raise ValueError("%s is damaged: longer than %d bytes" % (name, HEADER + words[2]))
        if words[1] != engine.crc32(code) or words[2] != len(state):
            raise ValueError("%s: saved by another network, or one compiled otherwise" % name)
        file.seek(HEADER)
        seed = struct.unpack("<2I", file.read(8))[1]
        samples, order, *sums = words[5:10]
        underway = None
        if samples:
            underway = (samples, order) + tuple([w - (1 << 32) if w >> 31 else w for w in sums])
        found = words[3], words[4], underway, seed
        try:
            _read(file, name, state)
        except MemoryError:  # it was enough to check all: it is enough again
            gc.collect()
            _read(file, name, state)
    finally:
        try:
            file.close()
        except MemoryError:
            pass  # it was only read
    return found


def _read(file, name, state):
    file.seek(HEADER)
    at = 0
    for chunk in _chunks(file, len(state)):
        state[at : at + len(chunk)] = chunk
        at += len(chunk)
    if at < len(state):
        raise OSError(5, "%s: could be read once, and not again: %d of %d bytes" % (name, at, len(state)))


def check(file, name, engine):
    """The words of a checkpoint that is whole, from version to sequence; else ValueError."""
    header = file.read(HEADER)
    if len(header) < HEADER or header[:4] != _MAGIC:
        raise ValueError("%s is not an odt model file" % name)
    words = struct.unpack("<15I", header[4:])
    if words[0] != _VERSION:
        raise ValueError("%s: format %d, this odt reads %d" % (name, words[0], _VERSION))
    found = engine.crc32(header[:-4])
    length = 0
    for chunk in _chunks(file, words[2]):
        found = engine.crc32(chunk, found)
        length += len(chunk)
    if length < words[2]:
        raise ValueError("%s is damaged: %d bytes of %d" % (name, HEADER + length, HEADER + words[2]))
    if found != words[14]:
        raise ValueError("%s is damaged: CRC %08x, expected %08x" % (name, found, words[14]))
    return words


def _chunks(file, length):
    while length > 0:
        chunk = file.read(min(_CHUNK, length))
        if not chunk:
            return
        length -= len(chunk)
        yield chunk


# Files


def _save_file(path, engine, header, state):
    beside = path + ".new"
    if not _exists(path) and _whole(beside, engine):
        os.rename(beside, path)  # the power failed between remove and rename
    try:
        with open(beside, "wb") as file:
            file.write(header)
            file.write(state)
            file.flush()
            if hasattr(os, "fsync"):
                os.fsync(file.fileno())
    except OSError as error:
        try:
            os.remove(beside)  # no half a file in the way where it is full
        except OSError:
            pass
        if error.errno == _READ_ONLY:  # CircuitPython's drive, while USB owns it
            raise OSError(_READ_ONLY, "%s: scripts may not write this drive: storage.remount() in boot.py, or odt.slots" % path)
        raise
    try:
        os.rename(beside, path)
    except OSError:  # FAT and Windows do not rename onto a file
        os.remove(path)
        os.rename(beside, path)


def _open_file(path, engine):
    try:
        return open(path, "rb")
    except OSError:
        if not _whole(path + ".new", engine):
            raise
        return open(path + ".new", "rb")


def _exists(path):
    try:
        os.stat(path)
        return True
    except OSError:
        return False


def _whole(path, engine):
    try:
        with open(path, "rb") as file:
            check(file, path, engine)
        return True
    except (OSError, ValueError):
        return False
