"""Tokens as samples: what a network with an embedding takes, and which nodes of a file read them."""

import numpy as np

from ..graph import refuse

_MOST = 256  # tokens of a byte
_SAME = ("Cast", "Identity")


def vocabulary_of(graph):
    """How many tokens all embeddings of a Graph have rows for, or None where there is none."""
    return min((len(node.weights["kernel"]) for node in graph.nodes if node.op == "embedding"), default=None)


def refuse_to_train(graph, model):
    """Refuse what would train otherwise than the source trains it: a row that stands for padding, and stays there."""
    for node in graph.nodes:
        if node.op != "embedding" or node.options.get("padding") is None:
            continue
        if any(layer.name == node.name and layer.trainable for layer in model.layers):
            refuse(
                node.origin, "has padding_idx=%d, a row that does not train there" % node.options["padding"],
                "train= of other layers, or padding_idx=None: the row then trains as the others",
            )  # fmt: skip


def as_bytes(given, vocabulary, name):
    """Token numbers as odt takes them, uint8; ValueError where one is not in 0..vocabulary - 1."""
    given = np.asarray(given)
    if given.dtype.kind not in "iuf":
        raise ValueError("%s: tokens are expected, got %s" % (name, given.dtype))
    wrong = np.flatnonzero(~((given >= 0) & (given < vocabulary) & (given == np.floor(given))))
    if len(wrong):
        token = given.ravel()[wrong[0]]
        raise ValueError("%s: tokens 0..%d are expected, number %d is %s" % (name, vocabulary - 1, wrong[0], token))
    return given.astype(np.uint8)


def check(table, value, origin):
    """Refuse a table that is too large for bytes, and tokens that are computed of the samples."""
    if table.ndim != 2:
        refuse(origin, "gathers from a table of shape %s" % (table.shape,), "one of (tokens, units)")
    if len(table) > _MOST:
        refuse(origin, "has a table of %d rows" % len(table), "%d at most: odt's tokens are bytes" % _MOST)
    if value.node.op != "input" or len(value.source) != 1 or value.pads is not None:
        refuse(origin, "takes tokens that are none of the samples' own", "samples of (steps,) that are tokens")


# --- ONNX's Gather ------------------------------------------------------------------------------


def is_only_gathered(nodes, name):
    """Whether all that reads a tensor of a file takes its numbers as positions in a constant table."""
    names, found = {name}, False
    for node in nodes:
        if not names & set(node.input):
            continue
        if node.op_type in _SAME:
            names |= set(node.output)
        elif node.op_type == "Gather" and node.input[0] not in names:
            found = True
        else:
            return False
    return found


def gather(reader, a):
    """Gather of a constant table by tokens."""
    table = a.weight(0)
    if table.dtype.kind != "f":
        refuse(a.origin, "gathers rows of %s" % table.dtype, "QDQ, whose DequantizeLinear comes before it")
    if a.get("axis", 0) % max(table.ndim, 1):
        refuse(a.origin, "gathers along axis %d of a table" % a.get("axis", 0), "axis 0, whose rows are the tokens'")
    return reader.builder.embedding(a.value(1), table, a.name, a.origin)
