// Which loop computes an operation on which core, and the limits by which this is decided.
//
// ODT_ROUTES has one row per way to compute an int8 operation: ROUTE(operation, condition, M0, M4, PANEL, PC). An
// operation's rows are tried from the first to the last. The condition is a function, or a limit of this file with
// which the kernel's file compares; _ is always true. The four names are the functions that then run on an RP2040, on a
// Cortex-M4 and later, on other 32-bit cores and on a PC; _ if the core lacks this way. The table in
// docs/explanation/architecture.md is made from these rows (odt/host/generate.py).
// tests_device/checks/kernels/test_route.py compares them with the symbols of firmware. odt/host/routes/limits.py has
// copies of the limits, for the host's estimate of cycles.

#ifndef ODT_ROUTE_H
#define ODT_ROUTE_H

#include "../core.h"

// --- the ways ---------------------------------------------------------------------------------------

#define ODT_ROUTES(ROUTE) \
    ROUTE(conv2d_i8, odt_has_vnni, _, _, _, odt_correlate_dot_i8__x86) \
    ROUTE(conv2d_i8, odt_has_avx2, _, _, _, odt_correlate_i8__x86) \
    ROUTE(conv2d_i8, odt_is_one, _, odt_correlate_one_i8__m4, _, _) \
    ROUTE(conv2d_i8, odt_is_single, odt_correlate_single_i8, odt_correlate_single_i8, odt_correlate_single_i8, _) \
    ROUTE(conv2d_i8, odt_is_pointwise, correlate_pointwise, _, correlate_pointwise, _) \
    ROUTE(conv2d_i8, is_by_position, correlate_by_position, _, correlate_by_position, _) \
    ROUTE(conv2d_i8, ODT_ONE_SIZE, odt_correlate_one_i8__m0, _, _, _) \
    ROUTE(conv2d_i8, is_gathered, correlate_gathered, _, correlate_gathered, _) \
    ROUTE(conv2d_i8, odt_is_tile, _, odt_correlate_tile_i8, _, _) \
    ROUTE(conv2d_i8, odt_is_few, _, odt_correlate_few_i8, _, _) \
    ROUTE(conv2d_i8, _, correlate_by_rows, odt_correlate_all_i8, correlate_by_rows, conv2d_channels) \
    ROUTE(conv2d_dx_i8, is_sparse, conv2d_dx_of_errors, _, _, _) \
    ROUTE(conv2d_dx_i8, odt_is_one, _, odt_correlate_one_i8__m4, _, _) \
    ROUTE(conv2d_dx_i8, odt_is_single, odt_correlate_single_i8, odt_correlate_single_i8, odt_correlate_single_i8, _) \
    ROUTE(conv2d_dx_i8, odt_is_pointwise, correlate_pointwise, _, correlate_pointwise, _) \
    ROUTE(conv2d_dx_i8, is_by_position, correlate_by_position, _, correlate_by_position, _) \
    ROUTE(conv2d_dx_i8, is_gathered, correlate_gathered, _, correlate_gathered, _) \
    ROUTE(conv2d_dx_i8, odt_is_few, _, odt_correlate_few_i8, _, _) \
    ROUTE(conv2d_dx_i8, odt_is_tile, _, odt_correlate_tile_i8, _, _) \
    ROUTE(conv2d_dx_i8, correlate_lines, _, correlate_lines, _, _) \
    ROUTE(conv2d_dx_i8, odt_has_vnni, _, _, _, odt_correlate_dot_i8__x86) \
    ROUTE(conv2d_dx_i8, odt_has_products, correlate_by_rows, odt_correlate_blocks_i8, correlate_by_rows, \
        odt_correlate_i8__x86) \
    ROUTE(conv2d_dx_i8, _, _, _, _, conv2d_dx_rows) \
    ROUTE(conv2d_dw_i8, is_sparse, conv2d_dw_channels, conv2d_dw_channels, conv2d_dw_channels, _) \
    ROUTE(conv2d_dw_i8, is_dw_few, correlate_dw_by_elements, _, _, _) \
    ROUTE(conv2d_dw_i8, is_dw_gathered, correlate_dw_gathered, _, correlate_dw_gathered, _) \
    ROUTE(conv2d_dw_i8, odt_has_vnni, _, _, _, odt_correlate_dw_dot_i8__x86) \
    ROUTE(conv2d_dw_i8, odt_has_products, correlate_dw_of_same_size, odt_correlate_dw_part_i8, correlate_dw_by_taps, \
        odt_correlate_dw_i8__x86) \
    ROUTE(conv2d_dw_i8, _, _, _, _, conv2d_dw_channels) \
    ROUTE(dense_i8, ODT_MANY_ROWS, correlate_pointwise, odt_correlate_all_i8, correlate_pointwise, \
        odt_correlate_i8__x86) \
    ROUTE(dense_i8, odt_has_vnni, _, _, _, odt_dense_dot_i8__x86) \
    ROUTE(dense_i8, ODT_FEW_OUTPUTS, dot_one, _, _, _) \
    ROUTE(dense_i8, _, odt_dot4_i8, odt_dense_i8__m4, odt_dot4_i8, odt_dense_i8) \
    ROUTE(dense_dx_i8, is_narrow, dense_dx_narrow, dense_dx_narrow, dense_dx_narrow, _) \
    ROUTE(dense_dx_i8, ODT_MANY_ERRORS, correlate_pointwise, odt_correlate_dx_i8, correlate_pointwise, \
        odt_correlate_i8__x86) \
    ROUTE(dense_dx_i8, _, odt_sum_columns, sum_columns, sum_columns, odt_dense_dx_i8) \
    ROUTE(dense_dw_i8, ODT_MANY_PAIRS, correlate_dw_of_same_size, odt_correlate_dw_part_i8, correlate_dw_of_same_size, \
        odt_correlate_dw_i8__x86) \
    ROUTE(dense_dw_i8, is_narrow_dw, dense_dw_of_one, dense_dw_of_one, _, _) \
    ROUTE(dense_dw_i8, is_column, dense_dw_column, _, _, _) \
    ROUTE(dense_dw_i8, _, add_two, dense_dw_by_rows, dense_dw_by_rows, odt_dense_dw_i8) \
    ROUTE(depthwise2d_i8, odt_has_vnni, _, _, _, odt_depthwise_dot_i8__x86) \
    ROUTE(depthwise2d_i8, odt_has_avx2, _, _, _, odt_depthwise_i8__x86) \
    ROUTE(depthwise2d_i8, odt_is_whole, depthwise_whole, depthwise_whole, depthwise_whole, _) \
    ROUTE(depthwise2d_i8, odt_tiny_plan, _, odt_depthwise_tiny_i8__m4, _, _) \
    ROUTE(depthwise2d_i8, is_strided, depthwise_strided, _, _, _) \
    ROUTE(depthwise2d_i8, is_threes, _, depthwise_threes, _, _) \
    ROUTE(depthwise2d_i8, is_for_four, _, odt_depthwise_i8__m4, _, _) \
    ROUTE(depthwise2d_i8, plan_ones, _, odt_depthwise_one_i8__m4, _, _) \
    ROUTE(depthwise2d_i8, _, odt_depthwise_i8__m0, odt_depthwise_apart_i8__m4, depthwise_lanes, depthwise_by_blocks) \
    ROUTE(depthwise2d_dx_i8, odt_is_whole, depthwise_dx_whole, depthwise_dx_whole, depthwise_dx_whole, \
        depthwise_dx_whole) \
    ROUTE(depthwise2d_dx_i8, odt_has_vnni, _, _, _, odt_depthwise_dot_i8__x86) \
    ROUTE(depthwise2d_dx_i8, odt_has_avx2, _, _, _, odt_depthwise_i8__x86) \
    ROUTE(depthwise2d_dx_i8, ODT_IS_SQUARES, odt_depthwise_dx_i8__m0, odt_depthwise_dx_i8__m4, _, _) \
    ROUTE(depthwise2d_dx_i8, odt_depthwise_dx_few_i8__m4, _, odt_depthwise_dx_few_i8__m4, _, _) \
    ROUTE(depthwise2d_dx_i8, odt_tiny_plan, _, odt_depthwise_tiny_i8__m4, _, _) \
    ROUTE(depthwise2d_dx_i8, is_threes, _, depthwise_threes, _, _) \
    ROUTE(depthwise2d_dx_i8, is_for_four, _, odt_depthwise_i8__m4, _, _) \
    ROUTE(depthwise2d_dx_i8, plan_ones, _, odt_depthwise_one_i8__m4, _, _) \
    ROUTE( \
        depthwise2d_dx_i8, _, odt_depthwise_i8__m0, odt_depthwise_apart_i8__m4, depthwise_lanes, depthwise_by_blocks) \
    ROUTE(depthwise2d_dw_i8, odt_is_whole, depthwise_dw_whole, depthwise_dw_whole, depthwise_dw_whole, \
        depthwise_dw_whole) \
    ROUTE(depthwise2d_dw_i8, odt_tiny_plan, _, odt_depthwise_dw_tiny_i8__m4, _, _) \
    ROUTE(depthwise2d_dw_i8, odt_depthwise_dw_few_i8__m4, _, odt_depthwise_dw_few_i8__m4, _, _) \
    ROUTE(depthwise2d_dw_i8, is_for_four, _, odt_depthwise_dw_i8__m4, _, _) \
    ROUTE(depthwise2d_dw_i8, _, odt_depthwise_dw_i8__m0, odt_depthwise_dw_apart_i8__m4, depthwise_dw_channels, \
        depthwise_dw_channels) \
    ROUTE(group_conv2d_i8, is_by_groups, sum_some_groups, _, _, _) \
    ROUTE(group_conv2d_i8, is_pixels, _, quads_of_pixels, _, _) \
    ROUTE(group_conv2d_i8, is_quads, _, quads_forward, _, _) \
    ROUTE(group_conv2d_i8, _, odt_group_conv2d_i8, odt_group_conv2d_i8, odt_group_conv2d_i8, odt_group_conv2d_i8) \
    ROUTE(group_conv2d_dx_i8, is_by_groups, sum_some_groups, _, _, _) \
    ROUTE(group_conv2d_dx_i8, is_pixels, _, quads_of_pixels, _, _) \
    ROUTE(group_conv2d_dx_i8, is_quads_of_squares, _, quads_of_squares, _, _) \
    ROUTE(group_conv2d_dx_i8, is_quads_dx, _, quads_dx, _, _) \
    ROUTE(group_conv2d_dx_i8, _, odt_group_conv2d_dx_i8, odt_group_conv2d_dx_i8, odt_group_conv2d_dx_i8, \
        odt_group_conv2d_dx_i8) \
    ROUTE(group_conv2d_dw_i8, is_by_groups, sum_some_filters, _, _, _) \
    ROUTE(group_conv2d_dw_i8, is_quads_dw, _, quads_dw, _, _) \
    ROUTE(group_conv2d_dw_i8, _, odt_group_conv2d_dw_i8, odt_group_conv2d_dw_i8, odt_group_conv2d_dw_i8, \
        odt_group_conv2d_dw_i8) \
    ROUTE(recur_i8, _, odt_dot4_i8, odt_dot4_i8, odt_dot4_i8, odt_recur_i8) \
    ROUTE(recur_dx_i8, _, odt_add_columns_i8, odt_add_columns_i8, odt_add_columns_i8, odt_recur_dx_i8) \
    ROUTE(norm_i8, _, list_hats, scale_hats, odt_norm_i8, odt_norm_i8) \
    ROUTE(norm_dx_i8, _, dx_rows, round_group, odt_norm_dx_i8, odt_norm_dx_i8) \
    ROUTE(maxpool2d_choice_i8, _, choose_quads, choose_fours, odt_maxpool2d_choice_i8, odt_maxpool2d_choice_i8) \
    ROUTE(unpool2d_i8, _, spread_quads, spread_fours, odt_unpool2d_i8, odt_unpool2d_i8) \
    ROUTE(add_once_i8, odt_has_avx2, _, _, _, odt_add_once_i8__x86) \
    ROUTE(add_once_i8, _, odt_add_once_i8, odt_add_once_i8, odt_add_once_i8, odt_add_once_i8) \
    ROUTE(add_i8, _, add_bytes, odt_add_i8, odt_add_i8, odt_add_i8) \
    ROUTE(avgpool2d_dx_i8, _, odt_axpy_rows, odt_avgpool2d_dx_i8, odt_avgpool2d_dx_i8, odt_avgpool2d_dx_i8) \
    ROUTE(sigmoid_dx_i8, _, store_gradients, odt_sigmoid_dx_i8, odt_sigmoid_dx_i8, odt_sigmoid_dx_i8) \
    ROUTE(softmax_i8, _, odt_softmax_rows, odt_softmax_i8, odt_softmax_i8, odt_softmax_i8) \
    ROUTE(gather_i8, _, quantize_floats, odt_gather_i8, odt_gather_i8, odt_gather_i8) \
    ROUTE(mse_i8, _, store_usual, odt_mse_i8, odt_mse_i8, odt_mse_i8) \
    ROUTE(adam_i8, odt_has_avx2, _, _, _, step_eights) \
    ROUTE(adam_i8, _, step_row, step_row, odt_adam_i8, odt_adam_i8) \
    ROUTE(adam_i32, _, step_usual, odt_adam_i32, odt_adam_i32, odt_adam_i32) \
    ROUTE(apply_i8, _, odt_apply_row, odt_apply_i8, odt_apply_i8, odt_apply_i8)

// --- the numbers ------------------------------------------------------------------------------------

enum {
    ODT_SHORT_RUN = 16, // where there are vectors: shorter loops do not pay for vectorisation
    ODT_FEW_OUTPUTS = 4, // fewer outputs of a dense layer are computed one by one
    ODT_MANY_ROWS = 4,  // from this many rows of x on, a dense layer packs its weights to panels
    ODT_MANY_ERRORS = ODT_SMALL ? 2 : ODT_M0 ? 6 : ODT_M4 ? 4 : ODT_X86 ? 4 : 16, // rows of e, for its input's gradient
    ODT_MANY_PAIRS = ODT_SMALL ? 2 : 9, // pairs of x and e, for its weights' gradient
};

// The gradient of a dense layer's input on an M0: up to this many samples, of this many errors, are packed, not the
// weights, four at a time; or it goes from one error that is not 0 to the next. Approximate cycles of an RP2040 for
// each weight of a row: of an error and of a sample that are packed; of a sample that is not, and of an error that is
// not 0. The distance of the errors that are looked at.
enum {
    ODT_TURNED_SAMPLES = 24,
    ODT_TURNED_ERRORS = 64,
    ODT_TURNED_PRODUCT = 3,
    ODT_TURNED_FOUR = 7,
    ODT_TURNED_SAMPLE = 13,
    ODT_TURNED_ERROR = 5,
    ODT_TURNED_STEP = 7,
};

// A row of a dense layer's gradient of weights on an M0: samples from which on it is a sum of columns, and those that
// are listed at a time.
enum { ODT_COLUMN_ERRORS = 3, ODT_COLUMN_LIST = 32 };

// A convolution with one filter (single_i8.c): the most rows, and the most weights if these lie apart.
enum { ODT_SINGLE_ROWS = 16, ODT_SINGLE_WEIGHTS = ODT_M0 ? 640 : 320 };

// An M4 copies the rows of such a convolution (conv2d_one_i8__m4.c): the most products of one row. Modules in files
// lack that loop.
enum { ODT_ONE_ROW = ODT_MPY ? 0 : ODT_M4 ? 192 : 0 };

// A convolution of one channel by tiles on an M0: the least rows and columns of outputs.
enum { ODT_ONE_SIZE = 4 };

// Groups of a convolution by tiles on an M0: they have fewer outputs, or fewer inputs. With filters of 3x3 or more
// these may be fewer than WIDE_INPUTS: in the gradient of the input without strides or by squares; forward if there are
// no strides and this many positions at least; in the gradient of filters if there are no strides, or this many
// positions.
enum { ODT_GROUP_OUTPUTS = 4, ODT_GROUP_INPUTS = 3, ODT_WIDE_INPUTS = 7, ODT_WIDE_SIZE = 64 };

// Groups of filters of 1x1 by pixels on an M0: likewise.
enum { ODT_POINT_OUTPUTS = 3, ODT_POINT_INPUTS = 4 };

// Depthwise convolutions of images of a few pixels on an M4: the most pixels and outputs; the most pixels for filters
// of nine taps; the most pixels and outputs for filters of four.
enum { ODT_TINY = 9, ODT_TINY_M4 = 36, ODT_TINY_FOUR = 64, ODT_TINY_OUTPUTS = 16 };

// Gathered windows (gather_i8__panel.inc). The most elements of a window, and positions of a block; bytes of a block;
// about how many elements of a larger window are gathered at a time; the most outputs of a row that are estimated.
enum { ODT_GATHER_FEW = 80, ODT_GATHER_BYTES = 1280, ODT_GATHER_PIECE = 16, ODT_GATHER_MOST = 4096 };

// Approximate cycles of an RP2040. Gathering: per window, row of a window and byte; less per column; for a panel, per
// line of its filters and depth. Without gathering: per row of outputs, window, and window at the border. In a gradient
// without gathering: per tap and element, and per tap of a block of 256 positions; with it: per sum, for a block's
// errors, and per byte.
enum {
    ODT_GATHER_PER_WINDOW = 20,
    ODT_GATHER_PER_ROW = 18,
    ODT_GATHER_PER_BYTE = 5,
    ODT_GATHER_LESS = 10,
    ODT_GATHER_LINE = 700,
    ODT_GATHER_PACK = 28,
    ODT_GATHER_DIRECT_ROW = 150,
    ODT_GATHER_DIRECT_WINDOW = 42,
    ODT_GATHER_DIRECT_BORDER = 250,
    ODT_GATHER_DIRECT_TAP = 200,
    ODT_GATHER_DIRECT_ELEMENT = 42,
    ODT_GATHER_PER_SUM = 75,
    ODT_GATHER_PER_ERRORS = 22,
    ODT_GATHER_PER_DW_BYTE = ODT_M0 ? 3 : 5,
    ODT_GATHER_DIRECT_BLOCK = 900,
};

// Convolutions by positions (conv2d_i8__panel.inc). The least and the most products of a window; the most outputs of a
// row or column, and images at a time; the most images; columns of sums whose room the stack has, and about how many
// bytes of windows are left of that. Measured cycles of an RP2040: per panel, line of a panel and depth packed, and
// around the columns of a position or row; saved per column for each depth and, if windows are not gathered, for each
// row.
enum {
    ODT_POSITION_LEAST = 16,
    ODT_POSITION_MOST = 144,
    ODT_POSITION_SIZE = 16,
    ODT_POSITION_IMAGES = 4096,
    ODT_POSITION_ROOM = 196,
    ODT_POSITION_BYTES = 2400,
    ODT_POSITION_PANEL = 300,
    ODT_POSITION_LINE = 150,
    ODT_POSITION_PACK = 27,
    ODT_POSITION_CHUNK = 400,
    ODT_POSITION_DEPTH = 11,
    ODT_POSITION_ROW = 100,
};

// Convolutions with few products on an M4 (conv2d_few_i8__m4.c): the most products; then measured instructions.
enum {
    ODT_FEW_DEPTH = 96,
    ODT_FEW_BYTE = 1,
    ODT_FEW_PACK = 380,
    ODT_FEW_PACK_WORD = 15,
    ODT_FEW_OTHER = 60,
    ODT_FEW_OTHER_LINE = 30,
    ODT_FEW_OTHER_BYTE = 2,
    ODT_FEW_OTHER_GROUP = 8,
};

// A gradient of filters from one error that is not 0 to the next, or by panels (conv2d_dw_i8.c), as measured: cycles of
// an RP2040, instructions of an M4; other cores are not measured. Directly: for each error, and for one that is not 0,
// to which come rows of the filter and their elements. By panels: for a position of four channels, and of it for a row,
// a word of elements, and each element, more of them where a window has several rows; for a word of all channels, once
// per row of outputs and once per position. A small M0 gathers no windows: its rows come one by one.
enum {
    ODT_DW_SAMPLES = ODT_M0 ? 32 : 64, // positions that judge
    ODT_DW_INPUTS = 2324, // bytes of inputs that errors of an M0 meet at a time
    ODT_DW_SCAN = ODT_M4 ? 8 : ODT_SMALL ? 30 : ODT_M0 ? 15 : 0,
    ODT_DW_ERROR = ODT_M4 ? 90 : ODT_SMALL ? 135 : ODT_M0 ? 25 : 0,
    ODT_DW_ERROR_ROW = ODT_M4 ? 24 : ODT_M0 ? 15 : 20,
    ODT_DW_ERROR_TAP = ODT_M4 ? 3 : ODT_SMALL ? 15 : ODT_M0 ? 6 : 3,
    ODT_DW_PANEL = ODT_M4 ? 10 : ODT_M0 ? 60 : 0,
    ODT_DW_PANEL_ROW = ODT_M4 ? 5 : ODT_SMALL ? 300 : ODT_M0 ? 0 : 20,
    ODT_DW_PANEL_WORD = ODT_M4 ? 12 : 0,
    ODT_DW_PACK = ODT_M4 ? 75 : 0,
    ODT_DW_PACK_WORD = ODT_M4 ? 6 : 0,
    ODT_DW_TAP = ODT_M4 ? 0 : ODT_M0 ? 16 : 5,
    ODT_DW_MORE = ODT_M4 ? 0 : ODT_M0 ? 5 : 0,
};

// The same of an input's gradient on an M0 (conv2d_dx_i8__m0.inc): sums of some rows of an image, errors that are
// listed, and rows of them. For a row of the image and a column of errors, each error that it meets; for the two, and
// each element; for an error that is not 0, and each of its products; by panels for each product, in tenths. Positions
// that judge, and the first of them.
enum {
    ODT_DX_SUMS = 512,
    ODT_DX_LIST = 128,
    ODT_DX_ROWS = 12,
    ODT_DX_SCAN = 7,
    ODT_DX_LISTED = 220,
    ODT_DX_LISTED_TAP = 12,
    ODT_DX_ERROR = 6,
    ODT_DX_ERROR_TAP = 5,
    ODT_DX_PANEL_PRODUCTS = 35,
    ODT_DX_SAMPLES = 24,
    ODT_DX_FIRST = 6,
};

#endif
