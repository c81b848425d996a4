// Boot ROM for an emulated RP2040: memory and flash functions.
//
// The emulator lets a core write the window at 0x10000000, so that flash needs no serial commands.
// Like the real chip's, a program can only clear bits and an erase sets whole sectors.

#include <stddef.h>
#include <stdint.h>

#define FLASH_BASE (0x10000000u)

// Callers pass any int as the value (-1, for one): only its lowest byte counts.
uint8_t *rom_memset(uint8_t *dest, uint32_t value, size_t n) {
    value &= 0xff;
    uint8_t *p = dest;
    uint8_t *end = dest + n;
    while (p < end && ((uintptr_t)p & 3)) {
        *p++ = (uint8_t)value;
    }
    uint32_t word = value * 0x01010101u;
    while (end - p >= 16) {
        uint32_t *w = (uint32_t *)p;
        w[0] = word;
        w[1] = word;
        w[2] = word;
        w[3] = word;
        p += 16;
    }
    while (end - p >= 4) {
        *(uint32_t *)p = word;
        p += 4;
    }
    while (p < end) {
        *p++ = (uint8_t)value;
    }
    return dest;
}

uint8_t *rom_memcpy(uint8_t *dest, const uint8_t *src, size_t n) {
    uint8_t *p = dest;
    uint8_t *end = dest + n;
    if ((((uintptr_t)p ^ (uintptr_t)src) & 3) == 0) {
        while (p < end && ((uintptr_t)p & 3)) {
            *p++ = *src++;
        }
        while (end - p >= 16) {
            uint32_t *w = (uint32_t *)p;
            const uint32_t *r = (const uint32_t *)src;
            uint32_t a = r[0], b = r[1], c = r[2], d = r[3];
            w[0] = a;
            w[1] = b;
            w[2] = c;
            w[3] = d;
            p += 16;
            src += 16;
        }
        while (end - p >= 4) {
            *(uint32_t *)p = *(const uint32_t *)src;
            p += 4;
            src += 4;
        }
    }
    while (p < end) {
        *p++ = *src++;
    }
    return dest;
}

void rom_flash_nothing(void) {
}

// offset and count are multiples of a sector, 4096; the block size and command do not matter here.
void rom_flash_range_erase(uint32_t offset, size_t count, uint32_t block_size, uint8_t block_cmd) {
    (void)block_size;
    (void)block_cmd;
    rom_memset((uint8_t *)(FLASH_BASE + (offset & ~0xfffu)), 0xff, count);
}

// offset and count are multiples of a page, 256.
void rom_flash_range_program(uint32_t offset, const uint8_t *data, size_t count) {
    volatile uint32_t *flash = (volatile uint32_t *)(FLASH_BASE + (offset & ~0xffu));
    for (size_t i = 0; i < count; i += 4) {
        uint32_t word = (uint32_t)data[i] | (uint32_t)data[i + 1] << 8
            | (uint32_t)data[i + 2] << 16 | (uint32_t)data[i + 3] << 24;
        *flash++ &= word;
    }
}
