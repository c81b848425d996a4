"""Steps: a recurrent network step by step ends with the bits of the window's forward pass, without the window."""

import numpy as np
import pytest

import odt
from odt import executor
from odt.recurrent import Steps

STEPS, WIDTH, COUNT = 7, 3, 12
X = np.random.default_rng(2).normal(size=(COUNT, STEPS, WIDTH)).astype("float32")
Y = [i % 3 for i in range(COUNT)]
CELLS = {
    "gru": lambda: [odt.GRU(6)],
    "lstm": lambda: [odt.LSTM(6)],
    "simple_rnn": lambda: [odt.SimpleRNN(6)],
    "two": lambda: [odt.GRU(5, return_sequences=True), odt.LSTM(4)],
    "three": lambda: [odt.SimpleRNN(5, return_sequences=True), odt.Dense(4, activation="relu"), odt.Dropout(0.2),
                      odt.GRU(4, return_sequences=True), odt.LayerNorm(), odt.LSTM(3), odt.Dense(4, activation="relu")],
    "normed": lambda: [odt.Dense(4, use_bias=False), odt.BatchNorm(), odt.Tanh(), odt.GRU(5)],
}  # fmt: skip


def network(cells, dtype="int8", optimizer="adam", **options):
    model = odt.Sequential([odt.Input((STEPS, WIDTH)), *CELLS[cells](), odt.Dense(3)])
    given = {"dtype": dtype, "batch_size": 4, "seed": 5}
    model.compile(odt.Adam(0.01) if optimizer == "adam" else optimizer, **dict(given, **options))
    if optimizer is not None:
        model.fit(X, Y, epochs=3, verbose=0)
    elif dtype == "int8":
        model.calibrate(X)
        model.session.fix_ranges()
    return model


def stepped(steps):
    """The last output of each sequence."""
    found = []
    for x in X:
        steps.reset()
        for step in x:
            last = steps.predict(step)
        found.append(bytes(memoryview(np.asarray(last))))
    return b"".join(found)


@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("cells", sorted(CELLS))
def test_after_all_steps_the_output_is_the_windows_to_the_bit(cells, dtype):
    model = network(cells, dtype)
    steps, expected = Steps(model), bytes(model.predict(X))
    assert stepped(steps) == expected
    model.fit(X, Y, epochs=2, verbose=0)  # the steps have the model's weights and ranges
    assert stepped(steps) == bytes(model.predict(X)) != expected


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_both_executors_step_to_the_same_bits(dtype):
    found, before = [], executor.backend
    try:
        for backend in ("native", "reference"):
            executor.use(backend)
            found.append(stepped(Steps(network("three", dtype))))
    finally:
        executor.use(before)
    assert found[0] == found[1]


@pytest.mark.parametrize("options", (
    {"micro_batch": 2}, {"checkpoint": "sqrt"}, {"optimizer": odt.SGD(0.05, momentum=0.9)}, {"optimizer": None},
    {"optimizer": odt.Adam(0.01, state="float32")}, {"batch_size": 1},
))  # fmt: skip
def test_however_the_model_was_compiled(options):
    model = network("two", **options)
    assert stepped(Steps(model)) == bytes(model.predict(X))


def test_several_steps_at_once_are_one_after_the_other():
    steps = Steps(network("two"))
    one = [np.array(steps.predict(step)) for step in X[0]]
    steps.reset()
    assert np.array_equal(np.array(steps.predict(X[0])).reshape(-1), np.array(one).reshape(-1))


def test_a_network_that_ends_with_a_sequence_gives_its_rows():
    model = odt.Sequential([odt.Input((STEPS, WIDTH)), odt.GRU(4, return_sequences=True), odt.Dense(2)])
    model.compile(odt.Adam(0.01), loss="mse", batch_size=4)
    model.fit(X, np.zeros((COUNT, STEPS, 2), "float32"), epochs=2, verbose=0)
    steps = Steps(model)
    assert np.array_equal(np.array(steps.predict(X[3])).reshape(STEPS, 2), np.array(model.predict(X[3]))[0])


@pytest.mark.parametrize("kind", ("int8", "uint8", "int16"))
def test_inputs_of_integers(kind):
    x = np.random.default_rng(3).integers(0, 100, (COUNT, STEPS, WIDTH)).astype(kind)
    model = odt.Sequential([odt.Input((STEPS, WIDTH), dtype=kind, scale=1 / 64), odt.GRU(4), odt.Dense(3)])
    model.compile(odt.Adam(0.01), batch_size=4)
    model.fit(x, Y, epochs=2, verbose=0)
    steps = Steps(model)
    last = [np.array(steps.predict(step)) for step in x[0]][-1]
    assert np.array_equal(last.reshape(-1), np.array(model.predict(x[0])).reshape(-1))


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_a_file_steps_as_the_model_does(dtype, tmp_path):
    model = network("two", dtype)
    path = str(tmp_path / "steps.odt")
    Steps(model).export(path, labels=["a", "b", "c"])
    steps = Steps(odt.load_model(path))
    assert steps.labels == ["a", "b", "c"] and steps.session.input.shape == (1, WIDTH)
    assert stepped(steps) == bytes(model.predict(X))
    with pytest.raises(RuntimeError, match="these Steps are from a file"):
        steps.export(path)
    model.export(path)
    with pytest.raises(AttributeError, match="a model from a file has no layers"):
        Steps(odt.load_model(path))
    with pytest.raises(ValueError, match="Steps do not train"):
        Steps(model).export(path, purpose="training")


def test_a_state_goes_on_elsewhere_and_that_of_another_batch_or_network_is_refused():
    model = network("two")
    steps, other = Steps(model), Steps(model)
    steps.predict(X[0, :4])
    other.predict(X[1])
    other.restore(bytes(steps.state))
    assert bytes(memoryview(other.predict(X[0, 4:]))) == bytes(memoryview(steps.predict(X[0, 4:])))
    before = bytes(other.state)
    for wrong in (bytes(2 * len(steps.state)), b"", bytes(Steps(network("lstm")).state)):
        with pytest.raises(ValueError, match="restore: a state of %d bytes is expected, got" % len(before)):
            other.restore(wrong)
        assert bytes(other.state) == before


def test_bad_steps_leave_the_state_as_it_was():
    steps = Steps(network("gru", "float32"))
    steps.predict(X[0, 0])
    before = bytes(steps.state)
    for wrong in (X[0, 0, :2], [1.0, float("nan"), 0.0], np.zeros((2, 2), "float32"), "abc"):
        with pytest.raises((ValueError, TypeError)):
            steps.predict(wrong)
        assert bytes(steps.state) == before
    with pytest.raises(RuntimeError):
        steps.fit(X[:, :1], Y, verbose=0)


def test_the_steps_take_a_part_of_the_windows_memory():
    model = odt.Sequential([odt.Input((49, 40)), odt.GRU(32), odt.Dense(10)])
    model.compile(None, batch_size=1)
    model.calibrate(np.zeros((1, 49, 40), "float32"))
    steps = Steps(model)
    assert len(steps.state) == 32 + 4 * 32  # outputs in int8, z * h in int32
    assert steps.session.state is model.session.state
    assert len(steps.session.arena) < 2000 < 7800 < len(model.session.arena)


def test_what_does_not_go_by_steps_is_named():
    def begun(*layers, shape=(STEPS, WIDTH)):
        model = odt.Sequential([odt.Input(shape), *layers])
        model.compile("adam", batch_size=4, dtype="float32")
        return Steps(model)

    for layers, words in (
        ((odt.Conv1D(4, 3, padding="same"), odt.GRU(3)), "Steps: conv1d mixes the steps of a sequence, or counts them"),
        ((odt.GRU(3, return_sequences=True), odt.Flatten(), odt.Dense(2)), "Steps: flatten mixes"),
        ((odt.GRU(3, return_sequences=True), odt.GlobalAvgPool()), "Steps: globalavgpool mixes"),
        ((odt.PositionEmbedding(), odt.LSTM(3)), "Steps: positionembedding mixes"),
        ((odt.Flatten(), odt.Dense(2)), "Steps: the model has no GRU, LSTM or SimpleRNN"),
    ):
        with pytest.raises(ValueError, match=words):
            begun(*layers)
    model = odt.Sequential([odt.Input((STEPS, WIDTH)), odt.GRU(3), odt.Dense(2)])
    with pytest.raises(RuntimeError):
        Steps(model)
    model.compile("adam")
    with pytest.raises(ValueError, match="no int8 ranges yet"):
        Steps(model)


def test_a_stream_of_frames_runs_a_step_for_each(tmp_path):
    from odt.sensors import Events, Stream, Window

    model = network("gru", "float32")
    steps, by_hand = Steps(model), Steps(model)
    stream = Stream(Window(1, WIDTH, typecode="f"), steps, Events(["a", "b", "c"], mean=1, threshold=0.34))
    for x in X[0]:
        stream.feed(x)
    by_hand.predict(X[0])
    assert bytes(steps.state) == bytes(by_hand.state) != bytes(len(steps.state))
