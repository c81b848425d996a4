"""The lists of public names in odt/__init__.py, its stub and odt/layers/__init__.py, written from what defines them.

Public is each class and function of these modules whose name begins with a capital letter, but for INNER: layers that
others are made of. A module that is not in the list yet stands after the others of its package.
"""

import ast
import re
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PLACES = ("layers/*.py", "losses.py", "model.py", "optimizers/*.py")
INNER = ("Conv", "InputLayer", "Layer", "Window")
_ROW = re.compile(r'^    \(("[\w.]+", (?:"[^"]*"\s*)+)\),\n', re.MULTILINE)
_IMPORT = re.compile(r"^( *)from (\.[\w.]*) import (\w+) as \3\n", re.MULTILINE)


def generated() -> "dict[str, str]":
    """The three files' text, by path."""
    own = _own()
    layers = {place[6:]: names for place, names in own.items() if place.startswith("layers.")}
    return {
        "odt/__init__.py": _with_rows((ROOT / "odt" / "__init__.py").read_text(), own),
        "odt/__init__.pyi": _with_imports((ROOT / "odt" / "__init__.pyi").read_text(), {"." + k: own[k] for k in own}),
        "odt/layers/__init__.py": _with_imports((ROOT / "odt" / "layers" / "__init__.py").read_text(), layers),
    }


def _own():
    """{module: its public names}"""
    found = {}
    for pattern in PLACES:
        for path in sorted((ROOT / "odt").glob(pattern)):
            place = ".".join(path.relative_to(ROOT / "odt").with_suffix("").parts).replace(".__init__", "")
            kinds = ast.ClassDef, ast.FunctionDef
            names = [node.name for node in ast.parse(path.read_text()).body if isinstance(node, kinds)]
            found[place] = [name for name in names if name[0].isupper() and name not in INNER]
    return found


def _with_rows(text, own):
    """The rows of _HOMES in their order, those of these modules with these names; new ones after their package's."""
    found = list(_ROW.finditer(text))
    rows = dict([ast.literal_eval("(%s)" % match[1]) for match in found])
    places = list(rows)
    for place in own:
        if place not in rows and own[place]:
            last = max(at for at, each in enumerate(places) if each.split(".")[0] == place.split(".")[0])
            places.insert(last + 1, place)
    lines = []
    for place in places:
        known = rows.get(place, "").split()
        names = [name for name in known if name in own.get(place, known)]
        names += sorted(set(own.get(place, ())) - set(known))
        parts = textwrap.wrap(" %s " % " ".join(names), 108 - len(place), drop_whitespace=False)
        lines.append('    ("%s", %s),\n' % (place, "\n     ".join(['"%s"' % part for part in parts])))
    return text[: found[0].start()] + "".join(lines) + text[found[-1].end() :]


def _with_imports(text, own):
    """The lines "from .module import Name as Name"; a new one after the last of its module, or last."""
    found = list(_IMPORT.finditer(text))
    lines = [match[0] for match in found if match[3] in own.get(match[2], (match[3],))]
    for place in own:
        for name in own[place]:
            line = "%sfrom %s import %s as %s\n" % (found[0][1], place, name, name)
            if line not in lines:
                same = [at for at, each in enumerate(lines) if " %s import " % place in each]
                lines.insert(same[-1] + 1 if same else len(lines), line)
    return text[: found[0].start()] + "".join(lines) + text[found[-1].end() :]
