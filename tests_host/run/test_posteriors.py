"""odt.run.posteriors computes in 30 bits, which boards have without allocating, what its formulas say in as many as it
takes.
"""

import struct
from array import array
from fractions import Fraction
from math import floor, log

from hypothesis import given, settings
from hypothesis import strategies as st

from odt.base.primitives import exp2n
from odt.run.posteriors import normal, parts, softmax


def plain(t):
    """exp2n by its polynomial (docs/reference/numerics.md), in any number of bits."""
    n, f, r = t >> 16, t & 65535, 449
    for coefficient in (3491, 15696, 45421, 65536):
        r = coefficient - (r * f >> 16)
    return (r + ((1 << n) >> 1)) >> n if n <= 16 else 0


def test_exp2n_is_its_polynomial():
    assert all(exp2n(t) == plain(t) for t in range(18 << 16))


@settings(max_examples=2000, deadline=None)
@given(st.integers(0, (1 << 32) - 1))
def test_parts_rounds_down(bits):
    values = array("f", struct.pack("<I", bits))
    if bits >> 23 & 255 == 255:
        assert parts(values, 0) is None
    else:
        exact = Fraction(struct.unpack("<f", struct.pack("<I", bits))[0])
        assert parts(values, 0) == (floor(exact * 65536) if abs(exact) >= Fraction(1, 1 << 64) else 0)


@settings(max_examples=500, deadline=None)
@given(st.lists(st.integers(-(1 << 40), 1 << 40) | st.integers(-300000, 300000), min_size=1, max_size=12))
def test_softmax_is_its_formula(row):
    powers = [plain((max(row) - value) * round(65536 / log(2)) >> 16) for value in row]
    expected = [((power << 16) + sum(powers) // 2) // sum(powers) for power in powers]
    assert softmax(list(row)) == expected and abs(sum(expected) - 65536) <= len(row)
    steps = [value & 0xFFFFF for value in row]
    powers = [plain(step) for step in steps]
    if sum(powers):
        assert normal(list(steps)) == [((power << 16) + sum(powers) // 2) // sum(powers) for power in powers]
