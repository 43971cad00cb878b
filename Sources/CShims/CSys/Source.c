#define _GNU_SOURCE
#include "CSys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Programs that give inputs their sound.

extern char **environ;

// Runs between vfork and exec, on the parent's memory: nothing but system calls, and nothing is changed but locals.
static int become(char *const *arguments, const int *descriptors, const struct csys_source_limits *limits,
                  pid_t parent) {
  if (setpgid(0, 0) < 0) return errno;
  // It ends with the thread that has started it, even if that is killed.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) return errno;
  if (getppid() != parent) return ESRCH;
  struct rlimit memory = {limits->memory, limits->memory};
  struct rlimit files = {limits->files, limits->files};
  struct rlimit core = {0, 0};
  // A service of systemd may not be allowed to, and has limits of its own.
  if (setrlimit(RLIMIT_AS, &memory) < 0 && errno != EPERM) return errno;
  if (setrlimit(RLIMIT_CORE, &core) < 0 && errno != EPERM) return errno;
  int moved[4];
  for (int place = 0; place < 4; place += 1) {
    moved[place] = -1;
    if (descriptors[place] < 0) continue;
    moved[place] = fcntl(descriptors[place], F_DUPFD, 16);
    if (moved[place] < 0) return errno;
    // It expects reads and writes that wait.
    if (fcntl(moved[place], F_SETFL, 0) < 0) return errno;
  }
  for (int place = 0; place < 4; place += 1) {
    if (moved[place] < 0) close(place);
    else if (dup2(moved[place], place) < 0) return errno;
  }
  if (syscall(SYS_close_range, 4U, UINT_MAX, 0U) < 0) return errno;
  // Not before: the daemon may have more descriptors than that.
  if (setrlimit(RLIMIT_NOFILE, &files) < 0 && errno != EPERM) return errno;
  for (int number = 1; number < NSIG; number += 1) {
    if (number != SIGKILL && number != SIGSTOP) signal(number, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, 0);
  execvp(arguments[0], arguments);
  return errno;
}

int csys_spawn_source(char *const *arguments, const int descriptors[4], const struct csys_source_limits *limits,
                      int *watch) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t parent = getpid();
  volatile int error = 0;
  pid_t process = vfork();
  if (process == 0) {
    error = become(arguments, descriptors, limits, parent);
    _exit(127);
  }
  int failure = process < 0 ? errno : error;
  pthread_sigmask(SIG_SETMASK, &before, 0);
  if (process > 0 && failure) waitpid(process, 0, 0);
  if (failure) return -failure;
  *watch = (int)syscall(SYS_pidfd_open, process, 0U);
  if (*watch >= 0) return process;
  failure = errno;
  kill(-process, SIGKILL);
  waitpid(process, 0, 0);
  return -failure;
}

int csys_source_signal(int process, int signal) { return kill(-process, signal) < 0 ? -errno : 0; }

int csys_source_end(int process, int *code) {
  siginfo_t facts = {0};
  if (waitid(P_PID, (id_t)process, &facts, WEXITED | WNOHANG | WNOWAIT) < 0) return -errno;
  if (facts.si_pid == 0) return 0;
  *code = facts.si_code == CLD_EXITED ? facts.si_status : -facts.si_status;
  // Until it is waited for, its number stands for its group, and for no other.
  kill(-process, SIGKILL);
  while (waitpid(process, 0, 0) < 0 && errno == EINTR) {
  }
  return 1;
}

int csys_wait_any(const int *descriptors, int count, uint32_t *ready, int64_t span_ns) {
  struct pollfd waits[8];
  if (count > 8) return -EINVAL;
  for (int place = 0; place < count; place += 1) {
    waits[place].fd = descriptors[place];
    waits[place].events = POLLIN;
    waits[place].revents = 0;
  }
  struct timespec span = {span_ns / 1000000000, span_ns % 1000000000};
  int found = ppoll(waits, (nfds_t)count, span_ns < 0 ? 0 : &span, 0);
  *ready = 0;
  if (found < 0) return errno == EINTR ? 0 : -errno;
  for (int place = 0; place < count; place += 1) {
    if (waits[place].revents) *ready |= 1U << place;
  }
  return found;
}
