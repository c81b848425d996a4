"""Pooling, of either dtype. Of max-pooling a choice is a number of `bits` for each output, the tap that was largest."""

from .data import first_largest, positions, windows


def choices_fit(o):
    """Whether the instruction's choices are of bits that there are, and lie in its bytes."""
    return o.bits in (1, 2, 4, 8, 16) and (o.B * o.OH * o.OW * o.N * o.bits + 7) // 8 <= o.S


def pool(o, empty):
    """y = the largest of each window, ``empty`` where it has no position; yields the tap of each."""
    at = 0
    for window in windows(o):
        taps = list(positions(o, window, o.N))
        for n in range(o.N):
            best = first_largest(o.x, [i + n for _, i in taps])
            o.y[at] = empty if best is None else o.x[taps[best][1] + n]
            at += 1
            yield 0 if best is None else taps[best][0]


def pool_choosing(o, empty):
    """pool, and the choices packed."""
    if not choices_fit(o):
        return
    packed = [0] * o.S
    for at, tap in enumerate(pool(o, empty)):
        for byte in range((o.bits + 7) // 8):
            value = (tap >> 8 * byte) & 255 & ((1 << o.bits) - 1)
            packed[at * o.bits // 8 + byte] |= value << at * o.bits % 8
    for i in range(o.S):
        o.choice[i] = packed[i] - 256 if packed[i] > 127 else packed[i]


def argmax(o):
    """Yield (offset in x, place in e) of the outputs whose choice lies inside x."""
    at = 0
    for window in windows(o):
        inside = dict(positions(o, window, o.N))
        for n in range(o.N):
            first = at * o.bits // 8
            word = sum([(o.choice[first + k] & 255) << 8 * k for k in range((o.bits + 7) // 8)])
            tap = word >> at * o.bits % 8 & (1 << o.bits) - 1
            if tap in inside:
                yield inside[tap] + n, at
            at += 1


def _axis(size, outputs, taps, stride, pad, adaptive):
    """The (from, to) of each window's positions inside an axis."""
    if adaptive:
        return [(k * size // outputs, ((k + 1) * size - 1) // outputs + 1) for k in range(outputs)]
    starts = [k * stride - pad for k in range(outputs)]
    return [(max(0, start), min(size, start + taps)) for start in starts]


def average_windows(o):
    """Yield each pooling window's offsets in x, in the order (b, oh, ow), then (ih, iw)."""
    rows = _axis(o.H, o.OH, o.KH, o.SH, o.PT, o.adaptive)
    columns = _axis(o.W, o.OW, o.KW, o.SW, o.PL, o.adaptive)
    for b in range(o.B):
        for top, bottom in rows:
            for left, right in columns:
                offsets = []
                for h in range(top, bottom):
                    for w in range(left, right):
                        offsets.append(((b * o.H + h) * o.W + w) * o.N)
                yield offsets
