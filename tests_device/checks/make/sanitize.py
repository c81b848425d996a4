"""The binding for MicroPython under the address and undefined-behaviour sanitizers, on the unix port: make sanitize.

Writes bench/results/sanitize.txt.
"""

import os
import re
import subprocess

import machines
from argument_cases import check, draw_all


class Sanitized(machines.Unix):
    name = "unix_sanitize"
    make = "make sanitize"
    image = "unix_sanitize/micropython"

    def _run_script(self, script, timeout):
        # Without a collector memory is not given back, and MicroPython takes what it gets to be zero.
        options = "detect_leaks=0:detect_stack_use_after_return=0:malloc_fill_byte=0:max_malloc_fill_size=1000000"
        env = dict(os.environ, ASAN_OPTIONS=options)
        return machines.run_process([self.image_path, script], timeout, cwd=self.files, env=env)


def test_arguments_of_any_kind_under_the_sanitizers():
    cases, count = draw_all(2, 3), 100000
    with Sanitized() as machine:
        text = check(machine, cases, count)
    assert not re.search("native/.*runtime error", text), text[:4000]
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=machines.ROOT, capture_output=True, text=True
    )
    calls = re.findall(r"\('(\w+)', (\d+)\)", text.splitlines()[-1])
    lines = [
        "The binding for MicroPython under the address and undefined-behaviour sanitizers. Written by: make sanitize",
        "commit " + commit.stdout.strip(), "",
        "%d programs of one instruction on buffers of their own" % len(cases),
        "%d calls with arguments of any kind; without an exception:" % count,
        *["  %-16s%8s" % call for call in calls], "", "Nothing was found.", "",
    ]  # fmt: skip
    (machines.ROOT / "bench/results/sanitize.txt").write_text("\n".join(lines))
