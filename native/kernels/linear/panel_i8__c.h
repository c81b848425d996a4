// Panels (panel_i8.c) in C, for cores without loops of their own. A panel is int16, depths k and k + 1 of
// row 0, of row 1, ..; sums are those of the rows.

typedef int16_t panel_t;
enum { UNITS = 4, ALIGNED = 2 };

static inline void put(panel_t *panel, int32_t k, const int32_t *r) {
    panel_t *group = panel + (k >> 1) * 8 + (k & 1);
    group[0] = (panel_t)r[0];
    group[2] = (panel_t)r[1];
    group[4] = (panel_t)r[2];
    group[6] = (panel_t)r[3];
}

static void pack(panel_t *panel, int32_t k, const int8_t *w, const int32_t *rows, int32_t step,
    int32_t count, int32_t *totals) {
    panel += (k >> 1) * 8;
    for (int32_t row = 0; row < ROWS; row++, panel += 2) {
        const int8_t *from = w + rows[row];
        panel_t *to = panel;
        int32_t left = count, sum = 0;
        if (k & 1) {
            sum = to[1] = *from;
            from += step;
            to += 8;
            left--;
        }
        for (; left > 1; left -= 2, to += 8) {
            int32_t first = *from, second;
            from += step;
            second = *from;
            from += step;
            sum += first + second;
            to[0] = (panel_t)first;
            to[1] = (panel_t)second;
        }
        if (left) {
            sum += to[0] = *from;
        }
        totals[row] += sum;
    }
}

// What is taken out of a panel, by rows.
typedef int32_t taken_t[ROWS];

// Depths k .. stop - 1 become 0.
static inline void take(panel_t *panel, int32_t k, int32_t stop, int32_t *taken) {
    for (; k < stop; k++) {
        panel_t *group = panel + (k >> 1) * 8 + (k & 1);
        for (int32_t i = 0; i < ROWS; i++) {
            taken[i] += group[2 * i];
            group[2 * i] = 0;
        }
    }
}

// And what they were again: of the rows that begin at e[rows[0]], .., `step` bytes a depth.
static inline void put_back(panel_t *panel, int32_t k, int32_t stop, const int8_t *e, int32_t step, const int32_t *rows) {
    for (; k < stop; k++) {
        panel_t *group = panel + (k >> 1) * 8 + (k & 1);
        for (int32_t i = 0; i < ROWS; i++) {
            group[2 * i] = e[k * step + rows[i]];
        }
    }
}

static inline void subtract(int32_t *totals, const int32_t *taken) {
    for (int32_t i = 0; i < ROWS; i++) {
        totals[i] -= taken[i];
    }
}

static void run_single(sums_t *sums, const panel_t *panel, int32_t k, const int8_t *b,
    const columns_t *c) {
    const panel_t *group = panel + (k >> 1) * 8 + (k & 1);
    int32_t p0 = group[0], p1 = group[2], p2 = group[4], p3 = group[6];
    for (int32_t i = c->count; i; i--, b += c->step, sums++) {
        int32_t *s = *sums;
        s[0] = odt_wrap_add(s[0], p0 * *b);
        s[1] = odt_wrap_add(s[1], p1 * *b);
        s[2] = odt_wrap_add(s[2], p2 * *b);
        s[3] = odt_wrap_add(s[3], p3 * *b);
    }
}

static void run_pairs(sums_t *sums, const sums_t *end, const panel_t *panel, const int8_t *b,
    int32_t stride, int32_t pairs, int32_t back) {
    for (; sums != end; sums++, b += back) {
        const panel_t *p = panel;
        int32_t *s = *sums, s0 = s[0], s1 = s[1], s2 = s[2], s3 = s[3];
        for (int32_t i = pairs; i; i--, p += 8, b += 2 * stride) {
            int32_t b0 = *b, b1 = b[stride];
            s0 = odt_wrap_add(s0, p[0] * b0 + p[1] * b1);
            s1 = odt_wrap_add(s1, p[2] * b0 + p[3] * b1);
            s2 = odt_wrap_add(s2, p[4] * b0 + p[5] * b1);
            s3 = odt_wrap_add(s3, p[6] * b0 + p[7] * b1);
        }
        s[0] = s0;
        s[1] = s1;
        s[2] = s2;
        s[3] = s3;
    }
}

// Adds the products of depths k .. of the panel with columns that begin at b: to `start`, four words that are
// the same for all columns, if there is one.
static void run(sums_t *sums, const int32_t *start, const panel_t *panel, int32_t k, const int8_t *b,
    const columns_t *c) {
    int32_t depth = c->depth, pairs;
    if (start) {
        fill_columns(sums, c->count, start);
    }
    if (depth <= 0 || c->count <= 0) {
        return;
    }
    if (k & 1) {
        run_single(sums, panel, k++, b, c);
        b += c->stride;
        depth--;
    }
    pairs = depth >> 1;
    if (pairs) {
        int32_t length = pairs * 2 * c->stride;
        run_pairs(sums, (const sums_t *)sums + c->count, panel + k * UNITS, b, c->stride, pairs,
            c->step - length);
        b += length;
        k += pairs * 2;
    }
    if (depth & 1) {
        run_single(sums, panel, k, b, c);
    }
}

// Of a row: y = clamp(zy + q * (sum + offset)); shifts above 32, so that no result overflows.
static void finish_row(output_t *o, const int32_t *sum, int32_t offset, odt_multiplier_t q, int8_t *y) {
    int32_t shift = q.s - 32, half = 1 << (shift - 1), zy = o->zy, high = 127 - zy, low = o->lo - zy, step = o->step;
    int32_t max = o->max - zy, min = o->min - zy, top = odt_min(max, high); // neither out of range nor a new peak
    const int32_t *end = sum + o->length / (int32_t)sizeof(int32_t);
    if (low == 0) { // as after a ReLU: many are below
        for (; sum != end; sum += ROWS, y += step) {
            int32_t v = odt_max(((int32_t)((int64_t)odt_wrap_add(*sum, offset) * q.m >> 32) + half) >> shift, 0);
            if (v > top) {
                max = odt_max(max, v);
                top = odt_min(max, high);
                v = odt_min(v, high);
            }
            *y = (int8_t)(v + zy);
        }
        o->max = max + zy;
        return;
    }
    int32_t bottom = odt_max(min, low);
    uint32_t span = (uint32_t)(top - bottom);
    for (; sum != end; sum += ROWS, y += step) {
        int32_t v = ((int32_t)((int64_t)odt_wrap_add(*sum, offset) * q.m >> 32) + half) >> shift;
        if ((uint32_t)(v - bottom) > span) {
            max = odt_max(max, v);
            min = odt_min(min, v);
            bottom = odt_max(min, low);
            span = (uint32_t)(odt_min(max, high) - bottom);
            v = odt_limit(v, low, high);
        }
        *y = (int8_t)(v + zy);
    }
    o->max = max + zy;
    o->min = min + zy;
}

static void finish_rows(output_t *o) {
    for (int32_t i = 0; i < o->rows; i++) {
        finish_row(o, o->sums + i, o->offsets[i], o->q[i * o->q_step / (int32_t)sizeof(*o->q)], o->y + i);
    }
}
