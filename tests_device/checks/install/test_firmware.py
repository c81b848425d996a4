"""make firmware: images for real boards. RP2350 has no emulator here: its images are built and looked at, not run."""

import re
import struct
import subprocess

import machines
import pytest


def make(*arguments, target="firmware"):
    """(exit status, what `make` printed)."""
    done = subprocess.run(
        ["make", "--no-print-directory", target, *arguments],
        cwd=machines.ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900,
    )  # fmt: skip
    return done.returncode, done.stdout


# What is built, as `make firmware` is asked for it: its folder, and the bytes that the board's flash leaves to code:
# PICO_FLASH_SIZE_BYTES less MICROPY_HW_FLASH_STORAGE_BYTES, which boards/rp2040.mk changes for a Pico with everything.
BUILT = {
    "RPI_PICO": ("RPI_PICO", (2048 - 1408) * 1024),
    "RPI_PICO CAPABILITIES=all": ("rp2040", (2048 - 1152) * 1024),
    "RPI_PICO2": ("RPI_PICO2", (4096 - 3072) * 1024),
    "RPI_PICO2_RISCV": ("RPI_PICO2_RISCV", (4096 - 3072) * 1024),
}
REPORTED = [board for board in BUILT if board != "RPI_PICO2_RISCV"]  # those whose image without odt the tests need
FAMILIES = {"RPI_PICO2": 0xE48BFF59, "RPI_PICO2_RISCV": 0xE48BFF5A}  # of UF2; all others are an RP2040's
SPARE = 16384  # bytes that a Pico's default leaves, for what is to come


def size(elf):
    """Bytes of flash, by binutils: all that is loaded."""
    text = subprocess.run(["arm-none-eabi-size", elf], check=True, capture_output=True, text=True).stdout
    return sum([int(word) for word in text.splitlines()[1].split()[:2]])


def built(board):
    """The build's folders, with odt and without."""
    name = BUILT[board][0]
    return machines.BUILD / name, machines.BUILD / ("stock_" + {"RPI_PICO": "rp2040"}.get(name, name))


@pytest.mark.parametrize("board", REPORTED)
def test_report_says_what_odt_adds_to_flash_and_takes_from_the_heap(board):
    status, text = make(*("BOARD=" + board).split())
    assert status == 0, text
    rows = text.splitlines()[-6:]
    figures = [[int(word) for word in row.split()[-2:]] for row in rows[1:4]]
    folders = built(board)
    flash = [size(folder / "cmake/firmware.elf") for folder in folders]
    for folder, bytes_loaded in zip(folders, flash):  # the image is filled up to whole words
        assert 0 <= (folder / "cmake/firmware.bin").stat().st_size - bytes_loaded < 16
    assert rows[0].split() == [board.split()[0], "bytes", "flash", "bytes", "of", "heap"]
    assert [figures[1][0], figures[0][0]] == flash
    assert figures[2] == [figures[1][0] - figures[0][0], figures[1][1] - figures[0][1]]
    assert 200_000 < figures[2][0] < 610_000 and -1100 < figures[2][1] <= 0
    assert rows[4].split() == ["left", "to", "code", str(BUILT[board][1] - flash[0])]
    assert rows[5] == str(folders[0] / "firmware.uf2")


def test_a_picos_default_leaves_room_in_micropythons_own_layout():
    assert BUILT["RPI_PICO"][1] - size(built("RPI_PICO")[0] / "cmake/firmware.elf") >= SPARE


def test_heap_of_the_report_is_what_the_emulated_pico_has():
    heap = int(re.search(r"with odt +\d+ +(\d+)\n", make("BOARD=RPI_PICO", "CAPABILITIES=all")[1]).group(1))
    with machines.open("rp2040") as board:
        found = int(board.exec("import gc\nprint(gc.mem_free() + gc.mem_alloc())"))
    assert 0.96 * heap < found < heap  # MicroPython keeps its tables there too


@pytest.mark.parametrize("board", BUILT)
def test_image_is_for_the_boards_chip_and_holds_kernels_and_package(board):
    folder = built(board)[0]
    assert make(*("BOARD=" + board).split(), target=folder / "firmware.uf2")[0] == 0
    blocks = list(struct.iter_unpack("<8I476sI", (folder / "firmware.uf2").read_bytes()))
    image = b"".join([block[8][: block[4]] for block in blocks])
    assert {block[7] for block in blocks} == {FAMILIES.get(board, 0xE48BFF56)}
    assert blocks[0][3] == 0x10000000
    assert image.startswith((folder / "cmake/firmware.bin").read_bytes())
    assert len(image) <= BUILT[board][1]  # what follows is the file system, which is formatted at the first start
    symbols = subprocess.run(
        ["arm-none-eabi-nm", folder / "cmake/firmware.elf"], check=True, capture_output=True, text=True
    ).stdout
    whole = board != "RPI_PICO"
    assert "odt_conv2d_i8" in symbols and "odt_dense_f32" in symbols
    for of_a_capability in ("odt_log_mel_i16", "odt_rls_f32", "odt_knn_i16", "odt_entropy_i8", "odt_curve_i8"):
        assert (of_a_capability in symbols) == whole
    assert b"Sequential" in image and b"odt/model.py" in image
    for module in (b"odt/sensors/", b"odt/adapt/"):
        assert (module in image) == whole
    if board in FAMILIES:
        assert 0xFFFFDED3.to_bytes(4, "little") in image[:4096]  # what its boot ROM looks for


def test_capabilities_are_chosen_by_their_names_and_built_apart():
    status, text = make("-n", "BOARD=RPI_PICO", "CAPABILITIES=online data")
    assert "RPI_PICO-online-data/cmake" in text and "board_RPI_PICO" in text  # -n ends where CMake has made nothing
    status, text = make("-n", "BOARD=RPI_PICO2", "CAPABILITIES=online")
    assert "RPI_PICO2-online/cmake" in text and "-DMICROPY_BOARD=RPI_PICO2" in text
    status, text = make("BOARD=RPI_PICO", "CAPABILITIES=online conv")
    assert status and "odt: CAPABILITIES: there is no capability 'conv'; there are adapt, attention, continual" in text


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "odt: which board?"),
        (["BOARD=RPI_PICO3"], "odt: no board is known as RPI_PICO3."),
        (["BOARD=PYBV11"], "odt: PYBV11 needs lib/stm32lib, which no Debian package has."),
        (["BOARD=RPI_PICO_W"], "odt: RPI_PICO_W needs lib/cyw43-driver, which no Debian package has."),
        (["BOARD=NUCLEO_F446RE", "MPY_DIR=/nowhere"], "odt: NUCLEO_F446RE has too little flash"),
        (["BOARD=B_L475E_IOT01A"], "odt: B_L475E_IOT01A needs lib/stm32lib, which no Debian package has."),
        (["BOARD=PYBV11", "MPY_DIR=/nowhere"], "/nowhere does not have: its submodules are missing."),
    ],
)
def test_board_that_cannot_be_built_is_refused_with_what_it_needs(arguments, reason):
    status, text = make(*arguments)
    assert status and reason in text
    if "known" in reason or "which board" in reason:
        assert all(name in text for name in ("RPI_PICO2", "RPI_PICO_W", "B_L475E_IOT01A", "PYBV11"))
    elif "PYBV11" in arguments[0] or "PICO" in arguments[0]:
        assert "MPY_DIR=<the clone>" in text


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["MPY_DIR="], "need lib/stm32lib, which no Debian package has."),
        (["MPY_DIR=/nowhere"], "need lib/stm32lib, which /nowhere does not have: its submodules are missing."),
    ],
)
def test_the_tests_on_the_emulated_stm32_say_what_they_need(arguments, reason):
    status, text = make(*arguments, target="test-stm32")
    assert status and reason in text
    assert "Clone MicroPython 1.25" in text and "make test-stm32 MPY_DIR=<the clone>" in text


def test_another_release_is_debians_next_and_a_linker_whose_modules_do_not_start_is_refused(tmp_path):
    status, text = make("-n", "MPY_DIR=", target="test-release")
    assert "boards/sources.sh micropython-next" in text
    assert "MPY_DIR=%s/build/src/micropython-next" % machines.ROOT in text
    (tmp_path / "tools").mkdir()
    for line, refused in (("entry - 5", False), ("entry", True)):  # of 1.25, of 1.28.0
        (tmp_path / "tools" / "mpy_ld.py").write_text('    return struct.pack("<BI", 0xE9, %s)\n' % line)
        status, text = make("-n", "MPY_DIR=%s" % tmp_path, target="mpy")
        assert ("links modules that do not start" in text) == refused


@pytest.mark.parametrize("board, there", [("PYBV11", True), ("RPI_PICO2", False)])
def test_ulab_is_for_boards_that_build_with_cmake_and_from_a_clone(board, there, tmp_path):
    if there:
        (tmp_path / "code").mkdir()
        (tmp_path / "code" / "micropython.cmake").write_text("")
    status, text = make("BOARD=" + board, "ULAB_DIR=%s" % tmp_path)
    boards = "RPI_PICO RPI_PICO2 RPI_PICO2_RISCV RPI_PICO_W"
    assert status and "odt: ULAB_DIR= is a clone of ulab, for %s, got %s for %s" % (boards, tmp_path, board) in text
