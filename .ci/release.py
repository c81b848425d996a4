"""Fill build/dist with what a release consists of; make release builds what it takes and calls this.

    python .ci/release.py build

Wheel and source distribution; the packages for mip as one zip; each architecture's kernels as a zip; the firmware of
the boards that were built; NOTES.md, the version's section of CHANGELOG.md; SHA256SUMS of all of them.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIRMWARE = {
    "RPI_PICO": "RPI_PICO",
    "rp2040": "RPI_PICO-all",
    "RPI_PICO2": "RPI_PICO2",
    "RPI_PICO2_RISCV": "RPI_PICO2_RISCV",
}  # build/<key>/firmware.uf2 is of the board
BACKEND = "import setuptools.build_meta as backend, sys; backend.build_%s(sys.argv[1])"
FIRST = (1980, 1, 1, 0, 0, 0)  # of files in a zip, so that equal contents give equal bytes


def version(root=ROOT):
    """The one version of the project; SystemExit where its files differ, or the changelog has no section for it."""
    found = {
        file: re.search(r'^\s*(?:__version__|version) ?= ?"([^"]+)"', (root / file).read_text(), re.M)[1]
        for file in ("pyproject.toml", "manifest.py", "odt/__init__.py")
    }
    if len(set(found.values())) > 1:
        sys.exit("the versions differ: %s" % found)
    return found["pyproject.toml"]


def notes(changelog, version):
    """The section of this version, without its heading."""
    section = re.search(r"^## %s\b[^\n]*\n(.*?)(?=^## |\Z)" % re.escape(version), changelog, re.M | re.S)
    if not section or not section[1].strip():
        sys.exit("CHANGELOG.md says nothing of version %s" % version)
    return section[1].strip() + "\n"


def collect(build, dist, number):
    """Copy what was built for boards; SystemExit names what was not."""
    kernels = sorted((build / "mpy").glob("*/_odt.mpy"))
    firmware = {board: build / name / "firmware.uf2" for name, board in FIRMWARE.items()}
    missing = [str(file) for file in firmware.values() if not file.exists()]
    missing += [] if kernels else [str(build / "mpy/*/_odt.mpy")]
    missing += [] if (build / "mip/package.json").exists() else [str(build / "mip/package.json")]
    if missing:
        sys.exit("not built: " + ", ".join(missing))
    for file in kernels:
        name = "odt-%s-%s" % (number, file.parent.name)
        _zip(dist / (name + ".zip"), sorted(file.parent.glob("_odt*.mpy")), file.parent.parent)
    for board, file in firmware.items():
        shutil.copy(file, dist / ("odt-%s-%s.uf2" % (number, board)))
    _zip(dist / ("odt-%s-mip.zip" % number), sorted((build / "mip").rglob("*")), build)


def _zip(path, files, root):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            if file.is_file():
                archive.writestr(zipfile.ZipInfo(file.relative_to(root).as_posix(), FIRST), file.read_bytes())


def sums(dist):
    """As sha256sum writes them: sha256sum -c SHA256SUMS."""
    lines = [
        "%s  %s\n" % (hashlib.sha256(file.read_bytes()).hexdigest(), file.name)
        for file in sorted(dist.iterdir())
        if file.name != "SHA256SUMS"
    ]
    (dist / "SHA256SUMS").write_text("".join(lines))


def main(build):
    changes = subprocess.run(
        ["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    if changes:
        sys.exit("a release is made of a commit; these are not in one:\n" + changes)
    number = version()
    text = notes((ROOT / "CHANGELOG.md").read_text(), number)
    build = Path(build).resolve()
    dist = build / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    dist.mkdir()
    collect(build, dist, number)
    for kind in ("sdist", "wheel"):
        subprocess.run(
            [sys.executable, "-c", BACKEND % kind, str(dist)],
            cwd=ROOT, check=True, stdout=subprocess.DEVNULL, env=dict(os.environ, ODT_MPY=str(build / "mpy")),
        )  # fmt: skip
    (dist / "NOTES.md").write_text(text)
    sums(dist)
    for file in sorted(dist.iterdir()):
        print("%9d  %s" % (file.stat().st_size, file))


if __name__ == "__main__":
    main(*sys.argv[1:])
