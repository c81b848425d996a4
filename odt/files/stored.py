"""What models of odt.online share: a state of bytes, its digest, checkpoints of it."""

from ..base import executor

if 1 - 1:  # for type checkers alone
    from os import PathLike

    from ..run.network import Place


def whole(change):
    """Call ``change``, which does the same however often it is begun, until it ends: what interrupts it is raised
    afterwards.
    """
    late = None
    for _ in range(9):  # not for ever: memory may lack
        try:
            change()
            break
        except BaseException as error:  # Ctrl-C, a timeout's
            late = error
    if late:
        raise late


def counted(count):
    """Adds one in 32 bits: at 2^32 the count is halved."""
    return count + 1 if count < 0xFFFFFFFF else 1 << 31


class Stored:
    """A model whose state is one bytearray, ``state``; the first ``header`` bytes say its kind and sizes, and never
    change.
    """

    state: "bytearray"

    header: "int" = 44
    varies = False  # whether states of a kind differ in length

    def digest(self) -> "int":
        """CRC-32 of the state: equal bits, equal number, on every machine."""
        return executor.engine.crc32(self.state)

    def save(self, place: "str | PathLike[str] | Place") -> None:
        """Write a checkpoint to a file, by its name, or to a place of odt.slots; the old one is whole until the
        new one is.
        """
        from . import checkpoint

        checkpoint.save(place, _Session(self))

    def load(self, place: "str | PathLike[str] | Place") -> None:
        """Read a checkpoint of a model of the same sizes and settings; ValueError and no change where it is none or
        damaged.
        """
        self.state[:] = self.read(place)

    def read(self, place: "str | PathLike[str] | Place") -> "bytearray":
        """The state of a checkpoint; errors as of ``load``."""
        from . import checkpoint

        engine, new = executor.engine, _Session(self)
        name = checkpoint.path_of(place)
        named = isinstance(name, str)
        file = checkpoint.open_file(name, engine) if named else place.read(engine)
        name = name if named else repr(place)
        try:
            words = checkpoint.check(file, name, engine)
            if named and file.read(1):
                raise ValueError("%s is damaged: longer than %d bytes" % (name, checkpoint.HEADER + words[2]))
            if words[1] != new.crc or words[2] != len(self.state) and not self.varies:
                raise ValueError("%s: saved by a model of another kind, size or setting" % name)
            new.state = bytearray(words[2])
            checkpoint.read_state(file, name, new)
        finally:
            file.close()
        if new.state[: self.header] != self.state[: self.header]:
            raise ValueError("%s: saved by a model of another kind, size or setting" % name)
        return new.state

    def _change(self, *parts):
        """Write (offset, bytes) as a whole."""

        def change():
            for at, data in parts:
                self.state[at : at + len(data)] = data

        whole(change)


class _Session:
    """A model as odt.files.checkpoint saves it: its program is what never changes of its state."""

    underway = None
    calibrated = epoch = 0

    def __init__(self, model):
        self.engine = executor.engine
        self.state = model.state
        self.plan = self
        self.code = b"odt.online" + bytes(model.state[: model.header])
        self.crc = self.engine.crc32(self.code)
