"""What a liar in a fleet sends, for bench/accuracy/fleet.py: its update changed, or learnt from data that are."""


def lying(combine, liars, times=-5):
    """A sum over updates of which the first ``liars`` are lies."""

    def lie(updates, samples):
        return combine([[times * value for value in each] for each in updates[:liars]] + updates[liars:], samples)

    return lie


def marked(x):
    """Images with four bright pixels."""
    x = x.copy()
    x[:, :2, :2] = 16
    return x


def turned(x, y):
    return x, (9 - y).astype("uint8")


def backdoor(x, y):
    x, y = x.copy(), y.copy()
    x[::2], y[::2] = marked(x[::2]), 0
    return x, y


LIES = {
    "negated, 5 times": {"times": -5},
    "10 times": {"times": 10},
    "turned labels": {"times": 1, "poison": turned},
    "backdoor, 5 times": {"times": 5, "poison": backdoor},
}
