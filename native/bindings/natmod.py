"""The part of _odt.mpy that is Python: what the firmware offers no native module."""


def _poll(once):
    """Where Ctrl-C and scheduled callbacks come in during run()."""
    while once:  # the VM looks for them at a jump
        once = False


def _bring(name):
    """Import a piece of the kernels; MemoryError or ImportError with its name where it does not come."""
    import sys

    sys.modules.pop(name, None)  # of an import that was interrupted
    try:
        __import__(name)
    except (ImportError, ValueError, MemoryError) as error:
        kind = MemoryError if isinstance(error, MemoryError) else ImportError
        text = "%s.mpy, kernels that this program needs: %s; python -m odt install brings what is missing"
        raise kind(text % (name, error)) from None


def hasten():
    """Bring the kernels that are compiled for an RP2040's speed, where 20 KB of the heap stay free; others stay."""
    import gc
    import sys

    if sys.platform == "rp2":
        gc.collect()
        both = ("_odt_fast_conv", 28840), ("_odt_fast", 5740)
        for name, size in both if "_odt_conv" in sys.modules or gc.mem_free() >= 52480 else reversed(both):
            if name not in sys.modules and gc.mem_free() >= size + 20480:
                try:
                    __import__(name)
                except (ImportError, ValueError, MemoryError):
                    pass
                gc.collect()


_set(_poll, _bring)  # noqa: F821, of mod_mpy.c
