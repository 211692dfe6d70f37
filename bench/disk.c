/* Makes every sync of a process take at least SYNC_US microseconds (LD_PRELOAD): the sleep of a
 * slower disk, the last part of it spun away because a sleep ends late. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const double late = 80; /* µs that a sleep may last too long */

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1e6 + at.tv_nsec / 1e3;
}

static int slowly(long call, int fd) {
    double end = now() + atof(getenv("SYNC_US"));
    int result = syscall(call, fd);
    double left = end - now() - late;
    if (left > 0) {
        struct timespec rest = {0, left * 1e3};
        nanosleep(&rest, 0);
    }
    while (now() < end) {}
    return result;
}

int fsync(int fd) { return slowly(SYS_fsync, fd); }
int fdatasync(int fd) { return slowly(SYS_fdatasync, fd); }
