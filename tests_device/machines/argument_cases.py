"""Draws calls of _odt, and checks what a machine answered: for arguments.py."""

import random
import re
import zlib

import instructions  # noqa: E402
import pytest
from checkout import ROOT

from odt.base import opcodes  # noqa: E402


def draw_all(seed, count):
    """(program, regions, their CRCs after a run on the PC) of each instruction, with and without a prefix. No CRCs of
    float32, where compilers make NaNs of one sign or the other."""
    native = pytest.importorskip("_odt")
    rng, cases = random.Random(seed), []
    for name in instructions.NAMES:
        for prefix in (None, *opcodes.PREFIXES) if instructions.has_size(name) else (None,):
            for _ in range(count):
                case = instructions.draw(rng, name, prefix)
                blocks = [None if region is None else bytes(region) for region in case.regions]
                sums = [] if instructions.is_float(name) else [zlib.crc32(region) for region in case.run(native)[:3]]
                cases.append((bytes(case.program), blocks, sums))
    return cases


def check(machine, cases, count):
    """Run arguments.py; returns what it printed."""
    args = {"cases": [case[:2] for case in cases], "count": count}
    text = machine.run(ROOT / "tests_device" / "scripts" / "arguments.py", args=args, timeout=900)
    found = [[int(crc) for crc in crcs] for crcs in re.findall(r"crc (\d+) (\d+) (\d+)", text)]
    assert len(found) == len(cases) and "called" in text
    for crcs, (program, _, sums) in zip(found, cases):
        assert not sums or crcs == sums, program.hex()
    return text
