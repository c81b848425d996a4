"""Activations that are forgotten and computed again: less RAM, no other bit."""

import random
import re

import networks
import numpy as np
import pytest

import odt
from odt.plan import recompute
from odt.plan.compiler import compile_graph

pytestmark = pytest.mark.slow

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
    return odt.Sequential(
        layers + [odt.Flatten(), odt.Dropout(0.2), odt.Dense(16, "relu"), odt.Dropout(0.3), odt.Dense(5)]
    )


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
    return len(model.session.arena) + len(model.session.state)


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
        assert model.session.plan.again <= forward
        assert ram(model) <= options.get("memory_budget", ram(plain))


def smallest_budget(name, dtype, micro=None):
    with pytest.raises(MemoryError, match=r"memory_budget 1: at least \d+ bytes are needed") as error:
        NETWORKS[name]().compile(odt.Adam(0.01), dtype=dtype, batch_size=8, micro_batch=micro, memory_budget=1)
    return int(str(error.value).split("at least ")[1].split()[0])


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_half_the_arena_does_for_a_deep_network(dtype):
    plain = trained("deep", dtype)
    model = trained("deep", dtype, memory_budget=len(plain.session.state) + len(plain.session.arena) // 2)
    assert len(model.session.arena) <= len(plain.session.arena) // 2
    assert 0 < model.session.plan.again <= sum(node.layer.macs for node in plain.nodes)
    assert model.digest() == plain.digest()


def test_a_budget_that_is_large_enough_costs_nothing():
    plain = trained("deep")
    assert trained("deep", memory_budget=ram(plain)).session.plan.code == plain.session.plan.code


def test_a_budget_that_is_too_small_leaves_the_model_as_it_was():
    model = trained("deep")
    digest = model.digest()
    with pytest.raises(MemoryError, match="memory_budget 5000: at least"):
        model.compile(batch_size=8, memory_budget=5000)
    assert model.digest() == digest
    model.compile(batch_size=8, memory_budget=smallest_budget("deep", "int8"))


def test_no_more_is_asked_for_than_without_recomputation():
    """Random networks, among them such as need more with it: what is computed again has to lie somewhere."""
    for seed in range(15):
        model, options, _, _ = networks.draw_case(networks.Random(random.Random(seed)))
        options.update(memory_budget=1, checkpoint=None)
        with pytest.raises(MemoryError) as error:
            model.compile(**options)
        least, whole = [int(word) for word in re.findall(r"at least (\d+) .* (\d+) without", str(error.value))[0]]
        assert least <= whole
        model.compile(**dict(options, memory_budget=least))
        assert ram(model) <= least


def draw_chain(seed):
    """(model, options of compile) at random: layers one after the other, of all that a clamp, a frozen layer or a pool
    changes.
    """
    draw = random.Random(seed)
    extent = draw.choice((6, 8, 10))
    layers = [odt.Input((extent, extent, draw.randint(1, 3)))]
    for _ in range(draw.randint(3, 7)):
        options = {"activation": draw.choice((None, "relu", "relu6")), "trainable": draw.random() > 0.15}
        channels = draw.choice((2, 4, 6, 8))
        makers = [
            lambda o=options, n=channels: odt.Conv2D(n, 3, padding="same", **o), lambda o=options,
            n=channels: odt.Conv2D(n, 1, **o),
            lambda o=options: odt.DepthwiseConv2D(3, padding="same", **o), lambda: odt.LeakyReLU(0.1), odt.ReLU,
            odt.Sigmoid,
            lambda: odt.GroupNorm(1), lambda: odt.Dropout(0.2),
        ]  # fmt: skip
        if extent >= 4:
            makers.append(odt.MaxPool2D)
        layers.append(draw.choice(makers)())
        extent //= 2 if isinstance(layers[-1], odt.MaxPool2D) else 1
    layers += [draw.choice((odt.GlobalAvgPool, odt.Flatten))(), odt.Dense(8, "relu"), odt.Dense(5)][
        :: draw.choice((1, 2))
    ]
    batch = draw.choice((1, 4, 8))
    return odt.Sequential(layers), {
        "optimizer": draw.choice((odt.Adam(0.01), odt.SGD(0.01), odt.SGD(0.01, 0.9))),
        "dtype": draw.choice(("int8", "float32")),
        "batch_size": batch, "micro_batch": draw.choice((None, None, max(1, batch // 2))),
    }  # fmt: skip


def draw_graph(seed):
    """The same with branches and all that networks.py draws."""
    model, options, _, _ = networks.draw_case(networks.Random(random.Random(seed)))
    return model, dict(options, memory_budget=None, checkpoint=None)


def all_ways(chain, p=0):
    """Every set of segments between cuts, none of which overlap."""
    cuts = chain.cuts
    if p == len(cuts) - 1:
        yield ()
        return
    for rest in all_ways(chain, p + 1):
        yield rest
    for q in range(p + 1, len(cuts) - 1):
        if cuts[q] > cuts[p] + 1 and not any(chain.once[cuts[p] + 1 : cuts[q]]):
            for rest in all_ways(chain, q):
                yield ((cuts[p] + 1, cuts[q]),) + rest


@pytest.mark.parametrize("draw, seeds", ((draw_chain, range(24)), (draw_graph, range(24))))
def test_budgets_against_all_ways_to_compute_again(draw, seeds):
    """The least budget is the least of all; every larger one is accepted, no smaller one; what fits costs the least."""
    refused = apart = 0
    for seed in seeds:
        model, options = draw(seed)
        model.compile(**options)
        what = (
            model.nodes,
            model.session.loss,
            model.session.optimizer,
            model.dtype,
            model.batch_size,
            options.get("micro_batch"),
        )
        chain = recompute.Chain(model.nodes, (what[5] or what[4]) * (1 if what[3] == "int8" else 4))
        if len(chain.cuts) > 8:
            continue
        ways = []  # (arena, its lower bound, cost)
        for segments in all_ways(chain):
            for bits in (True, False):  # clamps as bits, see masks.py
                made = compile_graph(*what, segments, bits=bits)
                cost = sum([sum(chain.costs[first:end]) for first, end in segments])
                ways.append((made.arena, made.lower_bound, cost))
        state = made.state
        arenas, bounds, _ = zip(*ways)
        least = budgeted(what, 1) - state
        assert least >= min(arenas)
        if least > min(arenas):  # then a placement is above its lower bound, by so much at least
            apart += 1
            assert least <= max([arena for arena, bound, _ in ways if bound == min(bounds)])
        tried = sorted({arena + more for arena in arenas for more in (-1, 0, 1)} | {least - 1, least})
        for budget in tried[:3] + tried[3 :: max(1, len(tried) // 8)] + [least - 1, least]:
            made = budgeted(what, budget + state)
            assert isinstance(made, int) == (budget < least), (seed, budget)
            if isinstance(made, int):
                refused += 1
                assert made == least + state
                continue
            assert made.arena <= budget
            cost = sum([sum(chain.costs[first:end]) for first, end in made.segments])
            cheapest = min([way[2] for way in ways if way[0] <= budget])
            assert cost == cheapest or any(arena > bound for arena, bound, _ in ways), (seed, budget)
    assert refused > len(seeds)
    assert apart <= len(seeds) // 40


def budgeted(what, budget):
    """The plan within a budget, or the least budget that the refusal names."""
    try:
        return recompute.plan(*what, 0, budget, None)
    except MemoryError as error:
        return int(re.findall(r"at least (\d+)", str(error))[0])


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
    assert [line for line in lines if line.startswith("recomputed")][0].split()[1] == str(model.session.plan.again)
