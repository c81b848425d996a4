"""Reads a model file: its header, and its sections once they are whole: docs/reference/model_file.md."""

import json
import struct

from ..base import executor
from ..base.regions import VERSION

_MAGIC = b"ODTN"
_FORMAT = 1
HEAD, LAYERS, PROGRAM, FROZEN, STATE = range(5)
_HEADER = 64  # bytes
_CHUNK = 512


class ModelFile:
    """A model file that is whole, its sections as they are asked for: HEAD and so on, by number. ``copies``: whether
    program and frozen weights go to RAM.
    """

    def __init__(self, source):
        source = source.__fspath__() if hasattr(source, "__fspath__") else source
        self.name = source if isinstance(source, str) else "the model file"
        self.file = self.data = None
        self.at = 0
        if isinstance(source, str):
            try:
                self.file = open(source, "rb")
            except OSError:
                if source[-4:] == ".new" or not is_whole(source + ".new"):
                    raise
                self.file = open(source + ".new", "rb")  # see find() of checkpoint.py
            source = self.file
        try:
            self.data = memoryview(source)  # bytes, or a file of a ROMFS
            if executor.engine.nbytes(self.data) != len(self.data):
                self.data = None
        except TypeError:
            pass
        if self.data is None and not self.file:
            raise TypeError("load_model: a file's name or its bytes are expected, got %r" % (type(source),))
        self.copies = self.data is None
        try:
            self.sizes = self._check(executor.engine)
        except BaseException:
            self.close()
            raise

    def close(self):
        if self.file:
            self.file.close()

    def _read(self, count):
        if self.data is None:
            return self.file.read(count)
        piece = bytes(self.data[self.at : self.at + count])
        self.at += len(piece)
        return piece

    def _check(self, engine):
        """The sizes of the sections of a file that is whole; else ValueError."""
        name = self.name
        header = self._read(_HEADER)
        if len(header) < _HEADER or header[:4] != _MAGIC:
            if header[:4] == b"ODTM":
                raise ValueError(
                    "%s is a checkpoint, of save(): load() it into the model that is compiled as its was" % name
                )
            raise ValueError("%s is not a model file of odt" % name)
        words = struct.unpack("<15I", header[4:])
        if engine.crc32(header[:-4]) != words[14]:
            raise ValueError("%s is damaged: the CRC of its header does not match" % name)
        if words[0] != _FORMAT:
            raise ValueError("%s: format %d, this odt reads %d" % (name, words[0], _FORMAT))
        if words[1] != VERSION:
            raise ValueError("%s: instruction set %d, this odt runs %d: re-export it" % (name, words[1], VERSION))
        sizes = words[2:7]
        crc, length = 0, _place(sizes)
        left = length - _HEADER
        while left > 0:
            chunk = self._read(min(_CHUNK, left))
            if not chunk:
                raise ValueError("%s is damaged: %d bytes of %d" % (name, length - left, length))
            crc = engine.crc32(chunk, crc)
            left -= len(chunk)
        if self._read(1):
            raise ValueError("%s is damaged: longer than %d bytes" % (name, length))
        if crc != words[13]:
            raise ValueError("%s is damaged: CRC %08x, expected %08x" % (name, crc, words[13]))
        return sizes

    def _seek(self, section):
        self.at = _place(self.sizes[:section])
        if self.data is None:
            self.file.seek(self.at)

    def section(self, section):
        """Its bytes; of the program, the layers and the frozen weights in place, where the file lies in memory."""
        self._seek(section)
        size = self.sizes[section]
        if section in (PROGRAM, LAYERS, FROZEN) and self.data is not None:
            return self.data[self.at : self.at + size]
        return self._whole(self._read(size), size)

    def parsed(self, section):
        """A section of JSON as a dict."""
        found = json.loads(bytes(self.section(section)))
        if not isinstance(found, dict):
            raise ValueError("JSON of a dict is expected, got %r" % (type(found),))
        return found

    def into(self, section, memory):
        """Read it into ``memory``, a piece at a time."""
        self._seek(section)
        at, size = 0, len(memory)
        while at < size:
            chunk = self._read(min(_CHUNK, size - at))
            self._whole(chunk, min(_CHUNK, size - at))
            memory[at : at + len(chunk)] = chunk
            at += len(chunk)

    def _whole(self, data, size):
        if len(data) != size:
            raise OSError(5, "%s: could be read once, and not again" % self.name)
        return data


def is_whole(name):
    """Whether the file of this name is a model file that is whole."""
    try:
        ModelFile(name).close()
        return True
    except (OSError, ValueError):
        return False


def of_data(error):
    """Whether data that makes no sense raises such an error; others are of memory, of a device, of a timeout."""
    kinds = ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError
    return isinstance(error, kinds) or type(error).__name__ == "error"  # struct's


def wrong(name, error):
    """What is raised where what a file holds makes no sense: ValueError that names the file; what is not the file's
    fault as it is.
    """
    if not of_data(error):
        return error
    text = str(error) if isinstance(error, ValueError) else repr(error)
    if isinstance(error, KeyError):
        text = "%s is missing" % error
    return ValueError("%s is damaged, or no model that runs here: %s" % (name, text))


def _place(sizes):
    """The offset of what follows sections of these sizes."""
    return _HEADER + sum([(size + 3) & ~3 for size in sizes])


def layers_of(name, crc):
    """The section with the layers of the file that was opened; ValueError if it now has others."""
    file = ModelFile(name)
    try:
        layers = file.section(LAYERS)
    finally:
        file.close()
    if executor.engine.crc32(layers) != crc:
        raise ValueError("%s has the layers of another model than when it was opened" % name)
    return layers
