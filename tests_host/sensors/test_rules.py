"""odt.sensors.rules: each condition beside one that looks at the whole past anew, on streams at random."""

import itertools

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from interrupting import Interrupt

from odt.sensors import Above, Absence, All, Below, Count, Rules, Sequence

NAMES = ["a", "b", "c"]
streams = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 12)), max_size=40)


def fired(condition, stream, begin=0):
    """Indices at which a rule fires; the numbers are the ms between events."""
    found, rules, now = [], Rules(NAMES), begin
    rules.add("r", condition, lambda rule: found.append(index))
    for index, (name, gap) in enumerate(stream):
        now = (now + gap) % (1 << 30)
        rules.event(name, now)
    return found


def by_the_past(stream, complete):
    """The same by ``complete(past)``: whether the events since it last fired, (name, time),
    are complete with the last.
    """
    found, past, now = [], [], 0
    for index, (name, gap) in enumerate(stream):
        now += gap
        past.append((name, now))
        if complete(past):
            found.append(index)
            past = []
    return found


@settings(max_examples=300, deadline=None)
@given(streams, st.integers(1, 4), st.integers(1, 40), st.sampled_from((0, (1 << 30) - 30)))
def test_counts(stream, number, within, begin):
    def complete(past):
        times = [time for name, time in past if name == "a"]
        return past[-1][0] == "a" and sum(past[-1][1] - time <= within for time in times) >= number

    assert fired(Count("a", number, within), stream, begin) == by_the_past(stream, complete)


@settings(max_examples=300, deadline=None)
@given(
    streams,
    st.sampled_from((["a", "b"], ["a", "a"], ["a", "a", "a"], ["a", "b", "a"], ["b", "a", "b"])),
    st.integers(1, 40),
    st.booleans(),
)
def test_sequences(stream, order, within, without):
    def complete(past):
        last = len(past) - 1
        for chosen in itertools.combinations(range(last), len(order) - 1):
            chosen += (last,)
            if [past[i][0] for i in chosen] == order and past[last][1] - past[chosen[0]][1] <= within:
                if not without or "c" not in [name for name, _ in past[chosen[0] :]]:
                    return True
        return False

    condition = Sequence(order, within, without="c" if without else ())
    assert fired(condition, stream) == by_the_past(stream, complete)


@settings(max_examples=300, deadline=None)
@given(streams, st.integers(1, 40))
def test_all(stream, within):
    def complete(past):
        recent = {name for name, time in past if past[-1][1] - time <= within}
        return past[-1][0] in "ab" and {"a", "b"} <= recent

    assert fired(All(["a", "b"], within), stream) == by_the_past(stream, complete)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.integers(0, 9), max_size=60), st.integers(0, 30), st.integers(3, 7), st.integers(0, 3), st.booleans()
)
def test_thresholds(values, hold, limit, gap, below):
    """A value every 5 ms: said where all since some value, ``hold`` ms ago, were beyond the limit, once until one was
    beyond the release.
    """
    sign = -1 if below else 1
    found, rules = [], Rules()
    made = Below("x", limit, limit + gap, hold=hold) if below else Above("x", limit, limit - gap, hold=hold)
    rules.add("r", made, lambda rule: found.append(index))
    expected, said = [], False
    for index, value in enumerate(values):
        rules.value("x", value, 5 * index)
        if sign * value < sign * limit - gap:
            said = False
        back = -(-hold // 5)
        run = values[index - back : index + 1] if index >= back else []
        if not said and run and all(sign * each >= sign * limit for each in run):
            expected.append(index)
            said = True
    assert found == expected


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 12)), max_size=60), st.integers(1, 40))
def test_absences(stream, within):
    found, rules, now = [], Rules(["a", "b"]), 0
    rules.add("r", Absence("a", within), lambda rule: found.append(index))
    expected, since, said = [], None, False
    for index, (comes, gap) in enumerate(stream):
        now += gap
        rules.event("a", now) if comes else rules.tick(now)
        since = now if since is None else since
        if not said and now - since >= within:
            expected.append(index)
            said = True
        if comes:
            since, said = now, False
    assert found == expected


def test_rules_are_events_for_those_after_them_and_an_action_may_change_rules():
    said, rules = [], Rules(["a"])
    rules.add("two", Count("a", 2, 100), cooldown=1)
    rules.add("four", Count("two", 2, 1000), lambda rule: said.append(rule.name))
    high = rules.add("high", Above("x", 2), lambda rule: setattr(rule.condition, "limit", 4))
    for i in range(8):
        rules.event("a", 10 * i)
    assert said == ["four"] * 2 and rules.rules[0].fired == 4
    for i, x in enumerate((1, 3, 1, 3, 1, 5)):
        rules.value("x", x, 100 + i)
    assert high.fired == 2 and high.condition.limit == 4
    rules.rules[0].enabled = False
    for i in range(8):
        rules.event("a", 200 + i)
    assert rules.rules[0].fired == 4 and not rules.rules[0].enabled


def test_what_an_action_raises_comes_when_the_rules_after_it_have_seen_the_event_too():
    for error in (ValueError, KeyboardInterrupt):

        def fails(rule, error=error):
            raise error("of %s" % rule.name)

        said, rules = [], Rules(["a"])
        rules.add("quiet", Absence("a", 50), fails)
        rules.add("bad", Count("a", 1, 10), fails)
        rules.add("good", Count("a", 1, 10), lambda rule: said.append(rule.name))
        rules.add("chained", Count("bad", 1, 10), lambda rule: said.append(rule.name))
        with pytest.raises(error, match="of bad"):
            rules.event("a", 0)
        assert said == ["good", "chained"] or said == ["chained", "good"]
        with pytest.raises(error):  # of both: the absence, and the event after it
            rules.event("a", 60)
        assert len(said) == 4 and [rule.fired for rule in rules.rules] == [1, 2, 2, 2]


@pytest.mark.slow
def test_ctrl_c_within_an_event_costs_the_rule_that_it_meets_at_most():
    at, left, lost = 1, 1, 0
    while left:
        rules = Rules(["a"])
        for i in range(4):
            rules.add("r%d" % i, Count("a", 1, 10))
        with Interrupt(at) as it:
            rules.event("a", 5)
        left = it.raised
        seen = [rule.fired for rule in rules.rules]
        assert sum(seen) in (0, 3, 4), (at, seen)
        lost += sum(seen) == 3
        rules.event("a", 100)
        assert [rule.fired for rule in rules.rules] == [fired + 1 for fired in seen]
        at += 1
    assert at > 100 and 0 < lost < at


def test_a_cooldown_drops_what_comes_within_it():
    rules = Rules(["a"])
    rule = rules.add("r", Count("a", 1, 10), cooldown=50)
    for now in (0, 20, 49, 50, 60, 101):
        rules.event("a", now)
    assert rule.fired == 3


def made():
    rules = Rules(["a", "b"])
    rules.add("r", Sequence(["a", "b"], 100), cooldown=30)
    rules.add("high", Above("x", 2, hold=40))
    rules.add("none", Absence("r", 500))
    return rules


def test_a_checkpoint_goes_on_where_it_was_and_others_are_refused(tmp_path):
    whole, before, place = made(), made(), str(tmp_path / "rules")
    for rules in (whole, before):
        rules.event("a", 1000)
        rules.value("x", 3, 1010)
        rules.rules[1].condition.limit = 2.5
    before.save(place)
    after = made()
    after.load(place)
    assert after.digest() == before.digest() == whole.digest() and after.rules[1].condition.limit == 2.5
    for rules, clock in ((whole, 1010), (after, 7)):  # a board's clock begins anew
        rules.tick(clock)
        rules.value("x", 3, clock + 40)
        rules.event("b", clock + 50)
    assert [rule.fired for rule in after.rules] == [rule.fired for rule in whole.rules] == [1, 1, 0]
    other = Rules(["a", "b"])
    other.add("r", Sequence(["b", "a"], 100))
    digest = other.digest()
    with pytest.raises(ValueError, match="another kind, size or setting"):
        other.load(place)
    data = bytearray(open(place, "rb").read())
    data[-3] ^= 1
    open(place, "wb").write(data)
    kept = after.digest()
    with pytest.raises(ValueError):
        after.load(place)
    assert other.digest() == digest and after.digest() == kept


def test_weeks_of_a_clock_that_begins_anew():
    rules = Rules(["a"])
    rule = rules.add("r", Count("a", 2, 1000))
    for day in range(40):
        rules.event("a", day * 86400000 & (1 << 30) - 1)  # more than once round
    assert rule.fired == 0
    rules.event("a", 39 * 86400000 + 900 & (1 << 30) - 1)
    assert rule.fired == 1


def test_bad_input_changes_nothing():
    rules = made()
    rules.event("a", 100)
    digest = rules.digest()
    for call, match in (
        (lambda: rules.event("z", 200), "no event 'z'; there are a, b, r, high, none"),
        (lambda: rules.event("a", 99), "now is 99, before the last, 100"),
        (lambda: rules.event("a", -1), "now is milliseconds"),
        (lambda: rules.event("a", 1.5), "now is milliseconds"),
        (lambda: rules.value("y", 1, 200), "no rule wants 'y'; there are x"),
        (lambda: rules.value("x", float("nan"), 200), "a number below 2\\^20"),
        (lambda: rules.add("r", Count("a", 1, 1)), "name is a new one"),
        (lambda: rules.add("s", Count("s", 1, 1)), "no event 's'"),
        (lambda: rules.add("s", Count("a", 1, 1), cooldown=-1), "cooldown is milliseconds"),
        (lambda: rules.add("s", rules.rules[0].condition), "that of rule 'r'"),
        (lambda: Count("a", 0, 1), "Count: number"),
        (lambda: Count("a", 1, 0), "Count: within is milliseconds"),
        (lambda: Sequence(["a"], 1), "at least 2 are needed, got 1"),
        (lambda: All(["a", "a"], 1), "'a' is there twice"),
        (lambda: Above("x", 1, 2), "release 2 is beyond limit 1"),
        (lambda: Below("x", 1, 0), "release 0 is beyond limit 1"),
    ):
        with pytest.raises(ValueError, match=match):
            call()
    for call, match in (
        (lambda: Rules("ab"), "Rules: events is a list of names"),
        (lambda: Sequence("ab", 1), "Sequence: events is a list of names"),
        (lambda: rules.add("s", "a"), "condition is a Count"),
        (lambda: rules.add("s", Count("a", 1, 1), 3), "action is a function"),
        (lambda: rules.value("x", "1", 200), "a number is expected"),
    ):
        with pytest.raises(TypeError, match=match):
            call()
    assert rules.digest() == digest and len(rules.rules) == 3
