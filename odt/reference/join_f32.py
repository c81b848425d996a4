"""Several float32 tensors into one."""

from .float32 import store


def add_f32(o):
    """y = a + b

    y=f32[N]~a a:f32[N] b:f32[N] ; N' relu
    """
    for i in range(o.N):
        v = store(o.a[i] + o.b[i])
        o.y[i] = 0.0 if o.relu and v < 0 else v


def multiply_f32(o):
    """y = a * b

    y=f32[N]~a a:f32[N] b:f32[N] ; N'
    """
    for i in range(o.N):
        o.y[i] = store(o.a[i] * o.b[i])
