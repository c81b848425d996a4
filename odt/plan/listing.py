"""Programs looked at instruction by instruction: what one updates, and all of them as text."""

from ..base.regions import REGION_SHIFT, STATE
from .program import HEADER_WORDS, SECTIONS, Prefixed, Program


def updates(code, addresses) -> "bool":
    """Whether an instruction of the backward pass updates weights, optimizer or ranges: it writes to the state.

    But for what comes once per step: ``tick``, and ``relative``, which in a step that does not train leaves the state
    alone.
    """
    if code.name == "plain_i32":  # what SGD has in place of a state
        return True
    if code.name == "tick" or code.name.startswith("relative_"):
        return False
    for (_, access, _, _, _), address in zip(code.operands, addresses):
        if access != ":" and address >> REGION_SHIFT == STATE:
            return True
    return False


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
