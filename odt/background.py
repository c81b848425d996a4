"""fit_async: training in slices, while the rest of an asyncio program goes on."""

import asyncio

from .fixed import is_int
from .opcodes import COUNT, POSITION
from .progress import _now as now
from .progress import _since as since
from .training import Training


class Slices:
    """Runs a model's program an instruction at a time, and pauses when ``slice_ms`` are over."""

    def __init__(self, model, slice_ms):
        if not is_int(slice_ms) or slice_ms < 1:
            raise ValueError("slice_ms is an int above 0, got %r" % (slice_ms,))
        model._compiled()
        self.slice_ms = slice_ms
        self.begun = now()
        start, stop = model._sections["train"]
        self.starts = [at for at, _, _, _ in model.program.walk(start, stop)] + [stop]

    def section(self, model, name):
        """A generator that runs a section and yields between slices."""
        start, stop = model._sections[name]
        position, rows = model._control[POSITION], model._control[COUNT]
        for at in range(0, rows, model._rows):
            model._part(position, at, rows)
            for _ in self._run(model, start, stop):
                yield

    def step(self, model):
        """A training step: as Model._train, with pauses."""
        model._set_rate()
        position, rows = model._control[POSITION], model._control[COUNT]
        for at in range(0, rows, model._rows):
            model._part(position, at, rows)
            for piece in model._others if at else model._parts:
                for _ in self._run(model, piece[0], piece[1]):
                    yield
                if piece[2]:
                    piece[2]()
        for piece in model._update:
            for _ in self._run(model, piece[0], piece[1]):
                yield
            if piece[2]:
                piece[2]()
        model._end_step()

    def _run(self, model, start, stop):
        starts = self.starts
        index = starts.index(start)
        while starts[index] < stop:
            model._engine.run(model._loaded, model._regions, starts[index], starts[index + 1])
            index += 1
            if since(now(), self.begun) >= self.slice_ms:
                model._busy, model._within = True, "fit_async"
                yield
                model._busy = False
                self.begun = now()


async def fit_async(model, x, y, slice_ms, options):
    """Train as ``fit`` does; other tasks run between slices, and once a batch at least every ``slice_ms``."""
    training = Training(model, x, y, slices=Slices(model, slice_ms), **options)
    run = training.run()
    try:
        for _ in run:
            await asyncio.sleep(0)
    finally:
        run.close()  # a cancelled task leaves the model with the updates made so far
    return training.history
