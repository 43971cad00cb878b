#define _GNU_SOURCE
#include "CSys.h"
#include "Outcome.h"

#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>

// Threads, their priorities, and the memory of the process.

int csys_thread_start(pthread_t *thread, void *(*body)(void *), void *context, size_t stack,
                      int priority) {
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error) return -error;
  error = pthread_attr_setstacksize(&attributes, stack);
  if (!error && priority > 0) {
    struct sched_param parameters = {.sched_priority = priority};
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
    error = pthread_attr_setschedparam(&attributes, &parameters);
  }
  // A signal goes to any thread that does not block it: it must find none but the one that watches for it.
  sigset_t all, before;
  sigfillset(&all);
  if (!error) error = pthread_sigmask(SIG_SETMASK, &all, &before);
  if (!error) {
    error = pthread_create(thread, &attributes, body, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
  }
  pthread_attr_destroy(&attributes);
  return -error;
}

static __attribute__((noinline)) void touch_stack(size_t count) {
  volatile char *bytes = __builtin_alloca(count);
  for (size_t i = 0; i < count; i += 1024) bytes[i] = 0;
}

void csys_thread_prepare(const char *name, size_t touched) {
  char kept[16];
  snprintf(kept, sizeof kept, "%s", name);
  pthread_setname_np(pthread_self(), kept);
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  if (touched) touch_stack(touched);
}

// Past the C library, which remembers what it was told.
int csys_thread_priority(void) {
  struct sched_param parameters = {0};
  int policy = sched_getscheduler(0);
  if (policy < 0 || sched_getparam(0, &parameters)) return -errno;
  return (policy & ~SCHED_RESET_ON_FORK) == SCHED_FIFO ? parameters.sched_priority : 0;
}

int csys_thread_prefer(int priority) {
  struct sched_param parameters = {.sched_priority = priority};
  return outcome(
      sched_setscheduler(0, priority > 0 ? SCHED_FIFO | SCHED_RESET_ON_FORK : SCHED_OTHER, &parameters));
}

int csys_lock_memory(void) { return outcome(mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT)); }

void csys_return_memory(void) {
  mallopt(M_ARENA_MAX, 2);
  // A threshold that is set does not grow.
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  mallopt(M_TRIM_THRESHOLD, 128 << 10);
}

int csys_hide_memory(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) ? -errno : 0; }
