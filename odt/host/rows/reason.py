"""Where a plan by rows takes the most bytes, and why no stripe saves any there."""

from ...plan.compiler import compile_graph
from .place import live_bytes, lives, sample_shape


def reason(made, what, flash):
    """The layer at whose turn the most bytes live, what takes the most of them, and why it is whole; for people."""
    rows = made.rows.again()
    plan = compile_graph(*what, made.segments, flash, [], made.bits, rows)
    owners = [instruction.owner for instruction in plan.instructions]
    found = lives(plan.instructions)
    forms = [form for _, form in found]
    if rows.sample:
        forms.append(sample_shape(plan.instructions, rows.sample))
    live = live_bytes(forms, len(owners))
    at = live.index(max(live))
    here = [(buffer, min([a for _, _, a, _ in form]), max([b for *_, b in form])) for buffer, form in found]
    largest, first, last = max([life for life in here if life[1] <= at <= life[2]], key=lambda life: life[0].size)
    text = "%d bytes of arena at %r, of which %d are %r" % (max(live), owners[at], largest.size, largest.name)
    maker, reader = owners[first], owners[last]
    if at >= rows.end:
        return text + " (the backward pass does not run by rows)"
    if last >= rows.end:
        return text + " (read again by the backward pass, of %r)" % reader
    for layer in (maker, reader):
        if layer in rows.against:
            return text + " (%r: %s)" % (layer, rows.against[layer])
    return text
