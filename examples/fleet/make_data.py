"""Writes moves.bin of the recordings of examples/gesture: python make_data.py

Three wrists have 72 windows of 2.56 s each: of no exercise, and of one exercise. 84 windows of other recordings test.
A row is a window's label, and the 36 numbers of odt.sensors.Motion as int8: 32nds of the standard deviation of the rows
of the three wrists, from their mean.
"""

import sys
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent
GESTURE = FOLDER.parent / "gesture"
sys.path[:0] = [str(GESTURE), str(FOLDER.parents[1])]

from motions import NAMES, recordings, windows

import odt

WRISTS = (1, 3, 5, 2, 8, 14), (7, 9, 11, 6, 10, 16), (13, 15, 17, 0, 4, 12)  # recordings of day.bin
TEST = 19, 21, 23, 18, 20, 22, 24

motion = odt.load_model(str(GESTURE / "front.bin")).features
found = []
for label, samples in recordings(str(GESTURE / "day.bin")):
    found.append([(NAMES.index(label), list(motion(x))) for x in windows(samples)])
rows = [row for part in (*WRISTS, TEST) for number in part for row in found[number]]
labels, numbers = np.array([row[0] for row in rows]), np.array([row[1] for row in rows], "float64")
own = numbers[: 12 * sum(map(len, WRISTS))]
numbers = np.clip(np.rint(32 * (numbers - own.mean(0)) / own.std(0)), -127, 127).astype("int8")
data = b"".join([bytes((label,)) + row.tobytes() for label, row in zip(labels.tolist(), numbers)])
(FOLDER / "moves.bin").write_bytes(data)
