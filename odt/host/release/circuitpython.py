"""Lay odt out as CircuitPython's community bundle wants it:

    python3 -m odt.host.release.circuitpython build/circuitpython [mpy-cross]

    lib/odt/                    what a board's lib folder gets: .py, or .mpy by CircuitPython's own mpy-cross
    examples/odt_simpletest.py
    requirements.txt            nothing: odt needs no other library

Never odt/host, which is for PCs.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from ... import __version__
from ..files import PACKAGE, board_modules

ROOT = PACKAGE.parent
EXAMPLE = ROOT / "examples" / "odt_simpletest.py"


def main(to, mpy_cross=None):
    """Fill the folder ``to``."""
    to = Path(to)
    shutil.rmtree(to, ignore_errors=True)
    lib = to / "lib" / "odt"
    for file in board_modules():
        source, target = PACKAGE / file, lib / file
        target.parent.mkdir(parents=True, exist_ok=True)
        if mpy_cross:  # no docstrings, no assertions
            subprocess.run(
                [mpy_cross, "-O3", "-s", "odt/" + file.as_posix(), "-o", target.with_suffix(".mpy"), source], check=True
            )
        else:
            shutil.copy(source, target)
    (to / "examples").mkdir()
    shutil.copy(EXAMPLE, to / "examples")
    (to / "requirements.txt").write_text("")
    shutil.copy(ROOT / "LICENSE", to)
    sizes = [file.stat().st_size for file in lib.rglob("*.*")]
    print("odt: %s in %s: %d bytes in %d files for lib/odt" % (__version__, to, sum(sizes), len(sizes)))


if __name__ == "__main__":
    main(*sys.argv[1:])
