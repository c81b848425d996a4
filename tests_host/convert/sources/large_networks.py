"""The blocks of networks of phones, for tests of the readers and for bench/."""

from zoo import Inverted


def eighths(channels):
    """MobileNets' widths: multiples of 8, never below nine tenths of what was asked for."""
    rounded = max(8, int(channels + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * channels else rounded


def stack(channels, rows, width=1):
    layers = []
    for expand, filters, count, stride, *kernel in rows:
        filters = eighths(filters * width)
        for index in range(count):
            layers.append(Inverted(channels, filters, 1 if index else stride, expand, *kernel))
            channels = filters
    return channels, layers
