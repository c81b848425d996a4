"""The planner's modules: a network loads the families of its layers, every layer has a row, no import is circular."""

import struct
import subprocess
import sys

import pytest
from house import circle

from odt import layers
from odt.base import opcodes
from odt.host import traits
from odt.layers import activations, norms
from odt.plan import instruction
from odt.plan.forward import family

FAMILIES = {"activation", "dropout", "join", "linear", "norm", "pool", "step"}
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
    assert norms and activations  # imported: their classes are found
    assert {kind for _, kind in found} >= {"dense", "conv2d", "flatten", "softmax", "batchnorm"}
    for cls, kind in found:
        if cls.__module__.startswith("odt.") and not cls.view:
            forward, backward = family(cls).ROWS[kind]
            assert callable(forward) and (callable(backward) or kind == "input")


def test_no_import_among_the_planners_modules_is_circular():
    """Those within functions counted too; forward.py finds a family by its name."""
    assert circle("odt.plan") == []


def test_what_the_planner_reads_of_a_line_is_what_is_declared_there():
    for line in traits.LINES:
        number, text = line.split(" ", 1)
        declared = opcodes.Opcode(int(number), text)
        row = instruction.row(declared.name)
        names = [operand[0] for operand in declared.operands]
        shares = [(names.index(name), names.index(other)) for name, _, _, _, other in declared.operands if other]
        assert row[instruction.NUMBER] == int(number) and row[instruction.NAME] == declared.name
        assert row[instruction.ACCESS].decode() == "".join(access for _, access, _, _, _ in declared.operands)
        assert row[instruction.STOP] - instruction.FIRST == len(names)
        assert row[instruction.END] - row[instruction.STOP] == len(declared.immediates)
        assert row[instruction.SHARES] == (shares[0] if shares else None) and len(shares) < 2
        assert struct.calcsize(row[instruction.FORMAT]) == 4 * declared.words


@pytest.mark.parametrize(
    "key", ("", "dense", "dense_i", "dense_i88", "ense_i8", "dense_i8 ", "x" * 99, 0, -1, 255, 9999)
)
def test_an_instruction_that_does_not_exist_is_refused(key):
    for find in (opcodes.line, opcodes.opcode):
        with pytest.raises(ValueError, match="no instruction %r in instruction set" % key):
            find(key)
