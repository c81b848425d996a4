"""A node of a fleet: it takes the fleet's model, trains on data of its own and gives what it learnt.

    import odt
    from odt.fleet import Node

    model = odt.Sequential([...])
    model.compile(odt.Adam(0.004), batch_size=16, seed=7)
    Node(model, x, y, name="kitchen").serve()   # until the PC ends it: odt fleet, odt.host.fleet

The data stay here, and so do ranges and the optimizer's moments (McMahan et al., 2017, without them). A round that is
lost, by the link or by a reset, is lost alone: the next one begins with the PC's model.
"""

import struct
import sys
from array import array

from ..base import executor
from ..base.executor import collect
from ..base.primitives import size_of
from ..base.regions import const
from ..run.session import ready
from . import frames, updates
from .shared import LIMIT, Shared

if 1 - 1:  # for type checkers alone
    from collections.abc import Sequence
    from typing import Any
    from ..run.network import Data, Network

_NAME = const(32)  # bytes of a name at most
_WHY = const(200)  # characters of a reason at most
LEAST = const(64)  # samples of which an update shows no image: bench/accuracy/leakage.py


class Node:
    """Answers the requests of a PC (frames.py) for a compiled model and its data.

    x, y: samples and labels as ``fit`` takes them; name: what the PC calls the node, 1 to 32 bytes of UTF-8, of which a
    fleet has each once; epochs: passes over the data in a round; validation_data: (x, y), for the accuracy that the PC
    shows, else x and y; personal: names of layers that stay as they are here (FedPer: Arivazhagan et al., 2019).
    secret: an update leaves the node only with masks that cancel in the sum of at least three nodes (secret.py). least:
    samples that a node without ``secret`` has at least, for an update of few samples shows them to the PC.
    ValueError, TypeError for other arguments. Besides the model, a node takes 8 bytes of RAM per shared weight, 4 more
    with momentum, and the update's.
    """

    kind = 0  # of HELLO's second byte, beside the dtype

    def __init__(
        self,
        model: "Network",
        x: "Data",
        y: "Data",
        name: "str" = "",
        epochs: "int" = 1,
        validation_data: "tuple[Data, Data] | None" = None,
        personal: "Sequence[str]" = (),
        secret: "bool" = False,
        least: "int" = LEAST,
    ) -> None:
        self._take(model, x, y, name, validation_data, personal)
        shared = self.shared
        if not secret and self.samples < size_of("Node", "least", least):
            raise ValueError(
                "Node: an update of %d samples shows them to the PC: give %d or more, secret=True, or another least"
                % (self.samples, least)
            )
        self.epochs = size_of("Node", "epochs", epochs)
        self.base = array("i", bytes(4 * shared.count))  # the PC's model
        self.values = array("i", bytes(4 * shared.count))  # what was learnt and not sent
        self.trend = None  # with momentum: of what was learnt
        self.secret = secret
        self.masks = None
        self.update = bytearray()

    def _take(self, model, x, y, name, validation_data, personal=()):
        """What any node has: a model, data and a name."""
        self.model = model
        session = ready(model)
        self.shared = Shared(session, personal)
        self.samples = session.bound(x, y, "")[0]
        self.x, self.y = x, y
        self.validation_data = (x, y) if validation_data is None else validation_data
        name = ("%s" % (name,)).encode() if name else b"node"
        if len(name) > _NAME or b"\0" in name:
            raise ValueError("Node: name is 1 to %d bytes of UTF-8, got %r" % (_NAME, name))
        self.name = name
        self.round = 0  # the last that was trained
        self._task = self._done = b""

    def serve(self, source: "Any" = None, to: "Any" = None) -> None:
        """Answer until the PC ends it, or the stream does. Without streams: standard input and output, as bytes.

        ``source`` has readinto(), ``to`` has write(): a serial line, a socket's makefile(), usb_cdc.data.
        """
        source = source or sys.stdin.buffer
        to = to or sys.stdout.buffer
        one, raw = bytearray(1), bytearray(frames.MOST)
        while True:
            frame = frames.read(source, one, raw)
            if frame is None:
                return
            frame = frames.unpack(frame)
            if frame is None or frame[0] in (frames.ANSWER, frames.REFUSED):
                continue
            to.write(self.answer(*frame))
            if hasattr(to, "flush"):
                to.flush()
            if frame[0] == frames.QUIT:
                return

    def answer(self, kind: "int", sequence: "int", body: "bytes") -> "bytes":
        """The frame that answers a request: what it asks for, or why it is refused. Nothing has changed then."""
        try:
            return frames.pack(frames.ANSWER, sequence, self._answer(kind, body))
        except (ValueError, TypeError, ArithmeticError, MemoryError, RuntimeError, OSError) as error:
            why = "%s: %s" % (type(error).__name__, error)
            return frames.pack(frames.REFUSED, sequence, why[:_WHY].encode()[: frames.LONGEST])

    def _answer(self, kind, body):
        if kind == frames.HELLO:
            return self._hello(body)
        if kind == frames.PUT:
            return self._put(body)
        if kind == frames.TRAIN:
            return self._train(body)
        if kind == frames.GET:
            return self._get(body)
        if kind == frames.EVALUATE:
            return self._evaluate(body)
        if kind in (frames.KEY, frames.MASK):
            return self._agree(kind, body)
        if kind == frames.QUIT:
            return b""
        raise ValueError("there is no request %d" % kind)

    def _hello(self, body):
        if body != bytes((frames.VERSION,)):
            raise ValueError("this node speaks version %d, the PC sent %r" % (frames.VERSION, body))
        model, shared = self.model, self.shared
        kind = (model.dtype == "int8") | self.kind
        about = struct.pack(
            frames.ABOUT, frames.VERSION, kind, model.seed, shared.crc, shared.count, self.samples, self.round
        )
        shapes = bytes(shared.sizes)[: frames.LONGEST - len(about) - len(self.name) - 1]
        return about + self.name + b"\0" + shapes

    def _put(self, body):
        if len(body) < 12 or len(body) % 4:
            raise ValueError("%d bytes are no part of a model" % len(body))
        number, at = struct.unpack_from("<II", body)
        self._newer(number)
        count = len(body) // 4 - 2
        if at + count > len(self.base):
            raise ValueError("words %d to %d of a model of %d" % (at, at + count, len(self.base)))
        memoryview(self.base)[at : at + count] = array("i", body[8:])
        return b""

    def _agree(self, kind, body):
        if self.masks is None:
            from .secret import Masks

            self.masks = Masks()
        if kind == frames.KEY:
            return self.masks.public
        if len(body) >= 4:
            self._newer(struct.unpack_from("<I", body)[0])
        self.masks.agree(body)
        return b""

    def _newer(self, number):
        if number <= self.round:
            raise ValueError("round %d: this node has trained round %d" % (number, self.round))

    def _train(self, body):
        if len(body) != struct.calcsize(frames.TASK):
            raise ValueError("%d bytes are no task" % len(body))
        if body == self._task:  # the answer was lost
            return self._done
        number, crc, form, momentum, entries = struct.unpack(frames.TASK, body)
        self._newer(number)
        if form >= updates.FORMS:
            raise ValueError("there is no form %d of an update" % form)
        masks = self.masks
        if masks is not None and masks.round != number:
            masks = None
        if masks is None and self.secret:
            raise ValueError("round %d: this node sends masked updates alone" % number)
        if masks is not None and form not in (updates.WHOLE, updates.WORDS):
            raise ValueError("round %d: masked updates are int32 words, not of form %d" % (number, form))
        self._whole(crc)
        try:
            history = self._learn(number, form, momentum, entries, masks)
        except BaseException:  # its moments may be lost, too: nothing of it is sent later
            self.trend = None
            for index in range(len(self.values)):
                self.values[index] = 0
            raise
        update = self.update
        loss = history.history["loss"][-1]
        done = struct.pack(frames.DONE, loss, self.samples, len(update), executor.engine.crc32(update))
        self.round, self._task, self._done = number, body, done
        return done

    def _learn(self, number, form, momentum, entries, masks):
        """Train from the PC's model on, and make the update; returns what fit saw."""
        collect()
        base, values, shared = self.base, self.values, self.shared
        shared.write(base)
        history = self.model.fit(self.x, self.y, epochs=self.epochs, verbose=0)
        fresh = values
        if momentum:
            if self.trend is None:
                self.trend = array("i", bytes(4 * shared.count))
            fresh = self.trend
            for index in range(len(fresh)):
                fresh[index] = fresh[index] * momentum >> 8
        for index in range(len(base)):
            fresh[index] -= base[index]
        shared.add_to(fresh)
        if momentum:
            updates.limit(fresh, LIMIT)
            for index in range(len(fresh)):
                values[index] += fresh[index]
        if masks is None:
            self.update = updates.encode(form, values, shared.sizes, entries, self.trend if momentum else None, number)
        elif form == updates.WHOLE:
            self.update = masks.masked(values)
        else:
            part = array("i", [values[place] for place in updates.chosen(number, len(values), entries)])
            self.update = masks.masked(part)
            for index, place in enumerate(updates.chosen(number, len(values), entries)):
                values[place] = part[index]
        updates.limit(values, LIMIT)
        return history

    def _whole(self, crc):
        found = executor.engine.crc32(self.base)
        if found != crc:
            raise ValueError("the model that was received has CRC-32 %08x, not %08x" % (found, crc))

    def _get(self, body):
        if len(body) != 10:
            raise ValueError("%d bytes are no request for an update" % len(body))
        number, at, count = struct.unpack("<IIH", body)
        if number != self.round:
            raise ValueError("round %d: the last update is of round %d" % (number, self.round))
        if count > frames.LONGEST or at + count > len(self.update):
            raise ValueError("bytes %d to %d of an update of %d" % (at, at + count, len(self.update)))
        return bytes(memoryview(self.update)[at : at + count])

    def _evaluate(self, body):
        if len(body) != 5:
            raise ValueError("%d bytes are no request to evaluate" % len(body))
        crc, take = struct.unpack("<IB", body)
        if take:
            self._whole(crc)
            self.shared.write(self.base)
        return self._evaluated()

    def _evaluated(self):
        loss, accuracy = self.model.evaluate(*self.validation_data)
        return struct.pack("<ff", loss, -1 if accuracy is None else accuracy)
