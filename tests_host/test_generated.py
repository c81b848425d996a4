"""What is generated from odt/opcodes.py and committed agrees with it."""

import pytest

from odt.host import generate


@pytest.mark.parametrize("name", sorted(generate.generated()))
def test_generated_file_agrees_with_the_table(name):
    agrees = (generate.ROOT / name).read_text() == generate.generated()[name]
    assert agrees, "%s does not agree with odt/opcodes.py; run make generate" % name
