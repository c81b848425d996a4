// Which of a PC's vectors the kernels use, by ODT_X86_LEVEL of the environment: none, AVX2 alone, all.

#include <stdlib.h>

int odt_x86_level = 2;

__attribute__((constructor)) static void begin(void) {
    const char *level = getenv("ODT_X86_LEVEL");
    odt_x86_level = level ? atoi(level) : 2;
}
