"""Normalisation layers, as layers.py has the others.

All have one arithmetic, of tensors [M][S][G][C]: the S * C numbers of a group get mean 0 and variance 1.
Which numbers form a group is the layer's.
"""

from ..base.fixed import elements, is_number, own, scale_div, scale_int
from ..base.primitives import millionths, scale_of, size_of
from . import Layer


class _Norm(Layer):
    """Statistics of one sample, by group."""

    family = "norm"
    can_clamp = True
    normalises = True

    def __init__(self, epsilon, name, trainable):
        super().__init__(name, trainable)
        kind = type(self).__name__
        epsilon = own(epsilon)
        if not is_number(epsilon):
            raise TypeError("%s: epsilon is a number, got %r" % (kind, epsilon))
        if not 1e-12 <= epsilon <= 1:
            raise ValueError("%s: epsilon is in 1e-12..1, got %r" % (kind, epsilon))
        self.epsilon = scale_of(epsilon)
        self.bits = 0  # the planner's

    def build(self, shapes):
        shape = shapes[0]
        self.channels = shape[-1]
        self.positions = elements(shape[:-1])
        self.macs = 2 * self.positions * self.channels
        return shape

    def weight_shapes(self):
        return [(name, (self.channels,)) for name in ("gamma", "beta")]


class LayerNorm(_Norm):
    """Each position's numbers along the last axis to mean 0 and variance 1, times gamma, plus beta.

    Gamma (first 1) and beta (first 0) have one number per channel and train; in int8 they are int32 times
    2^-20 (Ba et al. 2016; Keras's LayerNormalization). Where an image is flat its tiny deviation multiplies errors: in
    int8 GroupNorm(1), or an epsilon of 0.03, comes nearer to float32 (docs/reference/numerics.md).
    """

    kind = "layernorm"

    def __init__(self, epsilon: "float" = 1e-3, name: "str | None" = None, trainable: "bool" = True) -> None:
        super().__init__(epsilon, name, trainable)

    def build(self, shapes):
        if shapes[0][-1] < 2:
            self.wrong_shape(shapes[0], "at least 2 channels")
        return super().build(shapes)

    def groups_of(self, batch):
        """M S G C of the tensor."""
        return (batch * self.positions, 1, 1, self.channels)


class GroupNorm(_Norm):
    """As LayerNorm, over all positions of a sample and the channels of a group (Wu and He 2018).

    ``groups=1`` takes all channels together, ``groups=channels`` each alone (instance normalisation).
    """

    kind = "groupnorm"

    def __init__(
        self, groups: "int", epsilon: "float" = 1e-3, name: "str | None" = None, trainable: "bool" = True
    ) -> None:
        super().__init__(epsilon, name, trainable)
        self.groups = size_of("GroupNorm", "groups", groups)

    def build(self, shapes):
        shape = super().build(shapes)
        if self.channels % self.groups:
            self.wrong_shape(shape, "channels that are a multiple of %d groups" % self.groups)
        if self.positions * self.channels == self.groups:
            self.wrong_shape(shape, "at least 2 numbers in a group")
        return shape

    def groups_of(self, batch):
        return (batch, self.positions, self.groups, self.channels // self.groups)


class BatchNorm(_Norm):
    """Each channel to mean 0 and variance 1, times gamma, plus beta (Ioffe and Szegedy 2015).

    In training by the statistics of the batch (of each micro-batch where it comes in such: then larger
    micro-batches are other mathematics, not only more memory), which a running mean and variance follow:
    ``moving = momentum * moving + (1 - momentum) * batch``. ``evaluate`` and ``predict`` use these.

    ``trainable=False``: so does training. The layer is then folded into the frozen Dense or convolution
    that it alone follows, and costs nothing; after anything else it is computed. Of a folded layer
    ``get_weights`` gives the identity, and the kernel before it holds the product.

    As the first layer of an int8 model with an Input of float32, int16 or int32, without ``limit``, its running
    statistics are what samples are read by, so that features of any unit have their steps; they begin as those of the
    data that ``fit`` (or ``calibrate``) sees first. Then a Normalization is not needed.

    Weights: gamma, beta, moving_mean, moving_variance (the variance of the batch, not the estimate with
    n - 1). ``momentum`` is PyTorch's 1 - 0.1; with Keras's 0.99 a few hundred steps are too few.
    """

    kind = "batchnorm"
    repeatable = False

    def __init__(
        self, momentum: "float" = 0.9, epsilon: "float" = 1e-3, name: "str | None" = None, trainable: "bool" = True
    ) -> None:
        super().__init__(epsilon, name, trainable)
        momentum = own(momentum)
        if not is_number(momentum):
            raise TypeError("BatchNorm: momentum is a number, got %r" % (momentum,))
        if not 0.0001 <= momentum <= 0.9999:
            raise ValueError("BatchNorm: momentum is in 0.0001..0.9999, got %r" % (momentum,))
        self.momentum = momentum
        part = millionths(momentum)
        million = scale_int(1000000)
        self.keep = scale_div(scale_int(part), million)
        self.rest = scale_div(scale_int(1000000 - part), million)

    def groups_of(self, batch):
        return (1, batch * self.positions, self.channels, 1)

    def weight_shapes(self):
        names = ("moving_mean", "moving_variance")
        return super().weight_shapes() + [(name, (self.channels,)) for name in names]
