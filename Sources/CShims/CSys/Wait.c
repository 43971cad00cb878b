#define _GNU_SOURCE
#include "CSys.h"
#include "Outcome.h"

#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

// Waiting: for descriptors, for other threads, and for signals.

int csys_epoll(void) { return outcome(epoll_create1(EPOLL_CLOEXEC)); }

int csys_epoll_set(int epoll, int operation, int descriptor, uint32_t interest, uint64_t token) {
  static const int operations[] = {EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL};
  struct epoll_event event = {.data.u64 = token};
  if (interest & CSYS_READ) event.events |= EPOLLIN | EPOLLRDHUP;
  if (interest & CSYS_WRITE) event.events |= EPOLLOUT;
  if (interest & CSYS_ONCE) event.events |= EPOLLONESHOT;
  return outcome(epoll_ctl(epoll, operations[operation], descriptor, &event));
}

static int wait_ns(int epoll, struct epoll_event *events, int capacity, int64_t timeout_ns) {
  if (timeout_ns < 0) return epoll_wait(epoll, events, capacity, -1);
  struct timespec timeout = {timeout_ns / 1000000000, timeout_ns % 1000000000};
  int count = epoll_pwait2(epoll, events, capacity, &timeout, NULL);
  if (count >= 0 || errno != ENOSYS) return count;
  int64_t milliseconds = timeout_ns / 1000000 + (timeout_ns % 1000000 != 0);
  return epoll_wait(epoll, events, capacity, milliseconds > 60000 ? 60000 : (int)milliseconds);
}

int csys_epoll_wait(int epoll, struct csys_ready *ready, int capacity, int64_t timeout_ns) {
  struct epoll_event events[64];
  int count = wait_ns(epoll, events, capacity > 64 ? 64 : capacity, timeout_ns);
  if (count < 0) return errno == EINTR ? 0 : -errno;
  for (int i = 0; i < count; i++) {
    uint32_t e = events[i].events;
    ready[i] = (struct csys_ready){
        .token = events[i].data.u64,
        .events = (e & (EPOLLIN | EPOLLRDHUP) ? CSYS_READ : 0) | (e & EPOLLOUT ? CSYS_WRITE : 0) |
                  (e & EPOLLHUP ? CSYS_HANGUP : 0) | (e & EPOLLERR ? CSYS_FAULT : 0)};
  }
  return count;
}

int csys_eventfd(void) { return outcome(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

int csys_eventfd_raise(int descriptor) { return outcome(eventfd_write(descriptor, 1)); }

int csys_eventfd_clear(int descriptor) {
  eventfd_t value;
  return outcome(eventfd_read(descriptor, &value));
}

static sigset_t signal_set(const int *signals, int count) {
  sigset_t set;
  sigemptyset(&set);
  for (int i = 0; i < count; i++) sigaddset(&set, signals[i]);
  return set;
}

int csys_signals(const int *signals, int count) {
  sigset_t set = signal_set(signals, count);
  int error = pthread_sigmask(SIG_BLOCK, &set, NULL);
  if (error) return -error;
  return outcome(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

int csys_signals_block(const int *signals, int count) {
  sigset_t set = signal_set(signals, count);
  return -pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int csys_signals_unblock(const int *signals, int count) {
  sigset_t set = signal_set(signals, count);
  return -pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

int csys_signal_is_ignored(int signal) {
  struct sigaction action;
  return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

int csys_signals_next(int descriptor) {
  struct signalfd_siginfo info;
  ssize_t count = read(descriptor, &info, sizeof info);
  if (count < 0) return -errno;
  return count == sizeof info ? (int)info.ssi_signo : -EAGAIN;
}
