"""Which of its two nearest steps a weight of 4 bits takes: the one by which a layer's outputs on samples change least.

Weights of a row are rounded one after another, each less what those before have left over, as far as their inputs go
together (GPTQ: Frantar et al., 2022; in the order of the inputs' squares, by factors of the inputs' products). Of a few
steps a row gets the one by which its outputs change least. The products are those of integers; factors are float64, in
an order of their own: the same bytes on every PC.
"""

from operator import mul

from ...base.fixed import bits_to_float, float_to_bits

_WINDOWS = 1024  # positions of all samples from which products are taken
_MOST = 256  # weights whose inputs' products are known; those of a longer row are apart
_DAMPING = 0.01  # of the mean square, to all squares
_NEAR = (0.7, 0.78, 0.86, 0.93, 1, 1.07, 1.14, 1.22, 1.3)  # steps that are tried


class Windows:
    """What the weights of a layer's rows meet at some positions of each sample, as integers."""

    def __init__(self, node, sizes, samples):
        layer = node.layer
        self.is_dense = layer.kind == "dense"
        if self.is_dense:
            self.rows, self.features = sizes[:2]
            self.positions = self.rows
            self.parts = 1
        else:
            self.sizes = sizes[:13]
            self.positions = sizes[11] * sizes[12]
            self.parts = sizes[3] if layer.by_channel else sizes[13] if layer.kind == "group_conv2d" else 1
        self.of_each = min(self.positions, -(-_WINDOWS // samples))
        self.found = [[] for _ in range(self.parts)]  # of each channel or group
        self.seen = 0

    def add(self, image):
        """Of one sample: of_each positions, other ones of the next."""
        for _ in range(self.of_each):
            # a step that has no factor in common with most sizes
            self.add_window(image, self.seen * 7919 % self.positions)
            self.seen += 1

    def add_window(self, image, position):
        if self.is_dense:
            self.found[0].append(image[position * self.features : (position + 1) * self.features])
            return
        _, height, width, channels, _, high, wide, down, across, top, left, _, columns = self.sizes
        row, column = divmod(position, columns)
        window = []
        for h in range(row * down - top, row * down - top + high):
            for w in range(column * across - left, column * across - left + wide):
                at = (h * width + w) * channels
                inside = 0 <= h < height and 0 <= w < width
                window.append(image[at : at + channels] if inside else [0] * channels)
        part = channels // self.parts
        for index, found in enumerate(self.found):
            found.append([value for tap in window for value in tap[index * part : (index + 1) * part]])

    def factors(self):
        """Of each channel or group: what Rounding takes."""
        return [_factors(found) for found in self.found]


def _factors(windows):
    """[(weights, in the order in which they are rounded; their factors)], of at most _MOST weights each.

    The products' matrix is L D L', L of ones on its diagonal; the factors of a weight are the row of L of those that
    are rounded after it.
    """
    columns = list(zip(*windows))
    made = []
    for first in range(0, len(columns), _MOST):
        part = columns[first : first + _MOST]
        squares = [sum(map(mul, column, column)) for column in part]
        more = _DAMPING * sum(squares) / len(part) + 1e-9
        order = sorted(range(len(part)), key=lambda k: (squares[k], k))  # the largest is last, and rounded first
        rows = [[float(sum(map(mul, part[i], part[j]))) for j in order[: n + 1]] for n, i in enumerate(order)]
        for n, row in enumerate(rows):
            row[n] += more
        for k, row in enumerate(rows):
            column = [other[k] for other in rows[k + 1 :]]
            for n in range(k + 1, len(rows)):
                other, factor = rows[n], rows[n][k] / row[k]
                other[k] = factor
                other[k + 1 :] = [a - factor * b for a, b in zip(other[k + 1 :], column)]
        made.append(([first + k for k in order], rows))
    return made


def fitted(row, step, most, factors):
    """(step, whole numbers of steps) of the smallest error, of steps near this one."""
    found = [(near, *rounded(row, near, most, factors)) for near in [_stored(step * by) for by in _NEAR]]
    step, _, out = min(found, key=lambda each: each[1])
    return step, out


def _stored(step):
    """As a float32 of it."""
    return bits_to_float(float_to_bits(step))


def rounded(row, step, most, factors):
    """(the squared error of outputs, whole numbers of steps from -most to most) of a row's weights."""
    out, lost = [0] * len(row), 0.0
    for order, rows in factors:
        left = [0.0] * len(order)
        for n in range(len(order) - 1, -1, -1):
            value = row[order[n]]
            q = max(-most, min(most, round((value + left[n]) / step)))
            out[order[n]] = q
            lost += rows[n][n] * (value + left[n] - q * step) ** 2
            error = value - q * step
            left[:n] = [a + error * b for a, b in zip(left, rows[n][:n])]
    return lost, out
