"""Every layer, loss and optimizer ends with one digest on every machine."""

import re

import machines
import pytest
from digests import ROOT, on_the_pc

SCRIPT = ROOT / "tests_device" / "scripts" / "layers.py"


def digests(text):
    return dict(re.findall(r"^(\w+ \w+) digest ([0-9a-f]{8})", text, re.M))


@pytest.fixture(scope="module")
def pc():
    text = on_the_pc(SCRIPT, {})
    assert "native executor" in text and len(digests(text)) == 2 * 23 - 3
    return digests(text)


@pytest.mark.parametrize("name", machines.CORES)
def test_layers_losses_and_optimizers_end_with_the_digests_of_the_pc(name, pc):
    with machines.open(name) as machine:
        text = machine.run(SCRIPT, timeout=900)
    assert "native executor" in text
    assert digests(text) == pc


@pytest.mark.parametrize("name", ("pc", *machines.UNIX))
def test_the_reference_ends_with_the_digests_of_the_kernels(name, pc):
    dtypes = ("int8",) if name == "unix_float30" else ("int8", "float32")
    args = {"executor": "reference", "dtypes": dtypes}
    if name == "pc":
        text = on_the_pc(SCRIPT, args)
        import odt

        odt.executor.use("native")
    else:
        with machines.open(name) as machine:
            text = machine.run(SCRIPT, timeout=900, args=args)
    assert "reference executor" in text
    expected = {key: value for key, value in pc.items() if key.split()[0] in dtypes}
    found = digests(text)
    assert found.keys() == expected.keys()
    if name == "unix_float30":  # has no float32 to keep an optimizer's state in
        found = {key: value for key, value in found.items() if not key.endswith("_float32")}
        expected = {key: expected[key] for key in found}
    assert found == expected


def test_the_table_has_every_layer_and_loss():
    import odt

    rows = set(re.findall(r"^\| (\w+) \|", (ROOT / "docs" / "reference" / "layers.md").read_text(), re.M))
    for module in (
        odt.layers.activations,
        odt.layers.joins,
        odt.layers,
        odt.losses,
        odt.layers.resizing,
        odt.generative,
    ):
        for name in vars(odt):
            kind = getattr(odt, name)
            if getattr(kind, "__module__", None) == module.__name__ and isinstance(kind, type):
                assert name in rows, "run tests_device/checks/make/layers_table.py"
    assert {"LayerNorm", "GroupNorm", "BatchNorm"} <= rows
