"""The training loop, which fit() and fit_async() share: epochs, batches, validation, callbacks.

A generator, so that it may pause: it yields between slices of a step when it is given Slices
(background.py), and never otherwise. Within a step it allocates nothing.
"""

from .fixed import hash32, is_int
from .opcodes import CORRECT, COUNT, LOSS, LOSS_HIGH, ORDER, POSITION, const

_HOOKS = ("on_train_begin", "on_epoch_begin", "on_batch_end", "on_epoch_end", "on_train_end")
_PHASE = ("on_forward_", "on_backward_", "on_update_")  # begin and end: watch.py calls them
_NAMES = ("loss", "accuracy", "val_loss", "val_accuracy")
_SUMS = const(3)  # words from LOSS: LOSS, LOSS_HIGH, CORRECT


class History:
    """What ``fit`` saw: ``history["loss"]`` and so on, a list each, an entry an epoch."""

    def __init__(self):
        self.history = {}

    def add(self, name, value):
        self.history.setdefault(name, []).append(value)


class Arrays:
    """Data that is all there: x and y as buffers or lists."""

    def __init__(self, model, x, y, what=""):
        self.model = model
        self.what = what
        self.bound = model._bound(x, y, what)
        self.samples = self.bound[0]
        self.lengths = len(self.bound[1]), len(self.bound[2])
        self.steps = (self.samples + model.batch_size - 1) // model.batch_size

    def open(self, epoch, order):
        """Begin an epoch whose samples come in the order of that key (0: as they are)."""
        self.order = order

    def first(self):
        """Point the program at the first batch, for calibration."""
        self.model._use(self.bound)
        self.model._batch(0, self.samples)

    def batches(self, start):
        """Point the program at one batch after the other; yields the sample after it."""
        model = self.model
        for position in range(start, self.samples, model.batch_size):
            if position == start or model._used is not self.bound:  # a callback has used the model
                model._use(self.bound)
                model._control[ORDER] = self.order
            self._check()
            model._batch(position, self.samples)
            yield min(position + model.batch_size, self.samples)
        self._check()

    def _check(self):
        """ValueError where a callback has taken data away: a step would take what is missing for padding."""
        _, x, y, _ = self.bound
        if len(x) < self.lengths[0] or len(y) < self.lengths[1]:
            place = (self.what, len(x), len(y)) + self.lengths
            raise ValueError("%sx, y: %d and %d elements are left of %d and %d: data may not shrink" % place)


class Stream:
    """Data that comes in batches: an iterable of pairs (x, y) of at most ``batch_size`` samples.

    What can be iterated again begins anew each epoch, and is told which, and the key of the order that
    fit's arrays would have (as readers.py takes it), if it has attributes ``epoch`` and ``order``. A
    generator goes on, and needs ``steps_per_epoch``.
    """

    def __init__(self, model, data, steps, what=""):
        try:
            self.iterator = iter(data)
        except TypeError:
            raise TypeError("%sx: without y an iterable of batches (x, y) is expected, got %r" % (what, type(data)))
        self.model = model
        self.data = data
        self.once = self.iterator is data
        self.limit = self.steps = steps
        if steps is None and hasattr(data, "__len__"):
            self.steps = len(data)
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
        batch = self._next()
        if batch is None:
            raise ValueError("%sx: no batch came" % self.what)
        self._bind(batch)
        if self.once:
            self.pending = batch

    def _next(self):
        """The next batch, or None. What comes from the iterable may use the model, as a callback may."""
        model, control = self.model, self.model._control
        fit, model._fit = model._fit, model._fit or "evaluate"
        loss, high, correct = control[LOSS], control[LOSS_HIGH], control[CORRECT]
        try:
            return next(self.iterator)
        except StopIteration:
            return None
        finally:
            model._fit = fit
            control[LOSS], control[LOSS_HIGH], control[CORRECT] = loss, high, correct

    def _bind(self, batch):
        if not isinstance(batch, (tuple, list)) or len(batch) != 2:
            raise TypeError("%sx: a batch is a pair (x, y), got %r" % (self.what, type(batch)))
        count = self.model._bind(batch[0], batch[1], self.what)
        if count > self.model.batch_size:
            raise ValueError(
                "%sx: a batch of %d samples does not fit batch_size %d" % (self.what, count, self.model.batch_size)
            )
        self.model._batch(0, count)
        return count

    def batches(self, start):
        """As in Arrays; batches before ``start`` are skipped, but not of a generator, which goes on."""
        step = 0
        samples = start if self.once else 0
        while step != self.limit:
            batch = self.pending or self._next()
            self.pending = None
            if batch is None:
                if step == 0 or (self.once and self.limit):
                    raise ValueError("%sx: ended after %d batches of an epoch" % (self.what, step))
                self.steps = step  # for the progress line of the next epoch
                return
            step += 1
            count = self._bind(batch)
            samples += count
            if samples > start:
                yield samples


def source(model, x, y, what="", steps=None):
    """x and y, or without y an iterable of batches, as Arrays or Stream."""
    if y is None and not isinstance(x, (list, tuple)):
        return Stream(model, x, steps, what)
    if steps is not None:
        raise ValueError("steps_per_epoch belongs to an iterable of batches, x is an array")
    return Arrays(model, x, y, what)


def _held(model, data):
    if isinstance(data, (tuple, list)) and len(data) == 2:
        return Arrays(model, data[0], data[1], "validation ")
    try:
        if not isinstance(data, (tuple, list, str, bytes)):
            return Stream(model, data, None, "validation ")
    except TypeError:
        pass
    raise TypeError("validation_data is a pair (x, y) or an iterable of batches, got %r" % (type(data),))


def evaluate(model, x):
    """(loss, accuracy) over an iterable of batches."""
    data = Stream(model, x, None)
    if model._calibrated < 1:
        data.first()
        model._prepare(1)
    data.open(0, 0)
    model._clear()
    for samples in data.batches(0):
        model._look("evaluate")
    return model._result(samples)


class Training:
    """One call of fit: everything is checked before the first step."""

    def __init__(
        self, model, x, y, epochs, validation_data, shuffle, verbose, callbacks, initial_epoch,
        steps_per_epoch, slices=None,
    ):  # fmt: skip
        self.name = "fit_async" if slices else "fit"
        model._alone(self.name)
        first = 0 if initial_epoch is None else initial_epoch
        for name, value, least in (("epochs", epochs, 1), ("initial_epoch", first, 0)):
            if not is_int(value) or value < least:
                raise ValueError("%s is an int above %d, got %r" % (name, least - 1, value))
        if first > epochs:
            raise ValueError("initial_epoch is in 0..epochs = %d, got %d" % (epochs, first))
        if steps_per_epoch is not None and (not is_int(steps_per_epoch) or steps_per_epoch < 1):
            raise ValueError("steps_per_epoch is an int above 0, got %r" % (steps_per_epoch,))
        if not isinstance(callbacks, (list, tuple)):
            raise TypeError("callbacks is a list of objects, got %r" % (type(callbacks),))
        self.hooks = {name: [] for name in _HOOKS}
        self.phased = []
        for index, callback in enumerate(callbacks):
            found = [name for name in _HOOKS if hasattr(callback, name)]
            phased = [name for name in _PHASE if hasattr(callback, name + "begin") or hasattr(callback, name + "end")]
            if not found + phased or isinstance(callback, type):
                raise TypeError("callbacks: item %d has none of %s: %r" % (index, ", ".join(_HOOKS), callback))
            for name in found:
                self.hooks[name].append(callback)
            if phased:
                self.phased.append(callback)
        self.model = model
        model._fit = self.name
        try:
            for callback in callbacks:
                if hasattr(callback, "set_model"):
                    callback.set_model(model)
        finally:
            model._fit = None
        self.held = None
        if validation_data is not None:
            self.held = _held(model, validation_data)
        self.data = source(model, x, y, "", steps_per_epoch)
        if isinstance(self.data, Stream) and self.data.once and epochs > 1 and not steps_per_epoch:
            raise ValueError("x: a generator cannot begin anew: give steps_per_epoch for %d epochs" % epochs)
        self.epochs = epochs
        self.shuffle = shuffle
        self.slices = slices
        self.history = History()
        # Where a loaded model stands within an epoch.
        self.start, self.order = 0, None
        self.sums = None
        if initial_epoch is not None and initial_epoch == model.epoch and model._underway:
            self.start, self.order = model._underway[:2]
            self.sums = model._underway[2:]
            if isinstance(self.data, Arrays) and self.start > self.data.samples:
                raise ValueError("x: %d samples, the epoch to resume stands at sample %d" % (
                    self.data.samples, self.start))  # fmt: skip
        self.first = first
        self.progress = None
        if verbose:
            from .progress import Progress

            self.progress = Progress(epochs)

    def run(self):
        """Train. A generator: yields where a slice ends; its end is the end of training."""
        model = self.model
        model.stop_training = False
        phases = None
        if self.phased:
            from .watch import Phases

            phases = Phases(model, self.phased)
            phases.__enter__()
        model._fit = self.name
        try:
            for callback in self.hooks["on_train_begin"]:
                callback.on_train_begin()
            for epoch in range(self.first, self.epochs):
                for _ in self._epoch(epoch):
                    yield
                if model.stop_training:
                    break
            self._end()
        except ArithmeticError:
            self._end()
            raise
        finally:
            if model._busy is True:  # else a load() that ended half way
                model._busy = False
            model._fit = None
            if phases:
                phases.__exit__()

    def _end(self):
        if self.progress:
            self.progress.end(self.model)
        for callback in self.hooks["on_train_end"]:
            callback.on_train_end()

    def _epoch(self, epoch):
        model = self.model
        control = model._control
        progress = self.progress
        batch_end = self.hooks["on_batch_end"]
        for callback in self.hooks["on_epoch_begin"]:
            callback.on_epoch_begin(epoch)
        if model._busy:  # a callback's load() that ended half way
            model._compiled()
        order = self.order
        if order is None:
            order = (hash32(model.seed, model._steps) >> 3) | 1 if self.shuffle else 0
        model.epoch = epoch
        if model._calibrated < 2:
            self.data.first()
            model._prepare(2)
        self.data.open(epoch, order)
        model._clear()
        if self.sums:
            self._put_sums(self.sums)
        start = samples = self.start
        step = start // model.batch_size
        self.start, self.order, self.sums = 0, None, None
        calibrated = True
        try:
            for after in self.data.batches(start):
                if not calibrated:
                    self._calibrate()
                if self.slices is None:
                    model._train()
                else:
                    for _ in self.slices.step(model):
                        yield
                samples = after
                step += 1
                if batch_end:
                    self._mark(samples, order)
                    sums, scale = model._underway[2:], model._now and bytes(model._now)
                    for callback in batch_end:
                        callback.on_batch_end(model._steps)
                    if model._busy:
                        model._compiled()
                    self._put_sums(sums)
                    if model._watched != scale:  # of which they are
                        model._now[:] = scale
                        model._end_step()
                    calibrated = model._calibrated == 2  # else a callback has loaded or set weights
                    model.epoch = epoch
                    if model.stop_training:
                        break
                if progress and progress.due():
                    progress.step(epoch, step, self.data.steps, model._result(samples))
        finally:
            self._mark(samples, order)
        model._check_ranges()
        results = model._result(samples)
        if not model.stop_training:  # else the epoch is still underway
            model.epoch = epoch + 1
            model._underway = None
        if self.held:
            self.held.open(epoch, 0)
            model._clear()
            for samples in self.held.batches(0):
                if self.slices is None:
                    model._look("evaluate")
                else:
                    for _ in self.slices.section(model, "evaluate"):
                        yield
            results += model._result(samples)
        logs = {}
        for name, value in zip(_NAMES, results):
            if value is not None:
                self.history.add(name, value)
                logs[name] = value
        if progress:
            progress.epoch(epoch, self.data.steps, results)
        for callback in self.hooks["on_epoch_end"]:
            callback.on_epoch_end(epoch, logs)

    def _calibrate(self):
        """Find the ranges of weights that came within an epoch, then point at the same batch again."""
        control = self.model._control
        sums, place, count = tuple(control[LOSS : LOSS + _SUMS]), control[POSITION], control[COUNT]
        self.model._prepare(2)
        control[POSITION], control[COUNT] = place, count
        self._put_sums(sums)
        if self.model._watched != self.model._now:
            self.model._end_step()

    def _mark(self, samples, order):
        """Note where in the epoch the model stands, for save() and for callbacks that use the model."""
        self.model._underway = (samples, order) + tuple(self.model._control[LOSS : LOSS + _SUMS])

    def _put_sums(self, sums):
        for index, word in enumerate(sums):
            self.model._control[LOSS + index] = word
