"""What the Learn tab trains on, whatever it comes from: a Table of samples, classes and a network for them."""

from array import array

MOST = 32  # classes
DENSE = """model = odt.Sequential([
    odt.Input((%d,)),
    odt.Dense(32, activation="relu"),
    odt.Dense(16, activation="relu"),
    odt.Dense(%d),
])"""


class Table:
    """``train`` and ``test``: (numbers of array's type ``code``, labels), samples of ``shape``; names of classes;
    ``source``: a network for them as Python; ``epochs`` to train it.
    """

    def __init__(self, shape, names, source, code="f", epochs=8):
        self.shape, self.names, self.source, self.code, self.epochs = shape, names, source, code, epochs
        self.statistics = None  # a Normalizer, by which another sample is to be standardised
        self.train, self.test = [(array(code), array("i")) for _ in range(2)]

    @property
    def size(self):
        """Numbers of a sample."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    def add(self, x, label, held):
        """Take in a sample; ``held``: whether it is held back."""
        numbers, labels = self.test if held else self.train
        numbers.extend(x)
        labels.append(label)

    def described(self):
        """What the page says of it, and the network."""
        return {
            "features": self.size, "names": self.names, "samples": len(self.train[1]), "tests": len(self.test[1]),
            "source": self.source,
        }  # fmt: skip

    def check(self, model):
        """ValueError unless the network reads such samples and has these classes."""
        session = model.session
        found = None if session is None else (session.row, session.classes)
        if found != (self.size, len(self.names)):
            raise ValueError("the samples have %d features and %d classes: plan a network that reads them" % (
                self.size, len(self.names)))  # fmt: skip


def epochs(samples, batch, steps):
    """Epochs in which so few samples make that many steps: 6 to 60."""
    return max(6, min(60, steps * batch // max(samples, 1)))
