"""python -m odt install: what fits the board is copied to it and tested there."""

import contextlib
import io
import re
from pathlib import Path

from ... import __version__
from ...base import executor
from ..files import EXAMPLES, IN_CHECKOUT
from ..release.pieces import FILES, beside
from ..text import complain, say
from . import room
from .board import Board, BoardError, only_port
from .capabilities import CAPABILITIES, IN_FILES, closed

SELFTEST = Path(__file__).with_name("selftest.py")

# sys.implementation._mpy >> 10, as MicroPython numbers architectures.
ARCHITECTURES = {
    1: "x86", 2: "x64", 3: "armv6", 4: "armv6m", 5: "armv7m", 6: "armv7em", 7: "armv7emsp",
    8: "armv7emdp", 9: "xtensa", 10: "xtensawin", 11: "rv32imc",
}  # fmt: skip
LOOPS = "_odt_viper"  # of the Python executor, in native code: for boards that no kernels fit
ARM = ("armv6m", "armv7m", "armv7em", "armv7emsp", "armv7emdp")

# Bytes of free heap that the self-test wants of a board that has odt as .mpy files: what plans and trains a tiny model,
# in the Python executor, or with kernels, whose files come on top. Measured on a stock Pico:
# tests_device/checks/install/test_install.py.
PYTHON_HEAP = 164000
NATIVE_HEAP = 137000
# The kernels that the self-test loads, each time into a fresh heap.
TESTED = {"int8": ("_odt", "_odt_conv"), "float32": ("_odt", "_odt_f32", "_odt_f32_conv")}
SCRIPTS = (
    "teach.py",
    "learn.py",
    "adapt.py",
    "train.py",
    "start.py",
)  # of an example; the last that it has is the one that boards run

_DIGEST = re.compile("[0-9a-f]{8}")
_SIZE = re.compile("[0-9]{1,9}")


def describe(found):
    """What a board is, in a line."""
    version = ".".join([str(part) for part in found["version"]])
    arch = ARCHITECTURES.get(found["mpy"] >> 10 & 15, "no native code")
    return "%s, %s %s (.mpy %d.%d, %s), %d bytes of heap free" % (
        found["machine"], found["name"], version, found["mpy"] & 255, found["mpy"] >> 8 & 3, arch,
        found["free"],
    )  # fmt: skip


def header(file):
    """(version, sub-version, architecture) of an .mpy file."""
    start = Path(file).read_bytes()[:3]
    if len(start) < 3 or start[:1] != b"M":
        raise BoardError("%s is no .mpy file: it begins with %r" % (file, start))
    return start[1], start[2] & 3, start[2] >> 2 & 15


def check(found, package, heap=PYTHON_HEAP):
    """BoardError with the reason why the package cannot be installed, which wants ``heap`` bytes free."""
    if found["name"] != "micropython":
        raise BoardError(
            "the board runs %s, whose compiled files differ: copy the folder odt to its lib folder" % found["name"]
        )
    version = header(package / "__init__.mpy")[0]
    if found["mpy"] & 255 != version:
        raise BoardError(
            "MicroPython %s reads .mpy files of version %d, these are of version %d: %s"
            % (
                ".".join([str(part) for part in found["version"]]),
                found["mpy"] & 255,
                version,
                "the board needs a newer MicroPython"
                if found["mpy"] & 255 < version
                else "build them from its source, make mpy MPY_DIR=...",
            )  # fmt: skip
        )
    if not found["libs"] or found["disk"] < 0:
        raise BoardError("the board has no file system to install to")
    if found["free"] < heap:
        raise BoardError(
            "too little RAM: %d bytes of heap are free, odt needs %d from files; "
            "firmware with odt inside needs less" % (found["free"], heap)
        )


def architectures(found, files, name="_odt.mpy"):
    """Each file of that name whose architecture and version the board loads, the best first; the reason if there is
    none.
    """
    arch = ARCHITECTURES.get(found["mpy"] >> 10 & 15)
    if arch is None:
        return [], "this firmware loads no native code"
    # An Arm core loads modules of smaller ones.
    fitting = reversed(ARM[: ARM.index(arch) + 1]) if arch in ARM else [arch]
    built = [files / each / name for each in fitting]
    built = [file for file in built if file.exists()]
    if not built:
        return [], "there are no kernels for %s" % arch
    matching = [file for file in built if header(file)[:2] == (found["mpy"] & 255, found["mpy"] >> 8 & 3)]
    return matching, "" if matching else "the kernels are of .mpy version %d.%d" % header(built[0])[:2]


def kernels(found, files):
    """Each ``_odt.mpy`` that the board's heap has room for, too, the best first; the reason if there is none."""
    matching, reason = architectures(found, files)
    if not matching:
        return [], reason
    needed = [native_heap(file) for file in matching]
    small = [file for file, size in zip(matching, needed) if size <= found["free"]]
    if not small:
        return [], "with kernels odt needs %d bytes of heap, %d are free" % (needed[0], found["free"])
    return small, ""


def loops(found, files):
    """[the ``_odt_viper.mpy`` that the board loads], where there are no kernels for it; else []."""
    if architectures(found, files)[0]:
        return []
    return architectures(found, files / "viper", LOOPS + ".mpy")[0][:1]


def native_heap(file):
    """Bytes of free heap that the self-test wants with the kernels beside an ``_odt.mpy``."""
    return NATIVE_HEAP + max(
        size_of([part for part in beside(file) if part.stem in names]) for names in TESTED.values()
    )


def expected():
    """{dtype: digest} of the self-test, by the Python executor of this PC."""
    before = executor.backend
    executor.use("reference")
    try:
        text = printed(SELFTEST)  # of both dtypes: free is 0 where gc has no mem_free
    finally:
        executor.use(before)
    return {row[2]: row[3] for row in _rows(text)}


def printed(script, **names):
    """What a script for boards prints on this PC, with these global names."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(script.read_text(), str(script), "exec"), {"__name__": script.stem, **names})
    return out.getvalue()


def _rows(text):
    return [line.split() for line in text.splitlines() if line.startswith("odt-test ")]


def selftest(board, backend, wanted):
    """Bytes of heap left once odt is imported; BoardError where a digest is not the PC's."""
    # In Python, floats have the bits of float32 on no board, so only kernels are asked for them.
    for dtype in sorted(wanted, reverse=True) if backend == "native" else ["int8"]:
        rows = _rows(board.call("exec", "dtypes = [%r]" % dtype, "run", SELFTEST, timeout=300))
        if not rows:
            raise BoardError("the self-test printed nothing")
        row = rows[0]
        if len(row) != 5 or row[2] not in wanted or not _DIGEST.fullmatch(row[3]) or not _SIZE.fullmatch(row[4]):
            raise BoardError("the self-test's answer is damaged: %.80r" % " ".join(row))
        _, ran, of, digest, left = row
        if len(rows) > 1 or of != dtype:
            raise BoardError(
                "the self-test's answer is damaged: %d lines of %s, expected 1 of %s" % (len(rows), of, dtype)
            )
        if (ran == "native") != (backend == "native"):  # Python may be helped by ulab
            raise BoardError("the %s executor ran, not the %s one" % (ran, backend))
        if digest != wanted[dtype]:
            raise BoardError("%s computes wrongly: digest %s instead of %s" % (dtype, digest, wanted[dtype]))
    return int(left)


def install(options):
    """Returns 0 when odt runs on the board as it should; raises BoardError with the reason."""
    files = Path(options.files)
    example = _example(options.example)
    board = Board(options.connect or only_port())
    found = board.probe()
    say("Found", describe(found))
    wanted = expected()
    names = closed(room.chosen(options.capabilities) + used(example))
    status = 0
    if found["frozen"]:
        if not extend(board, found, files, names):
            say("Its firmware has odt inside: nothing to install")
        say("Self-test passed; %d bytes of heap left" % selftest(board, "native", wanted))
        folder = "/"
    else:
        folder, status = bring(board, found, files, package(files), example, options.python_only, wanted, names)
    if example:
        name = example[0].parent.name
        place = folder.rstrip("/") + "/" + name
        say("Copying the example %s to %s" % (name, place))
        board.make_folder(place)
        board.copy(example, place)
        script = example[0].stem
        # Examples open their data in the current folder.
        line = (
            "import os; os.chdir('%s'); import %s" % (place, script) if example[1:] else "import %s.%s" % (name, script)
        )
        say('Run it with: mpremote connect %s exec "%s"' % (board.port, line))
    return status


def package(files):
    """The folder of the compiled package in what `make mpy` built; BoardError where there is none."""
    folder = files / "python" / "odt"
    if not (folder / "__init__.mpy").exists():
        where = "run `make mpy` first" if IN_CHECKOUT else (
            "install the wheel of a release, which has it, or give what `make mpy` built in a clone of odt's "
            "repository: --files <its folder build/mpy>"
        )  # fmt: skip
        raise BoardError("%s has nothing to install: %s" % (files, where))
    return folder


def packed(package, found):
    """The same package in packs, which take half the room; None where there is none, or the board cannot read it."""
    folder = package.parents[1] / "packed" / "odt"
    return folder if found["deflate"] and (folder / "__init__.mpy").exists() else None


def used(files):
    """The capabilities that scripts name: ``odt.sensors``, ``from odt import sensors``."""
    text = "\n".join([file.read_text(encoding="utf-8") for file in files if file.suffix == ".py"])
    lines = re.findall(r"\bodt\.(\w+)|^from odt import (.*)$", text, re.MULTILINE)
    words = set(re.findall(r"\w+", " ".join([" ".join(line) for line in lines])))
    return [name for name in CAPABILITIES if name in words]


def extend(board, found, files, names, more=()):
    """Copy the capabilities of these names that the board's firmware is without, as files; returns their names.

    ``more``: Files that are to fit besides, copied by the caller. BoardError where not all of it fits.
    """
    names = [name for name in names if name in found["without"] and name not in IN_FILES]
    if not names:
        room.fits(found, {}, more)
        return names
    compiled, lib = package(files), found["libs"][0]
    check(found, compiled, 0)
    if found["odt"] != __version__:
        raise BoardError("the firmware has odt %s, these files are of %s" % (found["odt"], __version__))
    fitting, _ = architectures(found, files)
    held = board.held(lib)
    wants = room.check(found, held, lib, compiled, beside(fitting[0]) if fitting else [], names, more, base=False)
    wants = room.lacking(held, wants[: len(wants) - len(more)])
    say("Copying %s, which the firmware is without: %d files to %s" % (", ".join(names), len(wants), lib))
    room.bring(board, held, wants)
    return names


def bring(board, found, files, package, example, python_only, wanted, names=(), held=None, more=()):
    """Copy what the board lacks of the package and kernels, and try them; returns the folder that they are in, and the
    exit status.

    ``names``: the capabilities besides the base; those that the board has stay. Nothing is copied where not all of it
    fits.
    """
    check(found, package)
    fitting, reason = ([], "as you asked") if python_only else kernels(found, files)
    lib = found["libs"][0]
    held = board.held(lib) if held is None else held
    names = closed([*names, *room.present(held, lib), *([] if fitting else ["reference"])])
    more = [*more, *[room.File(file, "/%s/%s" % (example[0].parent.name, file.name)) for file in example]]
    package, wants = _choose(found, held, lib, package, beside(fitting[0]) if fitting else [], names, more)
    installed = ["%s/%s.mpy" % (lib, name) for name in (*FILES, LOOPS)]
    modules = [file for file in wants if file.target.startswith(lib + "/odt/")]
    there = len(modules) - len(room.lacking(held, modules))
    kind = "modules" if package.parent.name == "python" else "packs of modules, as files of their own do not fit,"
    say("Copying %d %s to %s%s" % (len(modules) - there, kind, lib, ", %d are there" % there if there else ""))
    room.bring(board, held, modules)
    board.remove(*room.outdated(held, lib, package))
    status = 0
    for file in fitting:
        name = file.parent.name
        parts = [each for each in room.wanted(lib, package, beside(file), names) if each.source.parent == file.parent]
        there = len(parts) - len(room.lacking(held, parts))
        size = sum([each.size for each in parts])
        say("Copying the kernels for %s, %d bytes in %d files%s" % (
            name, size, len(parts), ", %d of them are there" % there if there else ""))  # fmt: skip
        room.bring(board, held, parts)
        held = {
            path: content for path, content in held.items() if path not in installed
        }  # another core's come over them
        try:
            left = selftest(board, "native", wanted)
        except BoardError as error:
            complain("They fail the self-test: %s" % error)
            board.remove(*installed)
            status, reason = 1, "no kernels passed the self-test"
            continue
        say("Self-test passed: the PC's digests in int8 and float32; %d bytes of heap left" % left)
        return lib, 0
    board.remove(*installed)
    faster = [] if python_only else loops(found, files)
    if faster or "reference" not in names:
        held = board.held(lib)
        room.bring(board, held, room.check(found, held, lib, package, faster, [*names, "reference"]))
    if faster:
        say("Without kernels (%s): odt runs in Python, dense layers and convolutions in native code" % reason)
    else:
        say("Without kernels (%s): odt runs some hundred times slower, in Python" % reason)
    left = selftest(board, "reference", wanted)
    say("Self-test passed: the PC's digest in int8; %d bytes of heap left" % left)
    return lib, status


def _choose(found, held, lib, package, parts, names, more):
    """The package, in packs if the board has packs or has no room for its modules as files of their own, and the Files
    to install.
    """
    packs = packed(package, found)
    if packs is None or not room.packed(held, lib):
        try:
            return package, room.check(found, held, lib, package, parts, names, more)
        except BoardError:
            if packs is None:
                raise
    return packs, room.check(found, held, lib, packs, parts, names, more)


def size_of(files):
    """Their bytes."""
    return sum([file.stat().st_size for file in files])


def _example(name):
    """The files that an example needs on a board: its script, what that imports of its folder, data."""
    if not name:
        return []
    scripts = {}  # of each example the one that boards run
    for script in SCRIPTS:
        scripts.update((file.parent.name, file) for file in EXAMPLES.glob("*/" + script))
    if not scripts:
        raise BoardError("%s: there are no examples: run this in a clone of odt's repository" % EXAMPLES)
    if name not in scripts:
        raise BoardError("no example is called %r; there are %s" % (name, ", ".join(sorted(scripts))))
    script = scripts[name]
    imported = re.findall(r"^(?:from|import) (\w+)", script.read_text(encoding="utf-8"), re.MULTILINE)
    modules = [script.parent / (module + ".py") for module in sorted(set(imported))]
    data = [file for kind in ("*.bin", "*.odt") for file in sorted(script.parent.glob(kind))]
    return [script, *[module for module in modules if module.is_file()], *data]
