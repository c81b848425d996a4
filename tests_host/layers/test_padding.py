"""Where windows lie: padding and output shapes, against TensorFlow's vectors and PyTorch's own "same".

The vectors are what tests of TensorFlow expect (``tensorflow/python/kernel_tests/nn_ops``, by their names there); their
tensors count from 1. With them, and at stride 1 PyTorch's, stands or falls twin.py, which stands for both at other
sizes.
"""

import itertools

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from twin import Twin

import odt


def counted(*shape):
    return np.arange(1, np.prod(shape) + 1, dtype="float32").reshape(shape)


def network(shape, layer, weights=None):
    """The layer after a 1x1 convolution that changes nothing, so that there is something to train."""
    convolution = odt.Conv1D if len(shape) == 2 else odt.Conv2D
    model = odt.Sequential([odt.Input(shape), convolution(shape[-1], 1, use_bias=False), layer])
    model.compile(odt.SGD(0), loss="mse", dtype="float32", batch_size=1, seed=1)
    identity = np.eye(shape[-1], dtype="float32").ravel()
    model.set_weights([identity] + (list(model.get_weights())[1:] if weights is None else weights))
    return model


def predicted(model, x):
    return np.array(model.predict(x)).reshape((len(x),) + tuple(model.nodes[-1].shape))


def kernel(*shape):
    """TensorFlow's (height, width, channels, filters), counted, as odt's (filters, height, width, channels)."""
    return counted(*shape).transpose(len(shape) - 1, *range(len(shape) - 1)).ravel()


def ones(*shape):
    return np.ones(shape, "float32").ravel()


def plain(cls, *arguments, **options):
    return lambda: cls(*arguments, use_bias=False, **options)


# name: (input, layer, kernel, output)
VECTORS = {
    "testConv2D2x2FilterStride2Same": (
        (2, 3, 3), plain(odt.Conv2D, 3, 2, strides=2, padding="same"), kernel(2, 2, 3, 3),
        [2271, 2367, 2463, 1230, 1305, 1380],
    ),
    "testConv2DKernelSmallerThanStrideSame": (
        (4, 4, 1), plain(odt.Conv2D, 1, 2, strides=3, padding="same"), kernel(2, 2, 1, 1), [44, 28, 41, 16],
    ),
    "testConv2DKernelSmallerThanStrideSame, depthwise": (
        (4, 4, 1), plain(odt.DepthwiseConv2D, 2, strides=3, padding="same"), kernel(2, 2, 1, 1), [44, 28, 41, 16],
    ),
    "testConv2D2x2FilterStride1x2": (
        (3, 6, 1), plain(odt.Conv2D, 1, 2, strides=(1, 2)), kernel(2, 2, 1, 1), [58, 78, 98, 118, 138, 158],
    ),
    "testConv2DKernelSmallerThanStrideValid": (
        (7, 7, 1), plain(odt.Conv2D, 1, 2, strides=3), kernel(2, 2, 1, 1), [65, 95, 275, 305],
    ),
    "testMaxPoolSamePadding": (
        (2, 3, 3), lambda: odt.MaxPool2D(2, strides=2, padding="same"), None, [13, 14, 15, 16, 17, 18],
    ),
    "testMaxPoolSamePaddingNonSquareWindow": (
        (2, 2, 1), lambda: odt.MaxPool2D((1, 2), strides=1, padding="same"), None, [2, 2, 4, 4],
    ),
    "testAvgPoolSamePadding": (
        (2, 4, 3), lambda: odt.AvgPool2D(2, strides=2, padding="same"), None, [8.5, 9.5, 10.5, 14.5, 15.5, 16.5],
    ),
    "testAvgPoolSamePaddingNonSquareWindow": (
        (2, 2, 1), lambda: odt.AvgPool2D((1, 2), strides=1, padding="same"), None, [1.5, 2, 3.5, 4],
    ),
    "testAvgPoolSamePaddingNonSquareWindow_2": (
        (2, 2, 1), lambda: odt.AvgPool2D((2, 1), strides=1, padding="same"), None, [2, 3, 3, 4],
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", VECTORS)
def test_layers_and_twin_give_what_tensorflow_expects(name):
    shape, layer, weights, expected = VECTORS[name]
    x = counted(1, *shape)
    model = network(shape, layer(), None if weights is None else [weights])
    assert predicted(model, x).ravel().tolist() == expected
    assert Twin(model).forward(x).detach().numpy().ravel().tolist() == expected


def between(position, size):
    """Whether two windows of 3 at stride 2 overlap at an output position, in testConv2DTransposeSame."""
    return position % 2 == 0 and 0 < position < size - 1


def test_transposed_convolution_gives_what_tensorflow_expects():
    """testConv2DTransposeSame, testConv1DTransposeSame: of ones, with 3 channels."""
    model = network((6, 4, 3), odt.Conv2DTranspose(2, 3, strides=2, padding="same", use_bias=False), [ones(2, 3, 3, 3)])
    expected = np.zeros((1, 12, 8, 2))
    for h, w in itertools.product(range(12), range(8)):
        expected[0, h, w] = 3 * (1 + between(h, 12)) * (1 + between(w, 8))
    x = np.ones((1, 6, 4, 3), "float32")
    assert np.array_equal(predicted(model, x), expected)
    assert np.array_equal(Twin(model).forward(x).detach().numpy(), expected)
    model = network((4, 3), odt.Conv1DTranspose(2, 3, strides=2, padding="same", use_bias=False), [ones(2, 3, 3)])
    x = np.ones((1, 4, 3), "float32")
    assert predicted(model, x)[0, :, 0].tolist() == [3 * (1 + between(w, 8)) for w in range(8)]
    assert Twin(model).forward(x)[0, :, 0].tolist() == [3 * (1 + between(w, 8)) for w in range(8)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")
@pytest.mark.parametrize("size", (4, 5))
@pytest.mark.parametrize("taps", (1, 2, 3, 4))
@pytest.mark.parametrize("layer", ("Conv1D", "Conv2D", "DepthwiseConv2D"))
def test_convolution_of_stride_1_is_pytorchs_same(layer, taps, size):
    """``padding="same"``, which PyTorch has for stride 1 alone."""
    random = np.random.default_rng(10 * size + taps)
    shape = (size, 2) if layer == "Conv1D" else (size, size + 1, 2)
    made = {
        "Conv1D": lambda: odt.Conv1D(3, taps, padding="same"),
        "Conv2D": lambda: odt.Conv2D(3, (taps, 2), padding="same"),
        "DepthwiseConv2D": lambda: odt.DepthwiseConv2D((taps, 2), padding="same"),
    }[layer]()
    model = network(shape, made)
    x = random.normal(size=(1,) + shape).astype("float32")
    weights, bias = [torch.tensor(np.array(values)) for values in list(model.get_weights())[1:]]
    image = torch.tensor(x).movedim(-1, 1)
    weights = weights.reshape(model.nodes[-1].layer.weight_shapes()[0][1]).movedim(-1, 1)
    convolve = F.conv1d if layer == "Conv1D" else F.conv2d
    expected = convolve(image, weights, bias, padding="same", groups=2 if layer == "DepthwiseConv2D" else 1)
    np.testing.assert_allclose(predicted(model, x), expected.movedim(1, -1).numpy(), atol=1e-5)


LAYERS = {
    "Conv1D": lambda size, **how: odt.Conv1D(2, size, **how),
    "Conv2D": lambda size, **how: odt.Conv2D(2, (size, 2), **how),
    "groups": lambda size, **how: odt.Conv2D(2, (size, 3), groups=2, **how),
    "DepthwiseConv2D": lambda size, **how: odt.DepthwiseConv2D((size, 2), **how),
    "Conv1DTranspose": lambda size, **how: odt.Conv1DTranspose(2, size, **how),
    "Conv2DTranspose": lambda size, **how: odt.Conv2DTranspose(2, (size, 2), **how),
    "MaxPool1D": lambda size, **how: odt.MaxPool1D(size, **how),
    "MaxPool2D": lambda size, **how: odt.MaxPool2D((size, 2), **how),
    "AvgPool1D": lambda size, **how: odt.AvgPool1D(size, **how),
    "AvgPool2D": lambda size, **how: odt.AvgPool2D((size, 3), **how),
}


@pytest.mark.slow
@pytest.mark.parametrize("padding", ("same", "valid"))
@pytest.mark.parametrize("stride", (1, 2, 3))
@pytest.mark.parametrize("layer", LAYERS)
def test_windows_lie_where_the_twins_lie(layer, stride, padding):
    """Shapes and values, of odd and even images and windows."""
    random = np.random.default_rng(stride)
    for extent, taps in itertools.product((5, 6, 7), (2, 3)):
        shape = (extent, 2) if "1D" in layer else (extent, extent + 1, 2)
        model = network(shape, LAYERS[layer](taps, strides=stride, padding=padding))
        x = random.normal(size=(1,) + shape).astype("float32")
        expected = Twin(model).forward(x).detach().numpy()
        np.testing.assert_allclose(predicted(model, x), expected, atol=1e-5, err_msg="%s, %s" % (extent, taps))
