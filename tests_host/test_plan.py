"""The planner's modules: a network loads the families of its layers, every layer has a row, no import is circular."""

import importlib
import subprocess
import sys

import pytest
from house import circle

from odt import layers, norms

FAMILIES = {"activation", "dropout", "dynamic", "join", "linear", "norm", "pool", "step"}
DIGITS = """
import sys, odt
model = odt.Sequential([
    odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16), odt.Conv2D(4, 3, activation="relu"), odt.MaxPool2D(),
    odt.Flatten(), %sodt.Dense(10)])
model.compile(batch_size=4)
print(*[name[9:] for name in sys.modules if name.startswith("odt.plan.")])
"""


@pytest.mark.parametrize("more, families", [
    ("", {"linear", "pool", "step"}),
    ("odt.Dropout(), odt.Tanh(), ", {"activation", "dropout", "linear", "pool", "step"}),
    ("odt.LayerNorm(), ", {"linear", "norm", "pool", "step"}),
])  # fmt: skip
def test_a_network_loads_the_families_of_its_layers(more, families):
    done = subprocess.run([sys.executable, "-c", DIGITS % more], stdout=subprocess.PIPE, text=True, check=True)
    assert FAMILIES & set(done.stdout.split()) == families


def kinds(cls):
    for each in cls.__subclasses__():
        yield each, each.kind
        yield from kinds(each)


def test_every_layer_is_a_view_or_has_a_row_in_its_family():
    found = [(cls, kind) for cls, kind in kinds(layers.Layer) if kind] + [(layers.Conv2D, "group_conv2d")]
    assert {kind for _, kind in found} >= {"dense", "conv2d", "flatten", "softmax", "batchnorm"} and norms
    for cls, kind in found:
        if cls.__module__.startswith("odt.") and not cls.view:
            forward, backward = importlib.import_module("odt.plan." + cls.family).ROWS[kind]
            assert callable(forward) and (callable(backward) or kind == "input")


def test_no_import_among_the_planners_modules_is_circular():
    """Those within functions counted too; forward.py finds a family by its name."""
    assert circle("odt.plan") == []
