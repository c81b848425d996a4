"""A board that is taught: classes by a few samples each, added and forgotten at any time, over a frozen network.

    front = teach.front(model)                  # a trained network without its last layer: on a PC, or on the board
    teacher = teach.Teacher(front, classes=12, place="taught.bin")
    teacher.learn(x, "wave")                    # one sample; saved when it returns
    label, confidence = teacher.predict(x)
    teacher.forget("wave")

Latent replay (Pellegrini et al., 2020): the front runs once per sample, its output is kept as int8 numbers, equally
many places for each class, and a softmax layer learns all kept samples again after each change. So nothing is
forgotten but by ``forget``, and what is known depends on what is kept alone. Decisions are made of integers: the same
on every machine.
"""

import struct
from array import array

from ..base import executor
from ..base.fixed import ONE, hash32, is_int, is_number, own, scale_mul, scale_shift
from ..base.primitives import LOG2_E, isqrt, millionths, quantize, size_of
from ..base.regions import const
from ..files.stored import Stored, counted, whole
from ..run.session import ready

if 1 - 1:  # for type checkers alone
    from os import PathLike
    from typing import Any

    from ..model import Model
    from ..run.network import Network, Place

_MAGIC = const(0x3154444F)
_CRC, _USED, _TABLE = const(28), const(32), const(36)  # offsets in the state
_ENTRY = const(24)  # bytes of a class there: samples learned, the label's length, the label
_NUMBER = const(255)  # the length of a label that is an int
_BATCH = const(16)
_ONE = const(16384)  # 1 in Q14


def front(model: "Model", layer: "str | None" = None, x: "Any" = None) -> "Model":
    """A model of ``model``'s layers up to the one of this name, with its weights and ranges, which does not train.

    ``layer``: None, what the last layer with weights reads. ``x``: samples to find int8 ranges with, where the model's
    are not those of its parts (a BatchNorm goes into the layer before). KeyError for a name that no layer has,
    ValueError where nothing is left, or ``x`` lacks.
    """
    from ..model import Model
    from ..plan.graph import Node
    from ..run.build import attach
    from ..run.transfer import Part, transfer

    session = ready(model)
    end = None
    for node in model.nodes:
        if node.layer.name == layer or layer is None and node.layer.weight_shapes() and node.inputs:
            end = node if layer else node.inputs[0]
    if end is None:
        raise KeyError("no layer is called %r; there are %s" % (layer, ", ".join([n.layer.name for n in model.nodes])))
    if not end.inputs:
        raise ValueError("front: nothing is left before %r" % (layer or "the last layer with weights",))
    copies = {}
    for node in model.nodes:
        copies[node] = Node(node.layer, [copies[parent] for parent in node.inputs], node.shape)
    made = Model(copies[model.nodes[0]], copies[end])
    made.features = model.features
    try:
        made.compile(None, "mse", dtype=session.dtype, batch_size=1, seed=session.seed)
    finally:
        attach(session)
    transfer(made.session, Part(session, made, [copies[node] for node in model.nodes]), "front")
    if made.session.calibrated < (1 if x is None else 2):
        if x is None:
            raise ValueError("front: the ranges of int8 are not known: give x=, samples to find them with")
        made.calibrate(x)
    return made


class Teacher(Stored):
    """Learns classes from samples, over the outputs of ``front``, a model that does not change.

    ``classes``: the largest number of classes, 1 .. 255. ``budget``: bytes of the samples kept, an equal part for each
    class. ``reject``: None, or a least similarity, 0 .. 1, below which predict() answers None (see similarity()).
    ``place``: a file's name or a place of odt.slots, where each change is saved. ``steps``: of training after a
    change, of 16 samples each. ``seed``: of which sample a new one of a full class takes the place of.

    All memory is reserved here: ``state``, 36 bytes, 24 for each class and the budget; the layer that learns; and 9
    bytes for each number of the front's output. learn() temporarily allocates twice the budget of a class, forget()
    four times. An int8 front's ranges are fixed from now on.
    """

    front: "Network"
    classes: "int"
    each: "int"
    width: "int"
    labels: "list[str | int]"
    place: "str | PathLike[str] | Place | None"
    reject: "float | None"

    header = 28

    def __init__(
        self,
        front: "Network",
        classes: "int" = 10,
        budget: "int" = 16384,
        reject: "float | None" = None,
        place: "str | PathLike[str] | Place | None" = None,
        steps: "int" = 1000,
        seed: "int" = 0,
    ) -> None:
        session = ready(front)
        if session.calibrated < 1:
            raise ValueError("Teacher: the front's int8 ranges are not known: calibrate(x) it")
        self.classes = size_of("Teacher", "classes", classes, 255)
        steps, seed = size_of("Teacher", "steps", steps, 65535), own(seed)
        if not is_int(seed) or not 0 <= seed < 1 << 30:
            raise ValueError("Teacher: seed is an int in 0..2^30-1, got %r" % (seed,))
        if reject is not None and (not is_number(own(reject)) or not 0 <= reject <= 1):
            raise ValueError("Teacher: reject is None, or in 0..1, got %r" % (reject,))
        self.reject = reject
        budget = size_of("Teacher", "budget", budget)
        output = session.plan.output
        self.width = output.count // session.rows
        self.each = min(budget // (self.classes * self.width), 65535)
        if not self.each:
            raise ValueError("Teacher: budget %d: %d classes of one sample of %d numbers take %d bytes" % (
                budget, self.classes, self.width, self.classes * self.width))  # fmt: skip
        self.front, self.place, self.labels = front, place, []
        self._steps, self._session = steps, session
        self._seed = seed
        self._make_head(seed)
        session.fix_ranges()
        self._out = array("f", bytes(4 * self.width))
        self._row = array("b", bytes(self.width))
        self._size = self.each * self.width  # bytes of a class
        self._latents = _TABLE + _ENTRY * self.classes
        self.state = bytearray(self._latents + self.classes * self._size)
        words = (_MAGIC, self.width, self.classes, self.each, steps, seed, int(session.dtype == "int8"), self._crc())
        for i in range(len(words)):
            struct.pack_into("<I", self.state, 4 * i, words[i])
        self._learned = False  # whether the head has learned what is kept

    def learn(self, x: "Any", label: "str | int") -> None:
        """Keep ``x``, one sample as the front's ``predict`` takes it, for a label: a str of at most 19 bytes, or an int
        of 32 bits.

        A class that is full gives up one of its samples, chosen by the seed. ValueError for a label too many, for a
        front that has changed, and as in ``predict``; OSError where it cannot be saved. Then all is as before. Where it
        is interrupted, RAM and ``place`` hold the same: what they held, or the new sample too.
        """
        entry = _entry(label)
        self._check()
        place = self._find(label)
        if place < 0:
            place = len(self.labels)
            if place == self.classes:
                raise ValueError("learn: %r would be class %d, there is room for %d: forget() one" % (
                    label, place + 1, self.classes))  # fmt: skip
        self._embed(x)
        at, width = self._latents + place * self._size, self.width
        block, row = bytearray(self.state[at : at + self._size]), bytes(self._row)
        count = self.count(label)
        slot = count if count < self.each else hash32(self._seed, count) * self.each >> 32
        block[slot * width : (slot + 1) * width] = row
        for free in range(count + 1, self.each):  # the others hold these again: each class weighs as much
            first = free % (count + 1) * width
            block[free * width : (free + 1) * width] = block[first : first + width]
        table, count = _TABLE + place * _ENTRY, struct.pack("<I", counted(count))
        self._change(((at, block), (table, count + entry)), max(place + 1, len(self.labels)))

    def forget(self, label: "str | int") -> None:
        """Unlearn a class; KeyError for a label that is none.

        Of the class that came last it leaves the state of before it, to the bit.
        """
        self._check()
        place, last = self._find(label), len(self.labels) - 1
        if place < 0:
            raise KeyError("forget: %r is none of %r" % (label, self.labels))
        parts = []
        for start, size in ((_TABLE, _ENTRY), (self._latents, self._size)):
            parts.append((start + place * size, bytes(self.state[start + last * size : start + (last + 1) * size])))
            parts.append((start + last * size, bytes(size)))
        self._change(parts, last)

    def count(self, label: "str | int") -> "int":
        """Samples of a label that were learned, those given up with them; beyond 2^32 - 1 it goes on at 2^31."""
        place = self._find(label)
        return 0 if place < 0 else struct.unpack_from("<I", self.state, _TABLE + place * _ENTRY)[0]

    def predict(self, x: "Any") -> "tuple[str | int | None, float]":
        """``(label, confidence)`` of one sample: the softmax of what the head says, in 1/1024; (None, 0.0) where
        nothing was learned.

        With ``reject``, of a sample that is like none of its class, (None, confidence). What was learned since is
        fitted first. It allocates what it returns. ValueError, TypeError for what is no sample, or of several, and
        where the front's output is not finite.
        """
        self.fit()
        self._embed(x)
        if not self.labels:
            return None, 0.0
        best, share = self._decide()
        if self.reject is not None and self._similar(best) < _thousand(self.reject):
            return None, share
        return self.labels[best], share

    def similarity(self, x: "Any") -> "float":
        """The cosine, in 1/1024, of a sample to the nearest that is kept of the class that it is predicted to be; 0.0
        where nothing was learned.
        """
        self.fit()
        self._embed(x)
        return self._similar(self._decide()[0]) / 1024 if self.labels else 0.0

    def fit(self) -> None:
        """Learn what is kept, unless that has happened: ``steps`` of training.

        If it is interrupted, the next call starts again.
        """
        if self._learned or not self.labels:
            return
        self._check()
        count = len(self.labels) * self.each
        view = memoryview(self.state)[self._latents : self._latents + count * self.width]
        self._begin_anew()
        batches = (count + _BATCH - 1) // _BATCH
        epochs = (self._steps + batches - 1) // batches
        self._head.fit(view, memoryview(self._y)[:count], epochs, verbose=0)
        self._head.history = None  # nobody reads it
        if self._session.dtype == "int8":
            scale = scale_mul(struct.unpack("<I", self._head.session.scale)[0], LOG2_E)
            self._unit = max(1, min(quantize(scale, scale_shift(ONE, 14)), 1 << 20))
        self._learned = True

    def digest(self) -> "int":
        """CRC-32 of what is kept and of what the head has learned from it."""
        self.fit()
        crc = executor.engine.crc32(self.state)
        return executor.engine.crc32(self._head.session.state, crc) if self.labels else crc

    def save(self, place: "str | PathLike[str] | Place") -> None:
        """Write what is kept to a file, by its name, or to a place of odt.slots; the old checkpoint is whole
        until the new one is.
        """
        self._check()
        super().save(place)

    def load(self, place: "str | PathLike[str] | Place") -> None:
        """Read a checkpoint of a Teacher of the same sizes and steps, over the same front; else ValueError, and nothing
        changes.
        """
        self._check()
        new = self.read(place)
        crc, used = struct.unpack_from("<2I", new, _CRC)
        if crc != self._crc():
            raise ValueError("load: the samples were kept from another front: its CRC was %08x, this one's is %08x" % (
                crc, self._crc()))  # fmt: skip
        if used > self.classes:
            raise ValueError("load: %d classes, expected %d at most" % (used, self.classes))
        labels = [_label(new, _TABLE + place * _ENTRY) for place in range(used)]
        self._write(((0, new),), labels)

    def __repr__(self):
        return "Teacher(%d numbers, %d of %d classes, %d samples of each, %d bytes)" % (
            self.width, len(self.labels), self.classes, self.each, len(self.state))  # fmt: skip

    # What is kept

    def _find(self, label):
        """The place of a label, -1 without; 1 and True are not one."""
        label = own(label)
        for place in range(len(self.labels)):
            if self.labels[place] == label and not isinstance(label, bool):
                return place
        return -1

    def _crc(self):
        session = self._session
        return executor.engine.crc32(session.plan.code, self.front.digest())

    def _check(self):
        """ValueError where the front is not as it was: latents of another say nothing."""
        if self.front.session is not self._session or self._crc() != struct.unpack_from("<I", self.state, _CRC)[0]:
            raise ValueError("Teacher: the front has changed since the samples were kept: make a new Teacher of it")

    def _change(self, parts, used):
        """Write (offset, bytes) and the number of classes, and save it; as before where that fails."""
        parts = tuple(parts) + ((_USED, struct.pack("<I", used)),)
        before = [(at, bytes(self.state[at : at + len(data)])) for at, data in parts]
        labels, learned = self.labels, self._learned
        table = bytearray(self.state[_TABLE : self._latents])
        for at, data in parts:
            if _TABLE <= at < self._latents:
                table[at - _TABLE : at - _TABLE + _ENTRY] = data
        try:
            self._write(parts, [_label(table, place * _ENTRY) for place in range(used)])
            if self.place is not None:
                self.save(self.place)
        except BaseException:
            if self.place is None or not self._is_saved():
                self._write(before, labels)
                self._learned = learned
            raise

    def _write(self, parts, labels):
        """As a whole."""

        def change():
            for at, data in parts:
                self.state[at : at + len(data)] = data
            self.labels, self._learned = labels, False

        whole(change)

    def _is_saved(self):
        """Whether ``place`` holds this state: an interrupted save may have come so far."""
        from ..files import checkpoint

        engine, place = executor.engine, checkpoint.path_of(self.place)
        try:
            file = checkpoint.open_file(place, engine) if isinstance(place, str) else place.read(engine)
            try:
                words, crc = checkpoint.read_header(file, "", engine)
            finally:
                file.close()
        except (OSError, ValueError):
            return False
        return words[14] == engine.crc32(self.state, crc)

    # The layer that learns

    def _make_head(self, seed):
        from ..layers import Dense, Input
        from ..model import Sequential
        from ..optimizers import Adam
        from ..optimizers.schedules import CosineDecay

        dense = Dense(self.classes)
        dense.zero = True  # its first weights
        self._head = Sequential([Input((self.width,), dtype="int8", scale=1 / 32), dense])
        rate = CosineDecay(0.03, self._steps)
        self._head.compile(Adam(rate), dtype=self._session.dtype, batch_size=_BATCH, seed=seed)
        self._logits = array("f", bytes(4 * self.classes))
        self._y = bytearray(self.classes * self.each)
        for i in range(len(self._y)):
            self._y[i] = i // self.each
        self._unit = 23637  # log2(e) in Q14
        state, self._first = self._head.session.state, []  # the first state: runs of what is not 0
        at, end = 0, len(state)
        while at < end:
            stop = at
            while stop < end and state[stop]:
                stop += 1
            if stop > at:
                self._first.append((at, bytes(state[at:stop])))
            at = stop + 1

    def _begin_anew(self):
        from ..run.replace import half_way, in_place

        session = self._head.session

        def write():
            half_way(session, "fit")
            state, zeros = session.state, bytes(64)
            for at in range(0, len(state), 64):
                state[at : at + 64] = zeros[: len(state) - at]
            for at, data in self._first:
                state[at : at + len(data)] = data

        in_place(session, write, (0 if session.dtype == "int8" else 2, 0, None, session.seed))

    # In small integers, which take no heap

    def _embed(self, x):
        """The front's output of a sample into ``_row``, the largest number as 127."""
        try:
            self.front.predict(x, self._out)
        except ValueError as error:
            if str(error)[:4] == "out:":
                raise ValueError("x: one sample is expected, got several") from None
            raise
        session, row, width = self._session, self._row, self.width
        output, arena = session.plan.output, session.arena
        at, zero = output.buffer.offset, output.zero
        if session.dtype != "int8":
            return self._embed_floats(arena, at)
        top = 0
        for i in range(width):
            value = arena[at + i]
            row_value = (value - 256 if value > 127 else value) - zero
            top = max(top, abs(row_value))
        for i in range(width):
            value = arena[at + i]
            value = (value - 256 if value > 127 else value) - zero
            value = 127 * 2 * value + top if value >= 0 else 127 * 2 * value - top
            row[i] = 0 if not top else value // (2 * top) if value >= 0 else -(-value // (2 * top))

    def _embed_floats(self, arena, at):
        """Of float32 numbers their exponent and 16 bits of mantissa."""
        row, width = self._row, self.width
        power = top = 0
        for i in range(at, at + 4 * width, 4):
            exponent = (arena[i + 3] & 127) << 1 | arena[i + 2] >> 7
            if exponent == 255:
                raise ValueError("x: the front's output is not finite")
            mantissa = (arena[i + 2] | 128) << 8 | arena[i + 1]
            if exponent > power or exponent == power and mantissa > top:
                power, top = exponent, mantissa
        for i in range(width):
            byte = at + 4 * i
            shift = power - ((arena[byte + 3] & 127) << 1 | arena[byte + 2] >> 7)
            value = 0
            if shift < 9 and power:
                value = (254 * ((arena[byte + 2] | 128) << 8 | arena[byte + 1]) + (top << shift)) // (top << shift + 1)
            row[i] = -value if arena[byte + 3] > 127 else value

    def _logit(self, place):
        """What the head says of a class: steps of its output's scale, or in 4096ths of float32."""
        session = self._head.session
        at, arena = session.plan.output.buffer.offset, session.arena
        if session.dtype == "int8":
            value = arena[at + place]
            return value - 256 if value > 127 else value
        at += 4 * place
        shift = 138 - ((arena[at + 3] & 127) << 1 | arena[at + 2] >> 7)
        value = (arena[at + 2] | 128) << 16 | arena[at + 1] << 8 | arena[at]
        value = 1 << 28 if shift < -4 else 0 if shift > 24 else value >> shift if shift >= 0 else value << -shift
        return -value if arena[at + 3] > 127 else value

    def _decide(self):
        """(place of the class, its probability in 1/1024) of the sample in ``_row``; the first of equals."""
        self._head.predict(self._row, self._logits)
        best, top, total = 0, self._logit(0), 0
        for place in range(1, len(self.labels)):
            value = self._logit(place)
            if value > top:
                best, top = place, value
        unit = self._unit
        most, shift = (1 << 30) // unit - 1, 0 if self._session.dtype == "int8" else 12
        for place in range(len(self.labels)):
            total += _power(min(top - self._logit(place), most) * unit >> shift)
        return best, (_ONE * 1024 // total) / 1024

    def _similar(self, place):
        """The largest cosine of ``_row`` and what is kept of a class, in 1/1024."""
        row, state, width = self._row, self.state, self.width
        size = 0
        for value in row:
            size += value * value
        size, best = isqrt(size << 6), 0
        at = self._latents + place * self._size
        for _ in range(min(self.count(self.labels[place]), self.each)):
            product = square = 0
            for i in range(width):
                value = state[at + i]
                if value > 127:
                    value -= 256
                product += value * row[i]
                square += value * value
            at += width
            if product > 0:
                best = max(best, min((product << 6) // (size * isqrt(square << 6) >> 10), 1024))
        return best


def _power(t):
    """2^-(t / 16384) in Q14, t >= 0; within 3 / 16384."""
    if t >= 15 * _ONE:
        return 0
    f = t & _ONE - 1
    r = 16384 - (f * (11331 - (f * (3787 - (f * 648 >> 14)) >> 14)) >> 14)
    return r >> (t >> 14)


def _thousand(value):
    return 1024 if value == 1 else millionths(value) * 1024 // 1000000


def _entry(label):
    """A label as 20 bytes; TypeError, ValueError for what is none."""
    label = own(label)
    if is_int(label):
        if not -(1 << 31) <= label < 1 << 31:
            raise ValueError("label: an int of 32 bits is expected, got %d" % label)
        data, size = struct.pack("<i", label), _NUMBER
    elif isinstance(label, str):
        data = label.encode()
        size = len(data)
        if not 1 <= size <= 19:
            raise ValueError("label: 1 to 19 bytes of text are expected, got %d: %r" % (size, label))
    else:
        raise TypeError("label: a str or an int is expected, got %r" % (label,))
    return bytes((size,)) + data + bytes(19 - len(data))


def _label(data, at):
    """The label of an entry at ``at``; ValueError where it is none."""
    size = data[at + 4]
    if size == _NUMBER:
        return struct.unpack_from("<i", data, at + 5)[0]
    try:
        return bytes(data[at + 5 : at + 5 + size]).decode()
    except ValueError:
        raise ValueError("load: a label is no text")
