"""What a person meets at the REPL of a board: names, TAB and dir()."""

import machines
import pytest

SCRIPT = """
import gc
import sys

import odt

def taken(what):
    gc.collect()
    before = gc.mem_alloc()
    what()
    gc.collect()
    return gc.mem_alloc() - before

loaded = len(sys.modules)
dir(odt)  # what its names take: MicroPython keeps those that are new
least = min([taken(lambda: dir(odt)) for _ in range(3)])  # the collector may take what is left on the stack for a pointer
print("dir takes", least, "bytes,", len(sys.modules) - loaded, "modules")
print("Conv2D" in dir(odt), "metrics" in dir(odt))
from odt import callbacks
node = odt.Dense(2)(odt.Input((3,)))
print(odt.Dense is odt.layers.Dense, isinstance(node.layer, odt.Dense), callbacks.EarlyStopping(), odt.metrics.f1([[1]]))
try:
    odt.Dence
except AttributeError as error:
    print("refused")
"""  # noqa: E501


@pytest.mark.parametrize("name", ("unix", "unix_float30", "qemu_m3"))
def test_names_are_there_and_asking_for_all_of_them_loads_nothing(name):
    with machines.open(name) as machine:
        lines = machine.exec(SCRIPT, timeout=300).splitlines()
    assert lines[0] == "dir takes 0 bytes, 0 modules"
    assert lines[1] == "True True"
    assert lines[2].startswith("True True <EarlyStopping object at") and lines[2].endswith(" [1.0]")
    assert lines[3] == "refused"
