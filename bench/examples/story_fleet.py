"""How sixteen boards learn digits together: examples/fleet/sixteen.py, by twins, and its picture.

    python bench/examples/story_fleet.py      writes bench/results/story_fleet.txt and docs/pictures/fleet.svg

"alone": the mean over boards of what each knows of all digits after as many epochs by itself. "fleet": its model. Both
on the 397 images that no board was shown.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402
import numpy as np
from written import recorded

from odt.host.fleet import Fleet, Twin
from odt.host.fleet.command import accuracy, served

SCRIPT = folders.ROOT / "examples" / "fleet" / "sixteen.py"
NODES, ROUNDS, EPOCHS = 16, 30, 3


def alone(number, rounds):
    """The accuracies of a board by itself after each of these rounds' epochs."""
    node, test = served(SCRIPT, number, NODES), served(SCRIPT, NODES, NODES).validation_data
    found = []
    for _ in range(rounds // 10):
        node.model.fit(node.x, node.y, epochs=10 * EPOCHS, verbose=0)
        found.append(node.model.evaluate(*test)[1])
    return found


def main():
    own = served(SCRIPT, NODES, NODES)
    nodes = [served(SCRIPT, number, NODES) for number in range(NODES)]
    fleet = Fleet(own.model, [Twin(node) for node in nodes], workers=1)
    rows = []
    for number in range(1, ROUNDS + 1):
        found = fleet.run_round()
        assert not [part.why for part in found.parts.values() if part.why]
        values = [value for _, value in fleet.evaluate().values()]
        rows.append((accuracy(fleet, own), np.mean(values), min(values)))
        if number % 10 == 0:
            print("round %d: fleet %.1f %%, digest %08x" % (number, 100 * rows[-1][0], found.digest))
    by_itself = np.array([alone(number, ROUNDS) for number in range(NODES)])
    for number, values in zip(range(10, ROUNDS + 1, 10), by_itself.T):
        print("after the epochs of %d rounds: alone %.1f %%, best %.1f %%" % (
            number, 100 * values.mean(), 100 * values.max()))  # fmt: skip
    picture([np.bincount(np.frombuffer(bytes(node.y), "uint8"), minlength=10) for node in nodes], rows, by_itself)


def picture(shown, rows, by_itself):
    """What each board was shown, and the accuracies by round."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "odt"
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(8, 3), width_ratios=(2, 3))
    left.imshow(shown, "Blues", aspect="auto")
    left.set(xlabel="digit", ylabel="board", xticks=range(10), yticks=range(0, 16, 3), title="images of each digit")
    rounds = range(1, len(rows) + 1)
    right.plot(rounds, [100 * row[0] for row in rows], color="tab:blue", label="the fleet's model, new images")
    right.plot(rounds, [100 * row[1] for row in rows], color="tab:green", label="boards' models, own images: mean")
    right.plot(rounds, [100 * row[2] for row in rows], ":", color="tab:green", label="the worst board")
    right.plot(range(10, len(rows) + 1, 10), 100 * by_itself.mean(0), "x", color="tab:red", label="alone, new images")
    right.set(xlabel="round", ylabel="% right", ylim=(0, 102))
    right.legend(fontsize=7, loc="lower right")
    figure.tight_layout()
    figure.savefig(folders.ROOT / "docs" / "pictures" / "fleet.svg", metadata={"Date": None})


if __name__ == "__main__":
    os.chdir(folders.ROOT)
    recorded("story_fleet.txt", main)
