"""Three wrists learn three exercises together. Each knows one of them, and no recording leaves its board.

    python train.py                                          one wrist alone, on a PC or on a board
    python -m odt fleet train.py --processes 3               three processes
    python -m odt fleet train.py --connect PORT PORT PORT    three boards

Data: moves.bin, of the recordings of examples/gesture; see README.md.
"""

import odt
from odt import executor
from odt.fleet import Node, place

WRISTS, OWN, TEST, ROW = 3, 72, 84, 37  # a row: a label, then 36 numbers of a window, int8


def rows(first, count):
    """(x, y) of these rows."""
    x, y = bytearray(), bytearray()
    with open("moves.bin", "rb") as file:
        file.seek(ROW * first)
        for _ in range(count):
            row = file.read(ROW)
            y += row[:1]
            x += row[1:]
    return x, y


number, nodes = place
model = odt.Sequential([
    odt.Input((36,), dtype="int8", scale=1 / 32),
    odt.Dense(16, activation="relu"),
    odt.Dense(4),  # none, jumping jack, lunge, squat
])  # fmt: skip
model.compile(odt.Adam(0.004), batch_size=12, seed=1)
x, y = rows(OWN * (number % WRISTS), OWN)
test = rows(OWN * WRISTS, TEST)
if nodes > 1:
    Node(model, x, y, name="wrist %d" % number, epochs=2, validation_data=test).serve()
else:
    model.fit(x, y, epochs=40, verbose=0)
    print("loss %.4f, accuracy %.4f" % model.evaluate(*test))
    print("executor:", executor.backend)
    print("digest %08x" % model.digest())
