"""What odt fleet draws and writes: every figure is a round's, and no name of a board is more than text."""

import io
import re
import xml.dom.minidom

import pytest
from fleet_node import network, node, zeroth_node

from odt.fleet import frames
from odt.host.fleet import Fleet, Twin, ZerothFleet, shown

EVIL = "a\x1b[2J\u202e<b>&[red]x[/]"


class Renamed(Twin):
    """A twin whose name is another one's invention, and whose refusals are."""

    def __init__(self, node, refuses=False):
        super().__init__(node)
        node.name = EVIL.encode()
        self.refuses = refuses

    def read(self, timeout):
        kind, sequence, body = frames.unpack(super().read(timeout)[1:-1])
        if self.refuses and len(body) == 16:
            return frames.pack(frames.REFUSED, sequence, b"no \x1b]0;evil\x07<script>")
        return frames.pack(kind, sequence, body)


def seen(links, rounds=3):
    fleet = Fleet(network(), links, timeout=5)
    found = shown.Seen(fleet, rounds, [("script", "s" + EVIL), ("nodes", len(links))])
    for _ in range(rounds):
        each = fleet.run_round()
        found.add(each, fleet.evaluate(), 0.5)
    return found


def drawn(seen, width=100):
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, force_terminal=True, width=width, color_system="standard").print(shown.drawing(seen, width))
    return re.sub("\x1b\\[[0-9;]*m", "", out.getvalue())


def test_the_drawing_has_rounds_bytes_and_accuracies():
    found = seen([Twin(node(number)) for number in range(3)])
    up, down = found.fleet.bytes()
    text = drawn(found)
    assert "round 3/3  %s bytes up, %s down" % (format(up, ","), format(down, ",")) in text
    _, _, mean, worst = found.rows[-1]
    assert "o the fleet's model 0.5000  + mean of the nodes %.4f  x worst node %.4f" % (mean, worst) in text
    names = [line.split()[:2] for line in text.splitlines() if line.startswith("corner")]
    ranked = sorted(found.fleet.evaluate().items(), key=lambda each: (each[1][1], each[0]))
    assert names == [name.split() for name, _ in ranked]


def test_before_the_first_round_it_draws_and_writes(tmp_path):
    fleet = Fleet(network(), [Twin(node(0))])
    empty = shown.Seen(fleet, 5, [("script", "s")])
    assert "round 1/5" in drawn(empty)
    shown.write(empty, tmp_path / "p.html")
    assert "0 of 5" in (tmp_path / "p.html").read_text()


def test_nodes_that_failed_come_first_and_many_are_counted():
    links = [Twin(node(number)) for number in range(shown._ROWS + 3)]
    links[-1] = Renamed(node(20), refuses=True)
    text = drawn(seen(links, 1))
    rows = text[text.index("\nnode ") + 1 :].splitlines()[1:]
    assert rows[0].startswith("a\\x1b[2J\\u202e<b>&[red]x[/]") and "no \\x1b]0;evil" in rows[0]
    assert rows[-1].strip() == "and 3 more" and len(rows) == shown._ROWS + 1


def test_the_page_is_whole_and_every_text_of_a_board_is_escaped(tmp_path):
    found = seen([Twin(node(0)), Twin(node(1)), Renamed(node(2), refuses=True)])
    found.failed.append("round 9: " + EVIL)
    found.ended = EVIL
    path = tmp_path / "fleet.html"
    shown.write(found, path)
    text = path.read_text(encoding="utf-8")
    xml.dom.minidom.parseString(text.replace("<!DOCTYPE html>", "").replace("&nbsp;", " "))
    assert "<b>" not in text and "<script" not in text and "\x1b" not in text and "\u202e" not in text
    assert "a\\x1b[2J\\u202e&lt;b&gt;&amp;[red]x[/]" in text and "no \\x1b]0;evil\\x07&lt;script&gt;" in text
    for each, whole, mean, worst in found.rows:
        row = ["%d" % each.number, "2 of 3", *["%.4f" % value for value in (each.loss, whole, mean, worst)],
               "%d" % each.up, "%d" % each.down, "%.1f" % each.seconds, "%08x" % each.digest]  # fmt: skip
        assert "<tr>%s</tr>" % "".join(["<td>%s</td>" % cell for cell in row]) in text
    lines = re.findall('<polyline stroke="#\\w+" points="([^"]*)">', text)
    assert [len(points.split()) for points in lines] == [3, 3, 3]


def test_a_fleet_of_zeroth_order_is_shown_too(tmp_path):
    fleet = ZerothFleet(zeroth_node(9), [Twin(zeroth_node(number)) for number in range(3)], steps=4)
    found = shown.Seen(fleet, 1, [("script", "s")])
    found.add(fleet.run_round(), fleet.evaluate(), None)
    assert re.search("corner 0 +1 +32 ", drawn(found))
    shown.write(found, tmp_path / "p.html")
    assert "<td>corner 0</td><td>1</td><td>32</td>" in (tmp_path / "p.html").read_text()


@pytest.mark.parametrize("width", [20, 60, 200])
def test_it_fits_any_terminal(width):
    assert max(map(len, drawn(seen([Twin(node(0))], 1), width).splitlines())) <= width
