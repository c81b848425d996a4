"""What only moves bytes, and so serves either dtype: tensors into one and apart, images enlarged."""


def place(o):
    if fits(o):
        for m in range(o.M):
            first = m * o.N + o.at
            o.y[first : first + o.K] = o.x[m * o.K : (m + 1) * o.K]


def slice(o):
    inside = fits(o)
    for m in range(o.M):
        first = m * o.N + o.at
        for k in range(o.K):
            o.y[m * o.K + k] = o.x[first + k] if inside else 0


def fits(o):
    """Whether columns at .. at + K lie among N."""
    return 0 <= o.at and o.K <= o.N and o.at <= o.N - o.K


# Images enlarged: x[h, w] becomes SH rows of SW columns


def copies(o, row, w, width):
    """Yield the offsets of x[row, w]'s copies in an enlarged image, of all batches' rows."""
    for sh in range(o.SH):
        for sw in range(o.SW):
            yield ((row * o.SH + sh) * width + w * o.SW + sw) * o.N


def upsample2d(o):
    size = o.N
    width = o.W * o.SW
    for row in range(o.B * o.H):
        for w in range(o.W):
            at = (row * o.W + w) * size
            for i in copies(o, row, w, width):
                o.y[i : i + size] = o.x[at : at + size]
