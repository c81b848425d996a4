"""Calls within a step: in order, at the boundaries of forward, backward and update, changing no bit."""

import asyncio

import numpy as np
import pytest

import odt
from odt.inspect import PHASES, Phases, Watch

RANDOM = np.random.default_rng(9)
X = RANDOM.normal(size=(20, 6, 6, 1)).astype("float32")
Y = RANDOM.integers(0, 3, 20).astype("uint8")
DTYPES = ("int8", "float32")


def network(dtype="int8", micro=None, optimizer=None):
    model = odt.Sequential([
        odt.Input((6, 6, 1)), odt.Conv2D(3, 3, padding="same", activation="relu"), odt.MaxPool2D(), odt.Flatten(),
        odt.Dense(7, "relu"), odt.Dense(3),
    ])  # fmt: skip
    model.compile(optimizer or odt.Adam(0.01), dtype=dtype, batch_size=10, seed=1, micro_batch=micro)
    return model


class Pins:
    """Notes each call and the digest of weights and optimizer at that moment."""

    def __init__(self, model):
        self.model = model
        self.calls = []
        self.digests = []
        for name in PHASES:
            setattr(self, name, lambda name=name: self.note(name))

    def note(self, name):
        self.calls.append(name[3:])
        self.digests.append(self.model.digest())


def check(calls, digests, updates):
    """One step: forward, then backward with the updates inside, and what changes when."""
    assert calls[:3] == ["forward_begin", "forward_end", "backward_begin"] and calls[-1] == "backward_end"
    assert calls[3:-1] == ["update_begin", "update_end"] * updates
    assert digests[0] == digests[1] == digests[2]  # forward changes no weight
    for at in range(3, len(calls) - 1, 2):
        assert digests[at] != digests[at + 1]
        assert at == 3 or digests[at] == digests[at - 1]  # nor does backward, but in its updates


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", (odt.Adam(0.01), odt.SGD(0.1), odt.SGD(0.1, 0.9, weight_decay=0.1)))
@pytest.mark.parametrize("dtype", DTYPES)
def test_updates_lie_within_backward_and_change_what_nothing_else_changes(dtype, optimizer):
    model, plain = network(dtype, None, optimizer), network(dtype, None, optimizer)
    model.fit(X, Y, verbose=0)
    pins = Pins(model)
    with Phases(model, [pins]):
        for _ in range(2):
            before = len(pins.calls)
            model.train_step(X[:10], Y[:10])
            updates = pins.calls[before:].count("update_begin")
            check(pins.calls[before:], pins.digests[before:], updates)
            assert 3 <= updates <= 6  # a kernel and a bias each of three layers, some in one go
            assert pins.digests[-1] == model.digest()
    count = len(pins.calls)
    model.train_step(X[:10], Y[:10])
    assert len(pins.calls) == count
    plain.fit(X, Y, verbose=0)
    for _ in range(3):
        plain.train_step(X[:10], Y[:10])
    assert model.digest() == plain.digest()


@pytest.mark.parametrize("dtype", DTYPES)
def test_micro_batches_go_forward_and_backward_each_and_update_once(dtype):
    model = network(dtype, 4)
    model.fit(X, Y, verbose=0)
    pins = Pins(model)
    with Phases(model, [pins]):
        model.train_step(X[:10], Y[:10])
    part = ["forward_begin", "forward_end", "backward_begin", "backward_end"]
    assert pins.calls == part * 3 + ["update_begin", "update_end"]
    assert len(set(pins.digests[:13])) == 1 and pins.digests[13] == model.digest() != pins.digests[12]


@pytest.mark.slow
@pytest.mark.parametrize("micro", (None, 4))
@pytest.mark.parametrize("dtype", DTYPES)
def test_fit_calls_what_a_callback_has_and_ends_with_the_same_bits(dtype, micro):
    class Update:
        begun = ended = 0

        def on_update_begin(self):
            self.begun += 1

        def on_batch_end(self, step):
            self.ended += self.begun > 0

    plain, called, sliced = network(dtype, micro), network(dtype, micro), network(dtype, micro)
    expected = plain.fit(X, Y, epochs=2, verbose=0).history
    first, second = Update(), Update()
    parts = called.session.parts
    assert called.fit(X, Y, epochs=2, callbacks=[first], verbose=0).history == expected
    assert called.session.parts is parts and called.digest() == plain.digest()
    history = asyncio.run(sliced.fit_async(X, Y, epochs=2, callbacks=[second], verbose=0, slice_ms=1)).history
    assert history == expected and sliced.digest() == plain.digest()
    assert first.begun == second.begun >= first.ended == second.ended == 4


def test_a_callback_that_raises_leaves_the_model_as_it_was_cut():
    class Stop:
        def on_backward_begin(self):
            raise KeyboardInterrupt

    model = network()
    parts = model.session.parts
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y, callbacks=[Stop()], verbose=0)
    assert model.session.parts is parts
    model.fit(X, Y, verbose=0)


def test_watches_are_nested_and_outlived_by_a_model_that_is_compiled_anew():
    class Count(Watch):
        calls = 0

        def places(self, start, stop):
            return {at: [self.call] for at, _, _, _ in self.model.program.walk(start, stop)}

        def call(self):
            self.calls += 1

    model = network("float32")
    parts = model.session.parts
    instructions = len(list(model.program.walk(*model.session.sections["train"])))
    with Count(model) as outer, Count(model) as inner, Phases(model, [Pins(model)]):
        model.train_step(X[:10], Y[:10])
    assert outer.calls == inner.calls == instructions and model.session.parts is parts
    weights = model.get_weights()
    with pytest.raises(ArithmeticError, match="not finite"), Count(model):
        model.set_weights([[3e37] * len(w) for w in weights])
        model.train_step(X[:10], Y[:10])
    model.set_weights(weights)
    with Count(model):
        model.compile(odt.SGD(0.1), batch_size=5)
        parts = model.session.parts
    assert model.session.parts is parts
    model.fit(X, Y, verbose=0)
    with pytest.raises(RuntimeError, match="compile"):
        Phases(odt.Sequential([odt.Input((6,)), odt.Dense(2)]), [])
