"""Write .ci/constraints.txt: the versions of all that pyproject.toml's extras brought into this Python, and of what
builds; or .ci/flower.txt: those of the extra "flower" alone, whose packages want others.

    make lock

pip takes them with -c, on the minor version of Python that they were written for; on others it chooses as before.
"""

import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("plot", "monitor", "search", "import", "prune", "mpy", "docs", "test")
FILES = {"constraints.txt": EXTRAS, "flower.txt": ("flower",)}
_HEAD = "# What the tests ran with. Written by make lock.\n"


def name_of(requirement):
    return re.sub("[-_.]+", "-", requirement).lower()


def closure(extras=EXTRAS):
    """{name: version} of what the extras need and have here, themselves included."""
    found, todo = {}, [("odt-train", extras)]
    seen = set()
    while todo:
        name, extras = todo.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # of an extra that nobody installed: search has more than test
            continue
        if name != "odt-train":
            found[name] = distribution.version.partition("+")[0]  # of torch, whatever wheel it is
        for text in distribution.requires or ():
            need = Requirement(text)
            if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in (*extras, "")):
                todo.append((name_of(need.name), tuple(sorted(need.extras))))
    return found


def lines(versions):
    here = 'python_version == "%d.%d"' % sys.version_info[:2]
    return ["%s==%s; %s\n" % (name, version, here) for name, version in sorted(versions.items())]


def backend():
    """The version of setuptools that pip would build with now."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--dry-run",
        "--ignore-installed",
        "--no-deps",
        "--report",
        "-",
    ]
    done = subprocess.run([*command, "setuptools>=77"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["install"][0]["metadata"]["version"]


if __name__ == "__main__":
    name = sys.argv[1]
    (ROOT / ".ci" / name).write_text(_HEAD + "".join(lines({**closure(FILES[name]), "setuptools": backend()})))
