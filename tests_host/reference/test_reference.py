"""The reference against formulas in NumPy's float64: what is computed, not which bits.

test_executors_agree.py carries the result over from one executor to the others.
"""

import ast
import importlib
import math
import subprocess
import sys
from pathlib import Path

import _odt
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from house import circle
from single_calls import as_float, bits, call, control, softmax, window_case

from odt.base import fixed, opcodes, primitives
from odt.host import traits
from odt.reference import program as reference
from odt.reference.index import BY_NUMBER, MODULES


def multipliers(scales):
    pairs = [fixed.multiplier(bits(s)) for s in np.atleast_1d(scales)]
    return np.array(pairs, np.int32)


# Sums over windows, by shifting a padded image: one term for each tap of the filter.

SHAPES = (
    dict(B=2, H=5, W=6, C=3, N=4, KH=3, KW=3, SH=1, SW=1, PT=1, PL=1, OH=5, OW=6),
    dict(B=1, H=7, W=5, C=2, N=3, KH=3, KW=2, SH=2, SW=1, PT=0, PL=0, OH=3, OW=4),
    dict(B=2, H=6, W=1, C=1, N=2, KH=5, KW=1, SH=3, SW=1, PT=2, PL=0, OH=2, OW=1),
    dict(B=1, H=5, W=5, C=2, N=2, KH=4, KW=3, SH=3, SW=2, PT=1, PL=2, OH=2, OW=4),
)


def padded(v, fill=0.0):
    """The rows and columns that all windows cover; only those inside hold the image."""
    rows = max(v["H"] + v["PT"], (v["OH"] - 1) * v["SH"] + v["KH"])
    columns = max(v["W"] + v["PL"], (v["OW"] - 1) * v["SW"] + v["KW"])
    return lambda x: np.pad(
        x.astype(np.float64),
        ((0, 0), (v["PT"], rows - v["H"] - v["PT"]), (v["PL"], columns - v["W"] - v["PL"]), (0, 0)),
        constant_values=fill,
    )


def tap(v, kh, kw):
    """The slice of a padded image that a filter's tap meets."""
    h = slice(kh, kh + (v["OH"] - 1) * v["SH"] + 1, v["SH"])
    w = slice(kw, kw + (v["OW"] - 1) * v["SW"] + 1, v["SW"])
    return np.s_[:, h, w, :]


def taps(v):
    return [(kh, kw) for kh in range(v["KH"]) for kw in range(v["KW"])]


def conv2d(x, w, v, depthwise):
    """x [B, H, W, C], w [N, KH, KW, C] or depthwise [N, KH, KW] -> y, and dw(e), dx(e)."""
    image = padded(v)(x)
    product = "bhwn,n->bhwn" if depthwise else "bhwc,nc->bhwn"
    w = w.astype(np.float64)
    y = sum(np.einsum(product, image[tap(v, *k)], w[:, k[0], k[1]]) for k in taps(v))

    def dw(e):
        total = np.zeros(w.shape)
        swapped = "bhwn,bhwn->n" if depthwise else "bhwn,bhwc->nc"
        for k in taps(v):
            total[:, k[0], k[1]] = np.einsum(swapped, e, image[tap(v, *k)])
        return total

    def dx(e):
        total = np.zeros(image.shape)
        swapped = "bhwn,n->bhwn" if depthwise else "bhwn,nc->bhwc"
        for k in taps(v):
            total[tap(v, *k)] += np.einsum(swapped, e, w[:, k[0], k[1]])
        return total[:, v["PT"] : v["PT"] + v["H"], v["PL"] : v["PL"] + v["W"]]

    return y, dw, dx


@pytest.mark.parametrize("kind", ("conv2d", "depthwise2d"))
@pytest.mark.parametrize("shape", range(len(SHAPES)))
def test_convolutions_int8(kind, shape):
    rng = np.random.default_rng(shape)
    v, xs, ws, ys = window_case(rng, SHAPES[shape], kind)
    x, zx = rng.integers(-128, 128, xs), -128
    w = rng.integers(-127, 128, ws)
    e = rng.integers(-127, 128, ys)
    b = rng.integers(-1000, 1000, v["N"])
    y, dw, dx = conv2d(x - float(zx), w, v, kind == "depthwise2d")
    scales = rng.uniform(0.5, 1, v["N"]) / 500
    q = multipliers(scales)
    got = call(kind + "_i8", dict(x=x, w=w, b=b, q=q), zx=zx, zy=-128, lo=-128, **v)
    exact = (y + b) * scales
    assert np.max(np.abs(got["y"] - np.clip(exact - 128, -128, 127).ravel())) <= 0.501
    assert abs(got["peak"][0] - max(0, exact.max())) <= 0.501

    got = call(kind + "_dw_i8", dict(x=x, e=e), zx=zx, **v)
    assert np.array_equal(got["dw"], dw(e).ravel())

    scales = scales if kind == "depthwise2d" else scales[0]
    q = multipliers(scales)
    got = call(kind + "_dx_i8", dict(e=e, w=w, q=q), **v)
    exact = dx(e) * scales
    assert np.max(np.abs(got["dx"] - np.clip(exact, -127, 127).ravel())) <= 0.501
    assert abs(got["peak"][0] - np.abs(exact).max()) <= 0.501


@pytest.mark.parametrize("kind", ("conv2d", "depthwise2d"))
@pytest.mark.parametrize("shape", range(len(SHAPES)))
def test_convolutions_float32(kind, shape):
    rng = np.random.default_rng(shape)
    v, xs, ws, ys = window_case(rng, SHAPES[shape], kind)
    x, w, e, b = (rng.normal(size=s).astype(np.float32) for s in (xs, ws, ys, v["N"]))
    y, dw, dx = conv2d(x, w, v, kind == "depthwise2d")
    for relu in (0, 1):
        got = call(kind + "_f32", dict(x=x, w=w, b=b), relu=relu, **v)["y"]
        exact = np.maximum(y + b, 0) if relu else y + b
        np.testing.assert_allclose(got, exact.ravel(), rtol=1e-5, atol=1e-5)
    got = call(kind + "_dw_f32", dict(x=x, e=e), **v)["dw"]
    np.testing.assert_allclose(got, dw(e).ravel(), rtol=1e-5, atol=1e-5)
    got = call(kind + "_dx_f32", dict(e=e, w=w), **v)["dx"]
    np.testing.assert_allclose(got, dx(e).ravel(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", ("i8", "f32"))
@pytest.mark.parametrize("shape", range(len(SHAPES)))
def test_max_pooling_and_its_gradient(dtype, shape):
    rng = np.random.default_rng(shape)
    v = dict(SHAPES[shape], C=SHAPES[shape]["N"])
    v, xs, _, ys = window_case(rng, v, "pool")
    x = rng.permutation(np.prod(xs)).reshape(xs) % 256 - 128  # without ties where it is below 256
    e = rng.integers(-5, 6, ys)
    image = padded(v, -np.inf)(x)
    stack = np.stack([image[tap(v, *k)] for k in taps(v)])
    got = call("maxpool2d_" + dtype, dict(x=x), **v)["y"]
    assert np.array_equal(got, stack.max(axis=0).ravel())
    total = np.zeros(image.shape)
    for i, k in enumerate(taps(v)):
        total[tap(v, *k)] += np.where(stack.argmax(axis=0) == i, e, 0)
    dx = total[:, v["PT"] : v["PT"] + v["H"], v["PL"] : v["PL"] + v["W"]]
    for width in (4, 8, 16):
        sizes = dict(v, bits=width, S=(got.size * width + 7) // 8)
        chosen = call("maxpool2d_choice_" + dtype, dict(x=x), **sizes)
        assert np.array_equal(chosen["y"], got)
        packed = np.unpackbits(chosen["choice"].astype(np.uint8), bitorder="little")[: got.size * width]
        choice = packed.reshape(-1, width) @ (1 << np.arange(width))
        assert np.array_equal(choice, stack.argmax(axis=0).ravel())
    got = call("unpool2d_" + dtype, dict(choice=chosen["choice"], e=e), **sizes)
    assert np.array_equal(got["dx"], dx.ravel())


def test_dense_int8():
    rng = np.random.default_rng(1)
    v = dict(M=3, K=17, N=5)
    x, w, e = (rng.integers(-127, 128, s) for s in ((3, 17), (5, 17), (3, 5)))
    b = rng.integers(-9999, 9999, 5)
    scales = rng.uniform(1, 2, 5) / 1500
    got = call("dense_i8", dict(x=x, w=w, b=b, q=multipliers(scales)), zx=9, zy=0, lo=-127, **v)
    exact = ((x - 9) @ w.T + b) * scales
    assert np.max(np.abs(got["y"] - np.clip(exact, -127, 127).ravel())) <= 0.501
    assert abs(got["peak"][0] - np.abs(exact).max()) <= 0.501
    got = call("dense_dx_i8", dict(e=e, w=w, q=multipliers(1 / 300)), **v)
    assert np.max(np.abs(got["dx"] - np.clip(e @ w / 300, -127, 127).ravel())) <= 0.501
    got = call("dense_dw_i8", dict(e=e, x=x), zx=9, **v)["dw"]
    assert np.array_equal(got, (e.T @ (x - 9)).ravel())
    assert np.array_equal(call("bias_dw_i8", dict(e=e), M=3, N=5)["db"], e.sum(axis=0))
    q = multipliers([0.1, 0.5, 1, 0.3, 2])
    got = [call("channel_scale_i8", dict(e=e, q=q, c=control(KEY=key)), M=3, N=5, id=1)["y"] for key in range(400)]
    exact = np.clip(e * [0.1, 0.5, 1, 0.3, 2], -127, 127).ravel()
    assert np.abs(np.array(got) - exact).max() < 1
    assert np.abs(np.mean(got, axis=0) - exact).max() < 5 * 0.5 / 400**0.5


def test_dense_float32():
    rng = np.random.default_rng(1)
    v = dict(M=3, K=17, N=5)
    x, w, e, b = (rng.normal(size=s).astype(np.float32) for s in ((3, 17), (5, 17), (3, 5), 5))
    got = call("dense_f32", dict(x=x, w=w, b=b), relu=1, **v)["y"]
    np.testing.assert_allclose(got, np.maximum(x @ w.T + b, 0).ravel(), rtol=1e-5, atol=1e-6)
    got = call("dense_dx_f32", dict(e=e, w=w), **v)["dx"]
    np.testing.assert_allclose(got, (e @ w).ravel(), rtol=1e-5, atol=1e-6)
    got = call("dense_dw_f32", dict(e=e, x=x), **v)["dw"]
    np.testing.assert_allclose(got, (e.T @ x).ravel(), rtol=1e-5, atol=1e-6)
    got = call("bias_dw_f32", dict(e=e), M=3, N=5)["db"]
    np.testing.assert_allclose(got, e.sum(axis=0), rtol=1e-5, atol=1e-6)


def test_average_and_sum():
    rng = np.random.default_rng(2)
    x = rng.integers(-128, 128, (2, 9, 3))
    v = dict(B=2, S=9, N=3)
    got = call("globalavg_i8", dict(x=x, q=multipliers(1 / 9)), zx=-4, zy=-3, lo=-127, **v)["y"]
    assert np.max(np.abs(got - np.clip((x + 4).mean(axis=1) - 3, -127, 127).ravel())) <= 0.501
    got = call("globalavg_f32", dict(x=x), **v)["y"]
    np.testing.assert_allclose(got, x.mean(axis=1).ravel(), rtol=1e-6)
    e = rng.normal(size=(2, 3)).astype(np.float32)
    got = call("globalavg_dx_f32", dict(e=e), **v)["dx"].reshape(2, 9, 3)
    np.testing.assert_allclose(got, np.repeat(e[:, None] / 9, 9, axis=1), rtol=1e-6)
    a, b = x[0].ravel(), x[1].ravel()
    got = call(
        "add_i8", dict(a=a, b=b, qa=multipliers(0.7), qb=multipliers(0.2)),
        N=27, za=-128, zb=5, zy=-128, lo=-128,
    )["y"]  # fmt: skip
    exact = np.clip((a + 128) * 0.7 + (b - 5) * 0.2 - 128, -128, 127)
    assert np.max(np.abs(got - exact)) <= 0.51


def test_a_sum_is_rounded_once():
    """All pairs, but for what is within 2^-15 of half way between two steps."""
    a, b = (np.ravel(n) for n in np.meshgrid(np.arange(-128, 128), np.arange(-128, 128)))
    for qa, qb, zero in ((0.7123, 0.2071, -128), (0.3339, 0.7141, 9), (60.01, 0.0131, -3)):
        got = call(
            "add_once_i8",
            dict(a=a, b=b, qa=multipliers(qa), qb=multipliers(qb)),
            N=a.size,
            za=-100,
            zb=5,
            zy=zero,
            lo=zero,
        )
        v = (a + 100) * np.float64(np.float32(qa)) + (b - 5) * np.float64(np.float32(qb))
        near = np.abs(v - np.floor(v) - 0.5) < 2**-15
        assert np.array_equal(got["y"][~near], np.clip(np.rint(v) + zero, zero, 127)[~near])
        assert np.mean(near) < 1e-3 and got["peak"][0] == np.rint(v.max())


@pytest.mark.parametrize("away", [0, 1])
def test_means_in_a_scale_of_their_own(away):
    """Of one scale on both sides a mean half way is rounded by the rule, whatever its count; windows at the edge have
    fewer.
    """
    rng = np.random.default_rng(5)
    x = rng.integers(-128, 128, (2, 5, 6, 3))
    window = dict(B=2, H=5, W=6, C=3, N=3, KH=2, KW=3, SH=2, SW=1, PT=1, PL=1, OH=3, OW=6, adaptive=0)
    for factor, sx, sy, zx, zy in ((1.0, 0.3, 0.3, -7, 5), (1.0, 0.3, 0.3, -128, -128), (0.5, 0.3, 0.11, 4, -20)):
        got = call(
            "mean2d_i8", dict(x=x, sx=sx, sy=sy), zx=zx, zy=zy, lo=-128, factor=bits(factor), away=away, **window
        )["y"].reshape(2, 3, 6, 3)
        for oh, ow in np.ndindex(3, 6):
            part = x[:, max(2 * oh - 1, 0) : 2 * oh + 1, max(ow - 1, 0) : ow + 2]
            count = part.shape[1] * part.shape[2]
            v = (part - zx).sum((1, 2)) * (
                factor * np.float64(np.float32(sx)) / np.float64(np.float32(sy))
            ) / count + zy
            nearest = np.trunc(v + np.copysign(0.5, v)) if away else np.rint(v)
            assert np.array_equal(got[:, oh, ow], np.clip(nearest, -128, 127))


@pytest.mark.parametrize("engine", [reference, _odt])
@pytest.mark.parametrize("away", [0, 1])
def test_means_of_any_count(engine, away):
    """A division by any count: the largest and the least sums, and those half way between two means."""
    rng = np.random.default_rng(8)
    for count in (1, 2, 3, 4, 7, 30, 49, 255, 2047, 2048, 2049, 5000):
        low, high = np.full(count, -128), np.full(count, 127)
        half = np.where(np.arange(count) < count // 2, -3, -2)
        x = np.stack([low, high, half, half + 1, *rng.integers(-128, 128, (67, count))], 1)[None]
        window = dict(B=1, H=count, W=1, C=71, N=71, KH=1, KW=1, SH=1, SW=1, PT=0, PL=0, OH=1, OW=1, adaptive=1)
        for zx, zy in ((3, 3), (-128, 127), (127, -128), (6, -5)):
            scales = dict(factor=bits(1), zx=zx, zy=zy, lo=-128, away=away)
            got = call("mean2d_i8", dict(x=x, sx=1.0, sy=1.0), engine, **scales, **window)
            v = (x[0] - zx).sum(0) / count
            y = v + zy
            nearest = np.trunc(y + np.copysign(0.5, y)) if away else np.rint(y)
            assert np.array_equal(got["y"], np.clip(nearest, -128, 127)), (count, zx)


def test_a_table_says_what_each_byte_becomes():
    rng = np.random.default_rng(6)
    table, x = rng.integers(-128, 128, 256), rng.integers(-128, 128, 99)
    assert np.array_equal(call("lookup_i8", dict(x=x, table=table), N=99)["y"], table[x + 128])


# Joins, average pooling, activations


def test_columns_are_placed_and_taken_back():
    rng = np.random.default_rng(12)
    parts = [rng.integers(-128, 128, (3, k)) for k in (2, 5, 1)]
    y, scaled, at = np.zeros((3, 8), int), np.zeros((3, 8), int), 0
    for part in parts:
        v = dict(M=3, K=part.shape[1], N=8, at=at)
        y = call("place", dict(y=y, x=part), **v)["y"]
        assert np.array_equal(call("slice", dict(x=y), **v)["y"], part.ravel())
        got = call("concat_i8", dict(y=scaled, x=part, q=multipliers(0.3)), zx=-7, zy=3, lo=-127, **v)
        scaled = got["y"]
        at += part.shape[1]
    assert np.array_equal(y, np.concatenate(parts, axis=1).ravel())
    exact = np.clip((np.concatenate(parts, axis=1) + 7) * 0.3 + 3, -127, 127)
    assert np.max(np.abs(scaled - exact.ravel())) <= 0.501
    for at in (-1, 4, 1 << 30):  # columns that the row has not
        got = call("place", dict(y=y, x=parts[1]), M=3, K=5, N=8, at=at)["y"]
        assert np.array_equal(got, y)


def test_products():
    rng = np.random.default_rng(13)
    a, b = rng.integers(-128, 128, (2, 50))
    got = call("multiply_i8", dict(a=a, b=b, q=multipliers(1 / 300)), N=50, za=-128, zb=9, zy=-5, lo=-127)
    exact = (a + 128) * (b - 9) / 300
    assert np.max(np.abs(got["y"] - np.clip(exact - 5, -127, 127))) <= 0.501
    assert abs(got["peak"][0] - np.abs(exact).max()) <= 0.501


def average(v, x, adaptive):
    """Mean over each window's positions inside x, and the gradient of it."""

    def axis(size, outputs, taps, stride, pad):
        if adaptive:
            return [(o * size // outputs, -(-(o + 1) * size // outputs)) for o in range(outputs)]
        return [(max(0, o * stride - pad), min(size, o * stride - pad + taps)) for o in range(outputs)]

    rows = axis(v["H"], v["OH"], v["KH"], v["SH"], v["PT"])
    columns = axis(v["W"], v["OW"], v["KW"], v["SW"], v["PL"])
    y = np.array([[x[:, a:b, c:d].mean(axis=(1, 2)) for c, d in columns] for a, b in rows])

    def dx(e):
        total = np.zeros(x.shape)
        for oh, (a, b) in enumerate(rows):
            for ow, (c, d) in enumerate(columns):
                total[:, a:b, c:d] += (e[:, oh, ow] / ((b - a) * (d - c)))[:, None, None]
        return total

    return np.moveaxis(y, 2, 0), dx


@pytest.mark.parametrize("adaptive", (0, 1))
@pytest.mark.parametrize("shape", range(len(SHAPES)))
def test_average_pooling_and_its_gradient(adaptive, shape):
    rng = np.random.default_rng(shape)
    v = dict(SHAPES[shape], C=SHAPES[shape]["N"])
    v, xs, _, ys = window_case(rng, v, "pool")
    x, e = rng.integers(-128, 128, xs), rng.integers(-127, 128, ys)
    y, dx = average(v, x, adaptive)
    got = call("avgpool2d_i8", dict(x=x), adaptive=adaptive, **v)["y"]
    assert np.max(np.abs(got - y.ravel())) <= 0.5
    top = v["H"] * v["W"] if adaptive else v["KH"] * v["KW"]
    q = multipliers(0.7 / 256)
    got = call("avgpool2d_dx_i8", dict(e=e, q=q), adaptive=adaptive, top=top, **v)
    exact = dx(e) * 0.7 * top
    assert np.max(np.abs(got["dx"] - np.clip(exact, -127, 127).ravel())) <= 0.501 + np.abs(exact).max() / 256
    got = call("avgpool2d_f32", dict(x=x), adaptive=adaptive, **v)["y"]
    np.testing.assert_allclose(got, y.ravel(), rtol=1e-5, atol=1e-4)
    got = call("avgpool2d_dx_f32", dict(e=e), adaptive=adaptive, **v)["dx"]
    np.testing.assert_allclose(got, dx(e).ravel(), rtol=1e-5, atol=1e-4)


def test_upsampling_and_its_gradient():
    rng = np.random.default_rng(14)
    v = dict(B=2, H=3, W=2, N=5, SH=2, SW=3)
    x, e = rng.integers(-128, 128, (2, 3, 2, 5)), rng.integers(-127, 128, (2, 6, 6, 5))
    assert np.array_equal(call("upsample2d", dict(x=x), **v)["y"], x.repeat(2, 1).repeat(3, 2).ravel())
    exact = e.reshape(2, 3, 2, 2, 3, 5).sum(axis=(2, 4))
    got = call("upsample2d_dx_i8", dict(e=e, q=multipliers(0.4)), **v)["dx"]
    assert np.max(np.abs(got - np.clip(exact * 0.4, -127, 127).ravel())) <= 0.501
    assert np.array_equal(call("upsample2d_dx_f32", dict(e=e), **v)["dx"], exact.ravel())


def test_space_to_batch_is_numpy_s_every_nth_pixel_and_batch_to_space_its_inverse():
    rng = np.random.default_rng(15)
    x = rng.integers(-128, 128, (2, 7, 5, 3))
    v = dict(B=2, H=7, W=5, U=3, SH=3, SW=2, PT=2, PL=1, OH=4, OW=3)  # a row more than the image has
    padded = np.pad(x, ((0, 0), (2, 3), (1, 0), (0, 0)), constant_values=-7)
    batches = np.stack([padded[:, p::3, q::2] for p in range(3) for q in range(2)], 1)
    assert np.array_equal(call("space_to_batch", dict(x=x), fill=-7, **v)["y"], batches.ravel())
    assert np.array_equal(call("batch_to_space", dict(x=batches), **v)["y"], x.ravel())
    v.update(OH=2)  # and less: rows 4 to 6 lie in no batch
    assert np.array_equal(call("space_to_batch", dict(x=x), fill=-7, **v)["y"], batches[:, :, :2].ravel())
    kept = np.where(np.arange(7)[:, None, None] < 4, x, 0)
    assert np.array_equal(call("batch_to_space", dict(x=batches[:, :, :2]), **v)["y"], kept.ravel())


STEPS = np.arange(-128, 128)


@pytest.mark.parametrize("scale", (0.001, 0.02, 0.09, 1.0, 300.0))
@pytest.mark.parametrize("zero", (-128, 0, 50))
def test_sigmoid_and_tanh_int8_are_within_their_bounds(scale, zero):
    x = (STEPS - zero) * np.float64(np.float32(scale))
    got = call("sigmoid_i8", dict(x=STEPS, sx=scale), N=256, z=zero, factor=bits(1.0))["y"]
    steps = 256 / (1 + np.exp(-np.maximum(x, -700))) - 128
    assert np.max(np.abs(got - np.minimum(steps, 127))) <= 0.51
    got = call("sigmoid_i8", dict(x=STEPS, sx=scale), N=256, z=zero, factor=bits(2.0))["y"]
    assert np.max(np.abs(got - np.minimum(128 * np.tanh(x), 127))) <= 0.51


@pytest.mark.parametrize("scale", (0.001, 0.05, 1.0, 300.0))
def test_softmax_int8_is_within_its_bound(scale):
    rng = np.random.default_rng(15)
    for n in (2, 10, 100):
        x = rng.integers(-128, 128, (9, n))
        got = call("softmax_i8", dict(x=x, sx=scale), M=9, N=n, factor=bits(1.0))["y"]
        exact = 256 * softmax(x * np.float64(np.float32(scale))) - 128
        assert np.max(np.abs(got - np.minimum(exact, 127).ravel())) <= 0.52


CURVES = {"elu": (0, lambda x: F.elu(x, 1.5)), "gelu": (1, F.gelu)}  # kind; f, by PyTorch


def exact_curve(x, function):
    """f and its gradient of a float64 array."""
    x = torch.tensor(np.asarray(x, np.float64), requires_grad=True)
    y = function(x)
    y.sum().backward()
    return y.detach().numpy(), x.grad.numpy()


@pytest.mark.parametrize("scale", (0.001, 0.02, 0.09, 1.0, 300.0))
@pytest.mark.parametrize("zero", (-128, 0, 50))
@pytest.mark.parametrize("name", CURVES)
def test_curves_int8_are_within_their_bounds(name, zero, scale):
    kind, function = CURVES[name]
    scale, gain, factor = float(np.float32(scale)), 0.75, 0.5
    exact, slope = exact_curve((STEPS - zero) * scale * factor, function)
    sy = float(np.float32(max(abs(exact * gain).max() / 127, 1e-3)))
    v = dict(z=zero, factor=bits(factor), kind=kind, alpha=bits(1.5))
    bound = 0.505 + 0.0003 * gain / sy  # beside half a step of y what the bend is off by
    more = dict(v, gain=bits(gain), zy=3, lo=-127)
    found = call("curve_i8", dict(x=STEPS, sx=scale, sy=sy, peak=[0]), N=256, **more)
    expected = np.clip(exact * gain / sy, -32767, 32767)
    assert np.abs(found["y"] - np.clip(expected + 3, -127, 127)).max() <= bound
    assert abs(found["peak"][0] - abs(expected).max()) <= bound
    few = [call("curve_i8", dict(x=STEPS[at:][:128], sx=scale, sy=sy), N=128, **more)["y"] for at in (0, 128)]
    assert np.array_equal(np.concatenate(few), found["y"])
    e = np.random.default_rng(3).integers(-127, 128, 256)
    dx = call("curve_dx_i8", dict(e=e, x=STEPS, sx=scale, q=multipliers(0.9 / 16384)), N=256, **v)["dx"]
    assert np.abs(dx - np.clip(0.9 * e * slope, -127, 127)).max() <= 0.5 + 127 * 0.002


@pytest.mark.parametrize("name", CURVES)
def test_curves_float32_are_within_their_bounds(name):
    kind, function = CURVES[name]
    rng = np.random.default_rng(18)
    small = 10 ** rng.uniform(-12, 0, 400) * rng.choice((-1, 1), 400)
    x = np.concatenate([rng.normal(size=400) * 5, small, [0, -0.0, 100, -100, 1e15, -1e15]]).astype(np.float32)
    e = rng.normal(size=len(x)).astype(np.float32)
    v = dict(N=len(x), kind=kind, alpha=bits(1.5), gain=bits(0.75))
    exact, slope = exact_curve(x, function)
    np.testing.assert_allclose(call("curve_f32", dict(x=x), **v)["y"], 0.75 * exact, rtol=2e-7, atol=4e-7)
    np.testing.assert_allclose(call("curve_dx_f32", dict(e=e, x=x), **v)["dx"], 0.75 * e * slope, rtol=3e-7, atol=1e-6)
    assert np.isnan(call("curve_f32", dict(x=[float("nan")]), **dict(v, N=1))["y"][0])


def test_gradients_of_activations_int8():
    rng = np.random.default_rng(16)
    y, e = rng.integers(-128, 128, (2, 60))
    e = np.maximum(e, -127)
    got = call("relu6_dx_i8", dict(e=e, y=y), N=60)["dx"]
    assert np.array_equal(got, np.where((y > -128) & (y < 127), e, 0))
    got = call("sigmoid_dx_i8", dict(e=e, y=y, q=multipliers(1 / 20000)), N=60)["dx"]
    s = (y + 128) / 256
    assert np.max(np.abs(got - np.clip(e * s * (1 - s) * 65536 / 20000, -127, 127))) <= 0.501
    p, e = s.reshape(6, 10), e.reshape(6, 10)
    got = call("softmax_dx_i8", dict(e=e, y=y, q=multipliers(1 / 70000)), M=6, N=10)["dx"]
    exact = p * (e - (e * p).sum(axis=1, keepdims=True)) * 65536 / 70000
    assert np.max(np.abs(got - np.clip(exact, -127, 127).ravel())) <= 0.501
    slope, z, e = 0.1, 7, e.ravel()
    got = call("leaky_relu_i8", dict(x=y), N=60, z=z, slope=bits(slope))["y"]
    assert np.max(np.abs(got - z - np.where(y > z, y - z, slope * (y - z)))) <= 0.501
    draws = [
        call("leaky_relu_dx_i8", dict(e=e, x=y, c=control(KEY=k)), N=60, z=z, slope=bits(slope), id=2)["dx"]
        for k in range(300)
    ]
    exact = np.where(y > z, e, slope * e)
    assert np.abs(np.array(draws) - exact).max() < 1
    assert np.abs(np.mean(draws, axis=0) - exact).max() < 5 * 0.5 / 300**0.5


def test_activations_float32_are_within_their_bounds():
    rng = np.random.default_rng(17)
    small = 10 ** rng.uniform(-12, 0, 400) * rng.choice((-1, 1), 400)
    x = np.concatenate([rng.normal(size=400) * 5, small, [0, 0.25, -0.25, 100, -100]])
    x = x.astype(np.float32)
    exact = x.astype(np.float64)
    n = len(x)
    y = call("sigmoid_f32", dict(x=x), N=n)["y"]
    np.testing.assert_allclose(y, 1 / (1 + np.exp(-exact)), rtol=4e-7, atol=1e-15)
    got = call("tanh_f32", dict(x=x), N=n)["y"]
    np.testing.assert_allclose(got, np.tanh(exact), rtol=4e-7)
    e = rng.normal(size=n).astype(np.float32)
    y64 = y.astype(np.float64)
    np.testing.assert_allclose(
        call("sigmoid_dx_f32", dict(e=e, y=y), N=n)["dx"], e * y64 * (1 - y64), rtol=3e-7, atol=1e-15
    )
    y64 = got.astype(np.float64)
    np.testing.assert_allclose(call("tanh_dx_f32", dict(e=e, y=got), N=n)["dx"], e * (1 - y64**2), rtol=3e-7, atol=1e-7)
    got = call("relu6_f32", dict(x=x), N=n)["y"]
    assert np.array_equal(got, np.clip(x, 0, 6))
    got = call("leaky_relu_f32", dict(x=x), N=n, slope=bits(0.25))["y"]
    assert np.array_equal(got, np.where(x > 0, x, x * np.float32(0.25)))
    x, e = x[:800].reshape(80, 10), e[:800].reshape(80, 10)
    y = call("softmax_f32", dict(x=x), M=80, N=10)["y"]
    np.testing.assert_allclose(y, softmax(exact[:800].reshape(80, 10)).ravel(), rtol=2e-6, atol=1e-15)
    p = y.reshape(80, 10).astype(np.float64)
    got = call("softmax_dx_f32", dict(e=e, y=y), M=80, N=10)["dx"]
    np.testing.assert_allclose(got, (p * (e - (e * p).sum(axis=1, keepdims=True))).ravel(), rtol=1e-4, atol=1e-7)


# Losses


@pytest.mark.parametrize("scale", (0.01, 0.1, 1.0))
def test_softmax_cross_entropy_int8(scale):
    rng = np.random.default_rng(3)
    x = rng.integers(-127, 128, (6, 10))
    labels = rng.integers(0, 10, 5).astype(np.uint8)
    c = control(COUNT=5, SAMPLES=5, Y_FORMAT=opcodes.UINT8)
    got = call("softmax_xent_i8", dict(x=x, labels=labels, c=c, sx=scale), B=6, N=10, z=0)
    p = softmax(x[:5] * scale)
    e = p - np.eye(10)[labels]
    steps = got["e"].reshape(6, 10)
    assert np.max(np.abs(steps[:5] - 127 * e)) < 0.53 and not steps[5].any()
    assert abs(as_float(got["se"])[0] * 127 * 5 - 1) < 1e-6
    loss = np.minimum(-np.log(p[range(5), labels]), 256 * math.log(2)).sum()
    assert abs(got["c"][opcodes.LOSS] / 65536 - loss) < 1e-3
    assert got["c"][opcodes.CORRECT] == (x[:5].argmax(axis=1) == labels).sum()


def test_softmax_cross_entropy_float32():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(4, 7)).astype(np.float32) * 3
    labels = rng.integers(0, 7, 4).astype(np.int32)
    c = control(COUNT=4, SAMPLES=4, Y_FORMAT=opcodes.INT32)
    got = call("softmax_xent_f32", dict(x=x, labels=labels, c=c), B=4, N=7)
    p = softmax(x.astype(np.float64))
    exact = (p - np.eye(7)[labels]) / 4
    np.testing.assert_allclose(got["e"], exact.ravel(), rtol=1e-5, atol=1e-7)
    loss = as_float(got["c"][opcodes.LOSS])
    np.testing.assert_allclose(loss, -np.log(p[range(4), labels]).sum(), rtol=1e-6)
    assert got["c"][opcodes.CORRECT] == (x.argmax(axis=1) == labels).sum()


def test_mean_squared_error():
    rng = np.random.default_rng(5)
    x = rng.integers(-127, 128, (3, 4))
    target = rng.normal(size=(3, 4)).astype(np.float32)
    c = control(COUNT=3, SAMPLES=3, Y_FORMAT=opcodes.FLOAT32)
    operands = dict(x=x, target=target, c=c, sx=0.02, se=0.03)
    got = call("mse_i8", operands, B=3, N=4, z=7)
    d = (x - 7) * 0.02 - target
    assert np.max(np.abs(got["e"] - np.clip(d / 0.03, -127, 127).ravel())) < 0.52
    assert abs(as_float(got["so"])[0] / (2 * 0.03 / 12) - 1) < 1e-6
    total = (int(got["c"][opcodes.LOSS_HIGH]) << 32) + int(np.uint32(got["c"][opcodes.LOSS]))
    assert abs(total * (0.02 / 256) ** 2 / (d**2).sum() - 1) < 1e-3
    x = x.astype(np.float32) / 50
    got = call("mse_f32", dict(operands, x=x), B=3, N=4)
    np.testing.assert_allclose(got["e"], 2 * (x - target).ravel() / 12, rtol=1e-5, atol=1e-7)
    loss = as_float(got["c"][opcodes.LOSS])
    np.testing.assert_allclose(loss, ((x - target) ** 2).sum(), rtol=1e-5)


@pytest.mark.parametrize("scale", (0.01, 0.1, 1.0))
def test_binary_cross_entropy_int8_is_within_its_bounds(scale):
    rng = np.random.default_rng(18)
    x, z = rng.integers(-128, 128, (40, 5)), 3
    target = np.where(rng.random((40, 5)) < 0.5, rng.random((40, 5)), rng.random((40, 5)) < 0.5)
    target = target.astype(np.float32)
    c = control(COUNT=40, SAMPLES=40, Y_FORMAT=opcodes.FLOAT32)
    got = call("binary_xent_i8", dict(x=x, target=target, c=c, sx=scale), B=40, N=5, z=z)
    v = (x - z) * np.float64(np.float32(scale))
    p = 1 / (1 + np.exp(-v))
    assert np.max(np.abs(got["e"] - 127 * (p - target).ravel())) <= 0.52
    assert abs(as_float(got["se"])[0] * 127 * 200 - 1) < 1e-6
    loss = np.maximum(v, 0) - v * target + np.log1p(np.exp(-np.abs(v)))
    assert abs(got["c"][opcodes.LOSS] / 65536 - loss.sum()) < 1e-3 * loss.sum() + 0.01
    assert got["c"][opcodes.CORRECT] == ((v > 0) == (target > 0.5)).sum()


def test_absolute_and_hubers_differences_int8():
    rng = np.random.default_rng(19)
    x, target = rng.integers(-127, 128, (3, 4)), rng.normal(size=(3, 4)).astype(np.float32)
    c = control(COUNT=3, SAMPLES=3, Y_FORMAT=opcodes.FLOAT32)
    d = ((x - 7) * 0.02 - target).ravel()
    operands = dict(x=x, target=target, c=c, sx=0.02, se=0.01)
    got = call("mae_i8", operands, B=3, N=4, z=7)
    assert np.array_equal(got["e"], 127 * np.sign(d))
    assert abs(got["c"][opcodes.LOSS] * 0.02 / 256 / np.abs(d).sum() - 1) < 1e-3
    got = call("huber_i8", operands, B=3, N=4, z=7, delta=bits(0.5))
    assert np.max(np.abs(got["e"] - np.clip(np.clip(d, -0.5, 0.5) / 0.01, -127, 127))) < 0.52
    total = (int(got["c"][opcodes.LOSS_HIGH]) << 32) + int(np.uint32(got["c"][opcodes.LOSS]))
    loss = np.where(np.abs(d) < 0.5, d * d / 2, 0.5 * (np.abs(d) - 0.25)).sum()
    assert abs(total * (0.02 / 256) ** 2 / 2 / loss - 1) < 2e-3


@pytest.mark.parametrize("w", ([32767, 8000, 20000, 16384], [32767, 32767, 32767, 32767], [32767, 64, 64, 64]))
def test_weighted_cross_entropy_int8_is_within_its_bounds(w):
    rng = np.random.default_rng(20)
    x, labels = rng.integers(-127, 128, (30, 4)), rng.integers(0, 4, 30).astype(np.uint8)
    w, smooth = np.array(w), 0.125
    c = control(COUNT=30, SAMPLES=30, Y_FORMAT=opcodes.UINT8)
    operands = dict(x=x, labels=labels, c=c, sx=0.04, weights=w)
    c[opcodes.KEY] = 1
    draws = [call("weighted_xent_i8", operands, B=30, N=4, smooth=8192, id=i) for i in range(200)]
    got = draws[0]
    p = softmax(x * np.float64(np.float32(0.04)))
    t = w / 32768 * (np.eye(4)[labels] * (1 - smooth) + smooth / 4)
    exact = (p * t.sum(axis=1, keepdims=True) - t).ravel()
    top = np.abs(exact).max() if len(set(w)) > 1 else t.sum(axis=1).max()
    exact *= 127 / top
    assert np.max(np.abs(got["e"] - exact)) < 1.03
    # Rounded at random: the mean of n draws is within 5 deviations, of at most half a step each, of what it should be.
    assert np.max(np.abs(np.mean([draw["e"] for draw in draws], axis=0) - exact)) < 0.03 + 5 * 0.5 / 200**0.5
    total = w[labels].sum() / 32768
    assert abs(as_float(got["se"])[0] * 127 * total / top - 1) < 1e-4
    loss = -(t * np.log(p)).sum() / total * 30
    assert abs(got["c"][opcodes.LOSS] / 65536 - loss) < 1e-3 * loss


# Samples


@pytest.mark.parametrize("dtype", (np.int8, np.uint8, np.int16, np.int32, np.float32, np.uint16))
def test_gathered_samples_mean_what_the_users_data_mean(dtype):
    rng = np.random.default_rng(6)
    high = 65400 if dtype == np.uint16 else 0
    x = rng.integers(high, high + 100, (20, 6)).astype(dtype)
    formats = (np.int8, np.uint8, np.int16, np.int32, np.float32, np.uint16)
    c = control(COUNT=3, POSITION=4, SAMPLES=20, ORDER=99, X_FORMAT=formats.index(dtype))
    c[opcodes.X_SCALE], c[opcodes.X_ZERO] = bits(0.5), 10 + high
    rows = [primitives.order(4 + r, 20, 99) for r in range(3)]
    meaning = x[rows].astype(np.float64)
    if dtype != np.float32:
        meaning = (meaning - 10 - high) * 0.5
    got = call("gather_f32", dict(x=x, c=c), B=4, F=6)["y"].reshape(4, 6)
    np.testing.assert_allclose(got[:3], meaning)
    assert not got[3].any()
    got = call("gather_i8", dict(x=x, c=c, s=0.7), B=4, F=6, z=-20)
    y = got["y"].reshape(4, 6)
    assert (y[3] == -20).all()
    if dtype == np.int8:
        assert np.array_equal(y[:3], x[rows])
    elif dtype == np.uint8:
        assert np.array_equal(y[:3], x[rows].astype(int) - 128)
    else:
        assert np.max(np.abs(y[:3] - np.clip(meaning / 0.7 - 20, -128, 127))) <= 0.501
        assert abs(got["peak"][0] - np.abs(meaning / 0.7).max()) <= 0.501


# Updates


def test_tick_corrects_adams_bias():
    beta1, beta2 = 0.9, 0.999
    h, rate = np.array([0, 77, 1 << 30, 1 << 30]), np.zeros(2, np.int32)
    for t in range(1, 200):
        got = call(
            "tick", dict(h=h, c=control(RATE=0.002)),
            beta1=round(beta1 * 2**30), beta2=round(beta2 * 2**30),
        )  # fmt: skip
        h, rate = got["h"], as_float(got["rate"])
        assert abs(rate[1] / math.sqrt(1 - beta2**t) - 1) < 1e-5
        assert abs(rate[0] / (0.002 * math.sqrt(1 - beta2**t) / (1 - beta1**t)) - 1) < 1e-5
        assert np.uint32(got["c"][opcodes.KEY]) == fixed.hash32(77, t)
    got = call("tick", dict(h=h, c=control(RATE=0.002)), beta1=0, beta2=0)
    assert np.array_equal(as_float(got["rate"]), [np.float32(0.002), 1])


@pytest.mark.parametrize("name", ("adam_i16", "adam_i32", "momentum_i16", "momentum_i32"))
def test_integer_optimizers_follow_their_formulas(name):
    """Directions over 400 steps of noisy gradients whose size changes, against float64."""
    rng = np.random.default_rng(7)
    n, k, scale = 2, 50, 1e-3
    beta1, beta2, mu = 0.9, 0.99, 0.9
    state = {}
    m = v = np.zeros((n, k))
    means = rng.normal(size=(n, k))
    errors, sizes = [], []
    for step in range(400):
        d = rng.normal(size=(n, k)) * 300 + means * 300
        d = np.round(d * (0.02 if step > 200 else 1)).astype(np.int32)
        g = d * scale
        m = beta1 * m + (1 - beta1) * g if "adam" in name else mu * m + g
        v = beta2 * v + (1 - beta2) * g**2
        exact = m / (np.sqrt(v) + 1e-8) if "adam" in name else m
        if not state:
            state = {"ex": [-100] * n} if name.endswith("i16") else {}
        operands = dict(state, d=d, gs=scale, c=control(KEY=step), rate=[bits(1.0), bits(1.0)])
        immediates = dict(N=n, K=k, factor=bits(1.0))
        if name.endswith("i16"):
            immediates["id"] = 3
        if name == "adam_i16":
            immediates.update(
                c1=round((1 - beta1) * 4096),
                r2=round(math.sqrt(beta2) * 65536),
                rc2=round(math.sqrt((1 - beta2) / math.sqrt(beta2)) * 16384),
            )
        elif name == "adam_i32":
            immediates.update(
                b1=bits(beta1),
                c1=bits(1 - beta1),
                b2=bits(beta2),
                c2=bits(1 - beta2),
                eps=bits(1e-8),
            )
        else:
            immediates["mu"] = bits(mu) if name == "momentum_i32" else round(mu * 65536)
        got = call(name, operands, **immediates)
        state = {key: got[key] for key in ("m", "v", "ex") if key in got}
        direction = got["d"].reshape(n, k) * as_float(got["ds"])[:, None]
        errors.append(np.abs(direction - exact).mean())
        sizes.append(np.abs(exact).mean())
    relative = np.array(errors[20:]) / np.array(sizes[20:])
    assert relative.mean() < (0.035 if name.endswith("i16") else 1e-4)


@pytest.mark.parametrize("rate", (1e-3, 1e-6))
def test_adam_int8_moves_weights_as_adam_does_though_a_step_be_a_fraction_of_a_residual(rate):
    """400 steps of noisy gradients from state 0, against float64; bias correction is tick's."""
    rng = np.random.default_rng(9)
    n, k, scale, unit = 2, 200, 1e-3, 0.02 / 256
    beta1, beta2 = 0.9, 0.99
    m = v = exact = np.zeros((n, k))
    means = rng.normal(size=(n, k))
    state = dict(
        w=[0] * n * k, r=[0] * n * k, sw=[bits(0.02)] * n, limited=[0], m=[0] * n * k, v=[0] * n * k, ex=[-100] * n
    )
    sizes = dict(
        N=n, K=k, factor=bits(1.0), id=3, common=0, at=0, R=n, c1=round((1 - beta1) * 4096),
        r2=round(math.sqrt(beta2) * 65536), rc2=round(math.sqrt((1 - beta2) / math.sqrt(beta2)) * 16384),
    )  # fmt: skip
    for step in range(400):
        d = np.round(rng.normal(size=(n, k)) * 300 + means * 300).astype(np.int32)
        m = beta1 * m + (1 - beta1) * d * scale
        v = beta2 * v + (1 - beta2) * (d * scale) ** 2
        exact = exact - rate * m / np.sqrt(v)
        got = call("adam_i8", dict(state, d=d, gs=scale, c=control(KEY=step), rate=rate), **sizes)
        state = {key: got[key] for key in state}
    moved = (256 * state["w"].astype(int) + state["r"]).reshape(n, k) * unit
    travel = np.sqrt((exact**2).mean())
    # A step rounds by less than a unit up or down, at random; the root is up to 6 % too large.
    noise = np.sqrt(min(400 * 0.25, 400 * rate / unit)) * unit
    assert np.sqrt(((moved - exact) ** 2).mean()) < noise + 0.02 * travel
    assert abs((moved * exact).mean() / travel**2 - 0.987) < 0.01 + 3 * noise / travel / np.sqrt(n * k)


def test_apply_int8_is_exact_on_average_and_widens_a_full_row():
    rng = np.random.default_rng(8)
    n, k = 2, 1000
    w = rng.integers(-100, 101, (n, k)).astype(np.int8)
    r = rng.integers(-128, 128, (n, k)).astype(np.int8)
    sw = np.array([0.01, 0.02], np.float32)
    d = rng.integers(-5000, 5000, (n, k))
    operands = dict(w=w, r=r, sw=sw.view(np.int32), d=d, ds=[bits(2e-5)] * n, rate=0.01)
    got = call("apply_i8", dict(operands, c=control(KEY=4)), N=n, K=k, id=1, common=0)

    def weights(w, r, sw):
        return (256.0 * w.reshape(n, k) + r.reshape(n, k)) / 256 * as_float(sw)[:, None]

    change = weights(got["w"], got["r"], got["sw"]) - weights(w, r, sw.view(np.int32))
    unit = as_float(sw.view(np.int32))[:, None] / 256
    error = (change + 0.01 * 2e-5 * d) / unit
    assert np.abs(error).max() <= 1 and abs(error.mean()) < 0.03
    w[0, 5] = 127
    d[0, 5] = -2000000
    before = weights(w, r, sw.view(np.int32))
    for common, scales in ((0, [0.02, 0.02]), (1, [0.02, 0.04])):
        sizes = dict(N=n, K=k, id=1, common=common)
        got = call("apply_i8", dict(operands, w=w, d=d, c=control(KEY=4)), **sizes)
        np.testing.assert_allclose(as_float(got["sw"]), scales, rtol=1e-6)
        after = weights(got["w"], got["r"], got["sw"])
        assert np.delete(np.abs(after + 0.01 * 2e-5 * d - before)[0], 5).max() < 2 * unit[0] * 1.01


def test_apply_int32():
    b = np.array([0, 1 << 20, -5 << 20, 1 << 30])
    got = call("apply_i32", dict(b=b, d=[1000, -1000, 7, -1 << 30], ds=0.001, rate=0.1), N=4)["b"]
    exact = np.clip(b - 0.1 * 0.001 * np.array([1000, -1000, 7, -1 << 30]) * 2**20, -1 << 30, 1 << 30)
    assert np.max(np.abs(got - exact)) < 0.6 + 1e-6 * 2**20


@pytest.mark.parametrize("name", ("adam_f32", "momentum_f32"))
def test_float_optimizers_follow_their_formulas(name):
    rng = np.random.default_rng(9)
    n = 30
    m = v = np.zeros(n)
    state = {}
    for _ in range(50):
        d = rng.normal(size=n).astype(np.float32)
        g = d.astype(np.float64)
        if name == "adam_f32":
            m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
            exact = m / (np.sqrt(v) + 1e-6 * 0.5)
            immediates = dict(b1=0.9, c1=0.1, b2=0.99, c2=0.01, eps=1e-6)
            immediates = {key: bits(value) for key, value in immediates.items()}
        else:
            m = 0.9 * m + g
            exact, immediates = m, {"mu": bits(0.9)}
        got = call(name, dict(state, d=d, rate=[bits(1.0), bits(0.5)]), N=n, **immediates)
        state = {key: got[key] for key in ("m", "v") if key in got}
        np.testing.assert_allclose(got["d"], exact, rtol=2e-5, atol=2e-6)


# Scales


def test_scales_of_a_step():
    sw = np.array([0.001, 0.5, 0.03], np.float32)
    factor, sx, sy = 1.5, 0.02, 0.07
    words = dict(sw=sw.view(np.int32), sx=sx, sy=sy, se=sx, sdx=sy)

    def values(q):
        q = q.reshape(-1, 2).astype(np.float64)
        return q[:, 0] / 2.0 ** q[:, 1]

    got = call("rescale", words, N=3, factor=bits(factor))["q"]
    np.testing.assert_allclose(values(got), factor * sx * sw / sy, rtol=1e-6)
    got = call("ratio", words, factor=bits(factor))["q"]
    np.testing.assert_allclose(values(got), factor * sx / sy, rtol=1e-6)
    got = call("rescale_dx", words, N=3, factor=bits(factor))
    np.testing.assert_allclose(values(got["qc"]), sw / 0.5, rtol=1e-6)
    np.testing.assert_allclose(values(got["q"]), factor * sx * 0.5 / sy, rtol=1e-6)
    got = call("product", dict(a=sx, b=sy), factor=bits(factor))["y"]
    np.testing.assert_allclose(as_float(got), factor * sx * sy, rtol=1e-6)
    b = np.array([1 << 20, -5 << 18, 7])
    got = call("bias_i8", dict(words, b=b), N=3)["y"]
    assert np.max(np.abs(got - b / 2**20 / (sx * sw.astype(np.float64)))) <= 0.51
    got = call("plain_i32", dict(gs=0.25), N=3, factor=bits(factor))["ds"]
    np.testing.assert_allclose(as_float(got), 0.375)


def test_a_range_follows_its_peak_up_at_once_and_down_slowly():
    for peak, fall, fine, factor in (
        (254, 3, 1, 2), (127, 3, 1, 1 - 2**-11), (63, 3, 1, 1 - 2**-11), (62, 3, 1, 1 - 2**-8), (31, 3, 1, 1 - 2**-8),
        (30, 3, 1, 1 - 2**-5), (7, 5, 1, 1 - 2**-7), (6, 3, 1, 1 - 2**-3), (6, 5, 1, 1 - 2**-5), (0, 3, 1, 1),
        (100, 0, 1, 1),
        (100, 16, 1, 1), (100, 3, 0, 1), (31, 3, 0, 1), (30, 3, 0, 1 - 2**-5), (300, 0, 0, 300 / 127),
    ):  # fmt: skip
        got = call("range_i8", dict(s=0.01, peak=[peak]), limit=127, fall=fall, fine=fine)["s"]
        np.testing.assert_allclose(as_float(got), 0.01 * factor, rtol=1e-6, err_msg=repr((peak, fall, fine)))


def test_an_inputs_range_grows_by_a_quarter_at_most_and_notes_the_largest():
    for peak, factor in ((1000, 1.25), (140, 140 / 127), (127, 1), (31, 1), (30, 15 / 16), (6, 7 / 8), (0, 1)):
        got = call("range_x_i8", dict(s=0.01, seen=0.5, peak=[peak]), limit=127)
        np.testing.assert_allclose(as_float(got["s"]), 0.01 * factor, rtol=1e-6, err_msg=repr(peak))
        np.testing.assert_allclose(as_float(got["seen"]), max(0.5, 0.01 * peak), rtol=1e-6)


# Where instructions are

PACKAGE = Path(reference.__file__).parent


def test_every_instruction_has_its_function_in_a_module_of_its_family():
    for family, (_, names) in traits.FAMILIES.items():
        for name in names:
            if name in opcodes.PREFIXES:
                continue
            module = MODULES.split()[ord(BY_NUMBER[opcodes.opcode(name).number - 1]) - 40]
            assert module.split("_")[0] == family, name
            assert callable(getattr(importlib.import_module("odt.reference." + module), name)), name


def test_modules_import_each_other_in_no_circle_and_no_private_names():
    assert circle("odt.reference") == []
    for path in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert not [alias.name for alias in node.names if alias.name.startswith("_")], path


SMALL = """
import sys
import odt
odt.executor.use("reference")
before = set(sys.modules)
model = odt.Sequential([odt.Input((2,)), odt.Dense(3, activation="relu"), odt.Dense(2)])
model.compile(odt.SGD(0.1), dtype=%r, batch_size=2, seed=1)
model.fit([[0, 1], [1, 0]], [0, 1], verbose=0)
print(*sorted([name[14:] for name in sys.modules if name.startswith("odt.reference.") and name not in before]))
"""


@pytest.mark.parametrize(
    "dtype, expected",
    [
        ("int8", "activation_i8 data linear_i8 loss_i8 step step_i8 update_i8"),
        ("float32", "activation_f32 data float32 linear_f32 loss_f32 step step_f32 update_f32"),
    ],
)
def test_a_network_loads_the_modules_of_its_instructions_alone(dtype, expected):
    done = subprocess.run(
        [sys.executable, "-c", SMALL % dtype], capture_output=True, text=True, timeout=60, cwd=PACKAGE.parent.parent
    )
    assert done.stdout.split() == expected.split(), done.stderr
