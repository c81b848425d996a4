"""Rows that are not there are not computed: the same bits as if they were,
of every instruction and of whole networks.
"""

import random
from array import array

import networks
import numpy as np
import pytest
from executors import compare, executors
from instructions import NAMES, Case, draw

import odt
from odt.base import opcodes

X = np.random.RandomState(1).randint(0, 17, (40, 64)).astype("uint8")
Y = np.random.RandomState(2).randint(0, 10, 40).astype("uint8")
IMAGES = """
    odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
    odt.Conv2D(4, 3, padding="same", activation="relu"), odt.MaxPool2D(), odt.BatchNorm(), odt.DepthwiseConv2D(3),
    odt.GlobalAvgPool(), odt.Dense(10),
"""


def limited(case, rows):
    """(the case with a COUNT below ``rows``, the same case with the smaller sizes that it stands for):
    docs/reference/program.md.
    """
    op = opcodes.opcode(case.name)
    count = max(1, array("i", bytes(case.regions[opcodes.CONTROL]))[opcodes.COUNT])
    words, sizes = array("i", case.program), dict(case.immediates)
    if count < rows:
        for index in op.rows:
            name = op.immediates[index]
            if sizes[name] % rows == 0:
                sizes[name] = sizes[name] // rows * count
                words[13 + len(op.operands) + index] = sizes[name]
                break
    return Case(case.name, words.tobytes(), case.regions, sizes, case.addresses, case.times)


def drawn(name, count=40):
    """Cases of an instruction, with a number of rows that mostly divides a size, and a COUNT about it."""
    rng = random.Random(name)
    op = opcodes.opcode(name)
    for _ in range(count):
        case = draw(rng, name)
        sizes = [case.immediates[op.immediates[index]] for index in op.rows] or [2]
        rows = rng.choice([size for size in sizes if size > 1] + [rng.randint(0, 8)])
        if rows % 2 == 0 and rng.random() < 0.3:
            rows //= 2
        control = array("i", bytes(case.regions[opcodes.CONTROL]))
        control[opcodes.COUNT] = rng.choice((rng.randint(1, max(1, rows)), rng.randint(-1, rows + 1)))
        case.regions[opcodes.CONTROL] = bytearray(control.tobytes())
        yield case, rows


@pytest.mark.slow
@executors
def test_fewer_rows_are_smaller_sizes_of_every_instruction(executor):
    changed = 0
    for name in NAMES:
        for case, rows in drawn(name):
            smaller = limited(case, rows)
            changed += smaller.program != case.program
            executor.load(smaller.program)  # what was verified holds of the smaller sizes, too
            regions = [None if r is None else bytearray(r) for r in case.regions]
            executor.run(executor.load(case.program), regions, 12, len(case.program) // 4, rows)
            expected = smaller.run(executor)
            assert [None if r is None else bytes(r) for r in regions] == expected, (name, rows, case.immediates)
    assert changed > 1000


@executors
def test_fewer_rows_give_the_same_bits_in_either_executor(executor):
    for name in NAMES:
        for case, rows in drawn(name, 10):
            regions = [None if r is None else bytearray(r) for r in case.regions]
            executor.run(executor.load(case.program), regions, 12, len(case.program) // 4, rows)
            compare(limited(case, rows), [None if r is None else bytes(r) for r in regions])


class Whole:
    """An executor that computes all rows, as all did."""

    def __init__(self, model):
        self.engine = model.session.engine
        model.session.engine = self

    def __getattr__(self, name):
        return getattr(self.engine, name)

    def run(self, loaded, regions, start, stop, rows=0):
        self.engine.run(loaded, regions, start, stop)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_networks_give_the_bits_of_all_rows(seed):
    model, x, y = networks.fitted(seed)
    session = model.session
    samples = len(y) // session.width

    def results():
        found = [bytes(model.predict(x)), model.evaluate(x, y)]
        for count in range(1, min(samples, session.batch_size + 1) + 1):
            found.append(bytes(model.predict(x[: count * session.row])))
            found.append(model.evaluate(x[: count * session.row], y[: count * session.width]))
        return repr(found)

    fewer, digest = results(), model.digest()
    Whole(model)
    assert fewer == results() and model.digest() == digest


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("micro", (None, 4))
def test_what_is_not_there_is_not_computed(dtype, micro):
    model = odt.Sequential([odt.Input((64,), dtype="uint8", scale=1 / 16), odt.Dense(10)])
    model.compile(dtype=dtype, batch_size=16, micro_batch=micro)
    model.predict(X)
    session = model.session
    rows, size = session.rows, 1 if dtype == "int8" else 4
    at = session.plan.output.buffer.offset
    for count in range(1, rows + 1):
        session.arena[:] = b"\x55" * len(session.arena)
        model.predict(X[:count])
        absent = size * 10 * (rows - count)
        assert session.arena[at + size * 10 * count :][:absent] == b"\x55" * absent
        assert session.arena.count(0x55) >= size * 64 * (rows - count)
        session.arena[:] = b"\x55" * len(session.arena)
        model.evaluate(X[:count], Y[:count])
        assert session.arena.count(0x55) >= size * 64 * (rows - count)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_validation_of_a_last_batch_is_that_of_all_rows(dtype):
    import asyncio

    def history(whole, in_slices):
        model = eval("odt.Sequential([%s])" % IMAGES)
        model.compile(odt.Adam(0.01), dtype=dtype, batch_size=16, seed=3)
        if whole:
            Whole(model)
        x = X.reshape(-1, 8, 8, 1)
        options = {"epochs": 2, "validation_data": (x[:21], Y[:21]), "verbose": 0}
        done = asyncio.run(model.fit_async(x, Y, slice_ms=1, **options)) if in_slices else model.fit(x, Y, **options)
        return done.history, model.digest()

    assert history(False, False) == history(True, False) == history(False, True)


# What predict gives


def small(dtype="int8", batch=4, loss="sparse_categorical_crossentropy", layers=None):
    model = odt.Sequential(layers or [odt.Input((4, 2)), odt.Flatten(), odt.Dense(3)])
    model.compile(dtype=dtype, batch_size=batch, seed=2, loss=loss)
    return model


REAL = np.random.RandomState(3).normal(size=(7, 4, 2)).astype("float32")


@pytest.mark.slow
@pytest.mark.parametrize("backend", ("native", "reference"))
@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("batch", (1, 4, 16))
def test_outputs_are_the_stored_numbers_times_their_scale(dtype, batch, backend):
    """By NumPy, from the arena: (q - zero) * scale, rounded once."""
    before = odt.executor.backend
    odt.executor.use(backend)
    try:
        model = small(dtype, batch)
        model.fit(REAL, bytes([0, 1, 2, 0, 1, 2, 0]), verbose=0)
        flat = array("f", REAL.tobytes())
        for _ in range(2):  # looked at, then known
            found = model.predict(flat)
            assert type(found) is array and found.typecode == "f" and len(found) == 21
            expected = []
            for sample in REAL:
                model.evaluate(sample.reshape(1, 4, 2), b"\0")  # leaves other things in the arena
                model.predict(array("f", sample.tobytes()))
                output, session = model.session.plan.output, model.session
                stored = bytes(session.arena)[output.buffer.offset :]
                if dtype == "int8":
                    q = np.frombuffer(stored, "int8")[:3].astype("float64") - output.zero
                    expected.append((q * np.frombuffer(session.scale, "float32")[0]).astype("float32"))
                else:
                    expected.append(np.frombuffer(stored[:12], "float32"))
            assert bytes(found) == np.array(expected).tobytes()
    finally:
        odt.executor.use(before)


@pytest.mark.parametrize("backend", ("native", "reference"))
def test_a_result_has_the_shape_of_its_data_and_may_be_given(backend):
    before = odt.executor.backend
    odt.executor.use(backend)
    try:
        model = small()
        found = model.predict(REAL)
        assert found.shape == (7, 3) and found.dtype == np.float32 and found.flags.writeable
        assert np.array_equal(model.predict(REAL[2])[0], found[2])  # one sample, without the axis of samples
        assert bytes(model.predict(array("f", REAL.tobytes()))) == found.tobytes()
        with pytest.raises(ValueError, match="shape"):
            model.predict(REAL[0].T.copy())
        for out in (array("f", bytes(84)), np.zeros((7, 3), "float32"), memoryview(array("f", bytes(84)))):
            for x in (REAL, array("f", REAL.tobytes()), array("f", REAL.tobytes())):
                assert model.predict(x, out=out) is out and bytes(out) == found.tobytes()
        kept = bytes(out)
        flat = array("f", REAL.tobytes())
        for wrong, error in (
            (array("f", bytes(80)), ValueError), (array("i", bytes(84)), TypeError), (bytes(84), TypeError),
            (5, TypeError),
            (np.zeros((7, 6), "float32")[:, ::2], Exception),
        ):  # fmt: skip
            for x in (flat, flat):
                with pytest.raises(error):
                    model.predict(x, out=wrong)
        flat[5] = float("nan")
        with pytest.raises(ValueError, match="NaN"):
            model.predict(flat, out=out)
        assert bytes(out) == kept
    finally:
        odt.executor.use(before)


def test_training_between_predictions_ends_with_the_same_bits():
    def run(looks):
        model = small()
        for at in range(0, 40, 4):
            model.train_step(array("f", REAL[:4].tobytes()), bytes([0, 1, 2, 1]))
            if looks:
                model.predict(array("f", REAL.tobytes()))
                model.predict(array("f", REAL[:1].tobytes()), array("f", bytes(12)))
        return model.digest(), bytes(model.predict(REAL))

    assert run(False) == run(True)


@pytest.mark.slow
def test_probabilities_and_classes_are_those_of_numpy():
    model = small()
    logits = model.predict(REAL).astype("float64")
    p = np.exp(logits - logits.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    assert np.abs(model.predict_proba(REAL) - p).max() < 1e-6 and model.predict_proba(REAL).shape == (7, 3)
    assert np.abs(np.array(model.predict_proba(array("f", REAL.tobytes()))) - p.ravel()).max() < 1e-6
    assert model.predict_classes(REAL) == logits.argmax(1).tolist()
    model.labels = ["ash", "birch", "oak"]
    assert model.predict_classes(REAL) == [model.labels[k] for k in logits.argmax(1)]
    model.labels = ["ash", "birch"]
    with pytest.raises(ValueError, match="labels: 2 names, the network has 3 classes"):
        model.predict_classes(REAL)
    softmax = small(layers=[odt.Input((4, 2)), odt.Flatten(), odt.Dense(3), odt.Softmax()], loss="mse")
    assert np.array_equal(softmax.predict_proba(REAL), softmax.predict(REAL))
    assert softmax.predict_classes(REAL) == softmax.predict(REAL).argmax(1).tolist()
    with pytest.raises(ValueError, match="the model has outputs \\(3,\\) for mse"):
        small(loss="mse").predict_proba(REAL)
    with pytest.raises(ValueError, match="for mse"):
        small(layers=[odt.Input((4, 2)), odt.Flatten(), odt.Dense(3), odt.Tanh()], loss="mse").predict_classes(REAL)
    for units in (1, 3):
        binary = small(layers=[odt.Input((4, 2)), odt.Flatten(), odt.Dense(units)], loss="binary_crossentropy")
        logits = binary.predict(REAL).astype("float64")
        assert np.abs(binary.predict_proba(REAL) - 1 / (1 + np.exp(-logits))).max() < 1e-6
        yes = (logits > 0).tolist()
        classes = [int(row[0]) if units == 1 else [k for k in range(3) if row[k]] for row in yes]
        assert binary.predict_classes(REAL) == classes
    binary.labels = ["a", "b", "c"]
    assert binary.predict_classes(REAL) == [[binary.labels[k] for k in row] for row in classes]
