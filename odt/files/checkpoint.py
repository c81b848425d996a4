"""Checkpoints: what a model needs to go on as if it had not stopped. The format: docs/reference/checkpoint.md.

A checkpoint goes to a file, by its name, or to two slots of a block device or of a region of bytes
(odt/slots/). Wherever the power fails, the old one or the new one is whole.
"""

import os
import struct

from ..base.executor import collect

HEADER = 64  # bytes
_MAGIC = b"ODTM"
_VERSION = 2
_CHUNK = 512
_EXISTS = 17  # EEXIST
_READ_ONLY = 30  # EROFS


def path_of(place):
    """A file's name as a str, of a pathlib.Path too; anything else as it is."""
    return place.__fspath__() if hasattr(place, "__fspath__") else place


def _checked(method, place):
    place = path_of(place)
    if not isinstance(place, str) and (not hasattr(place, "write") or hasattr(place, "seek")):
        raise TypeError("%s: a file's name or a place of odt.slots is expected, got %r" % (method, place))
    return place


def save(place, session):
    """Write a checkpoint. The old one is whole until the new one is."""
    place = _checked("save", place)
    engine, state = session.engine, session.state
    samples, order, loss, high, correct = session.underway or (0, 0, 0, 0, 0)
    words = [_VERSION, _program(session), len(state), session.calibrated, session.epoch, samples, order]
    words += [word & 0xFFFFFFFF for word in (loss, high, correct)]

    def header(sequence):
        head = _MAGIC + struct.pack("<14I", *words, sequence, 0, 0, 0)
        return head + struct.pack("<I", engine.crc32(state, engine.crc32(head)))

    if isinstance(place, str):
        write_file(place, (header(0), state), lambda name: _whole(name, engine))
    else:
        place.write(engine, header, state)


def _program(session):
    """CRC of the program, then, where rows of kernels lie in flash (files/split.py), of what lies there."""
    crc = session.engine.crc32(session.plan.code)
    for _, _, rows in getattr(session.plan, "rows", None) or ():  # what files.stored keeps has none
        if not rows:
            return session.engine.crc32(session.frozen, crc)
    return crc


def load(place, session):
    """Check the whole checkpoint, and make it the session's state."""
    from ..run.replace import room

    place = _checked("load", place)
    try:
        return _load(place, session, room(session))
    except MemoryError:
        pass
    collect()
    _load(place, session, None)


def _load(place, session, parts):
    """``parts``: room for the state. Without, the file is read twice: to check it, then into the state itself."""
    from ..run.replace import adopt, in_place

    engine, state = session.engine, session.state
    name = place if isinstance(place, str) else repr(place)
    file = open_file(place, engine) if isinstance(place, str) else place.read(engine)
    try:
        words, crc = read_header(file, name, engine)
        ours = words[1] == _program(session) and words[2] == len(state)
        _body(file, name, engine, words, crc, parts if ours else None)
        if isinstance(place, str) and file.read(1):
            raise ValueError("%s is damaged: longer than %d bytes" % (name, HEADER + words[2]))
        if not ours:
            raise ValueError("%s: saved by another network, or one compiled otherwise" % name)
        file.seek(HEADER)
        seed = struct.unpack("<2I", file.read(8))[1]
        samples, order, *sums = words[5:10]
        underway = None
        if samples or order:  # of the first batch of an epoch, too
            underway = (samples, order) + tuple([w - (1 << 32) if w >> 31 else w for w in sums])
        where = words[3], words[4], underway, seed
        if parts:
            adopt(session, "load", parts, where)
        else:
            in_place(session, lambda: read_state(file, name, session), where)
    finally:
        try:
            file.close()
        except MemoryError:
            pass  # it was only read


def read_state(file, name, session):
    """Read the state of a checkpoint that was checked; until it is there the session is busy."""
    from ..run.replace import half_way

    file.seek(HEADER)
    state, at = session.state, 0
    for chunk in _chunks(file, len(state)):
        half_way(session, "load")
        state[at : at + len(chunk)] = chunk
        at += len(chunk)
    if at < len(state):
        raise OSError(5, "%s: could be read once, and not again: %d of %d bytes" % (name, at, len(state)))


def check(file, name, engine):
    """The words of a checkpoint that is whole, from version to sequence; else ValueError."""
    words, crc = read_header(file, name, engine)
    _body(file, name, engine, words, crc)
    return words


def read_header(file, name, engine):
    """(words, CRC of the header); ValueError where it is none."""
    header = file.read(HEADER)
    if len(header) < HEADER or header[:4] != _MAGIC:
        if header[:4] == b"ODTN":
            raise ValueError("%s is a model file: odt.load_model() opens it, load_weights() takes its weights" % name)
        raise ValueError("%s is not an odt model's checkpoint" % name)
    words = struct.unpack("<15I", header[4:])
    if words[0] != _VERSION:
        raise ValueError("%s: format %d, this odt reads %d" % (name, words[0], _VERSION))
    return words, engine.crc32(header[:-4])


def _body(file, name, engine, words, crc, parts=None):
    """Read the state, into ``parts`` if they are given; ValueError if the check does not hold."""
    length = 0
    for part in parts or (None,):
        at = 0
        for chunk in _chunks(file, len(part) if parts else words[2]):
            crc = engine.crc32(chunk, crc)
            if parts:
                part[at : at + len(chunk)] = chunk
            at += len(chunk)
        length += at
    if length < words[2]:
        raise ValueError("%s is damaged: %d bytes of %d" % (name, HEADER + length, HEADER + words[2]))
    if crc != words[14]:
        raise ValueError("%s is damaged: CRC %08x, expected %08x" % (name, crc, words[14]))
    if words[3] > 2:
        raise ValueError("%s: calibration %d, expected 0 to 2" % (name, words[3]))


def _chunks(file, length):
    while length > 0:
        chunk = file.read(min(_CHUNK, length))
        if not chunk:
            return
        length -= len(chunk)
        yield chunk


# Files


def write_file(path, parts, whole):
    """Write bytes to a file; the old one is whole until the new one is.

    What ends it leaves the old one, or the new one.

    The new one is written beside it, flushed, and renamed: on a PC from a name that no other process uses.
    ``whole(name)`` says whether the file of that name is one that this function wrote to its end, see find().
    """
    settle(path, whole)
    if hasattr(os, "replace"):
        from ..host.files import write_file

        return write_file(path, parts)
    beside = path + ".new"
    ended = False
    try:
        with open(beside, "wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
        ended = True
        try:
            os.rename(beside, path)
        except OSError as error:
            if error.errno != _EXISTS:
                raise
            os.remove(path)  # a FAT that does not rename onto a file
            os.rename(beside, path)
    except BaseException as error:
        try:
            if not ended or _exists(path):
                os.remove(beside)  # no half a file in the way where it is full, and never the only one
        except OSError:
            pass
        if isinstance(error, OSError) and error.errno == _READ_ONLY:  # CircuitPython's drive, while USB owns it
            raise OSError(
                _READ_ONLY,
                "%s: scripts may not write this drive: storage.remount() in boot.py, or odt.slots" % path,
            )
        raise


def find(path, whole):
    """The name of the file that write_file() left for ``path``: ``<path>.new``, if that alone is there, and whole.

    So it is where a FAT does not rename onto a file, and the power failed between remove and rename.
    """
    return path + ".new" if not _exists(path) and whole(path + ".new") else path


def settle(path, whole):
    """Give that file its name."""
    name = find(path, whole)
    if name != path:
        try:
            os.rename(name, path)
        except OSError:
            if not _exists(path):  # else another process has done it
                raise


def open_file(path, engine):
    return open(find(path, lambda name: _whole(name, engine)), "rb")


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
