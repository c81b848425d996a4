"""odt's own files, and files that other processes and power failures find whole: the old one, or the new one.

with replacing("chart.html") as name:       # a name of this process alone, beside it
    figure.savefig(name)                    # now it has the other's place
"""

import contextlib
import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
IN_CHECKOUT = (PACKAGE.parent / "boards" / "rp2040.mk").is_file()  # and not an installed package
CHECKOUT = PACKAGE.parent if IN_CHECKOUT else Path()  # else it may be where the person is
# What boards get: a clone's own, or what setup.py put into the wheel.
MPY = CHECKOUT / "build" / "mpy" if IN_CHECKOUT else PACKAGE / "host" / "mpy"
EXAMPLES = CHECKOUT / "examples" if IN_CHECKOUT else PACKAGE / "host" / "examples"


def board_modules():
    """Paths, relative to the package's folder, of the modules that boards get: all but odt/host and __main__.py."""
    files = sorted([file.relative_to(PACKAGE) for file in PACKAGE.rglob("*.py")])
    return [file for file in files if file.parts[0] not in ("host", "__main__.py")]


@contextlib.contextmanager
def replacing(path):
    """The name of a new file that takes the place of ``path`` if the block ends well, and is removed if it does not.

    The name ends as ``path`` does, and begins with a dot. The file is on the disk before it is renamed, so that a
    power failure leaves one of the two; it may leave the new one under its own name as well.
    """
    folder, name = os.path.split(os.fspath(path))
    stem, suffix = os.path.splitext(name)
    beside = os.path.join(folder, ".%s.%s.new%s" % (stem, os.urandom(6).hex(), suffix))
    try:
        yield beside
        _sync(beside, os.O_RDWR)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(beside)
        raise
    with contextlib.suppress(OSError):  # Windows opens no folders
        _sync(folder or ".", os.O_RDONLY)


def write_file(path, parts):
    """Replace the file by these bytes."""
    with replacing(path) as name, open(name, "wb") as file:
        for part in parts:
            file.write(part)


def write_text(path, text):
    """Replace the file by this text, as UTF-8."""
    write_file(path, [text.encode()])


def _sync(path, flags):
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
