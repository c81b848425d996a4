"""Training by rows: less RAM where activations and errors need not be whole, to the same bits.

A stretch of layers runs stripe by stripe: a few rows of its output, then the next few (stage.py). Nothing is computed
twice; rows that the next stripe needs are moved. The instructions are those of any program, with other heights,
paddings and parts of operands, so that every executor runs them. It happens on a PC, between planning and placement
(Rows), where a ``memory_budget`` asks for it (budget.py), and takes a batch, or micro-batches, of one sample. A board
gets such a plan in a model file.
"""

from ...base.ordered import Ordered
from . import packed as of_four
from . import place as placement
from .choose import Forward
from .split import Buffers, SplitPlan, rewrite


class WithSample(int):
    """A ``memory_budget`` of which the sample is part: its bytes are the last ones of the arena.

    A camera's image lies there, ``x = memoryview(model.session.arena)[-size:]``, when ``train_step(x, y)`` or
    ``predict(x)`` begins; its rows are overwritten as soon as the first layers have read them. ``x`` may lie elsewhere,
    too. Steps of one sample.
    """


class Rows:
    """What ``compile_graph(rows=)`` takes: lets parts of a schedule's forward pass run by rows.

    ``stages``: (first unit, unit after the last, rows in a stripe); None: chosen for the first schedule, within
    ``limit`` bytes of arena where that can be, else within the fewest, ``is_cut`` as Forward.choose() has it.
    ``forward``: the Forward of an equal schedule, which knows what stages take. ``split``: whether rows of kernels
    that do not train lie in flash, where others do.
    ``end``: instructions of the forward pass. ``names``: (first layer, last layer, rows) of the stages, and
    ``against``: why a layer's units do not run by rows, by its name, where layers have names. ``found``: the kernels
    that are split. ``reads``: whether a stage reads the sample by rows. ``whole``: the Plan of the same step without
    stages, with whole kernels (ranges.py). ``sample``: bytes of the sample, if it is to lie at the arena's end, 0 if
    elsewhere. ``packed``: None where all kernels in flash have 8 bits, else how large parts of them packed.rewrite()
    unpacks at once. ``is_patient``: as placement.place() has it. ``back``: whether the backward pass may run by rows.
    """

    whole = places = None
    is_patient = back = False
    names = ()
    buffers = None  # what makes those of the schedule, if not as ever

    def __init__(self, limit=None, stages=None, forward=None, split=False, sample=0, packed=None, is_cut=False):
        self.limit, self.stages, self.forward, self.split = limit, stages, forward, split
        self.sample, self.packed, self.is_cut = sample, packed, is_cut
        self.found = ()
        if packed:
            self.buffers = of_four.SplitBuffers if split else of_four.Buffers
        elif split:
            self.buffers = Buffers

    def again(self):
        """Rows for an equal schedule."""
        rows = Rows(stages=self.stages, split=self.split, sample=self.sample, packed=self.packed)
        rows.back = self.back
        return rows

    def __call__(self, s, ends):
        if self.packed:
            of_four.rewrite(s, ends, self.packed)
        if self.split:
            self.found = s.buffers.found
            rewrite(s, ends)
        forward = Forward(s, ends, self.sample, self.back)
        if self.stages is None:
            self.forward = self.forward or forward
            self.stages = self.forward.choose(self.limit, self.is_cut)
        forward.rewrite(s, ends, self.stages)
        self.end = ends[-1] if self.back else ends[0]
        units = forward.units
        self.reads = any([units[a].is_source for a, _, _ in self.stages])
        self.names = [(units[a].owner, units[b - 1].owner, rows) for a, b, rows in self.stages]
        self.masks = any([unit.scale > 1 for unit in units])
        self.against = {unit.owner: unit.why for unit in units if unit.why}

    def place(self, s):
        """placement.place() of the schedule's buffers; of an equal schedule, the same."""
        if self.places:
            offsets, *found = self.places
            s.arena.offsets = list(offsets)
            return found
        found = placement.place(s.instructions, s.arena, self.sample, self.is_patient)
        if self.is_patient:
            self.places = list(s.arena.offsets), *found  # which a schedule empties in the end
        return found

    def __iter__(self):
        """(first layer, last layer, rows) of stages; of a layer whose kernel is split, rows are 0."""
        yield from self.names
        for name in self.layers():
            yield name, name, 0

    def exported(self, session, purpose):
        """What a model file has of them, a list; ValueError where ranges are missing that no board can measure."""
        found = list(self)
        if found and session.calibrated < 2 and purpose == "training":
            raise ValueError(
                "export: the model runs by rows, which no board can measure ranges for: fit() or calibrate(x, y) it "
                "first"
            )
        return found

    def layers(self):
        """Names of the layers whose kernels are split."""
        return [rows.name[: -len(" kernel")] for rows in self.found if rows.name.endswith(" kernel")]

    def planned(self, plan):
        """The Plan, with what is known of its split kernels, and of those of 4 bits."""
        if self.packed:
            return of_four.PackedPlan(plan, self.found)
        return SplitPlan(plan, self.found) if self.found else plan

    def attach(self, session):
        """Let ranges of the session be found by the whole step; draw the rows that lie in flash."""
        if not self.whole:
            return
        from ...run.build import run_by
        from .ranges import calibrate

        engine = Ordered(session.engine) if self.reads else session.engine
        run_by(session, engine, lambda level, whole=False, step=False: calibrate(session, level, whole, step))
        if self.found:
            from .first import draw

            draw(session)
