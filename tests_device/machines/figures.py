"""Figures of documents that come from what was built, and how they are compared."""

import re
import sys

import machines

sys.path.insert(0, str(machines.ROOT))  # not the copy that is installed in build/venv

from odt.host.boards import install
from odt.host.release import firmware  # noqa: E402
from odt.host.release.pieces import PIECES  # noqa: E402

ROOT = machines.ROOT


MPY = machines.BUILD / "mpy"
MENDS = "run `build/venv/bin/python tests_device/checks/install/test_readme.py`"
NUMBER = re.compile(r"\d[\d,]*")


def near(written, measured, slack=0):
    """Whether two texts are the same except for what compilers change; ``slack``: bytes that a number may differ by."""
    pairs = [[int(number.replace(",", "")) for number in NUMBER.findall(text)] for text in (written, measured)]
    words = [NUMBER.sub("#", text).split() for text in (written, measured)]  # wherever a line wraps
    return words[0] == words[1] and all(
        abs(old - new) <= max(slack, new // 50 if new >= 1000 else 0) for old, new in zip(*pairs)
    )


def module(arch, name="_odt"):
    return (MPY / arch / (name + ".mpy")).stat().st_size


def sizes():
    """A table of bytes, without xtensawin, which is built on request."""
    archs = ("armv6m", "armv7m", "armv7emsp", "armv7emdp", "rv32imc", "x64")
    rows = [("`%s.mpy`: %s" % (name, about), [module(arch, name) for arch in archs]) for name, about in PIECES.items()]
    package = sum([file.stat().st_size for file in (MPY / "python").rglob("*.mpy")])
    rows.append(("package", [package] * len(archs)))
    lines = ["| | %s |" % " | ".join(archs), "|---" + "|--:" * len(archs) + "|"]
    lines += ["| %s | %s |" % (name, " | ".join([format(size, ",") for size in row])) for name, row in rows]
    return "\n".join(lines)


def added():
    folders = machines.BUILD / "RPI_PICO", machines.BUILD / "stock_rp2040"
    (flash, heap), (stock_flash, stock_heap) = [firmware.sizes(folder / "cmake/firmware.elf") for folder in folders]
    return f"{flash - stock_flash:,} bytes of flash and {stock_heap - heap:,} bytes of RAM"


def wanted():
    kernels = install.native_heap(MPY / "armv7m" / "_odt.mpy")
    return "%.0f KB of free heap, with kernels %.0f KB" % (install.PYTHON_HEAP / 1000, kernels / 1000)


def installed():
    """What `python -m odt install` prints of a stock Pico, without what goes by its port."""
    import installing

    with machines.open("stock_rp2040") as pico:
        status, text = installing.run(pico)
    assert status == 0, text
    return text


def heap():
    """In KB, by the page's own lines of the installation."""
    document, pattern, _, _ = FIGURES["installation"]
    text = re.search(pattern, document.read_text(), re.S)[2]
    found = re.search(r"(\d+) bytes of heap free.* (\d+) bytes of heap left", text, re.S)
    free, left = [int(number) / 1000 for number in found.groups()]
    return "%.0f of a stock Pico's %.0f KB of heap remain free" % (left, free)


INSTALL = ROOT / "docs" / "howto" / "install.md"
COSTS = ROOT / "docs" / "reference" / "costs.md"
# name: (document, pattern of what stands before it, it and what stands behind, its measurement, slack)
FIGURES = {
    "kernels and package": (COSTS, r"(<!-- sizes of make mpy -->\n)(.*?)(\n\n)", sizes, 0),
    "firmware": (INSTALL, r"(prints what odt adds: to a Pico's, )(.*?)(\.)", added, 64),
    "wanted": (INSTALL, r"(odt from files needs )(.*?)(\. With less)", wanted, 1),
    "installation": (
        INSTALL,
        r"(<!-- written by tests_device/checks/install/test_readme.py -->\n```text\n)(.*?)(```)",
        installed,
        0,
    ),
    "heap": (INSTALL, r"(All of this is in the board's RAM: )(.*?)(, before a model)", heap, 0),
}


def check(name, measured=None):
    document, pattern, measure, slack = FIGURES[name]
    (found,) = re.findall(pattern, document.read_text(), re.S)
    measured = measured or measure()
    assert near(found[1], measured, slack), "%s says\n%s\nand it is\n%s\n%s" % (
        document.name,
        found[1],
        measured,
        MENDS,
    )
