"""fit_async: training in slices, while the rest of an asyncio program goes on."""

import asyncio

from ..base.fixed import is_int
from .fit import Training
from .progress import now, since
from .session import next_part, pieces, ready


class Slices:
    """Runs a program one instruction at a time and pauses when ``slice_ms`` are over."""

    def __init__(self, session, slice_ms):
        if not is_int(slice_ms) or slice_ms < 1:
            raise ValueError("slice_ms is an int above 0, got %r" % (slice_ms,))
        self.slice_ms = slice_ms
        self.begun = now()
        start, stop = session.sections["train"]
        self.starts = [at for at, _, _, _ in session.program.walk(start, stop)] + [stop]

    def section(self, session, name):
        """As Session.look(): a generator that yields between slices."""
        start, stop = session.sections[name]
        while next_part(session):
            for _ in self._run(session, start, stop, session.rows):
                yield

    def step(self, session):
        """As train() in session.py: a generator that yields between slices."""
        session.set_rate()
        while next_part(session):
            for piece in pieces(session):
                for _ in self._piece(session, piece):
                    yield
        for piece in session.update:
            for _ in self._piece(session, piece):
                yield
        session.end_step()

    def _piece(self, session, piece):
        start, stop, call = piece
        for _ in self._run(session, start, stop):
            yield
        if call:
            call()

    def _run(self, session, start, stop, rows=0):
        starts = self.starts
        index = starts.index(start)
        while starts[index] < stop:
            session.engine.run(session.loaded, session.regions, starts[index], starts[index + 1], rows)
            index += 1
            if since(now(), self.begun) >= self.slice_ms:
                session.enter("fit_async")
                yield
                session.leave()
                self.begun = now()


async def fit_async(model, x, y, slice_ms, options):
    """Train as ``fit`` does; other tasks run between slices, and once a batch at least every ``slice_ms``."""
    training = Training(model, x, y, slices=Slices(ready(model), slice_ms), **options)
    run = training.run()
    try:
        for _ in run:
            await asyncio.sleep(0)
    finally:
        run.close()  # a cancelled task leaves the model with the updates made so far
    return training.history


async def weighed_async(model, x, y, slice_ms, options, class_weight, split, batch_size):
    """fit_async with weights of classes."""
    from .habits import Weighed, asked

    held = Weighed(model, class_weight, batch_size)
    try:
        held.enter()
        if split:
            x, y, options["validation_data"] = asked(model, x, y, options["validation_data"], split, None)
        found = await fit_async(model, x, y, slice_ms, options)
        held.leave()
    except BaseException:
        held.leave()
        raise
    return found
