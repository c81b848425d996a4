"""python -m odt install on an emulated board."""

import subprocess
import sys

import machines


def run(machine, *arguments):
    """(exit status, what `python -m odt install` printed)."""
    if machine._port is None:
        assert machine.mpremote("exec", "pass")[0] == 0  # switches it on
    command = [sys.executable, "-m", "odt", "install", "--connect", machine._port, *map(str, arguments)]
    done = subprocess.run(
        command, cwd=machines.ROOT, env=machine.environment, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=500,
    )  # fmt: skip
    return done.returncode, done.stdout
