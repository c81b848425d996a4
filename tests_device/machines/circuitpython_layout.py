"""The package as CircuitPython's bundle has it: what it holds, and its example."""

from digests import digest, on_the_pc

from odt.host import files, language
from odt.host.release import circuitpython

FILES = [file.as_posix() for file in files.board_modules()]
MODULES = [file[:-3].replace("/", ".") for file in FILES if not file.endswith("__init__.py")]


def lacks_nothing(machine):
    """Every name that odt uses of the interpreter is there, and every module of odt can be imported."""
    assert machine.exec(language.check()) == ""
    # fit_async wants asyncio, a library in CircuitPython, and vectors ulab.
    rest = [name for name in MODULES if name.split(".")[-1] not in ("background", "vectors")]
    assert machine.exec("for name in %r:\n    __import__('odt.' + name)\nprint('all')\n" % (rest,)) == "all\n"


def simpletest(machine, layout):
    """The bundle's example ends with the digest of the PC, with nothing but the layout's lib folder to import from."""
    machine.put(layout / "lib")
    text = machine.run(circuitpython.EXAMPLE, timeout=200)
    assert "reference executor" in text
    assert digest(text) == digest(on_the_pc(circuitpython.EXAMPLE, {}))
