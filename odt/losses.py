"""Losses: what the output should have been, and the error that starts the backward pass."""

import struct

from .base.fixed import multiplier, own, scale_div
from .base.primitives import millionths, rescale, scale_of

if 1 - 1:  # for type checkers alone
    from collections.abc import Mapping, Sequence


class _Loss:
    """What Model asks of a loss."""

    name: "str"

    labels = False  # y is one integer label a sample; else it has the output's shape
    binary = False  # y is 0 or 1, or a probability
    onehot = False  # y is a row of 0 and a single 1 a sample, for a label
    activation = None  # kind of the layer that the loss contains: after one, it takes what comes before that
    with_logits = False  # y may be rows of bytes: a label, and the logits that odt.continual.replay has kept
    hits = False  # CORRECT counts them: accuracy is known
    from_logits = None  # as the user says: whether the activation does not come before it; None: either
    class_weight = None
    degree = 0  # in int8: the power of the output's scale in LOSS

    def unit(self, step):
        """What 1 of LOSS means in int8, for outputs in steps of 256 * ``step``."""
        return 1 / 65536

    def _fixed(self, s, name, output, source, immediates=(), more=()):
        """Emit a loss whose error has a scale that it writes itself: 1/127 of a constant."""
        count = output.count // s.batch
        error = s.like("loss error", output)
        if not s.int8:
            operands = (error.buffer, s.control, s.y, output.buffer) + more
            s.emit(name + "_f32", operands, (s.batch, count) + immediates)
            return error
        scale = s.scratch("loss error scale", 4)
        operands = (error.buffer, scale, s.control, s.y, output.buffer, output.scale) + more
        s.emit(name + "_i8", operands, (s.batch, count) + source + immediates)
        return s.loss_error(error, scale, unit=self.class_weight is not None)

    def _ranged(self, s, name, output, immediates=()):
        """Emit a loss whose error has a scale that follows its range."""
        count = output.count // s.batch
        if not s.int8:
            error = s.like("loss error", output)
            s.emit(name + "_f32", (error.buffer, s.control, s.y, output.buffer), (s.batch, count) + immediates)
            return error
        error = s.tensor("loss error", output.count)
        scale = s.scratch("loss error scale", 4)
        operands = (error.buffer, scale, error.peak, s.control, s.y, output.buffer, output.scale, error.scale)
        s.emit(name + "_i8", operands, (s.batch, count, output.zero) + immediates)
        return s.loss_error(error, scale, error.peak)


class SparseCategoricalCrossentropy(_Loss):
    """Softmax and cross-entropy on integer labels; the network's output is the logits, or a Softmax of them.

    Labels are integers in 0 .. classes-1, one a sample, in any integer array. ``class_weight`` (a list, or a
    dict of what is not 1) weighs each sample by its label; ``label_smoothing`` gives that part of each label
    to all classes alike. The batch's loss is the weighted mean, as PyTorch's CrossEntropyLoss defines it.
    ``from_logits`` is Keras's and changes nothing: ``compile`` refuses True after a Softmax, False after anything else.
    """

    name = "sparse_categorical_crossentropy"
    labels = True
    hits = True
    activation = "softmax"

    def __init__(
        self,
        class_weight: "Sequence[float] | Mapping[int, float] | None" = None,
        label_smoothing: "float" = 0,
        from_logits: "bool | None" = None,
    ) -> None:
        label_smoothing = own(label_smoothing)
        if hasattr(class_weight, "tolist"):
            class_weight = class_weight.tolist()
        if class_weight is not None and not isinstance(class_weight, (list, tuple, dict)):
            raise TypeError("class_weight is a list or a dict, got %r" % (class_weight,))
        if isinstance(class_weight, dict):
            class_weight = {own(label): own(weight) for label, weight in class_weight.items()}
        elif class_weight is not None:
            class_weight = [own(weight) for weight in class_weight]
        for weight in class_weight.values() if isinstance(class_weight, dict) else class_weight or ():
            if not isinstance(weight, (int, float)) or not 0 <= weight < 1e9:
                raise ValueError("class_weight: numbers from 0 on are expected, got %r" % (weight,))
        if not isinstance(label_smoothing, (int, float)) or not 0 <= label_smoothing < 1:
            raise ValueError("label_smoothing is in 0..1, below 1, got %r" % (label_smoothing,))
        self.class_weight = class_weight
        self.label_smoothing = label_smoothing
        self.from_logits = from_logits

    def emit(self, s, logits):
        """Emit the loss of ``logits``; returns the error's Value."""
        if self.class_weight is None and not self.label_smoothing:
            return self._fixed(s, "softmax_xent", logits, (logits.zero,))
        if self.class_weight is not None and s.updates.sums is not None:
            raise ValueError("class_weight: a weighted mean needs the whole batch, micro_batch has parts of it")
        weights = self._weights(logits.count // s.batch)
        smooth = self.label_smoothing
        top = max(weights)
        if top == 0:
            raise ValueError("class_weight: all are 0")
        if s.int8:
            for index, weight in enumerate(weights):
                weights[index] = rescale(32767, *multiplier(scale_div(weight, top))) if weight else 0
            smooth = (millionths(smooth) * 65536 + 500000) // 1000000
        else:
            smooth = scale_of(smooth) if smooth else 0
        code = "<%d%s" % (len(weights), "h" if s.int8 else "I")
        more = (s.buffers.constant(struct.pack(code, *weights)),)
        if not s.int8:
            return self._fixed(s, "weighted_xent", logits, (), (smooth,), more)
        s.emit("step_key", (s.control, s.header), (1,))  # for what is rounded at random
        s.keyed = True
        return self._fixed(s, "weighted_xent", logits, (), (smooth, s.stream("loss error")), more)

    def _weights(self, classes):
        """Each class's weight as float32 bits."""
        given = self.class_weight
        if given is None:
            given = {}
        if not isinstance(given, dict):
            if len(given) != classes:
                raise ValueError("class_weight: %d weights for %d classes" % (len(given), classes))
            given = dict(enumerate(given))
        for label in given:
            if not isinstance(label, int) or not 0 <= label < classes:
                raise ValueError("class_weight: label %r is not in 0..%d" % (label, classes - 1))
        weights = [given.get(label, 1) for label in range(classes)]
        return [scale_of(weight) if weight > 1e-9 else 0 for weight in weights]


class CategoricalCrossentropy(SparseCategoricalCrossentropy):
    """As SparseCategoricalCrossentropy, on one-hot labels: (samples, classes), with a single 1 in each row."""

    name = "categorical_crossentropy"
    onehot = True


class BinaryCrossentropy(_Loss):
    """Sigmoid and cross-entropy, for each output on its own; the network's output is the logits, or a Sigmoid of them.

    Targets have the output's shape: integers 0 and 1, or float32 from 0 to 1. ``from_logits``: as of the other
    crossentropies.
    """

    name = "binary_crossentropy"
    binary = True
    hits = True
    activation = "sigmoid"

    def __init__(self, from_logits: "bool | None" = None) -> None:
        self.from_logits = from_logits

    def emit(self, s, logits):
        """Emit the loss of ``logits``; returns the error's Value."""
        return self._fixed(s, "binary_xent", logits, (logits.zero,))


class MeanSquaredError(_Loss):
    """The mean of squared differences over outputs and samples.

    Targets have the output's shape; float32, or integers that mean what they mean as an input.
    """

    name = "mse"
    degree = 2

    def unit(self, step):
        return step * step

    def emit(self, s, output):
        """Emit the loss of ``output``; returns the error's Value."""
        return self._ranged(s, "mse", output)


class MeanAbsoluteError(_Loss):
    """The mean of absolute differences over outputs and samples; targets as of MeanSquaredError."""

    name = "mae"
    degree = 1

    def unit(self, step):
        return step

    def emit(self, s, output):
        """Emit the loss of ``output``; returns the error's Value."""
        return self._fixed(s, "mae", output, (output.zero,))


class Huber(_Loss):
    """Half the square of a difference up to ``delta``, linear beyond; the mean; targets as of MeanSquaredError."""

    name = "huber"
    degree = 2

    def __init__(self, delta: "float" = 1) -> None:
        delta = own(delta)
        if not isinstance(delta, (int, float)) or not 1e-9 <= delta <= 1e9:
            raise ValueError("Huber: delta is a number above 0, got %r" % (delta,))
        self.delta = delta

    def unit(self, step):
        return step * step / 2

    def emit(self, s, output):
        """Emit the loss of ``output``; returns the error's Value."""
        return self._ranged(s, "huber", output, (scale_of(self.delta),))


LOSSES = {
    "sparse_categorical_crossentropy": SparseCategoricalCrossentropy,
    "categorical_crossentropy": CategoricalCrossentropy,
    "binary_crossentropy": BinaryCrossentropy,
    "mse": MeanSquaredError,
    "mean_squared_error": MeanSquaredError,
    "mae": MeanAbsoluteError,
    "mean_absolute_error": MeanAbsoluteError,
    "huber": Huber,
}
