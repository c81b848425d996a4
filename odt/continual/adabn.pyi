from ..run.network import Data, Network

def update_bn(model: Network, x: Data, epochs: int | None = None, guard: bool = True) -> None:
    """Move every BatchNorm's running mean and variance towards those of ``x``, without labels."""
