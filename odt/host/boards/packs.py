# On a board, as odt/packs.py: odt's modules out of packs, which pack.py writes, by a file system that is mounted. So a
# small module takes the bytes that it has, deflated, and not a block of 4096.
import os
import sys
from binascii import crc32
from struct import unpack_from

from deflate import RAW, DeflateIO

_WINDOW = 10  # bits: 1 KB of heap while a module is read
_ROW = 8  # bytes of the index: the CRC-32 of a path, where its data begins (0: a folder)
_FOLDER = (0x4000,) + (0,) * 9
_FILE = (0x8000,) + (0,) * 9


class _Packs:
    def __init__(self, folder, names):
        self.names = names
        self.packs = []
        for name in names:
            path = folder + "/" + name + ".pack"
            with open(path, "rb") as file:
                (count,) = unpack_from("<H", file.read(2))
                self.packs.append((path, file.read(_ROW * count)))

    def mount(self, readonly, mkfs):
        pass

    def umount(self):
        pass

    def chdir(self, path):
        raise OSError(1)

    def ilistdir(self, path):
        return iter([(name, 0x4000, 0, 0) for name in self.names])

    def _find(self, path):
        if path == "/":
            return None, 0
        key = crc32(path[1:])
        for path, index in self.packs:
            low, high = 0, len(index) // _ROW
            while low < high:
                middle = (low + high) // 2
                found, at = unpack_from("<II", index, _ROW * middle)
                if found == key:
                    return path, at
                if found < key:
                    low = middle + 1
                else:
                    high = middle
        raise OSError(2)

    def stat(self, path):
        return _FILE if self._find(path)[1] else _FOLDER

    def open(self, path, mode):
        path, at = self._find(path)
        if not at:
            raise OSError(21)
        file = open(path, "rb")
        file.seek(at)
        return DeflateIO(file, RAW, _WINDOW, True)


def mount(folder):
    """Mount the packs of ``folder``, which is odt's; returns where."""
    place = "/odt.pack"
    names = [name[:-5] for name in os.listdir(folder) if name[-5:] == ".pack"]
    packs = _Packs(folder, names)
    try:
        os.umount(place)
    except OSError:
        pass
    os.mount(packs, place)
    del sys.modules[__name__]
    return place
