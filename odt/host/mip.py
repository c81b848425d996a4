"""Lay out what `make mpy` built as packages for mip: python3 -m odt.host.mip build/mpy build/mip

mip's package.json names files, and knows no architectures. So what chooses is a file among them:

    package.json                    for any board: the package except FEW, the kernels of EVERY_BOARD, and what
                                    chooses at the first import
    odt_kernels.py                  for a board with a network: brings one of those below
    armv6m_6.3.json                 the package and the kernels of that architecture and .mpy version
    python.json                     the package alone
    armv6m_6.3/_odt*.mpy, odt/**/*.mpy, odt_chooser.py

Each also says the sizes of its files, which mip passes over.
"""

import json
import shutil
import sys
from pathlib import Path

from .. import __version__
from .install import ARCHITECTURES, header
from .pieces import beside

KERNELS = Path(__file__).with_name("odt_kernels.py")
CHOOSER = Path(__file__).with_name("odt_chooser.py")
# package.json has the kernels of these: other Arm cores run one of the two, and a Pico's file system has no room for
# more.
EVERY_BOARD = ("armv6m", "armv7emsp")
# It has none of these either, which few models use; the package of each architecture has them.
FEW = (
    "odt/continual/adabn.mpy",
    "odt/continual/dark.mpy",
    "odt/continual/tent.mpy",
    "odt/reference/loss_own_f32.mpy",
    "odt/reference/loss_own_i8.mpy",
    "_odt_own.mpy",
)


def main(files, to):
    """Fill the folder ``to``, which any web server may serve."""
    files, to = Path(files), Path(to)
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(files / "python" / "odt", to / "odt")
    for file in (KERNELS, CHOOSER):
        shutil.copy(file, to)
    package = [[file.relative_to(to).as_posix()] * 2 for file in sorted((to / "odt").rglob("*.mpy"))]
    _write(to / "python.json", package)
    every = [file for file in package if file[0] not in FEW] + [[KERNELS.name] * 2]
    for kernels in sorted(files.glob("*/_odt.mpy")):
        version, sub, arch = header(kernels)
        name = "%s_%d.%d" % (ARCHITECTURES[arch], version, sub)
        (to / name).mkdir()
        parts = [file.name for file in beside(kernels)]
        for part in parts:
            shutil.copy(kernels.parent / part, to / name)
        _write(to / (name + ".json"), package + [[part, "%s/%s" % (name, part)] for part in parts])
        if ARCHITECTURES[arch] in EVERY_BOARD:
            every += [["_odt_all/%s/%s" % (name, part), "%s/%s" % (name, part)] for part in parts if part not in FEW]
    _write(to / "package.json", every + [["_odt.py", CHOOSER.name]])  # which chooses among what has come before it
    print("odt: packages for mip are in %s" % to)


def _write(file, urls):
    sizes = [(file.parent / source).stat().st_size for _, source in urls]
    package = {"version": __version__, "urls": urls, "deps": [], "sizes": sizes}
    file.write_text(json.dumps(package, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
