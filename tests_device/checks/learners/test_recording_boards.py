"""odt.sensors.record writes on the machines the file that it writes on the PC, and they train from it to the PC's
digest.
"""

import machines
import pytest
from checkout import ROOT
from digests import on_the_pc

SCRIPT = ROOT / "tests_device" / "scripts" / "recording.py"


@pytest.mark.parametrize("name", machines.WITH_FLOAT30)
def test_a_recording_is_the_file_of_the_pc(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where the script writes its file
    expected = on_the_pc(SCRIPT, {})
    assert expected.startswith(
        "captured 2\npolled 2 18 0\nRecorder('gestures.npy': still 11, up 12; each label at most 20)"
    )
    assert expected.count("digest") == 2
    with machines.open(name) as machine:
        assert machine.run(SCRIPT, timeout=300).replace("\r", "") == expected
