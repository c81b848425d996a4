// The compiler calls these; the firmware has them for a native module in a file.

#ifndef ODT_MEMORY_H
#define ODT_MEMORY_H

void *memcpy(void *to, const void *from, size_t bytes) {
    return mp_fun_table.memmove_(to, from, bytes);
}

void *memmove(void *to, const void *from, size_t bytes) {
    return mp_fun_table.memmove_(to, from, bytes);
}

void *memset(void *to, int value, size_t bytes) {
    return mp_fun_table.memset_(to, value, bytes);
}

#endif
