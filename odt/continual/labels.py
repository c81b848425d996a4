"""Labels that are few or weak: which samples to ask a person about, rules that vote, the network's own answers.

ask = labels.query(model, x, 10)                     # the ten that teach most
votes = labels.Votes([rule, another], classes=3)     # each: sample -> class, or None
sure, y = labels.pseudo(model, x, 0.95)              # where the network is sure, and of what

All in integers, of float32 outputs: the same choices on every machine.
"""

from array import array

from ..base.fixed import hash32, is_int, is_number
from ..base.primitives import log2q, millionths
from ..run.posteriors import normal, probabilities

if 1 - 1:  # for type checkers alone
    from collections.abc import Callable, Sequence
    from typing import Any, Literal

    from ..online import OSELM
    from ..run.network import Network

    Measure = Literal["margin", "entropy", "least_confidence"]

_ONE = 65536
_MEASURES = ("margin", "entropy", "least_confidence")


def uncertainty(model: "Network | OSELM", x: "Any", by: "Measure" = "margin") -> "array[int]":
    """array('i'), for each sample how little the model knows about it, 0 .. 65536.

    ``by``: "margin", 1 less what the best class is ahead of the second (Scheffer et al., 2001); "entropy" of all
    classes, over that of equal ones; "least_confidence", 1 less the best (both in Settles, 2009). Of an OSELM of
    odt.online ``x`` is one sample.
    """
    _check_measure(by)
    return array("i", [_measure(row, by) for row in probabilities(model, x)])


def query(
    model: "Network",
    x: "Any",
    count: "int",
    by: "Literal['margin', 'entropy', 'least_confidence', 'coreset']" = "margin",
) -> "list[int]":
    """Indices of the ``count`` samples of ``x`` to have labelled next, the first most urgent; all, where there are no
    more.

    ``by``: of ``uncertainty``; or "coreset", samples that are far from one another: each next is the one whose
    probabilities are farthest from those chosen (Sener and Savarese, 2018), the first the least certain. Ties: the
    first.
    """
    if not is_int(count) or count < 1:
        raise ValueError("query: count is an int above 0, got %r" % (count,))
    if by != "coreset":
        scores = uncertainty(model, x, by)
        return sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:count]
    rows = probabilities(model, x)
    far = [_measure(row, "margin") for row in rows]
    chosen = []
    while len(chosen) < min(count, len(rows)):
        best = far.index(max(far))
        for index in range(len(rows)):
            distance = sum([(a - b) ** 2 for a, b in zip(rows[index], rows[best])])
            far[index] = distance if not chosen else min(far[index], distance)
        chosen.append(best)
        far[best] = -1  # and stays the least
    return chosen


class Asker:
    """Decides about samples as they come: the least certain ``share`` of the last ``window`` are asked about,
    ``budget`` in all.

    ``wants(x)`` of a sample says whether to ask; who gets no answer calls ``unanswered()``, and the budget has it
    again. RAM: four bytes for each sample of the window.
    """

    budget: "int"
    asked: "int"
    seen: "int"

    def __init__(
        self,
        model: "Network | OSELM",
        budget: "int",
        share: "float" = 0.1,
        window: "int" = 50,
        by: "Measure" = "margin",
    ) -> None:
        _check_measure(by)
        for name, value in (("budget", budget), ("window", window)):
            if not is_int(value) or value < 1:
                raise ValueError("Asker: %s is an int above 0, got %r" % (name, value))
        self.model, self.budget, self.by = model, budget, by
        self.rank = _part("Asker: share", share, window)
        if not self.rank:
            raise ValueError("Asker: share %r of a window of %d is less than one sample" % (share, window))
        self.asked = self.seen = 0
        self._last = array("i", bytes(4 * window))

    def wants(self, x: "Any") -> "bool":
        """Whether to ask about ``x``, one sample; it counts as asked.

        False while fewer samples than ``1 / share`` have come.
        """
        scores = uncertainty(self.model, x, self.by)
        if len(scores) != 1:
            raise ValueError("wants: one sample is expected, got %d" % len(scores))
        score, window = scores[0], len(self._last)
        known = min(self.seen, window)
        above = alike = 0
        for index in range(known):
            above += self._last[index] > score
            alike += self._last[index] == score
        above += alike * (hash32(known, self.seen) >> 16) >> 16  # by lot: a model that knows nothing finds all alike
        self._last[self.seen % window] = score
        self.seen += 1
        if self.asked >= self.budget or known * self.rank < window or above * window >= self.rank * known:
            return False
        self.asked += 1
        return True

    def unanswered(self) -> None:
        """One question had no answer. ValueError where none was asked."""
        if not self.asked:
            raise ValueError("unanswered: nothing was asked")
        self.asked -= 1


class Votes:
    """Rules that label, each right in some cases: weak supervision.

    ``rules``: functions of a sample, which give its class, or None to abstain. ``fit(samples)`` finds how often each is
    right, by how they agree (Dawid and Skene, 1979, with one number a rule; expectation maximisation). Before ``fit``
    the majority decides.
    """

    classes: "int"
    accuracies: "list[int] | None"

    def __init__(self, rules: "Sequence[Callable[[Any], int | None]]", classes: "int") -> None:
        if not is_int(classes) or not 2 <= classes <= 127:
            raise ValueError("Votes: classes is an int in 2..127, got %r" % (classes,))
        self.rules, self.classes = list(rules), classes
        if not self.rules:
            raise ValueError("Votes: at least one rule is expected")
        self.accuracies = None  # after fit(): of each rule, in 65536ths

    def votes(self, samples: "Any") -> "array[int]":
        """array('b'), of each sample a vote for each rule: a class, -1 where it abstains."""
        found = array("b")
        for number, sample in enumerate(samples):
            for rule in self.rules:
                vote = rule(sample)
                if vote is None:
                    vote = -1
                elif not is_int(vote) or not 0 <= vote < self.classes:
                    raise ValueError("Votes: %s of sample %d: a class of 0..%d or None, got %r" % (
                        _name(rule), number, self.classes - 1, vote))  # fmt: skip
                found.append(vote)
        return found

    def fit(self, samples: "Any", rounds: "int" = 50) -> None:
        """Estimate ``accuracies`` from samples without labels; ends early where they stay.

        ValueError for a rule that never votes.
        """
        votes, count, classes = self.votes(samples), len(self.rules), self.classes
        if not votes:
            raise ValueError("Votes: fit has no samples")
        voted = [0] * count
        for index, vote in enumerate(votes):
            voted[index % count] += vote >= 0
        for rule, times in zip(self.rules, voted):
            if not times:
                raise ValueError("Votes: %s abstains on all %d samples" % (_name(rule), len(votes) // count))
        accuracies = None
        for _ in range(rounds):
            right = [0] * count
            for at in range(0, len(votes), count):
                row = self._posterior(votes, at, accuracies)
                for rule in range(count):
                    if votes[at + rule] >= 0:
                        right[rule] += row[votes[at + rule]]
            # Better than chance, and never sure: a rule that is wrong more often would turn the classes round.
            least = _ONE // classes + 1
            new = [min(max(total // times, least), _ONE - 64) for total, times in zip(right, voted)]
            if new == accuracies:
                break
            accuracies = new
        self.accuracies = accuracies

    def labels(self, samples: "Any", least: "float" = 0) -> "array[int]":
        """array('b') of classes; -1 where no rule votes, where two classes are level, or where the best has a
        probability below ``least``.
        """
        limit = _part("labels: least", least, _ONE)
        votes, count = self.votes(samples), len(self.rules)
        found = array("b")
        for at in range(0, len(votes), count):
            row = self._posterior(votes, at, self.accuracies)
            best = row.index(max(row))
            level = sum([value == row[best] for value in row]) > 1
            found.append(-1 if level or row[best] < limit else best)
        return found

    def _posterior(self, votes, at, accuracies):
        """Probability of each class in 65536ths, from the votes of one sample.

        Without accuracies each rule counts the same.
        """
        classes = self.classes
        row = [0] * classes
        for rule in range(len(self.rules)):
            vote = votes[at + rule]
            if vote >= 0:
                accuracy = accuracies[rule] if accuracies else _ONE * 7 // 10
                wrong = max((_ONE - accuracy) // (classes - 1), 1)
                row[vote] += max(log2q(accuracy) - log2q(wrong), 0)
        return normal([max(row) - value for value in row])


def pseudo(
    model: "Network", x: "Any", least: "float" = 0.95, each: "int | None" = None
) -> "tuple[array[int], array[int]]":
    """``(indices, labels)`` of the samples of ``x`` whose best class has at least this probability (Lee, 2013).

    ``each``: at most this many per class, the surest ones, so that one class does not drown the others. Both are
    array('i').
    """
    limit = _part("pseudo: least", least, _ONE)
    if each is not None and (not is_int(each) or each < 1):
        raise ValueError("pseudo: each is an int above 0 or None, got %r" % (each,))
    sure = []
    for index, row in enumerate(probabilities(model, x)):
        best = row.index(max(row))
        if row[best] >= limit:
            sure.append((-row[best], index, best))
    if each is not None:
        taken, kept = {}, []
        for item in sorted(sure):
            taken[item[2]] = taken.get(item[2], 0) + 1
            if taken[item[2]] <= each:
                kept.append(item)
        sure = sorted(kept, key=lambda item: item[1])
    return array("i", [item[1] for item in sure]), array("i", [item[2] for item in sure])


def _check_measure(by):
    if by not in _MEASURES:
        raise ValueError("by: one of %s is expected, got %r" % (", ".join(_MEASURES), by))


def _part(what, value, of):
    """value * of, rounded; ValueError unless it is in 0..1."""
    if not is_number(value) or not 0 <= value <= 1:
        raise ValueError("%s is in 0..1, got %r" % (what, value))
    return ((1000000 if value == 1 else millionths(value)) * of + 500000) // 1000000


def _measure(row, by):
    if by == "entropy":
        total = 0
        for value in row:
            if value > 0:
                total += value * (16 * _ONE - log2q(value))
        return min(total // log2q(len(row)), _ONE)
    best = max(row)
    if by == "least_confidence":
        return max(_ONE - best, 0)
    row = list(row)
    row.remove(best)
    return max(_ONE - best + max(row), 0)


def _name(rule):
    return "rule %s" % getattr(rule, "__name__", rule)
