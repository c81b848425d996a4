"""1000 events and values for rules of every kind, and the digest of what they know. Runs on a machine."""

import gc
import os

from odt.sensors import Above, Absence, All, Below, Count, Rules, Sequence

said = []
rules = Rules(["a", "b", "c"])
rules.add("count", Count("a", 3, 400), lambda rule: said.append("count"))
rules.add(
    "sequence", Sequence(["a", "b", "count"], 1500, without="c"), lambda rule: said.append("sequence"), cooldown=2000
)
rules.add("all", All(["a", "b", "c"], 300), lambda rule: said.append("all"))
rules.add("absence", Absence("sequence", 5000), lambda rule: said.append("absence"))
high = rules.add("high", Above("x", 0.5, -0.25, hold=30), lambda rule: said.append("high"))
rules.add("low", Below("x", -0.5), lambda rule: setattr(high.condition, "limit", high.condition.limit + 1 / 64))
state, now = 1, (1 << 30) - 20000


def draw(end):
    global state
    state = state * 75 % 65537
    return state % end


def run(steps):
    global now
    for _ in range(steps):
        now = (now + draw(100)) & (1 << 30) - 1
        if draw(3):
            rules.event("abc"[draw(3)], now)
        else:
            rules.value("x", (draw(256) - 128) / 128, now)


run(1000)
print("rules: %s, digest %08x" % ([rule.fired for rule in rules.rules], rules.digest()))
print("said: %s" % " ".join([name[0] for name in said]))
place = "rules.tmp"
rules.save(place)
digest = rules.digest()
run(20)
rules.load(place)
os.remove(place)
print("again:", rules.digest() == digest)
for rule in rules.rules:
    rule.action = None


def taken():
    gc.collect()
    gc.disable()
    before = gc.mem_alloc()
    for i in range(100):
        rules.event("a", (now + 3 * i) & (1 << 30) - 1)
    after = gc.mem_alloc()
    gc.enable()
    return after - before


if hasattr(gc, "mem_alloc"):
    print("100 events took %d bytes of heap" % taken())
