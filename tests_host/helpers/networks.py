"""Random networks of all kinds of layers, with data for them, for test_random_networks.py and fuzz/.

Whoever draws gives an object with ``integer(low, high)`` and ``choice(sequence)``: hypothesis or random.
"""

import random
from array import array

import odt
from odt.optimizers import rates

FORMATS = ("float32", "float32", "uint8", "int8", "int16", "int32")
CODES = {"float32": "f", "uint8": "B", "int8": "b", "int16": "h", "int32": "i", "uint16": "H"}
ACTIVATIONS = (None, None, "relu", "relu6", "leaky_relu", "sigmoid", "tanh", "softmax")
MOST = 90  # elements of a layer's output; the Python executor multiplies a million times a second


class Random:
    """Draws from a random.Random. ``plain``: no convolution is dilated or causal."""

    def __init__(self, rng, plain=False):
        self.plain = plain
        self.choice = rng.choice
        self.integer = rng.randint


def product(shape):
    count = 1
    for extent in shape:
        count *= extent
    return count


def draw_place(d, shape, window, steps, as_argument):
    """How a convolution's window lies: some are dilated, or causal, unless ``d.plain``."""
    place = {"kernel_size": as_argument(window), "strides": as_argument(steps), "padding": d.choice(("valid", "same"))}
    if getattr(d, "plain", False) or d.choice((True, True, False)):
        return place
    if len(shape) == 2 and d.choice((True, False)):
        place["padding"] = "causal"
        if d.choice((True, False)):
            return place
    place["strides"], rates = 1, []
    for extent, taps in zip(shape, window):
        most = (extent - 1) // (taps - 1) if taps > 1 and place["padding"] == "valid" else 5
        rates.append(d.integer(1, most))
    return dict(place, dilation_rate=as_argument(rates))


def draw_layer(d, shape):
    """A layer that takes this shape."""
    kinds = ["dense", "dense", "dropout", "flatten", "reshape", "simple", "norm"]
    axes = len(shape) - 1
    if axes == 0 and shape[0] % 2 == 0:
        kinds += ["sampling", "sampling"]
    if axes:
        kinds += ["conv", "conv", "conv", "transposed", "maxpool", "avgpool", "adaptive", "upsample", "global"]
    if axes == 2:
        kinds += ["depthwise", "depthwise"]
    if axes == 1 and getattr(d, "sequences", False):
        kinds += ["recurrent", "recurrent", "attention", "attention", "position"]
    kind = d.choice(kinds)
    pick = (lambda name: getattr(odt, name + "%dD" % axes)) if axes else None

    def sizes(most):
        return [d.integer(1, min(most, extent)) for extent in shape[:-1]]

    def steps(most=3):
        return [d.integer(1, most) for _ in range(axes)]

    def as_argument(values):
        return tuple(values) if axes == 2 else values[0]

    activation = d.choice(ACTIVATIONS)
    options = {"use_bias": d.choice((True, True, False)), "trainable": d.choice((True, True, True, False))}
    if kind == "dense":
        return odt.Dense(d.integer(1, 7), activation, **options)
    if kind == "conv":
        groups = d.choice([g for g in (1, 1, 1, 2, 3, shape[-1]) if shape[-1] % g == 0])
        filters = groups * d.integer(1, max(1, 5 // groups))
        place = draw_place(d, shape, sizes(4), steps(), as_argument)
        return pick("Conv")(filters, activation=activation, groups=groups, **place, **options)
    if kind == "transposed":
        window = [d.integer(1, 3) for _ in range(axes)]
        name = "Conv%dDTranspose" % axes
        return getattr(odt, name)(
            d.integer(1, 4), as_argument(window), as_argument(steps(2)), d.choice(("valid", "same")),
            activation, **options,
        )  # fmt: skip
    if kind == "depthwise":
        return odt.DepthwiseConv2D(
            activation=activation, **draw_place(d, shape, sizes(4), steps(), as_argument), **options
        )
    if kind in ("maxpool", "avgpool"):
        strides = d.choice((None, as_argument(steps())))
        return pick("MaxPool" if kind == "maxpool" else "AvgPool")(
            as_argument(sizes(3)), strides, d.choice(("valid", "same"))
        )
    if kind == "adaptive":
        return pick("AdaptiveAvgPool")(as_argument(sizes(4)))
    if kind == "upsample":
        return pick("UpSampling")(as_argument(steps(2)))
    if kind == "global":
        return odt.GlobalAvgPool()
    if kind == "flatten":
        return odt.Flatten()
    if kind == "reshape":
        divisors = [n for n in range(1, product(shape) + 1) if product(shape) % n == 0]
        first = d.choice(divisors)
        return odt.Reshape(d.choice(((first, -1), (-1,), (1, first, product(shape) // first))))
    if kind == "norm":
        norms = [lambda: odt.BatchNorm(d.choice((0.9, 0.5)))]
        if shape[-1] > 1:
            norms.append(odt.LayerNorm)
        groups = [n for n in range(1, shape[-1] + 1) if shape[-1] % n == 0 and product(shape) > n]
        if groups:
            norms.append(lambda: odt.GroupNorm(d.choice(groups)))
        layer = d.choice(norms)()
        layer.trainable = options["trainable"]
        return layer
    if kind == "recurrent":  # trains as a whole
        options = {"return_sequences": d.choice((True, False)), "use_bias": options["use_bias"]}
        return d.choice((odt.GRU, odt.LSTM, odt.SimpleRNN))(d.integer(1, 5), **options)
    if kind == "attention":
        heads = d.integer(1, 3)
        return odt.MultiHeadAttention(heads, d.integer(1, 4), use_causal_mask=d.choice((True, False)), **options)
    if kind == "position":
        return odt.PositionEmbedding(trainable=options["trainable"])
    if kind == "sampling":
        return odt.Sampling(d.choice((1, 0.1)), d.choice((0, 3)), d.choice((0, 0.05)))
    if kind == "dropout":
        return odt.Dropout(d.choice((0.25, 0.5, 0)))
    return d.choice((odt.ReLU, odt.ReLU6, odt.LeakyReLU, odt.Sigmoid, odt.Tanh, odt.Softmax))()


def draw_nodes(d):
    """(the input's node, the last node) of a graph that may branch and join."""
    axes = d.integer(1, 3)
    shape = tuple([d.integer(1, (12, 6, 5)[axes - 1]) for _ in range(axes)])
    kind = d.choice(FORMATS if getattr(d, "plain", False) else FORMATS + ("uint16",))
    if kind == "float32":
        x = odt.Input(shape)
    else:
        low, high = {"uint8": (0, 255), "int8": (-128, 127), "uint16": (0, 65535)}.get(kind, (-300, 300))
        x = odt.Input(shape, kind, scale=d.choice((1 / 255, 1 / 64, 0.3)), zero_point=d.integer(low, high))
    nodes = [x]
    for _ in range(d.integer(0, 6)):
        node = d.choice((nodes[-1], nodes[-1], d.choice(nodes)))
        alike = [other for other in nodes if other.shape == node.shape]
        besides = [other for other in nodes if other.shape[:-1] == node.shape[:-1]]
        join = d.choice(("no", "no", "no", "add", "multiply", "concatenate"))
        if join == "add":
            made = odt.Add(d.choice((None, "relu")))([node, d.choice(alike)])
        elif join == "multiply":
            made = odt.Multiply()([node, d.choice(alike)])
        elif join == "concatenate":
            made = odt.Concatenate()([d.choice(besides) for _ in range(d.integer(1, 2))] + [node])
        else:
            layer = draw_layer(d, node.shape)
            made = layer(node)
            partly = layer.kernel_shape and layer.trainable and not hasattr(layer, "projection")
            if partly and d.choice((False, False, False, True)):
                layer.update_rows = draw_rows(d, layer.kernel_shape[0])
                layer.update_bias = d.choice((True, False))
        if product(made.shape) <= MOST:
            nodes.append(made)
    return x, nodes[-1]


def draw_rows(d, rows):
    """Ranges of rows, (first, count) each."""
    ranges = []
    at = 0
    while at < rows and len(ranges) < 3:
        first = d.integer(at, rows - 1)
        ranges.append((first, d.integer(1, rows - first)))
        at = sum(ranges[-1]) + 1
    return tuple(ranges)


def draw_optimizer(d, dtype):
    rate = d.choice((0.01, 0.1, 0, odt.StepDecay(0.1, 2), odt.CosineDecay(0.05, 4), rates.WarmUp(0.05, 3)))
    state = None if dtype == "float32" else d.choice((None, "int16", "float32"))
    decay = d.choice((0, 0, 0.05))
    kind = d.choice(("sgd", "momentum", "nesterov", "adam"))
    if kind == "adam":
        return odt.Adam(rate, d.choice((0.9, 0.5)), state=state, weight_decay=decay)
    if kind == "sgd":
        return odt.SGD(rate, weight_decay=decay)
    return odt.SGD(rate, d.choice((0.9, 0.3)), state=state, nesterov=kind == "nesterov", weight_decay=decay)


def is_sampled(node):
    """Whether a Sampling is among what leads to the node."""
    return node.layer.kind == "sampling" or any(is_sampled(parent) for parent in node.inputs)


def draw_loss(d, shape, weighs):
    kinds = ["mse", "mae", "huber", "binary"]
    if len(shape) == 1:
        kinds += ["labels", "labels", "smooth"] + ["weighted"] * weighs
    kind = d.choice(kinds)
    return kind, {
        "mse": lambda: "mse",
        "mae": lambda: "mae",
        "huber": lambda: odt.Huber(d.choice((1, 0.1, 3))),
        "binary": lambda: "binary_crossentropy",
        "labels": lambda: "sparse_categorical_crossentropy",
        "smooth": lambda: odt.SparseCategoricalCrossentropy(label_smoothing=0.1),
        "weighted": lambda: odt.SparseCategoricalCrossentropy(
            [d.choice((1, 0.5, 3)) for _ in range(shape[0])], d.choice((0, 0.2))
        ),
    }[kind]()


def draw_floats(d, count):
    spread = d.choice((1.0, 1.0, 0.01, 40.0))
    seed = d.integer(0, 65535)
    values = []
    for _ in range(count):
        seed = (seed * 75 + 74) % 65537
        values.append((seed / 32768 - 1) * spread)
    return array("f", values)


def draw_data(d, code, count):
    if code == "f":
        return draw_floats(d, count)
    seed = d.integer(0, 65535)
    mask, low = {"B": (255, 0), "b": (255, -128), "H": (65535, 0)}.get(code, (1023, -512))
    values = []
    for _ in range(count):
        seed = (seed * 75 + 74) % 65537
        values.append((seed >> 4 & mask) + low)
    return array(code, values)


def fitted(seed):
    """(model, x, y) of a random network after an epoch, or after as much of it as did not diverge."""
    model, options, x, y = draw_case(Random(random.Random(seed)))
    model.compile(**options)
    try:
        model.fit(x, y, verbose=0)
    except ArithmeticError:
        pass
    return model, x, y


def draw_case(d):
    """(model's nodes, compile's arguments, x, y) of a network to be trained."""
    dtype = d.choice(("int8", "float32"))
    x_node, last = draw_nodes(d)
    batch = d.integer(1, 6)
    micro = d.choice((None, None, None, d.integer(1, batch)))
    kind, loss = draw_loss(d, last.shape, not micro and not is_sampled(last))
    samples = d.integer(1, 2 * batch + 1)
    layer = x_node.layer
    x = draw_data(d, CODES[layer.dtype], samples * product(layer.shape))
    if kind in ("labels", "smooth", "weighted"):
        y = array("B", [d.integer(0, last.shape[0] - 1) for _ in range(samples)])
    elif kind == "binary":
        y = array("B", [value & 1 for value in draw_data(d, "B", samples * product(last.shape))])
    else:
        y = draw_floats(d, samples * product(last.shape))
    options = {
        "optimizer": draw_optimizer(d, dtype), "loss": loss, "dtype": dtype, "batch_size": batch,
        "micro_batch": micro, "checkpoint": d.choice((None, None, None, "sqrt")), "seed": d.integer(0, 1 << 20),
    }  # fmt: skip
    model = odt.Model(x_node, last)
    for node in model.nodes:
        if node.layer.kind == "batchnorm" and node.layer.positions * (micro or batch) == 1:  # compile() refuses it
            node.layer.trainable = False
    return model, options, x, y


def residual(blocks):
    """Residual blocks at 5x5, whose gradients are sums that overwrite one of their terms; not compiled."""
    x = inputs = odt.Input((5, 5, 3), dtype="uint8", scale=1 / 64)
    x = odt.Conv2D(4, 3, padding="same", activation="relu")(x)
    for _ in range(blocks):
        y = odt.Conv2D(4, 3, padding="same", activation="relu")(x)
        x = odt.ReLU()(odt.Add()([x, odt.Conv2D(4, 3, padding="same")(y)]))
    return odt.Model(inputs, odt.Dense(10)(odt.GlobalAvgPool()(x)))


def spread(model):
    """Give the channels of every kernel scales of their own, as training does; a new network's are alike, and errors
    that are scaled by channel draw no random numbers then.
    """
    shapes = [named for layer in model.layers for named in layer.weight_shapes()]
    found = model.get_weights()
    for (name, shape), values in zip(shapes, found):
        if name == "kernel":
            row = len(values) // shape[0]
            for at in range(len(values)):
                values[at] /= 1 + 0.37 * (at // row % 5)
    model.set_weights(found)
