"""Between two quantizations of ONNX whose steps differ, whatever lies there: odt gives onnxruntime's numbers, in int8
and in float32.
"""

import numpy as np
import pytest
from onnx import helper
from onnx_networks import network, run

from odt.host.convert import load

RNG = np.random.default_rng(0)
node = helper.make_node
BETWEEN = {
    "nothing": [],
    "relu": [node("Relu", ["i0"], ["i1"])],
    "clip": [node("Clip", ["i0", "zero", "six"], ["i1"])],
    "max pool": [node("MaxPool", ["i0"], ["i1"], kernel_shape=[2, 2])],
    "reshape": [node("Reshape", ["i0", "shape"], ["i1"])],
    "transpose and flatten": [node("Transpose", ["i0"], ["t"], perm=[0, 2, 3, 1]), node("Flatten", ["t"], ["i1"])],
    "max pool and relu": [node("MaxPool", ["i0"], ["p"], kernel_shape=[2, 1]), node("Relu", ["p"], ["i1"])],
    "resize": [node("Resize", ["i0", "", "twice"], ["i1"], coordinate_transformation_mode="asymmetric",
    nearest_mode="floor")],
}  # fmt: skip
STEPS = {
    "equal": (0.05, 3),
    "wider": (0.11, -20),
    "narrower": (0.01, 10),
    "above 0": (0.02, -128),
    "higher": (0.05, -90),
}
WEIGHTS = {
    "zero": np.float32(0), "six": np.float32(6), "shape": np.array([-1, 12, 4]),
    "twice": np.array([1, 1, 2, 2], "float32"),
    "s0": np.float32(0.05), "z0": np.int8(3),
}  # fmt: skip


def made(between, steps):
    """x, bytes of 0.05, what lies between, bytes of other steps, as floats."""
    weights = {**WEIGHTS, "s1": np.float32(steps[0]), "z1": np.int8(steps[1])}
    last = "i1" if between else "i0"
    nodes = [node("QuantizeLinear", ["x", "s0", "z0"], ["q0"]), node("DequantizeLinear", ["q0", "s0", "z0"], ["i0"]),
        *between,
             node("QuantizeLinear", [last, "s1", "z1"], ["q1"]), node("DequantizeLinear", ["q1", "s1", "z1"], ["d"]),
             node("LeakyRelu", ["d"], ["y"], alpha=1.0)]  # fmt: skip
    return network(nodes, ("n", 3, 4, 4), weights)


@pytest.mark.parametrize("dtype", ["int8", "float32"])
@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("between", BETWEEN)
def test_steps_that_change_are_kept(between, steps, dtype):
    proto = made(BETWEEN[between], STEPS[steps])
    x = (RNG.integers(-128, 128, (40, 3, 4, 4)) - 3).astype("float32") * np.float32(0.05)
    expected = run(proto.SerializeToString(), x)
    options = {"calibrate": x, "train": "none"} if dtype == "int8" else {}
    model = load(proto, **options)
    got = np.asarray(model.imported.outputs(model.predict(model.imported.samples(x))))
    assert np.abs(got - expected).max() <= 1.01 * STEPS[steps][0] * (1 if dtype == "int8" else 0.51) + 1e-5


def test_bytes_that_mean_another_number_after_than_before_are_those():
    """DequantizeLinear with a scale and a zero point of its own."""
    weights = {**WEIGHTS, "s1": np.float32(0.1), "z1": np.int8(-7)}
    nodes = [node("QuantizeLinear", ["x", "s0", "z0"], ["q"]), node("MaxPool", ["q"], ["p"], kernel_shape=[2, 2]),
             node("DequantizeLinear", ["p", "s1", "z1"], ["y"])]  # fmt: skip
    proto = network(nodes, ("n", 3, 4, 4), weights)
    x = (RNG.integers(-128, 128, (40, 3, 4, 4)) - 3).astype("float32") * np.float32(0.05)
    model, expected = load(proto), run(proto.SerializeToString(), x)
    assert np.abs(model.imported.outputs(model.predict(model.imported.samples(x))) - expected).max() < 1e-4


@pytest.mark.parametrize("kind", ["INT8", "UINT8"])
def test_a_network_of_bytes_takes_what_they_mean(kind):
    weights = {"s": np.float32(0.05), "z": np.array(3, kind.lower()), "w": RNG.normal(size=(6, 4)).astype("float32")}
    nodes = [node("DequantizeLinear", ["x", "s", "z"], ["d"]), node("MatMul", ["d", "w"], ["y"])]
    proto = network(nodes, ("n", 6), weights, kind=helper.np_dtype_to_tensor_dtype(np.dtype(kind.lower())))
    x = RNG.integers(0, 100, (20, 6)).astype(kind.lower())
    model, expected = load(proto), run(proto.SerializeToString(), x)
    meant = (x.astype("float32") - 3) * np.float32(0.05)
    assert np.abs(model.predict(model.imported.samples(meant)) - expected).max() < 1e-4


@pytest.mark.parametrize(
    "between, message",
    [
        ([node("Relu", ["q"], ["p"])], "computes with bytes"),
        ([node("Pad", ["q", "pads"], ["p"])], "pads by 'constant' with"),
        ([node("Concat", ["q", "q2"], ["p"], axis=1)], "computes with bytes"),
    ],
)
def test_operators_that_compute_with_bytes_are_named(between, message):
    weights = {**WEIGHTS, "s1": np.float32(0.1), "z1": np.int8(-7), "pads": np.array([0, 0, 1, 1, 0, 0, 0, 0])}
    nodes = [node("QuantizeLinear", ["x", "s0", "z0"], ["q"]), node("QuantizeLinear", ["x", "s1", "z1"], ["q2"]),
        *between,
             node("DequantizeLinear", ["p", "s0", "z0"], ["y"])]  # fmt: skip
    with pytest.raises(ValueError, match=message):
        load(network(nodes, ("n", 3, 4, 4), weights))
