"""Rounding of 4-bit weights (odt/host/rows/gptq.py), against the paper's: NumPy's Cholesky factors of the inverse."""

import numpy as np
import pytest

import odt
from odt.adapt import update
from odt.files import frozen
from odt.host.rows import gptq
from odt.host.four_bits import _One
from odt.plan import linear


def by_the_paper(row, step, windows):
    """Frantar et al., 2022, in the order of falling squares."""
    products = windows.T @ windows
    products = products + np.eye(len(row)) * (0.01 * np.mean(np.diag(products)) + 1e-9)
    order = np.lexsort((np.arange(len(row)), np.diag(windows.T @ windows)))[::-1]
    upper = np.linalg.cholesky(np.linalg.inv(products[np.ix_(order, order)])).T
    left, out = row[order].copy(), np.zeros(len(row), int)
    for i in range(len(row)):
        out[order[i]] = np.clip(np.rint(left[i] / step), -7, 7)
        left[i:] -= (left[i] - out[order[i]] * step) / upper[i, i] * upper[i, i:]
    return out


@pytest.mark.parametrize("count, width", ((300, 9), (60, 27), (20, 40)))
def test_rows_round_as_the_paper_has_it_and_lose_less_than_to_the_nearest(count, width):
    rng = np.random.default_rng(width)
    mixed = rng.integers(-9, 10, (width, width))
    windows = rng.integers(-20, 21, (count, width)) @ mixed // 20
    factors = gptq._factors(windows.tolist())
    lost = []
    for _ in range(20):
        row, step = rng.normal(size=width), 0.4
        error, ours = gptq.rounded(row.tolist(), step, 7, factors)
        assert ours == by_the_paper(row, step, windows).tolist()
        nearest = np.clip(np.rint(row / step), -7, 7)
        products = windows.T @ windows + np.eye(width) * 0.01 * np.mean(np.sum(windows**2, 0))
        left = row - np.array(ours) * step
        np.testing.assert_allclose(error, left @ products @ left, rtol=1e-6)
        best = min([gptq.rounded(row.tolist(), step * by, 7, factors)[0] for by in gptq._NEAR])
        near, steps = gptq.fitted(row.tolist(), step, 7, factors)
        assert gptq.rounded(row.tolist(), near, 7, factors) == (pytest.approx(best, rel=1e-5), steps)
        lost.append([np.sum((windows @ (row - each * step)) ** 2) for each in (np.array(ours), nearest)])
    assert np.mean(lost, 0)[0] < 0.8 * np.mean(lost, 0)[1]


def test_a_longer_row_is_rounded_in_parts(monkeypatch):
    rng = np.random.default_rng(1)
    windows, row = rng.integers(-9, 10, (50, 21)), rng.normal(size=21)
    monkeypatch.setattr(gptq, "_MOST", 8)
    _, ours = gptq.rounded(row.tolist(), 0.3, 7, gptq._factors(windows.tolist()))
    parts = [by_the_paper(row[at : at + 8], 0.3, windows[:, at : at + 8]) for at in (0, 8, 16)]
    assert ours == np.concatenate(parts).tolist()


def test_windows_are_what_the_weights_of_a_row_meet():
    model = odt.Sequential([
        odt.Input((5, 6, 2)), odt.Conv2D(3, 3, strides=2, padding="same", name="first"),
        odt.DepthwiseConv2D(3, name="deep"), odt.Flatten(), odt.Dense(4, name="last"),
    ])  # fmt: skip
    rng = np.random.default_rng(2)
    for node in model.nodes[1:]:
        if node.layer.kind not in ("conv2d", "depthwise2d", "dense"):
            continue
        shape = node.inputs[0].shape
        image = rng.integers(-9, 10, shape)
        windows = gptq.Windows(node, linear.sizes(_One, node), 1)
        windows.add(image.ravel().tolist())
        found = [np.array(part) for part in windows.found]
        if node.layer.kind == "dense":
            assert found[0].tolist() == [image.ravel().tolist()]
            continue
        # each output of kernels of ones is the sum of a window
        high = found[0].sum(1) if node.layer.kind == "conv2d" else np.stack([part.sum(1) for part in found], 1).sum(1)
        padded = np.pad(image, ((1, 1), (0, 1), (0, 0))) if node.layer.name == "first" else image
        stride = 2 if node.layer.name == "first" else 1
        rows, columns = [range(0, size - 2, stride) for size in padded.shape[:2]]
        sums = [padded[h : h + 3, w : w + 3].sum() for h in rows for w in columns]
        assert sorted(high.tolist()) == sorted(sums)


def test_outputs_of_a_packed_model_change_less_with_samples():
    rng = np.random.default_rng(3)
    x = (rng.normal(size=(200, 6)) @ rng.normal(size=(6, 24))).astype("float32")
    y = rng.integers(0, 4, 200).astype("uint8")

    def compiled(**options):
        model = odt.Sequential([odt.Input((24,)), odt.Dense(32, "relu"), odt.Dense(4, name="last")])
        update.last(model)
        model.compile(odt.Adam(0.01), batch_size=20, seed=1, **options)
        return model

    model = compiled()
    model.calibrate(x, y)
    whole, lost = np.array(model.predict(x)), []
    for samples in (None, x[:100]):
        four = compiled(frozen=frozen.pack(model, bits=4, x=samples))
        four.set_weights(model.get_weights())
        four.calibrate(x, y)
        lost.append(np.mean((np.array(four.predict(x)) - whole) ** 2))
    assert lost[1] < 0.7 * lost[0]
    assert frozen.pack(model, bits=4, x=x[:100]) == frozen.pack(model, bits=4, x=x[:100])
