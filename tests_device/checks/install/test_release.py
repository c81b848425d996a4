"""make release: what .ci/release.py collects of the builds, and what it refuses."""

import hashlib
import importlib.util
import subprocess
import zipfile

import machines
import pytest
from checkout import ROOT

_spec = importlib.util.spec_from_file_location("release", ROOT / ".ci" / "release.py")
release = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(release)


def test_everything_for_boards_is_collected_and_its_sums_hold(tmp_path):
    build = tmp_path / "build"
    build.mkdir()
    for name in ("mpy", *release.FIRMWARE):
        (build / name).symlink_to(machines.BUILD / name)
    subprocess.run(["python3", "-m", "odt.host.release.mip", build / "mpy", build / "mip"], cwd=ROOT, check=True)
    dist = tmp_path / "dist"
    dist.mkdir()
    release.collect(build, dist, "1.2.3")
    release.sums(dist)
    names = {file.name for file in dist.iterdir()}
    assert {
        "odt-1.2.3-armv6m.zip",
        "odt-1.2.3-RPI_PICO.uf2",
        "odt-1.2.3-RPI_PICO-all.uf2",
        "odt-1.2.3-RPI_PICO2.uf2",
        "odt-1.2.3-RPI_PICO2_RISCV.uf2",
        "odt-1.2.3-mip.zip",
    } <= names
    subprocess.run(["sha256sum", "-c", "--strict", "SHA256SUMS"], cwd=dist, check=True, stdout=subprocess.DEVNULL)
    with zipfile.ZipFile(dist / "odt-1.2.3-mip.zip") as archive:
        for file in (build / "mip").rglob("*.mpy"):
            assert archive.read(file.relative_to(build).as_posix()) == file.read_bytes()
    with zipfile.ZipFile(dist / "odt-1.2.3-armv6m.zip") as archive:
        kernels = {
            file.relative_to(build / "mpy").as_posix(): file for file in (build / "mpy/armv6m").glob("_odt*.mpy")
        }
        assert set(archive.namelist()) == set(kernels) and len(kernels) > 5
        assert all(archive.read(name) == file.read_bytes() for name, file in kernels.items())
    same = tmp_path / "same"
    same.mkdir()
    release.collect(build, same, "1.2.3")
    once, twice = [hashlib.sha256((place / "odt-1.2.3-mip.zip").read_bytes()).digest() for place in (dist, same)]
    assert once == twice


def test_what_is_not_built_is_named(tmp_path):
    with pytest.raises(
        SystemExit, match=r"not built: .*RPI_PICO/firmware.uf2.*rp2040/firmware.uf2.*RPI_PICO2.*mpy.*package.json"
    ):
        release.collect(tmp_path, tmp_path, "1")


def test_notes_are_the_versions_section():
    text = "# Changes\n\n## 1.1.0\n\n- new\n\n## 1.0.0 (today)\n\n- first\n"
    assert release.notes(text, "1.1.0") == "- new\n"
    assert release.notes(text, "1.0.0") == "- first\n"
    with pytest.raises(SystemExit, match="nothing of version 1.1"):
        release.notes(text.replace("1.1.0", "1.2.0"), "1.1.0")


def test_project_has_one_version_with_notes():
    assert release.notes((ROOT / "CHANGELOG.md").read_text(), release.version())
