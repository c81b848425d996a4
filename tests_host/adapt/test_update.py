"""Update policies: what trains, what stays, and what it costs."""

import numpy as np
import pytest
import torch
from twin import Twin
from update_cases import OPTIMIZERS, X, Y, network, weights

import odt
from odt import executor
from odt.adapt import update


def scattered(model, third=((1, 2), (4, 1), (7, 3))):
    """Ranges of rows, such as no ratio gives."""
    update.sparse(model, {"second": 1, "third": 1, "last": 1})
    rows = {"second": ((0, 1), (8, 1)), "third": third}
    for node in model.nodes:
        node.layer.update_rows = rows.get(node.layer.name, node.layer.update_rows)


POLICIES = {
    "whole": update.whole,
    "last": update.last,
    "last 3": lambda model: update.last(model, 3),
    "bias": update.bias,
    "sparse": lambda model: update.sparse(model, {"third": 0.5, "second": 0.3, "last": 1}, biases=3),
    "sparse, one": lambda model: update.sparse(model, {"first": 0.2}),
    "scattered": scattered,
}
# Of each layer: how many of its rows train, or which, and whether its bias does.
TRAINED = {
    "whole": ((9, 1), (9, 1), (10, 1), (7, 1), (4, 1)),
    "last": ((0, 0), (0, 0), (0, 0), (0, 0), (4, 1)),
    "last 3": ((0, 0), (0, 0), (10, 1), (7, 1), (4, 1)),
    "bias": ((0, 1), (0, 1), (0, 1), (0, 1), (4, 1)),
    "sparse": ((0, 0), (3, 1), (5, 1), (0, 1), (4, 1)),
    "sparse, one": ((2, 1), (0, 0), (0, 0), (0, 0), (0, 0)),
    "scattered": ((0, 0), ((0, 8), 1), ((1, 2, 4, 7, 8, 9), 1), (0, 0), (4, 1)),
}


def trains(rows, count):
    """Of each of ``count`` rows whether it trains."""
    return np.isin(np.arange(count), np.arange(rows) if isinstance(rows, int) else rows)


def compiled(policy, dtype="int8", optimizer="adam", **options):
    model = network()
    POLICIES[policy](model)
    model.compile(OPTIMIZERS[optimizer](), dtype=dtype, batch_size=8, seed=4, **options)
    return model


@pytest.mark.slow
@pytest.mark.parametrize("micro", (None, 3))
@pytest.mark.parametrize("optimizer", sorted(OPTIMIZERS))
@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_only_what_the_policy_names_changes(policy, dtype, optimizer, micro):
    model = compiled(policy, dtype, optimizer, micro_batch=micro)
    before = weights(model)
    model.fit(X, Y, epochs=3, verbose=0)
    after = weights(model)
    for number, (rows, bias) in enumerate(TRAINED[policy]):
        kernel, other = before[2 * number], after[2 * number]
        changed = (kernel != other).reshape(len(kernel), -1).any(axis=1)
        assert np.array_equal(changed, trains(rows, len(kernel)))
        assert np.array_equal(before[2 * number + 1], after[2 * number + 1]) != bool(bias)


@pytest.mark.slow
@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_a_float_step_is_that_of_the_chosen_part_in_torch(policy):
    model = compiled(policy, "float32", "momentum")
    twin = Twin(model)
    before = weights(model)
    model.fit(X[:8], Y[:8], verbose=0, shuffle=False)
    after = weights(model)
    tensors = [tensor.requires_grad_() for tensor in twin.flat_parameters()]
    loss = torch.nn.functional.cross_entropy(twin.forward(X[:8]), torch.tensor(Y[:8].astype("int64")))
    for tensor, old, new, (rows, bias), is_bias in zip(
        torch.autograd.grad(loss, tensors),
        before,
        after,
        [pair for pair in TRAINED[policy] for _ in (0, 1)],
        [0, 1] * 5,
    ):
        step = (old - new) / 0.05
        gradient = tensor.numpy().reshape(old.shape)
        chosen = trains((len(old) if bias else 0) if is_bias else rows, len(old))
        assert np.linalg.norm((step - gradient)[chosen]) <= 1e-3 * np.linalg.norm(gradient) + 1e-6
        assert not step[~chosen].any()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_both_executors_end_with_the_same_bits(policy, dtype):
    digests = []
    for engine in ("native", "reference"):
        executor.use(engine)
        try:
            model = compiled(policy, dtype)
            model.fit(X[:8], Y[:8], epochs=2, verbose=0)
        finally:
            executor.use("native")
        digests.append(model.digest())
    assert digests[0] == digests[1]


@pytest.mark.slow
@pytest.mark.parametrize("micro", (None, 3))
@pytest.mark.parametrize("optimizer", ("adam", "momentum"))
@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_a_range_of_rows_in_two_is_the_whole_range_to_the_bit(dtype, optimizer, micro):
    digests = []
    for ranges in (((2, 5),), ((2, 3), (5, 2))):
        model = network()
        scattered(model, ranges)
        model.compile(OPTIMIZERS[optimizer](), dtype=dtype, batch_size=8, seed=4, micro_batch=micro)
        model.fit(X, Y, epochs=2, verbose=0)
        digests.append(model.digest())
    assert digests[0] == digests[1]


def test_the_gradient_of_scattered_rows_is_traced_whole():
    from odt.inspect import Trace

    found = []
    for micro in (None, 8, 3):
        model = compiled("scattered", "float32", "momentum", micro_batch=micro)
        twin = Twin(model)
        with Trace(model, ["third gradient"]) as trace:
            model.train_step(X[:8], Y[:8])
        found.append(np.array(trace["third gradient"]).reshape(6, -1))
    tensor = twin.flat_parameters()[4].requires_grad_()
    loss = torch.nn.functional.cross_entropy(twin.forward(X[:8]), torch.tensor(Y[:8].astype("int64")))
    (gradient,) = torch.autograd.grad(loss, [tensor])
    expected = gradient.numpy().reshape(10, -1)[[1, 2, 4, 7, 8, 9]]
    for each in found:
        assert np.linalg.norm(each - expected) <= 1e-4 * np.linalg.norm(expected)


@pytest.mark.slow
def test_int8_training_of_a_part_lowers_the_loss():
    for policy in POLICIES:
        model = compiled(policy)
        losses = model.fit(X, Y, epochs=12, verbose=0).history["loss"]
        assert losses[-1] < losses[0]


@pytest.mark.slow
def test_what_does_not_train_costs_nothing():
    ram = {}
    for policy in POLICIES:
        model = compiled(policy)
        ram[policy] = len(model.session.arena), len(model.session.state)
        names = [code.name for _, code, _, _ in model.program.walk(12, len(model.program.words))]
        ranges = [1 if isinstance(rows, int) else 1 + np.sum(np.diff(rows) > 1) for rows, _ in TRAINED[policy] if rows]
        updated = sum(ranges), sum(1 for _, bias in TRAINED[policy] if bias)
        assert (names.count("adam_i8"), names.count("apply_i32")) == updated
        assert sum(name.endswith("_dw_i8") and "bias" not in name for name in names) == updated[0]
    assert ram["last"] < ram["last 3"] < ram["whole"] and ram["bias"] < ram["whole"]


def test_a_checkpoint_of_a_part_resumes_with_the_same_bits(tmp_path):
    model = compiled("sparse")
    model.fit(X, Y, epochs=1, verbose=0)
    model.save(str(tmp_path / "model"))
    other = compiled("sparse")
    other.load(str(tmp_path / "model"))
    for each in (model, other):
        each.fit(X, Y, epochs=2, initial_epoch=1, verbose=0)
    assert model.digest() == other.digest()


def test_summary_counts_the_gradients_of_a_part(capsys):
    compiled("sparse").summary()
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("third")).split()
    forward, backward = int(row[-3]), int(row[-2])
    assert backward == forward // 2 + forward


@pytest.mark.parametrize("call, error", (
    (lambda model: update.last(model, 6), "layers is in 1..5, got 6"),
    (lambda model: update.sparse(model, {"nobody": 1}),
    "no layer with weights is called 'nobody'; there are first, second"),
    (lambda model: update.sparse(model, {"last": 1.5}), "last: a ratio is above 0 and at most 1, got 1.5"),
))  # fmt: skip
def test_bad_policies_are_refused(call, error):
    model = network()
    with pytest.raises((ValueError, KeyError), match=error):
        call(model)
    assert all(node.layer.update_rows is None for node in model.nodes)


# Normalisations and the last layer (update.norm_and_last)


def normalised():
    model = odt.Sequential([
        odt.Input((8, 8, 2)), odt.Conv2D(9, 3, name="first"), odt.BatchNorm(), odt.ReLU(),
        odt.DepthwiseConv2D(3, name="second"),
        odt.GroupNorm(3), odt.LeakyReLU(), odt.Conv2D(10, 1, name="third"), odt.MaxPool2D(), odt.Flatten(),
        odt.Dense(7, name="fourth"), odt.LayerNorm(), odt.Tanh(), odt.Dense(4, name="last"),
    ])  # fmt: skip
    update.norm_and_last(model)
    return model


def owners(model):
    """The layer of each array of get_weights(), and the array's name."""
    return [(node.layer, name) for node in model.nodes for name, _ in node.layer.weight_shapes()]


@pytest.mark.slow
@pytest.mark.parametrize("micro", (None, 4))
@pytest.mark.parametrize("optimizer", sorted(OPTIMIZERS))
@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_norm_and_last_trains_every_normalisation_and_the_last_layer_and_nothing_else(dtype, optimizer, micro):
    model = normalised()
    if micro:  # a BatchNorm that trains wants a batch as a whole
        model.nodes[2].layer.trainable = False
    model.compile(OPTIMIZERS[optimizer](), dtype=dtype, batch_size=8, seed=4, micro_batch=micro)
    before = weights(model)
    model.fit(X, Y, epochs=3, verbose=0)
    for (layer, name), old, new in zip(owners(model), before, weights(model)):
        trains = layer.name == "last" or (layer.normalises and layer.trainable)
        assert np.array_equal(old, new) != trains, (layer.name, name)
    assert len(before) == 2 * 5 + 4 + 2 + 2


def test_a_float_step_of_norm_and_last_is_torchs():
    model = normalised()
    model.compile(odt.SGD(0.05), dtype="float32", batch_size=8, seed=4)
    twin = Twin(model)
    before = weights(model)
    model.fit(X[:8], Y[:8], verbose=0, shuffle=False)
    loss = torch.nn.functional.cross_entropy(twin.forward(X[:8]), torch.tensor(Y[:8].astype("int64")))
    loss.backward()
    trained = 0
    for (layer, name), tensor, old, new in zip(owners(model), twin.flat_parameters(), before, weights(model)):
        if "moving" in name:
            continue
        if layer.normalises or layer.name == "last":
            gradient = tensor.grad.numpy().reshape(old.shape)
            assert np.linalg.norm((old - new) / 0.05 - gradient) <= 1e-3 * np.linalg.norm(gradient) + 1e-6, (
                layer.name,
                name,
            )
            trained += 1
        else:
            assert tensor.grad is None and np.array_equal(old, new)
    assert trained == 8


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_norm_and_last_costs_what_it_trains(dtype):
    sizes = {}
    for policy in (update.norm_and_last, update.whole):
        model = normalised()
        policy(model)
        model.compile(odt.Adam(0.01, state="float32"), dtype=dtype, batch_size=8)
        sizes[policy] = model.session.plan
    program = normalised()
    program.compile(odt.Adam(0.01), dtype=dtype, batch_size=8)
    names = [code.name for _, code, _, _ in program.program.walk(*program.session.sections["train"])]
    assert [name for name in names if name.rpartition("_")[0] in ("conv2d_dw", "depthwise2d_dw")] == []
    assert len([name for name in names if name.startswith("dense_dw")]) == 1
    # Two moments of float32 for gamma and beta of 9, 9 and 7 channels, and for the last layer.
    assert sizes[update.norm_and_last].totals["optimizer state"] == 2 * 4 * (2 * (9 + 9 + 7) + 7 * 4 + 4)
    assert sizes[update.norm_and_last].totals["optimizer state"] < sizes[update.whole].totals["optimizer state"] / 4
    assert sizes[update.norm_and_last].arena <= sizes[update.whole].arena


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_both_executors_end_with_the_same_bits_of_norm_and_last(dtype):
    digests = []
    for engine in ("native", "reference"):
        executor.use(engine)
        try:
            model = normalised()
            model.compile(odt.Adam(0.02), dtype=dtype, batch_size=8, seed=4)
            model.fit(X[:8], Y[:8], epochs=2, verbose=0)
        finally:
            executor.use("native")
        digests.append(model.digest())
    assert digests[0] == digests[1]


def test_norm_and_last_without_normalisations_is_last():
    digests = []
    for policy in (update.norm_and_last, update.last):
        model = network()
        policy(model)
        model.compile(odt.Adam(0.02), batch_size=8, seed=4)
        model.fit(X, Y, epochs=2, verbose=0)
        digests.append(model.digest())
    assert digests[0] == digests[1]
