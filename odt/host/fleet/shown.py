"""What a fleet has done, for people: lines, a drawing in the terminal that lives, and a page at the end.

Names and reasons come from boards: they reach the terminal as visible text without markup, and the page escaped.
"""

import math
import time
from html import escape

from ..files import write_text
from ..monitor.plotting import draw
from ..page import page
from ..text import complain, say, visible

_ROWS = 12  # nodes that the drawing lists: those that failed, then the worst
_LISTED = 200  # nodes in the page, in the same order
_CURVES = (("o", "cyan", "the fleet's model"), ("+", "green", "mean of the nodes"), ("x", "yellow", "worst node"))
_ROUND = "round", "nodes", "loss", "accuracy", "mean", "worst", "up", "down", "seconds", "digest"
_NODE = "node", "rounds", "bytes", "resets", "accuracy", "why it was missed in the last round"
_COLOURS = "#0072b2", "#009e73", "#d55e00"  # Okabe and Ito's


class Seen:
    """What happened so far; ``facts``: pairs of words about the fleet."""

    def __init__(self, fleet, rounds, facts):
        self.fleet, self.rounds, self.facts = fleet, rounds, facts
        self.rows = []  # of a round: (Round, accuracy of the model or None, mean of the nodes or None, worst or None)
        self.nodes = {}  # by name: [rounds, bytes, resets, accuracy or None, why of the last round]
        self.failed = []  # rounds without an update: why
        self.ended = "running"
        self.begun = time.monotonic()

    def add(self, found, evaluated, whole):
        """A Round, {name: (loss, accuracy)} of the nodes' models, and the accuracy of the fleet's."""
        own = [value for _, value in evaluated.values() if value >= 0]
        mean = sum(own) / len(own) if own else None
        self.rows.append((found, whole, mean, min(own) if own else None))
        for name, part in found.parts.items():
            node = self.nodes.setdefault(name, [0, 0, 0, None, ""])
            node[0] += not part.why
            node[1] += part.size
            node[2] += part.reset
            node[3] = evaluated[name][1] if name in evaluated and evaluated[name][1] >= 0 else None
            node[4] = part.why

    def worst(self, count):
        """[(name, node)] of ``count`` nodes: those that failed, then by their accuracy."""

        def rank(each):
            name, (_, _, _, own, why) = each
            return not why, math.inf if own is None else own, name

        return sorted(self.nodes.items(), key=rank)[:count]

    def curves(self):
        """Of each curve the points (round, accuracy)."""
        return [[(row[0].number, row[at]) for row in self.rows if row[at] is not None] for at in (1, 2, 3)]


def line(found, evaluated, whole):
    """Print a round: what it came to, the nodes' accuracies, and why nodes took no part."""
    parts = found.parts.values()
    taking = sum([not part.why for part in parts])
    own = sorted([(value, name) for name, (_, value) in evaluated.items() if value >= 0])
    words = ["round %d: %d of %d nodes" % (found.number, taking, len(found.parts)), "loss %.4f" % found.loss]
    if whole is not None:
        words.append("accuracy %.4f" % whole)
    if own:
        mean = sum([value for value, _ in own]) / len(own)
        words.append("on nodes %.4f, worst %.4f (%s)" % (mean, *own[0]))
    words.append("%d bytes up, %d down, %.1f s" % (found.up, found.down, found.seconds))
    say(", ".join(words), flush=True)
    for part in parts:
        if part.why:
            complain("   ", part.why)
    for name, part in found.parts.items():
        if part.reset:
            say("    %s: it was reset: what it had not sent is lost" % name)


def drawing(seen, width):
    """What rich draws: a heading, a bar, curves, and the nodes that need a look. All of it is Text, without markup."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    up, down = seen.fleet.bytes()
    number = len(seen.rows) + len(seen.failed)
    heading = "round %d/%d  %s bytes up, %s down  %.0f s" % (
        min(number + 1, seen.rounds), seen.rounds, format(up, ","), format(down, ","), time.monotonic() - seen.begun
    )  # fmt: skip
    bar = Table.grid()
    bar.add_row(ProgressBar(seen.rounds, number, width=min(width, 60)))
    parts = [Text(heading, "bold", no_wrap=True), bar]
    curves = seen.curves()
    if any(curves):
        text = Text("accuracy", no_wrap=True)
        for (mark, style, name), points in zip(_CURVES, curves):
            if points:
                text.append("  %s %s %.4f" % (mark, name, points[-1][1]), style)
        first, last = seen.rows[0][0].number, max(seen.rows[-1][0].number, seen.rows[0][0].number + seen.rounds - 1)
        series = []
        for (mark, style, _), points in zip(_CURVES, curves):
            series.append((mark, style, [(x - first, y) for x, y in points]))
        low = min([y for points in curves for _, y in points])
        low = math.floor(10 * min(low, 0.9)) / 10
        parts.append(draw(text, series[::-1], max(1, last - first), low, 1, max(20, min(width, 110) - 14)))
    table = Table("node", "rounds", "bytes", "accuracy", "", box=None, pad_edge=False)
    for name, (rounds, size, resets, own, why) in seen.worst(_ROWS):
        words = why or ("%d resets" % resets if resets else "")
        own = "" if own is None else "%.4f" % own
        cells = [name, str(rounds), format(size, ","), own, words]
        table.add_row(*[Text(visible(each), "red" if why else "", no_wrap=True, overflow="ellipsis") for each in cells])
    if len(seen.nodes) > _ROWS:
        table.add_row(Text("and %d more" % (len(seen.nodes) - _ROWS), "dim"))
    return Group(*parts, table)


def write(seen, path):
    """Write the page, an HTML file that needs no network."""
    write_text(path, page("A fleet: %s" % dict(seen.facts)["script"], _STYLE, _body(seen)))


def _cell(value):
    words = "" if value is None else "%.4f" % value if isinstance(value, float) else str(value)
    return "<td>%s</td>" % escape(visible(words))


def _rows(heads, rows):
    yield "<table><tr>%s</tr>" % "".join(["<th>%s</th>" % each for each in heads])
    for row in rows:
        yield "<tr>%s</tr>" % "".join(map(_cell, row))
    yield "</table>"


def _body(seen):
    up, down = seen.fleet.bytes()
    facts = [
        *seen.facts, ("rounds", "%d of %d" % (len(seen.rows), seen.rounds)), ("bytes", "%d up, %d down" % (up, down)),
        ("digest", "%08x" % seen.fleet.digest()), ("ended", seen.ended),
    ]  # fmt: skip
    parts = ["<table>", *["<tr><th>%s</th>%s</tr>" % (escape(name), _cell(value)) for name, value in facts], "</table>"]
    if any(seen.curves()):
        parts.append(_chart(seen))
    rows = []
    for found, whole, mean, worst in seen.rows:
        taking = sum([not part.why for part in found.parts.values()])
        count = "%d of %d" % (taking, len(found.parts))
        rows.append((found.number, count, found.loss, whole, mean, worst, found.up, found.down,
                     "%.1f" % found.seconds, "%08x" % found.digest))  # fmt: skip
    parts += ["<h4>rounds</h4>", *_rows(_ROUND, rows)]
    parts += ["<p>%s</p>" % escape(visible(why)) for why in seen.failed]
    rows = [(name, rounds, size, resets, own, why) for name, (rounds, size, resets, own, why) in seen.worst(_LISTED)]
    parts += ["<h4>nodes</h4>", *_rows(_NODE, rows)]
    if len(seen.nodes) > _LISTED:
        parts.append("<p>and %d more</p>" % (len(seen.nodes) - _LISTED))
    return "\n".join(parts)


def _chart(seen):
    """The curves as SVG."""
    width, height, left, bottom = 720, 260, 50, 30
    first = seen.rows[0][0].number
    span = max(1, seen.rows[-1][0].number - first)
    low = math.floor(10 * min([y for points in seen.curves() for _, y in points] + [0.9])) / 10
    parts = []

    def at(number, value):
        x, y = (number - first) / span, (1 - value) / (1 - low)
        return left + x * (width - left - 10), 10 + y * (height - bottom - 10)

    for step in range(round(10 * low), 11):
        x, y = at(first, step / 10)
        parts.append('<line x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>' % (x, width - 10, y, y))
        parts.append('<text x="%d" y="%.1f" text-anchor="end">%.1f</text>' % (x - 6, y + 4, step / 10))
    for number in sorted({first, first + span}):
        parts.append('<text x="%d" y="%d" text-anchor="middle">%d</text>' % (at(number, 1)[0], height - 10, number))
    for (_, _, name), colour, points in zip(_CURVES, _COLOURS, seen.curves()):
        shown = " ".join(["%.1f,%.1f" % at(*point) for point in points])
        parts.append('<polyline stroke="%s" points="%s"><title>%s</title></polyline>' % (colour, shown, escape(name)))
    names = [escape(name) for _, _, name in _CURVES]
    legend = ['<span style="color: %s">%s</span>' % pair for pair in zip(_COLOURS, names)]
    return '<h4>accuracy</h4>\n<p>%s</p>\n<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d">\n%s\n</svg>' % (
        " &nbsp; ".join(legend), width, height, "\n".join(parts))  # fmt: skip


_STYLE = """\\
table { border-collapse: collapse; margin: 10px 0; }
th, td { text-align: left; padding: 2px 14px 2px 0; vertical-align: top; }
svg { width: 100%; max-width: 900px; font: 11px sans-serif; }
polyline { fill: none; stroke-width: 2; }
line { stroke: #ddd; }
"""
