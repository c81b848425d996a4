"""`python -m odt monitor` of a stream: values, thresholds and events are those that odt.sensors.log() was given.

build/venv/bin/python tests_host/host/test_monitor_series.py     writes the drawing of docs/howto/stream.md anew
"""

import io
import math
import re
import sys
from contextlib import redirect_stdout
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

from checkout import ROOT  # noqa: E402
from monitored import HARM, TEXT, TRAIN, follow, table  # noqa: E402, F401

from odt.host import monitor
from odt.host.monitor import report as monitor_report
from odt.host.monitor import series as monitor_series
from odt.host.monitor.series import Logged
from odt.sensors import Above, Rules, log

NAMES = st.text(
    st.characters(exclude_categories=("Cc", "Cs"), exclude_characters=":|>\ufffd\u2028\u2029\x85"),
    min_size=1,
    max_size=40,
).filter(lambda name: name == name.strip() and not name.endswith(" threshold"))
VALUES = st.one_of(st.floats(width=32), st.integers(-(10**9), 10**9))


def printed(calls):
    out = io.StringIO()
    with redirect_stdout(out):
        for call in calls:
            log(*call)
    return out.getvalue()


def read(text):
    run = monitor.Run("watch.py", "board")
    run.feed(text, True)
    return run


def drawn(run, width=110):
    console = Console(file=io.StringIO(), width=width, highlight=False)
    console.print(monitor.picture(run, width))
    return console.file.getvalue()


def six_digits(value):
    return float("%.6g" % value)


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(NAMES, VALUES, st.one_of(st.none(), VALUES)), min_size=1, max_size=20))
def test_what_is_logged_is_what_is_read(calls):
    run = read(printed(calls))
    assert run.damaged == 0 and not run.logged.events and not run.text
    for name in {name for name, _, _ in calls}:
        series, own = run.logged.series[name], [call for call in calls if call[0] == name]
        assert series.count == len(own)
        threshold = None
        for (number, value, limit), (_, given_value, given_limit) in zip(series.recent, own):
            threshold = threshold if given_limit is None else six_digits(given_limit)
            assert same(value, six_digits(given_value)) and number <= len(own)
            assert limit is None if threshold is None else same(limit, threshold)


def test_events_and_rules_are_marks_after_the_values_that_came_before_them():
    rules = Rules()
    rules.add("odd one", Above("score", 0.5), log)
    out = io.StringIO()
    with redirect_stdout(out):
        for i, score in enumerate((0.1, 0.2, 0.7, 0.1)):
            log("score", score)
            rules.value("score", score, i)
            if i == 1:
                log("temperature", 20)
        log("drift")
    run = monitor.Run("watch.py", "board")
    assert run.feed(out.getvalue()) == ["odd one at score 3: 0.7", "drift at score 4: 0.1"]
    assert list(run.logged.marks) == [
        ("odd one", {"score": 3, "temperature": 1}),
        ("drift", {"score": 4, "temperature": 1}),
    ]
    assert run.logged.events == {"odd one": 1, "drift": 1}
    assert read(">event:drift|t\n").text.pop() == "drift"  # before any value


@pytest.mark.parametrize("name, error", ((7, TypeError), (None, TypeError), ("", ValueError), ("a:b", ValueError),
    ("a|b", ValueError),
    ("a>b", ValueError), ("a\nb", ValueError), ("a\r", ValueError), (" a", ValueError),
    ("a" * 41, ValueError)))  # fmt: skip
def test_what_is_no_name_is_refused_and_nothing_is_printed(name, error):
    for value in (None, 1.5):
        out = io.StringIO()
        with pytest.raises(error, match="log: .*, got|log: no "), redirect_stdout(out):
            log(name, value)
        assert out.getvalue() == ""


LINES = "before\n>score:0.1\n>score threshold:0.4\n>score:0.25\n>event:drift|t\nbehind -> it: 5\n>score:nan\n"


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_values_do_not_depend_on_where_the_text_is_cut(data):
    text = LINES + TEXT + LINES
    whole, pieces = monitor.Run("watch.py", "board"), monitor.Run("watch.py", "board")
    own = whole.feed(text, True)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=30)))
    said = []
    for start, stop in zip([0, *cuts], [*cuts, len(text)]):
        said += pieces.feed(text[start:stop])
    assert said + pieces.feed("", True) == own
    assert own == [
        "before",
        "drift at score 2: 0.25",
        "behind -> it: 5",
        "before",
        "drift at score 5: 0.25",
        "behind -> it: 5",
    ]
    assert whole.damaged == pieces.damaged == 0 and len(pieces.curves.fits) == 1
    assert str(pieces.logged.series["score"].recent) == str(whole.logged.series["score"].recent)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_damage_of_any_kind_is_survived_drawn_and_reported(data):
    text = (LINES + TEXT + LINES * 3).encode()
    for _ in range(data.draw(st.integers(1, 8))):
        at, size = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 20))
        text = text[:at] + data.draw(HARM) + text[at + size :]
    run = monitor.Run("watch.py", "board")
    console = Console(file=io.StringIO(), width=100, highlight=False)
    monitor._Shown(console)(run, run.feed(text.decode("utf-8", "replace"), True))
    console.file.write(drawn(run))
    assert not re.search("[\0-\x08\x0b-\x1f\x7f-\x9f]", console.file.getvalue())
    assert len(console.file.getvalue()) < 4 * len(text) + 8000
    assert "</html>" in monitor_report._page(run, "<svg></svg>")


@pytest.mark.parametrize("line", (">score:0.0253", ">event:drift|t"))
def test_a_line_that_lost_its_beginning_or_its_end_is_left_out_and_counted(line):
    for cut in range(1, len(line)):
        run = read(">score:0.5\n" + line[:cut] + "\n>score:0.75\n")
        if line[:cut] not in (">score:0", ">score:0.0", ">score:0.02", ">score:0.025"):  # they are whole as they are
            assert run.logged.series["score"].count == 2 and not run.logged.events
            assert run.damaged == (":" in line[:cut])
        run = read(">score:0.5\n" + line[cut:] + "\n>score:0.75\n")
        assert run.logged.series["score"].count == 2 and not run.logged.events
        assert run.damaged == (":" in line[cut:] or "|t" in line[cut:])
    run = read(line + line + "\n>score:0.7" + line)  # the ends of lines were lost
    assert run.damaged == 0
    run = read(">score:1\n>sco" + line + "\n>score:7.\n>score:0.\n>score:1:2\nscore:5\n:3\n")
    assert run.damaged == 5 and [value for _, value, _ in run.logged.series["score"].recent][-1] in (1, 0.0253)


def test_what_no_number_and_no_name_can_be_is_damage_and_ends_nothing():
    run = read(">score:" + "9" * 400 + "\n>" + "n" * 400 + ":1\n>a\x07b:1\n>\ufffdb:1\n>score:1e9999\n")
    assert not run.logged.series and run.damaged == 2
    run = read(">score:1e999\n>score:-1e101\n>score:1e99\n")
    assert [value for _, value, _ in run.logged.series["score"].recent] == [math.inf, -math.inf, 1e99]
    drawn(run)
    run = read("".join([">n%d:1\n>event:e%d|t\n" % (i, i) for i in range(300)]))
    assert len(run.logged.series) == len(run.logged.events) == 100 and run.damaged == 400
    assert len(drawn(run)) < 8000 and len(monitor_report.drawn(run).axes) == 12
    read(">a:1" * 1000)  # a line of 4,000 characters


@pytest.mark.parametrize("count", (1, 8191, 8192, 8193, 20001, 70000))
def test_many_values_share_bins_that_have_their_least_and_most(count):
    values = np.random.default_rng(1).normal(size=count).round(3)
    values[::7] = np.nan
    values[:: max(1, count // 5)] = np.inf
    logged = Logged()
    for value in values:
        assert logged.line(">x:%.6g" % value) == []
    series = logged.series["x"]
    assert series.count == count and len(series.lows) == len(series.highs) <= 8192
    assert series.each == 1 or len(series.lows) > 4096
    values[~np.isfinite(values)] = np.nan
    values = np.r_[values, np.full(-count % series.each, np.nan)].reshape(-1, series.each)
    for found, least in ((series.lows, np.fmin.reduce(values, 1)), (series.highs, np.fmax.reduce(values, 1))):
        np.testing.assert_array_equal(found, least)
    assert [number for number, _, _ in series.recent] == list(range(max(1, count - 499), count + 1))


def test_thresholds_are_kept_where_they_change():
    logged = Logged()
    logged.line(">score threshold:3")  # once, before the first value
    for i in range(20000):
        logged.line(">score:%d" % i)
        if i >= 10:
            logged.line(">score threshold:%d" % (i // 10))
    series = logged.series["score"]
    assert series.steps[:3] == [(0, 3), (11, 1), (21, 2)] and len(series.steps) == 2000
    assert list(series.recent)[-1] == [20000, 19999, 1999]
    for i in range(20000):
        series.limit(i)
    assert len(series.steps) <= 8192 and series.steps[-1] == (20000, 19999)


def test_the_drawing_has_values_thresholds_and_events_where_they_are():
    run = read(">score:0\n" * 700)
    run.feed(">score:20\n>event:drift|t\n>score threshold:12\n")
    lines = drawn(run).splitlines()
    assert lines[0].strip() == "watch.py on board" and lines[1].strip() == "score  o 20  - 12"
    rows = [re.fullmatch(r" *(\S+) \|(.{96}).*", line).groups() for line in lines[2:11]]
    assert [float(label) for label, _ in rows] == [20, 17.5, 15, 12.5, 10, 7.5, 5, 2.5, 0]
    assert "".join([row[95] for _, row in rows]) == "o||-||||o"
    assert [row[:95].strip() for _, row in rows] == [""] * 8 + ["o" * 95]
    assert lines[12].split() == ["202", "701"] and lines[13].strip() == "events: | drift 1"


def test_the_picture_has_a_row_for_each_series_with_threshold_and_events():
    run = read(TEXT + "".join([">score:%g\n>score threshold:%g\n" % (1.5**i, 2 + i // 9) for i in range(20)]))
    run.feed(">event:drift|t\n>temperature:20\n>event:odd|t\n>event:odd|t\n")
    figure = monitor_report.drawn(run)
    score, temperature = figure.axes[2:]
    assert score.get_ylabel() == "score" and score.get_yscale() == "log"
    values, threshold, drift, odd, again = score.lines
    np.testing.assert_allclose(values.get_xydata(), [(i + 1, float("%g" % 1.5**i)) for i in range(20)])
    np.testing.assert_array_equal(threshold.get_xydata(), [(1, 2), (10, 3), (19, 4), (20, 4)])
    assert [line.get_xdata()[0] for line in (drift, odd, again)] == [20, 20, 20]
    assert [text.get_text() for text in score.texts] == ["drift", "odd", "odd"]
    assert [text.get_text() for text in score.get_legend().get_texts()] == ["score", "threshold", "drift: 1", "odd: 2"]
    assert temperature.get_ylabel() == "temperature" and temperature.get_yscale() == "linear"


def test_a_script_that_trains_and_then_watches_is_followed_and_reported(follow, tmp_path):  # noqa: F811
    status, text, page = follow(
        TRAIN
        + "model.fit(x, y, epochs=3)\nfrom odt.sensors import log\nfor i in range(5):\n    log('score', i / 8, 0.5)\n"
        "log('drift & more')\nprint('digest %08x' % model.digest())\n"
    )
    assert status == 0, text
    lines = text.splitlines()
    assert [line[:9] for line in lines[:3]] == ["epoch 1/3", "epoch 2/3", "epoch 3/3"]
    assert lines[3] == "drift & more at score 5: 0.5" and lines[4].startswith("digest ") and len(lines) == 6
    assert len(table(page)) == 3 and "<th>events</th><td>drift &amp; more 1</td>" in page
    assert "<tr><td>drift &amp; more</td><td>5</td></tr>" in page and "<th>damaged lines</th><td>0</td>" in page
    picture = matplotlib.image.imread(tmp_path / "report.png")
    assert picture.shape[0] > 800 and picture.std() > 0.05


def test_a_script_that_only_tells_events_is_reported_too(follow):  # noqa: F811
    status, text, page = follow("from odt.sensors import log\nlog('door')\nlog('door')\n")
    assert status == 0 and text.startswith("door\ndoor\nodt: report in ") and "<th>events</th><td>door 2</td>" in page


@pytest.mark.slow
def test_a_hundred_thousand_values_are_read_and_drawn_in_seconds(tmp_path):
    """By counts, not the clock: no picture has more points than its bins."""
    run = monitor.Run("watch.py", "board")
    for i in range(100_000):
        run.feed(">score:%g\n" % math.sin(i / 1000))
        if i % 50 == 0:
            run.feed(">event:alarm|t\n")
    series = run.logged.series["score"]
    assert len(series.lows) <= 2 * monitor_series._BINS and len(run.logged.marks) == 1000
    page, png = monitor_report.write(run, str(tmp_path / "report"))
    assert "the last 200 of 2000 events" in Path(page).read_text()


# --- the document -------------------------------------------------------------------------------

DOCUMENT = ROOT / "docs" / "howto" / "stream.md"
DRAWING = re.compile(r"(<!-- written by tests_host/host/test_monitor_series.py -->\n```text\n)(.*?)(```\n)", re.S)


def drawing():
    """Of the script in "stream.md", when it has ended."""
    section = DOCUMENT.read_text().partition("## Seeing it")[2]
    out = io.StringIO()
    with redirect_stdout(out):
        exec(re.search(r"```python\n(.*?)```", section, re.S)[1], {"__name__": "__main__"})
    return re.sub(r" +$", "", drawn(read(out.getvalue()), 100), flags=re.M)


def test_the_drawing_of_the_document_is_drawn():
    assert DRAWING.search(DOCUMENT.read_text())[2] == drawing(), "run build/venv/bin/python " + __file__


if __name__ == "__main__":
    DOCUMENT.write_text(DRAWING.sub(lambda match: match[1] + drawing() + match[3], DOCUMENT.read_text()))
