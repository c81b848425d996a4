"""MLPerf Tiny's four networks by rows and with split kernels: KB of arena and state, and within the least budget.

    python bench/costs/tiny_rows.py            the table, to bench/results/tiny_rows.txt
    python bench/costs/tiny_rows.py DS-CNN     one network, printed

int8, SGD without momentum, one sample to a step, frozen weights in flash. "sparse": an eighth of the last four kernels
and the last layer; their biases. "again": multiply-accumulates that are computed again, in percent of a forward pass.
"""

import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import architectures as A  # noqa: E402
import published  # noqa: E402
import written  # noqa: E402

import odt  # noqa: E402
from odt.adapt import update  # noqa: E402
from odt.files.frozen import pack  # noqa: E402

NETWORKS = {"DS-CNN": A.keywords, "MobileNetV1": A.mobilenet, "ResNet-8": A.resnet8, "anomaly": A.anomaly}
GOALS = {"DS-CNN": 12, "MobileNetV1": 24, "ResNet-8": 22}  # KB, of the last layer


def compiled(name, trains, **options):
    model = NETWORKS[name]()
    kernels = [node.layer.name for node in model.nodes if node.layer.kernel_shape]
    if trains == "last layer":
        update.last(model)
    elif trains == "sparse":
        update.sparse(model, dict.fromkeys(kernels[-5:-1], 0.125) | {kernels[-1]: 1}, 5)
    loss = "mse" if name == "anomaly" else "sparse_categorical_crossentropy"
    model.compile(odt.SGD(0.05), loss, batch_size=1, dtype="int8", **options)
    return model


def line(name, trains):
    frozen = None if trains == "all" else pack(compiled(name, trains))
    before = compiled(name, trains, frozen=frozen).session.plan
    least = published.least(partial(compiled, name, trains, frozen=frozen))
    model = compiled(name, trains, frozen=frozen, memory_budget=least)
    after = model.session.plan
    again = 100 * after.again / sum([node.layer.macs for node in model.nodes])
    goal = "%6d" % GOALS[name] if trains == "last layer" and name in GOALS else "%6s" % "-"
    sizes = [(plan.arena + plan.state) / 1024 for plan in (before, after)]
    return "%-12s  %-10s  %8.1f  %8.1f %s  %8d %8d  %8d %5.0f %%" % (
        name, trains, *sizes, goal, after.arena, after.state, len(after.code), again)  # fmt: skip


def main():
    lines = ["MLPerf Tiny's networks within the least budget. Written by: python bench/costs/tiny_rows.py", ""]
    lines.append("%-12s  %-10s  %8s  %8s %6s  %8s %8s  %8s %7s" % (
        "network", "trains", "KB", "least", "goal", "arena", "state", "program", "again"))  # fmt: skip
    print("\n".join(lines), flush=True)
    for name in NETWORKS:
        for trains in ("last layer", "sparse", "all"):
            if not sys.argv[1:] or name in sys.argv[1:]:
                lines.append(line(name, trains))
                print(lines[-1], flush=True)
    if not sys.argv[1:]:
        written.write("tiny_rows.txt", lines)


if __name__ == "__main__":
    main()
