"""python -m odt deploy, on emulated boards: what one computes with a model file, and that it keeps the model it has."""

from types import SimpleNamespace

import machines
import pytest
from installing import command

import odt
from odt.host.boards import deploy
from odt.host.boards.board import BoardError

LIST = "import os; print(sorted(os.listdir('/')))"


def network(loss="sparse_categorical_crossentropy", width=4, optimizer=None, dtype="int8", hidden=8):
    layers = [odt.Input((6, 6, 1), dtype="uint8", scale=1 / 16), odt.Conv2D(4, 3, activation="relu"), odt.Flatten()]
    model = odt.Sequential(layers + [odt.Dense(hidden, activation="relu"), odt.Dense(width)])
    model.compile(optimizer, loss=loss, dtype=dtype, batch_size=4, seed=3)
    return model


def run(machine, *words):
    return command(machine, "deploy", *words)


def test_a_stock_pico_gets_all_that_the_model_needs(tmp_path):
    path = tmp_path / "hand.odt"
    network(optimizer=odt.Adam(0.01)).export(path, labels=["a", "b", "c", "d"])
    with machines.open("stock_rp2040") as pico:
        status, text = run(pico, path)
        assert status == 0, text
        lines = text.splitlines()
        assert lines[0].startswith("Found Raspberry Pi Pico")
        assert lines[-3] == "Copying hand.odt, %d bytes, to /hand.odt" % path.stat().st_size
        assert lines[-2].startswith("Tried there: it predicts and trains as on this PC; ")
        assert lines[-1] == 'A program opens it with: odt.load_model("/hand.odt")'
        code, output = pico.mpremote("exec", "import odt; print(odt.load_model('/hand.odt').labels); " + LIST)
        assert code == 0 and output.split(b"\r\n")[:2] == [b"['a', 'b', 'c', 'd']", b"['hand.odt', 'lib']"]
        network(optimizer=odt.Adam(0.02)).export(path)  # once more, where half of the file system is odt's
        status, text = run(pico, path)
        assert status == 0 and "Copying the kernels" in text and text.splitlines()[-2].startswith("Tried there: "), text


@pytest.fixture(scope="module")
def pico():
    """With odt in its firmware."""
    with machines.open("rp2040") as machine:
        yield machine


@pytest.mark.parametrize(
    "loss, width, optimizer, dtype",
    [
        ("categorical_crossentropy", 3, odt.SGD(0.01), "int8"),
        ("binary_crossentropy", 1, odt.Adam(0.01), "float32"),
        ("mse", 2, odt.Adam(0.01), "int8"),
        ("sparse_categorical_crossentropy", 3, None, "float32"),
    ],
)
def test_firmware_with_odt_gets_the_model_alone(pico, tmp_path, loss, width, optimizer, dtype):
    path = tmp_path / "model.odt"
    network(loss, width, optimizer, dtype).export(path, purpose="training" if optimizer else "inference")
    status, text = run(pico, path, "--files", tmp_path)  # where nothing is
    assert status == 0, text
    assert ("it predicts and trains as on this PC" if optimizer else "it predicts as on this PC") in text


def test_what_fails_leaves_the_model_that_was_there(pico, tmp_path, monkeypatch):
    path = tmp_path / "kept.odt"
    network().export(path)
    assert run(pico, path)[0] == 0
    listing = "f = open('/kept.odt', 'rb'); import hashlib; print(hashlib.sha256(f.read()).digest()); " + LIST
    before = pico.mpremote("exec", listing)
    assert before[0] == 0
    network(optimizer=odt.Adam(0.01)).export(path)
    options = SimpleNamespace(model=path, files=tmp_path, connect=pico._port, capabilities=None)
    monkeypatch.setenv("XDG_CONFIG_HOME", pico.configuration)
    right = deploy.expected
    monkeypatch.setattr(deploy, "expected", lambda data: dict(right(data), trains="00000000"))
    with pytest.raises(BoardError, match="the model trains wrongly there: digest [0-9a-f]{8} instead of 00000000"):
        deploy.command(options)
    assert pico.mpremote("exec", listing) == before
    monkeypatch.setattr(deploy, "tried", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        deploy.command(options)
    assert pico.mpremote("exec", listing) == before
    network(optimizer=odt.Adam(0.01), hidden=1000).export(path)
    status, text = run(pico, path)
    assert status == 1 and "odt: too little RAM: " in text and "(arena " in text
    path.write_bytes(path.read_bytes()[:-4])
    status, text = run(pico, path)
    assert status == 1 and "kept.odt" in text and len(text.splitlines()) == 1
    assert pico.mpremote("exec", listing) == before
