class History:
    """What ``fit`` saw: ``history["loss"]`` and so on, an entry an epoch.

    Each a list, on boards an array("d"): the floats of a list lie all over the heap, a piece of which no longer is free.
    """

    history: dict[str, list[float]]
    def add(self, name: str, value: float) -> None: ...
