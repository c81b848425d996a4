"""Calibration in one call finds the ranges that calibration instruction by instruction does, to the bit."""

import random
import types

import _odt
import networks
import pytest

import odt
from odt import fisher
from odt.run.session import bind

STEPWISE = types.SimpleNamespace(**{name: value for name, value in vars(_odt).items() if name != "calibrate"})


def calibrated(session, engine, start, level, whole):
    """The state and the control block as calibration leaves them, from that state and control block on."""
    session.engine = engine
    session.state[:], session.arena[:] = start[0], bytes(len(session.arena))
    for index, word in enumerate(start[1]):
        session.control[index] = word
    session.calibrate(level, whole)
    return bytes(session.state), list(session.control)


def check(model, x, y, level=2, whole=False):
    session = model.session
    bind(session, x, y)
    start = bytes(session.state), list(session.control)
    found, stepwise = [calibrated(session, engine, start, level, whole) for engine in (_odt, STEPWISE)]
    session.engine = _odt
    assert found == stepwise
    return found[0] != start[0]


def test_any_network_is_calibrated_to_the_same_bits():
    changed = 0
    for seed in range(200):
        model, options, x, y = networks.draw_case(networks.Random(random.Random(seed)))
        options.update(dtype="int8", micro_batch=None)
        if options["optimizer"].state == "float32":
            options["optimizer"] = odt.Adam(0.01)
        model.compile(**options)
        changed += check(model, x, y, 1 + seed % 2, seed % 3 == 0)
    assert changed > 150


def test_rows_that_are_chosen_at_each_step_and_clipped_gradients_are_calibrated_to_the_same_bits():
    for option in ("dynamic", "clipped", "zeroth order", "micro"):
        layers = [
            odt.Conv2D(5, 3, activation="relu"),
            odt.MaxPool2D(),
            odt.Flatten(),
            odt.Dense(7, "tanh"),
            odt.Dense(4),
        ]
        model = odt.Sequential([odt.Input((8, 8, 2), dtype="float32"), *layers])
        optimizer = odt.Adam(0.01, global_clipnorm=1.0) if option == "clipped" else odt.Adam(0.01)
        if option == "dynamic":
            odt.update.dynamic(model, 0.2, 0.7)
        if option == "zeroth order":
            optimizer = odt.zeroth.ZerothOrder(0.01, tail=1)
        model.compile(optimizer, batch_size=6, seed=3, micro_batch=3 if option == "micro" else None)
        rng = random.Random(1)
        x = [
            [rng.gauss(0, 1) * (9 if row == 2 else 1) for _ in range(128)]
            for row in range(3 if option == "micro" else 6)
        ]
        assert check(model, x, [row % 4 for row in range(len(x))])


@pytest.mark.parametrize("outlier", (1, 50))
def test_the_range_of_the_input_leaves_out_an_outlier_in_both(outlier):
    model = odt.Sequential([odt.Input((3,)), odt.Dense(4)])
    model.compile(batch_size=8, seed=1)
    x = [[0.5, -1.0, 0.25 * row] for row in range(8)]
    x[5] = [outlier, 0.0, 0.0]
    assert check(model, x, [0, 1, 2, 3] * 2)


def test_fisher_information_is_measured_in_the_same_ranges(monkeypatch):
    rng = random.Random(2)
    x, y = [[rng.gauss(0, 1) for _ in range(72)] for _ in range(10)], [index % 3 for index in range(10)]
    found = []
    for engine in (_odt, STEPWISE):
        model = odt.Sequential([odt.Input((6, 6, 2)), odt.Conv2D(4, 3, activation="relu"), odt.Flatten(), odt.Dense(3)])
        model.compile(batch_size=4, seed=5)
        model.fit(x, y, verbose=0)
        model.session.engine = engine
        found.append({name: bytes(values) for name, values in fisher.fisher(model, x, y).items()})
    assert found[0] == found[1]


def test_what_is_no_array_of_words_and_no_run_of_instructions_is_refused():
    model = odt.Sequential([odt.Input((3,)), odt.Dense(4)])
    model.compile(batch_size=2)
    session = model.session
    bind(session, [[1.0, 2.0, 3.0]] * 2, [0, 1])
    start, stop = session.sections["train"]
    before = bytes(session.state)
    for error, arguments in (
        (ValueError, (start + 1, stop, None)),
        (ValueError, (stop, start, None)),
        (ValueError, (start, stop, memoryview(bytearray(9))[1:])),
        (TypeError, (start, stop, 3)),
        ((BufferError, TypeError), (start, stop, bytes(8))),
    ):
        with pytest.raises(error):
            _odt.calibrate(session.loaded, session.regions, *arguments)
    assert bytes(session.state) == before
