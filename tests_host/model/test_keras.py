"""What a Keras user types by heart: it runs, or the error says what to write."""

import array
import asyncio

import numpy as np
import pytest

import odt

DATA = np.fromfile("examples/digits/digits.bin", np.uint8)
X, Y = DATA[: 1797 * 64].reshape(-1, 8, 8, 1) / 16, DATA[1797 * 64 :]
PAGE = """
model = keras.Sequential([
    keras.Input(shape=(8, 8, 1)),
    layers.Conv2D(8, kernel_size=(3, 3), padding="same", activation="relu"),
    layers.MaxPooling2D(pool_size=(2, 2)),
    layers.Conv2D(16, kernel_size=(3, 3), padding="same", activation="relu"),
    layers.MaxPooling2D(pool_size=(2, 2)),
    layers.Flatten(),
    layers.Dropout(0.1),
    layers.Dense(10, activation="softmax"),
])
model.summary()
optimizer = keras.optimizers.Adam(learning_rate=0.004)
model.compile(optimizer=optimizer, loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.summary()
history = model.fit(x_train, y_train, batch_size=32, epochs=4, validation_split=0.2, verbose=2)
best = max(history.history["val_accuracy"])
loss, accuracy = model.evaluate(x_test, y_test, batch_size=64, verbose=0)
print("test accuracy", accuracy)
labels = np.array(model.predict(x_test)).reshape(-1, 10).argmax(axis=1)
"""


def dense(dtype="float32", activation="softmax", loss="sparse_categorical_crossentropy", outputs=3, **options):
    layers = [odt.Input((4,)), odt.Dense(6, activation="relu"), odt.Dense(outputs, activation=activation)]
    model = odt.Sequential(layers)
    model.compile("adam", loss, dtype=dtype, **{"batch_size": 8, **options})
    return model


RANDOM = np.random.default_rng(3)
x = RANDOM.normal(size=(40, 4)).astype(np.float32)
y = (x[:, 0] * 2).astype(int) % 3


def test_a_page_that_a_keras_user_types_by_heart_runs_but_for_the_import(capsys):
    page = {"keras": odt, "layers": odt.layers, "np": np}
    page.update(x_train=X[:1300], y_train=Y[:1300], x_test=X[1300:], y_test=Y[1300:])
    exec(PAGE, page)
    assert page["accuracy"] > 0.8 and page["best"] > 0.85
    assert list(page["history"].history) == ["loss", "accuracy", "val_loss", "val_accuracy"]
    assert (page["labels"] == Y[1300:]).mean() == pytest.approx(page["accuracy"], abs=0.01)
    assert page["model"].history is page["history"] and page["model"].batch_size == 32
    assert "epoch 4/4" in capsys.readouterr().out


def test_keras_s_names_are_odt_s_classes():
    for name, ours in odt.KERAS.items():
        assert getattr(odt, name) is getattr(odt, ours) is getattr(odt.layers, name) and name in dir(odt)
    with pytest.raises(AttributeError, match="MaxPooling3D"):
        _ = odt.layers.MaxPooling3D


@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize(
    ("activation", "loss", "labels"),
    (
        ("softmax", "sparse_categorical_crossentropy", y),
        ("sigmoid", "binary_crossentropy", np.eye(3, dtype=np.float32)[y]),
    ),
)
def test_a_loss_that_contains_the_last_activation_takes_what_comes_before_it(activation, loss, labels, dtype):
    """Trained to the bit as without it; what comes out are probabilities."""
    models = [dense(dtype, name, loss) for name in (activation, None)]
    for model in models:
        model.fit(x, labels, epochs=3, verbose=0)
    with_it, without = models
    assert all(np.array_equal(a, b) for a, b in zip(with_it.get_weights(), without.get_weights()))
    assert with_it.evaluate(x, labels) == without.evaluate(x, labels)
    logits = np.array(without.predict(x)).reshape(-1, 3)
    raised = np.exp(logits - logits.max(1, keepdims=True))
    wanted = raised / raised.sum(1, keepdims=True) if activation == "softmax" else 1 / (1 + np.exp(-logits))
    assert np.allclose(np.array(with_it.predict(x)).reshape(-1, 3), wanted, atol=1 / 128 if dtype == "int8" else 1e-6)
    options = {"output": 1} if activation == "sigmoid" else {}
    matrices = [odt.metrics.confusion_matrix(model, x, labels, **options) for model in models]
    assert matrices[0] == matrices[1]


@pytest.mark.parametrize("options", ({"micro_batch": 4}, {"memory_budget": 17400}, {"checkpoint": "sqrt"}), ids=str)
def test_that_holds_for_micro_batches_and_where_activations_are_computed_again(options):
    found = []
    for activation in ("softmax", None):
        layers = [odt.Input((8, 8, 1))] + [odt.Conv2D(4, 3, padding="same", activation="relu") for _ in range(4)]
        model = odt.Sequential(layers + [odt.Flatten(), odt.Dense(10, activation=activation)])
        model.compile("sgd", batch_size=8, **options)
        model.fit(X[:64].astype(np.float32), Y[:64], verbose=0)
        found.append([list(weights) for weights in model.get_weights()])
    assert found[0] == found[1]


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_a_batch_size_given_to_fit_is_as_good_as_compile_s(dtype):
    wanted = dense(dtype, batch_size=5)
    wanted.fit(x, y, epochs=2, verbose=0)
    model = dense(dtype)
    model.fit(x, y, epochs=2, batch_size=np.int64(5), verbose=0)
    assert model.digest() == wanted.digest() and model.batch_size == 5
    wanted.fit(x, y, epochs=1, verbose=0)
    model.fit(x, y, epochs=1, batch_size=5, verbose=0)
    assert model.digest() == wanted.digest()
    before = model.digest()
    model.evaluate(x, y, batch_size=100, verbose=1)
    model.predict(x)
    session = model.session
    for value, kind in ((0, ValueError), (2.5, TypeError), (70000, ValueError)):
        with pytest.raises(kind, match="batch_size"):
            model.fit(x, y, batch_size=value, verbose=0)
    assert model.session is session and model.digest() == before


def test_a_larger_batch_goes_on_with_the_optimizer_s_state():
    """40 samples as one batch, after steps of 8: Adam's moments are those of before."""
    model, other = dense(), dense()
    for each in (model, other):
        each.fit(x, y, shuffle=False, verbose=0)
    model.fit(x, y, batch_size=40, verbose=0, shuffle=False)
    whole = dense(batch_size=40)
    whole.session.state[:] = other.session.state
    whole.fit(x, y, verbose=0, shuffle=False)
    assert model.digest() == whole.digest()


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_predict_and_evaluate_take_keras_s_batch_size_and_verbose_which_change_nothing(dtype, capsys):
    model = dense(dtype)
    model.fit(x, y, verbose=0)
    wanted, figures = model.predict(x), model.evaluate(x, y)
    capsys.readouterr()
    for value in (None, 1, 7, 64, np.int64(32), 65535):
        for verbose in (0, 1, 2, "auto", True, np.int32(0)):
            assert np.array_equal(model.predict(x, batch_size=value, verbose=verbose), wanted)
            assert model.evaluate(x, y, value, verbose) == figures
    assert model.batch_size == 8 and capsys.readouterr().out == ""
    out = array.array("f", bytes(4 * 120))
    assert model.predict(x, out, 16, 0) is out and np.array_equal(np.array(out).reshape(40, 3), wanted)
    for options, kind, words in (
        ({"batch_size": 0}, ValueError, "batch_size is in 1..65535, got 0"),
        ({"batch_size": -3}, ValueError, "batch_size is in 1..65535, got -3"),
        ({"batch_size": 65536}, ValueError, "batch_size is in 1..65535, got 65536"),
        ({"batch_size": 2.5}, TypeError, "batch_size is an int, got 2.5"),
        ({"batch_size": True}, TypeError, "batch_size is an int, got True"),
        ({"batch_size": "16"}, TypeError, "batch_size is an int, got '16'"),
        ({"verbose": "loud"}, ValueError, "verbose is 0, 1, 2 or \"auto\", got 'loud'"),
        ({"verbose": 3}, ValueError, 'verbose is 0, 1, 2 or "auto", got 3'),
    ):
        for call in (model.predict, lambda x, **options: model.evaluate(x, y, **options)):
            with pytest.raises(kind, match=words):
                call(x, **options)
    with pytest.raises(TypeError, match="out: .* write batch_size=32"):
        model.predict(x, 32)
    assert np.array_equal(model.predict(x), wanted)


def weighed(dtype="float32", loss=None, optimizer="adam", **options):
    """A network with all that a state holds: statistics, moments, counters of random numbers."""
    model = odt.Sequential([
        odt.Input((4,)), odt.Normalization(), odt.Dense(6), odt.BatchNorm(), odt.ReLU(), odt.Dropout(0.2), odt.Dense(3),
    ])  # fmt: skip
    model.layers[0].adapt(x * 3 + 1)
    model.compile(optimizer, loss or odt.SparseCategoricalCrossentropy(), dtype=dtype, **{"batch_size": 8, **options})
    return model


class Digest:
    """Of the model at the end of each epoch, while it has the weights of classes."""

    def set_model(self, model):
        self.model, self.found = model, []

    def on_epoch_end(self, epoch, logs):
        self.found.append((self.model.digest(), logs["loss"], logs["val_loss"]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "optimizer", ("sgd", "adam", odt.SGD(0.01, 0.9, nesterov=True)), ids=("sgd", "adam", "momentum")
)
@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_class_weights_given_to_fit_are_as_good_as_the_loss_s(dtype, optimizer):
    given = {0: 1.0, 1: 5.0}
    wanted = weighed(dtype, odt.SparseCategoricalCrossentropy(class_weight=given), optimizer)
    expected, ends = Digest(), Digest()
    history = wanted.fit(x, y, epochs=3, validation_data=(x, y), callbacks=[expected], verbose=0)
    model = weighed(dtype, optimizer=optimizer)
    session = model.session
    found = model.fit(x, y, epochs=3, validation_data=(x, y), callbacks=[ends], verbose=0, class_weight=given)
    assert ends.found == expected.found and found.history == history.history
    assert model.session is session and model.epoch == 3 and session.steps() == 15
    assert all(list(a) == list(b) for a, b in zip(model.get_weights(), wanted.get_weights()))
    assert np.array_equal(model.predict(x), wanted.predict(x))
    plain = weighed(dtype, optimizer=optimizer)
    plain.set_weights(model.get_weights())
    assert model.evaluate(x, y)[0] == pytest.approx(plain.evaluate(x, y)[0], rel=0.02)  # no longer weighted
    forms = (
        [1, 5, 1],
        (1.0, 5.0, 1.0),
        np.array([1, 5.0, 1]),
        dict(zip(np.arange(2), np.float32([1, 5]))),
        {1: np.int64(5)},
    )
    for form in forms:
        again = weighed(dtype, optimizer=optimizer)
        again.fit(x, y, epochs=3, validation_data=(x, y), verbose=0, class_weight=form)
        assert again.digest() == model.digest()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_class_weights_of_one_fit_go_on_with_moments_and_leave_what_they_found(dtype):
    model, plain = weighed(dtype), weighed(dtype)
    for each in (model, plain):
        each.fit(x, y, epochs=2, verbose=0)
    digest = model.digest()
    for options in ({"class_weight": {7: 2}}, {"class_weight": [1, 2]}, {"class_weight": {0: 2}, "epochs": 0}):
        with pytest.raises(ValueError):
            model.fit(x, y, verbose=0, **options)
        assert model.digest() == digest
    if dtype == "float32":  # with weights of 1 it is the same loss except for rounding
        model.fit(x, y, epochs=3, class_weight=[1, 1, 1], verbose=0)
        plain.fit(x, y, epochs=3, verbose=0)
        for a, b in zip(model.get_weights(), plain.get_weights()):
            assert np.allclose(a, b, atol=1e-5)
    model.fit(
        x,
        y,
        epochs=3,
        initial_epoch=model.epoch if dtype == "int8" else None,
        class_weight={2: 3},
        batch_size=5,
        verbose=0,
    )
    assert model.batch_size == 5 and len(model.session.state) == len(plain.session.state)
    model.layers[0].adapt(x)  # of the session that stays
    assert np.allclose(model.get_weights()[0], x.mean(0), atol=1e-6)


def test_class_weights_of_fit_async_and_of_a_split():
    model, wanted, other = weighed(), weighed(), weighed()
    wanted.fit(x, y, class_weight=[1, 2, 3], validation_split=0.25, epochs=2, batch_size=5, verbose=0)
    history = asyncio.run(
        model.fit_async(x, y, class_weight=[1, 2, 3], validation_split=0.25, epochs=2, batch_size=5, verbose=0)
    )
    assert model.digest() == wanted.digest() and history.history == wanted.history.history
    other.fit(x[:30], y[:30], class_weight=[1, 2, 3], epochs=2, batch_size=5, verbose=0)
    assert other.digest() == wanted.digest()


def test_class_weights_that_cannot_be_say_what_to_write(tmp_path):
    binary = dense(loss="binary_crossentropy", outputs=1, activation="sigmoid")
    file = dense(loss=odt.CategoricalCrossentropy(label_smoothing=0.1))
    file.export(str(tmp_path / "m.odt"))
    for model, words in (
        (binary, 'the loss binary_crossentropy has no classes: write Dense(classes) and the loss "sparse_'),
        (dense(loss=odt.SparseCategoricalCrossentropy([1, 2, 3])), "has weights of its own"),
        (odt.load_model(str(tmp_path / "m.odt")), "compile it with the weights"),
        (dense(micro_batch=4), "micro_batch has parts of it"),
    ):
        session, digest = model.session, model.digest()
        with pytest.raises(ValueError) as caught:
            model.fit(x, y > 1, class_weight={0: 1, 1: 5}, verbose=0)
        assert words in str(caught.value) and model.session is session and model.digest() == digest
    with pytest.raises(TypeError, match="class_weight is a list or a dict, got 'balanced'"):
        dense().fit(x, y, class_weight="balanced")
    model = weighed()
    with pytest.raises(KeyboardInterrupt):
        model.fit(x, y, class_weight=[1, 2, 3], callbacks=[Stopped()], verbose=0)
    assert model.session.steps() == 3 and model.session.fit is None
    model.fit(x, y, verbose=0)


def trained(model, loss="sparse_categorical_crossentropy", labels=y):
    model.compile("adam", loss, batch_size=8, seed=1)
    model.fit(x, labels, epochs=2, verbose=0)
    return model.digest()


def test_a_sequential_grows_by_add_and_shrinks_by_pop():
    layers = odt.layers
    wanted = odt.Sequential([odt.Input((4,)), odt.Dense(6, activation="relu"), odt.Dense(3, activation="softmax")])
    model = odt.Sequential()
    assert model.layers == []
    with pytest.raises(ValueError, match=r"no layers: model.add\(odt.Input"):
        model.compile()
    model.add(odt.Input((4,)))
    for layer in (layers.Dense(6), layers.Activation("relu"), layers.Dense(8), layers.Dense(3, activation="softmax")):
        model.add(layer)
    assert model.pop() is layer and len(model.layers) == 3 and model.pop().units == 8
    model.add(layers.Dense(3, activation="softmax"))
    model.summary()
    assert trained(model) == trained(wanted)
    for change in (lambda: model.add(odt.Dense(2)), model.pop):
        with pytest.raises(ValueError, match="compiled: .* before compile"):
            change()
    for items, error in (((odt.Dense(3),), ValueError), ((odt.Input((4,)), odt.Dense), TypeError), ((3,), ValueError)):
        grown = odt.Sequential()
        with pytest.raises(error, match="Sequential"):
            for item in items:
                grown.add(item)
    one = odt.Sequential([odt.Input((4,)), odt.Dense(3, name="a")])
    with pytest.raises(ValueError, match="two layers are called 'a'"):
        one.add(odt.Dense(3, name="a"))
    one.add(odt.Dense(2, name="b"))
    assert [layer.name for layer in one.layers] == ["a", "b"]
    assert one.pop().name == "b" and one.pop().name == "a" and one.layers == []
    with pytest.raises(ValueError, match="no layer is left"):
        one.pop()


def test_a_first_layer_with_input_shape_needs_no_input():
    for first in (odt.Dense(6, input_shape=(4,)), odt.Dense(6, input_shape=4), odt.Flatten(input_shape=(4, 1))):
        grown = odt.Sequential()
        grown.add(first)
        rest = [odt.Dense(6), odt.ReLU(), odt.Dense(3)][first.kind == "dense" :]
        for layer in rest:
            grown.add(layer)
        assert trained(grown) == trained(odt.Sequential([odt.Input((4,)), odt.Dense(6), odt.ReLU(), odt.Dense(3)]))
    for first in (odt.Conv2D(2, 3, input_shape=(8, 8, 1)), odt.Conv1D(2, 3, input_shape=(8, 1))):
        assert odt.Sequential([first, odt.Flatten(), odt.Dense(2)]).nodes[0].shape == first.input_shape
    with pytest.raises(ValueError, match="shape"):
        odt.Sequential([odt.Dense(3, input_shape=(0,))])


@pytest.mark.parametrize("name", ("relu", "relu6", "sigmoid", "tanh", "softmax", "leaky_relu", "elu", "selu", "gelu"))
def test_activation_is_the_layer_of_that_name(name):
    models = [
        odt.Sequential([odt.Input((4,)), odt.Dense(6), *layer, odt.Dense(3)])
        for layer in ((odt.Activation(name, name="act"),), ())
    ]
    models[1] = odt.Sequential([odt.Input((4,)), odt.Dense(6, activation=name), odt.Dense(3)])
    assert trained(models[0]) == trained(models[1]) and models[0].layers[1].name == "act"
    assert isinstance(odt.layers.Activation(name), odt.layers.Layer)


def test_an_activation_that_is_none_says_so():
    with pytest.raises(ValueError, match="'linear' changes nothing: leave it out"):
        odt.Activation("linear")
    with pytest.raises(ValueError, match="Activation: activation is one of .*relu6.*, got 'mish'"):
        odt.Activation("mish")


@pytest.mark.parametrize(
    ("loss", "activation", "labels", "outputs"),
    (
        (odt.losses.SparseCategoricalCrossentropy, "softmax", y, 3),
        (odt.losses.CategoricalCrossentropy, "softmax", np.eye(3)[y], 3),
        (odt.losses.BinaryCrossentropy, "sigmoid", y % 2, 1),
    ),
)
def test_from_logits_is_what_the_last_layer_says(loss, activation, labels, outputs):
    def network(last):
        return odt.Sequential([odt.Input((4,)), odt.Dense(outputs, activation=last)])

    assert trained(network(None), loss(from_logits=True), labels) == trained(network(None), loss(), labels)
    assert trained(network(activation), loss(from_logits=False), labels) == trained(network(activation), loss(), labels)
    for last, value, words in (
        (activation, True, "from_logits=True after .*: write the last layer without activation='%s'" % activation),
        (
            None,
            np.bool_(False),
            "from_logits=False after dense: write the last layer with activation='%s'" % activation,
        ),
        ("tanh", False, "from_logits=False after tanh"),
    ):
        with pytest.raises(ValueError, match=words):
            network(last).compile(loss=loss(from_logits=value))


class Stopped:
    def on_batch_end(self, step):
        if step == 3:
            raise KeyboardInterrupt


def as_list(data):
    return data.tolist()


def as_bytes(data):
    return data.astype(np.float32).tobytes() if data.dtype.kind == "f" else bytes(data.astype(np.uint8))


def as_array(data):
    return array.array("f" if data.dtype.kind == "f" else "B", data.ravel().tolist())


@pytest.mark.parametrize("kind", (np.array, as_list, as_bytes, as_array))
def test_validation_split_holds_back_the_last_samples(kind):
    model, wanted = dense(), dense()
    history = model.fit(kind(x), kind(y), validation_split=0.25, epochs=2, verbose=0)
    expected = wanted.fit(x[:30], y[:30], validation_data=(x[30:], y[30:]), epochs=2, verbose=0)
    assert model.digest() == wanted.digest() and history.history == expected.history


def test_what_cannot_be_meant_says_what_to_write():
    model = dense()
    digest = model.digest()
    for options, words in (
        ({"validation_split": 0.5, "validation_data": (x, y)}, ("validation_data: one of them",)),
        ({"validation_split": 1.5}, ("validation_split is in 0..1", "1.5")),
        ({"validation_split": 0.99}, ("leaves none",)),
    ):
        with pytest.raises(ValueError) as caught:
            model.fit(x, y, verbose=0, **options)
        assert all(word in str(caught.value) for word in words)
    with pytest.raises(ValueError, match="give validation_data"):
        model.fit(iter([(x, y)]), validation_split=0.5)
    for metrics in (["mae"], ["accuracy", "Precision"], "auc"):
        with pytest.raises(ValueError, match="metrics: .* odt.metrics"):
            model.compile(metrics=metrics)
    with pytest.raises(ValueError, match="metrics: unknown 'accuracy'; built in: mse; see"):
        dense(loss="mse", activation=None, metrics=["accuracy"])
    with pytest.raises(ValueError, match="optimizer is one of adam, adamw, rmsprop, sgd, got 'lion'"):
        model.compile("lion")
    with pytest.raises(ValueError, match='want the loss "categorical_crossentropy"'):
        model.fit(x, np.eye(3)[y])
    with pytest.raises(TypeError, match=r"expected float32: x.astype\('float32'\)"):
        model.predict(x.astype(np.int16))
    assert model.digest() == digest
    for optimizer in ("Adam", "SGD"):
        model.compile(optimizer, metrics=["acc"])


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_one_hot_labels_are_labels(dtype):
    digests = set()
    for loss, labels in (
        ("sparse_categorical_crossentropy", y),
        ("categorical_crossentropy", np.eye(3)[y]),
        ("categorical_crossentropy", np.eye(3, dtype=bool)[y]),
        ("categorical_crossentropy", np.eye(3)[y].astype(int).tolist()),
        (odt.CategoricalCrossentropy(), np.eye(3, dtype=np.uint8)[y].tobytes()),
    ):
        model = dense(dtype, loss=loss)
        model.fit(x, labels, epochs=2, verbose=0)
        digests.add(
            (
                model.digest(),
                model.evaluate(x, labels),
                model.train_step(x[:3], labels[: 3 if len(labels) == 40 else 9]),
            )
        )
    assert len(digests) == 1
    for bad in (np.full((40, 3), 1 / 3), np.zeros((40, 3)), y, np.eye(4)[y]):
        with pytest.raises(ValueError, match="sample 0 is no row of 2 zeros"):
            model.fit(x, bad)


def test_bools_and_views_with_gaps_are_taken_as_their_copies():
    model, other = dense(), dense()
    wide = np.zeros((40, 8), np.float32)
    wide[:, ::2] = x
    model.fit(wide[:, ::2], (y > 0)[::-1][::-1], verbose=0)
    other.fit(x, (y > 0).astype(int), verbose=0)
    assert model.digest() == other.digest()
    assert model.predict(x[::-3]).tolist() == other.predict(x[::-3].copy()).tolist()
    assert model.predict(np.asfortranarray(x)).tolist() == other.predict(x).tolist()
    assert model(x).tolist() == model.predict(x).tolist()
    yes, also = dense(loss="binary_crossentropy", outputs=1), dense(loss="binary_crossentropy", outputs=1)
    yes.fit(x, y > 0, verbose=0)
    also.fit(x, [float(v > 0) for v in y], verbose=0)
    assert yes.digest() == also.digest()


def test_numpy_s_numbers_are_numbers():
    i, f = np.int64, np.float32
    model = odt.Sequential([
        odt.Input((i(8), i(8), i(1))),
        odt.Conv2D(i(4), i(3), strides=(i(1), i(1)), groups=i(1)),
        odt.BatchNormalization(momentum=f(0.5), epsilon=f(0.5)),
        odt.Reshape((i(6), i(24))),
        odt.LeakyReLU(f(0.5)),
        odt.Flatten(),
        odt.Dropout(f(0.25)),
        odt.Dense(i(10), activation="linear"),
    ])  # fmt: skip
    rate = odt.StepDecay(np.float64(0.25), i(4), f(0.5))
    model.compile(odt.Adam(rate, beta_1=f(0.5)), batch_size=i(8), seed=i(3), micro_batch=i(4))
    model.fit(X[:20], Y[:20], epochs=i(2), verbose=0, initial_epoch=i(0))
    same = odt.Sequential([
        odt.Input((8, 8, 1)), odt.Conv2D(4, 3), odt.BatchNorm(0.5, 0.5), odt.Reshape((6, 24)), odt.LeakyReLU(0.5),
        odt.Flatten(),
        odt.Dropout(0.25), odt.Dense(10),
    ])  # fmt: skip
    same.compile(odt.Adam(odt.StepDecay(0.25, 4, 0.5), beta_1=0.5), batch_size=8, seed=3, micro_batch=4)
    same.fit(X[:20], Y[:20], epochs=2, verbose=0)
    assert same.digest() == model.digest()
    with pytest.raises(TypeError, match="units"):
        odt.Dense(f(3))
    with pytest.raises(TypeError, match="units"):
        odt.Dense(np.bool_(1))


def test_layers_and_what_they_hold_are_told_before_compile(capsys):
    model = odt.Sequential([odt.Input((4,)), odt.Dense(6), odt.Dense(3)])
    assert [layer.units for layer in model.layers] == [6, 3]
    assert len(odt.Model(model.nodes[0], model.nodes[-1]).layers) == 3
    model.summary()
    text = capsys.readouterr().out
    assert [line.split()[-1] for line in text.splitlines()[1:5]] == ["0", "30", "21", "51"]
    assert "(6)" in text and "compile()" in text


def test_ctrl_c_in_fit_says_what_is_kept_and_leaves_the_history(capsys):
    class Stop:
        def on_batch_end(self, step):
            if step == 7:
                raise KeyboardInterrupt

    model = dense()
    with pytest.raises(KeyboardInterrupt):
        model.fit(x, y, epochs=4, callbacks=[Stop()])
    assert len(model.history.history["loss"]) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("stopped at step 7: its weights are kept")
    whole = dense()
    whole.fit(x, y, epochs=4, verbose=0)
    model.fit(x, y, epochs=4, verbose=0, initial_epoch=model.epoch)
    assert model.digest() == whole.digest()


def regression(dtype="float32", targets=None, data=x, **options):
    model = odt.Sequential([odt.Input((4,)), odt.Dense(8, activation="relu"), odt.Dense(2)])
    model.compile(odt.Adam(0.01), "mse", dtype=dtype, batch_size=8, **options)
    return model


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_targets_far_from_0_train_as_well_as_near_ones(dtype):
    """x without the mean of its targets is as hard as with it: the output's bias begins there."""
    near = np.stack([np.sin(x[:, 0]) * 5, x[:, 1] * 5], 1).astype(np.float32)
    losses = []
    for offset in (np.float32([0, 0]), np.float32([150, -400])):
        model = regression(dtype)
        model.fit(x, near + offset, epochs=40, verbose=0)
        losses.append(model.evaluate(x, near + offset)[0])
    assert losses[1] < 1.3 * losses[0] + (2 if dtype == "int8" else 0)  # int8 has 127 steps to 400


def test_the_output_s_bias_begins_with_the_mean_of_far_targets_of_a_fresh_model():
    far = np.full((40, 2), (100.5, 3), np.float32)
    model = regression(data=x)
    model.fit(x, far, epochs=1, steps_per_epoch=None, verbose=0, shuffle=False, callbacks=[_Stop()])
    assert np.abs(np.array(model.get_weights()[3]) - (100.5, 0)).max() < 0.011 * 1 + 1e-6  # after one step of 0.01
    taken = regression()
    taken.set_weights(taken.get_weights())
    taken.fit(x, far, verbose=0, callbacks=[_Stop()])
    assert np.abs(np.array(taken.get_weights()[3])).max() < 0.011
    frozen = odt.Sequential([odt.Input((4,)), odt.Dense(8), odt.Dense(2, trainable=False)])
    frozen.compile(loss="mse")
    frozen.fit(x, far, verbose=0)
    assert not np.any(frozen.get_weights()[3])


class _Stop:
    model = None

    def set_model(self, model):
        self.model = model

    def on_batch_end(self, step):
        self.model.stop_training = True


def test_it_is_the_same_in_both_executors_and_for_both_number_systems_near_the_mean():
    far = (np.float32([300, -20]) + x[:, :2] * 7).astype(np.float32)
    digests = set()
    try:
        for backend in ("native", "reference"):
            odt.executor.use(backend)
            model = regression("int8")
            model.fit(x, far, verbose=0)
            digests.add(model.digest())
    finally:
        odt.executor.use("native")
    assert len(digests) == 1
    mean = far[[number * 40 // 16 for number in range(16)]].mean(0)
    for dtype in ("int8", "float32"):
        model = regression(dtype)
        model.fit(x, far, verbose=0, callbacks=[_Stop()])
        assert np.abs(np.array(model.get_weights()[3]) - mean).max() < 0.02


def test_rmsprop_is_pytorch_s():
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)  # more wait for one another, busily
    model = dense(activation=None, batch_size=40)
    model.compile(odt.RMSprop(0.01, rho=0.95, epsilon=1e-6), dtype="float32", batch_size=40)
    theirs = [
        torch.tensor(np.array(values).reshape(shape), requires_grad=True)
        for values, shape in zip(model.get_weights(), ((6, 4), (6,), (3, 6), (3,)))
    ]
    optimizer = torch.optim.RMSprop(theirs, lr=0.01, alpha=0.95, eps=1e-6)
    for _ in range(40):
        model.train_step(x, y)
        logits = torch.relu(torch.tensor(x) @ theirs[0].T + theirs[1]) @ theirs[2].T + theirs[3]
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(logits, torch.tensor(y)).backward()
        optimizer.step()
    for ours, other in zip(model.get_weights(), theirs):
        assert np.allclose(ours, other.detach().numpy().ravel(), atol=1e-5)


@pytest.mark.parametrize("state", (None, "float32"))
def test_rmsprop_learns_in_int8_too(state):
    model = dense(dtype="int8")
    model.compile(odt.RMSprop(0.01, state=state), batch_size=8)
    model.fit(x, y, epochs=60, verbose=0)
    exact = dense()
    exact.compile(odt.RMSprop(0.01), dtype="float32", batch_size=8)
    exact.fit(x, y, epochs=60, verbose=0)
    assert model.evaluate(x, y)[1] > exact.evaluate(x, y)[1] - 0.06 > 0.6
    model.compile("rmsprop")


class Scripted(odt.callbacks.Callback):
    """Gives the next callbacks of an epoch these losses."""

    def __init__(self, losses):
        self.losses, self.rates = losses, []

    def on_epoch_begin(self, epoch):
        from odt.run.names import rate_of

        self.rates.append(rate_of(self.model))

    def on_epoch_end(self, epoch, logs):
        logs["val_loss"] = self.losses[epoch]


@pytest.mark.parametrize(
    "options",
    (
        {"patience": 2},
        {"patience": 1, "cooldown": 2, "min_lr": 0.002},
        {"patience": 0, "min_delta": 0.2, "factor": 0.5},
    ),
)
def test_the_rate_falls_on_a_plateau_when_keras_s_does(options, monkeypatch):
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    keras = pytest.importorskip("keras")
    losses = [1.0, 0.9, 0.95, 0.91, 0.89, 0.9, 0.9, 0.9, 0.5, 0.45, 0.6, 0.6, 0.6, 0.6]
    scripted = Scripted(losses)
    model = dense()
    model.compile(odt.SGD(0.1), dtype="float32")
    model.fit(x, y, epochs=len(losses), verbose=0, callbacks=[scripted, odt.callbacks.ReduceLROnPlateau(**options)])

    class Theirs:
        pass

    theirs, rates = Theirs(), []
    theirs.optimizer = keras.optimizers.SGD(0.1)
    callback = keras.callbacks.ReduceLROnPlateau(**options)
    callback.set_model(theirs)
    callback.on_train_begin()
    for epoch, loss in enumerate(losses):
        rates.append(float(theirs.optimizer.learning_rate))
        callback.on_epoch_end(epoch, {"val_loss": loss})
    assert np.allclose(scripted.rates, rates, rtol=3e-3) and len(set(rates)) > 1  # a rate has 4 digits


def test_a_scheduler_sets_the_rate_of_each_epoch_and_a_constant_one_changes_no_bit():
    models = [dense(dtype="int8"), dense(dtype="int8")]
    for model in models:
        model.compile(odt.Adam(0.01), batch_size=8, seed=1)
    scripted = Scripted([1] * 4)
    models[0].fit(
        x, y, epochs=4, verbose=0, callbacks=[odt.callbacks.LearningRateScheduler(lambda epoch, rate: rate), scripted]
    )
    models[1].fit(x, y, epochs=4, verbose=0)
    assert models[0].digest() == models[1].digest()
    scripted = Scripted([1] * 4)
    scheduler = odt.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2 if epoch else rate)
    models[0].fit(x, y, epochs=4, verbose=0, callbacks=[scheduler, scripted])
    assert np.allclose(scripted.rates, [0.01, 0.005, 0.0025, 0.00125], rtol=1e-4)


def test_what_few_programs_ask_a_model_for_is_there():
    model = dense()
    first, last = model.layers[0], model.layers[1]
    assert model.get_layer(first.name) is first is model.get_layer(index=0) and model.get_layer(index=1) is last
    with pytest.raises(ValueError, match="no layer is 'dens'; there are dense, dense_1"):
        model.get_layer("dens")
    assert model.count_params() == 4 * 6 + 6 + 6 * 3 + 3
    assert model.input_shape == (None, 4) and model.output_shape == (None, 3)
    assert model.metrics_names == ["loss", "accuracy"] and model.loss.name.endswith("crossentropy")
    twin = dense()
    assert model.train_on_batch(x[:8], y[:8]) == twin.train_step(x[:8], y[:8])
    assert np.array_equal(model.predict_on_batch(x), twin.predict(x))
    assert model.test_on_batch(x, y) == twin.evaluate(x, y)


def test_a_checkpoint_s_file_has_keras_s_name(tmp_path):
    model = dense()
    for options in ({"filepath": tmp_path / "a.odt"}, {"path": tmp_path / "b.odt"}):
        model.fit(x, y, verbose=0, callbacks=[odt.callbacks.ModelCheckpoint(**options)])
    assert (tmp_path / "a.odt").stat().st_size == (tmp_path / "b.odt").stat().st_size > 64


def test_what_a_person_types_in_another_library_is_refused_with_what_to_write():
    class Own(odt.layers.Layer):
        def call(self, x):
            return x

    a = odt.Input((4,))
    b = odt.Dense(4)(a)
    for function, words in (
        (lambda: odt.Sequential([odt.Input((4,)), Own()]), "layer 'Own': .*docs/howto/add_a_layer.md"),
        (lambda: a + b, r"odt.Add\(\)\(\[a, b\]\)"),
        (lambda: 2 * b, "odt.Add"),
        (lambda: odt.Model([a], b), "got list, Node"),
        (lambda: odt.Model(inputs=a, outputs=[b, b]), "odt.Concatenate"),
        (lambda: odt.layers.InputLayer((4,)), r"odt.Input\(shape\)"),
        (lambda: dense(loss=lambda a, b: 0), "docs/reference/modules.md"),
        (lambda: odt.Dense(4, unit=3), "Dense has no unit=: units="),
    ):
        with pytest.raises(TypeError, match=words):
            function()
    assert "History of 2 epochs: loss " in repr(dense().fit(x, y, epochs=2, verbose=0))


def test_help_repr_and_tab_show_what_a_person_types():
    for name, home in odt.HOMES.items():
        if home != "inner":
            assert name in odt.__doc__, name
    for name in odt.host.guard._CALLS.split():
        assert hasattr(dense(), name) and name in dir(dense()), name
    model = odt.Sequential([odt.Input((4,)), odt.Dense(3)])
    assert repr(model) == "<Sequential: 1 layers, 15 parameters, not compiled>"
    model.compile(batch_size=8)
    assert repr(model) == "<Sequential: 1 layers, 15 parameters, int8, batch_size 8>"
    assert repr(odt.Input((4,))) == "<output of input, shape (4,)>" or "InputLayer" in repr(odt.Input((4,)))


def test_a_model_from_a_file_shows_what_it_is(tmp_path):
    dense().export(tmp_path / "m.odt")
    opened = odt.load_model(tmp_path / "m.odt")
    assert repr(opened) == "<Loaded: 51 parameters, float32, batch_size 8>" and opened.count_params() == 51
    assert opened.input_shape == (None, 4) and opened.output_shape == (None, 3)


def test_the_command_says_its_version_and_whether_a_board_has_odt(monkeypatch, capsys):
    from odt.host import commands
    from odt.host.boards import board

    with pytest.raises(SystemExit):
        commands.main(["--version"])
    assert capsys.readouterr().out == "odt %s\n" % odt.__version__
    probe = {
        "name": "micropython",
        "version": (1, 25, 0),
        "machine": "Pico",
        "mpy": 4870,
        "free": 1000,
        "libs": ["/lib"],
        "deflate": True,
        "disk": 1000,
        "block": 4096,
        "odt": "0.1.0",
    }
    for frozen, answer, words in (
        (True, "", "odt in its firmware"), (["online", "<b>"], "", "odt in its firmware, without online"),
        (False, "odt-is 0.1.0\n", "odt 0.1.0 in its files"),
        (False, "odt-is 0\n", "without odt: odt install"), (False, "?", "whether it has odt is not known"),
    ):  # fmt: skip
        found = "odt-probe %r\n" % dict(probe, frozen=bool(frozen), without=frozen if isinstance(frozen, list) else [])
        monkeypatch.setattr(
            board.Board, "call", lambda self, *what, **more: found if "odt-probe" in what[1] else answer
        )
        monkeypatch.setattr(commands, "ports", lambda: ["/dev/ttyX"])
        assert commands.main(["devices"]) == 0
        assert capsys.readouterr().out.endswith(words + "\n")
