"""Networks of other frameworks become odt models, which train on.

    model = odt.host.convert.load(net, shape=(1, 8, 8), calibrate=images)   # an nn.Module; images as net takes them
    model.fit(model.imported.samples(images), labels, epochs=3)
    model.export("digits.odt")

One inner description (graph.py) stands between the readers and odt: nodes in odt's shapes with float weights. It runs on a PC
alone; what it makes runs everywhere. Needs NumPy, and the package of the framework that is read. docs/import.md has more.
"""

from pathlib import Path

import numpy as np

from .graph import Unsupported

__all__ = ["Imported", "Unsupported", "load", "read", "save_onnx"]

_POLICIES = ("all", "last", "bias", "none")


class Imported:
    """What a model was: ``graph`` is the inner description; how the source's samples and outputs lie in odt's."""

    def __init__(self, graph):
        self.graph = graph

    def samples(self, x):
        """Samples of the source's shape, (samples, channels, height, width) for one, in odt's: channels last.

        Of an array (samples, *shape); the dtype stays. ValueError for another shape.
        """
        graph = self.graph
        return _arranged(x, graph.source_shape, graph.nodes[0].shape, graph.order, "samples")

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

    ``shape``: of a sample as the source takes it, where the source does not say. Unsupported (a ValueError) names the node
    that odt has not; ValueError for a damaged file. Nothing of a file is executed.
    """
    if isinstance(source, (str, Path)):
        suffix = Path(source).suffix.lower()
        if suffix in (".pt", ".pth", ".pt2", ".pkl", ".ckpt", ".h5"):
            raise ValueError(
                "%s: such a file holds code or a pickle, which is not executed; instead: make the nn.Module, "
                "load_state_dict(torch.load(path, weights_only=True)), and give the module; of Keras, save it as .keras"
                % source
            )
        if suffix == ".keras":
            from . import kerasmodel

            return kerasmodel.read(source)
        if suffix == ".onnx":
            from . import onnxfile

            return onnxfile.read(source, shape)
        if suffix == ".tflite":
            from . import tflitefile

            return tflitefile.read(source, shape)
        raise ValueError("%s: files that end with .onnx, .keras or .tflite are read, got %r" % (source, suffix))
    if type(source).__module__.partition(".")[0] == "onnx":
        from . import onnxfile

        return onnxfile.read(source, shape)
    if any(each.__module__.startswith("keras.") for each in type(source).__mro__):  # with one backend a Module, too
        from . import kerasmodel

        return kerasmodel.read(source)
    if type(source).__module__.partition(".")[0] == "torch" or hasattr(source, "state_dict"):
        from . import pytorch

        return pytorch.read(source, shape)
    raise TypeError("load takes an nn.Module or a file's name, got %r" % type(source))


def load(
    source, shape=None, calibrate=None, dtype=None, batch_norm="fold", train="all", input=None, optimizer="adam",
    loss=None, batch_size=16, **options,
):  # fmt: skip
    """An odt model with the weights of ``source`` (see ``read``), compiled: ``fit`` goes on with them.

    ``calibrate``: samples, of the source's shape or of odt's (channels last), from which int8 takes its ranges. ``dtype``: "int8" or
    "float32"; without it int8 where there is ``calibrate``. ``batch_norm``: "fold" makes a BatchNorm part of the weights before
    it (where it cannot be, it stays and does not train), "keep" leaves it a layer that trains. ``train``: "all", "last" (the last layer),
    "bias" (all biases and the last layer), "none", a list of layers' names, or a function of the model that is called before
    ``compile``, as those of ``odt.update``. ``input``: options of ``odt.Input``, as ``{"dtype": "uint8", "scale": 1 / 255}``: the source takes raw times
    scale. ``optimizer``, ``loss``, ``batch_size`` and the rest: of ``compile``; the loss is of labels, or "mse" where the output has several axes.

    ``model.imported`` is an Imported: ``samples(x)`` and ``outputs(y)`` between the source's axes and odt's.
    Unsupported (a ValueError) names node, operator and what would do instead; ValueError for weights that are NaN, and data that do not fit.
    """
    from . import build
    from .equalize import equalize

    if dtype not in (None, "int8", "float32"):
        raise ValueError('dtype is "int8" or "float32", got %r' % (dtype,))
    if batch_norm not in ("fold", "keep"):
        raise ValueError('batch_norm is "fold" or "keep", got %r' % (batch_norm,))
    if isinstance(train, str) and train not in _POLICIES:
        raise ValueError("train is one of %s, a list of names or a function, got %r" % (", ".join(_POLICIES), train))
    dtype = dtype or ("float32" if calibrate is None else "int8")
    if dtype == "int8" and calibrate is None:
        raise ValueError('calibrate: samples are needed for the ranges of dtype "int8"; "float32" needs none')
    if (
        shape is None
        and type(source).__module__[:6] != "keras."
        and hasattr(source, "state_dict")
        and np.ndim(calibrate) > 1
    ):  # a module does not say
        shape = np.shape(calibrate)[1:]
    graph = read(source, shape)
    build.fold(graph, batch_norm == "fold")
    if dtype == "int8" and train not in ("last", "none"):
        equalize(graph)
    model, weights = build.assemble(graph, input)
    model.imported = Imported(graph)
    data = None if calibrate is None else _calibration(calibrate, model.imported, input)
    _choose(model, train, graph)
    if loss is None:
        loss = "sparse_categorical_crossentropy" if len(graph.output.shape) == 1 else "mse"
    if train == "none":
        optimizer = None
    model.compile(optimizer, loss, dtype, batch_size, **options)
    build.set_weights(model, weights)
    if dtype == "int8":
        model.calibrate(data)
    return model


def save_onnx(model, path):
    """Write a compiled model as ONNX, an int8 one as QDQ: see export.py."""
    from . import export

    export.save_onnx(model, path)


def _choose(model, train, graph):
    """Which layers train; those that are constants of the source never do."""
    from odt import update

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
    if x.dtype.kind == "f":
        raise ValueError("calibrate: the input's dtype is %s, got %s" % (kind, x.dtype))
    return x.astype(kind)
