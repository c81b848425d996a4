"""The edges that docs/numerics.md and docs/program.md draw, where random cases seldom come: both executors."""

import random
from array import array

import pytest
from instructions import NAMES, assemble, draw
from test_executors_agree import executors

from odt import opcodes
from odt.fixed import ONE
from odt.opcodes import ARENA, CONSTANTS, CONTROL, CONTROL_WORDS, REGION_SHIFT, Y_DATA


def run(executor, name, operands, immediates, control=None, data=b""):
    """What an instruction makes of operands, given as bytes by name: their bytes afterwards."""
    op = opcodes.opcode(name)
    addresses, places, arena = [], {}, bytearray()
    for index, (operand, _, dtype, _, _) in enumerate(op.operands):
        if dtype == "buf":
            addresses.append(Y_DATA << REGION_SHIFT)
        elif operand == "c":
            addresses.append(CONTROL << REGION_SHIFT)
        else:
            size = op.bytes(index, immediates)
            assert len(operands.get(operand, b"")) in (0, size), operand
            addresses.append(ARENA << REGION_SHIFT | len(arena))
            places[operand] = len(arena), len(arena) + size
            arena += operands.get(operand, bytes(size)) + bytes(-size % 4)
    program = assemble(op, addresses, immediates, len(arena), 0, 0)
    control = control or array("i", bytes(4 * CONTROL_WORDS))
    regions = [arena, bytearray(), control, b"", data, b""]
    executor.run(executor.load(program), regions, 12, len(program) // 4)
    return {operand: bytes(arena[start:stop]) for operand, (start, stop) in places.items()}


def words(*values):
    return array("I", values).tobytes()


@executors
@pytest.mark.parametrize("name", NAMES)
def test_no_operand_that_is_written_may_lie_in_constants(executor, name):
    case = draw(random.Random(name), name)
    for index, (_, access, dtype, _, _) in enumerate(opcodes.opcode(name).operands):
        if dtype == "buf":
            continue
        program = array("i", case.program)
        program[5] = 1 << 25  # large enough for every operand
        program[13 + index] = CONSTANTS << REGION_SHIFT
        if access == ":":
            executor.load(program.tobytes())
        else:
            with pytest.raises(ValueError):
                executor.load(program.tobytes())


@executors
def test_float32_results_below_their_smallest_are_stored_as_zero(executor):
    m, v = (76 << 23) - 1, (25 << 23) - 1  # the largest below 2^-51, below 2^-102
    operands = {"m": words(m, m + 1), "v": words(v, v + 1), "rate": words(ONE, ONE)}
    sizes = {"N": 2, "b1": ONE, "c1": 0, "b2": ONE, "c2": 0, "eps": ONE}
    after = run(executor, "adam_f32", operands, sizes)
    assert after["m"] == words(0, m + 1) and after["v"] == words(0, v + 1)
    operands["gs"] = words(ONE)
    after = run(executor, "adam_i32", operands, dict(sizes, N=1, K=2, factor=ONE))
    assert after["m"] == words(0, m + 1) and after["v"] == words(0, v + 1)
    after = run(executor, "momentum_f32", {"v": words(m, m + 1)}, {"N": 2, "mu": ONE})
    assert after["v"] == words(0, m + 1)


@executors
def test_the_sum_of_a_softmax_stays_below_2_to_the_30(executor):
    count = 20000  # equal outputs: each a power of 65536
    control = array("i", bytes(4 * CONTROL_WORDS))
    control[opcodes.COUNT] = control[opcodes.SAMPLES] = 1
    control[opcodes.Y_FORMAT] = opcodes.INT32
    sizes = {"B": 1, "N": count, "z": 0}
    after = run(executor, "softmax_xent_i8", {"sx": words(ONE)}, sizes, control, words(0))
    # (65536 * 254 + 2^30) // 2^31 is 0; the label's is 127 less.
    assert after["e"] == bytes([256 - 127]) + bytes(count - 1)
    # ln(2^30 / 65536) in Q16, and not ln(20000)
    assert control[opcodes.LOSS] == (14 * 65536 * 45426 + 32768) >> 16
    assert control[opcodes.CORRECT] == 1


@executors
def test_int16_momentum_of_2_to_the_14_is_halved_after_its_direction_is_taken(executor):
    # v * mu + (g << 12) is 2^30: v = 2^14 in units of 2^2, a gradient of 1 is 4 sixteenths of a unit
    operands = {"d": words(1), "v": array("h", [16384]).tobytes(), "ex": b"\2", "gs": words(ONE)}
    sizes = {"N": 1, "K": 1, "factor": ONE, "id": 1, "mu": 65535, "at": 0}
    after = run(executor, "momentum_i16", operands, sizes)
    assert after["d"] == words(16384) and after["ds"] == words(ONE + (2 << 23))
    assert after["v"] == array("h", [8192]).tobytes() and after["ex"] == b"\3"


@executors
def test_the_larger_root_of_adams_second_moment_counts_whole_and_the_smaller_by_its_square(executor):
    # units of 1, of m quarters: v = 0 and a gradient of 1024, times 1 / 8 is 128; or v = 300 and none
    sizes = {"N": 1, "K": 1, "factor": ONE, "id": 1, "c1": 2048, "r2": 65536, "rc2": 2048, "at": 0}
    operands = {"d": words(1024), "ex": b"\0", "gs": words(ONE), "v": bytes(2), "m": bytes(2)}
    after = run(executor, "adam_i16", operands, sizes)
    assert array("h", after["v"])[0] in (128, 129) and array("h", after["m"])[0] in (2048, 2049)
    operands = dict(operands, d=words(0), v=array("h", [300]).tobytes())
    assert array("h", run(executor, "adam_i16", operands, sizes)["v"])[0] == 300
    # of both hi + lo^2 / (2 hi): 128 * 1.5
    operands.update(d=words(1024), v=array("h", [128]).tobytes())
    assert array("h", run(executor, "adam_i16", operands, sizes)["v"])[0] in (191, 192)


@executors
def test_a_direction_of_int16_adam_stops_at_8(executor):
    sizes = {"N": 1, "K": 1, "factor": ONE, "id": 1, "c1": 0, "r2": 65536, "rc2": 0, "at": 0}
    operands = {"d": words(0), "ex": b"\0", "gs": words(ONE), "v": bytes(2)}
    for m, most in ((-4096, -8), (4096, 32767 / 4096)):
        after = run(executor, "adam_i16", dict(operands, m=array("h", [m]).tobytes()), sizes)
        direction = array("i", after["d"])[0] * 2.0 ** (array("I", after["ds"])[0] // 2**23 - 127)
        assert direction == most


@executors
def test_float32_exponentials_end_at_minus_35(executor):
    control = array("i", bytes(4 * CONTROL_WORDS))
    control[opcodes.COUNT] = control[opcodes.SAMPLES] = 1
    control[opcodes.Y_FORMAT] = opcodes.INT32
    x = array("f", [0, -34.75, -35, -35.25]).tobytes()
    after = run(executor, "softmax_xent_f32", {"x": x}, {"B": 1, "N": 4}, control, words(0))
    e = array("f", after["e"])
    assert abs(e[1] / 8.098e-16 - 1) < 1e-3 and abs(e[2] / 6.305e-16 - 1) < 1e-3  # math.exp
    assert e[3] == 0


@executors
def test_a_program_without_instructions_is_one(executor):
    program = assemble(opcodes.opcode("clear"), [0], {"N": 1}, 0, 0, 0)[: 4 * 12]
    header = array("i", program)
    header[2] = 12
    for section in range(6, 12):
        header[section] = 12
    loaded = executor.load(header.tobytes())
    executor.run(loaded, [None, None, bytearray(4 * CONTROL_WORDS), None, None, None], 12, 12)
