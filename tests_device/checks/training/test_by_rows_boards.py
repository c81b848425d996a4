"""A model file made on the PC whose layers run by rows opens on boards and trains on to the PC's digests."""

import re
import sys

import machines
import pytest
from digests import on_the_pc
from networks import spread
from stock_files import give

import odt
from odt.adapt import RoundedSGD, update

sys.path.insert(0, str(machines.ROOT / "bench"))

import folders  # noqa: E402, F401
import published  # noqa: E402

SCRIPT = machines.ROOT / "tests_device" / "scripts" / "by_rows.py"


def small(**options):
    """Two frozen blocks at 24x24 before a convolution that trains."""
    x = odt.Input((24, 24, 3), dtype="uint8", scale=1 / 128, zero_point=128)
    frozen = {"trainable": False, "padding": "same"}
    y = odt.Conv2D(8, 3, activation="relu", **frozen)(x)
    for _ in range(2):
        z = odt.Conv2D(24, 1, activation="relu", **frozen)(y)
        z = odt.DepthwiseConv2D(3, activation="relu", **frozen)(z)
        y = odt.Add()([odt.Conv2D(8, 1, **frozen)(z), y])
    y = odt.Conv2D(12, 3, strides=2, padding="same", activation="relu")(y)
    model = odt.Model(x, odt.Dense(5)(odt.GlobalAvgPool()(y)))
    model.compile(odt.SGD(0.05, 0.9), batch_size=1, seed=1, **options)
    return model


def four(**options):
    """Convolutions that do not train before a layer that does."""
    x = odt.Input((24, 24, 3), dtype="uint8", scale=1 / 128, zero_point=128)
    y = x
    for channels, strides in ((16, 2), (24, 2), (32, 2)):
        y = odt.Conv2D(channels, 3, strides=strides, padding="same", activation="relu", trainable=False)(y)
        y = odt.DepthwiseConv2D(3, padding="same", activation="relu", trainable=False)(y)
    y = odt.Dense(24, activation="relu", trainable=False)(odt.GlobalAvgPool()(y))
    model = odt.Model(x, odt.Dense(5)(y))
    model.compile(odt.Adam(0.01), batch_size=1, seed=1, **options)
    return model


def biases(**options):
    """Two blocks of which the biases train, at a resolution that makes their errors most of the arena."""
    x = odt.Input((24, 24, 3), dtype="uint8", scale=1 / 128, zero_point=128)
    y = odt.Conv2D(8, 3, padding="same", activation="relu")(x)
    for strides in (1, 2):
        z = odt.Conv2D(24, 1, activation="relu")(y)
        z = odt.DepthwiseConv2D(3, strides=strides, padding="same", activation="relu")(z)
        z = odt.Conv2D(8, 1)(z)
        y = odt.Add()([z, y]) if strides == 1 else z
    model = odt.Model(x, odt.Dense(5)(odt.GlobalAvgPool()(y)))
    update.bias(model)
    model.compile(odt.SGD(0.05, 0.9), batch_size=1, seed=1, **options)
    spread(model)
    return model


def split(optimizer=None, **options):
    """A network of which some channels train, in a few layers; all else lies in flash."""
    x = odt.Input((40, 40, 3), dtype="uint8", scale=1 / 128, zero_point=128)
    y = odt.Conv2D(8, 3, strides=5, padding="same", activation="relu", name="first")(x)
    y = odt.Conv2D(16, 1, activation="relu", name="wide")(y)
    y = odt.DepthwiseConv2D(3, strides=2, padding="same", activation="relu", name="deep")(y)
    y = odt.Conv2D(32, 1, activation="relu", name="narrow")(y)
    y = odt.Dense(40, activation="relu", name="hidden")(odt.GlobalAvgPool()(y))
    model = odt.Model(x, odt.Dense(5, name="last")(y))
    rows = {"wide": ((0, 6),), "deep": ((2, 3), (10, 4)), "narrow": ((4, 8),), "hidden": ((0, 10),)}
    update.channels(model, rows | {"last": ((0, 5),)})
    model.compile(optimizer or odt.Adam(0.01), batch_size=1, seed=1, **options)
    return model


def mobilenet(**options):
    """MobileNetV2 of 0.35 of its width at 64x64, whose last layer trains."""
    model = published.network("MobileNetV2-w0.35", "last layer", "relu", 64)
    model.compile(odt.SGD(0.05), batch_size=1, seed=1, **options)
    return model


def made(network, folder, size, weights=True, **options):
    """(the file, what a PC prints that opens it and trains on, bytes of the arena without a budget)"""
    whole = network(**options)
    with pytest.raises(MemoryError) as error:
        network(memory_budget=1, **options)
    model = network(memory_budget=int(re.findall(r"at least (\d+)", str(error.value))[0]), **options)
    assert model.session.plan.rows.stages or model.session.plan.rows.found
    model.train_step(bytes([(3 * at) & 255 for at in range(size)]), bytes([1]))
    path = folder / "by_rows.odt"
    model.export(path)
    text = on_the_pc(SCRIPT, {"file": str(path), "size": size, "weights": weights})
    assert digests(text)[0] == ("opened", "%08x" % model.digest()) and len(set(digests(text))) == 6 + weights
    return path, text, len(whole.session.arena)


def digests(text):
    return re.findall(r"(\w+) digest ([0-9a-f]{8})", text)


def check(text, expected):
    assert "native executor" in text and "runs by rows: its ranges are its file's" in text
    assert digests(text) == digests(expected)


def trained(name, path, size, weights=True):
    """What the script prints on a machine that has the model file."""
    with machines.open(name) as machine:
        if name == "stock_rp2040":
            give(machine, "armv6m")
        machine.put([path])
        return machine.run(SCRIPT, timeout=900, args={"file": path.name, "size": size, "weights": weights})


@pytest.mark.parametrize("name", ("unix", "qemu_m3", "qemu_m7", "rp2040", "stock_rp2040"))
def test_boards_train_by_rows_to_the_digests_of_the_pc(name, tmp_path):
    size = 24 * 24 * 3
    path, expected, whole = made(small, tmp_path, size)
    assert int(re.findall(r"arena (\d+)", expected)[0]) < 0.5 * whole
    check(trained(name, path, size), expected)


@pytest.mark.parametrize("name", ("qemu_m4", "rp2040", "stock_rp2040"))
def test_boards_train_biases_by_rows_to_the_digests_of_the_pc(name, tmp_path):
    """Errors by rows, too, of which the scaled ones are drawn in parts."""
    size = 24 * 24 * 3
    path, expected, whole = made(biases, tmp_path, size)
    assert int(re.findall(r"arena (\d+)", expected)[0]) < 0.45 * whole
    check(trained(name, path, size), expected)


@pytest.mark.parametrize("name", ("unix", "qemu_m7", "rp2040", "stock_rp2040"))
def test_boards_train_split_kernels_to_the_digests_of_the_pc(name, tmp_path):
    frozen = odt.files.frozen.pack(split())
    size = 40 * 40 * 3
    path, expected, _ = made(split, tmp_path, size, frozen=frozen)
    assert odt.load_model(str(path)).session.plan.rows[0][0] == "input"  # the sample is read by rows
    check(trained(name, path, size), expected)


@pytest.mark.parametrize("name", ("qemu_m7", "rp2040", "stock_rp2040"))
def test_boards_train_weights_without_residuals_to_the_digests_of_the_pc(name, tmp_path):
    options = {"optimizer": RoundedSGD(0.1, 0.9)}
    frozen = odt.files.frozen.pack(split(**options))
    size = 40 * 40 * 3
    path, expected, _ = made(split, tmp_path, size, frozen=frozen, **options)
    check(trained(name, path, size), expected)


@pytest.mark.parametrize("name", ("unix", "qemu_m4", "rp2040", "stock_rp2040"))
def test_boards_train_over_kernels_of_4_bits_to_the_digests_of_the_pc(name, tmp_path):
    size = 24 * 24 * 3
    path = tmp_path / "four.odt"
    whole = four()
    model = four(frozen=odt.files.frozen.pack(whole, bits=4))
    assert model.session.plan.constants < 0.7 * len(odt.files.frozen.pack(whole))
    model.train_step(bytes([(3 * at) & 255 for at in range(size)]), bytes([1]))
    model.export(path)
    expected = on_the_pc(SCRIPT, {"file": str(path), "size": size, "weights": False})
    assert digests(expected)[0] == ("opened", "%08x" % model.digest()) and len(set(digests(expected))) == 6
    text = trained(name, path, size, False)
    assert "native executor" in text
    assert digests(text) == digests(expected)


def test_mobilenet_trains_its_last_layer_on_a_cortex_m4_with_its_weights_in_place(tmp_path):
    frozen = odt.files.frozen.pack(mobilenet())
    size = 64 * 64 * 3
    path, expected, whole = made(mobilenet, tmp_path, size, False, frozen=frozen)
    assert int(re.findall(r"arena (\d+)", expected)[0]) < 0.4 * whole
    with machines.open("qemu_m4hf") as machine:
        machine.install([path])
        arguments = {"file": "/rom/" + path.name, "size": size, "weights": False}
        text = machine.run(SCRIPT, timeout=900, args=arguments)
    check(text, expected)
