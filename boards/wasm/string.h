// What odt's C uses of string.h, for WebAssembly without a libc; native/bindings/wasm.c defines it.

#ifndef ODT_WASM_STRING_H
#define ODT_WASM_STRING_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);

#endif
