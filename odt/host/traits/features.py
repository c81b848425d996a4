"""The features of sensors that have kernels: the rows of ODT_FEATURES_ENTRY_POINTS in native/bindings/entry_points.h.

A row is ``X(name, 4, 4) /* _odt_file: name(out, samples, tables, work): what it is */``: the kernel is
``odt_<name>_i16`` in native/kernels/features/; on stock firmware the module ``_odt_file`` has it. From the rows come
native/bindings/mod_<file>.c, the stub of ``_odt``, and the modules in host/boards/capabilities.py.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HEADER = ROOT / "native" / "bindings" / "entry_points.h"
STUB = "native/bindings/_odt-stubs/__init__.pyi"
CAPABILITIES = "odt/host/boards/capabilities.py"
_ROW = re.compile(r"^    X\((\w+), 4, 4\) /\* _odt_(\w+): ", re.MULTILINE)
_STUB = "def %s(out: Any, samples: Any, tables: Buffer, work: Buffer, /) -> int: ...\n"
_MODULE = """\
// The module _odt_%(file)s in a file, for stock firmware. Generated from entry_points.h by odt/host/generate.py.

#include "py/dynruntime.h"

#include "../core.h"
#include "features.h"
#include "memory.h"

%(features)s

%(objects)s

mp_obj_t mpy_init(mp_obj_fun_bc_t *self, size_t count, size_t keywords, mp_obj_t *args) {
    MP_DYNRUNTIME_INIT_ENTRY
%(stores)s
    MP_DYNRUNTIME_INIT_EXIT
}
"""


def files() -> "dict[str, list[str]]":
    """{file: its functions}, ``_odt_`` left out."""
    found: dict[str, list[str]] = {}
    for name, file in _ROW.findall(HEADER.read_text()):
        found.setdefault(file, []).append(name)
    return found


def generated() -> "dict[str, str]":
    """The text of these files, by path."""
    found = files()
    return {
        **{"native/bindings/mod_%s.c" % file: _module(file, found[file]) for file in found},
        STUB: _with_stubs((ROOT / STUB).read_text(), [name for names in found.values() for name in names]),
        CAPABILITIES: _with_modules((ROOT / CAPABILITIES).read_text(), found),
    }


def _module(file, names):
    def lines(pattern):
        return "\n".join([pattern.replace("NAME", name) for name in names])

    return _MODULE % {
        "file": file,
        "features": lines("ODT_FEATURE(NAME, 4, 4)"),
        "objects": lines("static MP_DEFINE_CONST_FUN_OBJ_VAR_BETWEEN(object_NAME, 4, 4, entry_NAME);"),
        "stores": lines("    mp_store_global(MP_QSTR_NAME, MP_OBJ_FROM_PTR(&object_NAME));"),
    }


def _with_stubs(text, names):
    """With one line for each feature, in the place of those that stand there."""
    lines = re.findall(_line(r"\w+"), text)
    first = text.index(lines[0])
    for line in lines:
        text = text.replace(line, "")
    return text[:first] + "".join([_STUB % name for name in names]) + text[first:]


def _line(name):
    return re.escape(_STUB).replace("%s", name)


def _with_modules(text, found):
    start = text.index('    "sensors": Capability(')
    modules = ", ".join(['"_odt_%s"' % file for file in found])
    row = re.sub(r"kernels=\([^)]*\)", "kernels=(%s,)" % modules if len(found) == 1 else "kernels=(%s)" % modules,
                 text[start:], count=1)  # fmt: skip
    return text[:start] + row
