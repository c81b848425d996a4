"""An exception at any opcode of a call, for tests of what it leaves behind."""

import sys


class Interrupt:
    """Raise at opcode ``at`` of odt's Python, as Ctrl-C may: ``with Interrupt(5) as it: ..``; ``it.done``: opcodes that
    ran.
    """

    def __init__(self, at, error=KeyboardInterrupt):
        self.at, self.error, self.done, self.raised = at, error, 0, False

    def __enter__(self):
        self.before = sys.gettrace()
        sys.settrace(self._call)
        return self

    def __exit__(self, kind, *unused):
        sys.settrace(self.before)
        return kind is self.error and self.raised

    def _call(self, frame, event, argument):
        if frame.f_globals.get("__package__", "").partition(".")[0] != "odt":
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._opcode

    def _opcode(self, frame, event, argument):
        if event == "opcode":
            self.done += 1
            if self.done == self.at:
                self.raised = True
                raise self.error
        return self._opcode
