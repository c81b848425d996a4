"""What the PC makes of a round's updates. All of it is integers, and no order of the updates changes it.

Each function takes ``updates``, lists of integers of one length, and ``samples``, of each the number of its samples. It
returns a list. ``mean`` weighs by samples (FedAvg: McMahan et al., 2017); a liar can give any number of them, so the
others do not.
"""

import functools


def rounded(total, count):
    """total / count, to nearest, half up."""
    return (2 * total + count) // (2 * count)


def mean(updates, samples):
    """The mean, each update weighed by its samples."""
    count = sum(samples)
    totals = [0] * len(updates[0])
    for update, weight in zip(updates, samples):
        totals = [total + weight * value for total, value in zip(totals, update)]
    return [rounded(total, count) for total in totals]


def median(updates, samples):
    """Of each weight the median (Yin et al., 2018): withstands liars that are fewer than half of the nodes."""
    return trimmed(updates, samples, (len(updates) - 1) // 2)


def trimmed(updates, samples, cut=None):
    """Of each weight the mean without the ``cut`` smallest and largest, a fifth of the nodes each if not given (Yin et
    al., 2018): withstands that many liars.
    """
    count = len(updates)
    cut = count // 5 or int(count > 2) if cut is None else cut
    if not 0 <= 2 * cut < count:
        raise ValueError("trimmed: of %d updates %d cannot be cut on each side" % (count, cut))
    kept = count - 2 * cut
    return [rounded(sum(sorted(column)[cut : cut + kept]), kept) for column in zip(*updates)]


def krum(updates, samples, liars=None):
    """The mean of the updates that lie nearest to the others (MultiKrum: Blanchard et al., 2017).

    ``liars``: how many it withstands, a fifth of the nodes if not given; 2 * liars + 2 < nodes, else it is lowered.
    """
    count = len(updates)
    liars = count // 5 or int(count > 4) if liars is None else liars
    liars = max(0, min(liars, (count - 3) // 2))
    ranked = []
    for update in updates:
        far = sorted([sum([(a - b) ** 2 for a, b in zip(update, other)]) for other in updates])
        ranked.append((sum(far[: max(2, count - liars - 1)]), update))  # itself is among them, with 0
    best = [update for _, update in sorted(ranked)[: count - liars]]
    return mean(best, [1] * len(best))


def masked(updates, samples):
    """The mean of masked updates (odt.fleet.secret), each of the same weight: masks cancel modulo 2^32."""
    totals = [sum(column) & 0xFFFFFFFF for column in zip(*updates)]
    return [rounded((total ^ 1 << 31) - (1 << 31), len(updates)) for total in totals]


SUMS = {"mean": mean, "median": median, "trimmed": trimmed, "krum": krum}

_MANY = 64  # nodes: krum compares each pair of updates


class Robust:
    """The sum that ``odt fleet --robust`` chooses for this number of nodes. Its str() says what it withstands.

    liars: how many nodes may be such, a tenth of all and at least one if not given. Of few nodes it is the median, of
    up to 64 krum, of more nodes trimmed; of ``scalars``, one number of each node, the median. ValueError where no sum
    withstands that many.
    """

    def __init__(self, nodes, liars=None, scalars=False):
        liars = max(1, nodes // 10) if liars is None else liars
        if liars < 1 or nodes <= 2 * liars:
            raise ValueError("a sum withstands fewer liars than half of the nodes, got %d of %d" % (liars, nodes))
        self.liars = liars
        if scalars or nodes < 2 * liars + 3:
            self.name, self.sum, self.liars = "median", median, (nodes - 1) // 2
        elif nodes <= _MANY:
            self.name, self.sum = "krum", functools.partial(krum, liars=liars)
        else:
            self.name, self.sum = "trimmed", functools.partial(_trimmed_to, cut=liars)

    def __call__(self, updates, samples):
        return self.sum(updates, samples)

    def __str__(self):
        return "%s withstands %s" % (self.name, "one liar" if self.liars == 1 else "%d liars" % self.liars)


def _trimmed_to(updates, samples, cut):
    """``trimmed``, of as many as there are: nodes may be missing in a round."""
    return trimmed(updates, samples, min(cut, (len(updates) - 1) // 2))
