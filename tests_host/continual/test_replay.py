"""odt.continual.replay and odt.continual.latents: what is kept, what fit gets, what is remembered; checkpoints, stale
latents, bad input.
"""

import asyncio
import functools
from collections import Counter

import numpy as np
import pytest
from digits_data import X, Y, reader
from interrupting import Interrupt

import odt
from odt.base import fixed
from odt.continual import Latents, Replay, replay, teach


def small(dtype="float32", width=3, classes=5, batch_size=8, format="float32"):
    scale = {} if format == "float32" else {"scale": 1 / 16}
    model = odt.Sequential([odt.Input((width,), dtype=format, **scale), odt.Dense(classes)])
    model.compile(odt.Adam(0.01), dtype=dtype, batch_size=batch_size, seed=3)
    return model


def numbered(labels, width=3, format="float32"):
    """Samples that say which they are, and the labels."""
    x = np.arange(len(labels))[:, None] * 4 + np.arange(width)
    return x.astype(format), np.array(labels, "uint8")


def rows(x, width=3, format="float32"):
    return np.frombuffer(bytes(x), format).reshape(-1, width)


def size(classes, samples, one):
    return 32 + 4 * classes + samples * (1 + one)


def test_a_budget_is_what_the_state_takes():
    for samples in (5, 17, 100):
        replay = Replay(small(), budget=size(5, samples, 12) + 12)
        assert replay.capacity == samples and len(replay.state) == size(5, samples, 12) and len(replay) == 0


@pytest.mark.parametrize("format", ("uint8", "int16", "int32", "float32"))
def test_classes_get_equally_many_places_whatever_comes(format):
    labels = [0] * 60 + [1] * 30 + [2] * 3 + [3] * 40 + [4] * 40 + [0] * 30
    x, y = numbered(labels, format="int32")
    x, y = (x % 251).astype(format), y
    replay = Replay(small(format=format), budget=size(5, 20, 3 * x.itemsize))
    given = {(tuple(row), label) for row, label in zip(x.tolist(), y.tolist())}
    for first in range(0, len(x), 7):
        replay.add(x[first : first + 7], y[first : first + 7])
        came = Counter(labels[: first + 7])
        kept = {label: replay.count(label) for label in range(5)}
        assert sum(kept.values()) == len(replay) == min(20, first + 7, len(labels)) and replay.seen == sum(
            came.values()
        )
        most = max(kept.values())
        assert all(kept[label] >= min(came[label], most - 1) for label in came), (came, kept)
        pairs = [(tuple(row), label) for row, label in zip(rows(replay.x, 3, format).tolist(), list(replay.y))]
        assert set(pairs) <= given
    assert sorted(kept.values()) == [3, 4, 4, 4, 5] or sorted(kept.values()) == [3, 4, 4, 4, 4 + 1]


def test_each_sample_of_a_class_is_kept_with_the_same_probability():
    labels = [0] * 40 + [1] * 20 + [0] * 20 + [2] * 40
    x, y = numbered(labels)
    counts, model = np.zeros(120), small(classes=3)
    for seed in range(300):
        replay = Replay(model, budget=size(3, 12, 12), seed=seed)
        replay.add(x, y)
        assert [replay.count(label) for label in range(3)] == [4] * 3
        counts[(rows(replay.x)[:, 0] / 4).astype(int)] += 1
    for label, many in ((0, 60), (1, 20), (2, 40)):
        p = 4 / many
        found = counts[np.array(labels) == label]
        assert abs(found - 300 * p).max() < 4.5 * (300 * p * (1 - p)) ** 0.5, (label, found)
        # and neither the early nor the late ones more often: the mean place, by its own standard deviation
        mean = (found * np.arange(many)).sum() / found.sum()
        assert abs(mean - (many - 1) / 2) < 4 * many / 12**0.5 / 1200**0.5


@pytest.mark.parametrize("count", (1, 2, 3, 12, 45, 300))
def test_each_key_gives_an_order_and_all_keys_all_orders_alike(count):
    found = np.array([[replay.shuffled(p, count, key) for p in range(count)] for key in range(100, 100 + 40 * 77, 40)])
    assert (np.sort(found, 1) == np.arange(count)).all()
    if count == 12:
        found = np.array([[replay.shuffled(p, 12, fixed.hash32(1, i) >> 3) for p in range(12)] for i in range(1200)])
        for place in range(12):  # binomial: 100 expected, standard deviation 9.6
            assert abs(np.bincount(found[:, place], minlength=12) - 100).max() < 4.5 * 9.6
        # what follows what, too: of 11 * 1200 neighbours each pair is expected 100 times, standard deviation 10
        pairs = np.bincount((found[:, :-1] * 12 + found[:, 1:]).ravel(), minlength=144).reshape(12, 12)
        assert abs(pairs[~np.eye(12, dtype=bool)] - 100).max() < 5 * 10


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_with_nothing_kept_fit_ends_with_the_bits_of_arrays(dtype):
    digests = []
    for mix in (False, True):
        model = reader(dtype)
        data = (Replay(model).mixed(X[:100], Y[:100]),) if mix else (X[:100], Y[:100])
        model.fit(*data, epochs=3, shuffle=False, verbose=0)
        digests.append(model.digest())
    assert digests[0] == digests[1]


@pytest.mark.parametrize("format", ("uint8", "float32"))
@pytest.mark.parametrize("shuffle", (False, True))
def test_an_epoch_is_all_new_samples_once_and_of_each_old_class_equally_many(format, shuffle):
    model = small(format=format)
    replay = Replay(model, budget=size(5, 9, 3 * (1 if format == "uint8" else 4)))
    x, y = numbered([0, 0, 0, 0, 2, 2, 2, 4, 4], format=format)
    replay.add(x, y)
    old = [(tuple(row), label) for row, label in zip(x.tolist(), y.tolist())]
    x, y = (x[:1] * 0 + np.arange(100, 145)[:, None]).astype(format), np.full(45, 1, "uint8")
    data, orders = replay.mixed(x, y, share=0.375), []
    assert len(data) == 9
    for epoch in range(3):
        data.epoch, data.order = epoch, (77 + epoch) * shuffle
        batches = [(rows(part, 3, format).tolist(), list(labels)) for part, labels in data]
        assert [len(labels) for _, labels in batches] == [8] * 9
        new = [row[0] for part, labels in batches for row, label in zip(part, labels) if label == 1]
        assert sorted(new) == list(range(100, 145)) and (new == sorted(new)) == (not shuffle)
        drawn = [(tuple(row), label) for part, labels in batches for row, label in zip(part, labels) if label != 1]
        assert set(drawn) == set(old) and len(drawn) == 27
        assert Counter(label for _, label in drawn) == {0: 9, 2: 9, 4: 9}
        for label in (0, 2, 4):
            times = Counter(row for row, found in drawn if found == label).values()
            assert max(times) - min(times) <= 1
        orders.append(drawn)
    assert orders[0] != orders[1] != orders[2] != orders[0]


def test_the_last_batch_is_as_long_as_there_are_new_samples():
    model = small()
    replay = Replay(model, budget=600)
    replay.add(*numbered([0, 2, 3]))
    data = replay.mixed(*numbered([1] * 9), share=0.5)
    assert [len(labels) for _, labels in data] == [8, 8, 5] and len(data) == 3
    replay = Replay(model, budget=600)
    data = replay.mixed(*numbered([1] * 9))
    assert [len(labels) for _, labels in data] == [8, 1] and len(data) == 2


@pytest.mark.parametrize("new, drawn", (([1], 6), ([1, 3], 5), ([0, 2, 4], 4), ([1, 3] * 3 + [0, 2, 4], 3)))
def test_a_class_kept_weighs_as_much_as_a_new_one(new, drawn):
    """Three classes are kept; of 8 samples 8 * 3 / (3 + those of y) are drawn, to nearest."""
    replay = Replay(small(), budget=600)
    replay.add(*numbered([0, 2, 4, 0]))
    x, y = numbered(np.resize(new, 40))
    data = replay.mixed(x + 1000, y)
    found = [sum(row[0] < 1000 for row in rows(part).tolist()) for part, _ in data]
    assert found == [drawn] * len(data) and len(data) == -(-40 // (8 - drawn))


@functools.cache
def one_after_another(dtype, mixed):
    """A network that learned the digits two at a time, and its Replay."""
    model = reader(dtype)
    replay = Replay(model, budget=8192, seed=5)
    for first in range(0, 10, 2):
        rows = np.flatnonzero((Y[:1000] == first) | (Y[:1000] == first + 1))
        x, y = X[rows], Y[rows]
        data = (replay.mixed(x, y),) if mixed else (x, y)
        model.fit(*data, epochs=6, verbose=0)
        replay.add(x, y)
    return model, replay


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_digits_learned_two_at_a_time_are_forgotten_without_and_known_with_it(dtype):
    without, _ = one_after_another(dtype, False)
    model, replay = one_after_another(dtype, True)
    early = Y[1000:] < 8
    assert without.evaluate(X[1000:][early], Y[1000:][early])[1] < 0.1
    assert model.evaluate(X[1000:][early], Y[1000:][early])[1] > 0.75
    assert model.evaluate(X[1000:], Y[1000:])[1] > 0.8
    assert model.evaluate(replay.x, replay.y)[1] > 0.85


def test_fit_async_ends_with_the_bits_of_fit():
    digests = []
    for asynchronous in (False, True):
        model = reader()
        replay = Replay(model, budget=2048)
        replay.add(X[:40], Y[:40])
        data = replay.mixed(X[100:180], Y[100:180])
        if asynchronous:
            asyncio.run(model.fit_async(data, epochs=2, verbose=0))
        else:
            model.fit(data, epochs=2, verbose=0)
        digests.append(model.digest())
    assert digests[0] == digests[1]


def test_training_goes_on_from_checkpoints_with_the_same_bits(tmp_path):
    def begin():
        model = reader(seed=2)
        return model, Replay(model, budget=4096, seed=1)

    model, replay = begin()
    replay.add(X[:80], Y[:80])
    model.fit(replay.mixed(X[80:160], Y[80:160]), epochs=2, verbose=0)
    model.save(tmp_path / "model.bin")
    replay.save(tmp_path / "replay.bin")
    model.fit(replay.mixed(X[80:160], Y[80:160]), epochs=4, initial_epoch=2, verbose=0)
    replay.add(X[80:160], Y[80:160])

    again, kept = begin()
    again.load(tmp_path / "model.bin")
    kept.load(tmp_path / "replay.bin")
    again.fit(kept.mixed(X[80:160], Y[80:160]), epochs=4, initial_epoch=again.epoch, verbose=0)
    kept.add(X[80:160], Y[80:160])
    assert again.digest() == model.digest() and kept.digest() == replay.digest()
    for other in (Replay(model, budget=4000, seed=1), Replay(model, budget=4096, seed=2), Replay(small(), budget=4096)):
        before = bytes(other.state)
        with pytest.raises(ValueError, match="another kind, size or setting"):
            other.load(tmp_path / "replay.bin")
        assert bytes(other.state) == before


def test_a_sample_added_when_ctrl_c_comes_is_there_whole_or_not_at_all():
    model, many = small(), 0
    x, y = numbered([0, 0, 0, 0, 1, 2, 3])
    x, y = [row.tolist() for row in x], y.tolist()
    for count in (2, 6):  # a free place, and one that is taken
        at = 1
        while True:
            replay = Replay(model, budget=size(5, 5, 12))
            for i in range(count):
                replay.add(x[i], y[i])
            before = bytes(replay.state)
            with Interrupt(at) as it:
                replay.add(x[count], y[count])
            pairs = [(int(row[0]) // 4, label) for row, label in zip(rows(replay.x), list(replay.y))]
            assert all(y[i] == label for i, label in pairs) and len(pairs) == len(replay)
            assert (bytes(replay.state) == before) == (replay.seen == count)
            if not it.raised:
                break
            at += 1
        many += at
    assert many > 60


# Latents


@functools.cache
def backbone(dtype):
    model = reader(dtype, seed=4)
    known = Y[:1000] < 6
    model.fit(X[:1000][known], Y[:1000][known], epochs=4, verbose=0)
    return model


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_latents_are_what_the_front_says_within_half_a_step(dtype):
    front = teach.front(backbone(dtype), "high")
    latents = Latents(front, X[:50])
    found = np.frombuffer(latents(X[:50]), "int8").reshape(50, -1)
    said = np.array(front.predict(X[:50])).reshape(50, -1)
    back = (found.astype("float64") - latents.zero_point) * latents.scale
    assert latents.shape == (4, 4, 12) and found.shape == (50, 192)
    # 4 digits of the scale: 0.05 % of up to 255 steps
    assert abs(back - said).max() <= latents.scale * (0.14 if dtype == "int8" else 0.64)
    assert found.min() == -128 and found.max() >= 100  # after a ReLU none is negative: all 8 bits are used


def test_latents_of_both_signs_have_their_zero_in_the_middle():
    plain = odt.Sequential([odt.Input((3,)), odt.Dense(4)])
    plain.compile(None, "mse", dtype="float32", batch_size=1, seed=1)
    x = numbered([0] * 6)[0]
    latents, said = Latents(plain, x), np.array(plain.predict(x)).reshape(-1)
    found = np.frombuffer(latents(x), "int8")
    assert said.min() < 0 < said.max() and latents.zero_point == 0 and abs(found).max() == 127
    assert abs(found * latents.scale - said).max() <= 0.6 * latents.scale
    assert np.frombuffer(latents(100 * x), "int8").max() == 127  # clipped


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_front_and_head_with_the_models_weights_answer_as_the_model(dtype):
    model = backbone(dtype)
    latents = Latents(teach.front(model, "high"), X[:200])
    head = odt.Sequential([latents.input(), odt.MaxPool2D(), odt.Flatten(), odt.Dense(10)])
    head.compile(odt.Adam(0.001), dtype=dtype, seed=1)
    head.set_weights(model.get_weights()[-2:])
    test = X[1000:]
    z = latents(test)
    if dtype == "int8":
        head.calibrate(z[: 200 * 192])
    agree = np.array(head.predict_classes(z)) == np.array(model.predict_classes(test))
    assert agree.mean() > 0.98


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_latent_replay_learns_new_digits_and_keeps_the_old(dtype):
    latents = Latents(teach.front(backbone(dtype), "high"), X[:200])
    head = odt.Sequential([latents.input(), odt.MaxPool2D(), odt.Flatten(), odt.Dense(10)])
    head.compile(odt.Adam(0.004), dtype=dtype, seed=1)
    replay = Replay(head, budget=16384, front=latents, seed=2)
    for classes in ((0, 1, 2, 3, 4, 5), (6, 7), (8, 9)):
        which = np.flatnonzero(np.isin(Y[:1000], classes))
        z = latents(X[which])
        head.fit(replay.mixed(z, Y[which]), epochs=6, verbose=0)
        replay.add(z, Y[which])
    test = latents(X[1000:])
    early = Y[1000:] < 6
    found = np.array(head.predict_classes(test)) == Y[1000:]
    assert found.mean() > 0.8 and found[early].mean() > 0.75


def test_stale_latents_are_refused_by_name(tmp_path):
    model = reader(seed=4)
    model.fit(X[:64], Y[:64], epochs=1, verbose=0)

    def begin():
        latents = Latents(teach.front(model, "high"))
        head = odt.Sequential([latents.input(), odt.Flatten(), odt.Dense(10)])
        head.compile(odt.Adam(0.004), seed=1)
        return latents, head, Replay(head, budget=8192, front=latents)

    latents, head, replay = begin()
    z = latents(X[:20])
    replay.add(z, Y[:20])
    replay.save(tmp_path / "latents.bin")
    data, state = replay.mixed(z, Y[:20]), bytes(replay.state)
    same = begin()[2]
    same.load(tmp_path / "latents.bin")
    assert same.digest() == replay.digest()
    latents.front.set_weights([[value * 1.5 for value in part] for part in latents.front.get_weights()])
    for call in (lambda: latents(X[:2]), lambda: replay.add(z, Y[:20]), lambda: replay.mixed(z, Y[:20]),
                 lambda: replay.save(tmp_path / "more.bin"), lambda: replay.load(tmp_path / "latents.bin"),
                 lambda: Replay(head, front=latents), lambda: head.fit(data, verbose=0)):  # fmt: skip
        with pytest.raises(ValueError, match="stale: the front has changed"):
            call()
    assert bytes(replay.state) == state and not (tmp_path / "more.bin").exists()
    model.fit(X[:64], Y[:64], epochs=1, verbose=0)
    other = begin()[2]
    before = bytes(other.state)
    with pytest.raises(ValueError, match="stale latents: kept from a front of CRC"):
        other.load(tmp_path / "latents.bin")
    assert bytes(other.state) == before


# Bad input


def test_what_is_bad_is_named_and_changes_nothing():
    model = small()
    replay = Replay(model, budget=600)
    replay.add(*numbered([0, 1, 2]))
    state = bytes(replay.state)
    x, y = numbered([0, 1, 4])
    nan = x.copy()
    nan[1, 2] = np.nan
    for bad, error, text in (
        ((x, [0, 1, 5]), ValueError, r"label 5 of sample 2 is not in 0\.\.4"),
        ((x, [0, 1]), ValueError, "2 samples, x has 3"),
        ((nan, y), ValueError, "sample 1, element 2 is NaN"), ((x[:, :2], y), ValueError, r"\(samples, 3\)"),
        ((x[:0], y[:0]), ValueError, "empty"), (("abc", y), TypeError, "x: "),
        ((x, [1]), ValueError, "1 samples, x has 3"),
        ((x.astype("int16"), y), TypeError, "expected float32"), ((x, [0, "a", 1]), TypeError, "y: item 1"),
    ):  # fmt: skip
        for call in (replay.add, replay.mixed):
            with pytest.raises(error, match=text):
                call(*bad)
            assert bytes(replay.state) == state
    for share in (0, 1, -0.5, 2, "half", True):
        with pytest.raises(ValueError, match="mixed: share is above 0 and below 1"):
            replay.mixed(x, y, share)
    with pytest.raises(ValueError, match="batch_size is 1"):
        Replay(small(batch_size=1)).mixed(x, y)
    with pytest.raises(ValueError, match=r"label: 5, not in 0\.\.4"):
        replay.count(5)


def test_what_a_replay_cannot_be_made_of_is_named():
    with pytest.raises(ValueError, match="budget 116: a sample of 12 bytes for each of 5 classes takes 117"):
        Replay(small(), budget=116)
    assert Replay(small(), budget=117).capacity == 5
    for options, error in (({"budget": 0}, ValueError), ({"budget": "big"}, TypeError), ({"seed": -1}, ValueError)):
        with pytest.raises(error, match="Replay: %s" % list(options)[0]):
            Replay(small(), **options)
    with pytest.raises(RuntimeError, match="not compiled"):
        Replay(odt.Sequential([odt.Input((3,)), odt.Dense(2)]))
    for loss in ("mse", "categorical_crossentropy"):
        model = odt.Sequential([odt.Input((3,)), odt.Dense(2)])
        model.compile("adam", loss)
        with pytest.raises(ValueError, match="odt.continual.reservoir"):
            Replay(model)
    latents = Latents(teach.front(backbone("float32"), "high"), X[:9])
    head = odt.Sequential([odt.Input((4, 4, 12), dtype="int8", scale=1 / 32), odt.Flatten(), odt.Dense(10)])
    head.compile("adam")
    with pytest.raises(ValueError, match=r"front\.input\(\)"):
        Replay(head, front=latents)


def test_what_latents_cannot_be_made_of_is_named():
    front = teach.front(backbone("float32"), "high")
    with pytest.raises(ValueError, match="give x="):
        Latents(front)
    with pytest.raises(ValueError, match="all 0"):
        Latents(_dead(), numbered([0])[0])
    fresh = odt.Sequential([odt.Input((3,)), odt.Dense(2)])
    fresh.compile(None, "mse", dtype="int8")
    with pytest.raises(ValueError, match="int8 ranges are not known"):
        Latents(fresh)
    with pytest.raises(ValueError, match=r"expected \(samples, 8, 8, 1\)"):
        Latents(front, X[:9])(X[:2, :7])


def _dead():
    model = odt.Sequential([odt.Input((3,)), odt.Dense(2)])
    model.compile(None, "mse", dtype="float32", batch_size=1, seed=1)
    model.set_weights([[0.0] * 6, [0.0] * 2])
    return model


def test_add_within_fit_and_after_it_is_as_good():
    """A callback may add what has just been learned: batches in hand stay whole."""
    model = reader()
    replay = Replay(model, budget=2048)
    replay.add(X[:30], Y[:30])

    class Adds:
        def on_batch_end(self, step):
            replay.add(X[step], int(Y[step]))

    model.fit(replay.mixed(X[100:200], Y[100:200]), epochs=2, verbose=0, callbacks=[Adds()])
    assert replay.seen == 30 + 2 * 13
    images = {bytes(X[i].tobytes()): int(Y[i]) for i in range(200)}
    kept = np.frombuffer(bytes(replay.x), "uint8").reshape(-1, 64)
    assert all(images[row.tobytes()] == label for row, label in zip(kept, list(replay.y)))
