"""From a graph to a session: planned, its memory reserved, its first weights drawn."""

import gc
import sys
from array import array

from .. import executor, opcodes
from ..fixed import elements, scale_of
from ..opcodes import CONTROL_WORDS, LOSS, X_SCALE, X_ZERO, Y_SCALE
from ..plan import unload
from ..plan.program import SECTIONS, Program
from . import weights
from .session import Session


def build(nodes, optimizer, loss, dtype, batch_size, micro_batch, seed, memory_budget, checkpoint, frozen):
    """The Session of checked arguments of ``Model.compile``; MemoryError with the bytes needed and there."""
    session = Session(nodes[0].layer, nodes[-1].shape, optimizer, loss, dtype, batch_size, micro_batch, seed)
    int8 = dtype == "int8"
    with _Tidy():
        graph = (nodes, loss, optimizer, dtype, batch_size, micro_batch)
        flash = 0
        if frozen is not None:
            from ..frozen import HEADER as flash
            from ..frozen import check as check_frozen
            from ..frozen import check_place
        if memory_budget is None and checkpoint is None:
            from ..plan.compiler import compile_graph

            plan = compile_graph(*graph, flash=flash)
            compile_graph = None  # so that unload() can
        else:
            from ..plan.recompute import plan as plan_within

            plan = plan_within(*graph, flash, memory_budget, checkpoint)
            plan_within = None
        if frozen is not None:
            check_frozen(frozen, plan)
        session.table = _table(nodes, plan)
        if __file__.endswith(".mpy"):  # in RAM, as all that planned
            unload()
        gc.collect()
        plan.code = bytes(plan.code)  # made when the heap was at its fullest: out of the way
        engine = executor.engine
        loaded = engine.load(plan.code)
        opcodes.forget()  # before the arena
        try:
            arena, state = _reserve(plan)
        except MemoryError:
            if sys.implementation.name == "cpython":
                raise
            unload()
            loaded = None
            gc.collect()
            plan.code = bytes(memoryview(plan.code))  # once more: what went leaves room below
            loaded = engine.load(plan.code)
            arena, state = _reserve(plan)
    control = array("i", bytes(4 * CONTROL_WORDS))
    if frozen is not None:
        check_place(engine, loaded, arena, state, control, frozen)
    weights.initialise(state, plan, seed, int8)
    layer = session.input
    control[X_SCALE] = control[Y_SCALE] = scale_of(layer.scale)
    control[X_ZERO] = layer.zero_point
    if int8 and layer.dtype in ("int8", "uint8") and plan.x_seen is None:
        weights.put(state, plan.x_scale.offset, control[X_SCALE])
    session.plan, session.engine, session.loaded = plan, engine, loaded
    session.arena, session.state, session.control, session.frozen = arena, state, control, frozen
    session.regions = [arena, state, control, None, None, frozen]
    session.program = Program(plan.code)
    session.sections = {name: session.program.section(name) for name in SECTIONS}
    session.loss_word = memoryview(control)[LOSS : LOSS + 1]
    session.parts, session.others, session.update = _divide(session)
    at = plan.output.scale.offset if int8 else 0
    session.scale = memoryview(state)[at : at + 4] if int8 else None  # of the output
    session.scales = plan.scales if int8 else ()
    # The same where LOSS counts in it, and as it last moved.
    moving = int8 and loss.degree
    session.watched, session.before, session.now = (
        (session.scale, bytearray(4), bytearray(4)) if moving else (None,) * 3
    )
    del plan.first, plan.exponents
    for layer, parameters in plan.weights:
        if layer.kind == "normalization":
            layer.part = session, parameters.vectors
    return session


def _divide(session):
    """The parts in which a step runs: of the first micro-batch, of the others, and the update.

    Each is pieces, (start, stop, what to call after it or None); watch.py cuts smaller ones.
    """
    int8 = session.dtype == "int8"
    start, stop = session.sections["train"]
    loss = session.sections["evaluate"][1]
    again = start
    last = stop
    if session.micro:
        for at, code, _, _ in session.program.walk(start, stop):
            if code.name == "tick":
                last = at
        for _ in range(2 if int8 else 1):  # the clears
            again += opcodes.opcode("clear").words
        opcodes.forget()
    parts = [
        ((first, last, None),) if int8 else ((first, loss, session.check_loss), (loss, last, None))
        for first in (start, again)
    ]
    return parts[0], parts[1], ((last, stop, None),) if session.micro else ()


class _Tidy:
    """Collect garbage often, so that what is planned does not lie scattered when the arena is reserved."""

    def __enter__(self):
        gc.collect()
        if hasattr(gc, "threshold"):
            self.threshold = gc.threshold()
            gc.threshold(4096)

    def __exit__(self, *unused):
        opcodes.forget()
        if hasattr(gc, "threshold"):
            gc.threshold(self.threshold)


def _reserve(plan):
    """The arena and the state; MemoryError with the figures."""
    needed = plan.arena + plan.state
    gc.collect()
    free = gc.mem_free() if hasattr(gc, "mem_free") else needed
    if free >= needed:
        try:
            if plan.arena > plan.state:  # the larger first: what is free may be so in pieces
                arena = bytearray(plan.arena)
                return arena, bytearray(plan.state)
            state = bytearray(plan.state)
            return bytearray(plan.arena), state
        except MemoryError:
            pass
    text = "%d are free" % free if hasattr(gc, "mem_free") else "so much is not free"
    text += " in pieces" if hasattr(gc, "mem_free") and free >= needed else ""
    raise MemoryError("training needs %d bytes (arena %d, state %d), %s" % (
        needed, plan.arena, plan.state, text))  # fmt: skip


def _table(nodes, plan):
    """Rows of summary(): (name, kind, shape, parameters, MACs forward, backward, bytes)."""
    from ..plan.graph import backward_macs

    table = []
    for node, backward, size in zip(nodes, backward_macs(nodes), plan.sizes):
        layer = node.layer
        parameters = sum([elements(shape) for _, shape in layer.weight_shapes()])
        kind = type(layer).__name__
        macs = 0 if node.alias else layer.macs
        table.append((layer.name, kind, node.shape, parameters, macs, backward, size))
    return table
