"""Networks of PyTorch become odt models: outputs, axes, BatchNorms, training after it, and what is refused by name."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from zoo import ZOO, Autoencoder, Series, close, data, exported, trained

import odt
from odt.host.convert import Unsupported, load


@pytest.mark.parametrize("batch_norm", ["fold", "keep"])
@pytest.mark.parametrize("kind", ZOO)
def test_float32_outputs_are_those_of_pytorch(kind, batch_norm):
    net, program = exported(kind)
    close(load(program, batch_norm=batch_norm), net, data(kind))


FUNCTIONS = {
    "hardtanh": nn.Hardtanh(0, 6),
    "clamp": lambda x: torch.clamp(x, 0, 6),
    "clamp_min": lambda x: torch.clamp_min(x, 0),
    "relu": nn.ReLU(),
    "relu6": nn.ReLU6(),
    "leaky_relu": nn.LeakyReLU(0.1),
    "sigmoid": nn.Sigmoid(),
    "tanh": nn.Tanh(),
    "silu": nn.SiLU(),
    "gelu": nn.GELU(),
    "far gelu": lambda x: nn.GELU()(7 * x),
    "elu": nn.ELU(1.5),
    "steep elu": nn.ELU(4.0),
    "negative elu": nn.ELU(-0.5),
    "selu": nn.SELU(),
    "celu": nn.CELU(0.3),
    "erf gelu": lambda x: 0.5 * x * (1 + torch.erf(x / 2**0.5)),
    "hardsigmoid": nn.Hardsigmoid(),
    "hardswish": nn.Hardswish(),
    "softmax": nn.Softmax(1),
    "plus": lambda x: 0.5 + x,
    "minus": lambda x: x - 0.5,
    "from": lambda x: 0.5 - x,
    "times": lambda x: x * 3,
    "over": lambda x: x / 3,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_function_of_one_value_is_pytorchs(name):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Linear(6, 9), nn.Linear(9, 4)

        def forward(self, x):
            return self.last(FUNCTIONS[name](self.first(x)))

    torch.manual_seed(0)
    net, x = Net().eval(), 5 * np.random.default_rng(1).normal(size=(20, 6)).astype(np.float32)
    close(load(torch.export.export(net, (torch.zeros(2, 6),))), net, x)


@pytest.mark.parametrize("kind", ZOO)
def test_training_goes_on_in_both_dtypes(kind):
    (net, program), x = exported(kind), data(kind, 16)
    for dtype in ("float32", "int8"):
        model = load(program, calibrate=x, dtype=dtype, optimizer=odt.Adam(0.002), batch_size=8)
        target = net(torch.from_numpy(x)).detach().numpy()
        x_odt = model.imported.samples(x)
        y = target.argmax(1).astype("uint8")[::-1].copy() if target.ndim == 2 else np.zeros_like(model.predict(x_odt))
        losses = model.fit(x_odt, y, epochs=4, verbose=0).history["loss"]
        assert losses[-1] < losses[0], dtype


@pytest.fixture
def executors():
    """Calls odt.executor.use; what was used before is used again."""
    before = odt.executor.backend
    yield odt.executor.use
    odt.executor.use(before)


@pytest.mark.parametrize("kind", (Series, Autoencoder))
def test_paddings_that_keras_has_no_word_for_give_equal_bits_in_both_executors_and_from_a_file(
    kind, tmp_path, executors
):
    program, x = exported(kind)[1], data(kind, 4)
    model = load(program, calibrate=x, optimizer="sgd", batch_size=4, seed=1)
    x = model.imported.samples(x)
    y = np.zeros(4, "uint8") if kind is Series else np.zeros_like(model.predict(x))
    model.export(tmp_path / "model.odt")
    digests = []
    for name in ("reference", odt.backend):
        executors(name)
        opened = odt.load_model(str(tmp_path / "model.odt"))
        opened.fit(x, y, verbose=0)
        digests.append(opened.digest())
    model.fit(x, y, verbose=0)
    assert digests == [model.digest()] * 2


@pytest.fixture
def digits():
    return trained()


@pytest.mark.parametrize("train", ["all", "last", "none"])
def test_int8_digits_stay_within_a_point_of_float_and_learn_on(digits, train):
    net, x, y = digits
    pixels = {"dtype": "uint8", "scale": 1 / 16}
    model = load(net, calibrate=x[:200], input=pixels, train=train, optimizer=odt.Adam(0.001))
    expected = net(torch.from_numpy(x[1000:] / 16).float()).argmax(1).numpy()
    samples = model.imported.samples(x)
    classes = np.array(model.predict_classes(samples[1000:]))
    assert np.mean(classes == expected) >= 0.985
    before = model.evaluate(samples[1000:], y[1000:])[1]
    assert before >= np.mean(expected == y[1000:]) - 0.01
    if train != "none":
        model.fit(samples[:1000], y[:1000], epochs=2, verbose=0)
        assert model.evaluate(samples[1000:], y[1000:])[1] > before
    kinds = {layer.name: layer.trainable for layer in model.layers if layer.weight_shapes()}
    assert list(kinds.values()) == {"all": [True] * 3, "last": [False, False, True], "none": [False] * 3}[train]


def test_a_batchnorm_is_folded_or_trains_on(digits):
    net = digits[0]
    folded = [type(layer).__name__ for layer in load(net, (1, 8, 8)).layers]
    kept = [type(layer).__name__ for layer in load(net, (1, 8, 8), batch_norm="keep").layers]
    assert "BatchNorm" not in folded and kept.count("BatchNorm") == 1
    with pytest.raises(ValueError, match="batch_norm"):
        load(net, (1, 8, 8), batch_norm="drop")


def test_the_module_is_left_as_it_was(digits):
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2)).train()
    net[1].eval()
    before = [value.clone() for value in net.state_dict().values()]
    load(net, (1, 5, 5))
    assert net.training and net[0].training and not net[1].training
    assert all(torch.equal(a, b) for a, b in zip(before, net.state_dict().values()))


class Two(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.a, self.b, self.function = nn.Conv2d(2, 2, 3, padding=1), nn.Linear(4, 4), function

    def forward(self, x):
        return self.function(self, x)


class Shuffled(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv1d(3, 4, 3, padding=1)
        self.b = nn.Linear(6, 2)

    def forward(self, x):
        return self.b(self.a(x))


def _without_gradient(s, x):
    with torch.no_grad():
        return s.a(x)


def _halved(x):
    half = x[:, :, 2:]
    x.relu_()
    return x[:, :, :2] + half


REFUSED = {
    "dilation": (
        lambda s, x: F.conv2d(x, s.a.weight, stride=2, padding=2, dilation=2),
        r"conv2d.*strides \(2, 2\) and dilation \(2, 2\)",
    ),
    "pooled": (lambda s, x: F.max_pool2d(x, 2, 1, dilation=2), r"max_pool2d.*dilation \(2, 2\)"),
    "shared": (lambda s, x: s.a(s.a(x)), r"node conv2d_1 .*shares weights with node conv2d;"),
    "outputs": (lambda s, x: (s.a(x), x), "2 outputs"),
    "batch": (lambda s, x: s.a(x).flatten(), "node flatten .*one result per sample"),
    "transposed": (lambda s, x: s.b(s.a(x)), r"node linear .*transposition"),
    "softmax": (lambda s, x: F.log_softmax(s.a(x), 1), "cross-entropy contains it"),
    "corners": (
        lambda s, x: F.interpolate(s.a(x), scale_factor=2, mode="bilinear", align_corners=True),
        "upsample_bilinear2d.*has align_corners=True; instead: align_corners=False",
    ),
    "reflect": (lambda s, x: s.a(F.pad(x, (1, 1, 1, 1), "reflect")), "node pad .*reflect.*zeros"),
    "lost": (lambda s, x: s.b(torch.ones(1, 4)), "the output does not depend on the input"),
    "random": (lambda s, x: s.a(x) + torch.rand(4), "node rand .*the same each time.*a buffer"),
    "clamp": (lambda s, x: torch.clamp(s.a(x), 1, -1), r"clamp.*1 \.\. -1.*below the upper"),
    "large": (lambda s, x: s.a(x) + torch.zeros(9, 1 << 20).sum(), r"node zeros .*\(9, 1048576\), above 8388608"),
    "matrices": (lambda s, x: torch.matmul(x, s.a(x)), "matmul.*multiplies .*; instead: queries, keys and values"),
    "uneven": (lambda s, x: F.adaptive_max_pool2d(s.a(x), 3), r"divides \(4, 4\) into \(3, 3\) windows"),
    "nearest": (lambda s, x: F.interpolate(s.a(x), (6, 6)), "enlarges .*whole factors"),
    "linear": (lambda s, x: F.interpolate(s.a(x), (6, 6), mode="bilinear"), "enlarges .*whole factors"),
    "softmax of the batch": (lambda s, x: F.softmax(s.a(x), 0), "works along the batch"),
    "stack": (lambda s, x: torch.stack([x, torch.ones(3, 2, 4, 4)], 1), "stacks batches, or constants"),
    "limit": (lambda s, x: torch.clamp(x, min=s.a(x)), "min is computed of the sample; instead: a constant"),
    "limits": (lambda s, x: torch.clamp(s.a(x), min=torch.ones(4)), "min has 4 numbers; instead: one number"),
    "whole": (lambda s, x: s.a(x).int(), "makes torch.int32; instead: float32 throughout"),
    "kernel": (lambda s, x: F.linear(x, s.a(x).mean((0, 1))), "node mean .*one result per sample"),
    "moved": (lambda s, x: s.a(x).transpose(0, 2)[:3], "node slice_1 .*one result per sample"),
    "state": (
        lambda s, x: s.a(x) * s.b.bias.detach().mul_(2)[:1],
        "node mul_ .*changes b.bias, which the next call finds",
    ),
    "no_grad": (_without_gradient, "wrap_with_set_grad_enabled.*a forward without torch.no_grad"),
    "in place": (lambda s, x: _halved(s.a(x)), "node relu_ .*changes a tensor in place, which node slice_1 shows too"),
    "data": (lambda s, x: s.a(x) if x.sum() > 0 else x, "torch.export of the module for samples of"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_odt_has_not_is_named_with_its_node(name):
    function, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        load(Two(function), (2, 4, 4))


def test_weights_that_are_not_finite_are_named():
    net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    net[1].weight.data[1, 2] = float("nan")
    with pytest.raises(ValueError, match=r"node linear_1 .*kernel, number 6 is .*nan.*1 of 8"):
        load(net, (3,))


def test_data_that_do_not_fit_are_named(digits):
    net, x, _ = digits
    floats = (x[:20] / 16).astype("float32")
    with pytest.raises(ValueError, match="calibrate: samples are needed"):
        load(net, (1, 8, 8), dtype="int8")
    with pytest.raises(ValueError, match=r"\(1, 8, 8\) in the source and \(8, 8, 1\) in odt, got .*\(20, 1, 4, 16\)"):
        load(net, (1, 8, 8), calibrate=floats.reshape(20, 1, 4, 16))
    with pytest.raises(ValueError, match="40 of 1280 numbers are NaN"):
        load(net, calibrate=np.where(np.arange(1280).reshape(floats.shape) < 40, np.nan, floats))
    with pytest.raises(ValueError, match="the input's dtype is uint8, got float32"):
        load(net, calibrate=floats, input={"dtype": "uint8"})
    with pytest.raises(ValueError, match="shape: of one sample"):
        load(net)
    with pytest.raises(ValueError, match="torch.export of the module for samples of"):
        load(net, (3, 8, 8))
    with pytest.raises(ValueError, match="sizes of at least 1 are expected"):
        load(net, (1, 0, 8))
    with pytest.raises(ValueError, match="above 8388608 numbers"):
        load(net, (1, 1 << 12, 1 << 12))
    with pytest.raises(TypeError, match="an nn.Module or a file's name"):
        load(3)
    with pytest.raises(KeyError, match="no layer with weights is called 'nine'"):
        load(net, (1, 8, 8), train=["nine"])


@pytest.mark.parametrize("name", ["net.pt", "net.pth", "net.pt2", "net.pkl"])
def test_a_file_that_may_hold_code_is_not_opened(name):
    with pytest.raises(ValueError, match="not executed.*weights_only=True"):
        load(name)


def test_a_layout_may_be_either_where_shapes_tell(digits):
    net, x, _ = digits
    floats = (x[:50] / 16).astype("float32")
    first, last = load(net, (1, 8, 8), calibrate=floats), load(net, (1, 8, 8), calibrate=np.moveaxis(floats, 1, -1))
    assert first.digest() == last.digest()
    assert issubclass(Unsupported, ValueError)
