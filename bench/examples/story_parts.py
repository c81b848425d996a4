"""What the stories of bench/examples/stories.py share."""

import counting
import numpy as np


def cell(values):
    """Mean and standard error."""
    return "%5.1f +- %3.1f" % (np.mean(values), np.std(values) / (len(values) - 1) ** 0.5)


def counted(name, script, files):
    """What ``script`` counts between each begin() and end() on a machine that has these files in its root, then the
    free heap that it prints.
    """
    machine = counting.open(name)
    try:
        if files and name == "rp2040":
            code, output = machine.machine.mpremote("cp", *[str(file) for file in files], ":", timeout=300)
            assert code == 0, output
            script = "import os\nos.chdir('/')\n" + script
        elif files:
            machine.machine.put(files)
        counts = machine.run(script)
        return counts + [int(machine.said.partition("heap free")[2].split()[0])]
    finally:
        machine.close()
