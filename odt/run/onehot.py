"""One-hot rows as the labels that they stand for."""

from array import array


def labels(argument, y, classes):
    """The labels of one-hot rows, as an array."""
    if hasattr(y, "shape") and not hasattr(y, "tolist"):  # of pandas
        from .arrays import read

        y = read(argument, y)
    if hasattr(y, "tolist"):
        y = y.tolist()
    if len(y) and isinstance(y[0], str):
        from .arrays import one_axis

        one_axis(argument, y, ("int32",), 1)  # which says what to write
    found = array("B" if classes <= 256 else "H")
    rows = y
    if len(y) and not isinstance(y[0], (list, tuple)):
        rows = [y[at : at + classes] for at in range(0, len(y), classes)]
    for number, row in enumerate(rows):
        if len(row) != classes or sorted(row) != [0] * (classes - 1) + [1]:
            raise ValueError(
                "%s: sample %d is no row of %d zeros and a 1; integer labels want the loss "
                '"sparse_categorical_crossentropy"' % (argument, number, classes - 1)
            )
        found.append(list(row).index(1))
    return found
