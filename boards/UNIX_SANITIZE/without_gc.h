// The unix port without a garbage collector: each object is a block of malloc's, so that the address sanitizer sees
// what is read or written beside it, or where it was before it moved. Files need finalisers, which need a collector.

#include "ports/unix/mpconfigport.h"

#undef MICROPY_ENABLE_GC
#define MICROPY_ENABLE_GC (0)
#undef MICROPY_PY_GC
#define MICROPY_PY_GC (0)
#undef MICROPY_ENABLE_FINALISER
#define MICROPY_ENABLE_FINALISER (0)
#undef MICROPY_VFS
#define MICROPY_VFS (0)
#undef MICROPY_VFS_POSIX
#define MICROPY_VFS_POSIX (0)
#undef MICROPY_READER_VFS
#define MICROPY_READER_VFS (0)
#define MICROPY_PY_VFS (0)
#undef MICROPY_PY_OS
#define MICROPY_PY_OS (0)
#undef MICROPY_PY_SELECT
#define MICROPY_PY_SELECT (0)
