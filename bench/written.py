"""Files of bench/results: each says of which commit it was made, and none is made of changes that no commit has."""

import contextlib
import io
import platform
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def git(*words):
    return subprocess.run(["git", *words], capture_output=True, text=True, cwd=ROOT).stdout.strip()


def is_changed():
    """Whether tracked files outside bench/results and docs/pictures have changes without a commit."""
    return bool(git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!bench/results", ":!docs/pictures"))


def processor():
    """The name of this PC's, with the vectors that odt's kernels choose by."""
    path = Path("/proc/cpuinfo")
    words = dict(re.findall(r"^([\w ]+?)\s*: (.*)", path.read_text(), re.M)) if path.exists() else {}
    name = words.get("model name", platform.machine())
    flags = [flag for flag in ("avx2", "avx512_vnni") if flag in words.get("flags", "").split()]
    return " ".join([name, *flags])


def write(name, lines):
    """Write bench/results/``name``, its line "Written by: ..." with the commit; into build/ where there are changes."""
    folder = ROOT / "bench" / "results"
    if is_changed():
        folder = ROOT / "build" / "results"
        folder.mkdir(parents=True, exist_ok=True)
        print("odt: there are changes without a commit: %s is in %s" % (name, folder))
    commit = "; commit %s" % git("rev-parse", "--short=7", "HEAD")
    lines = [line + commit if "Written by: python " in line else line for line in lines]
    (folder / name).write_text("\n".join(lines).rstrip() + "\n")


def recorded(name, main):
    """Run main(), which prints; without arguments, a full run, what it prints is written too."""
    if sys.argv[1:]:
        return main()
    kept(name, main)


def kept(name, main):
    """Run main() and write what it prints, with the arguments that it was given."""
    lines = io.StringIO()
    with contextlib.redirect_stdout(_Both(sys.stdout, lines)):
        main()
    path = Path(sys.argv[0]).resolve()
    path = path.relative_to(ROOT).as_posix() if ROOT in path.parents else "bench/" + path.name
    command = " ".join([path, *sys.argv[1:]])
    first = "Written by: python %s, by CPython %d.%d" % ((command,) + sys.version_info[:2])
    write(name, [first, *lines.getvalue().splitlines()])


class _Both:
    def __init__(self, *files):
        self.files = files

    def write(self, text):
        for file in self.files:
            file.write(text)

    def flush(self):
        self.files[0].flush()
