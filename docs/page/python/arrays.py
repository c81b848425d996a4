"""The arrays of an .npz file of a person's own, which docs/page/src/data/npz.js read: x in float32 or uint8, labels.

Every fourth sample is held back. What is no uint8 image is standardised by the samples that train.
"""

from array import array

from odt.data import Normalizer
from samples import DENSE, Table

IMAGES = """model = odt.Sequential([
    odt.Input(%s),
    odt.Conv2D(8, 3, strides=2, padding="same", activation="relu"),
    odt.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
    odt.Flatten(),
    odt.Dense(%d),
])"""


def read(shape, code, names, folder=""):
    """The Table of the files x and y of a folder.

    ``shape``: of a sample; ``code``: of its numbers, "f" or "B"; ``names``: of classes. One axis: features for dense
    layers; two or three: an image for convolutions.
    """
    if len(shape) == 1:
        source = DENSE % (shape[0], len(names))
    else:
        shape = tuple(shape) + ((1,) if len(shape) == 2 else ())
        numbers = ', dtype="uint8", scale=1 / 255' if code == "B" else ""
        source = IMAGES % (repr(shape) + numbers, len(names))
    table = Table(tuple(shape), names, source, code)
    with open(folder + "/y", "rb") as file:
        labels = array("i", file.read())
    size = table.size
    statistics = Normalizer(size if len(shape) == 1 else 1) if code == "f" else None
    item = 4 if statistics else 1
    for taken in (False, True) if statistics else (True,):
        with open(folder + "/x", "rb") as file:
            for sample in range(len(labels)):
                x, held = array(code, file.read(item * size)), sample % 4 == 3
                if not taken:
                    if not held:
                        statistics.update(x)
                    continue
                table.add(statistics.apply(x) if statistics else x, labels[sample], held)
    return table
