"""Instructions of this capability: lines as odt/base/opcodes.py has them, each after a line's end."""

TABLE = (
    b"\n"
    # recurrent: the steps of a sequence, of all units; the products of their inputs are linear's
    b"198 recur_i8 y=i8[B*R*H] v=i8[B*K*G] u=i8[B*K*H] peak+i32 p=i8[H] c=i32[H] d=i32[G] a:i8[B*T*G] w:i8[G*H] b:i32[G] q:mul[G] qa:mul qu:mul ; B T G H R K kind za\n"  # y[t] = cell(a[t], b + y[t - 1] @ w.T, y[t - 1]), its last R steps; v = gates, u = what else its gradient needs  # in recurrent; cost 1 B*T*H B*T*G B*T*G*H
    b"199 recur_dx_i8 dx=i8[B*T*G] peak+i32 n=i8[B*E*H] p=i8[B*T*H] s=i32[H*3] d=i16[G] e:i8[B*R*H] y:i8[B*T*H] v:i8[B*K*G] u:i8[B*K*H] w:i8[G*H] qe:mul qr:mul qu:mul c: ; B T G H R K E kind id\n"  # dx = error of a, n = error of a GRU's recurrent candidate, p[t] = y[t - 1]  # in recurrent; cost 1 B*T*H B*T*G B*T*G*H
    b"200 recur_f32 y=f32[B*R*H] v=f32[B*K*G] u=f32[B*K*H] p=f32[H*2] d=f32[G] a:f32[B*T*G] w:f32[G*H] b:f32[G] ; B T G H R K kind\n"  # as recur_i8  # in f32_recurrent; cost 1 B*T*H B*T*G B*T*G*H
    b"201 recur_dx_f32 dx=f32[B*T*G] n=f32[B*E*H] p=f32[B*T*H] s=f32[H*3] e:f32[B*R*H] y:f32[B*T*H] v:f32[B*K*G] u:f32[B*K*H] w:f32[G*H] ; B T G H R K E kind\n"  # as recur_dx_i8  # in f32_recurrent; cost 1 B*T*H B*T*G B*T*G*H
    b"215 recur_on_i8 y=i8[B*R*H] v=i8[B*K*G] u=i8[B*K*H] peak+i32 p=i8[B*2*H] cell=i32[B*2*H] d=i32[G] a:i8[B*T*G] w:i8[G*H] b:i32[G] q:mul[G] qa:mul qu:mul ; B T G H R K kind za\n"  # as recur_i8; sample b begins with p[b, 0], cell[b, 0] and leaves what it ends with in p[b, 1], cell[b, 1]  # in recurrent; cost as recur_i8
)
