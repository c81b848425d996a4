"""Embedding, in Keras's words, and what makes its samples: token numbers of a byte each, as many in every sample."""

from ..base.fixed import is_int
from ..base.primitives import size_of
from ..base.regions import const
from ..layers import Layer

if 1 - 1:  # for type checkers alone
    from collections.abc import Sequence

    from ..plan.graph import Node

_MOST = const(256)  # tokens of a byte


class Embedding(Layer):
    """A row of numbers that train for each token: (steps,) to (steps, units).

    Its input is an ``Input((steps,), dtype="uint8")``, whose samples are token numbers below ``vocabulary``, which is
    256 at most. Weight: kernel, (vocabulary, units), as Keras's ``embeddings`` and PyTorch's ``weight``. In int8 it has
    one scale, and the output is its rows as they are.

    A step trains the rows that its batch names: the other rows and their moments stay as they are, as those of
    PyTorch's SparseAdam. With ``micro_batch`` or ``global_clipnorm`` each step updates all rows, as PyTorch's Adam
    does: those that are not named have a gradient of 0. Weight decay is of all rows. ``trainable=False`` freezes all.

    Raises ValueError for another input, and for data with a token that is not below ``vocabulary``. A model from a file
    reads such a token as the last one.
    """

    kind = "embedding"
    family = "embedding.plan"

    def __init__(self, vocabulary: "int", units: "int", name: "str | None" = None, trainable: "bool" = True) -> None:
        super().__init__(name, trainable)
        self.vocabulary = size_of("Embedding", "vocabulary", vocabulary)
        self.units = size_of("Embedding", "units", units)
        if self.vocabulary > _MOST:
            raise ValueError("Embedding: vocabulary is in 1..256, got %d" % vocabulary)

    def __call__(self, inputs: "Node | Sequence[Node]") -> "Node":
        node = super().__call__(inputs)
        layer = node.inputs[0].layer
        if layer.kind != "input" or (layer.dtype, layer.scale, layer.zero_point) != ("uint8", 1, 0):
            raise ValueError('%r takes tokens: odt.Input((steps,), dtype="uint8")' % self)
        before = getattr(layer, "check", None)
        if before is None or before.vocabulary > self.vocabulary:
            layer.check = Tokens(self.vocabulary)
        return node

    def build(self, shapes):
        if len(shapes[0]) != 1:
            self.wrong_shape(shapes[0], "(steps,)")
        self.kernel_shape = (self.vocabulary, self.units)
        return shapes[0] + (self.units,)

    def fans(self):
        """Of first weights whose rows have a length of about 1."""
        return self.units, self.units


class Tokens:
    """What an Input asks of its samples: see Session.look_at."""

    def __init__(self, vocabulary):
        self.vocabulary = vocabulary

    def __call__(self, name, data, row):
        """``data``, looked at; as a view, so that what comes next is looked at, too."""
        tokens = memoryview(data)
        if max(tokens) >= self.vocabulary:
            for index, token in enumerate(tokens):
                if token >= self.vocabulary:
                    place = (name, index // row, index % row, token, self.vocabulary - 1)
                    raise ValueError("%s: sample %d, step %d is token %d, not in 0..%d" % place)
        return tokens


def pad(sequences: "Sequence[Sequence[int] | bytes]", steps: "int", padding: "int" = 0) -> "bytearray":
    """Samples of ``steps`` tokens, one after the other: each sequence, then the ``padding``.

    ``sequences``: of tokens, from 1 to ``steps`` of them, each in 0..255. The padding is a token as the others: nothing
    is masked. Raises ValueError that names the sequence.
    """
    made = bytearray()
    for number, sequence in enumerate(sequences):
        count = len(sequence)
        if not 1 <= count <= steps:
            raise ValueError("pad: sequence %d has %d tokens, 1 to %d are expected" % (number, count, steps))
        for token in sequence:
            if not is_int(token) or not 0 <= token < _MOST:
                raise ValueError("pad: sequence %d has the token %r, not in 0..255" % (number, token))
        made += bytes(sequence) + bytes((padding,)) * (steps - count)
    return made
