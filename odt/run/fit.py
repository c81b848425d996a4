"""The training loop, which fit() and fit_async() share: epochs, batches, validation, callbacks.

The loop is a generator, so that it can pause. With Slices (fit_async.py) it yields between slices of a step, and
without them never. Within a step it allocates nothing.
"""

import sys
from array import array

from ..base.executor import collect
from ..base.fixed import hash32, is_int, own
from ..base.primitives import count_of
from ..base.regions import CORRECT, LOSS, LOSS_HIGH, ORDER, const
from .session import batch, bind, clear, end_within, ready, release, train

if 1 - 1:  # for type checkers alone
    from collections.abc import Iterable

_HOOKS = ("on_train_begin", "on_epoch_begin", "on_batch_end", "on_epoch_end", "on_train_end")
_PHASE = ("on_forward_", "on_backward_", "on_update_")  # begin and end: watch.py calls them
_NAMES = ("loss", "accuracy", "val_loss", "val_accuracy")
_RESERVED = const(500)  # epochs
_SUMS = const(3)  # words from LOSS: LOSS, LOSS_HIGH, CORRECT


class _Slice:
    def __getitem__(self, index):
        return index


_ALL = _Slice()[:]  # made once: a slice is an object


class History:
    """The results of ``fit``: ``history["loss"]`` and so on, one entry per epoch.

    Each is a list; on boards, an array("d") that fit reserves for its epochs: a later allocation, even of one float,
    would split the largest free block of the heap.
    """

    history: "dict[str, list[float]]"

    def __init__(self):
        self.history = {}

    def reserve(self, names: "Iterable[str]", epochs: "int") -> None:
        """Reserve memory for that many entries of each name, on boards."""
        if sys.implementation.name != "cpython":
            for name in names:
                self.history[name] = entries = array("d", bytes(8 * min(epochs, _RESERVED)))
                entries[_ALL] = array("d")  # its memory stays

    def add(self, name: "str", value: "float") -> None:
        if name not in self.history:
            self.history[name] = [] if sys.implementation.name == "cpython" else array("d")
        self.history[name].append(value)


def _refuse(reason, what):
    from .habits import refuse

    refuse(reason, what)


class Arrays:
    """Data that is complete: x and y as buffers or lists."""

    def __init__(self, session, x, y, what=""):
        self.session = session
        self.what = what
        self.bound = session.bound(x, y, what)
        self.samples = self.bound[0]
        self.lengths = len(self.bound[1]), len(self.bound[2])
        self.steps = (self.samples + session.batch_size - 1) // session.batch_size

    def open(self, epoch, order):
        """Begin an epoch. The key ``order`` gives the order of its samples (0: as they are)."""
        self.order = order

    def first(self):
        """Point the program at the first batch, for calibration."""
        self.session.use(self.bound)
        batch(self.session, 0, self.samples)

    def batches(self, start):
        """Point the program at one batch after another; yields the index of the sample after each.

        ValueError if a callback has removed data: a step would treat the missing samples as padding.
        """
        session, samples, bound = self.session, self.samples, self.bound
        size, x, y = session.batch_size, bound[1], bound[2]
        x_length, y_length = self.lengths
        position = start
        while True:
            if len(x) < x_length or len(y) < y_length:
                _refuse("shrunk", (self.what, len(x), len(y)) + self.lengths)
            if position >= samples:
                return
            if position == start or session.used is not bound:  # a callback has used the model
                session.use(bound)
                session.control[ORDER] = self.order
            batch(session, position, samples)
            position += size
            yield min(position, samples)


class Stream:
    """Data that comes in batches: an iterable of pairs (x, y) of at most ``batch_size`` samples.

    An iterable starts again each epoch. Its attribute ``epoch``, if there is one, is set to the epoch's number, and
    ``order`` to the key of the order in which fit would take arrays (as in readers.py). A generator continues, and
    needs ``steps_per_epoch``.
    """

    def __init__(self, session, data, steps, what=""):
        try:
            self.iterator = iter(data)
        except TypeError:
            _refuse("batches", (what, type(data)))
        if hasattr(data, "check_model"):  # a reader
            data.check_model(session)
        self.session = session
        self.data = data
        self.once = self.iterator is data
        self.limit = self.steps = steps
        if steps is None:
            self.steps = count_of(data)
        self.what = what
        self.pending = None

    def open(self, epoch, order):
        if self.once:
            return
        if hasattr(self.data, "epoch"):
            self.data.epoch = epoch
        if hasattr(self.data, "order"):
            self.data.order = order
        self.iterator = iter(self.data)

    def first(self):
        self.open(0, 0)
        pair = self._next()
        if pair is None:
            _refuse("none", (self.what,))
        self._bind(pair)
        if self.once:
            self.pending = pair

    def _next(self):
        """The next batch, or None. The iterable may use the model, as a callback may."""
        session = self.session
        control = session.control
        fit = session.fit
        loss, high, correct = control[LOSS], control[LOSS_HIGH], control[CORRECT]
        try:
            session.begin(fit or "evaluate")
            return next(self.iterator)
        except StopIteration:
            return None
        finally:
            session.fit = fit
            control[LOSS], control[LOSS_HIGH], control[CORRECT] = loss, high, correct

    def _bind(self, pair):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            _refuse("pair", (self.what, type(pair)))
        count = bind(self.session, pair[0], pair[1], self.what)
        if count > self.session.batch_size:
            _refuse("large", (self.what, count, self.session.batch_size))
        batch(self.session, 0, count)
        return count

    def batches(self, start):
        """As in Arrays. Batches before ``start`` are skipped, except those of a generator, which continues."""
        size = self.session.batch_size
        samples, step = (start, (start + size - 1) // size) if self.once else (0, 0)
        while step != self.limit:
            pair = self.pending or self._next()
            self.pending = None
            if pair is None:
                if step == 0 or (self.once and self.limit):
                    _refuse("short", (self.what, step))
                self.steps = step  # for the progress line of the next epoch
                return
            step += 1
            count = self._bind(pair)
            samples += count
            if samples > start:
                yield samples


def source(session, x, y, what="", steps=None):
    """Arrays of x and y, or without y a Stream of an iterable of batches."""
    if y is None and not isinstance(x, (list, tuple)):
        return Stream(session, x, steps, what)
    if steps is not None:
        _refuse("steps", ())
    return Arrays(session, x, y, what)


def _held(session, data):
    if isinstance(data, (tuple, list)) and len(data) == 2:
        return Arrays(session, data[0], data[1], "validation ")
    try:
        if not isinstance(data, (tuple, list, str, bytes)):
            return Stream(session, data, None, "validation ")
    except TypeError:
        pass
    _refuse("held", (type(data),))


def evaluate(session, x):
    """(loss, accuracy) over an iterable of batches."""
    data, fit = Stream(session, x, None), session.fit
    try:
        if session.calibrated < 1:
            data.first()
            session.prepare(1)
        data.open(0, 0)
        clear(session)
        for samples in data.batches(0):
            session.look("evaluate")
    except BaseException:
        session.fit = fit
        raise
    release(session)
    return session.result(samples)


class Training:
    """One call of fit: everything is checked before the first step."""

    def __init__(
        self, model, x, y, epochs, validation_data, shuffle, verbose, callbacks, initial_epoch,
        steps_per_epoch, slices=None,
    ):  # fmt: skip
        self.name = "fit_async" if slices else "fit"
        session = ready(model)
        session.alone(self.name)
        epochs, initial_epoch, steps_per_epoch = own(epochs), own(initial_epoch), own(steps_per_epoch)
        callbacks = () if callbacks is None else callbacks
        first = 0 if initial_epoch is None else initial_epoch
        steps = 1 if steps_per_epoch is None else steps_per_epoch
        if not (is_int(epochs) and is_int(first) and is_int(steps) and steps > 0 <= first <= epochs > 0 and (
                isinstance(callbacks, (list, tuple)))):  # fmt: skip
            from .habits import refuse_options

            refuse_options(epochs, first, steps, callbacks)
        self.hooks = {name: [] for name in _HOOKS}
        self.phased = []
        for index, callback in enumerate(callbacks):
            found = [name for name in _HOOKS if hasattr(callback, name)]
            phased = [name for name in _PHASE if hasattr(callback, name + "begin") or hasattr(callback, name + "end")]
            if not found + phased or isinstance(callback, type):
                _refuse("callback", (index, ", ".join(_HOOKS), callback))
            for name in found:
                self.hooks[name].append(callback)
            if phased:
                self.phased.append(callback)
        self.model, self.session = model, session
        if session.raw:
            session.raw.say(session)
        try:
            session.begin(self.name)
            for callback in callbacks:
                if hasattr(callback, "set_model"):
                    callback.set_model(model)
            session.fit = None
        except BaseException:
            session.fit = None
            raise
        self.held = None
        if validation_data is not None:
            self.held = _held(session, validation_data)
        self.data = source(session, x, y, "", steps_per_epoch)
        if isinstance(self.data, Stream) and self.data.once and epochs > 1 and not steps_per_epoch:
            _refuse("once", (epochs,))
        self.epochs = epochs
        self.shuffle = shuffle
        self.slices = slices
        self.history = History()
        names = ("loss", "accuracy") if session.loss.hits else ("loss",)
        held = ["val_" + name for name in names] if validation_data is not None else []
        self.history.reserve(list(names) + held, epochs - first)
        # A loaded model's position within an epoch.
        self.start, self.order = 0, None
        self.sums = None
        if initial_epoch is not None and initial_epoch == session.epoch and session.underway:
            self.start, self.order, *self.sums = session.underway
            if isinstance(self.data, Arrays) and self.start > self.data.samples:
                _refuse("resume", (self.data.samples, self.start))
        self.first = first
        # The sums of the loss; copies of them, and of the scale in which they count, from before a step.
        self.words = memoryview(session.control)[LOSS : LOSS + _SUMS]
        self.kept = memoryview(array("i", bytes(4 * _SUMS)))
        self.scale = session.now and bytearray(4)
        self.phases = self.progress = self.ended = None
        if getattr(session.loss, "class_weight", None) and isinstance(self.data, Arrays):
            from .habits import check_weights

            check_weights(session.loss.class_weight, self.data.bound[2])
        if verbose:
            from .progress import Progress

            self.progress = Progress(epochs)
            told = session.input.dtype in ("int8", "uint8") and not session.loss.degree  # no hint applies
            if not (told or session.steps()) and isinstance(self.data, Arrays):
                from .hints import say

                say(session, *self.data.bound[:3])

    def run(self):
        """Train. A generator that yields where a slice ends, and ends with the training."""
        model, session = self.model, self.session
        model.stop_training = False
        model.history = self.history
        if session.loss.degree and session.fresh and not session.steps() and isinstance(self.data, Arrays):
            from .centre import centre

            self.data.first()
            centre(session, self.data.bound[0], self.data.bound[2])
        try:
            session.begin(self.name)
            if self.phased:
                from ..inspect.watch import Phases

                self.phases = Phases(model, self.phased)
                self.phases.__enter__()
            for callback in self.hooks["on_train_begin"]:
                callback.on_train_begin()
            for epoch in range(self.first, self.epochs):
                for _ in self._epoch(epoch):
                    yield
                if model.stop_training:
                    break
            self._end()
            self._leave()
        except BaseException as error:
            self._leave()
            if isinstance(error, ArithmeticError):
                self._end()
            if isinstance(error, KeyboardInterrupt) and self.progress:
                print("\nstopped at step %d: its weights are kept; initial_epoch=model.epoch goes on" % session.steps())
            raise

    def _leave(self):
        """Release the session, whatever ended the training."""
        session = self.session
        if self.ended:
            self._complete()
        if session.busy is True:  # else a load() has ended half way
            session.leave()
        session.fit = None
        release(session)
        if self.phases:
            self.phases.__exit__()
        collect()  # so that what a first predict() retains also lies low in the heap

    def _end(self):
        if self.progress:
            self.progress.end(self.session)
        for callback in self.hooks["on_train_end"]:
            callback.on_train_end()

    def _epoch(self, epoch):
        model, session = self.model, self.session
        progress = self.progress
        batch_end = self.hooks["on_batch_end"]
        for callback in self.hooks["on_epoch_begin"]:
            callback.on_epoch_begin(epoch)
        if session.busy:  # a callback's load() has ended half way
            session.refuse()
        order = self.order
        if order is None:
            order = (hash32(session.seed, session.steps()) >> 3) | 1 if self.shuffle else 0
        if self.order is None:
            session.underway = None
        session.epoch = epoch
        if session.calibrated < 2:
            self.data.first()
            session.calibrate(2)
        self.data.open(epoch, order)
        clear(session)
        if self.sums:
            self._put_sums(self.sums)
        start = samples = self.start
        step = start // session.batch_size
        self.start, self.order, self.sums = 0, None, None
        calibrated = True
        # The sums of the loss cover ``samples``. If begun == after != samples, they also contain a part of the next
        # step.
        after = begun = 0
        try:
            for after in self.data.batches(start):
                if not calibrated:
                    self._calibrate()
                self._keep()
                begun = after
                if self.slices is None:
                    train(session)
                else:
                    for _ in self.slices.step(session):
                        yield
                samples = after
                step += 1
                if batch_end:
                    self._mark(samples, order)
                    self._keep()
                    begun = -1
                    for callback in batch_end:
                        callback.on_batch_end(session.steps())
                    if session.busy:
                        session.refuse()
                    self._back()
                    begun = 0
                    calibrated = session.calibrated == 2  # else a callback has loaded or set weights
                    session.epoch = epoch
                    if model.stop_training:
                        break
                if progress and progress.due():
                    progress.step(epoch, step, self.data.steps, session.result(samples))
            self._mark(samples, order)
        except BaseException:  # also of a cancelled task
            end_within(session)
            if begun < 0 or begun == after != samples:
                self._back()
            self._mark(samples, order)
            raise
        for at in session.scales:
            session.check_range(session.state, at)
        results = session.result(samples)
        if self.held:
            self.held.open(epoch, 0)
            clear(session)
            for samples in self.held.batches(0):
                if self.slices is None:
                    session.look("evaluate")
                else:
                    for _ in self.slices.section(session, "evaluate"):
                        yield
            results += session.result(samples)
        entries = len(self.history.history.get("loss", ()))
        self.ended = epoch, results, entries  # from here on _leave() completes the epoch
        logs = self._complete()
        if progress:
            progress.epoch(epoch, self.data.steps, results)
        for callback in self.hooks["on_epoch_end"]:
            callback.on_epoch_end(epoch, logs)

    def _complete(self):
        """Record a complete epoch and its results, once; returns its logs."""
        epoch, results, entries = self.ended
        if not self.model.stop_training:  # else the epoch is still underway
            self.session.epoch, self.session.underway = epoch + 1, None
        logs, history = {}, self.history
        for name, value in zip(_NAMES, results):
            if value is not None:
                if len(history.history.get(name, ())) == entries:
                    history.add(name, value)
                logs[name] = value
        self.ended = None
        return logs

    def _calibrate(self):
        """Calibrate the weights that a callback has loaded or set, then point at the same batch again."""
        session = self.session
        position, count = session.position, session.count
        self._keep()
        session.calibrate(2)
        batch(session, position, position + count)
        self._back()

    def _keep(self):
        """Save the sums of the loss, and the scale in which they count."""
        self.kept[_ALL] = self.words
        if self.scale:
            self.scale[_ALL] = self.session.now

    def _back(self):
        """Restore the sums of the loss, converted to the output's present scale."""
        session = self.session
        self.words[_ALL] = self.kept
        if self.scale:
            session.now[_ALL] = self.scale
            if session.watched != session.now:
                session.end_step()

    def _mark(self, samples, order):
        """Record the position in the epoch, for save() and for callbacks that use the model."""
        self.session.underway = (samples, order) + tuple(self.session.control[LOSS : LOSS + _SUMS])

    def _put_sums(self, sums):
        for index, word in enumerate(sums):
            self.session.control[LOSS + index] = word
