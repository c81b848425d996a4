"""On CPython nothing of a model waits for the garbage collector, which looks through all objects of the process: beside
scikit-learn and PyTorch for 0.1 s and more."""

import gc
import weakref

import pytest

import odt

X, Y = bytes(range(64)) * 4, bytes(range(4))


@pytest.fixture
def collections():
    """The collections since the test began; automatic ones are off."""
    found = []

    def note(phase, info):
        found.append(phase)

    gc.collect()
    gc.disable()
    gc.callbacks.append(note)
    yield found
    gc.callbacks.remove(note)
    gc.enable()


def network(dtype):
    layers = [odt.Conv2D(4, 3, activation="relu"), odt.BatchNorm(), odt.MaxPool2D(), odt.Flatten(), odt.Dense(4)]
    model = odt.Sequential([odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16), *layers])
    model.compile("adam", dtype=dtype, batch_size=2)
    return model


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_a_model_collects_nothing_and_is_freed_when_it_goes(dtype, collections, tmp_path):
    model = network(dtype)
    model.fit(X, Y, epochs=2, validation_data=(X, Y), verbose=0)
    model.predict(X)
    path = str(tmp_path / "model.odt")
    model.save(path)
    model.load(path)
    first = weakref.ref(model.session)
    model.compile("adam", dtype=dtype, batch_size=4)
    assert first() is None, "compile() again kept the session before"
    model.export(path)
    opened = odt.load_model(path)
    opened.train_step(X, Y)
    second, third = weakref.ref(model.session), weakref.ref(opened.session)
    del model, opened
    assert second() is None and third() is None
    assert collections == []
