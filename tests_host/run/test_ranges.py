"""Ranges of int8 models whose weights came from outside, or that were used before they were trained."""

import array
import sys

import numpy as np
import pytest

import odt
from odt import metrics

DATA = np.fromfile("examples/digits/digits.bin", np.uint8)
X, Y = DATA[: 1797 * 64].reshape(-1, 64), DATA[1797 * 64 :]
X = X.astype(np.float32) / 16
ZEROS = np.zeros((16, 64), np.float32)


def network(dtype, loss="sparse_categorical_crossentropy", outputs=10, **options):
    layers = [odt.Input((64,)), odt.Dense(32, activation="relu"), odt.Dense(16, activation="relu"), odt.Dense(outputs)]
    model = odt.Sequential(layers)
    model.compile(odt.Adam(0.004), loss, dtype=dtype, seed=3, **options)
    return model


@pytest.fixture(scope="module")
def trained():
    """A float32 model, and an int8 one of its weights is what is tested."""
    model = network("float32")
    model.fit(X[:1000], Y[:1000], epochs=8, verbose=0)
    return model


def imported(trained, **options):
    model = network("int8", **options)
    model.set_weights(trained.get_weights())
    return model


FIRST = {
    "zeros": lambda model: model.predict(ZEROS),
    "one sample": lambda model: model.predict(X[1000:1001]),
    "a faint sample": lambda model: model.evaluate(X[1000:1001] / 1000, Y[1000:1001]),
    "zeros in a stream": lambda model: model.evaluate([(ZEROS, Y[:16])].__iter__()),
    "zeros, calibrated": lambda model: model.calibrate(ZEROS),
    "zeros, counted": lambda model: metrics.confusion_matrix(model, ZEROS, Y[:16]),
}


@pytest.mark.slow
@pytest.mark.parametrize("options", ({}, {"micro_batch": 5}), ids=("whole", "micro"))
@pytest.mark.parametrize("first", FIRST)
def test_imported_weights_are_as_good_after_any_first_call(trained, first, options):
    model = imported(trained, **options)
    FIRST[first](model)
    wanted_loss, wanted = trained.evaluate(X[1000:], Y[1000:])
    outputs = np.array(model.predict(X[1000:])).reshape(-1, 10)
    assert abs((outputs.argmax(1) == Y[1000:]).mean() - wanted) < 0.01
    loss, accuracy = model.evaluate(X[1000:], Y[1000:])
    assert abs(accuracy - wanted) < 0.01 and abs(loss - wanted_loss) < 0.05
    matrix = metrics.confusion_matrix(model, X[1000:], Y[1000:])
    assert abs(metrics.accuracy(matrix) - wanted) < 0.01


def test_a_loss_counted_in_the_output_s_range_survives_its_widening():
    """Mean squared error: the first batch's sum is in the narrow range, the others' in wider ones."""
    wide = np.linspace(0.01, 3, len(X)).astype(np.float32)[:, None]
    x, y = X * wide, np.zeros((len(X), 1), np.float32)
    plain = network("float32", "mse", 1)
    model = network("int8", "mse", 1)
    model.set_weights(plain.get_weights())
    model.predict(x[:1])
    assert model.evaluate(x, y)[0] == pytest.approx(plain.evaluate(x, y)[0], rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("first", ("predict", "evaluate", "calibrate"))
def test_use_before_training_does_not_change_what_is_learnt(first):
    digests = set()
    for used in (False, True):
        model = network("int8")
        if used and first == "predict":
            model.predict(X[500:700] * 3)
        elif used and first == "evaluate":
            model.evaluate(X[500:700], Y[500:700])
        elif used:
            model.calibrate(X[500:700])
        model.fit(X[:200], Y[:200], verbose=0)
        digests.add(model.digest())
    assert len(digests) == 1


def test_calibrate_with_labels_is_what_fit_goes_on_with():
    model, other = network("int8"), network("int8")
    model.calibrate(X[:16], Y[:16])
    assert model.session.calibrated == 2
    model.fit(X[:16], Y[:16], shuffle=False, verbose=0)
    other.fit(X[:16], Y[:16], shuffle=False, verbose=0)
    assert model.digest() == other.digest()  # the same batch, hence the same ranges


def test_calibrate_replaces_ranges_that_an_outlier_left(trained):
    model = imported(trained)
    model.predict(X[:1] * 1e6)
    narrow = model.evaluate(X[1000:], Y[1000:])[1]
    model.calibrate(X[:200])
    assert narrow < 0.5 < 0.9 < model.evaluate(X[1000:], Y[1000:])[1]


def test_where_ranges_come_from_is_said_once(trained, capsys):
    model = imported(trained)
    model.predict(X[:7])
    model.evaluate(X, Y)
    model.predict(X)
    model.set_weights(trained.get_weights())
    model.predict(X)
    assert capsys.readouterr().out == "int8 ranges are those of these 7 samples; calibrate(x) sets them\n"
    model = imported(trained)
    model.calibrate(X[:50])
    model.predict(X)
    trained.calibrate(X)
    network("int8").fit(X[:20], Y[:20], verbose=0)
    assert capsys.readouterr().out == ""


def test_arrays_of_another_shape_are_refused_with_the_order_that_fits():
    model = odt.Sequential([odt.Input((6, 6, 2)), odt.Conv2D(3, (4, 5)), odt.Flatten(), odt.Dense(7)])
    model.compile(dtype="float32")
    shapes = [(3, 4, 5, 2), (3,), (7, 18), (7,)]
    good = [np.arange(np.prod(s), dtype=np.float32).reshape(s) for s in shapes]
    model.set_weights(good)
    assert np.array_equal(model.get_weights()[0], good[0].ravel())
    before = model.digest()
    for index, value, order in (
        (0, good[0].transpose(0, 3, 1, 2), (0, 2, 3, 1)),  # PyTorch's OIHW
        (0, good[0].transpose(1, 2, 3, 0), (3, 0, 1, 2)),  # Keras's HWIO
        (2, good[2].T, (1, 0)),
    ):
        assert np.array_equal(value.transpose(order), good[index])
        with pytest.raises(ValueError) as caught:
            model.set_weights(good[:index] + [value] + good[index + 1 :])
        text = str(caught.value)
        assert "has shape %s, got %s" % (shapes[index], value.shape) in text
        assert "transpose%s" % (order,) in text
    with pytest.raises(ValueError, match=r"dense: kernel has shape \(7, 18\), got \(9, 14\)$"):
        model.set_weights(good[:2] + [good[2].reshape(9, 14)] + good[3:])
    assert model.digest() == before
    model.set_weights([value.ravel() for value in good])
    model.set_weights([list(map(float, value.ravel())) for value in good])
    assert model.digest() == before


@pytest.mark.parametrize("options", ({}, {"micro_batch": 5}), ids=("whole", "micro"))
@pytest.mark.parametrize("samples", (1, 5, 16, 21))
def test_predictions_of_a_calibrated_model_are_the_same_by_the_short_way(trained, samples, options):
    """NumPy's samples are looked at each time, bytes once: outputs and ranges are equal, with samples that need wider
    ones.
    """
    models = []
    for _ in range(2):
        model = imported(trained, **options)
        model.calibrate(X[:40] / 3)
        models.append(model)
    assert models[0].session.calibrated == 1
    digests = set()
    for at in range(0, 300, samples):
        part = X[at : at + samples] / (3 if at % 4 else 1)
        short, long = models[0].predict(part.tobytes()), models[1].predict(np.array(part))
        assert np.array_equal(np.array(short), long.ravel())
        digests.add(models[0].digest())
        assert models[0].digest() == models[1].digest()
    assert len(digests) > 1


def test_a_calibrated_model_looks_at_samples_of_one_kind_once(trained):
    model = imported(trained)
    model.calibrate(X[:200])
    one, out = X[:1].tobytes(), array.array("f", bytes(40))
    model.predict(one, out)
    calls = []

    def note(frame, event, argument):
        if event in ("call", "c_call") and not frame.f_code.co_filename.endswith("guard.py"):  # which boards lack
            calls.append(frame.f_code.co_name if event == "call" else argument.__name__)

    sys.setprofile(note)
    try:
        model.predict(one, out)
    finally:
        sys.setprofile(None)
    assert "look_at" not in calls and calls.count("run") == 0 and len(calls) < 20  # 38 before
