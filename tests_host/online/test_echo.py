"""odt.online.EchoState: against NumPy in float64, both executors against each other, years of steps, bad input,
checkpoints.
"""

import struct
from array import array

import numpy as np
import pytest
from learners import EXECUTORS, rls, unchanged

import odt
from odt import executor
from odt.online import OSELM, EchoState
from odt.online import echo as module
from odt.reference.rls import _activate
from odt.slots import Bytes


def hashes(seed, first, count):
    """docs/reference/numerics.md's hash in NumPy's integers."""
    weyl = np.arange(first, first + count, dtype=np.uint64) * np.uint64(0x9E3779B9)
    u = (np.uint64(seed) + weyl) & np.uint64(0xFFFFFFFF)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        u = ((u ^ u >> np.uint64(shift)) * np.uint64(factor)) & np.uint64(0xFFFFFFFF)
    return (u ^ u >> np.uint64(16)).astype(np.int64)


def reservoir(inputs, units, connections, seed):
    """The int8 matrices W_in and W, by docs/reference/numerics.md."""
    count = units * (inputs + 1)
    entry = ((hashes(seed, 0, count) >> 24 | 1) - 128).reshape(units, inputs + 1)
    u = hashes(seed, count, units * connections)
    within = np.zeros((units, units))
    rows = np.repeat(np.arange(units), connections)
    np.add.at(within, (rows, (u & 0xFFFF) * units >> 16), (u >> 24 | 1) - 128)
    return entry, within


def radius_of(matrix):
    return abs(np.linalg.eigvals(matrix)).max()


def states(x, model, seed, leak=1.0, input_scale=0.2, activation=np.tanh):
    """Of each step, in float64; the readout's features."""
    entry, within = reservoir(x.shape[1], model.units, model.connections, seed)
    entry, within = entry * (input_scale / 128), within * model.gain
    now, found = np.zeros(model.units), []
    for u in x.astype(float):
        now = (1 - leak) * now + leak * activation(entry @ np.append(u, 1) + within @ now)
        found.append(np.r_[now, u, 1])
    return np.array(found)


def clipped(z):
    return np.clip(z, -1, 1)


def stream(samples, inputs, outputs, seed=0):
    """Targets that need samples of the past."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(samples, inputs)).astype("float32")
    past = np.roll(x, 2, axis=0)
    t = np.sin(np.c_[x, past] @ rng.normal(size=(2 * inputs, outputs))) + 0.1 * rng.normal(size=(samples, outputs))
    return x, t.astype("float32")


def test_tanh_is_oselms_between_whose_values_are_lines():
    table = module._table()
    assert [_activate(1, i << 11) * 32768 for i in range(193)] == list(table[:193])
    z = np.arange(0, 6, 1 / 4096)
    assert np.abs(np.interp(z, np.arange(194) / 32, np.array(table) / 32768) - np.tanh(z)).max() < 1.5e-4


@pytest.mark.parametrize("connections", (2, 4, 8))
@pytest.mark.parametrize("units", (8, 32, 64, 200))
def test_spectral_radius_is_the_one_given(units, connections):
    for seed in range(6):
        model = EchoState(1, units=units, connections=connections, radius=0.8, seed=seed)
        assert radius_of(reservoir(1, units, connections, seed)[1] * model.gain) == pytest.approx(0.8, rel=0.06)


@pytest.mark.parametrize("inputs, units, connections, leak, activation", (
    (1, 32, 4, 1.0, "tanh"), (3, 16, 2, 0.3, "tanh"), (1, 300, 4, 0.05, "clip"), (63, 8, 32, 0.9, "clip"),
    (2, 64, 8, 0.01, "tanh"),
))  # fmt: skip
def test_states_are_those_of_float64(inputs, units, connections, leak, activation):
    x, _ = stream(300, inputs, 1)
    model = EchoState(
        inputs, units=units, connections=connections, leak=leak, activation=activation, seed=7, input_scale=0.2
    )
    expected = states(x, model, 7, leak, 0.2, {"tanh": np.tanh, "clip": clipped}[activation])
    worst = 0
    for row, want in zip(x, expected):
        model.step_one(row)
        worst = max(worst, np.abs(np.array(model.states()) - want[:units]).max())
    assert worst < 2e-3 and np.abs(expected[:, :units]).max() > 0.1
    assert model.seen == 0


@pytest.mark.parametrize("forgetting", (1.0, 0.99))
@pytest.mark.parametrize("inputs, outputs, units", ((1, 1, 16), (3, 2, 32)))
def test_readout_after_1000_steps_is_that_of_float64(inputs, outputs, units, forgetting):
    """Least squares with the model's own states, by the textbook's formula; then with float64's, what is predicted."""
    x, t = stream(1000, inputs, outputs, 1)
    model = EchoState(
        inputs, outputs, units, leak=0.8, input_scale=1, forgetting=forgetting, seed=5, regularization=0.01
    )
    seen = []
    for row, target in zip(x, t):
        model.learn_one(row, target)
        seen.append(np.r_[model.states(), row, 1])
    beta = rls(np.array(seen, dtype=float), t.astype(float), 0.01, forgetting)[1]
    got = np.array(model.weights()).reshape(units + inputs + 1, outputs)
    assert np.abs(got - beta).max() < 1e-4 * np.abs(beta).max()
    assert model.seen == 1000
    h = states(x, model, 5, 0.8, 1)
    expected = h @ rls(h, t.astype(float), 0.01, forgetting)[1]
    again, found = (
        EchoState(inputs, outputs, units, leak=0.8, input_scale=1, forgetting=forgetting, seed=5, regularization=0.01),
        [],
    )
    slots = Bytes(bytearray(1 << 16))
    model.save(slots)
    again.load(slots)
    again.reset()
    for row in x:
        found.append(np.atleast_1d(again.predict_one(row)))
        again.step_one(row)
    assert np.abs(np.array(found) - expected).max() < 0.01


def test_it_learns_what_needs_the_past_and_a_model_without_one_cannot():
    x, _ = stream(1500, 1, 1, 2)
    t = np.roll(x[:, 0], 4)  # the fourth sample before
    errors = {}
    for name, model in (
        ("echo", EchoState(1, units=48, regularization=1e-4, seed=1)),
        ("none", OSELM(1, hidden=48, seed=1)),
    ):
        found = []
        for i in range(1500):
            found.append(model.score_one(x[i], t[i]))
            model.learn_one(x[i], t[i])
        errors[name] = np.mean(found[700:])
    assert errors["echo"] < 0.05 and errors["none"] > 0.9


def test_a_classifier_tells_orders_of_the_same_samples():
    rng = np.random.default_rng(3)
    model, right = EchoState(1, units=40, classes=2, regularization=1e-3, seed=2), 0
    for i in range(300):
        up = int(rng.integers(2))
        for k in range(5):  # a ramp up or down, of the same numbers
            x = [(k if up else 4 - k) / 2 - 1]
            if i >= 200 and k == 4:
                right += model.predict_one(x) == up
                p = model.predict_proba_one(x)
                assert len(p) == 2 and sum(p) == pytest.approx(1)
            model.step_one(x) if k < 4 else model.learn_one(x, up)
        model.reset()
    assert right == 100 and model.seen == 300


def test_what_only_predicts_changes_nothing_and_what_it_computed_is_what_is_learned():
    x, t = stream(50, 2, 1)
    one, other = (EchoState(2, units=8, seed=1, leak=0.5) for _ in range(2))
    for i in range(50):
        before = bytes(other.state)
        other.predict_one(x[(i + 7) % 50])
        other.score_one(x[i], t[i])
        assert bytes(other.state) == before
        other.learn_one(x[i], t[i])
        one.learn_one(x[i].tolist(), float(t[i, 0]))
    assert one.digest() == other.digest() and one.error == other.error
    batch = EchoState(2, units=8, seed=1, leak=0.5).partial_fit(x, t)
    assert batch.digest() == one.digest()


def test_both_executors_compute_the_same_bits():
    pytest.importorskip("_odt")
    x, t = stream(60, 3, 2)
    x[10], x[20], t[30], x[40:] = 0, 1e5 * x[20], 1e-30, x[39]
    found = []
    for name in EXECUTORS:
        executor.use(name)
        try:
            model = EchoState(3, 2, 10, leak=0.7, forgetting=0.98, seed=0xFFFFFFFF)
            model.partial_fit(x, t)
            found.append((bytes(model.state), bytes(model.predict_one(x[0])), model.digest()))
        finally:
            executor.use("native")
    assert found[0] == found[1]


@pytest.mark.parametrize("kind, forgetting", (
    ("excited", 1.0), ("excited", 0.99), ("constant", 0.99), ("zero", 0.99),
))  # fmt: skip
def test_100000_steps_stay_finite(kind, forgetting):
    rng = np.random.default_rng(0)
    model = EchoState(1, units=6, connections=2, forgetting=forgetting, regularization=1e-6, radius=1.2)
    x = {"excited": rng.normal(size=1000), "constant": np.ones(1000),
        "zero": np.zeros(1000)}[kind].astype("float32")  # fmt: skip
    x = [array("f", [value]) for value in x]
    target = array("f", [0.5])
    for i in range(100000):
        model.learn_one(x[i % 1000], target)
        if i % 5000 == 0:
            floats = np.frombuffer(bytes(model.state[64 : len(model.state) - 4 * 6]), "<f4")
            assert np.isfinite(floats).all() and np.abs(floats).max() < 1e9
            assert np.abs(model.states()).max() <= 1
            d = floats[np.cumsum(np.arange(1, model.hidden + 1)) - 1]
            assert (d > 0).all()
    assert model.seen == 100000
    assert abs(model.predict_one(x[0]) - 0.5) < 0.01


# Bad input


@pytest.mark.parametrize("name", EXECUTORS)
def test_bad_samples_are_named_and_nothing_is_learned(name):
    if name == "native":
        pytest.importorskip("_odt")
    before = executor.backend
    executor.use(name)
    try:
        model, twin = (EchoState(3, 2, 4) for _ in range(2))
        for each in (model, twin):
            each.learn_one([1, 2, 3], [0, 1])
        nan, inf = float("nan"), float("inf")
        good = array("f", [1, 2, 3])
        for x, error, text in (
            ([1, nan, 3], ValueError, r"x\[1\]: numbers below 2\^20 are expected, got nan"),
            (np.array([1, 2, -inf], "float32"), ValueError, r"x\[2\]: .* got -inf"),
            ([1 << 20, 2, 3], ValueError, r"x\[0\]"), ([1, 10**400, 3], ValueError, r"x\[1\]"),
            ([1, 2], ValueError, "x: 3 numbers are expected, got 2"),
            (5, TypeError, "x: 3 numbers are expected, got 5"),
            (["1", 2, 3], TypeError, "x: a number is expected, got '1'"), (None, TypeError, "x: 3 numbers"),
        ):  # fmt: skip
            for call in (lambda: model.learn_one(x, [0, 1]), lambda: model.predict_one(x), lambda: model.step_one(x)):
                unchanged(model, call, error, text)
        unchanged(model, lambda: model.learn_one(good, [0, nan]), ValueError, r"y\[1\]")
        unchanged(model, lambda: model.learn_one(good, [0]), ValueError, "y: 2 numbers are expected, got 1")
        unchanged(model, lambda: model.learn_one(good, None), TypeError, "y: 2 numbers")
        unchanged(model, lambda: model.predict_proba_one(good), ValueError, "classes")
        for each in (model, twin):  # and what was refused is not heard of afterwards
            each.learn_one([0.5, -1, 3], [1, 1])
        assert model.digest() == twin.digest()
        labels = EchoState(3, classes=3, units=4)
        for y in (3, -1, 1.0, True, None):
            unchanged(labels, lambda: labels.learn_one(good, y), ValueError, r"y: a label in 0\.\.2 is expected")
    finally:
        executor.use(before)


@pytest.mark.parametrize("options, text", (
    (dict(inputs=0), "EchoState: inputs is in 1..63"), (dict(inputs=64), "inputs"),
    (dict(inputs=1, units=0), "units is in 1..960"),
    (dict(inputs=1, units=961), "units"), (dict(inputs=1, connections=1), "connections is in 2..32, got 1"),
    (dict(inputs=1, connections=33), "connections"), (dict(inputs=1, leak=0), "leak"),
    (dict(inputs=1, leak=1.1), "leak"),
    (dict(inputs=1, radius=5), "radius is in"), (dict(inputs=1, radius=float("nan")), "radius"),
    (dict(inputs=1, input_scale=20), "input_scale"), (dict(inputs=1, activation="relu"),
    'activation is "tanh" or "clip"'),
    (dict(inputs=1, outputs=2, classes=2), "got both"), (dict(inputs=1, forgetting=0.1), "forgetting is in"),
    (dict(inputs=1, regularization=0), "regularization"),
))  # fmt: skip
def test_bad_arguments_are_named(options, text):
    with pytest.raises(ValueError, match=text):
        EchoState(**options)


def test_sizes_of_other_kinds_are_refused():
    for options in (dict(inputs=2.5), dict(inputs=1, units="3"), dict(inputs=1, seed=0.5), dict(inputs=1, units=True)):
        with pytest.raises(TypeError):
            EchoState(**options)


def test_a_reservoir_without_echo_is_refused():
    """Of one unit whose two connections cancel: found by NumPy's own hash."""
    seed = next(s for s in range(100000) if not reservoir(1, 1, 2, s)[1].any())
    with pytest.raises(ValueError, match="no echo"):
        EchoState(1, units=1, connections=2, seed=seed)
    seed = next(s for s in range(100000) if abs(reservoir(1, 1, 32, s)[1]) in (1, 2))
    with pytest.raises(ValueError, match="no echo"):  # nor one that would be multiplied beyond the integers
        EchoState(1, units=1, connections=32, radius=4, seed=seed)


@pytest.mark.parametrize("stop", range(0, 90, 7))
def test_an_interrupt_leaves_the_states_as_they_were(stop):
    class Interrupted(list):
        def __getitem__(self, i):
            if i == stop:
                raise KeyboardInterrupt
            return super().__getitem__(i)

    model, twin = (EchoState(2, units=30, seed=3) for _ in range(2))
    for each in (model, twin):
        each.learn_one([1, 2], 3)
    before, model._entry = bytes(model.state), Interrupted(twin._entry)
    with pytest.raises(KeyboardInterrupt):
        model.learn_one([2, 1], 0)
    assert bytes(model.state) == before
    model._entry = twin._entry
    for each in (model, twin):
        each.learn_one([2, 1], 0)
    assert model.digest() == twin.digest()


# Checkpoints


def make(**options):
    return EchoState(**dict(dict(inputs=2, outputs=2, units=8, forgetting=0.99, leak=0.5), **options))


def test_a_checkpoint_goes_on_as_if_nothing_had_stopped(tmp_path):
    x, t = stream(40, 2, 2)
    model = make().partial_fit(x[:20], t[:20])
    path = tmp_path / "echo.bin"
    model.save(path)
    slots = Bytes(bytearray(4096))
    model.save(slots)
    model.partial_fit(x[20:], t[20:])
    for place in (path, str(path), slots):
        other = make()
        other.predict_one(x[20])  # what was computed of another state does not stay
        other.load(place)
        assert other.seen == 20
        other.partial_fit(x[20:], t[20:])
        assert other.digest() == model.digest()


def test_checkpoints_of_others_and_damaged_ones_change_nothing(tmp_path):
    path = str(tmp_path / "echo.bin")
    make().partial_fit([[1, 2]], [[1, 2]]).save(path)
    others = [make(**change) for change in (
        dict(seed=1), dict(leak=0.6), dict(radius=0.8), dict(connections=5), dict(input_scale=0.3),
        dict(activation="clip"),
        dict(units=9), dict(forgetting=0.9), dict(inputs=1, units=9))]  # fmt: skip
    for other in others + [OSELM(10, 2, None, forgetting=0.99)]:
        unchanged(other, lambda: other.load(path), ValueError, "another kind, size or setting")
    model = make()
    data = open(path, "rb").read()
    rng = np.random.default_rng(6)
    for _ in range(100):
        bad = bytearray(data)
        bad[rng.integers(len(bad))] ^= 1 << rng.integers(8)
        open(path, "wb").write(bad[: rng.integers(len(bad))] if rng.random() < 0.3 else bad)
        unchanged(model, lambda: model.load(path), ValueError, ".")


def test_saving_survives_a_power_cut_at_every_write():
    class Region(bytearray):
        left = None

        def __setitem__(self, key, value):
            if self.left is not None:
                if self.left == 0:
                    raise OSError("the power failed")
                self.left -= 1
            super().__setitem__(key, value)

    model, region = make(), Region(4096)
    model.save(Bytes(region))
    saved = model.digest()
    model.learn_one([1, 2], [3, 4])
    for writes in range(2):
        region.left = writes
        with pytest.raises(OSError):
            model.save(Bytes(region))
        region.left = None
        other = make()
        other.load(Bytes(region))
        assert other.digest() == saved


def test_state_is_as_large_as_the_documents_say():
    for inputs, units, outputs in ((1, 16, 1), (3, 64, 2)):
        n = units + inputs + 1
        model = EchoState(inputs, outputs, units)
        assert len(model.state) == 64 + 2 * n * (n + 1) + 4 * n * outputs + 4 * units
        assert struct.unpack_from("<4I", model.state)[1:] == (units + inputs, n, outputs)
    assert odt.online.EchoState is EchoState


def lorenz(count):
    v, found = np.array([1.0, 1, 1]), []
    for i in range(2 * count + 400):
        x, y, z = v
        v = v + 0.02 * np.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])
        found.append(v[0] / 40)
    return np.array(found[401::2]), np.array(found[403::2])


def narma(count):
    u = np.random.default_rng(3).random(count + 50) / 2
    y = np.zeros(count + 50)
    for t in range(10, count + 49):
        y[t + 1] = 0.3 * y[t] + 0.05 * y[t] * y[t - 9 : t + 1].sum() + 1.5 * u[t - 9] * u[t] + 0.1
    return u[50:], y[50:]


def mackey_glass(count):
    x = [1.2] * 171
    for _ in range(10 * (count + 200)):
        x.append(x[-1] + 0.1 * (0.2 * x[-171] / (1 + x[-171] ** 10) - 0.1 * x[-1]))
    found = np.array(x[2000::10])
    return found[:count], found[6 : count + 6]


@pytest.mark.parametrize("series", (lorenz, narma, mackey_glass))
def test_the_default_regularization_is_as_good_as_the_best(series):
    u, t = series(900)

    def error(**options):
        model, found = EchoState(1, units=48, seed=1, **options), []
        for i in range(850):
            if i < 600:
                model.learn_one([u[i]], float(t[i]))
            else:
                found.append(model.predict_one([u[i]]))
                model.step_one([u[i]])
        return np.sqrt(np.mean((np.array(found) - t[600:850]) ** 2)) / t[600:850].std()

    assert error() < 1.05 * min(error(regularization=least) for least in (1e-4, 1e-6, 1e-9))
