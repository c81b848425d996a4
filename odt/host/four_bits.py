"""Kernels of 4 bits, of a trained int8 model: each row (output channel) in the scale of the smallest error.

    data = odt.files.frozen.pack(model, bits=4, x=samples)      # comes here
    model.compile(..., frozen=data)                             # host/rows/packed.py

A weight is q steps, q from -7 to 7. Its int8 is 16 q, in the scale of its row, which is a 16th of a step: so
multipliers are about those of other int8 weights, whose loops are the fastest. With samples, rows/gptq.py rounds; what
is left of a row's error moves its output's mean, and the layer's bias takes that back (bias correction: Nagel et al.,
2019). CPython only; integers and float64, which give the same bytes on every PC.
"""

import struct
from collections import Counter

from ..base import executor
from ..base.fixed import bits_to_float, elements, float_to_bits, get
from ..base.regions import COUNT, POSITION
from ..files.frozen import HEADER, layout
from ..inspect.tensors import Map
from ..inspect.packed import stored
from ..plan import linear
from ..run.session import point, ready
from ..run.weights import memory_of
from .rows.gptq import Windows, fitted
from .rows.packed import table

_MOST = 7  # the largest q
_TRIES = [part / 48 / _MOST for part in range(18, 49)] + [1 / q for q in range(1, _MOST)]  # steps, of the largest
_CORRECTED = ("dense", "conv2d", "depthwise2d", "group_conv2d")  # kinds whose biases are


def pack_four(model, bits, x):
    """odt.files.frozen.pack() of a model, some of whose kernels get 4 bits."""
    session = ready(model)
    chosen = _chosen(session, bits)
    if not chosen:
        from ..files.frozen import pack_session

        return pack_session(session)
    means, factors = ({}, {}) if x is None else _measured(model, chosen, x)
    changed = {}
    for layer, weights in session.plan.weights:
        name = layer.name
        if name in chosen:
            changed[name] = _quantized(layer, weights, session, means.get(name), factors.get(name))
    return _joined(session, changed)


def pack_again(session, like=None):
    """The same of a session whose kernels have values of 4 bits where those of ``like`` have 4, bit for bit; without
    ``like``, what its frozen= gave.
    """
    if not like:
        return bytes(session.frozen[: session.plan.constants])
    count = like[HEADER]
    bits = list(like[HEADER + 1 : HEADER + 1 + count])
    changed = {}
    for layer, weights in session.plan.weights:
        if weights.kernel and bits.pop(0) == 4:
            kernel = [value >> 4 for value in _kernel(session, weights)]
            scales, biases = [_bytes(session, each) for each in (weights.scale, weights.bias)]
            changed[layer.name] = kernel, scales, biases
    return _joined(session, changed)


def _chosen(session, bits):
    """Names of the layers whose kernels get 4 bits."""
    if session.dtype != "int8":
        raise ValueError("bits: 4 are for int8 models, this one is %s" % session.dtype)
    if session.plan.rows:
        raise ValueError("bits: compile the model without memory_budget, and without kernels of 4 bits in frozen=")
    kernels = {layer.name: weights for layer, weights in session.plan.weights if weights.kernel}
    frozen = [name for name, weights in kernels.items() if weights.kernel in weights.frozen]
    given = bits if hasattr(bits, "items") else dict.fromkeys(frozen, bits)
    for name, count in given.items():
        if name not in kernels:
            raise KeyError("bits: no layer %r has a kernel; these have: %s" % (name, ", ".join(kernels)))
        if isinstance(count, bool) or count not in (4, 8):
            raise ValueError("bits: 4 or 8 of layer %r, got %r" % (name, count))
        if count == 4 and name not in frozen:
            raise ValueError("bits: layer %r trains, which takes 8 bits; trainable=False freezes it" % name)
    if not frozen:
        raise ValueError("all of the model trains: nothing is frozen")
    return [name for name, count in given.items() if count == 4]


def _bytes(session, buffer):
    """A buffer's bytes; None without a buffer."""
    if not buffer:
        return None
    memory = memory_of(session.state, session.frozen, buffer)
    return bytes(memory[buffer.offset : buffer.offset + buffer.size])


def _kernel(session, weights):
    """The kernel's int8 values."""
    return [byte - 256 if byte > 127 else byte for byte in _bytes(session, weights.kernel)]


def _quantized(layer, weights, session, mean, factors):
    """(values of 4 bits, bytes of the scales, bytes of the biases or None) of a layer."""
    kernel, columns = _kernel(session, weights), weights.columns
    scales = _bytes(session, weights.scale)
    biases = weights.bias in weights.frozen and _bytes(session, weights.bias)
    values, steps, moved = [], [], []
    for row in range(weights.rows):
        whole = kernel[row * columns : (row + 1) * columns]
        scale = bits_to_float(get(scales, 4 * row))
        step = bits_to_float(float_to_bits(scale * step_of(whole)))
        if factors:
            part = factors[row * len(factors) // weights.rows]
            step, four = fitted([value * scale for value in whole], step, _MOST, part)
        else:
            four = [max(-_MOST, min(_MOST, round(value * scale / step))) for value in whole]
        values += four
        steps.append(float_to_bits(step / 16))
        if biases and mean:
            inputs = mean[row * len(mean) // weights.rows] if layer.by_channel or len(mean) > 1 else mean[0]
            lost = sum([(value * scale - q * step) * each for value, q, each in zip(whole, four, inputs)])
            bias = struct.unpack_from("<i", biases, 4 * row)[0] + round(lost * (1 << 20))
            moved.append(max(-(1 << 30), min(1 << 30, bias)))
    if moved:
        biases = struct.pack("<%di" % len(moved), *moved)
    return values, struct.pack("<%dI" % len(steps), *steps), biases


def step_of(row):
    """The step, in units of the row's int8 values, by which q from -7 to 7 have the smallest squared error.

    The best of _TRIES, and of the line through what it rounds to.
    """
    counts = Counter([abs(value) for value in row])
    largest = max(counts)
    if not largest:
        return 1.0

    def error(step):
        return sum([n * (value - min(_MOST, int(value / step + 0.5)) * step) ** 2 for value, n in counts.items()])

    step = min([largest * part for part in _TRIES], key=error)
    rounded = [(value, min(_MOST, int(value / step + 0.5)), n) for value, n in counts.items()]
    best = sum([n * value * q for value, q, n in rounded]) / sum([n * q * q for value, q, n in rounded])
    return min(step, best, key=error)


def _joined(session, changed):
    """The bytes, with these layers' kernels in 4 bits, and their scales and biases."""
    body, bits = bytearray(), []
    for layer, weights in session.plan.weights:
        four = changed.get(layer.name)
        if weights.kernel:
            bits.append(4 if four else 8 if weights.kernel in weights.frozen else 0)
        for buffer in weights.frozen:
            data = _bytes(session, buffer)
            if four:
                data = {weights.kernel: nibbles(four[0]), weights.scale: four[1], weights.bias: four[2] or data}[buffer]
            body += data + bytes(-len(data) % 4)
    if len(bits) > 255:
        raise ValueError("bits: at most 255 layers, got %d" % len(bits))
    body[:0] = table(bits)
    crc = executor.engine.crc32
    return b"ODT4" + struct.pack("<II", crc(layout(session.plan.weights)), crc(body)) + bytes(body)


def nibbles(values):
    """Values of -8 to 7 as inspect/packed.py has them."""
    made = bytearray(stored(len(values)))
    for index, value in enumerate(values):
        at, shift = (index >> 3 << 2) + (index & 3), index & 4
        made[at] |= (value & 15) << shift
    return bytes(made)


class _One:
    """What plan.linear.sizes() asks of a schedule, for one sample."""

    batch = 1


def _measured(model, names, x):
    """Of these layers, by name: the mean over samples and positions of what each weight of a row is multiplied by, and
    what gptq.fitted() takes of them.

    Lists of one of each; of layers by channel, and of groups, of one for each.
    """
    nodes = [node for node in model.nodes if node.layer.name in names]
    nodes = [node for node in nodes if node.layer.kind in _CORRECTED and node.layer.family == "linear"]
    images, windows = _images(model, nodes, x)
    means = {node.layer.name: _windows(node, images[node.inputs[0]]) for node in nodes}
    return means, {node.layer.name: windows[node].factors() for node in nodes}


def _images(model, layers, x):
    """{node: the mean of its output over the samples}, of real numbers, of the nodes before these layers' and, of
    these layers' nodes, Windows.
    """
    nodes = list(dict.fromkeys([node.inputs[0] for node in layers]))
    session, mapped = model.session, Map(model)
    ends = {}
    for node in nodes:
        tensor = mapped.tensors[node.layer.name]
        ends.setdefault(max([piece[0] for piece in tensor.pieces]), []).append((node, tensor))
    totals = {node: [0] * elements(node.shape) for node in nodes}
    x, _, count = session.look_at(x, None, "", True)
    windows = {node: Windows(node, linear.sizes(_One, node), count) for node in layers}
    readers = {node: [windows[each] for each in layers if each.inputs[0] is node] for node in nodes}
    point(session, x, None, count)
    session.prepare(1)
    for position in range(0, count, session.rows):
        session.control[POSITION] = position
        session.control[COUNT] = there = min(session.rows, count - position)
        start = session.sections["predict"][0]
        for end in sorted(ends):
            session.engine.run(session.loaded, session.regions, start, end)
            start = end
            for node, tensor in ends[end]:
                values = [value - tensor.zero for value in tensor.stored(model)]
                size = elements(node.shape)
                for at in range(0, there * size, size):
                    image = values[at : at + size]
                    totals[node] = [a + b for a, b in zip(totals[node], image)]
                    for reader in readers[node]:
                        reader.add(image)
    steps = {node: tensor.step(model) for found in ends.values() for node, tensor in found}
    return {node: [value * steps[node] / count for value in total] for node, total in totals.items()}, windows


def _windows(node, image):
    """The mean over the positions of the output, of what the weights of a row meet."""
    layer = node.layer
    found = linear.sizes(_One, node)
    if layer.kind == "dense":
        rows, features, _ = found
        return [[sum(image[k::features]) / rows for k in range(features)]]
    _, height, width, channels, _, high, wide, down, across, top, left, rows, columns = found[:13]
    sums = [0] * (high * wide * channels)
    for row in range(rows):
        for column in range(columns):
            for h in range(max(0, top - row * down), min(high, height + top - row * down)):
                for w in range(max(0, left - column * across), min(wide, width + left - column * across)):
                    at = ((row * down + h - top) * width + column * across + w - left) * channels
                    into = (h * wide + w) * channels
                    for c in range(channels):
                        sums[into + c] += image[at + c]
    sums = [value / (rows * columns) for value in sums]
    if layer.by_channel:
        return [sums[c::channels] for c in range(channels)]
    groups = found[13] if layer.kind == "group_conv2d" else 1
    part = channels // groups
    taps = range(0, len(sums), channels)
    return [[value for tap in taps for value in sums[tap + g * part : tap + (g + 1) * part]] for g in range(groups)]
