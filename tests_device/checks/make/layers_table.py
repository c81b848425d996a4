"""Writes docs/reference/layers.md: which layer, loss and optimizer ended with the PC's digest on which machine.

::

    build/venv/bin/python tests_device/checks/make/layers_table.py [machine ..]

Runs layers.py on the PC and on each machine (unix, qemu_m4, rp2040 unless some are named). A cell is
"yes" when every network with that layer ended with one digest there, and "no" when one did not.
"""

import contextlib
import io
import re
import runpy
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests_host" / "helpers"))

from checkout import ROOT  # noqa: E402

SCRIPT = ROOT / "tests_device" / "scripts" / "layers.py"
DTYPES = ("int8", "float32")


def digests(text):
    return dict(re.findall(r"^(\w+ \w+) digest ([0-9a-f]{8})", text, re.M))


def on_the_pc():
    """(digests, {case: names of its layers, its loss, its optimizer}) of the PC."""
    import odt

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        script = runpy.run_path(str(SCRIPT))
    parts = {}
    for name, network, loss, _ in script["RUNS"]:
        loss = odt.losses.LOSSES[loss]() if isinstance(loss, str) else loss
        layers = [type(node.layer).__name__ for node in network().nodes if node.inputs]
        optimizer = name if name in dict(script["OPTIMIZERS"]) else "Adam"
        parts[name] = set(layers), {type(loss).__name__}, {optimizer.replace("_float32", ", float32 state")}
    return digests(out.getvalue()), parts


def table(pc, parts, found):
    """The page's text; ``found``: {machine: digests}."""
    columns = [(machine, dtype) for machine in found for dtype in DTYPES]
    lines = [
        "# Layers, losses and optimizers",
        "",
        "Which of them trained on which machine to the bits of the PC, where the gradients of each are tested",
        "against PyTorch (tests_host/layers/test_gradients.py). Machines but unix are emulated. Written by",
        "`build/venv/bin/python tests_device/checks/make/layers_table.py` from what",
        "tests_device/scripts/layers.py printed.",
        "",
    ]
    for kind, title in ((0, "Layer"), (1, "Loss"), (2, "Optimizer")):
        lines.append("| %s | %s |" % (title, " | ".join("%s %s" % column for column in columns)))
        lines.append("|---|" + "---|" * len(columns))
        for name in sorted(set().union(*[sets[kind] for sets in parts.values()])):
            row = []
            for machine, dtype in columns:
                keys = ["%s %s" % (dtype, case) for case, sets in parts.items() if name in sets[kind]]
                keys = [key for key in keys if key in pc]
                row.append(
                    "-" if not keys else "yes" if all(found[machine].get(key) == pc[key] for key in keys) else "no"
                )
            lines.append("| %s | %s |" % (name, " | ".join(row)))
        lines.append("")
    return "\n".join(lines)


def main(names):
    import machines

    pc, parts = on_the_pc()
    found = {}
    for name in names or ("unix", "qemu_m4", "rp2040"):
        with machines.open(name) as machine:
            found[name] = digests(machine.run(SCRIPT, timeout=900))
    text = table(pc, parts, found)
    (ROOT / "docs" / "reference" / "layers.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
