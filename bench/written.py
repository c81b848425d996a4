"""Files of bench/results: each says of which commit it was made, and none is made of changes that no commit has."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def git(*words):
    return subprocess.run(["git", *words], capture_output=True, text=True, cwd=ROOT).stdout.strip()


def write(name, lines):
    """Write bench/results/``name``, its line "Written by: ..." with the commit; into build/ where there are changes."""
    folder = ROOT / "bench" / "results"
    if git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!bench/results"):
        folder = ROOT / "build" / "results"
        folder.mkdir(parents=True, exist_ok=True)
        print("odt: there are changes without a commit: %s is in %s" % (name, folder))
    commit = "; commit %s" % git("rev-parse", "--short=7", "HEAD")
    lines = [line + commit if "Written by: python " in line else line for line in lines]
    (folder / name).write_text("\n".join(lines).rstrip() + "\n")
