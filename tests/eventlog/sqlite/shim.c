/* Stands between a process and its disk (LD_PRELOAD): writes down, in order, what is done to the
 * files of one folder, and makes calls fail on demand.
 *
 * SHIM_FOLDER  the folder
 * SHIM_TRACE   where to write it down: op, length of name, length of data, offset; name; data
 * SHIM_FAIL    CALL:NUMBER:ERRNO, e.g. fdatasync:3:5, that call on a database or WAL fails;
 *              CALL:-NUMBER:ERRNO that one and all that follow
 * SHIM_BEGIN   if set, calls are counted from when the file `begin` is opened
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILES 1024
static char names[FILES][64];
static char folder[PATH_MAX];
static int trace = -1;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static char failing[32];
static long failing_at, failing_with, calls;
static int counting = 1;

struct head { char op; uint8_t name; uint16_t none; uint32_t size; int64_t offset; };

__attribute__((constructor)) static void begin(void) {
    const char *where = getenv("SHIM_FOLDER"), *to = getenv("SHIM_TRACE"), *fail = getenv("SHIM_FAIL");
    if (where) snprintf(folder, sizeof folder, "%s", where);
    if (to) trace = syscall(SYS_openat, AT_FDCWD, to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (getenv("SHIM_BEGIN")) counting = 0;
    if (fail) sscanf(fail, "%31[^:]:%ld:%ld", failing, &failing_at, &failing_with);
}

static void note(char op, const char *name, int64_t offset, const void *data, uint32_t size) {
    struct head head = {op, strlen(name), 0, size, offset};
    struct iovec parts[3] = {{&head, sizeof head}, {(void *)name, head.name}, {(void *)data, size}};
    if (trace >= 0) syscall(SYS_writev, trace, parts, 3);
}

static int fails(const char *call, const char *name) {
    if (!counting || strcmp(call, failing) || strncmp(name, "events.db", 9)) return 0;
    if (strcmp(name, "events.db") && strcmp(name, "events.db-wal")) return 0;
    calls++;
    if (failing_at < 0 ? calls >= -failing_at : calls == failing_at) { errno = failing_with; return 1; }
    return 0;
}

static void learn(int fd, const char *path) {
    if (fd < 0 || fd >= FILES || !*folder) return;
    names[fd][0] = 0;
    size_t length = strlen(folder);
    if (strncmp(path, folder, length)) return;
    if (!path[length]) strcpy(names[fd], ".");
    if (path[length] == '/') snprintf(names[fd], sizeof names[fd], "%s", path + length + 1);
    if (!strcmp(names[fd], "begin")) counting = 1;
}

static int opened(const char *path, int flags, int mode) {
    pthread_mutex_lock(&turn);
    int fd = syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    int error = errno;
    learn(fd, path);
    if (fd >= 0 && (flags & O_TRUNC) && names[fd][0]) note('t', names[fd], 0, "", 0);
    pthread_mutex_unlock(&turn);
    errno = error;
    return fd;
}

#define OPEN(NAME) int NAME(const char *path, int flags, ...) { \
    va_list more; va_start(more, flags); int mode = va_arg(more, int); va_end(more); \
    return opened(path, flags, mode); }
OPEN(open)
OPEN(open64)

static const char *name_of(int fd) { return fd >= 0 && fd < FILES ? names[fd] : ""; }

#define GUARDED(CALL, OP, OFFSET, DATA, DONE) \
    const char *name = name_of(fd); \
    if (!*name) return CALL; \
    pthread_mutex_lock(&turn); \
    ssize_t result = fails(DONE, name) ? -1 : CALL; \
    int error = errno; \
    if (result >= 0) note(OP, name, OFFSET, DATA, *(DATA) || result ? result : 0); \
    pthread_mutex_unlock(&turn); \
    errno = error; \
    return result;

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
    GUARDED(syscall(SYS_pwrite64, fd, data, size, at), 'w', at, (const char *)data, "pwrite")
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    GUARDED(syscall(SYS_pwrite64, fd, data, size, at), 'w', at, (const char *)data, "pwrite")
}
ssize_t write(int fd, const void *data, size_t size) {
    GUARDED(syscall(SYS_write, fd, data, size), 'a', -1, (const char *)data, "write")
}
int ftruncate(int fd, off_t size) {
    GUARDED(syscall(SYS_ftruncate, fd, size), 't', size, "", "ftruncate")
}
int ftruncate64(int fd, off64_t size) {
    GUARDED(syscall(SYS_ftruncate, fd, size), 't', size, "", "ftruncate")
}
int fdatasync(int fd) { GUARDED(syscall(SYS_fdatasync, fd), 's', 0, "", "fdatasync") }
int fsync(int fd) { GUARDED(syscall(SYS_fsync, fd), 's', 0, "", "fdatasync") }

int close(int fd) {
    if (fd >= 0 && fd < FILES) names[fd][0] = 0;
    return syscall(SYS_close, fd);
}

int unlink(const char *path) {
    pthread_mutex_lock(&turn);
    int result = syscall(SYS_unlinkat, AT_FDCWD, path, 0), error = errno;
    size_t length = strlen(folder);
    if (!result && length && !strncmp(path, folder, length) && path[length] == '/')
        note('u', path + length + 1, 0, "", 0);
    pthread_mutex_unlock(&turn);
    errno = error;
    return result;
}
