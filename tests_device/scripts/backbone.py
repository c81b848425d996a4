"""A network of 20 layers most of which is read in place in flash. Runs on a machine.

ODT_ARGS: ``address`` and ``size`` of the frozen weights in flash, or ``file``, the name of a file of them.
"""

import gc

import odt
from odt.adapt import update

ADDRESS, SIZE, FILE = [globals().get("ODT_ARGS", {}).get(name) for name in ("address", "size", "file")]


def network():
    """MobileNet-like: a strided convolution, nine separable ones, a mean and a dense layer."""
    layers = [
        odt.Input((32, 32, 3), dtype="uint8", scale=1 / 128, zero_point=128),
        odt.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
    ]
    blocks = ((32, 1), (64, 2), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (256, 1), (384, 1))
    for channels, stride in blocks:
        layers.append(odt.DepthwiseConv2D(3, strides=stride, padding="same", activation="relu"))
        layers.append(odt.Conv2D(channels, 1, activation="relu"))
    return odt.Sequential(layers + [odt.GlobalAvgPool(), odt.Dense(10)])


def policy(model):
    """The dense layer, the last two depthwise filters, and the biases of the last eight layers."""
    update.sparse(model, {"depthwiseconv2d_7": 1, "depthwiseconv2d_8": 1, "dense": 1}, biases=8)


def main(data):
    x = bytearray(4 * 3072)
    for i in range(len(x)):
        x[i] = (i * i + 7 * i) % 251
    model = network()
    policy(model)
    model.compile(odt.SGD(0.05, 0.9), batch_size=1, seed=1, frozen=data)
    gc.collect()
    print("arena %d, state %d, program %d, flash %d" % (
        len(model.session.arena), len(model.session.state), 4 * len(model.program.words), len(data)))  # fmt: skip
    model.fit(x, bytes([3, 1, 4, 1]), epochs=1, verbose=0)
    print("digest %08x" % model.digest())
    gc.collect()
    if hasattr(gc, "mem_free"):
        print("heap: %d in use, %d free" % (gc.mem_alloc(), gc.mem_free()))


if SIZE:
    import uctypes

    main(uctypes.bytearray_at(ADDRESS, SIZE))
elif FILE:
    with open(FILE, "rb") as file:
        main(file.read())
