"""What CircuitPython boards get, on the unix port with their 30-bit floats; circuitpython.py:
on CircuitPython itself.
"""

import os

import machines
from test_training import digest, on_the_pc

from odt.host import circuitpython, files, language

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


def test_interpreter_with_30_bit_floats_has_all_that_odt_uses():
    with machines.open("unix_float30") as machine:
        lacks_nothing(machine)
    names = language.used()[0]
    assert all([name for name in names if (name + ".").startswith(known + ".")] for known in language.OPTIONAL)


def test_bundle_layout_trains_to_the_digest_of_the_pc(tmp_path):
    circuitpython.main(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["LICENSE", "examples", "lib", "requirements.txt"]
    lib = tmp_path / "lib" / "odt"
    assert sorted(file.relative_to(lib).as_posix() for file in lib.rglob("*.py")) == sorted(FILES)
    with machines.open("unix_float30") as machine:  # odt and kernels are frozen in it: they are to be hidden
        machine.put(tmp_path / "lib")
        script = (
            "import sys\nsys.path[:] = ['']\nimport odt\nodt.executor.use('reference')\nodt.backend = 'reference'\n"
        )
        text = machine.exec(script + "print(odt.__file__)\n" + circuitpython.EXAMPLE.read_text(), timeout=200)
    assert text.startswith("odt/__init__.py\n") and "reference executor" in text
    assert digest(text) == digest(on_the_pc(circuitpython.EXAMPLE, {}))
