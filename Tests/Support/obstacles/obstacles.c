// A library to preload into a program under test. While $OBSTACLES contains a file named after one of these calls, the call
// waits or fails: fsync, rename and snd_pcm_open wait, pthread_create fails. With a file `busy`, snd_pcm_open says that the card is busy.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int lies(const char *name) {
  const char *place = getenv("OBSTACLES");
  char path[4096];
  if (!place) return 0;
  snprintf(path, sizeof path, "%s/%s", place, name);
  return access(path, F_OK) == 0;
}

int fsync(int file) {
  while (lies("fsync")) usleep(1000);
  return (int)syscall(SYS_fsync, file);
}

int rename(const char *from, const char *to) {
  while (lies("rename")) usleep(1000);
  return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int snd_pcm_open(void *pcm, const char *name, int stream, int mode) {
  static int (*real)(void *, const char *, int, int);
  while (lies("snd_pcm_open")) usleep(1000);
  if (lies("busy")) return -EBUSY;
  if (!real) real = (int (*)(void *, const char *, int, int))dlsym(RTLD_NEXT, "snd_pcm_open");
  return real(pcm, name, stream, mode);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*body)(void *), void *context) {
  static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (lies("pthread_create")) return EAGAIN;
  if (!real)
    real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
  return real(thread, how, body, context);
}
