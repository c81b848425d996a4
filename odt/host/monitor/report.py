"""The report of a run: a page, and the same curves as a PNG. By matplotlib; the page needs no network."""

import html
import io
import math
import os
import time

from ..files import replacing, write_text
from ..page import page
from ..text import literal, visible

_DRAWN = 12  # calls of fit(), the last ones, and series, the first ones: drawing takes half a second each
_NAMED = 20  # events with their name beside them; more are shown by their colour alone
_LISTED = 200  # events in the page, the last ones
_FIGURES = (("loss", "loss"), ("acc", "accuracy"))
_COLOURS = (("", "training", "#0072b2"), ("val_", "validation", "#d55e00"))  # Okabe and Ito's, and those of events:
_EVENTS = ("#cc79a7", "#009e73", "#e69f00", "#56b4e9", "#000000")


def write(run, name):
    """Write <name>.html and <name>.png of a monitor.Run; returns their names."""
    figure = drawn(run)
    png, page = os.fspath(name) + ".png", os.fspath(name) + ".html"
    with replacing(png) as path:
        figure.savefig(path, dpi=120)
    drawing = io.StringIO()
    figure.savefig(drawing, format="svg", metadata={"Date": None})
    svg = drawing.getvalue()
    write_text(page, _page(run, svg[svg.index("<svg") :]))
    return page, png


def drawn(run):
    """A row of curves for each of the last calls of fit(), and one for each series, as matplotlib's Figure."""
    fits = run.curves.fits[-_DRAWN:]
    series = list(run.logged.series.items())[:_DRAWN]
    before = len(run.curves.fits) - len(fits)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    count = len(fits) + max(len(series), bool(run.logged.events))
    figure = Figure(figsize=(10, 0.4 + 3.4 * count), layout="constrained")
    figure.suptitle(literal("%s on %s" % (os.path.basename(run.script), run.place)))
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(count, 2)
    for number, fit in enumerate(fits):
        row = [figure.add_subplot(grid[number, column]) for column in (0, 1)]
        for (name, title), axes in zip(_FIGURES, row):
            for prefix, label, colour in _COLOURS:
                points = fit.curve(prefix + name)
                if points:
                    axes.plot(*zip(*points), ".-", color=colour, label=label)
            if not axes.lines:
                axes.set_axis_off()  # no accuracy, for "mse"
                continue
            axes.set(xlabel="epoch", ylabel=title, xlim=_range(fit, axes.lines))
            axes.xaxis.get_major_locator().set_params(integer=True)
            axes.grid(alpha=0.3)
            if name == "acc":
                axes.set_ylim(-0.02, 1.02)
            axes.legend(loc="upper right" if name == "loss" else "lower right")
        if len(fits) > 1:
            row[0].set_title("fit %d of %d" % (before + number + 1, before + len(fits)))
    for number, (name, each) in enumerate(series):
        _values(figure.add_subplot(grid[len(fits) + number, :]), run.logged, name, each)
    return figure


def _values(axes, logged, name, series):
    """A series over the number of its values, its threshold, and where events were."""
    numbers = [1 + i * series.each for i in range(len(series.lows))]
    if series.each > 1:
        axes.fill_between(numbers, series.lows, series.highs, step="post", color=_COLOURS[0][2], label=literal(name))
    else:
        axes.plot(numbers, series.lows, ".-", markersize=3, linewidth=0.8, color=_COLOURS[0][2], label=literal(name))
    if series.steps:
        steps = [(max(1, number), value) for number, value in series.steps]
        steps.append((max(2, series.count), steps[-1][1]))
        axes.plot(*zip(*steps), "--", drawstyle="steps-post", color=_COLOURS[1][2], label="threshold")
    named = {}  # how many events are named there
    for number, event in enumerate(logged.events):
        colour, label = _EVENTS[number % len(_EVENTS)], literal("%s: %d" % (event, logged.events[event]))
        for mark, counts in logged.marks:
            if mark == event:
                at = max(1, counts.get(name, 0))
                axes.axvline(at, color=colour, linewidth=1, label=label, zorder=1)
                label = None
                named[at] = named.get(at, 0) + 1
                if len(logged.marks) <= _NAMED:
                    axes.text(
                        at,
                        1.13 - 0.15 * named[at],
                        literal(event),
                        rotation=90,
                        va="top",
                        ha="right",
                        fontsize=7,
                        transform=axes.get_xaxis_transform(),
                    )
    shown = [value for value in series.lows + series.highs if math.isfinite(value)]
    if shown and min(shown) > 0 and max(shown) > 100 * min(shown):
        axes.set_yscale("log")
    axes.set(xlabel="sample", ylabel=literal(name))
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left", fontsize=7)


def _range(fit, lines):
    """From the first epoch, or from where its means so far begin, to the last, with room for whole points."""
    first = min([1, *[line.get_xdata()[0] for line in lines]])
    room = max(0.02 * (fit.epochs - first), 0.05)
    return first - room, fit.epochs + room


def escape(text, keep=""):
    """Visible text as HTML."""
    return html.escape(visible(text, keep))


def _cell(value):
    if value is None:
        return "<td></td>"
    return "<td>%s</td>" % ("%.4f" % value if math.isfinite(value) else str(value))


def _page(run, svg):
    facts = [
        ("script", run.script), ("on", run.place),
        ("begun", time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run.begun))),
        ("took", "%.1f s" % run.seconds), ("ended", run.ended), ("digests", ", ".join(run.digests) or "none printed"),
        ("events", ", ".join(["%s %d" % each for each in run.logged.events.items()]) or "none"),
        ("damaged lines", str(run.damaged)),
    ]  # fmt: skip
    parts = ["<table>"]
    parts += ["<tr><th>%s</th><td>%s</td></tr>" % (name, escape(value, "\n\t")) for name, value in facts]
    parts += ["</table>", svg]
    if len(run.curves.fits) > _DRAWN:
        parts.append("<p>the last %d of %d fits; tables of all</p>" % (_DRAWN, len(run.curves.fits)))
    for number, fit in enumerate(run.curves.fits):
        parts.append("<h4>fit %d: %d of %d epochs</h4>" % (number + 1, len(fit.rows), fit.epochs))
        parts.append(
            "<table><tr><th>epoch</th><th>loss</th><th>accuracy</th><th>validation loss</th><th>accuracy</th></tr>"
        )
        for epoch, row in sorted(fit.rows.items()):
            parts.append("<tr><td>%d</td>%s</tr>" % (epoch, "".join([_cell(value) for value in row])))
        parts.append("</table>")
    parts += _events(run.logged)
    parts.append("<h4>what the script printed</h4>\n<pre>%s</pre>" % escape("\n".join(run.text), "\n\t"))
    return page(run.script, _STYLE, "\n".join(parts))


def _events(logged):
    """A table of the last events: which value of each series came before."""
    if not logged.marks:
        return []
    names, marks = list(logged.series)[:_DRAWN], list(logged.marks)[-_LISTED:]
    parts = [
        "<h4>the last %d of %d events: after which value</h4>" % (len(marks), sum(logged.events.values())),
        "<table>",
    ]
    parts.append("<tr><th>event</th>%s</tr>" % "".join(["<th>%s</th>" % escape(name) for name in names]))
    for event, counts in marks:
        cells = "".join(["<td>%d</td>" % counts.get(name, 0) for name in names])
        parts.append("<tr><td>%s</td>%s</tr>" % (escape(event), cells))
    return [*parts, "</table>"]


_STYLE = """\
table { border-collapse: collapse; margin: 10px 0; }
th, td { text-align: left; padding: 2px 14px 2px 0; }
svg { max-width: 100%; height: auto; }
pre { background: #f2f2f2; padding: 10px; overflow-x: auto; }
"""
