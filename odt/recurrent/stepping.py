"""From a model of sequences to the program of one step, which works on the model's weights where they lie.

The graph is planned once more for one step, with recurrent layers that go on from their last outputs; those lie before
everything else in the arena. The steps' state is then that of the model: weights and scales of the forward pass come
first in it, in the same order.
"""

from ..base.executor import collect
from ..base.regions import REGION_SHIFT, X_SCALE
from ..plan import unload
from ..plan.compiler import compile_graph, passes
from ..plan.graph import Node
from ..plan.memory import lifetimes, live_bytes, place
from ..plan.values import ACTIVATION, ERROR, GRADIENT, SCRATCH
from ..run.session import Session, is_untrained
from ..run.start import Tidy, Untrained, begin, control_block, stand

_CELLS = ("gru", "lstm", "simple_rnn")
# What computes each step by itself. A BatchNorm and a Normalization do, by channels.
_APART = _CELLS + (
    "dense", "relu", "relu6", "leaky_relu", "sigmoid", "tanh", "curve", "dropout", "add", "multiply", "layernorm",
    "batchnorm", "normalization",
)  # fmt: skip


def stepping(nodes, session):
    """(session, bytes of its state) that run the session's network step by step."""
    if session.calibrated < 1:
        raise ValueError("Steps: the model has no int8 ranges yet: fit() it, or calibrate(x)")
    if session.plan.rows:
        raise ValueError("Steps: the model runs by rows: compile() it without memory_budget")
    carried = Carried()
    nodes = one_step(nodes, carried)
    optimizer = None if is_untrained(session) else Forward()
    with Tidy():
        plan = compile_graph(nodes, session.loss, optimizer, session.dtype, 1, flash=session.plan.flash, rows=carried)
        plan.rows = None
        check_same(plan, session, carried.constants)
        plan.table = tuple([row[:2] + (node.shape,) + row[3:] for row, node in zip(session.plan.table, nodes)])
        plan.code = bytes(plan.code)
        unload()
        collect()
    loaded = session.engine.load(plan.code)
    made = Session(nodes[0].layer, nodes[-1].shape, Untrained(), session.loss, session.dtype, 1, None, session.seed)
    control = control_block(session.control[X_SCALE], nodes[0].layer.zero_point)
    stand(made, session.fresh, 2, 0, None)
    begin(made, plan, session.engine, loaded, bytearray(plan.arena), session.state, control, session.frozen)
    return made, carried.size


def frozen(model):
    """The session of Steps of the model, which holds what predicts alone."""
    from ..files.export import inference
    from ..run.session import ready

    return stepping(model.nodes, inference(model.nodes, ready(model)))[0]


def one_step(nodes, carried):
    """The graph for a sequence of one step: copies of its layers up to where the sequence ends, and of all nodes."""
    twins, within, kinds = {}, [], [node.layer.kind for node in nodes]
    if not any([kind in _CELLS for kind in kinds]):
        raise ValueError("Steps: the model has no GRU, LSTM or SimpleRNN")
    for node, kind in zip(nodes, kinds):
        layer, inputs = node.layer, [twins[each] for each in node.inputs]
        if not inputs or any([each in within for each in node.inputs]):
            last = kind in _CELLS and not layer.return_sequences
            if inputs and (kind not in _APART or any([each not in within for each in node.inputs])):
                raise ValueError("Steps: %r mixes the steps of a sequence, or counts them" % (layer,))
            layer = _copy(layer)
            if kind in _CELLS:
                layer.carried = carried
            if not inputs:
                layer.shape = shape = (1,) + tuple(node.shape[1:])
            else:
                shape = layer.build([each.shape for each in inputs])
            if not last:
                within.append(node)
        else:
            shape = node.shape
        twins[node] = Node(layer, inputs, shape)
    return [twins[node] for node in nodes]


def _copy(layer):
    copy = object.__new__(type(layer))
    for name, value in layer.__dict__.items():
        setattr(copy, name, value)
    return copy


class Forward:
    """Takes an optimizer's place: the state has what trains, the program only what predicts and evaluates."""

    limit = state = None

    def passes(self, s, nodes, loss, micro, segments):
        s.updates.optimizer = None
        s.probing = True  # a BatchNorm takes its running statistics, a Dropout drops nothing
        return passes(s, nodes, loss, None, ())


class Carried:
    """Puts what goes on from step to step before all else in the arena; ``size``: its bytes."""

    buffers = None

    def __init__(self):
        self.numbers = []  # of the arena's buffers

    def __call__(self, s, ends):
        """The ranges move in training alone."""
        del s.instructions[ends[1] :]
        ends[2] = ends[1]

    def place(self, s):
        """Place the arena's buffers; as compile_graph() takes it."""
        arena, count, held = s.arena, len(s.instructions), self.numbers
        self.constants = [(operand & (1 << REGION_SHIFT) - 1, data) for data, operand in s.buffers.constants.items()]
        lives = [life for life in lifetimes(s.instructions, arena) if life[0] not in held]
        size, bound = place(lives, arena, count)
        at = 0
        for number in held:
            arena.offsets[number] = at
            at += arena.sizes[number] + 3 & ~3
        for number, _, _ in lives:
            arena.offsets[number] += at
        self.size = at
        peaks = {kind: max(live_bytes(lives, arena, count, kind)) for kind in (ACTIVATION, ERROR, GRADIENT, SCRATCH)}
        peaks[SCRATCH] += at
        return size + at, bound + at, peaks


def check_same(plan, session, constants):
    """ValueError unless the model's state begins with what the steps' program reads, each at its place."""
    other, state = session.plan, session.state
    same = plan.state <= other.state and plan.constants <= other.constants
    same = same and list(plan.words) == list(other.words) and list(plan.forward) == list(other.forward)
    for offset, data in constants if same else ():
        same = same and bytes(state[offset : offset + len(data)]) == data
    if not same:
        raise ValueError("Steps: the model was planned in a way that Steps cannot share: compile() it by an optimizer")
