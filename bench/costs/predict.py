"""What predict() costs on the emulated RP2040, in cycles: one sample and sixteen, on models of batch 16 and of batch 1,
after training; and one sample on stock firmware with the capability fast.

    python bench/costs/predict.py             writes bench/results/predict.txt
    python bench/costs/predict.py MLP         models whose names hold a word: prints

``out`` is given, as a program does that predicts for ever; "in Python" is all but the instructions of the section for
that sample, the engine's look at arguments with it.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import counting
import steps
from counting import ROOT

WITHIN, PYTHON = 1.1, 20000  # times batch 1's cycles for a sample; cycles of one sample in Python
STOCK, STOCK_WITHIN = "stock_rp2040_fast", 1.15  # times the firmware's cycles for a sample
ALL = {"digits CNN, batch 16": 250000, "MLP 64-32-10, batch 16": 45000}  # cycles of one sample
ON_BOARD = """
import gc
from array import array
session = model.session
x, y = bytearray(x), bytearray(y)
one = x[:session.row]
model.train_step(x[:session.row * model.batch_size], y[:len(y) * model.batch_size // 16])
few = array("f", bytes(4 * %d))
all = array("f", bytes(64 * %d))
start, stop = session.sections["predict"]
run, loaded, regions = session.engine.run, session.loaded, session.regions
predict = model.predict
predict(one, few)
gc.collect()
gc.disable()
array("f", bytes(64))  # the first allocation after a collection looks through the whole heap
begin()
end()
begin()
predict(one, few)
end()
session.control[1] = 1
regions[3] = one  # which predict() has released
begin()
run(loaded, regions, start, start)
end()
begin()
run(loaded, regions, start, stop, session.rows)
end()
begin()
predict(x, all)
end()
begin()
predict(one)
end()
gc.enable()
"""


def costs(machine, model, batch):
    """Cycles of (one sample, its instructions, sixteen samples, one sample without ``out``)."""
    width = steps.compiled(model).session.plan.output.count // 16
    source = steps.source(model).replace("batch_size=16", "batch_size=%d" % batch)
    one, empty, section, sixteen, new = machine.run(source + ON_BOARD % (width, width))
    return one, section - empty, sixteen, new


def table(machine, models, firmware):
    """Lines: each model of batch 16 and of batch 1, and whether the bounds are met. ``firmware`` gets costs()."""
    yield "%-24s%12s%12s%12s%12s%12s" % ("", "one sample", "in Python", "without out", "16 samples", "of batch 1")
    for model in models:
        alone = costs(machine, model, 1)
        for batch in (16, 1):
            one, section, sixteen, new = found = costs(machine, model, 16) if batch == 16 else alone
            name = model.replace("batch 16", "batch %d" % batch)
            firmware[model, batch] = found
            ratio = one / alone[0]
            yield "%-24s%12d%12d%12d%12d%12.3f" % (name, one, one - section, new, sixteen, ratio)
            yield from (
                steps.verdict(name + ": " + text, figure, bound, good)
                for text, figure, bound, good in (
                    ("one sample, of batch 1", "%.3f" % ratio, WITHIN, ratio <= WITHIN),
                    ("one sample, cycles in Python", one - section, PYTHON, one - section <= PYTHON),
                    ("one sample, cycles", one, ALL[model], one <= ALL[model]),
                )
            )


def stock_table(machine, models, firmware):
    """Lines: each model on stock firmware, and in ``firmware``'s cycles."""
    yield "%-24s%12s%12s%12s%12s" % ("", "one sample", "times", "without out", "times")
    for model, batch in [(model, batch) for model in models for batch in (16, 1)]:
        figures = firmware[model, batch]
        one, _, _, new = costs(machine, model, batch)
        name, ratio = model.replace("batch 16", "batch %d" % batch), one / figures[0]
        yield "%-24s%12d%12.3f%12d%12.3f" % (name, one, ratio, new, new / figures[3])
        yield steps.verdict(
            name + ": one sample, of the firmware's", "%.3f" % ratio, STOCK_WITHIN, ratio <= STOCK_WITHIN
        )


def main():
    models = [model for model in steps.TWINS if not sys.argv[1:] or any(word in model for word in sys.argv[1:])]
    out, firmware = counting.head("Predictions. Written by: python bench/costs/predict.py"), {}
    for name, lines in (("rp2040", table), (STOCK, stock_table)):
        machine = counting.open(name)
        try:
            out += [counting.heading(name), "", *lines(machine, models, firmware), ""]
        finally:
            machine.close()
    print("\n".join(out))
    if len(models) == len(steps.TWINS):
        (ROOT / "bench/results/predict.txt").write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
