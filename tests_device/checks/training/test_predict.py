"""One sample costs one sample on the emulated RP2040: cycles, which repeat exactly."""

import sys

import pytest
from checkout import ROOT

sys.path.insert(0, str(ROOT / "bench"))

import counting  # noqa: E402
import folders  # noqa: E402, F401
import predict  # noqa: E402
import steps  # noqa: E402

ALLOCATIONS = """
import gc
from array import array
session = model.session
x, out = bytearray(x), array("f", bytes(640))
model.train_step(x, y)
one, few = x[:64], array("f", bytes(40))
for _ in range(2):
    model.predict(x, out)
    model.predict(one, few)
gc.collect()
gc.disable()
free = gc.mem_free()
for _ in range(10):
    model.predict(x, out)
    model.predict(one, few)
print(free - gc.mem_free(), "bytes")
gc.enable()
"""


@pytest.fixture(scope="module")
def machine():
    machine = counting.open("rp2040")
    yield machine
    machine.close()


@pytest.mark.parametrize("model", steps.TWINS)
def test_one_sample_on_a_model_of_batch_16_is_within_a_tenth_of_one_on_batch_1(machine, model):
    one, section, sixteen, _ = predict.costs(machine, model, 16)
    alone, *_ = predict.costs(machine, model, 1)
    assert one <= alone * predict.WITHIN
    assert one - section <= 1.05 * predict.PYTHON  # finding names takes some hundred cycles more or less
    assert sixteen > 3 * one


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_predictions_into_an_array_that_is_given_allocate_nothing(machine, dtype):
    script = steps.source(steps.TWINS[1], dtype) + ALLOCATIONS
    assert machine.machine.exec(script, timeout=500).split()[-2:] == ["0", "bytes"]
