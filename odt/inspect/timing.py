"""What a training step costs, layer by layer: ``profile(model, x, y)`` prints a table.

The step is run an instruction at a time, so that the time of a call into the executor comes on top of each.
It is a step like any other: it trains the model.
"""

import time

from ..base.fixed import elements
from ..base.regions import ARENA
from ..plan.values import OPTIMIZER, home
from .tensors import Map
from .watch import Watch

if 1 - 1:  # for type checkers alone
    from collections.abc import Callable
    from typing import Any

    from ..model import Model
    from ..run.network import Data

_PHASES = ("forward", "backward", "update")
_BY_ROWS = ("conv2d", "depthwise2d", "group_conv2d")
_SPLIT = ("conv2d", "dense")  # host/rows/split.py


def profile(
    model: "Model", x: "Data", y: "Data", clock: "Callable[[], int] | None" = None, unit: "str" = "us"
) -> "list[tuple[Any, ...]]":
    """Run one training step on a batch; print and return what each layer took.

    Time is in microseconds of ``time.ticks_us`` (on a PC ``time.perf_counter_ns``), or in the ``unit`` of
    ``clock``, a function that returns a number that rises: a cycle counter. On an emulator it is the emulator's.
    Returns ``[(layer, forward, backward, update, MACs forward, MACs of the error, MACs of the weights'
    gradient, weights, optimizer state, arena)]``: MACs of a whole batch, bytes; arena: of what the layer's
    instructions write. The last two rows are the loss and what belongs to no layer ("step").
    """
    timer = _Timer(model, clock)
    with timer:
        model.train_step(x, y)
    rows = [(row[0],) + tuple(row[1]) + tuple(row[2:]) for row in timer.rows]
    table = [("layer",) + _PHASES + ("MACs", "weights", "state", "arena")]
    for row in rows + [("total",) + tuple([sum([row[k] for row in rows]) for k in range(1, 10)])]:
        cells = row[1:4] + (sum(row[4:7]),) + row[7:]
        table.append((row[0][:16],) + tuple([str(cell) for cell in cells]))
    widths = [max([len(row[k]) for row in table]) for k in range(8)]
    for row in table:
        print(row[0] + " " * (widths[0] - len(row[0])), end="")
        for cell, width in zip(row[1:], widths[1:]):
            print(" " * (width - len(cell) + 2) + cell, end="")
        print()
    print("times in %s, of a step of %d samples; weights, state and arena in bytes" % (unit, model.batch_size))
    return rows


class _Timer(Watch):
    """Times every instruction of a step."""

    def __init__(self, model, clock):
        super().__init__(model)
        if clock:
            self.clock, self.since = clock, _difference
        elif hasattr(time, "ticks_us"):
            self.clock, self.since = time.ticks_us, time.ticks_diff
        else:
            self.clock, self.since = _microseconds, _difference
        owners = [node.layer.name for node in model.nodes] + ["loss", "step"]
        self.times = [[0, 0, 0] for _ in owners]
        self.ends = {}  # word after an instruction -> (times of its owner, phase)
        macs = [[0, 0, 0] for _ in owners]
        arena = [{} for _ in owners]
        layers = {node.layer.name: node.layer for node in model.nodes}
        mapped = Map(model)
        parts = (model.batch_size + model.session.rows - 1) // model.session.rows  # micro-batches
        for _, end, instruction, phase in mapped.instructions:
            name = getattr(instruction, "owner", None) or "step"
            index = owners.index(name)
            self.ends[end] = self.times[index], _PHASES.index(phase)
            layer = layers.get(name)
            kind = instruction.opcode.name.rsplit("_", 1)[0]
            base, _, gradient = kind.partition("_d")
            if layer and base == layer.kind:
                count = layer.macs * model.session.rows * parts
                sizes = dict(zip(instruction.opcode.immediates, instruction.immediates))
                if model.session.plan.rows and not gradient and layer.kind in _BY_ROWS:  # of a sample's rows, some
                    count = sizes["B"] * sizes["OH"] * sizes["OW"] * elements(layer.kernel_shape) * parts
                if model.session.plan.rows and layer.kind in _SPLIT and gradient != "w":  # some channels or columns
                    size, whole = sizes["N"], layer.kernel_shape[0]
                    if gradient:
                        size, whole = sizes.get("C") or sizes["K"], layer.kernel_shape[-1]
                    count = count * size // whole
                if gradient == "w":  # maybe of some rows
                    rows = instruction.immediates[instruction.opcode.immediates.index("R")]
                    count = count * rows // layer.kernel_shape[0]
                macs[index][("", "x", "w").index(gradient)] += count
            for operand, description in zip(instruction.operands, instruction.opcode.operands):
                owner, _ = home(operand)
                if owner.region == ARENA and description[1] == "=":
                    arena[index][owner] = (owner.size + 3) & ~3
        bytes_of = [[0, 0] for _ in owners]
        for buffer in mapped.buffers:
            names = [name for name in owners if (buffer.name + " ").startswith(name + " ")]
            index = owners.index(max(names, key=len)) if names else -1
            bytes_of[index][buffer.kind == OPTIMIZER] += (buffer.size + 3) & ~3
        self.rows = []
        for name, taken, counts, kept, written in zip(owners, self.times, macs, bytes_of, arena):
            self.rows.append([name, taken] + counts + kept + [sum(written.values())])

    def places(self, start, stop):
        places = {start: [self._begin]}
        for end, (taken, phase) in self.ends.items():
            if start < end <= stop:
                places[end] = [self._call(taken, phase)]
        return places

    def _begin(self):
        self.last = self.clock()

    def _call(self, taken, phase):
        def took():
            taken[phase] += self.since(self.clock(), self.last)
            self.last = self.clock()

        return took


def _difference(later, earlier):
    return later - earlier


def _microseconds():
    return time.perf_counter_ns() // 1000
