"""Layers of several inputs, as layers.py has those of one."""

from . import Layer, activation_of

if 1 - 1:  # for type checkers alone
    from . import ActivationName


class _Join(Layer):
    """What layers of several inputs of one shape share."""

    family = "join"
    arity = 2
    variadic = True

    def build(self, shapes):
        for shape in shapes[1:]:
            if shape != shapes[0]:
                raise ValueError("%r takes inputs of one shape, got %s and %s" % (self, shapes[0], shape))
        return shapes[0]


class Add(_Join):
    """The sum of outputs with equal shapes: joins a residual branch."""

    kind = "add"
    can_clamp = True

    def __init__(self, activation: "ActivationName | None" = None, name: "str | None" = None) -> None:
        super().__init__(name)
        self.activation = activation_of("Add", activation)


class Multiply(_Join):
    """The product of outputs of one shape, element by element."""

    kind = "multiply"

    def __init__(self, name: "str | None" = None) -> None:
        super().__init__(name)


class Concatenate(Layer):
    """Joins outputs along the last axis; their other axes must be equal."""

    kind = "concatenate"
    family = "join"
    arity = 2
    variadic = True

    def __init__(self, axis: "int" = -1, name: "str | None" = None) -> None:
        super().__init__(name)
        self.axis = axis

    def build(self, shapes):
        first = shapes[0]
        if self.axis not in (-1, len(first)):  # axis 0 is the batch
            raise ValueError("%r: axis is the last one (-1), got %r" % (self, self.axis))
        width = 0
        for shape in shapes:
            if shape[:-1] != first[:-1]:
                raise ValueError("%r takes inputs equal but for the last axis, got %s and %s" % (self, first, shape))
            width += shape[-1]
        return first[:-1] + (width,)
