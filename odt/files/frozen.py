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
    from collections.abc import Mapping
    from os import PathLike

    from ..run.network import Data, Network

_MAGIC = b"ODTF"
HEADER = 12  # bytes


def pack(model: "Network", bits: "int | Mapping[str, int]" = 8, x: "Data | None" = None) -> "bytes":
    """The kernels and biases of a compiled model that do not train, as bytes.

    ``bits``: 8; or 4 on a PC, which halves the bytes of the kernels of an int8 model; or a dict of layers' names and 4
    or 8, where 8 is for layers that it does not name. ``x``: samples, (samples, *input shape), 64 or more, by which the
    weights of such a layer are rounded so that its outputs change least (GPTQ: Frantar et al., 2022), and its biases
    make up for the mean error of its outputs. Of a model whose kernels have 4 bits already,
    ``bits`` stay as they are. KeyError names a layer that has no kernel, ValueError one that trains and is to have 4
    bits.
    """
    if bits == 8:
        return pack_session(ready(model))
    from ..host.four_bits import pack_four

    return pack_four(model, bits, x)


def pack_session(session, like=None):
    """The same of a session; ``like``: what frozen= gave to one of the same kernels, of which some may have 4 bits."""
    if is_four(like or session.frozen):
        from ..host.four_bits import pack_again

        return pack_again(session, like)
    body = bytearray()
    for _, weights in session.plan.weights:
        for buffer in weights.frozen:
            memory = session.frozen if buffer.region == CONSTANTS else session.state
            body += memory[buffer.offset : buffer.offset + buffer.size] + bytes(-buffer.size % 4)
    if not body:
        raise ValueError("all of the model trains: nothing is frozen")
    crc = executor.engine.crc32
    return _MAGIC + struct.pack("<II", crc(layout(session.plan.weights)), crc(body)) + bytes(body)


def is_four(data):
    """Whether some kernels have 4 bits, of what pack() returned."""
    return data and bytes(data[:4]) == b"ODT4"


def begin(data, is_free):
    """(bytes before the first weights, whether the usual planner will do) of what frozen= gives."""
    if is_four(data):
        try:
            from ..host.rows.packed import Flash
        except ImportError:  # a board has no odt.host
            raise ValueError("frozen: 4 bits need a PC")
        return Flash(data), False
    return HEADER, is_free


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
    if len(data) < HEADER or bytes(data[:4]) not in (_MAGIC, b"ODT4"):
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
    from ..host.frozen_module import write

    write(path, pack(model), shift)
