"""What all tests share: the helpers' folders, which statements of the readers of other frameworks the tests run
(tests_host/helpers/reader_lines.py), an order of the tests' files, and a heap that is quick to collect.
"""

import gc
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parent / "tests_host" / "helpers"))
import checkout  # noqa: E402
import reader_lines  # noqa: E402

reader_lines.install()


def pytest_collection_modifyitems(items):
    """After the files with machines those that compile native/, which take longest of the others: none is the last."""
    first = {"tests_device": 0, "native_sources": 1, "fuzz": 1}

    def folder(item):
        return item.path.relative_to(checkout.ROOT).parts[0]

    def rank(item):
        return min([first[name] for name in (folder(item), *vars(item.module)) if name in first], default=2)

    if all(hasattr(item, "module") for item in items):
        items.sort(key=rank)


@pytest.fixture(scope="module", autouse=True)
def collected():
    """What is there before a file's tests is not looked at again: what they run collects garbage as a board does, and
    with PyTorch and Keras in the heap that takes a second each time.
    """
    gc.collect()
    gc.freeze()


def pytest_sessionfinish(session):
    """A worker gives its lines; who has them all says and judges them."""
    config = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput["lines"] = {name: sorted(lines) for name, lines in reader_lines.SEEN.items()}
    elif reader_lines.of_all(config) and not reader_lines.report()[1] and session.exitstatus == 0:
        session.exitstatus = 1


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    for name, lines in getattr(node, "workeroutput", {}).get("lines", {}).items():
        reader_lines.SEEN[name].update(lines)


def pytest_terminal_summary(terminalreporter, config):
    if reader_lines.of_all(config):
        lines, enough = reader_lines.report()
        terminalreporter.section(
            "statements of the readers that the tests run, at least %d %%" % reader_lines.LEAST, red=not enough
        )
        for line in lines:
            terminalreporter.line(line)
