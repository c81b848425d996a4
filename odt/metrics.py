"""How good a classifier is, class by class: ``odt.metrics.report(model, x, y)``.

The data is taken as ``fit`` takes it, also in batches; no more RAM than ``predict`` of one batch and
the matrix.
"""

from array import array

from .base.fixed import is_int
from .base.regions import COUNT, POSITION, Y_DATA

if 1 - 1:  # for type checkers alone
    from collections.abc import Sequence

    from typing_extensions import TypeAlias

    from .model import Model
    from .run.network import Batches, Data

    _Matrix: TypeAlias = Sequence[Sequence[int]]

_WIDTH = 79  # of a REPL of 80 columns


def confusion_matrix(
    model: "Model", x: "Data | Batches", y: "Data | None" = None, output: "int | None" = None
) -> "list[array[int]]":
    """Counts as a list of array('i'): ``matrix[label][predicted]``, for a model that was compiled for labels.

    The prediction is the first largest output; of a single output, whether it is above 0. Of a model for
    BinaryCrossentropy with several outputs ``output`` says which: no (0) or yes (1), a target above 0.5.
    """
    from .run.fit import source
    from .run.session import next_part, ready, release

    session = ready(model)
    binary = session.loss.binary
    if not (session.loss.labels or binary):
        raise ValueError("confusion_matrix: labels are expected, the model was compiled for %s" % session.loss.name)
    outputs = session.plan.output.count // session.rows
    classes, at, width = max(outputs, 2), 0, 1
    if binary:
        classes, at, width = 2, 0 if outputs == 1 and output is None else output, outputs
        if not is_int(at) or not 0 <= at < outputs:
            raise ValueError("output: one of 0..%d is expected, got %r" % (outputs - 1, output))
    elif output is not None:
        raise ValueError("output belongs to BinaryCrossentropy, the model was compiled for %s" % session.loss.name)
    matrix = [array("i", bytes(4 * classes)) for _ in range(classes)]
    data = source(session, x, y)
    if session.calibrated < 1:
        data.first()
        session.prepare(1)
    data.open(0, 0)
    for _ in data.batches(0):
        labels = session.regions[Y_DATA]
        while next_part(session):
            session.run("predict")
            for row in range(session.control[COUNT]):
                label = labels[(session.control[POSITION] + row) * width + at]
                values, zero = _outputs(session, row, outputs)
                if binary or outputs == 1:
                    predicted = int(values[at] > zero)
                else:
                    predicted = _first_largest(values)
                matrix[int(label > 0.5) if binary else int(label)][predicted] += 1
    release(session)
    return matrix


def _first_largest(values):
    best = 0
    for index in range(1, len(values)):
        if values[index] > values[best]:
            best = index
    return best


def _outputs(session, row, outputs):
    """The outputs of a row of the batch, and what stands for a logit of 0."""
    output = session.plan.output
    activated = session.plan.activated
    at = output.buffer.offset
    if session.dtype == "int8":
        values = memoryview(session.arena)[at + row * outputs : at + (row + 1) * outputs]
        return array("b", bytes(values)), 0 if activated else output.zero
    at += 4 * row * outputs
    return array("f", bytes(memoryview(session.arena)[at : at + 4 * outputs])), 0.5 if activated else 0


def precision(matrix: "_Matrix") -> "list[float]":
    """Of what was taken for a class, the part that is of it; a list by class, 0 where nothing was."""
    size = range(len(matrix))
    return [_part(matrix[k][k], sum([matrix[row][k] for row in size])) for k in size]


def recall(matrix: "_Matrix") -> "list[float]":
    """Of what is of a class, the part that was found; a list by class, 0 where nothing is."""
    return [_part(matrix[k][k], sum(matrix[k])) for k in range(len(matrix))]


def f1(matrix: "_Matrix") -> "list[float]":
    """The harmonic mean of precision and recall; a list by class."""
    size = range(len(matrix))
    columns = [sum([matrix[row][k] for row in size]) for k in size]
    return [_part(2 * matrix[k][k], sum(matrix[k]) + columns[k]) for k in size]


def accuracy(matrix: "_Matrix") -> "float":
    """The part that was predicted right."""
    return _part(sum([matrix[k][k] for k in range(len(matrix))]), sum([sum(row) for row in matrix]))


def macro(values: "Sequence[float]") -> "float":
    """The mean over classes, each counting alike."""
    return sum(values) / len(values)


def _part(a, b):
    return a / b if b else 0.0


def report(
    model: "Model",
    x: "Data | Batches",
    y: "Data | None" = None,
    names: "Sequence[object] | None" = None,
    output: "int | None" = None,
) -> None:
    """Print the confusion matrix, and precision, recall and F1 by class, within 80 columns.

    ``names``: a list with one name per class; ``output`` as in confusion_matrix. Where the matrix is too wide, the
    commonest confusions are printed instead.
    """
    matrix = confusion_matrix(model, x, y, output)
    classes = len(matrix)
    names = [str(k) for k in range(classes)] if names is None else [str(name) for name in names]
    if len(names) != classes:
        raise ValueError("names: %d, the model has %d classes" % (len(names), classes))
    names = [name[:20] for name in names]
    left = max([len(name) for name in names] + [5])
    width = max([len(str(max(row))) for row in matrix] + [2])
    room = (_WIDTH - left - 2) // classes - 1
    width = max(width, min(room, max([len(name) for name in names])))
    if left + 2 + (width + 1) * classes <= _WIDTH:
        short = [name[:width] for name in names]
        print(_left("label", left) + "  predicted as")
        print(" " * left + "  " + " ".join([_right(name, width) for name in short]))
        for name, row in zip(names, matrix):
            cells = [_right(str(count) if count else ".", width) for count in row]
            print(_left(name, left) + "  " + " ".join(cells))
    else:
        pairs = []
        for k in range(classes):
            for other in range(classes):
                if k != other and matrix[k][other]:
                    pairs.append((-matrix[k][other], k, other))
        pairs.sort()
        print("commonest confusions" if pairs else "no confusions")
        for count, k, other in pairs[:10]:
            print("%s  taken for %s  %d times" % (_left(names[k], left), _left(names[other], left), -count))
    print()
    print(_left("class", left) + "  precision  recall      F1   count")
    columns = precision(matrix), recall(matrix), f1(matrix)
    for k in range(classes):
        _line(names[k], left, columns[0][k], columns[1][k], columns[2][k], sum(matrix[k]))
    total = sum([sum(row) for row in matrix])
    _line("macro", left, macro(columns[0]), macro(columns[1]), macro(columns[2]), total)
    print("accuracy %.4f" % accuracy(matrix))


def _line(name, left, a, b, c, count):
    print("%s  %9.4f  %6.4f  %6.4f  %6d" % (_left(name, left), a, b, c, count))


def _left(text, width):
    return text + " " * (width - len(text))


def _right(text, width):
    return " " * (width - len(text)) + text
