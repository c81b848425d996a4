"""Calibration in one call finds the ranges that calibration instruction by instruction does, to the bit."""

import random
import types
from array import array

import _odt
import networks
import pytest

import odt
from odt.adapt import fisher
from odt.base.regions import CONTROL_WORDS, LOSS, REGION_SHIFT, STATE
from odt.run import calibration as calibration_module
from odt.run import stepwise as stepwise_module
from odt.run.session import bind

SHORT = ("plenty", "little")  # of memory: an arena for each micro-batch, or one for all
STEPWISE = types.SimpleNamespace(**{name: value for name, value in vars(_odt).items() if name != "calibrate"})


def calibrated(session, engine, start, level, whole, words):
    """The state and the first ``words`` of the control block after calibration, which begins with ``start``."""
    session.engine = engine
    session.state[:], session.arena[:] = start[0], bytes(len(session.arena))
    for index, word in enumerate(start[1]):
        session.control[index] = word
    session.calibrate(level, whole)
    return bytes(session.state), list(session.control)[:words]


def check(model, x, y, level=2, whole=False, words=CONTROL_WORDS):
    session = model.session
    bind(session, x, y)
    start = bytes(session.state), list(session.control)
    found, stepwise = [calibrated(session, engine, start, level, whole, words) for engine in (_odt, STEPWISE)]
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
    for option in ("dynamic", "clipped", "zeroth order", "micro", "noise"):
        layers = [
            odt.Conv2D(5, 3, activation="relu"),
            odt.MaxPool2D(),
            odt.Flatten(),
            odt.Dense(7, "tanh"),
            *([odt.Dropout(0.3)] if option == "noise" else []),
            odt.Dense(4),
        ]
        model = odt.Sequential([odt.Input((8, 8, 2), dtype="float32"), *layers])
        optimizer = odt.Adam(0.01, global_clipnorm=1.0) if option == "clipped" else odt.Adam(0.01)
        if option == "dynamic":
            odt.adapt.update.dynamic(model, 0.2, 0.7)
        if option == "zeroth order":
            optimizer = odt.ZerothOrder(0.01, tail=1)
        if option == "noise":
            optimizer = odt.noise.Noisy(optimizer, 0.2, 0.2)
        model.compile(optimizer, batch_size=6, seed=3, micro_batch=3 if option == "micro" else None)
        rng = random.Random(1)
        rows = 3 if option == "micro" else 6
        x = array("f", [rng.gauss(0, 1) * (9 if row == 2 else 1) for row in range(rows) for _ in range(128)])
        assert check(model, x, [row % 4 for row in range(rows)])


@pytest.mark.parametrize("memory", SHORT)
def test_micro_batches_are_calibrated_to_the_same_bits(memory, monkeypatch):
    """Where there is memory for an arena each, and where there is none for more than one."""

    def allocated(size):
        if memory == "little" and isinstance(size, int) and size > 32:
            raise MemoryError
        return bytearray(size)

    monkeypatch.setattr(calibration_module, "bytearray", allocated, raising=False)
    monkeypatch.setattr(stepwise_module, "bytearray", allocated, raising=False)
    changed = 0
    for seed in range(60):
        rng = random.Random(seed)
        model, options, x, y = networks.draw_case(networks.Random(rng))
        options.update(dtype="int8", micro_batch=rng.randint(1, 3), batch_size=rng.randint(4, 8))
        if options["optimizer"].state == "float32":
            options["optimizer"] = odt.Adam(0.01)
        try:
            model.compile(**options)
        except ValueError:  # of BatchNorm's batches
            continue
        # In one arena all is run again, also what counts the loss and correct rows, which the step then clears.
        changed += check(model, x, y, 1 + seed % 2, seed % 3 == 0, LOSS if memory == "little" else CONTROL_WORDS)
    assert changed > 30


@pytest.mark.parametrize("outlier", (1, 50))
def test_the_range_of_the_input_leaves_out_an_outlier_in_both(outlier):
    model = odt.Sequential([odt.Input((3,)), odt.Dense(4)])
    model.compile(batch_size=8, seed=1)
    x = [[0.5, -1.0, 0.25 * row] for row in range(8)]
    x[5] = [outlier, 0.0, 0.0]
    assert check(model, x, [0, 1, 2, 3] * 2)


@pytest.mark.parametrize("dtype", ("float32", "int16"))
def test_an_input_of_any_size_gets_the_same_range_in_both(dtype):
    """Samples of 0, below what the first scale sees and above what it holds, alone and mixed."""
    rng = random.Random(3)
    changed = 0
    model = odt.Sequential(
        [odt.Input((3,), dtype=dtype, **({} if dtype == "float32" else {"scale": 1e-6})), odt.Dense(2)]
    )
    for _ in range(300):
        model.compile(odt.Adam(0.01), batch_size=6)
        sizes = rng.choice(((0, 1e-9), (1, 1e3), (1e3, 1e12), (0, 1e-9, 1, 1e12), (0,)))
        values = []
        for _ in range(rng.randint(1, 6)):
            size = rng.choice(sizes)
            values += [size * rng.uniform(-1, 1) for _ in range(3)]
        if dtype == "int16":
            values = [max(-32768, min(32767, round(value * 100))) for value in values]
        changed += check(model, array("f" if dtype == "float32" else "h", values), bytes(len(values) // 3))
    assert changed > 100


def test_fisher_information_is_measured_in_the_same_ranges(monkeypatch):
    rng = random.Random(2)
    x, y = array("f", [rng.gauss(0, 1) for _ in range(72 * 10)]), [index % 3 for index in range(10)]
    found = []
    for engine in (_odt, STEPWISE):
        model = odt.Sequential([odt.Input((6, 6, 2)), odt.Conv2D(4, 3, activation="relu"), odt.Flatten(), odt.Dense(3)])
        model.compile(batch_size=4, seed=5)
        model.fit(x, y, verbose=0)
        model.session.engine = engine
        found.append({name: bytes(values) for name, values in fisher.fisher(model, x, y).items()})
    assert found[0] == found[1]


def convolutions(rng):
    """(a model, what it is compiled with, x, y): with max-pooling, whose windows may overlap,
    and inputs of any format.
    """
    size, channels = rng.randint(3, 10), rng.randint(1, 3)
    raw = {"dtype": "uint8", "scale": 1 / 16} if rng.random() < 0.5 else {}
    layers, left = [odt.Input((size, size, channels), **raw)], size
    for _ in range(rng.randint(1, 4)):
        activation = rng.choice((None, "relu", "relu"))
        if rng.random() < 0.3:
            layers.append(odt.DepthwiseConv2D(3, padding="same", activation=activation))
        else:
            kernel = rng.choice((1, 3))
            layers.append(odt.Conv2D(rng.randint(1, 6), kernel, padding="same", activation=activation))
        if left >= 2 and rng.random() < 0.7:
            stride = rng.choice((1, 2, 2))
            layers.append(odt.MaxPool2D(2, strides=stride))
            left = (left - 2) // stride + 1
    layers.append(odt.Flatten() if rng.random() < 0.7 else odt.GlobalAvgPool())
    if rng.random() < 0.4:
        layers.append(odt.Dense(rng.randint(2, 12), "relu"))
    layers.append(odt.Dense(4))
    batch = rng.randint(1, 6)
    count = rng.randint(1, batch) * size * size * channels
    if raw:
        x = bytes([rng.randint(0, 16) for _ in range(count)])
    else:
        x = array("f", [rng.gauss(0, rng.choice((0.1, 1, 5))) for _ in range(count)])
    optimizer = rng.choice((odt.Adam(0.01), odt.SGD(0.1, 0.9), odt.SGD(0.1), odt.Adam(0.01, global_clipnorm=1.0)))
    options = {"optimizer": optimizer, "batch_size": batch, "seed": 1}
    y = bytes([rng.randint(0, 3) for _ in range(count // (size * size * channels))])
    return odt.Sequential(layers), options, x, y


def drawn(rng):
    """The same of any network."""
    model, options, x, y = networks.draw_case(networks.Random(rng))
    options.update(dtype="int8", micro_batch=None)
    if options["optimizer"].state == "float32":
        options["optimizer"] = odt.Adam(0.01)
    model.compile(**options)
    row, samples = model.session.row, len(x) // model.session.row
    count = min(samples, options["batch_size"])
    return model, options, x[: count * row], y[: count * (len(y) // samples)]


@pytest.mark.parametrize("draw, least", ((convolutions, 80), (drawn, 10)))
def test_a_first_step_in_one_pass_ends_with_the_bits_of_calibration_and_then_a_step(draw, least):
    in_one = 0
    for seed in range(200):
        model, options, x, y = draw(random.Random(seed))
        found, made = [], []

        def calibrate(*arguments):
            made.append(_odt.calibrate(*arguments))
            return made[-1]

        for engine in (types.SimpleNamespace(**dict(vars(_odt), calibrate=calibrate)), STEPWISE):
            model.session = None  # or compile() keeps the weights
            model.compile(**options)
            model.session.engine = engine
            try:
                losses = [model.train_step(x, y) for _ in range(2)]
            except ArithmeticError as error:
                losses = str(error)
            found.append((losses, bytes(model.session.state), list(model.session.control)))
        assert found[0] == found[1]
        in_one += any(made)
    assert in_one > least


@pytest.mark.parametrize("draw", (convolutions, drawn))
def test_what_an_update_has_written_only_updates_read_in_the_same_step(draw):
    """On which a first step in one pass depends: it measures ranges between updates."""
    updates = 0
    for seed in range(100):
        model, options, _, _ = draw(random.Random(seed))
        model.compile(**options)
        program, written = model.session.program, []
        backward = program.section("evaluate")[1]
        for at, code, addresses, immediates in program.walk(*program.section("train")):
            sizes, reads, writes = dict(zip(code.immediates, immediates)), [], []
            for number, (operand, address) in enumerate(zip(code.operands, addresses)):
                if address >> REGION_SHIFT == STATE:
                    extent = address, address + code.bytes(number, sizes)
                    (reads if operand[1] == ":" else writes).append(extent)
            if at < backward or code.name.startswith(("relative_", "tick", "step_key")):
                continue
            if writes:
                written += writes
                updates += 1
            elif not code.name.endswith("_dw_i8"):
                assert not [1 for a, b in reads for c, d in written if a < d and c < b], (seed, code.name)
    assert updates > 200


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
