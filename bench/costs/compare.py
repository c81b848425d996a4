"""Two commits, or two files of results: what bench/costs/kernels.py and bench/costs/steps.py find of both, and the
ratio.

    python bench/costs/compare.py bench/results/steps.txt /tmp/steps.txt
    python bench/costs/compare.py HEAD~3 HEAD rp2040 dense      on some machines, the lines with "dense" in them
    python bench/costs/compare.py HEAD . qemu_m4                . is the checkout as it is

A commit is built under build/compare/, where it stays, and measured by the scripts of this checkout.
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
from counting import ROOT, UNITS, shell

BOARDS = [name for name in UNITS if name != "pc"]


def figures(text):
    """{(machine, line): count} of what kernels.py or steps.py printed."""
    found = {}
    machine, model, columns = None, "", []
    for line in text.splitlines():
        section = re.match(r"(\w+): (?:cycles|instructions|ns)(?:,.*)?$", line)
        kernel = re.match(r"  (\S.*?) +\d+ MAC +(-?\d+) ", line)
        title = re.match(r"(\S.*): \d+ MACs forward", line)
        row = re.match(r"  ( *\S.*?) {2,}((?: *-?\d+ +-?\d+\.\d)+) *$", line)
        if section:
            machine = section[1]
        elif kernel:
            found[machine, " ".join(kernel[1].split())] = int(kernel[2])
        elif title:
            model = title[1]
        elif re.match(r" +\w+ %", line):
            columns = re.findall(r"(\w+) %", line)
        elif row:
            for name, count in zip(columns, row[2].split()[::2]):
                found[name, "%s: %s" % (model, row[1].strip())] = int(count)
    return found


def checkout(commit):
    """A folder with that commit, this checkout's scripts and what was fetched for building."""
    if commit == ".":
        return ROOT
    number = shell("git", "rev-parse", "--short", commit + "^{commit}")
    if not number:
        sys.exit("%s is neither a file nor a commit" % commit)
    folder = ROOT / "build/compare" / number
    if not folder.exists():
        subprocess.run(["git", "worktree", "add", "-q", "--detach", folder, number], cwd=ROOT, check=True)
        (folder / "build").mkdir()
        for part in ("src", "apt", "venv"):
            if (ROOT / "build" / part).exists():
                (folder / "build" / part).symlink_to(ROOT / "build" / part)
    shutil.rmtree(folder / "bench", ignore_errors=True)
    shutil.copytree(ROOT / "bench", folder / "bench", ignore=shutil.ignore_patterns("results", "__pycache__"))
    return folder


def measured(commit, names, words):
    """As ``figures``, of a commit."""
    folder = checkout(commit)
    images = [folder / "build" / name / ("firmware.uf2" if name == "rp2040" else "firmware.elf") for name in names]
    targets = ["rp2040" if name == "rp2040" else str(image) for name, image in zip(names, images)]
    subprocess.run(["make", *targets], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    found = {}
    for script in ("kernels.py", "steps.py"):
        command = [sys.executable, folder / "bench" / "costs" / script, *names, *words]
        found.update(figures(subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("words", nargs="*", help="boards (%s), and words that lines must hold" % ", ".join(BOARDS))
    arguments = parser.parse_args()
    names = [word for word in arguments.words if word in BOARDS] or ["rp2040", "qemu_m4"]
    words = [word for word in arguments.words if word not in BOARDS]
    sides = []
    for side in (arguments.before, arguments.after):
        found = figures(Path(side).read_text()) if Path(side).is_file() else measured(side, names, words)
        sides.append(found)
    for key in sides[0]:
        if key in sides[1]:
            before, after = sides[0][key], sides[1][key]
            ratio = "%.3f" % (after / before) if before > 0 else ""
            print("%-9s %-70s %11d %11d %6s" % (*key, before, after, ratio))


if __name__ == "__main__":
    main()
