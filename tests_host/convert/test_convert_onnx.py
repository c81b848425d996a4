"""Networks of ONNX become odt models: outputs are onnxruntime's, what is refused is named, damaged files change
nothing.
"""

import os

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto
from onnx_networks import FUZZED, network, node, quantized, run, written
from zoo import ZOO, MobileNetV2, Series, data, trained

import odt
from odt.host import commands
from odt.host.convert import load, onnxfile


@pytest.mark.parametrize("kind, dynamic", [(kind, True) for kind in ZOO] + [(MobileNetV2, False), (ZOO[5], False)])
def test_float32_outputs_are_those_of_onnxruntime(kind, dynamic, tmp_path):
    (tmp_path / "net.onnx").write_bytes(written(kind, dynamic))
    x = data(kind, 3)
    model = load(tmp_path / "net.onnx")
    expected = np.concatenate([run(written(kind, dynamic), one[None]) for one in x])
    got = model.imported.outputs(model.predict(model.imported.samples(x)))
    assert got.shape == expected.shape
    assert np.abs(got - expected).max() <= 1e-5 * np.abs(expected).max()


def test_training_goes_on_in_int8():
    x = data(MobileNetV2, 16)
    model = load(onnx.load_from_string(written(MobileNetV2)), calibrate=x, optimizer=odt.Adam(0.002), batch_size=8)
    samples = model.imported.samples(x)
    losses = model.fit(samples, np.arange(16, dtype="uint8") % 10, epochs=4, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


# --- quantized networks -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "form, signed, per_channel", [("QDQ", True, True), ("QDQ", False, False), ("QOperator", False, False)]
)
def test_quantized_networks_that_train_give_the_classes_of_onnxruntime(form, signed, per_channel):
    _, x, y = trained()
    proto, images = onnx.load_from_string(quantized(form, signed, per_channel)), (x / 16).astype("float32")
    expected = run(proto.SerializeToString(), images[1000:])
    model = load(proto, calibrate=images[:200])
    got = model.predict(model.imported.samples(images[1000:]))
    steps = np.abs(got - expected) / model.imported.graph.output.scale
    inside = np.abs(expected) < 0.98 * np.abs(expected).max()  # what onnxruntime's fixed range has not clipped
    assert np.mean(got.argmax(1) == expected.argmax(1)) >= 0.99
    assert np.median(steps[inside]) <= 1 and np.mean(steps[inside]) <= 1.5
    before = model.evaluate(model.imported.samples(images[1000:]), y[1000:])[1]
    model.fit(model.imported.samples(images[:1000]), y[:1000], epochs=2, verbose=0)
    assert model.evaluate(model.imported.samples(images[1000:]), y[1000:])[1] > before


# --- the command ------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.onnx").write_bytes(written(Series))
    np.savez("data.npz", x=data(Series, 8), y=np.zeros(8))
    return tmp_path


def test_the_command_writes_a_model_file_that_learns_on(files, capsys):
    words = ["net.onnx", "--calibrate", "data.npz", "-o", "series.odt", "--train", "last", "--labels", "a,b,c,d,e"]
    assert commands.main(["import", *words]) == 0
    assert "int8, ranges of 8 samples" in capsys.readouterr().out
    model = odt.load_model("series.odt")
    assert model.labels == ["a", "b", "c", "d", "e"]
    same = load("net.onnx", calibrate=data(Series, 8), train="last")
    assert model.digest() == same.digest()
    model.fit(same.imported.samples(data(Series, 8)), [0, 1, 2, 3, 4, 0, 1, 2], verbose=0)
    assert commands.main(["import", "net.onnx", "-o", "float.odt"]) == 0
    assert odt.load_model("float.odt").dtype == "float32"
    size = (files / "float.odt").stat().st_size
    text = capsys.readouterr().out
    assert "float32, as there is no --calibrate with samples" in text and "float.odt, %d bytes: ready" % size in text


@pytest.mark.parametrize(
    "words, message",
    [
        (["--dtype", "int8"], "calibrate: samples are needed"),
        (["--calibrate", "two.npz"], "the arrays are a, b; one is called x"),
        (["--calibrate", "pickled.npy"], "--calibrate pickled.npy: an array of numbers is expected, not of objects"),
        (
            ["--calibrate", "data.csv"],
            "--calibrate data.csv: an .npy or .npz file is expected, as numpy.save(path, x) writes it",
        ),
        (["--calibrate", "net.onnx"], "--calibrate net.onnx: "),
        (
            ["--calibrate", "wrong.npz"],
            "samples are (3, 50) in the source and (50, 3) in odt, got an array of (4, 4, 4)",
        ),
        (["--calibrate", "none.npz"], "No such file"),
        (["--train", "nine"], "no layer with weights is called 'nine'"),
        (["--labels", "a,b"], "2 names"),
    ],
)
def test_what_the_command_refuses_is_said_and_the_file_stays(files, capsys, words, message):
    np.savetxt("data.csv", np.zeros((4, 3)), delimiter=",")
    np.savez("two.npz", a=np.zeros(3), b=np.zeros(3))
    np.savez("wrong.npz", x=np.zeros((4, 4, 4)))
    np.save("pickled.npy", np.array([{}]), allow_pickle=True)
    (files / "model.odt").write_bytes(b"before")
    assert commands.main(["import", "net.onnx", *words]) == 1
    assert message in capsys.readouterr().out
    assert (files / "model.odt").read_bytes() == b"before"


# --- what is refused --------------------------------------------------------------------------


W = {"w": np.ones((3, 2, 3, 3), "float32")}
REFUSED = {
    "operator": (network([node("Softplus", ["x"], ["y"], "e")]),
    r"node e \(Softplus\): odt has no such operator; instead: Relu"),
    "dilation": (network([node("Conv", ["x", "w"], ["y"], dilations=[2, 2], strides=[2, 2], pads=[2] * 4)], weights=W),
    r"node 0 \(Conv\): has strides \(2, 2\) and dilation"),
    "dynamic": (network([node("Relu", ["x"], ["y"])], ("n", 2, "h", 4)), r"input x: has the dynamic shape .*shape="),
    "rank": (network([node("Relu", ["x"], ["y"])], (4,)), "input x: has the shape"),
    "bytes": (network([node("Relu", ["x"], ["y"])], kind=TensorProto.INT64), "input x: is of INT64"),
    "missing": (network([node("Relu", ["z"], ["y"])]), "the tensor 'z' is not there"),
    "channels": (network([node("Conv", ["x", "w"], ["y"])], ("n", 5, 4, 4), W), "does not take 5 channels"),
    "nan": (network([node("Conv", ["x", "w"], ["y"])], weights={"w": W["w"] * np.nan}),
    "node 0 .*kernel, number 0 is nan"),
    "large": (network([node("Resize", ["x", "", "s"], ["y"], nearest_mode="floor",
    coordinate_transformation_mode="asymmetric")],
                      weights={"s": np.array([1, 1, 9e4, 9e4], "float32")}), "Resize.*above"),
    "domain": (network([node("Conv", ["x", "w"], ["y"], domain="mine")], weights=W), "an operator of mine"),
    "shared": (network([node("Conv", ["x", "v"], ["a"], pads=[1] * 4), node("Conv", ["a", "v"], ["y"])],
    weights={"v": np.ones((2, 2, 3, 3), "float32")}), "shares the weights v"),
    "batch": (network([node("Reshape", ["x", "s"], ["y"])], weights={"s": np.array([-1, 4])}), "one result per sample"),
    "output": (network([node("Relu", ["x"], ["y"])], output="z"), "the output z is computed by no node"),
    "constant": (network([node("Identity", ["w"], ["y"])], weights=W), "the output does not depend on the input"),
    "nothing": (network([]), "no nodes"),
    "layer": (network([node("Identity", ["x"], ["y"])]), "no layer"),
    "pads": (network([node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2], pads=[3] * 4)]), "lie in the padding alone"),
    "attribute": (network([node("Conv", ["x", "w"], ["y"], strides=[1])], weights=W),
    "strides has 1 sizes, expected 2"),
    "zero": (network([node("Div", ["x", "z"], ["y"])], weights={"z": np.zeros(1, "float32")}),
    "Div.*gain, number 0 is inf"),
    "resize": (network([node("Resize", ["x", "", "s"], ["y"], mode="cubic")],
    weights={"s": np.array([1, 1, 2, 2], "float32")}), "mode nearest"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_odt_has_not_is_named_with_its_node(name):
    proto, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        load(proto)


def test_a_dynamic_shape_can_be_given():
    proto = network([node("Conv", ["x", "w"], ["y"])], ("n", 2, "h", "w"), W)
    assert load(proto, (2, 6, 5)).predict(np.zeros((1, 6, 5, 2), "float32")).shape == (1, 4, 3, 3)
    with pytest.raises(ValueError, match=r"samples are of shape \(2, None, None\), got \(3, 6, 5\)"):
        load(proto, (3, 6, 5))


def beside(folder, weights, **fields):
    """A file of one convolution whose weights lie in another file, described by these fields."""
    proto = network([node("Conv", ["x", "w"], ["y"])], weights=W)
    tensor = proto.graph.initializer[0]
    content = tensor.raw_data
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in fields.items():
        tensor.external_data.add(key=key, value=str(value))
    (folder / weights).write_bytes(b"1234" + content + b"56")
    (folder / "net.onnx").write_bytes(proto.SerializeToString())
    return proto


def test_weights_beside_the_file_are_read(tmp_path):
    beside(tmp_path, "net.onnx.data", location="net.onnx.data", offset=4, length=216, checksum="0")
    x = data(MobileNetV2, 2)[:, :2, :4, :4]
    model = load(tmp_path / "net.onnx")
    got = model.imported.outputs(model.predict(model.imported.samples(x)))
    assert np.abs(got - run(str(tmp_path / "net.onnx"), x)).max() < 1e-5


OUTSIDE = {
    "path": (dict(location="/etc/passwd"), "lies in '/etc/passwd'; instead: a file in the same folder"),
    "up": (dict(location="../w.bin"), "in the same folder"),
    "down": (dict(location="sub/w.bin"), "in the same folder"),
    "backslash": (dict(location="..\\w.bin"), "in the same folder"),
    "parent": (dict(location=".."), "in the same folder"),
    "none": (dict(offset=0), "in the same folder"),
    "missing": (dict(location="v.bin"), "v.bin is not there"),
    "link": (dict(location="link.bin"), "link.bin is not there, or no file"),
    "folder": (dict(location="sub"), "sub is not there, or no file"),
    "pipe": (dict(location="pipe"), "pipe is not there, or no file"),
    "short": (dict(location="w.bin", offset=8), "216 bytes from 8 on of .*w.bin, expected 216 of the file's 222"),
    "before": (dict(location="w.bin", offset=-4), "bytes from -4 on"),
    "length": (dict(location="w.bin", length=8), "8 bytes from 0 on of .*, expected 216"),
    "words": (dict(location="w.bin", offset="x"), "offset and length are no numbers"),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_weights_elsewhere_or_of_another_size_are_not_followed(name, tmp_path):
    fields, message = OUTSIDE[name]
    proto = beside(tmp_path, "w.bin", **fields)
    (tmp_path / "sub").mkdir()
    (tmp_path / "link.bin").symlink_to(tmp_path / "w.bin")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match=message):
        load(tmp_path / "net.onnx")
    with pytest.raises(ValueError, match="initializer w lies in another file"):
        load(proto)


@pytest.mark.parametrize("content", [b"", b"hello", b"\x08", bytes(1000)])
def test_what_is_no_onnx_file_is_said(content, tmp_path):
    (tmp_path / "net.onnx").write_bytes(content)
    with pytest.raises(ValueError, match=r"net.onnx is damaged, or no ONNX file"):
        load(tmp_path / "net.onnx")


@FUZZED
@given(st.data())
def test_a_damaged_file_is_read_or_is_a_value_error(draw):
    """Bytes changed, cut or repeated; and fields of the description given other values."""
    content = bytearray(written(draw.draw(st.sampled_from([Series, MobileNetV2]))))
    if draw.draw(st.booleans()):
        for _ in range(draw.draw(st.integers(1, 6))):
            content[draw.draw(st.integers(0, len(content) - 1))] = draw.draw(st.integers(0, 255))
        end = draw.draw(st.one_of(st.just(len(content)), st.integers(0, len(content))))
        proto = bytes(content[:end])
    else:
        proto = onnx.load_from_string(bytes(content))
        for _ in range(draw.draw(st.integers(1, 3))):
            at = proto.graph.node[draw.draw(st.integers(0, len(proto.graph.node) - 1))]
            kind = draw.draw(st.sampled_from(["op", "input", "output", "ints", "i", "drop", "dims", "batch"]))
            number = draw.draw(st.sampled_from([-(2**63), -2, -1, 0, 1, 2, 3, 7, 1000, 2**31, 2**62]))
            if kind == "op":
                at.op_type = draw.draw(st.sampled_from(OPERATORS))
            elif kind == "input" and at.input:
                at.input[draw.draw(st.integers(0, len(at.input) - 1))] = draw.draw(st.sampled_from(names_of(proto)))
            elif kind == "output":
                at.output[0] = draw.draw(st.sampled_from(names_of(proto)))
            elif kind in ("ints", "i") and at.attribute:
                attribute = at.attribute[draw.draw(st.integers(0, len(at.attribute) - 1))]
                if kind == "i" or not attribute.ints:
                    attribute.i = number
                else:
                    attribute.ints[draw.draw(st.integers(0, len(attribute.ints) - 1))] = number
            elif kind == "drop" and at.input:
                del at.input[draw.draw(st.integers(0, len(at.input) - 1)) :]
            elif kind == "dims":
                tensor = proto.graph.initializer[draw.draw(st.integers(0, len(proto.graph.initializer) - 1))]
                tensor.dims[:] = [number] * draw.draw(st.integers(0, 4))
            elif kind == "batch":
                dims = proto.graph.input[0].type.tensor_type.shape.dim
                dims[draw.draw(st.integers(0, len(dims) - 1))].dim_value = number
    try:
        load(proto) if not isinstance(proto, bytes) else onnxfile.read(proto)
    except ValueError:
        pass
    except MemoryError as error:  # of compile, which says the bytes
        assert "bytes" in str(error)


OPERATORS = sorted(onnxfile.OPERATORS)


def names_of(proto):
    return [name for each in proto.graph.node for name in (*each.input, *each.output)] + ["", "x"]
