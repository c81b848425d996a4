"""Lay odt out as CircuitPython's community bundle wants it: python3 -m odt.host.circuitpython build/circuitpython [mpy-cross]

    lib/odt/                    what a board's lib folder gets: .py, or .mpy by CircuitPython's own mpy-cross
    examples/odt_simpletest.py
    requirements.txt            nothing: odt needs no other library

Never odt/host, which is for PCs.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from .. import __version__

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLE = ROOT / "examples" / "odt_simpletest.py"


def main(to, mpy_cross=None):
    """Fill the folder ``to``."""
    to = Path(to)
    shutil.rmtree(to, ignore_errors=True)
    lib = to / "lib" / "odt"
    lib.mkdir(parents=True)
    for file in sorted((ROOT / "odt").glob("*.py")):
        if file.name == "__main__.py":
            continue
        if mpy_cross:  # no docstrings, no assertions
            subprocess.run([mpy_cross, "-O3", "-s", "odt/" + file.name, "-o", lib / (file.stem + ".mpy"), file], check=True)
        else:
            shutil.copy(file, lib)
    (to / "examples").mkdir()
    shutil.copy(EXAMPLE, to / "examples")
    (to / "requirements.txt").write_text("")
    shutil.copy(ROOT / "LICENSE", to)
    size = sum(file.stat().st_size for file in lib.iterdir())
    print("odt: %s in %s: %d bytes in %d files for lib/odt" % (__version__, to, size, len(list(lib.iterdir()))))


if __name__ == "__main__":
    main(*sys.argv[1:])
