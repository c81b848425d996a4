"""The packages for mip as an index: mip.install("odt", index="<address>").

mip's protocol is that of micropython-lib's index. An installed file whose hash is the same is not sent again.

    index.json                          the packages: name, version, what each brings
    package/6/odt/latest.json           the files of a package by their hashes; <version>.json has the same
    file/ab/abcdef01                    a file, by the start of its SHA-256

The packages of this index have the names of the files beside it: odt is package.json, odt-sensors is sensors.json,
odt-armv6m is armv6m_6.3.json.
"""

import hashlib
import json
import re
import shutil

from ... import __version__
from ..boards.capabilities import CAPABILITIES
from ..boards.install import header

_DIGITS = 8  # of a hash in names, as in micropython-lib's index


def write(folder):
    """Make an index of the packages in the folder."""
    rows, version = [], str(header(folder / "odt" / "__init__.mpy")[0])
    for file in sorted(folder.glob("*.json")):
        name = "odt" if file.stem == "package" else "odt-" + re.sub(r"_[\d.]+$", "", file.stem)
        hashes = [[target, _kept(folder, source)] for target, source in json.loads(file.read_text())["urls"]]
        to = folder / "package" / version / name
        to.mkdir(parents=True)
        for number in ("latest", __version__):
            text = json.dumps({"v": 1, "version": __version__, "hashes": hashes, "deps": []})
            (to / (number + ".json")).write_text(text + "\n")
        rows.append({
            "name": name, "version": __version__, "description": _about(name), "license": "MIT",
            "versions": {version: [__version__]},
        })  # fmt: skip
    (folder / "index.json").write_text(json.dumps({"v": 2, "packages": rows}, indent=1) + "\n")


def _kept(folder, source):
    """The name of a file's copy in the index."""
    name = hashlib.sha256((folder / source).read_bytes()).hexdigest()[:_DIGITS]
    to = folder / "file" / name[:2] / name
    if not to.exists():
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / source, to)
    return name


def _about(name):
    found = [row.about for capability, row in CAPABILITIES.items() if capability in name.split("-")]
    return found[0] if found else "training neural networks on microcontrollers"
