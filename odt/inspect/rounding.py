"""What eight bits lose while a model trains: a line at the end of an epoch, with the layer and what helps.

    from odt.inspect import Rounding

    with Rounding(model) as rounding:
        model.fit(x, y, epochs=10, callbacks=[rounding])

Three things cost accuracy where float32 loses nothing: samples of which one value in a thousand takes most of the
range, two features that differ by a few steps, and outputs of a regression that move by a few steps. Steps run in
pieces (watch.py): no bit changes.
"""

from array import array

from .tensors import Ranges

if 1 - 1:  # for type checkers alone
    from ..model import Model

_EVERY = 8  # steps from one that is looked at to the next
BULK = 16  # steps that the middle half of the samples' numbers spans, at least
TAIL = 4  # deviations that the range reaches, at least, where that is a tail's doing
LEVELS = 16  # values that are taken, more than those of flags and counts
MOVES = 4  # steps of the deviation of an output, at least
FEW = 256  # numbers of samples, before anything is said
PAIRS = 16  # features, at most, of which every two are compared
APART = 8  # times the deviation of a difference that its features deviate by, at least, where it is said to be fine
TAILED = (
    "%s: half of its numbers lie within %d of 255 steps, a few take the rest: give it odt.data.Companding(features)"
)
NEAR = "%s, features %d and %d: differ by %.1f of 255 steps: where that decides, give it odt.data.Whitening(features)"
SMALL = "%s, output %d: moves by %.1f of 255 steps: train odt.data.ScaledTargets(model)"


class Rounding(Ranges):
    """``with Rounding(model) as rounding:``, a callback of ``fit`` there: at the end of an epoch it prints a line for
    the input and for each output that int8 holds badly, once each.

    ``lines``: all of them so far. It takes 1 KB, 1 KB per output, and 4 bytes for each two of up to 16 features.
    TypeError for a model that is not int8.
    """

    lines: "list[str]"

    def __init__(self, model: "Model") -> None:
        super().__init__(model)
        self.ends = model.nodes[0].layer.name, model.nodes[-1].layer.name
        self.tensors = [tensor for tensor in self.tensors if tensor.name in self.ends]
        self.lines = []
        layer = model.nodes[0].layer
        self.fine = layer.dtype not in ("int8", "uint8")  # samples of int8 and uint8 have 8 bits themselves
        self.width = layer.shape[-1] if self.fine and layer.shape[-1] <= PAIRS else 0  # features that are compared
        self.pairs = {}  # two features -> how often they differed, the sum of the squares, in steps
        self.counts = {}  # (name, channel) -> how often each of 256 values was there; of an input the channel is 0
        self.steps = 0

    def on_epoch_end(self, epoch: "int", logs: "dict[str, float]") -> None:
        known = [line.split(":")[0] for line in self.lines]
        for line in self.found():
            if line.split(":")[0] not in known:
                self.lines.append(line)
                print(line)
        self.counts, self.pairs = {}, {}

    def found(self) -> "list[str]":
        """A line for what this epoch has shown to be held badly."""
        lines = []
        for name, channel in sorted(self.counts):
            counts = self.counts[name, channel]
            total = sum(counts)
            mean = sum([value * count for value, count in enumerate(counts)]) / total
            deviation = (sum([(value - mean) ** 2 * count for value, count in enumerate(counts)]) / total) ** 0.5
            if name == self.ends[0] and self.fine:
                span = _quantile(counts, 0.75) - _quantile(counts, 0.25)
                levels = len([count for count in counts if count])
                if total >= FEW and span < BULK and deviation * TAIL < 127 and levels > LEVELS:
                    lines.append(TAILED % (name, span + 1))
                lines += self._alike(name, deviation)
            elif name != self.ends[0] and self.session.loss.degree and deviation < MOVES:
                lines.append(SMALL % (name, channel, deviation))
        return lines

    def _alike(self, name, deviation):
        """A line for the two features that differ least, if by less than int8's steps can tell well."""
        apart = [((squares / count) ** 0.5, pair) for pair, (count, squares) in self.pairs.items() if count]
        if not apart or min(apart)[0] >= min(MOVES, deviation / APART):
            return []
        steps, (one, other) = min(apart)
        return [NEAR % (name, one, other, steps)]

    def _compare(self, stored, here):
        width, pairs = self.width, self.pairs
        for i in range(width):
            for j in range(i):
                count, squares = pairs.get((j, i), (0, 0))
                for first in range(0, here, width):
                    apart = stored[first + i] - stored[first + j]
                    if apart:
                        count += 1
                        squares += apart * apart
                pairs[j, i] = count, squares

    def _call(self, tensor):
        first = tensor is self.tensors[0]
        channels = 1 if tensor.name == self.ends[0] else tensor.shape[-1]

        def count():
            if first:
                self.steps += 1
            if self.steps % _EVERY != 1:
                return
            stored = tensor.stored(self.model)
            here = self.session.count * len(stored) // self.session.rows  # without padding
            if tensor.name == self.ends[0]:
                self._compare(stored, here)
            for channel in range(channels):
                if (tensor.name, channel) not in self.counts:
                    self.counts[tensor.name, channel] = array("i", bytes(1024))
                counts = self.counts[tensor.name, channel]
                for index in range(channel, here, channels):
                    counts[stored[index] + 128] += 1

        return count


def _quantile(counts, share):
    """The value below which that share lies."""
    left = share * sum(counts)
    for value, count in enumerate(counts):
        left -= count
        if left < 0:
            return value
    return 255
