"""Write digits.bin from scikit-learn: 1797 images of 64 bytes, then 1797 labels. CPython only."""

import sys

from sklearn.datasets import load_digits

digits = load_digits()
with open(sys.argv[1] if len(sys.argv) > 1 else "digits.bin", "wb") as file:
    file.write(digits.images.astype("uint8").tobytes())
    file.write(digits.target.astype("uint8").tobytes())
