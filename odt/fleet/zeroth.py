"""A node of zeroth order: a step of the fleet is one number of each node, and one for all of them.

    model.compile(odt.ZerothOrder(0.003), batch_size=16, seed=7)
    ZerothNode(model, x, y, name="kitchen").serve()

Each node measures how much the loss of its own batch grows along the step's direction, which the seed and the step's
number choose. The PC takes the mean, and all nodes move by it (Spall, 1992; in a fleet: Qin et al., 2024). So all have
the same weights, to the bit, and no weight is sent. A node that begins late repeats the earlier steps with the scalars
that the PC has kept.
"""

import struct
from array import array

from ..base import executor
from ..base.fixed import ONE, hash32, scale_shift
from ..base.primitives import quantize, size_of
from ..base.regions import ORDER, REGION_SHIFT, const
from ..run.session import batch, clear, end_within, ready
from . import frames
from .node import LEAST, Node
from .shared import POINT, float_bits

if 1 - 1:  # for type checkers alone
    from ..run.network import Data, Network

_MOST = const(0x7FFFFFFF)
_SPECIAL = const(0x7F800000)  # of a float32: its exponent where it is no number


class ZerothNode(Node):
    """Answers the PC's steps (frames.STEP) for a model that is compiled with a ZerothOrder without a tail.

    x, y, name, validation_data, least: as those of a Node. A step's batch is whole: of each pass over the data the last
    samples are left out where they are fewer. ValueError for another optimizer, for micro-batches, in int8 for another
    loss than cross-entropy, whose unit would differ between nodes, and for fewer samples than a batch or ``least``.
    """

    kind = frames.ZEROTH

    def __init__(
        self,
        model: "Network",
        x: "Data",
        y: "Data",
        name: "str" = "",
        validation_data: "tuple[Data, Data] | None" = None,
        least: "int" = LEAST,
    ) -> None:
        self._take(model, x, y, name, validation_data)
        session = ready(model)
        how = session.optimizer
        if not getattr(how, "moves", False) or how.tail:
            raise ValueError("ZerothNode: the optimizer is a ZerothOrder with tail=0, got %s" % how.__class__.__name__)
        if session.micro or session.scale is not None and session.loss.degree:
            raise ValueError("ZerothNode: the loss is cross-entropy, without micro_batch")
        least = max(size_of("ZerothNode", "least", least), session.batch_size)
        if self.samples < least:
            raise ValueError("ZerothNode: it has %d samples, it needs %d" % (self.samples, least))
        about = "%s %s %d %d %d %d" % (
            how.learning_rate.__class__.__name__, how.learning_rate.saved(), how.epsilon, how.ratio, how.sign,
            session.batch_size,
        )  # fmt: skip
        self.shared.crc = executor.engine.crc32(about.encode(), self.shared.crc)
        start, self._stop = session.sections["train"]
        for word, code, addresses, _ in session.program.walk(start, self._stop):
            if code.name == "step_key":
                self._key = word, word + code.words
            elif code.name == "tick":
                self._tick = word
            elif code.name[:5] == "slope":
                self._losses = addresses[1] & (1 << REGION_SHIFT) - 1
        self._start = start
        self._bound = None
        self._failed = ""

    def _answer(self, kind, body):
        if self._failed:
            raise RuntimeError("step %d ended half way (%s): start the node again" % (self.round, self._failed))
        if kind == frames.STEP:
            return self._step(body)
        if kind == frames.SUM:
            values = array("i", bytes(4 * self.shared.count))
            self.shared.add_to(values)
            return struct.pack("<I", executor.engine.crc32(values))
        if kind == frames.EVALUATE:
            return self._evaluated()
        if kind == frames.HELLO:
            return self._hello(body)
        if kind == frames.QUIT:
            return b""
        raise ValueError("a node of zeroth order takes no request %d" % kind)

    def _step(self, body):
        if len(body) != struct.calcsize(frames.SCALAR):
            raise ValueError("%d bytes are no step" % len(body))
        if body != self._task:
            number, scalar = struct.unpack(frames.SCALAR, body)
            if number != self.round + 1:
                raise ValueError("step %d: this node is at step %d" % (number, self.round))
            if self.round:
                self._move(scalar)
            self.round, self._task, self._done = number, body, b""
        if not self._done:  # else the answer was lost
            self._done = struct.pack(frames.SCALAR, self.round, self._measured())
        return self._done

    def _measured(self):
        """The difference of the losses of both sides, of this step's batch: of the loss in units of 2^-16 in int8, of
        2^-20 in float32.
        """
        session = self.model.session
        if self._bound is None or session.used is not self._bound:
            self._bound = session.bound(self.x, self.y)
            if session.calibrated < 2:
                batch(session, 0, self.samples)
                session.calibrate(2)
            session.use(self._bound)
        size = session.batch_size
        number = (self.round - 1) % (self.samples // size)
        session.control[ORDER] = hash32(session.seed, self.round - 1 - number) >> 3 | 1  # as fit has it
        clear(session)
        batch(session, number * size, self.samples)
        session.set_rate()
        try:
            session.engine.run(session.loaded, session.regions, self._start, self._tick)
        except BaseException:
            end_within(session)
            raise
        if session.scale is not None:
            plus, minus = struct.unpack_from("<QQ", session.arena, self._losses)
        else:
            plus, minus = struct.unpack_from("<II", session.arena, self._losses)
            if _SPECIAL in (plus & _SPECIAL, minus & _SPECIAL):
                raise ArithmeticError("step %d: a loss is no number" % self.round)
            point = scale_shift(ONE, POINT)
            plus, minus = quantize(plus, point), quantize(minus, point)
        return max(-_MOST, min(_MOST, plus - minus))

    def _move(self, scalar):
        """Do the step that was measured last, by the fleet's scalar."""
        session = self.model.session
        try:
            batch(session, 0, self.samples)
            session.set_rate()
            session.engine.run(session.loaded, session.regions, *self._key)
            if session.scale is not None:
                struct.pack_into("<qq", session.arena, self._losses, scalar, 0)
            else:
                struct.pack_into("<II", session.arena, self._losses, float_bits(scalar), 0)
            session.engine.run(session.loaded, session.regions, self._tick, self._stop)
        except BaseException as error:
            self._failed = error.__class__.__name__
            raise
