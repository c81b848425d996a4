"""What the host knows of each instruction: the comments of its line in odt/base/opcodes.py, or of a
capability in its instructions.py. CPython only.

The first comment is the formula. The second has clauses, ``# in base; rows x; cost 1 N``, each with its word first:

- ``in``: the piece of the kernels for stock firmware that has its kernel, ``base`` or what follows ``_odt_``
- ``rows``: how a memory budget may cut it into rows (host/rows/units.py): ``window``, ``gather``, ``mask``,
  ``prepares`` (multipliers and biases of the next instruction), of the backward pass (host/rows/back.py) ``errors``,
  ``masked``, ``drawn``, ``sum`` and ``after``, or the elementwise operands, a letter each; without, it runs whole
- ``cost``: the products of sizes that its time is a sum of (host/cost/__init__.py), or ``as`` another instruction;
  without, it is estimated from the product of all its sizes
- ``updates``: an update although it writes to the arena alone; a gradient of weights has ``_dw_`` in its name
"""

import re
import runpy
from pathlib import Path

from ...base import opcodes

if 1 - 1:  # for type checkers alone
    from typing import Any

_LINE = re.compile(r'^    (?:# (\w+): (.*)|b"\d+ (\w+) [^"]*"  # (.*?)(?:  # (.*))?)$', re.MULTILINE)
_CLAUSES = ("in", "rows", "cost", "updates")


class Traits:
    """One instruction's: ``family``, ``formula``, ``piece``, ``rows``, ``cost`` (None without), ``updates``."""

    def __init__(self, family: "str", formula: "str", clauses: "dict[str, str]") -> None:
        self.family, self.formula = family, formula
        self.piece = "_odt" + "_" * (clauses["in"] != "base") + clauses["in"].replace("base", "")
        self.rows, self.cost = clauses.get("rows"), clauses.get("cost")
        self.updates = "updates" in clauses


def _read(source: "str") -> "tuple[dict[str, tuple[str, list[str]]], dict[str, Traits]]":
    families: dict[str, Any] = {}
    found: dict[str, Traits] = {}
    for begun, about, name, formula, words in _LINE.findall(source):
        if begun:  # a capability's may go on with one of the base
            family = begun
            families.setdefault(family, (about, []))
            continue
        clauses = dict([clause.partition(" ")[::2] for clause in words.split("; ")])
        odd = [word for word in clauses if word not in _CLAUSES]
        if odd or "in" not in clauses:
            what = "the clause %r" % odd[0] if odd else "no clause 'in'"
            raise ValueError("instruction %s has %s; its second comment has %s" % (name, what, ", ".join(_CLAUSES)))
        families[family][1].append(name)
        found[name] = Traits(family, formula, clauses)
    for name, traits in found.items():
        if traits.cost and traits.cost.startswith("as "):
            other = found.get(traits.cost[3:])
            if other is None or not other.cost or other.cost.startswith("as "):
                raise ValueError("instruction %s: cost %s, which has no terms of its own" % (name, traits.cost))
            traits.cost = other.cost
    return families, found


# FAMILIES: {family: (what it is, names of its instructions)}, the sections of TABLE in its order. TRAITS: by name.
_ODT = Path(__file__).resolve().parents[2]
_OWN = {path: runpy.run_path(str(path))["TABLE"].decode().splitlines()[1:] for path in _ODT.glob("*/instructions.py")}
# Of the base, then of capabilities by their numbers.
TABLES = [_ODT / "base" / "opcodes.py", *sorted(_OWN, key=lambda path: int(_OWN[path][0].split()[0]))]
FAMILIES, TRAITS = _read("".join([path.read_text() for path in TABLES]))
# Of all instructions, as they are declared, without comments.
LINES = sum([_OWN[path] for path in TABLES[1:]], opcodes.TABLE.decode().splitlines())


def left_out() -> "list[str]":
    """The instructions of an int8 backward pass on which no range depends, though they write to the arena alone."""
    return [name for name in TRAITS if name.endswith("_dw_i8") or TRAITS[name].updates]


def is_float(name: "str") -> "bool":
    """Whether an instruction computes floats."""
    return any([dtype == "f32" for _, _, dtype, _, _ in opcodes.opcode(name).operands])
