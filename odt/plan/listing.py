"""What an instruction updates."""

from ..base.regions import REGION_SHIFT, STATE


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
