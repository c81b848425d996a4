"""Scripts whose training is watched by python -m odt monitor, and a terminal that shows it."""

import io
import xml.etree.ElementTree as ElementTree
from contextlib import redirect_stdout
from unittest import mock

import pytest
from hypothesis import strategies as st

import odt
from odt.host import commands
from odt.run.progress import Progress

TRAIN = """
import odt
x = [[i % 7, i % 3] for i in range(24)]
y = [i % 2 for i in range(24)]
model = odt.Sequential([odt.Input((2,)), odt.Dense(8, activation="relu"), odt.Dense(2)])
model.compile(odt.SGD(0.05), batch_size=4, seed=1)
"""


class Terminal(io.StringIO):
    def isatty(self):
        return True


def printed(terminal, data=True, loss=None, epochs=3):
    """(what fit() prints, its history); to a terminal each step is printed."""
    out = Terminal() if terminal else io.StringIO()
    model = odt.Sequential([odt.Input((2,)), odt.Dense(8, activation="relu"), odt.Dense(2)])
    model.compile(odt.SGD(0.05), loss or "sparse_categorical_crossentropy", batch_size=4, seed=1)
    x = [[i % 7, i % 3] for i in range(24)]
    y = [i % 2 for i in range(24)] if loss is None else x
    held = (x[:8], y[:8]) if data else None
    due = Progress.due
    with redirect_stdout(out), mock.patch.object(Progress, "due", lambda self: due(self) or terminal):
        history = model.fit(x, y, epochs=epochs, validation_data=held)
    return out.getvalue(), history.history


TEXT = printed(True)[0]


# Bytes of a broken line, and what a script or an attacker may print: many digits, terminals' commands.
HARM = st.one_of(
    st.binary(max_size=6),
    st.sampled_from((b"9" * 400, b"1" * 5000, b"\x1b[2J", b"\xc2\x9b2J", b"\x1b]0;x\x07", b"\0\b\v")),
)


@pytest.fixture
def follow(tmp_path, capfd):
    """Follows a script here: (exit status, what is printed, the report's text or None)."""

    def call(text, *arguments):
        (tmp_path / "script.py").write_text(text)
        report = tmp_path / "report"
        status = commands.main(
            ["monitor", str(tmp_path / "script.py"), "--on", "host", "--report", str(report), *arguments]
        )
        page = tmp_path / "report.html"
        return status, capfd.readouterr().out, page.read_text() if page.exists() else None

    return call


def table(page):
    """{epoch: (loss, acc, val_loss, val_acc)} of a report, which is well formed and needs no network."""
    body = page[page.index("<html") :]
    tree = ElementTree.fromstring(body)
    assert not [tag for tag in tree.iter() if tag.tag in ("script", "link", "img")]
    rows = [[cell.text for cell in row] for row in tree.iter("tr")]
    return {int(row[0]): row[1:] for row in rows if len(row) == 5 and row[0].isdigit()}
