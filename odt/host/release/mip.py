"""Lay out what `make mpy` built as packages for mip: python3 -m odt.host.release.mip build/mpy build/mip

mip's package.json names files, and knows no architectures. So what chooses is among them:

    package.json                    the base, for any board: its modules, the kernels of EVERY_BOARD, and what chooses
                                    at the first import
    sensors.json                    a capability, with those that it needs, beside a base in files or in firmware
    odt_kernels.py                  for a board with a network: brings one of those below
    armv6m_6.3.json                 the base with the kernels of that architecture and .mpy version
    xtensawin_6.3.json              the base, the Python executor and its loops as native code: there are no kernels
    python.json                     the base and the Python executor
    sensors-armv6m_6.3.json, ..     the same of a capability
    packed.json, packed-sensors.json, ..    all of these with the modules in packs, for a small file system
    armv6m_6.3/_odt*.mpy, odt/**/*.mpy, packed/odt/*, odt_chooser.py
    index.json, package/, file/     the same packages by name (index.py)

Each also says the sizes of its files, which mip passes over.
"""

import json
import shutil
import sys
from pathlib import Path

from ... import __version__
from ..boards.capabilities import CAPABILITIES, closed
from ..boards.install import ARCHITECTURES, header
from ..boards.room import wanted
from . import index
from .pieces import beside

KERNELS = Path(__file__).with_name("odt_kernels.py")
CHOOSER = Path(__file__).with_name("odt_chooser.py")
# package.json has the kernels of these: other Arm cores run one of the two, and a Pico's file system has no room for
# more.
EVERY_BOARD = ("armv6m", "armv7emsp")


def main(files, to):
    """Fill the folder ``to``, which any web server may serve."""
    files, to = Path(files), Path(to)
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(files / "python" / "odt", to / "odt")
    shutil.copytree(files / "packed" / "odt", to / "packed" / "odt")
    for file in (KERNELS, CHOOSER):
        shutil.copy(file, to)
    built = {}
    for kernels in sorted(files.glob("*/_odt.mpy")):
        name = _folder(kernels)
        (to / name).mkdir()
        built[name] = [file.name for file in beside(kernels)]
        for part in built[name]:
            shutil.copy(kernels.parent / part, to / name)
    loops = []
    for file in sorted(files.glob("viper/*/_odt_viper.mpy")):
        name = _folder(file)
        if name not in built:
            (to / name).mkdir()
            shutil.copy(file, to / name)
            loops.append(name)
    for package, first, prefix in ((to / "odt", "package", ""), (to / "packed" / "odt", "packed", "packed-")):
        _packages(to, package, built, first, prefix, [], loops)
        for name in CAPABILITIES:
            _packages(to, package, built, prefix + name, prefix + name + "-", closed([name]))
    index.write(to)
    print("odt: packages for mip are in %s" % to)


def _folder(file):
    """armv6m_6.3, say: the architecture and version of an .mpy file."""
    version, sub, arch = header(file)
    return "%s_%d.%d" % (ARCHITECTURES[arch], version, sub)


def _packages(to, package, built, every_board, prefix, names, loops=()):
    """The base's packages, or those of the capabilities of these names, by architecture and for every board.

    ``loops``: the architectures for which there are loops of the Python executor as native code, and no kernels.
    """
    base = not names

    def files(kernels=(), names=names):
        found = wanted("", package, [to / kernel for kernel in kernels], names, base)
        return [[file.target[1:], file.source.relative_to(to).as_posix()] for file in found]

    modules = files()
    _write(to / (prefix + "python.json"), files(names=["reference"]) if base else modules)
    for name in loops:
        _write(to / (prefix + name + ".json"), files([name + "/_odt_viper.mpy"], names=["reference"]))
    every = []
    for name, parts in built.items():
        urls = files(["%s/%s" % (name, part) for part in parts])
        _write(to / (prefix + name + ".json"), urls)
        if name.rpartition("_")[0] in EVERY_BOARD:
            every += [["_odt_all/" + source, source] for _, source in urls[len(modules) :]]
    stems = sorted({target.rpartition("/")[2][:-4] for target, _ in every})
    if every:  # last: what chooses among what has come before it
        every += [[KERNELS.name] * 2] + [[stem + ".py", CHOOSER.name] for stem in (["_odt"] if base else stems)]
    _write(to / (every_board + ".json"), modules + every)


def _write(file, urls):
    sizes = [(file.parent / source).stat().st_size for _, source in urls]
    package = {"version": __version__, "urls": urls, "deps": [], "sizes": sizes}
    file.write_text(json.dumps(package, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
