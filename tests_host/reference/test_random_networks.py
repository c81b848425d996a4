"""Networks of all kinds of layers, drawn at random: both executors train them to the same bits.

ODT_NETWORKS=2000 draws so many of a kind, other ones each time, instead of the same few.
"""

import os
import random
from array import array

import networks
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import odt
from odt import executor

MANY = int(os.environ.get("ODT_NETWORKS", "0"))


class Drawn:
    """hypothesis, as networks.py asks; with recurrence and attention, which other draws are older than."""

    sequences = True

    def __init__(self, data):
        self.data = data

    def integer(self, low, high):
        return self.data.draw(st.integers(low, high))

    def choice(self, sequence):
        return self.data.draw(st.sampled_from(list(sequence)))


@pytest.fixture(autouse=True)
def same_executor():
    before = executor.backend
    yield
    executor.use(before)


def train(model, options, x, y, backend):
    """All that training leaves behind, as far as bits are promised."""
    executor.use(backend)
    model.session = None  # else compile() keeps what has been trained
    model.compile(**options)
    try:
        history = model.fit(x, y, epochs=2, validation_data=(x, y), verbose=0).history
    except ArithmeticError as error:  # a float32 loss that is not finite, at the same step
        history = str(error)
    digest = model.digest()
    output = bytes(model.predict(x))
    return digest, repr(history), output, repr(model.evaluate(x, y)), model.digest()


@pytest.mark.slow
@settings(
    max_examples=MANY or 300, derandomize=not MANY, database=None, deadline=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
@given(st.data())
def test_both_executors_train_any_network_to_the_same_bits(data):
    model, options, x, y = networks.draw_case(Drawn(data))
    note(", ".join(["%s%s" % (node.layer.kind, node.shape) for node in model.nodes]))
    note(repr(options))
    native = train(model, options, x, y, "native")
    assert train(model, options, x, y, "reference") == native


@pytest.mark.slow
@settings(
    max_examples=MANY or 100, derandomize=not MANY, database=None, deadline=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
@given(st.data())
def test_recomputation_changes_no_bit_of_any_network(data):
    model, options, x, y = networks.draw_case(Drawn(data))
    note(", ".join(["%s%s" % (node.layer.kind, node.shape) for node in model.nodes]))
    note(repr(options))
    plain = train(model, dict(options, checkpoint=None), x, y, "native")
    assert train(model, dict(options, checkpoint="sqrt"), x, y, "native") == plain


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("loss", ("mse", "mae", "huber", "binary_crossentropy"))
def test_a_loss_may_follow_a_pooling_of_windows_that_overlap(loss, dtype):
    """Found here: a loss's error has a scale of its own, which the gradient of a pooling took for a range."""
    d = networks.Random(random.Random(1))
    model = odt.Sequential([odt.Input((4, 4, 2)), odt.Conv2D(3, 3), odt.MaxPool2D(2, 1)])
    options = {"optimizer": odt.SGD(0.05), "loss": loss, "dtype": dtype, "batch_size": 4}
    x = networks.draw_data(d, "f", 8 * 32)
    y = networks.draw_data(d, "B", 8 * 3)
    y = array("B", [value & 1 for value in y]) if loss == "binary_crossentropy" else array("f", [1] * 24)
    native = train(model, options, x, y, "native")
    assert train(model, options, x, y, "reference") == native
    losses = model.fit(x, y, epochs=20, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
