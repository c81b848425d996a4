"""Optimizers.

An optimizer is one ``direct``: it emits what turns a gradient, in place, into the direction of the step; and a
``step`` that emits both at once, where there is such an instruction.
Hyperparameters are taken as the decimals a person writes (rates to 4 significant digits, momentum and
betas to 6 places), so that every interpreter, whatever its floats, gets the same bits.
"""

from ..base.fixed import bits_to_float, is_number, own, scale_div, scale_int
from ..base.primitives import isqrt, millionths
from ..base.rate import Constant, positive
from ..base.regions import const

if 1 - 1:  # for type checkers alone
    from typing import Any, Literal, Protocol

    from typing_extensions import TypeAlias

    _State: TypeAlias = Literal["int16", "float32"]

    class Schedule(Protocol):
        """A learning rate by step: ``bits(step)`` is its float32 as an int."""

        def bits(self, step: int) -> int: ...


_MILLION = 1000000
_EPSILON = const(0x33D6BF95)  # 1e-7


class SGD:
    """Stochastic gradient descent: ``v = momentum * v + gradient; weight -= learning_rate * v``.

    ``nesterov``: the step is along ``gradient + momentum * v`` (Sutskever et al., 2013, as in PyTorch).
    ``weight_decay``: decoupled, ``weight -= learning_rate * weight_decay * weight`` before the step, of
    kernels and biases. ``learning_rate`` is a number or a schedule. ``state`` is "int16" (default in int8 models) or
    "float32". ``global_clipnorm``: gradients longer than this, all together as one vector, are made so long (Pascanu et
    al., 2013). All of them are then in RAM at once, 4 bytes a parameter that trains; with ``micro_batch`` they are
    anyway.
    """

    betas = (0, 0)  # of the bias correction, Q30

    def __init__(
        self,
        learning_rate: "float | Schedule" = 0.01,
        momentum: "float" = 0,
        state: "_State | None" = None,
        nesterov: "bool" = False,
        weight_decay: "float" = 0,
        global_clipnorm: "float | None" = None,
    ) -> None:
        self.learning_rate = _schedule(learning_rate)
        self.momentum = _fraction("SGD", "momentum", momentum)
        if nesterov and not self.momentum:
            raise ValueError("SGD: nesterov needs a momentum above 0, got %r" % (momentum,))
        self.rule = "nesterov" if nesterov else "momentum"
        self.weight_decay = _decay("SGD", weight_decay)
        self.limit = _limit("SGD", global_clipnorm)
        self.state = _state("SGD", state)

    def direct(self, s, name, gradient, scale, part, factor):
        """Emit the direction of ``gradient``, of these rows of the parameter of that name; its scale is ``scale *
        factor``.

        Returns the operand of the direction's scales, a row each; None in float32 models.
        """
        rows, columns = part.rows, part.columns
        name += " momentum"
        if not s.int8:
            if self.momentum:
                v = s.buffers.state_rows(name, part, 4 * columns)
                s.emit(self.rule + "_f32", (gradient, v), (part.count, _part(self.momentum)))
            return None
        scales = s.scratch("step scale", 4 * part.room())
        if not self.momentum:
            s.emit("plain_i32", (scales, scale), (rows, factor))
        elif self.state == "float32":
            v = s.buffers.state_rows(name, part, 4 * columns)
            immediates = (rows, columns, factor, _part(self.momentum))
            s.emit(self.rule + "_i32", (gradient, scales, v, scale), immediates)
        else:
            v = s.buffers.state_rows(name, part, 2 * columns)
            exponents = s.buffers.exponents(name + " exponent", part, (v,))
            mu = (self.momentum * 65536 + _MILLION // 2) // _MILLION
            operands = (gradient, scales, v, exponents, scale, s.control)
            s.emit(self.rule + "_i16", operands, (rows, columns, factor, s.stream(name), mu, part.at))
        return scales

    def step(self, s, name, operands, gradient, scale, part, factor, common):
        """Emit the step of an int8 kernel along its gradient, as ``direct`` does the direction; False: it is two
        instructions.

        ``operands``: the kernel, its residual, its rows' scales and ``limited``, as apply_i8 has them.
        """
        return False


class Adam:
    """Adam (Kingma and Ba, 2015) with bias correction.

    ``weight_decay`` (decoupled) and ``global_clipnorm`` are as in SGD: with a decay this is AdamW. ``state`` "int16",
    the default in int8 models, keeps m and sqrt(v) as int16 with one exponent per row (docs/reference/numerics.md).
    One unit of the row's state then takes the place of epsilon: ``compile`` refuses an ``epsilon`` other than 1e-7
    unless ``state`` is "float32".
    """

    def __init__(
        self,
        learning_rate: "float | Schedule" = 0.001,
        beta_1: "float" = 0.9,
        beta_2: "float" = 0.999,
        epsilon: "float" = 1e-7,
        state: "_State | None" = None,
        weight_decay: "float" = 0,
        global_clipnorm: "float | None" = None,
    ) -> None:
        self.learning_rate = _schedule(learning_rate)
        self.beta_1 = _fraction("Adam", "beta_1", beta_1)
        self.beta_2 = _fraction("Adam", "beta_2", beta_2)
        if not (self.beta_1 and self.beta_2):
            raise ValueError("Adam: beta_1 and beta_2 are above 0, got %r and %r" % (beta_1, beta_2))
        self.epsilon = positive("Adam", "epsilon", epsilon)
        self.weight_decay = _decay("Adam", weight_decay)
        self.limit = _limit("Adam", global_clipnorm)
        self.state = _state("Adam", state)
        self.betas = ((self.beta_1 << 30) // _MILLION, (self.beta_2 << 30) // _MILLION)

    def direct(self, s, name, gradient, scale, part, factor):
        """As in SGD."""
        rows, columns = part.rows, part.columns
        name += " moment "
        is_short = s.int8 and self.state != "float32"
        m, v = self._moments(s, name, part, 2 if is_short else 4)
        if not s.int8:
            s.emit("adam_f32", (gradient, m, v, s.updates.rate), (part.count,) + self._long(s))
            return None
        scales = s.scratch("step scale", 4 * part.room())
        if is_short:
            exponents = s.buffers.exponents(name + "exponent", part, (m, v))
            operands = (gradient, scales, m, v, exponents, scale, s.control)
            sizes = (rows, columns, factor, s.stream(name)) + self._short(s) + (part.at,)
            s.emit("adam_i16", operands, sizes)
        else:
            immediates = (rows, columns, factor) + self._long(s)
            s.emit("adam_i32", (gradient, scales, m, v, scale, s.updates.rate), immediates)
        return scales

    def step(self, s, name, operands, gradient, scale, part, factor, common):
        """As in SGD."""
        if self.state == "float32":
            return False
        name += " moment "
        moments = self._moments(s, name, part, 2)
        exponents = s.buffers.exponents(name + "exponent", part, moments)
        operands += moments + (exponents, gradient, scale, s.updates.rate, s.control)
        sizes = (part.total, part.columns, factor, s.stream(name)) + self._short(s)
        s.emit("adam_i8", operands, sizes + (int(common), part.at, part.rows))
        return True

    def _moments(self, s, name, part, size):
        """These rows of the state, of elements of ``size`` bytes."""
        return tuple([s.buffers.state_rows(name + number, part, size * part.columns) for number in "12"])

    def _long(self, s):
        """beta1, 1 - beta1, beta2, 1 - beta2, epsilon as float32 bits."""
        if s.updates.constants is None:
            shares = (self.beta_1, _MILLION - self.beta_1, self.beta_2, _MILLION - self.beta_2)
            s.updates.constants = tuple([_part(share) for share in shares]) + (self.epsilon,)
        return s.updates.constants

    def _short(self, s):
        """1 - beta1, and the roots of beta2 and (1 - beta2) / sqrt(beta2), in fixed point."""
        if s.updates.constants is not None:
            return s.updates.constants
        if self.epsilon != _EPSILON:
            raise ValueError('Adam: epsilon belongs to state "float32"; "int16" adds one unit of its state, got '
                'epsilon=%g' % (
                bits_to_float(self.epsilon)))  # fmt: skip
        c1 = ((_MILLION - self.beta_1) * 4096 + _MILLION // 2) // _MILLION
        if not c1:
            raise ValueError('Adam: beta_1 is at most 0.9998 with state "int16"')
        r2 = isqrt((self.beta_2 << 32) // _MILLION)
        s.updates.constants = c1, r2, isqrt(((_MILLION - self.beta_2) << 44) // (r2 * _MILLION))
        return s.updates.constants


def AdamW(learning_rate: "float | Schedule" = 0.001, weight_decay: "float" = 0.01, **options: "Any") -> "Adam":
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019); ``options`` as of Adam."""
    return Adam(learning_rate, weight_decay=weight_decay, **options)


def RMSprop(learning_rate: "float | Schedule" = 0.001, rho: "float" = 0.9, **options: "Any") -> "Adam":
    """RMSprop (Tieleman and Hinton, 2012) as PyTorch has it: Adam of ``beta_1`` 0 without bias correction, and with its
    state; ``options`` as of Adam.
    """
    found = Adam(learning_rate, beta_2=rho, **options)
    found.beta_1, found.betas = 0, (0, 0)
    return found


OPTIMIZERS = {"sgd": SGD, "adam": Adam, "adamw": AdamW, "rmsprop": RMSprop}


def _schedule(rate):
    if hasattr(rate, "bits"):
        return rate
    return Constant(rate)


def _fraction(kind, argument, value):
    value = own(value)
    if not is_number(value):
        raise TypeError("%s: %s is a number, got %r" % (kind, argument, value))
    if not 0 <= value < 1 or millionths(value) == _MILLION:
        raise ValueError("%s: %s is in 0..0.999999, got %r" % (kind, argument, value))
    return millionths(value)


def _decay(kind, value):
    """A weight decay as float32 bits, 0 for none."""
    return 0 if value == 0 else positive(kind, "weight_decay", value)


def _limit(kind, value):
    """The largest norm as float32 bits, 0 for none."""
    return 0 if value is None else positive(kind, "global_clipnorm", value)


def _part(value):
    """Millionths as float32 bits."""
    return scale_div(scale_int(value), scale_int(_MILLION))


def _state(kind, state):
    if state not in (None, "int16", "float32"):
        raise ValueError('%s: state is "int16" or "float32", got %r' % (kind, state))
    return state
