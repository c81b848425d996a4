"""A CSV file of a person's own: features, and the class in the last column. Every fourth sample is held back."""

from array import array

from odt.data import CsvReader, Normalizer

MOST = 32  # classes
NETWORK = """model = odt.Sequential([
    odt.Input((%d,)),
    odt.Dense(32, activation="relu"),
    odt.Dense(16, activation="relu"),
    odt.Dense(%d),
])"""


class Table:
    """``train`` and ``test``: (features, float32 and standardised by those that train; labels); names of classes."""

    def __init__(self, features, names):
        self.features, self.names = features, names
        self.train, self.test = [(array("f"), array("i")) for _ in range(2)]


def _is_number(word):
    try:
        float(word)
        return True
    except ValueError:
        return False


def _separator(line):
    return max((",", ";", "\t"), key=line.count)


def _names(path, separator):
    """The classes, as text: numbers in their order, else by the alphabet."""
    found = set()
    with open(path) as file:
        for index, line in enumerate(file):
            words = [word.strip() for word in line.split(separator)]
            if not line.strip() or not index and not any(map(_is_number, words[:-1])):
                continue  # nothing, or a heading
            found.add(words[-1])
            if len(found) > MOST:
                raise ValueError("its last column has more than %d values: it holds the class of a sample" % MOST)
    return sorted(found, key=lambda name: (0, float(name), name) if _is_number(name) else (1, 0.0, name))


def read(path, name):
    """The Table of a file; ValueError with the name that the person gave it."""
    try:
        return _read(path)
    except ValueError as error:
        text = str(error)
    raise ValueError(text.replace(path, name) if path in text else "%s: %s" % (name, text))


def _read(path):
    with open(path) as file:
        separator = _separator(file.readline())
    names = _names(path, separator)
    if len(names) < 2:
        raise ValueError("its last column holds %d class, expected 2 or more" % len(names))
    statistics = table = None
    for normalizer in (False, True):  # the statistics first
        reader = CsvReader(path, 64, separator=separator, labels=names, normalizer=statistics)
        width, at = reader.columns - 1, 0
        if not normalizer:
            first, table = Normalizer(width), Table(width, names)
        for x, y in reader:
            for sample in range(len(y)):
                row = x[sample * width : (sample + 1) * width]
                held = at % 4 == 3
                at += 1
                if normalizer:
                    features, labels = table.test if held else table.train
                    features.extend(row)
                    labels.append(y[sample])
                elif not held:
                    first.update(row)
        statistics = first
    if not len(table.test[1]):
        raise ValueError("%d samples, expected 4 or more" % len(table.train[1]))
    return table


def described(table):
    """What the page says of a table, and a network for it."""
    return {
        "features": table.features, "names": table.names, "samples": len(table.train[1]), "tests": len(table.test[1]),
        "source": NETWORK % (table.features, len(table.names)),
    }  # fmt: skip


def check(model, table):
    """ValueError unless the network reads such samples and has these classes."""
    if not table:
        raise ValueError("no table was read")
    session = model.session
    found = None if session is None else (session.row, session.classes)
    if found != (table.features, len(table.names)):
        raise ValueError("the table has %d features and %d classes: plan a network that reads them" % (
            table.features, len(table.names)))  # fmt: skip
