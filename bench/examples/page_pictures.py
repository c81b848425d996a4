"""The pictures of the page in docs/pictures, in headless Chromium: make page, then

python bench/examples/page_pictures.py         writes page.png, page_learn.png and page_board.png there
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from folders import ROOT  # noqa: E402

BUILD = Path(os.environ.get("ODT_BUILD", ROOT / "build"))
WIDTH = 773  # of a picture


def main():
    with tempfile.TemporaryDirectory() as folder:
        command = ["node", str(ROOT / "tests_device" / "machines" / "page.mjs"), str(BUILD), "pictures"]
        options = json.dumps({"pictures": {"folder": folder}})
        done = subprocess.run(command, input=options, stdout=subprocess.PIPE, text=True, check=True)
        assert json.loads(done.stdout)["pictures"] == {}, done.stdout
        for file in Path(folder).glob("*.png"):
            picture = Image.open(file).convert("RGB")
            small = picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)), Image.Resampling.LANCZOS)
            small.quantize(256).save(ROOT / "docs" / "pictures" / file.name, optimize=True)


if __name__ == "__main__":
    main()
