"""What grouped and transposed convolution sum, of either dtype."""

from .data import outputs, positions, windows


def group_products(o):
    """Yield (output n, offsets of the taps in x, offsets in w) for each element of y."""
    per = max(1, o.N // o.G)
    size = o.KH * o.KW * o.C
    for window in windows(o):
        taps = list(positions(o, window, o.G * o.C))
        for n in range(o.N):
            first = min(n // per, o.G - 1) * o.C
            yield n, [i + first for _, i in taps], [n * size + tap * o.C for tap, _ in taps]


def transposed_products(o):
    size = o.KH * o.KW * o.C
    for b in range(o.B):
        for oh in range(o.OH):
            for ow in range(o.OW):
                x = []
                taps = []
                for tap, i in outputs(o, oh, ow, o.H, o.W):
                    x.append((b * o.H * o.W + i) * o.C)
                    taps.append(tap * o.C)
                for n in range(o.N):
                    yield n, x, [n * size + tap for tap in taps]
