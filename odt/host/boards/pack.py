"""Packs: odt's modules in a few deflated files, for a board's small file system.

    python3 -m odt.host.boards.pack build/mpy       writes build/mpy/packed/odt/*.pack of build/mpy/python/odt/

A pack is a count (two bytes, the lower first), a row of an index for each path, sorted, and the modules. A row is the
CRC-32 of the path within the package and the distance of its data from the pack's beginning, four bytes each; 0 is a
folder's. A module is raw deflate with a window of 1 KB. packs.py reads it on the board. odt/__init__.mpy is a file of
its own, which begins with mount().
"""

import struct
import sys
import zlib
from pathlib import Path

from .capabilities import CAPABILITIES

PACK = ".pack"
_WINDOW = 10  # bits


def pack(modules):
    """The pack's bytes. ``modules``: {path within the package: bytes}; ValueError where two paths have one CRC-32."""
    folders = {"/".join(path.split("/")[:depth]) for path in modules for depth in range(1, path.count("/") + 1)}
    keys = {}
    for path in [*folders, *modules]:
        other = keys.setdefault(zlib.crc32(path.encode()), path)
        if other != path:
            raise ValueError("%s and %s have one CRC-32: rename one" % tuple(sorted([other, path], reverse=True)))
    rows, data, start = [], b"", 2 + 8 * len(keys)
    for key in sorted(keys):
        at = 0
        if keys[key] in modules:
            at = start + len(data)
            deflate = zlib.compressobj(9, zlib.DEFLATED, -_WINDOW)
            data += deflate.compress(modules[keys[key]]) + deflate.flush()
        rows.append(struct.pack("<II", key, at))
    return struct.pack("<H", len(rows)) + b"".join(rows) + data


def main(folder):
    """Write a pack of the base and of each capability."""
    source, to = Path(folder) / "python" / "odt", Path(folder) / "packed" / "odt"
    parts = {}
    for file in sorted(source.rglob("*.mpy")):
        path = file.relative_to(source)
        part = path.parts[0] if path.parts[0] in CAPABILITIES else "base"
        if path.as_posix() != "__init__.mpy":
            parts.setdefault(part, {})[path.as_posix()] = file.read_bytes()
    for file in to.glob("*" + PACK):
        if file.stem not in parts:
            file.unlink()
    for part, modules in parts.items():
        (to / (part + PACK)).write_bytes(pack(modules))


if __name__ == "__main__":
    main(*sys.argv[1:])
