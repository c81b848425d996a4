// What Python asks of whole buffers before and after a run: checks, and outputs as floats.

#include <string.h>

#include "data.h"
#include "fixed.h"
#include "odt.h"
#include "opcodes.h"

uint32_t odt_crc32(const uint8_t *data, size_t bytes, uint32_t crc) {
    static const uint32_t nibbles[16] = {
        0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158,
        0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4,
        0xA00AE278, 0xBDBDF21C,
    };
    crc = ~crc;
    for (size_t i = 0; i < bytes; i++) {
        crc ^= data[i];
        crc = crc >> 4 ^ nibbles[crc & 15];
        crc = crc >> 4 ^ nibbles[crc & 15];
    }
    return ~crc;
}

ptrdiff_t odt_find_nonfinite(const uint8_t *data, size_t count) {
    for (size_t i = 0; i < count; i++) {
        // Little-endian: the exponent field lies in the two high bytes.
        if ((data[4 * i + 3] & 0x7F) == 0x7F && (data[4 * i + 2] & 0x80)) {
            return (ptrdiff_t)i;
        }
    }
    return -1;
}

void odt_draw(uint8_t *to, size_t count, uint32_t key, uint32_t first) {
    for (size_t i = 0; i < count; i++) {
        uint32_t v = (odt_hash32(key, first + (uint32_t)i) >> 17) - 16384;
        to[2 * i] = (uint8_t)v;
        to[2 * i + 1] = (uint8_t)(v >> 8);
    }
}

void odt_draw_bytes(uint8_t *to, size_t count, uint32_t key, uint32_t first, int low) {
    for (size_t i = 0; i < count; i++) {
        uint32_t v = (odt_hash32(key, first + (uint32_t)i) >> 17) - 16384;
        to[i] = (uint8_t)(low ? v : (v + 128) >> 8);
    }
}

size_t odt_count_samples(const uint8_t *data, size_t bytes, int32_t format, int32_t elements, int32_t classes) {
    if (format < 0 || format > ODT_UINT16 || elements < 1 || elements > ODT_DEFAULT_LIMIT) {
        return 0;
    }
    size_t row = odt_format_bytes[format] * (size_t)elements;
    if (bytes % row || bytes > INT32_MAX) {
        return 0;
    }
    if (format == ODT_FLOAT32) {
        if (classes > 2 || odt_find_nonfinite(data, bytes / 4) >= 0) {
            return 0;
        }
        classes = classes ? ODT_ONE + 1 : 0; // bits of numbers from 0 to 1
    }
    for (size_t i = 0; classes && i < bytes / odt_format_bytes[format]; i++) {
        int32_t label = odt_element(data, format, (int32_t)i);
        if (label < 0 || label >= classes) {
            return 0;
        }
    }
    return bytes / row;
}

void odt_floats(uint8_t *to, const uint8_t *from, size_t count, int32_t zero, const uint8_t *scale) {
    if (!scale) {
        memmove(to, from, 4 * count);
        return;
    }
    uint32_t s =
        odt_scale((int32_t)(scale[0] | (uint32_t)scale[1] << 8 | (uint32_t)scale[2] << 16 | (uint32_t)scale[3] << 24));
    zero = odt_limit(zero, -128, 127);
    for (; count; count--, to += 4) {
        int32_t v = (int8_t)*from++ - zero; // -255 .. 255
        uint32_t product = odt_magnitude(v) * ((s & 0x7FFFFF) | 0x800000), shift = 0, bits = 0;
        while (product >> shift >> 24) {
            shift++;
        }
        if (product) {
            uint32_t rest = shift ? product << (32 - shift) : 0, kept = product >> shift;
            kept += rest + (kept & 1) > 0x80000000;
            bits = ((s >> 23) + shift - 1) * 0x800000 + kept; // 2^24 counts the exponent up
            bits = bits > 0x7F800000 ? 0x7F800000 : bits;
            bits |= v < 0 ? 0x80000000 : 0;
        }
        for (int i = 0; i < 4; i++) {
            to[i] = (uint8_t)(bits >> 8 * i);
        }
    }
}
