"""MultiHeadAttention and PositionEmbedding, in Keras's words: (steps, width) in and out.

An attention is five layers of the model: three Dense make queries, keys and values of the inputs' rows, the layer
itself mixes the values, and a fourth Dense follows.
"""

from ..base.fixed import elements
from ..base.primitives import size_of
from ..layers import Dense, Layer
from ..plan.graph import Node

if 1 - 1:  # for type checkers alone
    from collections.abc import Sequence


class Query(Dense):
    """The queries of an attention, of all heads: (steps, heads * key_dim)."""


class Key(Dense):
    """Its keys, likewise; without a bias, which would add the same to all scores of a query."""


class Value(Dense):
    """Its values, likewise."""


class AttentionOutput(Dense):
    """What follows an attention: its heads' outputs together into rows of the queries' width."""


class MultiHeadAttention(Layer):
    """Each step's mean of all steps' values, weighted by softmax(query . key / sqrt(key_dim)), in ``num_heads`` parts
    (Vaswani et al., 2017).

    Input (steps, width), output (steps, width). Called on a list, [query, value] or [query, value, key], as Keras, the
    steps of the first look at those of the others. ``key_dim`` is the width of a head's queries, keys and values; None:
    width / num_heads, which must have no remainder. ``use_causal_mask``: no step looks at a later one.

    Weights: those of four Dense layers, of queries, keys, values and output, each kernel (units, features), head after
    head: PyTorch's in_proj and out_proj, and Keras's transposed. With ``use_bias`` all have a bias but the keys, whose
    bias changes nothing: softmax takes it out. In int8 the weights between steps have steps of 1/256, and errors are
    rounded at random. Raises ValueError where shapes do not fit, and in ``compile`` where int32 sums might overflow.
    """

    kind = "attention"
    family = "attention.plan"
    arity = 3

    def __init__(
        self,
        num_heads: "int",
        key_dim: "int | None" = None,
        use_bias: "bool" = True,
        use_causal_mask: "bool" = False,
        name: "str | None" = None,
        trainable: "bool" = True,
        input_shape: "Sequence[int] | None" = None,
    ) -> None:
        super().__init__(name, trainable)
        self.input_shape = input_shape
        self.num_heads = size_of("MultiHeadAttention", "num_heads", num_heads)
        self.key_dim = None if key_dim is None else size_of("MultiHeadAttention", "key_dim", key_dim)
        self.causal = bool(use_causal_mask)
        self.with_bias = bool(use_bias)
        self.parts = None  # the four Dense layers, once the width is known

    def __call__(self, inputs: "Node | Sequence[Node]") -> "Node":
        nodes = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        for node in nodes:
            if isinstance(node, Node) and len(node.shape) != 2:
                self.wrong_shape(node.shape, "(steps, width)")
        if not 1 <= len(nodes) <= 3:
            raise ValueError("%r takes a query, or [query, value] or [query, value, key], got %d" % (self, len(nodes)))
        if not all([isinstance(node, Node) for node in nodes]):
            return super().__call__(nodes * 3)  # which refuses it
        query, value, key = (nodes + nodes[-1:] * 2)[:3]
        if self.parts is None:
            self.parts = self._parts(query.shape[1])
        first, second, third, last = self.parts
        return last(super().__call__([first(query), second(key), third(value)]))

    def _parts(self, width):
        units = self.num_heads * (self.key_dim or self._share(width))

        def part(kind, size):
            name = self.name and "%s_%s" % (self.name, kind.__name__.lower())
            return kind(size, use_bias=self.with_bias and kind != Key, name=name, trainable=self.trainable)

        return part(Query, units), part(Key, units), part(Value, units), part(AttentionOutput, width)

    def _share(self, width):
        if width % self.num_heads:
            place = (self, width, self.num_heads)
            raise ValueError("%r: a width of %d is no multiple of %d heads: give key_dim" % place)
        return width // self.num_heads

    def build(self, shapes):
        (rows, width), keys, values = shapes
        if keys[0] != values[0]:
            raise ValueError("%r: key and value have as many steps, got %d and %d" % (self, keys[0], values[0]))
        self.sizes = (self.num_heads, rows, keys[0], width // self.num_heads)  # G T S K
        self.macs = 2 * rows * keys[0] * width
        return rows, width


class PositionEmbedding(Layer):
    """Adds a number that trains to each feature of each step: where it is (Keras's of keras_hub).

    Input and output (steps, features), or of any other shape. Weight: position, of the same shape, first 0; in int8
    int32 times 2^-20.
    """

    kind = "position"
    family = "attention.plan"

    def __init__(
        self, name: "str | None" = None, trainable: "bool" = True, input_shape: "Sequence[int] | None" = None
    ) -> None:
        super().__init__(name, trainable)
        self.input_shape = input_shape

    def build(self, shapes):
        self.shape = shapes[0]
        self.channels = elements(shapes[0])
        return shapes[0]

    def weight_shapes(self):
        return [("position", self.shape)]
