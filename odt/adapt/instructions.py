"""Instructions of this capability: lines as odt/base/opcodes.py has them, each after a line's end."""

TABLE = (
    b"\n"
    # update: of weights that have no residuals
    b"214 round_i8 w+i8[N*K] sw+i32[N] limited+i32 d:i32[R*K] ds:i32[R] rate:i32 c: ; N K id common at R\n"  # w -= rate * ds[n] * d / sw[n], rounded at random  # in rare; cost as adam_i16
)
