"""Update policies and memory budgets end with the PC's bits on the machines."""

import machines
import pytest
from checkout import ROOT
from digests import on_the_pc

SCRIPT = ROOT / "tests_device" / "scripts" / "policies.py"
# In two goes, each on a heap that nothing has cut to pieces: what compiles last is the largest.
GOES = ("whole", "last 2", "bias", "sparse", "dynamic", "sqrt", "budget"), ("flash", "adapt", "lite", "norm", "lora")


@pytest.mark.parametrize("name", machines.CORES)
def test_policies_and_budgets_take_the_same_bytes_and_end_with_the_same_bits(name):
    with machines.open(name) as machine:
        lines = [line for only in GOES for line in machine.run(SCRIPT, args={"only": only}, timeout=600).split("\n")]
    expected = on_the_pc(SCRIPT, {}).split("\n")
    assert [line.strip() for line in lines if "digest" in line or "adapt" in line] == [
        line for line in expected if line
    ]


def test_all_that_recomputes_ends_with_the_digest_of_the_whole():
    lines = dict(line.split(":") for line in on_the_pc(SCRIPT, {}).split("\n") if "digest" in line)
    digests = {name: line.split()[-1] for name, line in lines.items()}
    assert digests["whole"] == digests["sqrt"] == digests["budget"]
    assert len(set(digests.values())) == 10
    arenas = {name: int(line.split()[1].strip(",")) for name, line in lines.items()}
    assert arenas["budget"] < arenas["whole"] and arenas["last 2"] < arenas["whole"]
