#include "CSys.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

// A file of its own: glibc's netinet/tcp.h has an older tcp_info, and the two cannot be included together.

int csys_path(int descriptor, struct csys_path *path) {
  struct tcp_info info;
  socklen_t length = sizeof info;
  memset(&info, 0, sizeof info);
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) < 0) return -errno;
  path->round_trip_us = info.tcpi_rtt;
  path->least_round_trip_us = info.tcpi_min_rtt;
  path->delivery_rate = info.tcpi_delivery_rate;
  return ioctl(descriptor, SIOCOUTQ, &path->unacknowledged) < 0 ? -errno : 0;
}

int csys_pace(int descriptor, uint32_t bytes_per_second) {
  if (setsockopt(descriptor, SOL_SOCKET, SO_MAX_PACING_RATE, &bytes_per_second, sizeof bytes_per_second) < 0)
    return -errno;
  return 0;
}
