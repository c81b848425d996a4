"""The edges that docs/reference/numerics.md and docs/reference/program.md draw, where random cases seldom come: both
executors.
"""

import random
from array import array

import numpy as np
import pytest
from executors import executors
from instructions import NAMES, assemble, draw

from odt.base import opcodes
from odt.base.fixed import ONE
from odt.base.opcodes import ARENA, CONSTANTS, CONTROL, CONTROL_WORDS, REGION_SHIFT, Y_DATA


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
    after = run(executor, "momentum_f32", {"v": words(m, m + 1)}, {"N": 2, "mu": ONE})
    assert after["v"] == words(0, m + 1)


@executors
def test_moments_of_int8_models_in_float32_stay_among_its_normal_numbers(executor):
    small, large, half = 1 << 23, (255 << 23) - 1, 126 << 23
    operands = {"m": words(small, small + 2, large, small), "v": words(small, small + 2, large, small)}
    operands.update(d=words(0, 0, 1 << 30, 1 << 30), gs=words(254 << 23), rate=words(ONE, ONE))
    sizes = {"N": 1, "K": 4, "factor": ONE, "b1": half, "c1": half, "b2": half, "c2": half, "eps": ONE}
    after = run(executor, "adam_i32", operands, sizes)
    assert after["m"] == after["v"] == words(0, 0, large, large)
    after = run(executor, "adam_i32", dict(operands, gs=words(ONE)), dict(sizes, c1=ONE >> 1, c2=ONE >> 1))
    assert after["m"][:8] == after["v"][:8] == words(small, small + 2)


@executors
@pytest.mark.parametrize("size", (3, 300, 40000, 1 << 25))
@pytest.mark.parametrize("beta1, beta2, eps", ((0.9, 0.999, 1e-7), (0.5, 0.75, 1e-3), (0.99, 0.9, 1e-12)))
def test_a_step_of_float32_state_is_adams_in_float64(executor, size, beta1, beta2, eps):
    """Of moments like the gradient, far smaller and far larger ones, and of none."""
    rng = np.random.default_rng(size)
    count, scale, correction = 3000, np.float32(1.7e-5 / size), 0.3
    d = np.round(rng.normal(size=count) * size).astype("int32")
    m = (rng.normal(size=count) * 1.7e-5 * 10.0 ** rng.integers(-6, 7, count)).astype("float32")
    v = (np.square(rng.normal(size=count) * 1.7e-5) * 10.0 ** rng.integers(-6, 7, count)).astype("float32")
    m[::7], v[::7] = 0, 0
    bits = lambda x: int(np.float32(x).view("uint32"))  # noqa: E731
    sizes = dict(
        N=1, K=count, factor=ONE, b1=bits(beta1), c1=bits(1 - beta1), b2=bits(beta2), c2=bits(1 - beta2), eps=bits(eps)
    )
    operands = {
        "d": d.tobytes(),
        "m": m.tobytes(),
        "v": v.tobytes(),
        "gs": words(bits(scale)),
        "rate": words(ONE, bits(correction)),
    }
    after = run(executor, "adam_i32", operands, sizes)
    found_m, found_v = (np.frombuffer(after[name], "float32").astype(float) for name in "mv")
    x = np.frombuffer(after["d"], "int32") * 2.0**-20
    g = d * float(scale)
    new_m, new_v = beta1 * m.astype(float) + (1 - beta1) * g, beta2 * v.astype(float) + (1 - beta2) * g**2
    part = np.abs(beta1 * m) + np.abs((1 - beta1) * g)  # they may cancel
    assert (np.abs(found_m - new_m) <= part * 2.0**-12).all()
    assert (np.abs(found_v - new_v) <= new_v * 2.0**-13).all()
    wanted = np.clip(found_m / (np.sqrt(found_v) + eps * correction), -4, 4)
    assert (np.abs(x - wanted) <= np.abs(wanted) * 2.0**-13 + 2.0**-20).all()
    assert (x[g == 0] * m[g == 0] >= 0).all() and (x[(m == 0) & (g == 0)] == 0).all()


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


# Of int8 Adam, c1 = (1 - beta1) * 2^12, rc2 = sqrt((1 - beta2) / sqrt(beta2)) * 2^14: a gradient of g units of the
# first moment, times c1 / 2^12, is g * c1 / 2^13 units of the second. A quotient of both counts 2 * c1 / rc2, here 2 of
# 1 / 2^12 and 1 / 2^14.
SLOW = {"c1": 1, "r2": 65536, "rc2": 1}


@executors
def test_the_larger_root_of_adams_second_moment_counts_whole_and_the_smaller_by_its_square(executor):
    # a gradient of 512 units, half of which 128 of the second moment's are; v = 0, or 300 and no gradient
    sizes = {"N": 1, "K": 2, "factor": ONE, "id": 1, "c1": 2048, "r2": 65536, "rc2": 8192, "at": 0}
    operands = {"d": words(512, -512 & 0xFFFFFFFF), "ex": b"\0", "gs": words(ONE), "v": bytes(4), "m": bytes(4)}
    after = run(executor, "adam_i16", operands, sizes)
    assert set(array("h", after["v"])) <= {127, 128, 129}
    assert [abs(m) in (255, 256, 257) for m in moments_of(after)[0]] == [True, True]
    operands = dict(operands, d=words(0, 0), v=array("h", [300, 300]).tobytes())
    assert array("h", run(executor, "adam_i16", operands, sizes)["v"]).tolist() == [300, 300]
    # of both hi + lo^2 / (2 hi): 128 * 1.5
    operands.update(d=words(512, -512 & 0xFFFFFFFF), v=array("h", [128, 128]).tobytes())
    assert set(array("h", run(executor, "adam_i16", operands, sizes)["v"])) <= {191, 192}


@executors
def test_a_direction_of_int16_adam_stops_at_8_quotients(executor):
    sizes = {"N": 1, "K": 1, "factor": ONE, "id": 1, **SLOW, "at": 0}
    operands = {"d": words(0), "ex": b"\0", "gs": words(ONE), "v": bytes(2)}
    for m, most in ((-9000, -16), (9000, 2 * 32767 / 4096)):
        after = run(executor, "adam_i16", dict(operands, m=array("h", [m]).tobytes()), sizes)
        assert array("i", after["d"])[0] * unit_of(after) == most


def unit_of(after):
    """What a direction counts, of a scale without a mantissa."""
    scale = array("I", after["ds"])[0]
    assert scale % 2**23 == 0
    return 2.0 ** (scale // 2**23 - 127)


@executors
@pytest.mark.parametrize("place", range(9))
def test_a_row_of_int16_adam_counts_in_smaller_units_only_when_all_its_v_are_small(executor, place):
    sizes = {"N": 1, "K": 9, "factor": ONE, "id": 1, "c1": 410, "r2": 65536, "rc2": 518, "at": 0}
    operands = {"d": bytes(36), "m": bytes(18), "ex": b"\0", "gs": words(ONE)}
    for v, ex in ((1619, 0xFE), (1620, 0)):  # a gradient of all bits is (410 << 15) // 518, and of that a 16th
        values = array("H", [1] * 9)
        values[place] = v
        assert run(executor, "adam_i16", dict(operands, v=values.tobytes()), sizes)["ex"] == bytes([ex])


def moments_of(after):
    """Both, in units of 1: a row whose second moment is small counts in quarters then, as far as 16 bits go."""
    finer = {b"\0": 1, b"\xfe": 4}[after["ex"]]
    return [[value / finer for value in array(kind, after[name])] for kind, name in (("h", "m"), ("H", "v"))]


# docs/reference/numerics.md, "what is added to sqrt(v)": one unit of the second moment, in which v is kept.


@executors
@pytest.mark.parametrize("root", (0, 1, 2, 7, 60, 900))
def test_the_direction_of_int16_adam_is_m_by_its_root_and_one_unit(executor, root):
    """Of decay rates next to 1, from what m and v are after it.

    Against float64, closer than a root of one unit more.
    """
    moments = [m for m in (-6001, -900, -33, -1, 0, 5, 120, 7000) if abs(m) < 7.9 * (root + 1)]
    sizes = {"N": 1, "K": len(moments), "factor": ONE, "id": 1, **SLOW, "at": 0}
    state = {"m": array("h", moments).tobytes(), "v": array("h", [root] * len(moments)).tobytes(), "ex": b"\0"}
    after = run(executor, "adam_i16", dict(state, d=words(*[0] * len(moments)), gs=words(ONE)), sizes)
    found, found_v = moments_of(after)
    assert found_v == [root] * len(moments)
    assert all(abs(one - other) <= 1 + abs(other) / 4096 for one, other in zip(found, moments))
    errors = [d * unit_of(after) - 2 * m / (root + 1) for d, m in zip(array("i", after["d"]), found)]
    assert max(map(abs, errors)) < 2.0**-11  # what the direction is counted in
    assert abs(moments[-1] / (root + 1) - moments[-1] / (root + 2)) > 2.0**-12 or root == 0


@executors
@pytest.mark.parametrize("root", (0, 1, 2, 7, 60, 900))
def test_the_step_of_int8_adam_is_the_rate_times_m_by_its_root_and_one_unit(executor, root):
    """As above, in 256ths of a weight: rounding to the quotient's side, the factor's 15 bits, then at random, each row
    anew.
    """
    moments, rows = [-6001, -900, -33, -1, 0, 5, 120, 7000], 50
    rate = 0.75 * (root + 1) * 2**-6 / 256  # of weights whose scale is 1
    sizes = dict(N=rows, K=len(moments), factor=ONE, id=1, **SLOW, common=0, at=0, R=rows)
    state = {"m": array("h", moments * rows).tobytes(), "v": array("h", [root] * len(moments) * rows).tobytes()}
    operands = dict(state, ex=bytes(rows), sw=words(*[ONE] * rows), gs=words(ONE), rate=array("f", [rate]).tobytes())
    after = run(executor, "adam_i8", operands, sizes)
    moved = [256 * w + r for w, r in zip(array("b", after["w"]), array("b", after["r"]))]
    steps = [-2 * rate * 256 * m / (root + 1) for m in moments_of(dict(after, ex=after["ex"][:1]))[0]]
    for first in range(len(moments)):
        found, wanted = moved[first :: len(moments)], steps[first :: len(moments)]
        assert max([abs(one - other) for one, other in zip(found, wanted)]) < 1 + abs(wanted[0]) * 2**-13
        assert abs(sum(found) - sum(wanted)) / rows < 0.25 + abs(wanted[0]) * 2**-13  # 3 standard errors


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
    finer = 2 * sizes["c1"] / sizes["rc2"]  # units of v in one of m
    v = np.round(v * finer).astype("int16")
    operands = dict(m=m.tobytes(), v=v.tobytes(), d=d.tobytes(), gs=words(ONE))
    operands["ex"] = bytes([exponent & 255])
    after = run(executor, "adam_i16", operands, sizes)
    assert after["ex"] == operands["ex"]  # else the state would be in other units
    g = d / unit
    mean, root = beta1 * m + (1 - beta1) * g, np.sqrt(beta2 * v.astype(float) ** 2 + (1 - beta2) * (finer * g) ** 2)
    found_m = np.frombuffer(after["m"], "int16").astype(float)
    found_v = np.frombuffer(after["v"], "int16").astype(float)
    error = found_m - mean
    assert np.abs(error).max() < 1 + np.abs(mean).max() * 2**-11 and abs(error.mean()) < 0.02
    assert (found_v - root).min() > -1 - root.max() * 2**-12 and (
        found_v - 1.061 * root
    ).max() < 1 + root.max() * 2**-10
    assert abs((found_v - root)[root > 0].mean()) < 0.02 + 0.03 * root.mean()
    scale = np.frombuffer(after["ds"], "uint32").view("float32")[0]
    direction = np.frombuffer(after["d"], "int32") * float(scale) / finer
    assert np.abs(direction - np.clip(found_m / (found_v + 1), -8, 8)).max() < 2.0**-12 * 1.001


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
