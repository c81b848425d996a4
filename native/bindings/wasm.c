// The module that docs/page/ instantiates in a browser: verifier and executor over one linear memory.
//
// JavaScript owns the memory and copies regions into it (docs/page/src/binding.js). clang compiles this for wasm32
// without a libc; the four functions of string.h that the kernels call are at the end of this file.

#include <string.h>

#include "../kernels/features/logmel.h"
#include "../kernels/features/motion.h"
#include "../odt.h"
#include "../opcodes.h"

#define EXPORT(name) __attribute__((export_name(#name)))

EXPORT(version) int32_t wasm_version(void) {
    return ODT_VERSION;
}

// 0, or an odt_error_t; what is wrong goes to *fault.
EXPORT(verify) int32_t wasm_verify(const int32_t *program, size_t words, odt_fault_t *fault) {
    return (int32_t)odt_verify(program, words, fault);
}

EXPORT(region_bytes) size_t wasm_region_bytes(const int32_t *program, size_t region) {
    return odt_region_bytes(program, region);
}

// 1 where the words from start to before stop are a run of instructions of a verified program.
EXPORT(is_run) int32_t wasm_is_run(const int32_t *program, size_t start, size_t stop) {
    return start <= stop && odt_is_boundary(program, start) && odt_is_boundary(program, stop);
}

// Words of which is_run() is 1; regions of at least region_bytes().
EXPORT(run) void wasm_run(const int32_t *program, size_t start, size_t stop, const odt_region_t *regions,
    int32_t rows) {
    while (start < stop) {
        start = odt_step(program, start, regions, rows);
    }
}

EXPORT(crc32) uint32_t wasm_crc32(const uint8_t *data, size_t bytes, uint32_t crc) {
    return odt_crc32(data, bytes, crc);
}

EXPORT(draw) void wasm_draw(uint8_t *to, size_t count, uint32_t key, uint32_t first) {
    odt_draw(to, count, key, first);
}

EXPORT(draw_bytes) void wasm_draw_bytes(uint8_t *to, size_t count, uint32_t key, uint32_t first, int32_t low) {
    odt_draw_bytes(to, count, key, first, low);
}

// Features: 0, or which argument is wrong. Sizes are in bytes.
EXPORT(log_mel) int32_t wasm_log_mel(uint8_t *out, size_t outs, uint8_t *samples, size_t size, uint8_t *tables,
    size_t table, uint8_t *work, size_t works) {
    return odt_log_mel_i16((odt_bytes_t){ out, outs }, (odt_bytes_t){ samples, size }, (odt_bytes_t){ tables, table },
        (odt_bytes_t){ work, works });
}

EXPORT(motion) int32_t wasm_motion(uint8_t *out, size_t outs, uint8_t *samples, size_t size, uint8_t *tables,
    size_t table, uint8_t *work, size_t works) {
    return odt_motion_i16((odt_bytes_t){ out, outs }, (odt_bytes_t){ samples, size }, (odt_bytes_t){ tables, table },
        (odt_bytes_t){ work, works });
}

void *memcpy(void *to, const void *from, size_t bytes) {
    return __builtin_memcpy(to, from, bytes); // an instruction: -mbulk-memory
}

void *memmove(void *to, const void *from, size_t bytes) {
    return __builtin_memmove(to, from, bytes);
}

void *memset(void *to, int value, size_t bytes) {
    return __builtin_memset(to, value, bytes);
}

int memcmp(const void *a, const void *b, size_t bytes) {
    const uint8_t *x = a, *y = b;
    for (; bytes && *x == *y; x++, y++) {
        bytes--;
    }
    return bytes ? *x - *y : 0;
}
