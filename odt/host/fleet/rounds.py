"""Rounds of a fleet: the model goes to the nodes, they train, their updates are summed."""

import struct
import time
from array import array
from concurrent.futures import ThreadPoolExecutor

from ...base import executor
from ...fleet.secret import LEAST, MOST
from ...fleet.shared import LIMIT, Shared
from ...fleet.updates import WORDS
from ...run.session import ready
from ..files import write_file
from .nodes import Nodes, Part, Round
from .remote import FleetError
from .sums import SUMS, masked
from .updates import NAMES

_STATE = struct.Struct("<4sIIII")  # "odtF", round, CRC-32 of the layers, words, CRC-32 of the words
_MAGIC = b"odtF"


class Fleet(Nodes):
    """A compiled model, and the links to the nodes that train it.

    form: "whole" (int32), "int8", "top" (the ``share`` of largest entries), "random" (a ``share``, by the round
    number); momentum: of "top", 0..0.99; combine: of SUMS, or a function like these; timeout: seconds for a node to
    answer a round; mixed: int8 and float32 together; personal: names of layers that each node keeps to itself, as its
    Node says, too; workers: threads, one per node; secret: masked updates, of form whole or random, whose mean weighs
    nodes alike: a node that fails makes the round void.
    ValueError for other arguments. Nodes that do not fit raise nothing: their rows say why.
    """

    def __init__(
        self,
        model,
        links,
        form="int8",
        share=0.1,
        momentum=0.0,
        combine="mean",
        timeout=600,
        mixed=False,
        personal=(),
        workers=None,
        secret=False,
    ):
        if form not in NAMES:
            raise ValueError("form is one of %s, got %r" % (", ".join(NAMES), form))
        if not 0 < share <= 1:
            raise ValueError("share is in 0..1, got %r" % (share,))
        if not 0 <= momentum < 1 or momentum and form != "top":
            raise ValueError("momentum is in 0..0.99, and of form top, got %r" % (momentum,))
        if combine not in SUMS and not callable(combine):
            raise ValueError("combine is one of %s, got %r" % (", ".join(SUMS), combine))
        if secret and (form not in ("whole", "random") or combine != "mean"):
            raise ValueError("secret is of form whole or random, and combine mean, got %r and %r" % (form, combine))
        super().__init__(model, Shared(ready(model), personal), links, timeout, workers, mixed)
        self.secret = secret
        shared = self.shared
        shared.add_to(self.weights)
        self.form = WORDS if secret and form == "random" else NAMES[form]
        self.momentum = int(256 * momentum)
        self.entries = max(1, round(share * shared.count))
        self.combine = masked if secret else SUMS.get(combine, combine)

    def run_round(self):
        """One round over the nodes; returns a Round. FleetError where no node has sent an update; the model stays."""
        begun = time.monotonic()
        up, down = self.bytes()
        found = self.train()
        parts = self.journal[self.number]
        sent = [(part, update) for part, update in found.values() if update is not None]
        if not sent:
            raise FleetError("round %d: no node sent an update:\n%s" % (self.number, "\n".join(_whys(parts))))
        self.apply([update for _, update in sent], [part.samples for part, _ in sent])
        samples = sum([part.samples for part, _ in sent])
        loss = sum([part.samples * part.loss for part, _ in sent]) / samples
        ups, downs = self.bytes()
        return Round(self.number, parts, loss, ups - up, downs - down, time.monotonic() - begun, self.digest())

    def train(self, taking=None):
        """Let nodes train the next round; returns {place of a node's link: (Part, update)}.

        taking: the places of those that are asked, all if not given. The update of one that has failed is None.
        FleetError where masks do not cancel.
        """
        self.number += 1
        taking = range(len(self.remotes)) if taking is None else taking
        with ThreadPoolExecutor(self._workers) as pool:
            about = [FleetError("%s was not asked" % remote.name) for remote in self.remotes]
            for number, each in zip(taking, pool.map(self._greet, taking)):
                about[number] = each
            self._refuse_twice(about)
            if self.secret:
                self._agree(about, pool)
            found = dict(zip(taking, pool.map(self._train, taking, [about[number] for number in taking])))
        parts = {}
        for number, (part, _) in found.items():
            name = self.remotes[number].name
            parts[name if name not in parts else "%s (node %d)" % (name, number)] = part
        self.journal[self.number] = parts
        sent = sum([update is not None for _, update in found.values()])
        if self.secret and 0 < sent < sum([not isinstance(each, FleetError) for each in about]):
            raise FleetError("round %d is void, masks do not cancel:\n%s" % (self.number, "\n".join(_whys(parts))))
        return found

    def apply(self, updates, samples):
        """Add the sum of updates to the model."""
        change = self.combine(updates, samples)
        for index, value in enumerate(change):
            self.weights[index] = max(-LIMIT, min(LIMIT, self.weights[index] + value))
        self.shared.write(self.weights)

    def take(self, weights):
        """Begin the next round from other weights, ``shared.count`` integers in units of 2^-20."""
        if len(weights) != self.shared.count:
            raise ValueError("%d weights, the fleet shares %d" % (len(weights), self.shared.count))
        self.weights = array("i", [max(-LIMIT, min(LIMIT, value)) for value in weights])
        self.shared.write(self.weights)

    def save(self, path):
        """Write model and round to a file, which is replaced whole."""
        data = self.weights.tobytes()
        head = _STATE.pack(_MAGIC, self.number, self.shared.crc, len(self.weights), executor.engine.crc32(data))
        write_file(path, (head, data))

    def load(self, path):
        """Go on where save() was; ValueError for another file, and nothing changes."""
        with open(path, "rb") as file:
            data = file.read()
        if len(data) < _STATE.size or data[:4] != _MAGIC:
            raise ValueError("%s: no state of a fleet" % path)
        _, number, crc, count, sum_of = _STATE.unpack_from(data)
        words = data[_STATE.size :]
        if crc != self.shared.crc or count != len(self.weights):
            raise ValueError("%s: the state of a fleet with another model" % path)
        if len(words) != 4 * count or executor.engine.crc32(words) != sum_of:
            raise ValueError("%s: damaged" % path)
        self.weights, self.number = array("i", words), number
        self.shared.write(self.weights)

    def _agree(self, about, pool):
        """Let the nodes that take part agree on masks; those that do not answer take no part."""
        keys = {}

        def ask(call, number):
            try:
                return call(number)
            except FleetError as error:
                about[number] = error

        def taking():
            return [number for number, each in enumerate(about) if not isinstance(each, FleetError)]

        def key(number):
            keys[number] = self.remotes[number].key(self.timeout)

        list(pool.map(lambda number: ask(key, number), taking()))
        before = None
        while taking() != before:
            before = taking()
            if not LEAST <= len(before) <= MOST:
                raise FleetError("round %d: %d nodes, masks need %d to %d" % (self.number, len(before), LEAST, MOST))
            all_of = [keys[number] for number in before]

            def mask(number):
                self.remotes[number].mask(self.number, before.index(number), all_of, self.timeout)

            list(pool.map(lambda number: ask(mask, number), before))

    def _train(self, number, about):
        """(Part, update) of a node's round; update is None if there is none."""
        if isinstance(about, FleetError):
            return Part(0, 0.0, 0, str(about), False, False), None
        remote, sizes = self.remotes[number], self.shared.sizes
        reset = about.round < self._rounds[number]
        if about.round > self._rounds[number]:  # it has trained, its answer was lost
            self._rounds[number] = about.round
            earlier = self.journal.get(about.round, {})
            if about.name in earlier:
                earlier[about.name] = earlier[about.name]._replace(trained=True)
        trained = False
        try:
            loss, samples = remote.train(
                self.number, self.weights, self.form, self.entries, self.momentum, sizes, self.timeout
            )
            trained, self._rounds[number] = True, self.number
            update, size = remote.update(self.number, self.form, self.entries, sizes, self.timeout)
            return Part(samples, loss, size, "", reset, True), update
        except FleetError as error:
            return Part(0, 0.0, 0, str(error), reset, trained), None


def _whys(parts):
    return [part.why for part in parts.values() if part.why]
