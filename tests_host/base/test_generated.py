"""What is generated from odt/base/opcodes.py and committed agrees with it; so does where kernels lie."""

import re

import pytest

from odt.base import opcodes
from odt.host import generate, traits


@pytest.mark.parametrize("name", sorted(generate.generated()))
def test_generated_file_agrees_with_the_table(name):
    agrees = (generate.ROOT / name).read_text() == generate.generated()[name]
    assert agrees, "%s does not agree with odt/base/opcodes.py; run make generate" % name


def test_no_two_native_sources_have_one_name_so_that_objects_may_lie_in_one_folder():
    names = [path.name for path in generate.ROOT.glob("native/**/*.c")]
    assert len(names) == len(set(names)) > 60
    assert not list(generate.ROOT.glob("native/kernels/*.*"))  # each kernel lies in its family's folder


def test_core_h_alone_says_which_core_this_is():
    asks = re.compile(
        r"\b(__arm__|__ARM_\w+|__thumb\w*|__SSE\w+|__GNUC__|__clang__|__riscv\w*|PICO_ON_DEVICE|MICROPY_ENABLE_DYNRUNTIME)\b"
    )
    core = (generate.ROOT / "native" / "core.h").read_text()
    decided = set(re.findall(r"#define (ODT_\w+) ", core))
    assert {"ODT_M0", "ODT_M4", "ODT_PANEL", "ODT_RP2040", "ODT_SMALL"} <= decided
    for path in [path for end in ("c", "h", "inc") for path in generate.ROOT.glob("native/**/*." + end)]:
        text = re.sub(r"//.*", "", path.read_text())
        if path.name != "core.h":
            assert not asks.findall(text), path
            if path.suffix != ".inc" and decided & set(re.findall(r"\bODT_\w+", text)):
                assert 'core.h"' in text, path  # a macro that is not defined would be 0


def test_each_kernel_lies_in_the_folder_of_its_section_of_the_table():
    family, families, folders = None, {}, {}
    for line in "".join([path.read_text() for path in traits.TABLES]).splitlines():
        section, instruction = re.match(r"    # (\w+): ", line), re.match(r'    b"\d+ (\w+) ', line)
        family = section[1] if section else family
        if instruction and instruction[1] not in opcodes.PREFIXES:
            families[instruction[1]] = family
    for path in generate.ROOT.glob("native/kernels/*/*.c"):
        for name in re.findall(r"^void odt_(\w+)\(const odt_\1_t \*", path.read_text(), re.MULTILINE):
            folders[name] = path.parent.name
    assert folders == families and len(families) > 150


def test_dicts_of_decoded_instructions_never_change_as_another_thread_may_be_reading_them(monkeypatch):
    class Published(dict):
        def __setitem__(self, *_):
            raise AssertionError("a dict that another thread may be reading was changed")

        clear = pop = popitem = setdefault = update = __setitem__

    opcodes.forget()
    for key, other in (
        ("dense_i8", "dense_f32"),
        (opcodes.opcode("dense_i8").number, opcodes.opcode("adam_i16").number),
    ):
        found = opcodes.opcode(key)
        names, numbers = Published({found.name: found}), Published({found.number: found})
        monkeypatch.setattr(opcodes, "_names", names)
        monkeypatch.setattr(opcodes, "_numbers", numbers)
        decoded = opcodes.opcode(other)
        assert opcodes.opcode(decoded.name) is opcodes.opcode(decoded.number) is decoded
        assert opcodes.opcode(key) is found
        opcodes.forget()
        assert list(names) == ["dense_i8"] and opcodes.opcode(key) is not found
