from ..model import Data, Model

def task_adaptive(
    model: Model,
    x: Data,
    y: Data,
    memory_budget: int | None = None,
    macs_budget: int | None = None,
) -> dict[str, tuple[tuple[int, int], ...]]: ...
