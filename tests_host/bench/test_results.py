"""bench/results: each file says which command wrote it, and of which commit."""

import re
import subprocess
import sys

import pytest
from checkout import ROOT

sys.path.insert(0, str(ROOT / "bench"))

import folders  # noqa: E402, F401
import mutation  # noqa: E402
import written  # noqa: E402

RESULTS = sorted((ROOT / "bench" / "results").glob("*.txt"))
# Made of changes without a commit, or before their scripts wrote it; they go from here when they are made again.
WITHOUT = {"numerics"}


def lies(script):
    """Whether a script is there, or what has been moved from there to a folder of bench/."""
    folder, _, name = script.rpartition("/")
    return (ROOT / script).exists() or folder == "bench" and len(list((ROOT / "bench").glob("*/" + name))) == 1


@pytest.mark.parametrize("file", RESULTS, ids=lambda file: file.stem)
def test_results_name_their_command_and_a_commit_without_changes(file):
    begin = "\n".join(file.read_text().splitlines()[:4])
    command = re.search(r"python ((?:bench|tests_host)/[\w/]+\.py)|make (\w+)", begin)
    makefile = (ROOT / "Makefile").read_text()
    assert command and (lies(command[1]) if command[1] else "\n%s:" % command[2] in makefile)
    commit = re.search(r"commit [0-9a-f]{7,}\b(?!-dirty)", begin)
    assert bool(commit) != (file.stem in WITHOUT), begin


def test_a_full_run_is_written_with_its_commit_and_changes_without_one_go_elsewhere(tmp_path, monkeypatch, capsys):
    def git(*words):
        identity = ("-c", "user.name=n", "-c", "user.email=e")
        return subprocess.run(
            ["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout.strip()

    folder = tmp_path / "bench" / "results"
    folder.mkdir(parents=True)
    (tmp_path / "code").write_text("one")
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    monkeypatch.setattr(written, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["bench/study.py"])
    written.recorded("study.txt", lambda: print("figures"))
    first = "Written by: python bench/study.py, by CPython %d.%d; commit %s" % (
        *sys.version_info[:2],
        git("rev-parse", "--short=7", "HEAD"),
    )
    assert (folder / "study.txt").read_text() == first + "\nfigures\n" and capsys.readouterr().out == "figures\n"
    (tmp_path / "code").write_text("two")
    written.recorded("study.txt", lambda: print("others"))
    assert "figures" in (folder / "study.txt").read_text()
    assert "others" in (tmp_path / "build" / "results" / "study.txt").read_text()
    monkeypatch.setattr(sys, "argv", ["bench/study.py", "--seeds", "2"])
    written.recorded("study.txt", lambda: print("a part"))
    assert "a part" not in (tmp_path / "build" / "results" / "study.txt").read_text()


def test_mutation_testing_knows_where_modules_and_their_tests_lie():
    for module, tests in mutation.TESTS.items():
        assert (ROOT / mutation.file_of(module)).is_file(), module
        files = [word for word in tests.split() if word.endswith(".py")]
        assert files and all(mutation.test_file(file).is_file() for file in files), module


def test_the_study_of_scaling_still_finds_what_it_changes_in_a_program():
    """It reaches into the planner: each kernel and bias has its own square of scales."""
    import qas

    counts = []
    for make in (qas.odt.SGD, qas.Unscaled):
        model = qas.odt.Sequential(qas.TASKS["digits-cnn"][1]())
        model.compile(make(0.01, 0.9), batch_size=4)
        text = model.disassemble()
        counts.append(len(re.findall(r"\bproduct\b", text)))
        model.fit(bytes(64 * 4), bytes(4), verbose=0)
    rows, layers = 8 + 16 + 10, 3
    assert counts[1] - counts[0] == 2 * rows + 4 * layers  # s_W^2 of each row of a kernel, (s_W s_x)^2 of a bias
