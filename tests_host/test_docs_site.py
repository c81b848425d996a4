"""The site of docs/ builds without a warning, and what its pages quote is what odt says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "-f", ".ci/mkdocs.yml", "--strict", "-q", "-d", folder]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
    return folder


def test_every_document_is_a_page_that_the_others_lead_to(site):
    front = (site / "index.html").read_text()
    for document in ROOT.glob("docs/*.md"):
        name = "" if document.stem == "index" else document.stem + "/"
        assert (site / name / "index.html").is_file(), document
        assert 'href="%s"' % (name or ".") in front, document


def test_pages_load_nothing_from_elsewhere(site):
    for page in site.rglob("*.html"):
        text = page.read_text()
        loaded = re.findall(r'<(?:script|img|iframe)[^>]*src="([^"]*)"', text) + re.findall(
            r'<link[^>]*href="([^"]*)"', text
        )
        assert loaded and not [address for address in loaded if re.match(r"\w+:|//", address)], page
    for sheet in site.rglob("*.css"):
        assert not re.findall(r"url\(['\"]?(?:https?:|//)|@import", sheet.read_text()), sheet


def test_the_titles_of_code_blocks_are_shown(site):
    assert '<span class="filename">odt/layers.py</span>' in (site / "add_a_layer" / "index.html").read_text()


def test_errors_that_the_page_of_troubles_quotes_are_odts_words():
    sources = [file.read_text() for file in [*ROOT.glob("odt/**/*.py"), *ROOT.glob("native/bindings/*.py")]]
    rows = re.findall(r"^\| `([^`]+)`([^|]*)\|", (ROOT / "docs" / "troubleshooting.md").read_text(), re.M)
    assert len(rows) > 10
    for words, whose in rows:
        found = any(words in re.sub(r'"\s*\n\s*"', "", text) for text in sources)
        assert found or "(MicroPython)" in whose or "(mpremote)" in whose, words
