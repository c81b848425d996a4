"""The windows of mean pooling, of either dtype."""


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
