"""What `python -m odt install` decides, for boards that are not here."""

import pytest
from odt.host import commands, install
from odt.host.board import BoardError


@pytest.fixture
def files(tmp_path):
    """A folder as `make mpy` leaves it, by MicroPython 1.25: .mpy version 6.3."""
    (tmp_path / "python" / "odt").mkdir(parents=True)
    (tmp_path / "python" / "odt" / "__init__.mpy").write_bytes(b"M\x06\x00\x1f")
    for number, name in ((4, "armv6m"), (5, "armv7m"), (7, "armv7emsp"), (11, "rv32imc")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "_odt.mpy").write_bytes(bytes([77, 6, number << 2 | 3, 31]) + bytes(50000))
    return tmp_path


def board(arch=4, version=6, sub=3, **changes):
    found = {
        "name": "micropython", "version": (1, 25, 0), "machine": "Board",
        "mpy": arch << 10 | sub << 8 | version, "free": 240000, "libs": ["/lib"], "disk": 800000, "frozen": False,
    }  # fmt: skip
    return dict(found, **changes)


def names(found, files):
    modules, reason = install.kernels(found, files)
    assert bool(reason) == (not modules)
    return [module.parent.name for module in modules], reason


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (board(name="circuitpython"), "the board runs circuitpython, whose compiled files differ"),
        (board(version=5), "reads .mpy files of version 5, these are of version 6: the board needs a newer"),
        (board(version=7), "reads .mpy files of version 7, these are of version 6: build them from its source"),
        (board(mpy=0), "reads .mpy files of version 0"),
        (board(libs=[]), "no file system"),
        (board(disk=-1), "no file system"),
        (board(disk=1000), "1000 bytes free, 150000 are needed"),
        (board(free=60000), "too little RAM: 60000 bytes of heap are free, odt needs 126000 from files"),
    ],
)
def test_boards_that_are_not_supported_are_refused_with_the_reason(found, reason, files):
    with pytest.raises(BoardError) as error:
        install.check(found, files / "python" / "odt", 150000)
    assert reason in str(error.value)


def test_the_chooser_on_the_board_asks_for_the_heap_that_install_asks_for():
    from odt.host import odt_kernels

    assert odt_kernels._HEAP == install.PACKAGE_HEAP + install.LEAST_HEAP
    assert odt_kernels._ARCHITECTURES[1:] == tuple(install.ARCHITECTURES.values())


def test_a_pico_is_accepted_and_gets_the_kernels_of_its_architecture(files):
    install.check(board(), files / "python" / "odt", 150000)
    assert names(board(), files)[0] == ["armv6m"]
    assert names(board(arch=11), files)[0] == ["rv32imc"]


def test_an_arm_core_is_offered_the_kernels_of_smaller_cores_after_its_own(files):
    assert names(board(arch=7), files)[0] == ["armv7emsp", "armv7m", "armv6m"]
    assert names(board(arch=8), files)[0] == ["armv7emsp", "armv7m", "armv6m"]
    assert names(board(arch=5), files)[0] == ["armv7m", "armv6m"]


def test_boards_without_kernels_that_fit_get_none_and_a_reason(files):
    assert names(board(arch=10), files) == ([], "there are no kernels for xtensawin")
    assert names(board(arch=0), files) == ([], "this firmware loads no native code")
    assert names(board(sub=2), files) == ([], "the kernels are of .mpy version 6.3")
    text = "kernels need 50004 bytes of RAM more, 24000 are left"
    assert names(board(free=150000), files) == ([], text)


def test_the_self_test_expects_what_both_executors_of_the_pc_compute():
    import odt

    assert odt.executor.backend == "native"
    wanted = install.expected()
    assert odt.executor.backend == "native"
    assert sorted(wanted) == ["float32", "int8"]
    odt.executor.use("native")
    rows = []
    source = install.SELFTEST.read_text().replace('print("odt-test",', "rows.append((")
    exec(source.replace(", free)\n", "))\n"), {"rows": rows})
    assert {row[1]: row[2] for row in rows} == wanted


def test_a_digest_that_is_not_the_pcs_fails_the_self_test():
    class Wrong:
        def call(self, *unused, timeout):
            return "odt-test native int8 00000000 90000\n"

    with pytest.raises(BoardError, match="int8 computes wrongly: digest 00000000 instead of 12345678"):
        install.selftest(Wrong(), "native", {"int8": "12345678"})
    with pytest.raises(BoardError, match="the native executor ran, not the reference one"):
        install.selftest(Wrong(), "reference", {"int8": "00000000"})


def test_nothing_built_and_unknown_examples_are_said(tmp_path, capsys):
    assert commands.main(["install", "--files", str(tmp_path)]) == 1
    assert capsys.readouterr().out == "odt: %s has nothing to install: run `make mpy` first\n" % tmp_path
    (tmp_path / "python" / "odt").mkdir(parents=True)
    (tmp_path / "python" / "odt" / "__init__.mpy").write_bytes(b"M\x06\x00\x1f")
    assert commands.main(["install", "--files", str(tmp_path), "--example", "nix"]) == 1
    assert "no example is called 'nix'; there are digits, " in capsys.readouterr().out
