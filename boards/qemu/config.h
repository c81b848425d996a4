// The port's own configuration, and on top of it what mpremote and training scripts need.
// Taken instead of mpconfigport.h (MP_CONFIGFILE), so that the port itself stays as it is.

#include "ports/qemu/mpconfigport.h"

// mpremote's mount polls sys.stdin.buffer; scripts measure with time.ticks_us and ticks_cpu.
#undef MICROPY_PY_SYS_STDIO_BUFFER
#define MICROPY_PY_SYS_STDIO_BUFFER (1)
#undef MICROPY_PY_SELECT
#define MICROPY_PY_SELECT           (1)
#undef MICROPY_PY_TIME
#define MICROPY_PY_TIME             (1)
#undef MICROPY_PY_ASYNCIO
#define MICROPY_PY_ASYNCIO          (1)

// gc.collect() tells how many objects it freed, as on the unix port: tests compare it.
#define MICROPY_PY_GC_COLLECT_RETVAL (1)

// The UART's interrupt schedules KeyboardInterrupt while the VM runs.
uint32_t qemu_irq_disable(void);
void qemu_irq_restore(uint32_t state);
#define MICROPY_BEGIN_ATOMIC_SECTION()     qemu_irq_disable()
#define MICROPY_END_ATOMIC_SECTION(state)  qemu_irq_restore(state)
