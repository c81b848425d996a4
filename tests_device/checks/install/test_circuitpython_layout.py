"""What CircuitPython boards get, on the unix port with their 30-bit floats; circuitpython.py:
on CircuitPython itself.
"""

import os

import machines
from circuitpython_layout import FILES, lacks_nothing
from digests import digest, on_the_pc

from odt.host import language
from odt.host.release import circuitpython


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
