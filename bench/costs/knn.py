"""odt.online's KNN: the cost of a prediction, and what it leaves to the garbage collector.

    python bench/costs/knn.py            writes bench/results/knn.txt (a minute)
    python bench/costs/knn.py rp2040     prints only

8 inputs, k = 1 and 5; predict_one() with its part in Python, of a float32 array and of a list of floats. Bytes: of the
heap, per prediction, the mean of 20.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import counting  # noqa: E402
from counting import ROOT  # noqa: E402

RESULTS = ROOT / "bench" / "results" / "knn.txt"
SAMPLES = 64, 256
MACHINES = ("rp2040",)
ON_BOARD = """
import gc
from array import array
from odt.online import KNN
model = KNN(8, budget={samples}, k={k})
x = array("f", bytes(32))
for i in range({samples}):
    x[i % 8] = i * 37 % 100 / 50 - 1
    model.learn_one(x, i % 3)
def garbage(x):
    gc.collect()
    before = gc.mem_alloc()
    for _ in range(20):
        model.predict_one(x)
    return (gc.mem_alloc() - before) // 20
begin()
end()
for given in (x, list(x)):
    begin()
    model.predict_one(given)
    end()
    print("bytes", garbage(given))
"""


def costs(name):
    machine = counting.open(name)
    for samples in SAMPLES:
        for k in (1, 5):
            found = machine.run(ON_BOARD.format(samples=samples, k=k))
            left = [int(line.split()[1]) for line in machine.said.splitlines() if line.startswith("bytes")]
            yield "%-12s%8d%4d%14d%8d%14d%8d" % (name, samples, k, found[0], left[0], found[1], left[1])
    machine.close()


def main():
    lines = counting.head("odt.online.KNN, 8 inputs. Written by: python bench/costs/knn.py")
    names = sys.argv[1:] or MACHINES
    lines += [counting.heading(name) for name in names] + [""]
    lines.append("%-12s%8s%4s%14s%8s%14s%8s" % ("predict_one", "samples", "k", "array", "bytes", "list", "bytes"))
    for name in names:
        lines += costs(name)
    print("\n".join(lines))
    if not sys.argv[1:]:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
