"""Cycles foretold of a step: near what the emulated RP2040 was measured to take, and the model is left alone."""

import re
import subprocess
import sys

import numpy as np
import pytest
from checkout import ROOT

import odt
from odt.host import cost
from odt.host.cost import m0, m4
from odt.host.routes.limits import M0, M4

sys.path.insert(0, str(ROOT / "bench"))

import folders  # noqa: E402, F401
import steps  # noqa: E402

MEASURED = (ROOT / "bench" / "results" / "steps.txt").read_text()


def network(loss="sparse_categorical_crossentropy", **options):
    model = odt.Sequential([
        odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16), odt.Conv2D(6, 3, padding="same", activation="relu"),
        odt.MaxPool2D(), odt.Flatten(), odt.Dense(10),
    ])  # fmt: skip
    model.compile(odt.Adam(0.004), loss, **dict({"batch_size": 8, "seed": 3}, **options))
    return model


X = np.random.default_rng(0).integers(0, 17, (8, 8, 8, 1)).astype("uint8")
Y = (np.arange(8) % 10).astype("uint8")


@pytest.mark.parametrize("name", steps.MODELS)
def test_a_step_costs_within_a_tenth_of_what_was_measured(name):
    """bench/costs/steps.py measured these networks on the emulator; the factors were fitted to others."""
    part = MEASURED[MEASURED.index("\n" + name + ":") :]
    measured = int(re.search(r"^  a step +(\d+)", part, re.M)[1])
    scope = {}
    exec(steps.source(name), scope)
    foretold = cost.cycles(scope["model"], scope["x"], scope["y"])
    assert abs(foretold / measured - 1) < 0.1, (foretold, measured)


@pytest.mark.parametrize("parts", (2, 4))
def test_a_batch_in_parts_costs_within_a_tenth_of_what_was_measured(parts):
    name = next(iter(steps.MODELS))
    text = (ROOT / "bench" / "results" / "cost.txt").read_text()
    measured = int(re.search(r"^  %s in %d parts +(\d+)" % (name, parts), text, re.M)[1])
    scope = {}
    exec(steps.source(name).replace("seed=7", "seed=7, micro_batch=%d" % (16 // parts)), scope)
    foretold = cost.cycles(scope["model"], scope["x"], scope["y"])
    assert abs(foretold / measured - 1) < 0.1, (foretold, measured)


@pytest.mark.parametrize("given", ((), (X, Y)), ids=("noise", "data"))
def test_the_model_stays_as_it_is(given):
    model, twin = network(), network()
    session = model.session
    before = bytes(session.arena), bytes(session.state), bytes(session.control), session.calibrated
    assert cost.cycles(model, *given) == cost.cycles(model, *given) > 0
    assert (bytes(session.arena), bytes(session.state), bytes(session.control), session.calibrated) == before
    for each in (model, twin):
        each.fit(X, Y, epochs=2, verbose=0)
    assert model.digest() == twin.digest()
    cost.cycles(model, *given)
    assert model.digest() == twin.digest()


def test_parts_of_a_batch_come_one_by_one_and_weights_are_updated_once():
    whole, parts = [cost.instructions(network(micro_batch=rows), X, Y) for rows in (None, 2)]
    counts = [[name for name, _ in each].count("conv2d_i8") for each in (whole, parts)]
    assert counts[1] == 4 * counts[0]
    updated = [sum([s["R"] * s["K"] for name, s in each if name == "adam_i8"]) for each in (whole, parts)]
    assert updated[0] == updated[1] == 6 * 9 + 10 * 96


def test_errors_that_are_0_are_counted_where_a_kernel_skips_them():
    """A max-pooling of 2x2 sends at most one error in four on; ReLU stops more."""
    model = odt.Sequential([
        odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16), odt.Conv2D(6, 3, padding="same", activation="relu"),
        odt.MaxPool2D(), odt.Flatten(), odt.Dense(10),
    ])  # fmt: skip
    model.compile(odt.Adam(0.004), batch_size=8, seed=3)
    found = dict(cost.instructions(model, X, Y))
    assert 0 < found["conv2d_dw_i8"]["E"] <= 8 * 8 * 8 * 6 // 4


def test_a_model_from_a_file_costs_the_same(tmp_path):
    model = network()
    model.fit(X, Y, epochs=2, verbose=0)
    model.export(str(tmp_path / "m.odt"))
    assert cost.cycles(odt.load_model(str(tmp_path / "m.odt")), X, Y) == cost.cycles(model, X, Y)


def kernel(file):
    """The text of a file of a family or a core."""
    return next(iter((ROOT / "native").glob("*/*/" + file))).read_text()


def test_the_blocks_of_panels_are_panel_i8_cs():
    """On an RP2040, without ODT_SMALL."""
    found = dict(re.findall(r"\b(ROWS|DEPTH|BLOCK|AT_ONCE) = (?:ODT_SMALL \? \w+ : )?(\d+)", kernel("panel_i8.c")))
    assert {name: int(value) for name, value in found.items()} == {
        "ROWS": m0.ROWS, "DEPTH": m0.DEPTH, "BLOCK": m0.BLOCK, "AT_ONCE": m0.AT_ONCE,
    }  # fmt: skip
    assert "PADDED = %d," % m0.PADDED in kernel("padded_i8.h")
    assert M0["DW_SAMPLES"] == cost.SAMPLED and M0["DW_PANEL_ROW"] == M0["DW_PANEL_WORD"] == 0  # which m0.py leaves out


@pytest.mark.parametrize(("core", "flags"), [("M0", "-D__ARM_ARCH_6M__=1"), ("M4", "-D__ARM_FEATURE_DSP=1")])
def test_the_numbers_that_choose_a_loop_are_those_of_route_h(core, flags, tmp_path):
    """As a compiler evaluates them."""
    limits = {"M0": M0, "M4": M4}[core]
    lines = ['printf("%%s %%d\\n", "%s", ODT_%s);' % (name, name) for name in limits]
    (tmp_path / "limits.c").write_text(
        '#include <stdio.h>\n#include "cores/route.h"\nint main(void) {%s}' % "".join(lines)
    )
    command = ["gcc", flags, "-DODT_PANEL=1", "-I", str(ROOT / "native"), "limits.c", "-o", "limits"]
    subprocess.run(command, check=True, cwd=tmp_path)
    out = subprocess.run([str(tmp_path / "limits")], check=True, capture_output=True, text=True).stdout
    assert {line.split()[0]: int(line.split()[1]) for line in out.splitlines()} == limits and len(limits) > 40


def test_what_kernels_of_a_cortex_m4_decide_by_is_theirs():
    found = {path.name: path.read_text() for path in (ROOT / "native" / "cores" / "m4").glob("*m4.*")}
    wanted = {
        "conv2d_i8__m4.c": {"WINDOWS": m4.WINDOWS, "DEPTH": m4.DEPTH, "ROWS": m4.ROWS},
        "conv2d_few_i8__m4.c": {
            "FILTERS": m4.FILTERS,
            "GROUPS": m4.GROUPS,
            "OUTPUTS": m4.ROWS,
            "GATHERED": m4.GATHERED,
            "WIDE": m4.WIDE,
            "PIXELS_WIDE": m4.PIXELS_WIDE,
        },
        "conv2d_dx_i8__m4.c": {"CHANNELS": m4.CHANNELS, "DEPTH": m4.DX_DEPTH, "ROWS": m4.ROWS},
        "conv2d_dw_i8__m4.c": {"CHANNELS": m4.ERRORS, "DEPTH": m4.POSITIONS},
        "dense_i8__m4.c": {"ROWS": m4.ROWS},
        "depthwise2d_i8__m4.c": {
            "POSITIONS": m4.PAIRS_OF_ROWS,
            "OUTPUTS": m4.OUTPUTS,
            "WIDEST": m4.WIDEST,
        },
        "depthwise2d_dw_i8__m4.c": {
            "POSITIONS": m4.PAIRS_OF_ROWS,
            "OUTPUTS": m4.OUTPUTS,
            "TAPS": m4.TAPS,
        },
    }
    for name, values in wanted.items():
        for word, value in values.items():
            assert re.search(r"\b%s = (\d+)," % word, found[name])[1] == str(value), (name, word)
    assert "enum { SQUARES = %d }" % m4.SQUARES in found["depthwise2d_squares_i8__m4.inc"]
    assert "SUMS = %d," % m4.SUMS in kernel("dense_dx_i8.c")


@pytest.mark.parametrize("machine", cost.MACHINES)
@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_a_network_of_tokens_costs_more_the_more_tokens_its_batch_names(dtype, machine):
    """Each row that the batch names is updated by a call of its own."""
    first = odt.Input((12,), dtype="uint8")
    model = odt.Model(first, odt.Dense(3)(odt.GRU(8)(odt.Embedding(60, 8)(first))))
    model.compile(odt.Adam(0.01), dtype=dtype, batch_size=4, seed=1)
    many, one = np.arange(48, dtype="uint8").reshape(4, 12), np.full((4, 12), 7, "uint8")
    names = [sizes["each"] for name, sizes in cost.instructions(model, many, Y[:4] % 3) if "each" in sizes]
    assert set(names) == {48}
    update = "adam_i8" if dtype == "int8" else "adam_f32"
    rows = [sizes for name, sizes in cost.instructions(model, one, Y[:4] % 3) if name == update and "each" in sizes]
    assert [sizes["each"] for sizes in rows] == [1]
    once = cost.cost(update, {k: v for k, v in rows[0].items() if k != "each"}, machine)
    assert cost.cost(update, dict(rows[0], each=48), machine) == pytest.approx(48 * once)
    assert cost.cycles(model, many, Y[:4] % 3, machine) > cost.cycles(model, one, Y[:4] % 3, machine) + 46 * once
    assert cost.cycles(model, machine=machine) > 0  # of noise, all of whose tokens are in the table


def test_what_cannot_be_foretold_is_named():
    with pytest.raises(cost.Unknown, match="the machine is one of rp2040, cortex-m4f, rv32, got 'z80'"):
        cost.cycles(network(), machine="z80")
    model = odt.Sequential([odt.Input((8,)), odt.Dense(4, "relu"), odt.Dense(2)])
    with pytest.raises(RuntimeError, match="not compiled to train"):
        cost.cycles(model)
    model.compile(None)
    with pytest.raises(RuntimeError, match="not compiled to train"):
        cost.cycles(model)
    odt.adapt.update.dynamic(model)
    model.compile(odt.SGD(0.1))
    with pytest.raises(cost.Unknown, match="rows that each step chooses"):
        cost.cycles(model)
    model = odt.Sequential([odt.Input((8,)), odt.Dense(2)])
    model.compile(odt.SGD(0.1), odt.SparseCategoricalCrossentropy(label_smoothing=0.1))
    with pytest.raises(cost.Unknown, match="nothing was measured of the instruction weighted_xent"):
        cost.cycles(model)
