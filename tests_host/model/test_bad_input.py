"""Every error path: the right exception, a message that names what came and what was expected, and a
model that is bit for bit what it was."""

import array
import gc
import io
import mmap
import struct

import numpy as np
import pytest

import odt
from odt import executor
from odt.base import opcodes
from odt.plan.compiler import check_accumulators
from odt.plan.program import Program
from odt.reference import program as reference
from odt.run import start as building

try:
    import _odt
except ImportError:
    _odt = None

ENGINES = [reference] + [_odt] * (_odt is not None)
X = [[0.0, 1.0], [1.0, 0.5], [0.25, 1.0]]
Y = [0, 2, 1]


def dense(dtype="int8", loss="sparse_categorical_crossentropy", **options):
    model = odt.Sequential([
        odt.Input((2,), name="in"), odt.Dense(4, "relu", name="hidden"), odt.Dense(3, name="out"),
    ])  # fmt: skip
    model.compile(odt.Adam(0.01), loss, dtype=dtype, **{"batch_size": 4, "seed": 1, **options})
    return model


def pixels():
    model = odt.Sequential([odt.Input((2, 3, 1), dtype="uint8", scale=1 / 16), odt.Flatten(), odt.Dense(3)])
    model.compile(batch_size=2)
    return model


class refused:
    """A ``with`` block must raise the type, its text must hold all words, and the model stays."""

    def __init__(self, kind, *words, model=None):
        self.kind, self.words, self.model = kind, words, model
        self.before = model and model.digest()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        assert kind is not None, "nothing was raised"
        assert kind is self.kind, (kind, value)
        for word in self.words:
            assert str(word) in str(value), str(value)
        assert self.model is None or self.model.digest() == self.before
        return True


# Data


BAD_X = {
    "a row too long": ([[0, 1, 2]], ValueError, ("x", "sample 0", "3", "2")),
    "a ragged list": ([[0, 1], [1]], ValueError, ("x", "sample 1", "1", "2")),
    "a ragged list of the right sum": ([[0], [1, 2, 3]], ValueError, ("x", "sample 0", "1", "2")),
    "half a sample": (array.array("f", [0, 1, 2]), ValueError, ("x", "12 bytes", "8 bytes", "float32")),
    "a wrong NumPy shape": (np.zeros((2, 3), "float32"), ValueError, ("x", "(2, 3)", "(samples, 2)")),
    "a transposed NumPy shape": (np.zeros((4, 3, 2), "float32"), ValueError, ("x", "(4, 3, 2)")),
    "no sample in a list": ([], ValueError, ("x", "empty")),
    "no sample in bytes": (b"", ValueError, ("x", "empty")),
    "no sample in NumPy": (np.zeros((0, 2), "float32"), ValueError, ("x", "empty")),
    "a NumPy scalar": (np.array(1, "float32"), ValueError, ("x", "()")),
    "integers": (array.array("h", [0, 1]), TypeError, ("x", "'h'", "float32")),
    "NumPy integers": (np.zeros((1, 2), "int64"), TypeError, ("x", "float32")),
    "NumPy halves": (np.zeros((1, 2), "float16"), TypeError, ("x", "'e'", "float32")),
    "NumPy booleans": (np.zeros((1, 2), "bool"), TypeError, ("x", "'?'", "float32")),
    "other byte order": (np.zeros((1, 2), ">f4"), TypeError, ("x", "'>f'", "float32")),
    "none": (None, TypeError, ("x", "NoneType")),
    "a number": (3, TypeError, ("x", "int")),
    "text": ("ab", TypeError, ("x", "str")),
    "a list of text": (["a", "b"], TypeError, ("x", "item 0", "float32")),
    "a list with a hole": ([[0, 1], [0, None]], TypeError, ("x", "item 1", "float32")),
    "NaN": ([[0, 1], [float("nan"), 0]], ValueError, ("x", "sample 1", "element 0", "NaN")),
    "infinity": ([[0, 1], [0, 1], [0, float("-inf")]], ValueError, ("x", "sample 2", "element 1")),
    "more than a float32": (np.array([[0, 1e300]]), ValueError, ("x", "sample 0", "element 1")),
    "NaN in bytes": (struct.pack("<4f", 0, 1, 2, float("nan")), ValueError, ("x", "sample 1", "element 1")),
    "gaps in a memoryview": (memoryview(array.array("f", 8 * [0]))[::2], ValueError, ("x", "gaps")),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("case", sorted(BAD_X))
def test_bad_samples_are_refused(case, dtype):
    data, kind, words = BAD_X[case]
    model = dense(dtype)
    model.train_step(X, Y)
    with refused(kind, *words, model=model):
        model.predict(data)
    with refused(kind, *words, model=model):
        model.fit(data, Y, verbose=0)
    with refused(kind, *words, model=model):
        model.evaluate(data, Y)
    with refused(kind, *words, model=model):
        model.train_step(data, Y)
    with refused(kind, *("validation " + word if word == "x" else word for word in words), model=model):
        model.fit(X, Y, validation_data=(data, Y), verbose=0)
    model.fit(X, Y, verbose=0)  # what was refused left nothing behind that disturbs


def test_data_that_turns_bad_in_place_is_refused_and_of_another_kind_is_taken():
    def step(model, x, y):
        if closely:
            model.session.known = None
        return model.train_step(x, y)

    found = []
    for closely in (False, True):
        model = pixels()
        x, y = bytearray(range(12)), bytearray([0, 2])
        losses = [step(model, x, y) for _ in range(2)]
        y[1] = 3
        with refused(ValueError, "y", "label 3", "sample 1", model=model):
            step(model, x, y)
        y[1] = 1
        x.append(7)
        with refused(ValueError, "x", "13 bytes", model=model):
            step(model, x, y)
        del x[6:]
        with refused(ValueError, "y", "2 samples, x has 1", model=model):
            step(model, x, y)
        with refused(TypeError, "x", "'b'", model=model):
            step(model, array.array("b", x), y[:1])
        losses.append(step(model, x, y[:1]))
        losses.append(step(model, bytes(x), array.array("h", [2])))
        losses.append(step(model, bytes(x), array.array("i", [1])))
        losses.append(model.evaluate(bytes(x), [1])[0])
        losses.append(step(model, bytes(x), array.array("i", [1])))
        model.predict(array.array("B", x))
        losses.append(step(model, memoryview(x), y[:1]))
        model.fit(x, [2], verbose=0)
        losses.append(step(model, x, y[:1]))
        with refused(ValueError, "x", "18 samples", model=model):
            step(model, bytes(6 * 18), bytes(18))
        found.append((losses, model.digest()))
    assert found[0] == found[1]


def test_targets_that_turn_infinite_in_place_are_refused():
    model = dense(loss="mse")
    x, y = array.array("f", [0.5, 1, 2, 3]), array.array("f", [0.5] * 6)
    for _ in range(2):
        model.train_step(x, y)
    for data, name, element in ((y, "y", 2), (x, "x", 1)):
        good, data[element] = data[element], float("inf")
        with refused(ValueError, name, "sample 0", "element %d" % element, model=model):
            model.train_step(x, y)
        data[element] = good
    model.train_step(x, y)
    assert model.session.known


BAD_LABELS = {
    "above": ([0, 1, 3], ValueError, ("y", "label 3", "sample 2", "0..2")),
    "below": ([0, -1, 2], ValueError, ("y", "label -1", "sample 1", "0..2")),
    "far above": (np.array([0, 1, 2**40]), ValueError, ("y", "element 2", "int32", 2**40)),
    "above what a list holds": ([0, 2**31, 1], ValueError, ("y", "item 1", "int32")),
    "NumPy columns": (np.array([[0], [9], [1]]), ValueError, ("y", "label 9", "sample 1")),
    "one hot": (np.eye(3, dtype="uint8"), ValueError, ("y", "(3, 3)", "(samples,)", "categorical_crossentropy")),
    "a one-hot list": ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], ValueError, ("y", "sample 0", "3", "1")),
    "bytes above": (b"\0\1\7", ValueError, ("y", "label 7", "sample 2")),
    "too few": ([0, 1], ValueError, ("y", "2 samples", "3")),
    "too many": ([0, 1, 2, 0], ValueError, ("y", "4 samples", "3")),
    "none at all": ([], ValueError, ("y", "empty")),
    "floats in a list": ([0.0, 1.5, 2.0], TypeError, ("y", "item 0", "int32")),
    "floats": (array.array("f", [0, 1, 2]), TypeError, ("y", "'f'", "uint8 or int8")),
    "NumPy floats": (np.zeros(3), TypeError, ("y", "'d'", "uint8")),
    "None": (None, TypeError, ("y", "NoneType")),
}


@pytest.mark.parametrize("case", sorted(BAD_LABELS))
def test_bad_labels_are_refused(case):
    labels, kind, words = BAD_LABELS[case]
    model = dense()
    model.train_step(X, Y)
    with refused(kind, *words, model=model):
        model.fit(X, labels, verbose=0)
    with refused(kind, *words, model=model):
        model.evaluate(X, labels)
    with refused(kind, *words, model=model):
        model.train_step(X, labels)


def test_bad_targets_are_refused():
    model = dense(loss="mse")
    good = np.zeros((3, 3), "float32")
    for targets, kind, words in (
        (np.zeros((3, 2), "float32"), ValueError, ("y", "(3, 2)", "(samples, 3)")),
        (good[:2], ValueError, ("y", "2 samples", "3")),
        (
            good + np.array([[0], [0], [np.inf]], "float32"),
            ValueError,
            ("y", "sample 2", "element 0"),
        ),
        (np.zeros((3, 3), "uint32"), TypeError, ("y", "'I'", "float32")),
    ):
        with refused(kind, *words, model=model):
            model.fit(X, targets, verbose=0)
    model.fit(X, good, verbose=0)


def test_bad_pixels_are_refused():
    model = pixels()
    for data, kind, words in (
        (np.zeros((1, 2, 3, 1), "int8"), TypeError, ("x", "'b'", "uint8")),
        (np.zeros((1, 3, 2, 1), "uint8"), ValueError, ("x", "(1, 3, 2, 1)", "(samples, 2, 3, 1)")),
        (np.zeros((1, 2, 3, 1), "float32"), TypeError, ("x", "'f'", "uint8")),
        ([[0, 1, 2, 3, 4, 256]], ValueError, ("x", "item 0", "uint8")),
        ([[0, 1, 2, 3, 4, -1]], ValueError, ("x", "item 0", "uint8")),
        ([[0, 1, 2, 3, 4, 0.5]], TypeError, ("x", "item 0", "uint8")),
        (bytes(7), ValueError, ("x", "7 bytes", "6 bytes", "uint8")),
    ):
        with refused(kind, *words, model=model):
            model.predict(data)


def test_more_samples_than_a_batch_are_no_step():
    model = dense()
    with refused(ValueError, "x", "5 samples", "batch_size 4", model=model):
        model.train_step(X + X[:2], Y + Y[:2])


@pytest.mark.parametrize("value", (3, (X,), (X, Y, Y), "xy "))
def test_validation_data_that_is_no_pair_is_refused(value):
    model = dense()
    with refused(TypeError, "validation_data", "(x, y)", model=model):
        model.fit(X, Y, validation_data=value, verbose=0)


@pytest.mark.parametrize("epochs", (0, -1, 1.5, "2", None))
def test_a_number_of_epochs_that_is_none_is_refused(epochs):
    model = dense()
    with refused(ValueError, "epochs", repr(epochs), model=model):
        model.fit(X, Y, epochs=epochs, verbose=0)


# Weights


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_weights_that_do_not_fit_are_refused_before_the_first_is_written(dtype):
    model = dense(dtype)
    good = model.get_weights()

    def altered(index, value, element=None):
        values = [array.array("d", value) for value in good]
        values[0][0] = 0.5  # would change the digest
        if element is None:
            values[index] = value
        else:
            values[index][element] = value
        return values

    nan, infinite = float("nan"), float("inf")
    for values, kind, words in (
        (good[:3], ValueError, ("out", "bias", "3 numbers", "got 0")),
        (good + [[1]], ValueError, ("1 arrays more",)),
        (altered(1, [0, 0]), ValueError, ("hidden", "bias", "4 numbers", "got 2")),
        (altered(2, np.zeros(15)), ValueError, ("out", "kernel", "12 numbers", "got 15")),
        (altered(2, np.zeros((3, 5))), ValueError, ("out", "kernel", "(3, 4)", "got (3, 5)")),
        (altered(2, nan, 7), ValueError, ("out", "kernel", "element 7", "nan")),
        (altered(3, infinite, 1), ValueError, ("out", "bias", "element 1", "inf")),
        (altered(2, 1e39, 0), ValueError, ("out", "kernel", "element 0", "1e+39")),
        (altered(3, ["a", 0, 0]), TypeError, ("out", "bias", "element 0")),
        (altered(3, [0, None, 0]), TypeError, ("out", "bias", "element 1")),
        (altered(3, 7), TypeError, ("out", "bias", "7")),
        (7, TypeError, ("list of arrays", "int")),
    ):
        with refused(kind, *words, model=model):
            model.set_weights(values)


def test_an_int8_bias_beyond_its_fixed_point_range_is_refused():
    model = dense()
    values = model.get_weights()
    values[3][2] = 5000
    with refused(ValueError, "out", "bias", "element 2", "5000", "1024", model=model):
        model.set_weights(values)
    model = dense("float32")
    model.set_weights(values)
    assert model.get_weights()[3][2] == 5000


# Building


def test_bad_arguments_of_layers_are_refused():
    for build, kind, words in (
        (lambda: odt.Dense(0), ValueError, ("Dense", "units", "0")),
        (lambda: odt.Dense(-3), ValueError, ("Dense", "units", "-3")),
        (lambda: odt.Dense(2.0), TypeError, ("Dense", "units", "2.0")),
        (lambda: odt.Dense(True), TypeError, ("Dense", "units", "True")),
        (lambda: odt.Dense(2, "mish"), ValueError, ("Dense", "activation", "mish", "relu")),
        (lambda: odt.ELU(2), ValueError, ("ELU", "alpha", "1.9", "2")),
        (lambda: odt.ELU("1"), TypeError, ("ELU", "alpha", "'1'")),
        (lambda: odt.Dense(2, name=3), TypeError, ("Dense", "name", "3")),
        (lambda: odt.Conv2D(0, 3), ValueError, ("Conv2D", "filters", "0")),
        (lambda: odt.Conv2D(2, 0), ValueError, ("Conv2D", "kernel_size", "0")),
        (lambda: odt.Conv2D(2, 256), ValueError, ("Conv2D", "kernel_size", "255", "256")),
        (lambda: odt.Conv2D(2, (3, 3, 3)), ValueError, ("Conv2D", "kernel_size", "(3, 3, 3)")),
        (lambda: odt.Conv2D(2, "3"), ValueError, ("Conv2D", "kernel_size", "'3'")),
        (lambda: odt.Conv2D(2, 3, strides=0), ValueError, ("Conv2D", "strides", "0")),
        (lambda: odt.Conv2D(2, 3, padding="SAME"), ValueError, ("Conv2D", "padding", "SAME")),
        (lambda: odt.Conv2D(2, 3, padding="causal"), ValueError, ("Conv2D", "padding", "causal")),
        (lambda: odt.Conv1D(2, 3, padding="left"), ValueError, ("Conv1D", "causal", "left")),
        (lambda: odt.Conv2D(2, 3, dilation_rate=(1, 0)), ValueError, ("Conv2D", "dilation_rate", "0")),
        (lambda: odt.Conv1D(2, 3, 2, dilation_rate=2), ValueError, ("Conv1D", "strides", "dilation_rate", "2")),
        (lambda: odt.Conv1D(2, (3, 3)), ValueError, ("Conv1D", "kernel_size", "(3, 3)")),
        (lambda: odt.MaxPool2D(0), ValueError, ("MaxPool2D", "pool_size", "0")),
        (lambda: odt.Input(()), ValueError, ("Input", "shape", "()")),
        (lambda: odt.Input((1, 2, 3, 4)), ValueError, ("Input", "shape", "(1, 2, 3, 4)")),
        (lambda: odt.Input((2, 0)), ValueError, ("Input", "shape", "0")),
        (lambda: odt.Input((2, None)), TypeError, ("Input", "shape", "None")),
        (lambda: odt.Input((2,), "float64"), ValueError, ("Input", "dtype", "float64", "uint8")),
        (lambda: odt.Input((2,), "uint8", scale=0), ValueError, ("Input", "scale", "0")),
        (lambda: odt.Input((2,), "uint8", scale=float("nan")), ValueError, ("Input", "scale", "nan")),
        (lambda: odt.Input((2,), "uint8", scale=1e-40), ValueError, ("Input", "scale", "1e-40")),
        (lambda: odt.Input((2,), "uint8", scale="1"), TypeError, ("Input", "scale", "'1'")),
        (lambda: odt.Input((2,), scale=2), ValueError, ("Input", "scale", "2", "float32")),
        (lambda: odt.Input((2,), "uint8", zero_point=256), ValueError, ("Input", "zero_point", "0..255", "256")),
        (lambda: odt.Input((2,), "int8", zero_point=-129), ValueError, ("Input", "zero_point", "-129")),
        (lambda: odt.Input((2,), "int32", zero_point=2**31), ValueError, ("Input", "zero_point", 2**31)),
        (lambda: odt.Input((2,), "uint8", zero_point=0.5), TypeError, ("Input", "zero_point", "0.5")),
    ):  # fmt: skip
        with refused(kind, *words):
            build()


def test_layers_that_do_not_fit_each_other_are_refused():
    flat, image = odt.Input((5,)), odt.Input((4, 3, 2))
    for build, kind, words in (
        (lambda: odt.Conv2D(2, 3, name="c")(flat), ValueError, ("'c'"[1:-1], "(height, width, channels)", "(5,)")),
        (lambda: odt.Conv1D(2, 3, name="c")(image), ValueError, ("c", "(length, channels)", "(4, 3, 2)")),
        (lambda: odt.Conv2D(2, (2, 4), name="c")(image), ValueError, ("c", "(2, 4)", "(4, 3, 2)")),
        (lambda: odt.DepthwiseConv2D(5, name="d")(image), ValueError, ("d", "(5, 5)", "(4, 3, 2)")),
        (lambda: odt.MaxPool2D(4, name="m")(image), ValueError, ("m", "(4, 4)", "(4, 3, 2)")),
        (lambda: odt.MaxPool2D(name="m")(flat), ValueError, ("m", "(height, width, channels)", "(5,)")),
        (lambda: odt.GlobalAvgPool(name="g")(flat), ValueError, ("g", "(5,)")),
        (lambda: odt.Conv1D(2, 3, name="c")(odt.Input((70000, 1))), ValueError, ("c", "65535", "(70000, 1)")),
        (lambda: odt.Add(name="a")([flat, image]), ValueError, ("a", "(5,)", "(4, 3, 2)")),
        (lambda: odt.Add(name="a")(flat), ValueError, ("a", "2 inputs", "got 1")),
        (lambda: odt.Conv2D(4, 1, groups=3, name="g"), ValueError, ("g", "groups", "4", "3")),
        (lambda: odt.Conv2D(3, 1, groups=3, name="g")(image), ValueError, ("g", "3 groups", "(4, 3, 2)")),
        (lambda: odt.Conv2DTranspose(1, 3, 255, name="t")(odt.Input((300, 1, 1))), ValueError, ("t", "65535")),
        (lambda: odt.Dropout(1), ValueError, ("Dropout", "rate", "1")),
        (lambda: odt.LeakyReLU(-0.1), ValueError, ("LeakyReLU", "negative_slope", "-0.1")),
        (lambda: odt.Huber(0), ValueError, ("Huber", "delta", "0")),
        (lambda: odt.SparseCategoricalCrossentropy([1, -1]), ValueError, ("class_weight", "-1")),
        (lambda: odt.SparseCategoricalCrossentropy(label_smoothing=1), ValueError, ("label_smoothing", "1")),
        (lambda: odt.Multiply(name="a")([flat, flat, image]), ValueError, ("a", "(5,)", "(4, 3, 2)")),
        (lambda: odt.Concatenate(name="a")([flat, image]), ValueError, ("a", "(5,)", "(4, 3, 2)")),
        (lambda: odt.Concatenate(0, name="a")([flat, flat]), ValueError, ("a", "axis", "0")),
        (lambda: odt.Reshape((2, -1), name="r")(flat), ValueError, ("r", "(5,)", "(2, -1)")),
        (lambda: odt.Reshape((4, 3), name="r")(image), ValueError, ("r", "(4, 3)", "(4, 3, 2)")),
        (lambda: odt.AdaptiveAvgPool2D(4, name="p")(image), ValueError, ("p", "(4, 4)", "(4, 3, 2)")),
        (lambda: odt.AvgPool2D(4, name="p")(image), ValueError, ("p", "(4, 4)", "(4, 3, 2)")),
        (lambda: odt.UpSampling2D(255, name="u")(odt.Input((300, 2, 1))), ValueError, ("u", "65535")),
        (lambda: odt.Dense(2, name="d")([flat, flat]), ValueError, ("d", "1 inputs", "got 2")),
        (lambda: odt.Dense(2, name="d")(X), TypeError, ("d", "list")),
        (lambda: odt.Dense(2, name="d")(odt.Dense(2)), TypeError, ("d", "Dense")),
    ):  # fmt: skip
        with refused(kind, *words):
            build()


def test_graphs_that_are_no_model_are_refused():
    one, other = odt.Input((5,)), odt.Input((5,))
    both = odt.Add()([odt.Dense(3)(one), odt.Dense(3)(other)])
    layer = odt.Dense(5, name="twice")
    for build, kind, words in (
        (lambda: odt.Model(one, both), ValueError, ("Input",)),
        (lambda: odt.Model(other, odt.Dense(3)(one)), ValueError, ("Input",)),
        (lambda: odt.Model(one, layer(layer(one))), ValueError, ("twice", "second")),
        (lambda: odt.Model([one], both), TypeError, ("Input", "list")),
        (lambda: odt.Model(one, odt.Dense(3)), TypeError, ("Dense",)),
        (lambda: odt.Model(one, odt.Dense(2, name="n")(odt.Dense(2, name="n")(one))), ValueError, ("'n'",)),
        (lambda: odt.Sequential([]).compile(), ValueError, ("Input",)),
        (lambda: odt.Sequential([odt.Dense(3)]), ValueError, ("Input",)),
        (lambda: odt.Sequential(odt.Dense(3)), TypeError, ("list", "Dense")),
        (lambda: odt.Sequential([one, odt.Dense]), TypeError, ("Sequential", "Dense")),
        (lambda: odt.Sequential([one, odt.Flatten(), 3]), TypeError, ("Sequential", "3")),
    ):  # fmt: skip
        with refused(kind, *words):
            build()


def test_bad_arguments_of_compile_are_refused_and_the_compiled_model_stays():
    model = dense()
    model.train_step(X, Y)
    for arguments, kind, words in (
        ({"optimizer": "lion"}, ValueError, ("optimizer", "adam", "sgd", "lion")),
        ({"optimizer": odt.SGD}, TypeError, ("optimizer", "SGD")),
        ({"optimizer": 0.1}, TypeError, ("optimizer", "0.1")),
        ({"loss": "hinge"}, ValueError, ("loss", "mse", "hinge")),
        ({"loss": odt.MeanSquaredError}, TypeError, ("loss", "MeanSquaredError")),
        ({"loss": None}, TypeError, ("loss", "None")),
        ({"dtype": "float16"}, ValueError, ("dtype", "int8", "float16")),
        ({"dtype": None}, ValueError, ("dtype", "None")),
        (
            {"dtype": "float32", "optimizer": odt.SGD(state="int16")},
            ValueError,
            ("int16", "float32"),
        ),
        ({"batch_size": 0}, ValueError, ("batch_size", "1..65535", "0")),
        ({"batch_size": 65536}, ValueError, ("batch_size", "65535", "65536")),
        ({"batch_size": 1.0}, TypeError, ("batch_size", "1.0")),
        ({"batch_size": None}, TypeError, ("batch_size", "None")),
        ({"seed": -1}, ValueError, ("seed", "-1")),
        ({"seed": 1 << 30}, ValueError, ("seed", 1 << 30)),
        ({"seed": "a"}, TypeError, ("seed", "'a'")),
    ):
        with refused(kind, *words, model=model):
            model.compile(**arguments)
    model.fit(X, Y, verbose=0)


def test_labels_need_an_output_of_one_axis():
    model = odt.Sequential([odt.Input((4, 2)), odt.Dense(3, name="last")])
    with refused(ValueError, "last", "(4, 3)", "(classes,)"):
        model.compile()


def test_bad_hyperparameters_are_refused():
    for build, kind, words in (
        (lambda: odt.SGD("0.1"), TypeError, ("learning_rate", "'0.1'")),
        (lambda: odt.SGD(-0.1), ValueError, ("learning_rate", "-0.1")),
        (lambda: odt.SGD(float("nan")), ValueError, ("learning_rate", "nan")),
        (lambda: odt.SGD(float("inf")), ValueError, ("learning_rate", "inf")),
        (lambda: odt.SGD(0.1, 1), ValueError, ("SGD", "momentum", "1")),
        (lambda: odt.SGD(0.1, 0.9999999), ValueError, ("SGD", "momentum", "0.9999999")),
        (lambda: odt.SGD(0.1, -0.1), ValueError, ("SGD", "momentum", "-0.1")),
        (lambda: odt.SGD(0.1, "0.9"), TypeError, ("SGD", "momentum", "'0.9'")),
        (lambda: odt.SGD(state="int8"), ValueError, ("SGD", "state", "int8", "int16")),
        (lambda: odt.Adam(beta_1=0), ValueError, ("Adam", "beta_1", "0")),
        (lambda: odt.Adam(beta_2=1), ValueError, ("Adam", "beta_2", "1")),
        (lambda: odt.Adam(beta_2=None), TypeError, ("Adam", "beta_2", "None")),
        (lambda: odt.Adam(epsilon=0), ValueError, ("Adam", "epsilon", "0")),
        (lambda: odt.Adam(epsilon="1e-7"), TypeError, ("Adam", "epsilon", "1e-7")),
        (lambda: odt.StepDecay(0.1, 0), ValueError, ("StepDecay", "step_size", "0")),
        (lambda: odt.StepDecay(0.1, 2.5), ValueError, ("StepDecay", "step_size", "2.5")),
        (lambda: odt.StepDecay(0.1, 2, 0), ValueError, ("StepDecay", "gamma", "0")),
        (lambda: odt.StepDecay(-0.1, 2), ValueError, ("learning_rate", "-0.1")),
        (lambda: odt.CosineDecay(0.1, 0), ValueError, ("CosineDecay", "decay_steps", "0")),
        (lambda: odt.CosineDecay(0.1, 65536), ValueError, ("CosineDecay", "decay_steps", "65536")),
        (lambda: odt.CosineDecay(0.1, 10.0), ValueError, ("CosineDecay", "decay_steps", "10.0")),
        (lambda: odt.CosineDecay("0.1", 10), TypeError, ("learning_rate", "'0.1'")),
    ):
        with refused(kind, *words):
            build()


def test_a_model_that_is_not_compiled_says_so(tmp_path):
    model = odt.Sequential([odt.Input((2,)), odt.Dense(3)])
    path = str(tmp_path / "m")
    for call in (
        lambda: model.fit(X, Y),
        lambda: model.train_step(X, Y),
        lambda: model.evaluate(X, Y),
        lambda: model.predict(X),
        lambda: model.get_weights(),
        lambda: model.set_weights([]),
        lambda: model.save(path),
        lambda: model.load(path),
        lambda: model.digest(),
        lambda: model.draw(),
        lambda: model.disassemble(),
    ):
        with refused(RuntimeError, "compile()"):
            call()
    assert not list(tmp_path.iterdir())


# Sizes


def test_sums_that_could_overflow_an_int32_are_refused_in_int8_only():
    most = (1 << 30) // (255 * 127)
    wide = odt.Sequential([odt.Input((most + 1,)), odt.Dense(1, name="wide")])
    with refused(ValueError, "wide", most + 1, most, "int32"):
        wide.compile(loss="mse", batch_size=1)
    deep = odt.Sequential([odt.Input((64, 64, 1)), odt.Conv2D(1, 1, name="deep"), odt.GlobalAvgPool()])
    most = (1 << 31) // (255 * 127) // 4096
    with refused(ValueError, "deep", 4096 * (most + 1), "batch_size %d" % (most + 1), "int32"):
        deep.compile(loss="mse", batch_size=most + 1)
    deep.compile(loss="mse", batch_size=most)
    deep.compile(loss="mse", batch_size=most + 1, dtype="float32")


def test_the_mean_over_all_positions_fits_an_int32_or_is_refused():
    most = ((1 << 31) - 1) // 255

    def network(positions):
        return odt.Sequential(
            [odt.Input((positions, 1), "uint8", 1 / 255), odt.GlobalAvgPool(name="mean"), odt.Dense(2)]
        )

    with refused(ValueError, "mean", most + 1, "at most %d" % most, "int32"):
        network(most + 1).compile(batch_size=1)
    network(most + 1).compile(batch_size=1, dtype="float32")
    model = network(most)
    model.compile(batch_size=1)
    model.set_weights([[1.0, -1.0], [0.0, 0.0]])
    assert list(model.predict(b"\xff" * most)) == pytest.approx([1, -1], abs=0.02)


def test_an_error_from_more_products_than_fit_an_int32_is_refused_where_it_is_computed():
    """127 * 127 for each output that an input element meets; forward sums may be short beside."""
    most = ((1 << 31) - 1) // 127**2
    x = odt.Input((4, 4, 1))
    for make, meeting in (
        (lambda n: odt.Dense(n, name="last")(odt.Flatten()(odt.Conv2D(1, 1)(x))), 1),
        (lambda n: odt.Conv2D(n, 5, 2, padding="same", name="last")(odt.Conv2D(1, 1)(x)), 9),
        (lambda n: odt.Conv2D(2 * n, 3, groups=2, padding="same", name="last")(odt.Conv2D(2, 1)(x)), 9),
        (lambda n: odt.Conv2DTranspose(n, 2, 2, name="last")(odt.Conv2D(1, 1)(x)), 4),
        (lambda n: odt.Conv1D(n, 3, padding="same", name="last")(odt.Reshape((16, 1))(odt.Conv2D(1, 1)(x))), 3),
    ):
        good, bad = [odt.Model(x, make(most // meeting + more)).nodes for more in (0, 1)]
        check_accumulators(good, 1)
        with refused(ValueError, "last", (most // meeting + 1) * meeting, "at most %d" % most, "int32"):
            check_accumulators(bad, 1)
    for frozen in (
        lambda: odt.Dense(most + 1)(odt.Flatten()(x)),  # nothing trains below
        lambda: odt.Dense(most + 1)(odt.Flatten()(odt.Conv2D(1, 1, trainable=False)(x))),
        lambda: odt.GlobalAvgPool()(
            odt.DepthwiseConv2D(4, padding="same")(odt.Conv2D(most + 1, 1, trainable=False)(x))
        ),
    ):
        check_accumulators(odt.Model(x, frozen()).nodes, 1)


def test_an_arena_beyond_an_address_is_refused_with_the_figures():
    model = odt.Sequential([odt.Input((33000,), dtype="int8"), odt.ReLU(), odt.Flatten()])
    model.compile(loss="mse", batch_size=1)
    before = model.digest()
    with refused(MemoryError, "arena", 1 << opcodes.REGION_SHIFT, model=model):
        model.compile(loss="mse", batch_size=3000, dtype="float32")
    assert model.batch_size == 1 and model.digest() == before


def test_too_little_memory_is_refused_with_the_figures_and_the_model_stays(monkeypatch):
    model = dense()
    model.train_step(X, Y)
    expected = dense(batch_size=32).session.plan
    needed = expected.arena + expected.state
    left = [needed - 1]

    def taken(size):
        left[0] -= size
        if left[0] < 0:
            raise MemoryError
        return bytearray(size)

    monkeypatch.setattr(building, "bytearray", taken, raising=False)
    monkeypatch.setattr(gc, "mem_free", lambda: needed - 1, raising=False)
    with refused(MemoryError, needed, needed - 1, expected.arena, expected.state, model=model):
        model.compile(odt.Adam(0.01), batch_size=32)
    assert model.batch_size == 4
    model.train_step(X, Y)
    left[0] = needed
    model.compile(odt.Adam(0.01), batch_size=32)


@pytest.mark.parametrize("counts", (True, False))
def test_memory_in_pieces_is_refused_and_the_model_stays(monkeypatch, counts):
    model = dense()
    model.train_step(X, Y)

    def no_block(size):
        raise MemoryError

    monkeypatch.setattr(building, "bytearray", no_block, raising=False)
    if counts:
        monkeypatch.setattr(gc, "mem_free", lambda: 10**9, raising=False)
    plan = model.session.plan
    words = (plan.arena + plan.state, plan.arena, plan.state) + (10**9,) * counts
    with refused(MemoryError, *words, "pieces" if counts else "not free", model=model):
        model.compile(odt.Adam(0.01), batch_size=4)
    model.fit(X, Y, verbose=0)


# Files


@pytest.fixture
def saved(tmp_path):
    model = dense()
    model.train_step(X, Y)
    path = tmp_path / "model.odt"
    model.save(str(path))
    model.train_step(X, Y)
    return model, path, path.read_bytes()


def test_a_flipped_byte_is_refused_and_the_model_stays(saved):
    model, path, data = saved
    for at in range(len(data)):
        for flip in (1, 0x80, 0xFF):
            damaged = bytearray(data)
            damaged[at] ^= flip
            path.write_bytes(damaged)
            with refused(ValueError, path, model=model):
                model.load(str(path))
    path.write_bytes(data)
    before = model.digest()
    model.load(str(path))
    assert model.digest() != before


def test_a_truncated_file_is_refused_and_the_model_stays(saved):
    model, path, data = saved
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with refused(ValueError, path, model=model):
            model.load(str(path))


def test_a_file_with_something_behind_it_is_refused(saved):
    model, path, data = saved
    path.write_bytes(data + b"\0")
    with refused(ValueError, path, "damaged", len(data), model=model):
        model.load(str(path))


def test_a_foreign_file_is_refused(saved):
    model, path, data = saved
    for foreign in (b"", b"\x89PNG\r\n\x1a\n" + bytes(400), b"ODTM", bytes(len(data))):
        path.write_bytes(foreign)
        with refused(ValueError, path, "not an odt model's checkpoint", model=model):
            model.load(str(path))
    path.write_bytes(data[:4] + struct.pack("<I", 1) + data[8:])
    with refused(ValueError, path, "format 1", "2", model=model):
        model.load(str(path))
    with refused(FileNotFoundError, "nowhere", model=model):
        model.load(str(path.parent / "nowhere"))
    with refused(FileNotFoundError, model=model):
        model.save(str(path.parent / "nowhere" / "at all"))


OTHERS = {
    "another width": lambda: odt.Sequential([odt.Input((2,)), odt.Dense(5, "relu"), odt.Dense(3)]),
    "another activation": lambda: odt.Sequential([odt.Input((2,)), odt.Dense(4), odt.Dense(3)]),
    "the same": lambda: odt.Sequential([odt.Input((2,)), odt.Dense(4, "relu"), odt.Dense(3)]),
}


@pytest.mark.parametrize("network", sorted(OTHERS))
@pytest.mark.parametrize("how", ("int8", "float32", "batch", "optimizer", "loss"))
def test_a_file_of_another_network_or_compilation_is_refused(saved, network, how):
    _, path, _ = saved
    other = OTHERS[network]()
    other.compile(
        odt.SGD(0.1) if how == "optimizer" else odt.Adam(0.01),
        "mse" if how == "loss" else "sparse_categorical_crossentropy",
        "float32" if how == "float32" else "int8",
        3 if how == "batch" else 4,
    )
    if network == "the same" and how == "int8":
        other.load(str(path))
        return
    with refused(ValueError, path, "another network", model=other):
        other.load(str(path))


def test_a_save_that_fails_half_way_leaves_the_old_file(saved, monkeypatch):
    model, path, data = saved

    class Full:
        def __init__(self, path, mode):
            self.file, self.writes = io.BytesIO(), 0

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.file.close()

        def __getattr__(self, name):
            return getattr(self.file, name)

        def write(self, chunk):
            self.writes += 1
            if self.writes == Full.at:
                raise OSError(28, "No space left on device")
            return self.file.write(chunk)

    from odt.host import files

    monkeypatch.setattr(files, "open", Full, raising=False)
    for Full.at in (1, 2):
        with refused(OSError, "No space", model=model):
            model.save(str(path))
        assert path.read_bytes() == data


# Programs


def programs():
    model = odt.Sequential([
        odt.Input((4, 4, 1)), odt.Conv2D(2, 3, padding="same", activation="relu"), odt.MaxPool2D(),
        odt.Flatten(), odt.Dense(3),
    ])  # fmt: skip
    for dtype in ("int8", "float32"):
        model.compile(odt.Adam(), dtype=dtype, batch_size=2)
        yield model.session.plan.code


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.__name__)
def test_corrupt_programs_are_refused(engine):
    for code in programs():
        engine.load(code)
        words = array.array("i", code)

        def damaged(at, value, words=words):
            copy = array.array("i", words)
            copy[at] = value
            return bytes(copy)

        bad = [b"", code[:-1], code[:-4], code[:40], code + bytes(4), code + b"\1"]
        bad += [damaged(0, 0), damaged(1, words[1] + 1), damaged(2, words[2] - 1)]
        bad += [damaged(3, -1), damaged(3, words[3] - 4), damaged(4, -1), damaged(4, words[4] - 4)]
        for at in range(6, 12):
            bad += [damaged(at, value) for value in (-1, 0, words[at] + 1, len(words) + 1, 1 << 30)]
        for at, op, addresses, _ in Program(code).walk(12, len(words)):
            bad += [damaged(at, value) for value in (0, -1, 1 << 20)]
            for k, operand in enumerate(op.operands):
                place = at + 1 + k
                region = addresses[k] >> opcodes.REGION_SHIFT
                end = (words[3], words[4], 4 * opcodes.CONTROL_WORDS, 0, 0, 0)[region]
                bad.append(damaged(place, -1))
                bad.append(damaged(place, 6 << opcodes.REGION_SHIFT))
                if operand[2] == "buf":
                    bad += [damaged(place, addresses[k] + 4), damaged(place, 0)]
                    continue
                bad.append(damaged(place, (region << opcodes.REGION_SHIFT) + end))
                bad.append(damaged(place, opcodes.X_DATA << opcodes.REGION_SHIFT))
                bad.append(damaged(place, opcodes.CONSTANTS << opcodes.REGION_SHIFT))
                if operand[2] not in ("i8",):
                    bad.append(damaged(place, addresses[k] + 1))
            for k, name in enumerate(op.immediates):
                if name == name.upper():
                    place = at + 1 + len(op.operands) + k
                    bad += [damaged(place, value) for value in (-1, -(2**31), 2**31 - 1)]
        for program in bad:
            with pytest.raises(ValueError) as caught:
                engine.load(program)
            assert str(caught.value)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.__name__)
def test_running_with_too_small_buffers_or_beyond_sections_is_refused(engine):
    code = next(programs())
    program = Program(code)
    loaded = engine.load(code)
    start, stop = program.section("predict")

    def regions(arena=0, state=0, control=0):
        control = bytearray(4 * opcodes.CONTROL_WORDS - control)
        return (
            bytearray(program.arena - arena),
            bytearray(program.state - state),
            control,
            bytes(64),
            None,
            None,
        )

    for short in ({"arena": 1}, {"state": 1}, {"control": 1}):
        with pytest.raises(ValueError, match=next(iter(short)).upper()):
            engine.run(loaded, regions(**short), start, stop)
    for first, last in ((start + 1, stop), (start, stop - 1), (-1, stop), (stop, start), (0, stop)):
        with pytest.raises(ValueError, match="run of instructions"):
            engine.run(loaded, regions(), first, last)
    with pytest.raises(ValueError):
        engine.run(loaded, regions()[:5], start, stop)
    with pytest.raises(TypeError):
        engine.run(code, regions(), start, stop)
    with pytest.raises(TypeError):
        engine.load(None)


def test_an_executor_of_another_instruction_set_is_refused(monkeypatch):
    monkeypatch.setattr(reference, "VERSION", opcodes.VERSION + 1)
    before = executor.engine
    with refused(ImportError, opcodes.VERSION, opcodes.VERSION + 1, "rebuild"):
        executor.use("reference")
    with refused(ValueError, "native", "reference", "'gpu'"):
        executor.use("gpu")
    assert executor.engine is before


def test_targets_and_class_weights_that_do_not_fit_are_refused():
    model = odt.Sequential([odt.Input((2,)), odt.Dense(3)])
    x = array.array("f", [0.5] * 4)
    for dtype in ("int8", "float32"):
        model.compile(loss="binary_crossentropy", dtype=dtype, batch_size=2)
        with refused(ValueError, "y", "sample 1", "element 2", "1.5"):
            model.fit(x, array.array("f", [0, 1, 0.5, 1, 1, 1.5]), verbose=0)
        with refused(ValueError, "y", "sample 0", "element 1", "2"):
            model.fit(x, bytes([0, 2, 0, 1, 1, 1]), verbose=0)
        with refused(ValueError, "class_weight", "2 weights", "3 classes"):
            model.compile(loss=odt.SparseCategoricalCrossentropy([1, 2]), dtype=dtype)
        with refused(ValueError, "class_weight", "label 3", "0..2"):
            model.compile(loss=odt.SparseCategoricalCrossentropy({3: 2}), dtype=dtype)
        with refused(ValueError, "class_weight", "micro_batch"):
            loss = odt.SparseCategoricalCrossentropy({1: 2})
            model.compile(loss=loss, dtype=dtype, batch_size=4, micro_batch=2)


# Layers in several models


def test_a_layer_that_knows_other_sizes_is_refused_and_the_first_model_compiles_as_before():
    def layers():
        return [
            odt.Conv2D(3, 3, padding="same"), odt.DepthwiseConv2D(3), odt.MaxPool2D(), odt.AvgPool2D(),
            odt.UpSampling2D(),
            odt.AdaptiveAvgPool2D(2), odt.GroupNorm(1), odt.LayerNorm(), odt.Conv2DTranspose(2, 2), odt.Dense(3),
        ]  # fmt: skip

    def small(body):
        return [odt.Input((16, 16, 2)), odt.Conv2D(2, 1), *body, odt.GlobalAvgPool(), odt.Dense(3)]

    body = layers()
    model = odt.Sequential(small(body))
    model.compile(batch_size=2, seed=1)
    code, digest = model.session.plan.code, model.digest()
    for layer in body:
        name = layer.name
        with refused(ValueError, name, "(9, 9, 5)", "second", model=model):
            layer(odt.Input((9, 9, 5)))
    for again in (model, odt.Sequential(small(layers())), odt.Model(model.nodes[0], model.nodes[-1])):
        again.compile(batch_size=2, seed=1)  # also with the same layers, whose sizes are the same
        assert again.session.plan.code == code and again.digest() == digest
    with refused(ValueError, "part of a model with input of [(4,), (4,)], got [(5,), (5,)]"):
        join, four, five = odt.Add(), odt.Input((4,)), odt.Input((5,))
        join([four, four])
        join([five, five])
    flexible = odt.MaxPool2D(4)
    with refused(ValueError, "window"):
        flexible(odt.Input((3, 3, 1)))
    flexible(odt.Input((8, 8, 1)))  # what could not be built is part of nothing


# Integers


@pytest.mark.parametrize("call", (
    lambda: dense(batch_size=True), lambda: dense(seed=True), lambda: dense(micro_batch=True),
    lambda: dense(memory_budget=True),
    lambda: dense().fit(X, Y, epochs=True), lambda: dense().fit(X, Y, initial_epoch=True),
    lambda: dense().fit([(X, Y)], steps_per_epoch=True), lambda: odt.Dense(True), lambda: odt.Input((True,)),
    lambda: odt.Input((2,), "int8", zero_point=True), lambda: odt.Input((2,), "int8", scale=True),
    lambda: odt.Conv2D(1, True), lambda: odt.SGD(True), lambda: odt.Adam(epsilon=True), lambda: odt.SGD(0.1, True),
    lambda: odt.StepDecay(0.1, True), lambda: odt.CosineDecay(0.1, True), lambda: odt.ExponentialDecay(0.1, True, 0.5),
    lambda: odt.ExponentialDecay(0.1, 5, True), lambda: odt.WarmUp(0.1, True),
    lambda: odt.adapt.update.last(dense(), True),
    lambda: odt.callbacks.EarlyStopping(patience=True), lambda: odt.callbacks.EarlyStopping(min_delta=True),
    lambda: odt.callbacks.ModelCheckpoint("x", steps=True), lambda: odt.continual.Reservoir(True, 2),
    lambda: odt.adapt.task_adaptive(dense(), X, Y, memory_budget=True), lambda: odt.LayerNorm(epsilon=True),
    lambda: odt.data.Column(__file__, "int8", row=True), lambda: odt.data.Column(__file__, "int8", samples=True),
), ids=lambda call: str(call.__code__.co_firstlineno))  # fmt: skip
def test_true_is_no_number(call):
    with pytest.raises((TypeError, ValueError), match="True"):
        call()


# Labels


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"))
def test_labels_of_any_width_train_to_the_same_bits(kind, engine):
    executor.use("native" if engine is _odt else "reference")
    try:
        digests, codes = set(), {"int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I"}
        for labels in (Y, np.array(Y, kind), memoryview(np.array(Y, kind)), array.array(codes.get(kind, "q"), Y)):
            model = dense()
            for _ in range(2):
                model.fit(X, labels, verbose=0)
                model.train_step(X, labels)
            digests.add(model.digest())
            assert sum(map(sum, odt.metrics.confusion_matrix(model, X, labels))) == 3
        assert len(digests) == 1
        bad = [0, 2, {"i": 3, "u": (1 << (8 * np.dtype(kind).itemsize - 1)) | 1}[kind[0]]]
        with refused(
            (ValueError), "y", "label %d of sample 2" % bad[2] if kind != "uint64" else "element 2", model=model
        ):
            model.fit(X, np.array(bad, kind), verbose=0)
    finally:
        executor.use("native" if _odt else "reference")


@pytest.mark.parametrize("kind", ("uint16", "uint32", "int32"))
def test_labels_beyond_32767_of_a_uint16_are_read_as_they_are(kind):
    model = odt.Sequential([odt.Input((1,)), odt.Dense(40000, use_bias=False)])
    model.compile(odt.SGD(0.1), dtype="float32", batch_size=2, seed=1)
    model.set_weights([np.zeros(40000)])
    labels = np.array([3, 39999], kind)
    model.train_step([[1], [1]], labels)
    after = model.predict([[1]])
    assert sorted(np.argsort(after)[-2:]) == [3, 39999]
    with refused(ValueError, "label 40000 of sample 1", model=model):
        model.train_step([[1], [1]], np.array([3, 40000], kind))


@pytest.mark.skipif(_odt is None, reason="8 GB in Python")
@pytest.mark.skipif(
    not hasattr(mmap, "MAP_ANONYMOUS") or struct.calcsize("P") < 8, reason="8 GB of zeros are a mapping"
)
def test_nan_beyond_2_to_the_31_elements_is_found():
    at = (1 << 31) + 5
    data = mmap.mmap(-1, 4 * (at + 3), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0))
    if hasattr(mmap, "MADV_HUGEPAGE"):
        data.madvise(mmap.MADV_HUGEPAGE)  # fewer pages of zeros to look up
    struct.pack_into("<f", data, 4 * at, float("nan"))
    model = odt.Sequential([odt.Input((8,)), odt.Dense(3)])
    model.compile(batch_size=2)
    with refused(ValueError, "x: sample %d, element %d is NaN" % (at // 8, at % 8)):
        model.predict(memoryview(data))
    data.close()
