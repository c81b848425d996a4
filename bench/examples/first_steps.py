"""The pictures of docs/tutorials/pc.md and pico.md: learning curves of the digits.

python bench/examples/first_steps.py         writes docs/pictures/pc.svg and pico.svg
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from folders import ROOT  # noqa: E402

DIGITS = ROOT / "examples" / "digits"
sys.path.insert(0, str(DIGITS))
PICTURES = ROOT / "docs" / "pictures"

import compare  # noqa: E402
import matplotlib  # noqa: E402

SALT = {"svg.hashsalt": "odt"}  # the same ids each time


def first_steps_on_a_pc():
    """As `make run` draws them, of CPython alone."""
    os.environ["PYTHONPATH"] = str(ROOT)
    with matplotlib.rc_context(SALT):
        compare.picture([compare.run("CPython", [sys.executable, "train.py"], dict(os.environ))], PICTURES / "pc.svg")
    text = (PICTURES / "pc.svg").read_text()
    (PICTURES / "pc.svg").write_text(re.sub(r" <metadata>.*?</metadata>\n", "", text, flags=re.DOTALL))  # the date


def first_steps_on_a_pico():
    """As `odt monitor` draws them in its page."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "odt", "monitor", DIGITS / "first.py", "--on", "host", "--report", "first"]
        subprocess.run(command, cwd=folder, env=dict(os.environ, PYTHONPATH=str(ROOT)), check=True)
        page = (Path(folder) / "first.html").read_text()
    (PICTURES / "pico.svg").write_text(
        '<?xml version="1.0"?>\n' + re.search(r"<svg.*?</svg>", page, re.DOTALL)[0] + "\n"
    )


if __name__ == "__main__":
    first_steps_on_a_pc()
    first_steps_on_a_pico()
