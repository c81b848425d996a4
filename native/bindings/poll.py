# The part of _odt.mpy that is Python: where Ctrl-C and scheduled callbacks come in during run().


def _poll(once):
    while once:  # the VM looks for them at a jump
        once = False


_set_poll(_poll)  # noqa: F821, of mod_mpy.c
