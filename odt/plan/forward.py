"""The walk forward: each node's layer is lowered to instructions by a row of its family.

``layer.family`` names a module of this package, or of a capability, which is imported for the first layer of it. There
``ROWS[layer.kind]`` is ``(forward, backward)``:

- ``forward(s, node, inputs)``: the schedule, the node and its inputs' values; returns the output's value.
- ``backward(s, node, error, needed)``: the error of the output; returns the errors of the inputs, None of one that is
  not ``needed``.

A family may have ``check(node, batch, reached)``: ValueError where int8 cannot hold what the node computes.
"""


def family(layer):
    """The module of the layer's family; None for a view, which has no instructions."""
    if layer.view:
        return None
    place = layer.family if "." in layer.family else "plan." + layer.family
    return __import__("odt." + place, None, None, ("ROWS",))


def forward(s, nodes):
    """Emit the forward instructions of these nodes, for the first time or once more."""
    for node in nodes:
        s.begin_node(node)
        s.owner = node.layer.name
        if node.alias is not None:
            s.values[node] = s.values[node.alias]
        elif node.layer.view:
            s.values[node] = s.values[node.inputs[0]].alias()
        else:
            rows = family(node.layer).ROWS
            s.values[node] = rows[node.layer.kind][0](s, node, [s.values[i] for i in node.inputs])
    s.steps = None
