"""What normalisation shares, of either dtype: a tensor is [M][S][G][C].

Each group's S * C numbers are listed by their places.
"""

from ..base.regions import COUNT


def limit(v, low, high):
    return low if v < low else high if v > high else v


def groups(o, positions):
    """Yield (group, [(place in x, channel)]) over the first ``positions``."""
    width = o.G * o.C
    for m in range(o.M):
        for g in range(o.G):
            places = []
            for s in range(positions):
                row = (m * o.S + s) * width
                for n in range(g * o.C, (g + 1) * o.C):
                    places.append((row + n, n))
            yield m * o.G + g, places


def counted(o):
    """Positions that hold a sample: of the first COUNT rows, where the batch's are meant."""
    return min(o.S, max(o.c[COUNT], 1) * o.rows) if o.rows > 0 else o.S
