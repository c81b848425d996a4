"""Frozen weights that stay in flash: a pretrained part of a network takes no RAM.

On a PC, of a model whose other layers are frozen (``trainable=False`` or a policy of update.py)::

    odt.files.frozen.write_module("backbone.py", model)        # freeze it into a firmware; or, as bytes,
    data = odt.files.frozen.pack(model)                        # into a file of a ROMFS: memoryview(open(..., "rb"))

On the board the same network is compiled alike, and reads them in place::

    import backbone
    model.compile(..., frozen=backbone.DATA)

The format: MAGIC, then as int32 a CRC of the layers' sizes and one of what follows; then layer after
layer, each aligned to 4 bytes: kernel, in int8 models its channel scales, bias, as far as they do not train.
"""

import struct

from ..base import executor
from ..base.regions import CONSTANTS
from ..run.session import ready

if 1 - 1:  # for type checkers alone
    from os import PathLike

    from ..run.network import Network

_MAGIC = b"ODTF"
HEADER = 12  # bytes


def pack(model: "Network") -> "bytes":
    """The kernels and biases of a compiled model that do not train, as bytes."""
    return pack_session(ready(model))


def pack_session(session):
    """The same of a session."""
    body = bytearray()
    for _, weights in session.plan.weights:
        for buffer in weights.frozen:
            memory = session.frozen if buffer.region == CONSTANTS else session.state
            body += memory[buffer.offset : buffer.offset + buffer.size] + bytes(-buffer.size % 4)
    if not body:
        raise ValueError("all of the model trains: nothing is frozen")
    crc = executor.engine.crc32
    return _MAGIC + struct.pack("<II", crc(layout(session.plan.weights)), crc(body)) + bytes(body)


def layout(weights):
    """What two models have in common that can share frozen weights."""
    sizes = []
    for _, parameters in weights:
        sizes += [buffer.size for buffer in parameters.frozen] + [0]
    return struct.pack("<%dI" % len(sizes), *sizes)


def check(data, plan):
    """The bytes as a plan takes them (host/rows/split.py); ValueError if they are not such weights, or of another
    network.
    """
    given = data
    data = memoryview(data)
    if len(data) < HEADER or bytes(data[:4]) != _MAGIC:
        raise ValueError("frozen: not what odt.files.frozen.pack made")
    crc = executor.engine.crc32
    size = plan.constants
    if struct.unpack("<I", data[4:8])[0] != crc(layout(plan.weights)) or len(data) != size:
        raise ValueError("frozen: %d bytes of another network's layers, this one's take %d" % (len(data), size))
    if struct.unpack("<I", data[8:12])[0] != crc(data[HEADER:]):
        raise ValueError("frozen: the bytes are damaged")
    return plan.with_rows(given) if hasattr(plan, "with_rows") else given


def write_module(path: "str | PathLike[str]", model: "Network", shift: "int" = 0) -> None:
    """A Python module whose DATA is ``pack(model)``, to be frozen into a firmware. Replaces the file at once.

    A linker places a frozen module's bytes anywhere: where compile() refuses DATA as not aligned, freeze the module
    made with another ``shift``, of 1 to 3 bytes.
    """
    from .checkpoint import path_of, write_file

    text = "# Weights of layers that do not train, for compile(frozen=DATA). Made by odt.files.frozen.\n\nDATA = "
    text += "memoryview(%r)[%d:]\n" % (bytes(shift) + pack(model), shift) if shift else "%r\n" % pack(model)
    write_file(path_of(path), (text.encode(),), lambda name: False)  # what is imported is found by its name
