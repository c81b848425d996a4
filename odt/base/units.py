"""Numbers as integers, the same on every interpreter: what odt.online and odt.sensors.rules compute with."""

from .fixed import own

LIMIT = 1 << 20


def fixed_point(kind: "str", x: "float", point: "int" = 16) -> "int":
    """x in units of 2^-point, half up; ValueError for NaN and what is 2^20 or more, TypeError for no number."""
    x = own(x)
    if not isinstance(x, (int, float)):
        raise TypeError("%s: a number is expected, got %r" % (kind, x))
    if not -LIMIT < x < LIMIT:
        raise ValueError("%s: a number below 2^20 is expected, got %r" % (kind, x))
    if isinstance(x, int):
        return x << point
    x *= 1 << point  # exact, as is what follows
    n = int(x)
    x -= n
    return n + (x >= 0.5) - (x < -0.5)
