"""Writes from odt/base/opcodes.py and the capabilities' instructions.py: native/opcodes.h, native/opcodes.c,
docs/reference/opcodes.md, odt/base/lines.py and, of odt/reference, index.py and docstrings; from
native/cores/route.h: odt/host/routes/limits.py and a table of docs/explanation/architecture.md; from the modules of
layers, losses and optimizers: the names in odt/__init__.py.

::

    python3 -m odt.host.generate            writes them
    python3 -m odt.host.generate --check    names those that do not agree, exit status 1

The output is committed: a firmware build runs no generator. CPython only.
"""

import re
import sys
import textwrap
import zlib
from pathlib import Path

from ..base import opcodes
from . import routes
from .boards.capabilities import CAPABILITIES
from .files import write_text
from .release.pieces import PIECES
from .traits import FAMILIES, LINES, TRAITS, features, left_out
from .traits import names as public

ROOT = Path(__file__).resolve().parents[2]
SOURCE = "odt/base/opcodes.py"
COMMAND = "make generate"
TYPES = {
    "i8": "int8_t",
    "i16": "int16_t",
    "i32": "int32_t",
    "f32": "float",
    "mul": "odt_multiplier_t",
    "buf": "odt_region_t",
}
ACCESSES = "=:+"
OVER = 3  # in their place: written, maybe in the memory of another
ANY, SIZE = "ODT_ANY", "ODT_SIZE"
# A factor of an extent is the index of an immediate, or LITERAL plus a number.
LITERAL = 128


def generated():
    """All output, as a dict from the path below the repository's root to the text."""
    table = sorted([_opcode(line) for line in LINES], key=lambda op: op.number)
    formulas = {op.number: TRAITS[op.name].formula for op in table}
    _validate(table)
    return {
        "native/opcodes.h": _folded(_header(table, formulas)),
        "native/opcodes.c": _folded(_tables(table)),
        "odt/base/lines.py": _lines(table),
        "odt/reference/index.py": _index(table),
        "docs/reference/opcodes.md": _manual(table, formulas),
        routes.LIMITS: routes.text_of_limits(ROOT),
        "docs/explanation/architecture.md": _with_routes((ROOT / "docs/explanation/architecture.md").read_text()),
        **_documented(table, formulas),
        **public.generated(),
        **features.generated(),
    }


def _folded(text):
    """C whose comments and macros wrap at 120 columns."""
    lines = []
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        if len(line) > 120 and line.lstrip().startswith("//"):
            lines += textwrap.wrap(line, 120, subsequent_indent=indent + "// ", break_on_hyphens=False)
        elif len(line) > 120:
            macro = textwrap.wrap(line, 118, subsequent_indent=indent + "    ", break_on_hyphens=False)
            lines += [" \\\n".join(macro)]
        else:
            lines.append(line)
    return "\n".join(lines)


def _with_routes(text):
    """docs/explanation/architecture.md with the table of native/cores/route.h between its marks."""
    begin, end = "<!-- kernels by core -->\n", "<!-- end -->"
    before, rest = text.split(begin)
    return before + begin + "\n".join(routes.table(ROOT)) + "\n" + end + rest.split(end, 1)[1]


def _opcode(line):
    number, text = line.split(" ", 1)
    return opcodes.Opcode(int(number), text)


def stale():
    """Paths whose committed text is not what would be generated now."""
    return [
        name for name, text in generated().items() if not (ROOT / name).exists() or (ROOT / name).read_text() != text
    ]


def _validate(table):
    for at, op in enumerate(table):
        if op.number != at + 1:
            raise ValueError("instruction %s is number %d in line %d" % (op.name, op.number, at + 1))
        if op.name not in TRAITS:
            raise ValueError("instruction %s has no formula" % op.name)
        names = [operand[0] for operand in op.operands] + list(op.immediates)
        if len(set(names)) != len(names):
            raise ValueError("instruction %s has a name twice" % op.name)
        if ("_dw_" in op.name) != (op.operands[0][0] in ("dw", "db")):
            raise ValueError("instruction %s: what has _dw_ in its name, and no other, writes dw or db first" % op.name)
        kinds = {operand[0]: operand[2:4] for operand in op.operands}
        for name, access, dtype, extent, shares in op.operands:
            if shares and (access != "=" or kinds.get(shares) != (dtype, extent)):
                raise ValueError("operand %s of %s: %s is not alike" % (name, op.name, shares))
            if len(extent) > 7 or (dtype == "buf") != (not extent):
                raise ValueError("operand %s of %s: extent" % (name, op.name))
            for factor in extent:
                if isinstance(factor, int) and not 0 < factor < 128:
                    raise ValueError("operand %s of %s: literal" % (name, op.name))
                if isinstance(factor, str) and _limit(factor) == ANY:
                    raise ValueError("operand %s of %s: %s is no size" % (name, op.name, factor))
        if op.rows != tuple(range(len(op.rows))) or any([_limit(op.immediates[i]) == ANY for i in op.rows]):
            raise ValueError("instruction %s: what counts rows is a size, before others" % op.name)


def _limit(name):
    """What the verifier holds an immediate to: a member of the C enum of limits."""
    if not name.isupper():
        return ANY
    if name in ("PT", "PL"):
        return "ODT_PADDING"
    return {255: "ODT_SIZE8", 65535: "ODT_SIZE16"}.get(opcodes.LIMITS.get(name), SIZE)


def _constants():
    """Public int constants of opcodes.py in its order."""
    for name, value in vars(opcodes).items():
        if name.isupper() and isinstance(value, int):
            yield name, value


def _header(table, formulas):
    out = [
        "// Generated from %s by odt/host/generate.py; after a change there: %s." % (SOURCE, COMMAND),
        "//",
        "// The instruction set: constants, numbers, and each kernel's arguments and prototype. A kernel",
        "// takes a pointer to its operands (const when it only reads them) and then its immediates.",
        "",
        "#ifndef ODT_OPCODES_H",
        "#define ODT_OPCODES_H",
        "",
        '#include "odt.h"',
        "",
    ]
    for name, value in _constants():
        out.append("#define ODT_%s %s" % (name, value if value < 256 else hex(value)))
    out += [
        "",
        "#define ODT_OPCODES %d" % len(table),
        "#define ODT_MAX_OPERANDS %d" % max(len(op.operands) for op in table),
        "#define ODT_MAX_IMMEDIATES %d" % max(len(op.immediates) for op in table),
        "#define ODT_SHAPES (%s)" % _size_of_shapes(table),
        "",
        "// The files of the kernels for stock firmware (odt/host/release/pieces.py).",
        "#define ODT_PIECES %d" % len(PIECES),
        "#define ODT_PIECE_NAMES(X) \\\n    %s" % " \\\n    ".join(['X("%s")' % name for name in PIECES]),
        "#define ODT_STAMP 0x%08x" % _stamp(table),
        "",
        "// Pieces that a firmware without a capability leaves to files (odt/host/boards/capabilities.py), a bit each.",
        *_left(),
        "",
        "// No range depends on these: gradients of weights, and updates in the arena (odt/host/traits/).",
        "#define ODT_LEFT_OUT %s" % " ".join(["case ODT_%s:" % name.upper() for name in left_out()]),
        "",
        "enum {",
    ]
    out += ["    ODT_%s = %d," % (op.name.upper(), op.number) for op in table]
    out += ["};"]
    for op in table:
        out += ["", "// %s" % formulas[op.number], "typedef struct {"]
        for name, access, dtype, extent, shares in op.operands:
            const = "const " if access == ":" else ""
            note = "[%s]" % "][".join(str(factor) for factor in extent) if extent else "a region"
            if shares:
                note += ", may be %s" % shares
            out.append("    %s%s *%s; // %s" % (const, TYPES[dtype], name, note))
        out.append("    int32_t %s;" % ", ".join(op.immediates))
        out.append("} odt_%s_t;" % op.name)
        if op.name not in opcodes.PREFIXES:  # program.c runs these
            out.append("void odt_%s(const odt_%s_t *a);" % (op.name, op.name))
    out += ["", "#endif", ""]
    return "\n".join(out)


def _left():
    for name, numbers in _outside().items():
        yield "#ifdef ODT_WITHOUT_%s" % name
        yield "#define ODT_OUTSIDE_%s 0x%x" % (name, sum([1 << number for number in numbers]))
        yield "#else"
        yield "#define ODT_OUTSIDE_%s 0" % name
        yield "#endif"
    yield "#define ODT_OUTSIDE (%s)" % " | ".join(["ODT_OUTSIDE_" + name for name in _outside()])


def _size_of_shapes(table):
    """Of all pieces, less those that a firmware leaves to files, which have their own."""
    sizes = [sum([len(_shapes(op)) for op in ops]) for _, ops in _by_pieces(table)]
    outside = sorted([number for numbers in _outside().values() for number in numbers])
    return " - ".join([str(sum(sizes))] + [_left_out(number, sizes[number]) for number in outside])


def _left_out(number, size):
    """``size`` where piece ``number`` is outside."""
    return "(ODT_OUTSIDE & 0x%x ? %d : 0)" % (1 << number, size)


def _by_pieces(table):
    """[(piece, its instructions by number)] in the order of PIECES."""
    found = {name: [op for op in table if TRAITS[op.name].piece == name] for name in PIECES}
    if sum([len(ops) for ops in found.values()]) != len(table) or len(table) > 255:
        raise ValueError("every instruction is in one of PIECES, and there are 255 at most")
    return list(found.items())


def _shapes(op):
    """Numbers of table.h for each operand, and limits of the immediates."""
    shapes = []
    for _, access, dtype, extent, shares in op.operands:
        kind = list(TYPES).index(dtype)
        shapes.append((OVER if shares else ACCESSES.index(access)) << 6 | kind << 3 | len(extent))
        for factor in extent:
            literal = isinstance(factor, int)
            shapes.append(LITERAL + factor if literal else op.immediates.index(factor))
    limits = [_limit(name) for name in op.immediates]
    return shapes + [limits[i] + " | ODT_ROWS" * (i in op.rows) for i in range(len(limits))]


def _wrapped(words, width=99):
    """Lines of a C array; none breaks within a word's own spaces."""
    text = " ".join(["%s," % word for word in words]).replace(" | ", "|")
    lines = textwrap.wrap(text, width, initial_indent=" " * 8, subsequent_indent=" " * 8)
    return [line.replace("|", " | ") for line in lines]


def _stamp(table):
    """A checksum of the whole table, with its pieces."""
    whole = [(name, [(op.name, _shapes(op)) for op in ops]) for name, ops in _by_pieces(table)]
    return zlib.crc32(repr((opcodes.VERSION, "\n".join([*LINES, ""]), whole)).encode())


def _outside():
    """{capability: the numbers of its pieces}"""
    numbers = {name: number for number, name in enumerate(PIECES)}
    found = {name: [numbers[stem] for stem in row.kernels if stem in numbers] for name, row in CAPABILITIES.items()}
    return {name: numbers for name, numbers in found.items() if numbers}


def _tables(table):
    pieces = _by_pieces(table)
    out = [
        "// Generated from %s by odt/host/generate.py; after a change there: %s." % (SOURCE, COMMAND),
        "//",
        "// What the verifier and the executor know of each instruction: of all, or in a file for stock firmware of the"
        "\n// piece ODT_PIECE (odt/host/release/pieces.py).",
        "",
        "#include <stddef.h>",
        "",
        '#include "core.h"',
        '#include "opcodes.h"',
        '#include "table.h"',
        "",
        "#define HAS(piece) (!ODT_MPY || ODT_PIECE == (piece))",
        "",
    ]
    rows, shapes, places, firsts = [], [], {}, [0]
    outside = {number for numbers in _outside().values() for number in numbers}
    size, before = 0, []
    for number, (name, ops) in enumerate(pieces):
        own = []
        rows += ["    #if HAS(%d) // %s: %s" % (number, name, PIECES[name])]
        if number in outside or number - 1 in outside:
            inside = "!(ODT_OUTSIDE & 0x%x)" % (1 << number) if number in outside else "1"
            rows += ["    #undef IS_INSIDE", "    #define IS_INSIDE " + inside]
            rows += ["    #undef LEFT_OUT", "    #define LEFT_OUT (%s)" % " + ".join(before or ["0"])]
        start = size
        for row, op in enumerate(ops):
            kernel = "NULL" if op.name in opcodes.PREFIXES else "(odt_kernel_t)odt_" + op.name
            values = (op.name.upper(), kernel, row, size, len(op.operands), len(op.immediates))
            rows.append("    ROW(ODT_%s, %s, %d, %d, %d, %d)" % values)
            own += _shapes(op)
            size = start + len(own)
            places[op.number] = firsts[-1] + row
        firsts.append(firsts[-1] + len(ops))
        rows.append("    #endif")
        if number in outside:
            before.append(_left_out(number, len(own)))
        inside = " && !(ODT_OUTSIDE & 0x%x)" % (1 << number) if number in outside else ""
        shapes += ["    #if HAS(%d)%s" % (number, inside)] + _wrapped(own) + ["    #endif"]
        out += ["%s ODT_MPY && ODT_PIECE == %d" % ("#elif" if number else "#if", number)]
        out += ["#define ROWS %d" % len(ops), "#define SHAPES %d" % len(own), "#define FIRST %d" % start]
    out += [
        "#else",
        "#define ROWS (ODT_OPCODES + 1)",
        "#define SHAPES ODT_SHAPES",
        "#define FIRST 0",
        "#endif",
        "",
        "#if ODT_MPY",
        "#define AT(number, row) (row)",
        "static const struct {",
        "    odt_opcode_t rows[ROWS];",
        "    uint8_t shapes[SHAPES];",
        "} odt_table = {",
        "#else",
        "#define AT(number, row) (number)",
        "const odt_table_t odt_table = {",
        "#endif",
        "    // Every instruction's kernel, distance from here to its shapes, operands and immediates.",
        "    // What is outside has its shapes there.",
        "    #define ROW(number, kernel, row, at, operands, immediates) [AT(number, row)] = { \\",
        "        IS_INSIDE ? kernel : 0, \\",
        "        IS_INSIDE ? (ROWS - AT(number, row)) * sizeof(odt_opcode_t) + (at) - FIRST - LEFT_OUT : 0, \\",
        "        operands, immediates},",
        "    #define IS_INSIDE 1",
        "    #define LEFT_OUT 0",
        "    {",
        *rows,
        "    },",
        "    // Every operand, then every immediate's limit, of one instruction after the other. An operand is",
        "    // access << 6 | dtype << 3 | number of factors, then the factors of its extent: the index of an",
        "    // immediate, or %d + a number." % LITERAL,
        "    {",
        *shapes,
        "    },",
        "};",
        "",
        "#if ODT_MPY",
        "const odt_piece_t odt_piece = {ODT_STAMP, ODT_PIECE, odt_table.rows};",
        "#endif",
        "",
        "#if ODT_OUTSIDE || ODT_MPY && ODT_PIECE == 0",
        "// Where an instruction's row is among those of all pieces, one piece after the other; each piece's first.",
        "const uint8_t odt_places[ODT_OPCODES + 1] = {",
        *_wrapped([0] + [places[op.number] for op in table]),
        "};",
        "const uint8_t odt_firsts[ODT_PIECES + 1] = {%s};" % ", ".join(map(str, firsts)),
        "#endif",
        "",
        "// The executor writes the pointers one after the other, then the immediates: so must they lie.",
        "#define ODT_ASSERT_LAYOUT(name, operand, operands, immediate, immediates) \\",
        "    typedef char odt_layout_##name[(offsetof(odt_##name##_t, operand) \\",
        "        == ((operands) - 1) * sizeof(void *) && offsetof(odt_##name##_t, immediate) \\",
        "        == (operands) * sizeof(void *) + ((immediates) - 1) * sizeof(int32_t)) ? 1 : -1]",
        "",
    ]
    out += [
        "ODT_ASSERT_LAYOUT(%s, %s, %d, %s, %d);"
        % (op.name, op.operands[-1][0], len(op.operands), op.immediates[-1], len(op.immediates))
        for op in table
    ]
    return "\n".join(out) + "\n"


def _lines(table):
    """Where opcodes.line() finds an instruction."""
    starts, at = {}, 0
    for line in opcodes.TABLE.decode().splitlines(keepends=True):
        number = line.split(" ", 1)[0]
        starts[int(number)] = at + len(number) + 1
        at += len(line)
    named = sorted([op for op in table if op.number in starts], key=lambda op: (len(op.name), op.number))
    ends = [len([op for op in named if len(op.name) <= length]) for length in range(len(named[-1].name) + 1)]
    out = [
        "# Generated from %s by odt/host/generate.py; after a change there: %s." % (SOURCE, COMMAND),
        '"""Where the lines of TABLE are: opcodes.line()."""',
        "",
    ]
    for about, name, values in (
        ("Of each instruction, by number from 1 on, where its name begins, or 0: two bytes, the lower first.", "AT",
         [byte for number in range(1, max(starts) + 1) for byte in starts.get(number, 0).to_bytes(2, "little")]),
        ("The numbers by the lengths of names.", "BY_LENGTH", [op.number for op in named]),
        ("How many of these names are no longer than 0, 1 and so on.", "ENDS", ends),
    ):  # fmt: skip
        lines = _literal(values)
        out += ["# " + about]
        out += ["%s = %s" % (name, lines[0].strip())] if len(lines) == 1 else ["%s = (" % name, *lines, ")"]
    return "\n".join(out) + "\n"


def _literal(values, width=28):
    return [
        '    b"%s"' % "".join("\\x%02x" % value for value in values[at : at + width])
        for at in range(0, len(values), width)
    ]


def _index(table):
    """Where the reference executor finds each instruction's function."""
    homes, known = {}, {op.name: op for op in table}
    for family, (_, names) in FAMILIES.items():
        for name in names:
            homes[name] = _module(known[name], family)
    modules = sorted(set(homes.values()))
    assert len(modules) <= 52  # the next character would be a backslash
    letters = "".join(chr(40 + modules.index(homes[op.name])) for op in table)
    return "\n".join(
        [
            "# Generated from %s by odt/host/generate.py; after a change there: %s." % (SOURCE, COMMAND),
            '"""Which module has the function of an instruction: MODULES.split()[ord(BY_NUMBER[its number - 1]) - '
            '40]."""',
            "",
            "MODULES = (  # a string takes half the RAM of a tuple",
            *['    "%s "' % name for name in modules],
            ")",
            "BY_NUMBER = (",
            *['    "%s"' % letters[i : i + 100] for i in range(0, len(letters), 100)],
            ")",
            "",
        ]
    )


def _module(op, family):
    """That of the family which has the function; where it is not written yet, the one it belongs to by its dtype."""
    for path in sorted((ROOT / "odt" / "reference").glob(family + "*.py")):
        if "\ndef %s(o):" % op.name in path.read_text():
            return path.stem
    if op.name in opcodes.PREFIXES:  # program.py runs these
        return "program"
    return family + ("_f32" if any([operand[2] == "f32" for operand in op.operands]) else "_i8")


def _documented(table, formulas):
    """The modules of the reference executor, an instruction's formula and operands as its function's docstring."""
    lines = {line.split()[1]: line.split(None, 2)[2] for line in LINES}
    found = {}
    for path in sorted((ROOT / "odt" / "reference").glob("*.py")):
        text = path.read_text()
        present = [] if path.stem == "vectors" else [op for op in table if "\ndef %s(o):\n" % op.name in text]
        for op in present:
            start = "def %s(o):\n" % op.name
            words = [formulas[op.number], lines[op.name]]
            parts = ["\n".join(textwrap.wrap(part, 112, subsequent_indent="    ")) for part in words]
            docstring = textwrap.indent('"""%s\n\n%s\n"""\n' % tuple(parts), "    ")
            text = re.sub(
                re.escape(start) + r'(    """.*?"""\n)?', lambda _, new=start + docstring: new, text, flags=re.DOTALL
            )
        if present:
            found[path.relative_to(ROOT).as_posix()] = text
    return found


def _manual(table, formulas):
    out = [
        "<!-- Generated from %s by odt/host/generate.py; after a change there: %s. -->" % (SOURCE, COMMAND),
        "",
        "# Instructions",
        "",
        *textwrap.wrap(
            "Instruction set %d. The arithmetic, to the bit, is in [numerics.md](numerics.md). An operand is its "
            "name, how it is used (`=` written, `:` read, `+` updated in place), its dtype and its extent, where that "
            "is not 1, and neither of the control block, `i32[16]`; `~x` says that it may lie in the memory of x. `@` "
            "stands for the window `%s`. B, M and immediates with a `'` count rows of the batch, or what is in all of "
            "them ([program.md](program.md), *Fewer rows*)." % (opcodes.VERSION, opcodes.WINDOW),
            120,
        ),
        "",
        "By families, as odt/reference/ and native/kernels/ are divided too.",
    ]
    lines = {line.split()[1]: line for line in LINES}
    known = {op.name: op for op in table}
    for family, (about, names) in FAMILIES.items():
        out += ["", "## %s" % family, "", about[0].upper() + about[1:] + ".", ""]
        out += ["| | instruction | operands | immediates | formula |", "|-:|---|---|---|---|"]
        for name in names:
            op, (head, tail) = known[name], lines[name].split(";")
            operands = " ".join("`%s`" % word for word in head.split()[2:])
            formula = formulas[op.number].replace("|", "\\|")
            out.append("| %d | `%s` | %s | `%s` | %s |" % (op.number, name, operands, tail.strip(), formula))
    return "\n".join(out) + "\n"


def main(arguments):
    if "--check" in arguments:
        names = stale()
        for name in names:
            print("%s does not agree with %s; run %s" % (name, SOURCE, COMMAND))
        return 1 if names else 0
    for name, text in generated().items():
        path = ROOT / name
        if not path.exists() or path.read_text() != text:
            write_text(path, text)
            print("wrote %s" % name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
