/*
 * Preloaded into an app: records in POWER_SHADOW the state that a power failure would leave of the folders below POWER_PART. With each sync of
 * a file its bytes are copied to fINODE, with each sync of a folder its entries (name, inode, is folder) to dINODE. A file that is
 * removed keeps its copy as fINODE@NAME: its name may come back.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 4096 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char *part, *shadow;

__attribute__((constructor)) static void begin(void) {
  part = getenv("POWER_PART");
  shadow = getenv("POWER_SHADOW");
}

static int path_of(int fd, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return part && shadow && strstr(path, part) != 0;
}

static void note_folder(const char *path, FILE *note) {
  DIR *folder = opendir(path);
  if (!folder) return;
  for (struct dirent *entry; (entry = readdir(folder));) {
    char name[PATH * 2];
    struct stat facts;
    snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
    if (entry->d_name[0] == '.' || lstat(name, &facts)) continue;
    fprintf(note, "%s %lu %d\n", entry->d_name, (unsigned long)facts.st_ino, S_ISDIR(facts.st_mode));
  }
  closedir(folder);
}

static void note_file(int fd, FILE *note) {
  char buffer[1 << 16], link[64];
  /* The app's descriptor may be for writing alone. */
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  int in = open(link, O_RDONLY);
  off_t at = 0;
  for (ssize_t length; in >= 0 && (length = pread(in, buffer, sizeof buffer, at)) > 0; at += length)
    fwrite(buffer, 1, (size_t)length, note);
  if (in >= 0) close(in);
}

static int sync_with(int (*real)(int), int fd) {
  char path[PATH], name[PATH + 64], made[PATH + 80];
  struct stat facts;
  if (!path_of(fd, path) || fstat(fd, &facts)) return real(fd);
  pthread_mutex_lock(&mutex);
  int is_folder = S_ISDIR(facts.st_mode);
  snprintf(name, sizeof name, "%s/%c%lu", shadow, is_folder ? 'd' : 'f', (unsigned long)facts.st_ino);
  snprintf(made, sizeof made, "%s.new", name);
  FILE *note = fopen(made, "w");
  if (note) {
    if (is_folder) note_folder(path, note);
    else note_file(fd, note);
    fclose(note);
  }
  int result = real(fd);
  /* Killed in between, it was not synced. */
  if (result == 0) rename(made, name);
  pthread_mutex_unlock(&mutex);
  return result;
}

typedef int (*sync_call)(int);

int fdatasync(int fd) {
  static sync_call real;
  if (!real) real = (sync_call)dlsym(RTLD_NEXT, "fdatasync");
  return sync_with(real, fd);
}

int fsync(int fd) {
  static sync_call real;
  if (!real) real = (sync_call)dlsym(RTLD_NEXT, "fsync");
  return sync_with(real, fd);
}

int unlink(const char *path) {
  typedef int (*unlink_call)(const char *);
  static unlink_call real;
  struct stat facts;
  if (!real) real = (unlink_call)dlsym(RTLD_NEXT, "unlink");
  if (!part || !shadow || !strstr(path, part) || lstat(path, &facts)) return real(path);
  char from[PATH], to[PATH * 2];
  const char *slash = strrchr(path, '/');
  snprintf(from, sizeof from, "%s/f%lu", shadow, (unsigned long)facts.st_ino);
  snprintf(to, sizeof to, "%s@%s", from, slash ? slash + 1 : path);
  pthread_mutex_lock(&mutex);
  rename(from, to);
  int result = real(path);
  pthread_mutex_unlock(&mutex);
  return result;
}
