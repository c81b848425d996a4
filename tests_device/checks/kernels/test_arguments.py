"""Arguments of any kind do the binding for MicroPython no harm; `make sanitize` looks closer (sanitize.py)."""

import machines
from argument_cases import check, draw_all
from checkout import ROOT


def test_arguments_of_any_kind():
    with machines.open("unix") as machine:
        machine.heap = "16M"
        check(machine, draw_all(1, 1)[::5], 20000)


def test_formats_of_messages_are_not_compressed():
    """Decompressed, the longest of a firmware overruns a buffer of MicroPython's on the stack by a byte."""
    source = ROOT / "native/bindings/mod_odt.c"
    for name in machines.UNIX:
        assert (machines.BUILD / name / "micropython").exists(), "run `make %s`" % name.replace("_", "-")
        compressed = machines.BUILD / name / "genhdr/compress" / (str(source).replace("/", "__") + ".compress")
        texts = compressed.read_text().splitlines()
        assert "expected a Program from load()" in texts and not [text for text in texts if "%" in text]
