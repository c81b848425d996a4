"""The walk backward: from the error of the output to that of every node at or below which something trains.

A frozen layer has no weight gradient, and the error stops at the first node below which nothing trains.
"""

from .forward import family, forward
from .graph import resolve
from .masks import mask
from .values import ERROR


def _repeat(s, nodes, kept):
    """The forward instructions of these nodes once more, less those of the value that is kept."""
    for node in nodes:
        if s.values[node].buffer == kept:
            continue
        s.repeated = node
        forward(s, [node])
    s.repeated = None
    s.begin_node(None)


def _lowered(s, node, error, needed):
    """Emit the node's backward instructions; returns the errors of its inputs."""
    layer = node.layer
    if layer.view:
        return [error]
    if layer.dynamic and layer.trainable and not s.probing:
        backward = layer.dynamic.backward
    else:
        backward = family(layer).ROWS[layer.kind][1]
    return backward(s, node, error, needed)


def backward(s, nodes, last, error, segments=()):
    """Emit backward instructions and updates, from the error of the output of ``last``: the last node, or that before
    it.

    ``segments``: (first, end) of nodes whose outputs were not kept; before node ``end`` they come again.
    """
    reached = s.trained
    dynamic = [node.layer.dynamic for node in nodes if node in reached and node.layer.dynamic and not s.probing]
    if dynamic:
        dynamic[0].relative(s, error)
    forgotten = {nodes[end]: nodes[first:end] for first, end in segments}
    s.begin_node(None)
    masked = [resolve(node.inputs[0]) for node in nodes if node.masks]
    errors = {last: error}
    if last is not nodes[-1] and nodes[-1] in forgotten:
        _repeat(s, forgotten[nodes[-1]], s.values[nodes[-1]].buffer)
    for node in reversed(nodes):
        if node not in reached or node not in errors:
            continue
        error = errors.pop(node)
        s.owner = name = node.layer.name
        if node.alias is None and node.relu and node not in masked:
            error = mask(s, node, error, node.relu)
        if node in forgotten:  # from here on the node's own value is not needed
            _repeat(s, forgotten[node], s.values[node].buffer)
            s.owner = name
        if node.alias is not None:  # its clamp is the parent's, masked there
            inputs = [error]
        else:
            if s.probing:
                s.measure(node, error)
            inputs = _lowered(s, node, error, [parent in reached for parent in node.inputs])
        for parent, incoming in zip(node.inputs, inputs):
            if parent not in reached:
                continue
            if parent in errors:
                from .join import add

                name = parent.layer.name + " error"
                incoming = add(s, name, errors[parent], incoming, ERROR)
            errors[parent] = incoming
