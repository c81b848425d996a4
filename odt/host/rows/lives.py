"""How many bytes live at once while a stage runs: for choose.py, before there are instructions."""


class Lives:
    """How long things live, by keys, in steps; what has no key lives throughout, and is not counted."""

    def __init__(self, sizes):
        self.sizes = dict(sizes)
        self.first = dict.fromkeys(sizes, 0)
        self.last = dict.fromkeys(sizes, 0)
        self.now = 0
        self.stay = []  # keys of rows that live to the end
        self.shared = []  # (step, key that is made, key in whose memory it may lie)

    def give(self, sizes):
        """More that lives from the beginning."""
        self.sizes.update(sizes)
        self.first.update(dict.fromkeys(sizes, 0))
        self.last.update(dict.fromkeys(sizes, 0))

    def step(self, read, made=None, size=0, source=None):
        """One reads these keys and may write one; ``source``: in whose memory, if it is as large and dies there."""
        for key in read:
            if key in self.last:
                self.last[key] = self.now
        if made is not None:
            if made not in self.first:
                self.sizes[made], self.first[made] = size, self.now
                if source in self.last:
                    self.shared.append((self.now, made, source))
            self.last[made] = self.now
        self.now += 1

    def most(self, whole):
        for key in [key for key in (*whole, *self.stay) if key in self.last]:
            self.last[key] = self.now
        homes = {}
        for step, made, source in self.shared:
            source = homes.get(source, source)
            if self.last[source] == step and self.sizes[source] == self.sizes[made]:
                homes[made] = source
                self.last[source] = self.last[made]
        live = [0] * (self.now + 2)
        for key, size in self.sizes.items():
            if key not in homes:
                live[self.first[key]] += size + 3 & ~3
                live[self.last[key] + 1] -= size + 3 & ~3
        most = total = 0
        for change in live:
            total += change
            most = max(most, total)
        return most
