"""native/ as docs/explanation/architecture.md has it: portable C in kernels/, what a core has of its own in cores/,
headers that are headers.
"""

import re
import subprocess

import pytest
from native_sources import NATIVE

from odt.host import routes

# What makes a PC's compiler read a file as another core's does; of assembly it checks the syntax of the C around.
CORES = {
    "PC": "-DODT_THREADS",
    "RP2040": "-DODT_PANEL=1 -D__ARM_ARCH_6M__=1 -DPICO_ON_DEVICE=1",
    "_odt.mpy of a Cortex-M0+": "-DODT_PANEL=1 -D__ARM_ARCH_6M__=1 -DMICROPY_ENABLE_DYNRUNTIME",
    "Cortex-M4": "-DODT_PANEL=1 -D__ARM_FEATURE_DSP=1",
    "Cortex-M3": "-DODT_PANEL=1",
    "RISC-V": "-DODT_PANEL=1 -DODT_RV32=1",
}
# Static functions and types of one name in several files: the list may only shrink.
SHARED_NAMES = """
add_all add_products add_taps add_windows advance apart begin begin_rows bit_length choose correlate_row
cost errors_of errors_t extent finish_row finish_t finish_usual gain group_start inverse is_good is_prefix
is_sparse layer_t limited lines_t list_errors locate logarithm measure normalised odt_bytes_t odt_sum_words
output_t outputs_of own_words pack_errors pack_pairs power prepare put root_of row_of row_t run
store sum_rows sum_squares sum_taps sums_t times transform twiddle widen windows_t
"""
OF_A_CORE = re.compile(r"__(m0|rp2040|m4|rv32|panel|c|threads|x86)\.(c|h|inc)$")


def files(*ends):
    return sorted(path for end in ends for path in NATIVE.rglob("*." + end) if path.parent.name != "bindings")


@pytest.mark.parametrize("core", CORES)
def test_every_header_compiles_alone(core):
    command = ["gcc", "-std=c99", "-fwrapv", *CORES[core].split(), "-fsyntax-only", "-x", "c"]  # each for itself
    done = subprocess.run([*command, *map(str, files("h"))], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_is_included_is_a_header_or_says_that_it_is_none_and_is_included_once():
    included = {}
    for path in files("c", "h", "inc"):
        for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
            target = (path.parent / name).resolve()
            assert target.exists() and target.suffix in (".h", ".inc"), (path, name)
            included.setdefault(target, []).append(path)
    assert all(len(included[path]) == 1 for path in files("inc")), (
        "a file that needs what stands before its #include has one place"
    )


def test_kernels_include_cores_and_cores_common_and_none_the_other_way_round():
    below = {"kernels": {"kernels", "cores", "common"}, "cores": {"cores", "common"}, "common": {"common"}}
    for path in files("c", "h", "inc"):
        room = path.relative_to(NATIVE).parts[0]
        if room in below:
            for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
                parts = (path.parent / name).resolve().relative_to(NATIVE).parts
                assert len(parts) == 1 or parts[0] in below[room], (path, name)


def test_a_file_of_a_core_lies_in_the_folder_of_the_core():
    of_cores = [path for path in files("c", "h", "inc") if OF_A_CORE.search(path.name)]
    assert len(of_cores) > 50
    assert {path.relative_to(NATIVE).parts[0] for path in of_cores} == {"cores"}
    assert not list((NATIVE / "kernels").rglob("*.inc"))


def test_there_are_no_globals_but_those_of_threads_c():
    """What is declared at the start of a line, is no function and no constant."""
    declared = re.compile(
        r"^(?:static |_Atomic )*(?!typedef|extern|return)[a-z]\w*(?: \w+)* \*?\w+(?:\[[^\]]*\])*(?: = .*)?;", re.M
    )
    found = {path.name: declared.findall(path.read_text()) for path in files("c", "h", "inc")}
    assert [name for name, lines in found.items() if lines and not all("const " in line for line in lines)] == [
        "threads.c"
    ]


def test_what_the_table_of_routes_names_is_there():
    """Operations, conditions and functions; of each operation the last row of a core has no condition, or none comes
    after it.
    """
    text = "".join(path.read_text() for path in files("c", "h", "inc") if path.name != "route.h")
    words, functions, operations = set(re.findall(r"\w+", text)), routes.sources(NATIVE.parent), set()
    for operation, condition, chosen in routes.rows(NATIVE.parent):
        assert "odt_" + operation in functions or operation.startswith("conv2d_d") and "odt_" + operation in words, (
            operation
        )
        assert not condition or condition in words, condition
        assert set(chosen.values()) <= set(functions), chosen
        operations.add(operation)
    rows = [line for line in (NATIVE / "cores" / "route.h").read_text().splitlines() if "    ROUTE(" in line]
    assert len(rows) == len(routes.rows(NATIVE.parent)) > 40 and len(operations) > 20
    for core in routes.CORES:
        for operation in operations:
            assert any(core in chosen for name, _, chosen in routes.rows(NATIVE.parent) if name == operation), (
                core,
                operation,
            )


def test_every_file_of_a_core_has_a_loop_in_the_table_or_serves_one_that_has():
    functions, served = routes.sources(NATIVE.parent), set()
    for _, _, chosen in routes.rows(NATIVE.parent):
        served.update(path for name in chosen.values() for path in functions[name])
    includes = {
        path: {(path.parent / name).resolve() for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M)}
        for path in files("c", "h", "inc")
    }
    while True:  # what they include, what includes an .inc, and the .c of a header
        more = {target for path in served for target in includes[path]}
        more |= {
            path for path in includes if any(target in served and target.suffix == ".inc" for target in includes[path])
        }
        more |= {path.with_suffix(".c") for path in served if path.with_suffix(".c") in includes}
        if more <= served:
            break
        served |= more
    of_cores = {path for path in includes if "cores" in path.relative_to(NATIVE).parts[:-2]}
    assert of_cores - served == {NATIVE / "cores" / "threads" / "conv2d_i8__threads.c"}  # which shares any of them out


def test_a_static_name_is_one_thing():
    """Functions and types of files; those whose names differ only after the two underscores serve one caller, each on
    its core.
    """
    function = re.compile(r"^((?:__attribute__[^;={]*|ODT_\w+ )?static [^;={}#]*\)) \{$", re.M)
    named = re.compile(r"^(?:\} (\w+);|typedef [^{;]*?(\w+)(?:\[.*\])?;)", re.M)
    found = {}
    for path in files("c", "h", "inc"):
        text = re.sub(r"//.*", "", path.read_text())
        heads = [re.sub(r"__attribute__\(\(.*?\)\)", "", head) for head in function.findall(text)]
        names = [re.search(r"(\w+)\(", head)[1] for head in heads] + [a or b for a, b in named.findall(text)]
        for name in names:
            found.setdefault(name, set()).add(path.name.partition(".")[0].partition("__")[0])
    assert len(found) > 700
    several = {name for name, stems in found.items() if len(stems) > 1}
    assert several == set(SHARED_NAMES.split()), several ^ set(SHARED_NAMES.split())
