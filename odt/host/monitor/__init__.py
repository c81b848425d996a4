"""python -m odt monitor: follow a script that trains or watches a stream, draw what it does as it goes, and write a
report.

    python -m odt monitor train.py                          on the board that is plugged in
    python -m odt monitor train.py --on host                on this PC
    mpremote run train.py | python -m odt monitor -         what another command prints

It reads the lines that fit() prints, loss and accuracy, so the script is as it was, and those of odt.sensors.stream's
log(): values, thresholds and events. The report, <name>.html and <name>.png, is written however the script ends: by an
error, by Ctrl-C, or because the board has gone.
"""

import collections
import math
import os
import signal
import sys
import time
from pathlib import Path

from ..boards.board import BoardError, only_port, stop
from ..boards.process import Process, commands
from ..run import DIGEST
from ..text import complain, say, visible
from .curves import Curves
from .plotting import draw
from .series import RECENT, Logged

# fit() rewrites its line where it believes in a terminal: so there is something to draw within an epoch. A shell's
# background processes inherit that they ignore Ctrl-C.
_HOST = (
    "import runpy, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "sys.stdout.isatty = lambda: True; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
)
_KEPT = 200  # lines of the script's own, for the report
_MARKS = (("o", "cyan"), ("x", "yellow"))  # training, validation
_DRAWN = 3  # series, those that came first


class Run:
    """What happened: for the drawing and for the report."""

    def __init__(self, script, place):
        self.script = script
        self.place = place
        self.curves = Curves()
        self.logged = Logged()
        self.text = collections.deque(maxlen=_KEPT)
        self.digests = []
        self.begun = time.time()
        self.seconds = 0
        self.ended = "running"

    @property
    def damaged(self):
        return self.curves.damaged + self.logged.damaged

    @property
    def drawable(self):
        return bool(self.curves.fits or self.logged.series or self.logged.events)

    def feed(self, text, end=False):
        """Returns the script's own lines, and its events in words."""
        own = []
        for line in self.curves.feed(text, end):
            own += [visible(each, "\t") for each in self.logged.line(line)]
        self.text.extend(own)
        for line in own:
            self.digests += DIGEST.findall(line)
        self.seconds = time.time() - self.begun
        return own


def command(options):
    """Returns 0 when the script ended well, 130 after Ctrl-C; BoardError with the reason otherwise."""
    try:
        import matplotlib  # noqa: F401
        import rich  # noqa: F401
    except ImportError as error:
        raise BoardError("monitor needs rich and matplotlib (%s): pip install rich matplotlib" % error) from None
    from .report import write

    if options.script == "-":
        port, place = None, "-"
        source = _Input()
    else:
        script = Path(options.script).resolve()
        port = options.connect or (only_port() if options.on == "board" else None)
        place, words = commands(script, options.on, port, [sys.executable, "-c", _HOST, str(script)])
        source = Process(place, words, script.parent, options.timeout)
    run = Run(options.script, place)
    before = signal.signal(signal.SIGINT, lambda *_: source.interrupt())
    try:
        failure = _follow(run, source)
        if source.interrupted and port:
            run.ended = "interrupted; " + stop(port)
    finally:
        signal.signal(signal.SIGINT, before)
    if run.damaged:
        say("odt: %d damaged %s left out" % (run.damaged, "line was" if run.damaged == 1 else "lines were"))
    if run.drawable:
        say("odt: report in %s" % " and ".join(write(run, options.report)))
    if source.interrupted:
        complain("odt:", run.ended)
        return 130
    if failure:
        raise failure
    if not run.drawable:
        raise BoardError(
            "nothing to draw: the script printed no progress line of fit(), as verbose=1 has them, and none of "
            "odt.sensors.stream's log()"
        )
    return 0


def _follow(run, source):
    """Draw until the script ends; returns the BoardError of one that failed."""
    from rich.console import Console
    from rich.live import Live

    console = Console(highlight=False, emoji=False)
    failure = None
    live = Live(get_renderable=lambda: picture(run, console.width), console=console, refresh_per_second=4)
    # To a file go whole lines, and no drawing.
    with live if console.is_terminal else _Nothing():
        shown = _Shown(console)
        try:
            for text in source:
                for line in text.splitlines(True):  # epochs and what the script prints between, in their order
                    shown(run, run.feed(line))
        except BoardError as error:
            failure = error
        shown(run, run.feed("", True))
        run.ended = "interrupted" if source.interrupted else "ended well"
        if failure:
            run.ended = visible(str(failure), "\n\t")
    return failure


class _Nothing:
    def __enter__(self):
        return self

    def __exit__(self, *unused):
        pass


class _Shown:
    """Prints the script's own lines above the drawing; without a drawing, each epoch's figures too."""

    def __init__(self, console):
        self.console = console
        self.fit = self.epochs = 0  # those that were printed

    def __call__(self, run, own):
        for line in own:
            self.console.print(line, markup=False, soft_wrap=True)
        if self.console.is_terminal:
            return
        for number in range(self.fit, len(run.curves.fits)):
            fit = run.curves.fits[number]
            for epoch in list(fit.rows)[self.epochs if number == self.fit else 0 :]:
                self.console.print("epoch %d/%d  %s" % (epoch, fit.epochs, figures(fit.rows[epoch])), soft_wrap=True)
            self.fit, self.epochs = number, len(fit.rows)


class _Input:
    """The standard input, as a Process."""

    interrupted = False

    def __iter__(self):
        while not self.interrupted:
            chunk = os.read(0, 65536)
            if not chunk:
                return
            yield chunk.decode("utf-8", "replace")

    def interrupt(self):
        """The command that writes gets Ctrl-C as well, and ends the input; the second one ends it here."""
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True


# --- the drawing --------------------------------------------------------------------------------


def figures(row):
    """The figures of an epoch as words."""
    words = []
    for name, value in zip(("loss", "accuracy", "validation loss", "accuracy"), row):
        if value is not None:
            words.append("%s %.4f" % (name, value) if "loss" in name else "%s %.2f %%" % (name, 100 * value))
    return "  ".join(words)


def picture(run, width):
    """What rich draws: a bar, and the curves of the fit that runs; the last values of a stream."""
    from rich.console import Group
    from rich.text import Text

    name = visible("%s on %s" % (Path(run.script).name, run.place))
    if not run.drawable:
        return Text("%s: no progress of fit() and no line of log() yet" % name, "dim")
    drawn = list(run.logged.series.items())[:_DRAWN]
    height = 9 if len(drawn) + bool(run.curves.fits) == 1 else 5
    parts = _fit(run.curves.fits[-1], name, width, height) if run.curves.fits else [Text(name, "bold", no_wrap=True)]
    parts += [_values(run.logged, each, series, min(width, 110) - 14, height) for each, series in drawn]
    if run.logged.events:
        counts = ["%s %d" % each for each in run.logged.events.items()]
        parts.append(Text(visible("events: | " + "  ".join(counts)), "red", no_wrap=True, overflow="ellipsis"))
    return Group(*parts)


def _fit(fit, name, width, height):
    """A heading, a bar, curves."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    epoch, step, steps = fit.last
    done = epoch if step is None else epoch - 1 + (step / steps if steps else 0)
    words = "%s  epoch %d/%d" % (name, epoch, fit.epochs)
    if step is not None:
        words += "  step %s" % (step if steps is None else "%d/%d" % (step, steps))
    heading = Text("  ".join(filter(None, (words, fit.rate, fit.left))), "bold", no_wrap=True)
    curves = Table.grid(expand=False, padding=(0, 2))
    titles = [title for title in ("loss", "acc") if fit.curve(title) or fit.curve("val_" + title)]
    room = max(20, min(width, 110) // max(1, len(titles)) - 14)  # a line of step 0 gives no point yet
    curves.add_row(*[_plot(fit, title, room, height) for title in titles])
    legend = Text("o training, a mean of the epoch so far; x validation", "dim", no_wrap=True)
    bar = Table.grid()
    bar.add_row(ProgressBar(fit.epochs, done, width=min(width, 60)))
    return [heading, bar, curves, legend]


def _plot(fit, name, width, height):
    """A figure's curves in characters, as a rich Text."""
    from rich.text import Text

    series = [(mark, style, fit.curve(prefix + name)) for (mark, style), prefix in zip(_MARKS, ("", "val_"))]
    values = [value for _, _, points in series for _, value in points if math.isfinite(value)]
    low, high = (0, 1) if name == "acc" else (min(values + [0]), max(values + [0]))
    high = high if high > low else low + 1
    text = Text("%10s" % {"loss": "loss", "acc": "accuracy"}[name])
    for mark, style, points in series:
        text.append("  %s %.4f" % (mark, points[-1][1]) if points else "", style)
    return draw(text, series, fit.epochs, low, high, width, height)


def _values(logged, name, series, width, height):
    """The last values of a series, their threshold, and where events were, as a rich Text."""
    from rich.text import Text

    recent = series.recent
    first = max(1, series.count - RECENT + 1)
    points = [(number - first, value) for number, value, _ in recent]
    limits = [(number - first, limit) for number, _, limit in recent if limit is not None]
    values = [value for _, value in points + limits if math.isfinite(value)]
    low, high = min(values, default=0), max(values, default=0)
    low = 0 if 0 < low < high / 10 else low
    high = high if high > low else low + max(1, abs(low))  # of what is 1e+30, too
    text = Text("%10s" % visible(name), no_wrap=True)
    for mark, style, value in (("o", "cyan", series.last), ("-", "yellow", series.threshold)):
        text.append("" if value is None else "  %s %.6g" % (mark, value), style)
    marks = [count[name] - first for _, count in logged.marks if count.get(name, 0) >= first]
    curves = [("-", "yellow", limits), ("o", "cyan", points)]
    draw(text, curves, max(len(recent) - 1, 1), low, high, max(20, width), height, "%8.3g", marks)
    return text.append("\n%10d%*d" % (first, max(20, width) - 1, series.count))
