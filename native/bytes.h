// A buffer that a binding was given: what an entry point of its own (no instruction) takes.

#ifndef ODT_BYTES_H
#define ODT_BYTES_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint8_t *data;
    size_t bytes;
} odt_bytes_t;

#endif
