// The worker and its one job at a time (threads.h).
//
// Words that both threads use are loaded and stored whole, no more: an RP2040's cores cannot exchange or add in one
// go. So each has one writer. The SIO's FIFO is left to MicroPython, which stops the other core by it while it writes
// flash.

#if !defined(PICO_ON_DEVICE)
#define _POSIX_C_SOURCE 200809L // nanosleep(), pthread_sigmask()
#endif

#include "threads.h"

#ifdef ODT_THREADS

#include <stddef.h>

#if defined(PICO_ON_DEVICE) && PICO_ON_DEVICE

#include <hardware/sync.h>

// From SRAM, away from the flash's cache, which the other core uses.
#if defined(__arm__)
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

// Written by the main thread; numbers count up.
uint32_t odt_wanted;
uint32_t odt_jobs; // that are posted
static uint32_t workers;
static job_t job;

// Written by the worker: which one it is, the jobs that it has done. When no kernel runs, all that are posted are done.
static uint32_t serving, done;

static inline uint32_t load(const uint32_t *word) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void store(uint32_t *word, uint32_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    wake();
}

// Until the word is no longer `value`, or `me`, if not 0, no longer wanted.
HOT static void wait_while(const uint32_t *word, uint32_t value, uint32_t me) {
    for (uint32_t turns = 0; load(word) == value && (!me || load(&odt_wanted) == me); turns++) {
        wait(turns);
    }
}

void odt_serve(uint32_t me) {
    uint32_t last = load(&odt_jobs);
    mask_signals(SIG_BLOCK);
    store(&serving, me);
    for (;;) {
        wait_while(&odt_jobs, last, me);
        if (load(&odt_jobs) == last) { // no longer wanted; who is not gets no jobs
            return;
        }
        job.work(job.arguments, job.first, job.stop, job.peak);
        store(&done, ++last);
    }
}

uint32_t odt_want(int threads) {
    if (threads == 2 && ++workers >= IN_TURN) {
        workers = 1;
    }
    store(&odt_wanted, threads == 2 ? workers : threads == 1 ? 0 : IN_TURN);
    return load(&odt_wanted);
}

int odt_is_served(void) {
    uint32_t wanted = load(&odt_wanted);
    return wanted && load(&serving) == wanted;
}

void odt_join(void) {
    if (odt_may_split()) {
        wait_while(&done, odt_jobs - 1, 0);
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
