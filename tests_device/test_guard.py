"""The int8 kernels of a Cortex-M4 read and write nothing behind their operands.

They load words, and their loops are assembly, which no sanitizer sees. So each operand in turn is put where
memory ends: what follows belongs to a region that the core's memory protection unit forbids.
"""

import random
import sys
import zlib
from array import array
from pathlib import Path

import machines
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests_host"))

import instructions  # noqa: E402

from odt import opcodes  # noqa: E402

END = 0x21800000  # in the board's 16 MB, far above its heap
LAYERS = [layer + kind for layer in ("dense", "conv2d", "depthwise2d") for kind in ("_i8", "_dx_i8", "_dw_i8")]
CASES = 16

# A region of 4 KB at END that nothing may access, all else as it was.
GUARD = """
from machine import mem32
mem32[0xE000ED9C] = %d | 0x10
mem32[0xE000EDA0] = 11 << 1 | 1
mem32[0xE000ED94] = 5
""" % END
ON_BOARD = GUARD + """
import _odt, uctypes, gc
with open("cases", "rb") as f:
    for words, size in ODT_ARGS["sizes"]:
        gc.collect()
        program = f.read(words)
        arena = uctypes.bytearray_at(%d - size, size)
        arena[:] = f.read(size)
        _odt.run(_odt.load(program), [arena, bytearray(0), bytearray(64), None, None, bytearray(0)], 12, words // 4)
        print("crc", _odt.crc32(arena))
""" % END


def contents(rng, operand, dtype, size):
    if dtype == "mul":
        return array("i", [v for _ in range(size // 8) for v in (rng.randrange(1 << 23, 1 << 24) << 7, 41)]).tobytes()
    return bytes(size) if operand == "peak" else bytes(rng.randrange(256) for _ in range(size))


def build(rng, op, sizes, last):
    """(program, arena), whose last byte is the last of that operand."""
    operands = [(operand[0], operand[2], op.bytes(i, sizes)) for i, operand in enumerate(op.operands)]
    places, arena = {}, bytearray()
    for name, dtype, size in sorted(operands, key=lambda operand: operand[0] == last):
        arena += bytes(-len(arena) % 4)
        if name == last:
            arena += bytes(-size % 4)  # so that all others lie at whole words
        places[name] = len(arena)
        arena += contents(rng, name, dtype, size)
    addresses = [places[name] for name, _, _ in operands]
    return instructions.assemble(op, addresses, sizes, len(arena), 0, 0), bytes(arena)


def draw(rng, op):
    """Sizes, small and odd ones too."""
    one = rng.choice
    sizes = dict(zx=one((-128, 0, 3)), zy=one((-128, 4)), lo=-128, at=0)
    if "dense" in op.name:
        sizes.update(M=one((1, 2, 3, 4, 5, 17)), K=one((1, 2, 3, 5, 7, 9, 16, 33, 130)), N=one((1, 2, 3, 5, 8, 17, 35)))
    else:
        N = one((1, 2, 3, 4, 5, 7, 9, 17))
        sizes.update(B=one((1, 2)), C=N if "depthwise" in op.name else one((1, 2, 3, 4, 6, 7, 8, 12)), N=N)
        for height, kernel, stride, pad, out in (("H", "KH", "SH", "PT", "OH"), ("W", "KW", "SW", "PL", "OW")):
            sizes[height], sizes[kernel], sizes[stride] = one((1, 3, 4, 7, 19)), one((1, 2, 3, 5)), one((1, 2, 3))
            sizes[pad] = one((0, sizes[kernel] // 2))
            sizes[out] = max((sizes[height] + 2 * sizes[pad] - sizes[kernel]) // sizes[stride] + 1, 1)
    sizes["R"] = sizes["N"]
    return {key: sizes[key] for key in op.immediates}


def run(native, program, arena):
    region = bytearray(arena)
    native.run(native.load(program), [region, bytearray(0), bytearray(64), None, None, bytearray(0)], 12, len(program) // 4)
    return zlib.crc32(region)


@pytest.fixture(scope="module")
def board():
    with machines.open("qemu_m4") as machine:
        yield machine


@pytest.mark.parametrize("name", LAYERS)
def test_a_kernel_touches_nothing_behind_an_operand(board, name):
    native = pytest.importorskip("_odt")
    op = opcodes.opcode(name)
    cases = []
    for seed in range(CASES):
        rng = random.Random("%s %d" % (name, seed))
        sizes = draw(rng, op)
        for operand in op.operands:
            if operand[2] == "i8":
                cases.append(build(rng, op, sizes, operand[0]))
    (board.files / "cases").write_bytes(b"".join(program + arena for program, arena in cases))
    sizes = [(len(program), len(arena)) for program, arena in cases]
    text = board.exec(ON_BOARD, timeout=250, args={"sizes": sizes})
    sums = [int(line.split()[1]) for line in text.splitlines() if line.startswith("crc")]
    assert sums == [run(native, *case) for case in cases]


def test_the_guard_stops_the_core():
    with machines.open("qemu_m4") as machine, pytest.raises(machines.MachineError):
        machine.exec(GUARD + "mem32[%d - 4]\nprint(mem32[%d])" % (END, END), timeout=20)
