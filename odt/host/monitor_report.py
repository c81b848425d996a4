"""The report of a training run: a page, and the same curves as a PNG. By matplotlib; the page needs no network."""

import io
import math
import os
import time
from html import escape

from .files import replacing, write_text
from .page import page

_DRAWN = 12  # calls of fit(), the last ones: drawing takes half a second each
_FIGURES = (("loss", "loss"), ("acc", "accuracy"))
_COLOURS = (("", "training", "#0072b2"), ("val_", "validation", "#d55e00"))  # Okabe and Ito's


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
    """A row of curves for each of the last calls of fit(), as matplotlib's Figure."""
    fits = run.curves.fits[-_DRAWN:]
    before = len(run.curves.fits) - len(fits)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 0.4 + 3.4 * len(fits)), layout="constrained")
    figure.suptitle("%s on %s" % (os.path.basename(run.script), run.place))
    FigureCanvasAgg(figure)
    rows = figure.subplots(len(fits), 2, squeeze=False)
    for number, (fit, row) in enumerate(zip(fits, rows)):
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
    return figure


def _range(fit, lines):
    """From the first epoch, or from where its means so far begin, to the last, with room for whole points."""
    first = min([1, *[line.get_xdata()[0] for line in lines]])
    room = max(0.02 * (fit.epochs - first), 0.05)
    return first - room, fit.epochs + room


def _cell(value):
    if value is None:
        return "<td></td>"
    return "<td>%s</td>" % ("%.4f" % value if math.isfinite(value) else str(value))


def _page(run, svg):
    facts = [
        ("script", run.script), ("on", run.place), ("begun", time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run.begun))),
        ("took", "%.1f s" % run.seconds), ("ended", run.ended), ("digests", ", ".join(run.digests) or "none printed"),
        ("damaged lines", str(run.curves.damaged)),
    ]  # fmt: skip
    parts = ["<table>"]
    parts += ["<tr><th>%s</th><td>%s</td></tr>" % (name, escape(value)) for name, value in facts]
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
    parts.append("<h4>what the script printed</h4>\n<pre>%s</pre>" % escape("\n".join(run.text)))
    return page(run.script, _STYLE, "\n".join(parts))


_STYLE = """\
table { border-collapse: collapse; margin: 10px 0; }
th, td { text-align: left; padding: 2px 14px 2px 0; }
svg { max-width: 100%; height: auto; }
pre { background: #f2f2f2; padding: 10px; overflow-x: auto; }
"""
