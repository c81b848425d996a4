"""A node as the PC sees it: requests, answers, and what is done about answers that do not come."""

import collections
import struct
import time

from ...base import executor
from ...fleet import frames
from ..boards.board import BoardError
from ..text import visible
from .updates import decode, longest

_PATIENCE = 2  # seconds until a request is repeated; twice as long after each time
_TEXT = 400  # characters of other text that are kept, the last ones
_WORDS = (frames.LONGEST - 8) // 4  # of a model, in a frame
_ABOUT = struct.calcsize(frames.ABOUT)
FIELDS = "version", "kind", "seed", "layers", "weights", "samples", "round"


class FleetError(BoardError):
    """A node that does not fit the fleet, refuses, or does not answer: the round goes on without it."""


class About(collections.namedtuple("About", FIELDS + ("name", "sizes"))):
    """What a node says of itself. ``name`` is visible text."""


class Remote:
    """The node at the other end of a link. Calls raise FleetError, whose text begins with the node's name.

    ``up``, ``down``: bytes that came from the node and went to it, frames included; ``text``: what else it printed.
    """

    def __init__(self, link, name="a node"):
        self.link = link
        self.name = name
        self.about = None
        self.up = self.down = 0
        self.text = ""
        self._sequence = 0
        self._rest = b""

    def hello(self, timeout):
        """Ask who it is; returns its About."""
        body = self.ask(frames.HELLO, bytes((frames.VERSION,)), timeout)
        name, zero, sizes = body[_ABOUT:].partition(b"\0")
        if len(body) < _ABOUT or not zero or not 1 <= len(name) <= 32 or len(sizes) % 4:
            raise self._damaged(body)
        sizes = struct.unpack("<%dI" % (len(sizes) // 4), sizes)
        name = visible(name.decode("utf-8", "replace"))
        self.about = About(*struct.unpack_from(frames.ABOUT, body), name, sizes)
        self.name = self.about.name
        return self.about

    def train(self, number, model, form, entries, momentum, sizes, timeout):
        """A round: send the model, let it train; returns (loss, samples). update() fetches the update.

        ``model``: an array("i"); ``timeout``: seconds until it has trained.
        """
        end = time.monotonic() + timeout
        crc = self.send(number, model, timeout)
        task = struct.pack(frames.TASK, number, crc, form, momentum, entries)
        body = self.ask(frames.TRAIN, task, end - time.monotonic())
        loss, samples, size, self._crc = self._unpacked(frames.DONE, body)
        if not abs(loss) < 1e30:
            raise FleetError("%s: a loss of %r" % (self.name, loss))
        if not samples:
            raise FleetError("%s: an update of 0 samples" % self.name)
        most = longest(form, sizes, entries)
        if size > most:
            raise FleetError("%s: an update of %d bytes, at most %d are expected" % (self.name, size, most))
        self._size = size
        return loss, samples

    def send(self, number, model, timeout):
        """Send the model of a round, an array("i"); returns its CRC-32."""
        end = time.monotonic() + timeout
        data = model.tobytes()
        for at in range(0, len(model), _WORDS):
            body = struct.pack("<II", number, at) + data[4 * at : 4 * (at + _WORDS)]
            self.ask(frames.PUT, body, end - time.monotonic())
        return executor.engine.crc32(data)

    def update(self, number, form, entries, sizes, timeout):
        """(the update that was trained, a list of integers; its bytes)."""
        end = time.monotonic() + timeout
        data = b""
        while len(data) < self._size:
            count = min(frames.LONGEST, self._size - len(data))
            body = struct.pack("<IIH", number, len(data), count)
            part = self.ask(frames.GET, body, end - time.monotonic())
            if len(part) != count:
                raise FleetError("%s: %d bytes of an update, asked for %d" % (self.name, len(part), count))
            data += part
        if executor.engine.crc32(data) != self._crc:
            raise FleetError("%s: an update whose CRC-32 is not the one that it said" % self.name)
        try:
            return decode(form, data, sizes, entries, number), len(data)
        except ValueError as error:
            raise FleetError("%s: %s" % (self.name, error)) from None

    def evaluate(self, model, timeout):
        """(loss, accuracy) on the node's data: of a model that was sent to it, or, None, of its own."""
        crc = 0 if model is None else executor.engine.crc32(model.tobytes())
        return self._unpacked("<ff", self.ask(frames.EVALUATE, struct.pack("<IB", crc, model is not None), timeout))

    def step(self, number, scalar, timeout):
        """What a node of zeroth order measures at a step; ``scalar``: the fleet's of the step before."""
        body = self.ask(frames.STEP, struct.pack(frames.SCALAR, number, scalar), timeout)
        found, own = self._unpacked(frames.SCALAR, body)
        if found != number:
            raise FleetError("%s: an answer to step %d, asked for %d" % (self.name, found, number))
        return own

    def sum(self, timeout):
        """CRC-32 of the weights that a node of zeroth order has."""
        return self._unpacked("<I", self.ask(frames.SUM, b"", timeout))[0]

    def key(self, timeout):
        """The node's public key, 32 bytes."""
        return self._unpacked("32s", self.ask(frames.KEY, b"", timeout))[0]

    def mask(self, number, own, keys, timeout):
        """Let the node mask its update of a round: ``own`` is its place among the public keys."""
        self.ask(frames.MASK, struct.pack("<IB", number, own) + b"".join(keys), timeout)

    def quit(self, timeout=1):
        """End the node's script, if it answers, and the link."""
        try:
            self.ask(frames.QUIT, b"", timeout)
        except BoardError:
            pass
        self.link.close()

    def ask(self, kind, body, timeout):
        """The body of the answer to a request, which is repeated until it is answered or ``timeout`` has passed."""
        self._sequence = (self._sequence + 1) & 255
        frame = frames.pack(kind, self._sequence, body)
        end, wait, again = time.monotonic() + timeout, _PATIENCE, 0
        while True:
            now = time.monotonic()
            if now >= end and again:
                raise FleetError("%s: no answer in %g seconds%s" % (self.name, timeout, self._said()))
            if now >= again:
                self._through(self.link.write, frame)
                self.down += len(frame)
                again, wait = now + wait, 2 * wait
            answer = self._answer(min(max(0.001, end - now), max(0.001, again - now)))
            if answer == (None, None):
                continue
            if answer[0] == frames.REFUSED:
                why = visible(answer[1].decode("utf-8", "replace"))
                raise FleetError("%s: %s" % (self.name, why))
            return answer[1]

    def _unpacked(self, form, body):
        if len(body) != struct.calcsize(form):
            raise self._damaged(body)
        return struct.unpack(form, body)

    def _damaged(self, body):
        return FleetError("%s: a damaged answer: %.80r" % (self.name, body))

    def _through(self, call, *given):
        try:
            return call(*given)
        except BoardError as error:
            raise FleetError("%s: %s%s" % (self.name, visible(str(error), "\n"), self._said())) from None

    def _answer(self, timeout):
        """(kind, body) of an answer to the last request; (None, None) if none came."""
        data = self._through(self.link.read, timeout)
        self.up += len(data)
        parts = (self._rest + data).split(frames.END)
        self._rest = parts.pop()[-frames.MOST :]
        found = None, None
        for part in parts:
            frame = frames.unpack(part)
            if frame is None:
                self.text = (self.text + visible(part.decode("utf-8", "replace"), "\n"))[-_TEXT:]
            elif frame[0] in (frames.ANSWER, frames.REFUSED) and frame[1] == self._sequence:
                found = frame[0], frame[2]
        return found

    def _said(self):
        """The last line of what it printed, a traceback's for one."""
        text = self.text + visible(self._rest.decode("utf-8", "replace"), "\n")
        lines = [line.strip() for line in text.replace("\r", "\n").split("\n") if line.strip("\r\n \x04>")]
        return "; it printed: %s" % lines[-1] if lines else ""
