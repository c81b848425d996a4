"""On a board with a network: odt with the kernels that fit this board.

import odt_kernels
odt_kernels.install("http://.../odt")  # where package.json is
"""

import gc
import sys

_VERSION = 6  # of .mpy files: MicroPython 1.19 and later; the minor one is in the package's name
_HEAP = 126000  # bytes: the package, and a tiny model
_ARCHITECTURES = (
    "", "x86", "x64", "armv6", "armv6m", "armv7m", "armv7em", "armv7emsp", "armv7emdp", "xtensa",
    "xtensawin", "rv32imc",
)  # fmt: skip


def name():
    """This board's package: "armv6m_6.3", say; "package" where no native code is loaded."""
    mpy = getattr(sys.implementation, "_mpy", 0)
    arch = mpy >> 10 & 15
    if not 0 < arch < len(_ARCHITECTURES):
        return "package"
    return "%s_%d.%d" % (_ARCHITECTURES[arch], mpy & 255, mpy >> 8 & 3)


def refusal():
    """The reason why odt cannot be installed on this board, or None."""
    if sys.implementation[0] != "micropython":
        return "the board runs %s, whose compiled files differ" % sys.implementation[0]
    version = getattr(sys.implementation, "_mpy", 0) & 255
    if version != _VERSION:
        return "this MicroPython reads .mpy files of version %d, these are of version %d" % (version, _VERSION)
    gc.collect()
    if gc.mem_free() < _HEAP:
        return "too little RAM: %d bytes of heap are free, odt needs %d from files" % (gc.mem_free(), _HEAP)


def install(url):
    """Install from the folder at ``url``, with mip. RuntimeError with the reason where the board is not supported."""
    reason = refusal()
    if reason:
        raise RuntimeError(reason)
    import mip

    mip.install(url.rstrip("/") + "/" + name() + ".json")
