"""Figures of documents that come from what was built: sizes, modules, heap.

    build/venv/bin/python tests_device/checks/install/test_readme.py     writes them again, after `make machines`

Words, and numbers below 1,000, are what is measured; larger numbers may differ by 2 %, as compilers do.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests_host" / "helpers"))

import checkout  # noqa: E402, F401
from figures import FIGURES, check, near


def test_documents_give_the_sizes_of_the_kernels_and_of_the_package():
    check("kernels and package")


def test_documents_give_what_odt_adds_to_a_firmware():
    check("firmware")


def test_documents_give_the_heap_that_an_installation_wants_and_leaves():
    check("wanted")
    check("heap")  # test_install.py: the installation


def test_figures_that_are_off_are_seen():
    assert near("a 1,000 b 55", "a 1,020 b 55") and near("7", "8", 1)
    for text in ("a 1,000 b 54", "a 1,021 b 55", "a 1000 c 55", "a 1000"):
        assert not near(text, "a 1,000 b 55")


if __name__ == "__main__":
    for name, (document, pattern, measure, slack) in FIGURES.items():
        measured = measure()
        (found,) = re.findall(pattern, document.read_text(), re.S)
        if not near(found[1], measured, slack) or "heap" in name:
            print("wrote", name)
            document.write_text(
                re.sub(pattern, lambda match: match[1] + measured + match[3], document.read_text(), flags=re.S)
            )
