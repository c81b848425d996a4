"""What the page copies to a board: odt in packs and kernels by architecture, as `odt install` does.

    python3 docs/page/install.py build/mpy build/page

Writes build/page/install/ and install.json: {"version", "selftest": a script, "digests": {dtype: digest}, "kernels":
{architecture by MicroPython's number: files}, "package": files}. A file is {"from", "to", "size", "crc"}.
"""

import json
import shutil
import sys
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import odt  # noqa: E402
from odt.host.boards import install, room  # noqa: E402
from odt.host.release.pieces import beside  # noqa: E402


def main(built, page):
    built, page = Path(built), Path(page)

    def laid(files):
        """Rows of room's Files, which come to lie in the page; the first module to be imported comes last."""
        rows = []
        for file in files:
            data = file.source.read_bytes()
            place = Path("install") / file.source.parent.name / file.source.name
            (page / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file.source, page / place)
            rows.append({"from": place.as_posix(), "to": file.target, "size": len(data), "crc": zlib.crc32(data)})
        return sorted(rows, key=lambda row: row["to"].endswith("/__init__.mpy"))

    package = built / "packed" / "odt"
    kernels = {}
    for number, arch in install.ARCHITECTURES.items():
        if arch not in ("x86", "x64") and (built / arch / "_odt.mpy").exists():
            files = room.wanted("/lib", package, beside(built / arch / "_odt.mpy"), ())
            kernels[number] = laid([file for file in files if file.source.parent.name == arch])
    version, sub, _ = install.header(built / "armv6m" / "_odt.mpy")
    found = {
        "version": odt.__version__,
        "mpy": [version, sub],
        "selftest": install.SELFTEST.read_text(encoding="utf-8"),
        "digests": install.expected(),
        "package": laid(room.wanted("/lib", package, (), ())),
        "kernels": kernels,
    }
    (page / "install.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
