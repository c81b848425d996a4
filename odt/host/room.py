"""What a board's file system has of odt, and what fits it besides.

Files take whole blocks there: a small module 4096 bytes of a Pico's flash.
"""

import zlib
from itertools import combinations

from .board import BoardError

# What `--without` leaves out: the folder in odt/, its kernels' files, and what it is.
PARTS = {
    "reference": ((), "the Python executor, which kernels replace"),
    "sensors": (
        ("_odt_features", "_odt_frontend", "_odt_motion", "_odt_rocket"),
        "odt.sensors: features, streams, recordings, rules"
    ),
    "online": (("_odt_online",), "odt.online, and what needs it: prototypes, rules"),
    "continual": (("_odt_own",), "odt.continual: replay, teaching, few labels, another place"),
    "adapt": ((), "odt.adapt: which layers and channels train"),
    "data": ((), "odt.data: samples in CSV, .npy and raw files"),
    "generative": ((), "odt.generative: variational autoencoders"),
    "inspect": ((), "odt.inspect: tensors, ranges and time by layer"),
}  # fmt: skip
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


def without(text):
    """The names of --without; BoardError for one that is none."""
    names = [name for name in (text or "").split(",") if name]
    for name in names:
        if name not in PARTS:
            raise BoardError("--without: there is no part %r; there are %s" % (name, ", ".join(PARTS)))
    return names


def wanted(lib, package, kernels, names=()):
    """The Files of the package and of the kernels, but for the parts of these names."""
    stems = [stem for name in names for stem in PARTS[name][0]]
    modules = [file for file in sorted(package.rglob("*.mpy")) if file.relative_to(package).parts[0] not in names]
    found = [File(file, "%s/odt/%s" % (lib, file.relative_to(package).as_posix())) for file in modules]
    return found + [File(file, "%s/%s" % (lib, file.name)) for file in kernels if file.stem not in stems]


def lacking(held, files):
    """Those of the files that the board has not, or has otherwise. ``held``: of Board.held()."""
    return [file for file in files if held.get(file.target) != file.content]


def outdated(held, lib, package):
    """Modules of another version of odt on the board, which this one does not have."""
    own = {file.target for file in wanted(lib, package, [])}
    return [path for path in held if path.startswith(lib + "/odt/") and path.endswith(".mpy") and path not in own]


def blocks(size, block):
    """Of a file. littlefs keeps pointers in each block but the first, 8 bytes on average."""
    return 1 if size <= block else -(-size // (block - 8))


def needed(held, files, block):
    """The free blocks that copying the files takes, some of which are there already: an old file is removed when
    the new one is whole.
    """
    files = lacking(held, files)
    replaced = [blocks(held[file.target][0], block) for file in files if file.target in held]
    folders = {}
    for path in {*held, *[file.target for file in files]}:
        names = path.split("/")
        for depth in range(2, len(names) + 1):  # entries of each folder
            folders.setdefault("/".join(names[: depth - 1]), set()).add(names[depth - 1])
    there = {path.rpartition("/")[0] for path in held}
    pairs = sum(
        [2 * -(-len(entries) * _ENTRY // (block // 2)) for folder, entries in folders.items() if folder not in there]
    )
    return sum([blocks(file.size, block) for file in files]) - sum(replaced) + max(replaced, default=0) + pairs


def absent(held, lib):
    """The names of the parts that a board with odt has been given without."""
    if lib + "/odt/__init__.mpy" not in held:
        return []
    return [name for name in PARTS if not any("/odt/%s/" % name in path for path in held)]


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


def check(found, held, lib, package, kernels, names=(), more=()):
    """The Files to install; BoardError that says what would fit where they do not. ``more``: Files besides."""
    files = wanted(lib, package, kernels, names) + list(more)
    try:
        fits(found, held, files)
        return files
    except BoardError as error:
        text = str(error)
    block, room = found["block"], _room(found)
    left = [name for name in PARTS if name not in names and (kernels or name != "reference")]
    for count in range(1, len(left) + 1):
        for some in combinations(left, count):
            less = needed(held, wanted(lib, package, kernels, [*names, *some]) + list(more), block)
            if less <= room:
                raise BoardError("%s. What fits, with %d: --without %s (%s)" % (
                    text, less, ",".join([*names, *some]), "; ".join([PARTS[name][1] for name in some])))  # fmt: skip
    raise BoardError("%s. Nothing that can be left out is enough" % text)


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
