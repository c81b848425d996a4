"""On a board: the kernels that fit it, out of what `make mip` made for all boards.

With a network, where package.json is at the address:

    import mip
    mip.install("http://.../odt_kernels.py")
    import odt_kernels
    odt_kernels.install("http://.../", "sensors online")    # packed=True: modules in packs, where blocks are few

Without one, `mpremote mip install http://.../` and `.../sensors.json` bring the kernels of every board, and the first
import of them calls choose(), by way of _odt.py and others.
"""

import gc
import os
import sys

_VERSION = 6  # of .mpy files: MicroPython 1.19 and later; kernels go by the minor one too
_HEAP = 164000  # bytes that planning and training a tiny model want in Python,
_NATIVE = 137000  # and with kernels, beside them
_BEGUN = 17000  # bytes of the package that are there already when its first import comes to choose()
_ARCHITECTURES = (
    "", "x86", "x64", "armv6", "armv6m", "armv7m", "armv7em", "armv7emsp", "armv7emdp", "xtensa",
    "xtensawin", "rv32imc",
)  # fmt: skip
_ARM = ("armv7emdp", "armv7emsp", "armv7em", "armv7m", "armv6m")  # each loads modules of those after it


def names():
    """Where this board's kernels may be, the best first: ["armv7m_6.3", "armv6m_6.3"], say; [] without native code."""
    mpy = getattr(sys.implementation, "_mpy", 0)
    arch = mpy >> 10 & 15
    if not 0 < arch < len(_ARCHITECTURES):
        return []
    arch = _ARCHITECTURES[arch]
    fitting = _ARM[_ARM.index(arch) :] if arch in _ARM else (arch,)
    return ["%s_%d.%d" % (name, mpy & 255, mpy >> 8 & 3) for name in fitting]


def refusal():
    """The reason why odt cannot be installed on this board, or None."""
    if sys.implementation[0] != "micropython":
        return "the board runs %s, whose compiled files differ" % sys.implementation[0]
    version = getattr(sys.implementation, "_mpy", 0) & 255
    if version != _VERSION:
        return "this MicroPython reads .mpy files of version %d, these are of version %d" % (version, _VERSION)
    gc.collect()
    if gc.mem_free() < _HEAP:
        return "too little RAM: %d bytes of heap are free, odt needs %d from files" % (gc.mem_free(), _HEAP)


def install(url, capabilities="", packed=False):
    """Install from the folder at ``url`` with mip: odt's base, unless the firmware has it, capabilities by their names,
    and the kernels that fit this board. ``packed``: modules in packs, which take half the room; as the base, where it
    is there.

    RuntimeError with the reason where the board is not supported or a file does not come whole.
    """
    libs = [path for path in sys.path if path.endswith("/lib") and not path.startswith("/rom")]
    path, inside = sys.path[:], False
    try:
        sys.path[:] = [".frozen"]
        __import__("odt")
        inside = True
    except ImportError:
        pass
    finally:
        sys.path[:] = path
    reason = (None if inside else refusal()) or (None if libs else "there is no folder lib in sys.path to install to")
    if reason:
        raise RuntimeError(reason)
    url, lib = url.rstrip("/") + "/", libs[0]
    prefix = "packed-" if not inside and (packed or _size(lib + "/odt/base.pack")) else ""
    if not inside:
        package = _package(url, prefix)
        _remove(lib + "/_odt.py")
        _remove(lib + "/_odt.mpy")
        _bring(url, package, lib)
        if not _base_size(package):
            _say_none()
    for name in capabilities.split():
        _bring(url, _package(url, prefix + name + "-"), lib)


def _bring(url, package, lib):
    import mip

    for (place, source), size in zip(package["urls"], package["sizes"]):
        place = lib + "/" + place
        # One by one: mip knows addresses that are relative to the package's since MicroPython 1.25 only.
        if source.endswith(".pack"):  # which mip would look for as a package
            _fetch(url + source, place)
        else:
            mip.install(url + source, target=place.rsplit("/", 1)[0])
        if _size(place) != size:  # mip prints what went wrong, and returns
            raise RuntimeError("%s: %d bytes came of %d" % (url + source, _size(place), size))


def _fetch(url, place):
    import requests

    answer = requests.get(url)
    try:
        with open(place, "wb") as file:
            while answer.status_code == 200:
                data = answer.raw.read(512)
                if not data:
                    break
                file.write(data)
    finally:
        answer.close()


def choose(lib):
    """Make the kernels in ``lib``/_odt_all that fit this board those of ``lib``; remove the others, and what called it.

    Where the power goes, the next call does the rest.
    """
    folder = lib + "/_odt_all"
    there = {name: _listdir(folder + "/" + name) for name in _listdir(folder)}
    gc.collect()
    room = gc.mem_free() + _BEGUN - _NATIVE
    fitting = [name for name in names() if there.get(name)]
    fitting = [name for name in fitting if _fits(_size("%s/%s/_odt.mpy" % (folder, name)), room)]
    chosen = fitting[:1]
    for name in [name for name in there if name not in chosen] + chosen:
        for file in sorted(there[name], reverse=True):  # the base last: while it is there, its size decides
            path = "%s/%s/%s" % (folder, name, file)
            if name in chosen:
                _remove(lib + "/" + file)
                os.rename(path, lib + "/" + file)
            else:
                os.remove(path)
        os.rmdir(folder + "/" + name)
    if any(there.values()) and not fitting:
        _say_none()
    try:
        os.rmdir(folder)
    except OSError:
        pass
    for name in _listdir(lib):
        if name[:4] == "_odt" and name[-3:] == ".py":
            _remove(lib + "/" + name)


def _package(url, prefix=""):
    import requests

    room = gc.mem_free() - _NATIVE
    for name in names() + ["python"]:
        answer = requests.get(url + prefix + name + ".json")
        try:
            package = answer.json() if answer.status_code == 200 else None
        finally:
            answer.close()
        if package and (name == "python" or _fits(_base_size(package), room)):
            return package
    raise RuntimeError("%s%spython.json: there is no package of odt (status %d)" % (url, prefix, answer.status_code))


def _base_size(package):
    for (place, _), size in zip(package["urls"], package["sizes"]):
        if place == "_odt.mpy":
            return size
    return 0


def _fits(size, room):
    if size > room:
        print("odt: kernels need %d bytes of RAM more, %d are left" % (size, max(room, 0)))
    return size <= room


def _say_none():
    print("odt: no kernels for this board (%s): computing in Python" % (" ".join(names()) or "it loads no native code"))


def _listdir(path):
    try:
        return os.listdir(path)
    except OSError:
        return []


def _size(path):
    try:
        return os.stat(path)[6]
    except OSError:
        return 0


def _remove(path):
    try:
        os.remove(path)
    except OSError:
        pass
