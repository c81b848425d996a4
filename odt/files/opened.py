"""What a Session asks of a plan, a loss, an optimizer and an Input, of a model from a file."""

from ..plan import drop


class Shape:
    """What a Session asks of an Input's layer."""

    def __init__(self, name, shape, dtype, scale, zero_point):
        self.name, self.shape, self.dtype = name, tuple(shape), dtype
        self.scale, self.zero_point = scale, zero_point  # the scale as float32 bits


class Loss:
    """What a Session asks of a loss."""

    def __init__(self, name, labels, onehot, binary, hits, degree, unit):
        self.name, self.labels, self.onehot, self.binary = name, labels == 1, onehot == 1, binary == 1
        self.hits, self.degree = hits == 1, degree
        self.with_logits = name == "dark_experience"
        self._unit = unit

    def unit(self, step):
        """As losses.py has it."""
        value = self._unit / 65536
        for _ in range(self.degree):
            value *= step
        return value


class Optimizer:
    """What training asks of an optimizer: the program has the rest."""

    def __init__(self, name, rate):
        self.name, self.learning_rate = name, rate
        self.moves = name == "ZerothOrder"


class Place:
    """A buffer, and of the output what its numbers mean."""

    def __init__(self, offset):
        self.offset = offset


class Plan:
    """What a Session needs of a plan. What is rarely needed is read from ``layers`` on demand.

    ``layers``: the section's bytes, or (name, CRC) where the file has a name: RAM is for what every model asks.
    """

    segments = bits = ()
    reading = rows = None
    name = "the model file"

    def __init__(self, code, layers, dtype):
        self.code, self._layers = code, layers
        self.elements = 4 if dtype == "int8" else 1  # of a kernel in four bytes

    @property
    def file(self):
        """The model file's name, where it has one."""
        return self._layers[0] if isinstance(self._layers, tuple) else self.name

    @property
    def layers(self):
        """The bytes of the section; OSError or ValueError where the file is no longer there or another's."""
        if not isinstance(self._layers, tuple):
            return bytes(self._layers)
        from .reader import layers_of

        try:
            return layers_of(*self._layers)
        finally:
            layers_of = None
            drop("odt.files.reader")

    def read(self, head, program):
        """What the head and the program tell of."""
        self.arena, self.state, self.constants = program.arena, program.state, program.constants
        self.scales = head["scales"]
        self.x_scale, self.x_seen = [None if at is None else Place(at) for at in head["x"]]
        self.activated = head["activated"] == 1
        self.reading = head.get("reading")
        self.rows = head.get("rows")
        self.bias = None
        if head["bias"]:
            self.bias = Place(head["bias"][0])
            self.bias.size = head["bias"][1]
        self.output = Place(None)
        self.output.buffer = Place(head["output"][1])
        self.output.zero = head["output"][2]
        self.output.scale = Place(head["output"][3])

    def __getattr__(self, name):
        if name in ("weights", "table", "forward", "errors", "totals", "peaks", "lower_bound", "again", "sums"):
            from .layers import parse

            parse(self)
            return getattr(self, name)
        raise AttributeError(name)
