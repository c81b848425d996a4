"""Instructions of capabilities that are not in the base: lines as opcodes.TABLE has them, each after a line's end."""

TABLE = (
    b"\n"
    # recurrent: the steps of a sequence, of all units; the products of their inputs are linear's
    b"198 recur_i8 y=i8[B*R*H] v=i8[B*K*G] u=i8[B*K*H] peak+i32 p=i8[H] c=i32[H] d=i32[G] a:i8[B*T*G] w:i8[G*H] b:i32[G] q:mul[G] qa:mul qu:mul ; B T G H R K kind za\n"  # y[t] = cell(a[t], b + y[t - 1] @ w.T, y[t - 1]), its last R steps; v = gates, u = what else its gradient needs  # in recurrent; cost 1 B*T*H B*T*G B*T*G*H
    b"199 recur_dx_i8 dx=i8[B*T*G] peak+i32 n=i8[B*E*H] p=i8[B*T*H] s=i32[H*3] d=i16[G] e:i8[B*R*H] y:i8[B*T*H] v:i8[B*K*G] u:i8[B*K*H] w:i8[G*H] qe:mul qr:mul qu:mul c: ; B T G H R K E kind id\n"  # dx = error of a, n = error of a GRU's recurrent candidate, p[t] = y[t - 1]  # in recurrent; cost 1 B*T*H B*T*G B*T*G*H
    b"200 recur_f32 y=f32[B*R*H] v=f32[B*K*G] u=f32[B*K*H] p=f32[H*2] d=f32[G] a:f32[B*T*G] w:f32[G*H] b:f32[G] ; B T G H R K kind\n"  # as recur_i8  # in f32_recurrent; cost 1 B*T*H B*T*G B*T*G*H
    b"201 recur_dx_f32 dx=f32[B*T*G] n=f32[B*E*H] p=f32[B*T*H] s=f32[H*3] e:f32[B*R*H] y:f32[B*T*H] v:f32[B*K*G] u:f32[B*K*H] w:f32[G*H] ; B T G H R K E kind\n"  # as recur_dx_i8  # in f32_recurrent; cost 1 B*T*H B*T*G B*T*G*H
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
