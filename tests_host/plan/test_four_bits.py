"""Frozen weights of 4 bits (odt/host/four_bits.py, odt/host/rows/packed.py): half the flash, to the bits of int8.

The oracle of a plan is the same network with whole int8 kernels in RAM, into which the same weights are loaded; of the
steps NumPy's search, of the biases PyTorch in float64.
"""

import re

import numpy as np
import pytest
import striped
from striped import least
from twin import Twin

import odt
from odt import executor
from odt.adapt import update
from odt.adapt.fisher import fisher
from odt.files import frozen
from odt.host.chart import chart
from odt.host.four_bits import nibbles, step_of
from odt.inspect import Trace, names

X = np.random.default_rng(8).normal(size=(24, 8, 8, 2)).astype("float32")
Y = np.random.default_rng(9).integers(0, 4, 24).astype("uint8")


def network(channels=9, **options):
    model = odt.Sequential([
        odt.Input((8, 8, 2)), odt.Conv2D(channels, 3, activation="relu", name="first"),
        odt.DepthwiseConv2D(3, use_bias=False, name="deep"), odt.Conv2D(10, 1, activation="relu", name="point"),
        odt.MaxPool2D(), odt.Flatten(), odt.Dense(7, "relu", name="hidden"), odt.Dense(4, name="last"),
    ])  # fmt: skip
    update.last(model, 2)
    model.compile(odt.Adam(0.02), **dict({"batch_size": 8, "seed": 4}, **options))
    return model


def same_weights(model, other):
    return all(np.array_equal(*pair) for pair in zip(model.get_weights(), other.get_weights()))


def unpacked(count, data):
    """Weights by NumPy: byte i of each four has weight i in its low nibble, weight i + 4 in its high one."""
    data = np.frombuffer(data, "uint8").reshape(-1, 4)
    nibbles = np.concatenate([data & 15, data >> 4], 1).ravel().astype(int)
    return np.where(nibbles > 7, nibbles - 16, nibbles)[:count]


def test_nibbles_are_what_numpy_unpacks():
    rng = np.random.default_rng(1)
    for count in (1, 4, 7, 8, 9, 250):
        values = rng.integers(-8, 8, count)
        data = nibbles(values.tolist())
        assert len(data) == 4 * -(-count // 8)
        assert unpacked(count, data).tolist() == values.tolist()


@pytest.mark.parametrize("backend", ("native", "reference"))
def test_the_instruction_unpacks_as_numpy_does(backend):
    model = network()
    data = frozen.pack(model, bits=4)
    executor.use(backend)
    try:
        model = network(frozen=data)
        with Trace(model, ["input"]):
            model.predict(X[:8])
        kernel = np.frombuffer(data, "uint8")
        found = 0
        session = model.session
        for at, code, addresses, (words, *_) in model.program.walk(*model.session.sections["predict"]):
            if code.name != "unpack_i4":
                continue
            session.engine.run(session.loaded, session.regions, at, at + code.words)
            to, source = [address & (1 << 26) - 1 for address in addresses]
            made = np.frombuffer(bytes(session.arena[to : to + 8 * words]), "int8")
            assert (made // 16).tolist() == unpacked(8 * words, kernel[source : source + 4 * words].tobytes()).tolist()
            assert not np.any(made % 16)
            found += 1
        assert found == 3
    finally:
        executor.use("native")


def test_steps_have_the_smallest_squared_error():
    rng = np.random.default_rng(3)
    for size in (1, 2, 9, 27, 144, 600):
        for spread in (3, 20, 127):
            row = np.clip(np.rint(rng.standard_t(4, size) * spread / 3), -127, 127)
            steps = np.linspace(0.01, max(1, np.abs(row).max()) / 6, 4000)[:, None]
            errors = ((row - np.clip(np.rint(row / steps), -7, 7) * steps) ** 2).sum(1)
            step = step_of(row.astype(int).tolist())
            error = ((row - np.clip(np.rint(row / step), -7, 7) * step) ** 2).sum()
            assert error <= 1.05 * errors.min() + 1e-9, (size, spread)
    assert step_of([0, 0]) == 1


@pytest.mark.parametrize("seed", range(12))
def test_a_random_network_has_the_bits_of_whole_int8_kernels(seed):
    """Also where a budget asks for groups of rows and for stripes."""
    model, options = striped.draw(seed)
    options["dtype"] = "int8"
    model.compile(**options)
    x, y = striped.data(model, 6)
    try:
        data = frozen.pack(model, bits=4)
    except ValueError as error:
        assert "nothing is frozen" in str(error)
        return
    plain = model

    def compiled(**more):
        made = striped.draw(seed)[0]
        made.compile(**dict(options, frozen=data, **more))
        return made

    models = [compiled(), compiled(memory_budget=least(compiled))]
    assert models[1].session.plan.arena <= models[0].session.plan.arena
    for each in models:
        each.load_weights(plain)
        each.calibrate(x, y)
    plain.load_weights(models[0])
    plain.calibrate(x, y)
    outputs = plain.predict(x).tolist()
    assert np.ptp(outputs) > 0
    for each in models:
        assert each.predict(x).tolist() == outputs
    losses = plain.fit(x, y, epochs=2, verbose=0).history
    for each in models:
        assert each.fit(x, y, epochs=2, verbose=0).history == losses
        assert same_weights(each, plain)


def wide(**options):
    """Layers whose kernels are larger than all else."""
    model = odt.Sequential([
        odt.Input((6, 6, 4)), odt.Conv2D(96, 3, strides=2, activation="relu", trainable=False),
        odt.Conv2D(51, 1, activation="relu", trainable=False), odt.Flatten(), odt.Dense(33, trainable=False),
        odt.Dense(3),
    ])  # fmt: skip
    model.compile(odt.SGD(0.05), **dict({"batch_size": 1, "seed": 2}, **options))
    return model


@pytest.mark.parametrize("batch", (1, 3))
def test_kernels_larger_than_the_peak_are_unpacked_by_groups_of_rows(batch):
    plain = wide(batch_size=batch)
    data = frozen.pack(plain, bits=4)
    model = wide(batch_size=batch, frozen=data)
    kernels = [layer.macs for layer in model.layers if layer.kind == "dense"]
    assert kernels[0] > len(model.session.arena)  # a whole kernel has no room in it
    assert model.disassemble().count("unpack_i4") > 6
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(5, 6, 6, 4)).astype("float32"), np.arange(5) % 3
    model.calibrate(x, y)
    plain.load_weights(model)  # and ranges, which are measured group by group
    outputs = model.predict(x).tolist()
    assert plain.predict(x).tolist() == outputs and np.ptp(outputs) > 0.01
    assert plain.fit(x, y, epochs=2, verbose=0).history == model.fit(x, y, epochs=2, verbose=0).history
    assert same_weights(plain, model)


def test_an_error_goes_back_through_kernels_of_4_bits():
    def compiled(**options):
        made = odt.Sequential([
            odt.Input((8, 8, 2)), odt.Conv2D(8, 3, name="below"), odt.Conv2D(6, 3, activation="relu", name="middle"),
            odt.DepthwiseConv2D(3, name="deep"), odt.Flatten(), odt.Dense(12, "relu", name="dense"), odt.Dense(4),
        ])  # fmt: skip
        for layer in made.layers:
            layer.trainable = layer.name not in ("middle", "deep", "dense")
        made.compile(odt.Adam(0.02), batch_size=8, seed=1, **options)
        return made

    plain = compiled()
    model = compiled(frozen=frozen.pack(plain, bits=4))
    model.load_weights(plain)
    plain.load_weights(model)
    before = model.get_weights()[0]
    for each in (plain, model):
        each.calibrate(X, Y)
    assert plain.fit(X, Y, epochs=3, verbose=0).history == model.fit(X, Y, epochs=3, verbose=0).history
    assert same_weights(plain, model) and not np.array_equal(before, model.get_weights()[0])
    assert model.disassemble().count("unpack_i4") == 6  # forward and backward


def test_executors_have_one_digest():
    data = frozen.pack(network(), bits=4)
    digests = []
    for backend in ("native", "reference"):
        executor.use(backend)
        try:
            model = network(frozen=data)
            model.fit(X[:8], Y[:8], verbose=0)
            digests.append(model.digest())
        finally:
            executor.use("native")
    assert digests[0] == digests[1]


def test_biases_take_back_the_mean_error_of_outputs():
    """By PyTorch in float64: of each layer's outputs, given the inputs of the whole network."""
    plain = network()
    plain.fit(X, Y, epochs=3, verbose=0)
    whole = plain.get_weights()
    twin = Twin(plain, weights=whole)
    outputs = twin.outputs(X)
    moved = {}
    for x in (None, X):
        model = network(frozen=frozen.pack(plain, bits=4, x=x))
        found = Twin(plain, weights=model.get_weights())
        for node in plain.nodes:
            if node.layer.name in ("first", "point"):
                shape = node.inputs[0].shape
                inputs = outputs[node.inputs[0]].reshape(-1, *shape).permute(0, 3, 1, 2)
                means = [
                    each._of_images(node.layer, inputs, shape[:2], *each.parameters[node]).mean((0, 2, 3))
                    for each in (twin, found)
                ]
                moved.setdefault(node.layer.name, []).append(float((means[0] - means[1]).abs().max()))
    for before, after in moved.values():
        assert after < 0.1 * before, moved


def test_which_layers_have_4_bits_is_chosen_by_name():
    plain = network()
    sizes = [len(frozen.pack(plain, bits=bits)) for bits in (8, {"first": 4}, {"first": 4, "deep": 8, "point": 4}, 4)]
    kernels = 162, 81, 90
    expected = [sizes[0]]
    for chosen in ((0,), (0, 2), (0, 1, 2)):
        expected.append(sizes[0] + 8 - sum([(kernels[k] + 3) // 4 * 4 - (kernels[k] + 7) // 8 * 4 for k in chosen]))
    assert sizes == expected
    model = network(frozen=frozen.pack(plain, bits={"point": 4}))
    model.load_weights(plain)
    for name, ours, theirs in zip(["first", "first", "deep", "point"], model.get_weights(), plain.get_weights()):
        assert np.array_equal(ours, theirs) == (name != "point")


def test_a_model_file_has_them_and_summary_chart_and_inspect_show_them(tmp_path, capsys):
    plain = network()
    data = frozen.pack(plain, bits=4, x=X)
    model = network(frozen=data)
    model.fit(X, Y, verbose=0)
    for purpose in ("inference", "training"):
        model.export(str(tmp_path / "model.odt"), purpose=purpose)
        opened = odt.load_model(str(tmp_path / "model.odt"))
        assert opened.predict(X).tolist() == model.predict(X).tolist()
        for ours, theirs in zip(opened.get_weights()[:5], model.get_weights()):  # of what is frozen
            assert np.array_equal(ours, theirs)
        capsys.readouterr()
        opened.summary()
        assert re.search(r"frozen weights .*, of 4 bits: first deep point\n", capsys.readouterr().out)
    assert frozen.pack(model) == data
    model.summary()
    assert ("frozen weights %12d bytes, in flash, of 4 bits: first deep point\n" % len(data)) in capsys.readouterr().out
    other = network()
    other.load_weights(str(tmp_path / "model.odt"))
    assert same_weights(other, model)
    plan = chart(model, str(tmp_path / "plan.html"))
    assert "kernels of 4 bits in flash: first, deep, point" in plan.notes
    assert {box.name for box in plan.boxes} >= {"first kernel", "deep kernel", "point kernel"}
    assert {"first", "deep", "point"} <= set(names(model))
    model.save(str(tmp_path / "state"))
    again = network(frozen=data)
    again.load(str(tmp_path / "state"))
    assert again.digest() == model.digest()


def test_what_cannot_be_is_refused_by_name_and_changes_nothing():
    model = network()
    digest = model.digest()
    for bits, kind, text in (
        (3, ValueError, "4 or 8 of layer 'first', got 3"),
        (True, ValueError, "got True"),
        ({"last": 4}, ValueError, "layer 'last' trains"),
        ({"nothing": 4}, KeyError, "no layer 'nothing' has a kernel; these have: first, deep, point, hidden, last"),
    ):
        with pytest.raises(kind, match=text):
            frozen.pack(model, bits=bits)
    with pytest.raises(ValueError, match="int8 models, this one is float32"):
        frozen.pack(network(dtype="float32"), bits=4)
    with pytest.raises(ValueError, match="nothing is frozen"):
        everything = odt.Sequential([odt.Input((3,)), odt.Dense(2)])
        everything.compile()
        frozen.pack(everything, bits=4)
    data = frozen.pack(model, bits=4)
    with pytest.raises(ValueError, match="int8 models, this one is float32"):
        network(dtype="float32", frozen=data)
    damaged = bytearray(data)
    damaged[-1] ^= 1
    for bad, text in (
        (bytes(damaged), "damaged"),
        (frozen.pack(network(8), bits=4), "another network"),
        (data[:9], "another network"),
    ):
        with pytest.raises(ValueError, match=text):
            model.compile(frozen=bad)
    model.layers[0].trainable = True
    with pytest.raises(ValueError, match="first.*: its weights have 4 bits in what frozen= gives, so it cannot train"):
        model.compile(odt.Adam(0.02), frozen=data)
    assert model.digest() == digest


def test_what_measures_a_network_refuses_kernels_of_4_bits():
    model = network(frozen=frozen.pack(network(), bits=4))
    before = model.digest()
    with pytest.raises(ValueError, match="kernels of 4 bits: measure before they are packed"):
        fisher(model, X, Y)
    assert model.digest() == before
    assert model.fit(X, Y, verbose=0).history["loss"]
