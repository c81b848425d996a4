"""fit with callbacks, generators and slices: what they see, and that they change no bit."""

import asyncio
import gc

import numpy as np
import pytest

import odt
from odt.callbacks import Callback, EarlyStopping, ModelCheckpoint

gc.freeze()

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
    assert model._steps == (1 if place == "on_batch_end" else 3)
    model.fit(X, Y, epochs=2, verbose=0)  # a stop is over with its fit
    assert model._steps > 6 and steps._steps == 0


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
    from odt import background

    clock = [0]

    def now():
        clock[0] += 1
        return clock[0]

    monkeypatch.setattr(background, "now", now)
    ticks = []

    async def blink(model):
        while True:
            ticks.append(model._steps)
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
    from odt import background

    model = network()

    async def main():
        task = asyncio.ensure_future(model.fit_async(X, Y, epochs=100000, verbose=0, slice_ms=1))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert 0 < model._steps and np.isfinite(model.evaluate(X, Y)[0])
    losses = model.fit(X, Y, epochs=20, verbose=0).history["loss"]
    assert losses[-1] < 1.2 and background
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
        scale = model._output_scale()
        kernel, bias = model.get_weights()
        limit = 127 * scale if at else np.inf  # the first is calibrated
        output = np.clip(batch / 4 @ np.array(kernel).reshape(3, 5).T + np.array(bias), -limit, limit)
        losses.append(model.train_step(batch, targets))
        assert losses[-1] == pytest.approx(float_loss(output - targets).mean(), rel=0.1)
        assert at != 4 or model._output_scale() > 2 * scale
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
