"""The C files that every build of the native module has: native/ without its bindings; and builds of them for tests."""

import atexit
import functools
import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

from checkout import ROOT

NATIVE = ROOT / "native"


def sources(native=NATIVE):
    """Their paths as strings, sorted."""
    return sorted(str(path) for path in Path(native).rglob("*.c") if path.parent.name != "bindings")


@functools.cache
def _objects():
    """The folder of this process's object files, by what they were compiled from."""
    folder = Path(tempfile.mkdtemp(prefix="odt-objects-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def compiled(command):
    """Paths of native/'s object files. A file that other macros do not change is compiled once."""
    options = [option for option in command if not option.startswith("-D")]
    paths = []
    for source in sources():
        text = subprocess.run([*command, "-E", source], check=True, stdout=subprocess.PIPE).stdout
        name = hashlib.sha256(" ".join(options).encode() + text).hexdigest() + ".o"
        paths.append(str(_objects() / name))
        if not (_objects() / name).exists():
            subprocess.run([*command, "-c", source, "-o", paths[-1]], check=True)
    return paths


def build(path, command, harness=(), link=()):
    """Link native/ with a harness. ``command``: the compiler and its options; ``link``: more for the last step.

    ODT_X86_LEVEL of the environment says, when it is loaded, which of a PC's vectors it uses (native/core.h).
    """
    command, level = [*command, "-DODT_X86_LEVEL=odt_x86_level"], str(ROOT / "tests_host" / "native" / "level.c")
    subprocess.run([*command, *link, "-o", str(path), level, *harness, *compiled(command)], check=True)
