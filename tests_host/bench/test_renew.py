"""bench/renew.py: every result has a row, and what is older than what it depends on is named."""

import subprocess
import sys

import pytest
from checkout import ROOT

sys.path.insert(0, str(ROOT / "bench"))

import renew  # noqa: E402


@pytest.fixture
def tree(tmp_path):
    """(a repository with two sources, a function that commits a file and says which commit that is)"""

    def git(*words):
        identity = ("-c", "user.name=n", "-c", "user.email=e")
        done = subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(name, text, *options):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        git("add", name)
        git("commit", "-q", "-m", name, *options)
        return git("rev-parse", "--short=7", "HEAD")

    git("init", "-q")
    return tmp_path, commit


def results(*lines):
    return {result.name: result for result in map(renew.Result, lines)}


def test_results_older_than_what_they_depend_on_are_named_and_no_others(tree):
    root, commit = tree
    commit("native/a.c", "1")
    commit("odt/host/chart.py", "1")
    first = commit("bench/costs/speed.py", "1")
    rows = results("speed  bench/costs/speed.py --check 3  native", "other  bench/costs/other.py  odt/plan")
    commit("bench/results/speed.txt", "Written by: python bench/costs/speed.py; commit %s\n" % first)
    commit("bench/results/other.txt", "figures\ncommit %s\n" % first)
    assert renew.stale(root, rows) == []
    commit("odt/host/chart.py", "2")  # nothing depends on it
    assert renew.stale(root, rows) == []
    commit("native/a.c", "2")
    commit("native/kernels/b.c", "1")
    assert renew.stale(root, rows) == [("speed", first + " is before 2 commits to what it depends on (native 2)")]
    now = commit("bench/costs/speed.py", "2")
    assert renew.stale(root, rows) == [
        ("speed", first + " is before 3 commits to what it depends on (bench/costs/speed.py 1, native 2)")
    ]
    commit("bench/results/speed.txt", "Written by: python bench/costs/speed.py; commit %s\n" % now)
    assert renew.stale(root, rows) == []


def test_a_commit_that_is_gone_a_result_without_one_and_a_missing_result_are_named(tree):
    root, commit = tree
    commit("native/a.c", "1")
    before = commit("native/a.c", "2")
    commit("native/a.c", "3", "--amend")  # still in the repository, but nothing leads to it
    commit("bench/results/speed.txt", "commit %s\n" % before)
    commit("bench/results/both.txt", "$ make both      # commit 0123456\n")
    commit("bench/results/none.txt", "figures, no commit\n")
    rows = results(*["%s  bench/costs/speed.py  native" % name for name in ("speed", "both", "none", "lost")])
    gone = " is gone: no commit of that name leads to HEAD"
    assert renew.stale(root, rows) == [
        ("speed", before + gone), ("both", "0123456" + gone), ("none", "names no commit"), ("lost", "is not there"),
    ]  # fmt: skip


def test_a_row_is_read_into_its_command_and_paths():
    row = renew.Result("shift_deep  bench/accuracy/shift.py --deep --seeds 5  planner odt/adapt")
    assert row.command == ["bench/accuracy/shift.py", "--deep", "--seeds", "5"] and row.writes
    assert row.paths == ["bench/accuracy/shift.py", *renew.KINDS["planner"].split(), "odt/adapt"]
    row = renew.Result("spectra  [bench/costs/spectra.py FIRMWARE.uf2 qemu_m4]  native")
    assert row.command == ["bench/costs/spectra.py", "FIRMWARE.uf2", "qemu_m4"] and not row.writes


def test_every_result_has_a_row_whose_command_wrote_it_and_whose_paths_are_there():
    files = {file.stem: file.read_text() for file in (ROOT / "bench" / "results").glob("*.txt")}
    assert set(files) <= set(renew.RESULTS) and len(files) > 50
    for name, result in renew.RESULTS.items():
        assert all((ROOT / path).exists() for path in result.paths), name
        if name not in files:  # not run yet: make stale says so
            continue
        script = "make sanitize" if result.command[0] == "make" else result.command[0].rpartition("/")[2]
        assert script in "\n".join(files[name].splitlines()[:4]), name
    assert all((ROOT / script).exists() for script in renew.DOCUMENTS)
