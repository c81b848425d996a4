"""The edges that docs/numerics.md and docs/program.md draw, where random cases seldom come: both executors."""

import random
from array import array

import numpy as np
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
def test_infinity_is_the_largest_number_in_any_scale(executor):
    """Steps of 2^100: the largest float32 is 2^28 of them, and 1 is none."""
    control = array("i", bytes(4 * CONTROL_WORDS))
    control[opcodes.COUNT] = control[opcodes.SAMPLES] = 1
    control[opcodes.X_FORMAT] = opcodes.FLOAT32
    data = array("f", [float("inf"), -float("inf"), 1.0, float("nan")]).tobytes()
    after = run(executor, "gather_i8", {"s": words((100 + 127) << 23)}, {"B": 1, "F": 4, "z": 0}, control, data)
    assert array("b", after["y"])[:3].tolist() == [127, -128, 0]
    assert array("i", after["peak"])[0] == 2**31 - 1


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
@pytest.mark.parametrize("place", range(9))
def test_a_row_of_int16_adam_counts_in_smaller_units_only_when_all_its_v_are_small(executor, place):
    sizes = {"N": 1, "K": 9, "factor": ONE, "id": 1, "c1": 0, "r2": 65536, "rc2": 518, "at": 0}
    operands = {"d": bytes(36), "m": bytes(18), "ex": b"\0", "gs": words(ONE)}
    for v, ex in ((1000, 0xFE), (1024, 0)):  # 2^(L-3), L = 13
        values = array("H", [1] * 9)
        values[place] = v
        assert run(executor, "adam_i16", dict(operands, v=values.tobytes()), sizes)["ex"] == bytes([ex])


# docs/numerics.md, "what is added to sqrt(v)": one unit of the row's exponent, in which v is kept.


@executors
@pytest.mark.parametrize("root", (0, 1, 2, 7, 60, 900))
def test_the_direction_of_int16_adam_is_m_by_its_root_and_one_unit(executor, root):
    """Decay rates of 1: m and v stay what they are. Against float64, closer than a root of one unit more."""
    moments = [m for m in (-6001, -900, -33, -1, 0, 5, 120, 7000) if abs(m) < 7.9 * (root + 1)]
    sizes = {"N": 1, "K": len(moments), "factor": ONE, "id": 1, "c1": 0, "r2": 65536, "rc2": 0, "at": 0}
    state = {"m": array("h", moments).tobytes(), "v": array("h", [root] * len(moments)).tobytes(), "ex": b"\0"}
    after = run(executor, "adam_i16", dict(state, d=words(*[0] * len(moments)), gs=words(ONE)), sizes)
    unit = 2.0 ** (array("I", after["ds"])[0] // 2**23 - 127)
    errors = [d * unit - m / (root + 1) for d, m in zip(array("i", after["d"]), moments)]
    assert max(map(abs, errors)) < 2.0**-12  # what the direction is counted in
    assert abs(moments[-1] / (root + 1) - moments[-1] / (root + 2)) > 2.0**-12 or root == 0


@executors
@pytest.mark.parametrize("root", (0, 1, 2, 7, 60, 900))
def test_the_step_of_int8_adam_is_the_rate_times_m_by_its_root_and_one_unit(executor, root):
    """As above, in 256ths of a weight: rounding to the quotient's side, the factor's 15 bits, then at random."""
    moments = [m for m in (-6001, -900, -33, -1, 0, 5, 120, 7000) for _ in range(50)]
    rate = 1.5 * (root + 1) * 2**-6 / 256  # of weights whose scale is 1
    sizes = dict(N=1, K=len(moments), factor=ONE, id=1, c1=0, r2=65536, rc2=0, common=0, at=0, R=1)
    state = {"m": array("h", moments).tobytes(), "v": array("h", [root] * len(moments)).tobytes(), "ex": b"\0"}
    operands = dict(state, sw=words(ONE), gs=words(ONE), rate=array("f", [rate]).tobytes())
    after = run(executor, "adam_i8", operands, sizes)
    moved = [256 * w + r for w, r in zip(array("b", after["w"]), array("b", after["r"]))]
    steps = [-rate * 256 * m / (root + 1) for m in moments]
    for first in range(0, len(moments), 50):
        found, wanted = moved[first : first + 50], steps[first]
        assert max([abs(value - wanted) for value in found]) < 1 + abs(wanted) * 2**-13
        assert abs(sum(found) / 50 - wanted) < 0.25 + abs(wanted) * 2**-13  # 3 standard errors


@executors
@pytest.mark.parametrize("size", (40, 3000, 200000))
def test_a_step_of_int16_adam_is_adams_in_float64(executor, size):
    """Whatever the state: both moments from unlike gradients, without bias; the root at most 6 % too large."""
    rng = np.random.default_rng(size)
    count, beta1, beta2 = 4000, 0.9, 0.99
    d = np.round(rng.normal(size=count) * size).astype("int32")
    exponent = int(np.abs(d).max()).bit_length() - 11  # neither too small for this gradient nor far too large
    unit = 2.0**exponent
    m = rng.normal(size=count) * size / unit / 3
    v = np.abs(rng.normal(size=count) * size / unit / 3)
    m, v = np.round(m).astype("int16"), np.round(v).astype("int16")
    sizes = dict(
        N=1, K=count, factor=ONE, id=1, at=0, c1=round((1 - beta1) * 4096), r2=round(beta2**0.5 * 65536),
        rc2=round(((1 - beta2) / beta2**0.5) ** 0.5 * 16384),
    )  # fmt: skip
    finer = 1  # rc2 * 2^14 is above 2^24: m counts in halves
    operands = dict(m=(m * 2**finer).astype("int16").tobytes(), v=v.tobytes(), d=d.tobytes(), gs=words(ONE))
    operands["ex"] = bytes([exponent & 255])
    after = run(executor, "adam_i16", operands, sizes)
    assert after["ex"] == operands["ex"]  # else the state would be in other units
    g = d / unit
    mean, root = beta1 * m + (1 - beta1) * g, np.sqrt(beta2 * v.astype(float) ** 2 + (1 - beta2) * g**2)
    found_m = np.frombuffer(after["m"], "int16") / 2**finer
    found_v = np.frombuffer(after["v"], "int16").astype(float)
    error = found_m - mean
    assert np.abs(error).max() < 0.5 + np.abs(mean).max() * 2**-11 and abs(error.mean()) < 0.02
    assert (found_v - root).min() > -1 - root.max() * 2**-12 and (
        found_v - 1.061 * root
    ).max() < 1 + root.max() * 2**-10
    assert abs((found_v - root)[root > 0].mean()) < 0.02 + 0.03 * root.mean()
    direction = np.frombuffer(after["d"], "int32") * 2.0 ** (array("I", after["ds"])[0] // 2**23 - 127)
    exact = np.clip(found_m / (found_v + 1), -8 / 2**finer, 8 / 2**finer)
    assert np.abs(direction - exact).max() < 2.0**-12


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
