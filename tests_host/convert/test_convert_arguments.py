"""Each argument of each operator that the reader of PyTorch takes: read, refused unless default, or without effect on
the numbers.

Every overload that has a row is called with each argument of its own schema at a value that is not its default. What
comes in gives PyTorch's output; what does not names the argument. An operator or an argument that CASES does not call
fails.
"""

import numpy as np
import pytest
import torch
from exporting import quick  # noqa: F401
from torch import nn

from odt.host.convert import load
from odt.host.convert.pytorch import ROWS

torch.set_num_threads(1)

X = torch.empty(0)  # stands for the sample's tensor in a call
IMAGE, SERIES, ROW = (4, 6, 6), (4, 8), (6,)
TOKENS = (7,)  # of samples of tokens
AGAIN = {"self": X}


def weight(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def positive(*shape):
    return weight(*shape).abs() + 0.5


def case(shape, call, refused="", /, **others):
    """``call``: arguments that make the operator work.

    ``others``: of an argument, values that are not its default, or calls.

    ``refused``: of these arguments the others are refused, which the reader's row must say, too.
    """
    return shape, call, others, refused.split()


NORM = {
    "input": X,
    "weight": positive(4),
    "bias": weight(4),
    "running_mean": weight(4, seed=2),
    "running_var": positive(4),
}
STATS = dict(NORM, use_input_stats=True, momentum=0.1, eps=1e-3, cudnn_enabled=False)
AT = {"input": X, "weight": weight(6, 4, 3, 3), "bias": None}
AT1 = {"input": X, "weight": weight(6, 4, 3), "bias": None}
BACK = {"input": X, "weight": weight(4, 3, 3, 3), "bias": None}
WITH = {
    "stride": [1, 1],
    "padding": [0, 0],
    "dilation": [1, 1],
    "transposed": False,
    "output_padding": [0, 0],
    "groups": 1,
}
GROUPED = dict(AT, weight=weight(6, 2, 3, 3), groups=2)
POOL, POOL1 = {"self": X, "kernel_size": [3, 3]}, {"self": X, "kernel_size": [3]}
MAX = dict(stride=[[2, 1]], padding=[[1, 0]], dilation=[[2, 2]], ceil_mode=[dict(POOL, stride=[2, 2], ceil_mode=True)])
MAX1 = dict(stride=[[2]], padding=[[1]], dilation=[[2]], ceil_mode=[dict(POOL1, stride=[2], ceil_mode=True)])
AVG = dict(stride=[[2, 1]], padding=[[1, 1]], ceil_mode=[dict(POOL, stride=[2, 2], ceil_mode=True)],
           count_include_pad=[dict(POOL, padding=[1, 1], count_include_pad=False)])  # fmt: skip
AVG1 = dict(stride=[[2]], padding=[[1]], ceil_mode=[dict(POOL1, stride=[2], ceil_mode=True)],
            count_include_pad=[dict(POOL1, padding=[1], count_include_pad=False)])  # fmt: skip
UP, UP1 = (
    {"input": X, "output_size": [12, 18], "scale_factors": None},
    {"input": X, "output_size": [16], "scale_factors": None},
)
UP_OLD, UP1_OLD = {"self": X, "output_size": [12, 18]}, {"self": X, "output_size": [16]}
LINEAR = dict(UP, align_corners=False), dict(UP1, align_corners=False)
LINEAR_OLD = dict(UP_OLD, align_corners=False), dict(UP1_OLD, align_corners=False)
FACTORS = dict(output_size=[[6, 12]], scale_factors=[dict(UP, output_size=None, scale_factors=[3.0, 2.0])])
FACTORS1 = dict(output_size=[[24]], scale_factors=[dict(UP1, output_size=None, scale_factors=[3.0])])
MEANS = dict(dim=[[1], [1, -1], [1, 2, 3]], keepdim=[True], dtype=[torch.float64])
LARGEST = dict(dim=[[1], [1, -1], [1, 2, 3]], keepdim=[dict(AGAIN, dim=[2], keepdim=True)])
ONE = dict(AGAIN, dim=2)
OTHER = dict(self=[{"self": 2.0 * weight(6), "other": X}], other=[X, weight(6, seed=1)])
TIMES = dict(OTHER, alpha=[3, {"self": weight(6), "other": X, "alpha": 2}])
CAST = dict(dtype=[torch.float64], non_blocking=[True], copy=[True], memory_format=[torch.contiguous_format])
VIEWS = dict(size=[[3, 2, 72]])

CASES = {
    "linear.default": case(ROW, {"input": X, "weight": weight(3, 6)}, bias=[weight(3)]),
    "embedding.default": case(
        TOKENS, {"weight": weight(9, 4), "indices": X}, "padding_idx scale_grad_by_freq", weight=[weight(9, 3, seed=1)],
        padding_idx=[2], scale_grad_by_freq=[True], sparse=[True]),
    "matmul.default": case(ROW, {"self": X, "other": weight(6, 3)}),
    "mm.default": case(ROW, {"self": X, "mat2": weight(6, 3)}),
    "addmm.default": case(ROW, {"self": weight(3), "mat1": X, "mat2": weight(6, 3)}, beta=[2], alpha=[3]),
    "conv1d.default": case(SERIES, AT1,  bias=[weight(6)], stride=[[2]], padding=[[2]], dilation=[[2]],
                           groups=[dict(AT1, weight=weight(6, 2, 3), groups=2)]),
    "conv1d.padding": case(SERIES, AT1,  bias=[weight(6)], stride=[[2]], padding=["same"], dilation=[[2]],
                           groups=[dict(AT1, weight=weight(6, 2, 3), groups=2)]),
    "conv2d.default": case(IMAGE, AT,  bias=[weight(6)], stride=[[2, 1]], padding=[[2, 1]], dilation=[[1, 2]],
    groups=[GROUPED]),
    "conv2d.padding": case(IMAGE, AT,  bias=[weight(6)], stride=[[2, 1]], padding=["same"], dilation=[[1, 2]],
    groups=[GROUPED]),
    "conv_transpose1d.default": case(SERIES, {"input": X, "weight": weight(4, 3, 3)}, "groups dilation",
    bias=[weight(3)], stride=[[2]],
                                     padding=[[1]], output_padding=[{"input": X, "weight": weight(4, 3, 3),
                                     "stride": [2], "output_padding": [1]}],
                                     groups=[2], dilation=[[2]]),
    "conv_transpose2d.input": case(IMAGE, BACK, "groups dilation", bias=[weight(3)], stride=[[2, 1]], padding=[[1, 0]],
                                   output_padding=[dict(BACK, stride=[2, 2], output_padding=[1, 0])],
                                   groups=[dict(BACK, groups=2, bias=None)], dilation=[[2, 1]]),
    "convolution.default": case(IMAGE, dict(AT, **WITH),  bias=[weight(6)], stride=[[2, 1]], padding=[[2, 1]],
    dilation=[[1, 2]],
                                transposed=[dict(BACK, **dict(WITH, transposed=True))],
                                groups=[dict(GROUPED, **dict(WITH, groups=2))],
                                output_padding=[dict(BACK, **dict(WITH, transposed=True, stride=[2, 2],
                                output_padding=[1, 0]))]),
    "batch_norm.default": case(IMAGE, dict(NORM, training=False, momentum=0.1, eps=1e-3, cudnn_enabled=False),
    "training", weight=[None],
                               bias=[None], training=[True], momentum=[0.5], eps=[0.1], cudnn_enabled=[True]),
    "_native_batch_norm_legit_no_training.default": case(IMAGE, dict(NORM, momentum=0.1, eps=1e-3), weight=[None],
    bias=[None],
                                                         momentum=[0.5], eps=[0.1]),
    "layer_norm.default": case((5, 6), {"input": X, "normalized_shape": [6]}, "normalized_shape",
    normalized_shape=[[5, 6]], weight=[weight(6)], bias=[weight(6)], eps=[0.1], cudnn_enable=[False]),
    "native_layer_norm.default": case((5, 6), {"input": X, "normalized_shape": [6], "weight": None, "bias": None,
    "eps": 1e-5}, "normalized_shape", normalized_shape=[[5, 6]],
                                      weight=[weight(6)], bias=[weight(6)], eps=[0.1]),
    "group_norm.default": case(IMAGE, {"input": X, "num_groups": 2}, num_groups=[4], weight=[weight(4)],
    bias=[weight(4)], eps=[0.1],
                               cudnn_enabled=[False]),
    "instance_norm.default": case(IMAGE, STATS, weight=[None], bias=[None],
                                  running_mean=[dict(STATS, running_mean=None, running_var=None)], running_var=[STATS],
                                  use_input_stats=[False], momentum=[0.5], eps=[0.1], cudnn_enabled=[True]),
    "max_pool1d.default": case(SERIES, POOL1, "dilation", kernel_size=[[2]], **MAX1),
    "max_pool2d.default": case(IMAGE, POOL, "dilation", kernel_size=[[2, 3]], **MAX),
    "max_pool2d_with_indices.default": case(IMAGE, POOL, "dilation", kernel_size=[[2, 3]], **MAX),
    "max_pool1d_with_indices.default": case(SERIES, POOL1, "dilation", kernel_size=[[2]], **MAX1),
    "avg_pool1d.default": case(SERIES, POOL1, kernel_size=[[2]], **AVG1),
    "avg_pool2d.default": case(IMAGE, POOL, "divisor_override", kernel_size=[[2, 3]], divisor_override=[5], **AVG),
    "adaptive_avg_pool1d.default": case(SERIES, dict(AGAIN, output_size=[1]), output_size=[[3]]),
    "adaptive_avg_pool2d.default": case(IMAGE, dict(AGAIN, output_size=[1, 1]), output_size=[[3, 4]]),
    "_adaptive_avg_pool2d.default": case(IMAGE, dict(AGAIN, output_size=[1, 1]), output_size=[[3, 4]]),
    "adaptive_max_pool1d.default": case(SERIES, dict(AGAIN, output_size=[1]), output_size=[[4]]),
    "adaptive_max_pool2d.default": case(IMAGE, dict(AGAIN, output_size=[1, 1]), output_size=[[3, 2]]),
    "mean.dim": case(IMAGE, dict(AGAIN, dim=[2, 3]), **MEANS),
    "mean.default": case(IMAGE, AGAIN, "self dtype", self=[X], dtype=[dict(AGAIN, dtype=torch.float64)]),
    "sum.dim_IntList": case(IMAGE, dict(AGAIN, dim=[2, 3]), **MEANS),
    "sum.default": case(IMAGE, AGAIN, "self dtype", self=[X], dtype=[dict(AGAIN, dtype=torch.float64)]),
    "amax.default": case(IMAGE, dict(AGAIN, dim=[2, 3]), **LARGEST),
    "amin.default": case(IMAGE, dict(AGAIN, dim=[2, 3]), **LARGEST),
    "max.dim": case(IMAGE, ONE, dim=[1, -1], keepdim=[True]),
    "min.dim": case(IMAGE, ONE, dim=[1, -1], keepdim=[True]),
    "max.other": case(ROW, dict(AGAIN, other=torch.tensor(0.5)), other=[{"self": X, "other": X}],
    self=[{"self": torch.tensor(0.5), "other": X}]),
    "min.other": case(ROW, dict(AGAIN, other=torch.tensor(0.5)), other=[{"self": X, "other": X}],
    self=[{"self": torch.tensor(0.5), "other": X}]),
    "max.default": case(IMAGE, AGAIN, "self", self=[X]),
    "min.default": case(IMAGE, AGAIN, "self", self=[X]),
    "upsample_nearest1d.vec": case(SERIES, UP1, **FACTORS1),
    "upsample_nearest2d.vec": case(IMAGE, UP, **FACTORS),
    "upsample_nearest1d.default": case(SERIES, UP1_OLD, "scales", output_size=[[24], [4]], scales=[2.1]),
    "upsample_nearest2d.default": case(IMAGE, UP_OLD, "scales_h scales_w", output_size=[[3, 6]], scales_h=[2.1],
    scales_w=[3.1]),
    "upsample_linear1d.vec": case(SERIES, LINEAR[1], "align_corners", align_corners=[True], output_size=[[24]],
                                  scale_factors=[dict(LINEAR[1], output_size=None, scale_factors=[3.0])]),
    "upsample_bilinear2d.vec": case(IMAGE, LINEAR[0], "align_corners", align_corners=[True], output_size=[[6, 12]],
                                    scale_factors=[dict(LINEAR[0], output_size=None, scale_factors=[3.0, 2.0])]),
    "upsample_linear1d.default": case(SERIES, LINEAR_OLD[1], "align_corners scales", align_corners=[True],
    output_size=[[24]], scales=[2.1]),
    "upsample_bilinear2d.default": case(IMAGE, LINEAR_OLD[0], "align_corners scales_h scales_w", align_corners=[True],
    output_size=[[6, 12]],
                                        scales_h=[2.1], scales_w=[3.1]),
    **{name + ".default": case(ROW, AGAIN) for name in (
        "relu", "relu6", "sigmoid", "tanh", "silu", "hardsigmoid", "hardswish", "selu", "neg", "abs", "square",
        "detach", "alias", "lift_fresh_copy")},
    "hardtanh.default": case(ROW, AGAIN, min_val=[-0.5], max_val=[0.3]),
    "clamp.default": case(ROW, dict(AGAIN, min=0), min=[-0.5], max=[0.3]),
    "clip.default": case(ROW, dict(AGAIN, min=0), min=[-0.5], max=[0.3]),
    "clamp.Tensor": case(ROW, dict(AGAIN, min=torch.tensor(0.1)), min=[torch.tensor(-0.5)], max=[torch.tensor([0.3])]),
    "clip.Tensor": case(ROW, dict(AGAIN, min=torch.tensor(0.1)), min=[torch.tensor(-0.5)], max=[torch.tensor([0.3])]),
    "clamp_min.default": case(ROW, dict(AGAIN, min=0), min=[-0.5]),
    "clamp_min.Tensor": case(ROW, dict(AGAIN, min=torch.tensor(0)), min=[torch.tensor(-0.5)]),
    "clamp_max.default": case(ROW, dict(AGAIN, max=0), max=[-0.5]),
    "clamp_max.Tensor": case(ROW, dict(AGAIN, max=torch.tensor(0)), max=[torch.tensor(-0.5)]),
    **{name + ".default": case(ROW, dict(AGAIN, other=torch.tensor(0.5)), other=[{"self": X, "other": X}],
    self=[{"self": torch.tensor(0.5), "other": X}])
       for name in ("maximum", "minimum", "fmax", "fmin")},
    "leaky_relu.default": case(ROW, AGAIN, negative_slope=[0.3, -0.5, 2]),
    "prelu.default": case(IMAGE, dict(AGAIN, weight=torch.tensor([0.3])), weight=[weight(4), torch.tensor([-0.5])]),
    "erf.default": case(ROW, AGAIN, "self", self=[X]),  # as a part of GELU alone
    "special_erf.default": case(ROW, AGAIN, "self", self=[X]),
    "elu.default": case(ROW, AGAIN, alpha=[0.3, 3.0, -0.5], scale=[1.7, -0.5], input_scale=[0.4, 2]),
    "celu.default": case(ROW, AGAIN, alpha=[0.3, 2]),
    "gelu.default": case(ROW, dict(AGAIN, approximate="tanh"), approximate=["none"]),
    "glu.default": case(IMAGE, AGAIN, dim=[1, 2]),
    "softmax.int": case(IMAGE, dict(AGAIN, dim=1), dim=[dict(AGAIN, dim=-3)], dtype=[torch.float64]),
    "_softmax.default": case(IMAGE, dict(AGAIN, dim=1, half_to_float=False), "half_to_float",
    dim=[dict(AGAIN, dim=-3, half_to_float=False)], half_to_float=[True]),
    **{name + ".default": case(IMAGE, {"input": X, "p": 0.5, "train": False}, "train", p=[0.2],
    train=[True]) for name in ("dropout", "feature_dropout")},
    "add.Tensor": case(ROW, dict(AGAIN, other=weight(6)), **TIMES),
    "add.Scalar": case(ROW, dict(AGAIN, other=2), other=[0.5], alpha=[3]),
    "sub.Tensor": case(ROW, dict(AGAIN, other=weight(6)), **TIMES),
    "sub.Scalar": case(ROW, dict(AGAIN, other=2), other=[0.5], alpha=[3]),
    "rsub.Tensor": case(ROW, dict(AGAIN, other=weight(6)), **TIMES),
    "rsub.Scalar": case(ROW, dict(AGAIN, other=2), other=[0.5], alpha=[3]),
    "mul.Tensor": case(ROW, dict(AGAIN, other=weight(6)), **OTHER),
    "mul.Scalar": case(ROW, dict(AGAIN, other=2), other=[0.5]),
    "div.Tensor": case(ROW, dict(AGAIN, other=weight(6)), "self", self=[{"self": weight(6), "other": X}],
    other=[2.0 * weight(6)]),
    "div.Scalar": case(ROW, dict(AGAIN, other=2), other=[0.5]),
    "div.Tensor_mode": case(ROW, dict(AGAIN, other=weight(6), rounding_mode=None), "rounding_mode",
    rounding_mode=["floor"]),
    "div.Scalar_mode": case(ROW, dict(AGAIN, other=2, rounding_mode=None), "rounding_mode", other=[3],
    rounding_mode=["floor"]),
    "pow.Tensor_Scalar": case(ROW, dict(AGAIN, exponent=2), exponent=[3, 1, 4]),
    "pow.Tensor_Tensor": case(ROW, dict(AGAIN, exponent=torch.tensor(2)), exponent=[torch.tensor(3)]),
    "pow.Scalar": case(ROW, {"self": 2, "exponent": X}, "self", self=[3]),
    **{name + ".default": case(IMAGE, {"tensors": [X, X], "dim": 1}, dim=[-1, 2]) for name in ("cat", "concat",
    "concatenate")},
    "stack.default": case(SERIES, {"tensors": [X, X], "dim": 1}, dim=[2, -1]),
    "view.default": case(IMAGE, dict(AGAIN, size=[3, -1]), **VIEWS),
    "view.dtype": case(IMAGE, dict(AGAIN, dtype=torch.float32), "self dtype", dtype=[torch.int32]),
    "_unsafe_view.default": case(IMAGE, dict(AGAIN, size=[3, -1]), **VIEWS),
    "reshape.default": case(IMAGE, dict(AGAIN, shape=[3, -1]), shape=[[3, 2, 72]]),
    "flatten.using_ints": case(IMAGE, dict(AGAIN, start_dim=1), start_dim=[2], end_dim=[2]),
    "unflatten.int": case(IMAGE, dict(AGAIN, dim=2, sizes=[2, 3]), dim=[3], sizes=[[3, 2]]),
    "squeeze.default": case((4, 1), AGAIN),
    "squeeze.dim": case((1, 4), dict(AGAIN, dim=1), dim=[2]),
    "squeeze.dims": case((1, 4, 1), dict(AGAIN, dim=[1]), dim=[[1, -1]]),
    "unsqueeze.default": case(SERIES, dict(AGAIN, dim=1), dim=[-1]),
    "view_as.default": case(IMAGE, dict(AGAIN, other=weight(3, 144)), other=[weight(3, 12, 12)]),
    "reshape_as.default": case(IMAGE, dict(AGAIN, other=weight(3, 144)), other=[weight(3, 12, 12)]),
    "permute.default": case(SERIES, dict(AGAIN, dims=[0, 2, 1]), dims=[[0, 1, 2]]),
    "transpose.int": case(IMAGE, dict(AGAIN, dim0=1, dim1=2), dim0=[3], dim1=[3]),
    "swapaxes.default": case(IMAGE, dict(AGAIN, axis0=1, axis1=2), axis0=[3], axis1=[3]),
    "swapdims.default": case(IMAGE, dict(AGAIN, dim0=1, dim1=2), dim0=[3], dim1=[3]),
    **{name + ".int": case(IMAGE, dict(AGAIN, source=1, destination=3), source=[2, -1],
    destination=[2, 1]) for name in ("movedim", "moveaxis")},
    **{name + ".intlist": case(IMAGE, dict(AGAIN, source=[1, 2], destination=[3, 1]), source=[[3, 2]],
    destination=[[2, 1]])
       for name in ("movedim", "moveaxis")},
    "slice.Tensor": case(IMAGE, dict(AGAIN, dim=2), dim=[dict(AGAIN, dim=3, end=2), dict(AGAIN, dim=0)], start=[1, -2],
    end=[3, -1, dict(AGAIN, dim=2, end=99)], step=[2]),
    "narrow.default": case(SERIES, dict(AGAIN, dim=2, start=1, length=3), dim=[1], start=[0, -4], length=[1]),
    "select.int": case(IMAGE, dict(AGAIN, dim=2, index=0), dim=[1, -1], index=[3, -1]),
    "split.Tensor": case(SERIES, dict(AGAIN, split_size=3, dim=2), split_size=[4], dim=[1]),
    "split.sizes": case(SERIES, dict(AGAIN, split_size=[3, 5], dim=2), split_size=[[4, 4]],
    dim=[dict(AGAIN, split_size=[3, 1], dim=1)]),
    "split.default": case(SERIES, dict(AGAIN, split_sizes=[3, 5], dim=2), split_sizes=[[4, 4]],
    dim=[dict(AGAIN, split_sizes=[3, 1], dim=1)]),
    "split_with_sizes.default": case(SERIES, dict(AGAIN, split_sizes=[3, 5], dim=2), split_sizes=[[4, 4]],
                                     dim=[dict(AGAIN, split_sizes=[3, 1], dim=1)]),
    "chunk.default": case(SERIES, dict(AGAIN, chunks=2, dim=2), chunks=[3], dim=[1]),
    "unsafe_chunk.default": case(SERIES, dict(AGAIN, chunks=2, dim=2), chunks=[3], dim=[1]),
    "tensor_split.sections": case(SERIES, dict(AGAIN, sections=2, dim=2), sections=[3], dim=[1]),
    "tensor_split.indices": case(SERIES, dict(AGAIN, indices=[1, 4], dim=2), indices=[[3]],
    dim=[dict(AGAIN, indices=[1], dim=1)]),
    "unbind.int": case((3, 4), dict(AGAIN, dim=1), dim=[2]),
    "pad.default": case(IMAGE, dict(AGAIN, pad=[-1, 0]), "mode value", pad=[[0, 0, -1, -2]],
    mode=[dict(AGAIN, pad=[1, 1, 1, 1], mode="replicate")],
                        value=[dict(AGAIN, pad=[1, 1], value=1.0)]),
    "constant_pad_nd.default": case(IMAGE, dict(AGAIN, pad=[-1, 0]), "value", pad=[[0, 0, -1, -2]],
    value=[dict(AGAIN, pad=[1, 1], value=1)]),
    "contiguous.default": case(ROW, AGAIN, memory_format=[torch.preserve_format]),
    "clone.default": case(ROW, AGAIN, memory_format=[torch.contiguous_format]),
    "to.device": case(ROW, dict(AGAIN, device=torch.device("cpu"), dtype=torch.float32),
    device=[torch.device("cpu", 0)], **CAST),
    "to.dtype": case(ROW, dict(AGAIN, dtype=torch.float32), **CAST),
    "to.other": case(ROW, dict(AGAIN, other=weight(1)), other=[dict(AGAIN, other=weight(1).double())],
    **{k: v for k, v in CAST.items() if k != "dtype"}),
    "_to_copy.default": case(ROW, AGAIN, dtype=[torch.float64], layout=[torch.strided], device=[torch.device("cpu")],
    pin_memory=[False],
                             non_blocking=[True], memory_format=[torch.contiguous_format]),
    "type_as.default": case(ROW, dict(AGAIN, other=weight(1)), other=[dict(AGAIN, other=weight(1).double())]),
}  # fmt: skip


def recurrent(gates, bias=True, seed=0):
    """Weights of one layer of 5 units, as PyTorch has them in a list."""
    shapes = ((5 * gates, 6), (5 * gates, 5), (5 * gates,), (5 * gates,))
    return [weight(*shape, seed=seed + at) / 3 for at, shape in enumerate(shapes[: 4 if bias else 2])]


def of_layers(gates, zeros, ones):
    """A case of gru, lstm or rnn_tanh."""
    call = {
        "input": X,
        "hx": zeros(1, 3),
        "params": recurrent(gates),
        "has_biases": True,
        "num_layers": 1,
        "dropout": 0.0,
        "train": False,
        "bidirectional": False,
        "batch_first": True,
    }
    upper = [weight(*each.shape[:1], 5, seed=9) if each.dim() == 2 else each for each in recurrent(gates)]
    two = dict(call, params=recurrent(gates) + upper, hx=zeros(2, 3), num_layers=2)
    turned = [each for each in recurrent(gates) for _ in (0, 1)]
    return case(
        (7, 6),
        call,
        "hx train bidirectional batch_first",
        params=[recurrent(gates, seed=4)],
        hx=[ones(1, 3)],
        has_biases=[dict(call, params=recurrent(gates, False), has_biases=False)],
        num_layers=[two],
        dropout=[dict(two, dropout=0.5)],
        train=[True],
        bidirectional=[dict(call, params=turned, hx=zeros(2, 3), bidirectional=True)],
        batch_first=[dict(call, hx=zeros(1, 7), batch_first=False)],
    )


def states(count, batch, value=torch.zeros):
    return value(count, batch, 5)


CASES["gru.input"] = of_layers(3, states, lambda *size: states(*size, torch.ones))
CASES["rnn_tanh.input"] = of_layers(1, states, lambda *size: states(*size, torch.ones))
CASES["lstm.input"] = of_layers(
    4, lambda *size: [states(*size), states(*size)], lambda *size: [states(*size), states(*size, torch.ones)]
)

NOT_CALLED = {
    **dict.fromkeys(("gru.data", "lstm.data", "rnn_tanh.data"), "of packed sequences, which torch.export has not"),
    **dict.fromkeys(("mm.dtype", "addmm.dtype"), "of half precision alone"),
    **dict.fromkeys(
        (
            "scaled_dot_product_attention.default",
            "bmm.default",
            "bmm.dtype",
            "baddbmm.default",
            "baddbmm.dtype",
            "masked_fill.Scalar",
            "masked_fill.Tensor",
        ),
        "parts of an attention: test_convert_corpus.py has them",
    ),
    **dict.fromkeys(
        ("narrow.Tensor", "tensor_split.tensor_indices_or_sections"), "torch.export does not follow sizes in tensors"
    ),
    **dict.fromkeys(
        ("to.prim_Device", "to.prim_dtype", "to.prim_other", "to.dtype_layout"), "TorchScript's, or inside of others"
    ),
}
SAME = ("momentum", "p", "dtype", "device", "layout", "pin_memory")  # read, and without effect on what these calls give


def overload(name):
    operator, _, kind = name.partition(".")
    return getattr(getattr(torch.ops.aten, operator), kind)


class Call(nn.Module):
    """One call of an operator; what it gives, of several results the first or all of one shape, times 2."""

    def __init__(self, name, call):
        super().__init__()
        self.target, self.call = overload(name), call
        for key, each in call.items():
            for at, held in enumerate(each if isinstance(each, list) else [each]):
                if isinstance(held, torch.Tensor) and held is not X:
                    self.register_buffer("held_%s_%d" % (key, at), held)

    def forward(self, x):
        def given(key, value, at=0):
            if isinstance(value, list):
                return [given(key, each, at) for at, each in enumerate(value)]
            held = isinstance(value, torch.Tensor) and value is not X
            return x if value is X else getattr(self, "held_%s_%d" % (key, at)) if held else value

        values = {key: given(key, value) for key, value in self.call.items()}
        made = self.target(**values) if "self" not in values else self.target(values.pop("self"), **values)
        if isinstance(made, (list, tuple)):
            several = str(self.target._schema.returns[0].type).startswith("List")
            made = torch.cat([each.flatten(1) for each in made], 1) if several else made[0]
        return made * 2.0


def calls(name):
    """[(argument or None, its value, the call)] of a case: as it is, and each argument otherwise."""
    _, call, others, _ = CASES[name]
    found = [(None, None, call)]
    for argument, values in others.items():
        for value in values:
            found.append((argument, value, value if isinstance(value, dict) else {**call, argument: value}))
    return found


def imported(net, shape, x):
    model = load(net, shape)
    return model.imported.outputs(model.predict(model.imported.samples(x)))


@pytest.mark.parametrize("name", CASES)
def test_each_argument_at_another_value_gives_pytorchs_output_or_is_refused(name):
    shape, _, _, refused = CASES[name]
    x = np.random.default_rng(3).normal(size=(3, *shape)).astype(np.float32)
    x = np.abs(4 * x).astype(np.int64) % 9 if shape is TOKENS else x
    row = ROWS[name.partition(".")[0]][1]
    usual = None
    for argument, value, call in calls(name):
        net = Call(name, call).eval()
        if argument in refused:
            with pytest.raises(ValueError, match="^(node|torch.export of) "):
                load(net, shape)
            continue
        assert argument is None or argument in row, "%s=%r has no row" % (argument, value)
        if "self" in refused and argument is None:  # an operator that has no call which is taken
            continue
        expected = net(torch.from_numpy(x)).detach().numpy()
        got = imported(net, shape, x)
        assert got.shape == expected.shape, (argument, value)
        assert np.abs(got - expected).max() <= 1e-4 * np.abs(expected).max(), (argument, value)
        if argument is None:
            usual = expected
        elif (
            row[argument] is None
            and argument not in SAME
            and not isinstance(value, dict)
            and usual is not None
            and expected.shape == usual.shape
        ):
            assert not np.array_equal(expected, usual), "%s=%r changes nothing" % (argument, value)


def schemas():
    """{name with its overload: schema} of PyTorch's operators of tensors that the reader has a row of."""
    found = {}
    for name in ROWS:
        packet = getattr(torch.ops.aten, name)
        for kind in packet.overloads():
            schema = getattr(packet, kind)._schema
            if "Tensor" in str(schema).partition("->")[0] and not schema.is_mutable and "Dimname" not in str(schema):
                found["%s.%s" % (name, kind)] = schema
    return found


def test_every_operator_and_argument_that_the_reader_takes_is_called():
    found = schemas()
    assert set(found) == set(CASES) | set(NOT_CALLED)
    for name in CASES:
        _, call, others, _ = CASES[name]
        for argument in found[name].arguments:
            tensor = "Tensor" in str(argument.type) and not argument.has_default_value()
            assert tensor or argument.name in others, "%s: no call has another %s" % (name, argument.name)
