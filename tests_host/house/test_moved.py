"""Scripts that name modules as they were called before they lay in folders."""

import importlib
import subprocess
import sys

import pytest

import odt
from odt.host import moved


@pytest.mark.parametrize("name", sorted(moved.MOVED))
@pytest.mark.parametrize("ask", (lambda name: importlib.import_module("odt." + name), lambda name: getattr(odt, name)))
def test_a_module_is_found_under_its_old_name_which_is_told(name, ask):
    new = "odt.sensors" if name in ("features", "stream") else "odt." + moved.MOVED[name]
    sys.modules.pop("odt." + name, None)
    vars(odt).pop(name, None)
    with pytest.warns(FutureWarning, match="^odt.%s is %s now$" % (name, new)):
        found = ask(name)
    assert found is importlib.import_module(new) and found.__spec__.name == new


def test_scripts_with_old_names_run():
    script = (
        "from odt.features import LogMel; import odt.features.tables; from odt.stream import Window; from odt.readers "
        "import CsvReader\nfrom odt import teach, update; from odt.stream.window import Window as W; import odt.vae, "
        "odt\nassert W is Window and odt.vae.generate and teach.Teacher and update.last\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "FutureWarning: odt.readers is odt.data.readers now" in done.stderr


def test_a_name_that_never_was_is_an_error():
    for name in ("network", "learners"):
        with pytest.raises(ImportError):
            importlib.import_module("odt." + name)
