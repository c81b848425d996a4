"""The progress line of fit(): one line an epoch, rewritten in place about four times a second."""

import sys
import time

from ..base.fixed import bits_to_float, get

if hasattr(time, "ticks_ms"):
    now = time.ticks_ms
    since = time.ticks_diff
else:

    def now():
        return int(time.monotonic() * 1000)

    def since(later, earlier):
        return later - earlier


class Progress:
    """Counts steps and time. A pipe gets whole lines only."""

    def __init__(self, epochs):
        self.epochs = epochs
        self.done = 0  # steps since the first that was counted
        self.current = 0
        self.width = 0
        self.elapsed = 0
        self.last = now()
        self.rewrite = not hasattr(sys.stdout, "isatty") or sys.stdout.isatty()

    def due(self):
        """Count a step; True when the line should be rewritten."""
        self.done += 1
        if not self.rewrite or since(now(), self.last) < 250:
            return False
        self._tick()
        return True

    def _tick(self):
        here = now()
        self.elapsed += since(here, self.last)
        self.last = here

    def _write(self, epoch, text, end):
        text = "epoch %d/%d  %s" % (epoch + 1, self.epochs, text)
        padding = " " * (self.width - len(text))
        self.width = 0 if end == "\n" else len(text)
        sys.stdout.write(("\r" if self.rewrite else "") + text + padding + end)
        if hasattr(sys.stdout, "flush"):
            sys.stdout.flush()

    def _rate(self, epoch, step, steps):
        """Time a step, and the time left if the steps of an epoch are known."""
        per_step = self.elapsed / max(self.done, 1)
        text = ("%.1f ms/step" if per_step < 100 else "%.0f ms/step") % per_step
        if steps is None:
            return text
        left = int(((self.epochs - epoch) * steps - step) * per_step / 1000)
        return text + "  %d:%02d left" % (left // 60, left % 60)

    def step(self, epoch, step, steps, results):
        """Write the line of a step, counted from 1, of ``steps`` (None if not known) an epoch."""
        count = "%d" % step if steps is None else "%d/%d" % (step, steps)
        text = "%s  %s  %s" % (count, _results(results), self._rate(epoch, step, steps))
        self._write(epoch, text, "")

    def epoch(self, epoch, steps, results):
        """Write the line that stays."""
        self._tick()
        self._write(epoch, "%s  %s" % (_results(results), self._rate(epoch, steps, steps)), "\n")

    def end(self, session):
        """Say what int8 could not hold of the input."""
        found = clipped(session)
        if found:
            print("warning: " + CLIPPED % ((session.input.name,) + found))


CLIPPED = "%s: a value of %.3g was clipped, the range of int8 is now %.3g: an outlier? Input(limit=) fixes the range"
_MANY = 4  # times the range


def clipped(session):
    """(the largest magnitude of the input in training, its range) where int8 clipped much of it, else None."""
    plan = session.plan
    if plan.x_seen is None:
        return None
    seen, scale = [bits_to_float(get(session.state, buffer.offset)) for buffer in (plan.x_seen, plan.x_scale)]
    return (seen, 127 * scale) if seen > _MANY * 127 * scale else None


def _results(results):
    words = []
    for name, value in zip(("loss", "acc", "val_loss", "val_acc"), results):
        if value is not None:
            words.append("%s %.4f" % (name, value))
    return "  ".join(words)
