"""From a source's operations to the inner description: shapes, the order of axes, paddings.

A source may have its channels first or last, may flatten, reshape and transpose. Here none of that moves a number: a
Value knows where each number of odt's tensor is in the source's (``index``). What computes then either has its weights
permuted (a Dense after a Flatten; a Dense before a reshape to images) or is refused by name, as odt transposes nothing.
"""

from dataclasses import dataclass
from itertools import permutations

import numpy as np

from .graph import MOST, Graph, Node, Unsupported, finite, refuse
from .sequences import tokens
from .sequences.recurrence import GATES

UNARY = ("relu", "relu6", "leaky_relu", "sigmoid", "tanh", "elu", "selu", "gelu", "erf", "dropout", "same")
SELU = (1.6732632423543772, 1.0507009873554805)  # alpha and gain: Klambauer et al. 2017
_PASSING = (
    "maxpool",
    "upsample",
    "flatten",
    "reshape",
    "dropout",
    "relu",
    "relu6",
)  # bytes in the steps that they come in
_POSITIVE = ("relu", "relu6", "sigmoid")


@dataclass
class Value:
    """``node`` computes it, in ``shape``; ``source`` is the shape of a sample in the source, ``index`` as above, flat.

    ``pads``: zeros that a padding of the source adds, (before, after) of each axis of its sample; ``padded`` makes
    them.
    """

    node: Node
    shape: tuple
    source: tuple
    index: np.ndarray
    pads: tuple = None


class Builder:
    """Makes the Graph, call by call in the source's order. ``channel``: the axis of a sample's channels, 0 or -1.

    Arguments are the source's: ``origin`` names node and operator in messages, kernels come in odt's order.
    """

    def __init__(self, channel=0):
        self.channel = channel
        self.nodes = []
        self.values = []
        self.names = set()
        self.count = 0  # numbers of all tensors

    # --- values -------------------------------------------------------------------------------

    def _name(self, name):
        name = name or "layer"
        number = 0
        while (found := "%s_%d" % (name, number) if number else name) in self.names:
            number += 1
        self.names.add(found)
        return found

    def _value(self, node, source, index):
        value = Value(node, node.shape, tuple(source), np.asarray(index).ravel())
        self.values.append(value)
        return value

    def _node(self, op, name, origin, inputs, shape, weights=None, **options):
        shape = tuple(int(size) for size in shape)
        if not 1 <= len(shape) <= 3 or min(shape) < 1:
            refuse(origin, "makes a tensor of shape %s" % (shape,), "1 to 3 sizes of at least 1 beside the batch")
        self.count += np.prod(shape, dtype=object)
        if np.prod(shape, dtype=object) > MOST or self.count > 8 * MOST:
            refuse(origin, "makes a tensor of shape %s, above %d numbers, or %d in all" % (shape, MOST, 8 * MOST))
        node = Node(op, self._name(name), origin, inputs, shape, options, weights or {})
        self.nodes.append(node)
        return node

    def input(self, name, source, channel=None):
        """The input; ``channel``: the axis that becomes the last, where it is not the channels'."""
        source = tuple(int(size) for size in source)
        origin = "input %s" % name
        if not 1 <= len(source) <= 3 or min(source) < 1:
            refuse(origin, "has samples of shape %s" % (source,), "1 to 3 sizes of at least 1 beside the batch")
        if np.prod(source, dtype=object) > MOST:
            refuse(origin, "has samples of shape %s, above %d numbers" % (source, MOST))
        index = self._moved(source, self.channel if channel is None else channel)
        node = self._node("input", name, origin, [], index.shape)
        return self._value(node, source, index)

    def finish(self, value, origin="the output"):
        """The Graph that ends with this value."""
        self._no_pads(value, origin)
        if len(value.source) == 1:
            value = self._flat(value, origin)
            self._permute(value, np.arange(value.index.size))
        self._shorten(value.node)
        first = self.values[0]
        return Graph(self.nodes, value.node, first.source, first.index, value.source, value.index)

    @staticmethod
    def _moved(source, axis):
        index = np.arange(int(np.prod(source))).reshape(source)
        return np.moveaxis(index, axis, -1) if len(source) > 1 else index

    def _no_pads(self, value, origin):
        if value.pads is not None:
            refuse(origin, "follows a padding with zeros", "only a convolution or a pooling after a padding")

    def _arranged(self, value, axis, origin):
        """The value with that axis of the source last and the others in their order."""
        expected = self._moved(value.source, axis)
        pads, value = value.pads, self._no_padding(value)
        if not np.array_equal(value.index, expected.ravel()) and not self._permute(value, expected.ravel()):
            refuse(
                origin,
                "takes axis %d of samples of shape %s as the last one, which odt's tensor %s has not last"
                % (axis % len(value.source), value.source, value.shape),
                "a network without a transposition there",
            )
        if value.shape != expected.shape:
            value = self._reshaped(value, expected.shape, origin)
        return Value(value.node, value.shape, value.source, value.index, pads)

    @staticmethod
    def _no_padding(value):
        return Value(value.node, value.shape, value.source, value.index) if value.pads is not None else value

    def _images(self, value, origin, axes=None):
        """The value as (.., channels), its channels those of the source."""
        if axes is not None and len(value.source) != axes + 1:
            refuse(origin, "takes samples of %d axes, got %s" % (axes + 1, value.source))
        return self._arranged(value, self.channel, origin)

    def _reshaped(self, value, shape, origin):
        self._no_pads(value, origin)
        op = "flatten" if len(shape) == 1 else "reshape"
        node = self._node(op, op, origin, [value.node], shape)
        return self._value(node, value.source, value.index)

    def _flat(self, value, origin):
        return value if len(value.shape) == 1 else self._reshaped(value, (value.index.size,), origin)

    def _permute(self, value, wanted):
        """Let the Dense that made the value make it in this order;
        False where none did, or another reads it as it is.
        """
        if np.array_equal(value.index, wanted):
            return True
        chain = [value.node]
        while chain[-1].op in UNARY + ("reshape", "flatten", "norm", "affine"):
            chain.append(chain[-1].inputs[0])
        dense = chain[-1]
        if dense.op != "dense" or len(dense.shape) != 1:
            return False
        for node in chain[:-1]:
            if node.op == "norm" and node.options["kind"] != "batch" or node.weights and node.shape != dense.shape:
                return False
        for reader, node in zip([None] + chain, chain):
            if any(other is not reader for other in self.nodes if any(each is node for each in other.inputs)):
                return False
        place = np.empty_like(value.index)
        place[value.index] = np.arange(place.size)
        rows = place[wanted]  # number i is now what number rows[i] was
        for node in chain:
            for name, weight in node.weights.items():
                if weight is not None:
                    node.weights[name] = weight[rows]
        for each in {id(each): each for each in self.values + [value]}.values():
            if any(each.node is node for node in chain):
                each.index = each.index[rows]
        return True

    # --- what moves nothing -------------------------------------------------------------------

    def reshape(self, value, source, origin):
        """Another shape of the source's sample, of as many numbers."""
        source = tuple(int(size) for size in source)
        if value.pads is not None:
            carried = self._carried(value, source)
            if carried:
                return carried
            value = self.padded(value, origin)
        if np.prod(source, dtype=object) != value.index.size or (source and min(source) < 1):
            raise ValueError("%s: %s does not hold the numbers of %s" % (origin, source, value.source))
        made = Value(value.node, value.shape, source, value.index)
        self.values.append(made)
        return made

    def padded_source(self, value):
        """The source's shape of a sample, with the zeros that a padding adds."""
        if value.pads is None:
            return value.source
        return tuple(n + sum(pair) for n, pair in zip(value.source, value.pads))

    def padded(self, value, origin):
        """The value with the zeros of its padding, where no window follows that begins in them."""
        if value.pads is None:
            return value
        pads, value, rank = list(value.pads), self._no_padding(value), len(value.source)
        if rank == 1:
            image = self.padded(
                Value(value.node, value.shape, (*value.source, 1), value.index, (*pads, (0, 0))), origin
            )
            return self.reshape(image, image.source[:1], origin)
        found = None
        for last in sorted(range(rank), key=lambda axis: (pads[axis] != (0, 0), axis != self.channel % rank)):
            try:
                found = self._arranged(value, last, origin)
                break
            except Unsupported as error:
                refused = error
        if found is None:
            raise refused
        value = found
        sides = tuple(pair for axis, pair in enumerate(pads) if axis != last)
        shape = tuple(n + sum(pair) for n, pair in zip(value.shape, sides)) + value.shape[-1:]
        node = self._zeros(value.node, shape, sides, origin) if any(map(any, sides)) else value.node
        if any(pads[last]):  # as an image of one channel
            rows, count = int(np.prod(shape[:-1])), shape[-1] + sum(pads[last])
            node = self._node("reshape", "reshape", origin, [node], (rows, shape[-1], 1))
            node = self._zeros(node, (rows, count, 1), ((0, 0), pads[last]), origin)
            node = self._node("reshape", "reshape", origin, [node], shape[:-1] + (count,))
        source = tuple(n + sum(pair) for n, pair in zip(value.source, pads))
        node.scale, node.zero_point = value.node.scale, value.node.zero_point
        return self._value(node, source, self._moved(source, last))

    def _zeros(self, node, shape, pads, origin):
        """A node that pads: a convolution of one tap for each channel."""
        one, channels = (1,) * len(pads), shape[-1]
        weights = self._weights(np.ones((channels, *one, 1)), None, np.array(1 / 127), origin)
        made = self._node(
            "conv", "pad", origin, [node], shape, weights, size=one, strides=one, pads=pads, groups=channels,
            dilation=one
        )  # fmt: skip
        made.trainable, made.scale, made.zero_point = False, node.scale, node.zero_point
        return made

    def _carried(self, value, source):
        """A padded value of another shape, if that has other axes of size 1 alone; else None."""
        left = [(n, pair) for n, pair in zip(value.source, value.pads) if n + sum(pair) != 1]
        made = [left.pop(0) if n != 1 and left and n == left[0][0] + sum(left[0][1]) else (n, (0, 0)) for n in source]
        kept = tuple(n for n, _ in made)
        if left or not kept or np.prod(kept, dtype=object) != value.index.size:
            return None
        result = Value(value.node, value.shape, kept, value.index, tuple(pair for _, pair in made))
        self.values.append(result)
        return result

    def transpose(self, value, order, origin):
        """Axes of the source's sample in this order."""
        if sorted(order) != list(range(len(value.source))):
            raise ValueError("%s: axes %s are not those of %s" % (origin, tuple(order), value.source))
        before = np.arange(value.index.size).reshape(value.source).transpose(order)
        place = np.empty(before.size, value.index.dtype)
        place[before.ravel()] = np.arange(before.size)
        pads = None if value.pads is None else tuple(value.pads[axis] for axis in order)
        made = Value(value.node, value.shape, before.shape, place[value.index], pads)
        self.values.append(made)
        return made

    def pad(self, value, pads, origin):
        """Zeros around the sample; ``pads``: (before, after) of each axis of the source's sample."""
        pads = tuple((int(before), int(after)) for before, after in pads)
        if min(min(pair) for pair in pads) < 0:
            refuse(origin, "cuts the image: pads %s" % (pads,))
        made = Value(value.node, value.shape, value.source, value.index, _more(value.pads, pads))
        self.values.append(made)
        return made

    # --- layers -------------------------------------------------------------------------------

    def dense(self, value, kernel, bias, name, origin, steps=None):
        """``kernel``: (units, features of the source).

        ``steps``, here and below: the scale of its bytes, of each row or of all, or None.
        """
        self._no_pads(value, origin)
        kernel = finite(origin, "kernel", kernel)
        features = value.source[-1] if value.source else 0
        if kernel.ndim != 2 or kernel.shape[1] != features:
            raise ValueError("%s: kernel %s does not take samples of %s" % (origin, kernel.shape, value.source))
        if len(value.source) == 1:
            value = self._flat(value, origin)
            kernel = kernel[:, value.index]
        else:
            value = self._arranged(value, -1, origin)
        weights = self._weights(kernel, bias, steps, origin)
        source = value.source[:-1] + kernel.shape[:1]
        node = self._node("dense", name, origin, [value.node], value.shape[:-1] + kernel.shape[:1], weights)
        return self._value(node, source, self._moved(source, -1))

    def recurrent(self, kind, value, kernel, recurrent, bias, recurrent_bias, name, origin):
        """The outputs of all steps of a "GRU", "LSTM" or "SimpleRNN": (steps, units) of (steps, features).

        The weights are those of odt's layer; biases may be None. If nothing but its last step is read, the layer gives
        that alone.
        """
        self._no_pads(value, origin)
        if len(value.source) != 2:
            refuse(origin, "takes samples of shape %s" % (value.source,), "samples of (steps, features)")
        kernel, recurrent = finite(origin, "kernel", kernel), finite(origin, "recurrent kernel", recurrent)
        rows, width = GATES[kind] * recurrent.shape[-1], value.source[1]
        if kernel.shape != (rows, width) or recurrent.shape != (rows, rows // GATES[kind]):
            place = (origin, kernel.shape, recurrent.shape, value.source)
            raise ValueError("%s: kernels %s and %s do not take samples of %s" % place)
        value = self._arranged(value, 1, origin)
        weights = self._weights(kernel, bias, None, origin)
        second = self._weights(recurrent, recurrent_bias, None, origin)
        weights.update(recurrent=second["kernel"], recurrent_bias=second["bias"])
        shape = value.source[0], recurrent.shape[1]
        node = self._node("recurrent", name, origin, [value.node], shape, weights, kind=kind, sequences=True)
        return self._value(node, shape, np.arange(shape[0] * shape[1]))

    def attention(self, values, weights, heads, causal, name, origin):
        """odt's MultiHeadAttention of [query, value, key], each (steps, features), or one thrice.

        ``weights``: {"query", "key", "value", "output": (kernel of (units, features), bias or None)}; the key's bias
        changes nothing.
        """
        made, width = {}, values[0].source[-1]
        for part, (kernel, bias) in weights.items():
            found = self._weights(finite(origin, "kernel of the " + part, kernel), bias, None, origin)
            made[part], made[part + " bias"] = found["kernel"], found["bias"]
        if len(made["output"]) != width:
            refuse(origin, "gives %d features of %d" % (len(made["output"]), width), "as many as its queries have")
        shape = values[0].source
        values = [self._arranged(value, -1, origin) for value in values]
        node = self._node(
            "attention", name, origin, [value.node for value in values], shape, made, heads=heads, causal=causal,
            bias=any(bias is not None for part, (_, bias) in weights.items() if part != "key"),
        )  # fmt: skip
        return self._value(node, shape, np.arange(int(np.prod(shape))))

    def embedding(self, value, table, name, origin, padding=None):
        """The rows of ``table``, (tokens, units), that the samples, (steps,), name; ``padding``: one that does not
        train.
        """
        tokens.check(table, value, origin)
        weights = {"kernel": finite(origin, "table", table)}
        shape = *value.source, table.shape[1]
        node = self._node("embedding", name, origin, [value.node], shape, weights, padding=padding)
        return self._value(node, shape, np.arange(int(np.prod(shape))))

    def last_step(self, value, name, origin):
        """The numbers of the last step of (steps, features)."""
        made = self.slice(value, 0, value.source[0] - 1, 1, 1, name, origin)
        return self.reshape(made, value.source[1:], origin)

    def _shorten(self, output):
        """Let recurrent layers give their last step alone, where all that reads them takes that."""
        for node in [node for node in self.nodes if node.op == "recurrent" and node is not output]:
            views = [other for other in self.nodes if node in other.inputs]
            takes = [other for other in self.nodes if any(view in other.inputs for view in views)]
            if not takes or output in views or any(take.options.get("last") is not node for take in takes):
                continue
            node.shape, node.options["sequences"] = node.shape[1:], False
            for take in takes:
                take.op, take.inputs, take.options, take.weights = "reshape", [node], {}, {}
            self.nodes = [other for other in self.nodes if other not in views]

    @staticmethod
    def _weights(kernel, bias, steps, origin):
        if bias is not None:
            bias = finite(origin, "bias", bias).ravel()
            if len(bias) != len(kernel):
                raise ValueError("%s: bias has %d numbers, expected %d" % (origin, len(bias), len(kernel)))
        weights = {"kernel": kernel, "bias": bias}
        if steps is not None and np.size(steps) in (1, len(kernel)):
            weights["steps"] = np.broadcast_to(finite(origin, "scale", steps).ravel(), len(kernel))
        return weights

    def conv(self, value, kernel, bias, strides, pads, groups, name, origin, dilation=None, same=None, steps=None):
        """``kernel``: (filters, .., channels of a group). ``same``: "upper" or "lower", then ``pads`` are found."""
        kernel = finite(origin, "kernel", kernel)
        axes = kernel.ndim - 2
        value = self._window(value, axes, None, origin)
        size, channels, filters = kernel.shape[1:-1], value.shape[-1], kernel.shape[0]
        if dilation is not None and min(dilation) < 1:
            raise ValueError("%s: a dilation of %s" % (origin, tuple(dilation)))
        rates = tuple(1 if taps == 1 else int(rate) for taps, rate in zip(size, dilation or (1,) * axes))
        if max(strides) > 1 and max(rates) > 1:
            refuse(origin, "has strides %s and dilation %s" % (tuple(strides), rates), "strides or a dilation of 1")
        if groups < 1 or channels != kernel.shape[-1] * groups or filters % groups:
            place = (origin, kernel.shape, groups, channels)
            raise ValueError("%s: kernel %s in %d groups does not take %d channels" % place)
        pads, out = self._places(value, spans(size, rates), strides, pads, same, False, origin)
        node = self._node(
            "conv", name, origin, [value.node], out + (filters,), self._weights(kernel, bias, steps, origin),
            size=size, strides=tuple(strides), pads=pads, groups=int(groups), dilation=rates,
        )  # fmt: skip
        return self._from_images(node)

    def transposed(self, value, kernel, bias, strides, pads, extra, groups, name, origin, dilation=None, steps=None):
        """``kernel``: (filters, .., channels); ``extra``: positions more at the end of each axis."""
        kernel = finite(origin, "kernel", kernel)
        value = self._window(value, kernel.ndim - 2, dilation, origin)
        self._no_pads(value, origin)
        if groups != 1:
            refuse(
                origin,
                "is a transposed convolution in %d groups" % groups,
                "one of groups=1, or UpSampling and a Conv2D",
            )
        if kernel.shape[-1] != value.shape[-1]:
            place = (origin, kernel.shape, value.shape[-1])
            raise ValueError("%s: kernel %s does not take %d channels" % place)
        size = kernel.shape[1:-1]
        out = tuple(
            (extent - 1) * stride + width - sum(pair) + more
            for extent, stride, width, pair, more in zip(value.shape, strides, size, pads, extra)
        )
        if min(out) < 1:
            refuse(origin, "leaves no position of %s" % (value.shape,))
        node = self._node(
            "transposed", name, origin, [value.node], out + kernel.shape[:1],
            self._weights(kernel, bias, steps, origin),
            size=size, strides=tuple(strides), pads=tuple(tuple(pair) for pair in pads), out=out,
        )  # fmt: skip
        return self._from_images(node)

    def pool(
        self, op, value, size, strides, pads, ceil, name, origin, dilation=None, counts=False, same=None, away=False
    ):
        """``op``: "maxpool" or "avgpool"; ``counts``: zeros of the padding count in the mean.

        ``away``: in bytes a mean half way between two of them becomes that which is further from 0, else the even one.
        """
        image = self._window(value, len(size), dilation, origin)
        if image.pads is not None:
            below = op == "maxpool" and image.node.op not in _POSITIVE  # zeros may be the largest
            twice = same or any(map(any, pads or ())) and not counts
            if below or twice or any(before >= width for (before, _), width in zip(image.pads, size)):
                image = self._window(self.padded(value, origin), len(size), dilation, origin)
        value, counts = image, counts or op == "avgpool" and image.pads is not None
        pads, out = self._places(value, size, strides, pads, same, ceil, origin)
        inside = all(
            (n - 1) * step - pair[0] < extent for n, step, pair, extent in zip(out, strides, pads, value.shape)
        )
        if not inside or any(before >= width for (before, _), width in zip(pads, size)):
            refuse(origin, "has windows that lie in the padding alone")
        if op == "avgpool" and counts and any(map(any, pads)):
            if ceil:
                refuse(origin, "counts a padding's zeros, with ceil_mode", "count_include_pad=False")
            if value.shape[-1] * np.prod(size, dtype=object) > MOST:
                refuse(origin, "has windows of %s" % (tuple(size),), "smaller ones")
            kernel = np.full((value.shape[-1], *size, 1), 1 / np.prod(size))
            no_pads = Value(value.node, value.shape, value.source, value.index)
            steps = np.array(1 / np.prod(size) / 127)
            made = self.conv(no_pads, kernel, None, strides, pads, value.shape[-1], name, origin, steps=steps)
            made.node.trainable = False
            return made
        node = self._node(
            op, name, origin, [value.node], out + value.shape[-1:],
            size=tuple(size), strides=tuple(strides), pads=pads, out=out, away=away,
        )  # fmt: skip
        return self._from_images(node)

    def global_pool(self, op, value, keep, name, origin, away=False):
        """The mean ("avgpool") or the largest ("maxpool") of each channel; ``keep``: the axes stay, as 1.

        ``away`` as for pool().
        """
        value = self._images(value, origin)
        self._no_pads(value, origin)
        extents = value.shape[:-1]
        if not extents:
            refuse(origin, "takes the mean of samples of shape %s" % (value.source,), "samples of at least 2 axes")
        if op == "avgpool":
            node = self._node("globalavg", name, origin, [value.node], value.shape[-1:], away=away)
            source = value.shape[-1:]
            made = self._value(node, source, np.arange(source[0]))
        else:
            no_pads = tuple((0, 0) for _ in extents)
            made = self.pool(op, value, extents, extents, no_pads, False, name, origin)
        ones = (1,) * len(extents) if keep else ()
        channels = value.shape[-1:]
        return self.reshape(made, channels + ones if self.channel == 0 else ones + channels, origin)

    def adaptive(self, value, out, name, origin):
        """The mean of as many windows as ``out`` says, PyTorch's."""
        if all(n == 1 for n in out):
            return self.global_pool("avgpool", value, True, name, origin)
        value = self._window(value, len(out), None, origin)
        self._no_pads(value, origin)
        out = tuple(extent if n is None else int(n) for n, extent in zip(out, value.shape))
        node = self._node("adaptive", name, origin, [value.node], out + value.shape[-1:], out=out)
        return self._from_images(node)

    def upsample(self, value, times, name, origin):
        """Each position repeated."""
        value = self._window(value, len(times), None, origin)
        self._no_pads(value, origin)
        out = tuple(extent * n for extent, n in zip(value.shape, times))
        node = self._node("upsample", name, origin, [value.node], out + value.shape[-1:], size=tuple(times))
        return self._from_images(node)

    def bilinear(self, value, times, name, origin):
        """Enlarged by whole factors, the centres of positions half way between their edges, edges repeated.

        That is each position repeated, then the mean of as many neighbours; for an even factor the mean of two such
        means.
        """
        made = self.upsample(value, times, name + "_repeated", origin)
        pads = tuple((n // 2, n // 2) for n in times)
        ones = (1,) * len(times)
        made = self.pool("avgpool", made, tuple(times), ones, pads, False, name + "_mean", origin)
        if any(n % 2 == 0 for n in times):
            two = tuple(2 - n % 2 for n in times)
            made = self.pool("avgpool", made, two, ones, None, False, name, origin)
        return made

    def reduce(self, op, value, axes, keep, name, origin):
        """The mean ("avgpool") or the largest ("maxpool") along axes of the source's sample; ``keep``:
        they stay, as 1.
        """
        self._no_pads(value, origin)
        rank = len(value.source)
        axes = sorted({axis % rank for axis in axes})
        image = [axis for axis in range(rank) if axis != self.channel % rank]
        kept = tuple(1 if axis in axes else n for axis, n in enumerate(value.source))
        if axes == image and rank > 1:
            return self.global_pool(op, value, keep, name, origin)
        while axes:
            order = self._order(value, origin)
            along = [order.index(axis) for axis in axes if value.source[axis] > 1]
            if not along:
                break
            first = last = min(along)
            while last + 1 in along or last + 1 < rank and value.source[order[last + 1]] == 1:
                last += 1
            shape = [value.source[axis] for axis in order]
            before, count, after = (
                int(np.prod(part)) for part in (shape[:first], shape[first : last + 1], shape[last + 1 :])
            )
            made = self._along(op, value.node, before, count, after, name, origin)
            source = tuple(1 if axis in axes and axis in order[first : last + 1] else n
                           for axis, n in enumerate(value.source))  # fmt: skip
            value = self._ordered(made, source, order, origin)
        left = kept if keep else tuple(n for axis, n in enumerate(value.source) if axis not in axes)
        return self.reshape(value, left, origin)

    def _along(self, op, node, before, count, after, name, origin):
        """The node that reduces the middle one of three axes, which may be any of odt's in one."""
        while count > 1:
            part = count if op == "avgpool" and before == 1 else max(n for n in range(1, 256) if count % n == 0)
            if part == 1:
                refuse(origin, "reduces %d positions, a prime number above 255" % count)
            count //= part
            node = self._node("reshape", "reshape", origin, [node], (before * count, part, after))
            if op == "avgpool" and before * count == 1:
                node = self._node("globalavg", name, origin, [node], (after,))
            else:
                node = self._node(
                    op, name, origin, [node], (before * count, 1, after),
                    size=(1, part), strides=(1, part), pads=((0, 0), (0, 0)), out=(before * count, 1),
                )  # fmt: skip
        return node

    def cut(self, value, batch, axis, cut, name, origin):
        """The positions of a Python slice along an axis of the source's tensor, whose first axis is the ``batch``."""
        full = (batch, *value.source)
        if cut.step == 0:
            raise ValueError("%s: a step of 0" % origin)
        chosen = range(full[axis])[cut]
        if len(chosen) == full[axis] and chosen.step == 1:
            return value
        if axis == 0:
            refuse(origin, "takes some samples of the batch", "one result per sample")
        if not chosen or chosen.step < 0:
            refuse(origin, "takes positions %s of %d" % (list(chosen)[:8], full[axis]), "at least one, forwards")
        return self.slice(value, axis - 1, chosen.start, chosen.step, len(chosen), name, origin)

    def slice(self, value, axis, start, step, count, name, origin):
        """``count`` positions along an axis of the source's sample, every ``step``-th from ``start`` on.

        Windows of one position do it, or a convolution that takes one number each; of rows in another order than odt's,
        a Dense.
        """
        self._no_pads(value, origin)
        source = value.source
        if not source:
            refuse(origin, "takes a part of single numbers")
        axis %= len(source)
        if count < 1 or start < 0 or step < 1 or start + (count - 1) * step >= source[axis]:
            refuse(origin, "takes %d positions from %d on of axis %d of %s" % (count, start, axis, source))
        if count == source[axis]:
            return value
        wanted = np.take(np.arange(value.index.size).reshape(source), start + step * np.arange(count), axis)
        order = self._order(value, origin, len(source) > 1)
        if order is None:
            place = np.empty_like(value.index)
            place[value.index] = np.arange(place.size)
            if count * value.index.size > MOST:
                refuse(origin, "takes %d of %d numbers" % (count, value.index.size), "fewer")
            kernel = np.zeros((count, value.index.size))
            kernel[np.arange(count), place[wanted]] = 1
            node = self._node(
                "dense", name, origin, [self._flat(value, origin).node], (count,), {"kernel": kernel, "bias": None}
            )
            node.trainable = False
            return self._value(node, (count,), np.arange(count))
        at = order.index(axis)
        shape = [source[each] for each in order]
        before, after = int(np.prod(shape[:at])), int(np.prod(shape[at + 1 :]))
        node = self._taken(value.node, (before, source[axis], after), start, step, count, name, origin)
        if value.node.op == "recurrent" and order == [0, 1] and axis == 0 and start == source[0] - 1:
            node.options["last"] = value.node
        known, _ = self._reach(value.node)
        if known is not None:  # its bytes are some of those
            node.scale, node.zero_point = known.scale, known.zero_point
        return self._ordered(node, wanted.shape, order, origin)

    def _taken(self, node, shape, start, step, count, name, origin):
        """The node that gives every ``step``-th of the middle one of three axes."""
        before, extent, after = shape
        if start == 0:
            node = self._node("reshape", "reshape", origin, [node], shape)
            return self._node(
                "maxpool", name, origin, [node], (before, count, after),
                size=(1, 1), strides=(1, step), pads=((0, 0), (0, 0)), out=(before, count),
            )  # fmt: skip
        if step == 1 and start * after < 256:  # one channel: what lies before is cut
            node = self._node("reshape", "reshape", origin, [node], (before, extent * after, 1))
            pads = ((0, 0), (start * after, (extent - start - count) * after))
            weights = self._weights(np.ones((1, 1, 1, 1)), None, np.array(1 / 127), origin)
            node = self._node(
                "transposed", name, origin, [node], (before, count * after, 1), weights,
                size=(1, 1), strides=(1, 1), pads=pads, out=(before, count * after),
            )  # fmt: skip
            node.trainable = False
            return node
        width = start + 1
        if max(width, step) > 255 or after * width > MOST:
            refuse(
                origin, "takes positions from %d on, every %d" % (start, step), "a part that begins before position 255"
            )
        node = self._node("reshape", "reshape", origin, [node], shape)
        kernel = np.zeros((after, 1, width, 1))
        kernel[:, :, start] = 1
        node = self._node(
            "conv", name, origin, [node], (before, count, after),
            self._weights(kernel, None, np.array(1 / 127), origin),
            size=(1, width), strides=(1, step), pads=((0, 0), (0, 0)), groups=after,
        )  # fmt: skip
        node.trainable = False
        return node

    def _order(self, value, origin, must=True, wanted=None):
        """The source's axes in the order in which odt's tensor has them, ``wanted`` where that is one; None where there
        is none and none must be.
        """
        numbers = np.arange(value.index.size).reshape(value.source)
        plain = list(range(len(value.source)))
        for order in [wanted or plain, *map(list, permutations(plain))]:
            if np.array_equal(numbers.transpose(order).ravel(), value.index):
                return order
        if self._permute(value, np.arange(value.index.size)):
            return plain
        if must:
            refuse(
                origin, "meets samples of shape %s in an order of odt's own" % (value.source,), "no reshape before it"
            )
        return None

    def _ordered(self, node, source, order, origin):
        """The value of a node of any shape whose numbers are the source's axes in this order."""
        shape = tuple(source[axis] for axis in order)
        if node.shape != shape:
            node = self._node("flatten" if len(shape) == 1 else "reshape", "reshape", origin, [node], shape)
        return self._value(node, source, np.arange(int(np.prod(source))).reshape(source).transpose(order))

    def _window(self, value, axes, dilation, origin):
        if axes not in (1, 2):
            refuse(origin, "slides over %d axes" % axes, "1 or 2 axes")
        if dilation is not None and any(n != 1 for n in dilation):
            refuse(origin, "has dilation %s" % (tuple(dilation),), "a larger kernel, or a stride or pooling before it")
        channel = self.channel % max(len(value.source), 1)
        if value.pads is not None and len(value.source) == axes + 1 and any(value.pads[channel]):
            value = self.padded(value, origin)
        image = self._images(value, origin, axes)
        if image.pads is not None:  # of the axes along which it slides
            image.pads = tuple(pair for axis, pair in enumerate(image.pads) if axis != channel)
        return image

    @staticmethod
    def _places(value, size, strides, pads, same, ceil, origin):
        """(before, after) of each axis and the positions of the output."""
        if min(strides) < 1 or min(size) < 1:
            raise ValueError("%s: a window of %s with strides %s" % (origin, tuple(size), tuple(strides)))
        if same and value.pads is not None:
            refuse(origin, "pads what is padded already", "one padding")
        found, out = [], []
        before = _more(value.pads, pads) if pads is not None else value.pads or tuple((0, 0) for _ in size)
        for extent, width, stride, (first, last) in zip(value.shape, size, strides, before):
            if same:
                whole = extent + first + last  # of what is padded already
                short = max((-(-whole // stride) - 1) * stride + width - whole, 0)
                less, more = short // 2, short - short // 2
                first, last = (first + less, last + more) if same == "upper" else (first + more, last + less)
            if min(first, last) < 0:
                refuse(origin, "has a padding below 0")
            room = extent + first + last - width
            count = room // stride + 1
            if ceil and room % stride and count * stride < extent + first:  # as PyTorch: a window begins inside
                count += 1
            if room < 0:
                refuse(origin, "has a window of %s, which does not fit into %s" % (tuple(size), value.shape))
            if first > 255:
                refuse(origin, "begins %d positions before the image" % first, "a padding of at most 255")
            found.append((int(first), int(last)))
            out.append(int(count))
        return tuple(found), tuple(out)

    def _from_images(self, node):
        """The value of a node that gives (.., channels)."""
        shape = node.shape
        source = shape[-1:] + shape[:-1] if self.channel == 0 else shape
        return self._value(node, source, self._moved(source, self.channel))

    def unary(self, op, value, name, origin, **options):
        """An activation, element by element, or a dropout."""
        self._no_pads(value, origin)
        return self._value(
            self._node(op, name, origin, [value.node], value.shape, **options), value.source, value.index
        )

    def limited(self, value, low, high, name, origin):
        """max(low, min(high, value)); None and infinities are no limits."""
        low, high = None if low is None or low < -3e38 else low, None if high is None or high > 3e38 else high
        if low is None and high is None:
            return value
        if low == 0 and high in (None, 6):
            return self.unary("relu6" if high else "relu", value, name, origin)
        if None in (low, high):  # one ReLU, moved and for an upper limit mirrored
            sign, limit = (1, low) if high is None else (-1, high)
            moved = self.affine(value, sign, -sign * limit, name + "_moved", origin)
            made = self.affine(self.unary("relu", moved, name + "_limited", origin), sign, limit, name, origin)
        elif low < high:
            step = 6 / (high - low)
            moved = self.affine(value, step, -step * low, name + "_moved", origin)
            made = self.affine(self.unary("relu6", moved, name + "_limited", origin), 1 / step, low, name, origin)
        else:
            refuse(origin, "limits to %s .. %s" % (low, high), "a lower limit below the upper one")
        if low is not None and low >= 0:
            made.node.options["positive"] = True
        return self._whole(made, moved.node.inputs[0], lambda x: np.clip(x, low, high))

    def leaky_relu(self, value, slope, name, origin):
        """value above 0, slope * value below; ``slope``: one number, or constants that ``affine`` takes."""
        slope = np.asarray(slope, np.float64)
        if slope.size and np.all(slope == slope.ravel()[0]) and 0 <= slope.ravel()[0] <= 1:
            return self.unary("leaky_relu", value, name, origin, slope=float(slope.ravel()[0]))
        below = self.unary("relu", self.affine(value, -1, 0, name + "_mirrored", origin), name + "_below", origin)
        above = self.unary("relu", value, name + "_above", origin)
        return self.join("add", [above, self.affine(below, -slope, 0, name + "_scaled", origin)], name, origin)

    def absolute(self, value, name, origin):
        """The numbers without their signs."""
        return self.leaky_relu(value, -1, name, origin)

    def power(self, value, exponent, name, origin):
        """``exponent``: a whole number of 1 to 4."""
        if exponent not in (1, 2, 3, 4):
            refuse(origin, "raises to the power %s" % (exponent,), "a whole power of 1 to 4")
        made = value
        for number in range(2, int(exponent) + 1):
            made = self.join("multiply", [made, value], name if number == exponent else name + "_part", origin)
        return made

    def silu(self, value, name, origin):
        """value * sigmoid(value)."""
        gate = self.unary("sigmoid", value, name + "_gate", origin)
        return self.join("multiply", [value, gate], name, origin)

    def gelu(self, value, tanh, name, origin):
        """``tanh``: the form 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), which is x sigmoid of twice what tanh
        takes.
        """
        if not tanh:
            return self.unary("gelu", value, name, origin)
        step = 2 * np.sqrt(2 / np.pi)
        square = self.join("multiply", [value, value], name + "_square", origin)
        inner = self.affine(square, 0.044715 * step, step, name + "_inner", origin)
        inner = self.join("multiply", [value, inner], name + "_cube", origin)
        gate = self.unary("sigmoid", inner, name + "_gate", origin)
        return self.join("multiply", [value, gate], name, origin)

    def elu(self, value, alpha, name, origin):
        """value above 0, alpha * (exp(value) - 1) below."""
        if 0 <= alpha <= 1.9 and abs(float("%.4g" % alpha) - alpha) < 1e-6:  # a layer's alpha has four digits
            return self.unary("elu", value, name, origin, alpha=float(alpha))
        above = self.unary("relu", value, name + "_above", origin)
        turned = self.affine(value, -1, 0, name + "_turned", origin)
        below = self.affine(self.unary("relu", turned, name + "_limited", origin), -1, 0, name + "_below", origin)
        curve = self.unary("elu", below, name + "_curve", origin, alpha=1.0)
        return self.join("add", [above, self.affine(curve, alpha, 0, name + "_scaled", origin)], name, origin)

    def selu(self, value, alpha, gain, name, origin):
        """gain times ``elu``."""
        if gain == 1:
            return self.elu(value, alpha, name, origin)
        if abs(alpha - SELU[0]) < 1e-6:
            made = self.unary("selu", value, name, origin)
            return made if abs(gain - SELU[1]) < 1e-6 else self.affine(made, gain / SELU[1], 0, name + "_gain", origin)
        return self.affine(self.elu(value, alpha, name + "_elu", origin), gain, 0, name, origin)

    def celu(self, value, alpha, name, origin):
        """value above 0, alpha * (exp(value / alpha) - 1) below."""
        if not alpha > 0:
            refuse(origin, "has alpha %s" % alpha, "a positive one")
        made = self.elu(self.affine(value, 1 / alpha, 0, name + "_within", origin), 1, name + "_elu", origin)
        return self.affine(made, alpha, 0, name, origin)

    def _gelu_of(self, first, second, name, origin):
        """The exact GELU, if ``first`` and ``second`` are its factors: x and 1 + erf(x / sqrt(2)), each times a number;
        else None.
        """
        if not np.array_equal(first.index, second.index) or first.shape != second.shape:
            return None
        end, (outer, one) = _line(second.node)
        if end.op != "erf" or end.scale is not None or abs(outer - one) > 1e-4 * abs(one):
            return None
        (start, (gain, offset)), (root, line) = _line(first.node), _line(end.inputs[0])
        line = np.sqrt(2) * np.array(line)  # x, and first is a times it
        if root is not start or not line[0] or not np.allclose(gain / line[0] * line[1], offset, 1e-4, 1e-6):
            return None
        x = self._value(root, first.source, first.index)
        if np.abs(line - (1, 0)).max() <= 1e-6:
            line = 1, 0
        else:
            x = self.affine(x, line[0], line[1], name + "_x", origin)
        made = self.unary("gelu", x, name + "_gelu", origin)
        return self.affine(made, 2 * gain / line[0] * one, 0, name, origin)

    def hard_sigmoid(self, value, name, origin, alpha=1 / 6, beta=0.5):
        """alpha * value + beta, limited to 0 .. 1."""
        moved = self.affine(value, 6 * alpha, 6 * beta, name + "_moved", origin)
        limited = self.unary("relu6", moved, name + "_limited", origin)
        made = self.affine(limited, 1 / 6, 0, name, origin)
        made.node.options["positive"] = True
        return self._whole(made, moved.node.inputs[0], lambda x: np.clip(alpha * x + beta, 0, 1))

    def hard_swish(self, value, name, origin):
        """value times its hard sigmoid."""
        made = self.join("multiply", [value, self.hard_sigmoid(value, name + "_gate", origin)], name, origin)
        return self._whole(made, made.node.inputs[0], lambda x: x * np.clip(x / 6 + 0.5, 0, 1))

    @staticmethod
    def _whole(made, start, function):
        """Note that the layers after the node ``start`` make this value as a function of one number."""
        made.node.whole = start
        made.node.options["function"] = function
        return made

    def bytes(self, value, scale, zero, name, origin):
        """The value, which the source quantizes here: (byte - zero) * scale, bytes from -128 to 127."""
        if not (1e-30 < scale < 1e30 and -128 <= zero <= 127):
            raise ValueError("%s: bytes of a scale of %r and a zero point of %d" % (origin, scale, zero))
        start, reach = self._reach(value.node)
        low, high = (-128 - zero) * scale, (127 - zero) * scale
        if reach and (low > reach[0] + 1.5 * scale or high < reach[1] - 1.5 * scale):  # what lies beyond is cut here
            value = self.limited(value, low, high, name, origin)
        elif start is not None and (start.scale, start.zero_point) != (scale, zero):
            value = self.unary("same", value, name, origin)
        value.node.scale, value.node.zero_point = scale, zero
        return value

    @staticmethod
    def _reach(node):
        """(the node whose bytes a node gives on as they are or None, (the least, the largest) of what those can mean or
        None).
        """
        ops = []
        while node.scale is None and node.op in _PASSING and node.inputs:
            ops.append(node.op)
            node = node.inputs[0]
        if node.scale is None:
            return None, None
        low, high = (-128 - node.zero_point) * node.scale, (127 - node.zero_point) * node.scale
        if "relu" in ops or "relu6" in ops:
            low, high = max(low, 0), max(high, 0)
        if "relu6" in ops:
            high = min(high, 6)
        return None if {"relu", "relu6"} & set(ops) else node, (low, high)

    def softmax(self, value, axis, name, origin):
        self._no_pads(value, origin)
        value = self._flat(value, origin) if len(value.source) == 1 else self._arranged(value, axis, origin)
        node = self._node("softmax", name, origin, [value.node], value.shape)
        return self._value(node, value.source, value.index)

    def norm(self, kind, value, weights, name, origin, **options):
        """``kind``: "batch" (weights gamma, beta, mean, variance), "layer" (of the last axis) or "group" (gamma,
        beta).
        """
        value = self._by_channel(value, origin, -1 if kind == "layer" else self.channel)
        weights = {each: self._vector(value, weight, each, origin) for each, weight in weights.items()}
        if "variance" in weights and weights["variance"].min() < 0:
            raise ValueError("%s: a variance of %r" % (origin, weights["variance"].min()))
        if kind != "batch" and len(value.shape) == 1 and not np.array_equal(value.index, np.arange(value.index.size)):
            if kind == "group":
                refuse(origin, "normalises groups of features in another order than odt has them")
        node = self._node("norm", name, origin, [value.node], value.shape, weights, kind=kind, **options)
        return self._value(node, value.source, value.index)

    def affine(self, value, gain, offset, name, origin):
        """Times ``gain``, plus ``offset``: constants of the source, one number, one per channel, or what broadcasts to
        a sample.
        """
        self._no_pads(value, origin)
        rank, shape, channel = len(value.source), value.shape, self.channel
        constants = [finite(origin, key, each) for key, each in (("gain", gain), ("offset", offset))]
        constants = [each[0] if each.ndim == rank + 1 and len(each) == 1 else each for each in constants]
        if any(each.size > 1 and not _broadcasts(each.shape, value.source) for each in constants):
            refuse(
                origin, "meets a constant of shape %s, samples are %s" % (max(each.shape for each in constants),
                value.source),
                "one number, one per channel, or one per number of a sample",
            )  # fmt: skip
        if rank > 1 and any(each.ndim and each.size == each.shape[-1] > 1 for each in constants):
            channel = -1
        if all(each.size == 1 for each in constants):  # the same of all numbers, wherever they are
            vectors = [np.full(shape[-1], each.ravel()[0]) for each in constants]
        else:
            wide = [np.broadcast_to(each.ravel()[0] if each.size == 1 else each, value.source) for each in constants]
            moved = self._moved(value.source, channel).ravel()
            rows = [np.moveaxis(each, channel, -1).reshape(-1, value.source[channel]) for each in wide]
            if all((each == each[0]).all() for each in rows) and (rank == 1 or self._permute(value, moved)):
                value = self._by_channel(value, origin, channel)
                shape = value.shape
                vectors = [each[0][value.index] if rank == 1 else each[0] for each in rows]
            elif rank == 2 and np.all(wide[0] == 1):
                numbers = wide[1].ravel()[value.index].reshape(shape)
                node = self._node("position", name, origin, [value.node], shape, {"position": numbers})
                return self._value(node, value.source, value.index)
            else:  # one per number
                value = self._flat(value, origin)
                vectors = [each.ravel()[value.index] for each in wide]
        weights = dict(zip(("gain", "offset"), vectors))
        node = self._node("affine", name, origin, [value.node], value.shape, weights)
        node.trainable = False
        made = self._value(node, value.source, value.index)
        return made if node.shape == shape else self._reshaped(made, shape, origin)

    def _by_channel(self, value, origin, axis):
        self._no_pads(value, origin)
        return self._flat(value, origin) if len(value.source) == 1 else self._arranged(value, axis, origin)

    @staticmethod
    def _vector(value, weight, name, origin):
        weight = finite(origin, name, weight).ravel()
        if len(weight) != value.shape[-1]:
            raise ValueError("%s: %s has %d numbers, expected %d" % (origin, name, len(weight), value.shape[-1]))
        return weight[value.index] if len(value.shape) == 1 else weight

    def join(self, op, values, name, origin):
        """ "add" or "multiply" of values of one shape, or of one whose image is of size 1."""
        if any(not isinstance(value, Value) for value in values):
            refuse(origin, "joins what is no tensor of the network")
        for value in values:
            self._no_pads(value, origin)
        if op == "multiply" and len(values) == 2:
            made = self._gelu_of(*values, name, origin) or self._gelu_of(*values[::-1], name, origin)
            if made:
                return made
        largest = max(values, key=lambda value: value.index.size)
        values = [self._broadcast(value, largest, origin) for value in values]
        first = values[0]
        made = []
        for value in values:
            if value.source != first.source:
                refuse(origin, "joins %s and %s" % (first.source, value.source), "one shape")
            if not np.array_equal(value.index, first.index) and not self._permute(value, first.index):
                refuse(origin, "joins values whose axes odt has in different orders", "no transposition before it")
            made.append(value if value.shape == first.shape else self._reshaped(value, first.shape, origin))
        node = self._node(op, name, origin, [value.node for value in made], first.shape)
        return self._value(node, first.source, first.index)

    def arithmetic(self, op, first, second, name, origin):
        """ "add" or "multiply" of two operands, each a value of the network or a constant."""
        if isinstance(first, Value) and isinstance(second, Value):
            return self.join(op, [first, second], name, origin)
        value, constant = (first, second) if isinstance(first, Value) else (second, first)
        gain, offset = (1, constant) if op == "add" else (constant, 0)
        return self.affine(value, gain, offset, name, origin)

    def subtract(self, first, second, name, origin):
        if isinstance(first, Value) and isinstance(second, Value):
            return self.join("add", [first, self.affine(second, -1, 0, name + "_minus", origin)], name, origin)
        if isinstance(first, Value):
            return self.affine(first, 1, -np.asarray(second), name, origin)
        return self.affine(second, -1, first, name, origin)

    def divide(self, first, second, name, origin):
        if not isinstance(first, Value) or isinstance(second, Value):
            refuse(origin, "divides by a tensor of the network", "a division by constants")
        with np.errstate(divide="ignore"):
            return self.affine(first, 1 / np.asarray(second, np.float64), 0, name, origin)

    def _broadcast(self, value, largest, origin):
        """A value with some sizes of 1 as large as the other: its numbers repeated."""
        if value.source == largest.source:
            return value
        if len(value.source) != len(largest.source) or any(
            n not in (1, most) for n, most in zip(value.source, largest.source)
        ):
            refuse(origin, "joins %s and %s" % (largest.source, value.source), "one shape, or sizes of 1")
        images = self.channel % len(largest.source)
        if (
            all(n == 1 or at == images for at, n in enumerate(value.source))
            and len(value.source) > 1 < value.index.size
        ):
            image = self._images(largest, origin)
            return self.upsample(value, image.shape[:-1], "upsample", origin)
        order = self._order(value, origin, wanted=self._order(largest, origin))
        for at, axis in enumerate(order):
            times = largest.source[axis]
            if value.source[axis] == times:
                continue
            before, after = (
                int(np.prod([value.source[each] for each in part])) for part in (order[:at], order[at + 1 :])
            )
            node = self._node("reshape", "reshape", origin, [value.node], (before, 1, after))
            node = self._node("upsample", "upsample", origin, [node], (before, times, after), size=(1, times))
            source = value.source[:axis] + (times,) + value.source[axis + 1 :]
            value = self._ordered(node, source, order, origin)
        return value

    def concatenate(self, values, axis, name, origin):
        """Along an axis of the source's samples."""
        if any(not isinstance(value, Value) for value in values):
            refuse(origin, "concatenates what is no tensor of the network")
        if len(values) == 1:
            return values[0]
        rank = len(values[0].source)
        if any(len(value.source) != rank for value in values) or not -rank <= axis < rank:
            refuse(origin, "concatenates %s along axis %d" % ([value.source for value in values], axis))
        for value in values:
            self._no_pads(value, origin)
        if rank == 1:
            values = [self._flat(value, origin) for value in values]
            starts = np.cumsum([0] + [value.index.size for value in values])
            index = np.concatenate([value.index + start for value, start in zip(values, starts)])
        else:
            wanted = [self._moved(value.source, axis).ravel() for value in values]
            known = axis % rank in (self.channel % rank, rank - 1)
            if not known or not all(self._permute(value, each) for value, each in zip(values, wanted)):
                return self._concatenated(values, axis % rank, name, origin)
            values = [self._arranged(value, axis, origin) for value in values]
        shapes = [value.shape for value in values]
        if any(shape[:-1] != shapes[0][:-1] for shape in shapes):
            refuse(origin, "concatenates %s" % shapes, "shapes that are equal except in the channels")
        shape = shapes[0][:-1] + (sum(each[-1] for each in shapes),)
        node = self._node("concatenate", name, origin, [value.node for value in values], shape)
        if rank == 1:
            return self._value(node, shape, index)
        source = list(values[0].source)
        source[axis] = shape[-1]
        return self._value(node, source, self._moved(tuple(source), axis))

    def _concatenated(self, values, axis, name, origin):
        """Along any axis: the numbers of those after it in odt's order are one axis with it."""
        order = self._order(values[0], origin)
        at = order.index(axis)
        rows = []
        for value in values:
            shape = [value.source[each] for each in order]
            if shape[:at] + shape[at + 1 :] != [values[0].source[each] for each in order if each != axis]:
                refuse(
                    origin,
                    "concatenates %s along axis %d" % ([value.source for value in values], axis),
                    "shapes that are equal in the other axes",
                )
            if self._order(value, origin, wanted=order) != order:
                refuse(
                    origin, "concatenates values whose axes odt has in different orders", "no transposition before it"
                )
            target = (int(np.prod(shape[:at])), int(np.prod(shape[at:])))
            rows.append(self._node("reshape", "reshape", origin, [value.node], target))
        width = sum(row.shape[1] for row in rows)
        node = self._node("concatenate", name, origin, rows, (rows[0].shape[0], width))
        source = list(values[0].source)
        source[axis] = sum(value.source[axis] for value in values)
        return self._ordered(node, tuple(source), order, origin)


def _line(node):
    """(the node of which constant factors and offsets, one number each, make this one, (the factor, the offset))."""
    gain, offset = 1.0, 0.0
    while node.op == "affine" and node.scale is None and all(np.ptp(each) == 0 for each in node.weights.values()):
        own = node.weights["gain"].flat[0], node.weights["offset"].flat[0]
        gain, offset = gain * own[0], offset + gain * own[1]
        node = node.inputs[0]
    return node, (gain, offset)


def spans(size, rates):
    """Positions that a dilated window reaches over, of each axis."""
    return tuple((taps - 1) * rate + 1 for taps, rate in zip(size, rates))


def _broadcasts(shape, other):
    """Whether an array of the first shape stands for one of the other."""
    return len(shape) <= len(other) and all(a in (1, b) for a, b in zip(shape[::-1], other[::-1]))


def _more(pads, others):
    """Paddings one around the other."""
    if pads is None:
        return tuple((int(a), int(b)) for a, b in others)
    return tuple((int(a + c), int(b + d)) for (a, b), (c, d) in zip(pads, others))
