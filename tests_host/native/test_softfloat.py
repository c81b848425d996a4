"""native/bindings/softfloat.c, which only a Cortex-M0+ module runs, compiled for the PC."""

import ctypes
import subprocess

import numpy as np
import pytest
from checkout import ROOT

SOURCE = ROOT / "native" / "bindings" / "softfloat.c"
TINY = np.finfo(np.float32).tiny


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = tmp_path_factory.mktemp("softfloat") / "softfloat.so"
    names = ["-DODT_TEST_SOFTFLOAT", "-D__aeabi_fmul=fmul32", "-D__aeabi_fdiv=fdiv32"]
    command = ["gcc", "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", *names]
    subprocess.run([*command, "-o", path, SOURCE], check=True)
    library = ctypes.CDLL(str(path))
    for function in (library.fmul32, library.fdiv32):
        function.argtypes = (ctypes.c_float, ctypes.c_float)
        function.restype = ctypes.c_float
    return library


def flushed(x):
    return np.where(np.abs(x) < TINY, np.copysign(np.float32(0), x), x).astype(np.float32)


def check(function, operation, a, b):
    a, b = flushed(a), flushed(b)
    with np.errstate(all="ignore"):
        # In double first: a float32 result that rounds up from below the smallest normal is one.
        expected = flushed(operation(a, b))
        exact = np.abs(operation(a.astype(np.float64), b.astype(np.float64)))
    sure = ~((exact < TINY) & (exact > TINY * (1 - 2.0**-23)))  # where flushing comes before rounding
    got = np.array([function(x, y) for x, y in zip(a.tolist(), b.tolist())], np.float32)
    same = (got.view(np.uint32) == expected.view(np.uint32)) | (np.isnan(got) & np.isnan(expected))
    assert same[sure].all(), (a[~same & sure][:3], b[~same & sure][:3])
    assert sure.mean() > 0.98


SPECIAL = [0.0, 1.0, 1.5, TINY, 2 * TINY, 3.4028235e38, 2.0**127, 1 + 2.0**-23, 2 - 2.0**-23, 1 / 3]
SPECIAL = np.array([s * x for x in [*SPECIAL, np.inf, np.nan] for s in (1, -1)], np.float32)


@pytest.mark.parametrize("name", ["mul", "div"])
def test_random_numbers_are_numpys_float32_bit_for_bit(library, name):
    function, operation = (library.fmul32, np.multiply) if name == "mul" else (library.fdiv32, np.divide)
    bits = np.random.default_rng(3).integers(0, 2**32, (2, 100000), dtype=np.uint32)
    a, b = bits.view(np.float32)
    check(function, operation, a, b)
    # Mantissas with few bits, whose products lie half-way between two floats.
    few = (bits[0] & 0xBF800000 | 0x00080000 * (bits[1] & 15)).view(np.float32)
    short = (bits[0] & 0xBFFFF000).view(np.float32)
    check(function, operation, few, short)


@pytest.mark.parametrize("name", ["mul", "div"])
def test_zeros_infinities_nans_and_limits_are_ieees(library, name):
    function, operation = (library.fmul32, np.multiply) if name == "mul" else (library.fdiv32, np.divide)
    a, b = np.meshgrid(SPECIAL, SPECIAL)
    with np.errstate(all="ignore"):
        a, b = a.ravel(), b.ravel()
        check(function, operation, a, b)
