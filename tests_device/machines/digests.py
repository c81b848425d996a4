"""What a script prints under CPython, and the digests that machines have to end with."""

import contextlib
import io
import re
import runpy

from checkout import ROOT

DIGITS = ROOT / "examples" / "digits"


# Small enough for the heap of an STM32F405, on which stm32f405.py runs the same.
INT8 = {"steps": 200, "train": 160, "test": 48, "batch": 16}
FLOAT32 = {"steps": 8, "train": 160, "test": 48, "batch": 4, "dtype": "float32"}


def on_the_pc(script, args):
    """What the script prints under CPython, in this process."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        runpy.run_path(str(script), {"ODT_ARGS": args})
    return out.getvalue()


def digest(text):
    return re.search(r"digest ([0-9a-f]{8})", text).group(1)
