"""python -m odt deploy: a model file is brought to a board, with what it needs, and tried there."""

import contextlib
import re
from pathlib import Path

from ...files.open import load_model
from ...plan.program import HEADER_WORDS
from ..release.pieces import BASE
from ..text import say
from ..traits import TRAITS
from . import install, room
from .board import Board, BoardError, only_port
from .capabilities import CAPABILITIES, closed

TRIAL = Path(__file__).with_name("trial.py")

# The least bytes of heap that a trial took beside the model's own and the kernels that it loads, of three networks on
# an emulated Pico: of odt in a firmware, of odt from files with kernels, and without. More may be needed: the trial
# tells.
HEAP = {"firmware": 16000, "native": 49000, "reference": 150000}

_ROW = re.compile(r"odt-trial (\w+) (predicts|trains) ([0-9a-f]{8}) ([0-9]{1,9})")
# Where the power failed between remove and rename of an earlier one, the new file is the only one: it gets its name.
_SETTLE = """
import os
path = %r
try:
    os.stat(path)
except OSError:
    try:
        from odt.files.reader import ModelFile
        ModelFile(path + ".new").close()
        os.rename(path + ".new", path)
    except (OSError, ValueError):
        pass
"""
_TAKE = """
import os
new, path = %r
try:
    os.rename(new, path)
except OSError:  # a FAT file system renames over nothing
    os.remove(path)
    os.rename(new, path)
"""


def command(options):
    """Returns 0 when the board computes with the model what the PC does; raises BoardError with the reason."""
    source = Path(options.model)
    try:
        data, model, wanted = read(source)
    except (OSError, ValueError) as error:
        raise BoardError(str(error)) from None
    files = Path(options.files)
    board = Board(options.connect or only_port())
    found = board.probe()
    say("Found", install.describe(found))
    backend = check(found, files, model)
    copied = room.File(source, "/" + source.name + ".new")
    names = closed(room.chosen(options.capabilities) + needs(model))
    if found["frozen"]:
        install.extend(board, found, files, names, [copied])
    else:
        package = install.package(files)
        python = backend == "reference"
        _, status = install.bring(board, found, files, package, [], python, install.expected(), names, more=[copied])
        if status:
            return status
    place = "/" + source.name
    say("Copying %s, %d bytes, to %s" % (source.name, len(data), place))
    new = place + ".new"
    board.call("exec", _SETTLE % place)
    try:
        board.call("fs", "cp", source, ":" + new, timeout=600)
        left = tried(board, new, wanted)
    except (BoardError, KeyboardInterrupt):
        with contextlib.suppress(BoardError):
            board.remove(new)
        raise
    board.call("exec", _TAKE % ((new, place),))
    said = "it predicts and trains as on this PC" if len(wanted) > 1 else "it predicts as on this PC"
    say("Tried there: %s; %d bytes of heap left with it open" % (said, left))
    say('A program opens it with: odt.load_model("%s")' % place)
    return 0


def needs(model):
    """The capabilities that a model needs: what makes its samples, and the kernels of its program."""
    loaded = pieces(model)
    of_kernels = [name for name, row in CAPABILITIES.items() if loaded.intersection(row.kernels)]
    return of_kernels + ([] if model.features is None else ["sensors"])


def read(source):
    """(bytes of a model file, its model, what the trial makes of it here); ValueError that names the file where it is
    damaged.
    """
    data = Path(source).read_bytes()
    try:
        model = load_model(data)
        pieces(model)
        _ = model.features  # made of what the file says
        return data, model, expected(data)
    except (ValueError, ArithmeticError) as error:
        raise ValueError("%s: %s" % (source, error)) from None


def check(found, files, model):
    """Which executor the board will have; BoardError with both figures where model or package do not fit."""
    if not found["libs"] or found["disk"] < 0:
        raise BoardError("the board has no file system to copy the model to")
    plan = model.session.plan
    own = plan.arena + plan.state + plan.constants + len(plan.code)
    if found["frozen"]:
        backend, need = "native", HEAP["firmware"]
    else:
        package = install.package(files)
        install.check(found, package)
        fitting, _ = install.kernels(found, files)
        backend = "native" if fitting else "reference"
        need = HEAP[backend]
        if fitting:
            need += install.size_of([fitting[0].with_name(name + ".mpy") for name in pieces(model)])
    if found["free"] < need + own:
        raise BoardError(
            "too little RAM: %d bytes of heap are free, %d are needed at least: %d of odt, %d of the model (arena %d, "
            "state %d, frozen weights %d, program %d)"
            % (found["free"], need + own, need, own, plan.arena, plan.state, plan.constants, len(plan.code))
        )
    return backend


def pieces(model):
    """The names of the pieces of the kernels that a model's program needs."""
    program = model.session.program
    walked = program.walk(HEADER_WORDS, len(program.words))
    return {BASE, *[TRAITS[code.name].piece for _, code, _, _ in walked]}


def expected(data):
    """{what: digest} of the trial on this PC."""
    return {row[1]: row[2] for row in _rows(install.printed(TRIAL, path=data))}


def _rows(text):
    return [_ROW.fullmatch(line.strip()).groups() for line in text.splitlines() if _ROW.fullmatch(line.strip())]


def tried(board, place, wanted):
    """Bytes of heap left with the model open; BoardError where a digest is not the PC's."""
    rows = _rows(board.call("exec", "path = %r" % place, "run", TRIAL, timeout=600))
    found = {row[1]: row[2] for row in rows}
    if sorted(found) != sorted(wanted):
        raise BoardError("the trial's answer is damaged: it says %s, expected %s" % (sorted(found), sorted(wanted)))
    for what in sorted(wanted):
        if found[what] != wanted[what]:
            raise BoardError("the model %s wrongly there: digest %s instead of %s" % (what, found[what], wanted[what]))
    return int(rows[0][3])
