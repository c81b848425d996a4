"""A run of Flower's on this PC: a SuperLink, and a SuperNode for each host of a fleet, in processes of their own."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from checkout import ROOT

BIN = ROOT / "build" / "venv-flower" / "bin"
APP = ROOT / "examples" / "fleet" / "flower"
SECONDS = 150


def environment(kernels, home):
    """Of Flower's processes: odt from the checkout, with the kernels of a folder; nothing is sent or fetched."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(("FLWR_", "PYTHONPATH"))}
    env["PYTHONPATH"] = os.pathsep.join((str(ROOT), str(kernels)))
    env["PATH"] = os.pathsep.join((str(BIN), env["PATH"]))
    return dict(env, FLWR_HOME=str(home), FLWR_TELEMETRY_ENABLED="0", FLWR_DISABLE_UPDATE_CHECK="1", NO_COLOR="1")


def ports(count):
    """Ports that are free now."""
    with contextlib.ExitStack() as stack:
        doors = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [door.getsockname()[1] for door in doors]


@contextlib.contextmanager
def started(words, log, env=None):
    """A process whose output goes into a file; it and what it has started are ended."""
    with open(log, "wb") as out:
        process = subprocess.Popen(
            words, stdout=out, stderr=subprocess.STDOUT, env=env, start_new_session=True, cwd=ROOT
        )
    try:
        yield process
    finally:
        for number in (signal.SIGINT, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)


def waited(log, pattern, process, seconds=60):
    """The match of a pattern in a log."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        found = re.search(pattern, Path(log).read_text(errors="replace"))
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("%s: %s" % (log, Path(log).read_text(errors="replace")[-3000:]))


def run(kernels, script, hosts, whole, **config):
    """What `flwr run` prints; ``hosts``: of each the words for `odt fleet script` that say which nodes it has."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        folder = Path(folder)
        env = environment(kernels, folder)
        link, health, *own = ports(2 + len(hosts))
        address = "127.0.0.1:%d" % link
        (folder / "config.toml").write_text(
            '[superlink]\ndefault = "here"\n[superlink.here]\naddress = "%s"\ninsecure = true\n' % address
        )
        words = [str(BIN / "flower-superlink"), "--insecure", "--disable-runtime-dependency-installation", "--host",
                 "127.0.0.1", "--port", str(link), "--health-server-address", "127.0.0.1:%d" % health]  # fmt: skip
        first, log = 0, folder / "link"
        process = stack.enter_context(started(words, log, env))
        waited(log, "startup complete", process)
        for number, each in enumerate(hosts):
            log = folder / ("fleet%d" % number)
            words = [sys.executable, "-m", "odt", "fleet", str(script), *map(str, each), "--listen", "0", "--first",
                     str(first), "--of", str(whole)]  # fmt: skip
            process = stack.enter_context(started(words, log, dict(os.environ, PYTHONPATH=str(ROOT))))
            found = waited(log, r"nodes (\d+) to (\d+) of \d+ on ports ([\d, ]+)\n", process)
            first = int(found[2]) + 1
            nodes = " ".join(["tcp://127.0.0.1:" + port for port in found[3].split(", ")])
            words = [str(BIN / "flower-supernode"), "--insecure", "--superlink", address, "--port", str(own[number]),
                     "--node-config", 'script="%s" nodes="%s"' % (script, nodes)]  # fmt: skip
            log = folder / ("node%d" % number)
            waited(log, "SuperNode ID", stack.enter_context(started(words, log, env)))
        config = " ".join(["%s=%r" % pair for pair in dict(config, script=str(script), hosts=len(hosts)).items()])
        words = [str(BIN / "flwr"), "run", str(APP), "here", "--stream", "--run-config", config.replace("'", '"')]
        done = subprocess.run(words, capture_output=True, text=True, env=env, cwd=folder, timeout=SECONDS)
        logs = "".join([path.read_text(errors="replace")[-2000:] for path in folder.glob("node*")])
        assert done.returncode == 0 and "\ndigest " in done.stdout, done.stdout + done.stderr + logs
        return done.stdout
