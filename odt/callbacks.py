"""Callbacks for fit: ``model.fit(x, y, callbacks=[EarlyStopping(patience=3)])``.

A callback is any object with some of these methods; only those it has are called:

    set_model(model)               before the first of them
    on_train_begin()
    on_epoch_begin(epoch)          from 0
    on_batch_end(step)             training steps since compile
    on_epoch_end(epoch, logs)      logs: a dict of this epoch's loss, accuracy, val_loss, val_accuracy
    on_train_end()                 also after a loss that is not finite; not after Ctrl-C

    on_forward_begin()             within each step, as on_forward_end, on_backward_begin, on_backward_end,
                                   on_update_begin and on_update_end: for a pin, a power meter, a trace;
                                   watch.py says what lies between them. They must not use the model

``model.stop_training = True`` ends training after the batch or epoch. Other callbacks may use the model
(predict, evaluate, save) and change no result by it; training goes on from what they load() or set_weights().
compile, fit and fit_async are refused (RuntimeError) until fit has ended.
"""

from .base.executor import collect
from .base.fixed import is_int, is_number
from .files.checkpoint import path_of

if 1 - 1:  # for type checkers alone
    from collections.abc import Callable
    from os import PathLike
    from typing import Any, Literal

    from typing_extensions import TypeAlias

    from .model import Model
    from .run.network import Place

    _Mode: TypeAlias = Literal["auto", "min", "max"]


class Callback:
    """Has the model; the base of those below, and of your own if you like."""

    model: "Model" = None

    def set_model(self, model: "Model") -> None:
        self.model = model


class _Monitor(Callback):
    """Watches one figure of an epoch's logs."""

    def __init__(self, monitor, mode, min_delta=0):
        kind = type(self).__name__
        if not isinstance(monitor, str):
            raise TypeError("%s: monitor is a name as in the logs, got %r" % (kind, monitor))
        if mode not in ("auto", "min", "max"):
            raise ValueError('%s: mode is "auto", "min" or "max", got %r' % (kind, mode))
        if not is_number(min_delta) or min_delta < 0:
            raise ValueError("%s: min_delta is a number not below 0, got %r" % (kind, min_delta))
        self.monitor = monitor
        self.sign = -1 if mode == "max" or (mode == "auto" and "acc" in monitor) else 1
        self.min_delta = min_delta
        self.best = None

    def improved(self, logs):
        """Whether the figure is the best so far; NaN never is."""
        if self.monitor not in logs:
            raise ValueError("%s: monitor %r is not among %s: is there validation_data?" % (
                type(self).__name__, self.monitor, ", ".join(sorted(logs))))  # fmt: skip
        value = logs[self.monitor]
        if value != value:
            return False
        if self.best is None or (self.best - value) * self.sign > self.min_delta:
            self.best = value
            return True
        return False


class EarlyStopping(_Monitor):
    """Stop after ``patience`` epochs (0 is as 1) in which ``monitor`` has not improved by more than ``min_delta``.

    ``restore_best_weights`` keeps the state after the best epoch (weights, scales, optimizer) in RAM, as
    much again as summary() shows for weights and optimizer state, or, with ``path``, in a file, and
    takes it up again when training ends. ``best_epoch`` says which epoch that was.
    """

    best: "float | None"
    best_epoch: "int | None"

    def __init__(
        self,
        monitor: "str" = "val_loss",
        patience: "int" = 0,
        restore_best_weights: "bool" = False,
        path: "str | PathLike[str] | None" = None,
        min_delta: "float" = 0,
        mode: "_Mode" = "auto",
    ) -> None:
        super().__init__(monitor, mode, min_delta)
        if not is_int(patience) or patience < 0:
            raise ValueError("EarlyStopping: patience is an int not below 0, got %r" % (patience,))
        path = path_of(path)
        if path is not None and not (isinstance(path, str) and restore_best_weights):
            raise ValueError("EarlyStopping: path is a file's name, with restore_best_weights=True, got %r" % (path,))
        self.patience = patience
        self.restore = restore_best_weights
        self.path = path
        self.state = None

    def on_train_begin(self) -> None:
        self.best = self.best_epoch = None
        self.waited = 0
        if self.restore and self.path is None:
            needed = len(self.model.session.state)
            if self.state is None or len(self.state) != needed:
                self.state = None
                collect()
                try:
                    self.state = bytearray(needed)
                except MemoryError:
                    raise MemoryError("EarlyStopping needs %d bytes to keep the best weights: give a path" % needed)

    def on_epoch_end(self, epoch: "int", logs: "dict[str, Any]") -> None:
        if self.improved(logs):
            self.best_epoch = epoch
            self.waited = 0
            if self.path is not None:
                self.model.save(self.path)
            elif self.restore:
                self.state[:] = self.model.session.state
            return
        self.waited += 1
        if self.waited >= self.patience:  # also where patience is 0
            self.model.stop_training = True

    def on_train_end(self) -> None:
        if not self.restore or self.best_epoch is None:
            return
        if self.path is not None:
            self.model.load(self.path)
        else:
            from .run.replace import restore

            restore(self.model.session, self.state, self.best_epoch + 1)


class ModelCheckpoint(_Monitor):
    """Save the model after each epoch, or after those that improve ``monitor``, or every ``steps`` steps.

    ``filepath``: the file's name, in which ``{epoch}`` becomes the epoch's number from 1; or another place
    that ``model.save`` takes. A resumed run ends as if it had not stopped::

        model.load("model.ckpt")
        model.fit(x, y, epochs=20, initial_epoch=model.epoch)
    """

    def __init__(
        self,
        filepath: "str | PathLike[str] | Place | None" = None,
        monitor: "str" = "val_loss",
        save_best_only: "bool" = False,
        steps: "int | None" = None,
        mode: "_Mode" = "auto",
        path: "str | PathLike[str] | Place | None" = None,
    ) -> None:
        super().__init__(monitor, mode)
        path = filepath if path is None else path
        if steps is not None and (not is_int(steps) or steps < 1 or save_best_only):
            raise ValueError("ModelCheckpoint: steps is an int above 0, without save_best_only, got %r" % (steps,))
        self.path = path_of(path)
        self.save_best_only = save_best_only
        if steps is not None:
            self.steps = steps
            self.on_batch_end = self._on_batch_end

    def _on_batch_end(self, step):
        if step % self.steps == 0:
            self._save(self.model.epoch)

    def on_epoch_end(self, epoch: "int", logs: "dict[str, Any]") -> None:
        if not self.save_best_only or self.improved(logs):
            self._save(epoch)

    def _save(self, epoch):
        path = self.path
        self.model.save(path.format(epoch=epoch + 1) if isinstance(path, str) else path)


class ReduceLROnPlateau(_Monitor):
    """Multiply the learning rate by ``factor``, down to ``min_lr``, after ``patience`` epochs without an improvement of
    ``monitor``.

    For ``cooldown`` epochs after that none is counted. The rate stays when training has ended; a checkpoint does not
    hold it.
    """

    def __init__(
        self,
        monitor: "str" = "val_loss",
        factor: "float" = 0.1,
        patience: "int" = 10,
        mode: "_Mode" = "auto",
        min_delta: "float" = 0.0001,
        cooldown: "int" = 0,
        min_lr: "float" = 0,
    ) -> None:
        super().__init__(monitor, mode, min_delta)
        for name, value in (("patience", patience), ("cooldown", cooldown)):
            if not is_int(value) or value < 0:
                raise ValueError("ReduceLROnPlateau: %s is an int not below 0, got %r" % (name, value))
        if not is_number(factor) or not 0 < factor < 1:
            raise ValueError("ReduceLROnPlateau: factor is above 0 and below 1, got %r" % (factor,))
        if not is_number(min_lr) or min_lr < 0:
            raise ValueError("ReduceLROnPlateau: min_lr is a number not below 0, got %r" % (min_lr,))
        self.factor, self.patience, self.cooldown, self.min_lr = factor, patience, cooldown, min_lr

    def on_train_begin(self) -> None:
        self.best = None
        self.waited = self.cooling = 0

    def on_epoch_end(self, epoch: "int", logs: "dict[str, Any]") -> None:
        improved = self.improved(logs)
        if self.cooling:
            self.cooling -= 1
            self.waited = 0
        if improved:
            self.waited = 0
        elif not self.cooling:
            self.waited += 1
            if self.waited >= self.patience:
                from .run.names import rate_of, set_rate

                rate = rate_of(self.model)
                if rate > self.min_lr:
                    set_rate(self.model, max(rate * self.factor, self.min_lr))
                    self.cooling, self.waited = self.cooldown, 0


class LearningRateScheduler(Callback):
    """Before each epoch the learning rate becomes ``schedule(epoch, rate)``, epochs from 0; it stays when training has
    ended.
    """

    def __init__(self, schedule: "Callable[[int, float], float]") -> None:
        if not callable(schedule):
            raise TypeError("LearningRateScheduler: schedule is a function of (epoch, rate), got %r" % (schedule,))
        self.schedule = schedule

    def on_epoch_begin(self, epoch: "int") -> None:
        from .run.names import rate_of, set_rate

        set_rate(self.model, self.schedule(epoch, rate_of(self.model)))
