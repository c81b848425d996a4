"""bench/results: each file says which command wrote it, and of which commit."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
RESULTS = sorted((ROOT / "bench" / "results").glob("*.txt"))
# Made before their scripts wrote the commit; they go from here when they are made again.
WITHOUT = {"dynamic", "numerics", "qas", "qat", "shift"}


@pytest.mark.parametrize("file", RESULTS, ids=lambda file: file.stem)
def test_results_name_their_command_and_a_commit_without_changes(file):
    begin = "\n".join(file.read_text().splitlines()[:4])
    command = re.search(r"python (bench/\w+\.py)", begin)
    assert command and (ROOT / command[1]).exists()
    commits = re.findall(r"commit ([0-9a-f]{7,})(-dirty)?", begin)
    assert all(not dirty for _, dirty in commits), begin
    assert bool(commits) != (file.stem in WITHOUT)
