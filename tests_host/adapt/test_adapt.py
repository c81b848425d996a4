"""Task-adaptive updates: Fisher information against PyTorch, and a choice that keeps its budgets."""

import numpy as np
import pytest
import torch
from twin import Twin

import odt
from odt import executor
from odt.adapt import task_adaptive, update
from odt.adapt.fisher import fisher
from odt.plan.graph import backward_macs

X = np.random.default_rng(6).normal(size=(24, 8, 8, 2)).astype("float32")
Y = np.random.default_rng(7).integers(0, 4, 24).astype("uint8")


def chain():
    return odt.Sequential([
        odt.Input((8, 8, 2)), odt.Conv2D(9, 3, activation="relu", name="first"),
        odt.DepthwiseConv2D(3, activation="relu6", name="second"), odt.Conv2D(10, 1, name="third"), odt.ReLU(),
        odt.MaxPool2D(), odt.Flatten(), odt.Dense(7, name="fourth"), odt.Tanh(), odt.Dense(4, name="last"),
    ])  # fmt: skip


def branches():
    x = odt.Input((8, 8, 2))
    y = odt.Conv2D(6, 3, padding="same", activation="relu", name="first")(x)
    z = odt.Conv2D(6, 3, padding="same", groups=2, name="second")(y)
    z = odt.Add(activation="relu")([z, y])
    z = odt.MaxPool2D()(odt.GroupNorm(2)(odt.Conv2D(8, 1, activation="relu", name="third")(z)))
    return odt.Model(x, odt.Dense(4, name="last")(odt.GlobalAvgPool()(z)))


def normalised():
    return odt.Sequential([
        odt.Input((8, 8, 2)), odt.Conv2D(6, 3, use_bias=False, name="first"), odt.BatchNorm(), odt.ReLU(),
        odt.Dropout(0.5),
        odt.Conv2D(8, 3, strides=2, name="second"), odt.BatchNorm(), odt.ReLU(), odt.Flatten(),
        odt.Dense(4, name="last"),
    ])  # fmt: skip


NETWORKS = {"chain": chain, "branches": branches, "normalised": normalised}
POLICIES = {
    "whole": update.whole,
    "last": update.last,
    "bias": update.bias,
    "some": lambda model: update.sparse(model, {"second": 0.5}),
}


def trained(network="chain", dtype="int8", policy="whole", **options):
    """A model with something learnt, of which then a policy's part trains."""
    model = NETWORKS[network]()
    model.compile(odt.Adam(0.01), dtype=dtype, batch_size=8, seed=1)
    model.fit(X, Y, epochs=6, verbose=0)
    if policy != "whole" or options:
        weights = model.get_weights()
        POLICIES[policy](model)
        model.compile(odt.Adam(0.01), dtype=dtype, batch_size=8, seed=1, **options)
        model.set_weights(weights)
    return model


def expected(model, x, y):
    """D of each layer by automatic differentiation in float64; behind the clamp that odt fuses."""
    twin = Twin(model)
    twin.training = False
    for node in model.nodes:  # all errors are wanted, whatever trains
        for tensor in twin.parameters.get(node, ())[:2]:
            tensor.requires_grad_()
    outputs = {}
    layer_of = twin._layer

    def layer(node, inputs):
        outputs[node] = layer_of(node, inputs)
        outputs[node].retain_grad()
        return outputs[node]

    twin._layer = layer
    out = twin.forward(x)
    torch.nn.functional.cross_entropy(out, torch.tensor(y.astype("int64")), reduction="sum").backward()
    found = {}
    for node, value in outputs.items():
        if node.layer.kernel_shape:
            behind = [other for other in outputs if other.alias is node and other.layer.kind == "relu"]
            value = outputs[behind[0]] if behind else value
            product = (value * value.grad).detach().reshape(len(x), -1, node.layer.kernel_shape[0])
            if node.layer.name == "second" and node.layer.activation == "relu6":
                product = product * (value.detach() < 6).reshape(product.shape)
            found[node.layer.name] = (product.sum(1) ** 2).sum(0).numpy() / 2 / len(x)
    return found


def correlation(a, b):
    """Spearman's, of ranks."""
    return np.corrcoef(np.argsort(np.argsort(a)), np.argsort(np.argsort(b)))[0, 1]


@pytest.mark.parametrize("policy", sorted(POLICIES))
@pytest.mark.parametrize("network", sorted(NETWORKS))
def test_fisher_information_in_float32_is_pytorch_s(network, policy):
    model = trained(network, "float32", policy)
    truth = expected(model, X, Y)
    found = fisher(model, X, Y)
    assert sorted(found) == sorted(truth)
    for name, values in found.items():
        assert np.allclose(values, truth[name], rtol=2e-3, atol=1e-9)


@pytest.mark.parametrize("network", sorted(NETWORKS))
def test_fisher_information_in_int8_ranks_layers_and_channels_as_pytorch(network):
    model = trained(network)
    truth = expected(model, X, Y)
    found = fisher(model, X, Y)
    for name, values in found.items():
        assert np.linalg.norm(np.array(values) - truth[name]) <= 0.3 * np.linalg.norm(truth[name])
        assert len(values) < 6 or correlation(values, truth[name]) > 0.85
    sums = [[sum(each[name]) for name in sorted(truth)] for each in (found, truth)]
    assert np.allclose(*sums, rtol=0.3)


@pytest.mark.parametrize("micro", (None, 3))
@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_measuring_changes_no_bit_of_a_model(dtype, micro):
    digests = []
    for measures in (False, True):
        model = trained("normalised", dtype, micro_batch=micro)
        model.fit(X, Y, epochs=1, verbose=0)
        if measures:
            assert fisher(model, X[:5], Y[:5]) == fisher(model, X[:5], Y[:5])
        model.fit(X, Y, epochs=1, verbose=0)
        digests.append(model.digest())
    assert digests[0] == digests[1]


@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("network", sorted(NETWORKS))
def test_both_executors_choose_alike_and_go_on_to_the_same_bits(network, dtype):
    ends = []
    for engine in ("native", "reference"):
        model = trained(network, dtype, "last")
        data = model.get_weights()
        executor.use(engine)
        try:
            model.compile(odt.Adam(0.01), dtype=dtype, batch_size=8, seed=1)
            model.set_weights(data)
            choice = task_adaptive(model, X[:6], Y[:6], macs_budget=9000)
            model.fit(X[:8], Y[:8], epochs=2, verbose=0)
        finally:
            executor.use("native")
        ends.append((choice, model.digest()))
    assert ends[0] == ends[1] and ends[0][0]


def test_layers_are_taken_by_score_and_channels_by_information():
    model = trained("chain", "float32")
    found = fisher(model, X, Y)
    layers = {node.layer.name: node.layer for node in model.nodes}
    score = {}
    for name, values in found.items():
        parameters = sum(np.prod(shape) for _, shape in layers[name].weight_shapes())
        score[name] = sum(values) / parameters / layers[name].macs
    order = sorted(score, key=lambda name: -score[name])
    for budget in (20000, 12000, 6000, 2000, 300):
        model = trained("chain", "float32")
        choice = task_adaptive(model, X, Y, macs_budget=budget)
        macs = sum(backward_macs(model.nodes))
        assert macs <= budget
        assert list(choice) == [name for name in order if name in choice]
        for name in order:
            rows = [row for first, count in choice.get(name, ()) for row in range(first, first + count)]
            best = sorted(range(len(found[name])), key=lambda row: -found[name][row])
            assert sorted(best[: len(rows)]) == rows
            wider = min([n for n in (-(-len(best) // share) for share in (1, 2, 4, 8)) if n > len(rows)], default=0)
            if wider:  # the next larger part of this layer, or its smallest, would not fit beside those before it
                kept = {other: choice[other] for other in order[: order.index(name)] if other in choice}
                update.channels(model, dict(kept, **{name: ((0, wider),)}))
                assert sum(backward_macs(model.nodes)) > budget


@pytest.mark.parametrize("micro", (None, 3))
@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_memory_budgets_are_kept_and_the_smallest_is_named_exactly(dtype, micro):
    def model():
        return trained("chain", dtype, "last", micro_batch=micro)

    with pytest.raises(MemoryError) as error:
        task_adaptive(model(), X, Y, memory_budget=1)
    least = int(str(error.value).split("at least ")[1].split()[0])
    with pytest.raises(MemoryError, match="at least %d bytes" % least):
        task_adaptive(model(), X, Y, memory_budget=least - 1)
    sizes = []
    for budget in (least, 2 * least, None):
        adapted = model()
        sizes.append(sum(sum(count for _, count in rows) for rows in task_adaptive(adapted, X, Y, budget).values()))
        assert budget is None or len(adapted.session.arena) + len(adapted.session.state) <= budget
    assert 0 < sizes[0] <= sizes[1] <= sizes[2]


@pytest.mark.parametrize("network", sorted(NETWORKS))
@pytest.mark.parametrize("policy", ("whole", "last"))
def test_the_weights_stay_and_only_the_chosen_change(policy, network):
    for dtype, tolerance in (("float32", 1e-5), ("int8", 0.15)):
        model = trained(network, dtype, policy)
        before = model.predict(X).ravel()
        choice = task_adaptive(model, X, Y, macs_budget=8000)
        after = model.predict(X).ravel()
        assert np.abs(after - before).max() <= tolerance * np.abs(before).max()
        kernels = dict(
            zip(
                *[
                    [
                        (layer.name, name)
                        for layer, _ in model.session.plan.weights
                        for name, _ in layer.weight_shapes()
                    ],
                    model.get_weights(),
                ]
            )
        )
        model.fit(X, Y, epochs=2, verbose=0)
        for (key, old), new in zip(kernels.items(), model.get_weights()):
            layer = next(layer for layer, _ in model.session.plan.weights if layer.name == key[0])
            if key[1] == "kernel":
                changed = (np.array(old) != np.array(new)).reshape(layer.kernel_shape[0], -1).any(axis=1)
                rows = [row for first, count in choice.get(key[0], ()) for row in range(first, first + count)]
                assert list(np.flatnonzero(changed)) == rows
            elif key[0] not in choice:
                assert np.array_equal(old, new)


def test_a_refused_choice_leaves_the_model_as_it_was():
    model = trained("chain", "int8", "some")
    model.evaluate(X, Y)  # which finds ranges
    digest, flags = model.digest(), [(node.layer.trainable, node.layer.update_rows) for node in model.nodes]
    for options, error in (
        ({"memory_budget": 100}, MemoryError), ({"macs_budget": 1}, ValueError), ({"memory_budget": 1.5}, TypeError),
    ):  # fmt: skip
        with pytest.raises(error):
            task_adaptive(model, X, Y, **options)
        assert flags == [(node.layer.trainable, node.layer.update_rows) for node in model.nodes]
    with pytest.raises(ValueError, match="label 9 of sample 0"):
        task_adaptive(model, X[:1], [9])
    assert model.digest() == digest
    model.fit(X, Y, verbose=0)


def test_a_model_whose_policy_was_changed_is_not_measured():
    model = trained("chain")
    update.last(model)
    with pytest.raises(RuntimeError, match="has changed since compile"):
        fisher(model, X, Y)


def test_a_choice_can_be_set_again_for_a_checkpoint(tmp_path):
    model = trained()
    choice = task_adaptive(model, X, Y, macs_budget=8000)
    model.fit(X, Y, verbose=0)
    model.save(str(tmp_path / "model"))
    other = chain()
    update.channels(other, choice)
    other.compile(odt.Adam(0.01), batch_size=8, seed=1)
    other.load(str(tmp_path / "model"))
    assert other.predict(X).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("ranges, error", (
    ({"nobody": ((0, 1),)}, "no layer with weights is called 'nobody'"), ({"last": ((0, 5),)}, "last: "),
    ({"last": ((0, 2), (2, 1))}, "rising and apart"), ({"last": ((2, 1), (0, 1))}, "rising and apart"),
))  # fmt: skip
def test_channels_that_are_none_are_refused(ranges, error):
    model = chain()
    with pytest.raises((ValueError, KeyError), match=error):
        update.channels(model, ranges)
    assert all(node.layer.trainable and node.layer.update_rows is None for node in model.nodes)


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_a_model_trains_on_after_a_measurement_in_an_arena_of_its_own(dtype):
    """Larger than the model's, which makes room for it, or not to be had."""
    model, plain = trained(dtype=dtype), trained(dtype=dtype)
    probe = odt.adapt.fisher.plan(model)
    probe.arena = len(model.session.arena) + 64
    odt.adapt.fisher.measure(model, X, Y, probe)
    probe.arena = 1 << 62
    with pytest.raises(MemoryError, match="an arena of %d bytes" % probe.arena):
        odt.adapt.fisher.measure(model, X, Y, probe)
    with pytest.raises(TypeError, match="memory_budget"):
        task_adaptive(model, X, Y, memory_budget=1.5)
    for each in (model, plain):
        each.fit(X, Y, verbose=0)
    assert model.digest() == plain.digest()


def test_a_choice_within_a_fit_is_refused_and_changes_nothing():
    model, plain = trained(), trained()

    class Choose:
        def on_batch_end(self, step):
            with pytest.raises(RuntimeError, match="task_adaptive: fit is underway"):
                task_adaptive(model, X, Y)

    model.fit(X, Y, verbose=0, callbacks=[Choose()])
    plain.fit(X, Y, verbose=0)
    assert model.digest() == plain.digest()
