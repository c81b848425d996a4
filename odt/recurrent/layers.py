"""GRU, LSTM and SimpleRNN, in Keras's words: (steps, features) in, (units,) or (steps, units) out.

Each is two layers of the model. The first, a Dense of the units' gates, multiplies the inputs of all steps at once; the
second goes through the steps. Both have weights, which ``get_weights`` gives one after the other.
"""

from ..base.primitives import size_of
from ..layers import Dense, Layer
from ..plan.graph import Node

if 1 - 1:  # for type checkers alone
    from collections.abc import Sequence


class Projection(Dense):
    """The inputs of all steps times a recurrent layer's ``kernel``, plus ``bias``: (steps, gates * units)."""


class _Recurrent(Layer):
    """A cell applied to each step, and to its own last output.

    ``stateful``: row r of a batch begins where row r of the batch before has ended, in training, evaluation and
    prediction alike, until ``model.reset_states()``; no gradient passes from a batch to the one before (truncated
    backpropagation through time: Williams and Peng, 1990). All batches then have ``batch_size`` samples, else
    ValueError, and ``fit`` shuffles none. The model's state holds it, in int8 2 bytes per row and unit of a SimpleRNN,
    10 of a GRU and 12 of an LSTM, in float32 16, so checkpoints and model files have it, too.
    """

    family = "recurrent.plan"
    number = 0  # of the cell, in the instructions
    gates = 1
    carried = None  # of a layer that goes on from its last outputs: steps.py

    def __init__(self, units, activation, return_sequences, use_bias, name, trainable, input_shape, stateful, **fixed):
        super().__init__(name, trainable)
        kind = type(self).__name__
        self.input_shape = input_shape
        self.units = size_of(kind, "units", units)
        fixed["activation"] = activation, "tanh"
        for word, (value, only) in sorted(fixed.items()):
            if value != only:
                raise ValueError("%s: %s is %r, got %r" % (kind, word, only, value))
        self.return_sequences, self.stateful = bool(return_sequences), bool(stateful)
        first = name and name + "_projection"
        self.projection = Projection(self.gates * self.units, use_bias=use_bias, name=first, trainable=trainable)

    def __call__(self, inputs: "Node | Sequence[Node]") -> "Node":
        node = inputs[0] if isinstance(inputs, (list, tuple)) and len(inputs) == 1 else inputs
        if isinstance(node, Node):
            if len(node.shape) != 2:
                self.wrong_shape(node.shape, "(steps, features)")
            node = self.projection(node)
        return super().__call__(node)

    def build(self, shapes):
        steps, width = shapes[0]
        self.steps_of = steps
        self.kernel_shape = (width, self.units)
        self.macs = steps * width * self.units
        return (steps, self.units) if self.return_sequences else (self.units,)

    def fans(self):
        return self.units, self.units


class GRU(_Recurrent):
    """Gated recurrent units (Cho et al., 2014), as Keras has them with ``reset_after=True``, and PyTorch.

    ``z = sigmoid(x Wz + h Uz)``, ``r = sigmoid(x Wr + h Ur)``, ``n = tanh(x Wn + r * (h Un))``,
    ``h = (1 - z) * n + z * h``, each product plus a bias; h begins with 0. Input (steps, features), output (units,), or
    with ``return_sequences`` (steps, units). ``stateful``: row r of a batch begins with the h that row r of the batch
    before ended with (docs/reference/modules.md).

    Weights: kernel (3 * units, features), bias (3 * units,), recurrent kernel (3 * units, units), recurrent bias
    (3 * units,), the rows of z, r, n one after the other: Keras's, transposed. In int8 h and n have steps of 1/128, z
    and r of 1/256, and errors of all steps share a scale.
    """

    kind = "gru"
    number = 1
    gates = 3

    def __init__(
        self,
        units: "int",
        activation: "str" = "tanh",
        recurrent_activation: "str" = "sigmoid",
        use_bias: "bool" = True,
        return_sequences: "bool" = False,
        reset_after: "bool" = True,
        name: "str | None" = None,
        trainable: "bool" = True,
        input_shape: "Sequence[int] | None" = None,
        stateful: "bool" = False,
    ) -> None:
        super().__init__(
            units, activation, return_sequences, use_bias, name, trainable, input_shape, stateful,
            recurrent_activation=(recurrent_activation, "sigmoid"), reset_after=(reset_after, True),
        )  # fmt: skip
        self.use_bias = bool(use_bias)


class LSTM(_Recurrent):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997; with the forget gate of Gers et al., 2000), as Keras.

    ``i, f, o = sigmoid(x W + h U)``, ``g = tanh(x Wg + h Ug)``, ``c = f * c + i * g``, ``h = o * tanh(c)``, each x W
    plus a bias; h and c begin with 0. Input (steps, features), output (units,), or with ``return_sequences`` (steps,
    units). ``stateful``: row r of a batch begins with the h and c that row r of the batch before ended with.

    Weights: kernel (4 * units, features), bias (4 * units,), recurrent kernel (4 * units, units), the rows of i, f, g
    and o one after the other: Keras's, transposed, and PyTorch's, whose two biases are added. The bias begins with 0,
    that of f, too. In int8 c is limited to -16 .. 16.
    """

    kind = "lstm"
    number = 2
    gates = 4

    def __init__(
        self,
        units: "int",
        activation: "str" = "tanh",
        recurrent_activation: "str" = "sigmoid",
        use_bias: "bool" = True,
        return_sequences: "bool" = False,
        name: "str | None" = None,
        trainable: "bool" = True,
        input_shape: "Sequence[int] | None" = None,
        stateful: "bool" = False,
    ) -> None:
        super().__init__(
            units, activation, return_sequences, use_bias, name, trainable, input_shape, stateful,
            recurrent_activation=(recurrent_activation, "sigmoid"),
        )  # fmt: skip


class SimpleRNN(_Recurrent):
    """``h = tanh(x W + h U + bias)`` (Elman, 1990), as Keras; h begins with 0.

    Input (steps, features), output (units,), or with ``return_sequences`` (steps, units). ``stateful``: row r of a
    batch begins with the h that row r of the batch before ended with.

    Weights: kernel (units, features), bias (units,), recurrent kernel (units, units): Keras's, transposed.
    """

    kind = "simple_rnn"

    def __init__(
        self,
        units: "int",
        activation: "str" = "tanh",
        use_bias: "bool" = True,
        return_sequences: "bool" = False,
        name: "str | None" = None,
        trainable: "bool" = True,
        input_shape: "Sequence[int] | None" = None,
        stateful: "bool" = False,
    ) -> None:
        super().__init__(units, activation, return_sequences, use_bias, name, trainable, input_shape, stateful)
