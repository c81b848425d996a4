"""A program as text."""

from ..base.regions import REGION_SHIFT
from ..plan.program import HEADER_WORDS, SECTIONS, Prefixed, Program


def disassemble(code):
    """The program as text, one instruction per line, operands as region+offset."""
    program = Program(code)
    lines = ["; %d words, arena %d, state %d, constants %d" % (
        len(code) // 4, program.arena, program.state, program.constants)]  # fmt: skip
    ends = {program.section(name)[1]: name for name in SECTIONS}
    for at, code, addresses, immediates in program.walk(HEADER_WORDS, len(program.code) // 4):
        if isinstance(code, Prefixed):
            lines.append(_line(at, *code.prefix))
            lines.append(_line(at + code.prefix[0].words, code, addresses, immediates))
        else:
            lines.append(_line(at, code, addresses, immediates))
        if at + code.words in ends:
            lines.append("; end of %s" % ends[at + code.words])
    return "\n".join(lines)


def _line(at, code, addresses, immediates):
    words = ["%5d %-18s" % (at, code.name)]
    for (name, access, _, _, _), address in zip(code.operands, addresses):
        region = "aSCxyK"[address >> REGION_SHIFT]
        words.append("%s%s%s+%d" % (name, access, region, address & ((1 << REGION_SHIFT) - 1)))
    words += ["%s=%d" % pair for pair in zip(code.immediates, immediates)]
    return " ".join(words)
