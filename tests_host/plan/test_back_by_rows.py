"""The backward pass by rows (odt/host/rows/back.py): gradients of inputs by stripes, sums, draws by element."""

import random
import re
import sys
from collections import Counter

import pytest
import striped
from checkout import ROOT
from striped import drawn, front, planned, ram, real, stages_at_random, steps

import odt
from odt.adapt import update
from odt.host.rows import Rows
from odt.host.rows.choose import ROWS
from odt.plan.compiler import compile_graph
from odt.reference.linear_i8 import channel_scale_i8

sys.path.insert(0, str(ROOT / "bench"))

import folders  # noqa: E402, F401
import published  # noqa: E402


def biases(height=24, **options):
    """Two blocks of which the biases train, at a resolution that makes their errors most of the arena."""
    x = odt.Input((height, 16, 2), dtype="uint8", scale=1 / 128, zero_point=128)
    y = odt.Conv2D(4, 3, padding="same", activation="relu", name="first")(x)
    for number, strides in enumerate((1, 2)):
        z = odt.Conv2D(16, 1, activation="relu", name="wide%d" % number)(y)
        z = odt.DepthwiseConv2D(3, strides=strides, padding="same", activation="relu", name="deep%d" % number)(z)
        z = odt.Conv2D(4, 1, name="narrow%d" % number)(z)
        y = z if strides > 1 else odt.Add(name="sum")([z, y])
    model = odt.Model(x, odt.Dense(5, name="head")(odt.GlobalAvgPool(name="mean")(y)))
    update.bias(model)
    model.compile(**dict({"optimizer": odt.SGD(0.05), "batch_size": 1, "seed": 3}, **options))
    return model


def of_step(stages):
    rows = Rows(stages=stages)
    rows.back = True
    return rows


@pytest.mark.parametrize("backend, seeds", (("native", range(50)), ("reference", range(50, 56))))
@pytest.mark.parametrize("only_biases", (True, False))
def test_any_stages_of_a_step_change_no_bit(backend, seeds, only_biases):
    """Of random networks, by random stages of the whole step: each step leaves the state that it leaves without."""
    used, moved = Counter(), 0
    for seed in seeds:
        model, what, state, x, y = drawn(seed, backend, only_biases)
        draw = random.Random(seed)
        for bits in (True, False):
            _, ends, forward = planned(what, bits, back=True)
            expected = steps(model, compile_graph(*what, bits=bits), x, y, state)
            for _ in range(3):
                rows = of_step(stages_at_random(draw, forward))
                assert steps(model, compile_graph(*what, bits=bits, rows=rows), x, y, state) == expected, seed
                for a, b, _ in rows.stages:
                    used.update([unit.name for unit in forward.units[a:b] if unit.start >= ends[0]])
            moved += len(set(expected)) == 3
    assert moved > len(seeds)
    if only_biases:
        names = "channel_scale_i8 conv2d_dx_i8 depthwise2d_dx_i8 bias_dw_i8 relu_dx_i8 apply_i32 add_i8"
        assert min([used[name] for name in names.split()]) >= len(seeds) // 4, used
    else:
        assert used["conv2d_dx_i8"]


def test_stages_of_a_step_take_at_most_the_bytes_that_they_are_chosen_by():
    less = compared = 0
    for seed in range(40):
        _, what, _, _, _ = drawn(seed, None, True)
        s, ends, forward = planned(what, back=True)
        draw = random.Random(seed)
        for _ in range(3):
            stages = stages_at_random(draw, forward)
            taken, a, expected = {each[:2]: each[2] for each in stages}, 0, 0
            while a < len(forward.units):
                here = [
                    each for each in forward.options(a, 1 << 30, len(forward.units), ROWS)
                    if taken.get((a, each[0]), 0) == each[1]
                ]  # fmt: skip
                a, _, bytes_, _ = max(here)
                expected = max(expected, bytes_)
            found = real(s, ends, forward, stages, True)
            assert found <= expected, (seed, stages)
            compared += 1
            less += found < expected
    assert less <= compared // 5, (less, compared)


def test_an_error_is_drawn_in_parts_as_it_is_whole():
    """channel_scale_i8 of some rows, the number of those before in the upper half of its id."""
    draw = random.Random(5)

    class Operands:
        pass

    def scaled(e, rows, before):
        o = Operands()
        o.c, o.M, o.N, o.e, o.y = [12345] * 16, rows, 3, e, [0] * len(e)
        o.q = [1 << 30, 30, 1518500250, 31, 1 << 30, 31]
        o.id = 7 | before << 16
        channel_scale_i8(o)
        return o.y

    e = [draw.randint(-127, 127) for _ in range(3 * 40)]
    whole = scaled(e, 40, 0)
    parts = [scaled(e[3 * at : 3 * at + 3 * 8], 8, at) for at in range(0, 40, 8)]
    assert sum(parts, []) == whole != scaled(e[:60], 20, 0) + scaled(e[60:], 20, 0)


# compile(memory_budget=...)


@pytest.mark.parametrize(
    "options", ({}, {"optimizer": odt.Adam(0.01)}, {"batch_size": 3, "micro_batch": 1}), ids=("sgd", "adam", "micro")
)
def test_biases_of_all_layers_train_in_far_less_to_the_same_bits(options):
    plain, fewest = biases(**options), striped.least(lambda **more: biases(**options, **more))
    assert fewest < 0.6 * ram(plain)
    x, y = striped.data(plain, 6)
    before = [bytes(each) for each in plain.get_weights()]
    models = [plain] + [biases(memory_budget=most, **options) for most in (fewest, fewest + 500)]
    for model in models:
        model.fit(x, y, epochs=3, verbose=0)
        assert model.digest() == plain.digest() and ram(model) <= max(fewest + 500, ram(plain))
    assert not models[1].session.plan.again and models[1].session.plan.rows.back
    after = [bytes(each) for each in plain.get_weights()]
    assert sum([a != b for a, b in zip(before, after)]) >= 8  # of 7 layers' biases, and the last kernel
    with pytest.raises(MemoryError, match="at least %d bytes" % fewest):
        biases(memory_budget=fewest - 1, **options)


def test_a_file_of_such_a_plan_trains_on(tmp_path, capsys):
    model = biases(memory_budget=striped.least(biases))
    x, y = striped.data(model, 5)
    model.fit(x, y, verbose=0)
    path = str(tmp_path / "biases.odt")
    model.export(path)
    opened = odt.load_model(path)
    assert opened.program.code == model.program.code
    for each in (model, opened):
        each.fit(x, y, epochs=3, initial_epoch=1, verbose=0)
    assert opened.digest() == model.digest()
    opened.summary()
    assert "by rows" in capsys.readouterr().out


def test_float32_and_kernels_that_train_keep_their_plans():
    """A float32 sum in parts has other bits, and the gradient of a kernel reads its input whole."""
    plain = biases(dtype="float32")
    assert striped.least(lambda **options: biases(dtype="float32", **options)) > 0.9 * ram(plain)
    with pytest.raises(MemoryError) as error:
        front(memory_budget=1)
    assert re.search(r"bytes of arena at 'trains', of which \d+ are 'gradient'", str(error.value))


@pytest.mark.slow
def test_published_networks_train_the_biases_of_all_layers_in_less():
    """With ReLU in place of ReLU6, which on weights that are random lets no error through."""

    def make(**options):
        model = published.network("MCUNet-5FPS", "biases of all", "relu", 64)
        model.compile(odt.SGD(0.05), batch_size=1, seed=1, **options)
        return model

    frozen = odt.files.frozen.pack(make())
    plain = make(frozen=frozen)
    model = make(frozen=frozen, memory_budget=int(0.82 * ram(plain)))
    assert model.session.plan.rows.back and not model.session.plan.again
    x, y = striped.data(model, 5)
    begin = plain.get_weights()
    for each in (plain, model):
        for number in range(5):
            each.train_step(x[number : number + 1], y[number : number + 1])
    assert model.digest() == plain.digest()
    moved = [bytes(a) != bytes(b) for a, b in zip(begin, plain.get_weights())]
    assert sum(moved) > 40
