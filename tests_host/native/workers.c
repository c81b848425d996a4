// Workers of native/threads.c that come and go while one thread posts jobs: each job is done once, by the worker
// that is wanted. Workers begin late, and notice late what happens (-Dnanosleep=slow_nanosleep).
//
//     workers changes
//
// Prints how many workers got jobs. Ends with 1 where a job was done twice or not at all; ThreadSanitizer finds two
// workers in one job.

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../native/threads.h"

enum { ITEMS = 64, MOST = 4096 };

static pthread_t threads[MOST];
static uint32_t state = 1;

static void pause_for(long microseconds) {
    clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec) {.tv_nsec = 1000 * microseconds}, NULL);
}

int slow_nanosleep(const struct timespec *asked, struct timespec *rest);
int slow_nanosleep(const struct timespec *asked, struct timespec *rest) {
    (void)asked;
    (void)rest;
    pause_for(2000);
    return 0;
}

int odt_may_split(void) {
    return 1;
}

static uint32_t pick(uint32_t below) {
    state = state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)state * below >> 32);
}

static void add_one(const void *arguments, int32_t first, int32_t stop, int32_t *peak) {
    int *items = *(int *const *)arguments;
    (void)peak;
    for (int32_t i = first; i < stop; i++) {
        items[i]++;
    }
}

static void *serve(void *argument) {
    uint32_t number = (uint32_t)(uintptr_t)argument;
    if (number % 8 == 0) {
        pause_for(1000);
    }
    odt_serve(number);
    return NULL;
}

int main(int count, char **arguments) {
    int changes = count == 2 ? atoi(arguments[1]) : 0, items[ITEMS] = {0}, *pointer = items, jobs = 0, got_jobs = 0;
    if (changes < 1 || changes > MOST) {
        return 2;
    }
    for (int i = 0; i < changes; i++) {
        uint32_t before = odt_jobs, number = odt_want(2);
        pthread_create(&threads[i], NULL, serve, (void *)(uintptr_t)number);
        while (number % 8 && !odt_is_served()) { // forever, if one that comes late passes itself off as this one
            sched_yield();
        }
        for (uint32_t n = pick(8); n; n--, jobs++) {
            odt_split(add_one, &pointer, ITEMS, 1, NULL);
        }
        got_jobs += odt_jobs != before;
        if (pick(2)) { // so long that a worker's waits are the long ones
            pause_for(3000);
        }
        switch (pick(3)) {
            case 0:
                odt_want(1);
                break;
            case 1: // as after a soft reset: it is not waited for
                odt_forget();
        }
    }
    odt_want(1);
    for (int i = 0; i < changes; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < ITEMS; i++) {
        if (items[i] != jobs) {
            fprintf(stderr, "%d jobs, item %d was counted %d times\n", jobs, i, items[i]);
            return 1;
        }
    }
    printf("%d\n", got_jobs);
    return 0;
}
