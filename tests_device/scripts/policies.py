"""Steps of a network under each update policy and memory budget, and their digests. Runs on a machine.

All that ``ODT_ARGS["only"]`` names; without it, all.
"""

import odt
from odt.adapt import task_adaptive, update
from odt.adapt.lite import lite_residual
from odt.adapt.lora import lora
from odt.files import frozen


def network(normalisations=()):
    first = [
        odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16), odt.Conv2D(6, 3, padding="same", activation="relu",
        name="a"),
    ]  # fmt: skip
    return odt.Sequential(first + list(normalisations) + [
        odt.DepthwiseConv2D(3, padding="same", activation="relu", name="b"),
        odt.Conv2D(6, 1, activation="relu", name="c"), odt.Conv2D(8, 3, padding="same", activation="relu", name="d"),
        odt.MaxPool2D(), odt.Flatten(), odt.Dense(10, name="e"),
    ])  # fmt: skip


x = bytes([(7 * i) % 17 for i in range(64 * 12)])
y = bytes([i % 10 for i in range(12)])
POLICIES = (
    ("whole", update.whole, {}),
    ("last 2", lambda model: update.last(model, 2), {}),
    ("bias", update.bias, {}),
    ("sparse", lambda model: update.sparse(model, {"b": 0.5, "d": 0.3, "e": 1}, biases=3), {}),
    ("dynamic", lambda model: update.dynamic(model, 0.2, 0.6), {}),
    ("sqrt", update.whole, {"checkpoint": "sqrt"}),
    ("budget", update.whole, {"memory_budget": 19500}),
)
POLICIES += (
    ("flash", POLICIES[1][1], {}),
    ("adapt", update.last, {}),
    ("lite", None, {}),
    ("norm", update.norm_and_last, {}),
    ("lora", None, {}),
)
only = globals().get("ODT_ARGS", {}).get("only", [policy[0] for policy in POLICIES])
for name, policy, options in POLICIES:
    if name not in only:
        continue
    model = network([odt.GroupNorm(2)] if name == "norm" else ())
    if policy:
        policy(model)
    elif name == "lora":
        model = lora(model, ["a", "d", "e"], 2)
    else:  # what comes out of a branch is 0 at first, and moves the rest later
        model = lite_residual(model, [("a", "c"), "d"], norm=3)
    model.compile(odt.Adam(0.01), batch_size=4, seed=1, **options)
    if name == "flash":  # the layers of "last 2" that are frozen, from bytes of their own
        model.compile(odt.Adam(0.01), batch_size=4, seed=1, frozen=frozen.pack(model))
    if name == "adapt":  # channels for these samples, among all
        model.fit(x, y, verbose=0)
        print(
            "adapt:", sorted(task_adaptive(model, x[: 64 * 8], y[:8], memory_budget=16000, macs_budget=60000).items())
        )
    model.fit(x, y, epochs=1 if policy else 3, verbose=0)
    print(
        "%s: arena %d, state %d, digest %08x"
        % (name, len(model.session.arena), len(model.session.state), model.digest())
    )
