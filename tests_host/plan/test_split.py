"""Split kernels (odt/host/rows/split.py): rows that train in the state, the others in flash; no other bit.

The oracle is the same model with whole kernels: its weights, losses and optimizer's state after each step.
"""

import random

import numpy as np
import pytest
import striped
from striped import least

import odt
from odt import executor
from odt.adapt import update
from odt.files import frozen
from odt.host.chart import chart
from odt.inspect import Trace, names, profile
from odt.plan.compiler import compile_graph


def chosen(draw, layers):
    """Of a few layers some rows that train, in one run or two, {name: ((first, count), ..)}."""
    found = {}
    for layer in layers:
        rows = layer.kernel_shape[0]
        if rows < 3 or draw.random() < 0.2:
            continue
        first = draw.choice((0, 0, 1))
        count = draw.randint(1, max(1, rows // 2))
        found[layer.name] = ((first, count),)
        if first + count + 2 <= rows and draw.random() < 0.5:
            found[layer.name] += ((first + count + 1, 1),)
    return found


def network(number, **options):
    """A random network that trains in part, its channels chosen at random."""
    draw = random.Random(number)
    x = odt.Input((8, 6, 2), dtype="uint8", scale=1 / 128, zero_point=128)
    y = odt.Conv2D(8, 3, padding="same", activation="relu", name="first")(x)
    layers = []
    for place in range(4):
        kind = draw.choice(("conv", "point", "deep", "even", "group"))
        name = "%s%d" % (kind, place)
        activation = draw.choice((None, "relu"))
        wide = draw.choice((4, 8, 12))
        if kind == "conv":
            y = odt.Conv2D(wide, 3, padding="same", strides=draw.choice((1, 2)), activation=activation, name=name)(y)
        elif kind == "deep":
            y = odt.DepthwiseConv2D(3, padding="same", activation=activation, name=name)(y)
        elif kind == "group":
            y = odt.Conv2D(wide, 3, padding="same", groups=2, activation=activation, name=name)(y)
        else:
            y = odt.Conv2D(wide, 1, activation=activation, use_bias=kind == "point", name=name)(y)
        if draw.random() < 0.3:
            y = odt.BatchNorm()(y)
    y = odt.Dense(9, activation="relu", name="hidden")(draw.choice((odt.GlobalAvgPool, odt.Flatten))()(y))
    model = odt.Model(x, odt.Dense(4, name="last")(y))
    layers = [
        node.layer for node in model.nodes if node.layer.kernel_shape and node.layer.name not in ("first", "last")
    ]
    update.channels(model, chosen(draw, layers) | {"last": ((0, 4),)})
    optimizers = (
        lambda: odt.SGD(0.05), lambda: odt.SGD(0.05, 0.9), lambda: odt.Adam(0.01), lambda: odt.AdamW(0.01),
        lambda: odt.Adam(0.01, global_clipnorm=1.0),
    )  # fmt: skip
    dtype = draw.choice(("int8", "int8", "float32"))
    batch = draw.choice((1, 1, 4))
    micro = draw.choice((None, 2)) if batch == 4 else None
    taken = {"dtype": dtype, "batch_size": batch, "micro_batch": micro, "seed": 3}
    model.compile(draw.choice(optimizers)(), **dict(taken, **options))
    return model


def pair(seed, **options):
    """(the model with whole kernels, with split ones or None): frozen weights in flash."""
    data = frozen.pack(network(seed, **options))
    fewest = least(lambda **more: network(seed, frozen=data, **options, **more))
    model = network(seed, frozen=data, memory_budget=fewest, **options)
    rows = model.session.plan.rows
    return network(seed, frozen=data, **options), model if rows and rows.found else None


def states(model):
    """The optimizer's state and the ranges, by name."""
    session, plan = model.session, model.session.plan
    noted = compile_graph(
        model.nodes, session.loss, session.optimizer, session.dtype, session.batch_size, session.micro, plan.segments,
        plan.flash, [], plan.bits, plan.rows,
    ).buffers  # fmt: skip
    return {
        buffer.name: bytes(session.state[buffer.offset : buffer.offset + buffer.size])
        for buffer in noted
        if not buffer.name.endswith((" kernel", " kernel scale"))
    }


def same(plain, model):
    for ours, theirs in zip(model.get_weights(), plain.get_weights()):
        assert bytes(ours) == bytes(theirs)
    assert states(plain) == states(model)


@pytest.mark.parametrize("backend, seeds", (("native", range(40)), ("reference", range(40, 43))))
def test_split_kernels_change_no_bit(backend, seeds):
    used = moved = smaller = 0
    for seed in seeds:
        executor.use(backend)
        try:
            plain, model = pair(seed)
        finally:
            executor.use("native")
        if model is None:
            continue
        used += 1
        smaller += len(model.session.state) < len(plain.session.state)
        x, y = striped.data(plain, 8)
        same(plain, model)
        first = [bytes(each) for each in plain.get_weights()]
        size = plain.session.batch_size
        for at in range(0, 8, size)[:3]:
            losses = [each.train_step(x[at : at + size], y[at : at + size]) for each in (plain, model)]
            assert losses[0] == losses[1]
            same(plain, model)
        moved += [bytes(each) for each in plain.get_weights()] != first
        assert plain.evaluate(x[:7], y[:7]) == model.evaluate(x[:7], y[:7])
        assert bytes(plain.predict(x[:3])) == bytes(model.predict(x[:3]))
        histories = [each.fit(x, y, epochs=2, verbose=0).history for each in (plain, model)]
        assert histories[0] == histories[1]
        same(plain, model)
    assert used == smaller > 0.6 * len(seeds) and moved == used


def test_weights_go_in_and_out_as_with_whole_kernels():
    tried = 0
    for seed in range(12):
        plain, model = pair(seed)
        other = network(seed, seed=99)
        if model is None:
            continue
        tried += 1
        x, y = striped.data(plain, 4)
        values = [np.array(each) / 2 for each in other.get_weights()]
        for each in (plain, model):
            each.set_weights(values)
            each.fit(x, y, verbose=0)
        same(plain, model)
        assert frozen.pack(model) == frozen.pack(plain)
        for each in (plain, model):
            each.load_weights(other)
            each.fit(x, y, verbose=0)
        same(plain, model)
        again = network(seed, frozen=frozen.pack(plain))
        again.load_weights(model)  # from split kernels to whole ones
        twin = network(seed, frozen=frozen.pack(plain))
        twin.load_weights(plain)
        assert again.digest() == twin.digest()
        bad = values[:-1] + [np.full(len(values[-1]), np.nan)]
        before = model.digest()
        with pytest.raises(ValueError):
            model.set_weights(bad)
        assert model.digest() == before
    assert tried > 6


def test_an_interrupted_set_weights_leaves_flash_as_it_was(monkeypatch):
    from odt.run import weights

    _, model = next(found for found in map(pair, range(12)) if found[1])
    before, write, count = model.digest(), weights.write, []

    def fails(*args):
        count.append(write(*args))
        if len(count) == len(model.session.plan.owners):
            raise KeyboardInterrupt

    monkeypatch.setattr(weights, "write", fails)
    with pytest.raises(KeyboardInterrupt):
        model.set_weights([np.array(each) / 2 for each in model.get_weights()])
    monkeypatch.undo()
    assert model.digest() == before
    model.set_weights(model.get_weights())


def test_files_carry_both_memories(tmp_path, capsys):
    tried = 0
    for seed in range(12):
        plain, model = pair(seed)
        if model is None:
            continue
        tried += 1
        x, y = striped.data(plain, 8)
        for each in (plain, model):
            each.fit(x, y, verbose=0)
        path, saved = str(tmp_path / "model.odt"), str(tmp_path / "model.ck")
        model.export(path)
        model.save(saved)
        opened = odt.load_model(path)
        assert opened.program.code == model.program.code and opened.digest() == model.digest()
        for each in (plain, model, opened):
            each.fit(x, y, epochs=2, initial_epoch=1, verbose=0)
        same(plain, model)
        assert opened.digest() == model.digest()
        for ours, theirs in zip(opened.get_weights(), plain.get_weights()):
            assert bytes(ours) == bytes(theirs)
        capsys.readouterr()
        texts = []
        for each in (model, opened):
            each.summary()
            texts.append(capsys.readouterr().out)
        flash = "frozen weights     %8d bytes, in flash" % len(model.session.frozen)
        assert all("split kernel " in text and flash in text for text in texts)
        # Whole kernels take the file's weights.
        again, twin = [network(seed, frozen=frozen.pack(plain)) for _ in range(2)]
        opened.export(path)
        again.load_weights(path)
        twin.load_weights(plain)
        assert again.digest() == twin.digest()
        # On a board what lies in flash stays, what trains is taken.
        flash = bytes(opened.session.frozen)
        opened.set_weights([np.array(each) / 2 for each in opened.get_weights()])
        assert bytes(opened.session.frozen) == flash
        model.load(saved)
        model.set_weights([np.array(each) / 2 for each in model.get_weights()])
        with pytest.raises(ValueError, match="by another network, or one compiled otherwise"):
            model.load(saved)
        model.fit(x, y, verbose=0)
        model.export(path, purpose="inference")
        assert bytes(odt.load_model(path).predict(x)) == bytes(model.predict(x))
    assert tried > 6


def test_a_damaged_description_is_refused(tmp_path):
    import json
    import struct
    import zlib

    _, model = next(found for found in map(pair, range(12)) if found[1] and found[1].dtype == "int8")
    x, y = striped.data(model, 4)
    model.fit(x, y, verbose=0)
    path = str(tmp_path / "model.odt")
    model.export(path)
    data = open(path, "rb").read()
    sizes = struct.unpack("<5I", data[12:32])
    begin = 64 + (sizes[0] + 3 & ~3)
    layers = json.loads(data[begin : begin + sizes[1]])
    number = next(n for n, row in enumerate(layers["weights"]) if row["buffers"][0] and len(row["buffers"][0]) > 5)
    for at in (0, 2):  # kernel, scale
        for place, value in ((2, 1 << 20), (3, 7), (5, 1 << 20), (5, -1), (6, 3)):
            text = json.loads(json.dumps(layers))
            text["weights"][number]["buffers"][at][place] = value
            made = json.dumps(text).encode()
            body = data[64:begin] + made + bytes(-len(made) % 4) + data[begin + (sizes[1] + 3 & ~3) :]
            head = data[:16] + struct.pack("<I", len(made)) + data[20:56] + struct.pack("<I", zlib.crc32(body))
            broken = odt.load_model(head + struct.pack("<I", zlib.crc32(head)) + body)
            with pytest.raises(ValueError):
                broken.get_weights()


def test_every_budget_from_the_smallest_on_is_accepted():
    for seed in range(8):
        data = frozen.pack(network(seed))

        def make(data=data, seed=seed, **more):
            return network(seed, frozen=data, **more)

        fewest, plain = least(make), make()
        with pytest.raises(MemoryError):
            make(memory_budget=fewest - 1)
        whole = len(plain.session.arena) + len(plain.session.state)
        for budget in {fewest, (fewest + whole) // 2, whole - 1}:
            model = make(memory_budget=budget)
            assert len(model.session.arena) + len(model.session.state) <= budget


def test_split_kernels_are_looked_into_like_others(tmp_path):
    def make(**options):
        x = odt.Input((4, 4, 2), dtype="uint8", scale=1 / 128, zero_point=128)
        y = odt.Conv2D(4, 3, padding="same", activation="relu", name="first")(x)
        y = odt.Conv2D(12, 1, activation="relu", name="conv")(y)
        y = odt.Dense(24, activation="relu", name="hidden")(odt.Flatten()(y))
        model = odt.Model(x, odt.Dense(4, name="last")(y))
        update.channels(model, {"conv": ((0, 3),), "hidden": ((2, 8), (12, 4)), "last": ((0, 4),)})
        model.compile(odt.SGD(0.05), batch_size=1, seed=3, **options)
        return model

    data = frozen.pack(make())
    fewest = least(lambda **more: make(frozen=data, **more))
    plain, model = make(frozen=data), make(frozen=data, memory_budget=fewest + 300)
    assert model.session.plan.rows.layers() == ["conv", "hidden"] and not model.session.plan.again
    x, y = striped.data(plain, 2)
    for each in (plain, model):
        each.train_step(x[:1], y[:1])
    page = tmp_path / "plan.html"
    assert "split kernels, of which the rows that do not train lie in flash: conv, hidden" in chart(model, page).notes
    assert "lie in flash: conv, hidden<br>" in page.read_text() and chart(plain, tmp_path / "plan.png").notes
    kernel = model.session.plan.rows.layers()[0] + " kernel"
    assert kernel in names(model)
    values = []
    for each in (plain, model):
        with Trace(each, [kernel]) as trace:
            each.train_step(x[:1], y[:1])
        values.append(np.array(trace[kernel]))
    layer = [layer for layer, _ in plain.session.plan.weights if layer.name + " kernel" == kernel][0]
    rows = [row for first, count in layer.update_rows for row in range(first, first + count)]
    assert np.array_equal(values[0].reshape(layer.kernel_shape[0], -1)[rows].ravel(), values[1])
    macs = [{row[0]: row[4:7] for row in profile(each, x[:1], y[:1])} for each in (plain, model)]
    assert macs[0] == macs[1]
