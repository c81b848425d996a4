"""Activations that are forgotten and computed again: less RAM, no other bit."""

import gc
import itertools
import random
import re

import networks
import numpy as np
import pytest

import odt
from odt import recompute

gc.freeze()

RANDOM = np.random.default_rng(4)


def deep():
    layers = [odt.Input((12, 12, 2)), odt.Conv2D(8, 3, padding="same", activation="relu")]
    for _ in range(12):
        layers += [odt.DepthwiseConv2D(3, padding="same", activation="relu"), odt.Conv2D(8, 1), odt.ReLU()]
    return odt.Sequential(layers + [odt.GlobalAvgPool(), odt.Dense(5)])


def pooled():
    layers = [odt.Input((16, 16, 1))]
    for channels in (4, 6, 8):
        layers += [odt.Conv2D(channels, 3, padding="same", activation="relu"), odt.Conv2D(channels, 3, padding="same")]
        layers += [odt.LeakyReLU(0.1), odt.MaxPool2D()]
    return odt.Sequential(layers + [odt.Flatten(), odt.Dropout(0.2), odt.Dense(16, "relu"), odt.Dropout(0.3), odt.Dense(5)])


def branching():
    x = odt.Input((10, 10, 3))
    y = odt.Conv2D(8, 3, padding="same", activation="relu")(x)
    for _ in range(3):
        z = odt.Conv2D(8, 3, padding="same", activation="relu6")(y)
        gate = odt.Sigmoid()(odt.Conv2D(8, 1)(y))
        y = odt.ReLU()(odt.Add()([odt.Multiply()([z, gate]), y]))
        y = odt.Conv2D(8, 1)(odt.Concatenate()([y, z]))
    return odt.Model(x, odt.Dense(5)(odt.GlobalAvgPool()(y)))


NETWORKS = {"deep": deep, "pooled": pooled, "branching": branching}


def trained(name, dtype="int8", **options):
    model = NETWORKS[name]()
    model.compile(odt.Adam(0.01), dtype=dtype, batch_size=8, seed=2, **options)
    rng = np.random.default_rng(1)
    x = rng.normal(size=(21,) + tuple(model.nodes[0].shape)).astype("float32")
    model.fit(x, rng.integers(0, 5, 21).astype("uint8"), epochs=2, verbose=0)
    return model


def ram(model):
    return len(model._arena) + len(model._state)


@pytest.mark.parametrize("micro", (None, 3))
@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_recomputation_changes_no_bit_and_nothing_comes_thrice(name, dtype, micro):
    plain = trained(name, dtype, micro_batch=micro)
    least = smallest_budget(name, dtype, micro)
    forward = sum(node.layer.macs for node in plain.nodes)
    for options in ({"checkpoint": "sqrt"}, {"memory_budget": least}, {"memory_budget": (least + ram(plain)) // 2}):
        model = trained(name, dtype, micro_batch=micro, **options)
        assert model.digest() == plain.digest()
        assert model._plan.again <= forward
        assert ram(model) <= options.get("memory_budget", ram(plain))


def smallest_budget(name, dtype, micro=None):
    with pytest.raises(MemoryError, match=r"memory_budget 1: at least \d+ bytes are needed") as error:
        NETWORKS[name]().compile(odt.Adam(0.01), dtype=dtype, batch_size=8, micro_batch=micro, memory_budget=1)
    return int(str(error.value).split("at least ")[1].split()[0])


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_half_the_arena_does_for_a_deep_network(dtype):
    plain = trained("deep", dtype)
    model = trained("deep", dtype, memory_budget=len(plain._state) + len(plain._arena) // 2)
    assert len(model._arena) <= len(plain._arena) // 2
    assert 0 < model._plan.again <= sum(node.layer.macs for node in plain.nodes)
    assert model.digest() == plain.digest()


def test_a_budget_that_is_large_enough_costs_nothing():
    plain = trained("deep")
    assert trained("deep", memory_budget=ram(plain))._plan.code == plain._plan.code


def test_a_budget_that_is_too_small_leaves_the_model_as_it_was():
    model = trained("deep")
    digest = model.digest()
    with pytest.raises(MemoryError, match="memory_budget 5000: at least"):
        model.compile(batch_size=8, memory_budget=5000)
    assert model.digest() == digest
    model.compile(batch_size=8, memory_budget=smallest_budget("deep", "int8"))


def test_no_more_is_asked_for_than_without_recomputation():
    """Random networks, among them such as need more with it: what is computed again has to lie somewhere."""
    for seed in range(60):
        model, options, _, _ = networks.draw_case(networks.Random(random.Random(seed)))
        options.update(memory_budget=1, checkpoint=None)
        with pytest.raises(MemoryError) as error:
            model.compile(**options)
        least, whole = [int(word) for word in re.findall(r"at least (\d+) .* (\d+) without", str(error.value))[0]]
        assert least <= whole
        model.compile(**dict(options, memory_budget=least))
        assert ram(model) <= least


def test_the_choice_is_the_cheapest_of_all_of_a_chain():
    """Against every way to keep cuts and to forget what lies between two of them."""
    model = pooled()
    model.compile(batch_size=4)
    chain = recompute._Chain(model.nodes, 4)
    sizes, cuts = chain.sizes, chain.cuts
    assert 10 <= len(cuts) <= 18
    ways = []
    for count in range(len(cuts) - 1):
        for kept in itertools.combinations(range(1, len(cuts) - 1), count):
            ways.append(cost_and_peak(chain, (0,) + kept + (len(cuts) - 1,)))
    for limit in sorted({peak for peak, _ in ways})[::7]:
        segments = chain.choose(limit)
        cheapest = min(cost for peak, cost in ways if peak <= limit)
        assert sum(sum(chain.costs[first:end]) for first, end in segments) == cheapest
    assert chain.choose(min(peak for peak, _ in ways) - 1) is None


def cost_and_peak(chain, kept):
    """Bytes at the worst moment and cost of a way: what lies between two kept cuts is forgotten if it may be."""
    bounds = [chain.cuts[k] for k in kept]
    stored, peak, cost = chain.sizes[0], 0, 0
    for a, b in zip(bounds, bounds[1:]):
        inner = chain.sizes[a + 1 : b]
        moments = [2 * chain.sizes[b]]  # its value and its error, before the others come again
        for node in range(a + 1, b + 1):  # what lies before a node, its error, and that of its input
            moments.append(sum(chain.sizes[a + 1 : node]) + chain.sizes[node] + chain.sizes[node - 1])
        peak = max(peak, stored + max(moments))
        stored += chain.sizes[b]
        if b == bounds[-1] or any(chain.once[a + 1 : b]):
            stored += sum(inner)
        else:
            cost += sum(chain.costs[a + 1 : b])
    return peak, cost


@pytest.mark.parametrize("options, error", (
    ({"memory_budget": 2.5}, "memory_budget is an int of bytes, got 2.5"),
    ({"checkpoint": "all"}, "checkpoint is None or \"sqrt\", got 'all'"),
))  # fmt: skip
def test_bad_options_are_refused(options, error):
    with pytest.raises((TypeError, ValueError), match=error):
        deep().compile(**options)


def test_summary_states_what_is_computed_again(capsys):
    model = trained("deep", checkpoint="sqrt")
    model.summary()
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("computed again")][0].split()[2] == str(model._plan.again)
