"""Arguments of any kind do the binding for MicroPython no harm; `make sanitize` looks closer (sanitize.py)."""

import random
import re
import sys
import zlib
from pathlib import Path

import machines
import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests_host"))

import instructions  # noqa: E402

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
    text = machine.run(HERE / "arguments.py", args=args, timeout=900)
    found = [[int(crc) for crc in crcs] for crcs in re.findall(r"crc (\d+) (\d+) (\d+)", text)]
    assert len(found) == len(cases) and "called" in text
    for crcs, (program, _, sums) in zip(found, cases):
        assert not sums or crcs == sums, program.hex()
    return text


def test_arguments_of_any_kind():
    with machines.open("unix") as machine:
        machine.heap = "16M"
        check(machine, draw_all(1, 1)[::5], 20000)


def test_formats_of_messages_are_not_compressed():
    """Decompressed, the longest of a firmware overruns a buffer of MicroPython's on the stack by a byte."""
    source = HERE.parent / "native/bindings/mod_odt.c"
    for name in machines.UNIX:
        assert (machines.BUILD / name / "micropython").exists(), "run `make %s`" % name.replace("_", "-")
        compressed = machines.BUILD / name / "genhdr/compress" / (str(source).replace("/", "__") + ".compress")
        texts = compressed.read_text().splitlines()
        assert "expected a Program from load()" in texts and not [text for text in texts if "%" in text]
