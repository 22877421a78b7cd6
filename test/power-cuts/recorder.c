// Records the calls of a process for files below POWER_CUTS_ROOT into POWER_CUTS_LOG, in one order for all processes.
// It is preloaded (LD_PRELOAD) into the unchanged service. Needs Linux, glibc and 64 bits.
// Memory that is mapped into a file is not recorded. Only the -shm file of SQLite is mapped, and SQLite creates it
// again when the first process opens a database. Modes and times of files are not recorded either.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static const char *root;
static int log_file = -1;
static long clock_shift;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("POWER_CUTS_LOG");
  const char *shift = getenv("POWER_CUTS_CLOCK");
  root = getenv("POWER_CUTS_ROOT");
  clock_shift = shift ? atol(shift) : 0;
  if (!path || !root) return;
  log_file = REAL(open)(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (log_file < 0) abort();
}

// Only one process at a time makes a change, so the records are in the order of the changes.
static void enter(void) {
  pthread_mutex_lock(&turn);
  while (flock(log_file, LOCK_EX) < 0 && errno == EINTR);
}

static void leave(int error) {
  flock(log_file, LOCK_UN);
  pthread_mutex_unlock(&turn);
  errno = error;
}

static int is_below(const char *path) {
  return log_file >= 0 && strncmp(path, root, strlen(root)) == 0 && strchr("/", path[strlen(root)]);
}

// Finds a file by its name. A table of open files would become wrong, because libuv closes files without the C library.
static int is_mine(int fd) {
  char link[64], path[PATH_MAX] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  return log_file >= 0 && readlink(link, path, sizeof path - 1) > 0 && is_below(path);
}

static const char *resolve(int folder, const char *path, char *out) {
  char link[64] = "/proc/self/cwd";
  if (path[0] == '/') return path;
  if (folder != AT_FDCWD) snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
  ssize_t length = readlink(link, out, PATH_MAX - 1);
  if (length < 0) return path;
  snprintf(out + length, PATH_MAX - length, "/%s", path);
  return out;
}

static __thread struct stat found;
static uint64_t inode_of(int fd) { return fstat(fd, &found) == 0 ? found.st_ino : 0; }
static uint64_t inode_at(const char *path) { return lstat(path, &found) == 0 ? found.st_ino : 0; }

// A record: its size and kind, the inode of the file, a number, and then bytes or paths.
static void record_all(uint64_t kind, uint64_t file, uint64_t at, const struct iovec *parts, size_t size) {
  uint64_t head[3] = {(sizeof head + size) | kind << 32, file, at};
  char *whole = malloc(sizeof head + size), *end = mempcpy(whole, head, sizeof head);
  for (size_t left = size; left > 0; parts++) {
    size_t some = parts->iov_len < left ? parts->iov_len : left;
    end = mempcpy(end, parts->iov_base, some);
    left -= some;
  }
  // Half a record would make the whole log unreadable.
  if (REAL(write)(log_file, whole, end - whole) != end - whole) abort();
  free(whole);
}

#define ONE(bytes, size) (&(struct iovec){(void *)(bytes), size})
static void record(int kind, uint64_t file, uint64_t at, const void *bytes, size_t size) {
  record_all(kind, file, at, ONE(bytes, size), size);
}
static void record_paths(int kind, const char *from, const char *to) {
  char both[2 * PATH_MAX + 1];
  record(kind, 0, 0, both, snprintf(both, sizeof both, "%s\n%s", from, to));
}

// Makes a call, and records it when it is done.
#define RECORDED(is_below_root, call, told) \
  if (!(is_below_root)) return call;        \
  enter();                                  \
  __typeof__(call) done = call;             \
  int error = errno;                        \
  if (done >= 0) told;                      \
  leave(error);                             \
  return done

// Without a given position, the call has moved the position of the file forward by the bytes written.
static void record_written(int fd, const struct iovec *parts, off_t at, ssize_t size) {
  record_all('w', inode_of(fd), at < 0 ? lseek(fd, 0, SEEK_CUR) - size : at, parts, size);
}
#define WRITE(call, parts, at) RECORDED(is_mine(fd), call, record_written(fd, parts, at, done))
ssize_t write(int fd, const void *bytes, size_t size) { WRITE(REAL(write)(fd, bytes, size), ONE(bytes, size), -1); }
ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t at) {
  WRITE(REAL(pwrite64)(fd, bytes, size, at), ONE(bytes, size), at);
}
ssize_t writev(int fd, const struct iovec *parts, int count) { WRITE(REAL(writev)(fd, parts, count), parts, -1); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off_t at) {
  WRITE(REAL(pwritev64)(fd, parts, count, at), parts, at);
}

// The kernel copies the bytes, so they are read again here. A shared extent (FICLONE) could not be read piece by piece.
static void record_copied(int fd, size_t size, off_t end) {
  char path[64], *bytes = malloc(size);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  int file = REAL(open)(path, O_RDONLY | O_CLOEXEC);
  if (pread(file, bytes, size, end - size) != (ssize_t)size) abort();
  record('w', inode_of(fd), end - size, bytes, size);
  close(file);
  free(bytes);
}
ssize_t sendfile64(int to, int from, off_t *at, size_t size) {
  RECORDED(is_mine(to), REAL(sendfile64)(to, from, at, size), record_copied(to, done, lseek(to, 0, SEEK_CUR)));
}
ssize_t sendfile(int to, int from, off_t *at, size_t size) { return sendfile64(to, from, at, size); }
ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned flags) {
  RECORDED(is_mine(to), REAL(copy_file_range)(from, from_at, to, to_at, size, flags),
           record_copied(to, done, to_at ? *to_at : lseek(to, 0, SEEK_CUR)));
}
int ioctl(int fd, unsigned long request, ...) {
  va_list rest;
  va_start(rest, request);
  void *given = va_arg(rest, void *);
  va_end(rest);
  if ((request == FICLONE || request == FICLONERANGE) && is_mine(fd)) return errno = EOPNOTSUPP, -1;
  return REAL(ioctl)(fd, request, given);
}
int ftruncate64(int fd, off_t size) {
  RECORDED(is_mine(fd), REAL(ftruncate64)(fd, size), record('t', inode_of(fd), size, "", 0));
}
int mkdir(const char *path, mode_t mode) {
  RECORDED(is_below(path), REAL(mkdir)(path, mode), record('m', inode_at(path), 0, path, strlen(path)));
}
int rename(const char *from, const char *to) {
  RECORDED(is_below(to), REAL(rename)(from, to), record_paths('r', from, to));
}
int link(const char *from, const char *to) {
  RECORDED(is_below(to), REAL(link)(from, to), record_paths('l', from, to));
}
int unlinkat(int folder, const char *given, int flags) {
  char room[PATH_MAX];
  const char *path = resolve(folder, given, room);
  RECORDED(is_below(path), REAL(unlinkat)(folder, given, flags), record('u', 0, 0, path, strlen(path)));
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char *path) { return unlinkat(AT_FDCWD, path, inode_at(path) && S_ISDIR(found.st_mode) ? AT_REMOVEDIR : 0); }

// When a flush ends, only bytes from before its beginning are on the disk. So a flush has two records, and others may
// come between them.
static int flush(int fd, int (*call)(int)) {
  static uint32_t flushes;
  if (!is_mine(fd)) return call(fd);
  uint64_t file = inode_of(fd), serial = (uint64_t)getpid() << 32 | __sync_add_and_fetch(&flushes, 1);
  enter();
  record('b', file, serial, "", 0);
  leave(0);
  int result = call(fd), error = errno;
  enter();
  if (result == 0) record('f', file, serial, "", 0);
  leave(error);
  return result;
}
int fsync(int fd) { return flush(fd, REAL(fsync)); }
int fdatasync(int fd) { return flush(fd, REAL(fdatasync)); }

#define OPTIONAL_MODE                     \
  va_list rest; va_start(rest, flags);    \
  mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0; va_end(rest)
int openat64(int folder, const char *given, int flags, ...) {
  char room[PATH_MAX];
  OPTIONAL_MODE;
  const char *path = log_file < 0 ? "" : resolve(folder, given, room);
  if (!is_below(path) || !(flags & (O_CREAT | O_TRUNC))) return REAL(openat64)(folder, given, flags, mode);
  enter();
  int was_there = inode_at(path) != 0, fd = REAL(openat64)(folder, given, flags, mode), error = errno;
  if (fd >= 0 && !was_there) record('o', inode_of(fd), 0, path, strlen(path));
  else if (fd >= 0 && flags & O_TRUNC) record('t', inode_of(fd), 0, "", 0);
  leave(error);
  return fd;
}
#define OPEN(folder) OPTIONAL_MODE; return openat64(folder, path, flags, mode)
int openat(int folder, const char *path, int flags, ...) { OPEN(folder); }
int open64(const char *path, int flags, ...) { OPEN(AT_FDCWD); }
int open(const char *path, int flags, ...) { OPEN(AT_FDCWD); }

// If the C library is old and lacks a call, libuv makes the system call itself.
long syscall(long number, ...) {
  long a[6];
  va_list rest;
  va_start(rest, number);
  for (int i = 0; i < 6; i++) a[i] = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_pwritev) return pwritev64(a[0], (struct iovec *)a[1], a[2], a[3]);
  if (number == SYS_copy_file_range) return copy_file_range(a[0], (off64_t *)a[1], a[2], (off64_t *)a[3], a[4], a[5]);
  return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  int result = REAL(gettimeofday)(now, zone);
  now->tv_sec += clock_shift;
  return result;
}
