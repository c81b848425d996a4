"""Instructions of this capability: lines as odt/base/opcodes.py has them, each after a line's end."""

TABLE = (
    b"\n"
    # attention: products of two activations, by heads, and the weights between them; positions
    b"202 attend_i8 p=i8[B*G*T*S] r=i32[S] a:i8[B*T*G*K] b:i8[B*S*G*K] q:mul ; B G T S K causal\n"  # p[g, t] = 256 * softmax_s(q * sum_k a[t, g, k] * b[s, g, k]) - 128, causal: of s <= t  # in attention; cost 1 B*G*T*S B*G*T*S*K
    b"203 attend_dx_i8 dp=i8[B*G*T*S] peak+i32 r=i32[S] e:i8[B*T*G*K] v:i8[B*S*G*K] p:i8[B*G*T*S] q:mul c: ; B G T S K id\n"  # dp = clamp(q * (p + 128) * (d - sum_s d * (p + 128) / 256)), d[s] = sum_k e[t, g, k] * v[s, g, k], rounded at random  # in attention; cost 1 B*G*T*S B*G*T*S*K
    b"204 mix_i8 y=i8[B*T*G*K] peak+i32 a:i8[B*G*T*S] b:i8[B*S*G*K] q:mul c: ; B G T S K za id back\n"  # y[t, g, k] = clamp(q * sum_s (a[g, t, s] - za) * b[s, g, k]), back: a[g, s, t]; rounded at random where id is not 0  # in attention; cost 1 B*T*G*K B*G*T*S*K
    b"205 offset_i8 y=i8[B*N]~x peak+i32 x:i8[B*N] b:i32[N] qx:mul qb:mul ; B N zx zy lo\n"  # y[b] = clamp(zy + qx * (x[b] - zx) + qb * b)  # in attention; cost 1 B B*N
    b"206 attend_f32 p=f32[B*G*T*S] a:f32[B*T*G*K] b:f32[B*S*G*K] ; B G T S K causal factor\n"  # p[g, t] = softmax_s(factor * sum_k a[t, g, k] * b[s, g, k]), causal: of s <= t  # in f32_attention; cost 1 B*G*T*S B*G*T*S*K
    b"207 attend_dx_f32 dp=f32[B*G*T*S] e:f32[B*T*G*K] v:f32[B*S*G*K] p:f32[B*G*T*S] ; B G T S K\n"  # dp = p * (d - sum_s d * p), d[s] = sum_k e[t, g, k] * v[s, g, k]  # in f32_attention; cost 1 B*G*T*S B*G*T*S*K
    b"208 mix_f32 y=f32[B*T*G*K] a:f32[B*G*T*S] b:f32[B*S*G*K] ; B G T S K factor back\n"  # y[t, g, k] = factor * sum_s a[g, t, s] * b[s, g, k], back: a[g, s, t]  # in f32_attention; cost 1 B*T*G*K B*G*T*S*K
    b"209 offset_f32 y=f32[B*N]~x x:f32[B*N] b:f32[N] ; B N\n"  # y[b] = x[b] + b  # in f32_attention; cost 1 B B*N
)
