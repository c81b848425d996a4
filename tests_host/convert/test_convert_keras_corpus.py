"""Small Keras networks of the kinds that people make, compiled and saved: Keras's outputs from the model and from its
file, or one sentence.
"""

import os

import numpy as np
import pytest

from odt.host.convert import Unsupported, load

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras  # noqa: E402
from keras import layers as L  # noqa: E402
from keras import ops  # noqa: E402

NETWORKS = {}


def network(*shape, refused=None, tokens=None):
    """A function of the input's tensor as a network of the corpus; ``refused``: what the refusal says; ``tokens``: how
    many there are, where the samples are such.
    """

    def register(make):
        NETWORKS[make.__name__] = make, shape, refused, tokens
        return make

    return register


@network(12)
def mlp(x):
    x = L.Dense(16, activation="relu", kernel_regularizer="l2")(x)
    x = L.Dropout(0.3)(L.BatchNormalization()(x))
    return L.Dense(4, activation="softmax")(x)


@network(10, 8, 1)
def lenet(x):
    x = L.MaxPooling2D()(L.Conv2D(4, 3, activation="tanh")(x))
    return L.Dense(5, activation="softmax")(L.Flatten()(L.Conv2D(6, 2, activation="tanh")(x)))


@network(9, 8, 3)
def photos(x):
    x = L.RandomZoom(0.1)(L.RandomRotation(0.1)(L.RandomFlip("horizontal")(x)))
    x = L.Conv2D(6, 3, padding="same", use_bias=False)(L.Rescaling(1 / 127.5, offset=-1)(x))
    x = L.MaxPooling2D()(L.Activation("relu")(L.BatchNormalization()(x)))
    return L.Dense(2)(L.GlobalAveragePooling2D()(L.SpatialDropout2D(0.2)(x)))


@network(8, 8, 3)
def mobilenet(x):
    for width, stride in ((8, 2), (8, 1)):
        y = L.Conv2D(2 * width, 1, padding="same", use_bias=False)(x)
        y = L.ReLU(max_value=6.0)(L.BatchNormalization(momentum=0.9)(y))
        if stride == 2:
            y = L.ZeroPadding2D(((0, 1), (0, 1)))(y)
        y = L.DepthwiseConv2D(3, strides=stride, padding="same" if stride == 1 else "valid", use_bias=False)(y)
        y = L.Conv2D(width, 1, use_bias=False)(L.ReLU(6.0)(L.BatchNormalization()(y)))
        x = L.Add()([x, y]) if stride == 1 else y
    return L.Dense(3)(L.GlobalAveragePooling2D(keepdims=True)(x))


@network(8, 8, 2)
def resnet(x):
    x = L.Conv2D(4, 3, padding="same")(x)
    for width in (4, 8):
        y = L.Conv2D(width, 3, padding="same", activation="relu")(x)
        y = L.Conv2D(width, 3, padding="same")(y)
        x = ops.relu(y + (x if width == 4 else L.Conv2D(width, 1)(x)))
    return L.Dense(3)(ops.mean(x, axis=(1, 2)))


@network(20, 3)
def motion(x):
    x = L.Normalization(mean=[0.1, 0.2, -0.3], variance=[1.0, 2.0, 0.5])(x)
    x = L.Conv1D(6, 5, strides=2, padding="causal", activation="relu")(x)
    x = L.MaxPooling1D(2)(L.Conv1D(8, 3, padding="same", activation="silu")(x))
    return L.Dense(4, activation="softmax")(L.GlobalMaxPooling1D()(x))


@network(16, 2)
def temporal(x):
    for width in (4, 4):
        y = L.SpatialDropout1D(0.1)(L.ReLU()(L.LayerNormalization()(L.Conv1D(width, 3, padding="causal")(x))))
        x = L.add([y, L.Conv1D(width, 1)(x)])
    return L.Dense(3)(x[:, -1])


@network(8, 8, 3)
def squeezed(x):
    x = L.SeparableConv2D(8, 3, padding="same", activation="hard_silu")(x)
    gate = L.Dense(8, activation="hard_sigmoid")(L.Dense(2, activation="relu")(L.GlobalAveragePooling2D()(x)))
    return L.Dense(3)(L.Flatten()(L.multiply([x, L.Reshape((1, 1, 8))(gate)])))


@network(8, 8, 2)
def unet(x):
    a = L.Conv2D(4, 3, padding="same", activation=L.LeakyReLU(0.1))(x)
    b = L.Conv2D(8, 3, padding="same", activation=L.PReLU(shared_axes=[1, 2]))(L.MaxPooling2D()(a))
    c = L.concatenate([L.UpSampling2D(2, interpolation="bilinear")(b), a])
    d = L.Conv2DTranspose(4, 3, strides=2, padding="same")(b)
    return L.Conv2D(1, 1, activation="sigmoid")(L.concatenate([c, d]))


@network(8, 8, 1)
def autoencoder(x):
    x = L.Conv2D(4, 3, strides=2, padding="same", activation="relu")(x)
    x = L.Dense(32, activation="relu")(L.Dense(6, name="code")(L.Flatten()(x)))
    x = L.Conv2DTranspose(2, 2, strides=2)(L.Reshape((4, 4, 2))(x))
    return L.Conv2D(1, 3, padding="same")(x)


@network(6)
def arithmetic(x):
    y = L.Dense(6)(x / 255 - 0.5)
    z = 1 - 2 * keras.activations.relu(-y) * y + abs(x)
    return ops.maximum(L.Dense(3)(z), 0.25) ** 2


@network(8, 8, 2)
def wide(x):
    parts = [L.Conv2D(3, n, padding="same", activation="relu6")(x) for n in (1, 3, 5)]
    parts.append(L.Conv2D(3, 1)(L.AveragePooling2D(3, strides=1, padding="same")(x)))
    return L.Dense(2)(L.Dropout(0.2)(L.GlobalAveragePooling2D()(L.Concatenate(axis=-1)(parts))))


@network(6, 6, 4)
def grouped(x):
    x = L.GroupNormalization(2)(L.Conv2D(8, 3, groups=2)(x))
    x = L.DepthwiseConv2D(2, depth_multiplier=2, activation="leaky_relu")(x)
    return L.Dense(3)(L.AveragePooling2D(3)(x))


@network(12, 5)
def steps(x):
    x = L.TimeDistributed(L.Dense(4, activation="tanh"))(x)
    return L.Dense(2)(L.GlobalAveragePooling1D()(L.Conv1D(4, 2)(L.Cropping1D((1, 2))(x))))


@network(7)
def transfer(x):
    first = keras.Sequential([L.Input((7,)), L.Dense(5, activation="relu"), L.Dense(4, activation="tanh")])
    first.trainable = False
    first.compile("sgd", "mse")
    return L.Dense(2)(L.GaussianNoise(0.1)(first(x)))


@network(7)
def maxout(x):
    y = L.maximum([L.Dense(4)(x), L.Dense(4)(x), L.Dense(4)(x)])
    z = L.subtract([L.average([y, L.Dense(4)(x)]), L.minimum([y, L.Dense(4)(x)])])
    return L.Dense(2)(L.ActivityRegularization(l2=0.1)(z))


@network(3, 5)
def repeated(x):
    x = L.RepeatVector(4)(L.Dense(6)(L.Flatten()(x)))
    return L.Softmax()(L.Dense(3)(L.UpSampling1D(2)(x)))


@network(9, 9, 3)
def cut(x):
    x = L.Resizing(12, 12)(L.CenterCrop(6, 6)(x))
    return L.Dense(2)(L.Flatten()(L.Conv2D(2, 3, strides=3)(x[:, 1:11, :, :2])))


@network(6)
def limits(x):
    y = ops.clip(L.Dense(5, activation="hard_tanh")(x), -0.5, 1)
    z = L.ReLU(max_value=2.0, negative_slope=0.2)(L.Dense(5)(y))
    return L.Dense(3)(ops.minimum(ops.leaky_relu(z, 0.3), 1.5))


@network(4, 6, 2)
def turned(x):
    x = ops.squeeze(ops.expand_dims(ops.reshape(x, (-1, 24, 2)), 1), 1)
    return L.Dense(2)(ops.sum(L.Conv1D(3, 2)(ops.pad(x, [[0, 0], [2, 1], [0, 0]])), axis=1, keepdims=True))


@network(5, 4)
def gelu_of_tanh(x):
    return L.Dense(2)(ops.gelu(L.Dense(3)(L.Flatten()(x)), approximate=True))


@network(6, 5, 3)
def elus(x):
    x = L.Conv2D(4, 3, activation="elu")(x)
    return L.Dense(2)(
        ops.selu(L.Dense(3, activation="selu")(L.ELU(0.3)(L.Dense(5, activation="gelu")(L.Flatten()(x)))))
    )


@network(8)
def recurrent(x):
    return L.Dense(2)(L.LSTM(3, dropout=0.1)(L.Reshape((4, 2))(x)))


@network(9, 3)
def recurrences(x):
    x = L.GRU(4, return_sequences=True)(L.Conv1D(5, 3, activation="relu")(x))
    x = L.SimpleRNN(3, use_bias=False, return_sequences=True)(L.GRU(4, use_bias=False, return_sequences=True)(x))
    return L.Dense(2)(L.SimpleRNN(3)(x))


@network(5, 3)
def last_of_a_sequence(x):
    return L.Dense(2)(L.LSTM(4, return_sequences=True)(x)[:, -1])


@network(5, 3)
def mean_and_last_of_a_sequence(x):
    x = L.GRU(4, return_sequences=True)(x)
    return L.Dense(2)(L.concatenate([L.GlobalAveragePooling1D()(x), x[:, -1]]))


@network(5, 3, refused=r"layer gru\w* \(GRU\): has the option reset_after=False, .*; instead: reset_after=True")
def reset_before(x):
    return L.GRU(4, reset_after=False)(x)


@network(5, 3, refused=r"layer lstm\w* \(LSTM\): has the option activation='relu', .*; instead: activation='tanh'")
def relu_within(x):
    return L.LSTM(4, activation="relu")(x)


@network(5, 3, refused=r"layer gru\w* \(GRU\): has the option go_backwards=True, .*; instead: go_backwards=False")
def backwards(x):
    return L.GRU(4, go_backwards=True)(x)


@network(5, 3, refused=r"layer bidirectional\w* \(Bidirectional\): odt has no such layer; instead: GRU, LSTM")
def both_ways(x):
    return L.Bidirectional(L.LSTM(4))(x)


@network(6, 4)
def attention(x):
    return L.Dense(2)(L.GlobalAveragePooling1D()(L.MultiHeadAttention(2, 2)(x, x)))


@network(6, 4)
def attention_block(x):
    a = L.LayerNormalization()(x)
    x = L.Add()([x, L.MultiHeadAttention(2, 3, dropout=0.1, use_bias=False)(a, a, use_causal_mask=True)])
    return L.Add()([x, L.Dense(4)(L.Dense(8, activation="gelu")(L.LayerNormalization()(x)))])


@network(6, 4)
def attention_to_others(x):
    return L.MultiHeadAttention(2, 3)(query=x, value=L.Dense(5)(x), key=L.Dense(7)(x))


@network(6, 4, refused=r"layer multi_head_attention\w* \(MultiHeadAttention\): has value_dim=3 and key_dim=2; instead")
def attention_of_wide_values(x):
    return L.MultiHeadAttention(2, 2, value_dim=3)(x, x)


@network(6, 4, refused=r"layer multi_head_attention\w* \(MultiHeadAttention\): .*attention_mask")
def attention_with_a_mask(x):
    return L.MultiHeadAttention(2, 2)(x, x, attention_mask=np.ones((1, 6, 6), bool))


@network(6, 4, refused=r"layer multi_head_attention\w* \(MultiHeadAttention\): has the option output_shape")
def attention_of_another_width(x):
    return L.MultiHeadAttention(2, 2, output_shape=(3,))(x, x)


@network(6, tokens=5)
def words(x):
    return L.Dense(2)(L.Flatten()(L.Embedding(5, 3)(x)))


@network(
    6, tokens=5, refused=r"layer embedding\w* \(Embedding\): has the option mask_zero=True, .*; instead: mask_zero"
)
def padded_words(x):
    return L.Dense(2)(L.GRU(4)(L.Embedding(5, 3, mask_zero=True)(x)))


@network(6, tokens=5, refused=r"layer reversible_embedding\w* .*: odt has no such layer; instead: an Embedding")
def words_both_ways(x):
    return L.Dense(2)(L.GRU(4)(L.ReversibleEmbedding(5, 3)(x)))


@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_a_network_and_its_file_give_what_keras_gives(name, tmp_path):
    make, shape, refused, tokens = NETWORKS[name]
    keras.utils.set_random_seed(1)
    x = keras.Input(shape, dtype="int32" if tokens else "float32")
    model = keras.Model(x, make(x))
    model.compile("adam", "mse", metrics=["mae"])
    rng = np.random.default_rng(2)
    data = rng.normal(size=(4, *shape)).astype("float32") * 2
    data = rng.integers(0, tokens, (4, *shape)) if tokens else data
    model.predict(data, verbose=0)  # which builds activations
    for weight in model.weights:  # none of which is as its layer begins
        if weight.dtype == "float32" and not refused:
            low = 0.5 if "variance" in weight.path or "gamma" in weight.path else -0.4
            weight.assign(rng.uniform(low, low + 0.8, weight.shape))
    expected = model.predict(data, verbose=0)
    model.save(tmp_path / "net.keras")
    for source in (model, tmp_path / "net.keras"):
        if refused:
            with pytest.raises(Unsupported, match=refused):
                load(source)
            continue
        taken = load(source, train="none", batch_size=1)
        got = taken.imported.outputs(taken.predict(taken.imported.samples(data)))
        assert got.shape == expected.shape
        assert np.abs(got - expected).max() <= 1e-4 * max(1, np.abs(expected).max())
