// A worker for native/ (threads.h) compiled with ODT_THREADS, linked beside safety.c or into a library: it serves
// from the start to the end of the process, for the thread that began it.

#include <pthread.h>
#include <sched.h>
#include <stdint.h>

#include "../../native/threads.h"

static pthread_t first, worker;

int odt_may_split(void) {
    return pthread_equal(pthread_self(), first);
}

static void *serve(void *number) {
    odt_serve((uint32_t)(uintptr_t)number);
    return NULL;
}

__attribute__((constructor)) static void begin(void) {
    first = pthread_self();
    pthread_create(&worker, NULL, serve, (void *)(uintptr_t)odt_want(2));
    while (!odt_is_served()) {
        sched_yield();
    }
}

__attribute__((destructor)) static void end(void) {
    odt_want(1);
    pthread_join(worker, NULL);
}
