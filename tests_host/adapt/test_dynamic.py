"""Dynamic sparse updates: which channels a step chooses, and that it is exact for them."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from twin import Twin
from update_cases import OPTIMIZERS, X, Y, network, weights

import odt
from odt.adapt import update
from odt.reference import dynamic


def compiled(minimum, maximum, optimizer, dtype, batch=8):
    model = network()
    update.dynamic(model, minimum, maximum)
    model.compile(optimizer, dtype=dtype, batch_size=batch, seed=4)
    return model


@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("optimizer", sorted(OPTIMIZERS))
def test_all_channels_are_the_update_of_the_whole_network(optimizer, dtype):
    model = compiled(1, 1, OPTIMIZERS[optimizer](), dtype)
    whole = network()
    whole.compile(OPTIMIZERS[optimizer](), dtype=dtype, batch_size=8, seed=4)
    for _ in range(6):
        model.train_step(X[:8], Y[:8])
        whole.train_step(X[:8], Y[:8])
    for ours, theirs in zip(weights(model), weights(whole)):
        assert (ours == theirs).all()


class Largest(torch.autograd.Function):
    """The error of the channels with the largest sum of magnitudes alone; `count` of the last axis."""

    @staticmethod
    def forward(ctx, x, count):
        ctx.count = count
        return x.clone()

    @staticmethod
    def backward(ctx, error):
        sums = error.abs().reshape(-1, error.shape[-1]).sum(0)
        kept = torch.zeros_like(sums)
        kept[sums.argsort(descending=True, stable=True)[: ctx.count]] = 1
        return error * kept, None


class Sparse(Twin):
    """Weights' gradients of the chosen channels; biases', and those of the last layer, of all."""

    def __init__(self, model, share):
        super().__init__(model, torch.float32)
        self.share = share

    def _layer(self, node, inputs):
        layer = node.layer
        if layer.kernel_shape is None or node is self.nodes[-1]:
            return super()._layer(node, inputs)
        kernel, bias = self.parameters[node]
        self.parameters[node] = [kernel, torch.zeros_like(bias)]
        relu, layer.activation = getattr(layer, "activation", None), None
        y = super()._layer(node, inputs)
        self.parameters[node] = [kernel, bias]
        layer.activation = relu
        return Largest.apply(y, max(1, int(self.share * layer.kernel_shape[0]))) + bias


@pytest.mark.parametrize("share", (0.125, 0.3, 0.75))
def test_a_float32_step_is_that_of_the_masked_error_in_pytorch(share):
    model = compiled(share, share, odt.SGD(0.1), "float32")
    twin = Sparse(model, share)
    loss = F.cross_entropy(twin.forward(X[:8]), torch.tensor(Y[:8].astype("int64")))
    loss.backward()
    before = weights(model)
    model.train_step(X[:8], Y[:8])
    for old, new, tensor in zip(before, weights(model), twin.flat_parameters()):
        expected = -0.1 * tensor.grad.numpy()
        assert np.abs((new - old).reshape(expected.shape) - expected).max() < 1e-5 * max(np.abs(expected).max(), 1)
        changed = np.abs((new - old).reshape(len(new), -1)).sum(1) > 0
        assert changed.sum() == (np.abs(expected.reshape(len(new), -1)).sum(1) > 0).sum()


def test_int8_weights_of_other_channels_stay():
    model = compiled(0.1, 0.5, odt.SGD(0.05, 0.9), "int8")
    model.train_step(X[:8], Y[:8])
    before = weights(model)
    model.train_step(X[8:16], Y[8:16])
    for old, new in list(zip(before, weights(model)))[:-2:2]:
        moved = (new != old).reshape(len(new), -1).any(1)
        assert 0 < moved.sum() <= max(1, len(new) // 2)


class Operands:
    def __init__(self, **values):
        self.__dict__.update(values)


@pytest.mark.parametrize("ratio, count", ((65536, 20), (0, 2), (32768, 11), (1000, 2), (200000, 20)))
def test_the_share_follows_the_relative_error(ratio, count):
    """k = max(floor(min(0.1 + ratio * 0.9, 1) * N), 1): Deutel et al., 2024."""
    e = np.random.default_rng(ratio).integers(-127, 128, (5, 20))
    o = Operands(count=[0], rows=[0] * 20, sums=[0] * 20, e=e.ravel().tolist(), ratio=[ratio], M=5, N=20, R=20)
    o.low, o.high = 6554, 65536
    dynamic.rank_i8(o)
    sums = np.abs(e).sum(0)
    assert o.count[0] == count
    assert sorted(sums[o.rows[:count]]) == sorted(sums)[20 - count :]
    assert (np.diff(o.rows[:count]) > 0).all()


def test_weights_that_outgrow_their_scale_do_so_though_the_last_row_is_not_chosen():
    """Two outputs, the first of which has all the error: its row is limited, all rows get a new scale."""
    model = odt.Sequential([odt.Input((3,)), odt.Dense(6), odt.Dense(2), odt.Dense(2, use_bias=False, name="same")])
    update.dynamic(model, 0.5, 0.5)
    model.nodes[-1].layer.trainable = False
    model.compile(odt.SGD(60.0), "mse", batch_size=2, seed=3)
    model.set_weights(model.get_weights()[:-1] + [[1, 0, 0, 1]])
    x, y = np.full((2, 3), 1.0, "float32"), np.array([[900.0, 0], [900.0, 0]], "float32")
    model.train_step(x, y)
    before = weights(model)
    model.train_step(x, y)
    after = weights(model)
    assert np.abs(after[2][0]).max() > 1.5 * np.abs(before[2]).max()
    step = np.abs(after[2]).max() / 127
    assert np.abs(after[2][1] - before[2][1]).max() <= step


@pytest.mark.parametrize(
    "arguments, message",
    (((0, 1), "minimum is above 0 and at most 1, got 0"), ((0.5, 2), "maximum is above 0"),
    ((0.5, 0.2), "minimum is at most maximum"),
     (("a", 1), "minimum is above 0")),
)  # fmt: skip
def test_shares_that_are_none_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        update.dynamic(network(), *arguments)


@pytest.mark.parametrize("options", ({"micro_batch": 2}, {"optimizer": odt.SGD(0.1, global_clipnorm=1.0)}))
def test_what_needs_whole_gradients_is_refused(options):
    model = network()
    update.dynamic(model)
    with pytest.raises(ValueError, match="micro_batch nor global_clipnorm"):
        model.compile(**dict({"optimizer": "adam", "batch_size": 4}, **options))


def test_the_next_policy_replaces_it():
    model = network()
    update.dynamic(model)
    update.whole(model)
    model.compile("adam", batch_size=4)
    assert "rank" not in model.disassemble()


def test_a_step_is_watched_profiled_and_traced_as_any_other():
    model = compiled(0.2, 1, odt.Adam(0.01), "int8")
    with odt.inspect.Phases(model, []):
        model.train_step(X[:8], Y[:8])
    rows = odt.inspect.profile(model, X[:8], Y[:8])
    assert [row[0] for row in rows][:2] == ["input", "first"]
    assert "few conv2d_dw_i8" in " ".join(model.disassemble().split()) or "few" in model.disassemble()
