"""native/bindings/divide.c, which only a Cortex-M0+ module runs, compiled for the PC."""

import ctypes
import subprocess

import pytest
from checkout import ROOT
from hypothesis import example, given
from hypothesis import strategies as st

SOURCE = ROOT / "native" / "bindings" / "divide.c"
UNSIGNED = """
#include <stdint.h>
uint64_t __aeabi_uidivmod(uint32_t a, uint32_t b) { return (uint64_t)(a % b) << 32 | a / b; }
"""
LEAST, MOST = -(2**31), 2**31 - 1
INT32 = st.integers(LEAST, MOST) | st.integers(-9, 9)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = tmp_path_factory.mktemp("divide")
    (path / "unsigned.c").write_text(UNSIGNED)
    command = ["gcc", "-std=c99", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-DODT_TEST_DIVIDE"]
    subprocess.run([*command, "-o", path / "divide.so", SOURCE, path / "unsigned.c"], check=True)
    library = ctypes.CDLL(str(path / "divide.so"))
    for function, result in ((library.__aeabi_idivmod, ctypes.c_uint64), (library.__aeabi_idiv, ctypes.c_int32)):
        function.argtypes = (ctypes.c_int32, ctypes.c_int32)
        function.restype = result
    return library


@given(INT32, INT32.filter(bool))
@example(LEAST, 1)
@example(LEAST, LEAST)
@example(LEAST, MOST)
@example(MOST, LEAST)
def test_quotients_and_remainders_are_those_of_c(library, a, b):
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    if quotient > MOST:  # LEAST / -1, which C does not define
        return
    assert library.__aeabi_idiv(a, b) == quotient
    both = library.__aeabi_idivmod(a, b)
    assert both & 0xFFFFFFFF == quotient % 2**32
    assert both >> 32 == (a - quotient * b) % 2**32
