#define _GNU_SOURCE
#include "CSys.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

int csys_pipe_resize(int descriptor, int bytes) {
  // Refused while more than that is in it: then it stays as it is.
  if (bytes > 0)
    (void)fcntl(descriptor, F_SETPIPE_SZ, bytes);
  int size = fcntl(descriptor, F_GETPIPE_SZ);
  return size < 0 ? -errno : size;
}

int csys_waiting(int descriptor) {
  int count = 0;
  return ioctl(descriptor, FIONREAD, &count) < 0 ? -errno : count;
}

void csys_wait(int descriptor, int64_t span_ns) {
  struct timespec span = {span_ns / 1000000000, span_ns % 1000000000};
  struct pollfd waiting = {.fd = descriptor, .events = POLLIN};
  (void)ppoll(&waiting, 1, &span, NULL);
}

int csys_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC | O_NONBLOCK) ? -errno : 0; }
