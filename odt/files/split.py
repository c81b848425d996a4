"""A kernel of which some rows train, in two memories: these rows in the state, the others in flash.

host/rows/split.py plans it, on a PC. Imported only where a model has such a kernel.
"""

from ..plan.values import Buffer

SPLIT = 6  # in place of a region: a whole kernel, or its scales, of which the state has some rows and flash the others


class Split(Buffer):
    """A kernel, or its scales, of rows of ``row`` bytes: those that train lie from ``at`` on in the state, the others
    from ``rest`` on in flash, both without gaps. As a Buffer it begins at 0 of memory().

    ``parts``: values.Part of the rows that train. ``flash``: on the PC that has planned it, the bytes of flash, which
    no file has yet.
    """

    flash = None

    def __init__(self, name, size, role, at, rest, row, parts):
        super().__init__(name, size, None, SPLIT)
        self.offset, self.role = 0, role
        self.at, self.rest, self.row = at, rest, row
        self.parts = [(part.at + part.shift, part.rows, part.at) for part in parts]
        self.trained = sum([rows for _, rows, _ in self.parts])

    def memory(self, state, flash=None):
        """Its bytes as one memory; ``flash``: None to write, which on a board leaves flash as it is."""
        return Joined(self, state, self.flash if flash is None else flash)

    def place(self, row):
        """(whether it is in the state, offset) of a row."""
        before = 0
        for first, count, at in self.parts:
            if row < first:
                break
            if row < first + count:
                return True, self.at + (at + row - first) * self.row
            before += count
        return False, self.rest + (row - before) * self.row


class Joined:
    """The bytes of a Split, by index."""

    def __init__(self, buffer, state, flash):
        self.buffer, self.state, self.flash = buffer, state, flash
        self.row = None

    def _find(self, index):
        row = index // self.buffer.row
        if row != self.row:
            self.row = row
            self.trains, at = self.buffer.place(row)
            self.shift = at - row * self.buffer.row
        return self.shift + index

    def __getitem__(self, index):
        at = self._find(index)
        if self.trains:
            return self.state[at]
        return 0 if self.flash is None else self.flash[at]

    def __setitem__(self, index, value):
        at = self._find(index)
        if self.trains:
            self.state[at] = value
        elif self.flash is not None:
            self.flash[at] = value
