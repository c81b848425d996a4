"""What a board's file system has of odt, and what fits it besides.

Files take whole blocks there: a small module takes 4096 bytes of a Pico's flash.
"""

import zlib
from itertools import combinations
from pathlib import PurePosixPath

from .board import BoardError
from .capabilities import CAPABILITIES, closed, split
from .pack import PACK

_ENTRY = 44  # bytes that a folder keeps of a file: its name, where it lies, its size
_SPARE = 4  # blocks that a file system wants for itself while it writes


class File:
    """A file and its place on the board."""

    def __init__(self, source, target):
        self.source, self.target = source, target
        self.size = source.stat().st_size

    @property
    def content(self):
        """(size, CRC-32)"""
        return self.size, zlib.crc32(self.source.read_bytes())


def chosen(text):
    """The names of --with; BoardError for one that is none."""
    try:
        return split(text or "")
    except ValueError as error:
        raise BoardError("--with: %s" % error) from None


def wanted(lib, package, kernels, names, base=True):
    """The Files of the base and of the capabilities of these names, and of their kernels.

    Without ``base`` only those of the capabilities: the base is in the firmware. In files it has all kernels of layers.
    """
    special = {
        stem: name for name, row in CAPABILITIES.items() for stem in row.kernels if name != "kernels" or not base
    }

    def is_wanted(name):
        return name in names if name in CAPABILITIES else base

    modules = [file for file in sorted(package.rglob("*.*")) if is_wanted(part(file.relative_to(package)))]
    found = [File(file, "%s/odt/%s" % (lib, file.relative_to(package).as_posix())) for file in modules]
    return found + [File(file, "%s/%s" % (lib, file.name)) for file in kernels if is_wanted(special.get(file.stem))]


def part(path):
    """The capability or other entry of odt/ that a path within it belongs to; a pack's is its name."""
    return path.stem if path.suffix == PACK else path.parts[0]


def lacking(held, files):
    """Those of the files that the board has not, or has otherwise. ``held``: of Board.held()."""
    return [file for file in files if held.get(file.target) != file.content]


def outdated(held, lib, package):
    """Modules of another version of odt on the board, which this one does not have."""
    own = {file.target for file in wanted(lib, package, [], CAPABILITIES)}
    return [
        path for path in held if path.startswith(lib + "/odt/") and path.endswith((".mpy", PACK)) and path not in own
    ]


def blocks(size, block):
    """Of a file. littlefs keeps pointers in each block but the first, 8 bytes on average."""
    return 1 if size <= block else -(-size // (block - 8))


def needed(held, files, block):
    """The free blocks that copying the files takes, some of which are there already: an old file is removed when
    the new one is whole.
    """
    files = lacking(held, files)
    folders = {}
    for path in {*held, *[file.target for file in files]}:
        names = path.split("/")
        for depth in range(2, len(names) + 1):  # entries of each folder
            folders.setdefault("/".join(names[: depth - 1]), set()).add(names[depth - 1])
    there = {path.rpartition("/")[0] for path in held}
    pairs = sum(
        [2 * -(-len(entries) * _ENTRY // (block // 2)) for folder, entries in folders.items() if folder not in there]
    )
    return sum(_taken(held, files, block)) + pairs


def _taken(held, files, block):
    """(blocks that these files of lacking() take in the end, the most that an old one keeps until it is removed)"""
    replaced = [blocks(held[file.target][0], block) for file in files if file.target in held]
    return sum([blocks(file.size, block) for file in files]) - sum(replaced), max(replaced, default=0)


def present(held, lib):
    """The names of the capabilities that the files of a board have."""
    parts = {part(PurePosixPath(path).relative_to(lib + "/odt")) for path in held if path.startswith(lib + "/odt/")}
    if "%s/%s.mpy" % (lib, CAPABILITIES["fast"].kernels[0]) in held:  # it has no modules
        parts.add("fast")
    return [name for name in CAPABILITIES if name in parts]


def packed(held, lib):
    """Whether the base of a board lies in packs."""
    return "%s/odt/base%s" % (lib, PACK) in held


def _room(found):
    return max(found["disk"] // found["block"] - _SPARE, 0)


def fits(found, held, files):
    """BoardError with both figures unless the files fit."""
    need = needed(held, files, found["block"])
    if need > _room(found):
        raise BoardError(
            "the board's file system has room for %d blocks of %d bytes, %d are needed: nothing was copied"
            % (_room(found), found["block"], need)
        )


def check(found, held, lib, package, kernels, names=(), more=(), base=True):
    """The Files to install; BoardError that says what would fit where they do not. ``more``: Files besides."""
    files = wanted(lib, package, kernels, names, base) + list(more)
    try:
        fits(found, held, files)
        return files
    except BoardError as error:
        text = str(error)
    block, room = found["block"], _room(found)
    least = wanted(lib, package, kernels, (), base) + list(more)
    known = {file.target for file in least}
    own = {}  # blocks that each takes at least: most combinations are refused by their sum
    for name in names:
        brought = [file for file in wanted(lib, package, kernels, (name,), base) if file.target not in known]
        own[name], _ = _taken(held, lacking(held, brought), block)
    spare = room - _taken(held, lacking(held, least), block)[0]
    for count in range(len(names) - 1, -1, -1):
        for some in combinations(names, count):
            if sum([own[name] for name in some]) > spare or set(closed(some)) != set(some):
                continue
            less = needed(held, wanted(lib, package, kernels, some, base) + list(more), block)
            if less <= room:
                raise BoardError("%s. What fits, with %d: %s" % (
                    text, less, "--with %s" % ",".join(some) if some else "odt without --with"))  # fmt: skip
    raise BoardError(text)


def bring(board, held, files):
    """Copy what the board lacks of the files; returns how many.

    What fails takes away again what was not there before.
    """
    files = lacking(held, files)
    folders = {}
    for file in files:
        folders.setdefault(file.target.rpartition("/")[0], []).append(file.source)
    try:
        for folder in sorted(folders):
            board.make_folder(folder)
            board.copy(folders[folder], folder)
    except BaseException:
        new = [file.target for file in files if file.target not in held]
        there = {path.rpartition("/")[0] for path in held}
        board.remove(*new, folders=[folder for folder in sorted(folders, reverse=True) if folder not in there])
        raise
    return len(files)
