"""Attention as other frameworks write it: products of tensors whose numbers were moved, and odt's layer for them.

Frameworks move heads and time to the front, before the batch, and multiply. Nothing of this is a tensor of samples. So
what moves numbers is applied to their places in a tensor that is one, and a product is known by where its numbers come
from: queries, keys and values are rows of a Dense, heads are parts of a row.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..builder import Value
from ..graph import refuse
from .recurrence import Apart

MASKED = -1e9  # and less: what a mask adds to a score that is not to be seen


@dataclass
class Projection:
    """A Dense that is made when it is known of what it is a part; ``taken``: whether a row is a part of something."""

    value: Value
    kernel: np.ndarray
    bias: np.ndarray
    name: str
    origin: str

    def __post_init__(self):
        self.taken, self.made = np.zeros(len(self.kernel), bool), None

    @property
    def sizes(self):
        return (*self.value.source[:-1], len(self.kernel))

    def take(self, rows, origin):
        """Note that these rows are a part of the node; each is one of one."""
        if np.any(self.taken[rows]):
            refuse(origin, "reads %s, which another node reads, too" % self.origin, "a Linear of its own for each")
        self.taken[rows] = True

    def dense(self, builder, origin):
        """The Dense, where it is no part of an attention."""
        if self.made is None:
            self.take(slice(None), origin)
            self.made = builder.dense(self.value, self.kernel, self.bias, self.name, self.origin)
        return self.made


@dataclass
class Heads:
    """Rows ``first`` and on of a projection, in ``count`` parts of ``width``."""

    of: Projection
    first: int
    count: int
    width: int

    @property
    def steps(self):
        return self.of.sizes[0]

    def weights(self):
        rows = slice(self.first, self.first + self.count * self.width)
        return self.of.kernel[rows], None if self.of.bias is None else self.of.bias[rows]


@dataclass
class Scores:
    """Products of queries and keys, times ``factor``; ``soft``: softmax of these."""

    query: Heads
    key: Heads
    factor: float = 1
    causal: bool = False
    soft: bool = False

    @property
    def sizes(self):
        return self.query.count, self.query.steps, self.key.steps


@dataclass
class Mixed:
    """Values, weighted by softmax."""

    scores: Scores
    value: Heads

    @property
    def sizes(self):
        return self.scores.query.steps, self.value.count * self.value.width


class Numbers(Apart):
    """Those of a tensor of a batch in any order: ``places`` are theirs in the batch of ``source``, flat, and
    ``factor`` multiplies them.

    ``source``: a Value, Projection, Scores or Mixed.
    """

    def __init__(self, source, places, origin, factor=1):
        self.source, self.places, self.origin, self.factor = source, places, origin, factor

    @classmethod
    def of(cls, source, batch, origin):
        sizes = source.source if isinstance(source, Value) else source.sizes
        count = batch * int(np.prod(sizes))
        return cls(source, np.arange(count).reshape(batch, *sizes), origin)

    def moved(self, places, origin):
        return Numbers(self.source, np.asarray(places), origin, self.factor)

    def is_in_order(self):
        return np.array_equal(self.places.ravel(), np.arange(self.places.size))

    def settled(self, builder, batch):
        """A Value where the numbers are in order again and one's own or a projection's, else the Numbers."""
        if not isinstance(self.source, (Value, Projection)) or self.factor != 1 or not self.is_in_order():
            return self
        if not self.places.shape or self.places.shape[0] != batch:
            return self
        source = self.source if isinstance(self.source, Value) else self.source.dense(builder, self.origin)
        return builder.reshape(source, self.places.shape[1:], self.origin)


def dense(builder, x, batch, kernel, bias, name, origin):
    """A product of rows, wherever they lie, with weights (units, features): Numbers of it."""
    features, sizes = kernel.shape[1], x.source.source if isinstance(x.source, Value) else x.source.sizes
    rows = x.places.reshape(-1, features) if x.places.size % features == 0 else x.places.reshape(1, -1)
    if (
        sizes[-1] != features or x.places.shape[-1] != features or x.factor != 1
        or np.any(rows != rows[:, :1] + np.arange(features)) or np.any(rows[:, 0] % features)
    ):  # fmt: skip
        refuse(origin, "multiplies parts of the rows of %s" % x.origin, "whole rows")
    if isinstance(x.source, Mixed):
        made = _attention(builder, x.source, kernel, bias, name, origin)
    elif isinstance(x.source, Value):
        made = Projection(x.source, kernel, bias, name, origin)
    else:
        refuse(origin, "follows %s at once" % x.origin, "an attention between")
    units = len(kernel)
    places = rows[:, :1] // features * units + np.arange(units)
    return Numbers(made, places.reshape(*x.places.shape[:-1], units), origin)


def scores(query, key, batch, origin, mask=None, factor=1):
    """Products of queries (.., steps, width) and keys (.., width, steps): Numbers of Scores."""
    first, second = _heads(query, batch, origin), _heads(key.moved(key.places.swapaxes(-1, -2), origin), batch, origin)
    if (first.count, first.width) != (second.count, second.width):
        refuse(origin, "multiplies heads of %d and %d features" % (first.width, second.width), "heads of one width")
    made = Scores(first, second, factor * query.factor * key.factor)
    shape = (*query.places.shape[:-1], key.places.shape[-1])
    found = Numbers(made, np.arange(int(np.prod(shape))).reshape(shape), origin)
    return found if mask is None else masked(found, mask, origin)


def scaled(x, factor, origin):
    """All numbers times a constant."""
    if isinstance(x.source, Scores) and not x.source.soft:
        if x.source.causal:
            refuse(origin, "multiplies scores that have a mask", "the mask after it")
        return Numbers(replace(x.source, factor=x.source.factor * factor), x.places, origin)
    return Numbers(x.source, x.places, origin, x.factor * factor)


def masked(x, mask, origin):
    """Scores, to which a constant mask is added that hides what is later, or nothing."""
    found = x.source
    if not isinstance(found, Scores) or found.soft or not x.is_in_order():
        refuse(origin, "adds to %s" % x.origin, "a mask on the scores alone")
    _, rows, keys = found.sizes
    later = np.arange(keys) > np.arange(rows)[:, None]
    try:
        mask = np.broadcast_to(mask, (1,) * max(0, np.ndim(mask) - 2) + (rows, keys)).reshape(rows, keys)
    except ValueError:
        refuse(origin, "has a mask of shape %s" % (np.shape(mask),), "one of %s for all heads" % ((rows, keys),))
    if np.all(mask == 0):
        return x
    if rows != keys or np.any(mask[~later] != 0) or np.any(mask[later] > MASKED):
        refuse(origin, "has a mask that hides other steps than the later ones", "a causal mask")
    return Numbers(replace(found, causal=True), x.places, origin)


def softmax(x, axis, origin):
    """Of scores, over the keys."""
    found = x.source
    if not isinstance(found, Scores) or found.soft or not x.is_in_order() or axis % x.places.ndim != x.places.ndim - 1:
        refuse(origin, "takes softmax of %s" % x.origin, "softmax of scores over the last axis")
    return Numbers(replace(found, soft=True), x.places, origin)


def mixed(weights, value, batch, origin):
    """Products of softmax's weights (.., steps, keys) and values (.., keys, width): Numbers of Mixed."""
    found = weights.source
    if not isinstance(found, Scores) or not found.soft or not weights.is_in_order():
        refuse(origin, "multiplies %s" % weights.origin, "softmax's weights")
    heads = _heads(value, batch, origin)
    if (heads.count, heads.steps, heads.width) != (found.key.count, found.key.steps, found.key.width):
        refuse(origin, "mixes values of other sizes than the keys'", "keys and values of one size")
    if value.factor != 1 or abs(found.factor * found.key.width**0.5 - 1) > 1e-5:
        refuse(origin, "divides scores by %.4g" % (1 / found.factor), "the root of a head's width, %.4g" % (
            found.key.width**0.5))  # fmt: skip
    made = Mixed(found, heads)
    steps, width = found.query.steps, heads.width
    places = Numbers.of(made, batch, origin).places.reshape(batch, steps, heads.count, width).swapaxes(1, 2)
    return Numbers(made, places.reshape(*weights.places.shape[:-1], width), origin)


def _heads(x, batch, origin):
    """Queries, keys or values (.., steps, width) as Heads of a projection."""
    if not isinstance(x.source, Projection) or len(x.source.sizes) != 2 or x.places.ndim < 3:
        refuse(
            origin, "multiplies %s" % x.origin, "queries, keys and values by nn.Linear, (batch, heads, steps, width)"
        )
    steps, units = x.source.sizes
    width = x.places.shape[-1]
    count = x.places.size // (batch * steps * width)
    first = int(x.places.ravel()[0])
    wanted = (
        np.arange(batch * steps).reshape(batch, 1, steps, 1) * units + np.arange(count).reshape(1, count, 1, 1) * width
    )
    wanted = first + wanted + np.arange(width)
    if x.places.shape[-2] != steps or not np.array_equal(wanted.ravel(), x.places.ravel()):
        refuse(origin, "takes numbers of %s that are no heads" % x.origin, "(batch, heads, steps, width)")
    x.source.take(slice(first, first + count * width), origin)
    return Heads(x.source, first, count, width)


def _attention(builder, found, kernel, bias, name, origin):
    """odt's attention, a Value."""
    parts = {"query": found.scores.query, "key": found.scores.key, "value": found.value}
    named = {heads.of.name for heads in parts.values()}
    name = named.pop() if len(named) == 1 else name
    weights = {"output": (kernel, bias), **{key: heads.weights() for key, heads in parts.items()}}
    values = [parts[key].of.value for key in ("query", "value", "key")]
    return builder.attention(values, weights, found.value.count, found.scores.causal, name, origin)
