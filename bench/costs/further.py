"""Random networks of what those of cost.py have not: joins, gates, curves, norms, sequences, windows of other kinds."""

import random

import odt

FIRST, FROZEN = 200000, 300000  # seeds of all kinds, and of networks with a BatchNorm that does not train
TOKENS = 400000  # of networks whose samples are tokens
WINDOWS = 500000  # of depthwise convolutions with windows of 5 and 7
SEQUENCES = 201000  # of those of all kinds from which bench/costs/cost.py takes the ones with recurrence or attention
LOSSES = ("sparse_categorical_crossentropy", "sparse_categorical_crossentropy", "mae", "huber")
MOST_MACS = {"int8": 2000000, "float32": 150000}  # of a step
MOST_BYTES = 90000
CURVES = (odt.LeakyReLU, odt.Sigmoid, odt.Tanh, odt.ELU, odt.GELU, odt.ReLU)
OPTIMIZERS = (
    lambda: odt.AdamW(0.002), lambda: odt.SGD(0.01, 0.9, nesterov=True), lambda: odt.SGD(0.01, global_clipnorm=1.0),
    lambda: odt.SGD(0.01), lambda: odt.Adam(0.002),
)  # fmt: skip


def draw(seed, dtype):
    """(model, words that describe it): a network of that seed, compiled."""
    rng = random.Random("%s %s" % (seed, dtype))
    while True:
        try:
            kind = windows if seed >= WINDOWS else tokens if seed >= TOKENS else frozen if seed >= FROZEN else None
            first, x, text = (kind or (sequence if rng.random() < 0.5 else image))(rng)
            if len(x.shape) > 1:
                x = odt.Flatten()(x) if rng.random() < 0.6 else odt.GlobalAvgPool()(x)
            loss = rng.choice(("binary_crossentropy", *LOSSES[:1]) if kind is frozen else LOSSES)
            model = odt.Model(first, odt.Dense(rng.choice((2, 4, 8, 16)))(x))
            batch = rng.choice((1, 2, 4, 8, 16))
            if not 500 < sum([node.layer.macs for node in model.nodes]) * batch < MOST_MACS[dtype]:
                continue
            model.compile(rng.choice(OPTIMIZERS)(), loss, dtype, batch, seed=rng.randrange(1000))
        except ValueError:  # a number of groups or heads that does not divide, a norm of one number
            continue
        if model.session.plan.arena + model.session.plan.state <= MOST_BYTES:
            return model, "%s; batch %d, %s" % (text, batch, loss)


def sequence(rng):
    """(Input, output, words): attention or recurrence."""
    steps, width = rng.choice((6, 10, 16, 24)), rng.choice((4, 8, 12, 16, 32))
    first = x = odt.Input((steps, rng.choice((1, 2, 3, 6))), dtype="float32")
    if rng.random() < 0.5:
        x = odt.Normalization()(x)
    kind = rng.choice(("attention", "attention", "GRU", "LSTM", "SimpleRNN"))
    x = odt.Dense(width)(x)
    if kind == "attention":
        x = odt.LayerNorm()(odt.PositionEmbedding()(x))
        x = odt.Add()([x, odt.MultiHeadAttention(rng.choice((1, 2, 4)), use_causal_mask=rng.random() < 0.3)(x)])
        x = odt.Dense(2 * width)(x)
    else:
        x = getattr(odt, kind)(width, return_sequences=rng.random() < 0.5)(x)
    return first, rng.choice(CURVES)()(x), "%s of %d steps" % (kind, steps)


def tokens(rng):
    """(Input, output, words): an embedding, then recurrence or attention."""
    steps, width = rng.choice((6, 10, 16, 28)), rng.choice((4, 8, 16, 32))
    first = odt.Input((steps,), dtype="uint8")
    x = odt.Embedding(rng.choice((20, 60, 256)), width)(first)
    if rng.random() < 0.5:
        return first, odt.GRU(width)(x), "tokens, GRU of %d steps" % steps
    x = odt.PositionEmbedding()(x)
    return first, odt.Add()([x, odt.MultiHeadAttention(2)(x)]), "tokens, attention of %d steps" % steps


def windows(rng):
    """(Input, output, words): two depthwise convolutions, between them one of a pixel."""
    side, channels = rng.choice((8, 10, 12, 16, 20)), rng.choice((4, 8, 12, 16, 24))
    first = odt.Input((side, side, rng.choice((1, 3))), dtype="float32")
    x = odt.Conv2D(channels, 3, padding="same", activation="relu6")(first)
    sizes = [rng.choice((5, 7)) for _ in range(2)]
    for size in sizes:
        x = odt.DepthwiseConv2D(size, rng.choice((1, 1, 2)), "same", activation="relu6")(x)
        x = odt.Conv2D(rng.choice((channels, 16)), 1)(x)
    return first, x, "image of %d: windows of %d and %d" % (side, *sizes)


def frozen(rng):
    """(Input, output, words): convolutions, with a BatchNorm of the samples, and some that do not train."""
    side, depth = rng.choice((6, 8, 12, 16)), rng.choice((1, 2, 3))
    first = x = odt.Input((side, side, rng.choice((1, 2, 3))), dtype="float32")
    if rng.random() < 0.7:
        x = odt.BatchNorm(trainable=rng.random() < 0.6)(x)
    for _ in range(depth):
        x = odt.Conv2D(rng.choice((4, 8, 8, 12, 16)), 3, padding="same", use_bias=False)(x)
        x = rng.choice(CURVES)()(odt.BatchNorm(trainable=rng.random() < 0.2)(x))
    return first, x, "image of %d: %d times a BatchNorm" % (side, depth)


def image(rng):
    """(Input, output, words): three of these, a curve before each."""
    side = rng.choice((6, 8, 12, 16))
    first = x = odt.Input((side, side, rng.choice((1, 2, 3))), dtype="float32")
    if rng.random() < 0.3:
        x = odt.Normalization()(x)
    x = odt.Conv2D(rng.choice((4, 8, 8, 12, 16)), 3, padding="same")(x)
    kinds = rng.sample(("add", "gate", "join", "up", "transposed", "groups", "group norm"), 3)
    for kind in kinds:
        x = rng.choice(CURVES)()(x)
        other = odt.Conv2D(x.shape[-1], rng.choice((1, 3)), padding="same")
        if kind == "add":
            x = odt.Add()([x, other(x)])
        elif kind == "gate":
            x = odt.Multiply()([x, odt.Sigmoid()(other(x))])
        elif kind == "join":
            x = odt.Concatenate()([x, other(x)])
        elif kind == "up":
            x = odt.UpSampling2D(2)(x)
        elif kind == "transposed":
            x = odt.Conv2DTranspose(rng.choice((4, 8)), rng.choice((2, 3)), 2, "same")(x)
        elif kind == "groups":
            x = odt.Conv2D(x.shape[-1], 3, 1, "same", groups=rng.choice((2, 4)))(x)
        else:
            x = odt.GroupNorm(rng.choice((1, 2, 4)))(x)
    return first, x, "image of %d: %s" % (side, ", ".join(kinds))
