"""Write series.bin from the package mnist1d: 4800 records of a label and 40 readings, a byte each. CPython only.

The first 4000 are the package's training series, the others of its test series. A reading is in 1/23.
"""

import sys

import numpy as np
from mnist1d.data import get_dataset_args, make_dataset

data = make_dataset(get_dataset_args())
x = np.concatenate([data["x"], data["x_test"][:800]])
y = np.concatenate([data["y"], data["y_test"][:800]])
with open(sys.argv[1] if len(sys.argv) > 1 else "series.bin", "wb") as file:
    for series, label in zip(x, y):
        file.write(bytes([label]) + np.rint(23 * series).astype("int8").tobytes())
