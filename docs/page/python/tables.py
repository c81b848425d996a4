"""A CSV file of a person's own: features, and the class in the last column. Every fourth sample is held back."""

from odt.data import CsvReader, Normalizer
from odt.data.csv import Lines
from samples import DENSE, MOST, Table


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
    features = reader.columns - 1
    table = Table((features,), names, DENSE % (features, len(names)))
    statistics = Normalizer(features)
    for x, _, held in _samples(reader):
        if not held:
            statistics.update(x)
    reader = CsvReader(path, 64, separator=separator, labels=names, normalizer=statistics)
    for x, label, held in _samples(reader):
        table.add(x, label, held)
    if not len(table.test[1]):
        raise ValueError("%d samples, expected 4 or more" % len(table.train[1]))
    return table
