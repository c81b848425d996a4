"""Small networks as people write them, by torch.export and by PyTorch's two exporters to ONNX: equal, or refused in one
sentence.
"""

import warnings

import numpy as np
import onnxruntime
import pytest
import torch
from exporting import quick  # noqa: F401
from torch import nn
from torch.nn import functional as F

import odt
from odt.host.convert import Unsupported, load

torch.set_num_threads(1)


class Net(nn.Module):
    """Layers by name, and a function of them and the samples."""

    def __init__(self, shape, function, **layers):
        super().__init__()
        self.shape, self.function = shape, function
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, x):
        return self.function(self, x)


def sequence(shape, *layers):
    return Net(shape, lambda s, x: s.all(x), all=nn.Sequential(*layers))


def block(dilation, pad):
    return Net((), lambda s, x: F.relu(s.c(x)[:, :, :-pad]) + x, c=nn.Conv1d(4, 4, 3, padding=pad, dilation=dilation))


def _scaled(s, x):
    mean, deviation = torch.tensor([0.1, 0.2, 0.3]).view(1, 3, 1, 1), torch.full((3,), 0.5)
    return s.c((x - mean) / (deviation.reshape(-1, 1, 1) * torch.arange(1, 4).float()[:, None, None]))


def _in_place(s, x):
    a = s.a(x)
    b = s.b(a).relu_()
    a.mul_(2)
    b += a
    return b


def _pooled(s, x):
    x = s.a(x)
    return s.b(torch.cat([x.mean(-1), x.amax(2), x[..., -1]], 1))


def _gated(s, x):
    a, b = s.a(x).chunk(2, 1)
    return s.b(torch.tanh(a) * torch.sigmoid(b)).flatten(1)


def _arithmetic(s, x):
    a, b = s.a(x), s.b(x)
    return torch.maximum(a - b, -b).abs() + torch.minimum(a, b) - s.c(x) ** 2


def _parts(s, x):
    first, second, third = torch.split(s.a(x), [2, 3, 1], 1)
    return torch.cat([second, first * third], 1)


def _frames(s, x):
    x = s.a(x)
    return s.b(torch.stack([x[:, :, 0], x[:, :, 3], x[:, :, -1]], 1).flatten(1))


def _by_hand(s, x):
    """Attention as people write it, (batch, heads, steps, width)."""
    batch, steps, width = x.shape
    query, key, value = [each.view(batch, steps, 2, width // 2).transpose(1, 2) for each in s.a(x).split(width, 2)]
    scores = (query @ key.transpose(-2, -1)) / s.root
    weights = scores.masked_fill(torch.tril(torch.ones(steps, steps)) == 0, float("-inf")).softmax(-1)
    return s.b((weights @ value).transpose(1, 2).reshape(batch, steps, width))


def _heads(s, x):
    query, key, value = [part(x).unflatten(2, (2, 3)).permute(0, 2, 1, 3) for part in (s.q, s.k, s.v)]
    mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True, scale=s.scale, dropout_p=s.rate)
    return s.o(mixed.transpose(1, 2).flatten(2)).relu().mean(1)


def _looked(s, x, query):
    return s.o((query @ s.k(x).transpose(1, 2) / 2).softmax(-1) @ s.v(x))


def _added(s, x):
    query = s.q(x)
    return _looked(s, x, query) + query


def _again(s, x):
    return _looked(s, x, s.q(x)) + s.q(x).relu()


def _masked(mask):
    return lambda s, x: s.a(x, x, x, attn_mask=mask)[0]


def by_hand(root):
    made = Net((6, 4), _by_hand, a=nn.Linear(4, 12), b=nn.Linear(4, 4))
    made.root = root
    return made


def heads(scale=None, rate=0.0):
    parts = {"q": nn.Linear(4, 6), "k": nn.Linear(4, 6, bias=False), "v": nn.Linear(4, 6), "o": nn.Linear(6, 4)}
    made = Net((6, 4), _heads, **parts)
    made.scale, made.rate = scale, rate
    return made


def attending(function, **options):
    return Net((6, 4), function, a=nn.MultiheadAttention(4, 2, batch_first=True, **options))


def positioned():
    made = Net((6, 4), lambda s, x: s.a(x + s.p), a=nn.TransformerEncoderLayer(4, 2, 8, batch_first=True))
    made.p = nn.Parameter(torch.randn(1, 6, 4))
    return made


LATER = nn.Transformer.generate_square_subsequent_mask(6)
ATTENTION = {
    "attention alone": lambda: attending(lambda s, x: s.a(x, x, x, need_weights=False)[0], bias=False),
    "causal attention": lambda: attending(_masked(LATER)),
    "causal heads": lambda: attending(
        lambda s, x: s.a(x, x, x, need_weights=False, is_causal=True, attn_mask=LATER)[0]),
    "mask of zeros": lambda: attending(_masked(torch.zeros(6, 6))),
    "two steps look": lambda: attending(lambda s, x: s.a(x[:, :2], x, x)[0]),
    "encoder": lambda: sequence((6, 3), nn.Linear(3, 4), nn.TransformerEncoder(nn.TransformerEncoderLayer(
        4, 2, 8, activation="gelu", batch_first=True, norm_first=True), 2, enable_nested_tensor=False), nn.Flatten(),
        nn.Linear(24, 3)),
    "positions that train": positioned,
    "attention by hand": lambda: by_hand(2**0.5),
    "heads": heads,
    # These are refused.
    "mask of earlier steps": lambda: attending(_masked(LATER.T)),
    "another root": lambda: by_hand(2),
    "another scale": lambda: heads(1.0),
    "dropout of weights": lambda: heads(None, 0.2),
    "attention twice": lambda: attending(lambda s, x: s.a(s.a(x, x, x)[0], x, x)[0]),
    "weights of attention": lambda: attending(lambda s, x: s.a(x, x, x)[1]),
    "without projections": lambda: Net((6, 4), lambda s, x: s.o((x @ x.transpose(1, 2)).softmax(-1) @ x),
                                       o=nn.Linear(4, 4)),
    "one projection for both": lambda: Net(
        (6, 4), lambda s, x: s.o((s.a(x) @ s.a(x).transpose(1, 2) / 2).softmax(-1) @ s.v(x)), a=nn.Linear(4, 4),
        v=nn.Linear(4, 4), o=nn.Linear(4, 4)),
    "a query that is made again": lambda: Net((6, 4), _again, q=nn.Linear(4, 4), k=nn.Linear(4, 4), v=nn.Linear(4, 4),
                                              o=nn.Linear(4, 4)),
    "a query that is added": lambda: Net((6, 4), _added, q=nn.Linear(4, 4), k=nn.Linear(4, 4), v=nn.Linear(4, 4),
                                         o=nn.Linear(4, 4)),
    "time first attention": lambda: Net((6, 4), lambda s, x: s.a(x, x, x)[0], a=nn.MultiheadAttention(4, 2)),
}  # fmt: skip

IMAGE, SERIES, ROWS = (3, 8, 8), (3, 20), (10, 5)
# name: how it is made; what is refused is in REFUSED with what the message says.
NETWORKS = {
    "mlp": lambda: sequence((7,), nn.Linear(7, 9), nn.Tanh(), nn.Linear(9, 3), nn.Softmax(-1)),
    "regression": lambda: Net((7,), lambda s, x: s.b(F.silu(s.a(x))).squeeze(-1) * 2, a=nn.Linear(7, 9),
    b=nn.Linear(9, 1)),
    "cnn": lambda: sequence(IMAGE, nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
    nn.Linear(36, 3)),
    "depthwise": lambda: sequence(IMAGE, nn.Conv2d(3, 6, 3, 2, 1, groups=3), nn.ReLU6(), nn.Conv2d(6, 4, 1),
    nn.AdaptiveAvgPool2d(1), nn.Flatten()),
    "resnet in place": lambda: Net(IMAGE, _in_place, a=nn.Conv2d(3, 4, 1), b=nn.Conv2d(4, 4, 3, padding=1)),
    "weight_norm": lambda: sequence((5,), nn.utils.parametrizations.weight_norm(nn.Linear(5, 4)), nn.ReLU(),
    nn.Linear(4, 2)),
    "spectral_norm": lambda: sequence(IMAGE, nn.utils.parametrizations.spectral_norm(nn.Conv2d(3, 4, 3)), nn.ReLU(),
    nn.Conv2d(4, 2, 1)),
    "constants in forward": lambda: Net(IMAGE, _scaled, c=nn.Conv2d(3, 4, 3)),
    "casts": lambda: Net((4,), lambda s, x: s.a(x.float() * torch.tensor([1, 2, 3, 4]).to(x.dtype)) + torch.ones(3,
    dtype=torch.int64), a=nn.Linear(4, 3)),
    "causal": lambda: Net(SERIES, lambda s, x: s.b(F.relu(s.a(F.pad(x, (2, 0)))))[:, :, -1], a=nn.Conv1d(3, 4, 3),
    b=nn.Conv1d(4, 2, 1)),
    "chomped": lambda: sequence(SERIES, nn.Conv1d(3, 4, 1), block(1, 2), nn.AdaptiveAvgPool1d(1), nn.Flatten()),
    "several pools": lambda: Net(SERIES, _pooled, a=nn.Conv1d(3, 4, 3), b=nn.Linear(12, 3)),
    "gated": lambda: Net(SERIES, _gated, a=nn.Conv1d(3, 8, 3), b=nn.Conv1d(4, 1, 1)),
    "glu": lambda: sequence(SERIES, nn.Conv1d(3, 8, 3), nn.GLU(1), nn.Conv1d(4, 2, 1)),
    "parts": lambda: Net((5,), _parts, a=nn.Linear(5, 6)),
    "parts of channels": lambda: Net(IMAGE, lambda s, x: s.b(torch.cat([x[:, 1:], s.a(x[:, :1])], 1)),
    a=nn.Conv2d(1, 2, 1), b=nn.Conv2d(4, 2, 3)),
    "frames": lambda: Net(SERIES, _frames, a=nn.Conv1d(3, 4, 3), b=nn.Linear(12, 3)),
    "every second": lambda: Net(IMAGE, lambda s, x: s.b(s.a(x)[:, :, 1::2, ::2]), a=nn.Conv2d(3, 4, 3, padding=1),
    b=nn.Conv2d(4, 2, 3)),
    "mean of rows": lambda: Net(ROWS, lambda s, x: s.b(F.relu(s.a(x)).mean(1)), a=nn.Linear(5, 6), b=nn.Linear(6, 2)),
    "mean of an axis": lambda: Net(IMAGE, lambda s, x: s.b(s.a(x).mean(3).flatten(1)), a=nn.Conv2d(3, 4, 3),
    b=nn.Linear(24, 2)),
    "mean of channels": lambda: Net(IMAGE, lambda s, x: s.a(x).mean(1, keepdim=True), a=nn.Conv2d(3, 4, 3)),
    "sum and least": lambda: Net(SERIES, lambda s, x: s.a(x).sum(2) - s.b(x).amin(-1), a=nn.Conv1d(3, 4, 3),
    b=nn.Conv1d(3, 4, 1)),
    "largest": lambda: Net(SERIES, lambda s, x: s.a(x).max(2)[0], a=nn.Conv1d(3, 4, 3)),
    "bilinear": lambda: sequence(IMAGE, nn.Conv2d(3, 4, 3, 2, 1), nn.Upsample(scale_factor=2, mode="bilinear"),
    nn.Conv2d(4, 2, 3)),
    "bilinear by 3": lambda: Net((2, 3, 4), lambda s, x: F.interpolate(s.a(x), (9, 8), mode="bilinear"),
    a=nn.Conv2d(2, 3, 1)),
    "linear": lambda: sequence((3, 5), nn.Conv1d(3, 4, 1), nn.Upsample(scale_factor=4, mode="linear")),
    "nearest": lambda: Net(IMAGE, lambda s, x: F.interpolate(F.interpolate(s.a(x), scale_factor=0.5), scale_factor=3),
    a=nn.Conv2d(3, 2, 1)),
    "prelu": lambda: sequence(IMAGE, nn.Conv2d(3, 4, 3), nn.PReLU(), nn.Conv2d(4, 4, 3), prelu(4), nn.Conv2d(4, 2, 1)),
    "tanh gelu": lambda: sequence((7,), nn.Linear(7, 9), nn.GELU("tanh"), nn.Linear(9, 3)),
    "elus": lambda: sequence((7,), nn.Linear(7, 9), nn.ELU(0.5), nn.Linear(9, 8), nn.SELU(), nn.Linear(8, 6),
    nn.CELU(2.0), nn.Linear(6, 3)),
    "gelus": lambda: sequence(IMAGE, nn.Conv2d(3, 6, 3), nn.GELU(), nn.Conv2d(6, 6, 3, groups=6), nn.GELU(),
    nn.Flatten(), nn.Linear(96, 3)),
    "erf": lambda: Net((7,), lambda s, x: s.b(torch.erf(s.a(x))), a=nn.Linear(7, 9), b=nn.Linear(9, 3)),
    "clamped": lambda: Net((7,), lambda s, x: torch.clamp(s.b(F.hardtanh(s.a(x)).clip(-0.5)), max=0.25),
    a=nn.Linear(7, 9), b=nn.Linear(9, 3)),
    "arithmetic": lambda: Net((7,), _arithmetic, a=nn.Linear(7, 3), b=nn.Linear(7, 3), c=nn.Linear(7, 3)),
    "broadcast": lambda: Net(IMAGE, lambda s, x: x * torch.sigmoid(s.a(x)) + s.b(x).mean((1, 2), keepdim=True),
    a=nn.Conv2d(3, 1, 1), b=nn.Conv2d(3, 4, 1)),
    "along the height": lambda: Net(IMAGE, lambda s, x: s.b(torch.cat([x, s.a(x)], 2)), a=nn.Conv2d(3, 3, 3, (2, 1), 1),
    b=nn.Conv2d(3, 2, 3)),
    "along the time": lambda: Net(SERIES, lambda s, x: torch.cat([x, s.a(x)], -1).sum(1), a=nn.Conv1d(3, 3, 3)),
    "norms": lambda: Net(ROWS, lambda s, x: s.b(s.n(F.relu(s.a(x))).flatten(1)), a=nn.Linear(5, 6), n=nn.LayerNorm(6),
    b=nn.Linear(60, 2)),
    "group norm": lambda: sequence(IMAGE, nn.Conv2d(3, 4, 3), nn.GroupNorm(2, 4), nn.SiLU(),
    nn.InstanceNorm2d(4, affine=True), nn.Conv2d(4, 2, 3)),
    "decoder": lambda: sequence((6,), nn.Linear(6, 48), nn.ReLU(), nn.Unflatten(1, (3, 4, 4)),
    nn.ConvTranspose2d(3, 2, 3, 2, 1, 1), nn.Sigmoid()),
    "matrix": lambda: Net((7,), lambda s, x: x @ s.w.weight.T @ torch.eye(3) + 1, w=nn.Linear(7, 3)),
    "mobile": lambda: sequence(IMAGE, nn.Conv2d(3, 6, 3, 2, 1, bias=False), nn.BatchNorm2d(6), nn.Hardswish(),
    nn.Conv2d(6, 6, 3, 1, 1, groups=6), nn.Hardsigmoid(), nn.Dropout(0.1), nn.Flatten(), nn.Linear(96, 3)),
    "dilated": lambda: Net(SERIES, lambda s, x: s.b(F.relu(s.a(F.pad(x, (6, 0)))).mean(-1)),
    a=nn.Conv1d(3, 4, 4, dilation=2), b=nn.Linear(4, 2)),
    "atrous": lambda: sequence(IMAGE, nn.Conv2d(3, 4, 3, padding=2, dilation=2), nn.ReLU(),
    nn.Conv2d(4, 2, 3, dilation=(1, 3))),
    "positions": lambda: Net((6, 5), lambda s, x: s.b(F.relu(s.a(x) + s.p.weight)), a=nn.Linear(5, 3),
    b=nn.Linear(3, 2), p=nn.Linear(3, 6)),
    "ones of the batch": lambda: Net(IMAGE, lambda s, x: s.c(x + torch.ones(x.shape[0], 1, 8, 8)),
    c=nn.Conv2d(3, 2, 3)),
    "mean image": lambda: Net(IMAGE, lambda s, x: s.c((x - torch.linspace(0, 1, 192).view(3, 8, 8)) / 3),
    c=nn.Conv2d(3, 2, 3)),
    "lstm": lambda: Net((7, 3), lambda s, x: s.a(x)[0][:, -1], a=nn.LSTM(3, 4, batch_first=True)),
    "gru": lambda: Net((7, 3), lambda s, x: s.a(x)[1][0], a=nn.GRU(3, 4, batch_first=True)),
    "rnn": lambda: Net((7, 3), lambda s, x: s.b(s.a(x)[0]), a=nn.RNN(3, 4, batch_first=True, bias=False),
    b=nn.Linear(4, 2)),
    "grus": lambda: Net((7, 3), lambda s, x: s.b(s.a(x)[1][-1]), a=nn.GRU(3, 4, 3, batch_first=True, dropout=0.1),
    b=nn.Linear(4, 2)),
    "lstm of frames": lambda: Net(SERIES, lambda s, x: s.b(s.l(s.a(x).transpose(1, 2))[1][0].squeeze(0)),
    a=nn.Conv1d(3, 4, 3), l=nn.LSTM(4, 5, batch_first=True), b=nn.Linear(5, 2)),
    "lstm whole": lambda: Net((7, 3), _whole, a=nn.LSTM(3, 4, batch_first=True), b=nn.Linear(4, 2), c=nn.Linear(4, 2)),
    "both ways": lambda: Net((7, 3), lambda s, x: s.a(x)[0], a=nn.GRU(3, 4, batch_first=True, bidirectional=True)),
    "time first": lambda: Net((7, 3), lambda s, x: s.a(x)[0], a=nn.GRU(3, 4)),
    "rnn of relus": lambda: Net((7, 3), lambda s, x: s.a(x)[0], a=nn.RNN(3, 4, 1, "relu", batch_first=True)),
    "ones before": lambda: Net((7, 3), lambda s, x: s.a(x, torch.ones(1, x.shape[0], 4))[0],
    a=nn.GRU(3, 4, batch_first=True)),
    "all last": lambda: Net((7, 3), lambda s, x: s.a(x)[1].transpose(0, 1), a=nn.GRU(3, 4, 2, batch_first=True)),
    "cells": lambda: Net((7, 3), lambda s, x: s.a(x)[1][1][0], a=nn.LSTM(3, 4, batch_first=True)),
    "gru cell": lambda: Net((3,), lambda s, x: s.a(x), a=nn.GRUCell(3, 4)),
    "attention": lambda: Net((6, 4), lambda s, x: s.a(x, x, x)[0], a=nn.MultiheadAttention(4, 2, batch_first=True)),
    "transformer": lambda: sequence((6, 4), nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)),
    **ATTENTION,
    "gelu": lambda: sequence((7,), nn.Linear(7, 9), nn.GELU(), nn.Linear(9, 3)),
    "corners": lambda: sequence(IMAGE, nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True),
    nn.Conv2d(3, 2, 3)),
    "reflected": lambda: sequence(IMAGE, nn.Conv2d(3, 2, 3, padding=1, padding_mode="reflect")),
    "softplus": lambda: sequence((7,), nn.Linear(7, 9), nn.Softplus()),
}  # fmt: skip


def _whole(s, x):
    y = s.a(x)[0]
    return s.b(y).mean(1) + s.c(y[:, -1])


def prelu(channels):
    made = nn.PReLU(channels)
    nn.init.uniform_(made.weight, -0.5, 1.5)
    return made


# By every exporter the same network is refused; the words of PyTorch's own operators and of ONNX's, whose files have no
# dropout.
REFUSED = {
    "both ways": ("gru.*bidirectional=True; instead: bidirectional=False", "GRU.*direction=bidirectional"),
    "time first": ("gru.*batch_first=False; instead: batch_first=True", "GRU.*not .steps, batch, features.; instead"),
    "rnn of relus": ("rnn_relu.*; instead: nn.GRU", "RNN.*activations Relu; instead: Tanh"),
    "ones before": ("gru.*begins with a state that is not 0", "GRU.*begins with a state that is not 0"),
    "all last": ("last outputs of several layers; instead", "Transpose.*last outputs of several layers"),
    "cells": ("takes result 2 of node lstm", "LSTM.*has 3 outputs that are read"),
    "gru cell": ("GRUCell.*no such.*; instead: nn.GRU", "node"),
    "mask of earlier steps": ("mask that hides other steps than the later ones; instead",) * 2,
    "another root": ("divides scores by 2; instead: the root of a head's width, 1.414",) * 2,
    "another scale": ("divides scores by 1; instead: the root of a head's width, 1.732",) * 2,
    "dropout of weights": ("has dropout_p=0.2; instead: dropout_p=0.0", None),
    "attention twice": ("shares weights with node linear; instead: a module", "shares the weights a.out_proj.weight"),
    "weights of attention": ("gives .* a tensor that is none of samples; instead",) * 2,
    "without projections": (
        "multiplies node matmul .*; instead: queries, keys and values by nn.Linear",
        "MatMul.*input 1 is computed; instead",
    ),
    "one projection for both": ("shares weights with node linear; instead", "MatMul.*which another node reads, too"),
    "a query that is made again": (
        "shares weights with node linear; instead: a module of its own",
        "MatMul.*which another node reads, too",
    ),
    "a query that is added": (
        "reads node linear .*, which another node reads, too; instead: a Linear",
        "MatMul.*which another node reads, too; instead: a Linear",
    ),
    "time first attention": ("takes numbers of node mul .* that are no heads; instead", "Mul.*that are no heads"),
    "corners": ("align_corners", "Resize"),
    "erf": ("erf.*part of GELU alone; instead", "Erf.*part of GELU alone"),
    "reflected": ("pad .*reflect.*zeros", "Pad"),
    "softplus": ("softplus.*no such operator; instead: ReLU", "Softplus"),
}


def made(name):
    torch.manual_seed(0)
    net = NETWORKS[name]()
    for module in net.modules():
        if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)):
            nn.init.normal_(module.running_mean, 0, 0.2)
            nn.init.uniform_(module.running_var, 0.5, 2)
    return net.eval(), np.random.default_rng(1).normal(size=(4, *net.shape)).astype(np.float32)


def equal(model, x, expected):
    got = model.imported.outputs(model.predict(model.imported.samples(x)))
    assert got.shape == expected.shape
    assert np.abs(got - expected).max() <= 1e-4 * np.abs(expected).max()


@pytest.mark.parametrize("name", NETWORKS)
def test_a_module_gives_pytorchs_outputs_or_is_refused(name):
    net, x = made(name)
    expected = net(torch.from_numpy(x.copy()))
    if name in REFUSED:
        with pytest.raises(Unsupported, match=REFUSED[name][0]):
            load(net, net.shape)
    else:
        equal(load(net, net.shape), x, expected.detach().numpy())


def test_an_encoder_in_int8_is_near_and_trains_on():
    net, _ = made("encoder")
    x = np.random.default_rng(2).normal(size=(64, *net.shape)).astype(np.float32)
    expected = net(torch.from_numpy(x)).detach().numpy()
    model = load(net, net.shape, calibrate=x, train="all", optimizer=odt.Adam(0.002), batch_size=16)
    got = model.imported.outputs(model.predict(model.imported.samples(x)))
    assert np.abs(got - expected).mean() < 0.05 * np.abs(expected).max()
    labels = (x[:, 0, 0] > 0).astype("uint8")
    first, *_, last = model.fit(model.imported.samples(x), labels, epochs=40, verbose=0).history["loss"]
    assert last < 0.5 * first


# By ONNX what PyTorch's operators say in one word is said in several: these are refused there, in these words.
REFUSED_BY_ONNX = {
    **{name: words for name, (_, words) in REFUSED.items() if words},
    "ones of the batch": "Add.*meets a constant of shape",
    "sum and least": "ReduceMin.*no such operator",
    "arithmetic": "Max.*compares 2 tensors",
    "nearest": "Resize.*enlarges",
}
REFUSED_BY_DYNAMO = {
    **REFUSED_BY_ONNX,
    "linear": "GatherND.*no such operator; instead: Slice",
    "encoder": "shares the weights",  # its layers begin as copies, which this exporter writes once
}
NOT_EXPORTED = ("spectral_norm",)  # by the older exporter
DYNAMO = (
    "regression", "resnet in place", "spectral_norm", "constants in forward", "chomped", "several pools", "gated",
    "every second",
    "mean of rows", "bilinear", "linear", "prelu", "broadcast", "group norm", "elus", "gelus", "erf", "decoder",
    "mobile", "dilated", "lstm", "gru", "grus", "lstm whole", "lstm of frames", "attention", "transformer", *ATTENTION,
)  # fmt: skip


def onnx_agrees(name, folder, refused, **options):
    """The file that an exporter writes gives onnxruntime's outputs, or is refused in these words."""
    net, x = made(name)
    path = str(folder / "net.onnx")
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.backends.mha.set_fastpath_enabled(False)  # whose operators the older exporter has not
        try:
            torch.onnx.export(net, (torch.zeros(4, *net.shape),), path, verbose=False, **options)
        finally:
            torch.backends.mha.set_fastpath_enabled(True)
    if name in refused:
        with pytest.raises(Unsupported, match=refused[name]):
            load(path)
        return
    session = onnxruntime.InferenceSession(path)
    equal(load(path), x, session.run(None, {session.get_inputs()[0].name: x})[0])


@pytest.mark.parametrize("name", DYNAMO)
def test_pytorchs_exporter_writes_what_is_read_or_refused(name, tmp_path):
    onnx_agrees(name, tmp_path, REFUSED_BY_DYNAMO, dynamo=True)
    if name not in REFUSED_BY_DYNAMO:
        assert (tmp_path / "net.onnx.data").exists()  # the weights beside the file, as this exporter does it


@pytest.mark.parametrize("name", [name for name in NETWORKS if name not in NOT_EXPORTED])
def test_pytorchs_older_exporter_writes_what_is_read_or_refused(name, tmp_path):
    onnx_agrees(name, tmp_path, REFUSED_BY_ONNX, dynamo=False)
