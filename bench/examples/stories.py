"""How well the examples that are stories learn, and what they cost; it also makes their files.

    git clone https://github.com/Jakobovski/free-spoken-digit-dataset build/fsdd
    git clone https://github.com/emlearn/emlearn-micropython build/emlearn-micropython
    git clone https://github.com/LuisM78/Occupancy-detection-data build/Occupancy-detection-data
    python bench/examples/stories.py                    writes bench/results/stories.txt and docs/*.svg of them (fifteen
                                               minutes)
    python bench/examples/stories.py gesture            prints one of them
    python bench/examples/stories.py gesture --files    writes the files of examples/gesture

What each of them measures, and how, stands in its module: bench/examples/story_keyword.py, story_gesture.py,
story_room.py, story_vibration.py.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import story_gesture
import story_keyword
import story_room
import story_vibration
import torch
import written

STORIES = {"keyword": story_keyword, "gesture": story_gesture, "room": story_room, "vibration": story_vibration}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("story", nargs="?", choices=sorted(STORIES))
    parser.add_argument("--files", action="store_true", help="write the files that the example reads")
    parser.add_argument("--costs", action="store_true", help="measure the emulated boards alone")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for name, story in STORIES.items():
        if arguments.story not in (None, name):
            continue
        if arguments.files:
            story.files()
            continue
        print("\n%s\n" % name)
        story.costs(("rp2040", "qemu_m4"))
        if not arguments.costs:
            found = story.measured()
            if not arguments.story:
                story.picture(found)


if __name__ == "__main__":
    written.recorded("stories.txt", main)
