"""On a board with a network: odt with the kernels that fit this board.

import odt_kernels
odt_kernels.install("http://.../odt")  # where package.json is
"""

import sys

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


def install(url):
    """Install from the folder at ``url``, with mip."""
    import mip

    mip.install(url.rstrip("/") + "/" + name() + ".json")
