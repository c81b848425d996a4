"""What `make docs` adds to docs/: README, examples and habits as pages, and links between them.

A hook of mkdocs (.ci/mkdocs.yml names it). A link to a file that is no page becomes its words: the site is no browser
of the repository.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
PAGES = {"README.md": "readme.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
PAGES.update(
    {
        path.relative_to(ROOT).as_posix(): "examples/%s.md" % path.parent.name
        for path in ROOT.glob("examples/*/README.md")
    }
)
FENCED = re.compile(r"^```.*?^```$|`[^`\n]+`", re.M | re.S)
LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)")


def on_files(files, config):
    for file in list(files):
        if file.src_uri.startswith("page/"):  # sources of what `make page` builds
            files.remove(file)
    for source, uri in PAGES.items():
        files.append(File.generated(config, uri, content=(ROOT / source).read_text()))
    return files


def on_page_markdown(markdown, page, config, files):
    """Links by the places of files in the repository become links by those of pages."""
    here = page.file.src_uri
    origin = {uri: source for source, uri in PAGES.items()}.get(here, "docs/" + here)

    def moved(match):
        words, target, anchor = match[1], match[2], match[3] or ""
        if not target or ":" in target:
            return match[0]
        source = posixpath.normpath(posixpath.join(posixpath.dirname(origin), target))
        uri = source[len("docs/") :] if source.startswith("docs/") else PAGES.get(source)
        if uri is None and (ROOT / source).exists():
            return words
        return "[%s](%s%s)" % (words, posixpath.relpath(uri or target, posixpath.dirname(here) or "."), anchor)

    kept = []
    text = FENCED.sub(lambda match: kept.append(match[0]) or "\0%d\0" % (len(kept) - 1), markdown)
    text = LINK.sub(moved, text)
    while "\0" in text:
        text = re.sub("\0(\\d+)\0", lambda match: kept[int(match[1])], text)
    return text
