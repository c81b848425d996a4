"""Confusion matrix, precision, recall, F1 against scikit-learn's definitions in NumPy, and the report's text."""

import numpy as np
import pytest

import odt
from odt import metrics

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(53, 6)).astype("float32")
Y = (X[:, 0] > 0).astype("uint8") + 2 * (X[:, 1] > 0.3).astype("uint8")


def network(dtype, classes=4, loss="sparse_categorical_crossentropy"):
    model = odt.Sequential([odt.Input((6,)), odt.Dense(10, "relu"), odt.Dense(classes)])
    model.compile(odt.Adam(0.01), loss, dtype=dtype, batch_size=8, seed=1)
    return model


def expected(model):
    logits = np.array(model.predict(X)).reshape(len(X), -1)
    matrix = np.zeros((logits.shape[1],) * 2, int)
    np.add.at(matrix, (Y, logits.argmax(1)), 1)
    return matrix


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_the_confusion_matrix_counts_what_predict_says(dtype):
    model = network(dtype)
    assert sum(map(sum, metrics.confusion_matrix(model, X, Y))) == 53  # not trained, not calibrated
    model.fit(X, Y, epochs=2, verbose=0)
    before = model.digest()
    found = metrics.confusion_matrix(model, X, Y)
    assert (np.array(found) == expected(model)).all()
    batches = [(X[at : at + 8], Y[at : at + 8].tolist()) for at in range(0, 53, 8)]
    assert metrics.confusion_matrix(model, iter(batches)) == found
    assert metrics.accuracy(found) == model.evaluate(X, Y)[1]
    assert model.digest() == before


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_the_confusion_matrix_of_yes_and_no_is_of_one_output(dtype):
    targets = np.stack([X[:, 0] > 0, X[:, 1] > 0.3, X[:, 2] > 1], axis=1).astype("float32")
    for count, x in ((3, X), (1, X)):
        model = network(dtype, count, "binary_crossentropy")
        y = targets[:, :count].copy()
        model.fit(x, y, epochs=3, verbose=0)
        yes = np.array(model.predict(x)).reshape(-1, count) > 0
        for output in range(count):
            pairs = np.stack([y[:, output], yes[:, output]], axis=1).astype(int)
            wanted = [[(pairs == (a, b)).all(axis=1).sum() for b in (0, 1)] for a in (0, 1)]
            found = metrics.confusion_matrix(model, x, y, output)
            assert np.array(found).tolist() == np.array(wanted).tolist()
            batches = [(x[at : at + 8], y[at : at + 8].astype("uint8")) for at in range(0, 53, 8)]
            assert metrics.confusion_matrix(model, iter(batches), output=output) == found
    assert metrics.confusion_matrix(model, x, y) == found
    metrics.report(model, x, y, names=["no", "yes"])


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_at_the_edge_the_first_of_equal_outputs_is_taken_and_no(dtype):
    """Weights of 0: all outputs are 0. Of outputs the first is predicted, of yes and no: no; a target of 0.5 is no."""
    for loss, y in (("sparse_categorical_crossentropy", Y), ("binary_crossentropy", np.tile([0.5, 0, 1], 18)[:53])):
        model = network(dtype, 4 if y is Y else 1, loss)
        model.set_weights([np.zeros(len(values)) for values in model.get_weights()])
        wanted = np.zeros((4, 4) if y is Y else (2, 2), int)
        wanted[:, 0] = np.bincount(y > 0.5) if y is not Y else np.bincount(Y)
        assert (
            np.array(metrics.confusion_matrix(model, X, y.astype("uint8" if y is Y else "float32"))).tolist()
            == wanted.tolist()
        )


@pytest.mark.parametrize("classes", (1, 2, 3))
def test_the_matrix_has_a_row_and_a_column_a_class(classes):
    """Of one output there are two: above 0 and not."""
    matrix = metrics.confusion_matrix(network("int8", classes), X, Y * 0)
    assert [len(row) for row in matrix] == [max(classes, 2)] * max(classes, 2)
    assert sum(matrix[0]) == 53 and not any(map(any, matrix[1:]))


def test_an_output_that_is_none_is_refused():
    model = network("int8", 3, "binary_crossentropy")
    for output in (None, 3, -1, 1.5):
        with pytest.raises(ValueError, match=r"output: one of 0..2 is expected, got %r" % output):
            metrics.confusion_matrix(model, X, np.zeros((53, 3), "uint8"), output)
    with pytest.raises(ValueError, match="output belongs to BinaryCrossentropy.*sparse"):
        metrics.confusion_matrix(network("int8"), X, Y, 1)


def test_figures_are_those_of_the_definitions():
    matrix = [[5, 2, 0, 0], [1, 8, 0, 1], [0, 0, 0, 0], [3, 0, 0, 4]]
    m = np.array(matrix, float)
    assert metrics.precision(matrix) == pytest.approx([5 / 9, 8 / 10, 0, 4 / 5])
    assert metrics.recall(matrix) == pytest.approx([5 / 7, 8 / 10, 0, 4 / 7])
    p, r = np.array(metrics.precision(matrix)), np.array(metrics.recall(matrix))
    with np.errstate(invalid="ignore"):
        assert metrics.f1(matrix) == pytest.approx(np.nan_to_num(2 * p * r / (p + r)))
    assert metrics.macro(metrics.recall(matrix)) == pytest.approx(r.mean())
    assert metrics.accuracy(matrix) == pytest.approx(np.trace(m) / m.sum())


def test_the_report_fits_a_repl_and_says_the_figures(capsys):
    model = network("int8")
    model.fit(X, Y, epochs=20, verbose=0)
    matrix = metrics.confusion_matrix(model, X, Y)
    metrics.report(model, X, Y, names=["still", "walking", "running", "a name that is far too long for a table"])
    text = capsys.readouterr().out
    assert all(len(line) < 80 for line in text.splitlines())
    row = next(line for line in text.splitlines() if line.startswith("walking  ")).split()
    assert [0 if cell == "." else int(cell) for cell in row[1:]] == list(matrix[1])
    row = [line for line in text.splitlines() if line.startswith("walking  ")][1].split()
    assert row[1:] == [
        "%.4f" % metrics.precision(matrix)[1], "%.4f" % metrics.recall(matrix)[1],
        "%.4f" % metrics.f1(matrix)[1], str(sum(matrix[1])),
    ]  # fmt: skip
    assert "accuracy %.4f" % model.evaluate(X, Y)[1] in text


def test_columns_of_the_report_are_as_wide_as_80_columns_let_names_be(capsys):
    metrics.report(network("int8"), X, Y, names=["a name longer than a column"] * 4)
    lines = capsys.readouterr().out.splitlines()
    head = lines[[line.endswith("predicted as") for line in lines].index(True) + 1]
    assert len(head) < 80 <= len(head) + 4


@pytest.mark.parametrize("samples", (5, 53))
@pytest.mark.parametrize("classes", (24, 25, 40))
def test_a_report_of_many_classes_names_the_confusions(classes, samples, capsys):
    model = network("float32", classes=classes)
    metrics.report(model, X[:samples], Y[:samples])
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) < 80 for line in lines)
    assert ("commonest confusions" in lines) == (classes > 24)  # the matrix takes 7 columns, and 3 per class
    taken = np.array(model.predict(X[:samples])).reshape(samples, -1).argmax(1)
    counts = {}
    for pair in zip(Y[:samples].tolist(), taken.tolist()):
        counts[pair] = counts.get(pair, 0) + (pair[0] != pair[1])
    pairs = sorted((-count, *pair) for pair, count in counts.items() if count)
    named = [tuple(int(word) for word in line.split() if word.isdigit()) for line in lines if "taken for" in line]
    assert named == ([(label, other, -count) for count, label, other in pairs[:10]] if classes > 24 else [])
    assert sum(line.split()[:1] == [str(classes - 1)] for line in lines) == 1 + (classes == 24)


def test_what_has_no_classes_is_refused():
    with pytest.raises(ValueError, match="labels are expected.*mse"):
        metrics.confusion_matrix(network("int8", loss="mse"), X, X[:, :4])
    with pytest.raises(ValueError, match="names: 2.*4 classes"):
        metrics.report(network("int8"), X, Y, names=["a", "b"])
    with pytest.raises(ValueError, match="label 9"):
        metrics.report(network("int8"), X, [9] * 53)
    with pytest.raises(RuntimeError, match="compile"):
        metrics.confusion_matrix(odt.Sequential([odt.Input((6,)), odt.Dense(2)]), X, Y)
