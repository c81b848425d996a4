"""The stack of a second core is as large as what its kernels take at the deepest, by the compilers' own account."""

import functools
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from checkout import ROOT

from odt.run import threads

NATIVE = ROOT / "native"
# What kernels that are split reach, and what lies beneath them: MicroPython's call of odt_serve(), an interrupt.
FOLDERS, BELOW = ("common", "cores", "kernels/linear", "kernels/pool", "kernels/update"), 1024
OPTIONS = "-O2 -std=gnu99 -fwrapv -ffp-contract=off -DODT_THREADS -DPICO_ON_DEVICE=1 -fcallgraph-info=su"
# name: the compiler, and what MicroPython calls the architecture (sys.implementation._mpy)
CORES = {
    "RP2040": ("arm-none-eabi-gcc -mcpu=cortex-m0plus -mthumb", 4),
    "RP2350": ("arm-none-eabi-gcc -mcpu=cortex-m33 -mthumb -mfloat-abi=softfp", 7),
}


def files():
    yield NATIVE / "fixed.c"
    for folder in FOLDERS:
        yield from (path for path in (NATIVE / folder).rglob("*.c") if not path.stem.endswith(("_f32", "__x86")))


def graph(compiler, folder):
    """(the bytes of each function's frame, what each calls)"""
    frames, calls = {}, {}
    for path in files():
        compiled = folder / (path.stem + ".o")
        subprocess.run([*compiler.split(), *OPTIONS.split(), "-c", path, "-o", compiled], check=True)
        text = compiled.with_suffix(".ci").read_text()
        for name, size, kind in re.findall(r'node: \{ title: "([^"]+)" label: "[^"]*?(\d+) bytes \(([\w,]+)\)"', text):
            assert kind in ("static", "dynamic,bounded"), (name, kind)
            frames[name] = int(size)
        for caller, called in re.findall(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', text):
            calls.setdefault(caller, set()).add(called)
    return frames, calls


def split():
    """The functions that compute a part of a kernel's outputs."""
    text = "".join(path.read_text() for path in NATIVE.rglob("*.[chi]*") if path.is_file())
    return set(re.findall(r"\bodt_split\((\w+), ", text)) - {"work"}


@pytest.mark.parametrize("core", CORES)
def test_the_deepest_kernel_of_a_second_core_fits_its_stack(core, tmp_path, monkeypatch):
    compiler, architecture = CORES[core]
    frames, calls = graph(compiler, tmp_path)

    @functools.cache
    def depth(name):
        return frames.get(name, 0) + max([depth(called) for called in calls.get(name, ()) if called != name], default=0)

    depths = {name: depth(name) for name in frames if name.rpartition(":")[2].partition(".")[0] in split()}
    assert len(depths) > 8 and max(depths.values()) > 2000
    monkeypatch.setattr(sys, "implementation", SimpleNamespace(name="micropython", _mpy=architecture << 10))
    assert max(depths.values()) + BELOW <= threads.stack(), max((size, name) for name, size in depths.items())
