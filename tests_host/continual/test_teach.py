"""odt.continual.teach: what is kept, what is learned of it and how sure it is, against NumPy and PyTorch; forgetting,
checkpoints, bad input.
"""

import functools
import struct

import numpy as np
import pytest
import torch
from checkout import ROOT

import odt
from odt.continual import teach
from odt.slots import Bytes

DATA = (ROOT / "examples/digits/digits.bin").read_bytes()
X = np.frombuffer(DATA[: 1797 * 64], "uint8").reshape(-1, 8, 8, 1)
Y = np.frombuffer(DATA[1797 * 64 :], "uint8")
NEW = 3, 7
KNOWN = np.flatnonzero(~np.isin(Y[:1000], NEW))


@functools.cache
def small(dtype="int8", seed=1, epochs=3, last="relu"):
    """A trained network of 5 inputs whose last layer reads 7 numbers; some samples, and their labels."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 60)
    x = (rng.normal(size=(60, 5)) + 2 * np.eye(3, 5)[y]).astype("float32")
    model = odt.Sequential([odt.Input((5,)), odt.Dense(6, "relu"), odt.Dense(7, last), odt.Dense(3)])
    model.compile(odt.Adam(0.02), dtype=dtype, batch_size=8, seed=seed)
    model.fit(x, y.astype("uint8"), epochs=epochs, verbose=0)
    return model, x, y


@functools.cache
def front_of(dtype):
    return teach.front(small(dtype)[0])


def taught(dtype="int8", count=9, front=None, **options):
    _, x, y = small(dtype)
    options = {"classes": 4, "budget": 4 * 7 * 5, "steps": 40, **options}
    teacher = teach.Teacher(front or front_of(dtype), **options)
    for i in range(count):
        teacher.learn(x[i], "abc"[y[i]])
    return teacher, x, y


def blocks(teacher):
    """What is kept: (classes, samples, numbers)."""
    shape = teacher.classes, teacher.each, teacher.width
    return np.frombuffer(bytes(teacher.state), "int8")[-shape[0] * shape[1] * shape[2] :].reshape(shape)


def head(teacher):
    return vars(teacher)["_head"]


@pytest.fixture(scope="module")
def digits():
    """By dtype a network that reads eight of the digits."""
    found = {}
    for dtype in ("int8", "float32"):
        model = odt.Sequential([
            odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16), odt.Conv2D(8, 3, padding="same", activation="relu"),
            odt.MaxPool2D(),
            odt.Conv2D(16, 3, padding="same", activation="relu"), odt.MaxPool2D(), odt.Flatten(), odt.Dense(10),
        ])  # fmt: skip
        model.compile(odt.Adam(odt.CosineDecay(0.006, 15 * len(KNOWN) // 16)), dtype=dtype, seed=1)
        model.fit(X[KNOWN], Y[KNOWN], epochs=15, verbose=0)
        found[dtype] = model
    return found


def give(teacher, label, count, rng):
    for i in rng.choice(np.flatnonzero(Y[:1000] == label), count, False):
        teacher.learn(X[i], int(label))


def accuracies(teacher):
    """Of the digits that were known, and of the others, by other writers."""
    right = np.array([teacher.predict(X[i])[0] == Y[i] for i in range(1000, 1797)])
    new = np.isin(Y[1000:], NEW)
    return 100 * right[~new].mean(), 100 * right[new].mean()


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_ten_samples_of_a_new_digit_are_worth_those_of_a_float_head_on_a_pc(dtype, digits):
    model = digits[dtype]
    teacher = teach.Teacher(teach.front(model), budget=32 * 10 * 64)
    rng = np.random.default_rng(1)
    for label in range(10):
        if label not in NEW:
            give(teacher, label, 32, rng)
    before, _ = accuracies(teacher)
    for label in NEW:
        give(teacher, label, 10, rng)
    found = accuracies(teacher)
    # The same front and samples, PyTorch's last layer, trained in float32.
    wide = torch.tensor(np.array(teacher.front.predict(X)).reshape(1797, -1).copy())
    wide = wide / wide.max(1, keepdim=True).values * 4
    kept = torch.tensor(blocks(teacher).reshape(-1, 64).astype("float32") / 32)
    labels = torch.tensor(np.repeat(list(teacher.labels), 32))
    torch.manual_seed(0)
    layer = torch.nn.Linear(64, 10)
    optimizer = torch.optim.Adam(layer.parameters(), 0.01)
    for _ in range(300):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(layer(kept), labels).backward()
        optimizer.step()
    right = (layer(wide[1000:]).argmax(1).numpy() == Y[1000:]).astype(float)
    new = np.isin(Y[1000:], NEW)
    whole = 100 * model.evaluate(X[1000:][~new], Y[1000:][~new])[1]
    assert found[0] > 100 * right[~new].mean() - 2 and found[1] > 100 * right[new].mean() - 5
    assert found[0] > before - 2 and before > whole - 2.5 and found[1] > 70


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_what_is_kept_is_the_fronts_output_with_its_largest_number_as_127(dtype):
    teacher, x, y = taught(dtype, 0, classes=1, budget=60 * 7)
    for row in x:
        teacher.learn(row, 0)
    wide = np.array(teacher.front.predict(x), "float64").reshape(60, 7)
    wanted = 127 * wide / np.maximum(np.abs(wide).max(1, keepdims=True), 1e-30)
    assert np.abs(blocks(teacher)[0] - wanted).max() <= 0.5 + (0.01 if dtype == "float32" else 1e-5)
    assert np.ptp(wide) > 0 and np.abs(blocks(teacher)[0]).max(1).min() == 127


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_negative_outputs_are_kept_with_their_sign(dtype):
    model, x, _ = small(dtype, last=None)
    teacher = teach.Teacher(teach.front(model), classes=1, budget=60 * 7)
    for row in x:
        teacher.learn(row, "all")
    wide = np.array(teacher.front.predict(x), "float64").reshape(60, 7)
    wanted = 127 * wide / np.abs(wide).max(1, keepdims=True)
    assert np.abs(blocks(teacher)[0] - wanted).max() <= 0.51 and (wide < 0).sum() > 50


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_confidence_and_label_are_those_of_a_softmax_in_float64(dtype):
    teacher, x, _ = taught(dtype, 30)
    found, margins = [], []
    for row in x:
        label, share = teacher.predict(row)
        kept = vars(teacher)["_row"]
        logits = np.array(head(teacher).predict(kept), "float64")[: len(teacher.labels)]
        p = np.exp(logits - logits.max())
        p /= p.sum()
        assert label == teacher.labels[int(p.argmax())]
        margins.append(share - p.max())
        found.append(share)
    assert np.abs(margins).max() < 0.003
    assert min(found) < 0.7 and max(found) > 0.85


def test_powers_of_two_are_within_three_parts():
    power = vars(teach)["_power"]
    t = np.arange(0, 16 * 16384, 37)
    assert np.abs([power(int(v)) for v in t] - 16384 * 2 ** -(t / 16384)).max() < 3
    assert power(0) == 16384


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_similarity_is_the_largest_cosine_and_what_is_below_reject_has_no_label(dtype):
    teacher, x, _ = taught(dtype, 30)
    cosines = []
    for row in x:
        place = teacher.labels.index(teacher.predict(row)[0])
        value, kept = np.array(vars(teacher)["_row"], "float64"), blocks(teacher)[place].astype("float64")
        cosine = (kept @ value / np.maximum(np.linalg.norm(kept, axis=1) * np.linalg.norm(value), 1)).max()
        assert abs(teacher.similarity(row) - cosine) < 0.01
        cosines.append(teacher.similarity(row))
    teacher.reject = 0.95
    for row, cosine in zip(x, cosines):
        label, share = teacher.predict(row)
        assert (label is None) == (cosine < int(0.95 * 1024) / 1024) and share > 0
    assert min(cosines) < 0.95 < max(cosines)


def test_nothing_learned_is_no_label():
    teacher, x, _ = taught(count=0)
    assert teacher.predict(x[0]) == (None, 0.0) and teacher.similarity(x[0]) == 0 and teacher.labels == []
    teacher.learn(x[0], "only")
    assert teacher.predict(x[1]) == ("only", 1.0)


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_forget_undoes_what_came_last_to_the_bit(dtype):
    teacher, x, _ = taught(dtype)
    digest, state = teacher.digest(), bytes(teacher.state)
    teacher.learn(x[20], "new")
    teacher.learn(x[21], "new")
    assert teacher.digest() != digest and teacher.labels[-1] == "new" and teacher.count("new") == 2
    teacher.forget("new")
    assert teacher.digest() == digest and teacher.state == state and teacher.count("new") == 0


def test_forgetting_another_class_leaves_what_is_kept_of_the_rest():
    teacher, x, y = taught()
    before = {label: blocks(teacher)[i].tolist() for i, label in enumerate(teacher.labels)}
    gone, *rest = teacher.labels
    teacher.forget(gone)
    assert sorted(teacher.labels) == sorted(rest) and not blocks(teacher)[2:].any()
    for i, label in enumerate(teacher.labels):
        assert blocks(teacher)[i].tolist() == before[label]
    assert all(teacher.predict(row)[0] in rest for row in x)
    teacher.learn(x[0], gone)
    assert teacher.labels[-1] == gone and teacher.count(gone) == 1


def test_the_budget_is_shared_equally_and_never_passed():
    teacher, x, _ = taught(count=0, budget=4 * 7 * 5 + 27)
    size = len(teacher.state)
    assert teacher.each == 5 and size == 36 + 4 * 24 + 4 * 5 * 7
    rows = {}
    for i in range(200):
        label = i * i % 4
        teacher.learn(x[i % 60], label)
        rows.setdefault(label, set()).add(bytes(vars(teacher)["_row"]))
        assert len(teacher.state) == size
        kept = [bytes(row) for row in blocks(teacher)[teacher.labels.index(label)]]
        assert set(kept) <= rows[label] and bytes(vars(teacher)["_row"]) in kept
        n = teacher.count(label)
        if n <= 5:
            assert kept == [kept[k % n] for k in range(5)]
    assert sum(teacher.count(label) for label in teacher.labels) == 200


def test_a_head_begins_anew_each_time_and_is_that_of_a_new_teacher():
    teacher, x, y = taught(count=4)
    first = bytes(head(teach.Teacher(teacher.front, classes=4, budget=140, steps=40)).session.state)
    for i in range(4, 9):
        teacher.fit()
        teacher.learn(x[i], "abc"[y[i]])
    vars(teach.Teacher)["_begin_anew"](teacher)
    assert head(teacher).session.state == first
    vars(teacher)["_learned"] = False
    other, _, _ = taught()
    assert teacher.digest() == other.digest()


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_both_executors_end_with_the_same_bits(dtype):
    digests = []
    for name in ("native", "reference"):
        try:
            odt.executor.use(name)
            teacher, x, _ = taught(dtype)
            digests.append((teacher.digest(), [teacher.predict(row) for row in x[:20]]))
        finally:
            odt.executor.use("native")
    assert digests[0] == digests[1]


# The front


def test_a_front_computes_what_the_network_computes_up_to_a_layer():
    model, x, _ = small("float32")
    digest = model.digest()
    w = [np.array(values, "float64") for values in model.get_weights()]
    one = np.maximum(x @ w[0].reshape(6, 5).T + w[1], 0)
    two = np.maximum(one @ w[2].reshape(7, 6).T + w[3], 0)
    for layer, wanted in ((None, two), ("dense", one), ("dense_1", two)):
        front = teach.front(model, layer)
        assert np.allclose(np.array(front.predict(x)).reshape(60, -1), wanted, atol=1e-5)
    assert model.digest() == digest


def test_an_int8_front_has_the_networks_weights_and_ranges():
    model, x, y = small(seed=4)
    before = np.array(model.predict(x))
    front = teach.front(model, "dense_2")
    assert np.array_equal(np.array(front.predict(x)), before)
    model.fit(x, y.astype("uint8"), verbose=0)  # and the network trains on


def test_a_front_of_a_network_that_was_calibrated_alone_needs_no_samples(tmp_path):
    """As of a model file whose network was trained elsewhere: weights set, ranges of the forward pass, no step."""
    trained, x, _ = small()
    model = small()[0]
    model.set_weights(trained.get_weights())
    model.calibrate(x)
    model.export(tmp_path / "m.odt")
    other = small()[0]
    other.load_weights(tmp_path / "m.odt")
    assert bytes(teach.front(other).predict(x)) == bytes(teach.front(model).predict(x))


def test_a_front_without_ranges_wants_samples():
    model = odt.Sequential([odt.Input((5,)), odt.Dense(6, "relu"), odt.Dense(3)])
    model.compile(odt.Adam(0.01), batch_size=8, seed=1)
    with pytest.raises(ValueError, match="give x="):
        teach.front(model)
    front = teach.front(model, x=small()[1])
    teacher = teach.Teacher(front, classes=2, budget=640)
    teacher.learn(small()[1][0], "one")
    assert teacher.predict(small()[1][0])[0] == "one"


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_a_front_of_convolutions_and_batch_normalisation_says_what_the_last_layer_read(dtype):
    x = np.random.default_rng(0).normal(size=(40, 6, 6, 1)).astype("float32")
    y = (x.mean((1, 2, 3)) > 0).astype("uint8")
    model = odt.Sequential(
        [odt.Input((6, 6, 1)), odt.Conv2D(4, 3), odt.BatchNorm(), odt.ReLU(), odt.Flatten(), odt.Dense(2)]
    )
    model.compile(odt.Adam(0.01), batch_size=8, dtype=dtype, seed=1)
    model.fit(x, y, epochs=3, verbose=0)
    wide = np.array(teach.front(model).predict(x), "float64").reshape(40, -1)
    kernel, bias = [np.array(values, "float64") for values in model.get_weights()[-2:]]
    wanted = np.array(model.predict(x), "float64").reshape(40, 2)
    errors = np.abs(wide @ kernel.reshape(2, -1).T + bias - wanted)
    errors[wanted == wanted.min()] = 0  # which int8 has clipped
    assert errors.max() < 0.02 * np.ptp(wanted)


def test_a_normalization_is_the_networks_after_a_front_is_made():
    x = np.random.default_rng(0).normal(50, 9, size=(40, 4)).astype("float32")
    y = (x[:, 0] > 50).astype("uint8")
    model = odt.Sequential([odt.Input((4,)), odt.Normalization(), odt.Dense(6, "relu"), odt.Dense(2)])
    model.compile(odt.Adam(0.01), batch_size=8, seed=1)
    model.layers[0].adapt(x)
    model.fit(x, y, epochs=3, verbose=0)
    front = teach.front(model)
    digest = front.digest()
    model.layers[0].adapt(x + 5)
    assert front.digest() == digest


def test_names_that_are_none_and_nothing_left_are_refused():
    model, _, _ = small()
    with pytest.raises(KeyError, match="no layer is called 'dens'; there are input, dense"):
        teach.front(model, "dens")
    for layer in ("input", ""):
        with pytest.raises((ValueError, KeyError)):
            teach.front(model, layer)
    lone = odt.Sequential([odt.Input((2,)), odt.Dense(2)])
    lone.compile(None, "mse")
    with pytest.raises(ValueError, match="nothing is left before"):
        teach.front(lone)


def test_a_front_from_a_file_is_as_good(tmp_path):
    model, x, y = small()
    front = teach.front(model)
    front.export(tmp_path / "front.odt")
    digests = []
    for each in (front, odt.load_model(tmp_path / "front.odt")):
        teacher = teach.Teacher(each, classes=3, budget=210, place=tmp_path / "taught.bin")
        for row, label in zip(x[:12], y):
            teacher.learn(row, int(label))
        digests.append(teacher.digest())
    assert digests[0] == digests[1]
    other = teach.Teacher(front, classes=3, budget=210)
    other.load(tmp_path / "taught.bin")
    assert other.digest() == digests[0]


# Checkpoints


class Cut:
    """A region of bytes that fails at its n-th write."""

    def __init__(self, data, at, error):
        self.data, self.left, self.error = data, at, error

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        return self.data[index]

    def __setitem__(self, index, value):
        self.left -= 1
        if self.left == 0:
            self.data[index] = bytes(len(value))
            raise self.error
        self.data[index] = value


@pytest.mark.parametrize("error", [OSError(5, "power"), KeyboardInterrupt()], ids=["OSError", "Ctrl-C"])
def test_a_change_that_is_cut_off_at_any_write_leaves_both_as_before(error):
    kept = bytearray(2048)
    teacher, x, _ = taught(place=Bytes(kept))
    digest, state, labels = teacher.digest(), bytes(teacher.state), list(teacher.labels)
    cut = 0
    other, _, _ = taught(count=0)
    for change in (lambda: teacher.learn(x[30], "new"), lambda: teacher.learn(x[30], "a"), lambda: teacher.forget("b")):
        for at in range(1, 20):
            teacher.place = Bytes(Cut(bytearray(kept), at, error))
            try:
                change()
            except (OSError, KeyboardInterrupt):
                cut += 1
                assert teacher.labels == labels and teacher.state == state
                other.load(Bytes(teacher.place.region.data))
                assert other.state == state
            else:
                other.load(Bytes(teacher.place.region.data))
                assert other.state == teacher.state != state
                teacher.load(Bytes(kept))
                break
    assert cut > 5 and teacher.digest() == digest


def test_an_interrupt_at_any_call_of_the_kernels_leaves_the_state_of_before_or_after(monkeypatch):
    teacher, x, _ = taught()
    state, digest = bytes(teacher.state), teacher.digest()
    engine = head(teacher).session.engine
    real, seen = engine.run, [0]

    def run(*arguments):
        seen[0] -= 1
        if not seen[0]:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(engine, "run", run)
    for at in (1, 2, 5, 40):
        teacher.learn(x[30], "new")
        seen[0] = at
        with pytest.raises(KeyboardInterrupt):
            teacher.fit()
        seen[0] = 0
        teacher.forget("new")
        assert teacher.state == state and teacher.digest() == digest


def test_each_change_is_saved_and_goes_on_elsewhere(tmp_path):
    for place in (str(tmp_path / "t"), tmp_path / "u", Bytes(bytearray(2048))):
        teacher, x, _ = taught(place=place)
        other, _, _ = taught(count=0)
        other.load(place)
        assert other.digest() == teacher.digest() and other.labels == teacher.labels
        teacher.forget("b")
        other.load(place)
        for each in (teacher, other):
            each.learn(x[40], -5)
        assert other.digest() == teacher.digest() and -5 in other.labels


def test_checkpoints_of_another_front_size_or_kind_and_damaged_ones_are_refused(tmp_path):
    teacher, x, _ = taught(place=tmp_path / "t")
    digest = teacher.digest()
    model, _, _ = small(seed=5)
    other = teach.Teacher(teach.front(model), classes=4, budget=140, steps=40)
    other.learn(x[0], "own")
    own = other.digest()
    with pytest.raises(ValueError, match="another front: its CRC was [0-9a-f]{8}, this one's is"):
        other.load(tmp_path / "t")
    assert other.digest() == own and other.labels == ["own"]
    for options in ({"classes": 5}, {"budget": 280}, {"steps": 41}, {"seed": 1}):
        wrong, _, _ = taught(count=1, **options)
        before = wrong.digest()
        with pytest.raises(ValueError, match="another kind, size or setting"):
            wrong.load(tmp_path / "t")
        assert wrong.digest() == before
    data = bytearray((tmp_path / "t").read_bytes())
    for at in range(0, len(data), 41):
        data[at] ^= 16
        (tmp_path / "t").write_bytes(data)
        with pytest.raises(ValueError):
            teacher.load(tmp_path / "t")
        data[at] ^= 16
    with pytest.raises(OSError):
        teacher.load(tmp_path / "none")
    assert teacher.digest() == digest


def test_a_front_that_has_changed_is_refused():
    teacher, x, _ = taught(front=teach.front(small()[0]))
    teacher.predict(x[0])
    front = teacher.front
    weights = front.get_weights()
    weights[0][0] += 0.5
    ranges = bytes(front.session.state)
    front.set_weights(weights)
    for use in (lambda: teacher.learn(x[0], "a"), lambda: teacher.forget("a"), lambda: teacher.save("never")):
        with pytest.raises(ValueError, match="the front has changed"):
            use()
    front.session.state[:] = ranges
    front.session.calibrated = 2
    teacher.learn(x[0], "a")
    front.compile(None, "mse", batch_size=1)
    with pytest.raises(ValueError, match="the front has changed"):
        teacher.fit()


# Bad input


def test_bad_samples_and_labels_are_named_and_change_nothing():
    teacher, x, _ = taught()
    teacher.learn(x[30], "d")
    digest = teacher.digest()
    nan = x[0].copy()
    nan[3] = np.nan
    cases = (
        (x[0], "fifth", ValueError, "'fifth' would be class 5, there is room for 4"),
        (nan, "a", ValueError, "x: sample 0, element 3 is NaN or infinite"),
        (x[0][:4], "a", ValueError, "x: 16 bytes are not whole samples of 20"),
        (x[:2], "a", ValueError, "x: one sample is expected"),
        (x[0].astype("int8"), "a", TypeError, "x: elements are of type"),
        (x[0], "", ValueError, "label: 1 to 19 bytes of text are expected, got 0"),
        (x[0], "a" * 20, ValueError, "label: 1 to 19 bytes of text are expected, got 20"),
        (x[0], 1.5, TypeError, "label: a str or an int is expected, got 1.5"),
        (x[0], True, TypeError, "label: a str or an int"),
        (x[0], None, TypeError, "label: a str or an int"),
        (x[0], 1 << 31, ValueError, "label: an int of 32 bits"),
    )
    for sample, label, kind, text in cases:
        with pytest.raises(kind, match=text):
            teacher.learn(sample, label)
    for sample in (nan, x[0][:4], x[:2]):
        with pytest.raises(ValueError, match="^x: "):
            teacher.predict(sample)
    for label in ("e", 0, None):
        with pytest.raises(KeyError, match="is none of"):
            teacher.forget(label)
    assert teacher.digest() == digest and len(teacher.labels) == 4


def test_an_output_that_is_not_finite_is_refused():
    front = teach.front(small("float32", last=None)[0])
    front.set_weights([np.array(values) * 1e15 for values in front.get_weights()])
    teacher = teach.Teacher(front, classes=2, budget=70)
    with pytest.raises(ValueError, match="the front's output is not finite"):
        teacher.learn(np.full(5, 1e12, "float32"), "far")
    assert teacher.labels == []


def test_sizes_that_are_none_are_refused():
    model, _, _ = small()
    front = teach.front(model)
    for options, text in (
        ({"budget": 69}, "budget 69: 10 classes of one sample of 7 numbers take 70 bytes"),
        ({"classes": 0}, "classes is in 1..255"),
        ({"classes": 256}, "classes is in 1..255"),
        ({"steps": 0}, "steps is in 1..65535"),
        ({"reject": 1.5}, "reject is None, or in 0..1"),
        ({"reject": float("nan")}, "reject is None, or in 0..1"),
        ({"seed": -1}, "seed is an int"),
    ):
        with pytest.raises(ValueError, match=text):
            teach.Teacher(front, **options)
    fresh = odt.Sequential([odt.Input((2,)), odt.Dense(2)])
    fresh.compile(None, "mse")
    with pytest.raises(ValueError, match="ranges are not known: calibrate"):
        teach.Teacher(fresh)
    with pytest.raises(RuntimeError, match="not compiled"):
        teach.Teacher(odt.Sequential([odt.Input((2,)), odt.Dense(2)]))


def test_a_label_that_is_no_text_in_a_checkpoint_is_refused(tmp_path):
    teacher, _, _ = taught()
    state = bytes(teacher.state)
    at = teacher.state.index(
        struct.pack("<I", teacher.count(teacher.labels[0])) + b"\x01" + teacher.labels[0].encode(), 36
    )
    teacher.state[at + 5] = 0xFF
    teacher.save(tmp_path / "t")
    teacher.state[:] = state
    with pytest.raises(ValueError, match="label"):
        teacher.load(tmp_path / "t")
    assert teacher.state == state


def test_hundreds_of_epochs_leave_no_floats_all_over_the_heap():
    """On a board with 140 KB free, 250 entries of a history had left no place for 1 KB."""
    teacher, _, _ = taught(steps=400)
    teacher.fit()
    assert head(teacher).session.steps() == 400
    assert head(teacher).history is None  # nobody reads it
