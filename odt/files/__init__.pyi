from . import frozen as frozen, slots as slots
