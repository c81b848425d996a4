"""Arrays of other axes than the model's are refused by whatever takes samples; what is right is said, and right."""

import gc
import re
from array import array
from itertools import permutations
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odt
from odt.data import Normalizer, NpyReader

torch = pytest.importorskip("torch")
gc.freeze()  # what was imported: compile() collects


def network(shape):
    model = odt.Sequential([odt.Input(shape), odt.Flatten(), odt.Dense(3)])
    model.compile(odt.SGD(0.01), dtype="float32", batch_size=4, seed=1)
    return model


def long(shape):
    return [extent for extent in shape if extent != 1]


def lists(x):
    return x.tolist()


def view(x):
    return memoryview(x)


def strided(x):
    return np.repeat(x, 2, axis=0)[::2]


KINDS = {"NumPy": np.asarray, "lists": lists, "tuples": lambda x: tuple(map(tuple, x.tolist())), "memoryview": view,
    "strided": strided,
         "torch": torch.tensor, "float64": lambda x: x.astype("float64")}  # fmt: skip
SHAPES = ((64, 3), (8, 6, 3), (20, 25), (4, 4, 2), (6, 1), (5,), (1, 4), (12, 1, 1))


def others(shape):
    """Shapes of as many elements."""
    size = prod(shape)
    found = set(permutations(shape)) | {
        (size,),
        (1, size),
        (size, 1),
        (2, size // 2),
        (size // 2, 2),
        (1,) + shape,
        shape + (1,),
        shape,
    }
    return sorted(other for other in found if prod(other) == size)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_samples_of_other_axes_are_refused_and_those_of_the_same_are_right(shape, kind):
    model, random = network(shape), np.random.default_rng(1)
    for other in others(shape):
        x = random.normal(size=(3,) + other).astype("f")
        given_x = KINDS[kind](x)
        if long(other) == long(shape):  # axes of 1 move nothing
            right = np.array(model.predict(x.ravel())).ravel()
            assert np.array_equal(np.array(model.predict(given_x)).ravel(), right)
            continue
        before = model.digest()
        for call in (model.predict, lambda v: model.fit(v, [0, 1, 2], verbose=0),
            lambda v: model.train_step(v, [0, 1, 2]),
                     lambda v: model.evaluate(v, [0, 1, 2]), model.predict_classes, model.predict_proba,
                     model.calibrate,
                     lambda v: model.fit(x.ravel(), [0, 1, 2], validation_data=(v, [0, 1, 2]), verbose=0)):  # fmt: skip
            with pytest.raises(ValueError, match=re.escape(str(shape)[1:-1].rstrip(","))) as error:
                call(given_x)
            assert "x: " in str(error.value) and model.digest() == before
        hint = re.search(r"(x|numpy.array\(x\))\.(transpose|permute|reshape)\(.*\)$", str(error.value))
        if kind in ("NumPy", "torch", "lists") and (
            sorted(long(other)) == sorted(long(shape)) and len(other) == len(shape) or len(other) == 1
        ):
            assert hint, str(error.value)
        if hint and kind in ("NumPy", "torch", "lists"):
            better = eval(hint.group(), {"x": given_x, "numpy": np})  # what the message says
            assert tuple(better.shape)[1:] == shape
            model.predict(better if kind == "torch" else np.ascontiguousarray(better))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_transpose_that_is_named_is_the_one_that_was_meant(data):
    """Samples that were right, axes moved, come back by what the message says; equal extents: channels are moved from
    first to last.
    """
    shape = data.draw(st.permutations((4, 5, 6, 7)).map(lambda p: tuple(p[:3])))
    order = data.draw(st.permutations((1, 2, 3)))
    x = np.arange(2 * prod(shape), dtype="f").reshape((2,) + shape)
    moved = x.transpose([0] + order)
    if order == [1, 2, 3]:
        return
    with pytest.raises(ValueError) as error:
        network(shape).predict(moved)
    assert np.array_equal(eval(str(error.value).rpartition(": ")[2], {"x": moved}), x)


@pytest.mark.parametrize("shape", ((8, 8, 3), (16, 16, 16), (32, 32), (5, 5, 1)))
def test_images_with_channels_first_are_told_how_channels_become_last(shape):
    if len(shape) < 3 or shape[0] == shape[2]:
        return  # nothing to be seen
    x = np.random.default_rng(0).normal(size=(4, shape[2]) + shape[:2]).astype("f")
    model = network(shape)
    if shape[2] == 1:
        assert np.array_equal(model.predict(x), model.predict(x.transpose(0, 2, 3, 1)))
        return
    with pytest.raises(ValueError, match=r"x\.transpose\(0, 2, 3, 1\)$"):
        model.predict(x)
    with pytest.raises(ValueError, match=r"x\.transpose\(1, 2, 0\)$"):
        model.predict(x[0])


def test_flat_data_is_as_it_was():
    model = network((4, 3))
    x = np.random.default_rng(0).normal(size=(5, 4, 3)).astype("f")
    right = np.array(model.predict(x)).ravel()
    flat = x.ravel()
    for data in (flat, flat.tolist(), array("f", flat), flat.tobytes(), bytearray(flat.tobytes()), memoryview(flat),
        memoryview(flat.tobytes()),
                 torch.tensor(flat), x[:, :, None, :], x.tolist()):  # fmt: skip
        assert np.array_equal(np.array(model.predict(data)).ravel(), right)


@pytest.mark.parametrize("target", ((5, 2), (2, 5), (10,), (1, 10), (10, 1)))
def test_targets_of_other_axes_are_refused(target):
    shape = (5, 2)
    model = odt.Sequential([odt.Input((10,)), odt.Reshape(shape), odt.Dense(2)])
    model.compile(odt.SGD(0.01), "mse", dtype="float32", batch_size=4, seed=1)
    x, y = np.ones((3, 10), "f"), np.ones((3,) + target, "f")
    for data in (y, y.tolist(), torch.tensor(y)):
        if long(target) == long(shape):
            model.fit(x, data, verbose=0)
            continue
        with pytest.raises(ValueError, match=r"^y: .*expected \((samples, )?5, 2\)"):
            model.fit(x, data, verbose=0)
        with pytest.raises(ValueError, match="^validation y: "):
            model.fit(x, y.ravel(), validation_data=(x, data), verbose=0)


def test_lists_that_differ_in_length_are_refused():
    model = network((3, 2))
    for bad in (
        [[[1, 2], [3], [4, 5, 6]]],
        [[[1, 2], [3, 4], [5, 6]], [[1, 2, 3], [4, 5], [6]]],
        [[[1, 2], 3, [4, 5, 6]]],
    ):
        with pytest.raises(ValueError, match=r"^x: sample \d: its lists differ in length"):
            model.predict(bad)
    with pytest.raises(
        ValueError, match=r"x: sample 1: shape \(2, 3\), expected \(3, 2\): numpy.array\(x\).transpose\(0, 2, 1\)$"
    ):
        model.predict([[[1, 2], [3, 4], [5, 6]], [[1, 2, 3], [4, 5, 6]]])


@pytest.mark.parametrize("found, shape, refused", (
    ((3, 64), (64, 3), r"x\.transpose\(0, 2, 1\)"), ((64, 3), (64, 3), None), ((64, 3, 1), (64, 3), None),
    ((192,), (64, 3), r"x\.reshape\(-1, 64, 3\)"),
    ((64, 3), (192,), None), ((3, 8, 6), (8, 6, 3), r"x\.transpose\(0, 2, 3, 1\)"),
))  # fmt: skip
def test_a_file_of_other_axes_is_refused(found, shape, refused, tmp_path):
    x = np.random.default_rng(0).normal(size=(5,) + found).astype("f")
    np.save(tmp_path / "x.npy", x)
    reader = NpyReader(str(tmp_path / "x.npy"), [0, 1, 2, 0, 1], 4)
    model = network(shape)
    calls = (lambda: model.fit(reader, verbose=0), lambda: model.evaluate(reader),
        lambda: odt.metrics.confusion_matrix(model, reader),
             lambda: model.fit(x.reshape((-1,) + shape), [0, 1, 2, 0, 1], validation_data=reader,
             verbose=0))  # fmt: skip
    for call in calls:
        if refused is None:
            call()
        else:
            with pytest.raises(ValueError, match="x.npy: x: shape .*" + refused):
                call()


class Frame:
    """Of pandas, as far as odt sees it: a shape, an array of any dtype, no buffer."""

    def __init__(self, values):
        self.values, self.shape = values, values.shape

    def __len__(self):
        return len(self.values)

    def __array__(self, *args, **options):
        return self.values


def test_what_numpy_reads_is_taken_and_what_it_does_not_is_named():
    model, x, y = network((2,)), np.random.default_rng(0).normal(size=(4, 2)).astype("f"), [0, 1, 0, 1]
    right = model.predict(x)
    for data in (Frame(x), Frame(x.astype("f8")), torch.tensor(x), torch.tensor(x).double()):
        assert np.array_equal(model.predict(data), right) and model.predict(data).shape == (4, 3)
        for labels in (
            y,
            Frame(np.array(y)),
            torch.tensor(y),
            torch.tensor(y, dtype=torch.int32),
            torch.tensor(y)[:, None],
        ):
            model.fit(data, labels, verbose=0)
            model.evaluate(data, labels)
            model.calibrate(data)
        right = model.predict(x)
        layer, same = odt.Normalization(), odt.Normalization()
        layer.adapt(data)
        same.adapt(np.asarray(data))
        assert layer.sums == same.sums and layer.sums[1] == 4
        normalizer = Normalizer(2)
        normalizer.update(data)
        assert np.array(normalizer.mean) == pytest.approx(x.mean(0), abs=1e-5)
    texts = Frame(np.array([["a", 1], ["b", 2]] * 2, dtype=object))
    grad = torch.tensor(x, requires_grad=True)
    for bad, error, words in ((texts, TypeError, "float32"), (grad, TypeError, "detach"),
        (torch.tensor(x).bfloat16(), TypeError, "array of numbers"),
                              (np.array(["a", "b"]), TypeError, ""), (np.zeros(4, "datetime64[s]"), TypeError, ""),
                              (np.zeros(2, "complex64"), TypeError, ""),
                              (np.zeros(2, [("a", "f4"), ("b", "f4")]), TypeError, "")):  # fmt: skip
        for call in (
            model.predict,
            lambda v: model.fit(v, y, verbose=0),
            lambda v: model.evaluate(v, y),
            model.calibrate,
        ):
            with pytest.raises(error, match="^x: .*" + words):
                call(bad)
    for labels in (
        ["rest", "wave", "rest", "wave"],
        np.array(["rest", "wave"] * 2),
        Frame(np.array(["rest", "wave"] * 2, dtype=object)),
    ):
        with pytest.raises(TypeError, match=r"^y: .*names.index"):
            model.fit(x, labels, verbose=0)
    one_hot = odt.Sequential([odt.Input((2,)), odt.Dense(2)])
    one_hot.compile(loss="categorical_crossentropy", dtype="float32", batch_size=4)
    rows = np.eye(2)[y]
    for labels in (rows, Frame(rows), torch.tensor(rows), rows.tolist()):
        one_hot.fit(x, labels, verbose=0)
    for labels in (["rest", "wave"] * 2, np.array(["rest", "wave"] * 2)):
        with pytest.raises(TypeError, match=r"^y: .*names.index"):
            one_hot.fit(x, labels, verbose=0)


@pytest.mark.parametrize("found, words", (
    ((8, 6), "x.reshape(8, 6, 1)"), ((5, 8, 6, 3), "x[..., :1]"), ((5, 48), "x.reshape(-1, 8, 6, 1)"),
))  # fmt: skip
def test_what_is_said_of_images_of_one_channel_is_right(found, words):
    x, model = np.random.default_rng(1).normal(size=found).astype("float32"), network((8, 6, 1))
    with pytest.raises(ValueError, match=re.escape(": " + words) if ".reshape" in words else re.escape("as " + words)):
        model.predict(x)
    assert model.predict(eval(words)).shape == (1 if found == (8, 6) else 5, 3)


@pytest.mark.parametrize("dtype, x, words", (
    ("uint8", np.full((4, 3), 0.5), "an Input of dtype 'float32' takes floats"),
    # of 0..1, cut to a byte, little is left
    ("uint8", np.array([[0.0, 1, 1]] * 4, "f"), "an Input of dtype 'float32' takes floats"),
    ("uint8", np.array([[0.0, np.nan, 90]] * 4, "f"), "an Input of dtype 'float32' takes floats"),
    ("uint8", np.array([[0.0, 7, 255]] * 4, "f"), "x.astype('uint8')"),
    ("uint8", np.full((4, 3), 255, "int64"), "x.astype('uint8')"),
    ("uint8", np.full((4, 3), 256, "uint16"), "they are 256..256, beyond uint8"),
    ("int8", np.full((4, 3), -129, "int16"), "they are -129..-129, beyond int8"),
    ("int16", np.full((4, 3), 40000, "uint16"), "40000..40000"),
    ("float32", np.full((4, 3), 3, "int16"), "x.astype('float32')"),
    ("float32", np.full((4, 3), 3, "float16"), "x.astype('float32')"),
))  # fmt: skip
def test_an_array_of_another_type_is_told_what_keeps_its_numbers(dtype, x, words):
    model = odt.Sequential([odt.Input((3,), dtype=dtype, scale=1 if dtype == "float32" else 1 / 2), odt.Dense(2)])
    model.compile(batch_size=4, dtype="float32", seed=1)
    with pytest.raises(TypeError, match=re.escape(words)):
        model.predict(x)
    if words[:2] == "x.":
        converted = eval(words)
        assert np.array_equal(converted, x) and len(model.predict(converted)) == 4


@pytest.mark.parametrize("y, words", (
    (np.array([0, 1, 1, 0.0]), "y.astype('uint8')"), (np.array([0, 1, 999, 0.0]), "y.astype('int16')"),
    (np.array([0, 1, np.nan, 0]), "labels are whole numbers, without NaN"),
    (np.array([0, 1, 0.5, 0]), "labels are whole"),
))  # fmt: skip
def test_labels_of_floats_are_told_what_keeps_them(y, words):
    x = np.zeros((4, 3), "float32")
    with pytest.raises(TypeError, match=re.escape(words)):
        network((3,)).fit(x, y.astype("float32"))
    if words[:2] == "y.":
        assert np.array_equal(eval(words), y)


def test_masked_numbers_are_no_numbers():
    x = np.ma.masked_array(np.ones((4, 3), "float32"), mask=np.eye(4, 3, dtype=bool))
    with pytest.raises(ValueError, match=re.escape("x: a masked array: x.filled(value)")):
        network((3,)).predict(x)
    for whole in (x.filled(0), np.ma.masked_array(np.ones((4, 3), "float32"))):  # of which nothing is masked
        assert network((3,)).predict(whole).shape == (4, 3)


@pytest.mark.parametrize("shape, words", (
    ((3, 32, 32), "Input((32, 32, 3)) and x.transpose(0, 2, 3, 1)"),
    ((1, 28, 28), "Input((28, 28, 1)) and x.transpose(0, 2, 3, 1)"),
    ((3, 64), "Input((64, 3)) and x.transpose(0, 2, 1)"), ((1, 128), "Input((128, 1)) and"),
    ((6, 200), "Input((200, 6)) and"),
))  # fmt: skip
def test_an_input_with_channels_first_is_taken_with_a_warning(shape, words):
    with pytest.warns(UserWarning, match=re.escape(words)) as said:
        node = odt.Input(shape)
    assert node.shape == shape and said[0].filename == __file__


@pytest.mark.parametrize("shape", (
    (32, 32, 3), (28, 28, 1), (64, 3), (49, 10, 1), (8, 40, 1), (10, 20), (16, 64), (1, 8), (3, 3, 16), (3, 8), (128,),
    (3, 40, 8)))  # fmt: skip
def test_inputs_with_channels_last_are_taken_without(shape, recwarn):
    odt.Input(shape)
    assert not recwarn
