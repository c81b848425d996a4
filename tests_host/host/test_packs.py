"""Packs of modules: what is in them, when `odt install` takes them."""

import struct
import zlib

import pytest

from odt.host.boards import pack


def read(data):
    """{CRC-32: bytes of a module, None of a folder}, by zlib."""
    (count,) = struct.unpack_from("<H", data)
    rows = [struct.unpack_from("<II", data, 2 + 8 * i) for i in range(count)]
    assert rows == sorted(rows)
    return {key: zlib.decompressobj(-10).decompress(data[at:]) if at else None for key, at in rows}


def test_a_pack_has_every_module_and_folder():
    modules = {"a.mpy": b"", "plan/graph.mpy": b"M\6" * 3000, "sensors/features/mel.mpy": bytes(range(256)) * 20}
    found = read(pack.pack(modules))
    folders = dict.fromkeys(("plan", "sensors", "sensors/features"))
    assert found == {zlib.crc32(path.encode()): data for path, data in {**modules, **folders}.items()}


def test_two_paths_of_one_crc_are_refused():
    assert zlib.crc32(b"plumless") == zlib.crc32(b"buckeroo")
    with pytest.raises(ValueError, match="plumless and buckeroo have one CRC-32: rename one"):
        pack.pack({"plumless": b"1", "buckeroo": b"2"})
    with pytest.raises(ValueError, match="have one CRC-32"):
        pack.pack({"plumless/a": b"1", "buckeroo/a": b"2"})


def test_packs_are_written_anew(tmp_path):
    python, to = tmp_path / "python" / "odt", tmp_path / "packed" / "odt"
    for path in ("__init__.mpy", "model.mpy", "base/fixed.mpy", "online/rls.mpy"):
        (python / path).parent.mkdir(parents=True, exist_ok=True)
        (python / path).write_bytes(path.encode())
    to.mkdir(parents=True)
    (to / "gone.pack").write_bytes(b"of a capability that was")
    pack.main(tmp_path)
    assert sorted(file.name for file in to.iterdir()) == ["base.pack", "online.pack"]
    assert set(read((to / "base.pack").read_bytes()).values()) == {b"model.mpy", b"base/fixed.mpy", None}
    assert set(read((to / "online.pack").read_bytes()).values()) == {b"online/rls.mpy", None}
