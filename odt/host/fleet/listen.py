"""Nodes of this PC for another one: each on a TCP port of its own.

    odt fleet node.py --connect PORT PORT --twins 2 --listen 7000 --first 4 --of 8

serves nodes 4 to 7 of a fleet of 8 on ports 7000 to 7003. Bytes go through as they are; nothing in them is executed.
"""

import contextlib
import select
import socket
import threading

from ..boards.board import BoardError
from ..text import complain

_WAIT = 0.05  # seconds for a node's bytes, before the PC's are looked for again


class Listener:
    """``with Listener(links, port, host):`` serves links, one after the other from ``port`` on, until it ends.

    port: 0 for ports that are free; ``ports`` has them. A link that breaks is started again, and its connection ends.
    OSError for a port that is taken.
    """

    def __init__(self, links, port, host="127.0.0.1"):
        self._ended = False
        self._threads, self._doors = [], []
        try:
            for number in range(len(links)):
                self._doors.append(socket.create_server((host, port and port + number)))
        except OSError:
            self._close()
            raise
        self.ports = [door.getsockname()[1] for door in self._doors]
        self._threads = [
            threading.Thread(target=self._serve, args=pair, daemon=True) for pair in zip(links, self._doors)
        ]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *unused):
        self._ended = True
        for thread in self._threads:
            thread.join()
        self._close()

    def _close(self):
        for door in self._doors:
            door.close()

    def _serve(self, link, door):
        while not self._ended:
            if select.select([door], [], [], _WAIT)[0]:
                line = door.accept()[0]
                with line, contextlib.suppress(OSError):  # who had connected has gone
                    self._carry(link, line)

    def _carry(self, link, line):
        while not self._ended:
            try:
                if select.select([line], [], [], 0)[0]:
                    data = line.recv(65536)
                    if not data:
                        return
                    link.write(data)
                line.sendall(link.read(_WAIT))
            except BoardError as error:
                complain("odt:", error)
                with contextlib.suppress(BoardError):
                    link.restart()
                return


def waited(listener):
    """Return after Ctrl-C."""
    with listener, contextlib.suppress(KeyboardInterrupt):
        threading.Event().wait()
