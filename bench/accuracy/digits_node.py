"""A node of a fleet with 64 digits of its own, for bench/accuracy/fleet.py: the digits CNN, two epochs for a round.

python -m odt fleet bench/accuracy/digits_node.py --twins 1000
"""

import random
from pathlib import Path

import odt
from odt.fleet import Node, place

DATA = (Path(__file__).resolve().parents[2] / "examples" / "digits" / "digits.bin").read_bytes()
COUNT, TRAIN, PIXELS = 1797, 1400, 64
model = odt.Sequential([
    odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16), odt.Conv2D(8, 3, padding="same", activation="relu"),
    odt.MaxPool2D(), odt.Conv2D(16, 3, padding="same", activation="relu"), odt.MaxPool2D(), odt.Flatten(),
    odt.Dense(10),
])  # fmt: skip
model.compile(odt.Adam(0.004), batch_size=16, seed=0)
part = random.Random(place[0]).sample(range(TRAIN), 64)
x = b"".join([DATA[PIXELS * index : PIXELS * (index + 1)] for index in part])
y = bytes([DATA[PIXELS * COUNT + index] for index in part])
test = DATA[PIXELS * TRAIN : PIXELS * COUNT], DATA[PIXELS * COUNT + TRAIN : PIXELS * COUNT + COUNT]
Node(model, x, y, "node %d" % place[0], epochs=2, validation_data=(x, y) if place[0] < place[1] else test).serve()
