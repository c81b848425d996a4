"""The inner loops of the kernels as they are in a firmware: instructions between a branch back and its target."""

import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from folders import ROOT  # noqa: E402

BUILD = ROOT / "build"
# A machine: its firmware, and the functions whose inner loops decide.
LOOPS = {
    "rp2040": (
        "rp2040/cmake/firmware.elf",
        ("run_pairs", "pack_pairs", "odt_sum_fours", "finish_rows", "sum_taps", "step_row", "odt_apply_row"),
    ),
    "qemu_m4": (
        "qemu_m4/firmware.elf",
        (
            "odt_add_rows",
            "finish_rows",
            "add_sums",
            "dot_rows",
            "start_windows",
            "finish_pixels",
            "add_products",
            "step_row",
        ),
    ),
}
PRODUCTS = ("mul", "sml", "smml")


def disassemble(elf, function):
    """(address, instruction) of a function."""
    command = ["arm-none-eabi-objdump", "-d", "--no-show-raw-insn", "--disassemble=" + function, str(elf)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = re.findall(r"^ *([0-9a-f]+):\t(.*)$", text, re.MULTILINE)
    return [(int(address, 16), re.sub(r"\s*[@;].*| <.*>", "", words)) for address, words in rows]


def inner_loops(rows):
    """The loops with products in them that hold no such loop and no return: lists of rows."""
    found = []
    for i, (address, words) in enumerate(rows):
        match = re.match(r"b([a-z]{2})?(?:\.[nw])?\t(?:0x)?([0-9a-f]+)$", words)
        # A branch always taken ends a loop only behind the one that leaves it.
        if match and (match.group(1) or rows[i - 1][1].startswith("beq")) and int(match.group(2), 16) <= address:
            loop = [row for row in rows[: i + 1] if row[0] >= int(match.group(2), 16)]
            returns = any("pc}" in words for _, words in loop)
            if not returns and any(words.startswith(PRODUCTS) for _, words in loop):
                found.append(loop)
    return [
        loop
        for loop in found
        if not any(other is not loop and other[0] >= loop[0] and other[-1] <= loop[-1] for other in found)
    ]


def listing(name):
    """The text for a machine."""
    firmware, functions = LOOPS[name]
    out = ["%s: inner loops" % name, ""]
    for function in functions:
        for loop in inner_loops(disassemble(BUILD / firmware, function)):
            out.append("  %s, %d instructions" % (function, len(loop)))
            column = ["    " + words.replace("\t", " ") for _, words in loop]
            rows = (len(column) + 2) // 3
            for row in range(rows):
                out.append("".join("%-46s" % words for words in column[row::rows]).rstrip())
            out.append("")
    return out
