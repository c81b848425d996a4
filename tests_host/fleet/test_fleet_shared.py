"""What a fleet shares of a model: the weights that train, rounded to 2^-20, on each executor alike."""

from array import array

import numpy as np
import pytest
from digits_data import X, Y, cnn

import odt
from odt.fleet import Node
from odt.fleet.shared import Shared
from odt.run.session import ready


def trained(layers, dtype="int8", optimizer=None):
    model = odt.Sequential(layers)
    model.compile(optimizer or odt.Adam(0.01), batch_size=16, dtype=dtype, seed=3)
    model.fit(X[:64], Y[:64], epochs=2, verbose=0)
    return model


def read(shared):
    values = array("i", bytes(4 * shared.count))
    shared.add_to(values)
    return values


def norms():
    return [*cnn()[:2], odt.BatchNorm(), odt.ReLU(), odt.Flatten(), odt.Dense(10)]


@pytest.mark.parametrize("layers", [cnn, norms])
@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_they_are_the_weights_rounded_to_2_to_the_minus_20(dtype, layers):
    model = trained(layers(), dtype)
    expected = np.concatenate([np.array(each, "float64") for each in model.get_weights()])
    difference = np.abs(np.array(read(Shared(ready(model)))) - expected * 2**20)
    epsilon = np.zeros(0) if layers is cnn else 0.001 * 2**20  # a variance is kept with it
    assert (difference <= 0.5 + 1e-3).sum() >= len(expected) - (8 if layers is norms else 0)
    assert difference.max() <= 0.6 or np.abs(difference.max() - epsilon) < 2


@pytest.mark.parametrize("layers", [cnn, norms])
@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_what_is_written_is_read_and_predicts_alike(dtype, layers):
    model, other = trained(layers(), dtype), trained(layers(), dtype, odt.SGD(0.1))
    shared, into = Shared(ready(model)), Shared(ready(other))
    into.write(read(shared))
    wanted = [np.array(each) for each in model.get_weights()]
    for found, each in zip(other.get_weights(), wanted):  # a row's scale is at most 1/64 of its largest
        assert np.abs(np.array(found) - each).max() <= np.abs(each).max() / 64 / 256 + 2**-20
    again = read(into)
    into.write(again)
    assert read(into) == again or dtype == "int8"
    first, second = model.predict(X[:32]).reshape(32, 10), other.predict(X[:32]).reshape(32, 10)
    other.calibrate(X[:32])
    second = np.array(other.predict(X[:32])).reshape(32, 10)
    assert (first.argmax(1) == second.argmax(1)).sum() >= 30


def test_moments_and_ranges_stay():
    model = trained(cnn())
    state, shared = bytes(model.session.state), Shared(ready(model))
    values = read(shared)
    shared.write(array("i", [value + 64 for value in values]))
    kept = [weights for _, weights in model.session.plan.weights]
    weights = {
        at
        for each in kept
        for buffer in (each.kernel, each.residual, each.scale, *each.vectors)
        for at in range(buffer.offset, buffer.offset + buffer.size)
    }
    changed = {at for at, (old, new) in enumerate(zip(state, model.session.state)) if old != new}
    assert changed and changed <= weights
    assert model.session.calibrated == 2


def test_frozen_and_personal_layers_are_neither_sent_nor_changed():
    layers = cnn()
    layers[1].trainable = False
    model = trained(layers)
    names = [layer.name for layer, _ in model.session.plan.weights]
    before = model.get_weights()
    shared = Shared(ready(model), personal=names[2:])
    assert shared.count == 16 * 9 * 8 + 16
    shared.write(array("i", [1 << 18] * shared.count))
    after = model.get_weights()
    assert [a == b for a, b in zip(before, after)] == [True, True, False, False, True, True]
    with pytest.raises(ValueError, match="personal: there is no layer 'dense_9' with weights, there are conv2d"):
        Shared(ready(model), personal=("dense_9",))
    with pytest.raises(ValueError, match="shares nothing"):
        Shared(ready(model), personal=names)


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_both_executors_read_and_write_the_same_bits(dtype):
    digests = []
    for backend in ("native", "reference"):
        odt.executor.use(backend)
        try:
            model = odt.Sequential([odt.Input((4,)), odt.Dense(5, "relu"), odt.Dense(3)])
            model.compile(odt.Adam(0.05), batch_size=4, dtype=dtype, seed=3)
            x = np.sin(np.arange(64)).astype("float32")
            model.fit(x, bytes([0, 1, 2, 1] * 4), epochs=2, verbose=0)
            shared = Shared(ready(model))
            shared.write(read(shared))
            digests.append((model.digest(), bytes(read(shared))))
        finally:
            odt.executor.use("native")
    assert digests[0] == digests[1]


def test_a_weight_that_is_none_is_named():
    model = trained(cnn(), "float32")
    weights = model.get_weights()
    weights[2][5] = 600.0
    model.set_weights(weights)
    with pytest.raises(ArithmeticError, match="conv2d.*: a weight is not in -512..512"):
        read(Shared(ready(model)))


@pytest.mark.parametrize(
    "options, says", [({"name": "n" * 33}, "name"), ({"name": "a\0b"}, "name"), ({"epochs": 0}, "epochs")]
)
def test_arguments_of_a_node_are_checked(options, says):
    with pytest.raises(ValueError, match="Node: " + says):
        Node(trained(cnn()), X[:64], Y[:64], **options)
    with pytest.raises(ValueError, match="x: "):
        Node(trained(cnn()), X[:16].tobytes()[:-1], Y[:16])


def test_few_samples_leave_a_node_only_with_masks_or_where_it_is_told_so():
    with pytest.raises(ValueError, match="Node: an update of 63 samples shows them to the PC: give 64 or more"):
        Node(trained(cnn()), X[:63], Y[:63])
    with pytest.raises(ValueError, match="Node: least"):
        Node(trained(cnn()), X[:63], Y[:63], least=0)
    for options in {"least": 63}, {"secret": True}:
        assert Node(trained(cnn()), X[:63], Y[:63], **options).samples == 63
