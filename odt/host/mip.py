"""Lay out what `make mpy` built as packages for mip: python3 -m odt.host.mip build/mpy build/mip

mip's package.json names files, and knows no architectures. So there is one package for each,
named as a board can name it (odt_kernels.py), and one without kernels:

    package.json                    the package, and odt_kernels
    armv6m_6.3.json                 the kernels of that architecture and .mpy version, and the package
    armv6m_6.3/_odt.mpy, odt/*.mpy, odt_kernels.py
"""

import json
import shutil
import sys
from pathlib import Path

from .. import __version__
from .install import ARCHITECTURES, header

CHOOSER = Path(__file__).with_name("odt_kernels.py")


def main(files, to):
    """Fill the folder ``to``, which any web server may serve."""
    files, to = Path(files), Path(to)
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(files / "python" / "odt", to / "odt")
    shutil.copy(CHOOSER, to)
    package = [["odt/" + file.name] * 2 for file in sorted((to / "odt").iterdir())]
    _write(to / "package.json", package + [[CHOOSER.name] * 2])
    for kernels in sorted(files.glob("*/_odt.mpy")):
        version, sub, arch = header(kernels)
        name = "%s_%d.%d" % (ARCHITECTURES[arch], version, sub)
        (to / name).mkdir()
        shutil.copy(kernels, to / name)
        _write(to / (name + ".json"), package + [["_odt.mpy", name + "/_odt.mpy"]])
        if name.startswith("armv7m_"):  # what firmware without floats in hardware is called, an M3's too
            other = name.replace("armv7m", "armv7em")
            shutil.copy(to / (name + ".json"), to / (other + ".json"))
    print("odt: packages for mip are in %s" % to)


def _write(file, urls):
    file.write_text(json.dumps({"version": __version__, "urls": urls, "deps": []}, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
