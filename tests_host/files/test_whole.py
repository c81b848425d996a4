"""load, set_weights and what EarlyStopping restores: all of it or nothing, whatever fails or interrupts it."""

import errno
import gc

import numpy as np
import pytest
from interrupting import Interrupt

import odt
from odt.callbacks import EarlyStopping
from odt.run import build, replace, weights
from odt.slots import Bytes

pytestmark = pytest.mark.slow

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(6, 4)).astype("float32")
Y = RANDOM.integers(0, 3, 6).astype("uint8")
ROOMS = ("arena", "heap", "neither")  # where the new state is staged


@pytest.fixture(autouse=True)
def without_collecting(monkeypatch):
    """Which takes longer here than all the rest."""
    monkeypatch.setattr(gc, "collect", lambda *unused: 0)


@pytest.fixture(params=ROOMS)
def room(request, monkeypatch):
    if request.param == "neither":
        lack_memory(monkeypatch)
    return request.param


def lack_memory(monkeypatch):
    """No copy of a state fits."""

    def full(*unused):
        raise MemoryError

    monkeypatch.setattr(replace, "bytearray", full, raising=False)


def network(room, dtype="int8", seed=1):
    model = odt.Sequential([odt.Input((4,)), odt.Dense(3, "relu"), odt.Dense(3)])
    batch, optimizer = (60, odt.SGD(0.05)) if room == "arena" else (1, odt.Adam(0.02))
    model.compile(optimizer, dtype=dtype, batch_size=batch, seed=seed)
    assert (len(model.session.arena) >= len(model.session.state)) == (room == "arena")
    return model


def condition(model):
    return (
        bytes(model.session.state),
        model.session.calibrated,
        model.epoch,
        model.session.underway,
        model.seed,
        model.session.busy,
    )


def sweep(call, prepare, check, places):
    """``call`` interrupted at each of the places, of how many opcodes it has; ``check(interrupted)`` after each."""
    prepare()
    with Interrupt(0) as it:
        call()
    for at in places(it.done):
        prepare()
        with Interrupt(at) as it:
            call()
        check(it.raised)
        if not it.raised:
            return


def saved(room, place, dtype="int8"):
    """(a model, another in another condition, whose state is in the place)."""
    model, other = network(room, dtype), network(room, dtype, seed=5)
    model.fit(X, Y, verbose=0)
    other.fit(X, Y, epochs=3, verbose=0)
    other.session.underway = (4, 7, 1, 0, 2)
    other.save(place)
    return model, other


def restore(model, before):
    model.session.state[:] = before[0]
    session = model.session
    session.calibrated, session.epoch, session.underway, session.seed, session.busy = before[1:]


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_a_load_that_ctrl_c_interrupts_at_any_opcode_takes_all_or_nothing(room, dtype, tmp_path):
    path = str(tmp_path / "m")
    model, other = saved(room, path, dtype)
    old, new = condition(model), condition(other)
    seen = set()

    def check(interrupted):
        assert condition(model) in (old, new)
        seen.add(condition(model) == new)

    sweep(lambda: model.load(path), lambda: restore(model, old), check, lambda count: range(1, count + 1))
    assert seen == {False, True}


class Unreliable(Bytes):
    """A region whose reads fail from number ``bad`` on, ``times`` times."""

    bad, times, error = None, 0, None

    def get(self, at, count):
        if self.bad is not None:
            self.bad -= 1
            if self.bad < 0 and self.times > 0:
                self.times -= 1
                raise self.error
        return super().get(at, count)


@pytest.mark.parametrize("times", (1, 1000))
@pytest.mark.parametrize("error", (OSError(errno.EIO, "I/O error"), MemoryError(), KeyboardInterrupt()))
def test_a_load_whose_reads_fail_takes_all_or_nothing_or_says_so(room, error, times, monkeypatch):
    monkeypatch.setattr("odt.files.checkpoint._CHUNK", 32)
    place = Unreliable(bytearray(8192))
    model, other = saved(room, place)
    old, new = condition(model), condition(other)
    broken = whole = 0
    for at in range(200):
        restore(model, old)
        place.bad, place.times, place.error = at, times, error
        try:
            model.load(place)
            assert condition(model) == new
            if place.times == times:
                break
        except (ValueError, type(error)):
            pass
        place.bad = None
        if not model.session.busy:
            assert condition(model) in (old, new)
            whole += 1
            continue
        assert room == "neither" and times > 1
        broken += 1
        for use in (
            lambda: model.fit(X, Y), lambda: model.train_step(X[:1], Y[:1]), lambda: model.evaluate(X, Y), model.digest,
            lambda: model.predict(X), lambda: model.save(place), model.get_weights, lambda: model.set_weights([]),
            lambda: odt.files.frozen.pack(model), lambda: model.fit_async(X, Y).send(None),
        ):  # fmt: skip
            with pytest.raises(
                RuntimeError, match=r"load\(\) ended half way: part of the model is new, part old: load\(\)"
            ):
                use()
        if broken % 2:
            model.load(place)
            assert condition(model) == new
        else:
            model.compile(odt.Adam(0.02), batch_size=1, seed=1)
            model.fit(X, Y, verbose=0)
            assert condition(model) == old
    assert whole > 5 and (broken > 4) == (room == "neither" and times > 1)


def test_a_callback_that_hides_a_load_that_ended_half_way_ends_the_training(monkeypatch):
    lack_memory(monkeypatch)
    monkeypatch.setattr("odt.files.checkpoint._CHUNK", 32)
    place = Unreliable(bytearray(8192))
    place.error = OSError(errno.EIO, "I/O error")
    for name in ("on_train_begin", "on_epoch_begin", "on_batch_end", "on_epoch_end"):
        place.bad = None
        model, _ = saved("neither", place)

        class Hiding:
            pass

        def load(self, *unused, model=model):
            place.times = 1000
            for place.bad in range(200):  # until the second pass has begun
                with pytest.raises((OSError, ValueError)):
                    model.load(place)
                if model.session.busy:
                    return
            raise AssertionError("no read came that failed half way")

        setattr(Hiding, name, load)
        with pytest.raises(RuntimeError, match="ended half way"):
            model.fit(X, Y, epochs=2, verbose=0, callbacks=[Hiding()])
        assert model.session.busy


class Source(list):
    """Numbers whose access ``at`` raises; ``done``: how many there were."""

    at, done, error = 0, 0, None

    def _count(self):
        Source.done += 1
        if Source.done == Source.at:
            raise Source.error

    def __getitem__(self, index):
        self._count()
        return super().__getitem__(index)

    def __iter__(self):
        for index in range(len(self)):
            yield self[index]


@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize(
    "error", (OSError(errno.EIO, "I/O error"), MemoryError(), KeyboardInterrupt(), ZeroDivisionError())
)
def test_weights_whose_source_raises_are_all_set_or_none(room, error, dtype):
    model, other = network(room, dtype), network(room, dtype, seed=5)
    model.fit(X, Y, verbose=0)
    values = [Source(each) for each in other.get_weights()]
    old = condition(model)
    Source.at = 0
    model.set_weights(values)
    new = condition(model)
    seen = []
    for Source.at in range(1, 200):
        restore(model, old)
        Source.done, Source.error = 0, error
        try:
            model.set_weights(values)
        except type(error):
            pass
        if Source.done < Source.at:
            break
        if model.session.busy:  # a source that raises what no second try helps against, and no room for a copy
            assert room == "neither" and isinstance(error, ZeroDivisionError)
            with pytest.raises(RuntimeError, match=r"set_weights\(\) ended half way"):
                model.predict(X)
        else:
            assert condition(model) in (old, new)
        seen.append((model.session.busy, condition(model) == new))
    assert (False, False) in seen and len(seen) > 40


def test_weights_whose_setting_ctrl_c_interrupts_at_any_opcode_are_all_set_or_none(room):
    model, other = network(room), network(room, seed=5)
    model.fit(X, Y, verbose=0)
    values = other.get_weights()
    old = condition(model)
    model.set_weights(values)
    new = condition(model)
    seen = set()

    def check(interrupted):
        assert condition(model) in (old, new)
        seen.add(condition(model) == new)

    def places(count):
        return [*range(1, count - 150, count // 50), *range(count - 150, count + 1)]

    sweep(lambda: model.set_weights(values), lambda: restore(model, old), check, places)
    assert seen == {False, True}


class InCompile(Interrupt):
    """Of Model.compile's own opcodes, of build's and of the Session's: what they call knows no model."""

    CODES = (odt.Model.compile.__code__, build.build.__code__, build.Session.__init__.__code__, build.begin.__code__)

    def _call(self, frame, event, argument):
        return super()._call(frame, event, argument) if frame.f_code in self.CODES else None


def test_a_compile_that_ctrl_c_interrupts_at_any_opcode_leaves_the_old_model_or_the_new():
    model = network("heap")
    model.fit(X, Y, verbose=0)
    old, trained = condition(model), network("heap")
    trained.fit(X, Y, epochs=2, verbose=0)
    place = Bytes(bytearray(4096))
    model.save(place)
    counts = {"old": 0, "new": 0}
    at = 1
    while True:
        model.compile(odt.Adam(0.02), batch_size=1, seed=1)
        model.load(place)
        assert condition(model) == old
        with InCompile(at) as it:
            model.compile(odt.SGD(0.1), dtype="float32", batch_size=3)
        if not it.raised:
            break
        new = model.dtype == "float32"
        counts["new" if new else "old"] += 1
        assert not model.session.busy and (new or condition(model) == old)
        model.fit(X, Y, epochs=1 if new else 2, initial_epoch=None if new else 1, verbose=0)
        assert new or model.digest() == trained.digest()
        at += 1 if new or at > it.done - 10 else 7
    assert counts["old"] > 50 and counts["new"] >= 1, counts


def test_a_choice_of_channels_that_is_cut_off_leaves_the_model_or_says_so(monkeypatch):
    from odt.adapt import task_adaptive

    write, calls = weights.write, []

    def failing(*arguments):
        calls.append(1)
        if len(calls) == cut:
            raise MemoryError
        write(*arguments)

    model = network("heap")
    model.fit(X, Y, verbose=0)
    monkeypatch.setattr(weights, "write", failing)
    for cut in (1, 2):
        calls.clear()
        with pytest.raises(MemoryError):
            task_adaptive(model, X, Y)
        with pytest.raises(RuntimeError, match=r"task_adaptive\(\) ended half way"):
            model.predict(X)
        model.compile(odt.Adam(0.02), batch_size=1)
        model.fit(X, Y, verbose=0)


def test_the_best_weights_are_all_restored_or_none():
    model = network("heap")
    stopping = EarlyStopping("loss", restore_best_weights=True)
    model.fit(X, Y, epochs=2, verbose=0, callbacks=[stopping])
    model.fit(X, Y, epochs=4, initial_epoch=2, verbose=0)
    old = condition(model)
    stopping.on_train_end()
    new = condition(model)
    assert new != old and new[2] == stopping.best_epoch + 1

    def check(interrupted):
        assert condition(model) in (old, new)

    sweep(stopping.on_train_end, lambda: restore(model, old), check, lambda count: range(1, count + 1))
