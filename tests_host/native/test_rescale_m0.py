"""What a Cortex-M0+ computes by factors of 16 bits (native/fixed.c, common), compiled for the PC: as
docs/reference/numerics.md has it, by Python's integers.
"""

import ctypes
import math
import random
import subprocess
from array import array

import pytest
from checkout import ROOT

NATIVE = ROOT / "native"
COUNT = 40000
HARNESS = """
#include "common/elements.h"
void rescaled(int32_t count, const int32_t *v, const int32_t *m, const int32_t *s, int32_t *whole, int32_t *by) {
    for (int32_t i = 0; i < count; i++) {
        odt_multiplier_t q = {m[i], s[i]};
        odt_rescaler_t r = odt_rescaler(q);
        whole[i] = odt_rescaled(v[i], q);
        by[i] = odt_rescale_by(&r, v[i]);
        #if !ODT_M0
        int32_t bits = odt_bit_length(odt_magnitude(v[i]));
        if (bits < 32 && odt_is_within(&r, bits)) {
            by[i] = odt_rescale_within(r, v[i]);
        }
        #endif
    }
}
void random_by(int32_t count, const int32_t *v, const int32_t *m, const int32_t *s, const int32_t *u, int32_t *by) {
    for (int32_t i = 0; i < count; i++) {
        odt_multiplier_t q = {m[i], s[i]};
        odt_rescaler_t r = odt_rescaler(q);
        by[i] = odt_rescale_random_by(&r, v[i], (uint32_t)u[i]);
    }
}
void scales(int32_t count, const int32_t *a, const int32_t *b, int32_t *product, int32_t *root) {
    for (int32_t i = 0; i < count; i++) {
        product[i] = (int32_t)odt_scale_mul((uint32_t)a[i], (uint32_t)b[i]);
        root[i] = (int32_t)odt_scale_sqrt((uint32_t)a[i]);
    }
}
void sums(int32_t count, const int32_t *a, const int32_t *b, int32_t *y) {
    for (int32_t i = 0; i < count; i++) {
        y[i] = odt_sum_rounded(a[i], b[i]);
    }
}
void outputs(int32_t count, const int32_t *v, int32_t z, int32_t lo, int32_t *peak, int32_t *y) {
    odt_outputs_t o = odt_outputs_from(z, lo, *peak);
    for (int32_t i = 0; i < count; i++) {
        odt_limits_t limits = odt_limits_of(&o);
        int is_by = i % 2 && odt_is_usual(&o) && odt_magnitude(v[i]) < 1u << 30;
        y[i] = is_by ? odt_output_by(&limits, &o, v[i] + z) : odt_output(&o, v[i]);
    }
    *peak = o.peak;
}
"""


@pytest.fixture(scope="module", params=("-D__ARM_ARCH_6M__=1", "-DODT_ANY=1"), ids=("Cortex-M0+", "other cores"))
def call(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rescale")
    (folder / "harness.c").write_text(HARNESS)
    sources = [folder / "harness.c", NATIVE / "fixed.c", NATIVE / "common/elements.c"]
    options = [
        "-std=c99",
        "-O1",
        "-fwrapv",
        "-fsanitize=undefined",
        "-fno-sanitize-recover",
        "-Wall",
        "-Wextra",
        "-Werror",
    ]
    options += ["-Wno-unused-function", "-fno-sanitize=shift", request.param]
    subprocess.run(["gcc", *options, "-shared", "-fPIC", "-I", NATIVE, "-o", folder / "m0.so", *sources], check=True)
    library = ctypes.CDLL(str(folder / "m0.so"))

    def run(name, *arguments, results=1):
        count = len(arguments[0])
        arrays = [array("i", values) for values in arguments] + [array("i", [0] * count) for _ in range(results)]
        pointers = [(ctypes.c_int32 * count).from_buffer(values) for values in arrays]
        getattr(library, name)(count, *pointers)
        return [list(values) for values in arrays[-results:]]

    run.library = library
    return run


def sat32(v):
    return max(-(2**31) + 1, min(2**31 - 1, v))


def draw_int32(rng):
    edge = rng.choice(
        (0, 1 << rng.randrange(31), rng.randrange(1 << rng.randint(1, 31)), (1 << rng.randint(1, 31)) - 1)
    )
    return edge if rng.random() < 0.5 else -edge - (edge < 2**31 - 1 and rng.random() < 0.3)


def draw_multipliers(rng):
    """As scales give them, mostly; of negative gammas; and any."""
    m = [rng.choice((rng.randrange(1 << 23, 1 << 24) << 7, (1 << 30), ((1 << 24) - 1) << 7)) for _ in range(COUNT)]
    m = [-v if rng.random() < 0.2 else v for v in m]
    m = [rng.randrange(-(2**31), 2**31) if rng.random() < 0.1 else v for v in m]
    return m, [rng.randint(1, 62) for _ in range(COUNT)]


def test_rescaled_is_the_product_of_64_bits_rounded(call):
    rng = random.Random(1)
    m, s = draw_multipliers(rng)
    v = [draw_int32(rng) for _ in range(COUNT)]
    expected = [sat32((a * b + (1 << (c - 1))) >> c) for a, b, c in zip(v, m, s)]
    assert call("rescaled", v, m, s, results=2) == [expected, expected]


def test_rescaled_of_every_value_of_nine_bits(call):
    rng = random.Random(2)
    m, s = draw_multipliers(rng)
    for scale, shift in zip(m[:60], s):
        for factor in (1, 256):
            v = [i * factor for i in range(-256, 257)]
            expected = [sat32((a * scale + (1 << (shift - 1))) >> shift) for a in v]
            assert call("rescaled", v, [scale] * 513, [shift] * 513, results=2) == [expected, expected]


def test_rescaled_at_random_is_the_product_of_64_bits_and_a_dither(call):
    rng = random.Random(3)
    m, s = draw_multipliers(rng)
    v = [draw_int32(rng) for _ in range(COUNT)]
    u = [rng.randrange(1 << 32) for _ in range(COUNT)]
    expected = [sat32((a * b + ((w << c) >> 32)) >> c) for a, b, c, w in zip(v, m, s, u)]
    signed = [w - (w >> 31 << 32) for w in u]
    assert call("random_by", v, m, s, signed) == [expected]


def unpack(scale):
    return scale & 0x7FFFFF | 0x800000, (scale >> 23) - 150


def pack(m, e):
    return 0x00800000 if e < -149 else 0x7F7FFFFF if e > 104 else (e + 150) << 23 | m & 0x7FFFFF


def test_scales_are_multiplied_and_their_roots_taken_as_integers(call):
    rng = random.Random(4)
    mantissas = (0, 1, 0x7FFFFF, 0x3504F3, 0x3504F4)
    draw = lambda: rng.randint(1, 254) << 23 | rng.choice((*mantissas, rng.randrange(1 << 23)))  # noqa: E731
    a, b = [draw() for _ in range(COUNT)], [draw() for _ in range(COUNT)]
    products, roots = [], []
    for x, y in zip(a, b):
        (mx, ex), (my, ey) = unpack(x), unpack(y)
        h = 24 if mx * my >= 1 << 47 else 23
        m = (mx * my + (1 << (h - 1))) >> h
        if m == 1 << 24:
            m, h = 1 << 23, h + 1
        products.append(pack(m, ex + ey + h))
        h = 23 if ex & 1 else 24
        roots.append(pack(math.isqrt(mx << h), (ex - h) // 2))
    assert call("scales", a, b, results=2) == [products, roots]


def test_sums_are_limited_and_rounded(call):
    rng = random.Random(5)
    a = [draw_int32(rng) for _ in range(COUNT)]
    b = [draw_int32(rng) for _ in range(COUNT)]
    assert call("sums", a, b) == [[(sat32(x + y) + 128) >> 8 for x, y in zip(a, b)]]


@pytest.mark.parametrize(
    "z, lo", ((-128, -128), (0, -127), (0, 0), (0, -128), (5, -127), (127, -127), (-128, 3), (300, -128))
)
@pytest.mark.parametrize("peak", (0, 1, 90, 127, 255, 300, 1 << 30, -5))
def test_outputs_are_limited_and_their_peak_is_kept(call, z, lo, peak):
    rng = random.Random(6)
    values = [rng.choice((rng.randint(-300, 300), rng.randint(-90, 90), draw_int32(rng))) for _ in range(40)]
    values = [sat32(v) for v in values]
    values.sort(key=lambda v: abs(v) > 300)  # the common ones first, and each peak above the one before
    expected, largest = [], peak
    for v in values:
        largest = max(largest, v, -v if lo != z else v)
        expected.append(max(lo, min(127, z + v)))
    count = len(values)
    v, y, p = array("i", values), array("i", [0] * count), array("i", [peak])
    pointer = lambda data: (ctypes.c_int32 * len(data)).from_buffer(data)  # noqa: E731
    call.library.outputs(count, pointer(v), z, lo, pointer(p), pointer(y))
    assert list(y) == expected and p[0] == largest
