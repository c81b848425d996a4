"""What odt adds to a firmware: python3 -m odt.host.release.firmware BOARD with.elf without.elf [bytes for code]"""

import struct
import sys
from pathlib import Path

_ALLOC, _NOBITS, _SYMTAB = 2, 8, 2
_HEAP = (("__GcHeapStart", "__GcHeapEnd"), ("_heap_start", "_heap_end"))  # ports rp2, stm32


def sizes(path):
    """(bytes of flash, bytes of heap) of a 32-bit firmware.elf. ValueError if it is none."""
    data = Path(path).read_bytes()
    if data[:6] != b"\x7fELF\x01\x01":
        raise ValueError("%s: no 32-bit ELF file" % path)
    at = struct.unpack_from("<I", data, 32)[0]
    size, count = struct.unpack_from("<2H", data, 46)
    # name, type, flags, address, offset, size, link, info, alignment, size of an entry
    sections = [struct.unpack_from("<10I", data, at + size * index) for index in range(count)]
    flash = sum([s[5] for s in sections if s[2] & _ALLOC and s[1] != _NOBITS])
    symbols = {}
    for table in sections:
        if table[1] == _SYMTAB:
            names = sections[table[6]][4]
            for entry in range(table[4], table[4] + table[5], 16):
                name, value = struct.unpack_from("<2I", data, entry)
                symbols[data[names + name : data.index(0, names + name)]] = value
    for start, end in _HEAP:
        if start.encode() in symbols:
            return flash, symbols[end.encode()] - symbols[start.encode()]
    raise ValueError("%s: no firmware of a port that is known" % path)


def report(board, built, stock, room=None):
    """Print the table; the exit status, 1 where the firmware reaches into the file system."""
    (flash, heap), (stock_flash, stock_heap) = sizes(built), sizes(stock)
    print("%-12s %12s %14s" % (board, "bytes flash", "bytes of heap"))
    print("%-12s %12d %14d" % ("without odt", stock_flash, stock_heap))
    print("%-12s %12d %14d" % ("with odt", flash, heap))
    print("%-12s %+12d %+14d" % ("difference", flash - stock_flash, heap - stock_heap))
    if room:
        print("%-12s %12d" % ("left to code", int(room) - flash))
    if room and flash > int(room):
        print("odt: it takes %d bytes, the board's file system begins after %s" % (flash, room))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(report(*sys.argv[1:]))
