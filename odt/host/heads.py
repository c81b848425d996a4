"""Heads of attention are cut: what is left is an odt model with smaller MultiHeadAttention layers, which predicts what
the whole one does with these heads masked.

    from odt.host.heads import prune_heads

    small = prune_heads(model, 2, x, y)           # those two whose absence raises the loss of these samples least
    small.compile(odt.Adam(0.001), batch_size=8)  # keeps the weights
    small.fit(x, y, epochs=2)

A head's importance is by how much the loss rises when it is masked (Michel et al., 2019, section 3), measured in
float32. They use a gradient in its place, to save time with large networks; here a head costs one evaluate().
"""

import numpy as np

from ..adapt.lite import weights_of
from ..attention import MultiHeadAttention
from ..base.fixed import is_int
from ..model import Model
from ..plan.graph import Node


def importance(model, x, y):
    """``{attention's name: [by how much the mean loss of these samples is higher without each head]}`` of a compiled
    Model, which stays as it is. ``x``, ``y``: labelled samples as ``fit`` takes them. ValueError for a model without
    attention.
    """
    made, _ = _without(model, {})
    made.compile(None, model.session.loss, "float32", model.batch_size)
    values = [(layer, [np.array(each) for each in arrays]) for layer, arrays in weights_of(model)]
    places = {layer: at for at, (layer, _) in enumerate(values)}

    def loss():
        made.set_weights([each.astype("float32") for _, arrays in values for each in arrays])
        return made.evaluate(x, y)[0]

    found, whole = {}, loss()
    for layer in _attentions(model):
        arrays = values[places[layer.parts[3]]][1]
        kernel, found[layer.name] = arrays[0], []
        for head in range(layer.num_heads):
            arrays[0] = kernel.reshape(-1, layer.num_heads, layer.sizes[3]).copy()
            arrays[0][:, head] = 0
            arrays[0] = arrays[0].reshape(-1)
            found[layer.name].append(loss() - whole)
        arrays[0] = kernel
    return found


def prune_heads(model, heads, x=None, y=None):
    """A Model without some heads, compiled to predict, with the weights of the compiled ``model``, which stays as it
    is; ``compile`` it again to train.

    ``heads``: how many, chosen one after another by ``importance`` of the labelled samples ``x``, ``y``; or {name of an
    attention: indices of its heads}. An attention keeps one head at least. Layers but the attentions are shared with
    ``model``. An int8 model is calibrated by ``x``, if it is given. ValueError for heads that there are not, TypeError
    for a number without samples.
    """
    attentions = {layer.name: layer for layer in _attentions(model)}
    if is_int(heads):
        if x is None or y is None:
            raise TypeError("prune_heads: a number of heads is chosen by samples: give x and y, or {name: heads}")
        most = sum([layer.num_heads - 1 for layer in attentions.values()])
        if not 1 <= heads <= most:
            raise ValueError("prune_heads: 1..%d of the heads can go, got %d" % (most, heads))
        if heads > 1:
            return prune_heads(_pruned(model, _least(model, x, y), x), heads - 1, x, y)
        heads = _least(model, x, y)
    for name, gone in heads.items():
        if name not in attentions:
            raise ValueError("no attention is called %r; there are %s" % (name, ", ".join(attentions)))
        count = attentions[name].num_heads
        if len(set(gone)) != len(gone) or not all([is_int(head) and 0 <= head < count for head in gone]):
            raise ValueError("%s: heads are different ones of 0..%d, got %r" % (name, count - 1, gone))
        if len(gone) == count:
            raise ValueError("%s: one of %d heads must stay" % (name, count))
    return _pruned(model, heads, x)


def _attentions(model):
    found = [node.layer for node in model.nodes if node.layer.kind == "attention"]
    if not found:
        raise ValueError("the model has no MultiHeadAttention")
    return found


def _least(model, x, y):
    """{name: [the head that these samples miss least]}, of attentions that have more than one."""
    rises = [(rise, name, head) for name, each in importance(model, x, y).items() if len(each) > 1
             for head, rise in enumerate(each)]  # fmt: skip
    _, name, head = min(rises)
    return {name: [head]}


def _pruned(model, heads, x):
    made, kept = _without(model, heads)
    made.compile(None, model.session.loss, model.dtype, model.batch_size)
    found, values = dict(weights_of(model)), []
    for layer, _ in weights_of(made):
        source, rows, columns = kept.get(layer, (layer, None, None))
        arrays = [np.array(each) for each in found[source]]
        if rows is not None:
            arrays = [each.reshape(len(rows), -1)[rows].reshape(-1) for each in arrays]
        if columns is not None:
            arrays[0] = arrays[0].reshape(-1, len(columns))[:, columns].reshape(-1)
        values += arrays
    made.set_weights([np.ascontiguousarray(each, "float32") for each in values])
    if x is not None and model.dtype == "int8":
        made.calibrate(x)
    return made


def _without(model, heads):
    """(a Model without these heads, {a new layer: (the old one, whether each of its outputs stays, or None, whether
    each of its inputs does, or None)})
    """
    copies, kept, parts = {}, {}, []
    for node in model.nodes:
        layer = node.layer
        if layer.kind == "attention" and heads.get(layer.name):
            if [parent.layer for parent in node.inputs] != list(layer.parts[:3]):
                raise ValueError("%r: something is between it and its projections: merge() LoRA first" % layer)
            parts += layer.parts
    for node in model.nodes:
        layer = node.layer
        if layer in parts:
            if node.inputs[0] in copies and node.inputs[0].layer.kind == "attention":
                copies[node] = copies[node.inputs[0]]
            continue  # made with its attention
        if layer.kind == "attention" and heads.get(layer.name):
            query, key, value = [copies[parent.inputs[0]] for parent in node.inputs]
            copies[node] = _smaller(layer, heads[layer.name], [query, value, key], kept)
        else:
            copies[node] = Node(layer, [copies[parent] for parent in node.inputs], node.shape)
    return Model(copies[model.nodes[0]], copies[model.nodes[-1]]), kept


def _smaller(layer, gone, inputs, kept):
    """The output of an attention without some heads of ``layer``."""
    heads, width = layer.num_heads, layer.sizes[3]
    made = MultiHeadAttention(heads - len(gone), width, layer.with_bias, layer.causal, layer.name, layer.trainable)
    made.parts = made._parts(inputs[0].shape[1])
    stays = np.repeat([head not in gone for head in range(heads)], width)
    for part, old in zip(made.parts, layer.parts):
        part.name, part.trainable, part.use_bias = old.name, old.trainable, old.use_bias
        kept[part] = (old, None, stays) if part is made.parts[3] else (old, stays, None)
    return made(inputs)
