// Work on both cores of a chip that has two, or in two threads of a PC.
//
// A kernel's outputs are split in two: one part here, the other by a worker, which waits in odt_serve() on the other
// core. Every output is computed by one of them, as it would be alone, so that bits do not depend on it.
//
// Without ODT_THREADS there is no worker. With it a binding has odt_may_split(), lets the other core's thread run
// odt_serve(), and calls odt_join() before anything that may leave a kernel for good.

#ifndef ODT_THREADS_H
#define ODT_THREADS_H

#include <stdint.h>

// Computes outputs first .. stop - 1. To *peak go peaks, that is what only grows (NULL where there are none).
typedef void odt_work_t(const void *arguments, int32_t first, int32_t stop, int32_t *peak);

#ifdef ODT_THREADS

// The worker that is wanted, by its number, 0 is none; and how many jobs it has got.
extern uint32_t odt_wanted, odt_jobs;

// Whether to serve as worker `me`: once, and while it is wanted. Not in two threads at once.
int odt_begin(uint32_t me);

// Worker `me` works until it is no longer wanted. Whenever it notices that, it does no job of who came after it.
void odt_serve(uint32_t me);

// How many threads are to compute from here on: 2, the second one a worker, 1, or for tests, where there is one core,
// 0: one that does the worker's part after its own. For the main thread, while no kernel of its runs. Returns the
// number of the worker that is wanted: a new number, if the worker before has stopped serving.
uint32_t odt_want(int threads);

// After a fork or a soft reset: one thread, and no worker is there to be waited for.
void odt_forget(void);

// Whether the worker that is wanted serves.
int odt_is_served(void);

// How many threads compute, 1 or 2; 0 while a worker is wanted that does not serve yet.
int odt_threads(void);

// In the main thread, waits for what the worker still does.
void odt_join(void);

// Whether this is the main thread, which the worker works for.
int odt_may_split(void);

void odt_split_in_two(odt_work_t *work, const void *arguments, int32_t count, int32_t multiple, int32_t *peak);

static inline int odt_has_parts(void) {
    return __atomic_load_n(&odt_wanted, __ATOMIC_RELAXED) != 0;
}

#else

static inline int odt_has_parts(void) {
    return 0;
}

static inline void odt_split_in_two(
    odt_work_t *work, const void *arguments, int32_t count, int32_t multiple, int32_t *peak) {
    (void)multiple;
    work(arguments, 0, count, peak);
}

static inline void odt_join(void) {
}

#endif

// Outputs 0 .. count - 1: if there is a worker in two parts of at least `multiple` each, the first a whole number of
// `multiple`.
static inline void odt_split(odt_work_t *work, const void *arguments, int32_t count, int32_t multiple, int32_t *peak) {
    if (odt_has_parts()) {
        odt_split_in_two(work, arguments, count, multiple, peak);
    } else {
        work(arguments, 0, count, peak);
    }
}

#endif
