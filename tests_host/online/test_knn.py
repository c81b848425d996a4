"""odt.online.KNN's kernel, in C and in Python: labels are NumPy's and scikit-learn's, damaged states are refused."""

import struct
from array import array

import numpy as np
import pytest
from learners import EXECUTORS

from odt import executor
from odt.online import KNN
from odt.reference.knn import knn as in_python

_odt = pytest.importorskip("_odt")
if not hasattr(_odt, "knn"):
    pytest.skip("this _odt is older than the kernel", allow_module_level=True)
KERNELS = pytest.mark.parametrize("kernel", (_odt.knn, in_python), ids=EXECUTORS)
NONE, X_FORM, X_VALUE, DAMAGED = -1, -2, -3, -4


def drawn(seed, count, inputs, labels, most=32767):
    """Samples of int16 and their labels; each value comes several times, so that distances are equal."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-most - 1, most + 1, (count, inputs)) // (1 + most // 3) * (1 + most // 3)
    return np.clip(x, -32768, 32767), rng.integers(0, labels, count)


def kept(x, y, k, squares, condense=0, point=0, places=None):
    """The state of a model that keeps these samples."""
    count, inputs = x.shape
    words = (0x3154444E, 2, inputs, point, places or count, k, squares, condense, 0, 0, 0, count, 0, 0, 0, 0)
    samples = [struct.pack("<i%dh" % inputs, int(label), *row.tolist()) for row, label in zip(x, y)]
    return bytearray(struct.pack("<16I", *words) + b"".join(samples))


def scratch(inputs, k):
    return array("i", bytes(4 * (1 + (inputs + 1) // 2 + 3 * k)))


@KERNELS
@pytest.mark.parametrize("squares", (0, 1))
@pytest.mark.parametrize("count, inputs, labels, k", (
    (1, 1, 1, 1), (7, 3, 2, 7), (64, 8, 5, 1), (64, 8, 5, 3), (90, 13, 4, 40), (40, 64, 2**31 - 1, 2), (300, 2, 3, 300),
))  # fmt: skip
def test_the_label_is_the_one_that_most_of_the_nearest_have(kernel, count, inputs, labels, k, squares):
    x, y = drawn(count, count + 12, inputs, labels)
    x, y, asked = x[:count], y[:count], x[count:]
    state, work = kept(x, y, k, squares), scratch(inputs, k)
    before = bytes(state)
    for row in asked:
        gap = x - row
        order = np.argsort((gap**2 if squares else np.abs(gap)).sum(1), kind="stable")[:k]
        values, counts = np.unique(y[order], return_counts=True)
        assert kernel(state, work, array("h", row.tolist())) == values[np.argmax(counts)]
        assert work[0] == order[0] and kernel(state, work, None) == values[np.argmax(counts)]
    assert bytes(state) == before


@KERNELS
@pytest.mark.parametrize("inputs, squares", ((1, 1), (65536, 1), (65536, 0)))
def test_the_largest_distances_are_exact(kernel, inputs, squares):
    """The second sample is nearer by one unit of one input."""
    row = np.full(inputs, 32767)
    x = np.stack([-row - 1, -row - 1])
    x[1, -1] += 1
    assert kernel(kept(x, [3, 4], 1, squares), scratch(inputs, 1), array("h", row.tolist())) == 4


@KERNELS
@pytest.mark.parametrize("point", (0, 1, 8, 15))
def test_float32_becomes_the_nearest_unit_half_up(kernel, point):
    rng = np.random.default_rng(point)
    units = np.concatenate([rng.uniform(-40000, 40000, 4000), rng.integers(-40000, 40000, 4000) + 0.5, [-0.5, 0.5, 0]])
    x = np.concatenate([units / 2**point, [1e-40, -1e-40, 1048575.9, -1048575.9, 0.49999997, -0.5000001, -0.0]])
    x = x.astype("float32")
    x = x[np.abs(x) < 2**20]
    work = scratch(len(x), 1)
    assert kernel(kept(np.zeros((1, len(x)), int), [9], 1, 1, point=point), work, x) == 9
    found = np.frombuffer(work, "<i2")[2 : 2 + len(x)]
    assert found.tolist() == np.clip(np.floor(x.astype(float) * 2**point + 0.5), -32768, 32767).tolist()


@KERNELS
def test_int16_is_shifted_and_limited(kernel):
    x = np.array([0, 1, -1, 127, 128, -128, -129, 32767, -32768], "int16")
    work = scratch(len(x), 1)
    assert kernel(kept(np.zeros((1, len(x)), int), [9], 1, 1, point=8), work, x) == 9
    found = np.frombuffer(work, "<i2")[2 : 2 + len(x)]
    assert found.tolist() == np.clip(x.astype(int) * 256, -32768, 32767).tolist()


@KERNELS
def test_what_it_is_given_is_checked(kernel):
    x, y = drawn(1, 5, 3, 2)
    state, work, row = kept(x, y, 2, 1), scratch(3, 2), array("f", (1, 2, 3))
    assert (
        kernel(state, work, row) in (0, 1)
        and kernel(kept(x[:0], [], 1, 1, places=1)[:64] + bytes(10), work, row) == NONE
    )
    for bad in (bytearray(), state[:-2], state + bytes(10), state[:64]):
        assert kernel(bad, work, row) == DAMAGED
    assert kernel(state, array("i", bytes(len(work) * 4 - 4)), row) == DAMAGED
    for bad in (
        5,
        [1, 2, 3],
        array("d", (1, 2, 3)),
        row[:2],
        array("h", (1,) * 6),
        b"",
        np.ones((3, 2), "float32")[:, 0],
    ):
        if not (kernel is in_python and isinstance(bad, np.ndarray)):  # which may have gaps there
            assert kernel(state, work, bad) == X_FORM
    assert kernel(state, work, np.array(row)[None]) == X_FORM
    for bad in (float("nan"), float("inf"), 2**20, -(2**20)):
        assert kernel(state, work, array("f", (1, bad, 3))) == X_VALUE
    for place, word in (
        (0, 1),
        (1, 1),
        (2, 0),
        (2, 4),
        (2, 65537),
        (3, 16),
        (4, 4),
        (4, 6),
        (5, 0),
        (5, 6),
        (4, 2**32 - 1),
    ):
        bad = bytearray(state)
        struct.pack_into("<I", bad, 4 * place, word)
        assert kernel(bad, work, row) == DAMAGED
    struct.pack_into("<I", state, 44, 2**32 - 1)  # more than there are places: all of them
    assert kernel(state, work, row) in (0, 1)


def test_no_odd_address_is_read():
    x, y = drawn(1, 5, 3, 2)
    state = kept(x, y, 1, 1)
    shifted = memoryview(bytearray(b" ") + state)[1:]
    assert _odt.knn(shifted, scratch(3, 1), None) == DAMAGED
    row = np.frombuffer(b" " + struct.pack("<3f", 1, 2, 3), "u1")[1:].view("<f4")
    assert _odt.knn(state, scratch(3, 1), row) == X_FORM


@pytest.mark.parametrize("condense", (False, True))
@pytest.mark.parametrize("k", (1, 4))
def test_a_model_learns_and_predicts_the_same_on_both_executors(k, condense):
    rng = np.random.default_rng(k)
    x, y = rng.normal(size=(150, 5)).astype("float32"), rng.integers(0, 3, 150).tolist()
    found = []
    for name in EXECUTORS:
        executor.use(name)
        model = KNN(5, 20, k, condense, metric="l1")
        labels = []
        for row, label in zip(x, y):
            labels.append([model.predict_one(each) for each in (row, row.tolist(), array("f", row), row[None])])
            model.learn_one(row, label)
        found.append((labels, bytes(model.state)))
        assert all(len(set(each)) == 1 for each in labels)
    executor.use("native")
    assert found[0] == found[1] and len({each[0] for each in found[0][0]}) > 2


def test_a_damaged_state_is_named():
    model = KNN(2, 4)
    model.learn_one([1, 2], 3)
    model.state[8] = 9
    with pytest.raises(ValueError, match="state: it is damaged"):
        model.predict_one([1, 2])
