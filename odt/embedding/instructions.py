"""Instructions of this capability: lines as odt/base/opcodes.py has them, each after a line's end."""

TABLE = (
    b"\n"
    # embedding: rows of a table by tokens, and the gradient of the rows that are named
    b"210 embed_i8 y=i8[M*N] x:i8[M] w:i8[V*N] ; M N V\n"  # y[m] = w[min(x[m] + 128, V - 1)]  # in embedding; cost 1 M M*N
    b"211 embed_dw_i8 dw=i32[R*N] count=i32 rows=i32[R] e:i8[M*N] x:i8[M] ; M N V R all\n"  # rows = the count tokens of x, each once, ascending, or all tokens; dw[j] = sum_m e[m], of those that name rows[j]  # in embedding; cost 1 M M*N
    b"212 embed_f32 y=f32[M*N] x:f32[M] w:f32[V*N] ; M N V\n"  # y[m] = w[min(max(x[m], 0), 255, V - 1)]  # in f32_embedding; cost 1 M M*N
    b"213 embed_dw_f32 dw=f32[R*N] count=i32 rows=i32[R] e:f32[M*N] x:f32[M] ; M N V R all\n"  # as embed_dw_i8  # in f32_embedding; cost 1 M M*N
)
