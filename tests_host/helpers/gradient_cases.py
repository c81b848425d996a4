"""Networks and losses whose gradients are compared with PyTorch's, and odt's gradients of them."""

import struct

import numpy as np
from twin import Twin

import odt
from odt.base import fixed, primitives
from odt.base.opcodes import KEY
from odt.plan.program import Program
from odt.run import session


def _branches():
    x = odt.Input((6, 5, 4))
    y = odt.Conv2D(4, 3, padding="same", activation="relu")(x)
    z = odt.Conv2D(4, 3, padding="same")(y)
    out = odt.Add(activation="relu")([y, z])
    return x, odt.Dense(3)(odt.GlobalAvgPool()(out))


def _plain_add():
    x = odt.Input((6, 5, 4))
    y = odt.Conv2D(4, 1)(x)
    z = odt.DepthwiseConv2D(3, padding="same")(y)
    return x, odt.Dense(3)(odt.Flatten()(odt.ReLU()(odt.Add()([z, y]))))


def _sums():
    x = odt.Input((5, 4, 3))
    y = odt.Conv2D(4, 1)(x)
    z = odt.Conv2D(4, 3, padding="same", activation="tanh")(x)
    u = odt.Add(activation="relu6")([y, z, odt.ReLU()(y)])
    return x, odt.Dense(3)(odt.Flatten()(u))


def _columns():
    x = odt.Input((5, 4, 3))
    y = odt.Conv2D(4, 1)(x)
    z = odt.Conv2D(3, 3, padding="same")(x)
    u = odt.Concatenate()([y, z, odt.Conv2D(2, 1)(y)])
    return x, odt.Dense(3)(odt.Flatten()(odt.Conv2D(2, 2)(u)))


def _attention():
    """A pre-norm block, and one step that looks at the others."""
    x = odt.Input((5, 3))
    y = odt.PositionEmbedding()(odt.Dense(8)(x))
    y = odt.Add()([y, odt.MultiHeadAttention(2)(odt.LayerNorm()(y))])
    y = odt.Add()([y, odt.Dense(8)(odt.Dense(6, activation="gelu")(odt.LayerNorm()(y)))])
    last = odt.Reshape((1, -1))(odt.Dense(4)(odt.Flatten()(y)))
    return x, odt.Dense(3)(odt.Flatten()(odt.MultiHeadAttention(2, key_dim=3)([last, y])))


def _products():
    x = odt.Input((6, 4))
    y = odt.Dense(5)(x)
    z = odt.Dense(5, activation="sigmoid")(x)
    u = odt.Multiply()([y, z, odt.Dense(5, activation="relu")(x)])
    return x, odt.Dense(3)(odt.Flatten()(odt.Multiply()([u, y])))


NETWORKS = {
    "groups": ((6, 5, 4), [odt.Conv2D(6, 3, padding="same", groups=2, activation="relu"), odt.Conv2D(3, 2, strides=2,
    groups=3), odt.Flatten(), odt.Dense(3)]),
    "groups of one channel": ((6, 5, 4), [odt.Conv2D(4, 3, groups=4), odt.Flatten(), odt.Dense(3)]),
    "groups1d": ((9, 4), [odt.Conv1D(6, 3, groups=2), odt.Conv1D(4, 2, strides=3, groups=2), odt.Flatten(),
    odt.Dense(3)]),
    "transposed": ((4, 3, 2), [odt.Conv2DTranspose(3, 3, strides=2, activation="relu"), odt.Conv2DTranspose(2, (2, 3)),
    odt.Flatten(), odt.Dense(3)]),
    "transposed same": ((3, 4, 2), [odt.Conv2D(3, 2), odt.Conv2DTranspose(2, (4, 3), strides=(3, 2), padding="same"),
    odt.Conv2DTranspose(2, 2, strides=3), odt.Flatten(), odt.Dense(3)]),
    "transposed1d": ((5, 2), [odt.Conv1DTranspose(3, 4, strides=2, padding="same"), odt.Conv1DTranspose(2, 3, strides=4,
    use_bias=False), odt.Flatten(), odt.Dense(3)]),
    "transposed frozen": ((4, 3, 2), [odt.Conv2D(3, 1), odt.Conv2DTranspose(3, 3, strides=2, trainable=False),
    odt.Flatten(), odt.Dense(3)]),
    "add of three": _sums,
    "concatenate": _columns,
    "multiply": _products,
    "reshape": ((12,), [odt.Dense(12), odt.Reshape((2, 3, -1)), odt.Conv2D(4, 2), odt.Flatten(), odt.Dense(3)]),
    "avgpool": ((8, 6, 3), [odt.Conv2D(4, 3, padding="same"), odt.AvgPool2D(), odt.Flatten(), odt.Dense(3)]),
    "avgpool overlapping": ((7, 7, 3), [odt.Conv2D(4, 3, padding="same", activation="relu"), odt.AvgPool2D(3, strides=2,
    padding="same"), odt.Flatten(), odt.Dense(3)]),
    "avgpool1d": ((9, 3), [odt.Conv1D(4, 3), odt.AvgPool1D(3, 2), odt.Flatten(), odt.Dense(3)]),
    "adaptive avgpool": ((7, 5, 3), [odt.Conv2D(4, 1), odt.AdaptiveAvgPool2D((3, 2)), odt.Flatten(), odt.Dense(3)]),
    "adaptive avgpool1d": ((11, 3), [odt.Conv1D(4, 2), odt.AdaptiveAvgPool1D(4), odt.Flatten(), odt.Dense(3)]),
    "upsampling": ((3, 4, 2), [odt.Conv2D(3, 2), odt.UpSampling2D((3, 2)), odt.Conv2D(2, 2), odt.Flatten(),
    odt.Dense(3)]),
    "upsampling1d": ((5, 2), [odt.Conv1D(3, 2), odt.UpSampling1D(3), odt.Conv1D(2, 2), odt.Flatten(), odt.Dense(3)]),
    "relu6": ((7,), [odt.Dense(6, activation="relu6"), odt.Dense(5), odt.ReLU6(), odt.Dense(3)]),
    "relu6 behind a pool": ((6, 4, 3), [odt.Conv2D(4, 3), odt.MaxPool2D(), odt.ReLU6(), odt.Flatten(), odt.Dense(3)]),
    "leaky relu": ((7,), [odt.Dense(9, activation="leaky_relu"), odt.Dense(8), odt.LeakyReLU(0.125), odt.Dense(3)]),
    "elu": ((7,), [odt.Dense(9, activation="elu"), odt.Dense(8), odt.ELU(0.375), odt.Dense(3)]),
    "selu": ((7,), [odt.Dense(9, activation="selu"), odt.Dense(8), odt.SELU(), odt.Dense(3)]),
    "gelu": ((7,), [odt.Dense(9, activation="gelu"), odt.Dense(8), odt.GELU(), odt.Dense(3)]),
    "sigmoid": ((7,), [odt.Dense(6, activation="sigmoid"), odt.Dense(5), odt.Sigmoid(), odt.Dense(3)]),
    "tanh": ((7,), [odt.Dense(6, activation="tanh"), odt.Dense(5), odt.Tanh(), odt.Dense(3)]),
    "softmax": ((4, 7), [odt.Dense(6), odt.Softmax(), odt.Flatten(), odt.Dense(3)]),
    "dense": ((7,), [odt.Dense(5, activation="relu"), odt.Dense(3)]),
    "dense without bias": ((7,), [odt.Dense(5, use_bias=False), odt.ReLU(), odt.Dense(3, use_bias=False)]),
    "dense on rows": ((4, 6), [odt.Dense(5, activation="relu"), odt.Flatten(), odt.Dense(3)]),
    "conv1d": ((11, 3), [odt.Conv1D(4, 3, activation="relu"), odt.Conv1D(5, 2, strides=2), odt.Flatten(),
    odt.Dense(3)]),
    "conv1d same": ((10, 3), [odt.Conv1D(4, 5, strides=3, padding="same"), odt.Conv1D(2, 2, padding="same"),
    odt.Flatten(), odt.Dense(3)]),
    "conv2d": ((7, 6, 3), [odt.Conv2D(4, 3, activation="relu"), odt.Conv2D(5, (2, 3), strides=(2, 1)), odt.Flatten(),
    odt.Dense(3)]),
    "conv2d same, odd strides": ((7, 6, 3), [odt.Conv2D(4, 3, strides=2, padding="same"), odt.Conv2D(5, 4, strides=3,
    padding="same"), odt.Flatten(), odt.Dense(3)]),
    "conv2d 1x1": ((4, 4, 3), [odt.Conv2D(6, 1), odt.Conv2D(2, 1, strides=2), odt.Flatten(), odt.Dense(3)]),
    "conv2d as wide as the image": ((7, 3, 2), [odt.Conv2D(4, 3, padding="same", activation="relu"), odt.Conv2D(5, (3,
    3), strides=(2, 1), activation="relu"), odt.Conv2D(3, (2, 1), strides=2), odt.Flatten(), odt.Dense(3)]),
    "conv2d as large as the image": ((5, 4, 2), [odt.Conv2D(3, 2, activation="relu"), odt.Conv2D(6, (4, 3),
    activation="relu"), odt.Flatten(), odt.Dense(3)]),
    "causal": ((12, 3), [odt.Conv1D(4, 3, padding="causal", activation="relu"), odt.Conv1D(3, 4, strides=2,
    padding="causal"), odt.Flatten(), odt.Dense(3)]),
    "dilated lines": ((16, 3), [odt.Conv1D(4, 3, padding="causal", activation="relu", dilation_rate=2), odt.Conv1D(4, 2,
    padding="causal", dilation_rate=4), odt.Conv1D(4, 3, padding="same", dilation_rate=4, groups=2),
    odt.Conv1D(4, 3, dilation_rate=2, groups=4, activation="relu6"), odt.Flatten(), odt.Dense(3)]),
    "dilated lines of any length": ((19, 3), [odt.Conv1D(4, 3, padding="causal", activation="relu", dilation_rate=2),
    odt.Conv1D(6, 2, padding="same", dilation_rate=3), odt.Conv1D(4, 3, dilation_rate=4, groups=2),
    odt.Conv1D(4, 2, padding="causal", dilation_rate=8, groups=4), odt.Flatten(), odt.Dense(3)]),
    "dilated": ((9, 8, 3), [odt.Conv2D(4, 3, padding="same", activation="relu", dilation_rate=2),
    odt.DepthwiseConv2D((2, 3), padding="same", dilation_rate=(3, 2)),
    odt.Conv2D(6, (3, 2), groups=2, dilation_rate=(1, 3)), odt.Flatten(), odt.Dense(3)]),
    "dilated columns": ((9, 4, 3), [odt.Conv2D(4, (3, 1), dilation_rate=3, padding="same", activation="relu6"),
    odt.DepthwiseConv2D((1, 2), dilation_rate=3), odt.Flatten(), odt.Dense(3)]),
    "dilated frozen": ((12, 3), [odt.Conv1D(4, 1), odt.Conv1D(4, 3, padding="causal", dilation_rate=5, trainable=False),
    odt.Flatten(), odt.Dense(3)]),
    "conv2d of a column": ((9, 1, 3), [odt.Conv2D(4, (3, 1), padding="same", activation="relu"), odt.Conv2D(3, (4, 1),
    strides=3), odt.Flatten(), odt.Dense(3)]),
    "depthwise as large as the image": ((5, 4, 3), [odt.Conv2D(4, 2, activation="relu"), odt.DepthwiseConv2D((4, 3)),
    odt.Flatten(), odt.Dense(3)]),
    "depthwise": ((7, 6, 3), [odt.Conv2D(4, 1), odt.DepthwiseConv2D(3, padding="same", activation="relu"),
    odt.DepthwiseConv2D((2, 3), strides=2), odt.Flatten(), odt.Dense(3)]),
    "maxpool": ((8, 6, 3), [odt.Conv2D(4, 3, padding="same"), odt.MaxPool2D(), odt.Flatten(), odt.Dense(3)]),
    "maxpool overlapping": ((7, 7, 3), [odt.Conv2D(4, 3, padding="same"), odt.MaxPool2D(3, strides=2, padding="same"),
    odt.Flatten(), odt.Dense(3)]),
    "maxpool1d": ((9, 3), [odt.Conv1D(4, 3), odt.MaxPool1D(2), odt.Flatten(), odt.Dense(3)]),
    "globalavg": ((5, 4, 3), [odt.Conv2D(4, 2), odt.GlobalAvgPool(), odt.Dense(3)]),
    "globalavg at the end": ((5, 4, 3), [odt.Conv2D(4, 2, activation="relu"), odt.Conv2D(3, 1), odt.GlobalAvgPool()]),
    "relu behind a pool": ((6, 4, 3), [odt.Conv2D(4, 3), odt.MaxPool2D(), odt.ReLU(), odt.Flatten(), odt.Dense(3)]),
    "frozen in the middle": ((7,), [odt.Dense(6, activation="relu"), odt.Dense(5, trainable=False, activation="relu"),
    odt.Dense(3)]),
    "frozen below": ((7,), [odt.Dense(6, activation="relu", trainable=False), odt.Dense(3)]),
    "gru": ((5, 3), [odt.GRU(4), odt.Dense(3)]),
    "gru of sequences": ((6, 2), [odt.GRU(5, return_sequences=True), odt.GRU(3, use_bias=False), odt.Dense(3)]),
    "lstm": ((5, 3), [odt.LSTM(4), odt.Dense(3)]),
    "lstm of sequences": ((6, 2), [odt.LSTM(3, return_sequences=True), odt.Flatten(), odt.Dense(3)]),
    "simple rnn": ((5, 3), [odt.Dense(4), odt.SimpleRNN(5, return_sequences=True), odt.SimpleRNN(4, use_bias=False),
    odt.Dense(3)]),
    "recurrent of two steps": ((2, 4), [odt.GRU(3, return_sequences=True), odt.LSTM(4), odt.Dense(3)]),
    "attention": ((5, 6), [odt.Dense(6), odt.MultiHeadAttention(3), odt.Flatten(), odt.Dense(3)]),
    "attention, causal": ((6, 3), [odt.PositionEmbedding(), odt.MultiHeadAttention(2, key_dim=4, use_bias=False,
    use_causal_mask=True), odt.GlobalAvgPool(), odt.Dense(3)]),
    "attention of blocks": _attention,
    "branches": _branches,
    "plain add": _plain_add,
}  # fmt: skip
LOSSES = ("sparse_categorical_crossentropy", "mse")


def build(name):
    network = NETWORKS[name]
    if callable(network):
        return odt.Model(*network())
    shape, layers = network
    return odt.Sequential([odt.Input(shape)] + layers)


def batch(model, loss, seed, size=6):
    random = np.random.default_rng(seed)
    shape = model.nodes[0].shape
    x = random.normal(size=(size,) + shape).astype("float32")
    if loss == "mse":
        return x, random.normal(size=(size,) + model.nodes[-1].shape).astype("float32")
    return x, random.integers(0, model.nodes[-1].shape[0], size).astype("uint8")


def int8_gradients(model, x, y, loss="sparse_categorical_crossentropy", scale=1):
    """Pairs: odt's int8 gradient, in real units with plain SGD, and the float gradient of what it computed."""
    session.bind(model.session, x, y)
    model.session.prepare(2)
    session.clear(model.session)
    session.batch(model.session, 0, len(x))
    steps, seed = struct.unpack_from("<Ii", model.session.state)
    model.session.control[KEY] = primitives.wrap32(fixed.hash32(seed, steps + 1))  # as tick makes it
    twin = Twin(model, weights=dequantized(model))
    expected = [g for g in twin.gradients(x * scale, y, loss) if g is not None]
    program = Program(model.session.plan.code)
    order = {}
    for _, parameters in model.session.plan.weights:
        for buffer in [parameters.kernel] + parameters.vectors:
            if buffer:
                order[buffer.offset] = len(order)
    ours = {}
    found = bytearray(len(model.session.arena))  # gradients as they were made: a momentum lies over them later
    units = {}
    for at, code, addresses, immediates in program.walk(*program.section("train")):
        if code.name in ("apply_i8", "apply_i32"):
            index = [o[0] for o in code.operands].index("d")
            offset, size = addresses[index] & 0x3FFFFFF, code.bytes(index, dict(zip(code.immediates, immediates)))
            gradient = np.frombuffer(bytes(found[offset : offset + size]), "int32").astype("float64")
            unit = units.get(addresses[[o[0] for o in code.operands].index("ds")], 1)
            ours.setdefault(order[addresses[0] & 0x3FFFFFF], []).append(gradient * unit)  # in pieces
            continue  # weights stay: later gradients are those of the same step
        if code.name == "plain_i32":  # the scale of a gradient
            region = model.session.state if addresses[1] >> 26 else model.session.arena
            word = struct.unpack_from("<f", region, addresses[1] & 0x3FFFFFF)[0]
            units[addresses[0]] = word * fixed.bits_to_float(immediates[1])
            continue
        if code.name in ("tick", "range_i8"):
            continue
        model.session.engine.run(model.session.loaded, model.session.regions, at, at + code.words)
        if "_dw_" in code.name:
            offset, size = addresses[0] & 0x3FFFFFF, code.bytes(0, dict(zip(code.immediates, immediates)))
            found[offset : offset + size] = model.session.arena[offset : offset + size]
    return list(zip([np.concatenate(ours[key]) for key in sorted(ours)], expected))


def dequantized(model):
    """The weights that the int8 kernels use: without the residual bytes."""
    values = []
    state = bytes(model.session.state)
    for layer, weights in model.session.plan.weights:
        read = odt.run.weights.read(layer, state, None, weights, True)
        if weights.kernel:
            count = weights.rows * weights.columns
            kernel = np.frombuffer(state[weights.kernel.offset :][:count], "int8").astype("float64")
            scale = np.frombuffer(state[weights.scale.offset :][: 4 * weights.rows], "float32")
            read[0] = kernel.reshape(weights.rows, -1) * scale[:, None]
        values += read
    return values
