class History:
    """What ``fit`` saw: ``history["loss"]`` and so on, a list each, an entry an epoch."""

    history: dict[str, list[float]]
    def add(self, name: str, value: float) -> None: ...
