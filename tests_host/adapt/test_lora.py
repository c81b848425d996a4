"""LoRA: what is beside a layer, what trains, against PyTorch's gradients, merged, over kernels of 8 and 4 bits."""

import numpy as np
import pytest
import torch
from twin import Twin

import odt
from odt import executor
from odt.adapt import update
from odt.adapt.lite import take_weights
from odt.adapt.lora import lora, merge
from odt.files import frozen

RANDOM = np.random.default_rng(8)
DTYPES = ("int8", "float32")


def dense():
    return odt.Sequential([
        odt.Input((10,)), odt.Dense(12, "relu", name="first"), odt.Dense(11, name="second"), odt.Tanh(),
        odt.Dense(9, name="third"), odt.ReLU(), odt.Dense(4, name="last"),
    ])  # fmt: skip


def attention():
    x = odt.Input((6, 3))
    y = odt.PositionEmbedding()(odt.Dense(8, name="wide")(x))
    y = odt.Add()([y, odt.MultiHeadAttention(2, name="mix")(odt.LayerNorm()(y))])
    hidden = odt.Dense(12, "relu", name="hidden")(odt.LayerNorm()(y))
    y = odt.Add()([y, odt.Dense(8, name="out")(hidden)])
    return odt.Model(x, odt.Dense(4, name="last")(odt.GlobalAvgPool()(y)))


def images():
    return odt.Sequential([
        odt.Input((10, 9, 3)), odt.Conv2D(8, 3, strides=2, padding="same", activation="relu6", name="stem"),
        odt.Conv2D(6, (3, 2), activation="relu", name="next"), odt.DepthwiseConv2D(3, padding="same", name="deep"),
        odt.Conv2D(5, 1, name="point"), odt.Flatten(), odt.Dense(4, name="last"),
    ])  # fmt: skip


def series():
    return odt.Sequential([
        odt.Input((20, 2)), odt.Conv1D(6, 3, padding="causal", activation="relu", name="first"),
        odt.Conv1D(5, 3, padding="causal", dilation_rate=2, name="apart"), odt.GlobalAvgPool(),
        odt.Dense(4, name="last"),
    ])  # fmt: skip


CASES = {
    "dense": (dense, ["first", "second", "third"]),
    "attention": (attention, ["mix_query", "mix_value", "hidden"]),
    "images": (images, ["stem", "next", "point"]),
    "series": (series, ["first", "apart"]),
}


def compiled(model, dtype="int8", optimizer=None, **options):
    model.compile(optimizer or odt.SGD(0.05, 0.9), dtype=dtype, batch_size=8, seed=4, **options)
    return model


def samples(model, count=24):
    x = RANDOM.normal(size=(count,) + tuple(model.nodes[0].shape)).astype("float32")
    return x, RANDOM.integers(0, 4, count).astype("uint8")


def pair(case, dtype, rank=2, train=("last",)):
    """A network that has trained a little, and the same with pairs."""
    network, layers = CASES[case]
    base = compiled(network(), dtype)
    x, y = samples(base)
    base.fit(x, y, epochs=2, verbose=0)
    small = compiled(lora(base, layers, rank, train), dtype)
    take_weights(small, base)
    return base, small, x, y


def weights(model):
    """{name: array}, of all weights."""
    names = ["%s %s" % (node.layer.name, name) for node in model.nodes for name, _ in node.layer.weight_shapes()]
    return dict(zip(names, [np.array(values) for values in model.get_weights()]))


@pytest.mark.parametrize("case", sorted(CASES))
def test_in_float32_it_predicts_what_the_network_predicts(case):
    base, small, x, _ = pair(case, "float32")
    assert np.array_equal(np.array(small.predict(x)), np.array(base.predict(x)))


@pytest.mark.parametrize("case", sorted(CASES))
def test_in_int8_it_predicts_what_the_network_predicts_within_roundings(case):
    base, small, x, _ = pair(case, "int8")
    base.set_weights(base.get_weights())  # finds its ranges, as the other does
    before, now = np.array(base.predict(x)), np.array(small.predict(x))
    assert np.abs(before - now).max() <= 0.1 * np.abs(before).max()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", sorted(CASES))
def test_pairs_and_named_layers_train_and_nothing_else(case, dtype):
    _, small, x, y = pair(case, dtype)
    before = weights(small)
    losses = small.fit(x, y, epochs=12, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    for name, values in weights(small).items():
        assert np.array_equal(values, before[name]) != ("_lora_" in name or name.startswith("last")), name


def with_torch(case):
    """A float32 model whose pairs are not 0, its twin, its samples."""
    _, small, x, y = pair(case, "float32")
    values = [each if each.any() else RANDOM.normal(size=len(each)) / 4 for each in weights(small).values()]
    small.set_weights([each.astype("float32") for each in values])
    return small, Twin(small), x[:8], y[:8]


@pytest.mark.parametrize("case", sorted(CASES))
def test_a_float_step_is_that_of_torch(case):
    small, twin, x, y = with_torch(case)
    before = weights(small)
    small.fit(x, y, verbose=0, shuffle=False)
    after = weights(small)
    tensors = [tensor.requires_grad_() for tensor in twin.flat_parameters()]
    loss = torch.nn.functional.cross_entropy(twin.forward(x), torch.tensor(y.astype("int64")))
    checked = 0
    for name, tensor in zip(before, torch.autograd.grad(loss, tensors)):
        gradient = tensor.numpy().ravel()
        if "_lora_" in name or name.startswith("last"):
            step = (before[name] - after[name]) / 0.05
            assert np.linalg.norm(step - gradient) <= 1e-3 * np.linalg.norm(gradient) + 1e-5, name
            checked += 1
    assert checked == 2 * len(CASES[case][1]) + 2


@pytest.mark.parametrize("case", sorted(CASES))
def test_the_twin_is_the_formula_of_the_paper(case):
    """y = x W + x A B: the network itself with W + A B in PyTorch has the outputs of the one with pairs."""
    small, twin, x, _ = with_torch(case)
    plain, values, found = CASES[case][0](), weights(small), []
    compiled(plain, "float32")
    for name, value in weights(plain).items():
        layer = name.rpartition(" ")[0]
        value = values[name]
        if layer + "_lora_b kernel" in values and name.endswith("kernel"):
            up, down = [values["%s_lora_%s kernel" % (layer, part)].reshape(size) for part, size in (
                ("b", (-1, 2)), ("a", (2, -1)))]  # fmt: skip
            value = value + (up @ down).ravel()
        found.append(value.astype("float32"))
    expected = Twin(plain, weights=found).forward(x).detach().numpy()
    assert np.allclose(twin.forward(x).detach().numpy(), expected, atol=1e-5)


@pytest.mark.parametrize("dtype, within", (("int8", 0.1), ("float32", 1e-6)))
@pytest.mark.parametrize("case", sorted(CASES))
def test_merged_weights_predict_as_the_pairs_do(case, dtype, within):
    base, small, x, y = pair(case, dtype)
    small.fit(x, y, epochs=8, verbose=0)
    merge(base, small)
    expected, found = np.array(small.predict(x)), np.array(base.predict(x))
    assert np.linalg.norm(found - expected) <= within * np.linalg.norm(expected)
    plain = compiled(CASES[case][0](), dtype)  # layers of its own: nothing is theirs
    before = plain.get_weights()
    merge(plain, small)
    assert all(np.allclose(a, b, atol=0.01) for a, b in zip(plain.get_weights(), before))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", sorted(CASES))
def test_both_executors_end_with_the_same_bits(case, dtype):
    network, layers = CASES[case]
    x, y = samples(network(), 8)
    digests = []
    for engine in ("native", "reference"):
        executor.use(engine)
        try:
            model = compiled(lora(network(), layers, 2), dtype)
            model.fit(x, y, epochs=2, verbose=0)
        finally:
            executor.use("native")
        digests.append(model.digest())
    assert digests[0] == digests[1]


@pytest.mark.parametrize("bits", (8, 4))
def test_frozen_kernels_stay_in_flash_and_a_checkpoint_has_the_pairs_alone(bits, tmp_path):
    _, small, x, y = pair("attention", "int8")
    flash = frozen.pack(small, bits=bits, **({"x": x} if bits == 4 else {}))
    here = compiled(lora(attention(), CASES["attention"][1], 2, ["last"]), frozen=flash)
    here.calibrate(x, y)
    losses = here.fit(x, y, epochs=20, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    here.save(str(tmp_path / "pairs"))
    there = compiled(lora(attention(), CASES["attention"][1], 2, ["last"]), frozen=flash)
    there.load(str(tmp_path / "pairs"))
    assert there.digest() == here.digest() and bytes(there.predict(x)) == bytes(here.predict(x))
    assert len(here.session.state) < len(small.session.state)
    here.export(str(tmp_path / "whole.odt"))
    assert bytes(odt.load_model(str(tmp_path / "whole.odt")).predict(x)) == bytes(here.predict(x))


def test_without_names_all_dense_layers_but_the_last_have_pairs():
    names = [node.layer.name for node in lora(attention()).nodes]
    expected = ["wide", "mix_query", "mix_key", "mix_value", "mix_attentionoutput", "hidden", "out"]
    assert [name[:-5] for name in names if name.endswith("_lora")] == expected
    assert "last_lora_a" not in names


def test_a_pair_has_the_window_of_its_layer_and_the_clamp_follows_the_sum():
    layers = {node.layer.name: node for node in lora(images(), ["stem", "point"], 3).nodes}
    assert layers["stem_lora_a"].shape == (5, 5, 3) and layers["stem_lora_a"].layer.kernel_shape == (3, 3, 3, 3)
    assert layers["stem_lora_b"].layer.kernel_shape == (8, 1, 1, 3) and layers["point_lora_b"].shape[-1] == 5
    assert layers["stem"].clamp == 0 and layers["stem_lora"].clamp == 6


def test_less_trains_and_the_state_is_smaller():
    def network():
        return odt.Sequential([odt.Input((64,)), odt.Dense(64, "relu"), odt.Dense(64, "relu"), odt.Dense(4)])

    whole, small = compiled(network(), optimizer=odt.Adam()), compiled(lora(network(), rank=2), optimizer=odt.Adam())
    # Of a weight that trains int8, a residual of 8 bits and two moments of 16; of a frozen one int8.
    less = 5 * 2 * 64 * 64 - 6 * 2 * 2 * (64 + 64)
    assert abs(len(whole.session.state) - len(small.session.state) - less) < 0.1 * less


def test_another_policy_replaces_it():
    model = lora(dense())
    update.whole(model)
    compiled(model)
    x, y = samples(model)
    before = weights(model)
    model.fit(x, y, epochs=3, verbose=0)
    assert not any(np.array_equal(values, before[name]) for name, values in weights(model).items())


@pytest.mark.parametrize("arguments, kind, text", (
    ((["nobody"],), KeyError, "no layer is called 'nobody'; there are input, stem"),
    ((["stem"], 2, ["nobody"]), KeyError, "no layer is called 'nobody'"),
    ((["deep"],), ValueError, "deep: a pair is beside a Dense, Conv1D or Conv2D without groups"),
    ((["stem"], 2, ["stem"]), ValueError, "stem: named to train, so it has no pair"),
    ((["stem"], 2, ["flatten"]), ValueError, "flatten has no weights to train"),
    ((["stem"], 0), ValueError, "rank.*1.*0"),
    ((["stem"], 1.5), TypeError, "rank"),
    ((), ValueError, "no Dense layer but the last: name layers"),
))  # fmt: skip
def test_bad_arguments_are_refused(arguments, kind, text):
    model = images()
    with pytest.raises(kind, match=text):
        lora(model, *arguments)
    assert all(node.layer.update_rows is None and node.layer.trainable for node in model.nodes)
