"""A fleet of zeroth order: 8 bytes from each node for a step, 8 to it, and all have the same weights, to the bit."""

import struct
import time
from array import array
from concurrent.futures import ThreadPoolExecutor

from ...base import executor
from ...fleet.frames import ZEROTH
from ..files import write_file
from .links import Twin
from .nodes import Nodes, Part, Round
from .remote import FleetError, Remote
from .sums import SUMS

_STATE = struct.Struct("<4sIIII")  # "odtZ", round, CRC-32 of layers and optimizer, scalars, their CRC-32
_MAGIC = b"odtZ"
_BYTES = 8  # of a scalar, with its step


class ZerothFleet(Nodes):
    """A node on this PC, and the links to the nodes of zeroth order (odt.fleet.ZerothNode) that it moves with.

    node: a ZerothNode; its model is the fleet's, and what it measures does not count. steps: of a round; combine:
    "mean" or "median" of the nodes' scalars; timeout: seconds for a node to answer; workers: threads, one per node.
    ``scalars``: of all steps; the model is made of them and its first weights. A node that fails takes no part in the
    rest of its round. In the next one it repeats what it has missed.
    ValueError for other arguments.
    """

    kind = ZEROTH

    def __init__(self, node, links, steps=50, combine="mean", timeout=600, workers=None):
        if combine not in ("mean", "median"):
            raise ValueError("combine is mean or median, got %r" % (combine,))
        if steps < 1:
            raise ValueError("steps is at least 1, got %r" % (steps,))
        super().__init__(node.model, node.shared, links, timeout, workers)
        self.node, self.steps, self.combine = node, steps, SUMS[combine]
        self.scalars = array("i")
        self._twin = Remote(Twin(node), "this PC")
        self._measure(self._twin)
        self._weigh()

    def run_round(self):
        """``steps`` steps over the nodes; returns a Round, whose loss is that of this PC's data.

        FleetError where no node has answered a step; the steps before it stay. ``size`` of a Part is 8 bytes for each
        step that the node has measured. At the end each node says the CRC-32 of its weights; one whose weights are not
        the fleet's begins again.
        """
        begun = time.monotonic()
        up, down = self.bytes()
        self.number += 1
        places = range(len(self.remotes))
        measured, resets = [0] * len(places), [False] * len(places)
        with ThreadPoolExecutor(self._workers) as pool:
            about = list(pool.map(self._greet, places))
            self._refuse_twice(about)
            why = [each if isinstance(each, FleetError) else None for each in about]

            def ask(call, number):
                """What the call returns for a node that takes part, None where there is nothing."""
                try:
                    return None if why[number] else call(number)
                except FleetError as error:
                    why[number] = error

            def join(number):
                step = about[number].round
                resets[number] = step < self._rounds[number]
                for each in range(step + 1, len(self.scalars) + 1):
                    self._measure(self.remotes[number], each)

            def measure(number):
                found = self._measure(self.remotes[number])
                self._rounds[number] = len(self.scalars) + 1
                return found

            list(pool.map(lambda number: ask(join, number), places))
            for _ in range(self.steps):
                found = list(pool.map(lambda number: ask(measure, number), places))
                sent = [[each] for each in found if each is not None]
                if not sent:
                    whys = "\n".join([str(each) for each in why])
                    raise FleetError("step %d: no node has answered:\n%s" % (len(self.scalars) + 1, whys))
                for number in places:
                    measured[number] += found[number] is not None
                self._move(self.combine(sent, [1] * len(sent))[0])
            list(pool.map(lambda number: ask(measure, number), places))
            self._weigh()
            list(pool.map(lambda number: ask(self._compare, number), places))
        parts = {}
        for number, remote in enumerate(self.remotes):
            text = "" if why[number] is None else str(why[number])
            part = Part(self.node.model.batch_size * measured[number], 0.0, _BYTES * measured[number], text,
                        resets[number], not text)  # fmt: skip
            parts[remote.name if remote.name not in parts else "%s (node %d)" % (remote.name, number)] = part
        self.journal[self.number] = parts
        loss = self.model.evaluate(*self.node.validation_data)[0]
        ups, downs = self.bytes()
        return Round(self.number, parts, loss, ups - up, downs - down, time.monotonic() - begun, self.digest())

    def save(self, path):
        """Write the scalars and the round to a file, which is replaced whole."""
        data = self.scalars.tobytes()
        crc = executor.engine.crc32(data)
        write_file(path, (_STATE.pack(_MAGIC, self.number, self.shared.crc, len(self.scalars), crc), data))

    def load(self, path):
        """Go on where save() was, from the first weights; ValueError for another file, and nothing changes."""
        with open(path, "rb") as file:
            data = file.read()
        if len(data) < _STATE.size or data[:4] != _MAGIC:
            raise ValueError("%s: no state of a fleet of zeroth order" % path)
        _, number, crc, count, sum_of = _STATE.unpack_from(data)
        data = data[_STATE.size :]
        if crc != self.shared.crc:
            raise ValueError("%s: the state of a fleet with another model or optimizer" % path)
        if len(data) != 4 * count or executor.engine.crc32(data) != sum_of:
            raise ValueError("%s: damaged" % path)
        if self.scalars:
            raise ValueError("%s: load() comes before the first round" % path)
        for scalar in array("i", data):
            self._move(scalar)
        self.number = number
        self._weigh()

    def _measure(self, remote, step=None):
        """What a node measures at a step, the next one if not given, after it has moved by the scalar before."""
        step = step or len(self.scalars) + 1
        return remote.step(step, self.scalars[step - 2] if step > 1 else 0, self.timeout)

    def _move(self, scalar):
        self.scalars.append(scalar)
        self._measure(self._twin)

    def _weigh(self):
        self.weights = array("i", bytes(4 * self.shared.count))
        self.shared.add_to(self.weights)

    def _compare(self, number):
        remote = self.remotes[number]
        found = remote.sum(self.timeout)
        if found != self.digest():
            try:
                remote.quit()
                remote.link.restart()
            except Exception:  # the next round says why it does not answer
                pass
            raise FleetError("%s: its weights have CRC-32 %08x, the fleet's %08x" % (remote.name, found, self.digest()))
