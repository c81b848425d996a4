"""A session runs a compiled model. It holds the regions, the program, the data and the current batch.

``Model.compile`` creates it (build.py). Everything that trains, evaluates or reads a model uses it as
``model.session``, or as ``ready(model)``, which raises an error if the session must not be used now.
"""

from array import array
from struct import unpack_from

from ..base.fixed import ONE, bits_to_float, elements, get, multiplier, put, scale_div
from ..base.regions import (  # fmt: skip
    ARENA,
    BATCH,
    CORRECT,
    COUNT,
    FLOAT32,
    INT16,
    INT32,
    KEY,
    LOSS,
    LOSS_HIGH,
    ORDER,
    POSITION,
    RATE,
    SAMPLES,
    UINT16,
    X_DATA,
    X_FORMAT,
    X_SCALE,
    Y_DATA,
    Y_FORMAT,
    Y_SCALE,
    Y_ZERO,
    const,
)
from .data import check_finite, check_labels, check_probabilities, samples

if 1 - 1:  # for type checkers alone
    from collections.abc import Sequence
    from typing import Any

    from ..plan.program import Program

try:
    from _thread import get_ident
except ImportError:  # a port without threads: str() names its only thread
    get_ident = str

_LAST = const(0xFF000000)  # from this step on, schedules receive this step: see set_rate()
_LATE = const(0xFF)  # the top byte of the step counter then
_WIDEST = const(0x7B80)  # upper half of a scale of 2^120: 255 of its steps overflow float32
_WIDE = const(0x7A)  # if a scale's top byte is at most this, the scale is below _WIDEST
# Words of ``known``: the classes of x and y, and count_samples()'s argument for each. The rest is for step().
_X_CLASS = const(0)
_X_KIND = const(1)
_Y_CLASS = const(2)
_Y_KIND = const(3)
# Words of ``whole``.
_START = const(0)
_STOP = const(1)
_LABELS = ("uint8", "int8", "int16", "int32", "uint16", "uint32")
_TARGETS = ("float32", "int8", "uint8", "int16", "int32", "uint16")


def ready(model, reads=False):
    """The model's session.

    RuntimeError if there is none, within a step, or if another thread runs a fit. ``reads``: the caller only reads the
    state, which a hook of watch.py may do within a step.
    """
    session = model.session
    if session is None:
        raise RuntimeError("the model is not compiled: call compile() first")
    if session.busy or session.fit:
        session.refuse(reads)
    return session


# A step calls the following. They are functions, because a Cortex-M0+ takes up to 1500 cycles to find a method of an
# object with many attributes. They are short, because MicroPython keeps the names and operands of a call on the C stack
# only if there are at most 11 of them, and otherwise on the heap.


def bind(session, x, y, what=""):
    """Check the data and point the program at it; returns the number of samples."""
    if session.busy:
        session.refuse()
    known = session.known
    if known and x.__class__ is known[_X_CLASS] and y.__class__ is known[_Y_CLASS]:
        count = session.engine.count_samples(x, known[_X_KIND])
        if session.engine.count_samples(y, known[_Y_KIND]) == count != 0:
            point(session, x, y, count)
            return count
    x, y, count = session.look_at(x, y, what)
    point(session, x, y, count)
    return count


def point(session, x, y, count):
    """Point the program at checked data."""
    control, regions = session.control, session.regions
    control[SAMPLES] = count
    control[ORDER] = control[KEY] = 0
    regions[X_DATA] = x
    regions[Y_DATA] = y
    session.used = None


def release(session):
    """Keep no reference to the data: a board needs its memory."""
    regions = session.regions
    regions[X_DATA] = regions[Y_DATA] = session.used = None


def batch(session, position, count):
    """Point the program at the batch that begins at sample ``position`` of ``count``."""
    control, size = session.control, session.batch_size
    count -= position
    if count > size:
        count = size
    session.position = control[POSITION] = position
    session.count = control[COUNT] = count
    session.at = 0


def next_part(session):
    """Point the program at the batch's next micro-batch; ``at`` is then its end. False after the last one."""
    at, count, rows = session.at, session.count, session.rows
    if at >= count:
        return False
    session.at = at + rows
    if session.micro:
        control = session.control
        control[BATCH] = count
        control[POSITION] = session.position + at
        control[COUNT] = rows if rows < count - at else count - at
    return True


def pieces(session):
    """The pieces of a training step for the current micro-batch."""
    return session.parts if session.at == session.rows else session.others


def clear(session):
    """Set the sum of the loss to 0, and KEY to 0: dropout is off until set_rate() is called."""
    control = session.control
    control[KEY] = control[LOSS] = control[LOSS_HIGH] = control[CORRECT] = 0
    watched = session.watched
    if watched is not None and watched != session.now:
        session.scale_moved()


def train(session):
    """Train one step on the current batch."""
    control, rate = session.control, session.optimizer.learning_rate
    if rate is session.steady and session.state[3] != _LATE:
        control[RATE] = rate.base
        control[KEY] = 1
    else:
        session.set_rate()
    if session.whole:
        session.engine.run(session.loaded, session.regions, session.whole[_START], session.whole[_STOP])
    else:
        _train_parts(session)
    scale = session.scale
    if scale is not None and (scale[3] > _WIDE or session.watched is not None):
        _look_at_scale(session)


def step(session, x, y):
    """Do bind(), clear(), batch() and train() in one call of the engine, if the data has the ``known`` types.

    Returns the number of samples; 0 for other data, after which nothing is done.
    """
    rate, regions = session.optimizer.learning_rate, session.regions
    if rate is not session.steady or session.state[3] == _LATE:
        return 0
    regions[X_DATA] = x
    regions[Y_DATA] = y
    session.used = None
    count = session.engine.step(session.call, rate.base)
    regions[X_DATA] = regions[Y_DATA] = None
    if count and session.scale[3] > _WIDE:
        _look_at_scale(session)
    return count


def train_alone(session):
    """train() for train_step(). It is a separate function because MicroPython keeps at most 11 names and operands of a
    call on the C stack.
    """
    try:
        train(session)
    except BaseException:
        end_within(session)
        raise


def is_untrained(session):
    """Whether the model was compiled without an optimizer. (Tests no class: start.py may be unloaded.)"""
    return hasattr(session.optimizer, "untrained")


def end_within(session):
    """After an interrupted step: move back the weights that the step has moved. Completed updates stay."""
    if getattr(session.optimizer, "moves", False):
        from .moved import put_back

        put_back(session)


def _train_parts(session):
    """train() for a step that is not one run of the program."""
    if not session.micro:
        for piece in session.parts:
            _run_piece(session, piece)
    else:
        while next_part(session):
            for piece in pieces(session):
                _run_piece(session, piece)
        for piece in session.update:
            _run_piece(session, piece)


def _look_at_scale(session):
    """After an int8 step: check whether the output's scale has changed or overflowed float32."""
    scale, watched = session.scale, session.watched
    if scale[3] > _WIDE:
        session.check_range(scale, 0)
    if watched is not None and watched != session.now:
        session.end_step()


def _run_piece(session, piece):
    start, stop, call = piece
    session.engine.run(session.loaded, session.regions, start, stop)
    if call:
        call()


def mean(session, count):
    """The mean loss of ``count`` samples since clear(). It avoids float operations, because each creates an object."""
    control, count = session.control, count * session.width
    if session.scale is None:
        return unpack_from("<f", control, 4 * LOSS)[0] / count
    total, high = control[LOSS], control[LOSS_HIGH]
    if high or total < 0:
        total = (high << 2 | total >> 30 & 3) << 30 | total & 0x3FFFFFFF  # small integers, where these have 62 bits
    watched = session.watched
    if watched is None:
        return total / (count << 16)
    if session.unit_count != count or watched != session.unit_scale:
        session.unit_count = 0  # an interrupt may come before all three are set: until then they are not used
        session.unit_scale = bytes(watched)
        session.unit = session.loss.unit(unpack_from("<f", watched)[0] / 256) / count
        session.unit_count = count
    return total * session.unit


def hasten(engine):
    """Let kernels from files bring those that are faster, where the heap has room (native/bindings/natmod.py)."""
    if hasattr(engine, "hasten"):
        engine.hasten()


class Session:
    """The result of build.py from a plan, or of open.py from a file.

    Only odt/run/ assigns its attributes, all of which are declared here (tests_host/house/test_house.py).
    """

    input: "Any"  # the Input's layer, or an object with its name, shape and format
    shape: "tuple[int, ...]"  # of one output
    row: "int"  # how many numbers a sample has
    width: "int"  # how many numbers a target has
    classes: "int"  # 0 without labels
    optimizer: "Any"
    loss: "Any"
    dtype: "str"
    seed: "int"
    batch_size: "int"
    micro: "int | None"  # samples of a micro-batch, if there are any
    rows: "int"  # samples of one run of the program
    options: "tuple[Any, ...] | None" = None  # of build(), if compile() made the model

    # The compiler's results, and the executor with its form of the program.
    plan: "Any"
    program: "Program"
    sections: "dict[str, tuple[int, int]]"
    engine: "Any"
    loaded: "Any"

    # The regions. ``regions`` lists them by number, with the current data. Views of parts of them follow.
    arena: "bytearray | None"
    state: "bytearray"
    control: "array[int]"
    frozen: "Any"
    regions: "list[Any]"
    scale: "memoryview | None"  # of the output, in int8
    scales: "Sequence[int]"  # offsets of all scales in the state
    watched: "memoryview | None"  # the output's scale, if LOSS counts in it
    before: "bytearray | None"  # the output's scale before it last changed
    now: "bytearray | None"  # and since then

    # Pieces of a step, (start, stop, call or None) each: ``parts`` run for the first micro-batch, ``others`` for each
    # later micro-batch, ``update`` once. ``whole``: (start, stop) of a step that is one run of the program.
    parts: "tuple[Any, ...]"
    others: "tuple[Any, ...]"
    update: "tuple[Any, ...]"
    whole: "tuple[int, int] | None"

    # The current data and batch.
    known: "tuple[Any, ...] | None"  # types and formats of the last data, see look_at()
    call: "tuple[Any, ...] | None"  # the same, if the engine's step() takes it
    used: "tuple[Any, ...] | None"  # set by use()
    position: "int"  # the batch's first sample
    count: "int"  # its number of samples
    at: "int"  # where its next micro-batch begins

    # The state of training.
    calibrated: "int"  # 0, 1 (forward) or 2 (backward too)
    fresh: "bool" = True  # the weights are compile()'s
    epoch: "int"  # complete epochs
    underway: "tuple[int, ...] | None"  # (samples, order, LOSS, LOSS_HIGH, CORRECT) of an incomplete epoch
    rate: "Any"  # the last learning rate of set_rate()
    steady: "Any"  # the same, if it is constant

    # Who is using the session.
    busy: "bool | str"  # True within a step of the method ``within``, or the name of a method that ended half way
    within: "str | None"
    fit: "str | None"  # the method that is underway
    owner: "int | str"  # its thread

    # Results kept for the next call.
    peaks: "array[int] | None" = None  # see calibration.held()
    ends: "tuple[str, bool] | None" = None  # see classes.ending()
    raw: "Any" = None  # a Normalization not yet checked for adapt()
    told: "bool" = False  # prepare() has printed its line
    seen: "Any"  # the cache of predict.py
    tracks: "tuple[Any, ...]"  # the cache of odt.continual.adabn
    unit: "float | None"  # the unit of LOSS, ..
    unit_count: "int | None"  # .. the number of outputs that it is for
    unit_scale: "bytes | None"  # .. and their scale

    def __init__(self, layer, shape, optimizer, loss, dtype, batch_size, micro, seed):
        self.input, self.shape = layer, shape
        self.optimizer, self.loss, self.dtype = optimizer, loss, dtype
        self.batch_size, self.micro, self.seed = batch_size, micro, seed
        self.rows = micro or batch_size
        self.row = elements(layer.shape)
        self.width = 1 if loss.labels else elements(shape)
        self.classes = shape[0] if loss.labels else 0
        self.rate = self.steady = None
        self.busy = False
        self.within = self.fit = None
        self.known = self.call = self.used = None
        self.seen = None
        self.position = self.count = self.at = 0
        self.epoch = 0
        self.underway = None
        self.calibrated = 2 if dtype == "float32" else 0
        self.unit = self.unit_count = self.unit_scale = None

    def steps(self):
        """The number of steps. The program counts them, so Ctrl-C cannot come between a step and its count.

        It is not a property: MicroPython would then search the class each time an attribute is set.
        """
        return get(self.state, 0)

    def refuse(self, reads=False):
        """Raise RuntimeError in a thread other than fit's, within a step, or after a method that ended half way.

        Within a step, ``reads`` is allowed, except during fit_async.
        """
        if self.fit and self.owner != get_ident():
            raise RuntimeError("%s is underway in another thread" % self.fit)
        if self.busy is True and not (reads and self.within != "fit_async"):
            raise RuntimeError("%s is within a step: use the model in on_batch_end, or when it has ended" % self.within)
        if self.busy == "compile":  # which took the arena, and failed
            self.arena = self.regions[ARENA] = self.arena or bytearray(self.plan.arena)
            self.busy = False
        if self.busy not in (True, False):
            raise RuntimeError(
                "%s() ended half way: part of the model is new, part old: load() or compile() it" % self.busy
            )

    def enter(self, name):
        """Method ``name`` pauses within a step: until leave() the model must not be used."""
        self.busy = True
        self.within = name

    def leave(self):
        """The step continues, or a change of the state is complete."""
        self.busy = False

    def fix_ranges(self):
        """Stop predict() from widening ranges."""
        self.calibrated = 2

    def begin(self, name):
        """Note that method ``name`` is underway in this thread; its end sets ``fit`` to None."""
        self.owner = get_ident()
        self.fit = name

    def alone(self, name):
        """Raise RuntimeError if fit is underway."""
        if self.fit:
            raise RuntimeError("%s: %s is underway: call %s when it has ended" % (name, self.fit, name))

    def look_at(self, x, y, what, predict=False):
        """Check data of any kind and note its formats; returns ``(x, y, samples)``, x and y as buffers.

        On a board this takes as long as a small step. So it also sets ``known``, by which bind() recognises data of the
        same form (``count_samples``). ``known`` holds the types, type codes and formats of x and y, and the other
        arguments of the engine's step(). ``call`` is the same, or None if the engine has no step(), if a step is not
        one run, or if the loss counts in a scale.
        """
        self.known = self.call = None
        layer = self.input
        given_x, given_y, known = x, y, None
        name = what + "x"
        x, x_format, count, x_code = samples(name, x, (layer.dtype,), self.row, layer.shape)
        check_finite(name, x, x_format, self.row)
        if hasattr(layer, "check"):
            x = layer.check(name, x, self.row)
        y_format, y_scale, y_zero, same = 0, ONE, 0, False
        loss, classes = self.loss, self.classes
        if not predict:
            # A bytes object has no type code: it holds labels of one byte each, or targets in the Input's dtype.
            dtypes = _LABELS if loss.labels else (layer.dtype,) + _TARGETS
            if loss.binary:
                dtypes = _LABELS + ("float32",)
            if loss.onehot:
                from .onehot import labels

                y = labels(what + "y", y, classes)
            width = self.width
            if loss.with_logits and isinstance(y, (bytes, bytearray, memoryview)) and len(y) == count * (classes + 1):
                dtypes, width, y_zero = ("uint8",), classes + 1, 1
            name = what + "y"
            y, y_format, labels, y_code = samples(name, y, dtypes, width, () if loss.labels else self.shape)
            if labels != count:
                raise ValueError("%sy: %d samples, x has %d" % (what, labels, count))
            if loss.labels:
                check_labels(name, [y[at] for at in range(0, len(y), width)] if y_zero else y, classes)
                if y_format == UINT16:  # as int16 if the classes fit
                    y, y_format = (array("i", y), INT32) if classes > 32768 else (y, INT16)
            else:
                check_finite(name, y, y_format, self.width)
                same = y_format == x_format
                if loss.binary:  # targets are 0 and 1, or the samples themselves
                    same = same and self.width == self.row and self.engine.crc32(x) == self.engine.crc32(y)
                if same:
                    y_scale, y_zero = self.control[X_SCALE], layer.zero_point
                if loss.binary and (not same or y_format == FLOAT32):
                    check_probabilities(name, y, self.width)
            plain = (
                x is given_x
                and y is given_y
                and not (same and loss.binary)
                and not (hasattr(x, "shape") or hasattr(y, "shape"))
            )
            if plain:
                one = self.whole and self.watched is None and hasattr(self.engine, "step")
                start, stop = self.whole if one else (0, 0)
                known = (
                    x.__class__,
                    (ord(x_code or "?"), x_format, self.row, 0),
                    y.__class__,
                    (ord(y_code or "?"), y_format, width, 2 if loss.binary else 0 if y_zero else classes),
                    self.loaded, self.regions, start, stop, self.batch_size,
                )  # fmt: skip
        control = self.control
        control[X_FORMAT] = x_format
        control[Y_FORMAT] = y_format
        control[Y_SCALE] = y_scale
        control[Y_ZERO] = y_zero
        self.known = known
        if known and stop:
            self.call = known
        return x, y, count

    def bound(self, x, y, what=""):
        """Check data and return use()'s argument: (samples, x, y, control words)."""
        count = bind(self, x, y, what)
        return count, self.regions[X_DATA], self.regions[Y_DATA], tuple(self.control[:LOSS])

    def use(self, bound):
        """Make this the current data; it is in ``used`` until other data is bound."""
        _, self.regions[X_DATA], self.regions[Y_DATA], words = bound
        self.known = self.call = None
        for index, word in enumerate(words):
            self.control[index] = word
        self.used = bound

    def prepare(self, level):
        """Calibrate ranges that are not known yet on the current data; level 1: forward, 2: backward too.

        It prints a line once. If a range later proves too small, training widens it; before the first training step,
        hold() does.
        """
        if self.calibrated < level:
            self.calibrate(level)
            if level == 1 and not self.told:
                self.told = True
                print("int8 ranges are those of these %d samples; calibrate(x) sets them" % self.control[SAMPLES])

    def calibrate(self, level, whole=False, step=False):
        """Set all ranges again from the first batch; the forward pass's ranges (level 1, or ``whole``) from all
        batches.

        ``step``: also train on the first batch, if that needs no second pass. Returns whether the batch was trained.
        """
        from .calibration import calibrate, complete

        step = step and self.whole is not None and self.watched is None  # one run, without calls in between
        if step:
            self.set_rate()
            clear(self)
        section = "train" if level == 2 else "predict"
        done, count = calibrate(self, level, step, section), self.control[SAMPLES]
        if not done:
            from .stepwise import calibrate, unload  # imported here, when compile()'s RAM is free

            what = (self.program, section, self.engine, self.loaded, self.regions)
            calibrate(*what, None, lambda: self.starts(0, count), -(-self.count // self.rows))
        if (level == 1 or whole) and count > self.batch_size:
            complete(self)
        if not done:
            unload()
            calibrate = complete = unload = None  # what they refer to is free now
            hasten(self.engine)
        self.calibrated = level
        if done == 2:
            _look_at_scale(self)
        return done == 2

    def starts(self, position, count):
        """Point the program at each micro-batch of the batch at ``position``; yields the first word of its pieces."""
        batch(self, position, count)
        while next_part(self):
            yield pieces(self)[0][0]

    def run(self, section):
        """Run a section that does not train, on the current micro-batch, for the rows that hold a sample."""
        start, stop = self.sections[section]
        if self.calibrated == 1:  # no training step has checked these ranges yet
            from .calibration import hold

            start = hold(self)
        self.engine.run(self.loaded, self.regions, start, stop, self.rows)

    def look(self, section):
        """Run a section that does not train, on the current batch."""
        while next_part(self):
            self.run(section)

    def set_rate(self):
        """Set RATE for the next step, and KEY, which turns dropout on."""
        control, rate = self.control, self.optimizer.learning_rate
        if rate is not self.rate:
            self.rate, self.steady = rate, rate if hasattr(rate, "steady") and rate.steady() else None
        step = self.steps()
        if self.state[3] == _LATE:  # schedules now stay at this step; the counter returns to it before 2^32
            if step == 0xFFFFFFFF:
                put(self.state, 0, _LAST)
            step = _LAST
        control[RATE] = rate.bits(step)
        control[KEY] = 1  # not 0: dropout is on

    def check_range(self, memory, at):
        """Raise ArithmeticError if the scale at ``at`` in ``memory`` has overflowed float32 after an int8 step."""
        if (memory[at + 3] << 8 | memory[at + 2]) >= _WIDEST:
            raise ArithmeticError(
                "int8 training has diverged: after step %d a range is beyond float32; learning rate %g"
                % (self.steps(), bits_to_float(self.control[RATE]))
            )

    def result(self, count):
        """(loss, accuracy) of ``count`` samples since clear()."""
        accuracy = None
        if self.loss.hits:
            accuracy = self.control[CORRECT] / (count * self.width)
        return mean(self, count), accuracy

    def scale_moved(self):
        """Note the output's scale, without using the heap. True if it has changed."""
        scale, before, now = self.watched, self.before, self.now
        if scale == now:
            return False
        for index in range(4):
            before[index] = now[index]
            now[index] = scale[index]
        return True

    def end_step(self):
        """If the output's scale has changed, convert LOSS, which counts in the old scale, to the new one."""
        if not self.scale_moved():
            return
        ratio = scale_div(get(self.before, 0), get(self.now, 0))
        control = self.control
        total = (control[LOSS] & 0xFFFFFFFF) + (control[LOSS_HIGH] << 32)
        for _ in range(self.loss.degree):
            m, shift = multiplier(ratio)
            total = (total * m + (1 << shift >> 1)) >> shift
        control[LOSS] = (total & 0x7FFFFFFF) - (total & 0x80000000)
        control[LOSS_HIGH] = total >> 32
