"""Losses: what the output should have been, and the error that starts the backward pass."""

from .schedule import ERROR, Value


class SparseCategoricalCrossentropy:
    """Softmax and cross-entropy on integer labels; the network's output is the logits.

    Labels are integers in 0 .. classes-1, one a sample, in any integer array.
    """

    name = "sparse_categorical_crossentropy"
    labels = True

    def emit(self, s, logits):
        """Emit the loss of ``logits``; returns the error's Value."""
        count = logits.count // s.batch
        error = s.like("loss error", logits)
        if not s.int8:
            s.emit("softmax_xent_f32", (error.buffer, s.control, s.y, logits.buffer), (s.batch, count))
            return error
        scale = s.scratch("loss error scale", 4)
        operands = (error.buffer, scale, s.control, s.y, logits.buffer, logits.scale)
        s.emit("softmax_xent_i8", operands, (s.batch, count, logits.zero))
        return Value(error.buffer, error.count, scale)


class MeanSquaredError:
    """The mean of squared differences over outputs and samples.

    Targets have the output's shape; float32, or integers that mean what they mean as an input.
    """

    name = "mse"
    labels = False

    def emit(self, s, output):
        """Emit the loss of ``output``; returns the error's Value."""
        count = output.count // s.batch
        if not s.int8:
            error = s.like("loss error", output)
            s.emit("mse_f32", (error.buffer, s.control, s.y, output.buffer), (s.batch, count))
            return error
        error = s.tensor("loss error", output.count, ERROR)
        scale = s.scratch("loss error scale", 4)
        operands = (error.buffer, scale, error.peak, s.control, s.y, output.buffer, output.scale, error.scale)
        s.emit("mse_i8", operands, (s.batch, count, output.zero))
        return Value(error.buffer, error.count, scale)


LOSSES = {
    "sparse_categorical_crossentropy": SparseCategoricalCrossentropy,
    "mse": MeanSquaredError,
    "mean_squared_error": MeanSquaredError,
}
