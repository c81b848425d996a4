"""A session whose recurrent layers are ``stateful``: what it checks, and what an error or a reset does to their state.

The program itself carries the state from batch to batch (carried.py). This module stands between a session and its
engine, as soon as a network with such a layer is compiled.
"""

from ..base.fixed import put
from ..base.regions import DONE, KEY, LOSS, ORDER, REGION_SHIFT, SAMPLES, STATE
from ..plan import drop
from ..run import names
from ..run.session import Session, ready

if 1 - 1:  # for type checkers alone
    from ..run.network import Network

_MASK = (1 << REGION_SHIFT) - 1


def enable():
    """From now on each session that is built with a stateful layer gets an engine that knows of it."""
    from ..run import build  # which a board unloads after compile()

    if build.attach is not attach:
        _plain[:] = [build.attach]
        build.attach = attach
        names.FOUND["reset_states"] = lambda model: lambda: reset_states(model)


def attach(session):
    """As build.attach(), whose place it takes."""
    drop("odt.recurrent.carried")
    _plain[0](session)
    follow(session)


_plain = []


def follow(session):
    """The session's Carrying engine; None where no layer of it is stateful."""
    if isinstance(session.engine, Carrying):
        return session.engine
    blocks = _blocks(session.program)
    if not blocks:
        return None
    from ..run.build import run_by

    made = Carrying(session, blocks)
    run_by(session, made, made.find_ranges)
    return made


def reset_states(model: "Network") -> None:
    """All stateful layers of ``model`` begin with 0 again: outputs, and cells of an LSTM; Keras's ``reset_states()``.

    ``model`` may be one from a file. ValueError where no layer is stateful, RuntimeError within a step.
    """
    engine = follow(ready(model))
    if engine is None:
        raise ValueError("reset_states: no layer of the model is stateful")
    engine.reset()


def _blocks(program):
    """(word of the copy, gate, bytes, and offsets in the state: before, after) of what is copied at a time."""
    found = []
    for at, code, addresses, sizes in program.walk(*program.section("predict")):
        if code.name != "place" or not hasattr(code, "prefix"):
            continue
        gate, (to, source), (count, size, row, _) = code.prefix[1][0], addresses, sizes
        if gate >> REGION_SHIFT != STATE:
            continue
        for number in range(count):
            before = to + number * row
            after = before + size if count > 1 or source >> REGION_SHIFT != STATE else source
            found.append((at, gate & _MASK, size, before & _MASK, after & _MASK))
    return found


class Carrying:
    """An engine that runs the programs of a session with stateful layers, for whole batches in their order."""

    def __init__(self, session, blocks):
        self.session, self.engine, self.blocks = session, session.engine, blocks
        program = session.program
        self.first, self.predicts = session.sections["predict"]
        self.judges = session.sections["evaluate"][1]
        self.ends = [0]  # where the last instructions of the sections stand
        for start, stop in session.sections.values():
            last = 0
            for at, code, _, _ in program.walk(start, stop):
                last = at
            self.ends.append(last)
        self.loss = memoryview(session.control)[LOSS : LOSS + 1]
        self.still = False  # in calibration the state stays
        self.again = False  # what predict() repeats until its ranges hold it does not go on

    if 1 - 1:
        __getattr__: None

    def __getattr__(self, name):
        if name == "step":  # a step in one call would not look at the number of samples
            raise AttributeError(name)
        return getattr(self.engine, name)

    if 1 - 1:
        __getattr__: None

    def predict(self, call, out, position=None):
        """As the engine's; the batches of a whole prediction run one by one."""
        return position is not None and self.engine.predict(call, out, position)

    def run(self, loaded, regions, start, stop, rows=0):
        """As the engine's. ValueError before a batch that is not whole; an error leaves the state before the batch."""
        control = self.session.control
        begins = start == self.first and stop > start and not self.still
        repeats = False
        if begins:
            self.check(control[SAMPLES])
            if control[DONE] not in self.ends:
                self.go_back(control[DONE])  # a step that was given up
            control[ORDER] = 0
            holds = self.session.calibrated == 1 and stop == self.predicts
            repeats, self.again = holds and self.again, holds
        elif not self.still:
            self.again = False
        control[DONE] = 0
        if repeats:
            self.close(-1)
        try:
            self.engine.run(loaded, regions, start, stop, rows)
        except BaseException:
            self.go_back(control[DONE])
            raise
        finally:
            if repeats:
                self.close(0)
        if begins and stop == self.judges and control[KEY] and self.session.dtype == "float32":
            if self.engine.find_nonfinite(self.loss) >= 0:  # the session refuses this step
                self.go_back(stop)

    def check(self, count):
        """ValueError unless the samples are whole batches."""
        size = self.session.batch_size
        if count % size or not count:
            raise ValueError(
                "x: %d samples; of a stateful layer each row goes on from batch to batch: a multiple of batch_size %d "
                "is expected" % (count, size)
            )

    def close(self, gate):
        """Let forward passes copy nothing (-1), or what was after the batch before (0)."""
        for block in self.blocks:
            put(self.session.state, block[1], gate & 0xFFFFFFFF)

    def go_back(self, done):
        """What is after the batch becomes what was before it, where the copy stands before word ``done``."""
        state = self.session.state
        for at, _, size, before, after in self.blocks:
            if at <= done:
                state[after : after + size] = state[before : before + size]

    def find_ranges(self, level, whole=False, step=False):
        """As Session.calibrate(); all of its batches begin with the state as it is, which stays."""
        session, state = self.session, self.session.state
        self.check(session.control[SAMPLES])
        for _, _, size, before, after in self.blocks:
            state[before : before + size] = state[after : after + size]
        self.close(-1)
        self.still = True
        try:
            return Session.calibrate(session, level, whole)
        finally:
            self.still = False
            self.close(0)
            self.go_back(session.sections["train"][1])

    def reset(self):
        state = self.session.state
        for _, _, size, before, after in self.blocks:
            state[before : before + size] = state[after : after + size] = bytes(size)
