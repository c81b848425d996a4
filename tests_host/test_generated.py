"""What is generated from odt/opcodes.py and committed agrees with it."""

import pytest

from odt.host import generate


@pytest.mark.parametrize("name", sorted(generate.generated()))
def test_generated_file_agrees_with_the_table(name):
    agrees = (generate.ROOT / name).read_text() == generate.generated()[name]
    assert agrees, "%s does not agree with odt/opcodes.py; run make generate" % name


def test_no_two_native_sources_have_one_name_so_that_objects_may_lie_in_one_folder():
    names = [path.name for path in generate.ROOT.glob("native/**/*.c")]
    assert len(names) == len(set(names)) > 60
    assert not list(generate.ROOT.glob("native/kernels/*.[ch]"))  # each kernel lies in its family's folder
