"""The nodes of a fleet as its PC has them: asked who they are, started again, refused where they do not fit."""

import collections
from array import array

from ...base import executor
from ...fleet.frames import VERSION, ZEROTH
from .remote import FleetError, Remote

# A node's part in a round: its samples, loss, bytes of its update; why is "" unless it has failed. ``reset``: it had
# trained rounds before, and has begun again; ``trained``: it has trained this round, sent or not: where the answer was
# lost it is known later.
Part = collections.namedtuple("Part", "samples loss size why reset trained")
# bytes: that came and went, of all nodes, frames included.
Round = collections.namedtuple("Round", "number parts loss up down seconds digest")


class Nodes:
    """What a Fleet and a ZerothFleet share: the model, of which ``shared`` has the weights, and links to the nodes."""

    kind = 0  # of its nodes: ZEROTH in zeroth.py

    def __init__(self, model, shared, links, timeout, workers, mixed=False):
        self.model, self.shared = model, shared
        self.weights = array("i", bytes(4 * shared.count))
        self.number = 0  # of the last round
        self.timeout, self.mixed = timeout, mixed
        self.remotes = [Remote(link, "node %d" % number) for number, link in enumerate(links)]
        self._rounds = [0] * len(self.remotes)  # the last that each is known to have trained
        self.journal = {}  # by the round's number: {name: Part}, for replay()
        self._workers = workers or max(1, len(self.remotes))

    def digest(self):
        """CRC-32 of the model's shared weights, as int32."""
        return executor.engine.crc32(self.weights)

    def bytes(self):
        """(bytes that came from the nodes, bytes that went to them), frames included."""
        return sum([remote.up for remote in self.remotes]), sum([remote.down for remote in self.remotes])

    def evaluate(self):
        """{name: (loss, accuracy) of the model after its training there, on the node's data}, of those that answer."""
        found = {}
        for remote in self.remotes:
            try:
                found[remote.name] = remote.evaluate(None, self.timeout)
            except FleetError:
                pass
        return found

    def close(self):
        """End the nodes' scripts and the links."""
        for remote in self.remotes:
            remote.quit()

    def _greet(self, number):
        """A node's About, or FleetError why it takes no part."""
        remote = self.remotes[number]
        try:
            try:
                about = remote.hello(min(self.timeout, 10))
            except FleetError:
                remote.link.restart()
                about = remote.hello(min(self.timeout, 30))
            self._check(about)
            return about
        except FleetError as error:
            return error
        except Exception as error:  # restart() has said why
            return FleetError("%s: %s" % (remote.name, error))

    def _check(self, about):
        shared, model = self.shared, self.model
        dtype = "int8" if about.kind & 1 else "float32"
        if about.kind & ZEROTH != self.kind:
            kinds = {0: "a Node", ZEROTH: "a ZerothNode"}
            raise FleetError("%s: it is %s, the PC has %s" % (about.name, kinds[about.kind & ZEROTH], kinds[self.kind]))
        if about.version != VERSION:
            raise FleetError("%s: version %d, the PC has %d" % (about.name, about.version, VERSION))
        if about.layers != shared.crc or about.weights != shared.count:
            mine, theirs = list(shared.sizes)[: len(about.sizes)], list(about.sizes)
            raise FleetError(
                "%s: another model: it shares %d weights, in arrays of %s; the PC %d, of %s"
                % (about.name, about.weights, theirs, shared.count, mine)
            )
        if dtype != model.dtype and not self.mixed:
            raise FleetError("%s: its model is %s, the PC's %s" % (about.name, dtype, model.dtype))
        if about.seed != model.seed & 0xFFFFFFFF:
            raise FleetError("%s: its model has seed %d, the PC's %d" % (about.name, about.seed, model.seed))

    def _refuse_twice(self, about):
        """Two nodes of one name: neither takes part, for nobody knows which is which."""
        names = [getattr(each, "name", None) for each in about]
        for number, name in enumerate(names):
            if name is not None and names.count(name) > 1:
                about[number] = FleetError("%s: %d nodes have this name" % (name, names.count(name)))
