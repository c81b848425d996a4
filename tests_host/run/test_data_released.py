"""A model keeps no reference to the data of a call that has ended: on a board the data may be half of the heap."""

import weakref
from array import array

import numpy as np
import pytest

import odt
from odt import metrics


def x_of(count=16):
    return array("f", [i * 7 % 13 / 13 for i in range(4 * count)])


def y_of(count=16):
    return array("B", [i % 2 for i in range(count)])


class Stop:
    def on_epoch_end(self, epoch, logs=None):
        raise KeyboardInterrupt


def interrupted(model, x, y):
    with pytest.raises(KeyboardInterrupt):
        model.fit(x, y, epochs=2, verbose=0, callbacks=[Stop()])


CALLS = {
    "fit": lambda model, x, y: model.fit(x, y, verbose=0),
    "fit of batches": lambda model, x, y: model.fit([(x, y)].__iter__(), steps_per_epoch=1, verbose=0),
    "fit with validation": lambda model, x, y: model.fit(x_of(), y_of(), validation_data=(x, y), verbose=0),
    "fit with class weights": lambda model, x, y: model.fit(x, y, class_weight={0: 1, 1: 2}, verbose=0),
    "fit, interrupted": interrupted,
    "train_step": lambda model, x, y: model.train_step(x, y),
    "evaluate": lambda model, x, y: model.evaluate(x, y),
    "evaluate of batches": lambda model, x, y: model.evaluate([(x, y)].__iter__()),
    "predict": lambda model, x, y: model.predict(x),
    "predict_proba": lambda model, x, y: model.predict_proba(x),
    "predict_classes": lambda model, x, y: model.predict_classes(x),
    "calibrate": lambda model, x, y: model.calibrate(x),
    "calibrate errors": lambda model, x, y: model.calibrate(x, y),
    "confusion_matrix": lambda model, x, y: metrics.confusion_matrix(model, x, y),
}


WHOLE = "fit with class weights"  # a weighted mean needs the whole batch


@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize(
    "call, micro_batch", [(call, micro) for call in CALLS for micro in (None, 4)[: 1 + (call != WHOLE)]]
)
def test_data_can_be_freed_after_a_call(call, micro_batch, dtype):
    model = odt.Sequential([odt.Input((4,)), odt.Dense(3, "relu"), odt.Dense(2)])
    model.compile(dtype=dtype, micro_batch=micro_batch)
    for _ in range(3):  # the first ranges, data of a new form, data of the same
        x, y = x_of(), y_of()
        both = weakref.ref(x), weakref.ref(y)
        CALLS[call](model, x, y)
        del x, y
        assert [each() for each in both] == [None, None]


def test_arrays_of_numpy_can_be_freed_after_predict():
    model = odt.Sequential([odt.Input((4,)), odt.Dense(2)])
    model.compile()
    for _ in range(3):
        x = np.frombuffer(x_of(), "f").reshape(16, 4).copy()
        held = weakref.ref(x)
        model.predict(x)
        del x
        assert held() is None
