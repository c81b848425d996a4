"""`python -m odt monitor`: what it reads is what fit() measured, and it reports however a script ends."""

import io
import math
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

import matplotlib.image
import pytest
from checkout import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from monitored import (
    HARM,
    TEXT,
    TRAIN,
    follow,  # noqa: F401
    printed,
    table,
)
from rich.console import Console

from odt.host import commands, monitor
from odt.host.monitor.curves import Curves


def rounded(values):
    return [None if value is None else round(value, 4) for value in values]


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("data", [False, True])
@pytest.mark.parametrize("loss", [None, "mse"])
def test_curves_are_the_history_of_fit(terminal, data, loss):
    text, history = printed(terminal, data, loss)
    curves = Curves()
    assert curves.feed(text, True) == [] and curves.damaged == 0
    (fit,) = curves.fits
    assert fit.epochs == 3 and sorted(fit.rows) == [1, 2, 3]
    for index, name in enumerate(("loss", "accuracy", "val_loss", "val_accuracy")):
        assert [row[index] for row in fit.rows.values()] == rounded(history.get(name, [None] * 3))
    # 6 steps an epoch, each a sixth of it; the last one has the epoch's means.
    assert [round(6 * step[0]) for step in fit.steps] == (list(range(1, 19)) if terminal else [])
    assert all(fit.steps[6 * epoch - 1][1:] == row[:2] for epoch, row in fit.rows.items() if terminal)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_curves_do_not_depend_on_where_the_text_is_cut(data):
    text = "before\n" + TEXT + "behind\n"
    whole, pieces = Curves(), Curves()
    own = whole.feed(text, True)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=30)))
    said = []
    for start, stop in zip([0, *cuts], [*cuts, len(text)]):
        said += pieces.feed(text[start:stop])
    assert said + pieces.feed("", True) == own == ["before", "behind"]
    assert [fit.rows for fit in pieces.fits] == [fit.rows for fit in whole.fits]
    assert [fit.steps for fit in pieces.fits] == [fit.steps for fit in whole.fits]


LINE = "epoch 1/8  3/63  loss 2.0799  acc 0.3410  12.3 ms/step  0:10 left"


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_damage_of_any_kind_is_survived_and_drawn(data):
    text = TEXT.encode()
    for _ in range(data.draw(st.integers(1, 8))):
        at, size = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 20))
        text = text[:at] + data.draw(HARM) + text[at + size :]
    run = monitor.Run("train.py", "board")
    console = Console(file=io.StringIO(), width=100, highlight=False)
    monitor._Shown(console)(run, run.feed(text.decode("utf-8", "replace"), True))
    for fit in run.curves.fits:
        assert set(fit.rows) <= set(range(1, fit.epochs + 1))
        console.print(monitor.picture(run, 100))
    assert not re.search("[\0-\x08\x0b-\x1f\x7f-\x9f]", console.file.getvalue())
    assert len(console.file.getvalue()) < 4 * len(text) + 4000


@pytest.mark.parametrize("name", ["epoch 1/", "/8", "3/", "/63", "2.", "0.3410", "12.3", "0:10"])
def test_numbers_of_400_digits_are_damage_and_end_nothing(name):
    run = monitor.Run("train.py", "board")
    run.feed(LINE + "\n" + LINE.replace(name, name.replace(re.search(r"\d+", name)[0], "7" * 400, 1), 1) + "\n")
    Console(file=io.StringIO()).print(monitor.picture(run, 100))
    assert run.curves.fits[-1].epochs == 8


def test_a_line_of_step_0_is_drawn_without_a_point():
    run = monitor.Run("train.py", "board")
    run.feed("epoch 1/3  0/63  loss 0.5000  812 ms/step  1:01 left\r")
    Console(file=io.StringIO()).print(monitor.picture(run, 100))
    assert run.curves.fits[0].curve("loss") == []


def test_the_picture_has_a_title_and_every_point_from_the_first_epoch_on_uncut():
    from odt.host.monitor import report as monitor_report

    run = monitor.Run("some/train.py", "board")
    for epoch in (1, 2, 3, 4):
        run.feed("epoch %d/4  loss 1.0000  acc 1.0000  1.0 ms/step  0:00 left\n" % epoch)
    figure = monitor_report.drawn(run)
    assert figure.get_suptitle() == "train.py on board"
    for axes in figure.axes:
        low, high = axes.get_xlim()
        assert 0.8 < low < 1 and 4 < high < 4.2
        bottom, top = axes.get_ylim()
        assert bottom < 1 < top
    run = monitor.Run("train.py", "board")  # its first epoch has not ended
    run.feed("epoch 1/4  1/4  loss 1.0000  acc 0.0000  1.0 ms/step  0:00 left\repoch 1/4  2/4  loss 0.5000  ")
    for axes in monitor_report.drawn(run).axes:
        assert 0 < axes.get_xlim()[0] < 0.25
    assert axes.get_ylim()[0] < 0  # accuracy 0


@pytest.mark.slow
def test_two_hundred_fits_are_in_the_report_and_the_last_are_drawn(tmp_path):
    run = monitor.Run("train.py", "board")
    console = Console(file=io.StringIO(), width=200, highlight=False)
    shown = monitor._Shown(console)
    for _ in range(200):
        for epoch in (1, 2):
            shown(run, run.feed("epoch %d/2  loss 1.0000  acc 0.5000  1.0 ms/step  0:00 left\n" % epoch))
    assert len(console.file.getvalue().splitlines()) == 400
    from odt.host.monitor.report import write

    page, png = write(run, str(tmp_path / "report"))
    text = Path(page).read_text()
    assert text.count("<h4>fit ") == 200 and "the last 12 of 200" in text
    assert matplotlib.image.imread(png).shape[0] < 6000  # pixels; matplotlib draws less than 65,536


def test_lines_that_lost_their_beginning_or_end_are_counted_and_left_out():
    for cut in range(6, LINE.index("ms/step") + 6):
        for part in (LINE[:cut], LINE[cut:]):
            curves = Curves()
            curves.feed("\r" + part + "\r\n", True)
            assert not curves.fits
    curves = Curves()
    curves.feed("".join(["\r" + LINE[9:] + "\n", "\r" + LINE[:40] + "\n", LINE + "\n"]))
    assert curves.damaged == 2 and len(curves.fits) == 1


@pytest.mark.parametrize("wrong", ["epoch 9/8", "epoch 0/8", "3/2 ", "acc 1.0001"])
def test_lines_that_cannot_be_true_are_left_out(wrong):
    right = {"e": "epoch 1/8", "3": "3/63", "a": "acc 0.3410"}[wrong[0]]
    curves = Curves()
    curves.feed(LINE.replace(right, wrong.strip()) + "\n")
    assert not curves.fits and curves.damaged == 1


def test_what_a_script_prints_within_a_line_is_its_own():
    curves = Curves()
    assert curves.feed("here\r%s" % LINE) == ["here"]
    assert curves.fits[0].steps == [(3 / 63, 2.0799, 0.341)]
    assert curves.feed("saved\r\n") == ["saved"]
    assert len(curves.fits) == 1 and len(curves.fits[0].steps) == 1 and curves.damaged == 0


def test_each_fit_of_a_script_has_curves_of_its_own():
    curves = Curves()
    curves.feed(TEXT + TEXT + TEXT.replace("/3  ", "/4  "))
    assert [fit.epochs for fit in curves.fits] == [3, 3, 4]
    assert curves.fits[0].rows == curves.fits[1].rows == curves.fits[2].rows


def test_values_that_are_not_finite_are_drawn_as_gaps(tmp_path):
    run = monitor.Run("train.py", "host")
    for epoch, value in enumerate(("1.0000", "nan", "inf", "2.0000")):
        run.feed("epoch %d/4  loss %s  acc 0.5000  1.0 ms/step  0:00 left\n" % (epoch + 1, value))
    assert math.isnan(run.curves.fits[0].rows[2][0])
    Console(file=io.StringIO()).print(monitor.picture(run, 100))
    from odt.host.monitor.report import write

    page, _ = write(run, str(tmp_path / "report"))
    assert "<td>nan</td>" in Path(page).read_text()


def test_the_drawing_has_the_curves_where_their_values_are():
    run = monitor.Run("folder/train.py", "board")
    for epoch, (loss, accuracy) in enumerate(((2.0, 0.25), (1.0, 0.5), (0.0, 1.0))):
        run.feed("epoch %d/3  loss %.4f  acc %.4f  12.3 ms/step  0:07 left\n" % (epoch + 1, loss, accuracy))
    console = Console(file=io.StringIO(), width=100)
    console.print(monitor.picture(run, 100))
    lines = console.file.getvalue().splitlines()
    assert lines[0].strip() == "train.py on board  epoch 3/3  12.3 ms/step  0:07 left"
    rows = [re.findall(r"([\d.]+) \|(.{36})", line) for line in lines[3:12]]
    for plot, values in ((0, {12: 2.0, 23: 1.0, 35: 0.0}), (1, {12: 0.25, 23: 0.5, 35: 1.0})):
        found = {at: float(row[plot][0]) for row in rows for at in range(36) if row[plot][1][at] == "o"}
        assert found == values


# --- the command --------------------------------------------------------------------------------


def test_script_is_followed_and_reported(follow, tmp_path):  # noqa: F811
    status, text, page = follow(
        TRAIN + "print('own <line>')\nmodel.fit(x, y, epochs=3)\nprint('digest %08x' % model.digest())"
    )
    assert status == 0, text
    history = printed(False, False)[1]
    expected = {i + 1: ["%.4f" % history[name][i] for name in ("loss", "accuracy")] + [None] * 2 for i in range(3)}
    assert table(page) == expected
    assert "own <line>\n" in text and "own &lt;line&gt;" in page and "ended well" in page
    digest = re.search("digest ([0-9a-f]{8})", text)[1]
    assert "<th>digests</th><td>%s</td>" % digest in page
    for epoch in (1, 2, 3):
        assert "epoch %d/3  loss %s" % (epoch, expected[epoch][0]) in text
    picture = matplotlib.image.imread(tmp_path / "report.png")
    assert picture.shape[1] > 800 and picture.std() > 0.1


def test_script_that_fails_is_status_1_with_its_traceback_and_a_report_of_what_there_was(follow):  # noqa: F811
    status, text, page = follow(TRAIN + "model.fit(x, y, epochs=2)\nraise ValueError('its own')\n")
    assert status == 1 and text.endswith("odt: host: the script failed\n")
    assert "ValueError: its own" in text and "ValueError: its own" in page and "the script failed" in page
    assert sorted(table(page)) == [1, 2]


def test_script_that_does_not_end_in_time_is_status_1_with_a_report(follow):  # noqa: F811
    status, text, page = follow(TRAIN + "model.fit(x, y, epochs=2)\nwhile True: pass\n", "--timeout", "4")
    assert status == 1 and text.endswith("odt: host: the script did not end in 4 seconds (--timeout)\n")
    assert sorted(table(page)) == [1, 2]


def test_script_without_progress_is_status_1_and_no_report(follow):  # noqa: F811
    status, text, page = follow("print('hello')\n")
    assert status == 1 and page is None
    assert text == (
        "hello\nodt: nothing to draw: the script printed no progress line of fit(), as verbose=1 has them, "
        "and none of odt.sensors.stream's log()\n"
    )


def test_missing_script_and_missing_packages_are_named(tmp_path, capfd):
    assert commands.main(["monitor", "nowhere.py", "--on", "host"]) == 1
    assert "nowhere.py: no such script" in capfd.readouterr().out
    with mock.patch.dict(sys.modules, {"rich": None}):
        assert commands.main(["monitor", "nowhere.py", "--on", "host"]) == 1
    assert "monitor needs rich and matplotlib" in capfd.readouterr().out


BELL = "\x1b]0;taken\x07\x1b[2J\x9b31mhere\b\b :warning: \x7f"
SPELLED = r"\x1b]0;taken\x07\x1b[2J\x9b31mhere\x08\x08 :warning: \x7f"


def test_what_a_script_prints_commands_no_terminal(follow):  # noqa: F811
    status, text, page = follow(TRAIN + "print(%r)\nmodel.fit(x, y, epochs=2)\nraise ValueError(%r)\n" % (BELL, BELL))
    assert status == 1 and text.splitlines()[0] == SPELLED
    assert SPELLED in page and "ValueError: " + SPELLED in text and not set(text) & set("\x1b\x07\x9b\b\x7f")


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals of POSIX")
def test_what_a_script_prints_commands_no_terminal_that_is_drawn_on(tmp_path):
    import pty

    (tmp_path / "script.py").write_text(TRAIN + "print(%r)\nmodel.fit(x, y, epochs=2)\n" % BELL)
    terminal, end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "odt", "monitor", str(tmp_path / "script.py"), "--on", "host", "--report",
        str(tmp_path / "report")],
        cwd=ROOT, env=dict(os.environ, TERM="xterm", COLUMNS="100"), stdin=end, stdout=end, stderr=end,
    )  # fmt: skip
    os.close(end)
    printed = b""
    try:
        while chunk := os.read(terminal, 65536):
            printed += chunk
    except OSError:  # how Linux says that the other end was closed
        pass
    os.close(terminal)
    assert process.wait(60) == 0
    text = printed.decode()
    assert SPELLED in text and "epoch 2/2" in text and "\x1b]0;" not in text and not set(text) & set("\x07\x9b\b\x7f")


def start(arguments, folder, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "odt", "monitor", *arguments, "--report", str(folder / "report")],
        cwd=ROOT, env=dict(os.environ, PYTHONUNBUFFERED="1"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, **options,
    )  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_reaches_the_script_once_and_the_report_has_what_there_was(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        TRAIN + "try:\n    model.fit(x, y, epochs=10**6)\n"
        "except KeyboardInterrupt:\n    import time; time.sleep(0.5); model.save('kept.odt')\n"
    )
    process = start([str(script), "--on", "host"], tmp_path)
    line = process.stdout.readline()
    assert line.startswith("epoch 1/1000000  loss "), line + process.stdout.read()
    process.send_signal(signal.SIGINT)
    text = process.communicate(timeout=60)[0]
    assert process.returncode == 130 and text.endswith("odt: interrupted\n")
    assert (tmp_path / "kept.odt").exists(), text
    page = (tmp_path / "report.html").read_text()
    assert table(page) and "interrupted" in page


def test_output_of_another_command_is_read_from_the_standard_input_and_its_damaged_lines_are_counted(tmp_path):
    process = start(["-"], tmp_path, stdin=subprocess.PIPE)
    text = process.communicate(TEXT + "behind\noch 2/3  loss 1.0\n\x01\n", timeout=60)[0]
    assert process.returncode == 0 and "behind\n" in text and "odt: 1 damaged line was left out\n" in text
    page = (tmp_path / "report.html").read_text()
    assert sorted(table(page)) == [1, 2, 3] and "<th>damaged lines</th><td>1</td>" in page


def test_script_that_ignores_ctrl_c_is_ended_by_the_second(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('here', flush=True)\nwhile True: pass\n"
    )
    process = start([str(script), "--on", "host"], tmp_path)
    assert process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[0] == "odt: interrupted\n" and process.returncode == 130
