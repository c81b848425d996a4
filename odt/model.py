"""Models: what a user trains. Compiles a graph once, then only runs its program."""

import gc
import sys
from array import array
from struct import unpack_from

from . import executor, opcodes, weights
from .data import check_finite, check_labels, check_probabilities, samples
from .fixed import ONE, bits_to_float, is_int, multiplier, scale_div, scale_of
from .layers import Layer
from .losses import LOSSES
from .opcodes import (
    BATCH, CONTROL_WORDS, CORRECT, COUNT, INT16, INT32, KEY, LOSS, LOSS_HIGH, ORDER, POSITION, RATE, SAMPLES,
    X_DATA, X_FORMAT, X_SCALE, X_ZERO, Y_DATA, Y_FORMAT, Y_SCALE, Y_ZERO, const,
)  # fmt: skip
from .optimizers import OPTIMIZERS
from .plan.graph import Node, trace
from .plan.program import SECTIONS, Program

_LAST = const(0xFF000000)
_WIDEST = const(0x7B80)  # upper half of a scale of 2^120: 255 steps of it are no float32
_type = type  # a global of this module is found sooner than a builtin
_LABELS = ("uint8", "int8", "int16", "int32", "uint16", "uint32")
_TARGETS = ("float32", "int8", "uint8", "int16", "int32")


# What a step calls. Functions, as a Cortex-M0+ takes up to 1500 cycles to find a method in all that a model has.


def _bind(model, x, y, what=""):
    """Check the data and point the program at it; returns the number of samples."""
    if model.program is None or model._busy:
        model._compiled()
    count = 0
    if model._known and _type(x) is model._known[0] and _type(y) is model._known[2]:
        count = model._engine.count_samples(x, model._known[1])
        if count != model._engine.count_samples(y, model._known[3]):
            count = 0
    if not count:
        x, y, count = model._look_at(x, y, what)
    _point(model, x, y, count)
    return count


def _point(model, x, y, count):
    """Point the program at checked data."""
    control, regions = model._control, model._regions
    control[SAMPLES] = count
    control[ORDER] = control[KEY] = 0
    regions[X_DATA] = x
    regions[Y_DATA] = y
    if model._used is not None:
        model._used = None


def _clear(model):
    """Begin to sum the loss, of a forward pass that drops nothing until _set_rate says so."""
    control = model._control
    control[KEY] = control[LOSS] = control[LOSS_HIGH] = control[CORRECT] = 0
    watched = model._watched
    if watched is not None and watched != model._now:
        model._scale_moved()


def _train(model):
    """A step on the batch that ``_batch`` points at."""
    control, state = model._control, model._state
    control[RATE] = model._optimizer.learning_rate.bits(  # as _set_rate, which would take longer
        state[0] | state[1] << 8 | state[2] << 16 | state[3] << 24 if state[3] != 255 else model._stay()
    )
    control[KEY] = 1
    if model._micro:
        model._train_parts()
    else:
        for piece in model._parts:
            _run_piece(model, piece)
    for piece in model._update:
        _run_piece(model, piece)
    if model._scale is not None:
        _look_at_scale(model)


def _look_at_scale(model):
    """After a step in int8: the output's scale may have moved, or be beyond float32."""
    scale, watched = model._scale, model._watched
    if scale[3] > 122:
        model._check_range(scale, 0)
    if watched is not None and watched != model._now:
        model._end_step()


def _run_piece(model, piece):
    start, stop, call = piece
    model._engine.run(model._loaded, model._regions, start, stop)
    if call:
        call()


def _mean(model, count):
    """The loss of ``count`` samples since ``_clear``: one operation on floats where it can be, as each is an object."""
    control, count = model._control, count * model._width
    if model._scale is None:
        return unpack_from("<f", control, 4 * LOSS)[0] / count
    total, high = control[LOSS], control[LOSS_HIGH]
    if high or total < 0:
        total = (high << 2 | total >> 30 & 3) << 30 | total & 0x3FFFFFFF  # small ints, where they have 62 bits
    watched = model._watched
    if watched is None:
        return total / (count << 16)
    if model._unit_count != count or watched != model._unit_scale:
        model._unit_count, model._unit_scale = count, bytes(watched)
        model._unit = model._loss.unit(model._output_scale() / 256) / count
    return total * model._unit


class Model:
    """A network from one Input node to one output node.

    ``compile`` plans it and reserves its memory; a step of ``fit`` then allocates nothing, ``train_step``, ``evaluate`` and
    ``predict`` no more than their results and what these are made from.
    """

    def __init__(self, inputs, outputs):
        for node in (inputs, outputs):
            if not isinstance(node, Node):
                raise TypeError("Model: an Input and a layer's output are expected, got %r" % type(node))
        self.nodes = trace([inputs], outputs)
        self.program = None
        self._busy = self.stop_training = False
        self._within = self._fit = None  # of which step it is busy, and which fit is underway
        taken = [node.layer.name for node in self.nodes]
        for node in self.nodes:
            if node.layer.name is None:
                base = "input" if node.layer.kind == "input" else type(node.layer).__name__.lower()
                number = 0
                while _numbered(base, number) in taken:
                    number += 1
                node.layer.name = _numbered(base, number)
                taken.append(node.layer.name)
        for name in taken:
            if name and taken.count(name) > 1:
                raise ValueError("two layers are called %r" % name)

    def compile(
        self, optimizer="adam", loss="sparse_categorical_crossentropy", dtype="int8", batch_size=16, seed=0,
        micro_batch=None, memory_budget=None, checkpoint=None, frozen=None,
    ):  # fmt: skip
        """Plan the training, reserve its memory and draw the first weights.

        ``optimizer``: "sgd", "adam" or an object of optimizers.py; ``loss``: "sparse_categorical_crossentropy",
        "mse" or an object of losses.py; ``dtype``: "int8" (integers throughout) or "float32".
        ``micro_batch``: so many samples of a batch at a time, their gradients summed, one update a batch: the
        arena of a small batch and the sums for the steps of a large one, to the same bits in int8 (but where
        LeakyReLU or a frozen layer rounds errors at random), in float32 but for the order of summation.
        ``memory_budget``: so many bytes of arena and state at most, for activations that are forgotten and computed
        again (recompute.py); ``checkpoint`` "sqrt": so in any case, keeping about the root of the layers' number.
        ``frozen``: the weights of layers that do not train, read where they lie, at no RAM (frozen.py).
        Raises MemoryError with the bytes needed and there; the model is then as before.
        """
        optimizer = _named("optimizer", optimizer, OPTIMIZERS, "direct")
        loss = _named("loss", loss, LOSSES, "emit")
        if dtype not in ("int8", "float32"):
            raise ValueError('dtype is "int8" or "float32", got %r' % (dtype,))
        if dtype == "float32" and optimizer.state == "int16":
            raise ValueError('optimizer: state "int16" belongs to dtype "int8", got "float32"')
        rows = batch_size if micro_batch is None else micro_batch
        for name, value, least, most in (
            ("batch_size", batch_size, 1, 65535), ("seed", seed, 0, (1 << 30) - 1),
            ("micro_batch", rows, 1, batch_size),
        ):  # fmt: skip
            if not is_int(value):
                raise TypeError("%s is an int, got %r" % (name, value))
            if not least <= value <= most:
                raise ValueError("%s is in %d..%d, got %d" % (name, least, most, value))
        if checkpoint not in (None, "sqrt"):
            raise ValueError('checkpoint is None or "sqrt", got %r' % (checkpoint,))
        if memory_budget is not None and not is_int(memory_budget):
            raise TypeError("memory_budget is an int of bytes, got %r" % (memory_budget,))
        if loss.labels and len(self.nodes[-1].shape) != 1:
            place = (self.nodes[-1].layer, self.nodes[-1].shape)
            raise ValueError("%r has the output's shape %s, labels need (classes,)" % place)
        if self._busy is True:
            self._compiled()
        self._alone("compile")
        with _Tidy():
            graph = (self.nodes, loss, optimizer, dtype, batch_size, micro_batch)
            flash = 0
            if frozen is not None:
                from .frozen import HEADER as flash
                from .frozen import check as check_frozen
                from .frozen import check_place
            if memory_budget is None and checkpoint is None:
                from .plan.compiler import compile_graph

                plan = compile_graph(*graph, flash=flash)
                compile_graph = None  # so that _unload() can
            else:
                from .plan.recompute import plan as plan_within

                plan = plan_within(*graph, flash, memory_budget, checkpoint)
                plan_within = None
            if frozen is not None:
                check_frozen(frozen, plan)
            table = _rows(self.nodes, plan, dtype)
            if sys.implementation.name != "cpython":
                _unload()  # the heap is full of what planned, and a board's may be small
            gc.collect()
            plan.code = bytes(plan.code)  # made when the heap was at its fullest: out of the way
            engine = executor.engine
            loaded = engine.load(plan.code)
            opcodes.forget()  # before the arena
            arena, state = _reserve(plan)
        control = array("i", bytes(4 * CONTROL_WORDS))
        if frozen is not None:
            check_place(engine, loaded, arena, state, control, frozen)
        weights.initialise(state, plan, seed, dtype == "int8")
        layer = self.nodes[0].layer
        control[X_SCALE] = control[Y_SCALE] = scale_of(layer.scale)
        control[X_ZERO] = layer.zero_point
        if dtype == "int8" and layer.dtype in ("int8", "uint8"):
            weights.put(state, plan.x_scale.offset, control[X_SCALE])
        program = Program(plan.code)
        sections = {name: program.section(name) for name in SECTIONS}
        loss_word = memoryview(control)[LOSS : LOSS + 1]
        parts = _divide(program, sections, self._check_loss, micro_batch, dtype)
        at = plan.output.scale.offset if dtype == "int8" else 0
        scale = memoryview(state)[at : at + 4] if dtype == "int8" else None
        watched = (scale, bytearray(4), bytearray(4)) if scale and loss.degree else (None, None, None)
        regions = [arena, state, control, None, None, frozen]
        row = _product(self.nodes[0].shape)
        width = 1 if loss.labels else _product(self.nodes[-1].shape)
        # What could fail for want of memory is done: the model before was whole until here.
        self._busy = "compile"
        self._plan, self._engine, self._loaded = plan, engine, loaded
        self._arena, self._state, self._control, self._frozen = arena, state, control, frozen
        self._optimizer, self._loss = optimizer, loss
        self.dtype, self.batch_size, self.seed = dtype, batch_size, seed
        self._sections, self._micro, self._rows = sections, micro_batch, rows
        self._scale = scale  # of the output
        self._scales = plan.scales if dtype == "int8" else ()
        self._watched, self._before, self._now = watched  # the same where LOSS counts in it, and as it last moved
        self._unit = self._unit_count = self._unit_scale = None  # of LOSS, for so many outputs of this scale
        self._loss_word = loss_word
        self._row, self._width = row, width
        self._classes = self.nodes[-1].shape[0] if loss.labels else 0
        self._known = None  # see _look_at
        self._used = None  # see _bound
        self._parts, self._others, self._update = parts
        self._regions = regions
        self.epoch = 0  # where fit's initial_epoch goes on
        self._underway = None  # of an epoch that is not complete: samples, order, LOSS, LOSS_HIGH, CORRECT
        self._calibrated = 0 if dtype == "int8" else 2  # 1: forward, 2: forward and backward
        self._summary = table
        self.program = program
        self._busy = False
        del plan.first, plan.exponents
        gc.collect()

    def fit(
        self, x, y=None, epochs=1, validation_data=None, shuffle=True, verbose=1, callbacks=(),
        initial_epoch=None, steps_per_epoch=None,
    ):  # fmt: skip
        """Train for ``epochs`` passes over the data; returns a History.

        ``x``: (samples, *input shape) in the Input's dtype; ``y``: integer labels, or targets for "mse"; any
        object with the buffer protocol, or lists. Without ``y``, ``x`` is an iterable of batches (x, y) of at
        most ``batch_size`` samples; a generator that goes on for ever needs ``steps_per_epoch``.
        ``validation_data``, a pair (x, y) or an iterable of batches, is evaluated after each epoch.
        ``callbacks``: see callbacks.py. ``initial_epoch=model.epoch`` goes on where a loaded model stopped,
        be it within an epoch, up to epoch ``epochs``.
        In float32 a loss that is not finite raises ArithmeticError before it reaches the weights; in int8 a scale of 2^120
        or more does, of the output after its step, of others after the epoch: predict would be infinite, the weights are lost.
        Until it ends compile, fit and fit_async raise RuntimeError. Ctrl-C leaves the model with the updates made so far.
        """
        from .training import Training

        training = Training(
            self, x, y, epochs, validation_data, shuffle, verbose, callbacks, initial_epoch, steps_per_epoch
        )
        for _ in training.run():
            pass
        return training.history

    def fit_async(
        self, x, y=None, epochs=1, validation_data=None, shuffle=True, verbose=1, callbacks=(),
        initial_epoch=None, steps_per_epoch=None, slice_ms=10,
    ):  # fmt: skip
        """``await model.fit_async(x, y)``: as ``fit``, to the same bits, while other asyncio tasks run.

        Pauses after the first instruction that ends ``slice_ms`` after the last pause. In a pause the model is
        not to be used (RuntimeError): its arena holds half a step. Callbacks may use it.
        """
        from .background import fit_async

        options = {
            "epochs": epochs, "validation_data": validation_data, "shuffle": shuffle, "verbose": verbose,
            "callbacks": callbacks, "initial_epoch": initial_epoch, "steps_per_epoch": steps_per_epoch,
        }  # fmt: skip
        return fit_async(self, x, y, slice_ms, options)

    def train_step(self, x, y):
        """One update on one batch of at most ``batch_size`` samples; returns the batch's loss.

        ArithmeticError where training has diverged, as of ``fit``.
        """
        count = _bind(self, x, y)
        if count > self.batch_size:
            raise ValueError("x: %d samples do not fit batch_size %d" % (count, self.batch_size))
        if self._calibrated < 2:
            self._prepare(2)
        _clear(self)
        control = self._control
        control[POSITION] = 0
        control[COUNT] = count
        _train(self)
        return _mean(self, count)

    def evaluate(self, x, y=None):
        """``(loss, accuracy)`` over the data, as ``fit`` takes it; accuracy is None for "mse"."""
        if y is None and not isinstance(x, (list, tuple)):
            from .training import evaluate

            self._compiled()
            return evaluate(self, x)
        count = _bind(self, x, y)
        self._prepare(1)
        return self._evaluate(count)

    def predict(self, x):
        """The network's output as array('f'), samples after one another (logits for labels)."""
        self._compiled()
        x, _, count = self._look_at(x, None, "", True)
        _point(self, x, None, count)
        self._prepare(1)
        output = self._plan.output
        width = output.count // self._rows
        result = array("f", bytes(4 * width * count))
        view = memoryview(self._arena)
        at = output.buffer.offset
        for position in range(0, count, self._rows):
            self._batch(position, count)
            rows = min(self._rows, count - position)
            self._part(position, 0, rows)
            self._run("predict")
            place = position * width
            if self.dtype == "int8":
                scale = self._output_scale()
                for index in range(rows * width):
                    q = view[at + index]
                    result[place + index] = ((q - 256 if q > 127 else q) - output.zero) * scale
            else:
                result[place : place + rows * width] = array("f", bytes(view[at : at + 4 * rows * width]))
        return result

    def summary(self):
        """Print the layers, their costs, and the RAM that training takes, to the byte."""
        from .report import summary

        self._compiled()
        summary(self._summary, self._plan, self.dtype, self.batch_size)

    def disassemble(self):
        """The program as text, an instruction a line."""
        from .plan.program import disassemble

        self._compiled()
        return disassemble(self._plan.code)

    def draw(self, width=78, rows=24):
        """A drawing of the arena as text: instructions across, bytes down."""
        from .drawing import draw

        self._compiled()
        return draw(self.program, width, rows)

    def digest(self):
        """CRC-32 of all weights, scales and optimizer state, and of what ``frozen=`` gave: equal bits, equal number."""
        self._compiled(True)
        crc = self._engine.crc32(self._state)
        return crc if self._frozen is None else self._engine.crc32(self._frozen, crc)

    def get_weights(self):
        """The weights as float32 arrays: kernel, then bias, or as ``weight_shapes`` says, layer after layer."""
        self._compiled(True)
        result = []
        for layer, parameters in self._plan.weights:
            result += weights.read(layer, self._state, self._frozen, parameters, self.dtype == "int8")
        return result

    def set_weights(self, values):
        """Take over weights as ``get_weights`` gives them; ValueError when one does not fit, and nothing changes.

        Those that are frozen in flash stay as they are. Interrupted half way it changes nothing, as ``load``.
        """
        self._compiled()
        if not isinstance(values, (list, tuple)):
            raise TypeError("set_weights takes a list of arrays, got %r" % (type(values),))
        values = list(values)
        int8 = self.dtype == "int8"
        taken = {}
        for layer, parameters in self._plan.weights:
            taken[parameters] = []
            for name, shape in layer.weight_shapes():
                size = 1
                for extent in shape:
                    size *= extent
                value = values.pop(0) if values else ()
                value = value.reshape(-1) if hasattr(value, "reshape") else value
                try:
                    count = len(value)
                except TypeError:
                    raise TypeError("%r: %s is an array, got %r" % (layer, name, value))
                if count != size:
                    raise ValueError("%r: %s has %d numbers, got %d" % (layer, name, size, count))
                # In int8 a bias and its like are int32 times 2^-20, which apply_i32 keeps to 2^30.
                whole = int8 and name not in ("kernel", "moving_variance")
                weights.check(layer, name, value, 1024 if whole else 3e38)
                if name == "moving_variance" and min(value) < 0:
                    raise ValueError("%r: %s is at least 0, got %r" % (layer, name, min(value)))
                taken[parameters].append(value)
        if values:
            raise ValueError("%d arrays more than the model has weights" % len(values))
        for parameters in taken:
            if parameters.folded:
                from .folding import fold

                layer, inner = parameters.folded
                taken[parameters] = fold(taken[parameters], parameters, taken[inner])
                if int8:
                    weights.check(layer, "folded, as a bias", taken[parameters][1], 1024)
        from .replace import rewrite

        def write(state):
            for parameters in taken:
                if not parameters.into:
                    weights.write(state, parameters, int8, taken[parameters])

        rewrite(self, "set_weights", write, (0 if int8 else 2, self.epoch, self._underway, self.seed))

    def save(self, path):
        """Write a checkpoint: weights, scales, optimizer, and where training stands (docs/checkpoint.md).

        ``path``: a file's name, a str or a pathlib.Path, written beside the old one and then renamed; or a place of
        slots.py. OSError when that fails; what was there is then still there.
        """
        from .checkpoint import save

        self._compiled()
        save(path, self._engine, self._plan.code, self._state, self._calibrated, self.epoch, self._underway)

    def load(self, path):
        """Read what ``save`` wrote for the same network, compiled alike; else ValueError, and nothing changes.

        ``fit(.., initial_epoch=model.epoch)`` then ends as if training had not stopped. All is read or nothing,
        whatever interrupts it; on a board where the arena and the free heap are smaller than the state, a second error
        in the pass that follows the check leaves a model that raises RuntimeError until ``load`` or ``compile``.
        """
        from .checkpoint import load

        if self.program is None or self._busy in (True, "compile"):
            self._compiled()
        load(path, self)

    def _take(self, state, epoch):
        """A state kept in RAM, as it was after ``epoch`` epochs."""
        from .replace import adopt

        adopt(self, "load", (state,), (2, epoch, None, weights.get(state, 4)))

    @property
    def _steps(self):
        """Steps made: the program counts them, so that Ctrl-C cannot come in between."""
        return weights.get(self._state, 0)

    def _compiled(self, reads=False):
        """RuntimeError if there is nothing to use, or within a step; ``reads``: the state alone, as a hook of watch.py may."""
        if self.program is None:
            raise RuntimeError("the model is not compiled: call compile() first")
        if self._busy is True and not (reads and self._within != "fit_async"):
            raise RuntimeError("%s is within a step: use the model in on_batch_end, or when it has ended" % self._within)
        if self._busy and self._busy is not True:
            what = "compile()" if self._busy == "compile" else "load() or compile()"
            raise RuntimeError("%s() ended half way: part of the model is new, part old: %s it" % (self._busy, what))

    def _alone(self, name):
        """RuntimeError where fit is underway."""
        if self._fit:
            raise RuntimeError("%s: %s is underway: call %s when it has ended" % (name, self._fit, name))

    _bind = _bind
    _clear = _clear
    _train = _train

    def _look_at(self, x, y, what, predict=False):
        """Check data of any kind and note its formats: ``(x, y, samples)``, both as buffers.

        On a board that takes as long as a small step, so ``_bind`` first asks ``count_samples`` whether the data is
        good and stored as ``_known`` says: types and, of what the control block describes, type codes and formats.
        """
        self._known = None
        layer = self.nodes[0].layer
        given, known = (x, y), None
        x, x_format, count = samples(what + "x", x, (layer.dtype,), self._row)
        check_finite(what + "x", x, x_format, self._row)
        y_format, y_scale, y_zero = 0, ONE, 0
        loss = self._loss
        if not predict:
            # Bytes, which do not tell, are labels of a byte each, or targets in the Input's dtype.
            dtypes = _LABELS if loss.labels else (layer.dtype,) + _TARGETS
            if loss.binary:
                dtypes = _LABELS + ("float32",)
            y, y_format, labels = samples(what + "y", y, dtypes, self._width)
            if labels != count:
                raise ValueError("%sy: %d samples, x has %d" % (what, labels, count))
            if loss.labels:
                check_labels(what + "y", y, self._classes)
                if y_format == INT16 and self._classes > 32768:  # of a uint16 an int16 has no more
                    y, y_format = array("i", y), INT32
            else:
                check_finite(what + "y", y, y_format, self._width)
                if loss.binary:
                    check_probabilities(what + "y", y, self._width)
                elif y_format == x_format:
                    y_scale, y_zero = self._control[X_SCALE], layer.zero_point
            plain = x is given[0] and y is given[1] and not (hasattr(x, "shape") or hasattr(y, "shape"))
            if plain:
                x_code, y_code = [ord(self._engine.typecode(data) or "?") for data in given]
                x_kind = x_code, x_format, self._row, 0
                known = _type(x), x_kind, _type(y), (y_code, y_format, self._width, 2 if loss.binary else self._classes)
        control = self._control
        control[X_FORMAT] = x_format
        control[Y_FORMAT] = y_format
        control[Y_SCALE] = y_scale
        control[Y_ZERO] = y_zero
        self._known = known
        return x, y, count

    def _bound(self, x, y, what=""):
        """Checked data, to switch to with ``_use``: (samples, x, y, control words). It is ``_used`` till other data is."""
        count = _bind(self, x, y, what)
        return count, self._regions[X_DATA], self._regions[Y_DATA], tuple(self._control[:LOSS])

    def _use(self, bound):
        _, self._regions[X_DATA], self._regions[Y_DATA], words = bound
        self._known = None
        for index, word in enumerate(words):
            self._control[index] = word
        self._used = bound

    def _prepare(self, level):
        """Calibrate what has no range yet (1: forward, 2: backward too) on the first batch.

        Training widens a range that later proves too small; without it all data is looked at here.
        """
        if self._calibrated < level:
            self._calibrate(level)

    def _calibrate(self, level):
        from .calibration import calibrate, calibrate_parts, forget, widen  # in RAM only when compile's work is done

        if self._calibrated == 0:
            forget(self.program, self._state)
        self._calibrated = 0  # should this be interrupted, the next begins anew
        count = self._control[SAMPLES]
        self._batch(0, count)
        what = (self.program, "train" if level == 2 else "predict", self._engine, self._loaded, self._regions)
        self._control[KEY] = level - 1
        if self._rows < self._control[COUNT]:
            calibrate_parts(*what, lambda: self._pieces(0, count))
        else:
            for _ in self._pieces(0, count):
                calibrate(*what)
        if level == 1:
            for position in range(self.batch_size, count, self.batch_size):
                widen(what[0], *what[2:], lambda: self._pieces(position, count))
        self._calibrated = level

    def _pieces(self, position, count):
        """Point the program at each micro-batch of the batch at ``position``; yields where it begins."""
        self._batch(position, count)
        rows = self._control[COUNT]
        for at in range(0, rows, self._rows):
            self._part(position, at, rows)
            yield (self._others if at else self._parts)[0][0]

    def _batch(self, position, count):
        control, size = self._control, self.batch_size
        count -= position
        control[POSITION] = position
        control[COUNT] = count if count < size else size

    def _run(self, section):
        start, stop = self._sections[section]
        self._engine.run(self._loaded, self._regions, start, stop)

    def _part(self, position, at, rows):
        """Point the program at the micro-batch from row ``at`` of a batch of ``rows`` at ``position``."""
        if self._micro:
            self._control[BATCH] = rows
            self._control[POSITION] = position + at
            self._control[COUNT] = min(self._rows, rows - at)

    def _train_parts(self):
        position, rows = self._control[POSITION], self._control[COUNT]
        at = 0
        while at < rows:  # a range would be an object
            self._part(position, at, rows)
            for piece in self._others if at else self._parts:
                _run_piece(self, piece)
            at += self._rows

    def _end_step(self):
        if self._scale_moved():
            self._rescale_loss()

    def _look(self, section):
        """Run a section that trains nothing on the batch that ``_batch`` points at."""
        position, rows = self._control[POSITION], self._control[COUNT]
        for at in range(0, rows, self._rows):
            self._part(position, at, rows)
            self._run(section)

    def _set_rate(self):
        control = self._control
        control[RATE] = self._optimizer.learning_rate.bits(self._stay() if self._state[3] == 255 else self._steps)
        control[KEY] = 1  # not 0: dropout drops

    def _stay(self):
        """The step of schedules beyond 255 * 2^24: that. There the counter begins anew before 2^32, and they do not."""
        if self._steps == 0xFFFFFFFF:
            weights.put(self._state, 0, _LAST)
        return _LAST

    def _check_range(self, memory, at):
        """In int8, after a step: a scale whose range is beyond float32. What follows would be infinite, and nothing is learnt."""
        if (memory[at + 3] << 8 | memory[at + 2]) >= _WIDEST:
            raise ArithmeticError(
                "int8 training has diverged: after step %d a range is beyond float32; learning rate %g"
                % (self._steps, bits_to_float(self._control[RATE]))
            )

    def _check_ranges(self):
        """The same of all scales, not only the output's: after each epoch of fit."""
        for at in self._scales:
            self._check_range(self._state, at)

    def _check_loss(self):
        """In float32, between the loss and what it does to the weights."""
        if self._engine.find_nonfinite(self._loss_word) >= 0:
            raise ArithmeticError(
                "the loss of step %d is not finite: the weights are those before it; learning rate %g"
                % (self._steps, bits_to_float(self._control[RATE]))
            )

    def _evaluate(self, count):
        _clear(self)
        for position in range(0, count, self.batch_size):
            self._batch(position, count)
            self._look("evaluate")
        return self._result(count)

    def _result(self, count):
        """(loss, accuracy) of ``count`` samples since ``_clear``."""
        accuracy = None
        if self._loss.hits:
            accuracy = self._control[CORRECT] / (count * self._width)
        return _mean(self, count), accuracy

    def _output_scale(self):
        return bits_to_float(weights.get(self._scale, 0))

    def _scale_moved(self):
        """Note the output's scale, without heap; True if it was another."""
        scale, before, now = self._watched, self._before, self._now
        if scale == now:
            return False
        for index in range(4):
            before[index] = now[index]
            now[index] = scale[index]
        return True

    def _rescale_loss(self):
        """Count LOSS, of steps of the output's old scale, in those of the one it was widened to."""
        ratio = scale_div(weights.get(self._before, 0), weights.get(self._now, 0))
        control = self._control
        total = (control[LOSS] & 0xFFFFFFFF) + (control[LOSS_HIGH] << 32)
        for _ in range(self._loss.degree):
            m, shift = multiplier(ratio)
            total = (total * m + (1 << shift >> 1)) >> shift
        control[LOSS] = (total & 0x7FFFFFFF) - (total & 0x80000000)
        control[LOSS_HIGH] = total >> 32


class Sequential(Model):
    """A stack of layers; the first item is an Input.

    Example::

        model = odt.Sequential([odt.Input((2,)), odt.Dense(8, activation="relu"), odt.Dense(2)])
    """

    def __init__(self, layers):
        if not isinstance(layers, (list, tuple)):
            raise TypeError("Sequential: a list of layers is expected, got %r" % (layers,))
        if not layers or not isinstance(layers[0], Node) or layers[0].layer.kind != "input":
            raise ValueError("Sequential: the first item is an odt.Input")
        node = layers[0]
        for layer in layers[1:]:
            if not isinstance(layer, Layer):
                raise TypeError("Sequential: layers are expected, got %r" % (layer,))
            node = layer(node)
        super().__init__(layers[0], node)


def _divide(program, sections, check, micro, dtype):
    """The parts in which a step runs: of the first micro-batch, of the others, and the update.

    Each is pieces, (start, stop, what to call behind it or None); watch.py cuts smaller ones.
    """
    start, stop = sections["train"]
    loss = sections["evaluate"][1]
    again = start
    last = stop
    if micro:
        for at, code, _, _ in program.walk(start, stop):
            if code.name == "tick":
                last = at
        for _ in range(2 if dtype == "int8" else 1):  # the clears
            again += opcodes.opcode("clear").words
        opcodes.forget()
    parts = [
        ((first, last, None),) if dtype == "int8" else ((first, loss, check), (loss, last, None))
        for first in (start, again)
    ]
    return parts[0], parts[1], ((last, stop, None),) if micro else ()


# Of every step. MicroPython keeps the names and operands of a call on the C stack if they are 11 at most, else on the
# heap, and finds a function sooner than a method: so these are short, and functions.


def _numbered(base, number):
    return "%s_%d" % (base, number) if number else base


def _named(argument, value, table, method):
    if isinstance(value, str):
        if value not in table:
            raise ValueError("%s is one of %s, got %r" % (argument, ", ".join(sorted(table)), value))
        return table[value]()
    if not hasattr(value, method) or isinstance(value, type):
        raise TypeError("%s is a name or an object, got %r" % (argument, value))
    return value


def _product(shape):
    count = 1
    for size in shape:
        count *= size
    return count


class _Tidy:
    """Collect garbage often, so that what is planned does not lie scattered when the arena is reserved."""

    def __enter__(self):
        gc.collect()
        if hasattr(gc, "threshold"):
            self.threshold = gc.threshold()
            gc.threshold(4096)

    def __exit__(self, *unused):
        opcodes.forget()
        if hasattr(gc, "threshold"):
            gc.threshold(self.threshold)


def _unload():
    """Let go of the modules that only planning needs: those of .mpy files lie in RAM."""
    package = sys.modules["odt.plan"]
    for name in list(sys.modules):
        if name.startswith("odt.plan.") and name[9:] not in ("graph", "program", "values"):
            del sys.modules[name]
            if hasattr(package, name[9:]):
                delattr(package, name[9:])


def _reserve(plan):
    """The arena and the state; MemoryError with the figures."""
    needed = plan.arena + plan.state
    gc.collect()
    free = gc.mem_free() if hasattr(gc, "mem_free") else needed
    if free >= needed:
        try:
            if plan.arena > plan.state:  # the larger first: what is free may be so in pieces
                arena = bytearray(plan.arena)
                return arena, bytearray(plan.state)
            state = bytearray(plan.state)
            return bytearray(plan.arena), state
        except MemoryError:
            pass
    text = "%d are free" % free if hasattr(gc, "mem_free") else "so much is not free"
    text += " in pieces" if hasattr(gc, "mem_free") and free >= needed else ""
    raise MemoryError("training needs %d bytes (arena %d, state %d), %s" % (
        needed, plan.arena, plan.state, text))  # fmt: skip


def _rows(nodes, plan, dtype):
    """Rows of summary(): (name, kind, shape, parameters, MACs forward, backward, bytes)."""
    from .plan.graph import backward_macs

    table = []
    for node, backward, size in zip(nodes, backward_macs(nodes), plan.sizes):
        layer = node.layer
        parameters = sum([_product(shape) for _, shape in layer.weight_shapes()])
        kind = type(layer).__name__
        macs = 0 if node.alias else layer.macs
        table.append((layer.name, kind, node.shape, parameters, macs, backward, size))
    return table
