"""Fisher information of output channels, measured on the board: how much the loss of some samples depends on each.

    D_o = 1/(2N) * sum_n (sum_d a_nd * g_nd)^2

a is a channel's output (after the layer's own clamp) of sample n at position d, and g is the derivative of the loss
with respect to it (Theis et al., 2018). The backward pass is of one sample at a time, whatever trains, and makes no
gradient of a weight and no update; the weights are read where they lie. In int8 there are two passes: the first finds
the errors' ranges.
"""

from array import array

from ..base.executor import collect
from ..base.fixed import UNSEEN, get, put, scale_div, scale_int
from ..base.opcodes import forget
from ..base.regions import ARENA, BATCH, CONSTANTS, COUNT, POSITION, REGION_SHIFT, STATE
from ..plan.buffers import Buffers
from ..plan.compiler import Plan, predict, prepare, read_by
from ..plan.gradient import backward
from ..plan.graph import trained
from ..plan.instruction import END, ROW, encode, room
from ..plan.memory import lifetimes, place, share
from ..plan.program import HEADER_WORDS, Program
from ..plan.recompute import roots
from ..plan.schedule import Schedule
from ..plan.shared import times
from ..plan.values import SCALE, SCRATCH, WEIGHT
from ..run.replace import set_arena
from ..run.calibration import calibrate_words
from ..run.session import bind, release

if 1 - 1:  # for type checkers alone
    from ..model import Model
    from ..run.network import Data


def fisher(model: "Model", x: "Data", y: "Data") -> "dict[str, array[float]]":
    """``{layer's name: array('f') of D_o}`` of each layer with a kernel, for labelled samples as ``fit`` takes them.

    The model stays as it is, but for ranges as ``evaluate`` would find them. Its arena serves, or while this runs a
    larger one in its place. Class weights do not count, and nothing drops out.
    """
    return {layer.name: array("f", bytes(found)) for layer, found in measure(model, x, y)}


def plan(model, arena=None):
    """What ``measure`` runs. Activations are computed again where it needs more than ``arena`` bytes else."""
    probe = _plan(model, ())
    if arena is not None and probe.arena > arena:
        other = _plan(model, roots(model.nodes, model.dtype, 1))
        probe = other if other.arena < probe.arena else probe
    return probe


def measure(model, x, y, probe=None):
    """``[(layer, array('i') of D_o as float32 bits)]``, by a plan or that of least time."""
    count = bind(model.session, x, y)
    probe = probe or plan(model)
    model.session.prepare(1)
    size = len(model.session.arena)
    regions = list(model.session.regions)
    try:
        if size < probe.arena:
            regions[ARENA] = None
            _replace_arena(model, probe.arena)
            regions[ARENA] = model.session.arena
        return _run(probe, model, regions, count)
    finally:
        release(model.session)
        regions[ARENA] = None
        if model.session.arena is None or len(model.session.arena) != size:
            _replace_arena(model, size)


def _replace_arena(model, size):
    set_arena(model.session, None)
    collect()
    try:
        set_arena(model.session, bytearray(size))
    except MemoryError:
        raise MemoryError("an arena of %d bytes is needed, no free block is as large" % size)


class _Buffers(Buffers):
    """What the backward pass keeps lies in the arena, not in the state."""

    parts = None  # of kept, from the loss on

    def __init__(self, int8, flash, trains, named):
        super().__init__(int8, flash)
        self.kept = self.arena.add(0, SCRATCH, "kept")

    def keep(self, name, size, kind=WEIGHT, role=None, first=None):
        if self.parts is None:
            return super().keep(name, size, kind, role, first)
        sizes = self.arena.sizes
        part = self.arena.part(self.kept, sizes[self.kept], size)
        sizes[self.kept] += (size + 3) & ~3
        self.parts.append((part, size, role, first))
        return part


class _Probe(Schedule):
    """A schedule that measures where others train."""

    probing = True

    def __init__(self, dtype, flash):
        super().__init__(dtype, 1, None, flash, buffers=_Buffers)
        self.totals = []  # (layer, operand, bytes)

    def begin(self):
        """Take ``kept`` from the start on: the first instruction, which does not run."""
        self.clears.append(self.buffers.kept)
        super().begin()

    def begin_backward(self):
        self.ranges = []  # those of the forward pass stay
        self.buffers.parts = []

    def measure(self, node, error):
        """Emit the sums over this node's channels, if it has a kernel."""
        layer = node.layer
        if layer.kernel_shape is None:
            return
        y = self.values[node]
        channels = layer.kernel_shape[0]
        total = self.buffers.keep(layer.name + " fisher", 4 * channels)
        self.totals.append((layer, total, 4 * channels))
        sizes = (self.batch, error.count // (self.batch * channels), channels)
        if self.int8:
            operands = (total, error.buffer, y.buffer, self.real(layer.name + " error", error.scale), y.scale)
            self.emit("fisher_i8", operands, sizes + (y.zero, times(error.factor, y.factor)))
        else:
            self.emit("fisher_f32", (total, error.buffer, y.buffer), sizes)


def _plan(model, segments):
    """The program that measures, and where its results lie."""
    nodes, rows = model.nodes, model.session.plan.rows  # whose stripes name the weights again and again
    if rows and rows.whole is None:
        raise ValueError("frozen= gives kernels of 4 bits: measure before they are packed")
    prepare(nodes, model.dtype, 1)
    s = _Probe(model.dtype, model.session.plan.flash)
    s.trained = trained(nodes, True)
    s.begin()
    predict(s, nodes)
    ends = [len(s.instructions)]
    s.begin_backward()
    last = read_by(nodes, model.session.loss)
    error = model.session.loss.emit(s, s.values[last])
    ends.append(len(s.instructions))
    backward(s, nodes, last, error, segments)
    s.drop_unread()
    s.finish()
    ends.append(len(s.instructions))
    if not s.totals:
        raise ValueError("no layer of the model has a kernel")
    arena = s.arena
    share(s.instructions, arena)
    plan = Plan()
    plan.arena, _ = place(lifetimes(s.instructions, arena), arena, len(s.instructions))
    addresses = arena.addresses()
    plan.code = encode(
        room(s.instructions), s.instructions, addresses, plan.arena, s.buffers.state_size, s.buffers.flash, ends
    )
    plan.start = HEADER_WORDS + s.instructions[0][ROW][END] - 1
    plan.parts = [(addresses[part], size, role, first) for part, size, role, first in s.buffers.parts]
    plan.totals = [(layer, addresses[total], size) for layer, total, size in s.totals]
    same = _weights(Program(plan.code)) == _weights(Program(rows.whole.code) if rows else model.program)
    forget()
    if not same:
        raise RuntimeError("the network, or what trains of it, has changed since compile()")
    return plan


def _weights(program):
    """The addresses in state and flash that the forward pass names."""
    found = []
    for _, _, addresses, _ in program.walk(*program.section("predict")):
        found += [address for address in addresses if address >> REGION_SHIFT in (STATE, CONSTANTS)]
    return found


def _run(probe, model, regions, count):
    """The D_o of each layer, over ``count`` samples, one after the other."""
    engine, control, arena = model.session.engine, model.session.control, regions[ARENA]
    code = bytes(probe.code)
    loaded, program = engine.load(code), Program(code)
    stop = program.section("train")[1]
    control[BATCH] = control[POSITION] = 0
    control[COUNT] = 1
    for at, size, role, first in probe.parts:
        arena[at : at + size] = first or bytes(size)
        if role == SCALE:
            put(arena, at, UNSEEN)
    if model.dtype == "int8":
        if not calibrate_words(engine, loaded, regions, probe.start, stop, 1):
            from ..run.stepwise import calibrate

            calibrate(program, "train", engine, loaded, regions, probe.start)
    for _ in range(2 if model.dtype == "int8" else 1):
        for _, at, size in probe.totals:
            arena[at : at + size] = bytes(size)
        for position in range(count):
            control[POSITION] = position
            engine.run(loaded, regions, probe.start, stop)
    found = []
    for layer, at, size in reversed(probe.totals):
        values = array("i", bytes(size))
        for index in range(len(values)):
            value = get(arena, at + 4 * index)
            values[index] = scale_div(value, scale_int(2 * count)) if value else 0
        found.append((layer, values))
    return found
