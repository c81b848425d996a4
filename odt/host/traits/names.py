"""The lists of public names in odt/__init__.py, its stub, odt/layers/__init__.py, odt/online/__init__.py and
odt/sensors/__init__.py, written from what defines them.

Public is each class and function of these modules whose name begins with a capital letter, except INNER: what
others are made of. A module that is not in the list yet stands after the others of its package.
"""

import ast
import re
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PLACES = ("layers/*.py", "losses.py", "model.py", "optimizers/*.py")
INNER = ("Conv", "Detector", "InputLayer", "Layer", "Window")
FILES = (
    "odt/__init__.py", "odt/__init__.pyi",
    "odt/layers/__init__.py", "odt/online/__init__.py", "odt/sensors/__init__.py",
)  # fmt: skip
_ROW = re.compile(r'^    \(("[\w.]+", (?:"[^"]*"\s*)+)\),\n', re.MULTILINE)
_IMPORT = re.compile(r"^( *)from (\.[\w.]*) import (\w+) as \3\n", re.MULTILINE)


def generated() -> "dict[str, str]":
    """The files' text, by path."""
    own, online = _own(ROOT / "odt", PLACES), _own(ROOT / "odt" / "online", ("[!_]*.py",))
    heard = _own(ROOT / "odt" / "sensors", ("features/[!_]*.py",))
    texts = {name: (ROOT / name).read_text() for name in FILES}
    root, stub, layers, streams, sensors = FILES
    return {
        root: _with_rows(texts[root], own),
        stub: _with_imports(texts[stub], own),
        layers: _with_imports(texts[layers], {place[7:]: own[place] for place in own if place.startswith("layers.")}),
        streams: _with_rows(_with_imports(texts[streams], online), online, '    ("%s", "%s"),'),
        sensors: _with_rows(_with_imports(texts[sensors], heard), heard, '    ("%s", "%s"),'),
    }


def _own(folder, patterns):
    """{module: its public names}"""
    found = {}
    for pattern in patterns:
        for path in sorted(folder.glob(pattern)):
            place = ".".join(path.relative_to(folder).with_suffix("").parts).replace(".__init__", "")
            kinds = ast.ClassDef, ast.FunctionDef
            names = [node.name for node in ast.parse(path.read_text()).body if isinstance(node, kinds)]
            found[place] = [name for name in names if name[0].isupper() and name not in INNER]
    return found


def _with_rows(text, own, line='    ("%s", " %s "),'):
    """The rows of _HOMES in their order, those of these modules with these names; new ones after their package's."""
    found = list(_ROW.finditer(text))
    rows = dict([ast.literal_eval("(%s)" % match[1]) for match in found])
    places = list(rows)
    for place in own:
        if place not in rows and own[place]:
            same = [at for at, each in enumerate(places) if each.split(".")[0] == place.split(".")[0]]
            places.insert(same[-1] + 1 if same else len(places), place)
    lines = []
    for place in places:
        known = rows.get(place, "").split()
        names = [name for name in known if name in own.get(place, known)]
        names += sorted(set(own.get(place, ())) - set(known))
        whole = line % (place, " ".join(names))
        parts = (
            textwrap.wrap(whole, 118, drop_whitespace=False, break_on_hyphens=False) if len(whole) > 120 else [whole]
        )
        lines.append('"\n     "'.join(parts) + "\n")
    return text[: found[0].start()] + "".join(lines) + text[found[-1].end() :]


def _with_imports(text, own):
    """The lines "from .module import Name as Name"; a new one after the last of its module, or last."""
    found = list(_IMPORT.finditer(text))
    lines = [match[0] for match in found if match[3] in own.get(match[2][1:], (match[3],))]
    for place in own:
        for name in own[place]:
            line = "%sfrom .%s import %s as %s\n" % (found[0][1], place, name, name)
            if line not in lines:
                same = [at for at, each in enumerate(lines) if " .%s import " % place in each]
                lines.insert(same[-1] + 1 if same else len(lines), line)
    return text[: found[0].start()] + "".join(lines) + text[found[-1].end() :]
