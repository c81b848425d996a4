"""mpremote's user configuration for emulated Picos: an answer is taken when it is there, and sent when it is written.

mpremote looks every 10 ms whether there is one, TCP delays a second short write by 40 ms, and a file of 10 KB has fifty
commands: half of an install was waiting. Boards without raw paste need the 10 ms: theirs is not this configuration.
"""

import select
import socket
import time

from mpremote import transport_serial
from serial.urlhandler import protocol_socket

_opened = []


class _Serial(protocol_socket.Serial):
    def open(self):
        super().open()
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _opened[:] = [self._socket]


class _Time:
    monotonic = staticmethod(time.monotonic)

    @staticmethod
    def sleep(seconds):
        if _opened and _opened[0].fileno() >= 0:
            select.select(_opened, [], [], seconds)
        else:
            time.sleep(seconds)


protocol_socket.Serial = _Serial
transport_serial.time = _Time
