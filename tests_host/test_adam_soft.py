"""Adam with float32 state in integers (native/cores/soft/adam__soft.c), compiled for the PC: NumPy's float32 bits."""

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

NATIVE = Path(__file__).resolve().parent.parent / "native"
F32, U32 = np.float32, np.uint32
HARNESS = """
#include "opcodes.h"
void adam_f32(int32_t count, float *d, float *m, float *v, const int32_t *rate, const int32_t *f) {
    odt_adam_f32_t a = {d, m, v, rate, count, f[0], f[1], f[2], f[3], f[4]};
    odt_adam_f32(&a);
}
"""
COUNT = 200000
ADAM = (0.9, 0.1, 0.999, 0.001, 1e-7)


@pytest.fixture(scope="module", params=("-D__ARM_ARCH_6M__=1", "-DODT_ANY=1"), ids=("Cortex-M0+", "other cores"))
def library(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("adam")
    (folder / "harness.c").write_text(HARNESS)
    files = ["fixed.c", "float32.c"] + ["cores/soft/adam__soft.c", "kernels/update/adam_f32.c"]
    options = [
        "-std=c99",
        "-O1",
        "-fwrapv",
        "-ffp-contract=off",
        "-fsanitize=undefined",
        "-fno-sanitize-recover",
        "-Wall",
        "-Wextra",
        "-Werror",
    ]
    options += ["-Wno-unused-function", "-DODT_SOFT_FLOAT=1", request.param, "-shared", "-fPIC", "-I", NATIVE]
    subprocess.run(
        ["gcc", *options, "-o", folder / "adam.so", folder / "harness.c", *[NATIVE / name for name in files]],
        check=True,
    )
    return ctypes.CDLL(str(folder / "adam.so"))


def pointer(values):
    return values.ctypes.data_as(ctypes.c_void_p)


def store(x, least=76):
    bits = x.view(U32)
    return np.where((bits >> 23 & 255) < least, U32(0), bits).view(F32)


def expected(m, v, g, factors, rate):
    """As docs/numerics.md has it, one operation per line; the direction is not stored yet."""
    b1, c1, b2, c2, eps = factors
    with np.errstate(all="ignore"):
        first, second = b1 * m, c1 * g
        m = store(first + second)
        square = g * g
        first, second = b2 * v, c2 * square
        v = store(first + second, 25)
        bits = v.view(U32)
        root = np.sqrt(np.where((bits >= 0x800000) & (bits >> U32(31) == 0), v, F32(0)))  # 0 below 0
        below = root + eps * rate
        return m, v, m / below


def same(ours, theirs):
    """Equal bits, or NaN on both sides."""
    ours, theirs = ours.view(U32), theirs.view(U32)
    number = (theirs << U32(1)) <= U32(0xFF000000)
    assert np.array_equal(number, (ours << U32(1)) <= U32(0xFF000000))
    wrong = np.flatnonzero(number & (ours != theirs))
    assert not len(wrong), (wrong[:3], [hex(x) for x in ours[wrong[:3]]], [hex(x) for x in theirs[wrong[:3]]])


def run_f32(library, m, v, d, factors=ADAM, rate=1.0):
    factors, rate = np.array(factors, F32), np.array([0, rate], F32)
    m, v, d = (np.array(x, F32) for x in (m, v, d))
    new_m, new_v, direction = expected(m, v, d, factors, rate[1])
    library.adam_f32(len(m), pointer(d), pointer(m), pointer(v), pointer(rate), pointer(factors))
    same(m, new_m)
    same(v, new_v)
    same(d, store(direction))


def draw(rng, low, high, count=COUNT):
    """Floats by their bits: exponents between, mantissas that round, of few bits, or all ones."""
    mantissa = rng.integers(0, 1 << 23, count)
    few = (1 << rng.integers(0, 24, count)) - 1
    mantissa = np.where(rng.random(count) < 0.2, mantissa & ~few, mantissa)
    mantissa = np.where(rng.random(count) < 0.1, mantissa | few, mantissa) & 0x7FFFFF
    bits = rng.integers(low, high + 1, count) << 23 | mantissa | rng.integers(0, 2, count) << 31
    bits[rng.random(count) < 0.05] = 0
    return bits.astype(U32).view(F32)


@pytest.mark.parametrize("factors", (ADAM, (0.5, 0.5, 0.75, 0.25, 1e-3), (0.95, 0.05, 0.9, 0.1, 1e-8)))
def test_of_models_values_every_bit_is_numpys(library, factors):
    rng = np.random.default_rng(1)
    for low, high in ((110, 128), (120, 124), (76, 160)):
        m, d, v = (
            draw(rng, low, high),
            draw(rng, low, high),
            np.abs(draw(rng, max(2 * low - 137, 25), min(2 * high - 127, 190))),
        )
        run_f32(library, m, v, d, factors, 0.03)


def test_moments_that_nearly_cancel(library):
    rng = np.random.default_rng(2)
    m = draw(rng, 115, 130)
    nearly = (-m.astype(np.float64) * 9 * (1 + rng.integers(-4, 5, COUNT) * 2.0 ** -rng.integers(1, 25, COUNT))).astype(
        F32
    )
    run_f32(library, m, np.abs(draw(rng, 100, 130)), nearly)


def test_every_mantissa_of_the_root_and_many_quotients(library):
    """eps is far below the root's last bit: the direction is m / sqrt(v)."""
    mantissas = np.arange(1 << 23, dtype=U32)
    for exponent in (120, 121):
        v = (mantissas | U32(exponent << 23)).view(F32)
        m = (mantissas * U32(0x9E3779B1) >> U32(9) | U32(125 << 23)).view(F32)
        run_f32(library, m, v, np.zeros(len(v), F32), (0.5, 0.5, 0.5, 0.5, 1e-25))


def test_any_bits_at_all_are_those_of_floats(library):
    rng = np.random.default_rng(3)
    any_bits = lambda: rng.integers(0, 1 << 32, COUNT).astype(U32).view(F32)  # noqa: E731
    run_f32(library, any_bits(), any_bits(), any_bits())
    corners = [0, 1, 0x7FFFFF, 0x800000, 0xFFFFFF, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0x7F800001]
    corners += [field << 23 | rest for field in (24, 25, 75, 76, 160, 161, 190, 191, 254) for rest in (0, 0x7FFFFF)]
    corners = np.array(corners + [bits | 1 << 31 for bits in corners], U32).view(F32)
    run_f32(library, *[x.ravel() for x in np.meshgrid(corners, corners, corners)])
