"""The documents' Python runs on the boards that its first lines name: on the unix port with a Pico's heap, and the two
that hear a sensor on a Pico.

tests_host/docs/test_docs.py runs all of it on a PC.
"""

import contextlib
import io
import os

import documents  # noqa: E402
import machines
import pytest

DIGITS = machines.ROOT / "examples" / "digits" / "digits.bin"
TUTORIAL = machines.ROOT / "docs" / "tutorials" / "gestures.md"
STREAM = machines.ROOT / "docs" / "howto" / "stream.md"


class Small(machines.Unix):
    """With a Pico's heap: a word of this PC is twice as long."""

    heap = "480k"


class Large(machines.Unix):
    heap = "4M"


BLOCKS = [
    pytest.param(text, Large if documents.LARGE in text.split("\n")[0] else Small, id="%s:%d" % (document.name, line))
    for document in documents.DOCUMENTS
    if document != TUTORIAL
    for line, text in documents.blocks(document, "python")
    if "on a board" in text.split("\n")[0]
]


@pytest.mark.parametrize("text, kind", BLOCKS)
def test_what_says_so_runs_on_micropython(text, kind):
    with kind() as machine:
        machine.put([DIGITS])
        machine.exec(text, timeout=120)


def parts(where):
    """The tutorial's blocks for a place, as one script."""
    return "\n".join([text for _, text in documents.blocks(TUTORIAL, "python") if where in text.split("\n")[0]])


@pytest.fixture(scope="module")
def brought(tmp_path_factory):
    """The files that the tutorial's PC makes for its board."""
    folder = tmp_path_factory.mktemp("tutorial")
    before = os.getcwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(parts("on a PC"), str(TUTORIAL), "exec"), {"__name__": "__main__"})
    finally:
        os.chdir(before)
    return sorted(folder.iterdir())


@pytest.mark.parametrize("name", ("unix", "rp2040"))
def test_the_tutorial_learns_and_hears_on_a_board(brought, name):
    with machines.open(name) as machine:
        machine.put(brought)
        assert "swing" in machine.exec(parts("on a board"), timeout=900)


def test_the_first_script_of_streams_runs_on_a_pico():
    with machines.open("rp2040") as machine:
        assert " takes us " in machine.exec(documents.blocks(STREAM, "python")[0][1], timeout=300)
