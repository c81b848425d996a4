"""Networks of other frameworks become odt models, which train on.

    model = odt.host.convert.load(net, shape=(1, 8, 8), calibrate=images)   # an nn.Module; images as net takes them
    model.fit(model.imported.samples(images), labels, epochs=3)
    model.export("digits.odt")

One inner description (graph.py) stands between the readers and odt: nodes in odt's shapes with float weights. It runs
on a PC alone; what it makes runs everywhere. Needs NumPy, and the package of the framework that is read.
docs/howto/import.md has more.
"""

import copy
import importlib
import re
from pathlib import Path

import numpy as np

from .graph import Unsupported
from .sequences import tokens

__all__ = ["Imported", "Unsupported", "load", "read", "save_onnx"]

_BYTES = ("int8", "uint8")
_POLICIES = ("all", "last", "bias", "none")


class Imported:
    """What a model was: ``graph`` is the inner description; how the source's samples and outputs lie in odt's.

    ``left``: {name of a node: why its output has not the source's int8 steps}, of the layers before all that trains.
    ``dtype``: of the samples, where they are bytes in the source's steps, else None. ``vocabulary``: of a network with
    an Embedding, how many tokens there are, else None.
    """

    def __init__(self, graph, left=(), dtype=None):
        self.graph, self.left, self.dtype = graph, dict(left), dtype
        self.vocabulary = tokens.vocabulary_of(graph)

    def samples(self, x):
        """Samples of the source's shape, (samples, channels, height, width) for one, in odt's: channels last.

        Of an array (samples, *shape); the dtype stays, but floats become bytes for an Input of such, rounded as the
        source does, and tokens become uint8. ValueError for another shape, and for tokens beyond the vocabulary.
        """
        graph = self.graph
        return _arranged(self.bytes(x), graph.source_shape, graph.nodes[0].shape, graph.order, "samples")

    def bytes(self, x):
        """Floats as the bytes that the Input takes, and tokens, of any shape; what else is given stays as it is."""
        x = np.asarray(x)
        if self.vocabulary is not None:
            return tokens.as_bytes(x, self.vocabulary, "samples")
        if self.dtype is None or x.dtype.kind != "f":
            return x
        first, low = self.graph.nodes[0], 0 if self.dtype == "uint8" else -128
        steps = np.rint(x.astype(np.float32) / np.float32(first.scale)) + (first.zero_point + 128 + low)
        return np.clip(steps, low, low + 255).astype(self.dtype)

    def outputs(self, y):
        """Outputs of odt's ``predict`` in the source's shape."""
        graph = self.graph
        back = np.empty_like(graph.output_order)
        back[graph.output_order] = np.arange(back.size)
        return _arranged(y, graph.output.shape, graph.source_output, back, "outputs")


def _arranged(x, shape, wanted, order, name):
    x = np.asarray(x)
    if x.size % max(order.size, 1) or x.shape[1:] not in (shape, (order.size,)) and x.ndim != 1:
        raise ValueError("%s: arrays of (n, %s) are expected, got %s" % (name, ", ".join(map(str, shape)), x.shape))
    return np.ascontiguousarray(x.reshape(-1, order.size)[:, order]).reshape((-1,) + tuple(wanted))


def read(source, shape=None):
    """The inner description of a network: an nn.Module or its ExportedProgram, a Keras model, an onnx.ModelProto, or a
    file, .onnx, .keras or .tflite, by its name.

    ``shape``: of a sample as the source takes it, where the source does not say. Unsupported (a ValueError) names the
    node that odt has not; ValueError for a damaged file. Nothing of a file is executed.
    """
    known = readers()
    if isinstance(source, (str, Path)):
        suffix = Path(source).suffix.lower()
        if suffix in (".pt", ".pth", ".pt2", ".pkl", ".ckpt", ".h5"):
            raise ValueError(
                "%s: such a file holds code or a pickle, which is not executed; instead: make the nn.Module, "
                "load_state_dict(torch.load(path, weights_only=True)), and give the module; of Keras, save it as .keras"
                % source
            )
        if suffix not in known:
            named = sorted(each for each in known if each.startswith("."))
            raise ValueError(
                "%s: files that end with %s or %s are read, got %r" % (source, ", ".join(named[:-1]), named[-1], suffix)
            )
        return _reader(known[suffix]).read(source, shape)
    for each in type(source).__mro__:  # the first that is somebody's: with one backend a Keras model is a Module, too
        package = each.__module__.partition(".")[0]
        if package in known:
            return _reader(known[package]).read(source, shape)
    if hasattr(source, "state_dict"):
        return _reader("pytorch").read(source, shape)
    raise TypeError("load takes an nn.Module or a file's name, got %r" % type(source))


def readers():
    """{what is read: module}: of each module here with a line ``READS = ".suffix", "package"``: files that end so, and
    objects of that package. A module is loaded, with its framework, when it is to read.
    """
    found = {}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        line = re.search(r"^READS = (.*)$", path.read_text(), re.MULTILINE)
        if line:
            found.update(dict.fromkeys(re.findall(r'"([^"]+)"', line[1]), path.stem))
    return found


def _reader(name):
    return importlib.import_module("." + name, __name__)


def load(
    source, shape=None, calibrate=None, dtype=None, batch_norm="fold", train="all", input=None, optimizer="adam",
    loss=None, batch_size=16, **options,
):  # fmt: skip
    """An odt model with the weights of ``source`` (see ``read``), compiled: ``fit`` goes on with them.

    ``calibrate``: samples, of the source's shape or of odt's (channels last), from which int8 takes its ranges; those
    before all that trains are the source's own where that is quantized, and where all are, none are needed. ``dtype``:
    "int8" or "float32"; without it int8 where there is ``calibrate``. ``batch_norm``: "fold" makes a BatchNorm part of
    the weights before it (where it cannot be, it stays and does not train), "keep" leaves it a layer that trains.
    ``train``: "all", "last" (the last layer), "bias" (all biases and the last layer), "none", a list of layers' names,
    or a function of the model that is called before ``compile``, as those of ``odt.adapt.update``. ``input``: options
    of ``odt.Input``, as ``{"dtype": "uint8", "scale": 1 / 255}``: the source takes raw times scale; of bytes without a
    scale, ``{"dtype": "int8"}``, raw are the source's own. Tokens are uint8 without it. ``optimizer``, ``loss``,
    ``batch_size`` and the rest: of ``compile``; the loss is of labels, or "mse" where the output has several axes.

    ``model.imported`` is an Imported: ``samples(x)`` and ``outputs(y)`` between the source's axes and odt's.
    Unsupported (a ValueError) names node, operator and what would do instead; ValueError for weights that are NaN, and
    data that do not fit.
    """
    from . import build, steps
    from .equalize import equalize

    if dtype not in (None, "int8", "float32"):
        raise ValueError('dtype is "int8" or "float32", got %r' % (dtype,))
    if batch_norm not in ("fold", "keep"):
        raise ValueError('batch_norm is "fold" or "keep", got %r' % (batch_norm,))
    if isinstance(train, str) and train not in _POLICIES:
        raise ValueError("train is one of %s, a list of names or a function, got %r" % (", ".join(_POLICIES), train))
    dtype = dtype or ("float32" if calibrate is None else "int8")
    if (
        shape is None
        and type(source).__module__[:6] != "keras."
        and hasattr(source, "state_dict")
        and np.ndim(calibrate) > 1
    ):  # a module does not say
        shape = np.shape(calibrate)[1:]
    graph = read(source, shape)
    input = _of_bytes(input, graph)
    model, found, kept, left, fixed = _assembled(graph, batch_norm == "fold", input, train, dtype == "int8")
    if dtype == "int8" and calibrate is None and not fixed:
        raise ValueError('calibrate: samples are needed for the ranges of dtype "int8"; "float32" needs none')
    first = model.nodes[0].layer
    model.imported = Imported(graph, left, first.dtype if first.steps and first.dtype in _BYTES else None)
    data = None if calibrate is None else _calibration(calibrate, model.imported, input)
    if dtype == "int8" and train not in ("last", "none"):
        equalize(graph, kept)
    if loss is None:
        loss = "sparse_categorical_crossentropy" if len(graph.output.shape) == 1 else "mse"
    if train == "none":
        optimizer = None
    model.compile(optimizer, loss, dtype, batch_size, **options)
    build.set_weights(model, graph, found)
    steps.write(model, found, kept)
    if dtype == "int8":
        model.calibrate(np.zeros((1, *first.shape), first.dtype) if data is None else data)
    return model


def _of_bytes(input, graph):
    """The options of the Input; of one of bytes the source's own scale, where none is given; of tokens bytes."""
    first = graph.nodes[0]
    if input is None and tokens.vocabulary_of(graph) is not None:
        return {"dtype": "uint8"}
    known = first.scale is not None
    if known and input and input.get("dtype") in _BYTES and not {"scale", "zero_point"} & set(input):
        shift = 128 if input["dtype"] == "uint8" else 0
        input = dict(input, scale=first.scale, zero_point=first.zero_point + shift)
    return input


def _assembled(graph, norms, input, train, int8):
    """(model, {node: odt's}, what steps.keep() gives) of a Graph, which is settled for it."""
    from . import build, steps

    quantized = int8 and any(node.scale is not None for node in graph.nodes)
    whole = copy.deepcopy(graph) if quantized else graph
    build.fold(whole, norms)
    model, found = build.assemble(whole, input)
    _choose(model, train, whole)
    tokens.refuse_to_train(whole, model)
    if not quantized:
        return model, found, (), {}, False
    chosen = {layer.name: layer for layer in model.layers}
    front = steps.front(graph, {layer.name for layer in model.layers if layer.trainable and layer.weight_shapes()})
    steps.tabulate(graph, front)
    build.fold(graph, norms, front)
    model, found = build.assemble(graph, input)
    for layer in model.layers:
        for name in ("trainable", "update_rows", "update_bias", "dynamic"):
            setattr(layer, name, getattr(chosen[layer.name], name) if layer.name in chosen else False)
    return model, found, *steps.keep(graph, found, model, front)


def save_onnx(model, path):
    """Write a compiled model as ONNX, an int8 one as QDQ: see export.py."""
    from . import export

    export.save_onnx(model, path)


def _choose(model, train, graph):
    """Which layers train; those that are constants of the source never do."""
    from ...adapt import update

    fixed = {node.name for node in graph.nodes if not node.trainable}
    if callable(train):
        train(model)
    elif isinstance(train, str):
        {"all": update.whole, "last": update.last, "bias": update.bias, "none": update.whole}[train](model)
    else:
        update.sparse(model, dict.fromkeys(train, 1))
    for layer in model.layers:
        if layer.name in fixed or train == "none":
            layer.trainable = False


def _calibration(x, imported, input):
    """The samples in odt's axes, as the Input takes them."""
    x = np.asarray(x)
    graph = imported.graph
    wanted = graph.nodes[0].shape
    if x.dtype.kind not in "fiu" or not x.size:
        raise ValueError("calibrate: an array of numbers is expected, got %s of shape %s" % (x.dtype, x.shape))
    if x.dtype.kind == "f" and not np.isfinite(x).all():
        raise ValueError("calibrate: %d of %d numbers are NaN or infinite" % (np.sum(~np.isfinite(x)), x.size))
    if x.shape[1:] == graph.source_shape:
        x = imported.samples(x)
    elif x.shape[1:] != wanted:
        place = (graph.source_shape, wanted, x.shape)
        raise ValueError("calibrate: samples are %s in the source and %s in odt, got an array of %s" % place)
    kind = (input or {}).get("dtype", "float32")
    if kind == "float32":
        return x.astype(np.float32)
    x = imported.bytes(x)
    if x.dtype.kind == "f":
        raise ValueError(
            "calibrate: the input's dtype is %s, got %s: give numpy.rint(x / scale + zero_point).astype(%r)"
            % (kind, x.dtype, kind)
        )
    return x.astype(kind)
