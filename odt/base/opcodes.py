"""The instruction set: the one place where an instruction is declared.

Each line of TABLE is ``number name operands ; immediates``; its first comment is the formula, its second what the host
alone needs (odt/host/traits/ has the words). It stands in the section of its family, which odt/reference/ and
native/kernels/ are divided by as well. An operand is
``name`` access ``dtype[extent]``: ``=`` writes, ``:`` reads, ``+`` updates in place; ``~other``
says that it may lie in the memory of ``other``, which has the same dtype and extent. An extent is a product of
immediates and literals; without one it is 1. dtypes: ``i8 i16 i32 f32``; ``mul`` is a multiplier and a shift, two
int32; without one it is the control block, ``i32[16]``; ``buf`` is a whole
region of the user's data, whose length the kernel itself respects. Immediates in capitals are sizes (see LIMITS), the
others any int32; ``@`` stands for the sizes of a 2-D window (WINDOW). B, M and those that end with ``'`` count rows of
the batch or what is in all of them, or may: see docs/reference/program.md, *Fewer rows*.

A prefix belongs to the instruction after it and is one with it: ``few`` makes sizes of it smaller, ``each``
runs it for some rows alone.

instructions.py of a capability has the lines that the base leaves out. Numbers are append-only. After a change:
``make generate``. The arithmetic: docs/reference/numerics.md.
"""

import sys

from .lines import AT, BY_LENGTH, ENDS
from .regions import *  # noqa: F403
from .regions import VERSION

SIZES = {"i8": 1, "i16": 2, "i32": 4, "f32": 4, "mul": 8, "buf": 0}

# Largest value of a size; the smallest is 1, of a padding 0. Others: DEFAULT_LIMIT.
LIMITS = {"KH": 255, "KW": 255, "SH": 255, "SW": 255, "PT": 255, "PL": 255}
for _name in ("B", "H", "W", "OH", "OW"):
    LIMITS[_name] = 65535
WINDOW = "B H W C N KH KW SH SW PT PL OH OW"

TABLE = (
    # step: counters and random numbers, the batch, scales and ranges, gradients summed and clipped
    b"1 clear y=i32[N] ; N\n"  # y = 0  # in base; rows prepares
    b"2 tick rate=i32[2] h+i32[4] c+ ; beta1 beta2\n"  # t += 1; KEY = hash(seed, t); rate = RATE * sqrt(1 - beta2^t) / (1 - beta1^t), sqrt(1 - beta2^t)  # in base
    b"145 step_key c+ h:i32[4] ; ahead\n"  # KEY = hash(seed, t + ahead), while KEY is not 0  # in base
    b"3 gather_i8 y=i8[B*F] peak+i32 c: x:buf s:i32 ; B F z\n"  # y[b] = clamp(z + x[order(b)] / s)  # in base; rows gather; cost 1 B B*F
    b"37 gather_f32 y=f32[B*F] c: x:buf ; B F\n"  # y[b] = x[order(b)]  # in f32; rows gather; cost as gather_i8
    b"4 rescale q=mul[N] sx:i32 sw:i32[N] sy:i32 ; N factor\n"  # q[n] = factor * sx * sw[n] / sy  # in base; rows prepares
    b"5 ratio q=mul sx:i32 sy:i32 ; factor\n"  # q = factor * sx / sy  # in base; rows prepares
    b"6 rescale_dx qc=mul[N] q=mul sw:i32[N] se:i32 sdx:i32 ; N factor\n"  # qc[n] = sw[n] / max sw; q = factor * se * max sw / sdx  # in more; rows prepares
    b"7 product y=i32 a:i32 b:i32 ; factor\n"  # y = factor * a * b  # in base; rows prepares
    b"8 bias_i8 y=i32[N] b:i32[N] sx:i32 sw:i32[N] ; N\n"  # y[n] = b[n] * 2^-20 / (sx * sw[n])  # in base; rows prepares
    b"9 range_i8 s+i32 peak:i32 ; limit fall fine\n"  # s *= peak / limit if peak > limit, less where peak is far below it  # in base
    b"162 range_x_i8 s+i32 seen+i32 peak:i32 ; limit\n"  # as range_i8 of inputs: s grows by a quarter at most; seen = max(seen, peak * s)  # in base
    b"95 accumulate_i32 y+i32[N] d:i32[N] ; N\n"  # y += d  # in base; rows after
    b"96 accumulate_f32 y+f32[N] d:f32[N] ; N\n"  # y += d  # in f32
    b"140 squares_i32 total+i32 d:i32[N] gs:i32 ; N factor\n"  # total += sum of (factor * gs * d)^2, as a scale; 0 is none  # in base
    b"142 squares_f32 total+f32 d:f32[N] ; N\n"  # total += sum of d^2  # in f32
    b"141 clip_i32 y=i32 total:i32 ; limit\n"  # y = min(1, limit / sqrt(total))  # in base
    b"143 clip_f32 y=f32 total:f32 ; limit\n"  # y = min(1, limit / sqrt(total))  # in f32
    b"144 scale_f32 d+f32[N] factor:f32 ; N\n"  # d *= factor  # in f32
    # linear: dense, convolution, depthwise, grouped and transposed convolution
    b"10 dense_i8 y=i8[M*N] peak+i32 x:i8[M*K] w:i8[N*K] b:i32[N] q:mul[N] ; M K N zx zy lo\n"  # y = clamp(zy + q[n] * (b[n] + sum_k (x - zx) * w))  # in base
    b"11 dense_dx_i8 dx=i8[M*K] peak+i32 e:i8[M*N] w:i8[N*K] q:mul ; M K N\n"  # dx = clamp(q * sum_n e * w)  # in base
    b"12 dense_dw_i8 dw=i32[R*K] e:i8[M*N] x:i8[M*K] ; M K N zx at R\n"  # dw[n - at] = sum_m e * (x - zx)  # in base
    b"38 dense_f32 y=f32[M*N] x:f32[M*K] w:f32[N*K] b:f32[N] ; M K N relu\n"  # y = b[n] + sum_k x * w  # in f32; cost 1 M M*N M*N*K M*N*K*D N*K
    b"39 dense_dx_f32 dx=f32[M*K] e:f32[M*N] w:f32[N*K] ; M K N\n"  # dx = sum_n e * w  # in f32; cost 1 M M*K M*N M*N*K M*N*K*Q K*N
    b"40 dense_dw_f32 dw=f32[R*K] e:f32[M*N] x:f32[M*K] ; M K N at R\n"  # dw[n - at] = sum_m e * x  # in f32; cost 1 R R*K M*R M*R*K M*R*K*Q M*R*K*Q*D
    b"13 bias_dw_i8 db=i32[N] e:i8[M*N] ; M N\n"  # db = sum_m e  # in base; rows sum; cost 1 N M*N M V M*V
    b"41 bias_dw_f32 db=f32[N] e:f32[M*N] ; M N\n"  # db = sum_m e  # in f32; cost as bias_dw_i8
    b"14 channel_scale_i8 y=i8[M*N]~e e:i8[M*N] q:mul[N] c: ; M N id\n"  # y = clamp(q[n] * e); id >> 16 rows lie before  # in more; rows drawn; cost 1 M N M*N
    b"15 conv2d_i8 y=i8[B*OH*OW*N] peak+i32 x:i8[B*H*W*C] w:i8[N*KH*KW*C] b:i32[N] q:mul[N] ; @ zx zy lo\n"  # y = clamp(zy + q[n] * (b[n] + sum_(kh,kw,c) (x - zx) * w))  # in conv; rows window
    b"16 conv2d_dx_i8 dx=i8[B*H*W*C] peak+i32 e:i8[B*OH*OW*N] w:i8[N*KH*KW*C] q:mul ; @\n"  # dx = clamp(q * sum_(kh,kw,n) e * w)  # in conv; rows errors
    b"17 conv2d_dw_i8 dw=i32[R*KH*KW*C] e:i8[B*OH*OW*N] x:i8[B*H*W*C] ; @ zx at R\n"  # dw[n - at] = sum_(b,oh,ow) e * (x - zx)  # in conv
    b"42 conv2d_f32 y=f32[B*OH*OW*N] x:f32[B*H*W*C] w:f32[N*KH*KW*C] b:f32[N] ; @ relu\n"  # y = b[n] + sum_(kh,kw,c) x * w  # in f32_conv; rows window; cost 1 P P*N P*KH*N I*N I*N*C I*N*C*D N*T*C
    b"43 conv2d_dx_f32 dx=f32[B*H*W*C] e:f32[B*OH*OW*N] w:f32[N*KH*KW*C] ; @\n"  # dx = sum_(kh,kw,n) e * w  # in f32_conv; cost 1 B*H*W B*H*W*C I I*N I*N*C I*N*C*Q N*T*C
    b"44 conv2d_dw_f32 dw=f32[R*KH*KW*C] e:f32[B*OH*OW*N] x:f32[B*H*W*C] ; @ at R\n"  # dw[n - at] = sum_(b,oh,ow) e * x  # in f32_conv; cost 1 P P*R I*R I*R*C I*R*C*Q I*R*C*Q*D R*T*C
    b"18 depthwise2d_i8 y=i8[B*OH*OW*N] peak+i32 x:i8[B*H*W*N] w:i8[N*KH*KW] b:i32[N] q:mul[N] ; @ zx zy lo\n"  # y = clamp(zy + q[n] * (b[n] + sum_(kh,kw) (x - zx) * w))  # in depth; rows window
    b"19 depthwise2d_dx_i8 dx=i8[B*H*W*N] peak+i32 e:i8[B*OH*OW*N] w:i8[N*KH*KW] q:mul[N] ; @\n"  # dx = clamp(q[n] * sum_(kh,kw) e * w)  # in depth; rows errors
    b"20 depthwise2d_dw_i8 dw=i32[R*KH*KW] e:i8[B*OH*OW*N] x:i8[B*H*W*N] ; @ zx at R\n"  # dw[n - at] = sum_(b,oh,ow) e * (x - zx)  # in depth
    b"45 depthwise2d_f32 y=f32[B*OH*OW*N] x:f32[B*H*W*N] w:f32[N*KH*KW] b:f32[N] ; @ relu\n"  # y = b[n] + sum_(kh,kw) x * w  # in f32_more; rows window; cost 1 N P*N I*N I*N*D N*T
    b"46 depthwise2d_dx_f32 dx=f32[B*H*W*N] e:f32[B*OH*OW*N] w:f32[N*KH*KW] ; @\n"  # dx = sum_(kh,kw) e * w  # in f32_more; cost 1 N B*H*W*N P*N I*N I*N*Q N*T
    b"47 depthwise2d_dw_f32 dw=f32[R*KH*KW] e:f32[B*OH*OW*N] x:f32[B*H*W*N] ; @ at R\n"  # dw[n - at] = sum_(b,oh,ow) e * x  # in f32_more; cost 1 R P*R I*R I*R*Q I*R*Q*D R*T
    b"97 group_conv2d_i8 y=i8[B*OH*OW*N] peak+i32 x:i8[B*H*W*G*C] w:i8[N*KH*KW*C] b:i32[N] q:mul[N] ; @ G zx zy lo\n"  # as conv2d_i8; output n reads the C channels of its group, n * G / N  # in rare; rows window; cost 1 P*N I*N*C N*T*C
    b"98 group_conv2d_dx_i8 dx=i8[B*H*W*G*C] peak+i32 e:i8[B*OH*OW*N] w:i8[N*KH*KW*C] q:mul ; @ G\n"  # dx = clamp(q * sum_(kh,kw,n of the group) e * w)  # in rare; cost 1 B*H*W*C*G P*N I*N*C
    b"99 group_conv2d_dw_i8 dw=i32[R*KH*KW*C] e:i8[B*OH*OW*N] x:i8[B*H*W*G*C] ; @ G zx at R\n"  # dw[n - at] = sum_(b,oh,ow) e * (x - zx)  # in rare; cost 1 P*R I*R*C R*T*C
    b"100 group_conv2d_f32 y=f32[B*OH*OW*N] x:f32[B*H*W*G*C] w:f32[N*KH*KW*C] b:f32[N] ; @ G relu\n"  # y = b[n] + sum_(kh,kw,c of the group) x * w  # in f32_more; rows window; cost 1 P*N I*N*C N*T*C
    b"101 group_conv2d_dx_f32 dx=f32[B*H*W*G*C] e:f32[B*OH*OW*N] w:f32[N*KH*KW*C] ; @ G\n"  # dx = sum_(kh,kw,n of the group) e * w  # in f32_more; cost 1 B*H*W*C*G P*N I*N*C
    b"102 group_conv2d_dw_f32 dw=f32[R*KH*KW*C] e:f32[B*OH*OW*N] x:f32[B*H*W*G*C] ; @ G at R\n"  # dw[n - at] = sum_(b,oh,ow) e * x  # in f32_more; cost 1 P*R I*R*C R*T*C
    b"103 transposed2d_i8 y=i8[B*OH*OW*N] peak+i32 x:i8[B*H*W*C] w:i8[N*KH*KW*C] b:i32[N] q:mul[N] ; @ zx zy lo\n"  # y[oh, ow] = clamp(zy + q[n] * (b[n] + sum_(kh,kw,c) (x[ih, iw] - zx) * w)), oh = ih * SH - PT + kh  # in rare; cost 1 B*H*W*C P*N B*H*W*N*T*C
    b"104 transposed2d_dx_i8 dx=i8[B*H*W*C] peak+i32 e:i8[B*OH*OW*N] w:i8[N*KH*KW*C] q:mul ; @\n"  # dx[ih, iw] = clamp(q * sum_(kh,kw,n) e[oh, ow] * w)  # in rare; cost 1 B*H*W*C P*N B*H*W*N*T*C
    b"105 transposed2d_dw_i8 dw=i32[R*KH*KW*C] e:i8[B*OH*OW*N] x:i8[B*H*W*C] ; @ zx at R\n"  # dw[n - at] = sum_(b,ih,iw) e[oh, ow] * (x[ih, iw] - zx)  # in rare; cost 1 P*R R*T*C B*H*W*R*T*C
    b"106 transposed2d_f32 y=f32[B*OH*OW*N] x:f32[B*H*W*C] w:f32[N*KH*KW*C] b:f32[N] ; @ relu\n"  # y[oh, ow] = b[n] + sum_(kh,kw,c) x[ih, iw] * w, oh = ih * SH - PT + kh  # in f32_more; cost 1 B*H*W*C P*N B*H*W*N*T*C
    b"107 transposed2d_dx_f32 dx=f32[B*H*W*C] e:f32[B*OH*OW*N] w:f32[N*KH*KW*C] ; @\n"  # dx[ih, iw] = sum_(kh,kw,n) e[oh, ow] * w  # in f32_more; cost 1 B*H*W*C P*N B*H*W*N*T*C
    b"108 transposed2d_dw_f32 dw=f32[R*KH*KW*C] e:f32[B*OH*OW*N] x:f32[B*H*W*C] ; @ at R\n"  # dw[n - at] = sum_(b,ih,iw) e[oh, ow] * x[ih, iw]  # in f32_more; cost 1 P*R R*T*C B*H*W*R*T*C
    b"197 unpack_i4 y=i32[N*2] x:i32[N] ; N\n"  # y = the nibbles of x times 16, as int8: of each word the four low ones, then the high ones  # in packed; rows prepares
    # pool: largest and mean of a window, the mean of all
    b"23 maxpool2d_i8 y=i8[B*OH*OW*N] x:i8[B*H*W*N] ; @\n"  # y = max_(kh,kw) x  # in conv; rows window; cost 1 P P*N P*T P*T*N P*J P*T*J B*H*W*N
    b"50 maxpool2d_f32 y=f32[B*OH*OW*N] x:f32[B*H*W*N] ; @\n"  # y = max_(kh,kw) x  # in f32_conv; rows window; cost as maxpool2d_i8
    b"121 maxpool2d_choice_i8 y=i8[B*OH*OW*N] choice=i8[S] x:i8[B*H*W*N] ; @ S bits\n"  # y = max_(kh,kw) x; choice = kh * KW + kw of the first largest  # in conv; cost as maxpool2d_i8
    b"122 maxpool2d_choice_f32 y=f32[B*OH*OW*N] choice=i8[S] x:f32[B*H*W*N] ; @ S bits\n"  # y = max_(kh,kw) x; choice = kh * KW + kw of the first largest  # in f32_conv; cost as maxpool2d_i8
    b"24 unpool2d_i8 dx=i8[B*H*W*N] peak+i32 e:i8[B*OH*OW*N] choice:i8[S] ; @ S bits\n"  # dx = sum of e over the windows that chose this position  # in conv; cost as maxpool2d_i8
    b"51 unpool2d_f32 dx=f32[B*H*W*N] e:f32[B*OH*OW*N] choice:i8[S] ; @ S bits\n"  # dx = sum of e over the windows that chose this position  # in f32_conv; cost as maxpool2d_i8
    b"25 globalavg_i8 y=i8[B*N] peak+i32 x:i8[B*S*N] q:mul ; B S N zx zy lo\n"  # y = clamp(zy + q * sum_s (x - zx))  # in conv; cost 1 B B*N B*S B*S*N
    b"26 globalavg_dx_i8 dx=i8[B*S*N] e:i8[B*N] ; B S N\n"  # dx[s] = e  # in conv; cost as globalavg_i8
    b"52 globalavg_f32 y=f32[B*N] x:f32[B*S*N] ; B S N\n"  # y = sum_s x / S  # in f32_conv; cost as globalavg_i8
    b"53 globalavg_dx_f32 dx=f32[B*S*N] e:f32[B*N] ; B S N\n"  # dx[s] = e / S  # in f32_conv; cost as globalavg_i8
    b"65 avgpool2d_i8 y=i8[B*OH*OW*N] x:i8[B*H*W*N] ; @ adaptive\n"  # y = mean of x over the window's positions inside x  # in conv; rows window; cost as maxpool2d_i8
    b"66 avgpool2d_dx_i8 dx=i8[B*H*W*N] peak+i32 e:i8[B*OH*OW*N] q:mul ; @ adaptive top\n"  # dx = clamp(q * sum of e * (256 * top / count) over the windows that hold it)  # in conv; cost as maxpool2d_i8
    b"67 avgpool2d_f32 y=f32[B*OH*OW*N] x:f32[B*H*W*N] ; @ adaptive\n"  # y = mean of x over the window's positions inside x  # in f32_conv; rows window; cost as maxpool2d_i8
    b"68 avgpool2d_dx_f32 dx=f32[B*H*W*N] e:f32[B*OH*OW*N] ; @ adaptive\n"  # dx = sum of e / count over the windows that hold it  # in f32_conv; cost as maxpool2d_i8
    b"184 mean2d_i8 y=i8[B*OH*OW*N] peak+i32 x:i8[B*H*W*N] sx:i32 sy:i32 ; @ adaptive zx zy lo factor away\n"  # y = clamp(zy + factor * sx / sy * mean of x - zx over the window's positions inside x)  # in import; rows window
    # join: several tensors into one, one's parts, and images enlarged
    b"27 add_i8 y=i8[N]~a peak+i32 a:i8[N] b:i8[N] qa:mul qb:mul ; N' za zb zy lo\n"  # y = clamp(zy + qa * (a - za) + qb * (b - zb))  # in more; rows ab
    b"54 add_f32 y=f32[N]~a a:f32[N] b:f32[N] ; N' relu\n"  # y = a + b  # in f32_more; rows ab
    b"60 concat_i8 y+i8[M*N] peak+i32 x:i8[M*K] q:mul ; M K N at zx zy lo\n"  # y[m, at + k] = clamp(zy + q * (x[m, k] - zx))  # in more; cost 1 M M*K
    b"61 place y+i8[M*N] x:i8[M*K] ; M K N at\n"  # y[m, at + k] = x[m, k], in bytes  # in more; cost 1 M M*K
    b"62 slice y=i8[M*K] x:i8[M*N] ; M K N at\n"  # y[m, k] = x[m, at + k], in bytes  # in more; cost 1 M M*K
    b"63 multiply_i8 y=i8[N] peak+i32 a:i8[N] b:i8[N] q:mul ; N' za zb zy lo\n"  # y = clamp(zy + q * (a - za) * (b - zb))  # in rare; rows ab
    b"64 multiply_f32 y=f32[N]~a a:f32[N] b:f32[N] ; N'\n"  # y = a * b  # in f32_more; rows ab
    b"69 upsample2d y=i8[B*H*SH*W*SW*N] x:i8[B*H*W*N] ; B H W N SH SW\n"  # y[h, w] = x[h / SH, w / SW], in bytes  # in rare; cost 1 B*H*W*N B*H*W*N*SH*SW
    b"70 upsample2d_dx_i8 dx=i8[B*H*W*N] peak+i32 e:i8[B*H*SH*W*SW*N] q:mul ; B H W N SH SW\n"  # dx = clamp(q * sum_(sh,sw) e)  # in rare; cost 1 B*H*W*N B*H*W*N*SH*SW
    b"71 upsample2d_dx_f32 dx=f32[B*H*W*N] e:f32[B*H*SH*W*SW*N] ; B H W N SH SW\n"  # dx = sum_(sh,sw) e  # in f32_more; cost 1 B*H*W*N B*H*W*N*SH*SW
    b"185 add_once_i8 y=i8[N]~a peak+i32 a:i8[N] b:i8[N] qa:mul qb:mul ; N' za zb zy lo\n"  # as add_i8, with terms in 2^-16 of y's steps  # in import; rows ab
    b"191 space_to_batch y=i8[B*SH*SW*OH*OW*U] x:i8[B*H*W*U] ; B H W U SH SW PT PL OH OW fill\n"  # y[b, p, q, i, j] = x[b, i * SH + p - PT, j * SW + q - PL], beside x fill, in bytes  # in import
    b"192 batch_to_space y=i8[B*H*W*U] x:i8[B*SH*SW*OH*OW*U] ; B H W U SH SW PT PL OH OW\n"  # the inverse of space_to_batch; beside its y 0  # in import
    # activation: ReLU and its kin, forward and backward, and their masks as bits
    b"21 relu_i8 y=i8[N]~x x:i8[N] ; N' z\n"  # y = max(x, z)  # in base; rows x
    b"22 relu_dx_i8 dx=i8[N]~e e:i8[N] y:i8[N] ; N' lo\n"  # dx = e where y > lo, else 0  # in base; rows ey
    b"48 relu_f32 y=f32[N]~x x:f32[N] ; N'\n"  # y = max(x, 0)  # in f32; rows x
    b"49 relu_dx_f32 dx=f32[N]~e e:f32[N] y:f32[N] ; N'\n"  # dx = e where y > 0, else 0  # in f32
    b"72 relu6_dx_i8 dx=i8[N]~e e:i8[N] y:i8[N] ; N'\n"  # dx = e where -128 < y < 127, else 0  # in base; rows ey
    b"73 relu6_f32 y=f32[N]~x x:f32[N] ; N'\n"  # y = min(max(x, 0), 6)  # in f32; rows x
    b"74 relu6_dx_f32 dx=f32[N]~e e:f32[N] y:f32[N] ; N'\n"  # dx = e where 0 < y < 6, else 0  # in f32
    b"75 leaky_relu_i8 y=i8[N]~x x:i8[N] ; N' z slope\n"  # y = x where x > z, else z + slope * (x - z)  # in more; rows x
    b"76 leaky_relu_dx_i8 dx=i8[N]~e e:i8[N] x:i8[N] c: ; N' z slope id\n"  # dx = e where x > z, else slope * e  # in more
    b"77 leaky_relu_f32 y=f32[N]~x x:f32[N] ; N' slope\n"  # y = x where x > 0, else slope * x  # in f32; rows x
    b"78 leaky_relu_dx_f32 dx=f32[N]~e e:f32[N] y:f32[N] ; N' slope\n"  # dx = e where y > 0, else slope * e  # in f32
    b"79 sigmoid_i8 y=i8[N]~x x:i8[N] sx:i32 ; N' z factor\n"  # y = 256 / (1 + exp(-factor * sx * (x - z))) - 128; with factor 2: 128 * tanh  # in base; rows x
    b"80 sigmoid_dx_i8 dx=i8[N] peak+i32 e:i8[N] y:i8[N] q:mul ; N'\n"  # dx = clamp(q * e * (128 + y) * (128 - y))  # in base
    b"81 sigmoid_f32 y=f32[N]~x x:f32[N] ; N'\n"  # y = 1 / (1 + exp(-x))  # in f32; rows x
    b"82 sigmoid_dx_f32 dx=f32[N]~e e:f32[N] y:f32[N] ; N'\n"  # dx = e * y * (1 - y)  # in f32
    b"83 tanh_f32 y=f32[N]~x x:f32[N] ; N'\n"  # y = tanh(x)  # in f32; rows x
    b"84 tanh_dx_f32 dx=f32[N]~e e:f32[N] y:f32[N] ; N'\n"  # dx = e * (1 - y^2)  # in f32
    b"85 softmax_i8 y=i8[M*N]~x x:i8[M*N] sx:i32 ; M N factor\n"  # y = 256 * softmax(factor * sx * x) - 128  # in base; cost 1 M M*N
    b"86 softmax_dx_i8 dx=i8[M*N] peak+i32 e:i8[M*N] y:i8[M*N] q:mul ; M N\n"  # dx = clamp(q * (y + 128) * (256 * e - sum_n e * (y + 128)))  # in base; cost 1 M M*N
    b"87 softmax_f32 y=f32[M*N]~x x:f32[M*N] ; M N\n"  # y = softmax(x)  # in f32; cost 1 M M*N
    b"88 softmax_dx_f32 dx=f32[M*N]~e e:f32[M*N] y:f32[M*N] ; M N\n"  # dx = y * (e - sum_n e * y)  # in f32; cost 1 M M*N
    b"155 open_i8 bits=i8[S] y:i8[N] ; N' S lo hi\n"  # bit i = lo < y[i] < hi  # in base; rows mask
    b"156 open_f32 bits=i8[S] y:f32[N] ; N' S hi\n"  # bit i = 0 < y[i] < hi  # in f32; rows mask
    b"157 masked_i8 dx=i8[N]~e e:i8[N] bits:i8[S] ; N' S\n"  # dx[i] = e[i] where bit i, else 0  # in base; rows masked
    b"158 masked_f32 dx=f32[N]~e e:f32[N] bits:i8[S] ; N' S\n"  # dx[i] = e[i] where bit i, else 0  # in f32
    b"186 lookup_i8 y=i8[N]~x x:i8[N] table:i8[4*64] ; N'\n"  # y = table[x + 128]  # in import; rows x
    b"193 curve_i8 y=i8[N] peak+i32 x:i8[N] sx:i32 sy:i32 ; N' z zy lo factor kind alpha gain\n"  # y = clamp(zy + gain * f(factor * sx * (x - z)) / sy), f by kind: 0 ELU, else GELU  # in curve
    b"194 curve_dx_i8 dx=i8[N] peak+i32 e:i8[N] x:i8[N] sx:i32 q:mul ; N' z factor kind alpha\n"  # dx = clamp(q * e * 2^14 * f'(factor * sx * (x - z))), f as of curve_i8  # in curve
    b"195 curve_f32 y=f32[N]~x x:f32[N] ; N' kind alpha gain\n"  # y = gain * f(x), f by kind: 0 ELU, else GELU  # in f32_more
    b"196 curve_dx_f32 dx=f32[N]~e e:f32[N] x:f32[N] ; N' kind alpha gain\n"  # dx = e * gain * f'(x), f as of curve_f32  # in f32_more
    # norm: normalisation by layers, groups and batches
    b"123 norm_stats_i8 st=i32[M*G*2] x:i8[M*S*G*C] sx:i32 ; M S' G C z factor eps\n"  # st[m, g] = mean of x - z in steps / 1024; 1 / sqrt(variance of x + eps / (factor * sx)^2)  # in norm; cost 1 M M*G M*S M*S*G*C
    b"132 norm_stats_f32 st=f32[M*G*2] x:f32[M*S*G*C] ; M S' G C eps\n"  # st[m, g] = mean of x; 1 / sqrt(variance of x + eps)  # in f32_more; cost as norm_stats_i8
    b"124 batch_stats_i8 st+i32[N*2] va+i32[N] x:i8[B*S*N] sx:i32 c: ; B S N z factor eps\n"  # while KEY is not 0: st[n] of COUNT rows, as norm_stats_i8; va[n] = (factor * sx)^2 * variance of x  # in norm; cost 1 N B*S B*S*N
    b"133 batch_stats_f32 st+f32[N*2] va+f32[N] x:f32[B*S*N] c: ; B S N eps\n"  # while KEY is not 0: st[n] of COUNT rows, as norm_stats_f32; va[n] = variance of x  # in f32_more; cost as batch_stats_i8
    b"125 running_stats_i8 st=i32[N*2] mean:i32[N] var:i32[N] sx:i32 ; N factor eps\n"  # st[n] = mean * 2^-20 / (factor * sx) in steps / 1024; factor * sx / sqrt(var + eps)  # in norm
    b"134 running_stats_f32 st=f32[N*2] mean:f32[N] var:f32[N] ; N eps\n"  # st[n] = mean[n]; 1 / sqrt(var[n] + eps)  # in f32_more
    b"126 track_i8 mean+i32[N] var+i32[N] st:i32[N*2] va:i32[N] sx:i32 ; N factor keep rest\n"  # mean = keep * mean + rest * mean of the batch; var = keep * var + rest * va  # in norm
    b"135 track_f32 mean+f32[N] var+f32[N] st:f32[N*2] va:f32[N] ; N keep rest\n"  # mean = keep * mean + rest * st; var = keep * var + rest * va  # in f32_more
    b"182 read_stats_i8 st+i32[N*2] va:i32[N] var:i32[N] sx:i32 c: ; N factor eps batch\n"  # of samples that var has scaled: st[n] = 0; factor * sx; while KEY is not 0, with batch: st[n, 1] = factor * sx / sqrt(va + eps / var)  # in norm
    b"183 track_read_i8 mean+i32[N] var+i32[N] st:i32[N*2] va:i32[N] sx:i32 ; N factor eps keep rest\n"  # of such samples: mean += rest * sqrt(var) * mean of the batch; var = keep * var + rest * (va * var + eps)  # in norm
    b"127 affine_i8 q=mul[N] b=i32[N] gamma:i32[N] beta:i32[N] sy:i32 ; N\n"  # q[n] = gamma[n] * 2^-24 / sy; b[n] = beta[n] * 2^-12 / sy  # in norm
    b"131 affine_dx_i8 dx=i8[M*N] peak+i32 e:i8[M*N] st:i32[N*2] gamma:i32[N] se:i32 sx:i32 sdx:i32 ; M N factor\n"  # dx = clamp(factor * se / (sx * sdx) / deviation[n] * e * gamma[n])  # in norm
    b"139 affine_dx_f32 dx=f32[M*N]~e e:f32[M*N] st:f32[N*2] gamma:f32[N] ; M N\n"  # dx = e * gamma[n] / deviation[n]  # in f32_more
    b"128 norm_i8 y=i8[M*S*G*C] peak+i32 x:i8[M*S*G*C] st:i32[M*G*2] q:mul[G*C] b:i32[G*C] ; M S' G C zx zy lo\n"  # y = clamp(zy + (q[n] * h + b[n]) / 256), h = (x - zx - mean) * 4096 / deviation  # in norm; cost as norm_stats_i8
    b"129 norm_dw_i8 dw=i32[G*C] e:i8[M*S*G*C] x:i8[M*S*G*C] st:i32[M*G*2] ; M S' G C zx bits\n"  # dw[n] = sum_(m,s) e * (x - zx - mean) * 2^bits / deviation  # in norm; cost 1 G*C M*G M*S*G*C
    b"130 norm_dx_i8 dx=i8[M*S*G*C] peak+i32 e:i8[M*S*G*C] x:i8[M*S*G*C] st:i32[M*G*2] gamma:i32[G*C] se:i32 sx:i32 sdx:i32 c: ; M S' G C zx factor rows id F\n"  # dx = clamp(factor * se / (sx * sdx) / deviation * (g - mean(g) - h * mean(g * h))), g = e * gamma, rounded at random  # in norm; cost 1 G*C M*G M*S M*S*G*C
    b"136 norm_f32 y=f32[M*S*G*C]~x x:f32[M*S*G*C] st:f32[M*G*2] gamma:f32[G*C] beta:f32[G*C] ; M S' G C relu\n"  # y = (x - mean) / deviation * gamma[n] + beta[n]  # in f32_more; cost as norm_stats_i8
    b"137 norm_dw_f32 dw=f32[G*C] e:f32[M*S*G*C] x:f32[M*S*G*C] st:f32[M*G*2] ; M S' G C\n"  # dw[n] = sum_(m,s) e * (x - mean) / deviation  # in f32_more; cost as norm_dw_i8
    b"138 norm_dx_f32 dx=f32[M*S*G*C]~e e:f32[M*S*G*C] x:f32[M*S*G*C] st:f32[M*G*2] gamma:f32[G*C] c: ; M S' G C rows\n"  # dx = (g - mean(g) - h * mean(g * h)) / deviation, g = e * gamma[n], h = (x - mean) / deviation  # in f32_more; cost as norm_dx_i8
    b"163 gather_norm_i8 y=i8[B*S*C] peak+i32 c: x:buf s:i32 mean:i32[C] var:i32[C] ; B S C z\n"  # y[b] = clamp(z + (x[order(b)] - mean[c]) / sqrt(var[c]) / s)  # in norm; cost 1 B B*S*C
    b"164 gather_norm_f32 y=f32[B*S*C] c: x:buf mean:f32[C] var:f32[C] ; B S C\n"  # y[b] = (x[order(b)] - mean[c]) / sqrt(var[c])  # in f32; cost 1 B B*S*C
    # dropout: outputs set to 0 at random, and their errors
    b"109 dropout_i8 y=i8[B*N]~x sy=i32 x:i8[B*N] sx:i32 h:i32[4] c+ ; B N z id drop factor\n"  # while KEY is not 0: y = z with probability drop, else x; sy = factor * sx / (1 - drop)  # in more
    b"110 dropout_dx_i8 dx=i8[B*N]~e e:i8[B*N] c: ; B N id drop\n"  # dx = 0 where dropout_i8 dropped, else e  # in more
    b"111 dropout_f32 y=f32[B*N]~x x:f32[B*N] h:i32[4] c+ ; B N id drop\n"  # while KEY is not 0: y = 0 with probability drop, else x / (1 - drop)  # in f32_more
    b"112 dropout_dx_f32 dx=f32[B*N]~e e:f32[B*N] c: ; B N id drop\n"  # dx = 0 where dropout_f32 dropped, else e / (1 - drop)  # in f32_more
    # sampling: a variational autoencoder's random outputs, and how far they are from normal ones
    b"176 sampling_i8 y=i8[B*N] peak+i32 x:i8[B*2*N] sx:i32 sy:i32 h:i32[4] c+ ; B N z id factor\n"  # y = clamp((mu + exp(v / 2) * g) / sy), (mu, v) = factor * sx * (x - z); g = normal numbers while KEY is not 0, else 0  # in rare
    b"177 divergence_i8 sk=i32 c+ x:i8[B*2*N] sx:i32 so:i32 h:i32[4] ; B N z factor beta warmup unit free degree width\n"  # D = max(free, (mu^2 + exp(v) - v - 1) / 2); LOSS += rise * beta * sum D / (unit * (so / 256)^degree); sk = rise * beta / (width * COUNT), rise = min(1, (t + 1) / warmup)  # in rare
    b"178 sampling_dx_i8 dx=i8[B*2*N] peak+i32 e:i8[B*N] x:i8[B*2*N] se:i32 sk:i32 sx:i32 sdx:i32 c: ; B N z id factor error free\n"  # dx = clamp((e' + k * mu, (e' * exp(v / 2) * g + k * (exp(v) - 1)) / 2) / sdx), e' = error * se * e; k = sk, 0 where D is below free  # in rare
    b"179 sampling_f32 y=f32[B*N] x:f32[B*2*N] h:i32[4] c+ ; B N id\n"  # y = mu + exp(v / 2) * g, (mu, v) = x; g as in sampling_i8  # in f32_more
    b"180 divergence_f32 sk=f32 c+ x:f32[B*2*N] h:i32[4] ; B N beta warmup free width\n"  # D, sk as in divergence_i8; LOSS += rise * beta * sum D  # in f32_more
    b"181 sampling_dx_f32 dx=f32[B*2*N] e:f32[B*N] x:f32[B*2*N] sk:f32 c: ; B N id free\n"  # dx = (e + k * mu, (e * exp(v / 2) * g + k * (exp(v) - 1)) / 2), k as in sampling_dx_i8  # in f32_more
    # loss: the error of the output, and the loss
    b"28 softmax_xent_i8 e=i8[B*N]~x se=i32 c+ labels:buf x:i8[B*N] sx:i32 ; B N z\n"  # e = 127 * (softmax(sx * x) - onehot); se = 1 / (127 * COUNT)  # in base; cost 1 B B*N
    b"55 softmax_xent_f32 e=f32[B*N]~x c+ labels:buf x:f32[B*N] ; B N\n"  # e = (softmax(x) - onehot) / COUNT  # in f32; cost as softmax_xent_i8
    b"119 weighted_xent_i8 e=i8[B*N]~x se=i32 c+ labels:buf x:i8[B*N] sx:i32 weights:i16[N] ; B N smooth id\n"  # e = 127 * (softmax(sx * x) * sum_n t - t) / top, t = weights * ((1 - smooth) * onehot + smooth / N), rounded at random; top = the largest in magnitude where weights differ, else the largest sum_n t; se = top / (127 * sum of weights[label])  # in more; cost 1 B B*N
    b"120 weighted_xent_f32 e=f32[B*N]~x c+ labels:buf x:f32[B*N] weights:f32[N] ; B N smooth\n"  # e = (softmax(x) * sum_n t - t) / sum of weights[label], t as in weighted_xent_i8  # in f32_more; cost 1 B B*N
    b"113 binary_xent_i8 e=i8[B*N]~x se=i32 c+ target:buf x:i8[B*N] sx:i32 ; B N z\n"  # e = 127 * (sigmoid(sx * (x - z)) - target); se = 1 / (127 * N * COUNT)  # in base
    b"114 binary_xent_f32 e=f32[B*N]~x c+ target:buf x:f32[B*N] ; B N\n"  # e = (sigmoid(x) - target) / (N * COUNT)  # in f32
    b"29 mse_i8 e=i8[B*N]~x so=i32 peak+i32 c+ target:buf x:i8[B*N] sx:i32 se:i32 ; B N z\n"  # e = (sx * (x - z) - target) / se; so = 2 * se / (N * COUNT)  # in base
    b"56 mse_f32 e=f32[B*N]~x c+ target:buf x:f32[B*N] ; B N\n"  # e = 2 * (x - target) / (N * COUNT)  # in f32
    b"115 mae_i8 e=i8[B*N]~x se=i32 c+ target:buf x:i8[B*N] sx:i32 ; B N z\n"  # e = 127 * sign(sx * (x - z) - target); se = 1 / (127 * N * COUNT)  # in more; cost 1 B B*N
    b"116 mae_f32 e=f32[B*N]~x c+ target:buf x:f32[B*N] ; B N\n"  # e = sign(x - target) / (N * COUNT)  # in f32_more; cost 1 B B*N
    b"117 huber_i8 e=i8[B*N] so=i32 peak+i32 c+ target:buf x:i8[B*N] sx:i32 se:i32 ; B N z delta\n"  # e = min(max(sx * (x - z) - target, -delta), delta) / se; so = se / (N * COUNT)  # in more; cost 1 B B*N
    b"118 huber_f32 e=f32[B*N]~x c+ target:buf x:f32[B*N] ; B N delta\n"  # e = min(max(x - target, -delta), delta) / (N * COUNT)  # in f32_more; cost 1 B B*N
    b"187 distil_xent_i8 e=i8[B*N]~x se=i32 c+ labels:buf x:i8[B*N] sx:i32 ; B N z alpha\n"  # as softmax_xent_i8; of rows that have logits L, too (Y_ZERO is 1): e += 127 * 2 * a * (sx * (x - z) - L / 4), a = alpha / 65536  # in own
    b"188 distil_xent_f32 e=f32[B*N]~x c+ labels:buf x:f32[B*N] ; B N alpha\n"  # as softmax_xent_f32; of rows that have logits L: e += 2 * alpha * (x - L / 4) / COUNT  # in f32_more
    b"189 entropy_i8 e=i8[B*N] so=i32 sums=i32[N] peak+i32 c+ labels:buf x:i8[B*N] sx:i32 se:i32 ; B N diversity\n"  # e = p * (a - sum_n p * a) / se, p = softmax(sx * x), a = diversity * log(mean p over the rows) - log(p); so = se / COUNT; LOSS += -sum p * log(p)  # in own
    b"190 entropy_f32 e=f32[B*N]~x sums=f32[N] c+ labels:buf x:f32[B*N] ; B N diversity\n"  # e = p * (a - sum_n p * a) / COUNT, p, a, LOSS as in entropy_i8  # in f32_more
    # update: from gradients to weights: optimizers and decay
    b"30 momentum_i16 d+i32[N*K] ds=i32[N] v+i16[N*K] ex+i8[N] gs:i32 c: ; N K factor id mu at\n"  # v = mu * v + d * factor * gs; d = v  # in base; rows after; cost 1 N N*K N*R R*K
    b"32 momentum_i32 d+i32[N*K] ds=i32[N] v+f32[N*K] gs:i32 ; N K factor mu\n"  # as momentum_i16 with v in float32  # in f32; cost as momentum_i16
    b"57 momentum_f32 d+f32[N] v+f32[N] ; N mu\n"  # v = mu * v + d; d = v  # in f32; cost as momentum_i16
    b"93 nesterov_i16 d+i32[N*K] ds=i32[N] v+i16[N*K] ex+i8[N] gs:i32 c: ; N K factor id mu at\n"  # v = mu * v + d * factor * gs; d = d * factor * gs + mu * v  # in base; rows after; cost as momentum_i16
    b"92 nesterov_f32 d+f32[N] v+f32[N] ; N mu\n"  # v = mu * v + d; d = d + mu * v  # in f32; cost as momentum_i16
    b"94 nesterov_i32 d+i32[N*K] ds=i32[N] v+f32[N*K] gs:i32 ; N K factor mu\n"  # as nesterov_i16 with v in float32  # in f32; cost as momentum_i16
    b"31 adam_i16 d+i32[N*K] ds=i32[N] m+i16[N*K] v+i16[N*K] ex+i8[N] gs:i32 c: ; N K factor id c1 r2 rc2 at\n"  # m += (g - m) * (1 - beta1); v = sqrt(beta2 * v^2 + (1 - beta2) * g^2); d = m / v  # in base; rows after; cost 1 N N*K R R*K
    b"161 adam_i8 w+i8[N*K] r+i8[N*K] sw+i32[N] limited+i32 m+i16[R*K] v+i16[R*K] ex+i8[R] d:i32[R*K] gs:i32 rate:i32 c: ; N K factor id c1 r2 rc2 common at R\n"  # adam_i16 and w -= rate * d / sw[n] in one  # in base; cost as adam_i16
    b"33 adam_i32 d+i32[N*K] ds=i32[N] m+f32[N*K] v+f32[N*K] gs:i32 rate:i32[2] ; N K factor b1 c1 b2 c2 eps\n"  # as adam_i16 with m and v in float32  # in f32; cost as adam_i16
    b"58 adam_f32 d+f32[N] m+f32[N] v+f32[N] rate:i32[2] ; N b1 c1 b2 c2 eps\n"  # m += (d - m) * (1 - beta1); v = beta2 * v + (1 - beta2) * d^2; d = m / (sqrt(v) + eps * rate[1])  # in f32; cost as adam_i16
    b"34 plain_i32 ds=i32[N] gs:i32 ; N factor\n"  # ds[n] = factor * gs  # in base; rows after; updates
    b"89 decay_f32 w+f32[N] c: ; N decay\n"  # w -= RATE * decay * w  # in f32
    b"90 decay_i8 w+i8[N] r+i8[N] c: ; N decay id\n"  # the same of 256 * w + r  # in more
    b"91 decay_i32 b+i32[N] c: ; N decay id\n"  # b -= RATE * decay * b  # in more
    b"35 apply_i8 w+i8[N*K] r+i8[N*K] sw+i32[N] limited+i32 d:i32[R*K] ds:i32[R] rate:i32 c: ; N K id common at R\n"  # w -= rate * ds[n] * d / sw[n]  # in base; cost as adam_i16
    b"36 apply_i32 b+i32[N] d:i32[N] ds:i32 rate:i32 ; N\n"  # b -= rate * ds * d * 2^20  # in base; rows after; cost as adam_i16
    b"59 apply_f32 w+f32[N] d:f32[N] rate:i32 ; N\n"  # w -= rate * d  # in f32; cost as adam_i16
    b"154 settle_i8 w+i8[N*K] r+i8[N*K] sw+i32[N] limited:i32 ; N K\n"  # w in a scale twice as large, where a row has outgrown it  # in base
    b"165 passed_i8 m+i32[6] k+i32 c+ ; which\n"  # while KEY is above 1: m = sums of LOSS of the passes with w + e z, with w - e z; LOSS and CORRECT as before plus the mean of both passes  # in rare
    b"166 passed_f32 m+f32[3] k+i32 c+ ; which\n"  # the same  # in f32_more
    b"167 slope_i8 g=i32[2] m:i32[6] so:i32 c: ; B factor degree sign\n"  # g = RATE * factor * so^degree * abs(D) / COUNT, sign(D), D = m[0] - m[1]; with sign: RATE * factor, sign(D)  # in rare
    b"168 slope_f32 g=f32 m:f32[3] c: ; B factor sign\n"  # g = RATE * factor * D / COUNT, D = m[0] - m[1]; with sign: RATE * factor * sign(D)  # in f32_more
    b"169 room_i8 w+i8[N*K] r+i8[N*K] sw+i32[N] c: ; N K epsilon common\n"  # w in a scale twice as large, where perturb_i8 would pass 127  # in rare
    b"170 perturb_i8 w+i8[N*K] sw:i32[N] c: ; N K id epsilon back\n"  # while KEY is above 1: w += z * max(1, epsilon / sw[n]); back: -=  # in rare
    b"171 perturb_i32 b+i32[N] c: ; N id epsilon\n"  # while KEY is above 1: b += z * epsilon  # in rare
    b"172 perturb_f32 w+f32[N] c: ; N id epsilon\n"  # while KEY is above 1: w += z * epsilon  # in f32_more
    b"173 walk_i8 w+i8[N*K] r+i8[N*K] sw+i32[N] g:i32[2] c: ; N K id common\n"  # w -= g * z / sw[n]  # in rare
    b"174 walk_i32 b+i32[N] g:i32[2] c: ; N id\n"  # b -= g * z * 2^20  # in rare
    b"175 walk_f32 w+f32[N] g:f32 c: ; N id\n"  # w -= g * z  # in f32_more
    # dynamic: the choice of what trains, and tensors of these rows alone
    b"148 relative_i8 ratio=i32 largest+i32 e:i8[N] se:i32 c: ; N\n"  # ratio = 2^16 * sum |e| / the largest sum so far  # in rare
    b"149 relative_f32 ratio=i32 largest+f32 e:f32[N] c: ; N\n"  # the same  # in f32_more
    b"150 rank_i8 count=i32 rows=i32[R] sums=i32[N] e:i8[M*N] ratio:i32 ; M N R low high\n"  # rows = the count columns of largest sum |e|; count = (low + ratio * (high - low)) * N  # in rare
    b"151 rank_f32 count=i32 rows=i32[R] sums=f32[N] e:f32[M*N] ratio:i32 ; M N R low high\n"  # the same  # in f32_more
    b"152 pick y=i8[M*R*U] x:i8[M*N*U] count:i32 rows:i32[R] ; M N R U\n"  # y[m, j] = x[m, rows[j]], elements of U bytes, count of them a row  # in rare
    b"153 put y=i8[M*N*U] x:i8[M*R*U] count:i32 rows:i32[R] ; M N R U\n"  # y[m, rows[j]] = x[m, j], the others 0  # in rare
    b"146 few count:i32 ; R mask\n"  # prefix: sizes of the next instruction that mask names, times count / R  # in base
    b"147 each count:i32 rows:i32[R] ; N R which place\n"  # prefix: the next instruction for each of count rows of N  # in base
    b"159 fisher_i8 total+i32[N] e:i8[B*S*N] y:i8[B*S*N] se:i32 sy:i32 ; B S N z factor\n"  # total[n] += sum_b (factor * se * sy * sum_s e * (y - z))^2, as scales; 0 is none  # in rare
    b"160 fisher_f32 total+f32[N] e:f32[B*S*N] y:f32[B*S*N] ; B S N\n"  # total[n] += sum_b (sum_s e * y)^2  # in f32_more
)

PREFIXES = ("few", "each")


class Opcode:
    """One instruction's declaration, decoded from its line of TABLE, ``text`` being the line from the name on.

    ``operands`` is a tuple of ``(name, access, dtype, extent, shares)`` with access one of
    ``"=:+"``, extent a tuple of immediates' names and ints, shares the name of the operand whose
    memory it may take or None. ``immediates`` is a tuple of names; ``rows`` the indices of those that count rows.
    """

    def __init__(self, number, text):
        head, tail = text.split(";")
        words = head.split()
        self.number = number
        self.name = words[0]
        self.operands = tuple([_operand(word) for word in words[1:]])
        names = tail.replace("@", WINDOW).split()
        self.rows = tuple([i for i in range(len(names)) if names[i] in "BM" or names[i].endswith("'")])
        self.immediates = tuple([name.rstrip("'") for name in names])
        self.words = 1 + len(self.operands) + len(self.immediates)

    def bytes(self, index, sizes):
        """Bytes of operand ``index`` for immediates given as a mapping."""
        _, _, dtype, extent, _ = self.operands[index]
        count = SIZES[dtype]
        for factor in extent:
            count *= factor if isinstance(factor, int) else sizes[factor]
        return count


def _operand(word):
    for access in "=:+":
        at = word.find(access)
        if at > 0:
            break
    name = word[:at]
    word, _, shares = (word[at + 1 :] or "i32[16]").partition("~")
    dtype, _, extent = word.partition("[")
    factors = extent[:-1].split("*") if extent else () if dtype == "buf" else "1"
    factors = tuple([int(f) if f.isdigit() else f for f in factors])  # f[0] would be interned for good
    return name, access, dtype, factors, shares or None


def line(key):
    """(number, line of TABLE from the name on) of an instruction's name or number; ValueError when there is none.

    Where it is in TABLE stands in lines.py: to look through TABLE takes a Cortex-M0+ half a million cycles. The
    tables of capabilities, which are short, are looked through, of those first that are loaded.
    """
    if isinstance(key, int):
        numbers = (key,) if 0 < key <= len(AT) // 2 else ()
        start = b""
    else:
        length = len(key)
        numbers = BY_LENGTH[ENDS[length - 1] : ENDS[length]] if 0 < length < len(ENDS) else ()
        start = key.encode() + b" "
    for number in numbers:
        at = AT[2 * number - 2] | AT[2 * number - 1] << 8
        if at and TABLE.startswith(start, at):
            return number, TABLE[at : TABLE.find(b"\n", at)]
    start = ("\n%d " % key if isinstance(key, int) else " %s " % key).encode()
    for loaded in (True, False):
        for name in ("recurrent", "attention", "embedding", "adapt"):
            if ("odt." + name in sys.modules) == loaded:
                try:
                    table = __import__("odt." + name + ".instructions", None, None, ("*",)).TABLE
                except ImportError:
                    continue
                at = table.find(start)
                if at >= 0:
                    first = table.rfind(b"\n", 0, at + 1) + 1
                    at = table.find(b" ", first) + 1
                    return int(table[first : at - 1]), table[at : table.find(b"\n", at)]
    raise ValueError("no instruction %r in instruction set %d" % (key, VERSION))


def opcode(key):
    """The Opcode of a name or a number; ValueError when there is none.

    Decoded once and kept: a program of a board's size uses a dozen or two. In two dicts, as a heap in pieces has no
    room for one; they are replaced, never changed, as another thread may be reading them and MicroPython has no GIL.
    """
    global _names, _numbers
    decoded = (_numbers if isinstance(key, int) else _names).get(key)
    if decoded is None:
        number, text = line(key)
        decoded = Opcode(number, str(text, "ascii"))
        names, numbers = _names.copy(), _numbers.copy()
        names[decoded.name] = numbers[decoded.number] = decoded
        _names, _numbers = names, numbers
    return decoded


def forget():
    """Free the decoded lines; they come back when they are needed."""
    _names.clear()  # new ones would lie in the middle of a board's heap
    _numbers.clear()


_names, _numbers = {}, {}
