"""native/cores/route.h against the symbols of firmware: what a core is said to run is linked, and what another runs is
not.
"""

import re
import subprocess

import pytest
from checkout import ROOT

from odt.host import routes

FIRMWARE = {
    "M0": ROOT / "build" / "rp2040" / "cmake" / "firmware.elf",
    "M4": ROOT / "build" / "qemu_m4" / "firmware.elf",
}


def symbols(path):
    """Names of functions, without what gcc adds to those that it makes variants of."""
    out = subprocess.run(["arm-none-eabi-nm", str(path)], check=True, capture_output=True, text=True).stdout
    return {re.sub(r"\.(constprop|isra|part|cold).*", "", line.split()[-1]) for line in out.splitlines()}


def stays(function, paths):
    """Whether a function is one that a compiler can't inline away: one of several files, or noinline."""
    text = "".join(path.read_text() for path in paths)
    return function.startswith("odt_") or re.search(r"(naked|noinline)[^;{}]*\b%s\(" % function, text)


@pytest.mark.parametrize("core", FIRMWARE)
def test_the_loops_of_a_core_are_those_that_its_firmware_has(core):
    assert FIRMWARE[core].exists(), "make %s" % ("rp2040" if core == "M0" else "qemu")
    linked, where, rows = symbols(FIRMWARE[core]), routes.sources(ROOT), routes.rows(ROOT)
    own = {chosen[core] for _, _, chosen in rows if core in chosen}
    checked = {name for name in own if stays(name, where[name])}
    assert len(checked) > 20 and checked <= linked, checked - linked
    others = {name for _, _, chosen in rows for name in chosen.values()} - own
    others = {name for name in others if all("cores" in path.parts for path in where[name]) and len(where[name]) == 1}
    assert len(others) > 4 and not others & linked, others & linked
