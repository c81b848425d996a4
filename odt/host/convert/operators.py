"""The table of docs/howto/import.md: which operators each reader takes, by their names there, and what it refuses.

Of the readers' own rows.
"""

import os
import re

FORMATS = ("PyTorch", "ONNX", "Keras", "TensorFlow Lite")

# What is done: all names of it, in any format. What a reader takes and no line here has fails a test.
TAKEN = {
    "Dense": "linear matmul mm addmm Gemm MatMul LinearClassifier LinearRegressor QGemm QLinearMatMul Dense "
    "FULLY_CONNECTED BATCH_MATMUL",
    "convolution, with groups and dilation": "conv1d conv2d convolution Conv QLinearConv Conv1D Conv2D DepthwiseConv1D "
    "DepthwiseConv2D SeparableConv1D SeparableConv2D CONV_2D DEPTHWISE_CONV_2D SPACE_TO_BATCH_ND BATCH_TO_SPACE_ND",
    "transposed convolution": "conv_transpose1d conv_transpose2d ConvTranspose Conv1DTranspose Conv2DTranspose "
    "TRANSPOSE_CONV",
    "normalisation": "batch_norm _native_batch_norm_legit_no_training layer_norm native_layer_norm group_norm "
    "instance_norm BatchNormalization LayerNormalization GroupNormalization InstanceNormalization Normalization "
    "Scaler Normalizer",
    "embedding: rows of a table by tokens": "embedding Embedding Gather",
    "recurrence": "gru lstm rnn_tanh GRU LSTM RNN SimpleRNN",
    "attention": "scaled_dot_product_attention bmm baddbmm masked_fill Where MultiHeadAttention",
    "max pooling": "max_pool1d max_pool2d max_pool1d_with_indices max_pool2d_with_indices adaptive_max_pool1d "
    "adaptive_max_pool2d MaxPool GlobalMaxPool MaxPooling1D MaxPooling2D GlobalMaxPooling1D GlobalMaxPooling2D "
    "MAX_POOL_2D",
    "average pooling": "avg_pool1d avg_pool2d adaptive_avg_pool1d adaptive_avg_pool2d _adaptive_avg_pool2d AveragePool "
    "GlobalAveragePool QLinearAveragePool QLinearGlobalAveragePool AveragePooling1D AveragePooling2D "
    "GlobalAveragePooling1D GlobalAveragePooling2D AdaptiveAveragePooling1D AdaptiveAveragePooling2D AVERAGE_POOL_2D",
    "mean, sum, largest, least": "mean sum amax amin max min ReduceMean ReduceSum ReduceMax Mean MEAN SUM REDUCE_MAX",
    "resize": "upsample_nearest1d upsample_nearest2d upsample_linear1d upsample_bilinear2d Resize Upsample "
    "UpSampling1D UpSampling2D Resizing RESIZE_NEAREST_NEIGHBOR RESIZE_BILINEAR",
    "ReLU and limits": "relu relu6 hardtanh clamp clip clamp_min clamp_max Relu Clip Relu6 ReLU HardTanh RELU RELU6 "
    "RELU_0_TO_1 RELU_N1_TO_1",
    "leaky ReLU, PReLU": "leaky_relu prelu LeakyRelu PRelu QLinearLeakyRelu LeakyReLU PReLU LEAKY_RELU PRELU",
    "sigmoid, tanh, softmax": "sigmoid tanh softmax _softmax Sigmoid Tanh Softmax QLinearSigmoid QLinearSoftmax "
    "LOGISTIC TANH SOFTMAX",
    "SiLU, hard swish, GELU, GLU": "silu hardsigmoid hardswish gelu glu Gelu HardSigmoid HardSwish Swish Silu "
    "HardSilu GELU HARD_SWISH",
    "ELU, SELU, CELU, erf within GELU": "elu selu celu erf special_erf Elu Selu Celu Erf ELU",
    "dropout, augmentation": "dropout feature_dropout Dropout AlphaDropout GaussianDropout GaussianNoise "
    "SpatialDropout1D SpatialDropout2D ActivityRegularization RandomBrightness RandomColorDegeneration "
    "RandomColorJitter RandomContrast RandomElasticTransform RandomErasing RandomFlip RandomGaussianBlur "
    "RandomGrayscale RandomHue RandomInvert RandomPerspective RandomPosterization RandomRotation RandomSaturation "
    "RandomSharpness RandomShear RandomTranslation RandomZoom",
    "arithmetic": "add sub rsub mul div neg abs square pow maximum minimum fmax fmin Abs Add Div Max Min Mul Neg Pow "
    "Sub Sum QLinearAdd QLinearMul Average Maximum Minimum Multiply Subtract Rescaling Absolute Divide Negative Power "
    "Square TrueDivide ABS ADD DIV MAXIMUM MINIMUM MUL NEG POW SQUARE SUB",
    "concatenation": "cat concat concatenate stack Concat QLinearConcat Concatenate CONCATENATION PACK",
    "parts": "slice select narrow split split_with_sizes chunk unsafe_chunk tensor_split unbind Slice Split Gather "
    "GetItem CenterCrop Cropping1D Cropping2D SLICE SPLIT SPLIT_V STRIDED_SLICE GATHER UNPACK",
    "padding": "pad constant_pad_nd Pad ZeroPadding1D ZeroPadding2D PAD PADV2",
    "shapes and axes": "view reshape _unsafe_view flatten unflatten squeeze unsqueeze view_as reshape_as permute "
    "transpose swapaxes swapdims movedim moveaxis Flatten Reshape Squeeze Unsqueeze Transpose Shape Size Permute "
    "RepeatVector ExpandDims RESHAPE EXPAND_DIMS SQUEEZE TRANSPOSE SHAPE",
    "the same numbers": "contiguous clone detach alias lift_fresh_copy to _to_copy type_as Identity Cast ZipMap "
    "StopGradient InputLayer Activation TimeDistributed CAST",
    "bytes": "QuantizeLinear DequantizeLinear QUANTIZE DEQUANTIZE",
}


def taken():
    """{format: the names of all operators that its reader takes}; needs PyTorch, Keras, onnx and tflite."""
    os.environ.setdefault("KERAS_BACKEND", "torch")
    from . import kerasmodel, onnxtable, pytorch, tflitetable

    return dict(zip(FORMATS, (
        set(pytorch.ROWS), {name.rpartition(".")[2] for name in onnxtable.ATTRIBUTES},
        set(kerasmodel.LAYERS) | set(kerasmodel.OPERATIONS), set(tflitetable.ATTRIBUTES),
    )))  # fmt: skip


def refused():
    """[(format, names, what would do instead)] of what is refused with a word of advice."""
    os.environ.setdefault("KERAS_BACKEND", "torch")
    from . import kerasmodel, onnxfile, pytorch, tflitefile

    found, known = {}, taken()
    tables = (pytorch.INSTEAD, onnxfile._INSTEAD, kerasmodel._INSTEAD, tflitefile._INSTEAD)
    for kind, table in zip(FORMATS, tables):
        for names, instead in table.items():
            left = [name for name in names.split() if name not in known[kind]]
            if left:
                found.setdefault((kind, instead), []).extend(left)
    return [(kind, names, instead) for (kind, instead), names in found.items()]


def _cell(names):
    """Names, those of 1 and 2 axes as one, and Keras's augmentations as one."""
    names, made = sorted(names, key=lambda name: (name.lower(), name)), []
    for name in names:
        both = re.sub("1(?=[dD])", "2", name)
        if both != name and both in names:
            made.append(re.sub("1(?=[dD])", "1d/2" if "1d" in name else "1D/2", name))
        elif re.sub("2(?=[dD])", "1", name) not in names or "2d" not in name.lower():
            made.append(name)
    random = [name for name in made if name.startswith("Random")]
    if len(random) > 3:
        made = [name for name in made if name not in random] + ["Random.."]
    return ", ".join(name.replace("_", "\\_") for name in made) or "-"


def table():
    """The lines of both tables."""
    kinds = taken()
    words = set(" ".join(TAKEN.values()).split())
    assert words == set().union(*kinds.values()), words ^ set().union(*kinds.values())
    lines = ["| taken | %s |\n" % " | ".join(FORMATS), "|---|---|---|---|---|\n"]
    for what, names in TAKEN.items():
        lines.append("| %s | %s |\n" % (what, " | ".join(_cell(set(names.split()) & kinds[each]) for each in FORMATS)))
    lines += ["\n| | refused | instead |\n", "|---|---|---|\n"]
    lines += [
        "| %s | %s | %s |\n" % (kind, _cell(names), instead.replace("_", "\\_")) for kind, names, instead in refused()
    ]
    return "".join(lines)
