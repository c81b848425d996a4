// The worker and its one job at a time (threads.h).
//
// Words that both threads use are loaded and stored whole, no more: an RP2040's cores cannot exchange or add in one
// go. So each has one writer. The SIO's FIFO is left to MicroPython, which stops the other core by it while it writes
// flash.

#include "core.h"

#if !ODT_PICO
#define _POSIX_C_SOURCE 200809L // nanosleep(), pthread_sigmask()
#endif

#include "threads.h"

#ifdef ODT_THREADS

#include <stddef.h>

#if ODT_PICO

#include <hardware/sync.h>

// From SRAM, away from the flash's cache, which the other core uses.
#if ODT_ARM
#define HOT __attribute__((noinline, section(".time_critical.odt_wait"), long_call))
#else
#define HOT __attribute__((noinline, section(".time_critical.odt_wait")))
#endif

// An event that comes before it is waited for is kept.
static inline void wake(void) {
    __dsb();
    __sev();
}

static inline void wait(uint32_t turns) {
    (void)turns;
    __wfe();
}

enum { SIG_BLOCK };

static inline void mask_signals(int how) {
    (void)how;
}

static inline void hold_signals(void) {
}

static inline void release_signals(void) {
}

#else

#include <sched.h>
#include <signal.h>
#include <time.h>

#define HOT

static inline void wake(void) {
}

static void wait(uint32_t turns) {
    if (turns < 2000) {
        sched_yield();
    } else {
        nanosleep(&(struct timespec) {.tv_nsec = 100000}, NULL);
    }
}

// MicroPython's unix port leaves whatever runs when a SIGINT comes, in any thread.
static int is_held;

static void mask_signals(int how) {
    #ifdef ODT_POLLS
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    pthread_sigmask(how, &set, NULL);
    #else
    (void)how;
    #endif
}

static void hold_signals(void) {
    mask_signals(SIG_BLOCK);
    is_held = 1;
}

static void release_signals(void) {
    if (is_held) {
        is_held = 0;
        mask_signals(SIG_UNBLOCK);
    }
}

#endif

enum { IN_TURN = 1 << 30 }; // no worker's number

typedef struct {
    odt_work_t *work;
    const void *arguments;
    int32_t first, stop, *peak;
} job_t;

// Written by the main thread; numbers count up, none comes twice.
uint32_t odt_wanted;
uint32_t odt_jobs; // that are posted
static uint32_t workers, begun;
static job_t job;

// Written by the worker that is wanted: the jobs that it has done. When no kernel runs, all that are posted are done.
static uint32_t done;

// The worker that serves. One that is late or leaves may write it too; a wanted worker corrects it.
static uint32_t serving;

static inline uint32_t load(const uint32_t *word) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void store(uint32_t *word, uint32_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    wake();
}

HOT static void wait_while(const uint32_t *word, uint32_t value) {
    for (uint32_t turns = 0; load(word) == value; turns++) {
        wait(turns);
    }
}

// Until there is a job for worker `me`, which has seen `last` of them; 0 if it is no longer wanted.
HOT static int wait_for_job(uint32_t me, uint32_t last) {
    for (uint32_t turns = 0;; turns++) {
        uint32_t posted = load(&odt_jobs);
        // Looked at after the job: who sees another worker's sees that worker's number too.
        if (load(&odt_wanted) != me) {
            return 0;
        }
        if (posted != last) {
            return 1;
        }
        if (load(&serving) != me) {
            store(&serving, me);
        }
        wait(turns);
    }
}

int odt_begin(uint32_t me) {
    int is_first = me && me == load(&odt_wanted) && me < IN_TURN && me != begun;
    if (is_first) {
        begun = me;
    }
    return is_first;
}

void odt_serve(uint32_t me) {
    uint32_t last = load(&odt_jobs);
    mask_signals(SIG_BLOCK);
    while (wait_for_job(me, last)) {
        job.work(job.arguments, job.first, job.stop, job.peak);
        store(&done, ++last);
    }
    if (load(&serving) == me) {
        store(&serving, 0);
    }
}

uint32_t odt_want(int threads) {
    uint32_t before = load(&odt_wanted);
    if (threads == 2 && ++workers >= IN_TURN) {
        workers = 1;
    }
    store(&odt_wanted, threads == 2 ? workers : threads == 1 ? 0 : IN_TURN);
    if (before) {
        wait_while(&serving, before);
    }
    return load(&odt_wanted);
}

void odt_forget(void) {
    store(&odt_wanted, 0);
    store(&serving, 0);
}

int odt_is_served(void) {
    uint32_t wanted = load(&odt_wanted);
    return wanted && load(&serving) == wanted;
}

int odt_threads(void) {
    return odt_is_served() ? 2 : !load(&odt_wanted);
}

void odt_join(void) {
    if (odt_may_split()) {
        wait_while(&done, odt_jobs - 1);
        release_signals();
    }
}

void odt_split_in_two(odt_work_t *work, const void *arguments, int32_t count, int32_t multiple, int32_t *peak) {
    int is_in_turn = load(&odt_wanted) == IN_TURN;
    // What the worker itself calls, and what is called while it works, is not split.
    if (count < 2 * multiple || !odt_may_split() || !(is_in_turn || odt_is_served()) || load(&done) != odt_jobs) {
        work(arguments, 0, count, peak);
        return;
    }
    int32_t first = (count / 2 + multiple / 2) / multiple * multiple, others = peak ? *peak : 0;
    int32_t *their_peak = peak ? &others : NULL;
    if (is_in_turn) {
        work(arguments, 0, first, peak);
        work(arguments, first, count, their_peak);
    } else {
        hold_signals();
        job = (job_t) {work, arguments, first, count, their_peak};
        store(&odt_jobs, odt_jobs + 1);
        work(arguments, 0, first, peak);
        odt_join(); // another job may have come and gone by now, of a callback's program
    }
    if (peak && others > *peak) {
        *peak = others;
    }
}

#endif
