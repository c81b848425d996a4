"""What is generated from odt/opcodes.py and committed agrees with it."""

import re

import pytest

from odt.host import generate


@pytest.mark.parametrize("name", sorted(generate.generated()))
def test_generated_file_agrees_with_the_table(name):
    agrees = (generate.ROOT / name).read_text() == generate.generated()[name]
    assert agrees, "%s does not agree with odt/opcodes.py; run make generate" % name


def test_the_wheel_compiles_every_native_source():
    listed = re.findall(r'"(native/.+\.c)"', (generate.ROOT / "pyproject.toml").read_text())
    found = [*generate.ROOT.glob("native/*.c"), *generate.ROOT.glob("native/kernels/*.c")]
    found = [path.relative_to(generate.ROOT).as_posix() for path in found]
    assert sorted(listed) == sorted(found + ["native/bindings/cpython.c"])
