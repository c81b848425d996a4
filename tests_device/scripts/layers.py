"""Trains every layer, loss and optimizer a few steps and prints the digests. Runs on a machine.

ODT_ARGS: ``executor`` ("reference" or none), ``steps``, ``dtypes``, ``only`` (names of networks).
"""

import gc

import odt

try:
    ARGS = ODT_ARGS
except NameError:
    ARGS = {}
if ARGS.get("executor"):
    odt.executor.use(ARGS["executor"])


def images():
    x = odt.Input((6, 4, 4), dtype="uint8", scale=1 / 64)
    a = odt.Conv2D(6, 3, padding="same", groups=2, activation="relu6")(x)
    b = odt.DepthwiseConv2D(3, padding="same", activation="leaky_relu")(x)
    c = odt.Conv2DTranspose(4, 3, strides=2, padding="same")(odt.AvgPool2D()(a))
    d = odt.UpSampling2D(2)(odt.MaxPool2D()(b))
    e = odt.Add(activation="relu")([c, d, b])
    f = odt.Concatenate()([odt.Tanh()(e), a])
    g = odt.AdaptiveAvgPool2D((4, 3))(f)
    return odt.Model(x, odt.Dense(3)(odt.Dropout(0.25)(odt.Flatten()(g))))


def series():
    x = odt.Input((24,))
    a = odt.Reshape((12, 2))(x)
    b = odt.Conv1D(4, 3, groups=2)(a)
    c = odt.Conv1DTranspose(3, 4, strides=2)(odt.AvgPool1D(3, 2, padding="same")(b))
    d = odt.Dense(3, activation="sigmoid")(c)
    e = odt.ReLU6()(odt.MaxPool1D(2)(odt.Multiply()([c, d])))
    f = odt.UpSampling1D(2)(odt.AdaptiveAvgPool1D(3)(e))
    return odt.Model(x, odt.Dense(3, activation="softmax")(odt.GlobalAvgPool()(odt.ReLU()(f))))


def dense():
    return odt.Sequential([odt.Input((24,)), odt.Dense(9), odt.Sigmoid(), odt.Dense(7), odt.LeakyReLU(0.1),
                           odt.Softmax(), odt.Dense(3)])  # fmt: skip


def normalised():
    x = odt.Input((24,))
    a = odt.LayerNorm()(odt.Conv1D(4, 3)(odt.Reshape((12, 2))(x)))
    b = odt.GroupNorm(2)(odt.Conv1D(6, 2, strides=2, use_bias=False)(odt.ReLU()(a)))
    c = odt.BatchNorm(0.75)(odt.Conv1D(6, 1)(odt.ReLU6()(b)))
    d = odt.BatchNorm(trainable=False)(odt.Dense(6)(odt.ReLU()(c)))
    return odt.Model(x, odt.Dense(3)(odt.Flatten()(d)))


def dilated():
    x = odt.Input((24,))
    a = odt.Conv1D(4, 3, padding="causal", dilation_rate=2, activation="relu")(odt.Reshape((12, 2))(x))
    b = odt.Conv1D(4, 2, padding="same", dilation_rate=5)(a)  # copied to batches and back
    c = odt.DepthwiseConv2D((2, 3), dilation_rate=(3, 1), activation="relu")(odt.Reshape((4, 6, 2))(b))
    return odt.Model(x, odt.Dense(3)(odt.Flatten()(c)))


def bent():
    return odt.Sequential([odt.Input((24,)), odt.Reshape((12, 2)), odt.Conv1D(6, 3, activation="gelu"), odt.ELU(0.7),
                           odt.Flatten(), odt.Dense(9), odt.SELU(), odt.Dense(3, activation="gelu")])  # fmt: skip


def raw():
    first = odt.Normalization()
    model = odt.Sequential(
        [odt.Input((24,)), first, odt.Dense(5, activation="relu"), odt.Dense(3, activation="softmax")]
    )
    first.adapt([[(7 * i + j * j) % 11 * (1 + 50 * (j % 5)) / 8 for j in range(24)] for i in range(6)])
    return model


def variational():
    return odt.Sequential([odt.Input((24,)), odt.Dense(9, activation="relu"), odt.Dense(8),
                           odt.Sampling(2, warmup=4, free_bits=0.01), odt.Dense(3)])  # fmt: skip


def recurrent():
    return odt.Sequential([odt.Input((24,)), odt.Reshape((6, 4)), odt.GRU(5, return_sequences=True),
                           odt.LSTM(4, return_sequences=True), odt.SimpleRNN(6), odt.Dense(3)])  # fmt: skip


def attention():
    x = odt.Input((24,))
    y = odt.PositionEmbedding()(odt.Dense(6)(odt.Reshape((6, 4))(x)))
    y = odt.Add()([y, odt.MultiHeadAttention(2, use_causal_mask=True)(odt.LayerNorm()(y))])
    z = odt.MultiHeadAttention(3, key_dim=5)([odt.Reshape((2, 9))(odt.Dense(18)(odt.Flatten()(y))), y])
    return odt.Model(x, odt.Dense(3)(odt.GlobalAvgPool()(z)))


def tokens():
    x = odt.Input((24,), dtype="uint8")
    y = odt.PositionEmbedding()(odt.Embedding(40, 6)(x))
    return odt.Model(x, odt.Dense(3)(odt.GlobalAvgPool()(y)))


CASES = (
    ("images", images, "sparse_categorical_crossentropy"),
    ("weighted", images, odt.SparseCategoricalCrossentropy([1, 0.5, 2], label_smoothing=0.1)),
    ("series", series, "mse"),
    ("binary", dense, "binary_crossentropy"),
    ("mae", dense, "mae"),
    ("huber", dense, odt.Huber(0.5)),
    ("normalised", normalised, "mse"),
    ("dilated", dilated, "mse"),
    ("bent", bent, "mse"),
    ("raw", raw, "categorical_crossentropy"),
    ("variational", variational, "mse"),
    ("recurrent", recurrent, "mse"),
    ("attention", attention, "mse"),
    ("tokens", tokens, "mse"),
)


def small():
    return odt.Sequential([odt.Input((24,)), odt.Dense(9, activation="relu"), odt.Dense(3)])


# With "mse" on small(); a state of float32 belongs to int8 models.
OPTIMIZERS = (
    ("SGD", lambda: odt.SGD(0.1)),
    ("momentum", lambda: odt.SGD(0.05, 0.9)),
    ("momentum_float32", lambda: odt.SGD(0.05, 0.9, state="float32")),
    ("Nesterov", lambda: odt.SGD(0.05, 0.9, nesterov=True, weight_decay=0.01)),
    ("Nesterov_float32", lambda: odt.SGD(0.05, 0.9, nesterov=True, state="float32")),
    ("Adam", lambda: odt.Adam(0.01)),
    ("Adam_float32", lambda: odt.Adam(0.01, state="float32")),
    ("AdamW", lambda: odt.AdamW(0.01, 0.05)),
    ("clipped", lambda: odt.SGD(0.05, 0.9, global_clipnorm=0.2)),
)
STEPS = ARGS.get("steps", 6)
SAMPLES = 16


def samples(count, seed):
    """Bytes that look random, the same everywhere."""
    data = bytearray(count)
    for index in range(count):
        seed = (seed * 75 + 74) % 65537
        data[index] = seed >> 8 & 255
    return data


def floats(data, scale):
    from array import array

    return array("f", [(value - 128) * scale for value in data])


RUNS = [case + (lambda: odt.Adam(0.01),) for case in CASES]
RUNS += [(name, small, "mse", optimizer) for name, optimizer in OPTIMIZERS]
for dtype in ARGS.get("dtypes", ("int8", "float32")):
    for name, network, loss, made in RUNS:
        if name not in ARGS.get("only", (name,)) or (dtype == "float32" and name.endswith(dtype)):
            continue
        gc.collect()
        model = network()
        optimizer = made()
        model.compile(optimizer, loss, dtype=dtype, batch_size=4, seed=5)
        size = 1
        for extent in model.nodes[0].shape:
            size *= extent
        x = samples(SAMPLES * size, 7)
        if network is tokens:
            x = bytes([value % 40 for value in x])
        elif network is not images:
            x = floats(x, 1 / 64)
        if network is images:
            y = bytes([value % 3 for value in samples(SAMPLES, 9)])
        elif network is raw:
            y = bytes([int(value % 3 == k) for value in samples(SAMPLES, 9) for k in range(3)])
        elif name == "binary":
            y = bytes([value & 1 for value in samples(3 * SAMPLES, 9)])
        else:
            y = floats(samples(3 * SAMPLES, 9), 1 / 128)
        model.fit(x, y, epochs=(STEPS + 3) // 4, verbose=0)
        model.evaluate(x, y)
        print("%s %s digest %08x" % (dtype, name, model.digest()))
        del model
print(odt.executor.backend, "executor")
