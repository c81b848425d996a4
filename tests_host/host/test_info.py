"""`python -m odt info`: what it says of a checkpoint, of frozen weights and of a program is what is in them."""

import re
import struct
import zlib

import numpy as np
import pytest

import odt
from odt.host import commands

SCRIPT = """
import odt
model = odt.Sequential([
    odt.Input((4, 4, 1)), odt.Conv2D(3, 3, activation="relu", trainable={train}), odt.Flatten(),
    odt.Dense(5, name="head")])
model.compile(odt.{optimizer}, dtype={dtype!r}, batch_size=2, seed=9)
"""


def compiled(tmp_path, optimizer="Adam(0.01)", dtype="int8", train=True):
    """(the script's path, its model after three steps)."""
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.format(optimizer=optimizer, dtype=dtype, train=train))
    found = {}
    exec(script.read_text(), found)
    model = found["model"]
    data = [i % 7 for i in range(6) for _ in range(16)]
    model.fit(data, [i % 5 for i in range(6)], verbose=0)
    return script, model


def info(capsys, *arguments):
    status = commands.main(["info", *map(str, arguments)])
    return status, capsys.readouterr().out


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_checkpoint_tells_its_steps_seed_epochs_and_digest(tmp_path, capsys, dtype):
    script, model = compiled(tmp_path, dtype=dtype)
    file = tmp_path / "model.odt"
    model.save(str(file))
    status, text = info(capsys, file)
    assert status == 0
    assert "checkpoint, format 2, %d bytes, undamaged\n" % file.stat().st_size in text
    assert "steps        3, seed 9\nepochs       1 complete\nranges       all known\noptimizer    Adam\n" in text
    assert "digest %08x" % zlib.crc32(file.read_bytes()[64:]) in text
    assert "program      CRC %08x" % zlib.crc32(model.program.code) in text
    assert "give the script that compiles the model" in text


@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("purpose", ("training", "inference"))
def test_model_file_tells_layers_weights_and_labels_without_a_script(tmp_path, capsys, dtype, purpose):
    _, model = compiled(tmp_path, dtype=dtype)
    file = tmp_path / "gesture.odt"
    model.export(file, labels=["a", "b", "c", "d", "e"], purpose=purpose)
    status, text = info(capsys, file)
    assert status == 0
    opened = odt.load_model(file)
    assert "model file, %d bytes, undamaged: Sequential, %s, batch 2\n" % (file.stat().st_size, dtype) in text
    assert ("trains       by Adam, loss sparse" if purpose == "training" else "trains       no: to predict") in text
    assert "input        float32 (4, 4, 1)\noutput       (5,), a, b, c, d, e\n" in text
    assert "digest       %08x after %d steps" % (opened.digest(), opened.session.steps()) in text
    rows = [line.split() for line in text.split("layers\n")[1].split("tensors\n")[0].splitlines()]
    assert [(row[0], row[1], int(row[-1])) for row in rows] == [
        ("input", "InputLayer", 0), ("conv2d", "Conv2D", 30), ("flatten", "Flatten", 0), ("head", "Dense", 65),
    ]  # fmt: skip
    largest = [float(line.split()[-1]) for line in text.split("tensors\n")[1].splitlines()]
    assert np.allclose(largest, [np.abs(values).max() for values in model.get_weights()], rtol=5e-3, atol=1e-6)


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_with_the_script_every_weight_has_its_shape_and_largest_value(tmp_path, capsys, dtype):
    script, model = compiled(tmp_path, dtype=dtype)
    model.save(str(tmp_path / "model.odt"))
    status, text = info(capsys, tmp_path / "model.odt", "--model", script)
    assert status == 0 and "optimizer    Adam, dtype %s, batch_size 2" % dtype in text
    rows = text.split("tensors\n")[1].splitlines()
    shapes = ["conv2d kernel (3, 3, 3, 1)", "conv2d bias (3,)", "head kernel (5, 12)", "head bias (5,)"]
    assert [re.sub(" +", " ", row.split(")")[0].strip()) + ")" for row in rows] == shapes
    for row, values in zip(rows, model.get_weights()):
        assert row.endswith("largest %.4g" % np.abs(np.array(values)).max())
        assert ("scale" in row) == (dtype == "int8" and "kernel" in row)


def test_sgd_is_told_from_adam(tmp_path, capsys):
    _, model = compiled(tmp_path, optimizer="SGD(0.01)")
    model.save(str(tmp_path / "model.odt"))
    assert "optimizer    SGD\n" in info(capsys, tmp_path / "model.odt")[1]


def test_checkpoint_of_another_network_than_the_scripts_is_refused(tmp_path, capsys):
    _, model = compiled(tmp_path, optimizer="SGD(0.01)")
    model.save(str(tmp_path / "model.odt"))
    script, _ = compiled(tmp_path)
    status, text = info(capsys, tmp_path / "model.odt", "--model", script)
    assert status == 1 and "another network than that of the script" in text


def test_frozen_weights_are_listed_with_their_scales(tmp_path, capsys):
    script, model = compiled(tmp_path, train=False)
    data = odt.files.frozen.pack(model)
    file = tmp_path / "frozen.bin"
    file.write_bytes(data)
    assert "frozen weights, %d bytes, undamaged\n" % len(data) in info(capsys, file)[1]
    status, text = info(capsys, file, "--model", script)
    rows = text.split("tensors\n")[1].splitlines()
    assert status == 0 and [row.split()[:2] for row in rows] == [
        ["conv2d", name] for name in ("kernel", "kernel", "bias")
    ]
    scales = np.frombuffer(data[12 + 28 : 12 + 28 + 12], "<f4")  # behind 27 weights
    assert rows[1].endswith("scale %.4g" % scales.min() if scales.min() == scales.max() else "to %.4g" % scales.max())
    for body in (data[12:-4], data[12:] + bytes(4)):  # as a writer that errs makes them: their CRC holds
        file.write_bytes(data[:8] + zlib.crc32(body).to_bytes(4, "little") + body)
        status, text = info(capsys, file, "--model", script)
        assert status == 1 and "is damaged: %d bytes, these layers take %d" % (12 + len(body), len(data)) in text
    file.write_bytes(data)
    script.write_text(script.read_text().replace("Conv2D(3", "Conv2D(4"))
    status, text = info(capsys, file, "--model", script)
    assert status == 1 and "another network's layers than those of the script" in text


def test_frozen_weights_of_4_bits_are_listed(tmp_path, capsys):
    script, model = compiled(tmp_path, train=False)
    data = odt.files.frozen.pack(model, bits=4)
    file = tmp_path / "frozen.bin"
    file.write_bytes(data)
    assert "frozen weights, %d bytes, 1 kernels of 4 bits, undamaged\n" % len(data) in info(capsys, file)[1]
    status, text = info(capsys, file, "--model", script)
    rows = text.split("tensors\n")[1].splitlines()
    assert status == 0 and "16 bytes, 27 weights of 4 bits" in rows[0]  # 13.5 bytes as whole words
    scales = np.frombuffer(data[-24:-12], "<f4")  # before three biases
    assert rows[1].endswith("scale %.4g" % scales.min() if scales.min() == scales.max() else "to %.4g" % scales.max())
    file.write_bytes(data[:8] + zlib.crc32(data[12:-4]).to_bytes(4, "little") + data[12:-4])
    assert (
        "is damaged: %d bytes, these layers take %d" % (len(data) - 4, len(data))
        in info(capsys, file, "--model", script)[1]
    )


@pytest.mark.parametrize(
    ("optimizer", "name"), [("Adam()", "adam"), ("SGD(0.1)", "sgd"), ("SGD(0.1, momentum=0.9)", "momentum")]
)
def test_program_tells_its_memory_sections_and_optimizer(tmp_path, capsys, optimizer, name):
    _, model = compiled(tmp_path, optimizer=optimizer)
    (tmp_path / "program.bin").write_bytes(model.program.code)
    status, text = info(capsys, tmp_path / "program.bin")
    words = model.program.words
    assert status == 0
    assert "memory       arena %d, state %d, constants 0 bytes\n" % (words[3], words[4]) in text
    assert "optimizer    %s\n" % name in text
    lines = model.disassemble().splitlines()
    assert "train        %d instructions\n" % len([line for line in lines if line[0] != ";"]) in text
    assert re.search(r"conv2d_i8 +w +int8 +\(3, 3, 3, 1\)", text)
    assert re.search(r"dense_i8 +w +int8 +\(5, 12\)", text)


def test_every_damaged_byte_of_a_checkpoint_is_noticed(tmp_path, capsys):
    _, model = compiled(tmp_path, optimizer="SGD(0.01)")
    file = tmp_path / "model.odt"
    model.save(str(file))
    whole = file.read_bytes()
    for at in range(0, len(whole), 11):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        status, text = info(capsys, file)
        assert status == 1 and text.startswith("odt: ") and text.count("\n") == 1, (at, text)
    for data in (whole[:-1], whole[:40], whole + b"1"):
        file.write_bytes(data)
        assert info(capsys, file)[0] == 1


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it begins with b''"),
        (
            b"GIF89a",
            "no model file (ODTN), checkpoint (ODTM), frozen weights (ODTF, ODT4) or program (ODT1): it begins with "
            "b'GIF8'",
        ),
        (b"ODTF" + bytes(9), "is damaged: 13 bytes of frozen weights"),
        (b"ODTF" + bytes(8) + b"1234", "its CRC does not match"),
        (b"ODT1", "a program has whole words, 12 at least"),
        (b"ODT1" + bytes(60), "no program that runs here: "),
    ],
)
def test_other_files_are_refused_with_the_reason(tmp_path, capsys, data, reason):
    (tmp_path / "file").write_bytes(data)
    status, text = info(capsys, tmp_path / "file")
    assert status == 1 and reason in text and "Traceback" not in text


@pytest.mark.slow
def test_a_checkpoint_of_a_writer_that_errs_is_described_or_refused(tmp_path, capsys):
    """Each word of the header, and the state's length, with a check that holds: never a traceback."""
    script, model = compiled(tmp_path)
    file = tmp_path / "model.odt"
    model.save(str(file))
    whole = file.read_bytes()
    seen = set()
    for word in range(1, 15):
        for value in (0, 1, 2, 3, 7, 12, 15, 16, 255, len(whole) - 65, 1 << 31, (1 << 32) - 1):
            head = whole[: 4 * word] + struct.pack("<I", value) + whole[4 * word + 4 : 60]
            state = whole[64 : 64 + value] if word == 3 else whole[64:]
            file.write_bytes(head + struct.pack("<I", zlib.crc32(head + state)) + state)
            for arguments in ((file,), (file, "--model", script)):
                status, text = info(capsys, *arguments)
                assert status in (0, 1) and (status == 0 or text.splitlines()[-1].startswith("odt: ")), (
                    word,
                    value,
                    text,
                )
                seen.add((word, status))
            if word == 4:
                assert status == (value > 2) and (value <= 2 or "calibration %d, expected 0 to 2" % value in text)
            before = model.digest(), model.session.calibrated, model.epoch, model.session.underway
            try:
                model.load(str(file))
                assert status == 0
            except ValueError:
                assert status == 1 and before == (
                    model.digest(),
                    model.session.calibrated,
                    model.epoch,
                    model.session.underway,
                )
    assert {(1, 1), (2, 1), (3, 1), (4, 0), (4, 1), (5, 0), (14, 0)} <= seen


def test_missing_file_is_an_error_not_a_traceback(tmp_path, capsys):
    status, text = info(capsys, tmp_path / "none")
    assert status == 1 and "No such file" in text
