"""python -m odt install, and deploy, on an emulated board."""

import subprocess
import sys

import machines


def command(machine, name, *arguments):
    """(exit status, what `python -m odt <name>` printed)."""
    if machine._port is None:
        assert machine.mpremote("exec", "pass")[0] == 0  # switches it on
    words = [sys.executable, "-m", "odt", name, "--connect", machine._port, *map(str, arguments)]
    done = subprocess.run(
        words, cwd=machines.ROOT, env=machine.environment, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=500,
    )  # fmt: skip
    return done.returncode, done.stdout


def run(machine, *arguments):
    """As command(), of install."""
    return command(machine, "install", *arguments)
