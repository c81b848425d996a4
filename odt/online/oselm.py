"""Online sequential extreme learning machines: random features, and linear outputs by recursive least squares.

    model = OSELM(4, classes=3, hidden=32)
    model.learn_one(x, label)
    label = model.predict_one(x)

Huang, Liang et al. (2006); on a Raspberry Pi Pico: Tsukada et al., ONLAD (2020). The arithmetic:
docs/reference/numerics.md, Online.
"""

import struct
from array import array

from ..base import executor
from ..base.fixed import ONE, is_int, is_number, own, scale_div, scale_int, scale_mul, scale_shift
from ..base.primitives import scale_of, scale_sqrt, size_of
from ..files.stored import Stored

if 1 - 1:  # for type checkers alone
    from typing import Literal, SupportsFloat

    from ..run.network import Data, Numbers

_MAGIC = 0x3152444F
_ACTIVATIONS = {"linear": 0, "tanh": 1, "sigmoid": 2, "relu": 3}
_X_FORM, _Y_FORM, _X_VALUE, _Y_VALUE = 1, 2, 3, 4
_LIMIT = 1048576  # numbers are below


def _rls():
    """The kernel of the executor that computes: of a firmware's or PC's ``_odt``, of a stock board's
    ``_odt_online.mpy``, in Python.
    """
    if executor.backend == "native":
        if hasattr(executor.engine, "rls"):
            return executor.engine.rls
        try:
            from _odt_online import rls

            return rls
        except ImportError:
            pass
    from ..reference.rls import rls

    return rls


def positive(kind, name, value):
    try:
        if is_number(value):
            return scale_of(value)
    except ValueError:
        pass
    raise ValueError("%s: %s is a positive number, got %r" % (kind, name, value))


class OSELM(Stored):
    """A regressor of ``outputs`` numbers or, with ``classes``, a classifier of labels 0 .. classes - 1.

    inputs: numbers of a sample, of order 1 (standardised, say), below 2^20. hidden: random features, of an
    ``activation`` of "tanh", "sigmoid" or "relu"; None: none, the inputs and a bias are the features. forgetting: 0.5
    .. 1, what each sample leaves of the weight of those before; 1 forgets nothing. regularization: P starts as I over
    it. seed: of the features. scale: of the features' sums, 1 for standardised inputs.

    One bytearray, ``state``, is all that learns: 64 bytes, and 4 each for hidden * (hidden + 1) / 2 and hidden *
    outputs.
    """

    inputs: "int"
    outputs: "int"
    classes: "int | None"
    hidden: "int"

    def __init__(
        self,
        inputs: "int",
        outputs: "int | None" = None,
        hidden: "int | None" = 32,
        activation: "Literal['tanh', 'sigmoid', 'relu']" = "tanh",
        classes: "int | None" = None,
        forgetting: "float" = 1.0,
        regularization: "float" = 0.01,
        seed: "int" = 0,
        scale: "float" = 1.0,
    ) -> None:
        kind = type(self).__name__
        if outputs is not None and classes is not None:
            raise ValueError("%s: outputs or classes, got both" % kind)
        self.inputs = size_of(kind, "inputs", inputs, 1024 if hidden is None else 4096)
        self.classes = None if classes is None else size_of(kind, "classes", classes, 4096)
        self.outputs = self.classes or size_of(kind, "outputs", 1 if outputs is None else outputs, 4096)
        if activation not in _ACTIVATIONS or (hidden is not None and activation == "linear"):
            raise ValueError('%s: activation is "tanh", "sigmoid" or "relu", got %r' % (kind, activation))
        if hidden is None:
            activation = "linear"
        self.hidden = self.inputs + 1 if hidden is None else size_of(kind, "hidden", hidden, 1024)
        seed = own(seed)
        if not is_int(seed):
            raise TypeError("%s: seed is an int, got %r" % (kind, seed))
        forgets, start = positive(kind, "forgetting", forgetting), positive(kind, "regularization", regularization)
        if not 0x3F000000 <= forgets <= ONE:
            raise ValueError("%s: forgetting is in 0.5..1, got %r" % (kind, forgetting))
        start = scale_div(ONE, start)
        gain = scale_mul(
            positive(kind, "scale", scale), scale_sqrt(scale_div(scale_int(3), scale_int(self.inputs + 1)))
        )
        trace = scale_mul(start, scale_int(64 * self.hidden))
        if not 97 << 23 <= start < 167 << 23:
            raise ValueError("%s: regularization is in 1e-12..1e+9, got %r" % (kind, regularization))
        left = (1 << 24) - (forgets & 0x7FFFFF | 0x800000)  # (1 - forgetting) * 2^24
        hold = ONE if forgets == ONE else scale_shift(scale_int(left), -28)
        N = self.hidden
        self.state = state = bytearray(64 + 4 * (N * (N + 1) // 2 + N * self.outputs))
        header = (
            _MAGIC, self.inputs, N, self.outputs, seed & 0xFFFFFFFF, _ACTIVATIONS[activation], gain, forgets, hold,
            trace, start,
        )  # fmt: skip
        for i, word in enumerate(header):
            struct.pack_into("<I", state, 4 * i, word)
        at = 64
        for j in range(N):
            at += 4 * j
            struct.pack_into("<I", state, at, start)
            at += 4
        self._work = array("f", bytes(4 * (2 * self.outputs + 1 + N + max(N, self.inputs + 1))))
        self._x = array("f", bytes(4 * self.inputs))
        self._y = array("f", bytes(4 * self.outputs))
        self._rls = _rls()

    @property
    def seen(self) -> "int":
        """Samples learned."""
        low, high = struct.unpack_from("<2I", self.state, 44)
        return low + (high << 32)

    @property
    def error(self) -> "float":
        """The mean squared error of the last sample learned, or scored, before it was learned."""
        return self._work[self.outputs]

    def learn_one(self, x: "Numbers", y: "SupportsFloat | Numbers") -> None:
        """Learn a sample. x: ``inputs`` numbers; y: a label, a number, or ``outputs`` numbers.

        A float32 array of the right length is taken as it is, and nothing is allocated. ValueError for NaN and what is
        too large or too long, TypeError for no numbers; then nothing is learned.
        """
        self._call(x, self._targets(y), True)

    def partial_fit(self, x: "Data", y: "Data") -> "OSELM":
        """Learn samples one after the other: x a sequence of them, y of what learn_one() takes. Returns the model.

        An error comes after those before it were learned.
        """
        if len(x) != len(y):
            raise ValueError("partial_fit: %d samples and %d targets" % (len(x), len(y)))
        for i in range(len(x)):
            self.learn_one(x[i], y[i])
        return self

    def predict_one(self, x: "Numbers", out: "array[float] | None" = None) -> "float | array[float]":
        """The label, the number, or an array('f') of the outputs; with ``out``, an array('f') of them, they are put
        there.
        """
        self._call(x, None, False)
        work, best = self._work, 0
        if out is not None:
            self._expect("out", out, self.outputs)
            for i in range(self.outputs):
                out[i] = work[i]
            return out
        if self.classes:
            for i in range(1, self.outputs):
                if work[i] > work[best]:
                    best = i
            return best
        return work[0] if self.outputs == 1 else work[: self.outputs]

    def predict_proba_one(self, x: "Numbers") -> "array[float]":
        """Per class, in an array('f'): the outputs limited to 0 .. 1, divided by their sum; all equal if that is 0."""
        if not self.classes:
            raise ValueError("predict_proba_one: OSELM(classes=..) has probabilities")
        self._call(x, None, False)
        found = self._work[: self.outputs]
        total = 0.0
        for i in range(self.outputs):
            found[i] = min(max(found[i], 0.0), 1.0)
            total += found[i]
        for i in range(self.outputs):
            found[i] = found[i] / total if total else 1.0 / self.outputs
        return found

    def score_one(self, x: "Numbers", y: "SupportsFloat | Numbers") -> "float":
        """The mean squared error of a sample, which is not learned."""
        self._call(x, self._targets(y), False)
        return self.error

    def weights(self) -> "array[float]":
        """The linear weights, an array('f') of (hidden, outputs)."""
        return array("f", bytes(self.state[64 + 2 * self.hidden * (self.hidden + 1) :]))

    def __repr__(self):
        return "%s(%d -> %d -> %d, %d bytes)" % (
            type(self).__name__, self.inputs, self.hidden, self.outputs, len(self.state))  # fmt: skip

    def _targets(self, y):
        if self.classes:
            y = own(y)
            if not is_int(y) or not 0 <= y < self.classes:
                raise ValueError("y: a label in 0..%d is expected, got %r" % (self.classes - 1, y))
            targets = self._y
            for i in range(self.classes):
                targets[i] = 0.0
            targets[y] = 1.0
            return targets
        if self.outputs == 1 and is_number(own(y)):
            return self._put("y", 0, y, self._y)
        return y

    def _call(self, x, y, learn):
        if len(getattr(x, "shape", ())) > 1:
            from ..run.arrays import one_sample

            same, x = y is x, one_sample("x", x, (self.inputs,))
            y = x if same else y
        code = self._rls(self.state, self._work, x, y, learn)
        if code == _X_FORM:
            x = self._copy("x", x, self._x)
            code = self._rls(self.state, self._work, x, y, learn)
        if code == _Y_FORM:
            y = self._copy("y", y, self._y)
            code = self._rls(self.state, self._work, x, y, learn)
        if code:
            self._explain(code, x, y)

    def _expect(self, name, values, count):
        try:
            found = len(values)
        except TypeError:
            raise TypeError("%s: %d numbers are expected, got %r" % (name, count, values)) from None
        if found != count:
            raise ValueError("%s: %d numbers are expected, got %d" % (name, count, found))

    def _copy(self, name, values, to):
        self._expect(name, values, len(to))
        for i in range(len(to)):
            self._put(name, i, values[i], to)
        return to

    def _put(self, name, i, value, to):
        if not hasattr(value, "dtype") and not is_number(value):
            raise TypeError("%s: a number is expected, got %r" % (name, value))
        try:
            to[i] = value
        except OverflowError:
            raise ValueError("%s[%d]: numbers below 2^20 are expected, got %r" % (name, i, value)) from None
        return to

    def _explain(self, code, x, y):
        if code not in (_X_VALUE, _Y_VALUE):
            raise ValueError("state: it is damaged; load() or make a new model")
        name, values = ("x", x) if code == _X_VALUE else ("y", y)
        for i in range(len(values)):
            if not -_LIMIT < values[i] < _LIMIT:
                raise ValueError("%s[%d]: numbers below 2^20 are expected, got %r" % (name, i, own(values[i])))


class Autoencoder(OSELM):
    """An OSELM that learns its inputs: what it reconstructs badly is unlike what it has learned.

    hidden: fewer than the inputs, or everything is reconstructed. Other arguments: OSELM's.
    """

    def __init__(
        self,
        inputs: "int",
        hidden: "int" = 8,
        activation: "Literal['tanh', 'sigmoid', 'relu']" = "tanh",
        forgetting: "float" = 1.0,
        regularization: "float" = 0.01,
        seed: "int" = 0,
        scale: "float" = 1.0,
    ) -> None:
        super().__init__(inputs, inputs, hidden, activation, None, forgetting, regularization, seed, scale)

    def learn_one(self, x: "Numbers") -> None:
        """Learn a sample; ``error`` is its score before that."""
        self._call(x, x, True)

    def partial_fit(self, x: "Data") -> "Autoencoder":
        """Learn a sequence of samples one after the other. Returns the model."""
        for i in range(len(x)):
            self.learn_one(x[i])
        return self

    def score_one(self, x: "Numbers") -> "float":
        """The mean squared error of the reconstruction: high for what is unlike the samples learned."""
        self._call(x, x, False)
        return self.error
