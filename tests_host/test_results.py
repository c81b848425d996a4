"""bench/results: each file says which command wrote it, and of which commit."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
RESULTS = sorted((ROOT / "bench" / "results").glob("*.txt"))
# Made of changes without a commit, or before their scripts wrote it; they go from here when they are made again.
WITHOUT = {"dynamic", "examples", "numerics", "qas", "qat", "shift"}


@pytest.mark.parametrize("file", RESULTS, ids=lambda file: file.stem)
def test_results_name_their_command_and_a_commit_without_changes(file):
    begin = "\n".join(file.read_text().splitlines()[:4])
    command = re.search(r"python (bench/\w+\.py)", begin)
    assert command and (ROOT / command[1]).exists()
    commit = re.search(r"commit [0-9a-f]{7,}\b(?!-dirty)", begin)
    assert bool(commit) != (file.stem in WITHOUT), begin
