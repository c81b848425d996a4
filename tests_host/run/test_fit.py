"""fit with callbacks, generators and slices: what they see, and that they change no bit."""

import asyncio
from array import array

import numpy as np
import pytest

import odt
from odt import executor
from odt.callbacks import Callback, EarlyStopping, ModelCheckpoint
from odt.run import fit_async
from odt.run.session import Session

DTYPES = ("int8", "float32")
RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(11, 5)).astype("float32")
Y = RANDOM.integers(0, 3, 11).astype("uint8")
HELD = RANDOM.normal(size=(7, 5)).astype("float32"), RANDOM.integers(0, 3, 7).astype("uint8")


def network(dtype="int8", optimizer=None, seed=1):
    model = odt.Sequential([odt.Input((5,)), odt.Dense(6, "relu"), odt.Dense(3)])
    model.compile(optimizer or odt.Adam(0.01), dtype=dtype, batch_size=4, seed=seed)
    return model


def batches(x=X, y=Y, size=4):
    for at in range(0, len(x), size):
        yield x[at : at + size], y[at : at + size]


class Again:
    """Batches that can be iterated anew each epoch."""

    def __init__(self, x=X, y=Y, size=4):
        self.epoch, self.seen, self.data = None, [], (x, y, size)

    def __iter__(self):
        self.seen.append(self.epoch)
        return batches(*self.data)


class Log(Callback):
    def __init__(self):
        self.calls = []

    def on_train_begin(self):
        self.calls.append("begin")

    def on_epoch_begin(self, epoch):
        self.calls.append("epoch %d" % epoch)

    def on_batch_end(self, step):
        self.calls.append(step)

    def on_epoch_end(self, epoch, logs):
        self.calls.append(dict(logs))

    def on_train_end(self):
        self.calls.append("end")


# Callbacks


def test_callbacks_are_called_in_order_with_the_figures_of_the_history():
    model, log = network(), Log()
    history = model.fit(X, Y, epochs=2, validation_data=HELD, callbacks=[log], verbose=0).history
    logs = [{name: values[epoch] for name, values in history.items()} for epoch in (0, 1)]
    assert sorted(logs[0]) == ["accuracy", "loss", "val_accuracy", "val_loss"]
    assert log.calls == [
        "begin", "epoch 0", 1, 2, 3, logs[0], "epoch 1", 4, 5, 6, logs[1], "end",
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_callback_may_use_the_model_and_changes_nothing(dtype):
    class Curious(Callback):
        def on_batch_end(self, step):
            self.model.evaluate(*HELD)
            self.model.predict(HELD[0])

        def on_epoch_end(self, epoch, logs):
            self.model.predict(HELD[0][:1])

    plain, watched = network(dtype), network(dtype)
    one = plain.fit(X, Y, epochs=3, verbose=0).history
    other = watched.fit(X, Y, epochs=3, callbacks=[Curious()], verbose=0).history
    assert one == other and plain.digest() == watched.digest()


def test_an_object_with_one_method_is_a_callback():
    class Seen:
        def on_epoch_begin(self, epoch):
            self.epoch = epoch

    seen = Seen()
    network().fit(X, Y, epochs=3, callbacks=(seen,), verbose=0)
    assert seen.epoch == 2


def test_a_callback_that_uses_the_same_data_changes_no_bit_of_the_epoch():
    plain, looked = network(), network()
    x, y = bytes(X), bytes(Y)

    class Look(Callback):
        def on_batch_end(self, step):
            looked.evaluate(x, y)

    plain.fit(x, y, epochs=2, verbose=0)
    looked.fit(x, y, epochs=2, verbose=0, callbacks=[Look()])
    assert looked.digest() == plain.digest()


@pytest.mark.parametrize("place", ("on_batch_end", "on_epoch_end"))
def test_stop_training_ends_it(place):
    model = network()

    class Stop:
        def __init__(self):
            setattr(self, place, self.stop)

        def stop(self, *unused):
            model.stop_training = True

    history = model.fit(X, Y, epochs=5, callbacks=[Stop()], verbose=0).history
    assert len(history["loss"]) == 1
    steps = network()
    for x, y in list(batches())[: 1 if place == "on_batch_end" else 3]:
        pass
    assert model.session.steps() == (1 if place == "on_batch_end" else 3)
    model.fit(X, Y, epochs=2, verbose=0)  # a stop is over with its fit
    assert model.session.steps() > 6 and steps.session.steps() == 0


@pytest.mark.parametrize("bad, words", (
    (3, "list int"), ([3], "item 0 on_epoch_end 3"), ([Log(), Log], "item 1"), ([None], "item 0 None"),
))  # fmt: skip
def test_what_is_no_callback_is_refused(bad, words):
    model = network()
    before = model.digest()
    with pytest.raises(TypeError) as error:
        model.fit(X, Y, callbacks=bad, verbose=0)
    assert all(word in str(error.value) for word in words.split()) and model.digest() == before


# Early stopping


class Script(Callback):
    """Replaces a figure of the logs, before EarlyStopping sees them."""

    def __init__(self, *values, name="val_loss"):
        self.values, self.name, self.digests = values, name, []

    def on_epoch_end(self, epoch, logs):
        logs[self.name] = self.values[epoch]
        self.digests.append(self.model.digest())


@pytest.mark.parametrize("values, patience, epochs, best", (
    ((3, 2, 2.5, 2.4, 2.3, 9), 0, 3, 1),
    ((3, 2, 2.5, 2.4, 2.3, 9), 2, 4, 1),
    ((3, 2, 2.5, 1.5, 2.3, 9), 2, 6, 3),
    ((3, float("nan"), float("nan"), 1, 1, 1), 0, 2, 0),
    ((3, 2, 1, 0.9, 0.8, 0.7), 0, 6, 5),
))  # fmt: skip
@pytest.mark.parametrize("where", ("ram", "file", "no"))
def test_early_stopping_stops_and_restores_the_best_epoch(values, patience, epochs, best, where, tmp_path):
    model, script = network(), Script(*values)
    path = str(tmp_path / "best") if where == "file" else None
    stop = EarlyStopping(patience=patience, restore_best_weights=where != "no", path=path)
    history = model.fit(X, Y, epochs=6, callbacks=[script, stop], verbose=0).history
    assert len(history["loss"]) == epochs and stop.best_epoch == best
    assert model.digest() == script.digests[-1 if where == "no" else best]
    assert model.epoch == (epochs if where == "no" else best + 1)


def test_what_was_restored_trains_on_as_it_did_then():
    model, script, straight = network(), Script(3, 2, 4), network()
    model.fit(X, Y, epochs=3, callbacks=[script, EarlyStopping(restore_best_weights=True)], verbose=0)
    model.fit(X, Y, epochs=4, initial_epoch=model.epoch, verbose=0)
    straight.fit(X, Y, epochs=4, verbose=0)
    assert model.digest() == straight.digest()


def test_early_stopping_knows_that_accuracy_rises_and_what_min_delta_is():
    for stop, epochs in (
        (EarlyStopping("accuracy"), 4),
        (EarlyStopping("accuracy", min_delta=0.05), 3),
        (EarlyStopping("accuracy", mode="min"), 2),
    ):
        script = Script(0.1, 0.2, 0.21, 0.21, 0.9, name="accuracy")
        history = network().fit(X, Y, epochs=5, callbacks=[script, stop], verbose=0).history
        assert len(history["loss"]) == epochs


def test_early_stopping_without_what_it_monitors_says_so():
    with pytest.raises(ValueError, match="val_loss.*accuracy, loss"):
        network().fit(X, Y, callbacks=[EarlyStopping()], verbose=0)
    for make, word in (
        (lambda: EarlyStopping(3), "monitor"),
        (lambda: EarlyStopping(patience=-1), "patience"),
        (lambda: EarlyStopping(mode="up"), "mode"),
        (lambda: EarlyStopping(path="x"), "path"),
        (lambda: EarlyStopping(min_delta=-1), "min_delta"),
        (lambda: ModelCheckpoint("x", steps=0), "steps"),
    ):
        with pytest.raises((TypeError, ValueError), match=word):
            make()


# A loss that is not finite


def test_a_loss_that_is_not_finite_stops_before_it_reaches_the_weights():
    model, log = network("float32", odt.SGD(1e5)), Log()
    with pytest.raises(ArithmeticError, match="loss of step [0-9]+ is not finite.*100000"):
        model.fit(X * 1e8, Y, epochs=50, callbacks=[log], verbose=0)
    assert log.calls[-1] == "end"
    assert all(np.isfinite(value).all() for value in model.get_weights())


def test_early_stopping_restores_after_a_loss_that_is_not_finite():
    model, stop = network("float32"), EarlyStopping("loss", restore_best_weights=True)

    class Break(Callback):
        def on_epoch_end(self, epoch, logs):
            self.digest = self.model.digest()
            self.model.set_weights([np.full(np.shape(w), 3e38) for w in self.model.get_weights()])

    broken = Break()
    with pytest.raises(ArithmeticError):
        model.fit(X, Y, epochs=3, callbacks=[stop, broken], verbose=0)
    assert model.digest() == broken.digest


# Checkpoints by callback


def test_model_checkpoint_saves_each_epoch_or_the_best(tmp_path):
    each = ModelCheckpoint(str(tmp_path / "e{epoch:02d}"))
    best = ModelCheckpoint(str(tmp_path / "best"), save_best_only=True)
    model, script = network(), Script(3, 1, 2)
    model.fit(X, Y, epochs=3, callbacks=[script, each, best], verbose=0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["best", "e01", "e02", "e03"]
    for name, digest in (("e01", 0), ("e02", 1), ("e03", 2), ("best", 1)):
        other = network(seed=3)
        other.load(str(tmp_path / name))
        assert other.digest() == script.digests[digest], name


# Batches from an iterable


@pytest.mark.parametrize("dtype", DTYPES)
def test_batches_of_an_iterable_train_as_the_array_does(dtype):
    whole = network(dtype)
    history = whole.fit(X, Y, epochs=3, shuffle=False, validation_data=HELD, verbose=0).history
    again = Again()
    model = network(dtype)
    found = model.fit(again, epochs=3, validation_data=Again(*HELD), verbose=0).history
    assert found == history and model.digest() == whole.digest()
    assert [epoch for epoch in again.seen if epoch is not None][-3:] == [0, 1, 2]

    def endless():
        while True:
            yield from batches()

    model = network(dtype)
    assert model.fit(endless(), epochs=3, steps_per_epoch=3, validation_data=HELD, verbose=0).history == history
    assert model.digest() == whole.digest()
    model = network(dtype)
    model.fit(batches(), verbose=0)
    model.fit(batches(), verbose=0)
    model.fit(batches(), verbose=0)
    assert model.digest() == whole.digest()


@pytest.mark.parametrize("dtype", DTYPES)
def test_evaluate_takes_batches_too(dtype):
    model = network(dtype)
    model.calibrate(X)
    assert model.evaluate(Again()) == model.evaluate(X, Y)
    model.fit(X, Y, verbose=0)
    assert model.evaluate(batches()) == model.evaluate(X, Y)


@pytest.mark.parametrize("x, options, words", (
    (X, {}, "pair ndarray"),
    (3, {}, "iterable int"),
    (batches(), {"epochs": 2}, "steps_per_epoch 2 epochs"),
    (batches(), {"epochs": 2, "steps_per_epoch": 2}, "ended 1 batches"),
    (Again(X[:0], Y), {}, "ended 0 batches"),
    (Again(size=5), {}, "5 samples batch_size 4"),
    (Again(y=Y + 1), {}, "label 3 0..2"),
    (iter([3]), {}, "pair int"),
    (Again(), {"steps_per_epoch": 0}, "steps_per_epoch 0"),
    (Again(), {"validation_data": 3}, "validation_data pair int"),
))  # fmt: skip
def test_bad_batches_are_refused(x, options, words):
    model = network("float32")
    with pytest.raises((ValueError, TypeError)) as error:
        model.fit(x, verbose=0, **options)
    assert all(word in str(error.value) for word in words.split()), str(error.value)
    with pytest.raises(ValueError, match="steps_per_epoch"):
        model.fit(X, Y, steps_per_epoch=3)


def test_progress_of_batches_that_are_not_counted(capsys):
    network().fit(Again(), epochs=2)
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("epoch 1/2  loss ") and second.rstrip().endswith("0:00 left")


# Slices


@pytest.mark.parametrize("dtype", DTYPES)
def test_fit_async_ends_with_the_digest_of_fit_while_others_run(dtype, monkeypatch):
    clock = [0]

    def now():
        clock[0] += 1
        return clock[0]

    monkeypatch.setattr(fit_async, "now", now)
    ticks = []

    async def blink(model):
        while True:
            ticks.append(model.session.steps())
            with pytest.raises(RuntimeError, match="fit_async"):
                model.predict(X)
            await asyncio.sleep(0)

    async def main(model):
        task = asyncio.ensure_future(blink(model))
        history = await model.fit_async(X, Y, epochs=2, validation_data=HELD, verbose=0, slice_ms=3)
        task.cancel()
        return history.history

    plain, sliced = network(dtype), network(dtype)
    expected = plain.fit(X, Y, epochs=2, validation_data=HELD, verbose=0).history
    assert asyncio.run(main(sliced)) == expected
    assert sliced.digest() == plain.digest()
    assert len(ticks) > 30 and len(set(ticks)) == 7  # within steps, not only between them


def test_a_cancelled_fit_async_leaves_a_model_that_works_on():
    model = network()

    async def main():
        task = asyncio.ensure_future(model.fit_async(X, Y, epochs=100000, verbose=0, slice_ms=1))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert model.session.steps() > 0 and np.isfinite(model.evaluate(X, Y)[0])
    losses = model.fit(X, Y, epochs=20, verbose=0).history["loss"]
    assert losses[-1] < 1.2
    with pytest.raises(ValueError, match="slice_ms"):
        asyncio.run(model.fit_async(X, Y, slice_ms=0))


@pytest.mark.parametrize("loss", (odt.MeanSquaredError(), odt.MeanAbsoluteError(), odt.Huber(2)))
def test_a_loss_is_in_the_units_of_its_step_though_the_step_widens_the_output(loss):
    """Ten times the first batch saturates the second, and its scale grows at the end of that step."""
    x = np.rint(np.clip(np.concatenate([3 * X[:4], 30 * X[4:8], 30 * X[:4]]), -127, 127)).astype("int8")
    y = RANDOM.normal(size=(12, 3)).astype("float32")

    def regression():
        model = odt.Sequential([odt.Input((5,), dtype="int8", scale=1 / 4), odt.Dense(3)])
        model.compile(odt.SGD(1e-9), loss, batch_size=4, seed=1)
        return model

    float_loss = {
        "mse": lambda d: d**2,
        "mae": np.abs,
        "huber": lambda d: np.where(np.abs(d) < 2, d**2 / 2, 2 * np.abs(d) - 2),
    }[loss.name]
    model, losses = regression(), []
    for at in (0, 4, 8):
        batch, targets = x[at : at + 4], y[at : at + 4]
        scale = np.frombuffer(model.session.scale, "f")[0]
        kernel, bias = model.get_weights()
        limit = 127 * scale if at else np.inf  # the first is calibrated
        output = np.clip(batch / 4 @ np.array(kernel).reshape(3, 5).T + np.array(bias), -limit, limit)
        losses.append(model.train_step(batch, targets))
        assert losses[-1] == pytest.approx(float_loss(output - targets).mean(), rel=0.1)
        assert at != 4 or np.frombuffer(model.session.scale, "f")[0] > 2 * scale
    whole = regression()
    epoch = whole.fit(x, y, shuffle=False, verbose=0).history["loss"]
    assert epoch == [pytest.approx(np.mean(losses), rel=1e-3)]
    assert asyncio.run(regression().fit_async(x, y, shuffle=False, verbose=0)).history["loss"] == epoch


def test_the_loss_behind_a_dropout_that_ends_the_network_is_counted_in_its_scale():
    losses = []
    x = np.random.default_rng(0).normal(size=(16, 6)).astype("float32")
    for dtype in ("int8", "float32"):
        model = odt.Sequential([odt.Input((6,)), odt.Dense(8, "relu"), odt.Dense(4), odt.Dropout(0.25)])
        model.compile(odt.SGD(0.05), "mse", dtype=dtype, batch_size=4)
        losses.append(model.fit(x, x[:, :4].copy(), epochs=4, verbose=0).history["loss"])
    assert np.allclose(*losses, rtol=0.05)


# What callbacks, iterables and hooks do with the model that trains

PLACES = ("set_model", "on_train_begin", "on_epoch_begin", "on_batch_end", "on_epoch_end", "on_train_end")
WAYS = ("fit", "fit_async", "batches")


class Once:
    """Calls ``action(model)`` at one place, once, and notes what it raised."""

    def __init__(self, place, action):
        self.action, self.error, self.calls = action, None, 0
        self.on_train_begin = lambda: None
        setattr(self, place, self.act)
        if place != "set_model":
            self.set_model = self.take

    def take(self, model):
        self.model = model

    def act(self, *given):
        self.calls += 1
        if self.calls > 1:
            return
        try:
            self.action(getattr(self, "model", given[0] if given else None))
        except Exception as error:
            self.error = error


def train(model, way, callbacks=(), epochs=3):
    if way == "fit":
        return model.fit(X, Y, epochs=epochs, callbacks=callbacks, verbose=0).history
    if way == "batches":
        return model.fit(Again(), epochs=epochs, callbacks=callbacks, verbose=0).history
    return asyncio.run(model.fit_async(X, Y, epochs=epochs, callbacks=callbacks, verbose=0)).history


async def later(model):
    await model.fit_async(X, Y, verbose=0)


def run_later(model):
    try:
        later(model).send(None)
    except StopIteration:
        pass


REFUSED = {
    "compile": lambda model: model.compile(odt.SGD(0.1), batch_size=3),
    "fit": lambda model: model.fit(X, Y, verbose=0),
    "fit_async": run_later,
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("method", sorted(REFUSED))
def test_compile_and_fit_within_a_fit_are_refused_by_name_and_change_nothing(method, place, way):
    plain, model = network(), network()
    expected = train(plain, way)
    once = Once(place, REFUSED[method])
    assert train(model, way, [once]) == expected
    name = "fit_async" if way == "fit_async" else "fit"
    assert type(once.error) is RuntimeError
    assert str(once.error) == "%s: %s is underway: call %s when it has ended" % (method, name, method)
    assert model.digest() == plain.digest() and once.calls > 0
    REFUSED[method](model)  # when it has ended


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", PLACES)
def test_training_goes_on_from_what_a_callback_loads(place, way, dtype, tmp_path):
    """As a model does that had been so all along; what was counted so far stays counted."""
    saved = network(dtype)
    saved.fit(X, Y, epochs=2, verbose=0)
    saved.save(str(tmp_path / "m"))
    model, once = network(dtype), Once(place, lambda model: model.load(str(tmp_path / "m")))
    history = train(model, way, [once])
    assert once.error is None and len(history["loss"]) == 3 and np.isfinite(history["loss"]).all()
    after = {"on_batch_end": 8, "on_epoch_end": 6, "on_train_end": 0}.get(place, 9)
    assert model.session.steps() == saved.session.steps() + after
    if place == "on_batch_end":
        for batch in list(batches())[1:]:
            saved.train_step(*batch)
    for _ in range(after // 3):
        train(saved, way, epochs=1)
    if place != "on_batch_end" or way == "batches":  # else it goes on in its order of samples
        assert model.digest() == saved.digest()
    assert model.epoch == (2 if place == "on_train_end" else 3)


@pytest.mark.parametrize("way", WAYS)
def test_weights_and_untrained_models_that_come_within_an_epoch_get_their_ranges(way, tmp_path):
    """100 times the weights: without ranges of their own they would saturate for a while."""
    fresh = network(seed=2)
    fresh.save(str(tmp_path / "fresh"))
    large = [np.array(value) * 100 for value in network(seed=2).get_weights()]
    for action in (lambda model: model.load(str(tmp_path / "fresh")), lambda model: model.set_weights(large)):
        model, once, scales = network(), Once("on_batch_end", action), []

        class Note:
            def on_batch_end(self, step):
                scales.append(np.frombuffer(model.session.scale, "f")[0])

        train(model, way, [once, Note()], epochs=1)
        assert once.error is None and model.session.calibrated == 2
        assert scales[1] == pytest.approx(scales[2], rel=0.5)


def test_a_loss_in_steps_of_the_output_is_right_though_a_callback_loads_other_ranges(tmp_path):
    """The loss of the epoch is the mean of its steps' losses, each in its own scale."""
    y = RANDOM.normal(size=(12, 3)).astype("float32")
    x = RANDOM.normal(size=(12, 5)).astype("float32")

    def regression(scale):
        model = odt.Sequential([odt.Input((5,)), odt.Dense(3)])
        model.compile(odt.SGD(1e-6), "mse", batch_size=4, seed=1)
        model.set_weights([np.array(value) * scale for value in model.get_weights()])
        model.train_step(x[:4], y[:4])
        return model

    regression(20).save(str(tmp_path / "m"))
    model, losses = regression(1), []
    for at in (0, 4, 8):
        losses.append(model.train_step(x[at : at + 4], y[at : at + 4]))
        if not at:
            model.load(str(tmp_path / "m"))
    assert losses[1] > 20 * losses[0]
    for way in ("fit", "fit_async"):
        model = regression(1)
        once = Once("on_batch_end", lambda model: model.load(str(tmp_path / "m")))
        fit = model.fit if way == "fit" else lambda *a, **o: asyncio.run(model.fit_async(*a, **o))
        history = fit(x, y, shuffle=False, callbacks=[once], verbose=0).history
        assert history["loss"] == [pytest.approx(np.mean(losses), rel=1e-3)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_iterable_of_batches_may_use_the_model_but_not_compile_or_fit_it(dtype):
    def meddling(model, errors):
        for batch in batches():
            model.predict(HELD[0])
            model.evaluate(*HELD)
            for name in sorted(REFUSED):
                with pytest.raises(RuntimeError, match=name + ": (fit|evaluate) is underway"):
                    REFUSED[name](model)
                errors.append(name)
            yield batch

    plain, model, errors = network(dtype), network(dtype), []
    for each in (plain, model):
        each.fit(X, Y, verbose=0)  # int8 finds its ranges in what it sees first
    expected = plain.fit(batches(), verbose=0, validation_data=Again(*HELD)).history
    assert model.fit(meddling(model, errors), verbose=0, validation_data=Again(*HELD)).history == expected
    assert model.digest() == plain.digest() and len(errors) == 9
    assert model.evaluate(meddling(model, errors)) == plain.evaluate(batches())
    assert len(errors) == 18
    model.fit(X, Y, verbose=0)


@pytest.mark.parametrize("way", ("fit", "fit_async"))
@pytest.mark.parametrize("place", PLACES[1:-1])
@pytest.mark.parametrize("which", "xy")
def test_data_that_a_callback_empties_are_told_and_not_taken_for_padding(which, place, way):
    import array

    x, y = array.array("f", X.ravel().tolist()), array.array("B", Y.tolist())
    model = network()

    def empty(model):
        del (x if which == "x" else y)[5:]

    with pytest.raises(ValueError, match="%d and %d elements are left of 55 and 11" % (
        5 if which == "x" else 55, 5 if which == "y" else 11)):  # fmt: skip
        fit = model.fit if way == "fit" else lambda *a, **o: asyncio.run(model.fit_async(*a, **o))
        fit(x, y, epochs=3, callbacks=[Once(place, empty)], verbose=0)
    assert model.session.steps() == {"on_batch_end": 1, "on_epoch_end": 3}.get(place, 0)
    model.fit(X, Y, verbose=0)


@pytest.mark.parametrize("way", ("fit", "fit_async"))
@pytest.mark.parametrize("micro", (None, 2))
def test_a_hook_within_a_step_may_look_at_the_weights_and_not_use_the_model(way, micro, tmp_path):
    def model_of():
        model = odt.Sequential([odt.Input((5,)), odt.Dense(6, "relu"), odt.Dense(3)])
        model.compile(odt.Adam(0.01), batch_size=4, seed=1, micro_batch=micro)
        return model

    plain, model, seen = model_of(), model_of(), []
    path = str(tmp_path / "m")
    uses = (
        lambda: model.predict(X), lambda: model.evaluate(X, Y), lambda: model.train_step(X[:4], Y[:4]),
        lambda: model.fit(X, Y, verbose=0), lambda: model.save(path), lambda: model.load(path),
        lambda: model.set_weights(model.get_weights()), lambda: model.compile(batch_size=2), lambda: run_later(model),
        lambda: odt.metrics.confusion_matrix(model, X, Y),
    )  # fmt: skip

    class Hooks:
        def __getattr__(self, name):
            if name not in odt.inspect.PHASES:
                raise AttributeError(name)
            return lambda: self.call(name)

        def call(self, name):
            seen.append(name)
            model.digest(), model.get_weights()
            for use in uses:
                with pytest.raises(
                    RuntimeError, match=name + " is within a step: use the model in on_batch_end|underway"
                ):
                    use()

    train(plain, way, epochs=1)
    train(model, way, [Hooks()], epochs=1)
    assert model.digest() == plain.digest() and set(seen) == set(odt.inspect.PHASES)
    model.predict(X)
    with odt.inspect.Phases(model, [Hooks()]):
        model.train_step(X[:4], Y[:4])


# Training that diverges, and training without end


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("depth, loss, optimizer", (
    (1, "mse", odt.SGD(10)), (2, "mse", odt.SGD(10)), (1, "mse", odt.SGD(10, 0.9, state="float32")),
    (2, "mse", odt.SGD(1, 0.9)), (2, "huber", odt.SGD(1e5)), (2, "sparse_categorical_crossentropy", odt.SGD(9e5)),
))  # fmt: skip
def test_int8_training_that_diverges_is_told_before_predict_is_infinite(depth, loss, optimizer, way, monkeypatch):
    """Where float32 has a loss that is not finite: numbers of 8 bits stay finite, their scales do not."""
    x = np.random.default_rng(0).normal(size=(64, 6)).astype("float32")
    y = np.arange(64).astype("uint8") % 3 if loss[0] == "s" else x[:, :3] @ np.ones((3, 3), "float32")

    def diverge(callbacks):
        model = odt.Sequential([odt.Input((6,))] + [odt.Dense(8) for _ in range(depth - 1)] + [odt.Dense(3)])
        model.compile(optimizer, loss, batch_size=8, seed=1)
        error = None
        try:
            if way == "fit":
                model.fit(x, y, epochs=50, callbacks=callbacks, verbose=0)
            elif way == "fit_async":
                asyncio.run(model.fit_async(x, y, epochs=50, callbacks=callbacks, verbose=0))
            else:
                for step in range(400):
                    at = 8 * (step % 8)
                    model.train_step(x[at : at + 8], y[at : at + 8])
        except ArithmeticError as raised:
            error = str(raised)
        return model, error

    log = Log()
    model, error = diverge([log])
    rate = odt.base.fixed.bits_to_float(optimizer.learning_rate.base)
    assert error == "int8 training has diverged: after step %d a range is beyond float32; learning rate %g" % (
        model.session.steps(),
        rate,
    )
    assert way == "batches" or log.calls[-1] == "end"
    monkeypatch.setattr(Session, "check_range", lambda *unused: None)
    model, error = diverge([])
    assert error is None and not np.isfinite(model.predict(x)).all()  # what was not told


def check_ranges(session):
    """As after an epoch of fit."""
    for at in session.scales:
        session.check_range(session.state, at)


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_a_layer_within_that_diverges_is_told_after_the_epoch(dtype):
    model = network(dtype)
    model.fit(X, Y, verbose=0)
    check_ranges(model.session)
    assert len(model.session.scales) == (0 if dtype == "float32" else 6)
    for at in model.session.scales:
        before = odt.run.weights.get(model.session.state, at)
        odt.run.weights.put(model.session.state, at, 0x7F7FFFFF)
        with pytest.raises(ArithmeticError, match="diverged: after step 3 .*learning rate 0.01"):
            check_ranges(model.session)
        odt.run.weights.put(model.session.state, at, before)


def test_int8_ranges_up_to_the_last_are_trained():
    """2^119 is none of those that are refused."""
    model = network()
    model.fit(X, Y, verbose=0)
    odt.run.weights.put(model.session.state, model.session.scales[0], (127 + 119) << 23)
    check_ranges(model.session)
    odt.run.weights.put(model.session.state, model.session.scales[0], (127 + 120) << 23)
    with pytest.raises(ArithmeticError, match="diverged"):
        check_ranges(model.session)


def test_steps_in_one_call_end_as_those_that_are_not(monkeypatch):
    """Data of other kinds between, batches that are not whole, a hook, a rate that is changed and one that changes, the
    counter's end.
    """
    from array import array

    from odt.inspect import Phases

    calls, found = [], []
    flat = array("f", X.ravel())
    data = [
        (flat[:20], bytes(Y[:4])),
        (flat[20:40], bytes(Y[4:8])),
        (flat[40:], bytes(Y[8:])),
        (X[:4], Y[:4]),
        (flat[:20], bytearray(Y[:4])),
        (flat[:20], array("h", Y[:4])),
        (flat[20:40], array("h", Y[4:8])),
    ]
    for has_step in (True, False):
        engine = odt.executor.engine
        if has_step:
            original = engine.step
            monkeypatch.setattr(engine, "step", lambda *args: calls.append(original(*args)) or calls[-1])
        else:
            monkeypatch.delattr(engine, "step")
        model = network()
        losses = [model.train_step(*pair) for pair in data * 2]
        with Phases(model, [Log()]):
            losses += [model.train_step(*pair) for pair in data[:2]]
        model.session.optimizer.learning_rate = odt.Adam(0.002).learning_rate
        losses += [model.train_step(*pair) for pair in data[:3]]
        model.session.optimizer.learning_rate = odt.StepDecay(0.01, 1)
        losses += [model.train_step(*pair) for pair in data[:3]]
        model.session.optimizer.learning_rate = odt.Adam(0.003).learning_rate
        for start in (0xFEFFFFFE, 0xFFFFFFFD):
            odt.run.weights.put(model.session.state, 0, start)
            losses += [model.train_step(*pair) for pair in data[:2] * 2]
        with pytest.raises(ValueError, match="x: 8 samples do not fit batch_size 4"):
            model.train_step(flat[:40], bytes(Y[:8]))
        found.append((model.digest(), losses, model.session.steps()))
        monkeypatch.undo()
    assert found[0] == found[1] and found[0][2] == 0xFF000002
    assert calls.count(4) + calls.count(3) > 8 and 0 in calls


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("way", ("step", "fit", "fit_async"))
def test_nothing_begins_anew_after_2_to_the_32_steps(way, dtype):
    """The counter is 32 bits wide: schedules would warm up again, a rate that fell would be the first again."""

    class Noted(odt.StepDecay):
        def bits(self, step):
            steps.append(step)
            return super().bits(step)

    steps = []
    model = network(dtype, odt.Adam(Noted(0.01, 1 << 24, 0.99)))
    model.fit(X, Y, verbose=0)
    first = steps[:]
    rate = odt.StepDecay(0.01, 1 << 24, 0.99).bits(0xFF000000)
    del steps[:]
    counts = []
    for start in (0xFEFFFFFE, 0xFFFFFFFD):
        odt.run.weights.put(model.session.state, 0, start)
        if way == "step":
            for x, y in list(batches()) + list(batches()):
                model.train_step(x, y)
                counts.append(model.session.steps())
        elif way == "fit":
            model.fit(X, Y, epochs=2, verbose=0)
        else:
            asyncio.run(model.fit_async(X, Y, epochs=2, verbose=0))
    assert first == [0, 1, 2]
    assert steps == [0xFEFFFFFE, 0xFEFFFFFF] + 10 * [0xFF000000]
    assert model.session.optimizer.learning_rate.bits(steps[-1]) == rate
    assert model.session.steps() == 0xFF000004
    if counts:
        assert counts[6:] == [0xFFFFFFFE, 0xFFFFFFFF, 0xFF000001, 0xFF000002, 0xFF000003, 0xFF000004]
    assert np.isfinite(model.evaluate(X, Y)[0])


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_uint16_samples_train_as_int16_ones_of_another_zero_point_in_each_form_they_come_in(dtype, tmp_path):
    random = np.random.default_rng(1)
    y = (np.arange(32) % 2).astype("uint8")
    x = (
        (32768 + np.where(y[:, None], 9000, -9000) + random.normal(size=(32, 20)) * 9000)
        .clip(0, 65535)
        .astype("uint16")
    )
    shifted = (x.astype("int32") - 32768).astype("int16")

    def trained(x, kind="uint16", zero=32768):
        model = odt.Sequential([odt.Input((20,), kind, 1 / 32768, zero), odt.Dense(8, "relu"), odt.Dense(2)])
        model.compile(odt.Adam(0.01), dtype=dtype, batch_size=8, seed=1)
        model.fit(x, y, epochs=2)  # with what it says of the data
        return model

    expected = trained(shifted, "int16", 0).digest()
    given = [x, array("H", x.ravel().tolist()), x.tolist(), x.tobytes(), memoryview(x)]
    assert [trained(each).digest() for each in given] == [expected] * len(given)
    executor.use("reference")
    try:
        model = trained(x)
    finally:
        executor.use("native")
    assert model.digest() == expected
    model.export(tmp_path / "net.odt")
    opened = odt.load_model(tmp_path / "net.odt")
    assert opened.predict(x).tolist() == model.predict(x).tolist()
    model.train_step(x[:8], y[:8])
    assert opened.train_step(x[:8], y[:8]) >= 0 and opened.digest() == model.digest()
    for bad in ([[65536] * 20], [[-1] * 20]):
        with pytest.raises(ValueError, match="does not fit into uint16"):
            model.predict(bad)
    with pytest.raises(TypeError, match="elements are of type 'h', expected uint16"):
        model.predict(shifted)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("weights", ([0, 0, 0], {0: 0, 1: 0, 2: 1e-10}))
def test_weights_of_classes_that_are_all_0_are_refused_in_both_dtypes(dtype, weights):
    model = network(dtype)
    before = model.digest()
    with pytest.raises(ValueError, match="class_weight: all are 0$"):
        model.fit(X, Y, class_weight=weights, verbose=0)
    assert model.digest() == before
    with pytest.raises(ValueError, match="class_weight: all are 0$"):
        model.compile("sgd", odt.SparseCategoricalCrossentropy(weights), dtype=dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("weights", ([0, 5, 0], {0: 0, 2: 0}))
def test_weights_that_are_0_for_each_class_of_the_data_are_refused(dtype, weights):
    model, y = network(dtype), np.array([0, 2] * 5 + [0], "uint8")
    before = model.digest()
    for call in (model.fit, lambda *data, **options: asyncio.run(model.fit_async(*data, **options))):
        with pytest.raises(ValueError, match="class_weight: all are 0 of the classes in y"):
            call(X, y, class_weight=weights, verbose=0)
        assert model.digest() == before
    model.compile("sgd", odt.SparseCategoricalCrossentropy(weights), dtype=dtype, batch_size=4)
    with pytest.raises(ValueError, match="class_weight: all are 0 of the classes in y"):
        model.fit(X, y, verbose=0)
    model.fit(X, Y, verbose=0)
    assert np.isfinite(model.train_step(X[:4], y[:4]))  # a batch may have none that counts


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_batchnorm_of_one_number_per_channel_and_batch_is_refused(dtype):
    """As PyTorch does: it would train without effect."""
    flat = odt.Sequential([odt.Input((5,)), odt.Dense(6), odt.ReLU(), odt.BatchNorm(name="norm"), odt.Dense(3)])
    for options in ({"batch_size": 1}, {"batch_size": 4, "micro_batch": 1}):
        with pytest.raises(ValueError, match="^norm: one number per channel"):
            flat.compile(odt.Adam(0.01), dtype=dtype, **options)
    flat.compile(odt.Adam(0.01), dtype=dtype, batch_size=2)
    with pytest.raises(ValueError, match="^norm: one number per channel"):
        flat.fit(X, Y, batch_size=1, verbose=0)
    flat.compile(None, dtype=dtype, batch_size=1)
    lines = odt.Sequential(
        [odt.Input((5, 1)), odt.Conv1D(4, 1), odt.ReLU(), odt.BatchNorm(), odt.Flatten(), odt.Dense(3)]
    )
    lines.compile(odt.Adam(0.01), dtype=dtype, batch_size=1)
    lines.fit(X, Y, verbose=0)
    flat.layers[-2].trainable = False
    flat.compile(odt.Adam(0.01), dtype=dtype, batch_size=1)
