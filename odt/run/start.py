"""What a session has when its plan and its state are there, wherever they come from: build.py plans, open.py reads a
file.
"""

import gc
from array import array

from ..base.executor import collect
from ..base.fixed import bits_to_float, get
from ..base.regions import CONTROL_WORDS, LOSS, RATE, X_SCALE, X_ZERO, Y_SCALE, const
from ..plan.program import HEADER_WORDS, SECTIONS, Program
from .session import hasten

_CALLS = const(2048)  # bytes that stay free before the arena: else each call's frame is looked for through all of it


class Tidy:
    """Collect garbage after every ``bytes`` allocated, so that new objects lie together when the arena is reserved."""

    def __init__(self, bytes=4096):
        self.bytes = bytes

    def __enter__(self):
        collect()
        if hasattr(gc, "threshold"):
            self.threshold = gc.threshold()
            gc.threshold(self.bytes)

    def __exit__(self, *unused):
        if hasattr(gc, "threshold"):
            gc.threshold(self.threshold)


class Untrained:
    """The optimizer of a model that was compiled without."""

    state = None
    untrained = True

    @property
    def learning_rate(self):
        """What a step asks for first."""
        raise RuntimeError("compiled with optimizer=None, to predict and to evaluate: it does not train")


def reserve(plan, last=True):
    """The arena and the state of a plan.

    Where there is no room: MemoryError with the figures, or None before the ``last`` try.
    """
    needed = plan.arena + plan.state
    collect()
    try:
        _below = bytearray(0 if last else _CALLS)
        if plan.arena > plan.state:  # the larger first: what is free may be so in pieces
            arena = bytearray(plan.arena)
            return arena, bytearray(plan.state)
        state = bytearray(plan.state)
        return bytearray(plan.arena), state
    except MemoryError:
        arena = state = _below = None
    if not last:
        return None
    collect()
    free = gc.mem_free() if hasattr(gc, "mem_free") else needed  # asked for late: it takes as long as a collection
    text = "%d are free" % free if hasattr(gc, "mem_free") else "that is not free"
    text += " in pieces" if hasattr(gc, "mem_free") and free >= needed else ""
    raise MemoryError("training needs %d bytes (arena %d, state %d), %s" % (
        needed, plan.arena, plan.state, text))  # fmt: skip


def check_place(engine, loaded, arena, state, control, data):
    """ValueError if kernels cannot read the bytes where they lie: words want a multiple of 4."""
    try:
        engine.run(loaded, (arena, state, control, None, None, data), HEADER_WORDS, HEADER_WORDS)  # no instruction
    except ValueError as error:
        raise ValueError("frozen: %s" % error)


def control_block(scale, zero):
    """Of an Input of that scale, as float32 bits, and zero point."""
    control = array("i", bytes(4 * CONTROL_WORDS))
    control[X_SCALE] = control[Y_SCALE] = scale
    control[X_ZERO] = zero
    return control


def begin(session, plan, engine, loaded, arena, state, control, frozen):
    """Give the session its regions, and what it knows of its program."""
    int8 = session.dtype == "int8"
    session.plan, session.engine, session.loaded = plan, engine, loaded
    session.arena, session.state, session.control, session.frozen = arena, state, control, frozen
    session.regions = [arena, state, control, None, None, frozen]
    session.program = Program(plan.code)
    session.sections = {name: session.program.section(name) for name in SECTIONS}
    session.parts, session.others, session.update = _divide(session)
    moves = getattr(session.optimizer, "moves", False)  # weights, within a step: see end_within()
    session.whole = session.parts[0][:2] if int8 and not (session.micro or moves) else None
    session.scale = memoryview(state)[plan.output.scale.offset :][:4] if int8 else None  # of the output
    session.scales = plan.scales if int8 else ()
    session.peaks = None
    # The same where LOSS counts in it, and as it last moved.
    moving = int8 and session.loss.degree
    session.watched, session.before, session.now = (
        (session.scale, bytearray(4), bytearray(4)) if moving else (None,) * 3
    )
    if int8 and session.calibrated == 2:
        hasten(engine)
    elif int8 and hasattr(engine, "calibrate"):  # here, while the heap has room: in the first step it takes 6 ms
        from . import calibration  # noqa: F401


def stand(session, fresh, calibrated, epoch, underway):
    """Where a session from a model file stands; before begin()."""
    session.fresh, session.calibrated, session.epoch, session.underway = fresh, calibrated, epoch, underway


def _checker(engine, control, state):
    """What checks a float32 step's loss before it changes the weights. It does not refer to the session, which keeps
    it: so CPython frees a session without a collection.
    """
    loss = memoryview(control)[LOSS : LOSS + 1]

    def check():
        if engine.find_nonfinite(loss) >= 0:
            raise ArithmeticError(
                "the loss of step %d is not finite: the weights are those before it; learning rate %g"
                % (get(state, 0), bits_to_float(control[RATE]))
            )

    return check


def _divide(session):
    """The parts in which a step runs: of the first micro-batch, of the others, and the update.

    Each is pieces, (start, stop, what to call after it or None); watch.py cuts smaller ones.
    """
    int8 = session.dtype == "int8"
    check = None if int8 else _checker(session.engine, session.control, session.state)
    start, stop = session.sections["train"]
    loss = session.sections["evaluate"][1]
    again = start
    last = stop
    if session.micro:
        from ..base.opcodes import forget, opcode

        for at, code, _, _ in session.program.walk(start, stop):
            if code.name == "tick":
                last = at
        for _ in range(2 if int8 else 1):  # the clears
            again += opcode("clear").words
        forget()
    parts = [((first, last, None),) if int8 else ((first, loss, check), (loss, last, None)) for first in (start, again)]
    return parts[0], parts[1], ((last, stop, None),) if session.micro else ()
