"""Ctrl-C at each instruction of a step, of calibration and of a look: the model goes on, and so does its checkpoint."""

import math
import random
import signal
import sys
from array import array

import numpy as np
import pytest

import odt
from odt.run import replace
from odt.slots import Bytes

X = [[0.0, 1.0], [1.0, 0.5], [0.25, 1.0], [0.5, -1.0], [-0.25, 0.0]]
Y = [0, 2, 1, 0, 1]


class Interrupting:
    """An executor that raises KeyboardInterrupt before instruction ``at`` of all that it runs."""

    def __init__(self, model):
        self.engine, self.program, self.at, self.done = model.session.engine, model.program, None, 0

    def __getattr__(self, name):
        if name == "calibrate":  # which would run instructions by itself
            raise AttributeError(name)
        return getattr(self.engine, name)

    def run(self, loaded, regions, start, stop, rows=0):
        for at, code, _, _ in self.program.walk(start, stop):
            if self.done == self.at:
                self.at = None
                raise KeyboardInterrupt
            self.done += 1
            self.engine.run(loaded, regions, at, at + code.words, rows)


def network(dtype, micro=None):
    model = odt.Sequential([odt.Input((2,)), odt.Dense(4, "relu"), odt.Dense(3)])
    rate = odt.CosineDecay(0.05, 20)
    model.compile(odt.Adam(rate), dtype=dtype, batch_size=3, micro_batch=micro, seed=1)
    model.session.engine = Interrupting(model)
    return model


def interrupt(model, at, call):
    """Whether the call was interrupted."""
    model.session.engine.at, model.session.engine.done = at, 0
    try:
        call()
    except KeyboardInterrupt:
        return True
    model.session.engine.at = None
    return False


def goes_on(model, dtype, micro):
    """It evaluates, is saved and loaded, and trains to the same bits as what was loaded."""
    loss, accuracy = model.evaluate(X, Y)
    assert math.isfinite(loss) and 0 <= accuracy <= 1
    assert all(math.isfinite(value) for weights in model.get_weights() for value in weights)
    place = Bytes(bytearray(4096))
    model.save(place)
    other = network(dtype, micro)
    other.load(place)
    assert other.digest() == model.digest()
    for one in (model, other):
        one.fit(X, Y, verbose=0)
    assert other.digest() == model.digest()


@pytest.mark.slow
@pytest.mark.parametrize("micro", (None, 2))
@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_training_interrupted_at_any_instruction_goes_on(dtype, micro):
    model = network(dtype, micro)
    model.fit(X, Y, verbose=0)
    state = bytes(model.session.state)
    at = 0
    while interrupt(model, at, lambda: model.fit(X, Y, verbose=0)):
        goes_on(model, dtype, micro)
        replace.restore(model.session, state, 1)
        at += 1
    assert at > 30


@pytest.mark.slow
@pytest.mark.parametrize("micro", (None, 2))
def test_calibration_interrupted_at_any_instruction_begins_anew(micro):
    expected = network("int8", micro)
    expected.fit(X, Y, verbose=0)
    at, before = 0, 0
    while True:
        model = network("int8", micro)
        if not interrupt(model, at, lambda: model.fit(X, Y, verbose=0)):
            break
        if model.session.calibrated == 0:
            before += 1
            model.fit(X, Y, verbose=0)
            assert model.digest() == expected.digest()
        else:
            goes_on(model, "int8", micro)
        at += 1
    assert at > before > 20


def deep():
    """A model whose calibration takes some milliseconds."""
    layers = [odt.Conv2D(16, 3, activation="relu") for _ in range(4)]
    model = odt.Sequential([odt.Input((16, 16, 3)), *layers, odt.Flatten(), odt.Dense(3)])
    model.compile(batch_size=8, seed=1)
    return model


def images():
    rng = random.Random(1)
    return array("f", [rng.gauss(0, 1) for _ in range(8 * 768)]), bytes([row % 3 for row in range(8)])


def stop(*_):
    raise KeyboardInterrupt


@pytest.mark.slow
def test_calibration_in_one_call_interrupted_at_any_time_begins_anew():
    x, y = images()
    expected = deep()
    expected.train_step(x, y)
    model, interrupted, before = deep(), 0, signal.signal(signal.SIGALRM, stop)
    try:
        for attempt in range(200):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-4 * (1 + attempt % 40))
                model.calibrate(x)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                interrupted += model.session.calibrated == 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    model.train_step(x, y)
    assert interrupted and model.digest() == expected.digest()


@pytest.mark.slow
def test_a_first_step_in_one_pass_interrupted_at_any_time_goes_on():
    x, y = images()
    expected = deep()
    expected.train_step(x, y)
    before = signal.signal(signal.SIGALRM, stop)
    ranges = updates = 0
    try:
        for attempt in range(100):
            model = deep()
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-4 * (1 + attempt))
                model.train_step(x, y)
                signal.setitimer(signal.ITIMER_REAL, 0)
                continue
            except KeyboardInterrupt:
                pass
            if model.session.steps() == 0:  # nothing but ranges has been touched
                ranges += 1
                model.train_step(x, y)
                assert model.digest() == expected.digest()
                continue
            updates += model.session.calibrated == 0
            place = Bytes(bytearray(1 << 18))
            model.save(place)
            other = deep()
            other.load(place)
            for one in (model, other):
                one.train_step(x, y)
            assert other.digest() == model.digest() and math.isfinite(model.evaluate(x, y)[0])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert ranges and updates


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_a_look_interrupted_at_any_instruction_changes_nothing(dtype):
    model = network(dtype)
    model.fit(X, Y, verbose=0)
    before, output = model.digest(), bytes(model.predict(X))
    for look in (lambda: model.predict(X), lambda: model.evaluate(X, Y)):
        at = 0
        while interrupt(model, at, look):
            assert model.digest() == before and bytes(model.predict(X)) == output
            at += 1
        assert at > 3


# ZerothOrder moves weights within a step, by an epsilon that is far beyond what a step changes here


class InterruptingAfter(Interrupting):
    """The same after the instruction, as kernels are interrupted; and once more, in what is run then."""

    again = False

    def run(self, loaded, regions, start, stop, rows=0):
        for at, code, _, _ in self.program.walk(start, stop):
            self.engine.run(loaded, regions, at, at + code.words, rows)
            self.done += 1
            if self.done - 1 == self.at:
                self.at = self.at + 1 if self.again else None
                self.again = False
                raise KeyboardInterrupt


def moving(dtype, micro=None, tail=0, engine=Interrupting):
    model = odt.Sequential([odt.Input((2,)), odt.Dense(4, "relu"), odt.Dense(4, "relu"), odt.Dense(3)])
    optimizer = odt.ZerothOrder(1e-6, epsilon=0.5, tail=tail, optimizer=odt.Adam(1e-6) if tail else None)
    model.compile(optimizer, dtype=dtype, batch_size=3, micro_batch=micro, seed=1)
    model.fit(X, Y, verbose=0)  # weights of float32 are multiples of what comes back exactly
    if engine:
        model.session.engine = engine(model)
    return model


def is_home(model, before):
    return max(abs(np.array(a) - np.array(b)).max() for a, b in zip(model.get_weights(), before)) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("again", (False, True))
@pytest.mark.parametrize("engine", (Interrupting, InterruptingAfter))
@pytest.mark.parametrize("micro, tail", ((None, 0), (None, 1), (2, 0), (2, 1)))
@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_weights_that_a_zeroth_order_step_moves_go_back_wherever_it_is_interrupted(dtype, micro, tail, engine, again):
    model = moving(dtype, micro, tail, engine)
    before = model.get_weights()
    for call in (lambda: model.fit(X, Y, verbose=0), lambda: model.train_step(X[:3], Y[:3])):
        at = 0
        while True:
            model.session.engine.again = again
            if not interrupt(model, at, call):
                break
            assert is_home(model, before), at
            at += 1
        assert at > 40


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_a_cancelled_fit_async_leaves_no_weight_moved(dtype, monkeypatch):
    from odt.run import fit_async

    monkeypatch.setattr(fit_async, "since", lambda *unused: 1000)  # a slice is an instruction
    model = moving(dtype, engine=None)
    before = model.get_weights()
    for count in range(1, 90):
        run = model.fit_async(X, Y, verbose=0)
        for _ in range(count):
            run.send(None)
        run.close()
        assert is_home(model, before), count
        model.evaluate(X, Y)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("backend", ("native", "reference"))
def test_ctrl_c_at_any_time_leaves_no_weight_moved(backend):
    """By a timer: kernels look for signals between instructions, Python does anywhere."""

    def interrupted(*unused):
        raise KeyboardInterrupt

    odt.executor.use(backend)
    before = signal.signal(signal.SIGALRM, interrupted)
    try:
        model = moving("int8", engine=None)
        weights, draw = model.get_weights(), random.Random(3)
        for _ in range(100):
            try:
                signal.setitimer(signal.ITIMER_REAL, draw.uniform(1e-4, 3e-3 if backend == "native" else 3e-2))
                while True:
                    model.train_step(X[:3], Y[:3])
            except KeyboardInterrupt:
                pass
            assert is_home(model, weights)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        odt.executor.use("native")


def test_a_model_from_a_file_knows_that_its_steps_move_weights(tmp_path):
    moving("int8", engine=None).export(str(tmp_path / "m.odt"))
    model = odt.load_model(str(tmp_path / "m.odt"))
    model.session.engine = Interrupting(model)
    before = model.get_weights()
    for at in range(5, 40):
        assert interrupt(model, at, lambda: model.train_step(X[:3], Y[:3]))
        assert is_home(model, before)
