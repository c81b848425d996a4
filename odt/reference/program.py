"""The reference executor: programs are verified and run in plain Python, integer exact, slow, readable.

The same interface as the native module `_odt`, and the same bits (docs/reference/numerics.md says which). An
instruction is a function of a module of its family, named as in odt/base/opcodes.py; it takes one argument with an
attribute for each operand (a typed array, or bytes for a ``buf``) and each immediate. Modules are imported with the
first program that needs them: see index.py.
"""

from array import array
from struct import pack_into

from ..base.opcodes import (
    ARENA,
    CONSTANTS,
    CONTROL,
    CONTROL_WORDS,
    COUNT,
    DEFAULT_LIMIT,
    DONE,
    LIMITS,
    PREFIXES,
    REGION_SHIFT,
    REGIONS,
    SIZES,
    STATE,
    VERSION,
    X_DATA,
    Y_DATA,
    forget,
    opcode,
)
from .buffers import as_bytes, count_samples, crc32, draw, find_nonfinite, nbytes, predict, typecode  # noqa: F401
from .index import BY_NUMBER, MODULES

_MAGIC = 0x3154444F
_HEADER_WORDS = 12
_REGION_NAMES = ("ARENA", "STATE", "CONTROL", "X_DATA", "Y_DATA", "CONSTANTS")
faster = {}  # functions in place of those of the modules; vectors.py puts its own here while it runs a program
try:
    from _odt_viper import FASTER as faster  # loops as native code: native/bindings/viper.py
except ImportError:
    pass
except ValueError as error:
    print("odt: _odt_viper.mpy is not for this machine or MicroPython (%s)" % error)
_functions = {}  # by number: those of programs that were loaded
_CODES = {"i8": "b", "i16": "h", "i32": "i", "mul": "i", "f32": "f"}


# Loading and running


class Program:
    """A verified program: its words, bytes it needs by region, where its instructions start."""

    def __init__(self, words):
        self.words = words
        self.bytes = {
            ARENA: words[3],
            STATE: words[4],
            CONTROL: 4 * CONTROL_WORDS,
            CONSTANTS: words[5],
        }
        self.starts = set()
        self.names = {}  # of its instructions, by number


def load(program):
    """Verify a program, bytes or a read-only memoryview, and return it in the form that `run` takes, a copy.

    Raises TypeError for anything else, ValueError with the reason for a program that is
    damaged, was made for another instruction set, or would reach outside of its regions.
    """
    if not isinstance(program, bytes):
        if not isinstance(program, memoryview) or not getattr(program, "readonly", True):
            raise TypeError("a program is bytes or a read-only memoryview, not %s" % type(program).__name__)
        program = bytes(program)
    if len(program) % 4 or len(program) < 4 * _HEADER_WORDS:
        raise ValueError("a program of %d bytes" % len(program))
    words = array("i", program)
    if words[0] != _MAGIC:
        raise ValueError("not a program: it starts with 0x%08x" % (words[0] & 0xFFFFFFFF))
    if words[1] != VERSION:
        raise ValueError("the program has instruction set %d, odt needs %d" % (words[1], VERSION))
    if words[2] != len(words):
        raise ValueError("the program has %d words, its header says %d" % (len(words), words[2]))
    if words[3] < 0 or words[4] < 0 or words[5] < 0:
        raise ValueError("a region of negative size")
    loaded = Program(words)
    at = _HEADER_WORDS
    while at < len(words):
        loaded.starts.add(at)
        try:
            at = _verify(loaded, at)
        except ValueError as error:
            raise ValueError("instruction at word %d: %s" % (at, error))
    loaded.starts.add(at)
    for i in range(6, _HEADER_WORDS, 2):
        _check_section(loaded, words[i], words[i + 1])
    forget()  # on a board a module's largest function is then the first in the heap, not the one that finds no place
    for number in loaded.names:
        _function(number, loaded.names[number])
    return loaded


def _check_section(loaded, start, stop):
    if start > stop or start not in loaded.starts or stop not in loaded.starts:
        raise ValueError("words %d to %d are not a run of instructions" % (start, stop))


def _verify(loaded, at, within=False):
    """Check the instruction at a word; returns the word after it. ``within``: it belongs to a prefix."""
    words = loaded.words
    op = opcode(words[at])
    if at + op.words > len(words):
        raise ValueError("%s is cut off" % op.name)
    sizes = _immediates(op, words, at)
    for name in op.immediates:
        smallest = 0 if name in ("PT", "PL") else 1
        if name.upper() == name and not smallest <= sizes[name] <= LIMITS.get(name, DEFAULT_LIMIT):
            raise ValueError("%s has %s = %d" % (op.name, name, sizes[name]))
    for i in range(len(op.operands)):
        name, access, dtype, _, _ = op.operands[i]
        address = words[at + 1 + i]
        region = address >> REGION_SHIFT
        offset = address & ((1 << REGION_SHIFT) - 1)
        if not 0 <= region < REGIONS:
            raise ValueError("%s.%s is in region %d" % (op.name, name, region))
        if dtype == "buf":
            if region not in (X_DATA, Y_DATA) or offset:
                raise ValueError("%s.%s must be the user's data" % (op.name, name))
            continue
        if region not in loaded.bytes:
            raise ValueError("%s.%s cannot be the user's data" % (op.name, name))
        if access != ":" and region == CONSTANTS:
            raise ValueError("%s.%s would write to CONSTANTS" % (op.name, name))
        if offset % min(SIZES[dtype], 4):
            raise ValueError("%s.%s is not aligned" % (op.name, name))
        if offset + op.bytes(i, sizes) > loaded.bytes[region]:
            raise ValueError("%s.%s ends beyond %s" % (op.name, name, _REGION_NAMES[region]))
    if op.name not in PREFIXES:
        loaded.names[op.number] = op.name
        if not within:
            _check_overlaps(op, _spans(op, words, at))
        return at + op.words
    if at + op.words >= len(words) or opcode(words[at + op.words]).name in PREFIXES:
        raise ValueError("%s has no instruction" % op.name)
    end = _verify(loaded, at + op.words, True)
    _verify_prefix(loaded, op.name, sizes, at + op.words)
    spans = _spans(op, words, at)
    op, at = opcode(words[at + op.words]), at + op.words
    _check_overlaps(op, _spans(op, words, at, sizes if "which" in sizes else None) + spans)
    return end


def _spans(op, words, at, each=None):
    """(operand, region, offset, bytes) of the operands that the instruction at a word reaches; ``each``: its prefix's
    sizes.
    """
    sizes = _immediates(op, words, at)
    spans = []
    for i in range(len(op.operands)):
        region = words[at + 1 + i] >> REGION_SHIFT
        size = op.bytes(i, sizes)
        if each and op.immediates[each["which"]] in op.operands[i][3]:
            size *= each["R" if region == ARENA else "N"]
        spans.append((op.operands[i], region, words[at + 1 + i] & ((1 << REGION_SHIFT) - 1), size))
    return spans


def _check_overlaps(op, spans):
    """What is written shares no byte with another operand, or lies exactly over one that is alike, where it may."""
    for written, region, start, size in spans:
        for other, at, begin, length in spans:
            if (
                written[1] == ":"
                or other is written
                or at != region
                or begin >= start + size
                or start >= begin + length
            ):
                continue
            if not (written[4] and begin == start and other[2:4] == written[2:4]):
                raise ValueError("%s.%s is written over %s" % (op.name, written[0], other[0]))


def _verify_prefix(loaded, prefix, given, at):
    """Check that a prefix and the instruction at a word, which it belongs to, fit together."""
    words = loaded.words
    op = opcode(words[at])
    sizes = _immediates(op, words, at)
    varying = [name.upper() == name and name not in ("PT", "PL") for name in op.immediates]
    if prefix == "few":
        for i in range(32):
            if given["mask"] >> i & 1:
                if i >= len(varying) or not varying[i] or sizes[op.immediates[i]] % given["R"]:
                    raise ValueError("few cannot vary immediate %d of %s" % (i, op.name))
        return
    which, place = given["which"], given["place"]
    if not 0 <= which < len(varying) or not varying[which]:
        raise ValueError("each: immediate %d of %s is no size" % (which, op.name))
    if not -1 <= place < len(varying) or (place >= 0 and varying[place]):
        raise ValueError("each: immediate %d of %s cannot be a row" % (place, op.name))
    for i in range(len(op.operands)):
        if op.immediates[which] in op.operands[i][3]:
            region = words[at + 1 + i] >> REGION_SHIFT
            offset = words[at + 1 + i] & ((1 << REGION_SHIFT) - 1)
            count = given["R" if region == ARENA else "N"]
            if offset + op.bytes(i, sizes) * count > loaded.bytes[region]:
                raise ValueError("each: %s of %s ends beyond %s" % (op.operands[i][0], op.name, _REGION_NAMES[region]))


def _immediates(op, words, at):
    first = at + 1 + len(op.operands)
    sizes = {}
    for i in range(len(op.immediates)):
        sizes[op.immediates[i]] = words[first + i]
    return sizes


def run(loaded, regions, start, stop, rows=0):
    """Run the instructions of a loaded program from word start to before word stop.

    regions: ARENA, STATE, CONTROL, X_DATA, Y_DATA, CONSTANTS, each a buffer, or None where the
    program needs nothing of it. rows: those of the batch that the program was made for, of which the first COUNT
    alone are computed; 0: all.
    """
    if not isinstance(loaded, Program):
        raise TypeError("expected what load() returned")
    if not isinstance(regions, (tuple, list)):
        raise TypeError("regions must be a tuple or a list, not %s" % type(regions).__name__)
    if len(regions) != REGIONS:
        raise ValueError("expected %d regions, got %d" % (REGIONS, len(regions)))
    _check_section(loaded, start, stop)
    buffers = []
    for i in range(REGIONS):
        buffer = as_bytes(b"" if regions[i] is None else regions[i])
        need = loaded.bytes.get(i, 0)
        if len(buffer) < need:
            raise ValueError("%s has %d bytes, the program needs %d" % (_REGION_NAMES[i], len(buffer), need))
        if need and i != CONSTANTS:
            view = memoryview(regions[i])
            view[0:0] = view[0:0]  # TypeError where it may not be written
        buffers.append(buffer)
    at = start
    while at < stop:
        op = opcode(loaded.words[at])
        if op.name in PREFIXES:
            at = _execute_prefixed(op, loaded.words, at, buffers)
        else:
            _execute(op, loaded.words, at, buffers, _fewer(op, loaded.words, at, buffers, rows))
            at += op.words


def _fewer(op, words, at, buffers, rows):
    """The immediates of the instruction at word ``at`` for the first COUNT of ``rows`` rows; None where they are as
    written.
    """
    count = max(1, array("i", bytes(buffers[CONTROL][4 * COUNT : 4 * COUNT + 4]))[0])
    if count < rows:
        sizes = _immediates(op, words, at)
        for i in op.rows:
            size = sizes[op.immediates[i]]
            if size % rows == 0:
                sizes[op.immediates[i]] = size // rows * count
                return sizes


class Arguments:
    """What an instruction's function is given: operands and immediates by name."""


def _execute_prefixed(prefix, words, at, buffers):
    """Run a prefix and the instruction that it belongs to; returns the word after both."""
    given = _immediates(prefix, words, at)
    listed = []
    for i in range(len(prefix.operands)):
        start = words[at + 1 + i] & ((1 << REGION_SHIFT) - 1)
        data = buffers[words[at + 1 + i] >> REGION_SHIFT][start : start + prefix.bytes(i, given)]
        listed.append(array("i", bytes(data)))
    count = max(1, min(listed[0][0], given["R"]))
    at += prefix.words
    op = opcode(words[at])
    sizes = _immediates(op, words, at)
    if prefix.name == "few":
        for i, name in enumerate(op.immediates):
            if given["mask"] >> i & 1:
                sizes[name] = sizes[name] // given["R"] * count
        _execute(op, words, at, buffers, sizes)
    else:
        for j in range(count):
            if 0 <= listed[1][j] < given["N"]:
                if given["place"] >= 0:
                    sizes[op.immediates[given["place"]]] = listed[1][j]
                _execute(op, words, at, buffers, sizes, op.immediates[given["which"]], (j, listed[1][j]))
        pack_into("<i", buffers[CONTROL], 4 * DONE, at)  # also of none
    return at + op.words


def _execute(op, words, at, buffers, sizes=None, which=None, rows=(0, 0)):
    """Run the instruction at a word. ``sizes``: immediates other than those written there.

    ``rows``: by how many extents operands are shifted whose extent has the immediate ``which``: the first number
    is for the arena, the second for other regions.
    """
    o = Arguments()
    sizes = sizes or _immediates(op, words, at)
    for name in sizes:
        setattr(o, name, sizes[name])
    written = []
    for i in range(len(op.operands)):
        name, access, dtype, extent, _ = op.operands[i]
        address = words[at + 1 + i]
        buffer = buffers[address >> REGION_SHIFT]
        if dtype == "buf":
            setattr(o, name, buffer)
            continue
        start = address & ((1 << REGION_SHIFT) - 1)
        if which in extent:
            start += op.bytes(i, sizes) * rows[address >> REGION_SHIFT != ARENA]
        stop = start + op.bytes(i, sizes)
        values = array(_CODES[dtype], bytes(buffer[start:stop]))
        setattr(o, name, values)
        if access != ":":
            written.append((buffer, start, stop, values))
    _function(op.number, op.name)(o)
    _write(written, buffers[CONTROL], at)


def _write(written, control, at):
    """What the instruction at word ``at`` has computed, and that it is done, as a whole: what interrupts it is raised
    afterwards.
    """
    late = None
    while True:
        try:
            for buffer, start, stop, values in written:
                buffer[start:stop] = bytes(values)
            pack_into("<i", control, 4 * DONE, at)
            break
        except KeyboardInterrupt as error:
            late = error
    if late:
        raise late


def _function(number, name):
    """An instruction's function; its module is imported with the first program that has it."""
    if name in faster:
        return faster[name]
    if number not in _functions:
        module = "odt.reference." + MODULES.split()[ord(BY_NUMBER[number - 1]) - 40]
        _functions[number] = getattr(__import__(module, None, None, (name,)), name)
    return _functions[number]
