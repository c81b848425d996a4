"""Frozen weights as a Python module: odt.files.frozen.write_module."""

from ..files.checkpoint import path_of, write_file


def write(path, data, shift):
    """Replace the file at once by a module whose DATA is these bytes, moved by ``shift`` bytes."""
    text = "# Weights of layers that do not train, for compile(frozen=DATA). Made by odt.files.frozen.\n\nDATA = "
    text += "memoryview(%r)[%d:]\n" % (bytes(shift) + data, shift) if shift else "%r\n" % data
    write_file(path_of(path), (text.encode(),), lambda name: False)  # what is imported is found by its name
