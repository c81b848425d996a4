// Generated from odt/base/opcodes.py by odt/host/generate.py; after a change there: make generate.
//
// What the verifier and the executor know of each instruction: of all, or in a file for stock firmware of the
// piece ODT_PIECE (odt/host/release/pieces.py).

#include <stddef.h>

#include "core.h"
#include "opcodes.h"
#include "table.h"

#define HAS(piece) (!ODT_MPY || ODT_PIECE == (piece))

#if ODT_MPY && ODT_PIECE == 0
#define ROWS 39
#define SHAPES 454
#define FIRST 0
#elif ODT_MPY && ODT_PIECE == 1
#define ROWS 10
#define SHAPES 259
#define FIRST 454
#elif ODT_MPY && ODT_PIECE == 2
#define ROWS 3
#define SHAPES 97
#define FIRST 713
#elif ODT_MPY && ODT_PIECE == 3
#define ROWS 12
#define SHAPES 240
#define FIRST 810
#elif ODT_MPY && ODT_PIECE == 4
#define ROWS 15
#define SHAPES 202
#define FIRST 1050
#elif ODT_MPY && ODT_PIECE == 5
#define ROWS 25
#define SHAPES 513
#define FIRST 1252
#elif ODT_MPY && ODT_PIECE == 6
#define ROWS 35
#define SHAPES 309
#define FIRST 1765
#elif ODT_MPY && ODT_PIECE == 7
#define ROWS 10
#define SHAPES 234
#define FIRST 2074
#elif ODT_MPY && ODT_PIECE == 8
#define ROWS 39
#define SHAPES 666
#define FIRST 2308
#elif ODT_MPY && ODT_PIECE == 9
#define ROWS 5
#define SHAPES 105
#define FIRST 2974
#elif ODT_MPY && ODT_PIECE == 10
#define ROWS 2
#define SHAPES 39
#define FIRST 3079
#elif ODT_MPY && ODT_PIECE == 11
#define ROWS 2
#define SHAPES 35
#define FIRST 3118
#elif ODT_MPY && ODT_PIECE == 12
#define ROWS 1
#define SHAPES 6
#define FIRST 3153
#elif ODT_MPY && ODT_PIECE == 13
#define ROWS 3
#define SHAPES 145
#define FIRST 3159
#elif ODT_MPY && ODT_PIECE == 14
#define ROWS 2
#define SHAPES 75
#define FIRST 3304
#elif ODT_MPY && ODT_PIECE == 15
#define ROWS 4
#define SHAPES 107
#define FIRST 3379
#elif ODT_MPY && ODT_PIECE == 16
#define ROWS 4
#define SHAPES 79
#define FIRST 3486
#elif ODT_MPY && ODT_PIECE == 17
#define ROWS 2
#define SHAPES 28
#define FIRST 3565
#elif ODT_MPY && ODT_PIECE == 18
#define ROWS 2
#define SHAPES 28
#define FIRST 3593
#else
#define ROWS (ODT_OPCODES + 1)
#define SHAPES ODT_SHAPES
#define FIRST 0
#endif

#if ODT_MPY
#define AT(number, row) (row)
static const struct {
    odt_opcode_t rows[ROWS];
    uint8_t shapes[SHAPES];
} odt_table = {
#else
#define AT(number, row) (number)
const odt_table_t odt_table = {
#endif
    // Every instruction's kernel, distance from here to its shapes, operands and immediates.
    // What is outside has its shapes there.
    #define ROW(number, kernel, row, at, operands, immediates) [AT(number, row)] = { \
        IS_INSIDE ? kernel : 0, \
        IS_INSIDE ? (ROWS - AT(number, row)) * sizeof(odt_opcode_t) + (at) - FIRST - LEFT_OUT : 0, \
        operands, immediates},
    #define IS_INSIDE 1
    #define LEFT_OUT 0
    {
    #if HAS(0) // _odt: verifier, executor, int8 models of dense layers
    ROW(ODT_CLEAR, (odt_kernel_t)odt_clear, 0, 0, 1, 1)
    ROW(ODT_TICK, (odt_kernel_t)odt_tick, 1, 3, 3, 2)
    ROW(ODT_GATHER_I8, (odt_kernel_t)odt_gather_i8, 2, 11, 5, 3)
    ROW(ODT_RESCALE, (odt_kernel_t)odt_rescale, 3, 24, 4, 2)
    ROW(ODT_RATIO, (odt_kernel_t)odt_ratio, 4, 34, 3, 1)
    ROW(ODT_PRODUCT, (odt_kernel_t)odt_product, 5, 41, 3, 1)
    ROW(ODT_BIAS_I8, (odt_kernel_t)odt_bias_i8, 6, 48, 4, 1)
    ROW(ODT_RANGE_I8, (odt_kernel_t)odt_range_i8, 7, 57, 2, 3)
    ROW(ODT_DENSE_I8, (odt_kernel_t)odt_dense_i8, 8, 64, 6, 6)
    ROW(ODT_DENSE_DX_I8, (odt_kernel_t)odt_dense_dx_i8, 9, 85, 5, 3)
    ROW(ODT_DENSE_DW_I8, (odt_kernel_t)odt_dense_dw_i8, 10, 101, 3, 6)
    ROW(ODT_BIAS_DW_I8, (odt_kernel_t)odt_bias_dw_i8, 11, 116, 2, 2)
    ROW(ODT_RELU_I8, (odt_kernel_t)odt_relu_i8, 12, 123, 2, 2)
    ROW(ODT_RELU_DX_I8, (odt_kernel_t)odt_relu_dx_i8, 13, 129, 3, 2)
    ROW(ODT_SOFTMAX_XENT_I8, (odt_kernel_t)odt_softmax_xent_i8, 14, 137, 6, 3)
    ROW(ODT_MSE_I8, (odt_kernel_t)odt_mse_i8, 15, 153, 8, 3)
    ROW(ODT_MOMENTUM_I16, (odt_kernel_t)odt_momentum_i16, 16, 173, 6, 6)
    ROW(ODT_ADAM_I16, (odt_kernel_t)odt_adam_i16, 17, 193, 7, 8)
    ROW(ODT_PLAIN_I32, (odt_kernel_t)odt_plain_i32, 18, 218, 2, 2)
    ROW(ODT_APPLY_I8, (odt_kernel_t)odt_apply_i8, 19, 224, 8, 6)
    ROW(ODT_APPLY_I32, (odt_kernel_t)odt_apply_i32, 20, 249, 4, 1)
    ROW(ODT_RELU6_DX_I8, (odt_kernel_t)odt_relu6_dx_i8, 21, 258, 3, 1)
    ROW(ODT_SIGMOID_I8, (odt_kernel_t)odt_sigmoid_i8, 22, 265, 3, 3)
    ROW(ODT_SIGMOID_DX_I8, (odt_kernel_t)odt_sigmoid_dx_i8, 23, 274, 5, 1)
    ROW(ODT_SOFTMAX_I8, (odt_kernel_t)odt_softmax_i8, 24, 285, 3, 3)
    ROW(ODT_SOFTMAX_DX_I8, (odt_kernel_t)odt_softmax_dx_i8, 25, 296, 5, 2)
    ROW(ODT_NESTEROV_I16, (odt_kernel_t)odt_nesterov_i16, 26, 311, 6, 6)
    ROW(ODT_ACCUMULATE_I32, (odt_kernel_t)odt_accumulate_i32, 27, 331, 2, 1)
    ROW(ODT_BINARY_XENT_I8, (odt_kernel_t)odt_binary_xent_i8, 28, 336, 6, 3)
    ROW(ODT_SQUARES_I32, (odt_kernel_t)odt_squares_i32, 29, 352, 3, 2)
    ROW(ODT_CLIP_I32, (odt_kernel_t)odt_clip_i32, 30, 360, 2, 1)
    ROW(ODT_STEP_KEY, (odt_kernel_t)odt_step_key, 31, 365, 2, 1)
    ROW(ODT_FEW, NULL, 32, 370, 1, 2)
    ROW(ODT_EACH, NULL, 33, 374, 2, 4)
    ROW(ODT_SETTLE_I8, (odt_kernel_t)odt_settle_i8, 34, 382, 4, 2)
    ROW(ODT_OPEN_I8, (odt_kernel_t)odt_open_i8, 35, 394, 2, 4)
    ROW(ODT_MASKED_I8, (odt_kernel_t)odt_masked_i8, 36, 402, 3, 2)
    ROW(ODT_ADAM_I8, (odt_kernel_t)odt_adam_i8, 37, 410, 11, 10)
    ROW(ODT_RANGE_X_I8, (odt_kernel_t)odt_range_x_i8, 38, 447, 3, 1)
    #endif
    #if HAS(1) // _odt_conv: int8 convolutions and pooling
    ROW(ODT_CONV2D_I8, (odt_kernel_t)odt_conv2d_i8, 0, 454, 6, 16)
    ROW(ODT_CONV2D_DX_I8, (odt_kernel_t)odt_conv2d_dx_i8, 1, 491, 5, 13)
    ROW(ODT_CONV2D_DW_I8, (odt_kernel_t)odt_conv2d_dw_i8, 2, 523, 3, 16)
    ROW(ODT_MAXPOOL2D_I8, (odt_kernel_t)odt_maxpool2d_i8, 3, 554, 2, 13)
    ROW(ODT_UNPOOL2D_I8, (odt_kernel_t)odt_unpool2d_i8, 4, 577, 4, 15)
    ROW(ODT_GLOBALAVG_I8, (odt_kernel_t)odt_globalavg_i8, 5, 606, 4, 6)
    ROW(ODT_GLOBALAVG_DX_I8, (odt_kernel_t)odt_globalavg_dx_i8, 6, 623, 2, 3)
    ROW(ODT_AVGPOOL2D_I8, (odt_kernel_t)odt_avgpool2d_i8, 7, 633, 2, 14)
    ROW(ODT_AVGPOOL2D_DX_I8, (odt_kernel_t)odt_avgpool2d_dx_i8, 8, 657, 4, 15)
    ROW(ODT_MAXPOOL2D_CHOICE_I8, (odt_kernel_t)odt_maxpool2d_choice_i8, 9, 686, 3, 15)
    #endif
    #if HAS(2) // _odt_depth: int8 depthwise convolutions
    ROW(ODT_DEPTHWISE2D_I8, (odt_kernel_t)odt_depthwise2d_i8, 0, 713, 6, 16)
    ROW(ODT_DEPTHWISE2D_DX_I8, (odt_kernel_t)odt_depthwise2d_dx_i8, 1, 749, 5, 13)
    ROW(ODT_DEPTHWISE2D_DW_I8, (odt_kernel_t)odt_depthwise2d_dw_i8, 2, 780, 3, 16)
    #endif
    #if HAS(3) // _odt_norm: int8 normalisation
    ROW(ODT_NORM_STATS_I8, (odt_kernel_t)odt_norm_stats_i8, 0, 810, 3, 7)
    ROW(ODT_BATCH_STATS_I8, (odt_kernel_t)odt_batch_stats_i8, 1, 828, 5, 6)
    ROW(ODT_RUNNING_STATS_I8, (odt_kernel_t)odt_running_stats_i8, 2, 847, 4, 3)
    ROW(ODT_TRACK_I8, (odt_kernel_t)odt_track_i8, 3, 859, 5, 4)
    ROW(ODT_AFFINE_I8, (odt_kernel_t)odt_affine_i8, 4, 874, 5, 1)
    ROW(ODT_NORM_I8, (odt_kernel_t)odt_norm_i8, 5, 885, 6, 7)
    ROW(ODT_NORM_DW_I8, (odt_kernel_t)odt_norm_dw_i8, 6, 914, 4, 6)
    ROW(ODT_NORM_DX_I8, (odt_kernel_t)odt_norm_dx_i8, 7, 937, 10, 9)
    ROW(ODT_AFFINE_DX_I8, (odt_kernel_t)odt_affine_dx_i8, 8, 978, 8, 3)
    ROW(ODT_GATHER_NORM_I8, (odt_kernel_t)odt_gather_norm_i8, 9, 1000, 7, 4)
    ROW(ODT_READ_STATS_I8, (odt_kernel_t)odt_read_stats_i8, 10, 1019, 5, 4)
    ROW(ODT_TRACK_READ_I8, (odt_kernel_t)odt_track_read_i8, 11, 1034, 5, 5)
    #endif
    #if HAS(4) // _odt_more: int8 joins, dropout and weight decay, rarer losses and activations
    ROW(ODT_RESCALE_DX, (odt_kernel_t)odt_rescale_dx, 0, 1050, 5, 2)
    ROW(ODT_CHANNEL_SCALE_I8, (odt_kernel_t)odt_channel_scale_i8, 1, 1062, 4, 3)
    ROW(ODT_ADD_I8, (odt_kernel_t)odt_add_i8, 2, 1075, 6, 5)
    ROW(ODT_CONCAT_I8, (odt_kernel_t)odt_concat_i8, 3, 1092, 4, 7)
    ROW(ODT_PLACE, (odt_kernel_t)odt_place, 4, 1109, 2, 4)
    ROW(ODT_SLICE, (odt_kernel_t)odt_slice, 5, 1119, 2, 4)
    ROW(ODT_LEAKY_RELU_I8, (odt_kernel_t)odt_leaky_relu_i8, 6, 1129, 2, 3)
    ROW(ODT_LEAKY_RELU_DX_I8, (odt_kernel_t)odt_leaky_relu_dx_i8, 7, 1136, 4, 4)
    ROW(ODT_DECAY_I8, (odt_kernel_t)odt_decay_i8, 8, 1148, 3, 3)
    ROW(ODT_DECAY_I32, (odt_kernel_t)odt_decay_i32, 9, 1157, 2, 3)
    ROW(ODT_DROPOUT_I8, (odt_kernel_t)odt_dropout_i8, 10, 1164, 6, 6)
    ROW(ODT_DROPOUT_DX_I8, (odt_kernel_t)odt_dropout_dx_i8, 11, 1184, 3, 4)
    ROW(ODT_MAE_I8, (odt_kernel_t)odt_mae_i8, 12, 1196, 6, 3)
    ROW(ODT_HUBER_I8, (odt_kernel_t)odt_huber_i8, 13, 1212, 8, 4)
    ROW(ODT_WEIGHTED_XENT_I8, (odt_kernel_t)odt_weighted_xent_i8, 14, 1233, 7, 4)
    #endif
    #if HAS(5) // _odt_rare: int8 grouped, transposed and dynamic layers, Multiply, upsampling, sampling, zeroth order
    #undef IS_INSIDE
    #define IS_INSIDE !(ODT_OUTSIDE & 0x20)
    #undef LEFT_OUT
    #define LEFT_OUT (0)
    ROW(ODT_MULTIPLY_I8, (odt_kernel_t)odt_multiply_i8, 0, 1252, 5, 5)
    ROW(ODT_UPSAMPLE2D, (odt_kernel_t)odt_upsample2d, 1, 1267, 2, 6)
    ROW(ODT_UPSAMPLE2D_DX_I8, (odt_kernel_t)odt_upsample2d_dx_i8, 2, 1285, 4, 6)
    ROW(ODT_GROUP_CONV2D_I8, (odt_kernel_t)odt_group_conv2d_i8, 3, 1307, 6, 17)
    ROW(ODT_GROUP_CONV2D_DX_I8, (odt_kernel_t)odt_group_conv2d_dx_i8, 4, 1346, 5, 14)
    ROW(ODT_GROUP_CONV2D_DW_I8, (odt_kernel_t)odt_group_conv2d_dw_i8, 5, 1380, 3, 17)
    ROW(ODT_TRANSPOSED2D_I8, (odt_kernel_t)odt_transposed2d_i8, 6, 1413, 6, 16)
    ROW(ODT_TRANSPOSED2D_DX_I8, (odt_kernel_t)odt_transposed2d_dx_i8, 7, 1450, 5, 13)
    ROW(ODT_TRANSPOSED2D_DW_I8, (odt_kernel_t)odt_transposed2d_dw_i8, 8, 1482, 3, 16)
    ROW(ODT_RELATIVE_I8, (odt_kernel_t)odt_relative_i8, 9, 1513, 5, 1)
    ROW(ODT_RANK_I8, (odt_kernel_t)odt_rank_i8, 10, 1524, 5, 5)
    ROW(ODT_PICK, (odt_kernel_t)odt_pick, 11, 1540, 4, 4)
    ROW(ODT_PUT, (odt_kernel_t)odt_put, 12, 1556, 4, 4)
    ROW(ODT_FISHER_I8, (odt_kernel_t)odt_fisher_i8, 13, 1572, 5, 5)
    ROW(ODT_PASSED_I8, (odt_kernel_t)odt_passed_i8, 14, 1591, 3, 1)
    ROW(ODT_SLOPE_I8, (odt_kernel_t)odt_slope_i8, 15, 1598, 4, 4)
    ROW(ODT_ROOM_I8, (odt_kernel_t)odt_room_i8, 16, 1610, 4, 4)
    ROW(ODT_PERTURB_I8, (odt_kernel_t)odt_perturb_i8, 17, 1624, 3, 5)
    ROW(ODT_PERTURB_I32, (odt_kernel_t)odt_perturb_i32, 18, 1636, 2, 3)
    ROW(ODT_WALK_I8, (odt_kernel_t)odt_walk_i8, 19, 1643, 5, 4)
    ROW(ODT_WALK_I32, (odt_kernel_t)odt_walk_i32, 20, 1659, 3, 2)
    ROW(ODT_SAMPLING_I8, (odt_kernel_t)odt_sampling_i8, 21, 1667, 7, 5)
    ROW(ODT_DIVERGENCE_I8, (odt_kernel_t)odt_divergence_i8, 22, 1689, 6, 10)
    ROW(ODT_SAMPLING_DX_I8, (odt_kernel_t)odt_sampling_dx_i8, 23, 1713, 9, 7)
    ROW(ODT_ROUND_I8, (odt_kernel_t)odt_round_i8, 24, 1743, 7, 6)
    #endif
    #if HAS(6) // _odt_f32: float32 models of dense layers, and int8 ones with moments in float32
    #undef IS_INSIDE
    #define IS_INSIDE 1
    #undef LEFT_OUT
    #define LEFT_OUT ((ODT_OUTSIDE & 0x20 ? 513 : 0))
    ROW(ODT_MOMENTUM_I32, (odt_kernel_t)odt_momentum_i32, 0, 1765, 4, 4)
    ROW(ODT_ADAM_I32, (odt_kernel_t)odt_adam_i32, 1, 1779, 6, 8)
    ROW(ODT_GATHER_F32, (odt_kernel_t)odt_gather_f32, 2, 1802, 3, 2)
    ROW(ODT_DENSE_F32, (odt_kernel_t)odt_dense_f32, 3, 1810, 4, 4)
    ROW(ODT_DENSE_DX_F32, (odt_kernel_t)odt_dense_dx_f32, 4, 1825, 3, 3)
    ROW(ODT_DENSE_DW_F32, (odt_kernel_t)odt_dense_dw_f32, 5, 1837, 3, 5)
    ROW(ODT_BIAS_DW_F32, (odt_kernel_t)odt_bias_dw_f32, 6, 1851, 2, 2)
    ROW(ODT_RELU_F32, (odt_kernel_t)odt_relu_f32, 7, 1858, 2, 1)
    ROW(ODT_RELU_DX_F32, (odt_kernel_t)odt_relu_dx_f32, 8, 1863, 3, 1)
    ROW(ODT_SOFTMAX_XENT_F32, (odt_kernel_t)odt_softmax_xent_f32, 9, 1870, 4, 2)
    ROW(ODT_MSE_F32, (odt_kernel_t)odt_mse_f32, 10, 1881, 4, 2)
    ROW(ODT_MOMENTUM_F32, (odt_kernel_t)odt_momentum_f32, 11, 1892, 2, 2)
    ROW(ODT_ADAM_F32, (odt_kernel_t)odt_adam_f32, 12, 1898, 4, 6)
    ROW(ODT_APPLY_F32, (odt_kernel_t)odt_apply_f32, 13, 1912, 3, 1)
    ROW(ODT_RELU6_F32, (odt_kernel_t)odt_relu6_f32, 14, 1919, 2, 1)
    ROW(ODT_RELU6_DX_F32, (odt_kernel_t)odt_relu6_dx_f32, 15, 1924, 3, 1)
    ROW(ODT_LEAKY_RELU_F32, (odt_kernel_t)odt_leaky_relu_f32, 16, 1931, 2, 2)
    ROW(ODT_LEAKY_RELU_DX_F32, (odt_kernel_t)odt_leaky_relu_dx_f32, 17, 1937, 3, 2)
    ROW(ODT_SIGMOID_F32, (odt_kernel_t)odt_sigmoid_f32, 18, 1945, 2, 1)
    ROW(ODT_SIGMOID_DX_F32, (odt_kernel_t)odt_sigmoid_dx_f32, 19, 1950, 3, 1)
    ROW(ODT_TANH_F32, (odt_kernel_t)odt_tanh_f32, 20, 1957, 2, 1)
    ROW(ODT_TANH_DX_F32, (odt_kernel_t)odt_tanh_dx_f32, 21, 1962, 3, 1)
    ROW(ODT_SOFTMAX_F32, (odt_kernel_t)odt_softmax_f32, 22, 1969, 2, 2)
    ROW(ODT_SOFTMAX_DX_F32, (odt_kernel_t)odt_softmax_dx_f32, 23, 1977, 3, 2)
    ROW(ODT_DECAY_F32, (odt_kernel_t)odt_decay_f32, 24, 1988, 2, 2)
    ROW(ODT_NESTEROV_F32, (odt_kernel_t)odt_nesterov_f32, 25, 1994, 2, 2)
    ROW(ODT_NESTEROV_I32, (odt_kernel_t)odt_nesterov_i32, 26, 2000, 4, 4)
    ROW(ODT_ACCUMULATE_F32, (odt_kernel_t)odt_accumulate_f32, 27, 2014, 2, 1)
    ROW(ODT_BINARY_XENT_F32, (odt_kernel_t)odt_binary_xent_f32, 28, 2019, 4, 2)
    ROW(ODT_SQUARES_F32, (odt_kernel_t)odt_squares_f32, 29, 2030, 2, 1)
    ROW(ODT_CLIP_F32, (odt_kernel_t)odt_clip_f32, 30, 2035, 2, 1)
    ROW(ODT_SCALE_F32, (odt_kernel_t)odt_scale_f32, 31, 2040, 2, 1)
    ROW(ODT_OPEN_F32, (odt_kernel_t)odt_open_f32, 32, 2045, 2, 3)
    ROW(ODT_MASKED_F32, (odt_kernel_t)odt_masked_f32, 33, 2052, 3, 2)
    ROW(ODT_GATHER_NORM_F32, (odt_kernel_t)odt_gather_norm_f32, 34, 2060, 5, 3)
    #endif
    #if HAS(7) // _odt_f32_conv: float32 convolutions and pooling
    ROW(ODT_CONV2D_F32, (odt_kernel_t)odt_conv2d_f32, 0, 2074, 4, 14)
    ROW(ODT_CONV2D_DX_F32, (odt_kernel_t)odt_conv2d_dx_f32, 1, 2105, 3, 13)
    ROW(ODT_CONV2D_DW_F32, (odt_kernel_t)odt_conv2d_dw_f32, 2, 2133, 3, 15)
    ROW(ODT_MAXPOOL2D_F32, (odt_kernel_t)odt_maxpool2d_f32, 3, 2163, 2, 13)
    ROW(ODT_UNPOOL2D_F32, (odt_kernel_t)odt_unpool2d_f32, 4, 2186, 3, 15)
    ROW(ODT_GLOBALAVG_F32, (odt_kernel_t)odt_globalavg_f32, 5, 2213, 2, 3)
    ROW(ODT_GLOBALAVG_DX_F32, (odt_kernel_t)odt_globalavg_dx_f32, 6, 2223, 2, 3)
    ROW(ODT_AVGPOOL2D_F32, (odt_kernel_t)odt_avgpool2d_f32, 7, 2233, 2, 14)
    ROW(ODT_AVGPOOL2D_DX_F32, (odt_kernel_t)odt_avgpool2d_dx_f32, 8, 2257, 2, 14)
    ROW(ODT_MAXPOOL2D_CHOICE_F32, (odt_kernel_t)odt_maxpool2d_choice_f32, 9, 2281, 3, 15)
    #endif
    #if HAS(8) // _odt_f32_more: other float32
    #undef IS_INSIDE
    #define IS_INSIDE !(ODT_OUTSIDE & 0x100)
    #undef LEFT_OUT
    #define LEFT_OUT ((ODT_OUTSIDE & 0x20 ? 513 : 0))
    ROW(ODT_DEPTHWISE2D_F32, (odt_kernel_t)odt_depthwise2d_f32, 0, 2308, 4, 14)
    ROW(ODT_DEPTHWISE2D_DX_F32, (odt_kernel_t)odt_depthwise2d_dx_f32, 1, 2338, 3, 13)
    ROW(ODT_DEPTHWISE2D_DW_F32, (odt_kernel_t)odt_depthwise2d_dw_f32, 2, 2365, 3, 15)
    ROW(ODT_ADD_F32, (odt_kernel_t)odt_add_f32, 3, 2394, 3, 2)
    ROW(ODT_MULTIPLY_F32, (odt_kernel_t)odt_multiply_f32, 4, 2402, 3, 1)
    ROW(ODT_UPSAMPLE2D_DX_F32, (odt_kernel_t)odt_upsample2d_dx_f32, 5, 2409, 2, 6)
    ROW(ODT_GROUP_CONV2D_F32, (odt_kernel_t)odt_group_conv2d_f32, 6, 2427, 4, 15)
    ROW(ODT_GROUP_CONV2D_DX_F32, (odt_kernel_t)odt_group_conv2d_dx_f32, 7, 2460, 3, 14)
    ROW(ODT_GROUP_CONV2D_DW_F32, (odt_kernel_t)odt_group_conv2d_dw_f32, 8, 2490, 3, 16)
    ROW(ODT_TRANSPOSED2D_F32, (odt_kernel_t)odt_transposed2d_f32, 9, 2522, 4, 14)
    ROW(ODT_TRANSPOSED2D_DX_F32, (odt_kernel_t)odt_transposed2d_dx_f32, 10, 2553, 3, 13)
    ROW(ODT_TRANSPOSED2D_DW_F32, (odt_kernel_t)odt_transposed2d_dw_f32, 11, 2581, 3, 15)
    ROW(ODT_DROPOUT_F32, (odt_kernel_t)odt_dropout_f32, 12, 2611, 4, 4)
    ROW(ODT_DROPOUT_DX_F32, (odt_kernel_t)odt_dropout_dx_f32, 13, 2625, 3, 4)
    ROW(ODT_MAE_F32, (odt_kernel_t)odt_mae_f32, 14, 2637, 4, 2)
    ROW(ODT_HUBER_F32, (odt_kernel_t)odt_huber_f32, 15, 2648, 4, 3)
    ROW(ODT_WEIGHTED_XENT_F32, (odt_kernel_t)odt_weighted_xent_f32, 16, 2660, 5, 3)
    ROW(ODT_NORM_STATS_F32, (odt_kernel_t)odt_norm_stats_f32, 17, 2674, 2, 5)
    ROW(ODT_BATCH_STATS_F32, (odt_kernel_t)odt_batch_stats_f32, 18, 2688, 4, 4)
    ROW(ODT_RUNNING_STATS_F32, (odt_kernel_t)odt_running_stats_f32, 19, 2703, 3, 2)
    ROW(ODT_TRACK_F32, (odt_kernel_t)odt_track_f32, 20, 2712, 4, 3)
    ROW(ODT_NORM_F32, (odt_kernel_t)odt_norm_f32, 21, 2724, 5, 5)
    ROW(ODT_NORM_DW_F32, (odt_kernel_t)odt_norm_dw_f32, 22, 2749, 4, 4)
    ROW(ODT_NORM_DX_F32, (odt_kernel_t)odt_norm_dx_f32, 23, 2770, 6, 5)
    ROW(ODT_AFFINE_DX_F32, (odt_kernel_t)odt_affine_dx_f32, 24, 2799, 4, 2)
    ROW(ODT_RELATIVE_F32, (odt_kernel_t)odt_relative_f32, 25, 2812, 4, 1)
    ROW(ODT_RANK_F32, (odt_kernel_t)odt_rank_f32, 26, 2821, 5, 5)
    ROW(ODT_FISHER_F32, (odt_kernel_t)odt_fisher_f32, 27, 2837, 3, 3)
    ROW(ODT_PASSED_F32, (odt_kernel_t)odt_passed_f32, 28, 2850, 3, 1)
    ROW(ODT_SLOPE_F32, (odt_kernel_t)odt_slope_f32, 29, 2857, 3, 3)
    ROW(ODT_PERTURB_F32, (odt_kernel_t)odt_perturb_f32, 30, 2866, 2, 3)
    ROW(ODT_WALK_F32, (odt_kernel_t)odt_walk_f32, 31, 2873, 3, 2)
    ROW(ODT_SAMPLING_F32, (odt_kernel_t)odt_sampling_f32, 32, 2881, 4, 3)
    ROW(ODT_DIVERGENCE_F32, (odt_kernel_t)odt_divergence_f32, 33, 2895, 4, 6)
    ROW(ODT_SAMPLING_DX_F32, (odt_kernel_t)odt_sampling_dx_f32, 34, 2911, 5, 4)
    ROW(ODT_DISTIL_XENT_F32, (odt_kernel_t)odt_distil_xent_f32, 35, 2930, 4, 3)
    ROW(ODT_ENTROPY_F32, (odt_kernel_t)odt_entropy_f32, 36, 2942, 5, 3)
    ROW(ODT_CURVE_F32, (odt_kernel_t)odt_curve_f32, 37, 2956, 2, 4)
    ROW(ODT_CURVE_DX_F32, (odt_kernel_t)odt_curve_dx_f32, 38, 2964, 3, 4)
    #endif
    #if HAS(9) // _odt_import: int8 layers in another framework's steps, dilation
    #undef IS_INSIDE
    #define IS_INSIDE !(ODT_OUTSIDE & 0x200)
    #undef LEFT_OUT
    #define LEFT_OUT ((ODT_OUTSIDE & 0x20 ? 513 : 0) + (ODT_OUTSIDE & 0x100 ? 666 : 0))
    ROW(ODT_MEAN2D_I8, (odt_kernel_t)odt_mean2d_i8, 0, 2974, 5, 19)
    ROW(ODT_ADD_ONCE_I8, (odt_kernel_t)odt_add_once_i8, 1, 3009, 6, 5)
    ROW(ODT_LOOKUP_I8, (odt_kernel_t)odt_lookup_i8, 2, 3026, 3, 1)
    ROW(ODT_SPACE_TO_BATCH, (odt_kernel_t)odt_space_to_batch, 3, 3034, 2, 11)
    ROW(ODT_BATCH_TO_SPACE, (odt_kernel_t)odt_batch_to_space, 4, 3057, 2, 10)
    #endif
    #if HAS(10) // _odt_own: int8 losses of odt.continual.dark and odt.continual.tent
    #undef IS_INSIDE
    #define IS_INSIDE !(ODT_OUTSIDE & 0x400)
    #undef LEFT_OUT
    #define LEFT_OUT ((ODT_OUTSIDE & 0x20 ? 513 : 0) + (ODT_OUTSIDE & 0x100 ? 666 : 0) + (ODT_OUTSIDE & 0x200 ? 105 : \
        0))
    ROW(ODT_DISTIL_XENT_I8, (odt_kernel_t)odt_distil_xent_i8, 0, 3079, 6, 4)
    ROW(ODT_ENTROPY_I8, (odt_kernel_t)odt_entropy_i8, 1, 3096, 9, 3)
    #endif
    #if HAS(11) // _odt_curve: int8 ELU, SELU and GELU
    #undef IS_INSIDE
    #define IS_INSIDE !(ODT_OUTSIDE & 0x800)
    #undef LEFT_OUT
    #define LEFT_OUT ((ODT_OUTSIDE & 0x20 ? 513 : 0) + (ODT_OUTSIDE & 0x100 ? 666 : 0) + (ODT_OUTSIDE & 0x200 ? 105 : \
        0) + (ODT_OUTSIDE & 0x400 ? 39 : 0))
    ROW(ODT_CURVE_I8, (odt_kernel_t)odt_curve_i8, 0, 3118, 5, 8)
    ROW(ODT_CURVE_DX_I8, (odt_kernel_t)odt_curve_dx_i8, 1, 3136, 6, 5)
    #endif
    #if HAS(12) // _odt_packed: frozen weights of 4 bits
    #undef IS_INSIDE
    #define IS_INSIDE !(ODT_OUTSIDE & 0x1000)
    #undef LEFT_OUT
    #define LEFT_OUT ((ODT_OUTSIDE & 0x20 ? 513 : 0) + (ODT_OUTSIDE & 0x100 ? 666 : 0) + (ODT_OUTSIDE & 0x200 ? 105 : \
        0) + (ODT_OUTSIDE & 0x400 ? 39 : 0) + (ODT_OUTSIDE & 0x800 ? 35 : 0))
    ROW(ODT_UNPACK_I4, (odt_kernel_t)odt_unpack_i4, 0, 3153, 2, 1)
    #endif
    #if HAS(13) // _odt_recurrent: int8 GRU, LSTM and SimpleRNN
    #undef IS_INSIDE
    #define IS_INSIDE !(ODT_OUTSIDE & 0x2000)
    #undef LEFT_OUT
    #define LEFT_OUT ((ODT_OUTSIDE & 0x20 ? 513 : 0) + (ODT_OUTSIDE & 0x100 ? 666 : 0) + (ODT_OUTSIDE & 0x200 ? 105 : \
        0) + (ODT_OUTSIDE & 0x400 ? 39 : 0) + (ODT_OUTSIDE & 0x800 ? 35 : 0) + (ODT_OUTSIDE & 0x1000 ? 6 : 0))
    ROW(ODT_RECUR_I8, (odt_kernel_t)odt_recur_i8, 0, 3159, 13, 8)
    ROW(ODT_RECUR_DX_I8, (odt_kernel_t)odt_recur_dx_i8, 1, 3202, 15, 9)
    ROW(ODT_RECUR_ON_I8, (odt_kernel_t)odt_recur_on_i8, 2, 3257, 13, 8)
    #endif
    #if HAS(14) // _odt_f32_recurrent: float32 GRU, LSTM and SimpleRNN
    #undef IS_INSIDE
    #define IS_INSIDE !(ODT_OUTSIDE & 0x4000)
    #undef LEFT_OUT
    #define LEFT_OUT ((ODT_OUTSIDE & 0x20 ? 513 : 0) + (ODT_OUTSIDE & 0x100 ? 666 : 0) + (ODT_OUTSIDE & 0x200 ? 105 : \
        0) + (ODT_OUTSIDE & 0x400 ? 39 : 0) + (ODT_OUTSIDE & 0x800 ? 35 : 0) + (ODT_OUTSIDE & 0x1000 ? 6 : 0) + \
        (ODT_OUTSIDE & 0x2000 ? 145 : 0))
    ROW(ODT_RECUR_F32, (odt_kernel_t)odt_recur_f32, 0, 3304, 8, 7)
    ROW(ODT_RECUR_DX_F32, (odt_kernel_t)odt_recur_dx_f32, 1, 3337, 9, 8)
    #endif
    #if HAS(15) // _odt_attention: int8 attention and positions
    #undef IS_INSIDE
    #define IS_INSIDE !(ODT_OUTSIDE & 0x8000)
    #undef LEFT_OUT
    #define LEFT_OUT ((ODT_OUTSIDE & 0x20 ? 513 : 0) + (ODT_OUTSIDE & 0x100 ? 666 : 0) + (ODT_OUTSIDE & 0x200 ? 105 : \
        0) + (ODT_OUTSIDE & 0x400 ? 39 : 0) + (ODT_OUTSIDE & 0x800 ? 35 : 0) + (ODT_OUTSIDE & 0x1000 ? 6 : 0) + \
        (ODT_OUTSIDE & 0x2000 ? 145 : 0) + (ODT_OUTSIDE & 0x4000 ? 75 : 0))
    ROW(ODT_ATTEND_I8, (odt_kernel_t)odt_attend_i8, 0, 3379, 5, 6)
    ROW(ODT_ATTEND_DX_I8, (odt_kernel_t)odt_attend_dx_i8, 1, 3404, 8, 6)
    ROW(ODT_MIX_I8, (odt_kernel_t)odt_mix_i8, 2, 3438, 6, 8)
    ROW(ODT_OFFSET_I8, (odt_kernel_t)odt_offset_i8, 3, 3467, 6, 5)
    #endif
    #if HAS(16) // _odt_f32_attention: float32 attention and positions
    #undef IS_INSIDE
    #define IS_INSIDE !(ODT_OUTSIDE & 0x10000)
    #undef LEFT_OUT
    #define LEFT_OUT ((ODT_OUTSIDE & 0x20 ? 513 : 0) + (ODT_OUTSIDE & 0x100 ? 666 : 0) + (ODT_OUTSIDE & 0x200 ? 105 : \
        0) + (ODT_OUTSIDE & 0x400 ? 39 : 0) + (ODT_OUTSIDE & 0x800 ? 35 : 0) + (ODT_OUTSIDE & 0x1000 ? 6 : 0) + \
        (ODT_OUTSIDE & 0x2000 ? 145 : 0) + (ODT_OUTSIDE & 0x4000 ? 75 : 0) + (ODT_OUTSIDE & 0x8000 ? 107 : 0))
    ROW(ODT_ATTEND_F32, (odt_kernel_t)odt_attend_f32, 0, 3486, 3, 7)
    ROW(ODT_ATTEND_DX_F32, (odt_kernel_t)odt_attend_dx_f32, 1, 3508, 4, 5)
    ROW(ODT_MIX_F32, (odt_kernel_t)odt_mix_f32, 2, 3533, 3, 7)
    ROW(ODT_OFFSET_F32, (odt_kernel_t)odt_offset_f32, 3, 3555, 3, 2)
    #endif
    #if HAS(17) // _odt_embedding: int8 embeddings of tokens
    #undef IS_INSIDE
    #define IS_INSIDE !(ODT_OUTSIDE & 0x20000)
    #undef LEFT_OUT
    #define LEFT_OUT ((ODT_OUTSIDE & 0x20 ? 513 : 0) + (ODT_OUTSIDE & 0x100 ? 666 : 0) + (ODT_OUTSIDE & 0x200 ? 105 : \
        0) + (ODT_OUTSIDE & 0x400 ? 39 : 0) + (ODT_OUTSIDE & 0x800 ? 35 : 0) + (ODT_OUTSIDE & 0x1000 ? 6 : 0) + \
        (ODT_OUTSIDE & 0x2000 ? 145 : 0) + (ODT_OUTSIDE & 0x4000 ? 75 : 0) + (ODT_OUTSIDE & 0x8000 ? 107 : 0) + \
        (ODT_OUTSIDE & 0x10000 ? 79 : 0))
    ROW(ODT_EMBED_I8, (odt_kernel_t)odt_embed_i8, 0, 3565, 3, 3)
    ROW(ODT_EMBED_DW_I8, (odt_kernel_t)odt_embed_dw_i8, 1, 3576, 5, 5)
    #endif
    #if HAS(18) // _odt_f32_embedding: float32 embeddings of tokens
    #undef IS_INSIDE
    #define IS_INSIDE !(ODT_OUTSIDE & 0x40000)
    #undef LEFT_OUT
    #define LEFT_OUT ((ODT_OUTSIDE & 0x20 ? 513 : 0) + (ODT_OUTSIDE & 0x100 ? 666 : 0) + (ODT_OUTSIDE & 0x200 ? 105 : \
        0) + (ODT_OUTSIDE & 0x400 ? 39 : 0) + (ODT_OUTSIDE & 0x800 ? 35 : 0) + (ODT_OUTSIDE & 0x1000 ? 6 : 0) + \
        (ODT_OUTSIDE & 0x2000 ? 145 : 0) + (ODT_OUTSIDE & 0x4000 ? 75 : 0) + (ODT_OUTSIDE & 0x8000 ? 107 : 0) + \
        (ODT_OUTSIDE & 0x10000 ? 79 : 0) + (ODT_OUTSIDE & 0x20000 ? 28 : 0))
    ROW(ODT_EMBED_F32, (odt_kernel_t)odt_embed_f32, 0, 3593, 3, 3)
    ROW(ODT_EMBED_DW_F32, (odt_kernel_t)odt_embed_dw_f32, 1, 3604, 5, 5)
    #endif
    },
    // Every operand, then every immediate's limit, of one instruction after the other. An operand is
    // access << 6 | dtype << 3 | number of factors, then the factors of its extent: the index of an
    // immediate, or 128 + a number.
    {
    #if HAS(0)
        17, 0, ODT_SIZE, 17, 130, 145, 132, 145, 144, ODT_ANY, ODT_ANY, 2, 0, 1, 145, 129, 81, 144,
        104, 81, 129, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY, 33, 0, 81, 129, 81, 0, 81, 129,
        ODT_SIZE, ODT_ANY, 33, 129, 81, 129, 81, 129, ODT_ANY, 17, 129, 81, 129, 81, 129, ODT_ANY,
        17, 0, 81, 0, 81, 129, 81, 0, ODT_SIZE, 145, 129, 81, 129, ODT_ANY, ODT_ANY, ODT_ANY, 2, 0,
        2, 145, 129, 66, 0, 1, 66, 2, 1, 81, 2, 97, 2, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE,
        ODT_ANY, ODT_ANY, ODT_ANY, 2, 0, 1, 145, 129, 66, 0, 2, 66, 2, 1, 97, 129,
        ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, 18, 5, 1, 66, 0, 2, 66, 0, 1, ODT_SIZE | ODT_ROWS,
        ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_SIZE, 17, 1, 66, 0, 1, ODT_SIZE | ODT_ROWS,
        ODT_SIZE, 193, 0, 65, 0, ODT_SIZE | ODT_ROWS, ODT_ANY, 193, 0, 65, 0, 65, 0,
        ODT_SIZE | ODT_ROWS, ODT_ANY, 194, 0, 1, 17, 129, 145, 144, 104, 66, 0, 1, 81, 129,
        ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY, 194, 0, 1, 17, 129, 145, 129, 145, 144, 104, 66, 0,
        1, 81, 129, 81, 129, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY, 146, 0, 1, 17, 0, 138, 0, 1,
        129, 0, 81, 129, 81, 144, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY, 146, 0,
        1, 17, 0, 138, 0, 1, 138, 0, 1, 129, 0, 81, 129, 81, 144, ODT_SIZE, ODT_SIZE, ODT_ANY,
        ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY, 17, 0, 81, 129, ODT_SIZE, ODT_ANY, 130, 0, 1,
        130, 0, 1, 145, 0, 145, 129, 82, 5, 1, 81, 5, 81, 129, 81, 144, ODT_SIZE, ODT_SIZE,
        ODT_ANY, ODT_ANY, ODT_ANY, ODT_SIZE, 145, 0, 81, 0, 81, 129, 81, 129, ODT_SIZE, 193, 0, 65,
        0, 65, 0, ODT_SIZE | ODT_ROWS, 193, 0, 65, 0, 81, 129, ODT_SIZE | ODT_ROWS, ODT_ANY, ODT_ANY,
        1, 0, 145, 129, 65, 0, 65, 0, 97, 129, ODT_SIZE | ODT_ROWS, 194, 0, 1, 66, 0, 1, 81, 129,
        ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_ANY, 2, 0, 1, 145, 129, 66, 0, 1, 66, 0, 1, 97, 129,
        ODT_SIZE | ODT_ROWS, ODT_SIZE, 146, 0, 1, 17, 0, 138, 0, 1, 129, 0, 81, 129, 81, 144,
        ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY, 145, 0, 81, 0, ODT_SIZE, 194, 0, 1,
        17, 129, 145, 144, 104, 66, 0, 1, 81, 129, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY, 145,
        129, 81, 0, 81, 129, ODT_SIZE, ODT_ANY, 17, 129, 81, 129, ODT_ANY, 145, 144, 81, 132,
        ODT_ANY, 81, 129, ODT_SIZE, ODT_ANY, 81, 129, 81, 1, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY,
        130, 0, 1, 130, 0, 1, 145, 0, 81, 129, ODT_SIZE, ODT_SIZE, 1, 1, 65, 0, ODT_SIZE | ODT_ROWS,
        ODT_SIZE, ODT_ANY, ODT_ANY, 193, 0, 65, 0, 65, 1, ODT_SIZE | ODT_ROWS, ODT_SIZE, 130, 0, 1,
        130, 0, 1, 145, 0, 145, 129, 138, 9, 1, 138, 9, 1, 129, 9, 82, 9, 1, 81, 129, 81, 129, 81,
        144, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY,
        ODT_SIZE, 145, 129, 145, 129, 81, 129, ODT_ANY,
    #endif
    #if HAS(1)
        4, 0, 11, 12, 4, 145, 129, 68, 0, 1, 2, 3, 68, 4, 5, 6, 3, 81, 4, 97, 4,
        ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8,
        ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_ANY, ODT_ANY,
        ODT_ANY, 4, 0, 1, 2, 3, 145, 129, 68, 0, 11, 12, 4, 68, 4, 5, 6, 3, 97, 129,
        ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8,
        ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, 20, 15, 5, 6, 3,
        68, 0, 11, 12, 4, 68, 0, 1, 2, 3, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE,
        ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16,
        ODT_SIZE16, ODT_ANY, ODT_ANY, ODT_SIZE, 4, 0, 11, 12, 4, 68, 0, 1, 2, 4,
        ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8,
        ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, 4, 0, 1, 2, 4, 145,
        129, 68, 0, 11, 12, 4, 65, 13, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE,
        ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16,
        ODT_SIZE16, ODT_SIZE, ODT_ANY, 2, 0, 2, 145, 129, 67, 0, 1, 2, 97, 129,
        ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, 3, 0, 1, 2, 66, 0, 2,
        ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE, 4, 0, 11, 12, 4, 68, 0, 1, 2, 4,
        ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8,
        ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_ANY, 4, 0, 1,
        2, 4, 145, 129, 68, 0, 11, 12, 4, 97, 129, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16,
        ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING,
        ODT_SIZE16, ODT_SIZE16, ODT_ANY, ODT_ANY, 4, 0, 11, 12, 4, 1, 13, 68, 0, 1, 2, 4,
        ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8,
        ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_ANY,
    #endif
    #if HAS(2)
        4, 0, 11, 12, 4, 145, 129, 68, 0, 1, 2, 4, 67, 4, 5, 6, 81, 4, 97, 4, ODT_SIZE16 | ODT_ROWS,
        ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8,
        ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_ANY, ODT_ANY, ODT_ANY, 4, 0, 1, 2, 4,
        145, 129, 68, 0, 11, 12, 4, 67, 4, 5, 6, 97, 4, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16,
        ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING,
        ODT_PADDING, ODT_SIZE16, ODT_SIZE16, 19, 15, 5, 6, 68, 0, 11, 12, 4, 68, 0, 1, 2, 4,
        ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8,
        ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_ANY, ODT_ANY,
        ODT_SIZE,
    #endif
    #if HAS(3)
        19, 0, 2, 130, 68, 0, 1, 2, 3, 81, 129, ODT_SIZE | ODT_ROWS, ODT_SIZE | ODT_ROWS, ODT_SIZE,
        ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, 146, 2, 130, 145, 2, 67, 0, 1, 2, 81, 129, 81, 144,
        ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, 18, 0, 130, 81, 0, 81,
        0, 81, 129, ODT_SIZE, ODT_ANY, ODT_ANY, 145, 0, 145, 0, 82, 0, 130, 81, 0, 81, 129,
        ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, 33, 0, 17, 0, 81, 0, 81, 0, 81, 129, ODT_SIZE, 4, 0,
        1, 2, 3, 145, 129, 68, 0, 1, 2, 3, 83, 0, 2, 130, 98, 2, 3, 82, 2, 3, ODT_SIZE | ODT_ROWS,
        ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, 18, 2, 3, 68, 0, 1, 2, 3,
        68, 0, 1, 2, 3, 83, 0, 2, 130, ODT_SIZE | ODT_ROWS, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE,
        ODT_ANY, ODT_ANY, 4, 0, 1, 2, 3, 145, 129, 68, 0, 1, 2, 3, 68, 0, 1, 2, 3, 83, 0, 2, 130,
        82, 2, 3, 81, 129, 81, 129, 81, 129, 81, 144, ODT_SIZE | ODT_ROWS, ODT_SIZE | ODT_ROWS,
        ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY, ODT_SIZE, 2, 0, 1, 145, 129, 66, 0,
        1, 82, 1, 130, 81, 1, 81, 129, 81, 129, 81, 129, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_ANY, 3,
        0, 1, 2, 145, 129, 81, 144, 104, 81, 129, 81, 2, 81, 2, ODT_SIZE16 | ODT_ROWS, ODT_SIZE,
        ODT_SIZE, ODT_ANY, 146, 0, 130, 81, 0, 81, 0, 81, 129, 81, 144, ODT_SIZE, ODT_ANY, ODT_ANY,
        ODT_ANY, 145, 0, 145, 0, 82, 0, 130, 81, 0, 81, 129, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY,
        ODT_ANY,
    #endif
    #if HAS(4)
        33, 0, 33, 129, 81, 0, 81, 129, 81, 129, ODT_SIZE, ODT_ANY, 194, 0, 1, 66, 0, 1, 97, 1, 81,
        144, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_ANY, 193, 0, 145, 129, 65, 0, 65, 0, 97, 129, 97,
        129, ODT_SIZE | ODT_ROWS, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY, 130, 0, 2, 145, 129, 66, 0, 1,
        97, 129, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY, 130, 0,
        2, 66, 0, 1, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, 2, 0, 1, 66, 0, 2,
        ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, 193, 0, 65, 0, ODT_SIZE | ODT_ROWS, ODT_ANY,
        ODT_ANY, 193, 0, 65, 0, 65, 0, 81, 144, ODT_SIZE | ODT_ROWS, ODT_ANY, ODT_ANY, ODT_ANY, 129,
        0, 129, 0, 81, 144, ODT_SIZE, ODT_ANY, ODT_ANY, 145, 0, 81, 144, ODT_SIZE, ODT_ANY,
        ODT_ANY, 194, 0, 1, 17, 129, 66, 0, 1, 81, 129, 81, 132, 145, 144, ODT_SIZE16 | ODT_ROWS,
        ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY, 194, 0, 1, 66, 0, 1, 81, 144,
        ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY, ODT_ANY, 194, 0, 1, 17, 129, 145, 144, 104, 66, 0,
        1, 81, 129, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY, 2, 0, 1, 17, 129, 145, 129, 145, 144,
        104, 66, 0, 1, 81, 129, 81, 129, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY, ODT_ANY, 194, 0,
        1, 17, 129, 145, 144, 104, 66, 0, 1, 81, 129, 73, 1, ODT_SIZE16 | ODT_ROWS, ODT_SIZE,
        ODT_ANY, ODT_ANY,
    #endif
    #if HAS(5) && !(ODT_OUTSIDE & 0x20)
        1, 0, 145, 129, 65, 0, 65, 0, 97, 129, ODT_SIZE | ODT_ROWS, ODT_ANY, ODT_ANY, ODT_ANY,
        ODT_ANY, 6, 0, 1, 4, 2, 5, 3, 68, 0, 1, 2, 3, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16,
        ODT_SIZE, ODT_SIZE8, ODT_SIZE8, 4, 0, 1, 2, 3, 145, 129, 70, 0, 1, 4, 2, 5, 3, 97, 129,
        ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, 4, 0, 11, 12,
        4, 145, 129, 69, 0, 1, 2, 13, 3, 68, 4, 5, 6, 3, 81, 4, 97, 4, ODT_SIZE16 | ODT_ROWS,
        ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8,
        ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, 5,
        0, 1, 2, 13, 3, 145, 129, 68, 0, 11, 12, 4, 68, 4, 5, 6, 3, 97, 129, ODT_SIZE16 | ODT_ROWS,
        ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8,
        ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, 20, 16, 5, 6, 3, 68, 0, 11, 12,
        4, 69, 0, 1, 2, 13, 3, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE,
        ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16,
        ODT_SIZE16, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_SIZE, 4, 0, 11, 12, 4, 145, 129, 68, 0, 1, 2,
        3, 68, 4, 5, 6, 3, 81, 4, 97, 4, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE,
        ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16,
        ODT_SIZE16, ODT_ANY, ODT_ANY, ODT_ANY, 4, 0, 1, 2, 3, 145, 129, 68, 0, 11, 12, 4, 68, 4, 5,
        6, 3, 97, 129, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8,
        ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, 20, 15,
        5, 6, 3, 68, 0, 11, 12, 4, 68, 0, 1, 2, 3, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16,
        ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING,
        ODT_SIZE16, ODT_SIZE16, ODT_ANY, ODT_ANY, ODT_SIZE, 17, 129, 145, 129, 65, 0, 81, 129, 81,
        144, ODT_SIZE, 17, 129, 17, 2, 17, 1, 66, 0, 1, 81, 129, ODT_SIZE | ODT_ROWS, ODT_SIZE,
        ODT_SIZE, ODT_ANY, ODT_ANY, 3, 0, 2, 3, 67, 0, 1, 3, 81, 129, 81, 2, ODT_SIZE | ODT_ROWS,
        ODT_SIZE, ODT_SIZE, ODT_SIZE, 3, 0, 1, 3, 67, 0, 2, 3, 81, 129, 81, 2, ODT_SIZE | ODT_ROWS,
        ODT_SIZE, ODT_SIZE, ODT_SIZE, 145, 2, 67, 0, 1, 2, 67, 0, 1, 2, 81, 129, 81, 129,
        ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, 145, 134, 145, 129, 145, 144,
        ODT_ANY, 17, 130, 81, 134, 81, 129, 81, 144, ODT_SIZE16 | ODT_ROWS, ODT_ANY, ODT_ANY,
        ODT_ANY, 130, 0, 1, 130, 0, 1, 145, 0, 81, 144, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, 130,
        0, 1, 81, 0, 81, 144, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, 145, 0, 81, 144,
        ODT_SIZE, ODT_ANY, ODT_ANY, 130, 0, 1, 130, 0, 1, 145, 0, 81, 130, 81, 144, ODT_SIZE,
        ODT_SIZE, ODT_ANY, ODT_ANY, 145, 0, 81, 130, 81, 144, ODT_SIZE, ODT_ANY, 2, 0, 1, 145, 129,
        67, 0, 130, 1, 81, 129, 81, 129, 81, 132, 145, 144, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY,
        ODT_ANY, ODT_ANY, 17, 129, 145, 144, 67, 0, 130, 1, 81, 129, 81, 129, 81, 132,
        ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY,
        ODT_ANY, ODT_ANY, 3, 0, 130, 1, 145, 129, 66, 0, 1, 67, 0, 130, 1, 81, 129, 81, 129, 81,
        129, 81, 129, 81, 144, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY,
        ODT_ANY, 130, 0, 1, 145, 0, 145, 129, 82, 5, 1, 81, 5, 81, 129, 81, 144, ODT_SIZE,
        ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, ODT_SIZE,
    #endif
    #if HAS(6)
        146, 0, 1, 17, 0, 154, 0, 1, 81, 129, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, 146, 0, 1, 17,
        0, 154, 0, 1, 154, 0, 1, 81, 129, 81, 130, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY,
        ODT_ANY, ODT_ANY, ODT_ANY, 26, 0, 1, 81, 144, 104, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, 26, 0, 2,
        90, 0, 1, 90, 2, 1, 89, 2, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, 26, 0, 1, 90, 0,
        2, 90, 2, 1, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, 26, 4, 1, 90, 0, 2, 90, 0, 1,
        ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_SIZE, 25, 1, 90, 0, 1,
        ODT_SIZE | ODT_ROWS, ODT_SIZE, 217, 0, 89, 0, ODT_SIZE | ODT_ROWS, 217, 0, 89, 0, 89, 0,
        ODT_SIZE | ODT_ROWS, 218, 0, 1, 145, 144, 104, 90, 0, 1, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, 218,
        0, 1, 145, 144, 104, 90, 0, 1, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, 153, 0, 153, 0, ODT_SIZE,
        ODT_ANY, 153, 0, 153, 0, 153, 0, 81, 130, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY,
        ODT_ANY, 153, 0, 89, 0, 81, 129, ODT_SIZE, 217, 0, 89, 0, ODT_SIZE | ODT_ROWS, 217, 0, 89, 0,
        89, 0, ODT_SIZE | ODT_ROWS, 217, 0, 89, 0, ODT_SIZE | ODT_ROWS, ODT_ANY, 217, 0, 89, 0, 89, 0,
        ODT_SIZE | ODT_ROWS, ODT_ANY, 217, 0, 89, 0, ODT_SIZE | ODT_ROWS, 217, 0, 89, 0, 89, 0,
        ODT_SIZE | ODT_ROWS, 217, 0, 89, 0, ODT_SIZE | ODT_ROWS, 217, 0, 89, 0, 89, 0,
        ODT_SIZE | ODT_ROWS, 218, 0, 1, 90, 0, 1, ODT_SIZE | ODT_ROWS, ODT_SIZE, 218, 0, 1, 90, 0, 1,
        90, 0, 1, ODT_SIZE | ODT_ROWS, ODT_SIZE, 153, 0, 81, 144, ODT_SIZE, ODT_ANY, 153, 0, 153, 0,
        ODT_SIZE, ODT_ANY, 146, 0, 1, 17, 0, 154, 0, 1, 81, 129, ODT_SIZE, ODT_SIZE, ODT_ANY,
        ODT_ANY, 153, 0, 89, 0, ODT_SIZE, 218, 0, 1, 145, 144, 104, 90, 0, 1, ODT_SIZE16 | ODT_ROWS,
        ODT_SIZE, 153, 129, 89, 0, ODT_SIZE, 25, 129, 89, 129, ODT_ANY, 153, 0, 89, 129, ODT_SIZE,
        1, 1, 89, 0, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_ANY, 217, 0, 89, 0, 65, 1, ODT_SIZE | ODT_ROWS,
        ODT_SIZE, 27, 0, 1, 2, 81, 144, 104, 89, 2, 89, 2, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE,
    #endif
    #if HAS(7)
        28, 0, 11, 12, 4, 92, 0, 1, 2, 3, 92, 4, 5, 6, 3, 89, 4, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16,
        ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING,
        ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_ANY, 28, 0, 1, 2, 3, 92, 0, 11, 12, 4, 92, 4, 5,
        6, 3, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8,
        ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, 28, 14,
        5, 6, 3, 92, 0, 11, 12, 4, 92, 0, 1, 2, 3, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16,
        ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING,
        ODT_SIZE16, ODT_SIZE16, ODT_ANY, ODT_SIZE, 28, 0, 11, 12, 4, 92, 0, 1, 2, 4,
        ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8,
        ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, 28, 0, 1, 2, 4, 92,
        0, 11, 12, 4, 65, 13, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE,
        ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16,
        ODT_SIZE16, ODT_SIZE, ODT_ANY, 26, 0, 2, 91, 0, 1, 2, ODT_SIZE16 | ODT_ROWS, ODT_SIZE,
        ODT_SIZE, 27, 0, 1, 2, 90, 0, 2, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE, 28, 0, 11, 12, 4,
        92, 0, 1, 2, 4, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8,
        ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_ANY,
        28, 0, 1, 2, 4, 92, 0, 11, 12, 4, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE,
        ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16,
        ODT_SIZE16, ODT_ANY, 28, 0, 11, 12, 4, 1, 13, 92, 0, 1, 2, 4, ODT_SIZE16 | ODT_ROWS,
        ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8,
        ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_ANY,
    #endif
    #if HAS(8) && !(ODT_OUTSIDE & 0x100)
        28, 0, 11, 12, 4, 92, 0, 1, 2, 4, 91, 4, 5, 6, 89, 4, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16,
        ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING,
        ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_ANY, 28, 0, 1, 2, 4, 92, 0, 11, 12, 4, 91, 4, 5,
        6, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8,
        ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, 27, 14, 5, 6, 92,
        0, 11, 12, 4, 92, 0, 1, 2, 4, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE,
        ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16,
        ODT_SIZE16, ODT_ANY, ODT_SIZE, 217, 0, 89, 0, 89, 0, ODT_SIZE | ODT_ROWS, ODT_ANY, 217, 0,
        89, 0, 89, 0, ODT_SIZE | ODT_ROWS, 28, 0, 1, 2, 3, 94, 0, 1, 4, 2, 5, 3, ODT_SIZE16 | ODT_ROWS,
        ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, 28, 0, 11, 12, 4, 93, 0, 1, 2, 13,
        3, 92, 4, 5, 6, 3, 89, 4, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE,
        ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16,
        ODT_SIZE16, ODT_SIZE, ODT_ANY, 29, 0, 1, 2, 13, 3, 92, 0, 11, 12, 4, 92, 4, 5, 6, 3,
        ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8,
        ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, 28, 15,
        5, 6, 3, 92, 0, 11, 12, 4, 93, 0, 1, 2, 13, 3, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16,
        ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING,
        ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_ANY, ODT_SIZE, 28, 0, 11, 12, 4, 92, 0, 1, 2, 3, 92,
        4, 5, 6, 3, 89, 4, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE,
        ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16,
        ODT_SIZE16, ODT_ANY, 28, 0, 1, 2, 3, 92, 0, 11, 12, 4, 92, 4, 5, 6, 3, ODT_SIZE16 | ODT_ROWS,
        ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8,
        ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, 28, 14, 5, 6, 3, 92, 0, 11, 12, 4, 92, 0,
        1, 2, 3, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8,
        ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_ANY,
        ODT_SIZE, 218, 0, 1, 90, 0, 1, 81, 132, 145, 144, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY,
        ODT_ANY, 218, 0, 1, 90, 0, 1, 81, 144, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY, ODT_ANY,
        218, 0, 1, 145, 144, 104, 90, 0, 1, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, 218, 0, 1, 145, 144,
        104, 90, 0, 1, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY, 218, 0, 1, 145, 144, 104, 90, 0, 1,
        89, 1, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY, 27, 0, 2, 130, 92, 0, 1, 2, 3,
        ODT_SIZE | ODT_ROWS, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, 154, 2, 130, 153, 2, 91,
        0, 1, 2, 81, 144, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, 26, 0, 130, 89, 0, 89,
        0, ODT_SIZE, ODT_ANY, 153, 0, 153, 0, 90, 0, 130, 89, 0, ODT_SIZE, ODT_ANY, ODT_ANY, 220,
        0, 1, 2, 3, 92, 0, 1, 2, 3, 91, 0, 2, 130, 90, 2, 3, 90, 2, 3, ODT_SIZE | ODT_ROWS,
        ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, 26, 2, 3, 92, 0, 1, 2, 3, 92, 0, 1, 2, 3,
        91, 0, 2, 130, ODT_SIZE | ODT_ROWS, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, 220, 0, 1, 2, 3,
        92, 0, 1, 2, 3, 92, 0, 1, 2, 3, 91, 0, 2, 130, 90, 2, 3, 81, 144, ODT_SIZE | ODT_ROWS,
        ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, 218, 0, 1, 90, 0, 1, 90, 1, 130, 89, 1,
        ODT_SIZE | ODT_ROWS, ODT_SIZE, 17, 129, 153, 129, 89, 0, 81, 144, ODT_SIZE, 17, 129, 17, 2,
        25, 1, 90, 0, 1, 81, 129, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, 153, 2,
        91, 0, 1, 2, 91, 0, 1, 2, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE, 153, 131, 145, 129, 145,
        144, ODT_ANY, 25, 129, 89, 131, 81, 144, ODT_SIZE16 | ODT_ROWS, ODT_ANY, ODT_ANY, 153, 0, 81,
        144, ODT_SIZE, ODT_ANY, ODT_ANY, 153, 0, 89, 129, 81, 144, ODT_SIZE, ODT_ANY, 26, 0, 1, 91,
        0, 130, 1, 81, 132, 145, 144, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY, 25, 129, 145, 144,
        91, 0, 130, 1, 81, 132, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY,
        27, 0, 130, 1, 90, 0, 1, 91, 0, 130, 1, 89, 129, 81, 144, ODT_SIZE16 | ODT_ROWS, ODT_SIZE,
        ODT_ANY, ODT_ANY, 218, 0, 1, 145, 144, 104, 90, 0, 1, ODT_SIZE16 | ODT_ROWS, ODT_SIZE,
        ODT_ANY, 218, 0, 1, 25, 1, 145, 144, 104, 90, 0, 1, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY,
        217, 0, 89, 0, ODT_SIZE | ODT_ROWS, ODT_ANY, ODT_ANY, ODT_ANY, 217, 0, 89, 0, 89, 0,
        ODT_SIZE | ODT_ROWS, ODT_ANY, ODT_ANY, ODT_ANY,
    #endif
    #if HAS(9) && !(ODT_OUTSIDE & 0x200)
        4, 0, 11, 12, 4, 145, 129, 68, 0, 1, 2, 4, 81, 129, 81, 129, ODT_SIZE16 | ODT_ROWS,
        ODT_SIZE16, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8, ODT_SIZE8,
        ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY,
        ODT_ANY, ODT_ANY, 193, 0, 145, 129, 65, 0, 65, 0, 97, 129, 97, 129, ODT_SIZE | ODT_ROWS,
        ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY, 193, 0, 65, 0, 66, 132, 192, ODT_SIZE | ODT_ROWS, 6, 0,
        4, 5, 8, 9, 3, 68, 0, 1, 2, 3, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE,
        ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16, ODT_ANY, 4, 0, 1,
        2, 3, 70, 0, 4, 5, 8, 9, 3, ODT_SIZE16 | ODT_ROWS, ODT_SIZE16, ODT_SIZE16, ODT_SIZE,
        ODT_SIZE8, ODT_SIZE8, ODT_PADDING, ODT_PADDING, ODT_SIZE16, ODT_SIZE16,
    #endif
    #if HAS(10) && !(ODT_OUTSIDE & 0x400)
        194, 0, 1, 17, 129, 145, 144, 104, 66, 0, 1, 81, 129, ODT_SIZE16 | ODT_ROWS, ODT_SIZE,
        ODT_ANY, ODT_ANY, 2, 0, 1, 17, 129, 17, 1, 145, 129, 145, 144, 104, 66, 0, 1, 81, 129, 81,
        129, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY,
    #endif
    #if HAS(11) && !(ODT_OUTSIDE & 0x800)
        1, 0, 145, 129, 65, 0, 81, 129, 81, 129, ODT_SIZE | ODT_ROWS, ODT_ANY, ODT_ANY, ODT_ANY,
        ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY, 1, 0, 145, 129, 65, 0, 65, 0, 81, 129, 97, 129,
        ODT_SIZE | ODT_ROWS, ODT_ANY, ODT_ANY, ODT_ANY, ODT_ANY,
    #endif
    #if HAS(12) && !(ODT_OUTSIDE & 0x1000)
        18, 0, 130, 81, 0, ODT_SIZE,
    #endif
    #if HAS(13) && !(ODT_OUTSIDE & 0x2000)
        3, 0, 4, 3, 3, 0, 5, 2, 3, 0, 5, 3, 145, 129, 1, 3, 17, 3, 17, 2, 67, 0, 1, 2, 66, 2, 3,
        81, 2, 97, 2, 97, 129, 97, 129, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_SIZE16,
        ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, 3, 0, 1, 2, 145, 129, 3, 0, 6, 3, 3, 0, 1, 3, 18, 3,
        131, 9, 2, 67, 0, 4, 3, 67, 0, 1, 3, 67, 0, 5, 2, 67, 0, 5, 3, 66, 2, 3, 97, 129, 97, 129,
        97, 129, 81, 144, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_SIZE16, ODT_SIZE, ODT_SIZE,
        ODT_SIZE, ODT_ANY, ODT_ANY, 3, 0, 4, 3, 3, 0, 5, 2, 3, 0, 5, 3, 145, 129, 3, 0, 130, 3, 19,
        0, 130, 3, 17, 2, 67, 0, 1, 2, 66, 2, 3, 81, 2, 97, 2, 97, 129, 97, 129,
        ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY,
    #endif
    #if HAS(14) && !(ODT_OUTSIDE & 0x4000)
        27, 0, 4, 3, 27, 0, 5, 2, 27, 0, 5, 3, 26, 3, 130, 25, 2, 91, 0, 1, 2, 90, 2, 3, 89, 2,
        ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_SIZE16, ODT_SIZE, ODT_SIZE, ODT_ANY, 27, 0, 1,
        2, 27, 0, 6, 3, 27, 0, 1, 3, 26, 3, 131, 91, 0, 4, 3, 91, 0, 1, 3, 91, 0, 5, 2, 91, 0, 5,
        3, 90, 2, 3, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_SIZE16, ODT_SIZE, ODT_SIZE,
        ODT_SIZE, ODT_ANY,
    #endif
    #if HAS(15) && !(ODT_OUTSIDE & 0x8000)
        4, 0, 1, 2, 3, 17, 3, 68, 0, 2, 1, 4, 68, 0, 3, 1, 4, 97, 129, ODT_SIZE16 | ODT_ROWS,
        ODT_SIZE, ODT_SIZE, ODT_SIZE, ODT_SIZE, ODT_ANY, 4, 0, 1, 2, 3, 145, 129, 17, 3, 68, 0, 2,
        1, 4, 68, 0, 3, 1, 4, 68, 0, 1, 2, 3, 97, 129, 81, 144, ODT_SIZE16 | ODT_ROWS, ODT_SIZE,
        ODT_SIZE, ODT_SIZE, ODT_SIZE, ODT_ANY, 4, 0, 2, 1, 4, 145, 129, 68, 0, 1, 2, 3, 68, 0, 3,
        1, 4, 97, 129, 81, 144, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_SIZE, ODT_SIZE,
        ODT_ANY, ODT_ANY, ODT_ANY, 194, 0, 1, 145, 129, 66, 0, 1, 81, 1, 97, 129, 97, 129,
        ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_ANY, ODT_ANY, ODT_ANY,
    #endif
    #if HAS(16) && !(ODT_OUTSIDE & 0x10000)
        28, 0, 1, 2, 3, 92, 0, 2, 1, 4, 92, 0, 3, 1, 4, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE,
        ODT_SIZE, ODT_SIZE, ODT_ANY, ODT_ANY, 28, 0, 1, 2, 3, 92, 0, 2, 1, 4, 92, 0, 3, 1, 4, 92,
        0, 1, 2, 3, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_SIZE, ODT_SIZE, 28, 0, 2, 1, 4,
        92, 0, 1, 2, 3, 92, 0, 3, 1, 4, ODT_SIZE16 | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_SIZE,
        ODT_SIZE, ODT_ANY, ODT_ANY, 218, 0, 1, 90, 0, 1, 89, 1, ODT_SIZE16 | ODT_ROWS, ODT_SIZE,
    #endif
    #if HAS(17) && !(ODT_OUTSIDE & 0x20000)
        2, 0, 1, 65, 0, 66, 2, 1, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, 18, 3, 1, 17, 129, 17, 3,
        66, 0, 1, 65, 0, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_SIZE, ODT_ANY,
    #endif
    #if HAS(18) && !(ODT_OUTSIDE & 0x40000)
        26, 0, 1, 89, 0, 90, 2, 1, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, 26, 3, 1, 17, 129, 17, 3,
        90, 0, 1, 89, 0, ODT_SIZE | ODT_ROWS, ODT_SIZE, ODT_SIZE, ODT_SIZE, ODT_ANY,
    #endif
    },
};

#if ODT_MPY
const odt_piece_t odt_piece = {ODT_STAMP, ODT_PIECE, odt_table.rows};
#endif

#if ODT_OUTSIDE || ODT_MPY && ODT_PIECE == 0
// Where an instruction's row is among those of all pieces, one piece after the other; each piece's first.
const uint8_t odt_places[ODT_OPCODES + 1] = {
        0, 0, 1, 2, 3, 4, 64, 5, 6, 7, 8, 9, 10, 11, 65, 39, 40, 41, 49, 50, 51, 12, 13, 42, 43,
        44, 45, 66, 14, 15, 16, 17, 104, 105, 18, 19, 20, 106, 107, 108, 109, 110, 139, 140, 141,
        149, 150, 151, 111, 112, 142, 143, 144, 145, 152, 113, 114, 115, 116, 117, 67, 68, 69, 79,
        153, 46, 47, 146, 147, 80, 81, 154, 21, 118, 119, 70, 71, 120, 121, 22, 23, 122, 123, 124,
        125, 24, 25, 126, 127, 128, 72, 73, 129, 26, 130, 27, 131, 82, 83, 84, 155, 156, 157, 85,
        86, 87, 158, 159, 160, 74, 75, 161, 162, 28, 132, 76, 163, 77, 164, 78, 165, 48, 148, 52,
        53, 54, 55, 56, 57, 58, 59, 60, 166, 167, 168, 169, 170, 171, 172, 173, 29, 30, 133, 134,
        135, 31, 32, 33, 88, 174, 89, 175, 90, 91, 34, 35, 136, 36, 137, 92, 176, 37, 38, 61, 138,
        93, 177, 94, 178, 95, 96, 97, 179, 98, 99, 180, 100, 101, 102, 181, 182, 183, 62, 63, 188,
        189, 190, 193, 184, 194, 185, 191, 192, 195, 196, 186, 187, 197, 198, 199, 201, 202, 203,
        204, 205, 206, 207, 208, 209, 210, 211, 212, 213, 214, 103, 200,
};
const uint8_t odt_firsts[ODT_PIECES + 1] = {0, 39, 49, 52, 64, 79, 104, 139, 149, 188, 193, 195, 197, 198, 201, 203, \
    207, 211, 213, 215};
#endif

// The executor writes the pointers one after the other, then the immediates: so must they lie.
#define ODT_ASSERT_LAYOUT(name, operand, operands, immediate, immediates) \
    typedef char odt_layout_##name[(offsetof(odt_##name##_t, operand) \
        == ((operands) - 1) * sizeof(void *) && offsetof(odt_##name##_t, immediate) \
        == (operands) * sizeof(void *) + ((immediates) - 1) * sizeof(int32_t)) ? 1 : -1]

ODT_ASSERT_LAYOUT(clear, y, 1, N, 1);
ODT_ASSERT_LAYOUT(tick, c, 3, beta2, 2);
ODT_ASSERT_LAYOUT(gather_i8, s, 5, z, 3);
ODT_ASSERT_LAYOUT(rescale, sy, 4, factor, 2);
ODT_ASSERT_LAYOUT(ratio, sy, 3, factor, 1);
ODT_ASSERT_LAYOUT(rescale_dx, sdx, 5, factor, 2);
ODT_ASSERT_LAYOUT(product, b, 3, factor, 1);
ODT_ASSERT_LAYOUT(bias_i8, sw, 4, N, 1);
ODT_ASSERT_LAYOUT(range_i8, peak, 2, fine, 3);
ODT_ASSERT_LAYOUT(dense_i8, q, 6, lo, 6);
ODT_ASSERT_LAYOUT(dense_dx_i8, q, 5, N, 3);
ODT_ASSERT_LAYOUT(dense_dw_i8, x, 3, R, 6);
ODT_ASSERT_LAYOUT(bias_dw_i8, e, 2, N, 2);
ODT_ASSERT_LAYOUT(channel_scale_i8, c, 4, id, 3);
ODT_ASSERT_LAYOUT(conv2d_i8, q, 6, lo, 16);
ODT_ASSERT_LAYOUT(conv2d_dx_i8, q, 5, OW, 13);
ODT_ASSERT_LAYOUT(conv2d_dw_i8, x, 3, R, 16);
ODT_ASSERT_LAYOUT(depthwise2d_i8, q, 6, lo, 16);
ODT_ASSERT_LAYOUT(depthwise2d_dx_i8, q, 5, OW, 13);
ODT_ASSERT_LAYOUT(depthwise2d_dw_i8, x, 3, R, 16);
ODT_ASSERT_LAYOUT(relu_i8, x, 2, z, 2);
ODT_ASSERT_LAYOUT(relu_dx_i8, y, 3, lo, 2);
ODT_ASSERT_LAYOUT(maxpool2d_i8, x, 2, OW, 13);
ODT_ASSERT_LAYOUT(unpool2d_i8, choice, 4, bits, 15);
ODT_ASSERT_LAYOUT(globalavg_i8, q, 4, lo, 6);
ODT_ASSERT_LAYOUT(globalavg_dx_i8, e, 2, N, 3);
ODT_ASSERT_LAYOUT(add_i8, qb, 6, lo, 5);
ODT_ASSERT_LAYOUT(softmax_xent_i8, sx, 6, z, 3);
ODT_ASSERT_LAYOUT(mse_i8, se, 8, z, 3);
ODT_ASSERT_LAYOUT(momentum_i16, c, 6, at, 6);
ODT_ASSERT_LAYOUT(adam_i16, c, 7, at, 8);
ODT_ASSERT_LAYOUT(momentum_i32, gs, 4, mu, 4);
ODT_ASSERT_LAYOUT(adam_i32, rate, 6, eps, 8);
ODT_ASSERT_LAYOUT(plain_i32, gs, 2, factor, 2);
ODT_ASSERT_LAYOUT(apply_i8, c, 8, R, 6);
ODT_ASSERT_LAYOUT(apply_i32, rate, 4, N, 1);
ODT_ASSERT_LAYOUT(gather_f32, x, 3, F, 2);
ODT_ASSERT_LAYOUT(dense_f32, b, 4, relu, 4);
ODT_ASSERT_LAYOUT(dense_dx_f32, w, 3, N, 3);
ODT_ASSERT_LAYOUT(dense_dw_f32, x, 3, R, 5);
ODT_ASSERT_LAYOUT(bias_dw_f32, e, 2, N, 2);
ODT_ASSERT_LAYOUT(conv2d_f32, b, 4, relu, 14);
ODT_ASSERT_LAYOUT(conv2d_dx_f32, w, 3, OW, 13);
ODT_ASSERT_LAYOUT(conv2d_dw_f32, x, 3, R, 15);
ODT_ASSERT_LAYOUT(depthwise2d_f32, b, 4, relu, 14);
ODT_ASSERT_LAYOUT(depthwise2d_dx_f32, w, 3, OW, 13);
ODT_ASSERT_LAYOUT(depthwise2d_dw_f32, x, 3, R, 15);
ODT_ASSERT_LAYOUT(relu_f32, x, 2, N, 1);
ODT_ASSERT_LAYOUT(relu_dx_f32, y, 3, N, 1);
ODT_ASSERT_LAYOUT(maxpool2d_f32, x, 2, OW, 13);
ODT_ASSERT_LAYOUT(unpool2d_f32, choice, 3, bits, 15);
ODT_ASSERT_LAYOUT(globalavg_f32, x, 2, N, 3);
ODT_ASSERT_LAYOUT(globalavg_dx_f32, e, 2, N, 3);
ODT_ASSERT_LAYOUT(add_f32, b, 3, relu, 2);
ODT_ASSERT_LAYOUT(softmax_xent_f32, x, 4, N, 2);
ODT_ASSERT_LAYOUT(mse_f32, x, 4, N, 2);
ODT_ASSERT_LAYOUT(momentum_f32, v, 2, mu, 2);
ODT_ASSERT_LAYOUT(adam_f32, rate, 4, eps, 6);
ODT_ASSERT_LAYOUT(apply_f32, rate, 3, N, 1);
ODT_ASSERT_LAYOUT(concat_i8, q, 4, lo, 7);
ODT_ASSERT_LAYOUT(place, x, 2, at, 4);
ODT_ASSERT_LAYOUT(slice, x, 2, at, 4);
ODT_ASSERT_LAYOUT(multiply_i8, q, 5, lo, 5);
ODT_ASSERT_LAYOUT(multiply_f32, b, 3, N, 1);
ODT_ASSERT_LAYOUT(avgpool2d_i8, x, 2, adaptive, 14);
ODT_ASSERT_LAYOUT(avgpool2d_dx_i8, q, 4, top, 15);
ODT_ASSERT_LAYOUT(avgpool2d_f32, x, 2, adaptive, 14);
ODT_ASSERT_LAYOUT(avgpool2d_dx_f32, e, 2, adaptive, 14);
ODT_ASSERT_LAYOUT(upsample2d, x, 2, SW, 6);
ODT_ASSERT_LAYOUT(upsample2d_dx_i8, q, 4, SW, 6);
ODT_ASSERT_LAYOUT(upsample2d_dx_f32, e, 2, SW, 6);
ODT_ASSERT_LAYOUT(relu6_dx_i8, y, 3, N, 1);
ODT_ASSERT_LAYOUT(relu6_f32, x, 2, N, 1);
ODT_ASSERT_LAYOUT(relu6_dx_f32, y, 3, N, 1);
ODT_ASSERT_LAYOUT(leaky_relu_i8, x, 2, slope, 3);
ODT_ASSERT_LAYOUT(leaky_relu_dx_i8, c, 4, id, 4);
ODT_ASSERT_LAYOUT(leaky_relu_f32, x, 2, slope, 2);
ODT_ASSERT_LAYOUT(leaky_relu_dx_f32, y, 3, slope, 2);
ODT_ASSERT_LAYOUT(sigmoid_i8, sx, 3, factor, 3);
ODT_ASSERT_LAYOUT(sigmoid_dx_i8, q, 5, N, 1);
ODT_ASSERT_LAYOUT(sigmoid_f32, x, 2, N, 1);
ODT_ASSERT_LAYOUT(sigmoid_dx_f32, y, 3, N, 1);
ODT_ASSERT_LAYOUT(tanh_f32, x, 2, N, 1);
ODT_ASSERT_LAYOUT(tanh_dx_f32, y, 3, N, 1);
ODT_ASSERT_LAYOUT(softmax_i8, sx, 3, factor, 3);
ODT_ASSERT_LAYOUT(softmax_dx_i8, q, 5, N, 2);
ODT_ASSERT_LAYOUT(softmax_f32, x, 2, N, 2);
ODT_ASSERT_LAYOUT(softmax_dx_f32, y, 3, N, 2);
ODT_ASSERT_LAYOUT(decay_f32, c, 2, decay, 2);
ODT_ASSERT_LAYOUT(decay_i8, c, 3, id, 3);
ODT_ASSERT_LAYOUT(decay_i32, c, 2, id, 3);
ODT_ASSERT_LAYOUT(nesterov_f32, v, 2, mu, 2);
ODT_ASSERT_LAYOUT(nesterov_i16, c, 6, at, 6);
ODT_ASSERT_LAYOUT(nesterov_i32, gs, 4, mu, 4);
ODT_ASSERT_LAYOUT(accumulate_i32, d, 2, N, 1);
ODT_ASSERT_LAYOUT(accumulate_f32, d, 2, N, 1);
ODT_ASSERT_LAYOUT(group_conv2d_i8, q, 6, lo, 17);
ODT_ASSERT_LAYOUT(group_conv2d_dx_i8, q, 5, G, 14);
ODT_ASSERT_LAYOUT(group_conv2d_dw_i8, x, 3, R, 17);
ODT_ASSERT_LAYOUT(group_conv2d_f32, b, 4, relu, 15);
ODT_ASSERT_LAYOUT(group_conv2d_dx_f32, w, 3, G, 14);
ODT_ASSERT_LAYOUT(group_conv2d_dw_f32, x, 3, R, 16);
ODT_ASSERT_LAYOUT(transposed2d_i8, q, 6, lo, 16);
ODT_ASSERT_LAYOUT(transposed2d_dx_i8, q, 5, OW, 13);
ODT_ASSERT_LAYOUT(transposed2d_dw_i8, x, 3, R, 16);
ODT_ASSERT_LAYOUT(transposed2d_f32, b, 4, relu, 14);
ODT_ASSERT_LAYOUT(transposed2d_dx_f32, w, 3, OW, 13);
ODT_ASSERT_LAYOUT(transposed2d_dw_f32, x, 3, R, 15);
ODT_ASSERT_LAYOUT(dropout_i8, c, 6, factor, 6);
ODT_ASSERT_LAYOUT(dropout_dx_i8, c, 3, drop, 4);
ODT_ASSERT_LAYOUT(dropout_f32, c, 4, drop, 4);
ODT_ASSERT_LAYOUT(dropout_dx_f32, c, 3, drop, 4);
ODT_ASSERT_LAYOUT(binary_xent_i8, sx, 6, z, 3);
ODT_ASSERT_LAYOUT(binary_xent_f32, x, 4, N, 2);
ODT_ASSERT_LAYOUT(mae_i8, sx, 6, z, 3);
ODT_ASSERT_LAYOUT(mae_f32, x, 4, N, 2);
ODT_ASSERT_LAYOUT(huber_i8, se, 8, delta, 4);
ODT_ASSERT_LAYOUT(huber_f32, x, 4, delta, 3);
ODT_ASSERT_LAYOUT(weighted_xent_i8, weights, 7, id, 4);
ODT_ASSERT_LAYOUT(weighted_xent_f32, weights, 5, smooth, 3);
ODT_ASSERT_LAYOUT(maxpool2d_choice_i8, x, 3, bits, 15);
ODT_ASSERT_LAYOUT(maxpool2d_choice_f32, x, 3, bits, 15);
ODT_ASSERT_LAYOUT(norm_stats_i8, sx, 3, eps, 7);
ODT_ASSERT_LAYOUT(batch_stats_i8, c, 5, eps, 6);
ODT_ASSERT_LAYOUT(running_stats_i8, sx, 4, eps, 3);
ODT_ASSERT_LAYOUT(track_i8, sx, 5, rest, 4);
ODT_ASSERT_LAYOUT(affine_i8, sy, 5, N, 1);
ODT_ASSERT_LAYOUT(norm_i8, b, 6, lo, 7);
ODT_ASSERT_LAYOUT(norm_dw_i8, st, 4, bits, 6);
ODT_ASSERT_LAYOUT(norm_dx_i8, c, 10, F, 9);
ODT_ASSERT_LAYOUT(affine_dx_i8, sdx, 8, factor, 3);
ODT_ASSERT_LAYOUT(norm_stats_f32, x, 2, eps, 5);
ODT_ASSERT_LAYOUT(batch_stats_f32, c, 4, eps, 4);
ODT_ASSERT_LAYOUT(running_stats_f32, var, 3, eps, 2);
ODT_ASSERT_LAYOUT(track_f32, va, 4, rest, 3);
ODT_ASSERT_LAYOUT(norm_f32, beta, 5, relu, 5);
ODT_ASSERT_LAYOUT(norm_dw_f32, st, 4, C, 4);
ODT_ASSERT_LAYOUT(norm_dx_f32, c, 6, rows, 5);
ODT_ASSERT_LAYOUT(affine_dx_f32, gamma, 4, N, 2);
ODT_ASSERT_LAYOUT(squares_i32, gs, 3, factor, 2);
ODT_ASSERT_LAYOUT(clip_i32, total, 2, limit, 1);
ODT_ASSERT_LAYOUT(squares_f32, d, 2, N, 1);
ODT_ASSERT_LAYOUT(clip_f32, total, 2, limit, 1);
ODT_ASSERT_LAYOUT(scale_f32, factor, 2, N, 1);
ODT_ASSERT_LAYOUT(step_key, h, 2, ahead, 1);
ODT_ASSERT_LAYOUT(few, count, 1, mask, 2);
ODT_ASSERT_LAYOUT(each, rows, 2, place, 4);
ODT_ASSERT_LAYOUT(relative_i8, c, 5, N, 1);
ODT_ASSERT_LAYOUT(relative_f32, c, 4, N, 1);
ODT_ASSERT_LAYOUT(rank_i8, ratio, 5, high, 5);
ODT_ASSERT_LAYOUT(rank_f32, ratio, 5, high, 5);
ODT_ASSERT_LAYOUT(pick, rows, 4, U, 4);
ODT_ASSERT_LAYOUT(put, rows, 4, U, 4);
ODT_ASSERT_LAYOUT(settle_i8, limited, 4, K, 2);
ODT_ASSERT_LAYOUT(open_i8, y, 2, hi, 4);
ODT_ASSERT_LAYOUT(open_f32, y, 2, hi, 3);
ODT_ASSERT_LAYOUT(masked_i8, bits, 3, S, 2);
ODT_ASSERT_LAYOUT(masked_f32, bits, 3, S, 2);
ODT_ASSERT_LAYOUT(fisher_i8, sy, 5, factor, 5);
ODT_ASSERT_LAYOUT(fisher_f32, y, 3, N, 3);
ODT_ASSERT_LAYOUT(adam_i8, c, 11, R, 10);
ODT_ASSERT_LAYOUT(range_x_i8, peak, 3, limit, 1);
ODT_ASSERT_LAYOUT(gather_norm_i8, var, 7, z, 4);
ODT_ASSERT_LAYOUT(gather_norm_f32, var, 5, C, 3);
ODT_ASSERT_LAYOUT(passed_i8, c, 3, which, 1);
ODT_ASSERT_LAYOUT(passed_f32, c, 3, which, 1);
ODT_ASSERT_LAYOUT(slope_i8, c, 4, sign, 4);
ODT_ASSERT_LAYOUT(slope_f32, c, 3, sign, 3);
ODT_ASSERT_LAYOUT(room_i8, c, 4, common, 4);
ODT_ASSERT_LAYOUT(perturb_i8, c, 3, back, 5);
ODT_ASSERT_LAYOUT(perturb_i32, c, 2, epsilon, 3);
ODT_ASSERT_LAYOUT(perturb_f32, c, 2, epsilon, 3);
ODT_ASSERT_LAYOUT(walk_i8, c, 5, common, 4);
ODT_ASSERT_LAYOUT(walk_i32, c, 3, id, 2);
ODT_ASSERT_LAYOUT(walk_f32, c, 3, id, 2);
ODT_ASSERT_LAYOUT(sampling_i8, c, 7, factor, 5);
ODT_ASSERT_LAYOUT(divergence_i8, h, 6, width, 10);
ODT_ASSERT_LAYOUT(sampling_dx_i8, c, 9, free, 7);
ODT_ASSERT_LAYOUT(sampling_f32, c, 4, id, 3);
ODT_ASSERT_LAYOUT(divergence_f32, h, 4, width, 6);
ODT_ASSERT_LAYOUT(sampling_dx_f32, c, 5, free, 4);
ODT_ASSERT_LAYOUT(read_stats_i8, c, 5, batch, 4);
ODT_ASSERT_LAYOUT(track_read_i8, sx, 5, rest, 5);
ODT_ASSERT_LAYOUT(mean2d_i8, sy, 5, away, 19);
ODT_ASSERT_LAYOUT(add_once_i8, qb, 6, lo, 5);
ODT_ASSERT_LAYOUT(lookup_i8, table, 3, N, 1);
ODT_ASSERT_LAYOUT(distil_xent_i8, sx, 6, alpha, 4);
ODT_ASSERT_LAYOUT(distil_xent_f32, x, 4, alpha, 3);
ODT_ASSERT_LAYOUT(entropy_i8, se, 9, diversity, 3);
ODT_ASSERT_LAYOUT(entropy_f32, x, 5, diversity, 3);
ODT_ASSERT_LAYOUT(space_to_batch, x, 2, fill, 11);
ODT_ASSERT_LAYOUT(batch_to_space, x, 2, OW, 10);
ODT_ASSERT_LAYOUT(curve_i8, sy, 5, gain, 8);
ODT_ASSERT_LAYOUT(curve_dx_i8, q, 6, alpha, 5);
ODT_ASSERT_LAYOUT(curve_f32, x, 2, gain, 4);
ODT_ASSERT_LAYOUT(curve_dx_f32, x, 3, gain, 4);
ODT_ASSERT_LAYOUT(unpack_i4, x, 2, N, 1);
ODT_ASSERT_LAYOUT(recur_i8, qu, 13, za, 8);
ODT_ASSERT_LAYOUT(recur_dx_i8, c, 15, id, 9);
ODT_ASSERT_LAYOUT(recur_f32, b, 8, kind, 7);
ODT_ASSERT_LAYOUT(recur_dx_f32, w, 9, kind, 8);
ODT_ASSERT_LAYOUT(attend_i8, q, 5, causal, 6);
ODT_ASSERT_LAYOUT(attend_dx_i8, c, 8, id, 6);
ODT_ASSERT_LAYOUT(mix_i8, c, 6, back, 8);
ODT_ASSERT_LAYOUT(offset_i8, qb, 6, lo, 5);
ODT_ASSERT_LAYOUT(attend_f32, b, 3, factor, 7);
ODT_ASSERT_LAYOUT(attend_dx_f32, p, 4, K, 5);
ODT_ASSERT_LAYOUT(mix_f32, b, 3, back, 7);
ODT_ASSERT_LAYOUT(offset_f32, b, 3, N, 2);
ODT_ASSERT_LAYOUT(embed_i8, w, 3, V, 3);
ODT_ASSERT_LAYOUT(embed_dw_i8, x, 5, all, 5);
ODT_ASSERT_LAYOUT(embed_f32, w, 3, V, 3);
ODT_ASSERT_LAYOUT(embed_dw_f32, x, 5, all, 5);
ODT_ASSERT_LAYOUT(round_i8, c, 7, R, 6);
ODT_ASSERT_LAYOUT(recur_on_i8, qu, 13, za, 8);
