"""odt.online.OSELM and Autoencoder: against NumPy in float64, both executors against each other, hard streams, bad
input.
"""

import struct
import zlib
from array import array

import numpy as np
import pytest
from learners import EXECUTORS, rls, unchanged

import odt
from odt import executor
from odt.files.stored import Stored
from odt.online import OSELM, Autoencoder
from odt.slots import Bytes


@pytest.fixture(params=EXECUTORS)
def backend(request):
    before = executor.backend
    try:
        executor.use(request.param)
    except ImportError:
        pytest.skip("no kernels")
    yield request.param
    executor.use(before)


def random_features(x, hidden, seed=0, activation="tanh", scale=1.0):
    """h of each row, in float64: weights by the hash of docs/reference/numerics.md in NumPy's integers, the rest by its
    functions.
    """
    inputs = x.shape[1]
    u = (np.uint64(seed) + np.arange(hidden * (inputs + 1), dtype=np.uint64) * np.uint64(0x9E3779B9)) & np.uint64(
        0xFFFFFFFF
    )
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        u = ((u ^ u >> np.uint64(shift)) * np.uint64(factor)) & np.uint64(0xFFFFFFFF)
    u ^= u >> np.uint64(16)
    w = ((u >> np.uint64(24)).astype(int) | 1) - 128
    z = np.c_[x, np.ones(len(x))] @ (w.reshape(hidden, inputs + 1).T / 128) * scale * np.sqrt(3 / (inputs + 1))
    return {"tanh": np.tanh, "sigmoid": lambda z: 1 / (1 + np.exp(-z)), "relu": lambda z: np.maximum(z, 0)}[activation](
        z
    )


def triangle(model):
    """P of a model, in float64."""
    n = model.hidden
    floats = np.frombuffer(bytes(model.state[64:]), "<f4")[: n * (n + 1) // 2].astype(float)
    u, d, at = np.eye(n), np.zeros(n), 0
    for j in range(n):
        u[:j, j], d[j] = floats[at : at + j], floats[at + j]
        at += j + 1
    return u @ np.diag(d) @ u.T, d


def weights(model):
    return np.array(model.weights()).reshape(model.hidden, model.outputs)


def stream(rng, samples, inputs, outputs):
    x = rng.normal(size=(samples, inputs)).astype("float32")
    t = np.sin(x @ rng.normal(size=(inputs, outputs))) + 0.1 * rng.normal(size=(samples, outputs))
    return x, t.astype("float32")


@pytest.mark.parametrize("activation, error", (("tanh", 2e-4), ("sigmoid", 2e-4), ("relu", 2e-3)))
@pytest.mark.parametrize("inputs", (1, 7, 700))
def test_features_are_those_of_the_formula(backend, activation, error, inputs):
    x = np.random.default_rng(inputs).normal(size=(4, inputs)).astype("float32")
    x[1] *= 30
    x[2] *= 1e-3
    model = OSELM(inputs, 16, 16, activation=activation, seed=5)
    model.state[64 + 2 * 16 * 17 :] = np.eye(16, dtype="<f4").tobytes()
    got = np.array([model.predict_one(row) for row in x])
    expected = random_features(x.astype(float), 16, 5, activation)
    assert np.abs(got - expected).max() < error * (1 + np.abs(expected).max() * (activation == "relu"))


@pytest.mark.parametrize("forgetting", (1.0, 0.99, 0.9))
@pytest.mark.parametrize("inputs, outputs", ((3, 2), (16, 1), (31, 5)))
def test_weights_after_1000_steps_are_those_of_float64(forgetting, inputs, outputs):
    x, t = stream(np.random.default_rng(inputs), 1000, inputs, outputs)
    model = OSELM(inputs, outputs, hidden=None, forgetting=forgetting).partial_fit(x, t)
    p, beta = rls(np.c_[x, np.ones(1000)].astype(float), t.astype(float), 0.01, forgetting)
    assert np.abs(weights(model) - beta).max() < 1e-4 * np.abs(beta).max()
    assert np.abs(triangle(model)[0] - p).max() < 1e-4 * np.abs(p).max()
    assert model.seen == 1000


@pytest.mark.parametrize("activation", ("tanh", "sigmoid", "relu"))
def test_weights_of_hidden_features_are_those_of_ridge_regression(activation):
    """Without forgetting the end is that of all samples at once, whatever their order: scikit-learn's, say."""
    x, t = stream(np.random.default_rng(1), 1000, 6, 2)
    model = OSELM(6, 2, 32, activation, regularization=0.1, seed=3)
    model.partial_fit(x, t)
    probe = OSELM(6, 32, 32, activation, seed=3)
    probe.state[64 + 2 * 32 * 33 :] = np.eye(32, dtype="<f4").tobytes()
    h = np.array([probe.predict_one(row) for row in x], dtype=float)
    assert np.abs(h - random_features(x.astype(float), 32, 3, activation)).max() < 2e-3
    beta = np.linalg.solve(h.T @ h + 0.1 * np.eye(32), h.T @ t.astype(float))
    assert np.abs(weights(model) - beta).max() < 1e-4 * np.abs(beta).max()


@pytest.mark.parametrize("forgetting", (1.0, 0.98))
@pytest.mark.parametrize("inputs, hidden, outputs, activation", (
    (1, 1, 1, "tanh"), (5, 7, 3, "sigmoid"), (3, None, 2, "tanh"), (9, 4, 9, "relu"),
))  # fmt: skip
def test_both_executors_compute_the_same_bits(inputs, hidden, outputs, activation, forgetting):
    pytest.importorskip("_odt")
    rng = np.random.default_rng(2)
    x, t = stream(rng, 60, inputs, outputs)
    x[10], x[20], t[30], x[40:] = 0, 1e5 * x[20], 1e-30, x[39]
    found = []
    for name in EXECUTORS:
        executor.use(name)
        try:
            model = OSELM(inputs, outputs, hidden, activation, forgetting=forgetting, seed=0xFFFFFFFF)
            errors = []
            for i in range(60):
                model.learn_one(x[i], t[i])
                errors.append(struct.pack("<f", model.error))
            out = array("f", bytes(4 * outputs))
            found.append((bytes(model.state), errors, bytes(model.predict_one(x[3], out)), model.digest()))
        finally:
            executor.use("native")
    assert found[0] == found[1]
    assert found[0][3] == zlib.crc32(found[0][0])


def positive(model, x):
    """P is positive definite, all is finite."""
    floats = np.frombuffer(bytes(model.state[64:]), "<f4")
    p, d = triangle(model)
    out = np.array([model.predict_one(row) for row in x])
    return np.isfinite(floats).all() and (d > 0).all() and np.isfinite(out).all() and np.isfinite(p).all()


HARD = {
    "excited": lambda rng, n: rng.normal(size=(n, 4)),
    "constant": lambda rng, n: np.ones((n, 4)),
    "zero": lambda rng, n: np.zeros((n, 4)),
    "one input of four": lambda rng, n: rng.normal(size=(n, 4)) * [1, 0, 0, 0],
    "large": lambda rng, n: 1e5 * rng.normal(size=(n, 4)),
    "bursts": lambda rng, n: rng.normal(size=(n, 4)) * (np.arange(n) % 1000 < 10)[:, None],
}


@pytest.mark.parametrize("hidden", (None, 8))
@pytest.mark.parametrize("forgetting", (1.0, 0.99, 0.5))
@pytest.mark.parametrize("kind", HARD)
def test_p_stays_positive_definite_and_bounded(kind, forgetting, hidden):
    """bench/costs/online.py takes 10^7 steps of each."""
    rng = np.random.default_rng(3)
    x = HARD[kind](rng, 3000).astype("float32")
    model = OSELM(4, 1, hidden, forgetting=forgetting)
    start = np.trace(triangle(model)[0])
    for _ in range(3):
        model.partial_fit(x, (x[:, :1] > 0).astype("float32"))
        assert positive(model, x[:50])
        assert np.trace(triangle(model)[0]) <= 64.1 * start


def test_forgetting_follows_a_change_that_a_model_without_it_averages():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(3000, 3)).astype("float32")
    first, second = x @ [1, -2, 3], x @ [-3, 1, 1]
    y = np.r_[first[:2000], second[2000:]].astype("float32")[:, None]
    errors = {}
    for forgetting in (1.0, 0.95):
        model = OSELM(3, hidden=None, forgetting=forgetting).partial_fit(x, y)
        errors[forgetting] = np.abs(weights(model)[:3, 0] - [-3, 1, 1]).max()
    assert errors[0.95] < 0.01 and errors[1.0] > 1


def digits():
    from sklearn.datasets import load_digits

    data = load_digits()
    return (data.data / 8 - 1).astype("float32"), data.target


def test_classifier_learns_digits_in_one_pass_as_ridge_regression_does():
    x, y = digits()
    model = OSELM(64, classes=10, hidden=96, regularization=1.0, seed=1)
    model.partial_fit(x[:1200], y[:1200])
    h = random_features(x.astype(float), 96, 1)
    beta = np.linalg.solve(h[:1200].T @ h[:1200] + np.eye(96), h[:1200].T @ np.eye(10)[y[:1200]])
    expected = (h[1200:] @ beta).argmax(1)
    got = np.array([model.predict_one(row) for row in x[1200:]])
    assert (got == expected).mean() > 0.99 and (got == y[1200:]).mean() > 0.85
    p = model.predict_proba_one(x[1200])
    assert len(p) == 10 and abs(sum(p) - 1) < 1e-6 and p.index(max(p)) == got[0]
    assert list(OSELM(64, classes=4).predict_proba_one(x[0])) == [0.25] * 4


def test_autoencoder_scores_a_digit_it_never_saw_above_those_it_learned():
    x, y = digits()
    model = Autoencoder(64, hidden=24, seed=2).partial_fit(x[:1200][y[:1200] == 1])
    scores = np.array([model.score_one(row) for row in x[1200:]])
    ours = y[1200:] == 1
    assert np.median(scores[ours]) * 2 < np.median(scores[~ours])
    assert np.mean(scores[~ours] > np.quantile(scores[ours], 0.9)) > 0.9


def test_one_class_only_and_a_label_never_seen():
    model = OSELM(3, classes=4, hidden=6)
    rng = np.random.default_rng(0)
    for _ in range(50):
        model.learn_one(rng.normal(size=3), 2)
    assert model.predict_one([0.1, 0.2, 0.3]) == 2
    assert list(model.predict_proba_one([0.1, 0.2, 0.3]))[:2] == [0, 0]


# Bad input


def test_bad_samples_are_named_and_nothing_is_learned(backend):
    model = OSELM(3, 2, hidden=4)
    model.learn_one([1, 2, 3], [0, 1])
    nan, inf = float("nan"), float("inf")
    good = array("f", [1, 2, 3])
    for x, error, text in (
        ([1, nan, 3], ValueError, r"x\[1\]: numbers below 2\^20 are expected, got nan"),
        (np.array([1, 2, -inf], "float32"), ValueError, r"x\[2\]: .* got -inf"),
        ([1 << 20, 2, 3], ValueError, r"x\[0\]"), ([1, 10**400, 3], ValueError, r"x\[1\]"),
        ([1, 2], ValueError, "x: 3 numbers are expected, got 2"), (5, TypeError, "x: 3 numbers are expected, got 5"),
        (["1", 2, 3], TypeError, "x: a number is expected, got '1'"), (None, TypeError, "x: 3 numbers"),
        (array("f", [1, 2, 3, 4]), ValueError, "x: 3 numbers are expected, got 4"),
    ):  # fmt: skip
        unchanged(model, lambda: model.learn_one(x, [0, 1]), error, text)
        unchanged(model, lambda: model.predict_one(x), error, text)
    unchanged(model, lambda: model.learn_one(good, [0, nan]), ValueError, r"y\[1\]")
    unchanged(model, lambda: model.learn_one(good, [0]), ValueError, "y: 2 numbers are expected, got 1")
    unchanged(model, lambda: model.learn_one(good, 1), TypeError, "y: 2 numbers")
    unchanged(model, lambda: model.predict_proba_one(good), ValueError, "classes")
    unchanged(model, lambda: model.predict_one(good, array("f", [0])), ValueError, "out: 2 numbers")
    model = OSELM(3, classes=3, hidden=4)
    for y in (3, -1, 1.0, True, None, "a"):
        unchanged(model, lambda: model.learn_one(good, y), ValueError, r"y: a label in 0\.\.2 is expected")
    unchanged(model, lambda: model.partial_fit([good], []), ValueError, "1 samples and 0 targets")
    unchanged(Autoencoder(3), lambda: Autoencoder(3).learn_one([1, 2]), ValueError, "x: 3 numbers")


@pytest.mark.parametrize("options, text", (
    (dict(inputs=0), "inputs is in 1..4096"), (dict(inputs=5000), "inputs"),
    (dict(inputs=3, hidden=0), "hidden is in 1..1024"),
    (dict(inputs=3, outputs=2, classes=2), "got both"), (dict(inputs=3, activation="gelu"), "activation"),
    (dict(inputs=3, forgetting=0.4), "forgetting is in 0.5..1, got 0.4"),
    (dict(inputs=3, forgetting=1.01), "forgetting"),
    (dict(inputs=3, forgetting=float("nan")), "forgetting"), (dict(inputs=3, regularization=0), "regularization"),
    (dict(inputs=3, regularization=1e20), "regularization"), (dict(inputs=3, scale=-1),
    "scale is a positive number, got -1"),
    (dict(inputs=2000, hidden=None), "inputs is in 1..1024"),
))  # fmt: skip
def test_bad_arguments_are_named(options, text):
    with pytest.raises(ValueError, match=text):
        OSELM(**options)


def test_sizes_of_other_kinds_are_refused():
    for options in (dict(inputs=2.5), dict(inputs="3"), dict(inputs=3, hidden=True), dict(inputs=3, seed=0.5)):
        with pytest.raises(TypeError):
            OSELM(**options)


def test_counter_stays_at_its_limit(backend):
    model = OSELM(2, hidden=3)
    for low, high, after in (
        (0xFFFFFFFF, 0, 1 << 32),
        (0xFFFFFFFE, 0xFFFFFFFF, (1 << 64) - 1),
        (0xFFFFFFFF, 0xFFFFFFFF, (1 << 64) - 1),
    ):
        struct.pack_into("<2I", model.state, 44, low, high)
        model.learn_one([1, 2], 3)
        assert model.seen == after


@pytest.mark.parametrize("at", range(0, 44, 4))
def test_a_damaged_header_is_refused_or_harmless(backend, at):
    """Users may write into the state: whatever they write, nothing outside of it is read or written."""
    for word in (0, 1, 2, 3, 5, 255, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FC00000):
        model = OSELM(3, hidden=5)
        struct.pack_into("<I", model.state, at, word)
        try:
            model.learn_one([1, 2, 3], 1)
        except ValueError as error:
            assert "damaged" in str(error) or "expected" in str(error)


def test_what_the_entry_point_is_given_is_checked():
    native = pytest.importorskip("_odt")
    model = OSELM(3, hidden=5)
    work, x = bytearray(200), array("f", [1, 2, 3])
    state = bytearray(model.state)
    assert native.rls(state, work, x, None, False) == 0
    for bad in (bytearray(), state[:-4], state + bytes(4), bytearray(64)):
        assert native.rls(bad, work, x, None, False) == 5
    assert native.rls(state, bytearray(8), x, None, False) == 5
    assert native.rls(memoryview(bytearray(b" " + state))[1:], work, x, None, False) == 5
    for bad in (None, 5, [1, 2, 3], array("d", [1, 2, 3]), array("f", [1, 2]), b"", array("f")):
        assert native.rls(state, work, bad, None, False) == 1
    for bad in (array("f"), 5, array("i", [1])):
        assert native.rls(state, work, x, bad, True) == 2
    assert native.rls(state, work, x, None, True) == 2
    strided = np.ones((3, 2), "float32")[:, 0]
    assert native.rls(state, work, strided, None, False) == 1
    model.predict_one(strided)
    for args in ((bytes(state), work, x, None, 0), (5, work, x, None, 0), (state, work, x, None)):
        with pytest.raises((TypeError, BufferError)):
            native.rls(*args)


def test_an_interrupt_within_a_step_in_python_leaves_the_state_as_it_was():
    from odt.reference import rls as module

    executor.use("reference")
    try:
        model = OSELM(3, hidden=5)
        model.learn_one([1, 2, 3], 1)
        before, calls, real = bytes(model.state), [0], module.keep

        def interrupted(x):
            calls[0] += 1
            if calls[0] == stop:
                raise KeyboardInterrupt
            return real(x)

        module.keep = interrupted
        try:
            for stop in range(1, 10000, 7):
                calls[0] = 0
                try:
                    model.learn_one([3, 2, 1], 0)
                    break
                except KeyboardInterrupt:
                    assert bytes(model.state) == before
        finally:
            module.keep = real
        assert stop > 50 and model.seen == 2
    finally:
        executor.use("native")


# Checkpoints


def test_a_checkpoint_goes_on_as_if_nothing_had_stopped(tmp_path):
    rng = np.random.default_rng(5)
    x, t = stream(rng, 40, 4, 2)
    model = OSELM(4, 2, 8, forgetting=0.99).partial_fit(x[:20], t[:20])
    path = tmp_path / "elm.bin"
    model.save(path)
    slots = Bytes(bytearray(4096))
    model.save(slots)
    model.partial_fit(x[20:], t[20:])
    for place in (path, str(path), slots):
        other = OSELM(4, 2, 8, forgetting=0.99)
        other.load(place)
        assert other.seen == 20
        other.partial_fit(x[20:], t[20:])
        assert other.digest() == model.digest()


def test_checkpoints_of_others_and_damaged_ones_change_nothing(tmp_path):
    path = str(tmp_path / "elm.bin")
    OSELM(4, 2, 8).partial_fit([[1, 2, 3, 4]], [[1, 2]]).save(path)
    for other in (OSELM(4, 2, 9), OSELM(4, 2, 8, seed=1), OSELM(4, 2, 8, "relu"), OSELM(4, 2, 8, forgetting=0.9)):
        unchanged(other, lambda: other.load(path), ValueError, "another kind, size or setting")
    network = odt.Sequential([odt.Input((4,)), odt.Dense(2)])
    network.compile(odt.SGD(0.1), batch_size=2)
    with pytest.raises(ValueError, match="another network"):
        network.load(path)
    network.save(str(tmp_path / "network.bin"))
    model = OSELM(4, 2, 8)
    unchanged(model, lambda: model.load(str(tmp_path / "network.bin")), ValueError, "another kind")
    unchanged(model, lambda: model.load(str(tmp_path / "none.bin")), OSError, "none.bin")
    data = open(path, "rb").read()
    rng = np.random.default_rng(6)
    for _ in range(300):
        bad = bytearray(data)
        bad[rng.integers(len(bad))] ^= 1 << rng.integers(8)
        open(path, "wb").write(bad[: rng.integers(len(bad))] if rng.random() < 0.3 else bad)
        unchanged(model, lambda: model.load(path), ValueError, ".")
    open(path, "wb").write(data + b"\0")
    unchanged(model, lambda: model.load(path), ValueError, "damaged: longer than %d bytes" % len(data))


def test_saving_survives_a_power_cut_at_every_write():
    class Region(bytearray):
        left = None

        def __setitem__(self, key, value):
            if self.left is not None:
                if self.left == 0:
                    raise OSError("the power failed")
                self.left -= 1
            super().__setitem__(key, value)

    model = OSELM(2, 1, 8)
    region = Region(2048)
    model.save(Bytes(region))
    saved = model.digest()
    model.learn_one([1, 2], 3)
    for writes in range(2):
        region.left = writes
        with pytest.raises(OSError):
            model.save(Bytes(region))
        region.left = None
        other = OSELM(2, 1, 8)
        other.load(Bytes(region))
        assert other.digest() == saved


def test_import_odt_loads_nothing_of_it():
    import subprocess
    import sys

    script = "import odt, sys; print([n for n in sys.modules if 'online' in n or n.endswith('rls')])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout.strip() == "[]"
    assert issubclass(Autoencoder, Stored)
    with pytest.raises(AttributeError, match="no attribute 'Missing'"):
        odt.online.Missing  # noqa: B018
