// Preloaded: makes one system call of the Node addons fail, as a process at a limit would see it. A path that a program looks for
// with access(2) is the command: /fail-nth/N arms the N-th call from there on, /fail-nth/fired exists once it has failed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int left;
static atomic_int fired;

#define NEXT(name) \
  static __typeof__(name) *next; \
  if (!next) next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

// An addon's own call, not one of Node, V8 or the C library.
static int is_of_addon(void *caller) {
  Dl_info info;
  if (!dladdr(caller, &info) || !info.dli_fname) return 0;
  size_t length = strlen(info.dli_fname);
  return length > 5 && strcmp(info.dli_fname + length - 5, ".node") == 0;
}

static int fails(void *caller, int error) {
  if (atomic_load(&left) <= 0 || !is_of_addon(caller)) return 0;
  if (atomic_fetch_sub(&left, 1) != 1) return 0;
  atomic_store(&fired, 1);
  errno = error;
  return 1;
}

#define FAILS(error) fails(__builtin_return_address(0), error)

int access(const char *path, int mode) {
  NEXT(access);
  if (strncmp(path, "/fail-nth/", 10) == 0) {
    if (strcmp(path + 10, "fired") == 0) {
      if (atomic_load(&fired)) return 0;
    } else {
      atomic_store(&fired, 0);
      atomic_store(&left, atoi(path + 10));
    }
    errno = ENOENT;
    return -1;
  }
  return next(path, mode);
}

int eventfd(unsigned int value, int flags) {
  NEXT(eventfd);
  return FAILS(EMFILE) ? -1 : next(value, flags);
}

int timerfd_create(int clock, int flags) {
  static int (*next)(int, int);
  if (!next) next = (int (*)(int, int))dlsym(RTLD_NEXT, "timerfd_create");
  return FAILS(EMFILE) ? -1 : next(clock, flags);
}

int epoll_create1(int flags) {
  NEXT(epoll_create1);
  return FAILS(EMFILE) ? -1 : next(flags);
}

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event) {
  NEXT(epoll_ctl);
  return operation == EPOLL_CTL_ADD && FAILS(ENOSPC) ? -1 : next(epoll, operation, fd, event);
}

int pipe2(int fds[2], int flags) {
  NEXT(pipe2);
  return FAILS(EMFILE) ? -1 : next(fds, flags);
}

int socket(int family, int kind, int protocol) {
  static int (*next)(int, int, int);
  if (!next) next = (int (*)(int, int, int))dlsym(RTLD_NEXT, "socket");
  return FAILS(EMFILE) ? -1 : next(family, kind, protocol);
}

int socketpair(int family, int kind, int protocol, int fds[2]) {
  static int (*next)(int, int, int, int[2]);
  if (!next) next = (int (*)(int, int, int, int[2]))dlsym(RTLD_NEXT, "socketpair");
  return FAILS(EMFILE) ? -1 : next(family, kind, protocol, fds);
}

int fcntl(int fd, int command, ...) {
  static int (*next)(int, int, ...);
  if (!next) next = (int (*)(int, int, ...))dlsym(RTLD_NEXT, "fcntl");
  va_list rest;
  va_start(rest, command);
  void *argument = va_arg(rest, void *);
  va_end(rest);
  return command == 1030 /* F_DUPFD_CLOEXEC */ && FAILS(EMFILE) ? -1 : next(fd, command, argument);
}

int mprotect(void *address, size_t length, int protection) {
  NEXT(mprotect);
  return FAILS(ENOMEM) ? -1 : next(address, length, protection);
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
  NEXT(mmap);
  return FAILS(ENOMEM) ? MAP_FAILED : next(address, length, protection, flags, fd, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *given) {
  NEXT(pthread_create);
  if (!FAILS(EAGAIN)) return next(thread, attributes, body, given);
  return EAGAIN;
}

int clone(int (*body)(void *), void *stack, int flags, void *given, ...) {
  static int (*next)(int (*)(void *), void *, int, void *, ...);
  if (!next) next = (int (*)(int (*)(void *), void *, int, void *, ...))dlsym(RTLD_NEXT, "clone");
  va_list rest;
  va_start(rest, given);
  void *parent = va_arg(rest, void *), *storage = va_arg(rest, void *), *child = va_arg(rest, void *);
  va_end(rest);
  return FAILS(EAGAIN) ? -1 : next(body, stack, flags, given, parent, storage, child);
}

long syscall(long number, ...) {
  static long (*next)(long, ...);
  if (!next) next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  va_list rest;
  va_start(rest, number);
  long a = va_arg(rest, long), b = va_arg(rest, long), c = va_arg(rest, long);
  long d = va_arg(rest, long), e = va_arg(rest, long), f = va_arg(rest, long);
  va_end(rest);
  if (number == 434 /* pidfd_open */ && FAILS(EMFILE)) return -1;
  return next(number, a, b, c, d, e, f);
}
