"""The PyTorch twin of an odt model: the same network, in float32 or float64, by other people's code.

Of a layer it reads what the user gave: sizes, strides and padding; where windows lie it works out itself, by
TensorFlow's rules, and test_padding.py holds it to TensorFlow's own vectors.
"""

import struct

import numpy as np
import torch
import torch.nn.functional as F


def same(size, taps, stride):
    """(zeros before, zeros after) an axis with padding "same": the notes on padding of TensorFlow's ``tf.nn``
    documentation.
    """
    outputs = -(-size // stride)
    total = max((outputs - 1) * stride + taps - size, 0)
    return total // 2, total - total // 2


def _two(layer, sizes):
    """(height, width) of a layer's argument, of 1-D layers too."""
    return (1,) * (2 - layer.axes) + tuple(sizes)


def _padding(layer, image, window):
    """What F.pad adds to NCHW: (left, right, top, bottom)."""
    if layer.padding == "valid":
        return (0, 0, 0, 0)
    strides, rates = _two(layer, layer.strides), _two(layer, getattr(layer, "dilation_rate", (1,) * layer.axes))
    window = [(taps - 1) * rate + 1 for taps, rate in zip(window, rates)]
    if layer.padding == "causal":  # Keras: all zeros come first
        return (window[1] - 1, 0, 0, 0)
    return same(image[1], window[1], strides[1]) + same(image[0], window[0], strides[0])


def _crop(size, taps, stride, padding):
    """(first, outputs) of what a transposed convolution keeps of an axis: it is the gradient of the convolution with
    that padding.
    """
    if padding == "same":
        return same(size * stride, taps, stride)[0], size * stride
    return 0, size * stride + max(taps - stride, 0)


IMAGES = ("conv2d", "group_conv2d", "depthwise2d", "transposed2d", "maxpool2d", "avgpool2d", "upsample2d")


class Twin:
    """``parameters``: tensors in odt's order and shapes; ``forward(x)`` takes (samples, *shape)."""

    def __init__(self, model, dtype=torch.float64, weights=None):
        self.nodes = model.nodes
        self.dtype = dtype
        self.carried = {}  # of stateful layers, by name: what they begin with; forward() leaves what they end with
        self.masks = None  # of each Dropout layer: 0 or 1 / (1 - rate), an element of the batch each
        self.training = True  # a BatchNorm that trains takes the batch's statistics, and follows them
        self.parameters = {}
        values = list(model.get_weights() if weights is None else weights)
        for node in model.nodes:
            tensors = []
            for name, shape in node.layer.weight_shapes():
                value = torch.tensor(np.array(values.pop(0)), dtype=dtype).reshape(shape)
                tensors.append(value.requires_grad_(node.layer.trainable and "moving" not in name))
            if tensors:
                self.parameters[node] = tensors

    def flat_parameters(self):
        return [tensor for pair in self.parameters.values() for tensor in pair]

    def forward(self, x):
        return self.outputs(x)[self.nodes[-1]]

    def outputs(self, x):
        """Of each node, by the node."""
        x = torch.as_tensor(x if isinstance(x, torch.Tensor) else np.asarray(x), dtype=self.dtype)
        outputs = {}
        for node in self.nodes:
            inputs = [outputs[parent] for parent in node.inputs]
            outputs[node] = self._layer(node, inputs) if inputs else x.reshape((-1,) + node.shape)
        return outputs

    def _layer(self, node, inputs):
        layer = node.layer
        x = inputs[0]
        kernel, bias = (self.parameters.get(node, []) + [None, None])[:2]
        if layer.kind == "dense":
            y = F.linear(x, kernel, bias)
        elif layer.kind in ("layernorm", "groupnorm", "batchnorm"):
            y = self._normalised(node, x)
        elif layer.kind == "normalization":
            y = (x - kernel) / torch.sqrt(torch.where(bias > 0, bias, 1))  # mean and variance
        elif layer.kind in IMAGES:
            image = _two(layer, node.inputs[0].shape[:-1])
            x = x.reshape(-1, *image, node.inputs[0].shape[-1]).permute(0, 3, 1, 2)
            y = self._of_images(layer, x, image, kernel, bias).permute(0, 2, 3, 1)
            assert tuple(y.shape[1:]) == _two(layer, node.shape[:-1]) + node.shape[-1:]
        elif layer.kind == "dropout":
            y = x if self.masks is None else x * self.masks[layer].reshape(x.shape)
        elif layer.kind == "globalavg":
            y = x.reshape(x.shape[0], -1, x.shape[-1]).mean(1)
        elif layer.kind in ("flatten", "reshape"):
            y = x
        elif layer.kind in ("gru", "lstm", "simple_rnn"):
            y = self._recurrent(node, x)
        elif layer.kind == "attention":
            y = self._attention(layer, inputs)
        elif layer.kind == "position":
            y = x + kernel
        elif layer.kind == "embedding":
            y = F.embedding(x.long(), kernel)
        elif layer.kind == "concatenate":
            y = torch.cat([v.reshape(-1, *parent.shape) for v, parent in zip(inputs, node.inputs)], -1)
        elif layer.kind == "multiply":
            y = inputs[0]
            for other in inputs[1:]:
                y = y * other
        elif layer.kind == "relu6":
            y = F.relu6(x)
        elif layer.kind == "leaky_relu":
            y = F.leaky_relu(x, struct.unpack("<f", struct.pack("<I", layer.slope))[0])
        elif layer.kind == "curve":
            kind, alpha, gain = layer.curve
            alpha, gain = struct.unpack("<2f", struct.pack("<2I", alpha, gain))
            y = F.gelu(x) if kind else gain * F.elu(x, alpha)
        elif layer.kind == "sigmoid":
            y = torch.sigmoid(x)
        elif layer.kind == "tanh":
            y = torch.tanh(x)
        elif layer.kind == "softmax":
            y = F.softmax(x, -1)
        elif layer.kind == "relu":
            y = F.relu(x)
        elif layer.kind == "add":
            y = sum(inputs[1:], inputs[0])
        else:
            raise NotImplementedError(layer.kind)
        if node.clamp == 1:
            y = F.relu(y)
        if node.clamp == 6:
            y = F.relu6(y)
        return y.reshape((-1,) + node.shape)

    def _recurrent(self, node, x):
        """By PyTorch's own module, whose inputs are what the layer's Dense has made of the steps: its kernel is the
        identity.
        """
        layer, (kernel, *bias) = node.layer, self.parameters[node]
        width, units = kernel.shape
        module = {"gru": torch.nn.GRU, "lstm": torch.nn.LSTM, "simple_rnn": torch.nn.RNN}[layer.kind]
        module = module(width, units, batch_first=True, dtype=self.dtype)
        rows = torch.arange(width)
        if layer.kind == "gru":  # PyTorch's gates are r, z, n
            rows = torch.cat([rows[units : 2 * units], rows[:units], rows[2 * units :]])
        own = {
            "weight_ih_l0": torch.eye(width, dtype=self.dtype)[rows], "weight_hh_l0": kernel[rows],
            "bias_ih_l0": torch.zeros(width, dtype=self.dtype),
            "bias_hh_l0": bias[0][rows] if bias else torch.zeros(width, dtype=self.dtype),
        }  # fmt: skip
        x = x.reshape(len(x), -1, width)
        begins = self.carried.get(layer.name)
        y, ends = torch.func.functional_call(module, own, (x,) if begins is None else (x, begins))
        if layer.stateful:  # detached: no gradient passes to the batch before
            self.carried[layer.name] = ends.detach() if torch.is_tensor(ends) else tuple(each.detach() for each in ends)
        return y if layer.return_sequences else y[:, -1]

    def _attention(self, layer, inputs):
        """By PyTorch's function, of queries, keys and values [samples, steps, heads * width]."""
        heads = layer.num_heads
        parts = [v.reshape(len(v), v.shape[1], heads, -1).transpose(1, 2) for v in inputs]
        y = F.scaled_dot_product_attention(*parts, is_causal=layer.causal)
        return y.transpose(1, 2).reshape(len(y), y.shape[2], -1)

    def _of_images(self, layer, x, image, kernel, bias):
        """The layers of IMAGES, NCHW."""
        if layer.kind == "upsample2d":
            return F.interpolate(x, scale_factor=_two(layer, layer.size), mode="nearest")
        if layer.kind == "avgpool2d" and layer.adaptive:
            return F.adaptive_avg_pool2d(x, _two(layer, layer.output_size))
        strides = _two(layer, layer.strides)
        if layer.kind.endswith("pool2d"):
            window = _two(layer, layer.pool_size)
            padding = _padding(layer, image, window)
            if layer.kind == "maxpool2d":
                return F.max_pool2d(F.pad(x, padding, value=-float("inf")), window, strides)
            inside = F.avg_pool2d(F.pad(torch.ones_like(x), padding), window, strides)
            return F.avg_pool2d(F.pad(x, padding), window, strides) / inside
        window = _two(layer, layer.kernel_size)
        kernel = kernel.reshape(kernel.shape[0], *window, -1)
        if layer.kind == "transposed2d":
            y = F.conv_transpose2d(x, kernel.permute(3, 0, 1, 2), None, strides)
            (top, rows), (left, columns) = [_crop(*sizes, layer.padding) for sizes in zip(image, window, strides)]
            y = F.pad(y, (0, columns, 0, rows))[:, :, top : top + rows, left : left + columns]
            return y if bias is None else y + bias[:, None, None]
        groups = x.shape[1] if layer.kind == "depthwise2d" else getattr(layer, "groups", 1)
        x = F.pad(x, _padding(layer, image, window))
        return F.conv2d(
            x, kernel.permute(0, 3, 1, 2), bias, strides, dilation=_two(layer, layer.dilation_rate), groups=groups
        )

    def _normalised(self, node, x):
        layer = node.layer
        gamma, beta, *running = self.parameters[node]
        epsilon = struct.unpack("<f", struct.pack("<I", layer.epsilon))[0]
        if not running:
            if type(layer).__name__ == "LayerNorm":
                return F.layer_norm(x, (layer.channels,), gamma, beta, epsilon)
            x = x.reshape(len(x), -1, layer.channels).permute(0, 2, 1)
            return F.group_norm(x, layer.groups, gamma, beta, epsilon).permute(0, 2, 1)
        training = self.training and layer.trainable
        rows = x.reshape(-1, layer.channels)
        if training:
            rest = 1 - layer.momentum
            mean, variance = rows.detach().mean(0), rows.detach().var(0, correction=0)
            running[0].mul_(layer.momentum).add_(rest * mean)
            running[1].mul_(layer.momentum).add_(rest * variance)
            return F.batch_norm(rows, None, None, gamma, beta, True, 0, epsilon)
        return F.batch_norm(rows, *running, gamma, beta, False, 0, epsilon)

    def loss(self, x, y, kind="sparse_categorical_crossentropy"):
        out = self.forward(x)
        name = getattr(kind, "name", kind)
        if name == "sparse_categorical_crossentropy":
            weight = getattr(kind, "class_weight", None)
            if weight is not None:
                weight = torch.tensor(weight, dtype=self.dtype)
            smoothing = getattr(kind, "label_smoothing", 0.0)
            labels = torch.as_tensor(np.asarray(y).astype("int64"))
            return F.cross_entropy(out, labels, weight, label_smoothing=smoothing)
        y = torch.as_tensor(np.asarray(y), dtype=self.dtype).reshape(out.shape)
        if name == "binary_crossentropy":
            return F.binary_cross_entropy_with_logits(out, y)
        if name == "huber":
            return F.huber_loss(out, y, delta=getattr(kind, "delta", 1.0))
        return {"mse": F.mse_loss, "mae": F.l1_loss}[name](out, y)

    def gradients(self, x, y, kind="sparse_categorical_crossentropy"):
        """Gradients in the order of ``get_weights``; None for frozen weights."""
        self.loss(x, y, kind).backward()
        return [None if p.grad is None else p.grad.numpy().ravel() for p in self.flat_parameters()]
