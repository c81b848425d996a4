"""The PyTorch twin of an odt model: the same network, in float32 or float64, by other people's code."""

import struct

import numpy as np
import torch
import torch.nn.functional as F


def _same(x, layer):
    """Pad NCHW as TensorFlow's "same" does."""
    height, width, _, _, kh, kw, sh, sw, top, left, oh, ow = layer.window
    bottom = max((oh - 1) * sh + kh - height - top, 0)
    right = max((ow - 1) * sw + kw - width - left, 0)
    return (left, right, top, bottom)


class Twin:
    """``parameters``: tensors in odt's order and shapes; ``forward(x)`` takes (samples, *shape)."""

    def __init__(self, model, dtype=torch.float64, weights=None):
        self.nodes = model.nodes
        self.dtype = dtype
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
        x = torch.as_tensor(np.asarray(x), dtype=self.dtype)
        outputs = {}
        for node in self.nodes:
            inputs = [outputs[parent] for parent in node.inputs]
            outputs[node] = self._layer(node, inputs) if inputs else x.reshape((-1,) + node.shape)
        return outputs[self.nodes[-1]]

    def _layer(self, node, inputs):
        layer = node.layer
        x = inputs[0]
        kernel, bias = (self.parameters.get(node, []) + [None, None])[:2]
        if layer.kind == "dense":
            y = F.linear(x, kernel, bias)
        elif layer.kind in ("layernorm", "groupnorm", "batchnorm"):
            y = self._normalised(node, x)
        elif layer.kind == "avgpool2d":
            height, width, channels = layer.window[:3]
            kh, kw, sh, sw = layer.window[4:8]
            x = x.reshape(-1, height, width, channels).permute(0, 3, 1, 2)
            if layer.adaptive:
                y = F.adaptive_avg_pool2d(x, layer.window[10:])
            else:
                inside = F.pad(torch.ones_like(x), _same(x, layer))
                y = F.avg_pool2d(F.pad(x, _same(x, layer)), (kh, kw), (sh, sw))
                y = y / F.avg_pool2d(inside, (kh, kw), (sh, sw))
            y = y.permute(0, 2, 3, 1)
        elif layer.kind == "upsample2d":
            height, width, channels, rows, columns = layer.window
            x = x.reshape(-1, height, width, channels).permute(0, 3, 1, 2)
            y = F.interpolate(x, scale_factor=(rows, columns), mode="nearest").permute(0, 2, 3, 1)
        elif layer.kind == "transposed2d":
            height, width, channels, _, kh, kw, sh, sw, top, left, oh, ow = layer.window
            x = x.reshape(-1, height, width, channels).permute(0, 3, 1, 2)
            kernel = kernel.reshape(kernel.shape[0], kh, kw, -1).permute(3, 0, 1, 2)
            y = F.conv_transpose2d(x, kernel, None, (sh, sw))
            y = F.pad(y, (0, ow, 0, oh))[:, :, top : top + oh, left : left + ow].permute(0, 2, 3, 1)
            y = y if bias is None else y + bias
        elif layer.kind == "dropout":
            y = x if self.masks is None else x * self.masks[layer].reshape(x.shape)
        elif layer.kind in ("conv2d", "depthwise2d", "group_conv2d", "maxpool2d"):
            height, width, channels = layer.window[:3]
            kh, kw, sh, sw = layer.window[4:8]
            x = x.reshape(-1, height, width, node.inputs[0].shape[-1]).permute(0, 3, 1, 2)
            if layer.kind == "maxpool2d":
                x = F.pad(x, _same(x, layer), value=-float("inf"))
                y = F.max_pool2d(x, (kh, kw), (sh, sw))
            else:
                x = F.pad(x, _same(x, layer))
                kernel = kernel.reshape(kernel.shape[0], kh, kw, -1).permute(0, 3, 1, 2)
                groups = channels if layer.kind == "depthwise2d" else getattr(layer, "groups", 1)
                y = F.conv2d(x, kernel, bias, (sh, sw), groups=groups)
            oh, ow = layer.window[10:]
            y = y[:, :, :oh, :ow].permute(0, 2, 3, 1)
        elif layer.kind == "globalavg":
            y = x.reshape(x.shape[0], -1, x.shape[-1]).mean(1)
        elif layer.kind in ("flatten", "reshape"):
            y = x
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
