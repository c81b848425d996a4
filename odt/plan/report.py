"""What summary() prints."""

import sys

from ..base import executor
from ..base.fixed import elements


def outline(nodes):
    """The table of layers before anything is planned."""
    _table(("params",), [
        (node.layer.name, type(node.layer).__name__, node.shape,
        sum([elements(s) for _, s in node.layer.weight_shapes()]))
        for node in nodes
    ])  # fmt: skip
    print()
    print("compile() says what training takes: RAM, and MACs by layer")


def _table(titles, rows):
    table = [("layer", "kind", "output") + titles]
    for row in rows:
        text = "(" + ", ".join([str(extent) for extent in row[2]]) + ")"
        table.append(tuple(row[:2]) + (text,) + tuple([str(value) for value in row[3:]]))
    totals = [str(sum([row[column] for row in rows])) for column in range(3, 3 + len(titles))]
    table.append(("total", "", "") + tuple(totals))
    widths = [max([len(row[column]) for row in table]) for column in range(len(table[0]))]
    for row in table:
        cells = [_pad(cell, width, column > 2) for column, (cell, width) in enumerate(zip(row, widths))]
        print("  ".join(cells))


def summary(plan, dtype, batch):
    """The table of layers and the RAM plan."""
    _table(("params", "MACs fwd", "MACs bwd", "bytes"), plan.table)
    print()
    print("MACs are per sample; bytes are weights and optimizer state. %s, batch %d, executor: %s" % (
        dtype, batch, executor.backend))  # fmt: skip
    for name in ("weights", "optimizer state"):
        _line(name, plan.totals[name], " bytes")
    flash = plan.constants + getattr(plan, "flash_rows", 0)
    if flash:
        _line("frozen weights", flash, " bytes, in flash" + getattr(plan, "of_four", ""))
    _line("arena", plan.arena, " bytes (lower bound %d); peak use by kind:" % plan.lower_bound)
    for name in ("activations", "errors", "gradients", "scratch"):
        _line("  " + name, plan.peaks[name])
    if plan.again:
        _line("recomputed", plan.again, " MACs per sample, of activations that are not retained")
    for first, last, rows in plan.rows or ():
        if rows:
            print("%-18s %s to %s, %d of a stripe" % ("by rows", first, last, rows))
        else:
            print("%-18s %s, whose rows that do not train are frozen weights" % ("split kernel", first))
    if plan.sums:
        _line("  gradient sums", plan.sums, ", over the micro-batches of a batch")
    _line("total RAM", plan.arena + plan.state, " bytes, plus %d for the program" % len(plan.code))
    threads = sys.modules.get("odt.run.threads")
    if threads and threads.get_num_threads() > 1:
        _line("second core", threads.stack(), " bytes of stack, on a board")


def _line(name, number, text=""):
    print("%-18s %8d%s" % (name, number, text))


def _pad(text, width, right):
    padding = " " * (width - len(text))
    return padding + text if right else text + padding
