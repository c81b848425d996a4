"""A network that is ready to run: the public methods of a compiled model (model.py) and of a model from a file
(open.py).

It needs neither the layers nor the planner.
"""

from ..base.executor import collect
from .session import batch, bind, clear, mean, point, ready, release, step, train_alone

if 1 - 1:  # for type checkers alone
    from array import array
    from collections.abc import Awaitable, Iterable, Mapping, Sequence
    from os import PathLike
    from typing import Any, Literal, Protocol

    from typing_extensions import Buffer, TypeAlias

    from ..plan.program import Program
    from .fit import History

    class Array(Protocol):
        """NumPy's, pandas', PyTorch's. Type checkers know NumPy's as a Buffer from Python 3.12 on only."""

        def __array__(self) -> Any: ...

    Bytes: TypeAlias = "Buffer | Array"
    Numbers: TypeAlias = "Sequence[float] | Buffer | Array"  # one sample
    Data: TypeAlias = "Sequence[Any] | Buffer | Array"  # samples after one another
    Batches: TypeAlias = Iterable[tuple[Data, Data]]

    class Place(Protocol):
        """A place for checkpoints that is not a file: slots.Blocks and slots.Bytes."""

        def read(self, engine: Any) -> Any: ...
        def write(self, engine: Any, header: Any, state: Any) -> None: ...


class Network:
    """Trains, evaluates and predicts through its ``session``.

    A step of ``fit`` allocates nothing. ``train_step``, ``evaluate`` and ``predict`` allocate only their results and
    intermediate values of these.
    """

    session: "Any" = None  # see run/session.py
    labels: "Sequence[Any] | None" = None  # a list of the classes' names, for predict_classes()
    features: "Any" = None  # from odt.sensors: computes the input; for export() and Stream.of()
    stop_training: "bool" = False
    history: "History | None" = None  # of the last fit, also if it was interrupted

    # From the session; None before compile().
    program: "Program | None" = property(lambda self: self.session and self.session.program)
    dtype: "Literal['int8', 'float32']" = property(lambda self: self.session and self.session.dtype)
    batch_size: "int" = property(lambda self: self.session and self.session.batch_size)
    seed: "int" = property(lambda self: self.session and self.session.seed)
    epoch: "int" = property(lambda self: self.session and self.session.epoch)  # the initial_epoch at which fit resumes

    if 1 - 1:  # mypy takes the first of two, pyright the last: both then refuse unknown names
        __getattr__: None

    def __getattr__(self, name):
        from .names import find

        return find(self, name)

    if 1 - 1:
        __getattr__: None

        def reset_states(self) -> None:
            """All stateful recurrent layers begin with 0 again (odt.recurrent.reset_states)."""

    def fit(
        self,
        x: "Data | Batches",
        y: "Data | None" = None,
        epochs: "int" = 1,
        validation_data: "tuple[Data, Data] | Batches | None" = None,
        shuffle: "bool" = True,
        verbose: "int" = 1,
        callbacks: "Iterable[Any]" = (),
        initial_epoch: "int | None" = None,
        steps_per_epoch: "int | None" = None,
        validation_split: "float" = 0,
        class_weight: "Sequence[float] | Mapping[int, float] | None" = None,
        batch_size: "int | None" = None,
    ) -> "History":
        """Train for ``epochs`` passes over the data; returns a History.

        ``x``: (samples, *input shape) in the Input's dtype; ``y``: integer labels, or targets for "mse"; any object
        with the buffer protocol, or lists. Without ``y``, ``x`` is an iterable of batches (x, y) of at most
        ``batch_size`` samples; an endless generator needs ``steps_per_epoch``. ``validation_data``, a pair (x, y) or an
        iterable of batches, is evaluated after each epoch. ``validation_split`` is the part of the samples, from their
        end, to evaluate instead of training on it. A ``batch_size`` other than compile's plans the model again; its
        state stays. ``class_weight``, a list or a dict {label: weight}, plans the model again for this fit and needs
        the same memory a second time; the bits are those of the loss with weights at ``compile``, and all losses are
        weighted, also in validation. If the mean of float32 targets in an array is 16 or more from 0, the output's
        biases of a model that has not trained start at that mean. ``callbacks``: see callbacks.py.
        ``initial_epoch=model.epoch`` resumes a loaded model, also within an epoch, up to epoch ``epochs``.
        ArithmeticError: in float32 if a loss is not finite, before it reaches the weights; in int8 if a scale is 2^120
        or more (the output's after each step, others after the epoch): predict would be infinite, the weights are
        lost. Until fit ends, compile, fit and fit_async raise RuntimeError. Ctrl-C keeps the updates made so far.
        """
        if class_weight is not None:
            from .habits import weighed

            what = x, y, epochs, validation_data, shuffle, verbose, callbacks, initial_epoch, steps_per_epoch
            return weighed(self, class_weight, batch_size, what + (validation_split,))
        x, y, validation_data = self._asked(x, y, validation_data, validation_split, batch_size)
        from .fit import Training

        training = Training(
            self, x, y, epochs, validation_data, shuffle, verbose, callbacks, initial_epoch, steps_per_epoch
        )
        for _ in training.run():
            pass
        return training.history

    def fit_async(
        self,
        x: "Data | Batches",
        y: "Data | None" = None,
        epochs: "int" = 1,
        validation_data: "tuple[Data, Data] | Batches | None" = None,
        shuffle: "bool" = True,
        verbose: "int" = 1,
        callbacks: "Iterable[Any]" = (),
        initial_epoch: "int | None" = None,
        steps_per_epoch: "int | None" = None,
        slice_ms: "int" = 10,
        validation_split: "float" = 0,
        class_weight: "Sequence[float] | Mapping[int, float] | None" = None,
        batch_size: "int | None" = None,
    ) -> "Awaitable[History]":
        """``await model.fit_async(x, y)``: ``fit``, with the same bits, while other asyncio tasks run.

        It pauses after the first instruction that ends ``slice_ms`` or more after the last pause. During a pause the
        model must not be used (RuntimeError): its arena holds half a step. Callbacks may use it.
        """
        from .fit_async import fit_async

        if class_weight is None:
            x, y, validation_data = self._asked(x, y, validation_data, validation_split, batch_size)
        options = {
            "epochs": epochs, "validation_data": validation_data, "shuffle": shuffle, "verbose": verbose,
            "callbacks": callbacks, "initial_epoch": initial_epoch, "steps_per_epoch": steps_per_epoch,
        }  # fmt: skip
        if class_weight is not None:
            from .fit_async import weighed_async

            return weighed_async(self, x, y, slice_ms, options, class_weight, validation_split, batch_size)
        return fit_async(self, x, y, slice_ms, options)

    def _asked(self, x, y, held, split, batch_size):
        """(x, y, validation_data) after fit's ``validation_split`` and ``batch_size``.

        Collects garbage, so that what fit retains lies at the start of the heap.
        """
        collect()
        if split or batch_size is not None:
            from .habits import asked

            return asked(self, x, y, held, split, batch_size)
        return x, y, held

    def train_step(self, x: "Data", y: "Data") -> "float":
        """One update on one batch of at most ``batch_size`` samples; returns the batch's loss.

        ArithmeticError if training has diverged, as in ``fit``.
        """
        session = self.session
        if session is None or session.busy or session.fit:
            ready(self)
        if session.call and session.calibrated == 2:
            count = step(session, x, y)
            if count:
                return mean(session, count)
        count = bind(session, x, y)
        if count > session.batch_size:
            raise ValueError("x: %d samples do not fit batch_size %d" % (count, session.batch_size))
        if session.calibrated == 2 or not session.calibrate(2, step=True):
            clear(session)
            batch(session, 0, count)
            train_alone(session)
        release(session)
        return mean(session, count)

    def evaluate(
        self, x: "Data | Batches", y: "Data | None" = None, batch_size: "int | None" = None, verbose: "int | str" = 0
    ) -> "tuple[float, float | None]":
        """``(loss, accuracy)`` over the data, as ``fit`` takes it; accuracy is None for "mse".

        ``batch_size`` and ``verbose`` are there for Keras's callers and change nothing: the batch size is compile's,
        and nothing is printed.
        """
        session = ready(self)
        if batch_size is not None or verbose:
            _ignored(batch_size, verbose)
        if y is None and not isinstance(x, (list, tuple)):
            from .fit import evaluate

            return evaluate(session, x)
        count = bind(session, x, y)
        session.prepare(1)
        clear(session)
        for position in range(0, count, session.batch_size):
            batch(session, position, count)
            session.look("evaluate")
        release(session)
        return session.result(count)

    def predict(self, x: "Data", out: "Any" = None, batch_size: "int | None" = None, verbose: "int | str" = 0) -> "Any":
        """The network's output as array('f'), sample after sample (logits for labels).

        ``x``: (samples, *input shape) as for ``fit``, or one sample in the Input's shape. For a NumPy array the result
        is a NumPy array: float32, (samples, *output shape). ``out``: array('f'), or another array of float32, with
        exactly as many numbers as the outputs. They are written there, ``out`` is returned, and nothing is allocated if
        ``x`` has the same type as in the call before. Only existing samples are computed, not padding. The bits are the
        same on every machine. ``batch_size`` and ``verbose`` change nothing, as in ``evaluate``. TypeError and
        ValueError as in ``fit``, and for an ``out`` that does not fit.
        """
        if batch_size is not None or verbose:
            _ignored(batch_size, verbose)
        session = self.session
        if session is None or session.busy or session.fit:
            ready(self)
        return (session.seen or _see(session)).predict(session, x, out)

    def predict_proba(self, x: "Data") -> "Any":
        """Probabilities in the form of ``predict``: softmax of logits for labels, sigmoid for BinaryCrossentropy.

        Outputs of a Softmax or a Sigmoid layer are returned as they are. ValueError if there are no probabilities.
        """
        from .classes import probabilities

        return probabilities(self, x)

    def predict_classes(self, x: "Data") -> "list[Any]":
        """A list with the class of each sample: its number, or its name if ``labels`` has names.

        The class is the first of the largest outputs. For BinaryCrossentropy it is 1 if the output is above 0 (of a
        Sigmoid: 0.5), otherwise 0; with several outputs, a list of those that are 1.
        """
        from .classes import classes

        return classes(self, x)

    def __call__(self, x: "Data") -> "array[float]":
        """As ``predict``."""
        return self.predict(x)

    def calibrate(self, x: "Data", y: "Data | None" = None) -> None:
        """Set an int8 model's ranges from these samples; with ``y`` also the ranges of the first batch's errors.

        No value of these samples is then clipped. Without this call, ``predict`` and ``evaluate`` set the ranges from
        the first data that they see and widen them if other data needs more. ``fit`` sets them from its first batch,
        unless ``y`` was given here.
        """
        session = ready(self)
        if y is None:
            x, _, count = session.look_at(x, None, "", True)
            point(session, x, None, count)
        else:
            bind(session, x, y)
        if session.scale is not None:
            session.calibrate(1 if y is None else 2, True)
        release(session)

    def load_weights(self, source: "str | PathLike[str] | Bytes | Network") -> None:
        """Copy weights and ranges from a model file, given by its name or its bytes, or from another model.

        The layers must be the same; batch size, optimizer, frozen layers and dtype may differ. Between models of one
        dtype the weights are copied bit for bit, and so are the ranges that both models have. The optimizer's state is
        not copied, and weights frozen in flash stay. ValueError names the first layer that differs; nothing has changed
        then.
        """
        from .transfer import transfer

        session = ready(self)
        session.alone("load_weights")
        if isinstance(source, Network):
            return transfer(session, ready(source, reads=True), "load_weights")
        from ..files.session import parts_of

        transfer(session, *parts_of(source))

    def summary(self) -> None:
        """Print the layers, their costs, and the RAM that training takes, to the byte."""
        from ..plan.report import summary

        session = ready(self)
        summary(session.plan, session.dtype, session.batch_size)

    def disassemble(self) -> "str":
        """The program as text, one instruction per line."""
        from ..inspect.listing import disassemble

        return disassemble(ready(self).plan.code)

    def draw(self, width: "int" = 78, rows: "int" = 24) -> "str":
        """A drawing of the arena as text: instructions from left to right, bytes down."""
        from ..inspect.drawing import draw

        return draw(ready(self).program, width, rows)

    def digest(self) -> "int":
        """CRC-32 of all weights, scales and optimizer state, and of ``frozen=``'s bytes: equal bits, equal number."""
        session = ready(self, reads=True)
        crc = session.engine.crc32(session.state)
        return crc if session.frozen is None else session.engine.crc32(session.frozen, crc)

    def get_weights(self) -> "list[array[float]]":
        """The weights as float32 arrays: kernel, then bias, or as ``weight_shapes`` says, layer by layer."""
        from . import weights

        session = ready(self, reads=True)
        result = []
        for layer, parameters in session.plan.weights:
            result += weights.read(layer, session.state, session.frozen, parameters, session.dtype == "int8")
        return result

    def set_weights(self, values: "Sequence[Any]") -> None:
        """Set all weights, in the format of ``get_weights``; if one does not fit, ValueError, and nothing changes.

        Each is flat, or an array of the shape that ``weight_shapes`` says. Other shapes are refused, such as Keras's
        ``(in, out)`` kernels or PyTorch's filters. An int8 model forgets its ranges: see ``calibrate``. Weights frozen
        in flash stay as they are. If interrupted, it changes nothing, as ``load``.
        """
        from .transfer import set_weights

        set_weights(ready(self), values)

    def save(self, path: "str | PathLike[str] | Place") -> None:
        """Write a checkpoint: weights, scales, optimizer, and where training stands (docs/reference/checkpoint.md).

        ``path``: a file's name, a str or a pathlib.Path; or a place of slots.py. A file is written beside the old one
        and then renamed. OSError if writing fails; the old checkpoint then remains.
        """
        from ..files.checkpoint import save

        save(path, ready(self))

    def load(self, path: "str | PathLike[str] | Place") -> None:
        """Read what ``save`` wrote for the same network, compiled alike; else ValueError, and nothing changes.

        ``fit(.., initial_epoch=model.epoch)`` then ends as if training had not stopped. If interrupted, it changes
        nothing. One exception: on a board where arena and free heap are smaller than the state, an error in the second
        pass, after the check, leaves a model that raises RuntimeError until ``load`` or ``compile``.
        """
        from ..files.checkpoint import load

        if self.session is None or self.session.busy in (True, "compile") or self.session.fit:
            ready(self)
        load(path, self.session)

    def export(
        self,
        path: "str | PathLike[str]",
        labels: "Sequence[str] | None" = None,
        purpose: "Literal['training', 'inference']" = "training",
        features: "Any" = None,
    ) -> None:
        """Write a model file, which ``odt.load_model`` opens on any machine, without the script that made the model.

        The file holds the program, all weights, the ranges, the optimizer's state, and where training stands
        (docs/reference/model_file.md). ``purpose`` "inference": no optimizer and no gradients; all weights are frozen,
        so that they are read in place if the file lies in flash. ``labels``: a list of str, the classes' names, kept as
        ``model.labels``. ``features``: computes the input from samples (odt.sensors.features); the file keeps its name
        and parameters, for ``model.features``. TypeError for a custom loss or learning rate, OSError if the file cannot
        be written; an existing file is then kept.
        """
        from ..files.export import export

        export(self, ready(self), path, labels, purpose, features)


def _ignored(batch_size, verbose):
    from .habits import ignored

    ignored(batch_size, verbose)


def _see(session):
    from .predict import Seen

    session.seen = seen = Seen(session)
    return seen
