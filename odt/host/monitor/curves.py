"""Loss and accuracy, read from what fit() prints: odt/run/progress.py writes these lines.

What a script or a serial line mixes into them is kept apart; a line that is not whole is counted and left out.
"""

import re

NAMES = ("loss", "acc", "val_loss", "val_acc")

# No more digits than fit() prints: a float32 has 39 before its point at most. What has more is damage.
_VALUE = r"(-?\d{1,39}\.\d{4}|-?inf|nan)"
_COUNT = r"\d{1,18}"
_LINE = re.compile(
    rf"epoch (?P<epoch>{_COUNT})/(?P<epochs>{_COUNT})  (?:(?P<step>{_COUNT})(?:/(?P<steps>{_COUNT}))?  )?"
    rf"loss {_VALUE}(?:  acc {_VALUE})?(?:  val_loss {_VALUE}(?:  val_acc {_VALUE})?)?  "
    rf"(?P<rate>{_COUNT}(?:\.\d)?) ms/step(?P<left>  {_COUNT}:\d\d left)?"
)
_LONGEST = 4096  # characters of a line that does not end: what comes after them is another
_FRAGMENT = re.compile(r"epoch \d+/\d+  |  loss \d|ms/step|\d:\d\d left")


class Fit:
    """One call of fit().

    ``epochs`` asked for; ``rows``, {epoch from 1: (loss, acc, val_loss, val_acc)}, None for what was not measured;
    ``steps``, [(epochs done, loss, acc)]: means over the epoch so far; ``last``, (epoch, step, steps) or Nones of
    these; ``rate`` and ``left``: the words of the line.
    """

    def __init__(self, epochs):
        self.epochs = epochs
        self.rows = {}
        self.steps = []
        self.at = (0, 0)
        self.last = (None, None, None)
        self.rate = self.left = ""

    def curve(self, name):
        """[(epochs done, value)] of a figure: an epoch's once it is complete, the means so far of the last one."""
        index = NAMES.index(name)
        points = [(epoch, row[index]) for epoch, row in sorted(self.rows.items()) if row[index] is not None]
        if index < 2:
            done = max(self.rows, default=0)
            points += [
                (step[0], step[1 + index]) for step in self.steps if step[0] > done and step[1 + index] is not None
            ]
        return points


class Curves:
    """Feed it the text as it comes. ``fits``; ``damaged``, how many lines were left out."""

    def __init__(self):
        self.fits = []
        self.damaged = 0
        self._rest = ""

    def feed(self, text, end=False):
        """Returns the lines that are not fit()'s: a script's own."""
        pieces = re.split(r"[\r\n]", self._rest + text)
        self._rest = "" if end else pieces.pop()
        own = []
        for piece in pieces:
            own += self._line(piece.rstrip())
        if len(self._rest) > _LONGEST:
            own += self._line(self._rest)
            self._rest = ""
        match = _LINE.search(self._rest)
        # A line that will be rewritten in place is not ended: its last word tells that it is whole.
        if match and match["step"] and match["left"] and match.end() == len(self._rest.rstrip()):
            self._take(match)
        return own

    def _line(self, line):
        match = _LINE.search(line)
        if match and self._take(match):
            around = line[: match.start()], line[match.end() :].strip()
            return [words for words in around if words.strip()]
        self.damaged += bool(_FRAGMENT.search(line))
        return [line] if line else []

    def _take(self, match):
        epoch, epochs = int(match["epoch"]), int(match["epochs"])
        step = match["step"] and int(match["step"])
        steps = match["steps"] and int(match["steps"])
        values = [match[index] and float(match[index]) for index in (5, 6, 7, 8)]
        loss, accuracy = values[:2]
        shares = [value for value in (accuracy, values[3]) if value is not None]
        if not 1 <= epoch <= epochs or (steps and step > steps) or not all(0 <= share <= 1 for share in shares):
            return False
        at = (epoch, float("inf") if step is None else step)
        fit = self.fits[-1] if self.fits else None
        again = fit and (at <= fit.at if step is None else at < fit.at)
        if fit is None or again or fit.epochs != epochs:
            fit = Fit(epochs)
            self.fits.append(fit)
        if step is None:
            fit.rows[epoch] = tuple(values)
        elif at > fit.at:
            # Where the steps of an epoch are not known yet, its middle stands for all of it.
            fit.steps.append((epoch - 1 + (step / steps if steps else 0.5), loss, accuracy))
        fit.at = at
        fit.last = (epoch, step, steps)
        fit.rate, fit.left = match["rate"] + " ms/step", (match["left"] or "").strip()
        return True
