"""Learning more without forgetting: samples of what was learned before, in fixed memory, mixed into the batches of
``fit``.

    replay = Replay(model, budget=8192)
    for x, y in tasks:                          # each of new classes, or of another place
        model.fit(replay.mixed(x, y), epochs=5)
        replay.add(x, y)

Experience replay (Chaudhry et al., 2019) from a class-balancing reservoir (Chrysakis and Moens, 2020): classes have
equally many places, and each sample of a class that ever came is there with the same probability. With ``front``, of
odt.continual.latents, what is kept are a frozen front's int8 outputs (latent replay: Pellegrini et al., 2020). A model
with the loss of odt.continual.dark also learns from its own logits of what is kept. Drawn by a seed: the same on every
machine.
"""

import struct
from array import array

from ..base.fixed import ONE, hash32, is_int, is_number, own, scale_shift, within
from ..base.primitives import millionths, quantize, scale_of, size_of
from ..base.regions import X_DATA, X_SCALE, Y_DATA, const
from ..files.stored import Stored, counted
from ..run.session import bind, ready

if 1 - 1:  # for type checkers alone
    from collections.abc import Iterator
    from os import PathLike
    from typing import Any

    from ..run.network import Network, Place
    from .latents import Latents

_MAGIC = const(0x3150444F)
_INFINITE = const(0x7F800000)
_CRC, _SEEN, _TABLE = const(24), const(28), const(32)  # offsets in the state
_NO_LOGITS = const(128)  # -128 as the first: of a sample that has none
_BYTES = {"int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "float32": 4}


class Replay(Stored):
    """Samples that ``model``, compiled with "sparse_categorical_crossentropy", has learned, within ``budget`` bytes.

    All of them are ``state``: 32 bytes, 4 per class, and 1 more per sample than its own; with the loss of
    odt.continual.dark 1 per class, too: the sample's logits when it is added. ``front``: the Latents that the model's
    samples are; once that front has changed, all is refused. ValueError for a budget that holds less than a sample of
    each class.
    """

    model: "Network"
    front: "Latents | None"
    seed: "int"
    classes: "int"
    size: "int"
    width: "int"
    capacity: "int"

    header = 24

    def __init__(
        self, model: "Network", budget: "int" = 16384, front: "Latents | None" = None, seed: "int" = 0
    ) -> None:
        session = ready(model)
        loss, layer = session.loss, session.input
        if not loss.labels or loss.onehot or session.classes > 255:
            raise ValueError(
                "Replay: a model of at most 255 classes and sparse_categorical_crossentropy is expected; "
                "odt.continual.reservoir is for others"
            )
        budget, seed = size_of("Replay", "budget", budget), own(seed)
        if not is_int(seed) or not 0 <= seed < 1 << 30:
            raise ValueError("Replay: seed is an int in 0..2^30-1, got %r" % (seed,))
        if front is not None:
            front.check()
            ours, theirs = (
                (layer.dtype, session.row, session.control[X_SCALE], layer.zero_point),
                ("int8", front.width, scale_of(front.scale), front.zero_point),
            )
            if ours != theirs:
                raise ValueError("Replay: front: the model does not read these latents: begin it with front.input()")
        # labels, samples, logits: where they begin in the state
        self.model, self.front, self.seed, self.classes = model, front, seed, session.classes
        self.size = session.row * _BYTES[layer.dtype]
        self.width = self.classes if loss.with_logits else 0  # logits of a sample
        self.labels = _TABLE + 4 * self.classes
        each = self.size + 1 + self.width
        self.capacity = min((budget - self.labels) // each, 65535)
        if self.capacity < self.classes:
            raise ValueError("Replay: budget %d: a sample of %d bytes for each of %d classes takes %d" % (
                budget, each - 1, self.classes, self.labels + self.classes * each))  # fmt: skip
        self.samples = self.labels + self.capacity
        self.logits = self.samples + self.capacity * self.size
        self.state = bytearray(self.logits + self.capacity * self.width)
        self._out = array("f", bytes(4 * self.width))
        dtype = sorted(_BYTES).index(layer.dtype) + (8 if self.width else 0)
        words = (_MAGIC, self.size, self.classes, self.capacity, seed, dtype, front.crc if front else 0)
        for i in range(len(words)):
            struct.pack_into("<I", self.state, 4 * i, words[i])

    def __len__(self) -> "int":
        """Samples kept."""
        return min(self.seen, self.capacity)

    @property
    def seen(self) -> "int":
        """Samples that came; beyond 2^32 - 1 it goes on at 2^31."""
        return struct.unpack_from("<I", self.state, _SEEN)[0]

    @property
    def x(self) -> "memoryview":
        """The samples kept, without a copy: raw bytes, as ``fit`` and ``evaluate`` take them."""
        return memoryview(self.state)[self.samples : self.samples + len(self) * self.size]

    @property
    def y(self) -> "memoryview":
        """Their labels."""
        return memoryview(self.state)[self.labels : self.labels + len(self)]

    def count(self, label: "int") -> "int":
        """Samples kept of a label."""
        return bytes(self.y).count(bytes((within("count: label", label, self.classes),)))

    def add(self, x: "Any", y: "Any") -> None:
        """Offer samples and labels as ``fit`` takes them, or one of each.

        Once all places are taken, a sample of a class that has fewer gets one of the largest class's, any other one of
        its own class's, with the probability that is fair to all of the class that came. Errors are those of ``fit``,
        and then nothing is kept. With the loss of odt.continual.dark the model predicts what it keeps: ValueError where
        that is not finite.
        """
        y = own(y)
        view, unit, labels, count = self._bound(x, (y,) if is_int(y) else y)
        size = self.size // unit
        for i in range(count):
            self._keep(view[i * size : (i + 1) * size], unit, int(labels[i]))

    def mixed(self, x: "Any", y: "Any", share: "float | None" = None) -> "Mixed":
        """Batches for ``fit``: all of x and y once an epoch, and of each batch a part drawn from what is kept, equally
        often of each class.

        ``share``: that part, above 0 and below 1; None for a class kept to weigh as much as one of y. It adds nothing:
        ``add`` does that, afterwards. While nothing is kept, batches are of x alone. A batch, and 2 bytes per sample of
        the budget, are reserved here. Errors are those of ``fit``.
        """
        share = own(share)
        if share is not None and (not is_number(share) or not 0 < share < 1):
            raise ValueError("mixed: share is above 0 and below 1, or None, got %r" % (share,))
        if ready(self.model).batch_size < 2:
            raise ValueError("mixed: batch_size is 1, and a batch is of old and new samples: compile with 2 at least")
        return Mixed(self, self._bound(x, y), share)

    def save(self, place: "str | PathLike[str] | Place") -> None:
        """Write what is kept to a file, by its name, or to a place of odt.slots; the old checkpoint is whole
        until the new one is.
        """
        self.check()
        super().save(place)

    def load(self, place: "str | PathLike[str] | Place") -> None:
        """Read a checkpoint of a Replay of the same sizes and seed, over the same front; else ValueError, and nothing
        changes.
        """
        self.check()
        new = self.read(place)
        found, ours = struct.unpack_from("<I", new, _CRC)[0], struct.unpack_from("<I", self.state, _CRC)[0]
        if found != ours:
            raise ValueError("load: stale latents: kept from a front of CRC %08x, this one's is %08x" % (found, ours))
        used = min(struct.unpack_from("<I", new, _SEEN)[0], self.capacity)
        if used and max(new[self.labels : self.labels + used]) >= self.classes:
            raise ValueError("load: a label above %d" % (self.classes - 1))
        self._change((0, new))

    def __repr__(self):
        return "Replay(%d of %d samples, %d classes, %d bytes)" % (
            len(self), self.capacity, self.classes, len(self.state))  # fmt: skip

    def check(self) -> None:
        """ValueError where what is kept is stale: the front has changed."""
        if self.front is not None:
            self.front.check()

    def _bound(self, x, y):
        """Data that ``fit`` would take: (bytes or elements of x, bytes of one, labels, samples)."""
        self.check()
        session = ready(self.model)
        count = bind(session, x, y)
        view = memoryview(session.regions[X_DATA])
        if hasattr(view, "cast"):
            view = view.cast("B")
        return view, count * self.size // len(view), session.regions[Y_DATA], count

    def _keep(self, sample, unit, label):
        seen, table = self.seen, _TABLE + 4 * label
        of_label = counted(struct.unpack_from("<I", self.state, table)[0])
        parts = [(_SEEN, struct.pack("<I", counted(seen))), (table, struct.pack("<I", of_label))]
        place = seen if seen < self.capacity else self._taken(label, of_label, hash32(self.seed, seen))
        if place >= 0:
            new = bytearray(self.size)
            _put(new, 0, sample, unit)
            parts += [(self.labels + place, bytes((label,))), (self.samples + place * self.size, new)]
            if self.width:
                parts.append((self.logits + place * self.width, self._predicted(sample)))
        self._change(*parts)

    def _predicted(self, sample):
        """What the model says of a sample now, a byte per class: logits in quarters."""
        self.model.predict(sample, self._out)
        found, quarter = bytearray(self.width), scale_shift(ONE, 2)
        for i in range(self.width):
            bits = struct.unpack_from("<I", self._out, 4 * i)[0]
            if bits & 0x7FFFFFFF >= _INFINITE:
                raise ValueError("add: the model's output is not finite")
            found[i] = max(-127, min(127, quantize(bits, quarter))) & 255
        return found

    def _taken(self, label, of_label, chance):
        """The place that a sample gets where none is free, -1 for none."""
        known = bytes(self.y)
        kept = [known.count(bytes((each,))) for each in range(self.classes)]
        most, victim = max(kept), label
        if kept[label] + 1 < most:
            victim = kept.index(most)
            nth = chance * most >> 32
        else:
            nth = chance * of_label >> 32
            if nth >= kept[label]:
                return -1
        place, wanted = -1, bytes((victim,))
        for _ in range(nth + 1):
            place = known.find(wanted, place + 1)
        return place


class Mixed:
    """What ``Replay.mixed`` gives to ``fit``, which sets ``epoch`` and ``order``, the key of this epoch's order of new
    samples.
    """

    epoch = order = 0

    def __init__(self, replay: "Replay", data: "tuple[memoryview, int, Any, int]", share: "float | None") -> None:
        self._replay, self._data, self._share = replay, data, share
        self._batch, self._classes = replay.model.session.batch_size, len({int(label) for label in data[2]})
        self._x, self._y = bytearray(self._batch * replay.size), bytearray(self._batch * (1 + replay.width))
        self._places = array("H", bytes(2 * replay.capacity))  # of what is kept, class by class
        self._starts = array("H", bytes(2 * (replay.classes + 1)))

    def __len__(self) -> "int":
        """Batches of an epoch."""
        new = self._batch - self._old(self._sort())
        return (self._data[3] + new - 1) // new

    def _old(self, kept):
        """How many samples of a batch are drawn, given the number of kept classes."""
        size = self._batch
        part, whole = kept, kept + self._classes
        if self._share is not None:
            part, whole = millionths(self._share), 1000000
        return max(1, min(size - 1, (part * size + whole // 2) // whole)) if kept else 0

    def __iter__(self) -> "Iterator[tuple[memoryview, memoryview]]":
        replay, (view, unit, labels, count) = self._replay, self._data
        replay.check()
        x, y, size, seen = self._x, self._y, replay.size, replay.seen
        key, kept = hash32(replay.seed, self.order or self.epoch) >> 3, self._sort()
        old, step, filled, drawn = self._old(kept), size // unit, 0, 0
        state, width, row = memoryview(replay.state), replay.width, 1 + replay.width
        samples, known, logits = state[replay.samples :], state[replay.labels :], state[replay.logits :]
        all_x, all_y = memoryview(x), memoryview(y)
        full = all_x, all_y
        for i in range(count):
            sample = shuffled(i, count, key) if self.order else i
            _put(x, filled * size, view[sample * step : (sample + 1) * step], unit)
            y[filled * row] = labels[sample]
            if width:
                y[filled * row + 1] = _NO_LOGITS
            filled += 1
            if filled + old < self._batch and i + 1 < count:
                continue
            if replay.seen < seen:
                raise ValueError("mixed: fewer samples are kept than when the epoch began: load() before fit")
            for _ in range(old):
                place = self._draw(drawn, key, kept)
                x[filled * size : (filled + 1) * size] = samples[place * size : (place + 1) * size]
                y[filled * row] = known[place]
                if width:
                    y[filled * row + 1 : (filled + 1) * row] = logits[place * width : (place + 1) * width]
                filled += 1
                drawn += 1
            yield full if filled == self._batch else (all_x[: filled * size], all_y[: filled * row])
            filled = 0

    def _sort(self):
        """Find the places of each class that has any; returns how many these are."""
        known, places, starts = bytes(self._replay.y), self._places, self._starts
        classes = count = 0
        for label in range(self._replay.classes):
            wanted = bytes((label,))
            place = known.find(wanted)
            while place >= 0:
                places[count] = place
                count += 1
                place = known.find(wanted, place + 1)
            if count > starts[classes]:
                classes += 1
                starts[classes] = count
        return classes

    def _draw(self, number, key, classes):
        """The place of draw ``number``: classes by turns, and of each all samples before one comes again."""
        turn, which = number // classes, number % classes
        first = self._starts[which]
        count = self._starts[which + 1] - first
        return self._places[first + shuffled(turn % count, count, key + 7919 * which + turn // count)]


def shuffled(p: "int", count: "int", key: "int") -> "int":
    """Which of ``count`` comes at p in the order of this key: as primitives.order(), by integers of 30 bits, which take
    no heap on a board.
    """
    h = 1
    while 1 << (2 * h) < count:
        h += 1
    mask = (1 << h) - 1
    while True:
        left, right = p >> h, p & mask
        for shift in (0, 4, 9, 14):
            u = ((key >> shift ^ right) & 32767) * 27449
            u = ((u >> 15 ^ u) & 32767) * 31357 >> 9
            left, right = right, left ^ u & mask
        p = left << h | right
        if p < count:
            return p


def _put(into, at, sample, unit):
    """Copy a sample into a bytearray, of elements of ``unit`` bytes as they lie in memory."""
    if unit == 1:
        into[at : at + len(sample)] = sample
    else:
        struct.pack_into("%ds" % (unit * len(sample)), into, at, sample)  # MicroPython's takes any buffer
