"""A file system in memory whose power can fail, with the write caches that real ones have.

    disk = Disk("pc")
    disk.install(monkeypatch, module)       # the module's open() and os
    disk.left = 3                           # the power fails at the fourth call from now
    for files in disk.outcomes(): ...       # all that may be found after it: {name: bytes}

KINDS:
    pc          Linux on a journalling file system: bytes pass Python's buffer (emptied by flush and close) and the page
                cache (by fsync); names are renamed in the journal's order, but on the disk for sure only when their
                folder was fsynced. The journal knows nothing of bytes: a name may be there whose bytes are lost.
    unix        MicroPython's unix port on the same: flush is fsync, close is not; there is no replace
    littlefs    rename replaces and is on the flash at once; flush and close write the bytes
    fat         as littlefs, but rename refuses a name that is there
"""

import errno
import io
import os

KINDS = ("pc", "unix", "littlefs", "fat")


class PowerFailure(BaseException):
    pass


class _Node:
    """A file's bytes: those that were written and are in a cache, and those on the disk."""

    def __init__(self, data=b""):
        self.cached = self.stored = data
        self.edited = False  # in place

    def part(self, part, last=False):
        """What is found where that part of what was written since has come to the disk:
        its first bytes, or its last.
        """
        kept = int(part * len(self.cached))
        if not self.edited:
            return self.cached[:kept]
        if not last:
            return self.cached[:kept] + self.stored[kept:]
        return self.stored[:kept] + bytes(max(0, kept - len(self.stored))) + self.cached[kept:]


class Disk:
    """``left``: calls until the power fails; ``room``: bytes that are free; ``fail``: {call: OSError}; ``at``: {call
    number: what happens before it}. ``calls`` counts them.
    """

    def __init__(self, kind):
        self.kind = kind
        self.set({})
        self.left = self.room = None
        self.fail, self.at, self.calls = {}, {}, 0

    def set(self, files):
        """What is on the disk, and nothing in a cache."""
        self.names = {name: _Node(data) for name, data in files.items()}
        self.stored, self.journal = dict(self.names), []

    @property
    def files(self):
        return {name: node.cached for name, node in self.names.items()}

    def install(self, monkeypatch, *modules):
        for module in modules:
            monkeypatch.setattr(module, "os", _Os(self))
            monkeypatch.setattr(module, "open", self.open, raising=False)

    def call(self, name):
        self.calls += 1
        if self.calls in self.at:
            self.at.pop(self.calls)()
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise PowerFailure
        if name in self.fail:
            raise self.fail[name]

    def outcomes(self):
        """What the disk may hold when the power fails now: some of the renames, and of the bytes all, some or none."""
        names, found = dict(self.stored), []
        for change in [None] + self.journal:
            if change:
                change(names)
            loose = {id(node): node for node in names.values() if node.cached != node.stored}
            for part in (0, 0.5, 1) if loose else (1,):
                files = {}
                for name, node in names.items():
                    files[name] = node.part(part) if id(node) in loose else node.stored
                if loose and not part:  # or the length is there, and the bytes are not
                    torn = {name: files[name] or bytes(len(node.cached)) for name, node in names.items()}
                    found.append(torn)
                if loose and part:
                    last = {name: node.part(part, True) if node.edited else files[name] for name, node in names.items()}
                    found.append(last)
                if files not in found:
                    found.append(files)
        return found

    def change(self, change):
        change(self.names)
        if self.kind in ("pc", "unix"):
            self.journal.append(change)
        else:
            change(self.stored)

    def commit(self):
        for change in self.journal:
            change(self.stored)
        self.journal = []

    def open(self, path, mode):
        self.call("open")
        if mode == "rb":
            if path not in self.names:
                raise FileNotFoundError(errno.ENOENT, path)
            return io.BytesIO(self.names[path].cached)
        if mode == "r+b":
            if path not in self.names:
                raise FileNotFoundError(errno.ENOENT, path)
            return _Editor(self, self.names[path])
        assert mode == "wb"
        node = _Node()
        self.change(lambda names: names.__setitem__(path, node))
        return _Writer(self, node)


class _Writer:
    def __init__(self, disk, node):
        self.disk, self.node, self.buffer = disk, node, b""

    def __enter__(self):
        return self

    def __exit__(self, kind, *unused):
        if kind is PowerFailure:
            return
        if kind is None:
            self.disk.call("close")
        self._empty()
        if self.disk.kind in ("littlefs", "fat"):
            self.node.stored = self.node.cached

    def write(self, data):
        disk, data = self.disk, bytes(data)
        try:
            disk.call("write")
        except PowerFailure:
            self.buffer += data[: len(data) // 2]
            self._empty()
            raise
        if disk.room is not None:
            disk.room -= len(data)
            if disk.room < 0:
                self.buffer += data[: disk.room]
                raise OSError(errno.ENOSPC, "No space left on device")
        self.buffer += data
        if disk.kind != "pc":
            self._empty()

    def flush(self):
        self.disk.call("flush")
        self._empty()
        if self.disk.kind != "pc":
            self.node.stored = self.node.cached

    def _empty(self):
        self.node.cached += self.buffer
        self.buffer = b""


class _Editor(_Writer):
    """Of a file that is there, written in place."""

    def __init__(self, disk, node):
        super().__init__(disk, node)
        node.edited, self.at, self.buffer = True, 0, []

    def seek(self, at):
        self.at = at

    def fileno(self):
        return self.node

    def write(self, data):
        data = bytes(data)
        try:
            self.disk.call("write")
        except PowerFailure:
            self.buffer.append((self.at, data[: len(data) // 2]))
            self._empty()
            raise
        self.buffer.append((self.at, data))
        self.at += len(data)
        if self.disk.kind != "pc":
            self._empty()

    def _empty(self):
        for at, data in self.buffer:
            old = self.node.cached
            self.node.cached = old[:at] + bytes(max(0, at - len(old))) + data + old[at + len(data) :]
        self.buffer = []


class _Os:
    """The module os: on a board without what it has not."""

    def __init__(self, disk):
        self.disk = disk
        if disk.kind == "pc":
            self.replace, self.open, self.fsync, self.close = (
                self._replace,
                self._open,
                self._fsync,
                lambda handle: None,
            )
            for name in ("path", "urandom", "fspath", "O_RDONLY", "O_RDWR"):
                setattr(self, name, getattr(os, name))

    def stat(self, path):
        if path not in self.disk.names:
            raise FileNotFoundError(errno.ENOENT, path)

    def remove(self, path):
        self.disk.call("remove")
        self.stat(path)
        self.disk.change(lambda names: names.pop(path))

    def rename(self, old, new):
        self.disk.call("rename")
        self.stat(old)
        if new in self.disk.names and self.disk.kind == "fat":
            raise FileExistsError(errno.EEXIST, new)
        self.disk.change(lambda names: names.__setitem__(new, names.pop(old)))

    def _replace(self, old, new):
        self.rename(old, new)

    def _open(self, path, flags):
        self.disk.call("open")
        if path == ".":
            return None
        self.stat(path)
        return self.disk.names[path]

    def _fsync(self, node):
        self.disk.call("fsync")
        if node is None:
            self.disk.commit()
        else:
            node.stored = node.cached
