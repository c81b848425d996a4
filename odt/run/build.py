"""From a graph to a session: planned, its memory reserved, its first weights drawn."""

import gc
import sys
from array import array

from ..base import executor
from ..base.executor import collect
from ..base.fixed import elements, put
from ..base.primitives import scale_of
from ..base.regions import ARENA, X_SCALE, const
from ..plan import drop, unload
from . import weights
from .session import Session
from .start import Tidy, Untrained, begin, check_place, control_block, reserve

# Bytes that fit's modules and the first ranges take where the table of instructions is a file's, in pieces.
_FIRST = const(44000)
_GARBAGE = const(24576)  # bytes between collections while planning: what stays is made when it is done


def build(nodes, optimizer, loss, dtype, batch_size, micro_batch, seed, memory_budget, checkpoint, frozen):
    """The Session of checked arguments of ``Model.compile``; MemoryError with the bytes needed and there."""
    session = Session(
        nodes[0].layer, nodes[-1].shape, optimizer or Untrained(), loss, dtype, batch_size, micro_batch, seed
    )
    int8 = dtype == "int8"
    graph = (nodes, loss, optimizer, dtype, batch_size, micro_batch)
    flash = 0
    is_free = memory_budget is None and checkpoint is None  # to keep all activations
    with Tidy():
        from ..plan.compiler import compile_graph

        _load(nodes, optimizer)
        if frozen is not None:
            from ..files.frozen import begin as begin_frozen
            from ..files.frozen import check as check_frozen

            flash, is_free = begin_frozen(frozen, is_free)
        if not is_free:
            plan_within = _within()
    with Tidy(_GARBAGE):
        if is_free:
            plan = compile_graph(*graph, flash=flash)
        else:
            plan = plan_within(*graph, flash, memory_budget, checkpoint)
    compile_graph = plan_within = None  # so that unload() can
    with Tidy():
        if frozen is not None:
            frozen = check_frozen(frozen, plan)
        plan.table = _table(nodes, plan, optimizer)
        if __file__.endswith(".mpy"):  # in RAM, as all that planned; in a firmware other threads may be importing it
            unload()
            collect()
        plan.code = bytes(plan.code)  # made when the heap was at its fullest: out of the way
        engine = executor.engine
        loaded = engine.load(plan.code)
        reserved = reserve(plan, sys.implementation.name == "cpython")
        if not reserved:
            from ..plan.values import Buffer, Plan, Value

            loaded = None
            code, plan.code = bytes(memoryview(plan.code)), None  # out of the way once more: the longest comes last
            unload()
            drop("odt.base.opcodes")
            drop("odt.base.lines")
            for _ in range(2):  # what was in the way of the first copy no longer is
                collect()
                plan = _anew(plan, {Plan: 0, Value: 2, Buffer: 3})
            collect()
            plan.code = bytes(memoryview(code))
            code = None
            loaded = engine.load(plan.code)
            reserved = reserve(plan)
        arena, state = reserved
    layer = session.input
    raw = layer.dtype in ("int8", "uint8")
    control = control_block(layer.steps[0] if raw and layer.steps else scale_of(layer.scale), layer.zero_point)
    if frozen is not None:
        check_place(engine, loaded, arena, state, control, frozen)
    weights.initialise(state, plan, seed, int8)
    if int8 and raw and plan.x_seen is None:
        put(state, plan.x_scale.offset, control[X_SCALE])
    plan.first = plan.exponents = plan.sizes = None  # not del, which in MicroPython leaves a pointer to them
    collect()
    if (
        int8
        and optimizer
        and executor.backend == "native"
        and not hasattr(engine, "calibrate")
        and gc.mem_free() < _FIRST
    ):
        from .crowded import crowded

        crowded(_FIRST, gc.mem_free())
    begin(session, plan, engine, loaded, arena, state, control, frozen)
    if plan.rows:
        plan.rows.attach(session)
    attach(session)
    return session


def run_by(session, engine, calibrate):
    """Let another executor run the session, and another function find its ranges."""
    session.engine, session.calibrate = engine, calibrate


def compiled(nodes, options, before):
    """build() of compile()'s options, which the session keeps. On a board the arena of the session ``before`` makes
    room: what asks for that session then, since there is no new one, gets another arena (Session.refuse()).
    """
    if before and not before.busy and hasattr(gc, "mem_free"):
        before.busy = "compile"
        before.arena = before.regions[ARENA] = None
    session = build(nodes, *options)
    session.options = options
    return session


def _anew(value, arguments):
    """A copy of a Plan, down to all that is its own: it takes the room that the planner has left, where its first one
    parts the heap.

    ``arguments``: how many a class takes whose objects are its own.
    """
    kind = type(value)
    if kind in (list, tuple):
        return kind([_anew(each, arguments) for each in value])
    if kind is array:
        return array("i", value)
    if kind is bytes:
        return bytes(memoryview(value))
    if kind is dict:
        return dict(value)
    if kind not in arguments:  # a layer, an int, a string
        return value
    copy = kind(*(None,) * arguments[kind])
    for name, part in value.__dict__.items():
        setattr(copy, name, _anew(part, arguments))
    return copy


def attach(session):
    """Let the Normalizations of this session adapt in it, not in one of before."""
    plan = session.plan
    if "normalization" in [layer.kind for layer in plan.owners]:
        for layer, parameters in plan.each():
            if layer.kind == "normalization":
                layer.part = session, parameters.vectors
                session.raw = layer


def _within():
    """What plans within a budget: on a PC also by rows."""
    try:
        from ..host.rows.budget import plan
    except ImportError:  # a board has no odt.host
        from ..plan.recompute import plan
    return plan


def _load(nodes, optimizer):
    """Import what planning takes of families: what is imported stays, and the heap is soon full of what does not."""
    from ..plan.forward import family

    for node in nodes:
        family(node.layer)
    if hasattr(optimizer, "passes"):
        optimizer.prepare()


def _table(nodes, plan, optimizer):
    """Rows of summary(): (name, kind, shape, parameters, MACs forward, backward, bytes)."""
    from ..plan.graph import backward_macs

    table = []
    macs = getattr(optimizer, "backward_macs", backward_macs)(nodes)
    for node, backward, size in zip(nodes, macs, plan.sizes):
        layer = node.layer
        parameters = sum([elements(shape) for _, shape in layer.weight_shapes()])
        kind = type(layer).__name__
        macs = 0 if node.alias else layer.macs
        table.append((layer.name, kind, node.shape, parameters, macs, backward if optimizer else 0, size))
    return table
