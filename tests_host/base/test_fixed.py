"""The primitives of odt/base/fixed.py against NumPy's float64, Python's big integers and statistics."""

import math
import os
import random
import struct
import subprocess
from fractions import Fraction

import numpy as np
import pytest
from checkout import ROOT
from scipy import optimize

from odt.base import fixed, primitives
from odt.reference import float32

LITERALS = (
    0.001, 0.0003, 0.1, 2e-3, 1e-5, 0.999, 0.9, 0.99, 0.5, 1.0, 1.5, 3e-4, 1e-8, 1e-7, 0.05, 0.01,
    6.25e-4, 2.5, 12.5, 1234.0, 9999.0, 1e4, 5e6, 1e-3, 7.77e-9, 0.9995, 1e-30, 4.321e20, 128.0,
)  # fmt: skip


def value(scale):
    return Fraction(struct.unpack("<f", struct.pack("<I", scale))[0])


def float_bits(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def random_scale(rng, low=-60, high=60):
    return (rng.randint(low, high) + 127) << 23 | rng.randrange(1 << 23)


def shortened(x, bits):
    """x with its mantissa truncated, as interpreters with boxed floats keep it."""
    mantissa, exponent = math.frexp(x)
    return math.ldexp(math.floor(mantissa * 2**bits), exponent - bits)


# Scales


@pytest.mark.parametrize("name", ("mul", "div"))
def test_scale_product_and_quotient_err_by_less_than_one_part_in_2_to_23(name):
    rng = random.Random(name)
    for _ in range(5000):
        a, b = random_scale(rng), random_scale(rng)
        if name == "mul":
            exact, got = value(a) * value(b), fixed.scale_mul(a, b)
        else:
            exact, got = value(a) / value(b), fixed.scale_div(a, b)
        assert abs(value(got) / exact - 1) <= Fraction(1, 2**23)


def test_scales_saturate_at_the_ends_of_float32():
    large, small = 0x7F000000, 0x00800000
    assert fixed.scale_mul(large, large) == 0x7F7FFFFF
    assert fixed.scale_mul(small, small) == 0x00800000
    assert fixed.scale_div(large, small) == 0x7F7FFFFF
    assert fixed.scale_shift(fixed.ONE, 200) == 0x7F7FFFFF
    assert fixed.scale_shift(fixed.ONE, -200) == 0x00800000


def test_scale_of_an_integer_is_the_nearest():
    rng = random.Random(2)
    edges = [1, 2, 3, (1 << 24) - 1, 1 << 24, (1 << 25) - 1, (1 << 32) - 1, (1 << 24) + 1]
    for n in edges + [rng.randrange(1, 1 << rng.randint(1, 32)) for _ in range(2000)]:
        error = abs(value(fixed.scale_int(n)) - n)
        assert error <= (2 ** (n.bit_length() - 25) if n >> 24 else 0)


def test_scale_shift_and_log2_floor():
    rng = random.Random(3)
    for _ in range(500):
        a, k = random_scale(rng), rng.randint(-50, 50)
        assert value(fixed.scale_shift(a, k)) == value(a) * Fraction(2) ** k
        assert Fraction(2) ** primitives.log2_floor(a) <= value(a) < Fraction(2) ** (primitives.log2_floor(a) + 1)


# Rescaling


def test_rescale_is_the_nearest_integer_half_up():
    rng = random.Random(4)
    for _ in range(5000):
        scale = random_scale(rng, -31, 5)
        v = rng.randrange(-1 << 31, 1 << 31) >> rng.randrange(31)
        exact = math.floor(v * value(scale) + Fraction(1, 2))
        assert primitives.rescale(v, *fixed.multiplier(scale)) == max(-(2**31) + 1, min(2**31 - 1, exact))


def test_multiplier_of_extreme_scales():
    assert fixed.multiplier(fixed.scale_shift(fixed.ONE, -60)) == (0, 62)
    assert fixed.multiplier(fixed.scale_shift(fixed.ONE, 40)) == (2**31 - 1, 1)
    assert fixed.multiplier(fixed.ONE) == (1 << 30, 30)


@pytest.mark.parametrize("scale", (0.3, 0.0123, 1.7, 1e-7))
def test_rescale_random_is_right_on_average(scale):
    m, s = fixed.multiplier(float_bits(scale))
    for v in (1, -1, 7, -1234):
        draws = [primitives.rescale_random(v, m, s, fixed.hash32(5, i)) for i in range(20000)]
        exact = v * scale
        assert set(draws) <= {math.floor(exact), math.floor(exact) + 1}
        fraction = exact - math.floor(exact)
        sigma = math.sqrt(fraction * (1 - fraction) / 20000)
        assert abs(sum(draws) / 20000 - exact) < 5 * sigma + 1e-4


# Functions


def test_exp2n_errs_by_less_than_2_6():
    t = np.concatenate([np.arange(65536), np.arange(65536, 18 * 65536, 17)])
    got = np.array([primitives.exp2n(int(v)) for v in t])
    assert np.max(np.abs(got - 65536 * np.exp2(-t / 65536.0))) < 2.6


@pytest.mark.parametrize(
    "function, coefficients, bound",
    [
        (lambda f: 2.0**-f, (-45421, 15696, -3491, 449), 0.16),
        (lambda f: np.log2(1 + f), (94497, -46471, 27238, -12687, 2959), 1.02),
    ],
    ids=("exp2n", "log2q"),
)
def test_coefficients_are_those_of_the_polynomial_of_least_largest_error_that_is_exact_at_both_ends(
    function, coefficients, bound
):
    """By linear programming over its coefficients and the error."""
    f = np.cos(np.linspace(0, np.pi, 2001)) / 2 + 0.5
    powers = np.stack([f**k for k in range(1, len(coefficients) + 1)], 1)
    rest, one = function(f) - function(0.0), np.ones((len(f), 1))
    found = optimize.linprog(
        [0] * len(coefficients) + [1],
        A_ub=np.block([[powers, -one], [-powers, -one]]), b_ub=np.concatenate([rest, -rest]),
        A_eq=[[1] * len(coefficients) + [0]], b_eq=[function(1.0) - function(0.0)], bounds=(None, None),
    ).x  # fmt: skip
    assert 65536 * found[-1] < bound
    assert np.max(np.abs(65536 * found[:-1] - coefficients)) < 1


def test_log2q_errs_by_less_than_4():
    rng = random.Random(5)
    v = [1, 2, 3, 65535, 65536, 65537, (1 << 32) - 1]
    v += [rng.randrange(1, 1 << rng.randint(1, 32)) for _ in range(20000)]
    got = np.array([primitives.log2q(x) for x in v])
    assert np.max(np.abs(got - 65536 * np.log2(np.array(v, dtype=np.float64)))) < 4


def test_isqrt_and_bit_length():
    rng = random.Random(6)
    values = [0, 1, 2, 3, 4, 2**60, 2**60 - 1, 2**62 + 12345]
    for v in values + [rng.randrange(1 << rng.randint(1, 62)) for _ in range(2000)]:
        assert primitives.isqrt(v) == math.isqrt(v)
        assert fixed.bit_length(v) == v.bit_length()


def test_hash32_is_uniform_and_keys_are_independent():
    n = 1 << 16
    a = np.array([fixed.hash32(1, i) for i in range(n)])
    b = np.array([fixed.hash32(2, i) for i in range(n)])
    for draws in (a, b, a ^ b):
        for shift in (0, 12, 24):
            counts = np.bincount(draws >> shift & 255, minlength=256)
            chi2 = np.sum((counts - n / 256) ** 2 / (n / 256))
            assert 150 < chi2 < 380  # 255 degrees of freedom, mean 255, sigma 23
        bits = (draws[:, None] >> np.arange(32)) & 1
        assert np.max(np.abs(bits.mean(axis=0) - 0.5)) < 5 * 0.5 / math.sqrt(n)
    assert abs(np.corrcoef(a[:-1], a[1:])[0, 1]) < 5 / math.sqrt(n)


@pytest.mark.parametrize("samples", (1, 2, 3, 4, 5, 15, 16, 17, 100, 1000, 4097))
def test_order_is_a_permutation(samples):
    for key in (1, 2, 0xFFFFFFFF, -5):
        assert sorted(primitives.order(p, samples, key) for p in range(samples)) == list(range(samples))
    assert [primitives.order(p, samples, 0) for p in range(samples)] == list(range(samples))


def test_order_shuffles():
    n = 1000
    places = np.array([[primitives.order(p, n, key) for p in range(n)] for key in range(1, 30)])
    straight = np.arange(n)
    correlations = [np.corrcoef(row, straight)[0, 1] for row in places]
    assert np.max(np.abs(correlations)) < 0.2
    assert abs(np.mean(correlations)) < 0.03


def test_quantize_is_the_nearest_integer_half_away_from_zero():
    rng = random.Random(7)
    for _ in range(5000):
        bits = random_scale(rng, -20, 20) | rng.randrange(2) << 31
        inverse = random_scale(rng, -10, 10)
        x = min(value(bits & 0x7FFFFFFF) * value(inverse), Fraction(2**31 - 1))
        got = primitives.quantize(bits, inverse)
        assert abs(abs(got) - x) <= Fraction(1, 2) + x / 2**23
        assert got == 0 or (got < 0) == (bits >> 31 == 1)
    assert primitives.quantize(0x7F800000, fixed.ONE) == 2**31 - 1
    assert primitives.quantize(0xFF800000, fixed.ONE) == -(2**31) + 1
    assert primitives.quantize(float_bits(3e9), fixed.ONE) == 2**31 - 1
    assert primitives.quantize(0x80000001, fixed.ONE) == 0
    assert [primitives.quantize(float_bits(x), fixed.ONE) for x in (0.5, 0.49, -0.5, -1.5)] == [
        1,
        0,
        -1,
        -2,
    ]


# Users' decimals


@pytest.mark.parametrize("bits", (53, 24, 22))
def test_literals_come_out_exactly_on_every_interpreter(bits):
    for x in LITERALS:
        digits, exponent = ("%.3e" % x).split("e")
        expected = (int(digits.replace(".", "")), int(exponent) - 3)
        assert primitives.decimal(shortened(x, bits)) == expected
        assert primitives.decimal(-shortened(x, bits)) == (-expected[0], expected[1])
        exact = Fraction("%.3e" % x)
        assert primitives.scale_of(shortened(x, bits)) == float_bits(float(exact))


def test_decimal_of_integers_and_zero():
    assert primitives.decimal(0) == primitives.decimal(0.0) == (0, 0)
    assert primitives.decimal(7) == (7000, -3)
    assert primitives.decimal(123456789) == (1235, 5)
    assert primitives.decimal(10**12) == (1000, 9)
    assert primitives.decimal(0.99996) == (1000, -3)


@pytest.mark.parametrize("x", (float("nan"), float("inf"), float("-inf")))
def test_decimal_refuses_what_is_not_finite(x):
    with pytest.raises(ValueError):
        primitives.decimal(x)


@pytest.mark.parametrize("x", (0, -1.0, 1e-60, 1e60))
def test_scale_of_refuses_what_is_no_scale(x):
    with pytest.raises(ValueError):
        primitives.scale_of(x)


def test_scale_of_is_correctly_rounded():
    rng = random.Random(8)
    for _ in range(5000):
        text = "%de%d" % (rng.randint(1000, 9999), rng.randint(-38, 30))
        # float32 of the decimal itself; through a double is safe for 4 digits except near ties.
        assert primitives.scale_of(float(text)) == float_bits(float(text))


@pytest.mark.parametrize("bits", (53, 24, 22))
def test_millionths(bits):
    for n in (0, 1, 500000, 900000, 990000, 999000, 999900, 999990, 950000, 123456):
        assert primitives.millionths(shortened(n / 1e6, bits)) == n
    for x in (1, -0.1, float("nan")):
        with pytest.raises(ValueError):
            primitives.millionths(x)


def test_bits_and_floats():
    assert fixed.bits_to_float(0x3F800000) == 1.0
    assert fixed.bits_to_float(-0x40800000) == -1.0
    assert fixed.float_to_bits(-2.0) == 0xC0000000


# exp and log of float32


def test_expf_errs_by_less_than_1e_7():
    x = np.concatenate([np.linspace(-35, 0, 20001), -np.logspace(-7, 1, 2000)]).astype(np.float32)
    got = np.array([float32.expf(float(v)) for v in x])
    assert np.max(np.abs(got / np.exp(x.astype(np.float64)) - 1)) < 1e-7
    assert float32.expf(-36.0) == 0.0 and float32.expf(0.0) == 1.0


def test_logf_errs_by_less_than_1_7e_7():
    x = np.concatenate([np.linspace(1, 3, 20001), np.logspace(0, 20, 5000)]).astype(np.float32)
    got = np.array([float32.logf(float(v)) for v in x])
    exact = np.log(x.astype(np.float64))
    assert np.max(np.abs(got - exact) / np.maximum(exact, 1e-30)) < 1.7e-7
    assert float32.logf(1.0) == 0.0


@pytest.mark.parametrize("variant", ("unix", "unix_float30"))
def test_decimals_come_out_the_same_on_micropython(variant):
    python = os.path.join(ROOT, "build", variant, "micropython")
    if not os.path.exists(python):
        pytest.skip("build/%s is not built" % variant)
    millionths = (0.9, 0.99, 0.999, 0.9999, 0.99999, 0.5, 0.95, 0.123456, 0.0, 1e-6)
    script = (
        "from odt.base import primitives\n"
        "print([primitives.decimal(x) for x in %r])\n"
        "print([primitives.scale_of(x) for x in %r])\n"
        "print([primitives.millionths(x) for x in %r])\n" % (LITERALS, LITERALS, millionths)
    )
    done = subprocess.run([python, "-c", script], cwd=ROOT, check=True, timeout=30, capture_output=True, text=True)
    expected = [
        [primitives.decimal(x) for x in LITERALS],
        [primitives.scale_of(x) for x in LITERALS],
        [primitives.millionths(x) for x in millionths],
    ]
    assert done.stdout.split("\n")[-4:-1] == [str(row) for row in expected]
