"""What `python -m odt install` decides, for boards that are not here."""

import pytest
from probed_boards import board

from odt.host import commands
from odt.host.boards import install
from odt.host.boards.board import BoardError


@pytest.fixture
def files(tmp_path):
    """A folder as `make mpy` leaves it, by MicroPython 1.25: .mpy version 6.3."""
    (tmp_path / "python" / "odt").mkdir(parents=True)
    (tmp_path / "python" / "odt" / "__init__.mpy").write_bytes(b"M\x06\x00\x1f")
    for number, name in ((4, "armv6m"), (5, "armv7m"), (7, "armv7emsp"), (11, "rv32imc")):
        (tmp_path / name).mkdir()
        for part, size in (("_odt", 30000), ("_odt_conv", 12000), ("_odt_f32", 8000), ("_odt_rare", 90000)):
            (tmp_path / name / (part + ".mpy")).write_bytes(bytes([77, 6, number << 2 | 3, 31]) + bytes(size))
    return tmp_path


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
        (board(free=60000), "too little RAM: 60000 bytes of heap are free, odt needs 164000 from files"),
    ],
)
def test_boards_that_are_not_supported_are_refused_with_the_reason(found, reason, files):
    with pytest.raises(BoardError) as error:
        install.check(found, files / "python" / "odt")
    assert reason in str(error.value)


def test_the_chooser_on_the_board_asks_for_the_heap_that_install_asks_for():
    from odt.host.release import odt_kernels

    assert (odt_kernels._HEAP, odt_kernels._NATIVE) == (install.PYTHON_HEAP, install.NATIVE_HEAP)
    assert odt_kernels._ARCHITECTURES[1:] == tuple(install.ARCHITECTURES.values())


def test_a_pico_is_accepted_and_gets_the_kernels_of_its_architecture(files):
    install.check(board(), files / "python" / "odt")
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
    # 137,000 and the larger of int8's kernels, 42,008 bytes, and float32's, 38,008
    assert names(board(free=179008), files)[0] == ["armv6m"]
    assert names(board(free=179007), files) == ([], "with kernels odt needs 179008 bytes of heap, 179007 are free")


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
        def call(self, *words, timeout):
            assert words[:3] == ("exec", "dtypes = ['int8']", "run")
            return "odt-test native int8 00000000 90000\n"

    with pytest.raises(BoardError, match="int8 computes wrongly: digest 00000000 instead of 12345678"):
        install.selftest(Wrong(), "native", {"int8": "12345678"})
    with pytest.raises(BoardError, match="the native executor ran, not the reference one"):
        install.selftest(Wrong(), "reference", {"int8": "00000000"})


def test_nothing_built_and_unknown_examples_are_said(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(install.Board, "probe", lambda self: board())
    assert commands.main(["install", "--port", "p", "--files", str(tmp_path)]) == 1
    said = capsys.readouterr().out.splitlines()[1:]
    assert said == ["odt: %s has nothing to install: run `make mpy` first" % tmp_path]
    assert commands.main(["install", "--example", "nix"]) == 1
    said = capsys.readouterr().out
    assert (
        said == "odt: no example is called 'nix'; there are backbones, camera, command, digits, fleet, gesture, "
        "keyword, personalise, room, series, vibration, xor\n"
    )


def test_every_example_that_is_installed_is_run_where_its_data_is(tmp_path, capsys, monkeypatch):
    """Of firmware that has odt nothing is asked for: no make mpy."""
    copied = []
    monkeypatch.setattr(install.Board, "probe", lambda self: board(frozen=True))
    monkeypatch.setattr(install.Board, "make_folder", lambda self, path: None)
    monkeypatch.setattr(install.Board, "copy", lambda self, sources, folder: copied.extend(sources))
    monkeypatch.setattr(install, "selftest", lambda *unused: 100000)
    scripts = {
        "backbones": "start",
        "camera": "adapt",
        "command": "teach tokens",
        "gesture": "teach motions",
        "keyword": "teach words",
        "personalise": "adapt",
        "room": "learn office",
    }
    for folder in sorted({file.parent for file in install.EXAMPLES.glob("*/README.md")}):
        copied.clear()
        assert commands.main(["install", "--port", "p", "--files", str(tmp_path), "--example", folder.name]) == 0
        data = {file.name for kind in ("*.bin", "*.odt") for file in folder.glob(kind)}
        assert {file.name for file in copied if file.suffix != ".py"} == data
        files = [file.stem for file in copied if file.suffix == ".py"]
        assert files == scripts.get(folder.name, "train").split()
        script = files[0]
        line = "import os; os.chdir('/%s'); import %s" % (folder.name, script)
        line = "import xor.train" if folder.name == "xor" else line
        last = capsys.readouterr().out.splitlines()[-1]
        assert last == 'Run it with: mpremote connect p exec "%s"' % line


def damaged(text):
    """A board's answer as a serial line may give it: cut off, with other bytes, twice, with something between."""
    for at in range(len(text)):
        yield text[:at]
        yield text[at:]
        for other in ("", "0", "(", "\0", "\n"):
            yield text[:at] + other + text[at + 1 :]
    yield text + text
    yield "boot\n" + text + "Traceback\n"
    for value in ("None", "[]", "{}", "(1,)", "-1", "1e999", "'x'", "10**9", "[None]", "['a', 5]", "__import__('os')"):
        for name in board():
            yield text.replace("'%s': " % name, "'%s': %s, 'was': " % (name, value))
        yield "odt-probe " + value
    yield "odt-probe " + "(" * 5000


@pytest.mark.slow
def test_a_damaged_answer_of_a_board_is_an_error_and_no_traceback(files, monkeypatch, capsys):
    wanted = {"int8": "12345678", "float32": "9abcdef0"}
    answers = {
        "exec": "odt-probe %r\n" % board(frozen=True),
        **{dtype: "odt-test native %s %s 90000\n" % (dtype, digest) for dtype, digest in wanted.items()},
    }
    monkeypatch.setattr(install, "expected", lambda: wanted)

    def call(self, *words, timeout=0):
        return given[words[1].split("'")[1] if "run" in words else words[0]]

    monkeypatch.setattr(install.Board, "call", call)
    given = dict(answers)
    assert commands.main(["install", "--files", str(files), "--connect", "port"]) == 0
    assert "Self-test passed; 90000 bytes of heap left" in capsys.readouterr().out
    seen = {0: 0, 1: 0}
    for what in answers:
        for answer in damaged(answers[what]):
            given = {**answers, what: answer}
            status = commands.main(["install", "--files", str(files), "--connect", "port"])
            text = capsys.readouterr().out
            seen[status] += 1
            assert status == 0 or text.splitlines()[-1].startswith("odt: "), (answer, text)
            assert status == 1 or "Self-test passed; " in text
            if what in wanted and status == 0:  # what it printed was the PC's digest, and a size
                assert wanted[what] in answer
    assert seen[1] > 500


@pytest.mark.parametrize("start", (b"", b"M", b"M\x06", b"GIF89a"))
def test_a_file_that_is_no_mpy_file_is_said(start, files, monkeypatch, capsys):
    (files / "python" / "odt" / "__init__.mpy").write_bytes(start)
    monkeypatch.setattr(install.Board, "call", lambda self, *unused, timeout=0: "odt-probe %r\n" % board())
    assert commands.main(["install", "--files", str(files), "--connect", "port"]) == 1
    assert "__init__.mpy is no .mpy file" in capsys.readouterr().out


def test_a_board_that_no_kernels_fit_gets_loops_of_its_architecture_in_native_code(files):
    for number, name in ((4, "armv6m"), (10, "xtensawin")):
        folder = files / "viper" / name
        folder.mkdir(parents=True)
        (folder / "_odt_viper.mpy").write_bytes(bytes([77, 6, number << 2 | 3, 31]))
    assert install.loops(board(arch=10), files) == [files / "viper" / "xtensawin" / "_odt_viper.mpy"]
    assert install.loops(board(arch=10, sub=2), files) == []  # another version of native code
    assert install.loops(board(arch=4), files) == []  # it has kernels
    assert install.loops(board(arch=0), files) == []  # its firmware loads no native code
