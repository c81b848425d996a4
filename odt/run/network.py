"""A network that is ready to run: the face over a session that a compiled model (model.py) and one from a file
(open.py) have.

It needs neither the layers nor what plans.
"""

from ..base.executor import collect
from .session import batch, bind, clear, mean, point, ready, step, train_alone

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
        """Where checkpoints go that is no file: slots.Blocks and slots.Bytes."""

        def read(self, engine: Any) -> Any: ...
        def write(self, engine: Any, header: Any, state: Any) -> None: ...


class Network:
    """Trains, evaluates and predicts by its ``session``.

    A step of ``fit`` allocates nothing, ``train_step``, ``evaluate`` and ``predict`` no more than their results and
    what these are made from.
    """

    session: "Any" = None  # see run/session.py
    labels: "Sequence[Any] | None" = None  # a list of the classes' names, for predict_classes()
    features: "Any" = None  # of odt.sensors: computes the Input's numbers; for export() and Stream.of()
    stop_training: "bool" = False
    history: "History | None" = None  # of the last fit, whatever ended it

    # Of the session, None without: compile() gives them.
    program: "Program | None" = property(lambda self: self.session and self.session.program)
    dtype: "Literal['int8', 'float32']" = property(lambda self: self.session and self.session.dtype)
    batch_size: "int" = property(lambda self: self.session and self.session.batch_size)
    seed: "int" = property(lambda self: self.session and self.session.seed)
    epoch: "int" = property(lambda self: self.session and self.session.epoch)  # where fit's initial_epoch goes on

    if 1 - 1:  # mypy takes the first of two, pyright the last: both refuse a name that no method has
        __getattr__: None

    def __getattr__(self, name):
        from .names import find

        return find(self, name)

    if 1 - 1:
        __getattr__: None

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
        ``batch_size`` samples; a generator that goes on for ever needs ``steps_per_epoch``. ``validation_data``, a pair
        (x, y) or an iterable of batches, is evaluated after each epoch; ``validation_split``: so does that part of the
        samples, their last, and is not trained on. ``batch_size``, where it differs from compile's, plans the model
        again, which keeps its state. ``class_weight``, a list or a dict of labels and weights, plans it again for this
        fit, which takes as much memory again: the same bits as given to the loss at ``compile``; losses, those of
        validation too, are weighted. Float32 targets in arrays whose mean is 16 or more from 0: the output's biases of
        a model that was only compiled begin there. ``callbacks``: see callbacks.py. ``initial_epoch=model.epoch`` goes
        on where a loaded model stopped, be it within an epoch, up to epoch ``epochs``. In float32 a loss that is not
        finite raises ArithmeticError before it reaches the weights; in int8 a scale of 2^120 or more does, of the
        output after its step, of others after the epoch: predict would be infinite, the weights are lost. Until it ends
        compile, fit and fit_async raise RuntimeError. Ctrl-C leaves the model with the updates made so far.
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
        """``await model.fit_async(x, y)``: as ``fit``, to the same bits, while other asyncio tasks run.

        Pauses after the first instruction that ends ``slice_ms`` after the last pause. In a pause the model is
        not to be used (RuntimeError): its arena holds half a step. Callbacks may use it.
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
        """(x, y, validation_data), as the arguments of fit have it that few use.

        The heap has room at its start for what fit retains.
        """
        collect()
        if split or batch_size is not None:
            from .habits import asked

            return asked(self, x, y, held, split, batch_size)
        return x, y, held

    def train_step(self, x: "Data", y: "Data") -> "float":
        """One update on one batch of at most ``batch_size`` samples; returns the batch's loss.

        ArithmeticError where training has diverged, as of ``fit``.
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
        if session.calibrated < 2 and session.calibrate(2, step=True):
            return mean(session, count)
        clear(session)
        batch(session, 0, count)
        train_alone(session)
        return mean(session, count)

    def evaluate(
        self, x: "Data | Batches", y: "Data | None" = None, batch_size: "int | None" = None, verbose: "int | str" = 0
    ) -> "tuple[float, float | None]":
        """``(loss, accuracy)`` over the data, as ``fit`` takes it; accuracy is None for "mse".

        ``batch_size`` and ``verbose`` are Keras's and change nothing: it runs in batches of compile's, and prints
        nothing.
        """
        session = ready(self)
        if batch_size is not None or verbose:
            _ignored(batch_size, verbose)
        if y is None and not isinstance(x, (list, tuple)):
            from .fit import evaluate

            return evaluate(session, x)
        count = bind(session, x, y)
        session.prepare(1)
        return session.evaluate(count)

    def predict(self, x: "Data", out: "Any" = None, batch_size: "int | None" = None, verbose: "int | str" = 0) -> "Any":
        """The network's output as array('f'), sample after sample (logits for labels).

        ``x``: (samples, *input shape) as for ``fit``, or one sample in the Input's shape. Of a NumPy array the result
        is one, too: float32, (samples, *output shape). ``out``: array('f'), or another array of float32, of exactly as
        many numbers: the outputs are written there and it is returned; nothing is allocated where ``x`` is of the same
        type as in the call before. Only samples that are there are computed. The same bits on every machine.
        ``batch_size`` and ``verbose`` are as of ``evaluate``. TypeError, ValueError as of ``fit``, and for an ``out``
        that does not fit.
        """
        if batch_size is not None or verbose:
            _ignored(batch_size, verbose)
        session = self.session
        if session is None or session.busy or session.fit:
            ready(self)
        return (session.seen or _see(session)).predict(session, x, out)

    def predict_proba(self, x: "Data") -> "Any":
        """Probabilities, as ``predict`` gives outputs: softmax of logits for labels, sigmoid for BinaryCrossentropy.

        Outputs of a Softmax or a Sigmoid are these already. ValueError for a network with neither.
        """
        from .classes import probabilities

        return probabilities(self, x)

    def predict_classes(self, x: "Data") -> "list[Any]":
        """A list with the class of each sample: its number, or its name where ``labels`` has names.

        The first of the largest outputs; for BinaryCrossentropy 1 where an output is above 0 (of a Sigmoid: 0.5), 0
        elsewhere, and with several outputs a list of those that are 1.
        """
        from .classes import classes

        return classes(self, x)

    def __call__(self, x: "Data") -> "array[float]":
        """As ``predict``."""
        return self.predict(x)

    def calibrate(self, x: "Data", y: "Data | None" = None) -> None:
        """Set the ranges of an int8 model from these samples, with ``y`` also those of the first batch's errors.

        Every value of them then has room. Without it ``predict`` and ``evaluate`` take the ranges from the first data
        that they see and widen them where other data needs more; ``fit`` takes them from its first batch, unless ``y``
        was given here.
        """
        session = ready(self)
        if y is None:
            x, _, count = session.look_at(x, None, "", True)
            point(session, x, None, count)
        else:
            bind(session, x, y)
        if session.scale is not None:
            session.calibrate(1 if y is None else 2, True)

    def load_weights(self, source: "str | PathLike[str] | Bytes | Network") -> None:
        """Take over weights and ranges from a model file, by its name or its bytes, or from another model.

        Its layers are the same, its batch size, optimizer, frozen layers and dtype may be others: between models of one
        dtype the weights move bit for bit, and the ranges with them where both have the same. The optimizer's state
        is not taken over, and weights that are frozen in flash stay. ValueError names the first layer that differs;
        nothing has changed then.
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
        """CRC-32 of all weights, scales and optimizer state, and of what ``frozen=`` gave: equal bits, equal number."""
        session = ready(self, reads=True)
        crc = session.engine.crc32(session.state)
        return crc if session.frozen is None else session.engine.crc32(session.frozen, crc)

    def get_weights(self) -> "list[array[float]]":
        """The weights as float32 arrays: kernel, then bias, or as ``weight_shapes`` says, layer after layer."""
        from . import weights

        session = ready(self, reads=True)
        result = []
        for layer, parameters in session.plan.weights:
            result += weights.read(layer, session.state, session.frozen, parameters, session.dtype == "int8")
        return result

    def set_weights(self, values: "Sequence[Any]") -> None:
        """Take over weights in the format of ``get_weights``; if one does not fit, ValueError, and nothing changes.

        Each is flat, or an array of the shape that ``weight_shapes`` says: an array of another is refused, as Keras's
        ``(in, out)`` kernels are and PyTorch's filters. Ranges of int8 are forgotten: see ``calibrate``.
        Those that are frozen in flash stay as they are. Interrupted half way it changes nothing, as ``load``.
        """
        from .transfer import set_weights

        set_weights(ready(self), values)

    def save(self, path: "str | PathLike[str] | Place") -> None:
        """Write a checkpoint: weights, scales, optimizer, and where training stands (docs/reference/checkpoint.md).

        ``path``: a file's name, a str or a pathlib.Path, written beside the old one and then renamed; or a place of
        slots.py. OSError when that fails; what was there is then still there.
        """
        from ..files.checkpoint import save

        save(path, ready(self))

    def load(self, path: "str | PathLike[str] | Place") -> None:
        """Read what ``save`` wrote for the same network, compiled alike; else ValueError, and nothing changes.

        ``fit(.., initial_epoch=model.epoch)`` then ends as if training had not stopped. All is read or nothing,
        whatever interrupts it; on a board where the arena and the free heap are smaller than the state, a second error
        in the pass that follows the check leaves a model that raises RuntimeError until ``load`` or ``compile``.
        """
        from ..files.checkpoint import load

        if self.session is None or self.session.busy is True or self.session.fit:
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

        It holds the program, the weights, ranges and optimizer's state as they are, frozen weights too, and where
        training stands (docs/reference/model_file.md). ``purpose`` "inference": without optimizer and gradients, all
        weights frozen, so that they are read in place where the file lies in flash. ``labels``: a list of str, the
        classes' names, kept as ``model.labels``. ``features``: what makes the Input's numbers of samples
        (odt.sensors.features), whose name and parameters the file keeps; ``model.features``. TypeError for a custom
        loss or learning rate, OSError if the file cannot be written; an existing file is then kept.
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
