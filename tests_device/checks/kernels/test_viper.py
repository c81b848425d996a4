"""The Python executor's loops as native code of MicroPython's own compiler: for boards without C kernels, an ESP32."""

import subprocess

import machines
import pytest
from digests import ROOT
from stock_files import MPY

from odt.host.boards import install

FOLDERS = [
    ("stock_unix", "x64"), ("stock_qemu_m3", "armv6m"), ("stock_qemu_m3", "armv7m"), ("stock_qemu_rv32", "rv32imc"),
    ("stock_rp2040", "armv6m"), ("stock_qemu_m4hf", "armv7m"),
]  # fmt: skip


@pytest.fixture(scope="module", params=FOLDERS, ids=" ".join)
def board(request):
    name, arch = request.param
    with machines.open(name) as machine:
        machine.install([MPY / "python" / "odt", MPY / "viper" / arch / "_odt_viper.mpy"])
        yield machine


def test_its_functions_compute_the_bits_of_the_python_executor(board):
    count = 40 if board.name == "stock_unix" else 4
    rows = board.run("tests_device/scripts/viper_cases.py", args={"count": count}, timeout=300).splitlines()
    assert sorted(rows) == sorted(
        ["%s%s_i8 %d" % (layer, way, count) for layer in ("dense", "conv2d") for way in ("", "_dx", "_dw")]
    )


def test_a_board_without_kernels_chooses_it_by_itself_and_ends_with_the_digest_of_the_pc(board):
    script = "dtypes = ['int8']\n" + install.SELFTEST.read_text() + "\nimport sys; print('_odt_viper' in sys.modules)\n"
    rows = [line.split() for line in board.exec(script, timeout=300).splitlines()]
    assert rows[-1] == ["True"]
    assert rows[0][:4] == ["odt-test", "reference", "int8", install.expected()["int8"]]


def test_that_of_another_architecture_is_refused_with_the_reason_and_python_computes():
    with machines.open("stock_unix") as machine:
        machine.install([MPY / "python" / "odt", MPY / "viper" / "xtensawin" / "_odt_viper.mpy"])
        text = machine.exec("import odt\nprint(odt.backend)")
    assert text.startswith("odt: _odt_viper.mpy is not for this machine or MicroPython (incompatible .mpy")
    assert text.endswith("\nreference\n")


def test_it_compiles_for_every_architecture_that_mpy_cross_knows(tmp_path):
    source = ROOT / "native" / "bindings" / "viper.py"
    for arch in install.ARCHITECTURES.values():
        made = tmp_path / (arch + ".mpy")
        command = [machines.BUILD / "mpy-cross" / "mpy-cross", "-march=" + arch, "-o", made, source]
        subprocess.run(command, check=True)
        assert install.ARCHITECTURES[install.header(made)[2]] == arch
