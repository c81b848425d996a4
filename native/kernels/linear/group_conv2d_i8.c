// 2-D convolutions in groups, int8: output channels n of a group read only its C input channels.
// x is [B, H, W, G * C], w [N, KH, KW, C], y and e [B, OH, OW, N]; N is a multiple of G.

#include <string.h>

#include "../../core.h"
#include "../../fixed.h"
#include "../../opcodes.h"
#include "../../threads.h"
#include "../../common/inner_i8.h"
#include "../../common/window.h"
#include "../../common/axis_part.h"
#include "../../cores/correlate.h"
#include "../../cores/depthwise.h"
#include "joined.h"
#include "phase.h"

#if ODT_PANEL && !ODT_SMALL

// The outputs of a group, from .. to - 1. If there are more groups than outputs, the last groups have none. If N is not
// a multiple of G, the rest belongs to the last group.
static odt_taps_t outputs_of(int32_t g, int32_t N, int32_t G) {
    int32_t per = odt_max(N / G, 1), from = odt_min(g, N / per) * per;
    odt_taps_t o = {from, g == G - 1 ? N : odt_min(from + per, N)};
    return o;
}

// Whether the filters are 1x1 and meet each pixel once.
#define IS_POINTS(a) \
    ((a)->KH == 1 && (a)->KW == 1 && (a)->SH == 1 && (a)->SW == 1 && ((a)->PT | (a)->PL) == 0 && (a)->OH == (a)->H \
        && (a)->OW == (a)->W)

#if ODT_M0_DEPTHWISE

// Groups of few outputs by tiles. `failed` is set if a part cannot be computed so; all is computed otherwise then.
typedef struct {
    odt_groups_t g;
    int32_t *failed;
} of_groups_t;

static void sum_some_groups(const void *arguments, int32_t first, int32_t stop, int32_t *peak) {
    const of_groups_t *of = arguments;
    if (!(of->g.is_points ? odt_point_groups_i8__m0 : odt_sum_groups_i8__m0)(&of->g, first, stop, peak)) {
        *of->failed = 1;
    }
}

// Whether tiles, or of filters of 1x1 pixels where they lie, are faster than panels, whose four rows are outputs of a
// group and whose columns meet all its inputs.
static int is_by_groups(int32_t N, int32_t G, int32_t outputs, int32_t inputs, int32_t KH, int32_t KW, int is_points,
    int is_wide) {
    if (N % G || N < G || (KH * KW == 1 && !is_points)) {
        return 0;
    }
    int32_t under = is_wide && odt_min(KH, KW) > 2 ? ODT_WIDE_INPUTS : ODT_GROUP_INPUTS;
    return is_points ? outputs < ODT_POINT_OUTPUTS || inputs < ODT_POINT_INPUTS
        : outputs < ODT_GROUP_OUTPUTS || inputs < under;
}

static int group_by_tiles(const odt_group_conv2d_i8_t *a) {
    int32_t C = a->C, N = a->N, row = a->KW * C, pixel = a->G * C, outputs = a->OW * N, failed = 0;
    int is_wide = a->SH * a->SW == 1 && a->OH * a->OW >= ODT_WIDE_SIZE;
    if (!is_by_groups(N, a->G, N / a->G, C, a->KH, a->KW, IS_POINTS(a), is_wide)) {
        return 0;
    }
    of_groups_t of = {.failed = &failed, .g = {.inputs = C, .outputs = N / a->G, .w_group = N / a->G * a->KH * row,
        .w_input = 1, .q_step = 1, .is_points = a->KH * a->KW == 1, .d = {.x = a->x, .w = a->w, .bias = a->b,
            .q = a->q, .y = a->y, .B = a->B, .N = pixel, .H = a->H, .W = a->W, .KH = a->KH, .KW = a->KW, .SH = a->SH,
            .SW = a->SW, .top = a->PT, .left = a->PL, .OH = a->OH, .OW = a->OW, .zx = a->zx, .zy = a->zy, .lo = a->lo,
            .x_h = a->W * pixel, .x_w = pixel, .w_n = a->KH * row, .w_kh = row, .w_kw = C, .y_b = a->OH * outputs,
            .y_oh = outputs, .y_ow = N}}};
    odt_split(sum_some_groups, &of, N, of.g.outputs, a->peak);
    return !failed;
}

// The gradient of the input, by squares, which are one phase with all taps, or phase by phase.
static int group_dx_by_tiles(const odt_group_conv2d_dx_i8_t *a) {
    int32_t C = a->C, N = a->N, row = a->KW * C, filter = a->KH * row, pixel = a->G * C, inputs = a->W * pixel;
    int32_t failed = 0, SH = a->SH, SW = a->SW, is_squares = ODT_IS_SQUARES(a);
    int is_wide = is_squares || SH * SW == 1;
    if (a->KH < SH || a->KW < SW || !is_by_groups(N, a->G, C, N / a->G, a->KH, a->KW, IS_POINTS(a), is_wide)) {
        return 0;
    }
    if (is_squares) {
        SH = SW = 1;
    }
    for (int32_t kh = 0; kh < SH; kh++) {
        for (int32_t kw = 0; kw < SW; kw++) {
            odt_phase_t h = odt_phase(kh, a->PT, SH, a->H, a->KH), w = odt_phase(kw, a->PL, SW, a->W, a->KW);
            int32_t down = SH * row, right = SW * C, last = kh * row + kw * C; // weights from a tap to the next
            if (h.outputs == 0 || w.outputs == 0) {
                continue;
            }
            if (is_squares) {
                h.pad = a->PT;
                w.pad = a->PL;
            } else { // the taps are met backwards
                last += (h.taps - 1) * down + (w.taps - 1) * right;
                down = -down;
                right = -right;
            }
            of_groups_t of = {.failed = &failed, .g = {.inputs = N / a->G, .outputs = C, .is_squares = is_squares,
                .is_points = a->KH * a->KW == 1,
                .w_group = N / a->G * filter, .w_input = filter, .d = {.x = a->e, .w = a->w + last, .q = a->q,
                    .y = a->dx + h.first * inputs + w.first * pixel, .B = a->B, .N = N, .H = a->OH, .W = a->OW,
                    .KH = h.taps, .KW = w.taps, .SH = 1, .SW = 1, .top = h.pad, .left = w.pad, .OH = h.outputs,
                    .OW = w.outputs, .lo = -127, .x_h = a->OW * N, .x_w = N, .w_n = 1, .w_kh = down, .w_kw = right,
                    .y_b = a->H * inputs, .y_oh = SH * inputs, .y_ow = SW * pixel}}};
            odt_split(sum_some_groups, &of, pixel, C, a->peak);
            if (failed) {
                return 0;
            }
        }
    }
    return 1;
}

typedef struct {
    odt_groups_dw_t g;
    int32_t *failed;
} of_groups_dw_t;

static void sum_some_filters(const void *arguments, int32_t first, int32_t stop, int32_t *peak) {
    const of_groups_dw_t *of = arguments;
    (void)peak;
    if (of->g.d.KH * of->g.d.KW == 1) {
        odt_point_groups_dw_i8__m0(&of->g, first, stop);
    } else if (!odt_sum_groups_dw_i8__m0(&of->g, first, stop)) {
        *of->failed = 1;
    }
}

static int group_dw_by_tiles(const odt_group_conv2d_dw_i8_t *a) {
    int32_t C = a->C, N = a->N, filter = a->KH * a->KW * C, failed = 0;
    int is_wide = a->SH * a->SW == 1 || a->OH * a->OW >= ODT_WIDE_SIZE;
    if (!is_by_groups(N, a->G, N / a->G, C, a->KH, a->KW, IS_POINTS(a), is_wide)) {
        return 0;
    }
    of_groups_dw_t of = {.failed = &failed, .g = {.inputs = C, .outputs = N / a->G, .x_w = a->G * C, .e_w = N,
        .dw_n = filter, .dw_w = C, .d = {.dw = a->dw, .e = a->e, .x = a->x, .B = a->B, .H = a->H, .W = a->W,
            .KH = a->KH, .KW = a->KW, .SH = a->SH, .SW = a->SW, .PT = a->PT, .PL = a->PL, .OH = a->OH, .OW = a->OW,
            .zx = a->zx, .at = a->at}}};
    memset(a->dw, 0, (size_t)a->R * (size_t)filter * sizeof(int32_t));
    odt_split(sum_some_filters, &of, a->R, 1, NULL);
    return !failed;
}

#endif

#if ODT_M4 && !ODT_MPY
#include "../../cores/m4/pixels_i8__m4.h"
#include "../../cores/m4/group_quads_i8__m4.inc"
#include "../../cores/m4/group_pixels_i8__m4.inc"
#endif

void odt_group_conv2d_i8(const odt_group_conv2d_i8_t *a) {
    int32_t outputs = a->OW * a->N, taps = a->KH * a->KW;
    int8_t filters[ODT_JOINED + 1];
    #if ODT_M4 && !ODT_MPY
    if (group_by_pixels(a)) {
        return;
    }
    if (is_quads(a)) {
        odt_split(quads_forward, a, a->N, QUAD, a->peak);
        return;
    }
    #endif
    #if ODT_M0_DEPTHWISE
    if (group_by_tiles(a)) {
        return;
    }
    #endif
    for (int32_t g = 0, groups; g < a->G; g += groups) {
        odt_taps_t o = outputs_of(g, a->N, a->G);
        const int8_t *w = a->w + o.from * taps * a->C;
        int32_t per = o.to - o.from, at_once = per;
        groups = odt_joined_groups(g, a->G, a->N, a->C, taps, ODT_JOINED);
        if (ODT_ONE_ROW && taps > 1 && a->OW >= 4 && a->KW * a->C <= ODT_ONE_ROW
            && ((per == 1 && (a->C > 1 || (a->SW == 1 && (a->KW <= 3 || groups < 4))))
                || (per == 2 && a->C >= 4
                    && (groups == 1 ? taps > 9 || a->SW == 1 : taps >= 9 && a->SW == 1 && a->OH * a->OW >= 32)))) {
            groups = at_once = 1; // a single filter has a loop of its own
        } else if (taps > 1 && per >= 4) {
            groups = 1; // four filters fill a panel by themselves
        }
        if (groups > 1) {
            odt_join_filters(filters, w, groups, per, a->C, taps);
            w = filters;
            at_once = groups * per;
            o.to = o.from + at_once;
        }
        int32_t C = groups * a->C, row = a->KW * C, n = o.from;
        do {
            odt_correlation_t c = {.x = a->x + g * a->C, .w = w, .bias = a->b + n, .q = a->q + n, .y = a->y + n,
                .peak = a->peak, .B = a->B, .H = a->H, .W = a->W, .C = C, .N = at_once, .KH = a->KH, .KW = a->KW,
                .SH = a->SH, .SW = a->SW, .top = a->PT, .left = a->PL, .OH = a->OH, .OW = a->OW, .zx = a->zx,
                .zy = a->zy, .lo = a->lo, .w_n = a->KH * row, .w_kh = row, .w_kw = C, .w_c = 1, .y_b = a->OH * outputs,
                .y_oh = outputs, .y_ow = a->N, .q_step = 1, .x_skip = a->G * a->C - C};
            odt_correlate_i8(&c);
            n += at_once;
            w += at_once * a->KH * row;
        } while (ODT_ONE_ROW && n < o.to);
    }
}

// Writes the taps of a phase (phase.h) of those filters backwards, with inputs and outputs exchanged.
static void join_turned(int8_t *to, const int8_t *w, const odt_group_conv2d_dx_i8_t *a, const odt_phase_t *down,
    const odt_phase_t *right, int32_t groups) {
    int32_t C = a->C, per = a->N / a->G, width = groups * per, row = a->KW * C;
    memset(to, 0, (size_t)(groups * C * width * down->taps * right->taps));
    for (int32_t c = 0; c < groups * C; c++) {
        int32_t g = c / C;
        const int8_t *filters = w + g * per * a->KH * row + c - g * C;
        for (int32_t i = down->taps - 1; i >= 0; i--) {
            for (int32_t j = right->taps - 1; j >= 0; j--, to += width) {
                const int8_t *from = filters + (down->tap + i * a->SH) * row + (right->tap + j * a->SW) * C;
                for (int32_t n = 0; n < per; n++, from += a->KH * row) {
                    to[g * per + n] = *from;
                }
            }
        }
    }
}

// The gradient of the inputs of some groups from g on.
static void dx_of_joined(const odt_group_conv2d_dx_i8_t *a, int32_t g, int32_t groups, int8_t *filters) {
    int32_t per = a->N / a->G, C = groups * a->C, N = groups * per, pixel = a->G * a->C, inputs = a->W * pixel;
    for (int32_t kh = 0; kh < a->SH; kh++) {
        odt_phase_t h = odt_phase(kh, a->PT, a->SH, a->H, a->KH);
        for (int32_t kw = 0; kw < a->SW; kw++) {
            odt_phase_t w = odt_phase(kw, a->PL, a->SW, a->W, a->KW);
            if (h.outputs == 0 || w.outputs == 0) {
                continue;
            }
            join_turned(filters, a->w + g * per * a->KH * a->KW * a->C, a, &h, &w, groups);
            int32_t row = w.taps * N;
            odt_correlation_t c = {.x = a->e + g * per, .w = filters, .q = a->q,
                .y = a->dx + h.first * inputs + w.first * pixel + g * a->C, .peak = a->peak, .B = a->B, .H = a->OH,
                .W = a->OW, .C = N, .N = C, .KH = h.taps, .KW = w.taps, .SH = 1, .SW = 1, .top = h.pad,
                .left = w.pad, .OH = h.outputs, .OW = w.outputs, .lo = -127, .w_n = h.taps * row, .w_kh = row,
                .w_kw = N, .w_c = 1, .y_b = a->H * inputs, .y_oh = a->SH * inputs, .y_ow = a->SW * pixel,
                .x_skip = a->N - N};
            odt_correlate_i8(&c);
        }
    }
}

void odt_group_conv2d_dx_i8(const odt_group_conv2d_dx_i8_t *a) {
    int32_t taps = a->KH * a->KW;
    int8_t filters[ODT_JOINED + 1];
    #if ODT_M4 && !ODT_MPY
    if (group_dx_by_pixels(a)) {
        return;
    }
    if (is_quads_of_squares(a)) {
        odt_split(quads_of_squares, a, a->G * a->C, QUAD, a->peak);
        return;
    }
    if (is_quads_dx(a)) {
        odt_split(quads_dx, a, a->G * a->C, QUAD, a->peak);
        return;
    }
    #endif
    #if ODT_M0_DEPTHWISE
    if (group_dx_by_tiles(a)) {
        return;
    }
    #endif
    for (int32_t g = 0, groups; g < a->G; g += groups) {
        odt_taps_t o = outputs_of(g, a->N, a->G);
        const int8_t *w = a->w + o.from * taps * a->C;
        groups = odt_joined_groups(g, a->G, a->N, a->C, taps, ODT_JOINED);
        if (a->C == 1 && o.to - o.from > 1 && taps > 1 && a->W >= 8 && a->SH == 1 && a->SW == 1
            && a->KW * (o.to - o.from) <= ODT_ONE_ROW) {
            groups = 1;
        }
        if (groups > 1 && taps > 1 && a->C >= o.to - o.from && a->KH >= a->SH && a->KW >= a->SW) {
            dx_of_joined(a, g, groups, filters);
            continue;
        }
        if (groups > 1) {
            odt_join_filters(filters, w, groups, o.to - o.from, a->C, taps);
            w = filters;
            o.to = o.from + groups * (o.to - o.from);
        }
        int32_t C = groups * a->C;
        odt_conv2d_dx_i8_t c = {.dx = a->dx + g * a->C,
            .peak = a->peak,
            .e = a->e + o.from,
            .w = w,
            .q = a->q,
            .B = a->B,
            .H = a->H,
            .W = a->W,
            .C = C,
            .N = o.to - o.from,
            .KH = a->KH,
            .KW = a->KW,
            .SH = a->SH,
            .SW = a->SW,
            .PT = a->PT,
            .PL = a->PL,
            .OH = a->OH,
            .OW = a->OW};
        odt_conv2d_dx_by_panels_i8(&c, a->G * a->C, a->N);
    }
}

#if ODT_M4
__attribute__((noinline)) // its sums would lie on the stack below quads, too
#endif
static void dw_of_joined(const odt_group_conv2d_dw_i8_t *a, int32_t filter) {
    int32_t C = a->C, sums[ODT_JOINED_SUMS + 1];
    for (int32_t g = 0, groups; g < a->G; g += groups) {
        odt_taps_t o = outputs_of(g, a->N, a->G);
        int32_t per = o.to - o.from;
        groups = odt_joined_groups(g, a->G, a->N, C, a->KH * a->KW, ODT_JOINED_SUMS);
        if ((C >= 4 && C < filter) || o.from < a->at || o.from + groups * per > a->at + a->R) {
            groups = 1;
        } else {
            o.to = o.from + groups * per;
        }
        int32_t from = odt_max(o.from, a->at), count = odt_min(o.to, a->at + a->R) - from;
        int32_t *dw = a->dw + (from - a->at) * filter;
        odt_correlation_dw_t c = {.dw = groups > 1 ? sums : dw,
            .e = a->e + from,
            .x = a->x + g * C,
            .B = a->B,
            .H = a->H,
            .W = a->W,
            .C = groups * C,
            .N = count,
            .e_step = a->N,
            .KH = a->KH,
            .KW = a->KW,
            .SH = a->SH,
            .SW = a->SW,
            .top = a->PT,
            .left = a->PL,
            .OH = a->OH,
            .OW = a->OW,
            .zx = a->zx,
            .x_skip = (a->G - groups) * C};
        if (count > 0) {
            odt_correlate_dw_i8(&c);
        }
        if (groups > 1) {
            odt_separate_sums(dw, sums, groups, per, C, a->KH * a->KW);
        }
    }
}

void odt_group_conv2d_dw_i8(const odt_group_conv2d_dw_i8_t *a) {
    int32_t filter = a->KH * a->KW * a->C;
    if (!odt_within(a->at, a->R, a->N)) {
        memset(a->dw, 0, (size_t)a->R * (size_t)filter * sizeof(int32_t));
        return;
    }
    #if ODT_M4 && !ODT_MPY
    if (is_quads_dw(a)) {
        odt_split(quads_dw, a, a->R * a->C, QUAD, NULL);
        return;
    }
    #endif
    #if ODT_M0_DEPTHWISE
    if (group_dw_by_tiles(a)) {
        return;
    }
    #endif
    dw_of_joined(a, filter);
}

#else

// First input channel of output n's group.
static int32_t group_start(int32_t n, int32_t N, int32_t G, int32_t C) {
    return odt_min(n / odt_max(N / G, 1), G - 1) * C;
}

void odt_group_conv2d_i8(const odt_group_conv2d_i8_t *a) {
    int32_t C = a->C, N = a->N, KW = a->KW, width = a->G * C, peak = *a->peak;
    int32_t filter = a->KH * KW * C;
    int8_t *y = a->y;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            odt_poll();
            int32_t ih = oh * a->SH - a->PT;
            odt_taps_t th = odt_taps(ih, a->KH, a->H);
            for (int32_t ow = 0; ow < a->OW; ow++) {
                int32_t iw = ow * a->SW - a->PL;
                odt_taps_t tw = odt_taps(iw, KW, a->W);
                for (int32_t n = 0; n < N; n++) {
                    int32_t first = group_start(n, N, a->G, C);
                    int32_t acc = a->b[n];
                    for (int32_t kh = th.from; kh < th.to; kh++) {
                        for (int32_t kw = tw.from; kw < tw.to; kw++) {
                            const int8_t *w = a->w + n * filter + (kh * KW + kw) * C;
                            int32_t at = ((b * a->H + ih + kh) * a->W + iw + kw) * width + first;
                            acc = odt_wrap_add(acc, odt_dot_i8(a->x + at, w, C));
                            acc = odt_wrap_sub(acc, a->zx ? odt_wrap_mul(a->zx, odt_sum_i8(w, C)) : 0);
                        }
                    }
                    int32_t v = odt_rescaled(acc, odt_checked(&a->q[n]));
                    *y++ = odt_clamp(v, a->zy, a->lo, &peak);
                }
            }
        }
    }
    *a->peak = peak;
}

void odt_group_conv2d_dx_i8(const odt_group_conv2d_dx_i8_t *a) {
    int32_t C = a->C, N = a->N, KW = a->KW, per = odt_max(N / a->G, 1), peak = *a->peak;
    int32_t filter = a->KH * KW * C;
    odt_multiplier_t q = odt_checked(a->q);
    int8_t *dx = a->dx;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t ih = 0; ih < a->H; ih++) {
            odt_poll();
            for (int32_t iw = 0; iw < a->W; iw++) {
                for (int32_t g = 0; g < a->G; g++) {
                    // If N is not a multiple of G, the last group has the remaining outputs.
                    int32_t from = odt_min(g, N / per) * per, to = g == a->G - 1 ? N : from + per;
                    to = odt_min(to, N);
                    for (int32_t c = 0; c < C; c += ODT_BLOCK) {
                        int32_t block = odt_min(C - c, ODT_BLOCK);
                        int32_t acc[ODT_BLOCK] = {0};
                        odt_dx_taps_t h = odt_dx_taps(ih, a->PT, a->SH, a->KH, a->OH);
                        for (; odt_dx_taps_more(&h); odt_dx_taps_next(&h)) {
                            odt_dx_taps_t w = odt_dx_taps(iw, a->PL, a->SW, KW, a->OW);
                            for (; odt_dx_taps_more(&w); odt_dx_taps_next(&w)) {
                                const int8_t *e = a->e + ((b * a->OH + h.o) * a->OW + w.o) * N;
                                const int8_t *tap = a->w + (h.k * KW + w.k) * C + c;
                                for (int32_t n = from; n < to; n++) {
                                    odt_axpy_i8(acc, e[n], tap + n * filter, 0, block);
                                }
                            }
                        }
                        for (int32_t i = 0; i < block; i++) {
                            *dx++ = odt_clamp(odt_rescaled(acc[i], q), 0, -127, &peak);
                        }
                    }
                }
            }
        }
    }
    *a->peak = peak;
}

void odt_group_conv2d_dw_i8(const odt_group_conv2d_dw_i8_t *a) {
    int32_t C = a->C, N = a->N, KW = a->KW, width = a->G * C;
    int32_t filter = a->KH * KW * C;
    memset(a->dw, 0, (size_t)a->R * (size_t)filter * sizeof(int32_t));
    if (!odt_within(a->at, a->R, N)) {
        return;
    }
    const int8_t *e = a->e + a->at;
    for (int32_t b = 0; b < a->B; b++) {
        for (int32_t oh = 0; oh < a->OH; oh++) {
            odt_poll();
            int32_t ih = oh * a->SH - a->PT;
            odt_taps_t th = odt_taps(ih, a->KH, a->H);
            for (int32_t ow = 0; ow < a->OW; ow++, e += N) {
                int32_t iw = ow * a->SW - a->PL;
                odt_taps_t tw = odt_taps(iw, KW, a->W);
                for (int32_t n = 0; n < a->R; n++) {
                    int32_t first = group_start(a->at + n, N, a->G, C);
                    if (!e[n]) {
                        continue;
                    }
                    for (int32_t kh = th.from; kh < th.to; kh++) {
                        for (int32_t kw = tw.from; kw < tw.to; kw++) {
                            int32_t at = ((b * a->H + ih + kh) * a->W + iw + kw) * width + first;
                            int32_t *row = a->dw + n * filter + (kh * KW + kw) * C;
                            odt_axpy_i8(row, e[n], a->x + at, odt_wrap_mul(e[n], a->zx), C);
                        }
                    }
                }
            }
        }
    }
}

#endif
