"""What an installation copies to a board with stock firmware."""

import machines

MPY = machines.BUILD / "mpy"


def give(machine, arch):
    """What an installation copies, to where the machine's scripts run."""
    kernels = sorted((MPY / arch).glob("_odt*.mpy"))
    assert (MPY / "python" / "odt").exists() and kernels, f"{MPY / arch} is not built: run `make mpy`"
    machine.install([MPY / "python" / "odt", *kernels])
