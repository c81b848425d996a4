"""A Pico whose power fails while examples/personalise/life.py writes to its flash goes on from there, to the PC's
digest.
"""

import re
import shutil

import pytest
from digests import digest, on_the_pc
from example_runs import EXAMPLES, FLASH, RUNS, images
from machine_rp2040 import RP2040
from machines import MachineError

SCRIPT, FILES, ARGS = RUNS["personalise, life"]
SCRIPT = EXAMPLES / "personalise" / SCRIPT


class Pico(RP2040):
    """With the flash of the file ``flash``; its power fails at store ``cut`` to it."""

    def __init__(self, flash, cut=None):
        super().__init__()
        self.options = ["--flash", flash, *(["--cut", cut] if cut else [])]

    def live(self):
        return self.exec(FLASH + SCRIPT.read_text(), timeout=900, args=ARGS)

    def off(self):
        """Switch it off: the stores to its flash since it was switched on."""
        self._process.terminate()
        self._process.wait(20)
        return int(re.search(r"^flash: (\d+) stores$", self.log(), re.M).group(1))


def test_a_life_goes_on_to_the_pcs_digest_after_the_power_failed_within_a_write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in FILES:
        shutil.copy(SCRIPT.parent / name, tmp_path)
    images(tmp_path, ARGS["images"])
    expected = digest(on_the_pc(SCRIPT, ARGS))
    flash = tmp_path / "flash"
    with Pico(flash) as board:
        code, output = board.mpremote("cp", *[tmp_path / name for name in FILES], ":", timeout=300)
        assert code == 0, output
        board.off()
    image = flash.read_bytes()
    with Pico(flash) as board:
        assert digest(board.live()) == expected
        stores = board.off()
    for part in range(1, 8, 2):
        flash.write_bytes(image)
        with Pico(flash, stores * part // 8) as board, pytest.raises(MachineError, match="the power failed") as failed:
            board.live()
        assert "digest" not in failed.value.output
        with Pico(flash) as board:
            text = board.live()
            assert digest(text) == expected
            board.off()
        assert "goes on from life.ckpt" in text
    assert "goes on from replay.ckpt" in text
