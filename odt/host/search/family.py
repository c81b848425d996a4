"""Networks that networks.py can choose from when nobody says which: of dense layers, or convolutions, for the data's
shape.

    family = Family((x, y))
    model = family(trial)                       # of Optuna: compiled
    family.fit(model, trial, (x, y), epochs=8)

What is chosen: the kind of layers, how many, how wide, how images shrink, dtype, optimizer and its rate, the batch and
its parts, activations that are computed again, and channels that are cut half way. With samples to ``adapt`` to, the
update policy.
"""

import numpy as np

from ... import layers as layer_names
from ...adapt import update
from ...layers.normalization import Normalization
from ...model import Sequential
from ...optimizers import SGD, Adam

OPTIMIZERS = {"adam": Adam, "momentum": lambda rate: SGD(rate, 0.9), "sgd": SGD}
POLICIES = ("whole", "bias", "last")


class Family:
    """``train``: (x, y), x an array (samples, numbers), (samples, steps, channels) or (samples, rows, columns,
    channels) of float32, uint8 or int8, y integer labels from 0 on.

    ``scale``: what a step of uint8 and int8 means; 1 / the largest magnitude if not given. ``dtypes``: those to choose
    from. ``normalize``: None puts a Normalization before float32 features whose means or deviations differ much, False
    does not. ``adapt``: a pair (x, y) of the board's own. Then a network is trained on the others whole, and on these
    by a policy; else all of it is trained. ``seed``: of first weights and of the order of samples.
    """

    def __init__(self, train, scale=None, dtypes=("int8", "float32"), adapt=None, seed=0, normalize=None):
        x, y = train
        x, y = np.asarray(x), np.asarray(y)
        if x.dtype not in ("float32", "uint8", "int8"):
            raise ValueError("x: float32, uint8 or int8 is expected, got %s" % x.dtype)
        if not 2 <= x.ndim <= 4 or not x.size:
            raise ValueError("x: (samples, ..) of one to three axes is expected, got %s" % (x.shape,))
        if y.shape != x.shape[:1] or y.dtype.kind not in "iu" or y.min() < 0:
            raise ValueError(
                "y: %d integer labels from 0 on are expected, got %s of shape %s" % (len(x), y.dtype, y.shape)
            )
        if x.dtype == "float32" and not np.isfinite(x).all():
            raise ValueError("x: not all numbers are finite")
        self.shape, self.format, self.classes = x.shape[1:], str(x.dtype), int(y.max()) + 1
        self.scale = scale
        if scale is None and self.format != "float32":
            self.scale = 1 / max(1, int(np.abs(x.astype("int16")).max()))
        if self.classes < 2:
            raise ValueError("y: two classes at least are expected, all labels are 0")
        self.dtypes, self.adapt, self.seed = tuple(dtypes), adapt, seed
        self.raw = x if normalize is not False and _is_raw(x) else None

    def starts(self):
        """Choices to try first: shapes that people write by hand, from wide to narrow."""
        plain = {"prune": 0.0, "batch": 16, "parts": 1, "rate": 0.004, "optimizer": "adam", "recompute": False}
        if len(self.dtypes) > 1:
            plain["dtype"] = self.dtypes[0]
        found = []
        if len(self.shape) > 1:
            plain["kind"] = "conv"
            for width in (16, 8, 4):
                for kernel in (3, 5):
                    shape = {"shrink": "pool", "kernel": kernel, "filters": width, "growth": 2.0, "blocks": 2}
                    found += [
                        dict(plain, head="flatten", **shape),
                        dict(plain, head="dense", hidden=4 * width, **shape),
                    ]
                found.append(
                    dict(plain, shrink="stride", kernel=3, filters=width, growth=1.5, blocks=3, head="average")
                )
            plain["kind"] = "dense"
        for widths in ((128, 64), (64, 32), (64,), (32,), (16,), ()):
            shape = {"width %d" % number: width for number, width in enumerate(widths)}
            found.append(dict(plain, depth=len(widths), **shape))
        return found

    def __call__(self, trial):
        """The network of a trial's choices, compiled."""
        model = Sequential(self.layers(trial))
        if self.adapt is not None:
            getattr(update, trial.suggest_categorical("policy", POLICIES))(model)
        self._compile(model, trial)
        return model

    def _compile(self, model, trial):
        batch = trial.suggest_categorical("batch", (4, 8, 16, 32))
        parts = trial.suggest_categorical("parts", (1, 2, 4))
        rate = trial.suggest_categorical("rate", (0.001, 0.002, 0.004, 0.008, 0.016, 0.032))
        optimizer = OPTIMIZERS[trial.suggest_categorical("optimizer", tuple(OPTIMIZERS))](rate)
        again = trial.suggest_categorical("recompute", (False, True))
        dtype = self.dtypes[0] if len(self.dtypes) == 1 else trial.suggest_categorical("dtype", self.dtypes)
        model.compile(
            optimizer, dtype=dtype, batch_size=batch, seed=self.seed, micro_batch=batch // parts if parts > 1 else None,
            checkpoint="sqrt" if again else None,
        )  # fmt: skip

    def layers(self, trial, whole=False):
        """Input and layers; ``whole``: with the channels that are cut later on."""
        source = {} if self.format == "float32" else {"dtype": self.format, "scale": self.scale}
        found = [layer_names.Input(self.shape, **source)]
        if self.raw is not None:
            found.append(Normalization())
            found[-1].adapt(self.raw)
        cut = trial.suggest_categorical("prune", (0.0, 0.25, 0.5))

        def wide(width):
            return max(1, int(width / (1 - cut) + 0.5)) if whole else max(1, width)

        kind = "dense"
        if len(self.shape) > 1:
            kind = trial.suggest_categorical("kind", ("conv", "separable", "dense"))
            if kind == "dense":
                found.append(layer_names.Flatten())
        if kind == "dense":
            for number in range(trial.suggest_int("depth", 0, 2)):
                width = trial.suggest_categorical("width %d" % number, (4, 8, 16, 24, 32, 48, 64, 96, 128))
                found.append(layer_names.Dense(wide(width), "relu"))
        else:
            self._blocks(trial, found, kind, wide)
        return [*found, layer_names.Dense(self.classes)]

    def _blocks(self, trial, found, kind, wide):
        axes = len(self.shape) - 1
        convolution, pooling = (
            (layer_names.Conv1D, layer_names.MaxPool1D) if axes == 1 else (layer_names.Conv2D, layer_names.MaxPool2D)
        )
        by_stride = trial.suggest_categorical("shrink", ("stride", "pool")) == "stride"
        width = trial.suggest_categorical("filters", (4, 6, 8, 12, 16, 24, 32))
        growth = trial.suggest_categorical("growth", (1.0, 1.5, 2.0))
        kernel = trial.suggest_categorical("kernel", (3, 5))
        size = self.shape[:-1]
        for number in range(trial.suggest_int("blocks", 1, 4)):
            halves = max(size) >= 4
            strides = 2 if halves and by_stride else 1
            filters = wide(int(width * growth**number + 0.5))
            if number and kind == "separable" and axes == 2:
                found.append(layer_names.DepthwiseConv2D(3, strides, "same", "relu"))
                found.append(convolution(filters, 1, activation="relu"))
            else:
                found.append(convolution(filters, kernel, strides, "same", "relu"))
            if halves:
                if not by_stride:
                    found.append(pooling(padding="same"))
                size = [-(-extent // 2) for extent in size]
        head = trial.suggest_categorical("head", ("flatten", "average", "dense"))
        found.append(layer_names.GlobalAvgPool() if head == "average" else layer_names.Flatten())
        if head == "dense":
            found.append(layer_names.Dense(wide(trial.suggest_categorical("hidden", (16, 32, 64))), "relu"))

    def fit(self, model, trial, train, epochs, callbacks=()):
        """Train a compiled model as its trial's choices say.

        One of the ``callbacks`` may end the training, but not an adaptation.
        """
        cut = trial.suggest_categorical("prune", (0.0, 0.25, 0.5))
        callbacks = list(callbacks) if self.adapt is None else []
        if cut == 0 and self.adapt is None:
            model.fit(*train, epochs=epochs, verbose=0, callbacks=callbacks)
            return
        before = Sequential(self.layers(trial, whole=True)) if cut else Sequential(self.layers(trial))
        self._compile(before, trial)
        before.fit(*train, epochs=max(1, epochs // 2) if cut else epochs, verbose=0, callbacks=callbacks)
        if before.stop_training:
            return
        if cut:
            after = Sequential(self.layers(trial)) if self.adapt is not None else model
            if after is not model:
                self._compile(after, trial)
            after.set_weights(cut_channels(before, after))
            after.fit(*train, epochs=epochs - epochs // 2, verbose=0)
            before = after
        if self.adapt is not None:
            model.set_weights(before.get_weights())
            model.fit(*self.adapt, epochs=epochs, verbose=0)


def _is_raw(x):
    """Whether float32 samples have features, along the last axis, of other sizes than one range of int8 shows well."""
    if x.dtype != "float32" or x.shape[-1] > 256:
        return False
    features = x.reshape(-1, x.shape[-1]).astype("float64")
    means, deviations = abs(features.mean(0)), features.std(0)
    deviations = deviations[deviations > 0]
    return bool(deviations.size) and (deviations.max() > 4 * deviations.min() or means.max() > 4 * deviations.max())


def cut_channels(wide, narrow):
    """Of a Sequential's weights those of the channels of the largest norm, as many as the narrow one has: for its
    ``set_weights``.
    """
    values, found, kept, sizes = list(wide.get_weights()), [], None, None
    for node, other in zip(wide.nodes[1:], narrow.nodes[1:]):
        layer, name = node.layer, type(node.layer).__name__
        shapes = layer.weight_shapes()
        if not shapes:
            if name == "Flatten" and kept is not None and len(sizes) > 1:
                positions = int(np.prod(sizes[:-1]))
                kept = [position * sizes[-1] + channel for position in range(positions) for channel in kept]
            sizes = node.shape
            continue
        arrays = [np.asarray(values.pop(0), "float32").reshape(shape) for _, shape in shapes]
        kernel = arrays[0]
        if name == "DepthwiseConv2D":
            arrays = arrays if kept is None else [array[kept] for array in arrays]
        else:
            if kept is not None:
                kernel = kernel[..., kept]
            count = other.layer.weight_shapes()[0][1][0]
            norms = np.sqrt((kernel.reshape(len(kernel), -1) ** 2).sum(1))
            kept = sorted(np.argsort(-norms, kind="stable")[:count].tolist())
            arrays = [kernel[kept], *[array[kept] for array in arrays[1:]]]
        found += [array.ravel() for array in arrays]
        sizes = node.shape
    return found
