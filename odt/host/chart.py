"""A picture of a training step's memory: which bytes of the arena hold what, instruction by instruction.

    chart(model, "plan.html")        # one file; a box tells its name, bytes and life where the mouse is
    chart(model, "plan.png")         # by matplotlib

    python -m odt chart examples/digits/train.py --output plan.html

Across: the instructions of a step, grouped by layer, forward then backward. Up: the arena's bytes; each
buffer is a box as long as it lives, at the offset that the plan gave it. It runs nothing.
"""

import runpy
import sys
from html import escape
from itertools import groupby
from pathlib import Path
from unittest import mock

from ..inspect.tensors import Map
from ..model import Model
from ..plan.seen import lifetimes
from ..plan.values import ACTIVATION, ERROR, GRADIENT, SCRATCH
from .boards.board import BoardError
from .files import replacing
from .page import page
from .text import literal, say, visible

# Okabe and Ito's colours, which the colour-blind tell apart.
COLOURS = {ACTIVATION: "#56b4e9", ERROR: "#e69f00", GRADIENT: "#009e73", SCRATCH: "#cc79a7"}
_COLUMN = 12  # pixels of an instruction at least,
_WIDTH = 1240  # and of all of them: the drawing has the page's width, and is not made narrower than its columns allow
_HEIGHT = 480  # of the arena
_LEFT, _TOP, _LABELS = 90, 30, 170


class Box:
    """A buffer, or of one that comes and goes by rows a piece: ``size`` bytes from ``offset``, in instructions
    ``first`` .. ``last``.
    """

    def __init__(self, buffer, first, last, owner, at=0, size=None):
        self.name = buffer.name if buffer.name.startswith(owner) else "%s %s" % (owner, buffer.name)
        self.kind = buffer.kind
        self.size = buffer.size if size is None else size
        self.offset = buffer.offset + at
        self.first = first
        self.last = last

    @property
    def top(self):
        """The first byte after it: buffers begin at whole words."""
        return self.offset + (self.size + 3 & ~3)


class Plan:
    """What the picture shows.

    ``boxes``; ``notes``, lines about stages, split kernels and what lies in flash; ``spans``, (layer, first
    instruction, instruction after the last); ``forward``, how many instructions the network's output takes; ``live``,
    bytes in use during each instruction; ``arena`` and ``lower_bound``, the largest of these.
    """

    def __init__(self, model):
        mapped = Map(model).instructions
        instructions = [instruction for _, _, instruction, _ in mapped]
        owners = [getattr(instruction, "owner", None) or "step" for instruction in instructions]
        phases = [phase == "forward" for _, _, _, phase in mapped]
        self.forward = sum(phases)
        self.boxes = [Box(buffer, a, b, owners[a]) for buffer, a, b in lifetimes(instructions) if buffer.size]
        if model.session.plan.rows:
            from .rows.place import lives

            self.boxes = [
                Box(buffer, a, b, owners[a], at, min(size, buffer.size - at))
                for buffer, form in lives(instructions)
                for at, size, a, b in form
            ]
        self.spans = []
        at = 0
        for (owner, _), group in groupby(zip(owners, phases)):
            end = at + len(list(group))
            self.spans.append((owner, at, end))
            at = end
        self.live = [0] * len(instructions)
        for box in self.boxes:
            for index in range(box.first, box.last + 1):
                self.live[index] += box.top - box.offset
        self.arena = model.program.arena
        self.lower_bound = max(self.live)
        self.notes = list(_notes(model))

    def title(self):
        above = 100 * (self.arena / self.lower_bound - 1)
        return "arena %s bytes, %.1f %% above the lower bound of %s" % (
            format(self.arena, ","), above, format(self.lower_bound, ","))  # fmt: skip


def _notes(model):
    rows = [[visible(str(part)) for part in parts] for parts in model.session.plan.rows or ()]
    for first, last, count in rows:
        if count != "0":
            yield "by rows: %s to %s, stripes of %s" % (first, last, count)
    split = [first for first, _, count in rows if count == "0"]
    if split:
        yield "split kernels, of which the rows that do not train lie in flash: " + ", ".join(split)
    four = [layer.name for layer, weights in model.session.plan.weights if hasattr(weights.kernel, "bits")]
    if four:
        yield "kernels of 4 bits in flash: " + ", ".join([visible(name) for name in four])
    if model.program.constants:
        yield "weights in flash: %s bytes" % format(model.program.constants, ",")


def chart(model, path):
    """Draw a compiled model's plan into a .html or a .png file; returns the Plan.

    ValueError for another suffix, and for a .png without matplotlib.
    """
    writers = {".html": _html, ".png": _png}
    suffix = Path(path).suffix
    if suffix not in writers:
        raise ValueError("the chart's file ends with .html or .png, got %r" % str(path))
    plan = Plan(model)
    with replacing(path) as name:
        writers[suffix](plan, name)
    return plan


def _png(plan, path):
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.patches import Patch, Rectangle
    except ImportError as error:
        raise ValueError("a .png needs matplotlib (%s): pip install matplotlib, or draw a .html" % error) from None

    count = len(plan.live)
    figure = Figure(figsize=(min(max(8, 0.11 * count), 60), 6), layout="constrained")
    axes = figure.add_subplot()
    for box in plan.boxes:
        size = box.last + 1 - box.first, box.top - box.offset
        colour = COLOURS[box.kind]
        axes.add_patch(Rectangle((box.first, box.offset), *size, facecolor=colour, edgecolor="white", linewidth=0.5))
    (live,) = axes.step(
        range(count + 1), plan.live + plan.live[-1:], "k", where="post", linewidth=1, label="bytes in use"
    )
    peak = axes.axhline(plan.arena, color="k", linestyle="--", linewidth=1, label="peak: the arena")
    bound = axes.axhline(plan.lower_bound, color="red", linestyle=":", linewidth=1.5, label="lower bound")
    for _, first, _ in plan.spans[1:]:
        axes.axvline(first, color="0.85", linewidth=0.5, zorder=0)
    axes.axvline(plan.forward, color="k", linewidth=0.8)
    axes.set_xticks(
        [(a + b) / 2 for _, a, b in plan.spans], [literal(name) for name, _, _ in plan.spans], rotation=90, fontsize=6
    )
    axes.set(xlim=(0, count), ylim=(0, plan.arena * 1.05), ylabel="bytes", title="\n".join([plan.title(), *plan.notes]))
    kinds = [Patch(facecolor=colour, label=kind) for kind, colour in COLOURS.items()]
    figure.legend(handles=[*kinds, live, peak, bound], fontsize=7, loc="outside lower center", ncols=7)
    FigureCanvasAgg(figure)
    figure.savefig(path, dpi=150)


def _html(plan, path):
    count = len(plan.live)
    column = max(_COLUMN, -(-_WIDTH // count))
    width = _LEFT + column * count + 20
    scale = _HEIGHT / plan.arena

    def x(instruction):
        return _LEFT + column * instruction

    def y(byte):
        return _TOP + _HEIGHT - byte * scale

    shapes = []
    for _, first, end in plan.spans[::2]:
        shapes.append('<rect class="band" x="%d" y="%d" width="%d" height="%d"/>' % (
            x(first), _TOP, x(end) - x(first), _HEIGHT + _LABELS))  # fmt: skip
    for box in plan.boxes:
        rectangle = '<rect class="box" fill="%s" x="%d" y="%.2f" width="%d" height="%.2f"><title>%s</title></rect>'
        shapes.append(rectangle % (
            COLOURS[box.kind], x(box.first), y(box.top), x(box.last + 1) - x(box.first), y(box.offset) - y(box.top),
            escape("%s (%s): %d bytes at %d, instructions %d to %d" % (
                visible(box.name), box.kind, box.size, box.offset, box.first, box.last)),
        ))  # fmt: skip
    steps = ["%d,%.2f %d,%.2f" % (x(i), y(live), x(i + 1), y(live)) for i, live in enumerate(plan.live)]
    shapes.append('<polyline class="live" points="%s"/>' % " ".join(steps))
    for name, byte in (("arena", plan.arena), ("bound", plan.lower_bound)):
        shapes.append(
            '<line class="%s" x1="%d" x2="%d" y1="%.2f" y2="%.2f"/>' % (name, _LEFT, x(count), y(byte), y(byte))
        )
    for byte in (0, plan.arena // 2, plan.arena):
        shapes.append('<text text-anchor="end" x="%d" y="%.2f">%s</text>' % (_LEFT - 6, y(byte) + 4, format(byte, ",")))
    for name, first, end in plan.spans:
        at = (x(first) + x(end)) // 2 + 4
        place = at, _TOP + _HEIGHT + 8
        shapes.append(
            '<text transform="translate(%d %d) rotate(-90)" text-anchor="end">%s</text>'
            % (place + (escape(visible(name)),))
        )
    middle = x(plan.forward)
    shapes.append('<line class="turn" x1="%d" x2="%d" y1="%d" y2="%d"/>' % (middle, middle, _TOP - 18, _TOP + _HEIGHT))
    shapes.append('<text text-anchor="end" x="%d" y="%d">forward</text>' % (middle - 6, _TOP - 8))
    shapes.append('<text x="%d" y="%d">backward</text>' % (middle + 6, _TOP - 8))
    legend = ['<span><i style="background: %s"></i>%s</span>' % (colour, kind) for kind, colour in COLOURS.items()]
    legend[:0] = [escape(note) + "<br>" for note in plan.notes]
    legend += ['<span><i class="k"></i>bytes in use</span>', '<span><i class="r"></i>lower bound</span>']
    size = width, _TOP + _HEIGHT + _LABELS
    least = _LEFT + _COLUMN * count + 20
    body = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" style="width: 100%%; min-width: %dpx">\n%s\n</svg>'
        % (size + (least, "\n".join(shapes)))
    )
    Path(path).write_text(page(plan.title(), _STYLE, _BODY % ("\n".join(legend), body)), encoding="utf-8")


_STYLE = """\
div { overflow-x: auto; }
span { margin-right: 18px; }
i { display: inline-block; width: 14px; height: 14px; margin-right: 5px; vertical-align: -2px; }
i.k { height: 2px; background: #222; vertical-align: 4px; }
i.r { height: 2px; background: red; vertical-align: 4px; }
text { font-size: 11px; }
.band { fill: #f2f2f2; }
.box { stroke: white; stroke-width: 0.7; }
.box:hover { stroke: black; stroke-width: 2; }
.live { fill: none; stroke: #222; pointer-events: none; }
.arena { stroke: #222; stroke-dasharray: 6 4; }
.bound { stroke: red; stroke-dasharray: 2 3; stroke-width: 2; }
.turn { stroke: #222; }
"""

_BODY = """<p>
%s
</p>
<div>
%s
</div>"""


class _Compiled(BaseException):
    """Ends a script: nothing that catches Exception stops it."""


def compiled_by(script):
    """The first model that a script compiles; the script ends there. ValueError when there is none."""
    models = []
    compile_model = Model.compile

    def stop(model, *arguments, **options):
        compile_model(model, *arguments, **options)
        models.append(model)
        raise _Compiled

    path = [str(Path(script).resolve().parent)] + sys.path
    with mock.patch.object(Model, "compile", stop), mock.patch.object(sys, "path", path):
        try:
            runpy.run_path(str(script), run_name="__main__")
        except _Compiled:
            return models[0]
    raise ValueError("%s compiles no model" % script)


def command(options):
    """python -m odt chart: returns 0; BoardError with the reason."""
    try:
        plan = chart(compiled_by(options.script), options.output)
    except (OSError, ValueError) as error:
        raise BoardError(str(error))
    say("%s: %s" % (options.output, plan.title()))
    return 0
