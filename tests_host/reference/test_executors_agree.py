"""The executors agree to the bit: C, the Python reference here, the reference on MicroPython."""

import os
import random
import shutil
import struct
import subprocess
import zlib
from array import array
from pathlib import Path

import numpy as np
import pytest
from checkout import ROOT
from executors import _odt, compare, executors, needs_native
from instructions import NAMES, draw, draw_name, has_size, is_float

from odt.base import opcodes
from odt.reference import program as reference

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = 60


def cases(name, count=CASES):
    return [draw(random.Random("%s %d" % (name, seed)), name) for seed in range(count)]


def test_every_instruction_of_the_table_is_drawn_and_has_an_effect():
    for name in NAMES:
        assert any(case.run(reference) != [r and bytes(r) for r in case.regions] for case in cases(name, 9)), name


@needs_native
@pytest.mark.parametrize("name", NAMES)
def test_native_agrees_with_reference(name):
    for case in cases(name):
        compare(case, case.run(_odt))


@pytest.mark.slow
@needs_native
@pytest.mark.parametrize("prefix", opcodes.PREFIXES)
def test_native_agrees_with_reference_behind_a_prefix(prefix):
    rng = random.Random(prefix)
    for name in NAMES:
        if has_size(name):
            for _ in range(CASES // 5):
                case = draw(rng, name, prefix)
                compare(case, case.run(_odt))


@needs_native
def test_native_writes_nothing_but_what_an_instruction_declares():
    for name in NAMES:
        op = opcodes.opcode(name)
        for case in cases(name, 5):
            after = case.run(_odt)
            control, before = after[opcodes.CONTROL], case.regions[opcodes.CONTROL]
            done = slice(4 * opcodes.DONE, 4 * opcodes.DONE + 4)
            assert struct.unpack("<i", control[done]) == (12,)  # where the instruction begins
            after[opcodes.CONTROL] = control[: done.start] + before[done] + control[done.stop :]
            for k, (_, access, dtype, _, _) in enumerate(op.operands):
                if access != ":" and dtype != "buf":
                    region = case.addresses[k] >> opcodes.REGION_SHIFT
                    start = case.addresses[k] & 0x3FFFFFF
                    stop = start + op.bytes(k, case.immediates)
                    after[region] = bytearray(after[region])
                    after[region][start:stop] = case.regions[region][start:stop]
            assert after == case.regions, name


@needs_native
def test_verifiers_refuse_the_same_programs():
    rng = random.Random(1)
    refused = 0
    for _ in range(3000):
        case = draw(rng, *draw_name(rng))
        program = bytearray(case.program)
        at = rng.randrange(len(program) // 4)
        value = struct.unpack_from("<i", program, 4 * at)[0]
        value = rng.choice(
            (
                value + 1,
                value - 1,
                value + 4,
                -value,
                0,
                1 << 30,
                -1,
                value ^ 1 << 26,
                70000,
                1 << 25,
            )
        )
        struct.pack_into("<i", program, 4 * at, max(-1 << 31, min((1 << 31) - 1, value)))
        if rng.random() < 0.1:
            program = program[: rng.randrange(len(program))]
        answers = []
        for executor in (reference, _odt):
            try:
                executor.load(bytes(program))
                answers.append("accepted")
            except ValueError as error:
                answers.append("refused")
                assert str(error)
        assert answers[0] == answers[1], (case.name, at, value, answers)
        refused += answers[0] == "refused"
    assert 500 < refused < 2900


@executors
def test_run_refuses_regions_that_do_not_fit(executor):
    case = draw(random.Random(1), "dense_i8")
    loaded = executor.load(case.program)
    last = len(case.program) // 4
    good = [None if r is None else bytearray(r) for r in case.regions]
    executor.run(loaded, good, 12, last)
    executor.run(loaded, tuple(good), 12, 12)
    for i, region in enumerate(good):
        if region:
            with pytest.raises(ValueError, match="has %d bytes" % (len(region) - 1)):
                executor.run(loaded, good[:i] + [region[:-1]] + good[i + 1 :], 12, last)
    with pytest.raises(ValueError):
        executor.run(loaded, good[:5], 12, last)
    with pytest.raises((TypeError, BufferError)):
        executor.run(loaded, [bytes(good[0])] + good[1:], 12, last)
    with pytest.raises(TypeError):
        executor.run(loaded, None, 12, last)
    with pytest.raises(TypeError):
        executor.run(case.program, good, 12, last)
    for start, stop in ((11, last), (12, last - 1), (last, 12), (12, last + 1), (-1, last)):
        with pytest.raises(ValueError):
            executor.run(loaded, good, start, stop)


@executors
def test_load_takes_bytes_only(executor):
    program = draw(random.Random(1), "clear").program
    for wrong in (bytearray(program), array("i", program), None, 5, "text"):
        with pytest.raises(TypeError):
            executor.load(wrong)
    for wrong in (b"", program[:-1], program[:-4], program + bytes(4), b"ODT2" + program[4:]):
        with pytest.raises(ValueError):
            executor.load(wrong)


@executors
def test_random_numbers_are_drawn_as_numerics_md_has_them(executor):
    for key, first, count in ((0, 0, 1), (0xFFFFFFFF, 0, 300), (12345, 0xFFFFFF80, 300), (7, 1 << 31, 65)):
        u = np.arange(first, first + count, dtype=np.uint64) * 0x9E3779B9 + key & 0xFFFFFFFF
        for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B), (16, 1)):  # lowbias32
            u = (u ^ u >> shift) * factor & 0xFFFFFFFF
        drawn = array("h", bytes(2 * count))
        executor.draw(drawn, key, first)
        assert list(drawn) == list((u >> 17).astype(int) - 16384)
    odd = bytearray(b"\0\0\7")
    executor.draw(odd, 1, 2)
    assert odd[:2] != b"\0\0" and odd[2] == 7
    for wrong in (b"ab", 5, None):
        with pytest.raises((TypeError, BufferError)):
            executor.draw(wrong, 1, 2)


@executors
def test_buffers_are_described(executor):
    data = bytes(range(256)) * 5
    assert executor.crc32(data) == zlib.crc32(data)
    assert executor.crc32(array("h", [1, -2]), 77) == zlib.crc32(b"\1\0\xfe\xff", 77)
    assert executor.crc32(data[100:], executor.crc32(data[:100])) == zlib.crc32(data)
    for code in "bBhHiIfd":
        buffer = array(code, [1, 2, 3])
        assert executor.typecode(buffer) == executor.typecode(memoryview(buffer)) == code
        assert executor.nbytes(buffer) == executor.nbytes(memoryview(buffer)) == len(bytes(buffer))
    assert executor.typecode(data) == executor.typecode(bytearray(data)) == "B"
    assert executor.nbytes(b"") == executor.nbytes(array("f")) == 0
    good = [0.0, -1.0, 3.4e38, 1e-45]
    for bad in (float("nan"), float("inf"), float("-inf")):
        assert executor.find_nonfinite(array("f", [*good, bad, *good, bad])) == 4
    assert executor.find_nonfinite(array("f", good)) == executor.find_nonfinite(b"") == -1


ON_BOARD = """
import sys
sys.path.insert(0, sys.argv[1])
import struct
if sys.argv[5] == "native":
    import _odt as executor
else:
    from odt.reference import program as executor
with open(sys.argv[2], "rb") as f, open(sys.argv[3], "wb") as out:
    def block():
        size = struct.unpack("<i", f.read(4))[0]
        return None if size < 0 else bytearray(f.read(size))
    for _ in range(int(sys.argv[4])):
        program = block()
        regions = [block() for _ in range(6)]
        executor.run(executor.load(bytes(program)), regions, 12, len(program) // 4)
        for region in regions:
            out.write(region or b"")
"""


def has_native(python):
    return subprocess.run([python, "-c", "import _odt; _odt.load"], capture_output=True).returncode == 0


@pytest.mark.parametrize("executor", ("reference", "native"))
@pytest.mark.parametrize("variant", ("unix", "unix_float30"))
def test_executors_on_micropython_agree(variant, executor, tmp_path):
    """All instructions where floats have the bits for it, the integer ones where they have 30."""
    python = os.path.join(ROOT, "build", variant, "micropython")
    if not os.path.exists(python):
        pytest.skip("build/%s is not built" % variant)
    if executor == "native" and not has_native(python):
        pytest.skip("build/%s has no _odt" % variant)
    shutil.copytree(os.path.join(ROOT, "odt", "reference"), tmp_path / "odt" / "reference")
    shutil.copytree(os.path.join(ROOT, "odt", "base"), tmp_path / "odt" / "base")  # all that the reference needs
    (tmp_path / "odt" / "__init__.py").write_text("")
    for path in Path(ROOT).glob("odt/*/instructions.py"):
        (tmp_path / "odt" / path.parent.name).mkdir()
        shutil.copy(path, tmp_path / "odt" / path.parent.name)
    names = [name for name in NAMES if variant == "unix" or executor == "native" or not is_float(name)]
    drawn = [case for name in names for case in cases(name, 12)]
    with open(tmp_path / "cases", "wb") as f:
        for case in drawn:
            for block in [case.program, *case.regions]:
                f.write(struct.pack("<i", -1 if block is None else len(block)) + (block or b""))
    (tmp_path / "run.py").write_text(ON_BOARD)
    subprocess.run(
        [python, "-X", "heapsize=8m", "run.py", ".", "cases", "out", str(len(drawn)), executor],
        cwd=tmp_path, check=True, timeout=120,
    )  # fmt: skip
    with open(tmp_path / "out", "rb") as f:
        for case in drawn:
            compare(case, [None if r is None else f.read(len(r)) for r in case.regions])
