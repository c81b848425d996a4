// Generated from odt/base/opcodes.py by odt/host/generate.py; after a change there: make generate.
//
// The instruction set: constants, numbers, and each kernel's arguments and prototype. A kernel
// takes a pointer to its operands (const when it only reads them) and then its immediates.

#ifndef ODT_OPCODES_H
#define ODT_OPCODES_H

#include "odt.h"

#define ODT_VERSION 4
#define ODT_POSITION 0
#define ODT_COUNT 1
#define ODT_SAMPLES 2
#define ODT_ORDER 3
#define ODT_RATE 4
#define ODT_X_FORMAT 5
#define ODT_X_SCALE 6
#define ODT_X_ZERO 7
#define ODT_Y_FORMAT 8
#define ODT_Y_SCALE 9
#define ODT_Y_ZERO 10
#define ODT_LOSS 11
#define ODT_LOSS_HIGH 12
#define ODT_CORRECT 13
#define ODT_KEY 14
#define ODT_BATCH 15
#define ODT_DONE 16
#define ODT_CONTROL_WORDS 17
#define ODT_ARENA 0
#define ODT_STATE 1
#define ODT_CONTROL 2
#define ODT_X_DATA 3
#define ODT_Y_DATA 4
#define ODT_CONSTANTS 5
#define ODT_REGIONS 6
#define ODT_REGION_SHIFT 26
#define ODT_INT8 0
#define ODT_UINT8 1
#define ODT_INT16 2
#define ODT_INT32 3
#define ODT_FLOAT32 4
#define ODT_UINT16 5
#define ODT_DEFAULT_LIMIT 0x3ffffff

#define ODT_OPCODES 215
#define ODT_MAX_OPERANDS 15
#define ODT_MAX_IMMEDIATES 19
#define ODT_SHAPES (3621 - (ODT_OUTSIDE & 0x20 ? 513 : 0) - (ODT_OUTSIDE & 0x100 ? 666 : 0) - (ODT_OUTSIDE & 0x200 ? \
    105 : 0) - (ODT_OUTSIDE & 0x400 ? 39 : 0) - (ODT_OUTSIDE & 0x800 ? 35 : 0) - (ODT_OUTSIDE & 0x1000 ? 6 : 0) - \
    (ODT_OUTSIDE & 0x2000 ? 145 : 0) - (ODT_OUTSIDE & 0x4000 ? 75 : 0) - (ODT_OUTSIDE & 0x8000 ? 107 : 0) - \
    (ODT_OUTSIDE & 0x10000 ? 79 : 0) - (ODT_OUTSIDE & 0x20000 ? 28 : 0) - (ODT_OUTSIDE & 0x40000 ? 28 : 0))

// The files of the kernels for stock firmware (odt/host/release/pieces.py).
#define ODT_PIECES 19
#define ODT_PIECE_NAMES(X) \
    X("_odt") \
    X("_odt_conv") \
    X("_odt_depth") \
    X("_odt_norm") \
    X("_odt_more") \
    X("_odt_rare") \
    X("_odt_f32") \
    X("_odt_f32_conv") \
    X("_odt_f32_more") \
    X("_odt_import") \
    X("_odt_own") \
    X("_odt_curve") \
    X("_odt_packed") \
    X("_odt_recurrent") \
    X("_odt_f32_recurrent") \
    X("_odt_attention") \
    X("_odt_f32_attention") \
    X("_odt_embedding") \
    X("_odt_f32_embedding")
#define ODT_STAMP 0x3073d7f3

// Pieces that a firmware without a capability leaves to files (odt/host/boards/capabilities.py), a bit each.
#ifdef ODT_WITHOUT_attention
#define ODT_OUTSIDE_attention 0x18000
#else
#define ODT_OUTSIDE_attention 0
#endif
#ifdef ODT_WITHOUT_continual
#define ODT_OUTSIDE_continual 0x400
#else
#define ODT_OUTSIDE_continual 0
#endif
#ifdef ODT_WITHOUT_embedding
#define ODT_OUTSIDE_embedding 0x60000
#else
#define ODT_OUTSIDE_embedding 0
#endif
#ifdef ODT_WITHOUT_kernels
#define ODT_OUTSIDE_kernels 0x1b20
#else
#define ODT_OUTSIDE_kernels 0
#endif
#ifdef ODT_WITHOUT_recurrent
#define ODT_OUTSIDE_recurrent 0x6000
#else
#define ODT_OUTSIDE_recurrent 0
#endif
#define ODT_OUTSIDE (ODT_OUTSIDE_attention | ODT_OUTSIDE_continual | ODT_OUTSIDE_embedding | ODT_OUTSIDE_kernels | \
    ODT_OUTSIDE_recurrent)

// No range depends on these: gradients of weights, and updates in the arena (odt/host/traits/).
#define ODT_LEFT_OUT case ODT_DENSE_DW_I8: case ODT_BIAS_DW_I8: case ODT_CONV2D_DW_I8: case ODT_DEPTHWISE2D_DW_I8: \
    case ODT_GROUP_CONV2D_DW_I8: case ODT_TRANSPOSED2D_DW_I8: case ODT_NORM_DW_I8: case ODT_PLAIN_I32: case \
    ODT_EMBED_DW_I8:

enum {
    ODT_CLEAR = 1,
    ODT_TICK = 2,
    ODT_GATHER_I8 = 3,
    ODT_RESCALE = 4,
    ODT_RATIO = 5,
    ODT_RESCALE_DX = 6,
    ODT_PRODUCT = 7,
    ODT_BIAS_I8 = 8,
    ODT_RANGE_I8 = 9,
    ODT_DENSE_I8 = 10,
    ODT_DENSE_DX_I8 = 11,
    ODT_DENSE_DW_I8 = 12,
    ODT_BIAS_DW_I8 = 13,
    ODT_CHANNEL_SCALE_I8 = 14,
    ODT_CONV2D_I8 = 15,
    ODT_CONV2D_DX_I8 = 16,
    ODT_CONV2D_DW_I8 = 17,
    ODT_DEPTHWISE2D_I8 = 18,
    ODT_DEPTHWISE2D_DX_I8 = 19,
    ODT_DEPTHWISE2D_DW_I8 = 20,
    ODT_RELU_I8 = 21,
    ODT_RELU_DX_I8 = 22,
    ODT_MAXPOOL2D_I8 = 23,
    ODT_UNPOOL2D_I8 = 24,
    ODT_GLOBALAVG_I8 = 25,
    ODT_GLOBALAVG_DX_I8 = 26,
    ODT_ADD_I8 = 27,
    ODT_SOFTMAX_XENT_I8 = 28,
    ODT_MSE_I8 = 29,
    ODT_MOMENTUM_I16 = 30,
    ODT_ADAM_I16 = 31,
    ODT_MOMENTUM_I32 = 32,
    ODT_ADAM_I32 = 33,
    ODT_PLAIN_I32 = 34,
    ODT_APPLY_I8 = 35,
    ODT_APPLY_I32 = 36,
    ODT_GATHER_F32 = 37,
    ODT_DENSE_F32 = 38,
    ODT_DENSE_DX_F32 = 39,
    ODT_DENSE_DW_F32 = 40,
    ODT_BIAS_DW_F32 = 41,
    ODT_CONV2D_F32 = 42,
    ODT_CONV2D_DX_F32 = 43,
    ODT_CONV2D_DW_F32 = 44,
    ODT_DEPTHWISE2D_F32 = 45,
    ODT_DEPTHWISE2D_DX_F32 = 46,
    ODT_DEPTHWISE2D_DW_F32 = 47,
    ODT_RELU_F32 = 48,
    ODT_RELU_DX_F32 = 49,
    ODT_MAXPOOL2D_F32 = 50,
    ODT_UNPOOL2D_F32 = 51,
    ODT_GLOBALAVG_F32 = 52,
    ODT_GLOBALAVG_DX_F32 = 53,
    ODT_ADD_F32 = 54,
    ODT_SOFTMAX_XENT_F32 = 55,
    ODT_MSE_F32 = 56,
    ODT_MOMENTUM_F32 = 57,
    ODT_ADAM_F32 = 58,
    ODT_APPLY_F32 = 59,
    ODT_CONCAT_I8 = 60,
    ODT_PLACE = 61,
    ODT_SLICE = 62,
    ODT_MULTIPLY_I8 = 63,
    ODT_MULTIPLY_F32 = 64,
    ODT_AVGPOOL2D_I8 = 65,
    ODT_AVGPOOL2D_DX_I8 = 66,
    ODT_AVGPOOL2D_F32 = 67,
    ODT_AVGPOOL2D_DX_F32 = 68,
    ODT_UPSAMPLE2D = 69,
    ODT_UPSAMPLE2D_DX_I8 = 70,
    ODT_UPSAMPLE2D_DX_F32 = 71,
    ODT_RELU6_DX_I8 = 72,
    ODT_RELU6_F32 = 73,
    ODT_RELU6_DX_F32 = 74,
    ODT_LEAKY_RELU_I8 = 75,
    ODT_LEAKY_RELU_DX_I8 = 76,
    ODT_LEAKY_RELU_F32 = 77,
    ODT_LEAKY_RELU_DX_F32 = 78,
    ODT_SIGMOID_I8 = 79,
    ODT_SIGMOID_DX_I8 = 80,
    ODT_SIGMOID_F32 = 81,
    ODT_SIGMOID_DX_F32 = 82,
    ODT_TANH_F32 = 83,
    ODT_TANH_DX_F32 = 84,
    ODT_SOFTMAX_I8 = 85,
    ODT_SOFTMAX_DX_I8 = 86,
    ODT_SOFTMAX_F32 = 87,
    ODT_SOFTMAX_DX_F32 = 88,
    ODT_DECAY_F32 = 89,
    ODT_DECAY_I8 = 90,
    ODT_DECAY_I32 = 91,
    ODT_NESTEROV_F32 = 92,
    ODT_NESTEROV_I16 = 93,
    ODT_NESTEROV_I32 = 94,
    ODT_ACCUMULATE_I32 = 95,
    ODT_ACCUMULATE_F32 = 96,
    ODT_GROUP_CONV2D_I8 = 97,
    ODT_GROUP_CONV2D_DX_I8 = 98,
    ODT_GROUP_CONV2D_DW_I8 = 99,
    ODT_GROUP_CONV2D_F32 = 100,
    ODT_GROUP_CONV2D_DX_F32 = 101,
    ODT_GROUP_CONV2D_DW_F32 = 102,
    ODT_TRANSPOSED2D_I8 = 103,
    ODT_TRANSPOSED2D_DX_I8 = 104,
    ODT_TRANSPOSED2D_DW_I8 = 105,
    ODT_TRANSPOSED2D_F32 = 106,
    ODT_TRANSPOSED2D_DX_F32 = 107,
    ODT_TRANSPOSED2D_DW_F32 = 108,
    ODT_DROPOUT_I8 = 109,
    ODT_DROPOUT_DX_I8 = 110,
    ODT_DROPOUT_F32 = 111,
    ODT_DROPOUT_DX_F32 = 112,
    ODT_BINARY_XENT_I8 = 113,
    ODT_BINARY_XENT_F32 = 114,
    ODT_MAE_I8 = 115,
    ODT_MAE_F32 = 116,
    ODT_HUBER_I8 = 117,
    ODT_HUBER_F32 = 118,
    ODT_WEIGHTED_XENT_I8 = 119,
    ODT_WEIGHTED_XENT_F32 = 120,
    ODT_MAXPOOL2D_CHOICE_I8 = 121,
    ODT_MAXPOOL2D_CHOICE_F32 = 122,
    ODT_NORM_STATS_I8 = 123,
    ODT_BATCH_STATS_I8 = 124,
    ODT_RUNNING_STATS_I8 = 125,
    ODT_TRACK_I8 = 126,
    ODT_AFFINE_I8 = 127,
    ODT_NORM_I8 = 128,
    ODT_NORM_DW_I8 = 129,
    ODT_NORM_DX_I8 = 130,
    ODT_AFFINE_DX_I8 = 131,
    ODT_NORM_STATS_F32 = 132,
    ODT_BATCH_STATS_F32 = 133,
    ODT_RUNNING_STATS_F32 = 134,
    ODT_TRACK_F32 = 135,
    ODT_NORM_F32 = 136,
    ODT_NORM_DW_F32 = 137,
    ODT_NORM_DX_F32 = 138,
    ODT_AFFINE_DX_F32 = 139,
    ODT_SQUARES_I32 = 140,
    ODT_CLIP_I32 = 141,
    ODT_SQUARES_F32 = 142,
    ODT_CLIP_F32 = 143,
    ODT_SCALE_F32 = 144,
    ODT_STEP_KEY = 145,
    ODT_FEW = 146,
    ODT_EACH = 147,
    ODT_RELATIVE_I8 = 148,
    ODT_RELATIVE_F32 = 149,
    ODT_RANK_I8 = 150,
    ODT_RANK_F32 = 151,
    ODT_PICK = 152,
    ODT_PUT = 153,
    ODT_SETTLE_I8 = 154,
    ODT_OPEN_I8 = 155,
    ODT_OPEN_F32 = 156,
    ODT_MASKED_I8 = 157,
    ODT_MASKED_F32 = 158,
    ODT_FISHER_I8 = 159,
    ODT_FISHER_F32 = 160,
    ODT_ADAM_I8 = 161,
    ODT_RANGE_X_I8 = 162,
    ODT_GATHER_NORM_I8 = 163,
    ODT_GATHER_NORM_F32 = 164,
    ODT_PASSED_I8 = 165,
    ODT_PASSED_F32 = 166,
    ODT_SLOPE_I8 = 167,
    ODT_SLOPE_F32 = 168,
    ODT_ROOM_I8 = 169,
    ODT_PERTURB_I8 = 170,
    ODT_PERTURB_I32 = 171,
    ODT_PERTURB_F32 = 172,
    ODT_WALK_I8 = 173,
    ODT_WALK_I32 = 174,
    ODT_WALK_F32 = 175,
    ODT_SAMPLING_I8 = 176,
    ODT_DIVERGENCE_I8 = 177,
    ODT_SAMPLING_DX_I8 = 178,
    ODT_SAMPLING_F32 = 179,
    ODT_DIVERGENCE_F32 = 180,
    ODT_SAMPLING_DX_F32 = 181,
    ODT_READ_STATS_I8 = 182,
    ODT_TRACK_READ_I8 = 183,
    ODT_MEAN2D_I8 = 184,
    ODT_ADD_ONCE_I8 = 185,
    ODT_LOOKUP_I8 = 186,
    ODT_DISTIL_XENT_I8 = 187,
    ODT_DISTIL_XENT_F32 = 188,
    ODT_ENTROPY_I8 = 189,
    ODT_ENTROPY_F32 = 190,
    ODT_SPACE_TO_BATCH = 191,
    ODT_BATCH_TO_SPACE = 192,
    ODT_CURVE_I8 = 193,
    ODT_CURVE_DX_I8 = 194,
    ODT_CURVE_F32 = 195,
    ODT_CURVE_DX_F32 = 196,
    ODT_UNPACK_I4 = 197,
    ODT_RECUR_I8 = 198,
    ODT_RECUR_DX_I8 = 199,
    ODT_RECUR_F32 = 200,
    ODT_RECUR_DX_F32 = 201,
    ODT_ATTEND_I8 = 202,
    ODT_ATTEND_DX_I8 = 203,
    ODT_MIX_I8 = 204,
    ODT_OFFSET_I8 = 205,
    ODT_ATTEND_F32 = 206,
    ODT_ATTEND_DX_F32 = 207,
    ODT_MIX_F32 = 208,
    ODT_OFFSET_F32 = 209,
    ODT_EMBED_I8 = 210,
    ODT_EMBED_DW_I8 = 211,
    ODT_EMBED_F32 = 212,
    ODT_EMBED_DW_F32 = 213,
    ODT_ROUND_I8 = 214,
    ODT_RECUR_ON_I8 = 215,
};

// y = 0
typedef struct {
    int32_t *y; // [N]
    int32_t N;
} odt_clear_t;
void odt_clear(const odt_clear_t *a);

// t += 1; KEY = hash(seed, t); rate = RATE * sqrt(1 - beta2^t) / (1 - beta1^t), sqrt(1 - beta2^t)
typedef struct {
    int32_t *rate; // [2]
    int32_t *h; // [4]
    int32_t *c; // [16]
    int32_t beta1, beta2;
} odt_tick_t;
void odt_tick(const odt_tick_t *a);

// y[b] = clamp(z + x[order(b)] / s)
typedef struct {
    int8_t *y; // [B][F]
    int32_t *peak; // [1]
    const int32_t *c; // [16]
    const odt_region_t *x; // a region
    const int32_t *s; // [1]
    int32_t B, F, z;
} odt_gather_i8_t;
void odt_gather_i8(const odt_gather_i8_t *a);

// q[n] = factor * sx * sw[n] / sy
typedef struct {
    odt_multiplier_t *q; // [N]
    const int32_t *sx; // [1]
    const int32_t *sw; // [N]
    const int32_t *sy; // [1]
    int32_t N, factor;
} odt_rescale_t;
void odt_rescale(const odt_rescale_t *a);

// q = factor * sx / sy
typedef struct {
    odt_multiplier_t *q; // [1]
    const int32_t *sx; // [1]
    const int32_t *sy; // [1]
    int32_t factor;
} odt_ratio_t;
void odt_ratio(const odt_ratio_t *a);

// qc[n] = sw[n] / max sw; q = factor * se * max sw / sdx
typedef struct {
    odt_multiplier_t *qc; // [N]
    odt_multiplier_t *q; // [1]
    const int32_t *sw; // [N]
    const int32_t *se; // [1]
    const int32_t *sdx; // [1]
    int32_t N, factor;
} odt_rescale_dx_t;
void odt_rescale_dx(const odt_rescale_dx_t *a);

// y = factor * a * b
typedef struct {
    int32_t *y; // [1]
    const int32_t *a; // [1]
    const int32_t *b; // [1]
    int32_t factor;
} odt_product_t;
void odt_product(const odt_product_t *a);

// y[n] = b[n] * 2^-20 / (sx * sw[n])
typedef struct {
    int32_t *y; // [N]
    const int32_t *b; // [N]
    const int32_t *sx; // [1]
    const int32_t *sw; // [N]
    int32_t N;
} odt_bias_i8_t;
void odt_bias_i8(const odt_bias_i8_t *a);

// s *= peak / limit if peak > limit, less where peak is far below it
typedef struct {
    int32_t *s; // [1]
    const int32_t *peak; // [1]
    int32_t limit, fall, fine;
} odt_range_i8_t;
void odt_range_i8(const odt_range_i8_t *a);

// y = clamp(zy + q[n] * (b[n] + sum_k (x - zx) * w))
typedef struct {
    int8_t *y; // [M][N]
    int32_t *peak; // [1]
    const int8_t *x; // [M][K]
    const int8_t *w; // [N][K]
    const int32_t *b; // [N]
    const odt_multiplier_t *q; // [N]
    int32_t M, K, N, zx, zy, lo;
} odt_dense_i8_t;
void odt_dense_i8(const odt_dense_i8_t *a);

// dx = clamp(q * sum_n e * w)
typedef struct {
    int8_t *dx; // [M][K]
    int32_t *peak; // [1]
    const int8_t *e; // [M][N]
    const int8_t *w; // [N][K]
    const odt_multiplier_t *q; // [1]
    int32_t M, K, N;
} odt_dense_dx_i8_t;
void odt_dense_dx_i8(const odt_dense_dx_i8_t *a);

// dw[n - at] = sum_m e * (x - zx)
typedef struct {
    int32_t *dw; // [R][K]
    const int8_t *e; // [M][N]
    const int8_t *x; // [M][K]
    int32_t M, K, N, zx, at, R;
} odt_dense_dw_i8_t;
void odt_dense_dw_i8(const odt_dense_dw_i8_t *a);

// db = sum_m e
typedef struct {
    int32_t *db; // [N]
    const int8_t *e; // [M][N]
    int32_t M, N;
} odt_bias_dw_i8_t;
void odt_bias_dw_i8(const odt_bias_dw_i8_t *a);

// y = clamp(q[n] * e); id >> 16 rows lie before
typedef struct {
    int8_t *y; // [M][N], may be e
    const int8_t *e; // [M][N]
    const odt_multiplier_t *q; // [N]
    const int32_t *c; // [16]
    int32_t M, N, id;
} odt_channel_scale_i8_t;
void odt_channel_scale_i8(const odt_channel_scale_i8_t *a);

// y = clamp(zy + q[n] * (b[n] + sum_(kh,kw,c) (x - zx) * w))
typedef struct {
    int8_t *y; // [B][OH][OW][N]
    int32_t *peak; // [1]
    const int8_t *x; // [B][H][W][C]
    const int8_t *w; // [N][KH][KW][C]
    const int32_t *b; // [N]
    const odt_multiplier_t *q; // [N]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, zx, zy, lo;
} odt_conv2d_i8_t;
void odt_conv2d_i8(const odt_conv2d_i8_t *a);

// dx = clamp(q * sum_(kh,kw,n) e * w)
typedef struct {
    int8_t *dx; // [B][H][W][C]
    int32_t *peak; // [1]
    const int8_t *e; // [B][OH][OW][N]
    const int8_t *w; // [N][KH][KW][C]
    const odt_multiplier_t *q; // [1]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW;
} odt_conv2d_dx_i8_t;
void odt_conv2d_dx_i8(const odt_conv2d_dx_i8_t *a);

// dw[n - at] = sum_(b,oh,ow) e * (x - zx)
typedef struct {
    int32_t *dw; // [R][KH][KW][C]
    const int8_t *e; // [B][OH][OW][N]
    const int8_t *x; // [B][H][W][C]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, zx, at, R;
} odt_conv2d_dw_i8_t;
void odt_conv2d_dw_i8(const odt_conv2d_dw_i8_t *a);

// y = clamp(zy + q[n] * (b[n] + sum_(kh,kw) (x - zx) * w))
typedef struct {
    int8_t *y; // [B][OH][OW][N]
    int32_t *peak; // [1]
    const int8_t *x; // [B][H][W][N]
    const int8_t *w; // [N][KH][KW]
    const int32_t *b; // [N]
    const odt_multiplier_t *q; // [N]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, zx, zy, lo;
} odt_depthwise2d_i8_t;
void odt_depthwise2d_i8(const odt_depthwise2d_i8_t *a);

// dx = clamp(q[n] * sum_(kh,kw) e * w)
typedef struct {
    int8_t *dx; // [B][H][W][N]
    int32_t *peak; // [1]
    const int8_t *e; // [B][OH][OW][N]
    const int8_t *w; // [N][KH][KW]
    const odt_multiplier_t *q; // [N]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW;
} odt_depthwise2d_dx_i8_t;
void odt_depthwise2d_dx_i8(const odt_depthwise2d_dx_i8_t *a);

// dw[n - at] = sum_(b,oh,ow) e * (x - zx)
typedef struct {
    int32_t *dw; // [R][KH][KW]
    const int8_t *e; // [B][OH][OW][N]
    const int8_t *x; // [B][H][W][N]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, zx, at, R;
} odt_depthwise2d_dw_i8_t;
void odt_depthwise2d_dw_i8(const odt_depthwise2d_dw_i8_t *a);

// y = max(x, z)
typedef struct {
    int8_t *y; // [N], may be x
    const int8_t *x; // [N]
    int32_t N, z;
} odt_relu_i8_t;
void odt_relu_i8(const odt_relu_i8_t *a);

// dx = e where y > lo, else 0
typedef struct {
    int8_t *dx; // [N], may be e
    const int8_t *e; // [N]
    const int8_t *y; // [N]
    int32_t N, lo;
} odt_relu_dx_i8_t;
void odt_relu_dx_i8(const odt_relu_dx_i8_t *a);

// y = max_(kh,kw) x
typedef struct {
    int8_t *y; // [B][OH][OW][N]
    const int8_t *x; // [B][H][W][N]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW;
} odt_maxpool2d_i8_t;
void odt_maxpool2d_i8(const odt_maxpool2d_i8_t *a);

// dx = sum of e over the windows that chose this position
typedef struct {
    int8_t *dx; // [B][H][W][N]
    int32_t *peak; // [1]
    const int8_t *e; // [B][OH][OW][N]
    const int8_t *choice; // [S]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, S, bits;
} odt_unpool2d_i8_t;
void odt_unpool2d_i8(const odt_unpool2d_i8_t *a);

// y = clamp(zy + q * sum_s (x - zx))
typedef struct {
    int8_t *y; // [B][N]
    int32_t *peak; // [1]
    const int8_t *x; // [B][S][N]
    const odt_multiplier_t *q; // [1]
    int32_t B, S, N, zx, zy, lo;
} odt_globalavg_i8_t;
void odt_globalavg_i8(const odt_globalavg_i8_t *a);

// dx[s] = e
typedef struct {
    int8_t *dx; // [B][S][N]
    const int8_t *e; // [B][N]
    int32_t B, S, N;
} odt_globalavg_dx_i8_t;
void odt_globalavg_dx_i8(const odt_globalavg_dx_i8_t *a);

// y = clamp(zy + qa * (a - za) + qb * (b - zb))
typedef struct {
    int8_t *y; // [N], may be a
    int32_t *peak; // [1]
    const int8_t *a; // [N]
    const int8_t *b; // [N]
    const odt_multiplier_t *qa; // [1]
    const odt_multiplier_t *qb; // [1]
    int32_t N, za, zb, zy, lo;
} odt_add_i8_t;
void odt_add_i8(const odt_add_i8_t *a);

// e = 127 * (softmax(sx * x) - onehot); se = 1 / (127 * COUNT)
typedef struct {
    int8_t *e; // [B][N], may be x
    int32_t *se; // [1]
    int32_t *c; // [16]
    const odt_region_t *labels; // a region
    const int8_t *x; // [B][N]
    const int32_t *sx; // [1]
    int32_t B, N, z;
} odt_softmax_xent_i8_t;
void odt_softmax_xent_i8(const odt_softmax_xent_i8_t *a);

// e = (sx * (x - z) - target) / se; so = 2 * se / (N * COUNT)
typedef struct {
    int8_t *e; // [B][N], may be x
    int32_t *so; // [1]
    int32_t *peak; // [1]
    int32_t *c; // [16]
    const odt_region_t *target; // a region
    const int8_t *x; // [B][N]
    const int32_t *sx; // [1]
    const int32_t *se; // [1]
    int32_t B, N, z;
} odt_mse_i8_t;
void odt_mse_i8(const odt_mse_i8_t *a);

// v = mu * v + d * factor * gs; d = v
typedef struct {
    int32_t *d; // [N][K]
    int32_t *ds; // [N]
    int16_t *v; // [N][K]
    int8_t *ex; // [N]
    const int32_t *gs; // [1]
    const int32_t *c; // [16]
    int32_t N, K, factor, id, mu, at;
} odt_momentum_i16_t;
void odt_momentum_i16(const odt_momentum_i16_t *a);

// m += (g - m) * (1 - beta1); v = sqrt(beta2 * v^2 + (1 - beta2) * g^2); d = m / v
typedef struct {
    int32_t *d; // [N][K]
    int32_t *ds; // [N]
    int16_t *m; // [N][K]
    int16_t *v; // [N][K]
    int8_t *ex; // [N]
    const int32_t *gs; // [1]
    const int32_t *c; // [16]
    int32_t N, K, factor, id, c1, r2, rc2, at;
} odt_adam_i16_t;
void odt_adam_i16(const odt_adam_i16_t *a);

// as momentum_i16 with v in float32
typedef struct {
    int32_t *d; // [N][K]
    int32_t *ds; // [N]
    float *v; // [N][K]
    const int32_t *gs; // [1]
    int32_t N, K, factor, mu;
} odt_momentum_i32_t;
void odt_momentum_i32(const odt_momentum_i32_t *a);

// as adam_i16 with m and v in float32
typedef struct {
    int32_t *d; // [N][K]
    int32_t *ds; // [N]
    float *m; // [N][K]
    float *v; // [N][K]
    const int32_t *gs; // [1]
    const int32_t *rate; // [2]
    int32_t N, K, factor, b1, c1, b2, c2, eps;
} odt_adam_i32_t;
void odt_adam_i32(const odt_adam_i32_t *a);

// ds[n] = factor * gs
typedef struct {
    int32_t *ds; // [N]
    const int32_t *gs; // [1]
    int32_t N, factor;
} odt_plain_i32_t;
void odt_plain_i32(const odt_plain_i32_t *a);

// w -= rate * ds[n] * d / sw[n]
typedef struct {
    int8_t *w; // [N][K]
    int8_t *r; // [N][K]
    int32_t *sw; // [N]
    int32_t *limited; // [1]
    const int32_t *d; // [R][K]
    const int32_t *ds; // [R]
    const int32_t *rate; // [1]
    const int32_t *c; // [16]
    int32_t N, K, id, common, at, R;
} odt_apply_i8_t;
void odt_apply_i8(const odt_apply_i8_t *a);

// b -= rate * ds * d * 2^20
typedef struct {
    int32_t *b; // [N]
    const int32_t *d; // [N]
    const int32_t *ds; // [1]
    const int32_t *rate; // [1]
    int32_t N;
} odt_apply_i32_t;
void odt_apply_i32(const odt_apply_i32_t *a);

// y[b] = x[order(b)]
typedef struct {
    float *y; // [B][F]
    const int32_t *c; // [16]
    const odt_region_t *x; // a region
    int32_t B, F;
} odt_gather_f32_t;
void odt_gather_f32(const odt_gather_f32_t *a);

// y = b[n] + sum_k x * w
typedef struct {
    float *y; // [M][N]
    const float *x; // [M][K]
    const float *w; // [N][K]
    const float *b; // [N]
    int32_t M, K, N, relu;
} odt_dense_f32_t;
void odt_dense_f32(const odt_dense_f32_t *a);

// dx = sum_n e * w
typedef struct {
    float *dx; // [M][K]
    const float *e; // [M][N]
    const float *w; // [N][K]
    int32_t M, K, N;
} odt_dense_dx_f32_t;
void odt_dense_dx_f32(const odt_dense_dx_f32_t *a);

// dw[n - at] = sum_m e * x
typedef struct {
    float *dw; // [R][K]
    const float *e; // [M][N]
    const float *x; // [M][K]
    int32_t M, K, N, at, R;
} odt_dense_dw_f32_t;
void odt_dense_dw_f32(const odt_dense_dw_f32_t *a);

// db = sum_m e
typedef struct {
    float *db; // [N]
    const float *e; // [M][N]
    int32_t M, N;
} odt_bias_dw_f32_t;
void odt_bias_dw_f32(const odt_bias_dw_f32_t *a);

// y = b[n] + sum_(kh,kw,c) x * w
typedef struct {
    float *y; // [B][OH][OW][N]
    const float *x; // [B][H][W][C]
    const float *w; // [N][KH][KW][C]
    const float *b; // [N]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, relu;
} odt_conv2d_f32_t;
void odt_conv2d_f32(const odt_conv2d_f32_t *a);

// dx = sum_(kh,kw,n) e * w
typedef struct {
    float *dx; // [B][H][W][C]
    const float *e; // [B][OH][OW][N]
    const float *w; // [N][KH][KW][C]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW;
} odt_conv2d_dx_f32_t;
void odt_conv2d_dx_f32(const odt_conv2d_dx_f32_t *a);

// dw[n - at] = sum_(b,oh,ow) e * x
typedef struct {
    float *dw; // [R][KH][KW][C]
    const float *e; // [B][OH][OW][N]
    const float *x; // [B][H][W][C]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, at, R;
} odt_conv2d_dw_f32_t;
void odt_conv2d_dw_f32(const odt_conv2d_dw_f32_t *a);

// y = b[n] + sum_(kh,kw) x * w
typedef struct {
    float *y; // [B][OH][OW][N]
    const float *x; // [B][H][W][N]
    const float *w; // [N][KH][KW]
    const float *b; // [N]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, relu;
} odt_depthwise2d_f32_t;
void odt_depthwise2d_f32(const odt_depthwise2d_f32_t *a);

// dx = sum_(kh,kw) e * w
typedef struct {
    float *dx; // [B][H][W][N]
    const float *e; // [B][OH][OW][N]
    const float *w; // [N][KH][KW]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW;
} odt_depthwise2d_dx_f32_t;
void odt_depthwise2d_dx_f32(const odt_depthwise2d_dx_f32_t *a);

// dw[n - at] = sum_(b,oh,ow) e * x
typedef struct {
    float *dw; // [R][KH][KW]
    const float *e; // [B][OH][OW][N]
    const float *x; // [B][H][W][N]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, at, R;
} odt_depthwise2d_dw_f32_t;
void odt_depthwise2d_dw_f32(const odt_depthwise2d_dw_f32_t *a);

// y = max(x, 0)
typedef struct {
    float *y; // [N], may be x
    const float *x; // [N]
    int32_t N;
} odt_relu_f32_t;
void odt_relu_f32(const odt_relu_f32_t *a);

// dx = e where y > 0, else 0
typedef struct {
    float *dx; // [N], may be e
    const float *e; // [N]
    const float *y; // [N]
    int32_t N;
} odt_relu_dx_f32_t;
void odt_relu_dx_f32(const odt_relu_dx_f32_t *a);

// y = max_(kh,kw) x
typedef struct {
    float *y; // [B][OH][OW][N]
    const float *x; // [B][H][W][N]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW;
} odt_maxpool2d_f32_t;
void odt_maxpool2d_f32(const odt_maxpool2d_f32_t *a);

// dx = sum of e over the windows that chose this position
typedef struct {
    float *dx; // [B][H][W][N]
    const float *e; // [B][OH][OW][N]
    const int8_t *choice; // [S]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, S, bits;
} odt_unpool2d_f32_t;
void odt_unpool2d_f32(const odt_unpool2d_f32_t *a);

// y = sum_s x / S
typedef struct {
    float *y; // [B][N]
    const float *x; // [B][S][N]
    int32_t B, S, N;
} odt_globalavg_f32_t;
void odt_globalavg_f32(const odt_globalavg_f32_t *a);

// dx[s] = e / S
typedef struct {
    float *dx; // [B][S][N]
    const float *e; // [B][N]
    int32_t B, S, N;
} odt_globalavg_dx_f32_t;
void odt_globalavg_dx_f32(const odt_globalavg_dx_f32_t *a);

// y = a + b
typedef struct {
    float *y; // [N], may be a
    const float *a; // [N]
    const float *b; // [N]
    int32_t N, relu;
} odt_add_f32_t;
void odt_add_f32(const odt_add_f32_t *a);

// e = (softmax(x) - onehot) / COUNT
typedef struct {
    float *e; // [B][N], may be x
    int32_t *c; // [16]
    const odt_region_t *labels; // a region
    const float *x; // [B][N]
    int32_t B, N;
} odt_softmax_xent_f32_t;
void odt_softmax_xent_f32(const odt_softmax_xent_f32_t *a);

// e = 2 * (x - target) / (N * COUNT)
typedef struct {
    float *e; // [B][N], may be x
    int32_t *c; // [16]
    const odt_region_t *target; // a region
    const float *x; // [B][N]
    int32_t B, N;
} odt_mse_f32_t;
void odt_mse_f32(const odt_mse_f32_t *a);

// v = mu * v + d; d = v
typedef struct {
    float *d; // [N]
    float *v; // [N]
    int32_t N, mu;
} odt_momentum_f32_t;
void odt_momentum_f32(const odt_momentum_f32_t *a);

// m += (d - m) * (1 - beta1); v = beta2 * v + (1 - beta2) * d^2; d = m / (sqrt(v) + eps * rate[1])
typedef struct {
    float *d; // [N]
    float *m; // [N]
    float *v; // [N]
    const int32_t *rate; // [2]
    int32_t N, b1, c1, b2, c2, eps;
} odt_adam_f32_t;
void odt_adam_f32(const odt_adam_f32_t *a);

// w -= rate * d
typedef struct {
    float *w; // [N]
    const float *d; // [N]
    const int32_t *rate; // [1]
    int32_t N;
} odt_apply_f32_t;
void odt_apply_f32(const odt_apply_f32_t *a);

// y[m, at + k] = clamp(zy + q * (x[m, k] - zx))
typedef struct {
    int8_t *y; // [M][N]
    int32_t *peak; // [1]
    const int8_t *x; // [M][K]
    const odt_multiplier_t *q; // [1]
    int32_t M, K, N, at, zx, zy, lo;
} odt_concat_i8_t;
void odt_concat_i8(const odt_concat_i8_t *a);

// y[m, at + k] = x[m, k], in bytes
typedef struct {
    int8_t *y; // [M][N]
    const int8_t *x; // [M][K]
    int32_t M, K, N, at;
} odt_place_t;
void odt_place(const odt_place_t *a);

// y[m, k] = x[m, at + k], in bytes
typedef struct {
    int8_t *y; // [M][K]
    const int8_t *x; // [M][N]
    int32_t M, K, N, at;
} odt_slice_t;
void odt_slice(const odt_slice_t *a);

// y = clamp(zy + q * (a - za) * (b - zb))
typedef struct {
    int8_t *y; // [N]
    int32_t *peak; // [1]
    const int8_t *a; // [N]
    const int8_t *b; // [N]
    const odt_multiplier_t *q; // [1]
    int32_t N, za, zb, zy, lo;
} odt_multiply_i8_t;
void odt_multiply_i8(const odt_multiply_i8_t *a);

// y = a * b
typedef struct {
    float *y; // [N], may be a
    const float *a; // [N]
    const float *b; // [N]
    int32_t N;
} odt_multiply_f32_t;
void odt_multiply_f32(const odt_multiply_f32_t *a);

// y = mean of x over the window's positions inside x
typedef struct {
    int8_t *y; // [B][OH][OW][N]
    const int8_t *x; // [B][H][W][N]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, adaptive;
} odt_avgpool2d_i8_t;
void odt_avgpool2d_i8(const odt_avgpool2d_i8_t *a);

// dx = clamp(q * sum of e * (256 * top / count) over the windows that hold it)
typedef struct {
    int8_t *dx; // [B][H][W][N]
    int32_t *peak; // [1]
    const int8_t *e; // [B][OH][OW][N]
    const odt_multiplier_t *q; // [1]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, adaptive, top;
} odt_avgpool2d_dx_i8_t;
void odt_avgpool2d_dx_i8(const odt_avgpool2d_dx_i8_t *a);

// y = mean of x over the window's positions inside x
typedef struct {
    float *y; // [B][OH][OW][N]
    const float *x; // [B][H][W][N]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, adaptive;
} odt_avgpool2d_f32_t;
void odt_avgpool2d_f32(const odt_avgpool2d_f32_t *a);

// dx = sum of e / count over the windows that hold it
typedef struct {
    float *dx; // [B][H][W][N]
    const float *e; // [B][OH][OW][N]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, adaptive;
} odt_avgpool2d_dx_f32_t;
void odt_avgpool2d_dx_f32(const odt_avgpool2d_dx_f32_t *a);

// y[h, w] = x[h / SH, w / SW], in bytes
typedef struct {
    int8_t *y; // [B][H][SH][W][SW][N]
    const int8_t *x; // [B][H][W][N]
    int32_t B, H, W, N, SH, SW;
} odt_upsample2d_t;
void odt_upsample2d(const odt_upsample2d_t *a);

// dx = clamp(q * sum_(sh,sw) e)
typedef struct {
    int8_t *dx; // [B][H][W][N]
    int32_t *peak; // [1]
    const int8_t *e; // [B][H][SH][W][SW][N]
    const odt_multiplier_t *q; // [1]
    int32_t B, H, W, N, SH, SW;
} odt_upsample2d_dx_i8_t;
void odt_upsample2d_dx_i8(const odt_upsample2d_dx_i8_t *a);

// dx = sum_(sh,sw) e
typedef struct {
    float *dx; // [B][H][W][N]
    const float *e; // [B][H][SH][W][SW][N]
    int32_t B, H, W, N, SH, SW;
} odt_upsample2d_dx_f32_t;
void odt_upsample2d_dx_f32(const odt_upsample2d_dx_f32_t *a);

// dx = e where -128 < y < 127, else 0
typedef struct {
    int8_t *dx; // [N], may be e
    const int8_t *e; // [N]
    const int8_t *y; // [N]
    int32_t N;
} odt_relu6_dx_i8_t;
void odt_relu6_dx_i8(const odt_relu6_dx_i8_t *a);

// y = min(max(x, 0), 6)
typedef struct {
    float *y; // [N], may be x
    const float *x; // [N]
    int32_t N;
} odt_relu6_f32_t;
void odt_relu6_f32(const odt_relu6_f32_t *a);

// dx = e where 0 < y < 6, else 0
typedef struct {
    float *dx; // [N], may be e
    const float *e; // [N]
    const float *y; // [N]
    int32_t N;
} odt_relu6_dx_f32_t;
void odt_relu6_dx_f32(const odt_relu6_dx_f32_t *a);

// y = x where x > z, else z + slope * (x - z)
typedef struct {
    int8_t *y; // [N], may be x
    const int8_t *x; // [N]
    int32_t N, z, slope;
} odt_leaky_relu_i8_t;
void odt_leaky_relu_i8(const odt_leaky_relu_i8_t *a);

// dx = e where x > z, else slope * e
typedef struct {
    int8_t *dx; // [N], may be e
    const int8_t *e; // [N]
    const int8_t *x; // [N]
    const int32_t *c; // [16]
    int32_t N, z, slope, id;
} odt_leaky_relu_dx_i8_t;
void odt_leaky_relu_dx_i8(const odt_leaky_relu_dx_i8_t *a);

// y = x where x > 0, else slope * x
typedef struct {
    float *y; // [N], may be x
    const float *x; // [N]
    int32_t N, slope;
} odt_leaky_relu_f32_t;
void odt_leaky_relu_f32(const odt_leaky_relu_f32_t *a);

// dx = e where y > 0, else slope * e
typedef struct {
    float *dx; // [N], may be e
    const float *e; // [N]
    const float *y; // [N]
    int32_t N, slope;
} odt_leaky_relu_dx_f32_t;
void odt_leaky_relu_dx_f32(const odt_leaky_relu_dx_f32_t *a);

// y = 256 / (1 + exp(-factor * sx * (x - z))) - 128; with factor 2: 128 * tanh
typedef struct {
    int8_t *y; // [N], may be x
    const int8_t *x; // [N]
    const int32_t *sx; // [1]
    int32_t N, z, factor;
} odt_sigmoid_i8_t;
void odt_sigmoid_i8(const odt_sigmoid_i8_t *a);

// dx = clamp(q * e * (128 + y) * (128 - y))
typedef struct {
    int8_t *dx; // [N]
    int32_t *peak; // [1]
    const int8_t *e; // [N]
    const int8_t *y; // [N]
    const odt_multiplier_t *q; // [1]
    int32_t N;
} odt_sigmoid_dx_i8_t;
void odt_sigmoid_dx_i8(const odt_sigmoid_dx_i8_t *a);

// y = 1 / (1 + exp(-x))
typedef struct {
    float *y; // [N], may be x
    const float *x; // [N]
    int32_t N;
} odt_sigmoid_f32_t;
void odt_sigmoid_f32(const odt_sigmoid_f32_t *a);

// dx = e * y * (1 - y)
typedef struct {
    float *dx; // [N], may be e
    const float *e; // [N]
    const float *y; // [N]
    int32_t N;
} odt_sigmoid_dx_f32_t;
void odt_sigmoid_dx_f32(const odt_sigmoid_dx_f32_t *a);

// y = tanh(x)
typedef struct {
    float *y; // [N], may be x
    const float *x; // [N]
    int32_t N;
} odt_tanh_f32_t;
void odt_tanh_f32(const odt_tanh_f32_t *a);

// dx = e * (1 - y^2)
typedef struct {
    float *dx; // [N], may be e
    const float *e; // [N]
    const float *y; // [N]
    int32_t N;
} odt_tanh_dx_f32_t;
void odt_tanh_dx_f32(const odt_tanh_dx_f32_t *a);

// y = 256 * softmax(factor * sx * x) - 128
typedef struct {
    int8_t *y; // [M][N], may be x
    const int8_t *x; // [M][N]
    const int32_t *sx; // [1]
    int32_t M, N, factor;
} odt_softmax_i8_t;
void odt_softmax_i8(const odt_softmax_i8_t *a);

// dx = clamp(q * (y + 128) * (256 * e - sum_n e * (y + 128)))
typedef struct {
    int8_t *dx; // [M][N]
    int32_t *peak; // [1]
    const int8_t *e; // [M][N]
    const int8_t *y; // [M][N]
    const odt_multiplier_t *q; // [1]
    int32_t M, N;
} odt_softmax_dx_i8_t;
void odt_softmax_dx_i8(const odt_softmax_dx_i8_t *a);

// y = softmax(x)
typedef struct {
    float *y; // [M][N], may be x
    const float *x; // [M][N]
    int32_t M, N;
} odt_softmax_f32_t;
void odt_softmax_f32(const odt_softmax_f32_t *a);

// dx = y * (e - sum_n e * y)
typedef struct {
    float *dx; // [M][N], may be e
    const float *e; // [M][N]
    const float *y; // [M][N]
    int32_t M, N;
} odt_softmax_dx_f32_t;
void odt_softmax_dx_f32(const odt_softmax_dx_f32_t *a);

// w -= RATE * decay * w
typedef struct {
    float *w; // [N]
    const int32_t *c; // [16]
    int32_t N, decay;
} odt_decay_f32_t;
void odt_decay_f32(const odt_decay_f32_t *a);

// the same of 256 * w + r
typedef struct {
    int8_t *w; // [N]
    int8_t *r; // [N]
    const int32_t *c; // [16]
    int32_t N, decay, id;
} odt_decay_i8_t;
void odt_decay_i8(const odt_decay_i8_t *a);

// b -= RATE * decay * b
typedef struct {
    int32_t *b; // [N]
    const int32_t *c; // [16]
    int32_t N, decay, id;
} odt_decay_i32_t;
void odt_decay_i32(const odt_decay_i32_t *a);

// v = mu * v + d; d = d + mu * v
typedef struct {
    float *d; // [N]
    float *v; // [N]
    int32_t N, mu;
} odt_nesterov_f32_t;
void odt_nesterov_f32(const odt_nesterov_f32_t *a);

// v = mu * v + d * factor * gs; d = d * factor * gs + mu * v
typedef struct {
    int32_t *d; // [N][K]
    int32_t *ds; // [N]
    int16_t *v; // [N][K]
    int8_t *ex; // [N]
    const int32_t *gs; // [1]
    const int32_t *c; // [16]
    int32_t N, K, factor, id, mu, at;
} odt_nesterov_i16_t;
void odt_nesterov_i16(const odt_nesterov_i16_t *a);

// as nesterov_i16 with v in float32
typedef struct {
    int32_t *d; // [N][K]
    int32_t *ds; // [N]
    float *v; // [N][K]
    const int32_t *gs; // [1]
    int32_t N, K, factor, mu;
} odt_nesterov_i32_t;
void odt_nesterov_i32(const odt_nesterov_i32_t *a);

// y += d
typedef struct {
    int32_t *y; // [N]
    const int32_t *d; // [N]
    int32_t N;
} odt_accumulate_i32_t;
void odt_accumulate_i32(const odt_accumulate_i32_t *a);

// y += d
typedef struct {
    float *y; // [N]
    const float *d; // [N]
    int32_t N;
} odt_accumulate_f32_t;
void odt_accumulate_f32(const odt_accumulate_f32_t *a);

// as conv2d_i8; output n reads the C channels of its group, n * G / N
typedef struct {
    int8_t *y; // [B][OH][OW][N]
    int32_t *peak; // [1]
    const int8_t *x; // [B][H][W][G][C]
    const int8_t *w; // [N][KH][KW][C]
    const int32_t *b; // [N]
    const odt_multiplier_t *q; // [N]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, G, zx, zy, lo;
} odt_group_conv2d_i8_t;
void odt_group_conv2d_i8(const odt_group_conv2d_i8_t *a);

// dx = clamp(q * sum_(kh,kw,n of the group) e * w)
typedef struct {
    int8_t *dx; // [B][H][W][G][C]
    int32_t *peak; // [1]
    const int8_t *e; // [B][OH][OW][N]
    const int8_t *w; // [N][KH][KW][C]
    const odt_multiplier_t *q; // [1]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, G;
} odt_group_conv2d_dx_i8_t;
void odt_group_conv2d_dx_i8(const odt_group_conv2d_dx_i8_t *a);

// dw[n - at] = sum_(b,oh,ow) e * (x - zx)
typedef struct {
    int32_t *dw; // [R][KH][KW][C]
    const int8_t *e; // [B][OH][OW][N]
    const int8_t *x; // [B][H][W][G][C]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, G, zx, at, R;
} odt_group_conv2d_dw_i8_t;
void odt_group_conv2d_dw_i8(const odt_group_conv2d_dw_i8_t *a);

// y = b[n] + sum_(kh,kw,c of the group) x * w
typedef struct {
    float *y; // [B][OH][OW][N]
    const float *x; // [B][H][W][G][C]
    const float *w; // [N][KH][KW][C]
    const float *b; // [N]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, G, relu;
} odt_group_conv2d_f32_t;
void odt_group_conv2d_f32(const odt_group_conv2d_f32_t *a);

// dx = sum_(kh,kw,n of the group) e * w
typedef struct {
    float *dx; // [B][H][W][G][C]
    const float *e; // [B][OH][OW][N]
    const float *w; // [N][KH][KW][C]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, G;
} odt_group_conv2d_dx_f32_t;
void odt_group_conv2d_dx_f32(const odt_group_conv2d_dx_f32_t *a);

// dw[n - at] = sum_(b,oh,ow) e * x
typedef struct {
    float *dw; // [R][KH][KW][C]
    const float *e; // [B][OH][OW][N]
    const float *x; // [B][H][W][G][C]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, G, at, R;
} odt_group_conv2d_dw_f32_t;
void odt_group_conv2d_dw_f32(const odt_group_conv2d_dw_f32_t *a);

// y[oh, ow] = clamp(zy + q[n] * (b[n] + sum_(kh,kw,c) (x[ih, iw] - zx) * w)), oh = ih * SH - PT + kh
typedef struct {
    int8_t *y; // [B][OH][OW][N]
    int32_t *peak; // [1]
    const int8_t *x; // [B][H][W][C]
    const int8_t *w; // [N][KH][KW][C]
    const int32_t *b; // [N]
    const odt_multiplier_t *q; // [N]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, zx, zy, lo;
} odt_transposed2d_i8_t;
void odt_transposed2d_i8(const odt_transposed2d_i8_t *a);

// dx[ih, iw] = clamp(q * sum_(kh,kw,n) e[oh, ow] * w)
typedef struct {
    int8_t *dx; // [B][H][W][C]
    int32_t *peak; // [1]
    const int8_t *e; // [B][OH][OW][N]
    const int8_t *w; // [N][KH][KW][C]
    const odt_multiplier_t *q; // [1]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW;
} odt_transposed2d_dx_i8_t;
void odt_transposed2d_dx_i8(const odt_transposed2d_dx_i8_t *a);

// dw[n - at] = sum_(b,ih,iw) e[oh, ow] * (x[ih, iw] - zx)
typedef struct {
    int32_t *dw; // [R][KH][KW][C]
    const int8_t *e; // [B][OH][OW][N]
    const int8_t *x; // [B][H][W][C]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, zx, at, R;
} odt_transposed2d_dw_i8_t;
void odt_transposed2d_dw_i8(const odt_transposed2d_dw_i8_t *a);

// y[oh, ow] = b[n] + sum_(kh,kw,c) x[ih, iw] * w, oh = ih * SH - PT + kh
typedef struct {
    float *y; // [B][OH][OW][N]
    const float *x; // [B][H][W][C]
    const float *w; // [N][KH][KW][C]
    const float *b; // [N]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, relu;
} odt_transposed2d_f32_t;
void odt_transposed2d_f32(const odt_transposed2d_f32_t *a);

// dx[ih, iw] = sum_(kh,kw,n) e[oh, ow] * w
typedef struct {
    float *dx; // [B][H][W][C]
    const float *e; // [B][OH][OW][N]
    const float *w; // [N][KH][KW][C]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW;
} odt_transposed2d_dx_f32_t;
void odt_transposed2d_dx_f32(const odt_transposed2d_dx_f32_t *a);

// dw[n - at] = sum_(b,ih,iw) e[oh, ow] * x[ih, iw]
typedef struct {
    float *dw; // [R][KH][KW][C]
    const float *e; // [B][OH][OW][N]
    const float *x; // [B][H][W][C]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, at, R;
} odt_transposed2d_dw_f32_t;
void odt_transposed2d_dw_f32(const odt_transposed2d_dw_f32_t *a);

// while KEY is not 0: y = z with probability drop, else x; sy = factor * sx / (1 - drop)
typedef struct {
    int8_t *y; // [B][N], may be x
    int32_t *sy; // [1]
    const int8_t *x; // [B][N]
    const int32_t *sx; // [1]
    const int32_t *h; // [4]
    int32_t *c; // [16]
    int32_t B, N, z, id, drop, factor;
} odt_dropout_i8_t;
void odt_dropout_i8(const odt_dropout_i8_t *a);

// dx = 0 where dropout_i8 dropped, else e
typedef struct {
    int8_t *dx; // [B][N], may be e
    const int8_t *e; // [B][N]
    const int32_t *c; // [16]
    int32_t B, N, id, drop;
} odt_dropout_dx_i8_t;
void odt_dropout_dx_i8(const odt_dropout_dx_i8_t *a);

// while KEY is not 0: y = 0 with probability drop, else x / (1 - drop)
typedef struct {
    float *y; // [B][N], may be x
    const float *x; // [B][N]
    const int32_t *h; // [4]
    int32_t *c; // [16]
    int32_t B, N, id, drop;
} odt_dropout_f32_t;
void odt_dropout_f32(const odt_dropout_f32_t *a);

// dx = 0 where dropout_f32 dropped, else e / (1 - drop)
typedef struct {
    float *dx; // [B][N], may be e
    const float *e; // [B][N]
    const int32_t *c; // [16]
    int32_t B, N, id, drop;
} odt_dropout_dx_f32_t;
void odt_dropout_dx_f32(const odt_dropout_dx_f32_t *a);

// e = 127 * (sigmoid(sx * (x - z)) - target); se = 1 / (127 * N * COUNT)
typedef struct {
    int8_t *e; // [B][N], may be x
    int32_t *se; // [1]
    int32_t *c; // [16]
    const odt_region_t *target; // a region
    const int8_t *x; // [B][N]
    const int32_t *sx; // [1]
    int32_t B, N, z;
} odt_binary_xent_i8_t;
void odt_binary_xent_i8(const odt_binary_xent_i8_t *a);

// e = (sigmoid(x) - target) / (N * COUNT)
typedef struct {
    float *e; // [B][N], may be x
    int32_t *c; // [16]
    const odt_region_t *target; // a region
    const float *x; // [B][N]
    int32_t B, N;
} odt_binary_xent_f32_t;
void odt_binary_xent_f32(const odt_binary_xent_f32_t *a);

// e = 127 * sign(sx * (x - z) - target); se = 1 / (127 * N * COUNT)
typedef struct {
    int8_t *e; // [B][N], may be x
    int32_t *se; // [1]
    int32_t *c; // [16]
    const odt_region_t *target; // a region
    const int8_t *x; // [B][N]
    const int32_t *sx; // [1]
    int32_t B, N, z;
} odt_mae_i8_t;
void odt_mae_i8(const odt_mae_i8_t *a);

// e = sign(x - target) / (N * COUNT)
typedef struct {
    float *e; // [B][N], may be x
    int32_t *c; // [16]
    const odt_region_t *target; // a region
    const float *x; // [B][N]
    int32_t B, N;
} odt_mae_f32_t;
void odt_mae_f32(const odt_mae_f32_t *a);

// e = min(max(sx * (x - z) - target, -delta), delta) / se; so = se / (N * COUNT)
typedef struct {
    int8_t *e; // [B][N]
    int32_t *so; // [1]
    int32_t *peak; // [1]
    int32_t *c; // [16]
    const odt_region_t *target; // a region
    const int8_t *x; // [B][N]
    const int32_t *sx; // [1]
    const int32_t *se; // [1]
    int32_t B, N, z, delta;
} odt_huber_i8_t;
void odt_huber_i8(const odt_huber_i8_t *a);

// e = min(max(x - target, -delta), delta) / (N * COUNT)
typedef struct {
    float *e; // [B][N], may be x
    int32_t *c; // [16]
    const odt_region_t *target; // a region
    const float *x; // [B][N]
    int32_t B, N, delta;
} odt_huber_f32_t;
void odt_huber_f32(const odt_huber_f32_t *a);

// e = 127 * (softmax(sx * x) * sum_n t - t) / top, t = weights * ((1 - smooth) * onehot + smooth / N), rounded at
// random; top = the largest in magnitude where weights differ, else the largest sum_n t; se = top / (127 * sum of
// weights[label])
typedef struct {
    int8_t *e; // [B][N], may be x
    int32_t *se; // [1]
    int32_t *c; // [16]
    const odt_region_t *labels; // a region
    const int8_t *x; // [B][N]
    const int32_t *sx; // [1]
    const int16_t *weights; // [N]
    int32_t B, N, smooth, id;
} odt_weighted_xent_i8_t;
void odt_weighted_xent_i8(const odt_weighted_xent_i8_t *a);

// e = (softmax(x) * sum_n t - t) / sum of weights[label], t as in weighted_xent_i8
typedef struct {
    float *e; // [B][N], may be x
    int32_t *c; // [16]
    const odt_region_t *labels; // a region
    const float *x; // [B][N]
    const float *weights; // [N]
    int32_t B, N, smooth;
} odt_weighted_xent_f32_t;
void odt_weighted_xent_f32(const odt_weighted_xent_f32_t *a);

// y = max_(kh,kw) x; choice = kh * KW + kw of the first largest
typedef struct {
    int8_t *y; // [B][OH][OW][N]
    int8_t *choice; // [S]
    const int8_t *x; // [B][H][W][N]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, S, bits;
} odt_maxpool2d_choice_i8_t;
void odt_maxpool2d_choice_i8(const odt_maxpool2d_choice_i8_t *a);

// y = max_(kh,kw) x; choice = kh * KW + kw of the first largest
typedef struct {
    float *y; // [B][OH][OW][N]
    int8_t *choice; // [S]
    const float *x; // [B][H][W][N]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, S, bits;
} odt_maxpool2d_choice_f32_t;
void odt_maxpool2d_choice_f32(const odt_maxpool2d_choice_f32_t *a);

// st[m, g] = mean of x - z in steps / 1024; 1 / sqrt(variance of x + eps / (factor * sx)^2)
typedef struct {
    int32_t *st; // [M][G][2]
    const int8_t *x; // [M][S][G][C]
    const int32_t *sx; // [1]
    int32_t M, S, G, C, z, factor, eps;
} odt_norm_stats_i8_t;
void odt_norm_stats_i8(const odt_norm_stats_i8_t *a);

// while KEY is not 0: st[n] of COUNT rows, as norm_stats_i8; va[n] = (factor * sx)^2 * variance of x
typedef struct {
    int32_t *st; // [N][2]
    int32_t *va; // [N]
    const int8_t *x; // [B][S][N]
    const int32_t *sx; // [1]
    const int32_t *c; // [16]
    int32_t B, S, N, z, factor, eps;
} odt_batch_stats_i8_t;
void odt_batch_stats_i8(const odt_batch_stats_i8_t *a);

// st[n] = mean * 2^-20 / (factor * sx) in steps / 1024; factor * sx / sqrt(var + eps)
typedef struct {
    int32_t *st; // [N][2]
    const int32_t *mean; // [N]
    const int32_t *var; // [N]
    const int32_t *sx; // [1]
    int32_t N, factor, eps;
} odt_running_stats_i8_t;
void odt_running_stats_i8(const odt_running_stats_i8_t *a);

// mean = keep * mean + rest * mean of the batch; var = keep * var + rest * va
typedef struct {
    int32_t *mean; // [N]
    int32_t *var; // [N]
    const int32_t *st; // [N][2]
    const int32_t *va; // [N]
    const int32_t *sx; // [1]
    int32_t N, factor, keep, rest;
} odt_track_i8_t;
void odt_track_i8(const odt_track_i8_t *a);

// q[n] = gamma[n] * 2^-24 / sy; b[n] = beta[n] * 2^-12 / sy
typedef struct {
    odt_multiplier_t *q; // [N]
    int32_t *b; // [N]
    const int32_t *gamma; // [N]
    const int32_t *beta; // [N]
    const int32_t *sy; // [1]
    int32_t N;
} odt_affine_i8_t;
void odt_affine_i8(const odt_affine_i8_t *a);

// y = clamp(zy + (q[n] * h + b[n]) / 256), h = (x - zx - mean) * 4096 / deviation
typedef struct {
    int8_t *y; // [M][S][G][C]
    int32_t *peak; // [1]
    const int8_t *x; // [M][S][G][C]
    const int32_t *st; // [M][G][2]
    const odt_multiplier_t *q; // [G][C]
    const int32_t *b; // [G][C]
    int32_t M, S, G, C, zx, zy, lo;
} odt_norm_i8_t;
void odt_norm_i8(const odt_norm_i8_t *a);

// dw[n] = sum_(m,s) e * (x - zx - mean) * 2^bits / deviation
typedef struct {
    int32_t *dw; // [G][C]
    const int8_t *e; // [M][S][G][C]
    const int8_t *x; // [M][S][G][C]
    const int32_t *st; // [M][G][2]
    int32_t M, S, G, C, zx, bits;
} odt_norm_dw_i8_t;
void odt_norm_dw_i8(const odt_norm_dw_i8_t *a);

// dx = clamp(factor * se / (sx * sdx) / deviation * (g - mean(g) - h * mean(g * h))), g = e * gamma, rounded at random
typedef struct {
    int8_t *dx; // [M][S][G][C]
    int32_t *peak; // [1]
    const int8_t *e; // [M][S][G][C]
    const int8_t *x; // [M][S][G][C]
    const int32_t *st; // [M][G][2]
    const int32_t *gamma; // [G][C]
    const int32_t *se; // [1]
    const int32_t *sx; // [1]
    const int32_t *sdx; // [1]
    const int32_t *c; // [16]
    int32_t M, S, G, C, zx, factor, rows, id, F;
} odt_norm_dx_i8_t;
void odt_norm_dx_i8(const odt_norm_dx_i8_t *a);

// dx = clamp(factor * se / (sx * sdx) / deviation[n] * e * gamma[n])
typedef struct {
    int8_t *dx; // [M][N]
    int32_t *peak; // [1]
    const int8_t *e; // [M][N]
    const int32_t *st; // [N][2]
    const int32_t *gamma; // [N]
    const int32_t *se; // [1]
    const int32_t *sx; // [1]
    const int32_t *sdx; // [1]
    int32_t M, N, factor;
} odt_affine_dx_i8_t;
void odt_affine_dx_i8(const odt_affine_dx_i8_t *a);

// st[m, g] = mean of x; 1 / sqrt(variance of x + eps)
typedef struct {
    float *st; // [M][G][2]
    const float *x; // [M][S][G][C]
    int32_t M, S, G, C, eps;
} odt_norm_stats_f32_t;
void odt_norm_stats_f32(const odt_norm_stats_f32_t *a);

// while KEY is not 0: st[n] of COUNT rows, as norm_stats_f32; va[n] = variance of x
typedef struct {
    float *st; // [N][2]
    float *va; // [N]
    const float *x; // [B][S][N]
    const int32_t *c; // [16]
    int32_t B, S, N, eps;
} odt_batch_stats_f32_t;
void odt_batch_stats_f32(const odt_batch_stats_f32_t *a);

// st[n] = mean[n]; 1 / sqrt(var[n] + eps)
typedef struct {
    float *st; // [N][2]
    const float *mean; // [N]
    const float *var; // [N]
    int32_t N, eps;
} odt_running_stats_f32_t;
void odt_running_stats_f32(const odt_running_stats_f32_t *a);

// mean = keep * mean + rest * st; var = keep * var + rest * va
typedef struct {
    float *mean; // [N]
    float *var; // [N]
    const float *st; // [N][2]
    const float *va; // [N]
    int32_t N, keep, rest;
} odt_track_f32_t;
void odt_track_f32(const odt_track_f32_t *a);

// y = (x - mean) / deviation * gamma[n] + beta[n]
typedef struct {
    float *y; // [M][S][G][C], may be x
    const float *x; // [M][S][G][C]
    const float *st; // [M][G][2]
    const float *gamma; // [G][C]
    const float *beta; // [G][C]
    int32_t M, S, G, C, relu;
} odt_norm_f32_t;
void odt_norm_f32(const odt_norm_f32_t *a);

// dw[n] = sum_(m,s) e * (x - mean) / deviation
typedef struct {
    float *dw; // [G][C]
    const float *e; // [M][S][G][C]
    const float *x; // [M][S][G][C]
    const float *st; // [M][G][2]
    int32_t M, S, G, C;
} odt_norm_dw_f32_t;
void odt_norm_dw_f32(const odt_norm_dw_f32_t *a);

// dx = (g - mean(g) - h * mean(g * h)) / deviation, g = e * gamma[n], h = (x - mean) / deviation
typedef struct {
    float *dx; // [M][S][G][C], may be e
    const float *e; // [M][S][G][C]
    const float *x; // [M][S][G][C]
    const float *st; // [M][G][2]
    const float *gamma; // [G][C]
    const int32_t *c; // [16]
    int32_t M, S, G, C, rows;
} odt_norm_dx_f32_t;
void odt_norm_dx_f32(const odt_norm_dx_f32_t *a);

// dx = e * gamma[n] / deviation[n]
typedef struct {
    float *dx; // [M][N], may be e
    const float *e; // [M][N]
    const float *st; // [N][2]
    const float *gamma; // [N]
    int32_t M, N;
} odt_affine_dx_f32_t;
void odt_affine_dx_f32(const odt_affine_dx_f32_t *a);

// total += sum of (factor * gs * d)^2, as a scale; 0 is none
typedef struct {
    int32_t *total; // [1]
    const int32_t *d; // [N]
    const int32_t *gs; // [1]
    int32_t N, factor;
} odt_squares_i32_t;
void odt_squares_i32(const odt_squares_i32_t *a);

// y = min(1, limit / sqrt(total))
typedef struct {
    int32_t *y; // [1]
    const int32_t *total; // [1]
    int32_t limit;
} odt_clip_i32_t;
void odt_clip_i32(const odt_clip_i32_t *a);

// total += sum of d^2
typedef struct {
    float *total; // [1]
    const float *d; // [N]
    int32_t N;
} odt_squares_f32_t;
void odt_squares_f32(const odt_squares_f32_t *a);

// y = min(1, limit / sqrt(total))
typedef struct {
    float *y; // [1]
    const float *total; // [1]
    int32_t limit;
} odt_clip_f32_t;
void odt_clip_f32(const odt_clip_f32_t *a);

// d *= factor
typedef struct {
    float *d; // [N]
    const float *factor; // [1]
    int32_t N;
} odt_scale_f32_t;
void odt_scale_f32(const odt_scale_f32_t *a);

// KEY = hash(seed, t + ahead), while KEY is not 0
typedef struct {
    int32_t *c; // [16]
    const int32_t *h; // [4]
    int32_t ahead;
} odt_step_key_t;
void odt_step_key(const odt_step_key_t *a);

// prefix: sizes of the next instruction that mask names, times count / R
typedef struct {
    const int32_t *count; // [1]
    int32_t R, mask;
} odt_few_t;

// prefix: the next instruction for each of count rows of N
typedef struct {
    const int32_t *count; // [1]
    const int32_t *rows; // [R]
    int32_t N, R, which, place;
} odt_each_t;

// ratio = 2^16 * sum |e| / the largest sum so far
typedef struct {
    int32_t *ratio; // [1]
    int32_t *largest; // [1]
    const int8_t *e; // [N]
    const int32_t *se; // [1]
    const int32_t *c; // [16]
    int32_t N;
} odt_relative_i8_t;
void odt_relative_i8(const odt_relative_i8_t *a);

// the same
typedef struct {
    int32_t *ratio; // [1]
    float *largest; // [1]
    const float *e; // [N]
    const int32_t *c; // [16]
    int32_t N;
} odt_relative_f32_t;
void odt_relative_f32(const odt_relative_f32_t *a);

// rows = the count columns of largest sum |e|; count = (low + ratio * (high - low)) * N
typedef struct {
    int32_t *count; // [1]
    int32_t *rows; // [R]
    int32_t *sums; // [N]
    const int8_t *e; // [M][N]
    const int32_t *ratio; // [1]
    int32_t M, N, R, low, high;
} odt_rank_i8_t;
void odt_rank_i8(const odt_rank_i8_t *a);

// the same
typedef struct {
    int32_t *count; // [1]
    int32_t *rows; // [R]
    float *sums; // [N]
    const float *e; // [M][N]
    const int32_t *ratio; // [1]
    int32_t M, N, R, low, high;
} odt_rank_f32_t;
void odt_rank_f32(const odt_rank_f32_t *a);

// y[m, j] = x[m, rows[j]], elements of U bytes, count of them a row
typedef struct {
    int8_t *y; // [M][R][U]
    const int8_t *x; // [M][N][U]
    const int32_t *count; // [1]
    const int32_t *rows; // [R]
    int32_t M, N, R, U;
} odt_pick_t;
void odt_pick(const odt_pick_t *a);

// y[m, rows[j]] = x[m, j], the others 0
typedef struct {
    int8_t *y; // [M][N][U]
    const int8_t *x; // [M][R][U]
    const int32_t *count; // [1]
    const int32_t *rows; // [R]
    int32_t M, N, R, U;
} odt_put_t;
void odt_put(const odt_put_t *a);

// w in a scale twice as large, where a row has outgrown it
typedef struct {
    int8_t *w; // [N][K]
    int8_t *r; // [N][K]
    int32_t *sw; // [N]
    const int32_t *limited; // [1]
    int32_t N, K;
} odt_settle_i8_t;
void odt_settle_i8(const odt_settle_i8_t *a);

// bit i = lo < y[i] < hi
typedef struct {
    int8_t *bits; // [S]
    const int8_t *y; // [N]
    int32_t N, S, lo, hi;
} odt_open_i8_t;
void odt_open_i8(const odt_open_i8_t *a);

// bit i = 0 < y[i] < hi
typedef struct {
    int8_t *bits; // [S]
    const float *y; // [N]
    int32_t N, S, hi;
} odt_open_f32_t;
void odt_open_f32(const odt_open_f32_t *a);

// dx[i] = e[i] where bit i, else 0
typedef struct {
    int8_t *dx; // [N], may be e
    const int8_t *e; // [N]
    const int8_t *bits; // [S]
    int32_t N, S;
} odt_masked_i8_t;
void odt_masked_i8(const odt_masked_i8_t *a);

// dx[i] = e[i] where bit i, else 0
typedef struct {
    float *dx; // [N], may be e
    const float *e; // [N]
    const int8_t *bits; // [S]
    int32_t N, S;
} odt_masked_f32_t;
void odt_masked_f32(const odt_masked_f32_t *a);

// total[n] += sum_b (factor * se * sy * sum_s e * (y - z))^2, as scales; 0 is none
typedef struct {
    int32_t *total; // [N]
    const int8_t *e; // [B][S][N]
    const int8_t *y; // [B][S][N]
    const int32_t *se; // [1]
    const int32_t *sy; // [1]
    int32_t B, S, N, z, factor;
} odt_fisher_i8_t;
void odt_fisher_i8(const odt_fisher_i8_t *a);

// total[n] += sum_b (sum_s e * y)^2
typedef struct {
    float *total; // [N]
    const float *e; // [B][S][N]
    const float *y; // [B][S][N]
    int32_t B, S, N;
} odt_fisher_f32_t;
void odt_fisher_f32(const odt_fisher_f32_t *a);

// adam_i16 and w -= rate * d / sw[n] in one
typedef struct {
    int8_t *w; // [N][K]
    int8_t *r; // [N][K]
    int32_t *sw; // [N]
    int32_t *limited; // [1]
    int16_t *m; // [R][K]
    int16_t *v; // [R][K]
    int8_t *ex; // [R]
    const int32_t *d; // [R][K]
    const int32_t *gs; // [1]
    const int32_t *rate; // [1]
    const int32_t *c; // [16]
    int32_t N, K, factor, id, c1, r2, rc2, common, at, R;
} odt_adam_i8_t;
void odt_adam_i8(const odt_adam_i8_t *a);

// as range_i8 of inputs: s grows by a quarter at most; seen = max(seen, peak * s)
typedef struct {
    int32_t *s; // [1]
    int32_t *seen; // [1]
    const int32_t *peak; // [1]
    int32_t limit;
} odt_range_x_i8_t;
void odt_range_x_i8(const odt_range_x_i8_t *a);

// y[b] = clamp(z + (x[order(b)] - mean[c]) / sqrt(var[c]) / s)
typedef struct {
    int8_t *y; // [B][S][C]
    int32_t *peak; // [1]
    const int32_t *c; // [16]
    const odt_region_t *x; // a region
    const int32_t *s; // [1]
    const int32_t *mean; // [C]
    const int32_t *var; // [C]
    int32_t B, S, C, z;
} odt_gather_norm_i8_t;
void odt_gather_norm_i8(const odt_gather_norm_i8_t *a);

// y[b] = (x[order(b)] - mean[c]) / sqrt(var[c])
typedef struct {
    float *y; // [B][S][C]
    const int32_t *c; // [16]
    const odt_region_t *x; // a region
    const float *mean; // [C]
    const float *var; // [C]
    int32_t B, S, C;
} odt_gather_norm_f32_t;
void odt_gather_norm_f32(const odt_gather_norm_f32_t *a);

// while KEY is above 1: m = sums of LOSS of the passes with w + e z, with w - e z; LOSS and CORRECT as before plus the
// mean of both passes
typedef struct {
    int32_t *m; // [6]
    int32_t *k; // [1]
    int32_t *c; // [16]
    int32_t which;
} odt_passed_i8_t;
void odt_passed_i8(const odt_passed_i8_t *a);

// the same
typedef struct {
    float *m; // [3]
    int32_t *k; // [1]
    int32_t *c; // [16]
    int32_t which;
} odt_passed_f32_t;
void odt_passed_f32(const odt_passed_f32_t *a);

// g = RATE * factor * so^degree * abs(D) / COUNT, sign(D), D = m[0] - m[1]; with sign: RATE * factor, sign(D)
typedef struct {
    int32_t *g; // [2]
    const int32_t *m; // [6]
    const int32_t *so; // [1]
    const int32_t *c; // [16]
    int32_t B, factor, degree, sign;
} odt_slope_i8_t;
void odt_slope_i8(const odt_slope_i8_t *a);

// g = RATE * factor * D / COUNT, D = m[0] - m[1]; with sign: RATE * factor * sign(D)
typedef struct {
    float *g; // [1]
    const float *m; // [3]
    const int32_t *c; // [16]
    int32_t B, factor, sign;
} odt_slope_f32_t;
void odt_slope_f32(const odt_slope_f32_t *a);

// w in a scale twice as large, where perturb_i8 would pass 127
typedef struct {
    int8_t *w; // [N][K]
    int8_t *r; // [N][K]
    int32_t *sw; // [N]
    const int32_t *c; // [16]
    int32_t N, K, epsilon, common;
} odt_room_i8_t;
void odt_room_i8(const odt_room_i8_t *a);

// while KEY is above 1: w += z * max(1, epsilon / sw[n]); back: -=
typedef struct {
    int8_t *w; // [N][K]
    const int32_t *sw; // [N]
    const int32_t *c; // [16]
    int32_t N, K, id, epsilon, back;
} odt_perturb_i8_t;
void odt_perturb_i8(const odt_perturb_i8_t *a);

// while KEY is above 1: b += z * epsilon
typedef struct {
    int32_t *b; // [N]
    const int32_t *c; // [16]
    int32_t N, id, epsilon;
} odt_perturb_i32_t;
void odt_perturb_i32(const odt_perturb_i32_t *a);

// while KEY is above 1: w += z * epsilon
typedef struct {
    float *w; // [N]
    const int32_t *c; // [16]
    int32_t N, id, epsilon;
} odt_perturb_f32_t;
void odt_perturb_f32(const odt_perturb_f32_t *a);

// w -= g * z / sw[n]
typedef struct {
    int8_t *w; // [N][K]
    int8_t *r; // [N][K]
    int32_t *sw; // [N]
    const int32_t *g; // [2]
    const int32_t *c; // [16]
    int32_t N, K, id, common;
} odt_walk_i8_t;
void odt_walk_i8(const odt_walk_i8_t *a);

// b -= g * z * 2^20
typedef struct {
    int32_t *b; // [N]
    const int32_t *g; // [2]
    const int32_t *c; // [16]
    int32_t N, id;
} odt_walk_i32_t;
void odt_walk_i32(const odt_walk_i32_t *a);

// w -= g * z
typedef struct {
    float *w; // [N]
    const float *g; // [1]
    const int32_t *c; // [16]
    int32_t N, id;
} odt_walk_f32_t;
void odt_walk_f32(const odt_walk_f32_t *a);

// y = clamp((mu + exp(v / 2) * g) / sy), (mu, v) = factor * sx * (x - z); g = normal numbers while KEY is not 0, else 0
typedef struct {
    int8_t *y; // [B][N]
    int32_t *peak; // [1]
    const int8_t *x; // [B][2][N]
    const int32_t *sx; // [1]
    const int32_t *sy; // [1]
    const int32_t *h; // [4]
    int32_t *c; // [16]
    int32_t B, N, z, id, factor;
} odt_sampling_i8_t;
void odt_sampling_i8(const odt_sampling_i8_t *a);

// D = max(free, (mu^2 + exp(v) - v - 1) / 2); LOSS += rise * beta * sum D / (unit * (so / 256)^degree); sk = rise *
// beta / (width * COUNT), rise = min(1, (t + 1) / warmup)
typedef struct {
    int32_t *sk; // [1]
    int32_t *c; // [16]
    const int8_t *x; // [B][2][N]
    const int32_t *sx; // [1]
    const int32_t *so; // [1]
    const int32_t *h; // [4]
    int32_t B, N, z, factor, beta, warmup, unit, free, degree, width;
} odt_divergence_i8_t;
void odt_divergence_i8(const odt_divergence_i8_t *a);

// dx = clamp((e' + k * mu, (e' * exp(v / 2) * g + k * (exp(v) - 1)) / 2) / sdx), e' = error * se * e; k = sk, 0 where D
// is below free
typedef struct {
    int8_t *dx; // [B][2][N]
    int32_t *peak; // [1]
    const int8_t *e; // [B][N]
    const int8_t *x; // [B][2][N]
    const int32_t *se; // [1]
    const int32_t *sk; // [1]
    const int32_t *sx; // [1]
    const int32_t *sdx; // [1]
    const int32_t *c; // [16]
    int32_t B, N, z, id, factor, error, free;
} odt_sampling_dx_i8_t;
void odt_sampling_dx_i8(const odt_sampling_dx_i8_t *a);

// y = mu + exp(v / 2) * g, (mu, v) = x; g as in sampling_i8
typedef struct {
    float *y; // [B][N]
    const float *x; // [B][2][N]
    const int32_t *h; // [4]
    int32_t *c; // [16]
    int32_t B, N, id;
} odt_sampling_f32_t;
void odt_sampling_f32(const odt_sampling_f32_t *a);

// D, sk as in divergence_i8; LOSS += rise * beta * sum D
typedef struct {
    float *sk; // [1]
    int32_t *c; // [16]
    const float *x; // [B][2][N]
    const int32_t *h; // [4]
    int32_t B, N, beta, warmup, free, width;
} odt_divergence_f32_t;
void odt_divergence_f32(const odt_divergence_f32_t *a);

// dx = (e + k * mu, (e * exp(v / 2) * g + k * (exp(v) - 1)) / 2), k as in sampling_dx_i8
typedef struct {
    float *dx; // [B][2][N]
    const float *e; // [B][N]
    const float *x; // [B][2][N]
    const float *sk; // [1]
    const int32_t *c; // [16]
    int32_t B, N, id, free;
} odt_sampling_dx_f32_t;
void odt_sampling_dx_f32(const odt_sampling_dx_f32_t *a);

// of samples that var has scaled: st[n] = 0; factor * sx; while KEY is not 0, with batch: st[n, 1] = factor * sx /
// sqrt(va + eps / var)
typedef struct {
    int32_t *st; // [N][2]
    const int32_t *va; // [N]
    const int32_t *var; // [N]
    const int32_t *sx; // [1]
    const int32_t *c; // [16]
    int32_t N, factor, eps, batch;
} odt_read_stats_i8_t;
void odt_read_stats_i8(const odt_read_stats_i8_t *a);

// of such samples: mean += rest * sqrt(var) * mean of the batch; var = keep * var + rest * (va * var + eps)
typedef struct {
    int32_t *mean; // [N]
    int32_t *var; // [N]
    const int32_t *st; // [N][2]
    const int32_t *va; // [N]
    const int32_t *sx; // [1]
    int32_t N, factor, eps, keep, rest;
} odt_track_read_i8_t;
void odt_track_read_i8(const odt_track_read_i8_t *a);

// y = clamp(zy + factor * sx / sy * mean of x - zx over the window's positions inside x)
typedef struct {
    int8_t *y; // [B][OH][OW][N]
    int32_t *peak; // [1]
    const int8_t *x; // [B][H][W][N]
    const int32_t *sx; // [1]
    const int32_t *sy; // [1]
    int32_t B, H, W, C, N, KH, KW, SH, SW, PT, PL, OH, OW, adaptive, zx, zy, lo, factor, away;
} odt_mean2d_i8_t;
void odt_mean2d_i8(const odt_mean2d_i8_t *a);

// as add_i8, with terms in 2^-16 of y's steps
typedef struct {
    int8_t *y; // [N], may be a
    int32_t *peak; // [1]
    const int8_t *a; // [N]
    const int8_t *b; // [N]
    const odt_multiplier_t *qa; // [1]
    const odt_multiplier_t *qb; // [1]
    int32_t N, za, zb, zy, lo;
} odt_add_once_i8_t;
void odt_add_once_i8(const odt_add_once_i8_t *a);

// y = table[x + 128]
typedef struct {
    int8_t *y; // [N], may be x
    const int8_t *x; // [N]
    const int8_t *table; // [4][64]
    int32_t N;
} odt_lookup_i8_t;
void odt_lookup_i8(const odt_lookup_i8_t *a);

// as softmax_xent_i8; of rows that have logits L, too (Y_ZERO is 1): e += 127 * 2 * a * (sx * (x - z) - L / 4), a =
// alpha / 65536
typedef struct {
    int8_t *e; // [B][N], may be x
    int32_t *se; // [1]
    int32_t *c; // [16]
    const odt_region_t *labels; // a region
    const int8_t *x; // [B][N]
    const int32_t *sx; // [1]
    int32_t B, N, z, alpha;
} odt_distil_xent_i8_t;
void odt_distil_xent_i8(const odt_distil_xent_i8_t *a);

// as softmax_xent_f32; of rows that have logits L: e += 2 * alpha * (x - L / 4) / COUNT
typedef struct {
    float *e; // [B][N], may be x
    int32_t *c; // [16]
    const odt_region_t *labels; // a region
    const float *x; // [B][N]
    int32_t B, N, alpha;
} odt_distil_xent_f32_t;
void odt_distil_xent_f32(const odt_distil_xent_f32_t *a);

// e = p * (a - sum_n p * a) / se, p = softmax(sx * x), a = diversity * log(mean p over the rows) - log(p); so = se /
// COUNT; LOSS += -sum p * log(p)
typedef struct {
    int8_t *e; // [B][N]
    int32_t *so; // [1]
    int32_t *sums; // [N]
    int32_t *peak; // [1]
    int32_t *c; // [16]
    const odt_region_t *labels; // a region
    const int8_t *x; // [B][N]
    const int32_t *sx; // [1]
    const int32_t *se; // [1]
    int32_t B, N, diversity;
} odt_entropy_i8_t;
void odt_entropy_i8(const odt_entropy_i8_t *a);

// e = p * (a - sum_n p * a) / COUNT, p, a, LOSS as in entropy_i8
typedef struct {
    float *e; // [B][N], may be x
    float *sums; // [N]
    int32_t *c; // [16]
    const odt_region_t *labels; // a region
    const float *x; // [B][N]
    int32_t B, N, diversity;
} odt_entropy_f32_t;
void odt_entropy_f32(const odt_entropy_f32_t *a);

// y[b, p, q, i, j] = x[b, i * SH + p - PT, j * SW + q - PL], beside x fill, in bytes
typedef struct {
    int8_t *y; // [B][SH][SW][OH][OW][U]
    const int8_t *x; // [B][H][W][U]
    int32_t B, H, W, U, SH, SW, PT, PL, OH, OW, fill;
} odt_space_to_batch_t;
void odt_space_to_batch(const odt_space_to_batch_t *a);

// the inverse of space_to_batch; beside its y 0
typedef struct {
    int8_t *y; // [B][H][W][U]
    const int8_t *x; // [B][SH][SW][OH][OW][U]
    int32_t B, H, W, U, SH, SW, PT, PL, OH, OW;
} odt_batch_to_space_t;
void odt_batch_to_space(const odt_batch_to_space_t *a);

// y = clamp(zy + gain * f(factor * sx * (x - z)) / sy), f by kind: 0 ELU, else GELU
typedef struct {
    int8_t *y; // [N]
    int32_t *peak; // [1]
    const int8_t *x; // [N]
    const int32_t *sx; // [1]
    const int32_t *sy; // [1]
    int32_t N, z, zy, lo, factor, kind, alpha, gain;
} odt_curve_i8_t;
void odt_curve_i8(const odt_curve_i8_t *a);

// dx = clamp(q * e * 2^14 * f'(factor * sx * (x - z))), f as of curve_i8
typedef struct {
    int8_t *dx; // [N]
    int32_t *peak; // [1]
    const int8_t *e; // [N]
    const int8_t *x; // [N]
    const int32_t *sx; // [1]
    const odt_multiplier_t *q; // [1]
    int32_t N, z, factor, kind, alpha;
} odt_curve_dx_i8_t;
void odt_curve_dx_i8(const odt_curve_dx_i8_t *a);

// y = gain * f(x), f by kind: 0 ELU, else GELU
typedef struct {
    float *y; // [N], may be x
    const float *x; // [N]
    int32_t N, kind, alpha, gain;
} odt_curve_f32_t;
void odt_curve_f32(const odt_curve_f32_t *a);

// dx = e * gain * f'(x), f as of curve_f32
typedef struct {
    float *dx; // [N], may be e
    const float *e; // [N]
    const float *x; // [N]
    int32_t N, kind, alpha, gain;
} odt_curve_dx_f32_t;
void odt_curve_dx_f32(const odt_curve_dx_f32_t *a);

// y = the nibbles of x times 16, as int8: of each word the four low ones, then the high ones
typedef struct {
    int32_t *y; // [N][2]
    const int32_t *x; // [N]
    int32_t N;
} odt_unpack_i4_t;
void odt_unpack_i4(const odt_unpack_i4_t *a);

// y[t] = cell(a[t], b + y[t - 1] @ w.T, y[t - 1]), its last R steps; v = gates, u = what else its gradient needs
typedef struct {
    int8_t *y; // [B][R][H]
    int8_t *v; // [B][K][G]
    int8_t *u; // [B][K][H]
    int32_t *peak; // [1]
    int8_t *p; // [H]
    int32_t *c; // [H]
    int32_t *d; // [G]
    const int8_t *a; // [B][T][G]
    const int8_t *w; // [G][H]
    const int32_t *b; // [G]
    const odt_multiplier_t *q; // [G]
    const odt_multiplier_t *qa; // [1]
    const odt_multiplier_t *qu; // [1]
    int32_t B, T, G, H, R, K, kind, za;
} odt_recur_i8_t;
void odt_recur_i8(const odt_recur_i8_t *a);

// dx = error of a, n = error of a GRU's recurrent candidate, p[t] = y[t - 1]
typedef struct {
    int8_t *dx; // [B][T][G]
    int32_t *peak; // [1]
    int8_t *n; // [B][E][H]
    int8_t *p; // [B][T][H]
    int32_t *s; // [H][3]
    int16_t *d; // [G]
    const int8_t *e; // [B][R][H]
    const int8_t *y; // [B][T][H]
    const int8_t *v; // [B][K][G]
    const int8_t *u; // [B][K][H]
    const int8_t *w; // [G][H]
    const odt_multiplier_t *qe; // [1]
    const odt_multiplier_t *qr; // [1]
    const odt_multiplier_t *qu; // [1]
    const int32_t *c; // [16]
    int32_t B, T, G, H, R, K, E, kind, id;
} odt_recur_dx_i8_t;
void odt_recur_dx_i8(const odt_recur_dx_i8_t *a);

// as recur_i8
typedef struct {
    float *y; // [B][R][H]
    float *v; // [B][K][G]
    float *u; // [B][K][H]
    float *p; // [H][2]
    float *d; // [G]
    const float *a; // [B][T][G]
    const float *w; // [G][H]
    const float *b; // [G]
    int32_t B, T, G, H, R, K, kind;
} odt_recur_f32_t;
void odt_recur_f32(const odt_recur_f32_t *a);

// as recur_dx_i8
typedef struct {
    float *dx; // [B][T][G]
    float *n; // [B][E][H]
    float *p; // [B][T][H]
    float *s; // [H][3]
    const float *e; // [B][R][H]
    const float *y; // [B][T][H]
    const float *v; // [B][K][G]
    const float *u; // [B][K][H]
    const float *w; // [G][H]
    int32_t B, T, G, H, R, K, E, kind;
} odt_recur_dx_f32_t;
void odt_recur_dx_f32(const odt_recur_dx_f32_t *a);

// p[g, t] = 256 * softmax_s(q * sum_k a[t, g, k] * b[s, g, k]) - 128, causal: of s <= t
typedef struct {
    int8_t *p; // [B][G][T][S]
    int32_t *r; // [S]
    const int8_t *a; // [B][T][G][K]
    const int8_t *b; // [B][S][G][K]
    const odt_multiplier_t *q; // [1]
    int32_t B, G, T, S, K, causal;
} odt_attend_i8_t;
void odt_attend_i8(const odt_attend_i8_t *a);

// dp = clamp(q * (p + 128) * (d - sum_s d * (p + 128) / 256)), d[s] = sum_k e[t, g, k] * v[s, g, k], rounded at random
typedef struct {
    int8_t *dp; // [B][G][T][S]
    int32_t *peak; // [1]
    int32_t *r; // [S]
    const int8_t *e; // [B][T][G][K]
    const int8_t *v; // [B][S][G][K]
    const int8_t *p; // [B][G][T][S]
    const odt_multiplier_t *q; // [1]
    const int32_t *c; // [16]
    int32_t B, G, T, S, K, id;
} odt_attend_dx_i8_t;
void odt_attend_dx_i8(const odt_attend_dx_i8_t *a);

// y[t, g, k] = clamp(q * sum_s (a[g, t, s] - za) * b[s, g, k]), back: a[g, s, t]; rounded at random where id is not 0
typedef struct {
    int8_t *y; // [B][T][G][K]
    int32_t *peak; // [1]
    const int8_t *a; // [B][G][T][S]
    const int8_t *b; // [B][S][G][K]
    const odt_multiplier_t *q; // [1]
    const int32_t *c; // [16]
    int32_t B, G, T, S, K, za, id, back;
} odt_mix_i8_t;
void odt_mix_i8(const odt_mix_i8_t *a);

// y[b] = clamp(zy + qx * (x[b] - zx) + qb * b)
typedef struct {
    int8_t *y; // [B][N], may be x
    int32_t *peak; // [1]
    const int8_t *x; // [B][N]
    const int32_t *b; // [N]
    const odt_multiplier_t *qx; // [1]
    const odt_multiplier_t *qb; // [1]
    int32_t B, N, zx, zy, lo;
} odt_offset_i8_t;
void odt_offset_i8(const odt_offset_i8_t *a);

// p[g, t] = softmax_s(factor * sum_k a[t, g, k] * b[s, g, k]), causal: of s <= t
typedef struct {
    float *p; // [B][G][T][S]
    const float *a; // [B][T][G][K]
    const float *b; // [B][S][G][K]
    int32_t B, G, T, S, K, causal, factor;
} odt_attend_f32_t;
void odt_attend_f32(const odt_attend_f32_t *a);

// dp = p * (d - sum_s d * p), d[s] = sum_k e[t, g, k] * v[s, g, k]
typedef struct {
    float *dp; // [B][G][T][S]
    const float *e; // [B][T][G][K]
    const float *v; // [B][S][G][K]
    const float *p; // [B][G][T][S]
    int32_t B, G, T, S, K;
} odt_attend_dx_f32_t;
void odt_attend_dx_f32(const odt_attend_dx_f32_t *a);

// y[t, g, k] = factor * sum_s a[g, t, s] * b[s, g, k], back: a[g, s, t]
typedef struct {
    float *y; // [B][T][G][K]
    const float *a; // [B][G][T][S]
    const float *b; // [B][S][G][K]
    int32_t B, G, T, S, K, factor, back;
} odt_mix_f32_t;
void odt_mix_f32(const odt_mix_f32_t *a);

// y[b] = x[b] + b
typedef struct {
    float *y; // [B][N], may be x
    const float *x; // [B][N]
    const float *b; // [N]
    int32_t B, N;
} odt_offset_f32_t;
void odt_offset_f32(const odt_offset_f32_t *a);

// y[m] = w[min(x[m] + 128, V - 1)]
typedef struct {
    int8_t *y; // [M][N]
    const int8_t *x; // [M]
    const int8_t *w; // [V][N]
    int32_t M, N, V;
} odt_embed_i8_t;
void odt_embed_i8(const odt_embed_i8_t *a);

// rows = the count tokens of x, each once, ascending, or all tokens; dw[j] = sum_m e[m], of those that name rows[j]
typedef struct {
    int32_t *dw; // [R][N]
    int32_t *count; // [1]
    int32_t *rows; // [R]
    const int8_t *e; // [M][N]
    const int8_t *x; // [M]
    int32_t M, N, V, R, all;
} odt_embed_dw_i8_t;
void odt_embed_dw_i8(const odt_embed_dw_i8_t *a);

// y[m] = w[min(max(x[m], 0), 255, V - 1)]
typedef struct {
    float *y; // [M][N]
    const float *x; // [M]
    const float *w; // [V][N]
    int32_t M, N, V;
} odt_embed_f32_t;
void odt_embed_f32(const odt_embed_f32_t *a);

// as embed_dw_i8
typedef struct {
    float *dw; // [R][N]
    int32_t *count; // [1]
    int32_t *rows; // [R]
    const float *e; // [M][N]
    const float *x; // [M]
    int32_t M, N, V, R, all;
} odt_embed_dw_f32_t;
void odt_embed_dw_f32(const odt_embed_dw_f32_t *a);

// w -= rate * ds[n] * d / sw[n], rounded at random
typedef struct {
    int8_t *w; // [N][K]
    int32_t *sw; // [N]
    int32_t *limited; // [1]
    const int32_t *d; // [R][K]
    const int32_t *ds; // [R]
    const int32_t *rate; // [1]
    const int32_t *c; // [16]
    int32_t N, K, id, common, at, R;
} odt_round_i8_t;
void odt_round_i8(const odt_round_i8_t *a);

// as recur_i8; sample b begins with p[b, 0], cell[b, 0] and leaves what it ends with in p[b, 1], cell[b, 1]
typedef struct {
    int8_t *y; // [B][R][H]
    int8_t *v; // [B][K][G]
    int8_t *u; // [B][K][H]
    int32_t *peak; // [1]
    int8_t *p; // [B][2][H]
    int32_t *cell; // [B][2][H]
    int32_t *d; // [G]
    const int8_t *a; // [B][T][G]
    const int8_t *w; // [G][H]
    const int32_t *b; // [G]
    const odt_multiplier_t *q; // [G]
    const odt_multiplier_t *qa; // [1]
    const odt_multiplier_t *qu; // [1]
    int32_t B, T, G, H, R, K, kind, za;
} odt_recur_on_i8_t;
void odt_recur_on_i8(const odt_recur_on_i8_t *a);

#endif
