"""Update policies: which weights train. What does not costs no gradient, no state and no instruction.

A policy is applied to a model before ``compile``; the next one replaces it::

    odt.adapt.update.sparse(model, {"conv2d_3": 0.25, "dense": 1})
    model.compile(...)

A layer in which only some channels train keeps one scale per channel, as a frozen one does.
"""

from ..base.fixed import is_int

if 1 - 1:  # for type checkers alone
    from collections.abc import Mapping, Sequence

    from ..model import Model


def whole(model: "Model") -> None:
    """Everything trains."""
    for layer in _layers(model):
        _set(layer, 1, True)


def last(model: "Model", layers: "int" = 1) -> None:
    """The last ``layers`` layers with weights train."""
    owners = _layers(model)
    if not is_int(layers) or not 1 <= layers <= len(owners):
        raise ValueError("layers is in 1..%d, got %r" % (len(owners), layers))
    for number, layer in enumerate(owners):
        trains = number >= len(owners) - layers
        _set(layer, int(trains), trains)


def bias(model: "Model") -> None:
    """All biases train, and the last layer (Cai et al., 2020: no activation is kept for a bias)."""
    for layer in _layers(model):
        _set(layer, 0, True)
    _set(_layers(model)[-1], 1, True)


def freeze(model: "Model", trained: "Sequence[str]" = ()) -> None:
    """The layers that ``trained`` names train, and nothing else."""
    for layer in _layers(model):
        _set(layer, int(layer.name in trained), layer.name in trained)


def norm(model: "Model") -> None:
    """Normalisation layers train, and nothing else (for odt.continual.tent)."""
    for layer in _layers(model):
        _set(layer, int(layer.normalises), layer.normalises)


def norm_and_last(model: "Model") -> None:
    """Normalisation layers train, and the last layer."""
    norm(model)
    _set(_layers(model)[-1], 1, True)


def sparse(model: "Model", ratios: "Mapping[str, float]", biases: "int" = 0) -> None:
    """The first ``ratio`` of the output channels of each layer that ``ratios`` names, {name: ratio}.

    With all the bias of that layer; and the biases of the last ``biases`` layers with weights (Lin et al., 2022: sparse
    update). Raises KeyError for a name that no layer with weights has.
    """
    owners = _layers(model)
    for name, ratio in ratios.items():
        _named(owners, name)
        if not isinstance(ratio, (int, float)) or not 0 < ratio <= 1:
            raise ValueError("%s: a ratio is above 0 and at most 1, got %r" % (name, ratio))
    for number, layer in enumerate(owners):
        ratio = ratios.get(layer.name, 0)
        _set(layer, ratio, ratio > 0 or number >= len(owners) - biases)


def dynamic(model: "Model", minimum: "float" = 0.1, maximum: "float" = 0.5) -> None:
    """At each step the output channels with the largest error train, between two shares of each layer's.

    The share falls from ``maximum`` to ``minimum`` with the error of the network's output, relative to the largest so
    far (Deutel et al., 2024). Of dense, convolution and depthwise layers the weights, but for the last layer: its rows
    are the classes. Biases and what else trains do so whole. RAM is planned for ``maximum``. Not with ``micro_batch``
    or ``global_clipnorm``.
    """
    for name, value in (("minimum", minimum), ("maximum", maximum)):
        if not isinstance(value, (int, float)) or not 0 < value <= 1:
            raise ValueError("%s is above 0 and at most 1, got %r" % (name, value))
    if minimum > maximum:
        raise ValueError("minimum is at most maximum, got %r and %r" % (minimum, maximum))
    whole(model)
    for layer in _layers(model)[:-1]:
        if layer.can_be_dynamic:
            layer.dynamic = Dynamic(int(minimum * 65536 + 0.5), int(maximum * 65536 + 0.5))


class Dynamic:
    """A layer's ``dynamic``: the smallest and largest share of its rows that trains in a step, in 65536ths.

    The planner calls its methods (plan.py).
    """

    def __init__(self, low: "int", high: "int") -> None:
        self.low, self.high = low, high

    def relative(self, *arguments: "object") -> None:
        from .plan import relative

        relative(*arguments)

    def backward(self, *arguments: "object") -> "object":
        from .plan import backward

        return backward(*arguments)


def channels(model: "Model", ranges: "Mapping[str, Sequence[tuple[int, int]]]") -> None:
    """Of each layer that ``ranges`` names these output channels, with all its bias: {name: ((first, count), ..)}.

    ``first`` rises, ranges do not meet. What adapt.py chooses. Raises KeyError as ``sparse``.
    """
    owners = _layers(model)
    for name, rows in ranges.items():
        layer = _named(owners, name)
        end = -1
        for first, count in rows:
            if not end < first < first + count <= (layer.kernel_shape or (0,))[0]:
                raise ValueError(
                    "%s: (first, count) of channels, rising and apart, are expected, got %r" % (name, rows)
                )
            end = first + count
    for layer in owners:
        rows = tuple(ranges.get(layer.name, ()))
        _set(layer, int(len(rows) > 0), len(rows) > 0)
        if rows and rows != ((0, layer.kernel_shape[0]),):
            layer.update_rows = rows


def _layers(model):
    """The model's layers with weights that may train, in order."""
    return [node.layer for node in model.nodes if node.layer.weight_shapes() and not node.layer.view]


def _named(owners, name):
    names = [layer.name for layer in owners]
    if name not in names:
        raise KeyError("no layer with weights is called %r; there are %s" % (name, ", ".join(names)))
    return owners[names.index(name)]


def _set(layer, ratio, with_bias):
    layer.dynamic = None
    if layer.kernel_shape is None:  # a normalisation trains as a whole
        layer.trainable = ratio > 0
        return
    rows = layer.kernel_shape[0]
    count = min(rows, int(ratio * rows + 0.999))
    layer.update_rows = None if count == rows else ((0, count),) if count else ()
    layer.update_bias = with_bias
    layer.trainable = count > 0 or (with_bias and layer.use_bias)
    if not layer.trainable:  # so that trainable = True means all of it
        layer.update_rows, layer.update_bias = None, True
