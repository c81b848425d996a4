"""The graph: nodes (one application of a layer each) and their order.

It knows shapes and who feeds whom, and nothing of bytes, dtypes or instructions.
"""

if 1 - 1:  # for type checkers alone
    from ..layers import Layer


class Node:
    """One layer applied to the outputs of other nodes.

    ``shape`` is the output's, without the batch. ``clamp``: the ReLU (1) or ReLU6 (6) of the layer itself, else 0;
    ``relu``: the one that follows within the same instruction, where that is known; ``alias`` is the node that computes
    this one's output (a fused ReLU), else None. ``masks``: the error is masked here for a ReLU below (1, 6), since this
    max-pooling alone reads its output. ``folded``: the BatchNorm whose factors this one's weights hold, else None.
    ``statistics``: of an Input whose samples are read by the running statistics of a BatchNorm, and of that BatchNorm:
    the latter's node, else None. ``steps``: those that its layer is given, where they stay: in int8, before all that
    trains; else None.
    """

    layer: "Layer"
    inputs: "list[Node]"
    shape: "tuple[int, ...]"

    def __init__(self, layer: "Layer", inputs: "list[Node]", shape: "tuple[int, ...]") -> None:
        self.layer = layer
        self.inputs = inputs
        self.shape = shape
        self.clamp = self.relu = fused(layer)
        self.alias = None
        self.masks = 0
        self.folded = self.statistics = self.steps = None


def trace(inputs, output):
    """The nodes that ``output`` needs, each after those that feed it.

    Raises ValueError when an input node is not among ``inputs``, an input is not used, or a layer
    is applied twice (odt does not share weights).
    """
    order = []
    pending = [(output, False)]
    while pending:
        node, ready = pending.pop()
        if node in order:
            continue
        if ready:
            order.append(node)
            continue
        pending.append((node, True))
        for parent in reversed(node.inputs):
            pending.append((parent, False))
    layers = []
    for node in order:
        if not node.inputs and node not in inputs:
            raise ValueError("the output depends on an Input that is not the model's")
        if node.layer in layers:
            raise ValueError("layer %r is applied twice; make a second one" % node.layer)
        layers.append(node.layer)
    for node in inputs:
        if node not in order:
            raise ValueError("the output does not depend on the model's input")
    return order


def fused(layer):
    """The clamp that a layer asks for itself: 0 none, 1 a ReLU, 6 a ReLU6."""
    return {"relu": 1, "relu6": 6}.get(layer.activation, 0)


def consumers(nodes, node):
    """The nodes that read ``node``'s output."""
    return [other for other in nodes if node in other.inputs]


def fuse_relu(nodes):
    """Let each ReLU that alone follows a layer that can clamp become that layer's own clamp."""
    for node in nodes:
        if not node.layer.clamps:
            continue
        parent = resolve(node.inputs[0])
        if parent.layer.can_clamp and not parent.relu and len(consumers(nodes, node.inputs[0])) == 1:
            parent.relu = node.layer.clamps
            node.alias = parent


def mask_after_pooling(nodes):
    """Let a max-pooling that alone reads a clamped output mask the error: what it chose is what counts.

    Then nobody needs the output that was pooled, and a smaller error is masked.
    """
    for node in nodes:
        if node.layer.selects:
            parent = resolve(node.inputs[0])
            if parent.relu and len(consumers(nodes, node.inputs[0])) == 1:
                node.masks = parent.relu


def trained(nodes, every=False, within=None):
    """The nodes at or below which something trains, or with ``every`` has weights: the error must reach these.

    ``within``: only what is among these nodes does.
    """
    reached = []
    for node in nodes:
        own = (every or node.layer.trainable) and node.layer.weight_shapes() and not node.layer.view
        own = own and (within is None or node in within)
        if own or any([parent in reached for parent in node.inputs]):
            reached.append(node)
    return reached


def backward_macs(nodes, within=None):
    """Multiply-accumulates of a sample's backward pass: of each node, by what trains now;
    ``within`` as for trained().
    """
    reached = trained(nodes, within=within)
    found = []
    for node in nodes:
        layer = node.layer
        macs = 0
        if node in reached:
            if any([parent in reached for parent in node.inputs]):
                macs = layer.macs
            if layer.trainable and layer.update_rows is not None:
                macs += layer.macs * sum([count for _, count in layer.update_rows]) // layer.kernel_shape[0]
            elif layer.trainable:
                macs += layer.macs
        found.append(macs)
    return found


def resolve(node):
    """The node that computes ``node``'s output."""
    while node.alias is not None:
        node = node.alias
    return node
