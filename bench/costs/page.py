"""Sizes and times of the page, in headless Chromium on this machine: make page, then

    python bench/costs/page.py

writes bench/results/page.txt. Times are medians in ms; "to the planner" is all that is fetched before the first plan.
"""

import gzip
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import written  # noqa: E402
from folders import ROOT  # noqa: E402

BUILD = Path(os.environ.get("ODT_BUILD", ROOT / "build"))
FIRST = ["index.html", "style.css", "main.js", "worker.js", "micropython.wasm", "odt.wasm", "odt.pack", "examples.json"]
REPEATS = 3


def compressed(name):
    """Bytes of a file of the page as a web server sends it."""
    return len(gzip.compress((BUILD / "page" / name).read_bytes(), 9))


def names():
    """What is fetched before the first plan: the files of FIRST and the chunks that main.js imports at once."""
    found = re.findall(r'from"\./(chunk-\w+\.js)"', (BUILD / "page" / "main.js").read_text())
    return FIRST + sorted(set(found))


def lines():
    """The table."""
    command = ["node", str(ROOT / "tests_device" / "machines" / "page.mjs"), str(BUILD), "times", "newcomer"]
    options = {"times": {"repeats": REPEATS}}
    done = subprocess.run(command, input=json.dumps(options), stdout=subprocess.PIPE, text=True, check=True)
    answer = json.loads(done.stdout)
    assert not answer["errors"], answer["errors"]
    found, newcomer = answer["times"], answer["newcomer"]
    assert "failed" not in found and "failed" not in newcomer, answer
    machine = written.processor()
    yield "Chromium %s, %s, %d cores, load %.1f" % (found["browser"], machine, os.cpu_count(), os.getloadavg()[0])
    sizes = {name: compressed(name) for name in names()}
    yield "to the planner: %d bytes compressed by gzip" % sum(sizes.values())
    for name, size in sizes.items():
        yield "  %-24s %8d" % (re.sub(r"-\w+\.js", ".js", name), size)
    ready, first = (statistics.median(column) for column in zip(*found["starts"]))
    yield "odt is ready after %d ms, the first plan is drawn after %d ms" % (ready, first)
    medians = {title: statistics.median(times) for title, times in found["toggles"].items()}
    yield "a layer frozen or not is drawn after %d ms, the median of all examples" % statistics.median(medians.values())
    for title, value in medians.items():
        yield "  %-28s %6d" % (title, value)
    prompts = [float(re.search(r"after ([\d.]+) s", text)[1]) for text in found["prompt"]]
    yield "a virtual Pico answers after %.1f s" % statistics.median(prompts)
    yield "from the link to a class that is taught and recognised: %.0f s, %d clicks, %d drawings, %d letters," % (
        newcomer["seconds"], newcomer["clicks"], newcomer["strokes"], newcomer["letters"])  # fmt: skip
    yield "with 0.3 s between actions and 2 s of reading a new view"
    for step in newcomer["steps"]:
        yield "  " + step


def main():
    for line in lines():
        print(line)


if __name__ == "__main__":
    written.recorded("page.txt", main)
