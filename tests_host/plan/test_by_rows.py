"""Layers by rows (odt/host/rows): less RAM, no other bit."""

import asyncio
import random
import re
import sys

import numpy as np
import pytest
import striped
from checkout import ROOT
from striped import STEPS, drawn, front, least, planned, ram, real, stages_at_random, steps

import odt
from odt.adapt import task_adaptive
from odt.host.chart import chart
from odt.host.rows import Rows, WithSample
from odt.host.rows.choose import ROWS
from odt.inspect import Trace, names, profile
from odt.plan.compiler import compile_graph

sys.path.insert(0, str(ROOT / "bench"))

import folders  # noqa: E402, F401
import published  # noqa: E402


@pytest.mark.parametrize("backend, seeds", (("native", range(60)), ("reference", range(60, 66))))
def test_any_stages_change_no_bit(backend, seeds):
    """Of random networks, trained in part, by random stages: each step leaves the state that it leaves without."""
    used = moved = read = 0
    for seed in seeds:
        model, what, state, x, y = drawn(seed, backend)
        draw = random.Random(seed)
        for bits in (True, False):
            _, _, forward = planned(what, bits)
            expected = steps(model, compile_graph(*what, bits=bits), x, y, state)
            for _ in range(3):
                rows = Rows(stages=stages_at_random(draw, forward))
                made = compile_graph(*what, bits=bits, rows=rows)
                assert steps(model, made, x, y, state) == expected, (seed, rows.stages)
                used += bool(rows.stages)
                read += rows.reads
            moved += len(set(expected)) == STEPS
    assert used > 4 * len(seeds) and moved > len(seeds) and read > len(seeds)


def all_stages(forward, a=0):
    """Every cut of the forward pass into stages and units alone."""
    if a == len(forward.units):
        yield []
        return
    for b, rows, _, _ in forward.options(a, 1 << 30, len(forward.units), ROWS):
        for others in all_stages(forward, b):
            yield [(a, b, rows)] * bool(rows) + others


def test_stages_take_at_most_the_bytes_that_they_are_chosen_by():
    """Fewer where stripes of rows of no whole words happen to have them, or a reader skips rows."""
    less = 0
    for seed in range(60):
        _, what, _, _, _ = drawn(seed)
        s, ends, forward = planned(what, micro=(None, 1)[seed % 2])
        draw = random.Random(seed)
        for _ in range(4):
            stages = stages_at_random(draw, forward)
            expected, a = 0, 0
            taken = {(a, b): rows for a, b, rows in stages}
            while a < len(forward.units):
                options = forward.options(a, 1 << 30, len(forward.units), ROWS)
                here = [each for each in options if taken.get((a, each[0]), 0) == each[1]]
                a, _, bytes_, _ = max(here)
                expected = max(expected, bytes_)
            found = real(s, ends, forward, stages)
            assert found <= expected, (seed, stages)
            less += found < expected
    assert less <= 24, less  # of 240


def test_no_other_stages_take_fewer_bytes():
    """Against all cuts of random networks: equal but for what stages take less than they are chosen by."""
    compared = equal = 0
    for seed in range(60):
        _, what, _, _, _ = drawn(seed)
        s, ends, forward = planned(what)
        ways = []
        for stages in all_stages(forward):
            ways.append(stages)
            if len(ways) > 1000:
                break
        if not 10 < len(ways) <= 1000:
            continue
        compared += 1
        fewest = min([real(s, ends, forward, stages) for stages in ways])
        assert fewest <= forward.least(0) <= 1.1 * fewest, seed
        equal += forward.least(0) == fewest
        assert real(s, ends, forward, forward.choose()) <= max(forward.least(0), forward.rest)
    assert compared > 8 and equal >= 0.9 * compared, (compared, equal)


# compile(memory_budget=...)


@pytest.mark.parametrize("options", ({}, {"dtype": "float32"}, {"batch_size": 4, "micro_batch": 1}), ids=str)
def test_a_budget_below_what_recomputation_reaches_is_met_by_rows_to_the_same_bits(options):
    def make(**more):
        return front(**dict(options, **more))

    plain, fewest = make(), least(make)
    assert fewest < 0.7 * ram(plain)
    x, y = striped.data(plain, 6)
    expected = results(plain, x, y)
    weights = [bytes(each) for each in plain.get_weights()]
    assert [bytes(each) for each in make().get_weights()] != weights  # what trains has learnt
    with pytest.raises(MemoryError, match="memory_budget %d: at least %d bytes are needed" % (fewest - 1, fewest)):
        make(memory_budget=fewest - 1)
    for budget in (fewest, fewest + 100, ram(plain) - 1):
        model = make(memory_budget=budget)
        assert ram(model) <= budget and model.session.plan.rows.stages and not model.session.plan.again
        assert results(model, x, y) == expected
    assert make(memory_budget=ram(plain)).program.code == make().program.code


def test_a_sample_by_rows_comes_in_the_order_of_the_epoch():
    """A height is multiplied by doubling: one that is a power of two, and others."""

    def make(height, **options):
        x = odt.Input((height, 24, 8), dtype="uint8", scale=1 / 128, zero_point=128)
        y = odt.Conv2D(4, 3, strides=2, activation="relu", trainable=False)(x)
        y = odt.Conv2D(6, 3, strides=2, padding="same", activation="relu")(y)
        model = odt.Model(x, odt.Dense(5)(odt.GlobalAvgPool()(y)))
        model.compile(odt.SGD(0.05), **dict({"batch_size": 1, "seed": 3}, **options))
        return model

    for height, options in ((13, {}), (16, {"batch_size": 3, "micro_batch": 1}), (22, {"dtype": "float32"})):
        fewest = least(lambda height=height, options=options, **more: make(height, **options, **more))
        models = [make(height, **options), make(height, memory_budget=fewest, **options)]
        x, y = striped.data(models[0], 7)
        assert models[1].session.plan.rows.reads
        for model in models:
            model.fit(x, y, epochs=1, verbose=0, shuffle=False)
        in_order = models[1].digest()
        assert in_order == models[0].digest()
        for model in models:
            model.fit(x, y, epochs=3, initial_epoch=1, verbose=0)
        assert models[1].digest() == models[0].digest() != in_order
        control = models[1].session.control
        assert list(control[:4]) == list(models[0].session.control[:4])


def results(model, x, y):
    model.fit(x[:4], y[:4], epochs=2, validation_data=(x[2:], y[2:]), verbose=0)
    return model.history.history, model.evaluate(x, y), bytes(model.predict(x)), model.digest()


def test_every_budget_from_the_smallest_on_is_accepted_on_random_networks():
    by_rows = 0
    for seed in range(30):
        options = dict(striped.draw(seed)[1], batch_size=1)

        def make(options=options, seed=seed, **more):
            model = striped.draw(seed)[0]
            model.compile(**dict(options, **more))
            return model

        plain = make()
        fewest = least(make)
        x, y = striped.data(plain, 4)
        expected = results(plain, x[:4], y[:4])
        with pytest.raises(MemoryError):
            make(memory_budget=fewest - 1)
        for budget in sorted({fewest, (fewest + ram(plain)) // 2}):
            model = make(memory_budget=budget)
            assert ram(model) <= budget
            by_rows += bool(model.session.plan.rows)
            assert results(model, x[:4], y[:4]) == expected
    assert by_rows > 5


def test_a_refusal_names_the_layer_and_what_it_reads_whole():
    with pytest.raises(MemoryError) as error:
        front(memory_budget=1)
    found = re.search(
        r"with layers by rows: (\d+) bytes of arena at '(\w+)', of which (\d+) are '(\w+)'", str(error.value)
    )
    assert found, error.value
    assert 0.97 * len(front(memory_budget=least(front)).session.arena) <= int(found[1])
    assert (int(found[3]), found[4]) == (4 * 6 * 4 * 9, "gradient")  # of "trains": the forward pass takes less
    fewest = least(lambda **options: front(batch_size=2, micro_batch=1, **options))
    with pytest.raises(MemoryError, match="without recomputation; %d with micro_batch=1$" % fewest):
        front(batch_size=2, memory_budget=1)


def test_a_refused_budget_leaves_the_model_and_its_plan_as_they_were():
    model = front(memory_budget=least(front))
    x, y = striped.data(model, 4)
    model.fit(x, y, verbose=0)
    session, digest = model.session, model.digest()
    refused = (
        {"memory_budget": len(session.arena) + len(session.state) - 1},
        {"memory_budget": WithSample(1)},
        {"batch_size": 2, "memory_budget": 1},
        {"batch_size": 2, "memory_budget": WithSample(100000)},
    )
    for options in refused:
        with pytest.raises((MemoryError, ValueError), match="memory_budget"):
            model.compile(odt.SGD(0.05), **dict({"batch_size": 1, "seed": 3}, **options))
        assert model.session is session and model.digest() == digest
    model.fit(x, y, epochs=2, initial_epoch=1, verbose=0)
    straight = front()
    straight.fit(x, y, epochs=2, verbose=0)
    assert model.digest() == straight.digest() != digest


def test_ranges_are_those_of_the_program_without_stages():
    """calibrate() before training, as a range that a stripe alone would give differs."""
    plain, model = front(), front(memory_budget=least(front))
    x, y = striped.data(plain, 5)
    for each in (plain, model):
        each.calibrate(x, y)
    assert bytes(plain.session.state) == bytes(model.session.state)
    for each in (plain, model):
        each.set_weights([np.array(weights) / 2 for weights in each.get_weights()])  # forgets them
        each.evaluate(x, y)
        each.train_step(x[:1], y[:1])
    assert plain.digest() == model.digest()


# The sample in the arena


def image_net(dtype="int8", pixels="uint8", **options):
    """A strided front that is frozen, on images that are most of the RAM."""
    x = odt.Input((32, 16, 4), dtype=pixels, scale=1 / 128, zero_point=128)
    frozen = {"trainable": False, "activation": "relu", "padding": "same"}
    y = odt.Conv2D(4, 3, strides=2, **frozen)(x)
    y = odt.Conv2D(8, 3, strides=2, **frozen)(odt.DepthwiseConv2D(3, **frozen)(y))
    y = odt.Conv2D(6, 3, padding="same", activation="relu")(y)
    model = odt.Model(x, odt.Dense(5)(odt.GlobalAvgPool()(y)))
    model.compile(odt.SGD(0.05), dtype=dtype, **dict({"batch_size": 1, "seed": 3}, **options))
    return model


@pytest.mark.parametrize("dtype, pixels", (("int8", "uint8"), ("int8", "int16"), ("float32", "uint8")))
def test_a_sample_at_the_arenas_end_is_overwritten_as_it_is_read(dtype, pixels):
    def made(**options):
        return image_net(dtype, pixels, **options)

    plain = made()
    with pytest.raises(MemoryError) as error:
        made(memory_budget=WithSample(1))
    fewest = int(re.findall(r"at least (\d+)", str(error.value))[0])
    x, y = striped.data(plain, 5)
    x = x.astype(pixels)
    size = x[0].nbytes
    assert fewest < least(made) + size  # not the sample beside the rest
    model = made(memory_budget=WithSample(fewest))
    assert ram(model) == fewest
    with pytest.raises(MemoryError, match="at least %d" % fewest):
        made(memory_budget=WithSample(fewest - 1))
    with pytest.raises(ValueError, match="where a step takes one, not 2"):
        made(batch_size=2, memory_budget=WithSample(fewest))
    inside = memoryview(model.session.arena)[-size:]
    if pixels == "int16":
        inside = inside.cast("h")
    for number in range(5):
        inside[:] = memoryview(x[number]).cast("B").cast(inside.format)
        plain.train_step(x[number : number + 1], y[number : number + 1])
        model.train_step(inside, y[number : number + 1])
        assert model.digest() == plain.digest()
        is_first = dtype == "int8" and number == 0  # finds the ranges, in another arena
        assert (inside.tobytes() == x[number].tobytes()) == is_first
        inside[:] = memoryview(x[number]).cast("B").cast(inside.format)
        assert bytes(model.predict(inside)) == bytes(plain.predict(x[number : number + 1]))
        model.train_step(x[number : number + 1], y[number : number + 1])  # elsewhere
        plain.train_step(x[number : number + 1], y[number : number + 1])
    assert model.digest() == plain.digest()


# Files


def test_a_file_carries_the_plan_with_its_ranges(tmp_path, capsys):
    model = front(memory_budget=least(front))
    x, y = striped.data(model, 5)
    path = str(tmp_path / "front.odt")
    with pytest.raises(ValueError, match="by rows.*fit\\(\\) or calibrate"):
        model.export(path)
    model.fit(x, y, verbose=0)
    model.export(path)
    opened = odt.load_model(path)
    assert opened.program.code == model.program.code
    for each in (model, opened):
        each.fit(x, y, epochs=3, initial_epoch=1, verbose=0)
    assert opened.digest() == model.digest()
    opened.export(path)
    again = odt.load_model(path)
    for each in (model, again):
        capsys.readouterr()
        each.summary()
        assert "by rows" in capsys.readouterr().out
    with pytest.raises(RuntimeError, match="runs by rows: its ranges are its file's"):
        again.calibrate(x)
    model.export(path, purpose="inference")
    assert bytes(odt.load_model(path).predict(x)) == bytes(model.predict(x))


# Networks as others have them


@pytest.mark.slow
@pytest.mark.parametrize("name, trains, extent, share", (
    ("MobileNetV2-w0.35", "49 KB", 128, 0.35), ("MCUNet-5FPS", "last layer", 96, 0.6), ("ProxylessNAS-w0.3", "74 KB",
    64, 0.75),
))  # fmt: skip
def test_published_networks_train_to_the_same_bits_in_less(name, trains, extent, share):
    """With ReLU in place of ReLU6, which on weights that are random lets no error through."""

    def make(**options):
        model = published.network(name, trains, "relu", extent)
        model.compile(odt.SGD(0.05), batch_size=1, seed=1, **options)
        return model

    frozen = odt.files.frozen.pack(make())
    plain, fewest = make(frozen=frozen), least(lambda **options: make(frozen=frozen, **options))
    model = make(frozen=frozen, memory_budget=fewest)
    assert len(model.session.arena) < share * len(plain.session.arena)
    assert model.session.plan.arena <= 1.01 * model.session.plan.lower_bound
    x, y = striped.data(model, 5)
    begin = plain.get_weights()
    for each in (plain, model):
        for number in range(5):
            each.train_step(x[number : number + 1], y[number : number + 1])
    if not model.session.plan.rows.split:  # else the state has other bytes
        assert model.digest() == plain.digest()
    ended = plain.get_weights()
    assert all(bytes(a) == bytes(b) for a, b in zip(model.get_weights(), ended))
    assert bytes(model.predict(x)) == bytes(plain.predict(x))
    moved = [bytes(a) != bytes(b) for a, b in zip(begin, ended)]
    assert sum(moved) >= len(published.UPDATES[name][trains][1]) + published.UPDATES[name][trains][0]


# What else plans or runs pieces


def test_other_ways_to_train_keep_the_bits():
    """In slices, with weighted classes, and adapted; and a file for other tools is the same."""
    budget = least(front) + 64  # the weights of classes take some
    plain, model = front(), front(memory_budget=budget)
    x, y = striped.data(model, 6)
    for each in (plain, model):
        asyncio.run(each.fit_async(x, y, epochs=2, verbose=0, slice_ms=1))
        each.fit(x, y, class_weight=[1, 2, 1, 1, 1], verbose=0)
    assert model.digest() == plain.digest() and model.session.plan.rows
    choices = [task_adaptive(each, x, y, memory_budget=30000, macs_budget=200000) for each in (plain, model)]
    assert choices[0] == choices[1]
    for each in (plain, model):
        each.fit(x, y, verbose=0)
    assert model.digest() == plain.digest()
    again = front(memory_budget=budget)
    again.load_weights(front())
    again.evaluate(x, y)


# Looking inside


def test_a_plan_by_rows_is_looked_into_like_others(tmp_path, capsys):
    plain, model = front(), front(memory_budget=least(front))
    x, y = striped.data(model, 3)
    for each in (plain, model):
        each.train_step(x[:1], y[:1])
    whole = set(names(plain)) - set(names(model))
    assert whole and not [name for name in whole if "gradient" in name or "dx" in name or "kernel" in name]
    traces = []
    for each in (plain, model):
        with Trace(each, ["sum2", "trains", "trains gradient"]) as trace:
            each.train_step(x[:1], y[:1])
        traces.append([bytes(trace[name]) for name in ("sum2", "trains", "trains gradient")])
    assert traces[0] == traces[1]
    macs = [{row[0]: row[4:7] for row in profile(each, x[:1], y[:1])} for each in (plain, model)]
    assert macs[0] == macs[1]
    assert chart(model, str(tmp_path / "plan.html")).arena == len(model.session.arena)
    assert "activation" in model.draw() and "slice" in model.disassemble()
    assert plain.digest() == model.digest()
