// Preloaded: the file named by FAILING_FILE cannot be read from byte FAILING_FROM on, as on a disk with a bad sector. A read across
// that byte is short, the next one is EIO.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEXT(name) \
  static __typeof__(name) *next; \
  if (!next) next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static struct stat failing;
static off_t from;

__attribute__((constructor)) static void find(void) {
  const char *path = getenv("FAILING_FILE");
  if (!path || stat(path, &failing) != 0) abort();
  from = atoll(getenv("FAILING_FROM"));
}

// How many bytes of `length` at `at` (or where the descriptor stands, if negative) may be read; -1 for none, with errno.
static ssize_t readable(int fd, off_t at, size_t length) {
  struct stat it;
  int before = errno;
  if (fstat(fd, &it) != 0 || it.st_dev != failing.st_dev || it.st_ino != failing.st_ino) {
    errno = before;
    return (ssize_t)length;
  }
  if (at < 0) at = lseek(fd, 0, SEEK_CUR);
  if (at + (off_t)length <= from) return (ssize_t)length;
  if (at < from) return from - at;
  errno = EIO;
  return -1;
}

ssize_t read(int fd, void *into, size_t length) {
  NEXT(read);
  ssize_t may = readable(fd, -1, length);
  return may < 0 ? -1 : next(fd, into, (size_t)may);
}

ssize_t pread(int fd, void *into, size_t length, off_t at) {
  NEXT(pread);
  ssize_t may = readable(fd, at, length);
  return may < 0 ? -1 : next(fd, into, (size_t)may, at);
}

ssize_t pread64(int fd, void *into, size_t length, off_t at) { return pread(fd, into, length, at); }

ssize_t readv(int fd, const struct iovec *into, int count) {
  NEXT(readv);
  if (count != 1) return next(fd, into, count);
  return read(fd, into[0].iov_base, into[0].iov_len);
}

ssize_t preadv(int fd, const struct iovec *into, int count, off_t at) {
  NEXT(preadv);
  if (count != 1) return next(fd, into, count, at);
  return pread(fd, into[0].iov_base, into[0].iov_len, at);
}

ssize_t sendfile(int to, int fd, off_t *at, size_t length) {
  NEXT(sendfile);
  ssize_t may = readable(fd, at ? *at : -1, length);
  return may < 0 ? -1 : next(to, fd, at, (size_t)may);
}

ssize_t sendfile64(int to, int fd, off_t *at, size_t length) { return sendfile(to, fd, at, length); }
