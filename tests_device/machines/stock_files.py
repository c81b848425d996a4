"""What an installation copies to a board with stock firmware."""

import machines

from odt.host.boards import room

MPY = machines.BUILD / "mpy"
# Machines without odt, each with the folder of the kernels that it takes.
FOLDERS = (("stock_unix", "x64"), ("stock_qemu_m3", "armv6m"), ("stock_qemu_m4hf", "armv7emsp"))
SMALL_FOLDERS = FOLDERS[:2]


def base(*names):
    """(path here, path there) of the base's modules, and of those of these capabilities."""
    return [(file.source, file.target) for file in room.wanted("/lib", MPY / "python" / "odt", [], names)]


def on_a_pico(*names):
    """(path here, path there) of the base's modules, of an RP2040's kernels for all layers, and of what these
    capabilities have, for RP2040.lay_flash().
    """
    kernels = sorted((MPY / "armv6m").glob("_odt*.mpy"))
    files = room.wanted("/lib", MPY / "python" / "odt", kernels, ["kernels", *names])
    return [(file.source, file.target) for file in files]


def give(machine, arch):
    """What an installation copies, to where the machine's scripts run."""
    kernels = [file for file in sorted((MPY / arch).glob("_odt*.mpy")) if not file.stem.startswith("_odt_fast")]
    assert (MPY / "python" / "odt").exists() and kernels, f"{MPY / arch} is not built: run `make mpy`"
    machine.install([MPY / "python" / "odt", *kernels])
