"""A CSV file of a person's own: features, and the class in the last column. Every fourth sample is held back."""

from array import array

from odt.data import CsvReader, Normalizer
from odt.data.csv import Lines

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
    lines, found = Lines(path, separator), set()
    try:
        words = lines.first(lambda columns: range(columns - 1))
        while words:
            found.add(words[-1].decode().strip())
            if len(found) > MOST:
                raise ValueError("its last column has more than %d values: it holds the class of a sample" % MOST)
            words = lines.words()
    finally:
        lines.close()
    return sorted(found, key=lambda name: (0, float(name), name) if _is_number(name) else (1, 0.0, name))


def _samples(reader):
    """(features, label, whether it is held back) of each sample."""
    width, at = reader.columns - 1, 0
    for x, y in reader:
        for sample in range(len(y)):
            yield x[sample * width : (sample + 1) * width], y[sample], at % 4 == 3
            at += 1


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
    reader = CsvReader(path, 64, separator=separator, labels=names)
    table = Table(reader.columns - 1, names)
    statistics = Normalizer(table.features)
    for features, _, held in _samples(reader):
        if not held:
            statistics.update(features)
    reader = CsvReader(path, 64, separator=separator, labels=names, normalizer=statistics)
    for features, label, held in _samples(reader):
        x, y = table.test if held else table.train
        x.extend(features)
        y.append(label)
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
