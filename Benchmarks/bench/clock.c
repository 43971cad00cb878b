/* Gives a program a machine clock of its own (LD_PRELOAD), with an offset, a frequency error and wander.
 *
 *     CLOCK_OFFSET=SECONDS  CLOCK_PPM=PPM  CLOCK_WANDER=TEXT (see crystal.h)  CLOCK_SINCE=NS
 *
 * The program reads its own time from clock_gettime, gettimeofday, time, and the kernel's stamps on packets. Deadlines that
 * it sets are converted back to true time. Relative waits stay as they are, because 50 ppm make no difference to them.
 * System calls past the C library are not covered, and neither is timer_settime.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>

#include "crystal.h"

#define NS 1000000000ll

static struct crystal crystal;
static int64_t offset;
static int (*real_gettime)(clockid_t, struct timespec *);
static unsigned char timer_clocks[4096]; /* the clock of each timer descriptor, plus one */

__attribute__((constructor)) static void setup(void) {
  if (real_gettime)
    return;
  const char *ppm = getenv("CLOCK_PPM"), *seconds = getenv("CLOCK_OFFSET"), *since = getenv("CLOCK_SINCE");
  if (crystal_make(&crystal, ppm ? atof(ppm) : 0, getenv("CLOCK_WANDER"), since ? atoll(since) : 0) < 0)
    fprintf(stderr, "clock.so: CLOCK_WANDER is not understood\n");
  offset = seconds ? (int64_t)(atof(seconds) * 1e9) : 0;
  real_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
}

static int64_t nanoseconds(const struct timespec *t) { return t->tv_sec * NS + t->tv_nsec; }

static struct timespec timespec_of(int64_t ns) {
  struct timespec t = {ns / NS, ns % NS};
  return t;
}

static int is_machine_clock(clockid_t c) {
  return c != CLOCK_PROCESS_CPUTIME_ID && c != CLOCK_THREAD_CPUTIME_ID && c >= 0;
}

/* Returns how far a true clock is ahead of CLOCK_MONOTONIC. */
static int64_t ahead(clockid_t c) {
  struct timespec t, monotonic;
  if (c == CLOCK_MONOTONIC)
    return 0;
  real_gettime(c, &t);
  real_gettime(CLOCK_MONOTONIC, &monotonic);
  return nanoseconds(&t) - nanoseconds(&monotonic);
}

static int64_t error_at(int64_t monotonic) { return offset + (int64_t)crystal_gain(&crystal, monotonic); }

static struct timespec for_program(clockid_t c, const struct timespec *true_time) {
  int64_t t = nanoseconds(true_time);
  return timespec_of(t + error_at(t - ahead(c)));
}

static struct timespec to_true(clockid_t c, const struct timespec *programs) {
  int64_t p = nanoseconds(programs), before = ahead(c), t = p - offset;
  for (int i = 0; i < 3; i++)
    t = p - error_at(t - before);
  return timespec_of(t > 0 ? t : 0);
}

/* ---- times that the program reads ---- */

int clock_gettime(clockid_t c, struct timespec *t) {
  setup();
  int result = real_gettime(c, t);
  if (result == 0 && is_machine_clock(c))
    *t = for_program(c, t);
  return result;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  t->tv_sec = now.tv_sec;
  t->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out)
    *out = now.tv_sec;
  return now.tv_sec;
}

/* The kernel stamps packets with the true CLOCK_REALTIME. */
static void set_stamps(struct msghdr *message) {
  for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
    if (c->cmsg_level != SOL_SOCKET || (c->cmsg_type != SCM_TIMESTAMPNS && c->cmsg_type != SCM_TIMESTAMPING))
      continue;
    struct timespec stamps[3];
    int count = c->cmsg_type == SCM_TIMESTAMPING ? 3 : 1;
    memcpy(stamps, CMSG_DATA(c), (size_t)count * sizeof *stamps);
    for (int i = 0; i < count; i++)
      if (stamps[i].tv_sec)
        stamps[i] = for_program(CLOCK_REALTIME, &stamps[i]);
    memcpy(CMSG_DATA(c), stamps, (size_t)count * sizeof *stamps);
  }
}

#define REAL(name, version) \
  static __typeof__(&name) real; \
  if (!real && !(real = (__typeof__(&name))dlvsym(RTLD_NEXT, #name, version))) \
  real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t recvmsg(int socket, struct msghdr *message, int flags) {
  REAL(recvmsg, "");
  ssize_t size = real(socket, message, flags);
  if (size >= 0 && message->msg_control)
    set_stamps(message);
  return size;
}

int recvmmsg(int socket, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout) {
  REAL(recvmmsg, "");
  int received = real(socket, messages, count, flags, timeout);
  for (int i = 0; i < received; i++)
    if (messages[i].msg_hdr.msg_control)
      set_stamps(&messages[i].msg_hdr);
  return received;
}

/* ---- deadlines that the program sets ---- */

int clock_nanosleep(clockid_t c, int flags, const struct timespec *wanted, struct timespec *left) {
  REAL(clock_nanosleep, "");
  struct timespec t = flags & TIMER_ABSTIME ? to_true(c, wanted) : *wanted;
  return real(c, flags, &t, left);
}

int timerfd_create(int c, int flags) {
  REAL(timerfd_create, "");
  int timer = real(c, flags);
  if (timer >= 0 && timer < (int)sizeof timer_clocks)
    timer_clocks[timer] = (unsigned char)(c + 1);
  return timer;
}

int timerfd_settime(int timer, int flags, const struct itimerspec *wanted, struct itimerspec *old) {
  REAL(timerfd_settime, "");
  struct itimerspec t = *wanted;
  int known = timer >= 0 && timer < (int)sizeof timer_clocks && timer_clocks[timer];
  if ((flags & TFD_TIMER_ABSTIME) && known && nanoseconds(&t.it_value)) {
    t.it_value = to_true(timer_clocks[timer] - 1, &wanted->it_value);
    if (!nanoseconds(&t.it_value))
      t.it_value.tv_nsec = 1; /* zero would disarm it */
  }
  return real(timer, flags, &t, old);
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict at) {
  REAL(pthread_cond_timedwait, "GLIBC_2.3.2"); /* an older version has the same name */
  /* This bit of glibc holds the clock with which the condition was made. */
  struct timespec t = to_true(condition->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME, at);
  return real(condition, mutex, &t);
}

int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t c,
                           const struct timespec *at) {
  REAL(pthread_cond_clockwait, "");
  struct timespec t = to_true(c, at);
  return real(condition, mutex, c, &t);
}

int sem_clockwait(sem_t *restrict semaphore, clockid_t c, const struct timespec *restrict at) {
  REAL(sem_clockwait, "");
  struct timespec t = to_true(c, at);
  return real(semaphore, c, &t);
}

#define TIMED(name, type) \
  int name(type *restrict it, const struct timespec *restrict at) { \
    REAL(name, ""); \
    struct timespec t = to_true(CLOCK_REALTIME, at); \
    return real(it, &t); \
  }

TIMED(sem_timedwait, sem_t)
TIMED(pthread_mutex_timedlock, pthread_mutex_t)

/* No program may set the machine's clock. */
int clock_settime(clockid_t c, const struct timespec *t) {
  (void)c, (void)t;
  errno = EPERM;
  return -1;
}
