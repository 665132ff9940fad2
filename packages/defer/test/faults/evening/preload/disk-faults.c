/*
 * Preloaded into an app: calls to files below FAULT_PART fail as the page FAULT_CONTROL says, which the trial writes.
 *
 *   byte 0 errno of write    1 errno of sync    2 errno of open    3 short writes    4 delay of a sync, 100 ms
 *   byte 5 errno of a write after half of it    6 errno of rename    7 errno of truncate    8 fail one call in N
 *   u32 at byte 64: calls that failed, were short or late
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WRITE, SYNC, OPEN, SHORT, DELAY, HALF, RENAME, TRUNCATE, ONE_IN };

static volatile unsigned char *control;
static const char *part;

__attribute__((constructor)) static void begin(void) {
  const char *file = getenv("FAULT_CONTROL");
  part = getenv("FAULT_PART");
  if (!file || !part) return;
  int fd = open(file, O_RDWR);
  if (fd < 0) return;
  void *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (page != MAP_FAILED) control = page;
}

static int is_meant(int which) {
  if (!control || !control[which]) return 0;
  return !control[ONE_IN] || rand() % control[ONE_IN] == 0;
}

static int is_ours(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return strstr(path, part) != 0;
}

static int hit(int which) {
  __atomic_fetch_add((unsigned *)(control + 64), 1, __ATOMIC_RELAXED);
  errno = control[which];
  return -1;
}

#define REAL(name, type) \
  static type real; \
  if (!real) real = (type)dlsym(RTLD_NEXT, name)

typedef ssize_t (*pwrite_call)(int, const void *, size_t, off_t);

ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t offset) {
  REAL("pwrite64", pwrite_call);
  if (!control || !is_ours(fd)) return real(fd, bytes, length, offset);
  if (is_meant(HALF)) {
    if (length > 1) real(fd, bytes, length / 2, offset);
    return hit(HALF);
  }
  if (is_meant(WRITE)) return hit(WRITE);
  if (is_meant(SHORT) && length > 1) {
    hit(SHORT);
    length = 1 + (size_t)rand() % (length - 1);
  }
  return real(fd, bytes, length, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
  return pwrite64(fd, bytes, length, offset);
}

ssize_t write(int fd, const void *bytes, size_t length) {
  typedef ssize_t (*write_call)(int, const void *, size_t);
  REAL("write", write_call);
  if (control && control[WRITE] && is_ours(fd) && is_meant(WRITE)) return hit(WRITE);
  return real(fd, bytes, length);
}

static int sync_with(int (*real)(int), int fd) {
  if (!control || !(control[SYNC] || control[DELAY]) || !is_ours(fd)) return real(fd);
  if (is_meant(DELAY)) {
    hit(DELAY);
    usleep(control[DELAY] * 100000u);
  }
  return is_meant(SYNC) ? hit(SYNC) : real(fd);
}

typedef int (*sync_call)(int);

int fdatasync(int fd) {
  REAL("fdatasync", sync_call);
  return sync_with(real, fd);
}

int fsync(int fd) {
  REAL("fsync", sync_call);
  return sync_with(real, fd);
}

typedef int (*open_call)(const char *, int, ...);

static int open_with(open_call real, const char *path, int flags, mode_t mode) {
  if (part && strstr(path, part) && is_meant(OPEN)) return hit(OPEN);
  return real(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  REAL("open64", open_call);
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return open_with(real, path, flags, mode);
}

int open(const char *path, int flags, ...) {
  REAL("open", open_call);
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return open_with(real, path, flags, mode);
}

int rename(const char *from, const char *to) {
  typedef int (*rename_call)(const char *, const char *);
  REAL("rename", rename_call);
  return part && strstr(from, part) && is_meant(RENAME) ? hit(RENAME) : real(from, to);
}

int ftruncate64(int fd, off_t length) {
  typedef int (*truncate_call)(int, off_t);
  REAL("ftruncate64", truncate_call);
  return control && control[TRUNCATE] && is_ours(fd) && is_meant(TRUNCATE) ? hit(TRUNCATE)
                                                                          : real(fd, length);
}

int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }
