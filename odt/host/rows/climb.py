"""Placement that searches for longer: where place.py's orders leave the arena far above its bound.

Hill climbing over orders of first fit: something that ends too high comes sooner, or something that it meets comes
later; a change that does not take more bytes stays. It begins with the large shapes alone, from several orders, and
goes on with all of them from those that fit. Each time it finds the same.
"""

from ...base.fixed import hash32

_LARGE = 32  # part of the bound
_STARTS, _CLIMBS = 48, 600
_FITS = 4000  # orders that are tried at most, some eight seconds of a large network
_PARTS, _SPREAD = 64, 64  # an order's sizes are drawn up to twice as large


class Climb:
    """Places ``shapes``, lists of (shift, size, first, last); ``fixed``: the number of the one that lies at 0."""

    def __init__(self, shapes, fixed=None):
        self.fixed, self.meets, self.left = fixed, meetings(shapes), _FITS
        self.sizes = [max([at + size for at, size, _, _ in shape]) for shape in shapes]

    def best(self, enough):
        """(bytes, offsets) of the first placement that takes ``enough`` bytes at most, or of the best."""
        numbers = [n for n in range(len(self.sizes)) if n != self.fixed]
        large = [n for n in numbers if self.sizes[n] * _LARGE > enough]
        small = sorted(set(numbers) - set(large), key=lambda n: -self.sizes[n])
        best = None
        for start in range(_STARTS):
            if best and not self.left:
                break
            drawn = {n: -self.sizes[n] * (_PARTS + hash32(start, n) % _SPREAD * bool(start)) for n in large}
            order, total, _ = self._climb(sorted(large, key=drawn.get), enough, start)
            if total <= enough or not start:
                _, *found = self._climb(order + small, enough, start)
                best = min(best or found, found, key=lambda each: each[0])
                if best[0] <= enough:
                    break
        return best[0], [best[1][n] for n in range(len(self.sizes))]

    def _climb(self, order, enough, key):
        """(order, bytes, offsets)"""
        total, offsets = first_fit(order, self.sizes, self.meets, self.fixed, None)
        for turn in range(_CLIMBS):
            if total <= enough or not order or not self.left:
                break
            self.left -= 1
            draws = [hash32(hash32(key, turn), each) for each in range(3)]
            high = [at for at, n in enumerate(order) if offsets[n] + self.sizes[n] > enough]
            at = high[draws[0] % len(high)] if high else 0
            near = self.meets[order[at]]
            if draws[1] & 3 == 0 and near:
                other = near[(draws[1] >> 2) % len(near)][0]
                if other not in offsets or other == self.fixed:
                    continue
                at = order.index(other)
                to = at + draws[2] % (len(order) - at)
            else:
                to = draws[2] % at if at else 0
            changed = order[:at] + order[at + 1 :]
            changed.insert(to, order[at])
            most, found = first_fit(changed, self.sizes, self.meets, self.fixed, total)
            if found:
                order, total, offsets = changed, most, found
        return order, total, offsets


def meetings(shapes):
    """By number, what each shape meets: (other, low, high). It must not begin strictly between ``low`` and ``high``
    bytes after the other.
    """
    ordered = sorted((first, last, n, at, size) for n, shape in enumerate(shapes) for at, size, first, last in shape)
    met, running = {}, []
    for first, last, n, at, size in ordered:
        running = [each for each in running if each[0] >= first]
        for _, other, at_other, size_other in running:
            if other != n:
                met.setdefault((n, other), set()).add((at_other - at - size, at_other + size_other - at))
                met.setdefault((other, n), set()).add((at - at_other - size_other, at + size - at_other))
        running.append((last, n, at, size))
    found = [[] for _ in shapes]
    for (n, other), gaps in met.items():
        found[n] += [(other, low, high) for low, high in _joined(gaps)]
    return found


def first_fit(order, sizes, meets, fixed, most):
    """(bytes, offsets by number), one after the other at the lowest place; offsets are None where that takes more than
    ``most`` bytes.
    """
    offsets, total = {}, 0
    if fixed is not None:
        offsets[fixed], total = 0, sizes[fixed]
    for n in order:
        blocked = [(offsets[m] + low, offsets[m] + high) for m, low, high in meets[n] if m in offsets]
        blocked.sort()
        offset = 0
        for low, high in blocked:
            if low >= offset:
                break
            if high > offset:
                offset = high
        total = max(total, offset + sizes[n])
        if most is not None and total > most:
            return total, None
        offsets[n] = offset
    return total, offsets


def _joined(gaps):
    """Gaps without overlaps: an offset strictly between the ends of one does not do."""
    found = []
    for low, high in sorted(gaps):
        if found and low < found[-1][1]:
            found[-1] = found[-1][0], max(high, found[-1][1])
        else:
            found.append((low, high))
    return found
