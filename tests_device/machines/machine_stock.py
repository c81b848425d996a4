"""Machines without odt in their firmware: what most people's boards are.

The QEMU boards have the port's firmware except for start-up and serial port (boards/qemu), without
which mpremote could mount no files. The RP2040 is the port's own RPI_PICO.
"""

import contextlib
import fcntl
import select
import socket
import struct
import subprocess
import termios
import threading
import time

import flash_image
from machine_rp2040 import RP2040
from machines import BOARDS, Emulated, MachineError, Unix, kill_group

MAKE = "make stock mpy"


class StockUnix(Unix):
    name = "stock_unix"
    make = MAKE
    image = "stock_unix/micropython"


class StockQemuM3(BOARDS["qemu_m3"]):
    name = "stock_qemu_m3"
    make = MAKE
    image = "stock_qemu_m3/firmware.elf"


class StockQemuM4HF(BOARDS["qemu_m4hf"]):
    name = "stock_qemu_m4hf"
    make = MAKE
    image = "stock_qemu_m4hf/firmware.elf"


class StockQemuRV32(BOARDS["qemu_rv32"]):
    name = "stock_qemu_rv32"
    make = MAKE
    image = "stock_qemu_rv32/firmware.elf"


class StockRP2040(RP2040):
    name = "stock_rp2040"
    make = MAKE
    image = "stock_rp2040/firmware.uf2"
    files_at = flash_image.STOCK


class Microbit(Emulated):
    """A BBC micro:bit with the firmware that Debian 12 packs: MicroPython 1.9 of 2017, 10 KB of heap, no sys.path."""

    name = "microbit"
    make = "boards/sources.sh microbit"
    image = "src/microbit/firmware.hex"

    def _start(self):
        path = self._temp / "serial"
        command = ["qemu-system-arm", "-machine", "microbit", "-nographic", "-monitor", "null"]
        command += ["-serial", "unix:%s,server=on,wait=off" % path, "-device", "loader,file=%s" % self.image_path]
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        end = time.monotonic() + 20
        board = socket.socket(socket.AF_UNIX)
        while True:
            try:
                board.connect(str(path))
                break
            except (FileNotFoundError, ConnectionRefusedError):
                if process.poll() is not None or time.monotonic() > end:
                    kill_group(process)
                    raise MachineError("microbit: QEMU did not start") from None
                time.sleep(0.02)
        server = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=relay, args=(server, board), daemon=True).start()
        return process, "socket://127.0.0.1:%d" % server.getsockname()[1]


def relay(server, board):
    """Pass bytes between a board and one client at a time, until the board is gone.

    This firmware loses what comes in while 64 bytes wait. A real line is slow enough; QEMU is not, on a busy PC. So no
    six bytes (the UART's FIFO) are sent before the UART has those before them, and the program had time to fetch them.
    """
    client = None
    with server, board, contextlib.suppress(ConnectionError):
        while True:
            ready = select.select([server, board] + [client] * (client is not None), [], [])[0]
            if server in ready:
                client = server.accept()[0]
                continue
            data = board.recv(4096) if board in ready else b""
            if board in ready and not data:
                return
            try:
                if client and data:
                    client.sendall(data)
                sent = client.recv(4096) if client in ready else None
            except ConnectionError:
                sent = b""
            if sent == b"":
                client.close()
                client = None
            for at in range(0, len(sent or b""), 6):
                board.sendall(sent[at : at + 6])
                while struct.unpack("i", fcntl.ioctl(board, termios.TIOCOUTQ, bytes(4)))[0]:
                    time.sleep(0.001)
                time.sleep(0.002)


MACHINES = {cls.name: cls for cls in (StockUnix, StockQemuM3, StockQemuM4HF, StockQemuRV32, StockRP2040, Microbit)}
