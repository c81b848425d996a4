from os import PathLike

from typing_extensions import Buffer

from ..run.network import Network

class Loaded(Network):
    """A model from a file."""

    kind: str

def load_model(source: str | PathLike[str] | Buffer) -> Loaded: ...
