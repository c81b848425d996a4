"""The C files that every build of the native module has: all of native/ but the bindings."""

from pathlib import Path

NATIVE = Path(__file__).resolve().parent.parent / "native"


def sources(native=NATIVE):
    """Their paths as strings, sorted."""
    return sorted(str(path) for path in Path(native).rglob("*.c") if path.parent.name != "bindings")
