#define _GNU_SOURCE
#include "WrongClock.h"

#include <dlfcn.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t offset;

__attribute__((constructor)) static void read_offset(void) {
    const char *text = getenv("WRONG_CLOCK_OFFSET");
    if (text) offset = strtol(text, NULL, 10);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    long result = syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += offset;
    return (int)result;
}

int gettimeofday(struct timeval *time, void *zone) {
    long result = syscall(SYS_gettimeofday, time, zone);
    if (result == 0) time->tv_sec += offset;
    return (int)result;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

// The deadline is a time of day, computed from the wrong clock.
int sem_timedwait(sem_t *semaphore, const struct timespec *deadline) {
    static int (*original)(sem_t *, const struct timespec *);
    if (!original) original = dlsym(RTLD_NEXT, "sem_timedwait");
    struct timespec right = {.tv_sec = deadline->tv_sec - offset, .tv_nsec = deadline->tv_nsec};
    return original(semaphore, &right);
}
