"""Text from outside (files, boards, scripts, their names) reaches no terminal, drawing or page as what these obey."""

import ast
import io
import re
import subprocess
import sys
import unicodedata
import warnings
from argparse import ArgumentParser, _SubParsersAction

import numpy as np
import pytest
from house import ROOT

import odt
from odt.host import commands, monitor, text
from odt.host.boards import board, install

# A title for the window, "clear the screen", colours by both kinds of CSI, a forged line, a text that runs backwards,
# what nobody sees, TeX, half a character, and what HTML obeys.
HOSTILE = (
    "a\x1b]0;owned\x07\x1b[2J\x9b31m\x00\x7f\r\nforged: undamaged\u2028\u202eb\u200b\u2066\x08"
    "$x_$ _<b>&\udc80\U000e0041"
)
NAMED = "_\u202e$a_$ $\u200b"  # what log() lets a name have
PROBE = {
    "name": "micropython", "version": (1, 25, 0), "machine": "Pico " + HOSTILE, "mpy": 4870, "free": 241264,
    "libs": ["/lib"],
    "disk": 868352, "block": 4096, "frozen": True, "odt": "",
    "without": [],
    "deflate": True,
}  # fmt: skip
SCRIPT = """
import odt
model = odt.Sequential([odt.Input((2,)), odt.Dense(2, name=%r)])
model.compile(batch_size=1)
""" % HOSTILE  # fmt: skip


def unseen(shown, keep="\n\t"):
    return [
        hex(ord(c)) for c in shown if c not in keep and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp")
    ]


def parsers():
    """The names of all commands, as argparse knows them."""
    found = []
    plain = _SubParsersAction.add_parser

    def noted(self, name, **options):
        found.append(name)
        return plain(self, name, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_SubParsersAction, "add_parser", noted)
        patch.setattr(ArgumentParser, "parse_args", lambda *_: (_ for _ in ()).throw(board.BoardError("no more")))
        with pytest.raises(board.BoardError):
            commands._main([])
    return sorted(set(found))


def model_file(folder):
    model = odt.Sequential([odt.Input((2,), name="in" + HOSTILE), odt.Dense(2, name="d" + HOSTILE)])
    model.compile(batch_size=1)
    path = folder / "m.odt"
    model.export(path, labels=[HOSTILE, "b"])
    return path


def script(folder, words, name="s.py"):
    path = folder / name
    path.write_text(words)
    return path


def onnx_file(folder):
    from onnx import TensorProto, helper, numpy_helper

    name = HOSTILE.replace("\udc80", "")
    node = helper.make_node("Gemm", ["x", name, name + "b"], ["y"], name=name)
    shaped = [helper.make_tensor_value_info(each, TensorProto.FLOAT, [1, 2]) for each in ("x", "y")]
    held = [numpy_helper.from_array(np.ones((2, 2), "f"), name), numpy_helper.from_array(np.ones(2, "f"), name + "b")]
    graph = helper.make_graph([node], "g", shaped[:1], shaped[1:], held)
    path = folder / "m.onnx"
    path.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString()
    )
    return path


SENSOR = """
print(%r.encode("utf-8", "replace").decode())
from odt.sensors import Window
window = Window(2, 1, typecode="h")
class source:
    ended, count = False, 0
    def readinto(self, buffer):
        self.count += 1
        self.ended = self.count > 40
        if self.ended:
            return 0
        buffer[:2] = bytes(2)
        return 2
source = source()
""" % HOSTILE  # fmt: skip
SHOUTS = "import sys; sys.stdout.reconfigure(errors='surrogateescape'); print(%r)\n" % HOSTILE
LOGS = SHOUTS + "print('>%s:1'); print('>%s:3'); print('>event:%s|t')\n" % (NAMED, NAMED, NAMED)
FAILS = SHOUTS + "sys.stderr.write(%r); sys.exit(1)\n" % HOSTILE.replace("\udc80", "")

# What each command is given: a list of its arguments, of the folder that it may use.
CASES = {
    "install": [lambda folder: []],
    "deploy": [lambda folder: [model_file(folder)]],
    "devices": [lambda folder: [], lambda folder: ["--test"]],
    "run": [lambda folder: [script(folder, SHOUTS), "--on", "host"],
    lambda folder: [script(folder, FAILS), "--on", "host"]],
    "monitor": [lambda folder: [script(folder, LOGS), "--on", "host", "--report", folder / "r"]],
    "record": [lambda folder: [
        script(folder, SENSOR), "--on", "host", "-o", folder / "r.npy", "--label", HOSTILE[:3], "--count", 1],
        lambda folder: [script(folder, FAILS), "--on", "host", "-o", folder / "r.npy", "--label", "a"]],
    "pico": [lambda folder: ["--firmware", folder / HOSTILE[:9]]],
    "fleet": [lambda folder: [folder / HOSTILE[:9], "--processes", 1],
    lambda folder: [script(folder, "pass"), "--processes", 1]],
    "chart": [
        lambda folder: [script(folder, SCRIPT), "--output", folder / "p.html"],
        lambda folder: [script(folder, SCRIPT), "--output", folder / "p.png"]],
    "info": [lambda folder: [model_file(folder)], lambda folder: [folder / ("no" + HOSTILE[:9])]],
    "import": [lambda folder: [onnx_file(folder), "-o", folder / "o.odt"], lambda folder: [folder / HOSTILE[:9]]],
    "search": [lambda folder: [folder / HOSTILE[:9]]],
}  # fmt: skip


def test_there_is_a_case_for_each_command():
    assert parsers() == sorted(CASES)


@pytest.mark.parametrize("name", sorted(CASES))
@pytest.mark.parametrize("frozen", (True, False, None))
def test_no_command_shows_outside_text_as_it_is(name, frozen, tmp_path, monkeypatch, capfd):
    answers = name in ("install", "deploy", "devices")
    if frozen is not True and not answers:
        return
    found = "\nodt-probe %r\n" % dict(PROBE, frozen=bool(frozen))
    answer = found if frozen is not None else HOSTILE  # what is no board's

    def call(self, *arguments, timeout=0):
        if arguments[0] == "exec" and "odt-probe" in arguments[1]:
            return answer
        raise board.BoardError("%s: %s" % (self.port, HOSTILE))

    monkeypatch.setattr(board.Board, "call", call)
    for place in (board, commands):
        monkeypatch.setattr(place, "ports", lambda: ["/dev/" + HOSTILE])
    monkeypatch.setattr(install, "expected", lambda: {"int8": "00000000"})
    for case in CASES[name]:
        arguments = case(tmp_path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of glyphs that a font lacks
            commands.main([name, *map(str, arguments)])
        out, error = capfd.readouterr()
        assert out + error and not unseen(out + error, "\r\n\t" if name == "run" else "\n\t")
        assert "\nforged" not in out or name in ("run", "monitor", "record")  # a script may print lines
    for page in tmp_path.glob("*.html"):
        words = page.read_text(encoding="utf-8")
        assert not unseen(words) and "<b>" not in words
    assert name != "monitor" or (tmp_path / "r.png").exists() and (tmp_path / "r.html").exists()


def test_the_drawing_of_monitor_shows_no_outside_text_as_it_is():
    from rich.console import Console

    run = monitor.Run("s%s.py" % HOSTILE.replace("/", ""), "host")
    run.feed("".join(">%s:%d\n>event:%s|t\n" % (NAMED, n, NAMED) for n in range(3)) + HOSTILE + "\n")
    assert run.logged.series and run.logged.events
    out = io.StringIO()
    Console(file=out, force_terminal=True, width=100, color_system="standard").print(monitor.picture(run, 100))
    assert not unseen(re.sub("\x1b\\[[0-9;]*m", "", out.getvalue()))


def test_warnings_are_visible(monkeypatch, capsys):
    def shown(message):
        sys.stderr.write(warnings._formatwarnmsg(message))  # as Python's own does

    monkeypatch.setattr(commands, "_main", lambda _: warnings.warn("layer " + HOSTILE, stacklevel=1))
    with warnings.catch_warnings():  # pytest's keeps them
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", warnings._showwarning_orig)
        monkeypatch.setattr(warnings, "_showwarnmsg_impl", shown)
        commands.main([])
    words = capsys.readouterr().err
    assert "layer a\\x1b]0;owned" in words and not unseen(words)


@pytest.mark.parametrize("kept", ("plain", "Ünï, 日本\u3000語, a b", "emoji 🎉", "|>"))
def test_what_can_be_seen_stays(kept):
    assert text.visible(kept) == kept


def test_each_unseen_character_is_spelled_as_python_does():
    for code in (0, 27, 0x7F, 0x9B, 0xAD, 0x200B, 0x202E, 0x2028, 0xD800, 0xE0041):
        assert text.visible(chr(code)) == repr(chr(code))[1:-1]
    assert text.visible("\n\t\r", "\n\t") == "\n\t\\x0d"


def test_matplotlib_draws_dollars_and_underscores():
    from matplotlib.text import Text

    for name in ("a$b", "$a_$", "$", "$$", "\\$a$", NAMED):
        shown, is_math = Text(0, 0, "")._preprocess_math(text.literal(name))
        assert not is_math and shown.lstrip() == text.visible(name)


# Modules with print() of their own: scripts that boards run, and what make runs.
PRINTS = {
    "text", "selftest", "trial", "ten_steps", "odt_kernels", "odt_chooser", "board", "record", "generate", "language",
    "sizes", "mip", "circuitpython",
    "firmware", "networks",
}  # fmt: skip


def test_commands_print_by_say_alone():
    for path in sorted((ROOT / "odt" / "host").rglob("*.py")):
        if path.stem in PRINTS - {"record", "board", "networks"}:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id
            assert named != "print", "%s:%d: say() of text.py makes outside text visible" % (path, node.lineno)


@pytest.mark.parametrize("name", ("--help", "info", "chart", "run", "monitor", "import"))
def test_a_reader_that_goes_is_no_traceback(name, tmp_path):
    arguments = [] if name == "--help" else map(str, CASES[name][0](tmp_path))
    words = [sys.executable, "-m", "odt", name, *arguments]
    process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    error = process.stderr.read()
    ends = {"--help": (0, 141), "monitor": (1, 141)}  # argparse and rich have their own way
    assert process.wait() in ends.get(name, (141,)) and "Traceback" not in error and "Exception ignored" not in error, (
        error
    )


def test_ctrl_c_is_no_traceback(monkeypatch, capsys):
    monkeypatch.setattr(commands, "_main", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
    assert commands.main([]) == 130 and capsys.readouterr().err == "odt: interrupted\n"
