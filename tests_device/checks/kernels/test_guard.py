"""The kernels of a Cortex-M4 and of an RP2040's cores read and write nothing before or behind their operands.

They load words, and their loops are assembly, which no sanitizer sees. So each operand in turn, of random sizes, is put
where memory begins or ends: the M4's memory protection unit forbids what lies there, and on the emulated RP2040 there
is nothing.
"""

import random
import zlib
from array import array

import instructions  # noqa: E402
import kernel_cases
import machines
import pytest

from odt.base import opcodes
from odt.host.traits import TRAITS  # noqa: E402

SIZE = 0x8000
LARGEST = 8000  # bytes of a case
# On the M4: in the board's 16 MB, far above its heap, between two regions of 4 KB that nothing may access, all else as
# it was.
GUARD = """
from machine import mem32
START = %s
def forbid(number, address):
    mem32[0xE000ED9C] = address | 0x10 | number
    mem32[0xE000EDA0] = 11 << 1 | 1
"""
BOARDS = {
    "qemu_m4": GUARD % 0x21800000 + "forbid(0, START - 4096)\nforbid(1, START + %d)\nmem32[0xE000ED94] = 5\n" % SIZE,
    "rp2040": GUARD % 0x30000000,  # core.mjs
}
FAMILIES = {}  # of which a board runs one at a time
for _name in kernel_cases.OF_LAYERS:
    FAMILIES.setdefault(TRAITS[_name].family, []).append(_name)
CASES = {"qemu_m4": 20, "rp2040": 10}  # of each kernel: of so many sizes that all their operands come in turn
ON_BOARD = (
    """
import _odt, uctypes, gc
f.seek(ODT_ARGS["at"])
for words, size, given, ends, is_given in ODT_ARGS["cases"]:
    gc.collect()
    program = f.read(words)
    edge = given if is_given else size
    edge = uctypes.bytearray_at(START + (%d - edge if ends else 0), edge)
    arena, data = (bytearray(size), edge) if is_given else (edge, bytearray(given))
    arena[:] = f.read(size)
    data[:] = f.read(given)
    _odt.run(_odt.load(program), [arena, bytearray(0), bytearray(68), data, data, bytearray(0)], 12, words // 4)
    print("crc", _odt.crc32(arena))
"""
    % SIZE
)


def contents(rng, op, operand, dtype, size, sizes):
    if operand in ("q", "e", "x", "w") and rng.random() < 0.5:  # neither saturated nor sparse
        if dtype == "mul":
            pairs = [(rng.randrange(1 << 23, 1 << 24) << 7, 41) for _ in range(size // 8)]
            return array("i", [v for pair in pairs for v in pair]).tobytes()
        return rng.randbytes(size)
    return instructions.contents(rng, op, operand, dtype, size, sizes)


def build(rng, op, sizes, edge, ends):
    """(program, arena, the user's data), of which the last byte is the last of that operand, or the first its first."""
    operands = [
        (operand[0], operand[2], op.bytes(i, sizes)) for i, operand in enumerate(op.operands) if operand[2] != "buf"
    ]
    control = instructions.draw_control(rng, op)
    places, arena, data = {}, bytearray(), b""
    for name, dtype, size in sorted(operands, key=lambda operand: (operand[0] == edge) == ends):
        arena += bytes(-len(arena) % 4)
        if ends and name == edge:
            arena += bytes(-size % 4)  # so that all others lie at whole words
        places[name] = len(arena)
        arena += control.tobytes() if name == "c" else contents(rng, op, name, dtype, size, sizes)
    for name, _, dtype, _, _ in op.operands:
        if dtype == "buf":
            places[name] = (opcodes.X_DATA if name == "x" else opcodes.Y_DATA) << opcodes.REGION_SHIFT
            data = bytes(instructions.draw_data(rng, op, control, sizes))
    addresses = [places[operand[0]] for operand in op.operands]
    return instructions.assemble(op, addresses, sizes, len(arena), 0, 0), bytes(arena), data


def draw_small(rng, op):
    """Sizes about the widths of the loops."""
    one = rng.choice
    sizes = instructions.draw_immediates(rng, op)
    sizes.update(zx=one((-128, 0, 3)), zy=one((-128, 4)), lo=-128, at=0)
    if "dense" in op.name:
        sizes.update(M=one((1, 2, 3, 4, 5, 17)), K=one((1, 2, 3, 5, 7, 9, 16, 33, 130)), N=one((1, 2, 3, 5, 8, 17, 35)))
    else:
        N = one((1, 2, 3, 4, 5, 7, 9, 17))
        sizes.update(B=one((1, 2)), C=N if "depthwise" in op.name else one((1, 2, 3, 4, 6, 7, 8, 12)), N=N)
        for height, kernel, stride, pad, out in (("H", "KH", "SH", "PT", "OH"), ("W", "KW", "SW", "PL", "OW")):
            sizes[height], sizes[kernel], sizes[stride] = one((1, 3, 4, 7, 19)), one((1, 2, 3, 5)), one((1, 2, 3))
            sizes[pad] = one((0, sizes[kernel] // 2))
            sizes[out] = max((sizes[height] + 2 * sizes[pad] - sizes[kernel]) // sizes[stride] + 1, 1)
    if "G" in op.immediates:
        sizes["G"] = one((1, 2, 3))
        sizes["N"] *= sizes["G"]
    if "bits" in op.immediates:
        instructions.draw_choices(rng, sizes)
    sizes["R"] = sizes["N"]
    return {key: sizes[key] for key in op.immediates}


def draw_cases(name, count):
    """(program, arena, data, whether memory ends with them, whether that is of the data) for each operand in turn."""
    op, cases = opcodes.opcode(name), []
    for seed in range(-(-count // len(op.operands)) if name in kernel_cases.OF_CORES else 1):
        rng = random.Random("%s %d" % (name, seed))
        while True:
            if ("2d" in name or "dense" in name) and seed % 2:
                sizes = draw_small(rng, op)
            else:
                sizes = instructions.draw_immediates(rng, op)
                kernel_cases.grow(rng, sizes, name)
            if sum(op.bytes(i, sizes) for i in range(len(op.operands))) < LARGEST:
                break
        for operand, _, dtype, _, _ in op.operands:
            ends = rng.random() < 0.7
            case = build(rng, op, sizes, operand, ends)
            while len(case[2]) > LARGEST:
                case = build(rng, op, sizes, operand, ends)
            cases.append((*case, ends, dtype == "buf"))
    return cases


def run(native, program, arena, data):
    region = bytearray(arena)
    native.run(
        native.load(program),
        [region, bytearray(0), bytearray(4 * opcodes.CONTROL_WORDS), data, data, bytearray(0)],
        12,
        len(program) // 4,
    )
    return zlib.crc32(region)


@pytest.fixture(scope="module", params=BOARDS)
def board(request):
    """A board, with the cases of all kernels: family -> (from which byte on, [(name, case)])."""
    with machines.open(request.param) as machine:
        machine.cases, laid = {}, b""
        for family, names in FAMILIES.items():
            cases = [(name, case) for name in names for case in draw_cases(name, CASES[machine.name])]
            machine.cases[family] = len(laid), cases
            laid += b"".join([program + arena + data for _, (program, arena, data, _, _) in cases])
        machine.laid = machine.lay(laid)
        yield machine


@pytest.mark.parametrize("family", FAMILIES)
def test_a_kernel_touches_nothing_beside_an_operand(board, family):
    native = pytest.importorskip("_odt")
    at, cases = board.cases[family]
    sizes = [(len(program), len(arena), len(data), ends, given) for _, (program, arena, data, ends, given) in cases]
    script = BOARDS[board.name] + board.laid + ON_BOARD
    try:
        text = board.exec(script, timeout=400, args={"cases": sizes, "at": at})
    except machines.MachineError as error:
        done = error.output.count("\ncrc")
        pytest.fail("%s, case %d: %s" % (cases[min(done, len(cases) - 1)][0], done, error))
    sums = [int(line.split()[1]) for line in text.splitlines() if line.startswith("crc")]
    names = [name for name, _ in cases]
    assert list(zip(names, sums)) == [(name, run(native, *case[:3])) for name, case in cases]


@pytest.mark.parametrize("name", BOARDS)
@pytest.mark.parametrize("beyond", (-4, SIZE))
def test_the_guard_stops_the_core(name, beyond):
    with machines.open(name) as machine:
        inside = "print(mem32[START], mem32[START + %d])\n" % (SIZE - 4)
        machine.exec(BOARDS[name] + inside, timeout=40)
        with pytest.raises(machines.MachineError):
            machine.exec(BOARDS[name] + inside + "print(mem32[START + %d])" % beyond, timeout=20)
