"""What Keras's models have and few programs use, found by its name: loaded when one asks for an attribute that a model
has not.
"""

from ..base.fixed import bits_to_float, elements
from .session import ready

SAME = {"train_on_batch": "train_step", "test_on_batch": "evaluate", "predict_on_batch": "predict"}
OF_LAYERS = "nodes", "compile"  # what a model from a file lacks


def find(model, name):
    """The attribute; AttributeError where there is none of that name."""
    if name in OF_LAYERS:
        raise AttributeError(
            "%s: a model from a file has no layers: build it, compile(), load_weights() the file" % name
        )
    if name in SAME:
        return getattr(model, SAME[name])
    if name in FOUND and (name == "count_params" or model.session is not None or hasattr(model, "nodes")):
        return FOUND[name](model)
    raise AttributeError("a model has no %s" % name)


def _get_layer(model):
    def get_layer(name=None, index=None):
        layers = model.layers
        if (name is None) == (index is None):
            raise ValueError("get_layer: a name or an index is expected")
        for at, layer in enumerate(layers):
            if layer.name == name or at == index:
                return layer
        place = ", ".join([layer.name for layer in layers])
        raise ValueError("get_layer: no layer is %r; there are %s" % (name if index is None else index, place))

    return get_layer


def _count_params(model):
    if hasattr(model, "nodes"):
        layers = model.layers
    else:
        layers = [layer for layer, _ in ready(model, reads=True).plan.weights]
    return lambda: sum([elements(shape) for layer in layers for _, shape in layer.weight_shapes()])


def _output_shape(model):
    return (None,) + tuple(model.nodes[-1].shape if hasattr(model, "nodes") else model.session.shape)


def _input_shape(model):
    return (None,) + tuple(model.nodes[0].shape if hasattr(model, "nodes") else model.session.input.shape)


FOUND = {
    "get_layer": _get_layer, "count_params": _count_params, "input_shape": _input_shape, "output_shape": _output_shape,
    "optimizer": lambda model: ready(model, reads=True).optimizer, "loss": lambda model: ready(model, reads=True).loss,
    "metrics_names": lambda model: ["loss", "accuracy"] if ready(model, reads=True).loss.hits else ["loss"],
}  # fmt: skip


def rate_of(model):
    """The learning rate of the next step, a float."""
    session = ready(model, reads=True)
    return bits_to_float(session.optimizer.learning_rate.bits(session.steps()))


def set_rate(model, rate):
    """Train on with another learning rate, a number or a schedule."""
    from ..base.rate import Constant

    model.session.optimizer.learning_rate = rate if hasattr(rate, "bits") else Constant(rate)
