"""The site of docs/ builds without a warning, and what its pages quote is what odt says."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from checkout import ROOT

EXAMPLES = sorted(ROOT.glob("examples/*/README.md"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "-f", ".ci/mkdocs.yml", "--strict", "-q", "-d", folder]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
    return folder


def test_every_document_is_a_page_that_the_others_lead_to(site):
    front = (site / "index.html").read_text()
    documents = [document.relative_to(ROOT / "docs") for document in ROOT.glob("docs/**/*.md")]
    assert {document.parent.as_posix() for document in documents} == {
        ".",
        "tutorials",
        "howto",
        "reference",
        "explanation",
    }
    for document in documents:
        name = document.with_suffix(".html").as_posix()
        assert (site / name).is_file(), document
        assert 'href="%s"' % name in front, document


def test_readme_examples_and_habits_are_pages_too(site):
    front = (site / "index.html").read_text()
    for name in ("readme", "contributing", "changelog", *["examples/" + path.parent.name for path in EXAMPLES]):
        assert 'href="%s.html"' % name in front and (site / name).with_suffix(".html").is_file(), name


class Links(HTMLParser):
    """The addresses that a page leads to, and the names of its places."""

    def __init__(self, page):
        super().__init__()
        self.addresses, self.names = [], {""}
        self.feed(page.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.addresses.append(value)
            elif name == "id":
                self.names.add(value)


def test_make_docs_installs_what_the_extra_names_and_no_more():
    extra = re.search(r"^docs = \[(.*)\]$", (ROOT / "pyproject.toml").read_text(), re.M)[1]
    rules = (ROOT / "Makefile").read_text()
    assert re.search(r"^DOCS := (.*)$", rules, re.M)[1].split() == re.findall(r'"([^"]+)"', extra)
    assert re.search(r"^docs: (.*)$", rules, re.M)[1] == "$(BUILD)/venv-docs/.done"


def test_no_link_is_dead(site):
    pages = {page.resolve(): Links(page) for page in site.rglob("*.html")}
    followed = 0
    for page, links in pages.items():
        if page.name == "404.html":  # whose addresses begin at the server's root
            continue
        for address in links.addresses:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert target.is_file(), (page.relative_to(site.resolve()), address)
            if target in pages:
                assert unquote(parts.fragment) in pages[target].names, (page.relative_to(site.resolve()), address)
            followed += 1
    assert followed > 500


def test_code_is_coloured(site):
    front = (site / "readme.html").read_text()
    used = set(re.findall(r'<span class="([a-z]\w?)">', front))
    assert {"kn", "mi", "s2"} <= used
    sheets = [sheet for sheet in (site / "assets").rglob("*.css") if sheet.name in front]
    colours = "".join([sheet.read_text() for sheet in sheets])
    assert all(re.search(r"\.highlight \.%s[,{]" % kind, colours) for kind in ("kn", "mi", "s2"))


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
    assert (
        '<span class="filename">odt/layers/activations.py</span>' in (site / "howto" / "add_a_layer.html").read_text()
    )


def test_errors_that_the_page_of_troubles_quotes_are_odts_words():
    sources = [file.read_text() for file in [*ROOT.glob("odt/**/*.py"), *ROOT.glob("native/bindings/*.py")]]
    rows = re.findall(r"^\| `([^`]+)`([^|]*)\|", (ROOT / "docs" / "howto" / "troubleshooting.md").read_text(), re.M)
    assert len(rows) > 10
    for words, whose in rows:
        found = any(words in re.sub(r'"\s*\n\s*"', "", text) for text in sources)
        assert found or "(MicroPython)" in whose or "(mpremote)" in whose, words


def test_the_search_works_in_pages_that_are_opened_as_files(site):
    """Its index is a script, and a frame takes the Worker's place: docs/iframe-worker.js."""
    index = (site / "search" / "search_index.js").read_text()
    assert index.startswith("var __index = {") and "howto/troubleshooting.html" in index
    for page in ("index.html", "howto/import.html"):
        assert re.search(r'<script src="(?:\.\./)?iframe-worker\.js">', (site / page).read_text())
