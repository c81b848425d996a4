"""A drawing of the arena: instructions from left to right, bytes down, one letter per kind of buffer.

It is made from the program alone: a buffer lives from the instruction that writes it to the last
one that reads it before its memory is overwritten. It never runs anything.
"""

from ..base.regions import ARENA, REGION_SHIFT
from ..plan.program import HEADER_WORDS

LEGEND = (
    "a activation, A kept for the backward pass, e error, g weight gradient,\n"
    "s scratch (scales, peaks, rates), ? read but never written, . free"
)


def lives(program):
    """``[[start, end, first, last, kind]]``: bytes from start to before end, instructions first to last.

    Second result: how many instructions each section has, as ``[(end, name)]``.
    """
    found = []
    current = []  # the lives that are not yet overwritten
    ends = {}
    for name in ("train", "evaluate", "predict"):
        ends[program.section(name)[1]] = name
    predict = program.section("predict")[1]
    marks = []
    index = 0
    for at, code, addresses, immediates in program.walk(HEADER_WORDS, len(program.code) // 4):
        sizes = dict(zip(code.immediates, immediates))
        extents = []
        for number, address in enumerate(addresses):
            if address >> REGION_SHIFT == ARENA:
                size = code.bytes(number, sizes)
                extents.append((address, address + size, code.operands[number]))
        for start, end, operand in extents:
            if operand[1] == "=":
                continue
            met = [life for life in current if life[0] < end and start < life[1]]
            if not met:
                met = [[start, end, index, index, "?"]]
                current += met
                found += met
            for life in met:
                life[3] = index
                if at >= predict and life[4] == "a":
                    life[4] = "A"
        for start, end, operand in extents:
            if operand[1] == "=":
                life = [start, end, index, index, _kind(operand, at < predict)]
                current = [other for other in current if other[1] <= start or end <= other[0]]
                current.append(life)
                found.append(life)
        index += 1
        if at + code.words in ends:
            marks.append((index, ends[at + code.words]))
    return found, marks


def _kind(operand, forward):
    name, _, dtype, _, _ = operand
    if name in ("dw", "db"):
        return "g"
    if dtype not in ("i8", "f32"):
        return "s"
    return "a" if forward else "e"


def draw(program, width=78, rows=24):
    """The text: at most ``width`` columns and ``rows`` rows, and a heading and a legend around them."""
    found, marks = lives(program)
    count = marks[-1][0] if marks else 0
    digits = len(str(program.arena))
    columns = max(1, min(count, width - digits - 1))
    rows = max(1, min(rows, (program.arena + 3) // 4))
    ends = ", ".join(["%s to %d" % (name, end) for end, name in marks])
    lines = ["%d instructions across (%s), %d bytes down" % (count, ends, program.arena)]
    head = ""
    for end, name in marks:
        stop = end * columns // count
        head += (name + " " * stop)[: max(0, stop - len(head) - 1)] + "|"
    lines.append(" " * (digits + 1) + head)
    for row in range(rows):
        top = _edge(row, program.arena, rows)
        bottom = _edge(row + 1, program.arena, rows)
        here = []
        for life in found:
            height = min(life[1], bottom) - max(life[0], top)
            if height > 0:
                here.append((height, life))
        cells = ""
        for column in range(columns):
            first = column * count // columns
            stop = (column + 1) * count // columns
            best = 0
            letter = "."
            for height, life in here:
                area = height * (min(life[3] + 1, stop) - max(life[2], first))
                if area > best:
                    best = area
                    letter = life[4]
            cells += letter
        label = str(top)
        lines.append(" " * (digits - len(label)) + label + " " + cells)
    lines.append(LEGEND)
    return "\n".join(lines)


def _edge(row, arena, rows):
    """Where a row starts: at whole words, since every buffer does."""
    return arena if row == rows else arena * row // rows // 4 * 4
