"""A Pico's flash with files in it: its littlefs is written on this PC, by MicroPython's unix port."""

import json
import subprocess
from pathlib import Path

import machines

BLOCK, END = 4096, 2 * 1024 * 1024  # of the flash: a block, where it ends
STOCK = 640 * 1024  # where MicroPython's own layout of a Pico begins the file system
# Its standard input: [a path here, a path there] of each file. Its arguments: the image to write, the blocks of the
# file system, how many of them the file /full leaves free (-1: there is no such file).
SCRIPT = """
import json, os, sys, vfs
path, blocks, left = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
data = bytearray(b"\\xff" * (blocks * 4096))
view = memoryview(data)
class Flash:
    def readblocks(self, block, buffer, offset=0):
        at = block * 4096 + offset
        buffer[:] = view[at : at + len(buffer)]
    def writeblocks(self, block, buffer, offset=0):
        at = block * 4096 + offset
        view[at : at + len(buffer)] = buffer
    def ioctl(self, operation, argument):
        if operation == 6:
            view[argument * 4096 : argument * 4096 + 4096] = b"\\xff" * 4096
        return {4: blocks, 5: 4096}.get(operation, 0)
flash = Flash()
vfs.VfsLfs2.mkfs(flash, progsize=256)
vfs.mount(vfs.VfsLfs2(flash, progsize=256), "/pico")
for source, target in json.loads(sys.stdin.readline()):
    for at in [at for at in range(1, len(target)) if target[at] == "/"]:
        try:
            os.mkdir("/pico" + target[:at])
        except OSError:
            pass
    with open(source, "rb") as file, open("/pico" + target, "wb") as copy:
        copy.write(file.read())
with open("/pico/full" if left >= 0 else "/dev/null", "wb") as file:
    while left >= 0 and os.statvfs("/pico")[3] > left:
        file.write(bytes(4096) if os.statvfs("/pico")[3] > left + 1 else b"0")
        file.flush()
vfs.umount("/pico")
with open(path, "wb") as file:
    file.write(data)
"""


def in_lib(files):
    """(path here, path there) of files and of all in folders."""
    for file in files:
        inner = [path for path in file.rglob("*") if path.is_file()] if file.is_dir() else [file]
        for path in sorted(inner):
            yield path, "/lib/" + path.relative_to(file.parent).as_posix()


def write(path, files, at=STOCK, left=-1):
    """Write a flash whose file system begins at a byte. ``files``: (path here, path there) of each, from /.

    ``left``: blocks that stay free, the others are in /full; -1: all that the files leave.
    """
    part = Path(path).with_suffix(".part")
    pairs = json.dumps([[str(source), target] for source, target in files])
    command = [machines.BUILD / "unix" / "micropython", "-X", "heapsize=16M", "-c", SCRIPT]
    subprocess.run([*command, part, str((END - at) // BLOCK), str(left)], input=pairs + "\n", text=True, check=True)
    Path(path).write_bytes(b"\xff" * at + part.read_bytes())
