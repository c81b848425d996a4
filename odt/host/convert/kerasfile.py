"""Opens a .keras file.

Only layers and operations that kerasmodel.py reads are made, and their sizes are checked before that.
"""

import io
import json
import tempfile
import zipfile
from pathlib import Path

import h5py
import keras
import numpy as np

from .graph import MOST, Unsupported, parsing, refuse
from .kerasmodel import described

_LARGEST = 1 << 28  # bytes of what a file unpacks to, and of what its data sets declare
_LONGEST = 1 << 23  # bytes of its description
_DEEPEST = 200
_OF_TRAINING = ("keras.initializers", "keras.regularizers", "keras.constraints")
_MODELS = (
    ("keras", "Sequential"), ("keras", "Model"), ("keras", "Functional"),
    ("keras.src.models.functional", "Functional"), ("keras.src.models.sequential", "Sequential"),
)  # fmt: skip
_PLAIN = ("__tuple__", "__keras_tensor__", "__numpy__", "__tensor__", "__ellipsis__", "__slice__", "__bytes__")


def opened(path):
    """The Keras model of a file. Unsupported where it names what odt does not read; ValueError for a damaged file."""
    with parsing(path):
        config, weights = _unpacked(path)
    _check(config, path)
    _check_weights(weights, path)
    return _made(config, weights, path)


def _unpacked(path):
    """(the description, the bytes of the HDF5 file of weights) of a file."""
    with zipfile.ZipFile(path) as archive:
        size = sum(each.file_size for each in archive.infolist())
        if size > _LARGEST:
            raise ValueError("unpacks to %d bytes, at most %d are read" % (size, _LARGEST))
        size = archive.getinfo("config.json").file_size
        if size > _LONGEST:
            raise ValueError("its description has %d bytes, at most %d are read" % (size, _LONGEST))
        config = json.loads(archive.read("config.json"))
        if not isinstance(config, dict):
            raise ValueError("its description is no object")
        return config, archive.read("model.weights.h5")


# --- the description --------------------------------------------------------------------------


def _check(config, path):
    """Check all that a description names, and take out what belongs to training: optimizer, loss and metrics."""
    todo, found = [(config, 0)], []
    while todo:
        each, depth = todo.pop()
        if depth > _DEEPEST:
            raise ValueError("%s is damaged: its description is nested more than %d times" % (path, _DEEPEST))
        if isinstance(each, dict):
            if "class_name" in each:
                each.pop("compile_config", None)
                found.append(each)
            each = list(each.values())
        if isinstance(each, list):
            todo += [(inner, depth + 1) for inner in reversed(each)]
    for each in found:
        _check_object(each, path)


def _check_object(each, path):
    """Unsupported where an object of the description is no layer,
    operation or initializer of Keras's that odt reads.
    """
    name, module, config = each["class_name"], each.get("module"), each.get("config")
    if not isinstance(name, str):
        raise ValueError("%s is damaged: the name of a class is %r" % (path, name))
    if name in _PLAIN:
        return
    if each.get("registered_name") not in (None, name):
        _not_executed(each["registered_name"], module)
    if (module, name) in _MODELS or module in _OF_TRAINING or (module, name) == ("keras", "DTypePolicy"):
        return
    if not isinstance(config, dict):
        if module in ("builtins", None):
            _not_executed(name if config is None else config, module)
        raise ValueError("%s is damaged: a %s without options" % (path, name))
    kind = described(module, name)
    if kind is None:
        _not_executed(name, module)
    origin = "layer %s (%s)" % (config.get("name", name), name)
    if name == "InputLayer":  # whose dtype the reader checks, by what reads it
        kind.check({**config, "dtype": None}, origin)
        _check_size(config.get("batch_shape") or (), MOST, origin)
    else:
        kind.check(config, origin)


def _not_executed(name, module):
    raise Unsupported("the file names %s of %s, which is not executed; instead: Keras's own layers" % (name, module))


def _check_size(shape, most, origin):
    """How many numbers a tensor of this shape has; Unsupported where there are more than ``most``."""
    shape = tuple(shape) if isinstance(shape, (list, tuple)) else (shape,)
    size = 1
    for each in shape:
        size *= max(int(each), 1) if isinstance(each, (int, np.integer)) else 1
    if size > most:
        refuse(origin, "has a tensor of shape %s, above %d numbers" % (shape, most))
    return size


# --- the weights ------------------------------------------------------------------------------


def _check_weights(data, path):
    """ValueError where data sets are declared that the file does not hold."""
    with parsing(path):
        found = list(_stored(data))
    total = 0
    for name, declared, stored in found:
        total += declared
        if stored is None:
            raise ValueError("%s is damaged: its weights %s lie in another file" % (path, name))
        if stored < declared:
            raise ValueError(
                "%s is damaged: %d bytes of weights %s, %d of them stored" % (path, declared, name, stored)
            )
    if total > _LARGEST:
        raise ValueError("%s is damaged: %d bytes of weights, at most %d are read" % (path, total, _LARGEST))


def _stored(data):
    """(name, bytes declared, bytes stored, None where not in this file) of all data sets of an HDF5 file."""
    with h5py.File(io.BytesIO(data), "r") as file:
        groups, seen = [file], set()
        while groups:
            group = groups.pop()
            for name in group:
                if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                    yield name, 0, None
                    continue
                item = group[name]
                address = h5py.h5o.get_info(item.id).addr
                if address not in seen and isinstance(item, h5py.Group):
                    groups.append(item)
                elif address not in seen and isinstance(item, h5py.Dataset):
                    elsewhere = item.external or item.is_virtual
                    yield item.name, item.nbytes, None if elsewhere else item.id.get_storage_size()
                seen.add(address)


# --- the model --------------------------------------------------------------------------------


class _Budget:
    """While it is entered, Keras's layers make no weights above MOST numbers, and none above 4 * MOST in all."""

    def __init__(self):
        self.total = 0
        self.refused = None

    def __enter__(self):
        self.made = keras.layers.Layer.add_weight

        def add_weight(layer, shape=None, *arguments, **options):
            origin = "layer %s (%s)" % (layer.name, type(layer).__name__)
            try:
                self.total += _check_size(shape or (), min(MOST, 4 * MOST - self.total), origin)
            except Exception as error:  # which Keras may turn into another
                self.refused = error
                raise
            return self.made(layer, shape, *arguments, **options)

        keras.layers.Layer.add_weight = add_weight
        return self

    def __exit__(self, *error):
        keras.layers.Layer.add_weight = self.made


def _made(config, weights, path):
    """The model, by Keras, of a description that has been checked: it reads a file that holds nothing else."""
    with tempfile.TemporaryDirectory() as folder, _Budget() as budget:
        checked = Path(folder) / "checked.keras"
        with zipfile.ZipFile(checked, "w") as archive:
            archive.writestr("config.json", json.dumps(config))
            archive.writestr("model.weights.h5", weights)
        with parsing(path):
            try:
                return keras.saving.load_model(checked, compile=False, safe_mode=True)
            except Exception:
                if not budget.refused:
                    raise
        raise budget.refused
