"""Each name of Keras's interface is odt's, or its error says what to write: the names come from the keras package that
is installed.
"""

import inspect
import os
import warnings
from operator import attrgetter

import pytest

import odt
import odt.layers.activations
from odt.host import idioms

os.environ.setdefault("KERAS_BACKEND", "torch")
warnings.filterwarnings("ignore")
keras = pytest.importorskip("keras")
torch = pytest.importorskip("torch")

PLACES = ("layers", "optimizers", "callbacks", "losses", "metrics", "layers.activations")


def names(thing, less=()):
    return sorted(name for name in dir(thing) if name[0] != "_" and name not in dir(less))


def is_odt_s_or_says_what_to_write(owner, name, place):
    try:
        getattr(owner, name)
    except AttributeError as error:
        assert " has no %s: " % name in str(error), str(error)
        assert idioms.hint(place, name) or place == "odt" and idioms.hint("layers", name), "write a hint for " + name
    except RuntimeError as error:
        assert "compile" in str(error)


@pytest.mark.parametrize(
    "place, name", [(place, name) for place in PLACES for name in names(getattr(keras, place.split(".")[-1]))]
)
def test_each_name_of_a_module(place, name):
    is_odt_s_or_says_what_to_write(attrgetter(place)(odt), name, place)


@pytest.mark.parametrize("name", names(keras))
def test_each_name_of_the_package(name):
    is_odt_s_or_says_what_to_write(odt, name, "odt")


def network():
    model = odt.Sequential([odt.Input((2,)), odt.Dense(2)])
    model.compile()
    return model


THEIRS = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2), keras.layers.BatchNormalization()])


@pytest.mark.parametrize("name", names(THEIRS, torch.nn.Module()))
def test_each_attribute_of_a_model(name):
    is_odt_s_or_says_what_to_write(network(), name, "model")


@pytest.mark.parametrize("name", sorted({name for layer in THEIRS.layers for name in names(layer, torch.nn.Module())}))
def test_each_attribute_of_a_layer(name):
    if name in parameters(keras.layers.BatchNormalization) + ["reset_parameters"] and not hasattr(
        THEIRS.layers[0], name
    ):
        return  # of a normalisation: what its constructor takes, see below
    is_odt_s_or_says_what_to_write(odt.layers.Dense(2), name, "layer")


def parameters(function):
    found = inspect.signature(function).parameters.values()
    return [
        each.name for each in found if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL) and each.name != "self"
    ]


CALLS = [(odt.Sequential.fit, keras.Model.fit), (odt.Sequential.evaluate, keras.Model.evaluate),
         (odt.Sequential.predict, keras.Model.predict), (odt.Sequential.compile, keras.Model.compile)]  # fmt: skip
CLASSES = [(getattr(odt, name), getattr(keras.layers, name)) for name in names(keras.layers) if name in dir(odt)]
CLASSES += [(getattr(odt, name), getattr(keras.optimizers, name)) for name in ("SGD", "Adam", "AdamW", "RMSprop")]
CLASSES += [
    (getattr(odt.callbacks, name), getattr(keras.callbacks, name))
    for name in names(keras.callbacks)
    if hasattr(odt.callbacks, name)
]
CLASSES += [
    (getattr(odt.losses, name), getattr(keras.losses, name))
    for name in names(keras.losses)
    if hasattr(odt.losses, name)
]
ARGUMENTS = [(ours, theirs, name) for ours, theirs in CALLS + CLASSES for name in parameters(theirs)]


@pytest.mark.parametrize(
    "ours, theirs, name", ARGUMENTS, ids=["%s %s" % (theirs.__qualname__, name) for _, theirs, name in ARGUMENTS]
)
def test_each_argument(ours, theirs, name):
    """It is taken, or the TypeError says more than that it is not."""
    kinds = [each.kind for each in inspect.signature(ours).parameters.values()]
    if name in inspect.signature(ours).parameters or inspect.Parameter.VAR_KEYWORD in kinds:
        return
    owner = (network(),) if inspect.isfunction(ours) and ours.__qualname__.count(".") else ()
    with pytest.raises(TypeError, match="has no %s=: [^;]" % name) as error:
        ours(*owner, **{name: None})
    assert "?" not in str(error.value), "write a hint for " + name


def test_every_hint_s_code_is_odt_s():
    """What a hint names as odt's is there."""
    import re

    text = " ".join(
        [
            *[" ".join(row) for row in idioms.MISSING.values()],
            *[" ".join(row) for row in idioms.KEYWORDS.values()],
            idioms.MODEL,
        ]
    )
    for name in set(re.findall(r"\bodt\.([\w.]+\w)", text)):
        if name.startswith("host."):
            __import__("odt." + name)
            continue
        found = odt
        for part in name.split("."):
            found = getattr(found, part)
    for name in set(re.findall(r"\bmodel\.(\w+)", text)):
        getattr(network(), name)
