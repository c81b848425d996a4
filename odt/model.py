"""Models: what a user trains. Compiles a graph once; what then runs its program is a Network."""

from .base.executor import collect
from .base.fixed import is_int, own
from .layers import Layer
from .losses import LOSSES
from .optimizers import OPTIMIZERS
from .plan import unload
from .plan.graph import Node, trace
from .run.network import Network

if 1 - 1:  # for type checkers alone
    from collections.abc import Sequence
    from typing import Literal

    from typing_extensions import TypeAlias

    from .adapt.zeroth import ZerothOrder
    from .losses import _Loss
    from .optimizers import SGD, Adam
    from .run.network import Bytes

    LossName: TypeAlias = Literal[
        "sparse_categorical_crossentropy",
        "categorical_crossentropy",
        "binary_crossentropy",
        "mse",
        "mean_squared_error",
        "mae",
        "mean_absolute_error",
        "huber",
    ]


class Model(Network):
    """A network from one Input node to one output node.

    ``compile`` plans it and reserves its memory.
    """

    nodes: "list[Node]"

    def __init__(self, inputs: "Node", outputs: "Node") -> None:
        for node in (inputs, outputs):
            if not isinstance(node, Node):
                raise TypeError("Model: an Input and a layer's output are expected, got %r" % type(node))
        nodes = trace([inputs], outputs)
        taken = [node.layer.name for node in nodes]
        numbers = {}  # name without its number -> the first number that may be free
        for node in nodes:
            if node.layer.name is None:
                base = "input" if node.layer.kind == "input" else type(node.layer).__name__.lower()
                number = numbers.get(base, 0)
                while _numbered(base, number) in taken:
                    number += 1
                numbers[base] = number + 1
                node.layer.name = _numbered(base, number)
                taken.append(node.layer.name)
        for name in taken:
            if name and taken.count(name) > 1:
                raise ValueError("two layers are called %r" % name)
        self.nodes = nodes

    def compile(
        self,
        optimizer: "Literal['sgd', 'adam', 'adamw'] | SGD | Adam | ZerothOrder | None" = "adam",
        loss: "LossName | _Loss" = "sparse_categorical_crossentropy",
        dtype: "Literal['int8', 'float32']" = "int8",
        batch_size: "int" = 16,
        seed: "int" = 0,
        micro_batch: "int | None" = None,
        memory_budget: "int | None" = None,
        checkpoint: "Literal['sqrt'] | None" = None,
        frozen: "Bytes | None" = None,
        metrics: "str | Sequence[str] | None" = None,
    ) -> None:
        """Plan the training, reserve its memory and draw the first weights.

        Called again it keeps weights, and int8's ranges where the plan has the same, as Keras does; the optimizer's
        state starts again, and ``seed`` then only affects order and dropout: for new weights build the model again. A
        layer's changed ``trainable`` takes effect, too. ``optimizer``: "sgd", "adam" or an object of optimizers.py,
        None to predict and evaluate alone; ``loss``: "sparse_categorical_crossentropy", "mse" or an object of
        losses.py; ``dtype``: "int8" (integers throughout) or "float32". ``micro_batch``: number of samples processed at
        a time; their gradients are summed, with one update per batch: the arena of a small batch and the sums for the
        steps of a large one, to the same bits in int8 (but where LeakyReLU or a frozen layer rounds errors at random),
        in float32 but for the order of summation. ``memory_budget``: the largest number of bytes of arena and state; to
        reach it, activations are recomputed (recompute.py), and on a PC layers run by rows (host/rows). ``checkpoint``
        "sqrt": recompute in any case, keeping about the root of the layers' number. ``frozen``: the weights of layers
        that do not train, read in place, without RAM (frozen.py). ``metrics``: "accuracy" alone, which losses of labels
        and BinaryCrossentropy give in any case. Raises MemoryError with the bytes needed and there; the model is then
        as before.
        """
        if optimizer is not None:
            optimizer = _named("optimizer", optimizer, OPTIMIZERS, "direct")
        elif not micro_batch is memory_budget is checkpoint is None:
            raise ValueError(
                "optimizer: None does not train: micro_batch, memory_budget and checkpoint belong to training"
            )
        loss = _named("loss", loss, LOSSES, "emit")
        if dtype not in ("int8", "float32"):
            raise ValueError('dtype is "int8" or "float32", got %r' % (dtype,))
        if dtype == "float32" and optimizer and optimizer.state == "int16":
            raise ValueError('optimizer: state "int16" belongs to dtype "int8", got "float32"')
        for metric in (metrics,) if isinstance(metrics, str) else metrics or ():
            if metric != loss.name and not (loss.hits and metric in ("accuracy", "acc")):
                place = (metric, loss.name, ', with "accuracy"' if loss.hits else "")
                raise ValueError("metrics: unknown %r; built in: %s%s; see odt.metrics" % place)
        batch_size, seed, micro_batch, memory_budget = own(batch_size), own(seed), own(micro_batch), own(memory_budget)
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
        if not self.nodes:
            raise ValueError("the model has no layers: model.add(odt.Input(..)) first")
        logits = getattr(loss, "from_logits", None)
        if logits is not None and bool(logits) == (self.nodes[-1].layer.kind == loss.activation):
            place = (bool(logits), self.nodes[-1].layer, "without" if logits else "with", loss.activation)
            raise ValueError(
                "loss: from_logits=%s after %r: write the last layer %s activation=%r, or no from_logits" % place
            )
        if loss.labels and len(self.nodes[-1].shape) != 1:
            place = (self.nodes[-1].layer, self.nodes[-1].shape)
            raise ValueError("%r has the output's shape %s, labels need (classes,)" % place)
        if self.session is not None:
            if self.session.busy is True:
                self.session.refuse()
            self.session.alone("compile")
        options = (optimizer, loss, dtype, batch_size, micro_batch, seed, memory_budget, checkpoint, frozen)
        try:
            from .run.build import compiled

            session = compiled(self.nodes, options, self.session)
            if self.session is not None:
                from .run.habits import keep

                keep(self.session, session)
            self.session = session  # until here the model before is whole
        except BaseException as error:
            if self.session is not None:
                from .run.build import attach

                attach(self.session)
            if isinstance(error, MemoryError):
                compiled = attach = None
                unload()
            raise
        collect()

    @property
    def trainable(self) -> "bool":
        """Whether a layer with weights trains. Set, it is that of all of these, from the next ``compile`` on."""
        from .run.habits import trains

        return trains(self)

    @trainable.setter
    def trainable(self, value: "bool") -> None:
        from .run.habits import trains

        trains(self, value)

    @property
    def layers(self) -> "list[Layer]":
        """The layers in the order of the graph."""
        return [node.layer for node in self.nodes]

    def summary(self) -> None:
        """Print the layers and, once compiled, their costs, and the RAM that training takes, to the byte."""
        if self.session is not None:
            return super().summary()
        from .plan.report import outline

        outline(self.nodes)


class Sequential(Model):
    """A stack of layers; the first item is an Input, or a layer with ``input_shape=``.

    Example::

        model = odt.Sequential([odt.Input((2,)), odt.Dense(8, activation="relu"), odt.Dense(2)])
    """

    def __init__(self, layers: "Sequence[Node | Layer]" = ()) -> None:
        if not isinstance(layers, (list, tuple)):
            raise TypeError("Sequential: a list of layers is expected, got %r" % (layers,))
        self.nodes = []
        self.stack([], layers)

    def add(self, layer: "Node | Layer") -> None:
        """Append a layer. ValueError after ``compile``."""
        from .run.habits import add

        add(self, layer)

    def pop(self) -> "Layer":
        """Remove the last layer and return it. ValueError after ``compile``."""
        from .run.habits import pop

        return pop(self)

    def stack(self, ends: "list[Node]", layers: "Sequence[Node | Layer]") -> None:
        """Become the stack of these nodes, the last of each item, and these layers."""
        for layer in layers:
            ends = _after(ends, layer)
        if ends:
            super().__init__(ends[0], ends[-1])
        self.ends = ends

    @property
    def layers(self) -> "list[Layer]":
        """The layers in their order, without the Input."""
        return [node.layer for node in self.nodes[1:]]


def _after(ends, layer):
    """A Sequential's nodes with a layer's, or those of the first item."""
    if ends:
        if not isinstance(layer, Layer):
            raise TypeError("Sequential: layers are expected, got %r" % (layer,))
        return ends + [layer(ends[-1])]
    if isinstance(layer, Layer) and layer.input_shape is not None:
        from .layers import Input

        return _after([Input(layer.input_shape)], layer)
    if not isinstance(layer, Node) or layer.layer.kind != "input":
        raise ValueError("Sequential: the first item is an odt.Input, or a layer with input_shape=; got %r" % (layer,))
    return [layer]


def _numbered(base, number):
    return "%s_%d" % (base, number) if number else base


def _named(argument, value, table, method):
    if isinstance(value, str):
        name = value.lower()
        if name not in table:
            raise ValueError("%s is one of %s, got %r" % (argument, ", ".join(sorted(table)), value))
        return table[name]()
    if not hasattr(value, method) or isinstance(value, type):
        raise TypeError("%s is a name or an object, got %r" % (argument, value))
    return value
