"""The documents, and the blocks of code in them."""

import re

from checkout import ROOT

README = ROOT / "README.md"
DOCUMENTS = [README, *sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("examples/*/README.md"))]


LARGE = "and on a board with more RAM than a Pico"


def blocks(document, language):
    """``[(line, text)]`` of the document's fenced blocks in a language."""
    pattern = r"^```" + language + r"\n(.*?)^```$"
    text = document.read_text()
    found = re.finditer(pattern, text, re.M | re.S)
    return [(text[: match.start(1)].count("\n"), match.group(1)) for match in found]
