"""TinyTL's lite residual branches: what they are, what trains, and that they change nothing before training."""

import numpy as np
import pytest
import torch
from twin import Twin

import odt
from odt import executor
from odt.adapt import update
from odt.adapt.lite import lite_residual, take_weights
from odt.files import frozen

RANDOM = np.random.default_rng(8)


def images():
    x = odt.Input((12, 12, 3))
    y = odt.Conv2D(8, 3, padding="same", activation="relu", name="stem")(x)
    z = odt.DepthwiseConv2D(3, strides=2, padding="same", activation="relu6", name="deep")(y)
    z = odt.Conv2D(6, 1, name="flat")(z)
    y = odt.Conv2D(6, 3, padding="same", name="inner")(odt.ReLU(name="relu")(z))
    z = odt.Add(activation="relu", name="sum")([y, z])
    z = odt.Conv2D(10, 2, strides=2, activation="relu", name="odd")(z)
    return odt.Model(x, odt.Dense(4, name="last")(odt.GlobalAvgPool()(z)))


def series():
    return odt.Sequential([
        odt.Input((20, 2)), odt.Conv1D(8, 3, padding="same", activation="relu", name="first"),
        odt.MaxPool1D(name="pool"),
        odt.Conv1D(9, 3, padding="same", activation="relu", name="second"), odt.Tanh(), odt.Flatten(),
        odt.Dense(4, name="last"),
    ])  # fmt: skip


CASES = {
    "images": (images, [("stem", "flat"), ("relu", "sum"), "odd"], {}),
    "images, norm": (images, [("stem", "flat"), "odd", ("stem", "inner")], {"norm": 2, "groups": 1}),
    "images, wide": (images, ["deep", "inner"], {"expand": 1.5, "kernel_size": 5, "groups": 4}),
    "series": (series, [("first", "second")], {}),
}


def compiled(model, dtype, **options):
    model.compile(odt.SGD(0.05, 0.9), dtype=dtype, batch_size=8, seed=4, **options)
    return model


def samples(model, count=24):
    x = RANDOM.normal(size=(count,) + tuple(model.nodes[0].shape)).astype("float32")
    return x, RANDOM.integers(0, 4, count).astype("uint8")


def pair(case, dtype):
    """A network that has trained a little, and the same with branches."""
    network, blocks, options = CASES[case]
    backbone = compiled(network(), dtype)
    x, y = samples(backbone)
    backbone.fit(x, y, epochs=2, verbose=0)
    small = compiled(lite_residual(backbone, blocks, **options), dtype)
    take_weights(small, backbone)
    return backbone, small, x, y


def weights(model):
    """{name: array}, of the kernels, biases and vectors."""
    names = ["%s %s" % (node.layer.name, name) for node in model.nodes for name, _ in node.layer.weight_shapes()]
    return dict(zip(names, [np.array(values) for values in model.get_weights()]))


@pytest.mark.parametrize("case", sorted(CASES))
def test_in_float32_it_predicts_what_the_backbone_predicts(case):
    backbone, small, x, _ = pair(case, "float32")
    assert np.array_equal(np.array(small.predict(x)), np.array(backbone.predict(x)))


@pytest.mark.parametrize("case", sorted(CASES))
def test_in_int8_it_predicts_what_the_backbone_predicts_but_for_roundings(case):
    """Frozen weights have 8 bits, and a sum a range of its own."""
    backbone, small, x, _ = pair(case, "int8")
    backbone.set_weights(backbone.get_weights())  # finds its ranges anew, as the other does
    before, now = np.array(backbone.predict(x)), np.array(small.predict(x))
    assert np.abs(before - now).max() <= 0.1 * np.abs(before).max()


@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("case", sorted(CASES))
def test_branches_biases_and_the_last_layer_train_and_nothing_else(case, dtype):
    _, small, x, y = pair(case, dtype)
    before = weights(small)
    losses = small.fit(x, y, epochs=12, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    for name, values in weights(small).items():
        trains = "_lite_" in name or name.endswith(" bias") or name.startswith("last")
        assert np.array_equal(values, before[name]) != trains, name


@pytest.mark.parametrize("case", sorted(CASES))
def test_a_float_step_is_that_of_torch(case):
    _, small, x, y = pair(case, "float32")
    small.set_weights(
        [values if values.any() else RANDOM.normal(size=len(values)) / 4 for values in weights(small).values()]
    )
    twin = Twin(small)
    before = weights(small)
    small.fit(x[:8], y[:8], verbose=0, shuffle=False)
    after = weights(small)
    tensors = [tensor.requires_grad_() for tensor in twin.flat_parameters()]
    loss = torch.nn.functional.cross_entropy(twin.forward(x[:8]), torch.tensor(y[:8].astype("int64")))
    for name, tensor in zip(before, torch.autograd.grad(loss, tensors)):
        gradient = tensor.numpy().ravel()
        if "_lite_" in name or name.endswith(" bias") or name.startswith("last"):
            step = (before[name] - after[name]) / 0.05
            assert np.linalg.norm(step - gradient) <= 1e-3 * np.linalg.norm(gradient) + 1e-5, name


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("case", sorted(CASES))
def test_both_executors_end_with_the_same_bits(case, dtype):
    network, blocks, options = CASES[case]
    x, y = samples(network(), 8)
    digests = []
    for engine in ("native", "reference"):
        executor.use(engine)
        try:
            model = compiled(lite_residual(network(), blocks, **options), dtype)
            model.fit(x, y, epochs=2, verbose=0)
        finally:
            executor.use("native")
        digests.append(model.digest())
    assert digests[0] == digests[1]


def test_a_branch_pools_mixes_groups_and_enlarges():
    model = lite_residual(images(), [("stem", "flat"), "odd"], groups=2, expand=2)
    layers = {node.layer.name: (node.shape, node.layer) for node in model.nodes if "_lite" in node.layer.name}
    shapes = {name: shape for name, (shape, _) in layers.items()}
    assert shapes == {
        "flat_lite_pool": (3, 3, 8), "flat_lite_conv": (3, 3, 16), "flat_lite_relu": (3, 3, 16),
        "flat_lite_out": (3, 3, 6), "flat_lite_up": (6, 6, 6), "flat_lite": (6, 6, 6),
        "odd_lite_pool": (3, 3, 6), "odd_lite_conv": (3, 3, 12), "odd_lite_relu": (3, 3, 12),
        "odd_lite_out": (3, 3, 10), "odd_lite": (3, 3, 10),
    }  # fmt: skip
    assert layers["flat_lite_conv"][1].kernel_shape == (16, 3, 3, 4)


def test_an_int8_branch_keeps_a_fine_scale_when_its_zeros_are_taken_over():
    """Of zeros no scale can be told; a coarse one could never become fine again."""
    _, small, x, y = pair("images", "int8")
    small.set_weights(small.get_weights())
    small.train_step(x[:8], y[:8])
    kernel = weights(small)["odd_lite_out kernel"]
    steps = np.diff(np.unique(kernel))
    assert 0 < steps[steps > 0].min() < 1e-3


def test_a_board_reads_the_backbone_in_flash_and_the_rest_from_a_checkpoint(tmp_path):
    _, blocks, _ = CASES["images"]
    _, small, x, y = pair("images", "int8")
    flash = frozen.pack(small)
    here = compiled(lite_residual(images(), blocks), "int8", frozen=flash)
    here.set_weights(small.get_weights())
    here.fit(x, y, epochs=1, verbose=0)
    here.save(str(tmp_path / "model"))
    there = compiled(lite_residual(images(), blocks), "int8", frozen=flash)
    there.load(str(tmp_path / "model"))
    assert there.digest() == here.digest() and bytes(there.predict(x)) == bytes(here.predict(x))
    assert len(there.session.state) < len(small.session.state)


def test_another_policy_replaces_it():
    model = lite_residual(images(), ["odd"])
    update.whole(model)
    compiled(model, "int8")
    x, y = samples(model)
    before = weights(model)
    model.fit(x, y, epochs=3, verbose=0)
    assert not any(np.array_equal(values, before[name]) for name, values in weights(model).items())


@pytest.mark.parametrize("blocks, kind, text", (
    (["nobody"], KeyError, "no layer is called 'nobody'; there are input, stem"),
    ([("flat", "stem")], ValueError, "block \\(flat, stem\\): the first is not before the second"),
    (["last"], ValueError, "two sequences or two images, got \\(10,\\) and \\(4,\\)"),
    (["sum"], ValueError, "sum: a block of one layer has one input, this has 2"),
    ([("stem", "last")], ValueError, "two sequences or two images"),
))  # fmt: skip
def test_bad_blocks_are_refused(blocks, kind, text):
    model = images()
    with pytest.raises(kind, match=text):
        lite_residual(model, blocks)
    assert all(node.layer.update_rows is None for node in model.nodes)
