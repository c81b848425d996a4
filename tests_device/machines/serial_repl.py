"""A board's serial line by hand, without mpremote."""

import socket
import time


def connect(board):
    """A bare serial connection, at the prompt."""
    host, port = board._port.removeprefix("socket://").split(":")
    line = socket.create_connection((host, int(port)), timeout=10)
    line.sendall(b"\r\x03\x03\r")
    read_until(line, b">>> ")
    line.sendall(b"'syn' + 'ced'\r")
    read_until(line, b"'synced'\r\n>>> ")
    return line


def read_until(line, end, timeout=20):
    stop = time.monotonic() + timeout
    data = b""
    while end not in data:
        line.settimeout(max(stop - time.monotonic(), 0.01))
        data += line.recv(4096)
    return data
