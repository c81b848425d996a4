"""Which samples odt.continual.labels would have labelled, and what it labels: the same on every machine.

Runs on a machine, and on CPython.
"""

import gc

import odt
from odt.continual import labels
from odt.online import OSELM

x = bytes([(7 * i + i // 5 + i * i // 97) % 17 for i in range(64 * 40)])
y = bytes([(i * i // 7) % 4 for i in range(40)])


def rule(shift):
    return lambda sample: (sample[shift] + shift) % 4 if sample[shift + 1] > 4 else None


for dtype in ("int8", "float32"):
    model = odt.Sequential([odt.Input((64,), dtype="uint8", scale=1 / 16), odt.Dense(8, "relu"), odt.Dense(4)])
    model.compile(odt.Adam(0.01), dtype=dtype, batch_size=8, seed=1)
    model.fit(x, y, epochs=3, verbose=0)
    for by in ("margin", "entropy", "least_confidence"):
        print(dtype, by, list(labels.uncertainty(model, x, by)))
    print(dtype, "core-set", labels.query(model, x, 8, "coreset"))
    print(dtype, "sure", [list(found) for found in labels.pseudo(model, x, 0.4, each=5)])
    asker = labels.Asker(model, 4, share=0.3, window=10)
    print(dtype, "asked", [i for i in range(40) if asker.wants(x[64 * i : 64 * i + 64])])
    model = asker = None
    gc.collect()
votes = labels.Votes([rule(shift) for shift in range(5)], 4)
samples = [x[8 * i : 8 * i + 8] for i in range(120)]
print("majority", list(votes.labels(samples)))
votes.fit(samples)
print("accuracies", votes.accuracies, "labels", list(votes.labels(samples, 0.6)))
learner, found = OSELM(4, classes=3, hidden=6, seed=1), []
for i in range(60):
    sample = [(byte - 8) / 8 for byte in x[4 * i : 4 * i + 4]]
    found.append(labels.uncertainty(learner, sample)[0])
    learner.learn_one(sample, x[4 * i] % 3)
print("learner", found)
