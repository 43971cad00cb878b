#define _GNU_SOURCE
#include "CSys.h"
#include "Outcome.h"

#include <endian.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

// Addresses, sockets, and datagrams with the times at which they passed.

// MARK: addresses

static void address_set6(struct csys_address *a, const struct in6_addr *in, uint32_t scope) {
  uint64_t words[2];
  memcpy(words, in->s6_addr, sizeof words);
  a->high = be64toh(words[0]);
  a->low = be64toh(words[1]);
  a->scope = scope;
  a->family = CSYS_IPV6;
}

static void address_set4(struct csys_address *a, uint32_t network_order) {
  a->high = 0;
  a->low = ntohl(network_order);
  a->scope = 0;
  a->family = CSYS_IPV4;
}

// An IPv4 peer of an IPv6 socket is an IPv4 address to everyone above.
static void address_read(const struct sockaddr_storage *s, struct csys_address *a) {
  memset(a, 0, sizeof *a);
  if (s->ss_family == AF_INET) {
    const struct sockaddr_in *in = (const struct sockaddr_in *)s;
    address_set4(a, in->sin_addr.s_addr);
    a->port = ntohs(in->sin_port);
  } else if (s->ss_family == AF_INET6) {
    const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)s;
    if (IN6_IS_ADDR_V4MAPPED(&in->sin6_addr)) {
      uint32_t v4;
      memcpy(&v4, in->sin6_addr.s6_addr + 12, sizeof v4);
      address_set4(a, v4);
    } else {
      address_set6(a, &in->sin6_addr, in->sin6_scope_id);
    }
    a->port = ntohs(in->sin6_port);
  }
}

static socklen_t address_write(const struct csys_address *a, int family, struct sockaddr_storage *s) {
  memset(s, 0, sizeof *s);
  if (family == CSYS_IPV4) {
    struct sockaddr_in *in = (struct sockaddr_in *)s;
    in->sin_family = AF_INET;
    in->sin_port = htons(a->port);
    in->sin_addr.s_addr = htonl((uint32_t)a->low);
    return sizeof *in;
  }
  struct sockaddr_in6 *in = (struct sockaddr_in6 *)s;
  in->sin6_family = AF_INET6;
  in->sin6_port = htons(a->port);
  in->sin6_scope_id = a->scope;
  uint64_t low = a->family == CSYS_IPV4 ? (0xFFFFull << 32 | (a->low & 0xFFFFFFFF)) : a->low;
  uint64_t words[2] = {htobe64(a->high), htobe64(low)};
  memcpy(in->sin6_addr.s6_addr, words, sizeof words);
  return sizeof *in;
}

int csys_resolve(const char *name, uint16_t port, struct csys_address *addresses, int capacity) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
  struct addrinfo *list = NULL;
  int error = getaddrinfo(name, NULL, &hints, &list);
  if (error) return error < 0 ? error : -error;
  int count = 0;
  for (struct addrinfo *i = list; i && count < capacity; i = i->ai_next) {
    struct sockaddr_storage s = {0};
    if (i->ai_addrlen > sizeof s) continue;
    memcpy(&s, i->ai_addr, i->ai_addrlen);
    address_read(&s, &addresses[count]);
    if (addresses[count].family == 0) continue;
    addresses[count].port = port;
    count++;
  }
  freeaddrinfo(list);
  return count;
}

// MARK: sockets

static int open_socket(int family, int type) {
  int domain = family == CSYS_IPV4 ? AF_INET : family == CSYS_IPV6 ? AF_INET6 : AF_UNIX;
  int descriptor = socket(domain, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -errno;
  int off = 0;
  if (domain == AF_INET6) setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  return descriptor;
}

int csys_stream(int family) { return open_socket(family, SOCK_STREAM); }

int csys_datagram(int family) { return open_socket(family, SOCK_DGRAM); }

// A limit that the kernel does not grant is no reason to do without the rest.
void csys_datagram_configure(int descriptor, int receive_buffer, int send_buffer) {
  int v4 = IP_PMTUDISC_DO, v6 = IPV6_PMTUDISC_DO;
  setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer);
  setsockopt(descriptor, IPPROTO_IP, IP_MTU_DISCOVER, &v4, sizeof v4);
  setsockopt(descriptor, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &v6, sizeof v6);
}

int csys_bind(int descriptor, const struct csys_address *address) {
  int on = 1, type = 0;
  socklen_t size = sizeof type;
  // A listener's address may still hold connections that are closing. Two datagram sockets must not share one.
  getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size);
  if (type == SOCK_STREAM) setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_storage s;
  socklen_t length = address_write(address, address->family, &s);
  return outcome(bind(descriptor, (struct sockaddr *)&s, length));
}

static int unix_address(const char *path, struct sockaddr_un *address) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  size_t length = strlen(path);
  if (length == 0) return -EINVAL;
  if (length >= sizeof address->sun_path) return -ENAMETOOLONG;
  memcpy(address->sun_path, path, length);
  return 0;
}

int csys_bind_path(int descriptor, const char *path) {
  struct sockaddr_un address;
  int error = unix_address(path, &address);
  return error ? error : outcome(bind(descriptor, (struct sockaddr *)&address, sizeof address));
}

int csys_connect(int descriptor, const struct csys_address *address) {
  struct sockaddr_storage s;
  socklen_t length = address_write(address, address->family, &s);
  return outcome(connect(descriptor, (struct sockaddr *)&s, length));
}

int csys_connect_path(int descriptor, const char *path) {
  struct sockaddr_un address;
  int error = unix_address(path, &address);
  return error ? error : outcome(connect(descriptor, (struct sockaddr *)&address, sizeof address));
}

int csys_listen(int descriptor) { return outcome(listen(descriptor, 128)); }

int csys_accept(int descriptor, struct csys_address *peer) {
  struct sockaddr_storage s = {0};
  socklen_t length = sizeof s;
  int accepted = accept4(descriptor, (struct sockaddr *)&s, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (accepted < 0) return -errno;
  address_read(&s, peer);
  return accepted;
}

int csys_local_address(int descriptor, struct csys_address *address) {
  struct sockaddr_storage s = {0};
  socklen_t length = sizeof s;
  if (getsockname(descriptor, (struct sockaddr *)&s, &length) < 0) return -errno;
  address_read(&s, address);
  return 0;
}

int csys_pending_error(int descriptor) {
  int error = 0;
  socklen_t length = sizeof error;
  return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) < 0 ? errno : error;
}

int csys_shutdown_sending(int descriptor) { return outcome(shutdown(descriptor, SHUT_WR)); }

int csys_traffic_class(int descriptor, int traffic_class) {
  int v6 = setsockopt(descriptor, IPPROTO_IPV6, IPV6_TCLASS, &traffic_class, sizeof traffic_class);
  int v4 = setsockopt(descriptor, IPPROTO_IP, IP_TOS, &traffic_class, sizeof traffic_class);
  return v6 < 0 && v4 < 0 ? -errno : 0;
}

int csys_stream_configure(int descriptor, const struct csys_stream_options *o) {
  // A question for a sign of life may be lost. Where there is a user timeout, the kernel ends the connection when it has
  // passed and one question is unanswered: so there must be several by then.
  const int on = 1, interval_s = 1, probes = 10;
  const struct {
    int level, name, value;
  } settings[] = {
      {IPPROTO_TCP, TCP_NODELAY, on},
      {SOL_SOCKET, SO_KEEPALIVE, on},
      {IPPROTO_TCP, TCP_KEEPIDLE, o->keepalive_s},
      {IPPROTO_TCP, TCP_KEEPINTVL, interval_s},
      {IPPROTO_TCP, TCP_KEEPCNT, probes},
      {IPPROTO_TCP, TCP_USER_TIMEOUT, o->user_timeout_ms},
      {IPPROTO_TCP, TCP_NOTSENT_LOWAT, o->unsent_limit},
  };
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
    if (setsockopt(descriptor, settings[i].level, settings[i].name, &settings[i].value, sizeof(int)))
      return -errno;
  }
  if (o->receive_buffer &&
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &o->receive_buffer, sizeof o->receive_buffer))
    return -errno;
  return o->traffic_class ? csys_traffic_class(descriptor, o->traffic_class) : 0;
}

ssize_t csys_send(int descriptor, const void *bytes, size_t count) {
  ssize_t sent = send(descriptor, bytes, count, MSG_NOSIGNAL);
  return sent < 0 ? -errno : sent;
}

ssize_t csys_receive(int descriptor, void *bytes, size_t capacity) {
  ssize_t count = recv(descriptor, bytes, capacity, 0);
  return count < 0 ? -errno : count;
}

// MARK: stamped datagrams

int csys_stamps_enable(int descriptor) {
  int on = 1, none = 0;
  int flags = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_TX_SOFTWARE |
              SOF_TIMESTAMPING_TX_SCHED | SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_ID |
              SOF_TIMESTAMPING_OPT_TSONLY;
  // The numbering starts again only where OPT_ID was off before.
  setsockopt(descriptor, SOL_SOCKET, SO_TIMESTAMPING, &none, sizeof none);
  if (setsockopt(descriptor, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof flags) == 0)
    return CSYS_STAMPS_BOTH;
  if (setsockopt(descriptor, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) == 0)
    return CSYS_STAMPS_RECEIVED;
  return CSYS_STAMPS_NONE;
}

ssize_t csys_send_to(int descriptor, int family, const void *bytes, size_t count,
                     const struct csys_address *to) {
  if (family == CSYS_IPV4 && to->family != CSYS_IPV4) return -EAFNOSUPPORT;
  struct sockaddr_storage s;
  socklen_t length = address_write(to, family, &s);
  ssize_t sent = sendto(descriptor, bytes, count, MSG_NOSIGNAL, (struct sockaddr *)&s, length);
  return sent < 0 ? -errno : sent;
}

static int64_t nanoseconds(const void *data) {
  struct timespec t;
  memcpy(&t, data, sizeof t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// The software stamp is the first of SCM_TIMESTAMPING's three.
static int64_t stamp_of(const struct cmsghdr *c) {
  if (c->cmsg_level != SOL_SOCKET) return 0;
  if (c->cmsg_type != SCM_TIMESTAMPING && c->cmsg_type != SCM_TIMESTAMPNS) return 0;
  return c->cmsg_len >= CMSG_LEN(sizeof(struct timespec)) ? nanoseconds(CMSG_DATA(c)) : 0;
}

ssize_t csys_receive_from(int descriptor, void *bytes, size_t capacity,
                          struct csys_received *received) {
  struct sockaddr_storage from = {0};
  union {
    char bytes[256];
    struct cmsghdr align;
  } control;
  struct iovec vector = {bytes, capacity};
  struct msghdr message = {.msg_name = &from,
                           .msg_namelen = sizeof from,
                           .msg_iov = &vector,
                           .msg_iovlen = 1,
                           .msg_control = &control,
                           .msg_controllen = sizeof control};
  ssize_t count = recvmsg(descriptor, &message, 0);
  if (count < 0) return -errno;
  address_read(&from, &received->from);
  received->realtime_ns = 0;
  for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
    int64_t stamp = stamp_of(c);
    if (stamp) received->realtime_ns = stamp;
  }
  return count;
}

int csys_transmitted_next(int descriptor, struct csys_transmitted *transmitted) {
  union {
    char bytes[512];
    struct cmsghdr align;
  } control;
  // qemu-user answers 0 to a message without a vector, and asks no kernel.
  char none[1];
  struct iovec vector = {none, sizeof none};
  struct msghdr message = {.msg_iov = &vector,
                           .msg_iovlen = 1,
                           .msg_control = &control,
                           .msg_controllen = sizeof control};
  if (recvmsg(descriptor, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return -errno;
  int64_t stamp = 0;
  int known = 0;
  for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
    int64_t found = stamp_of(c);
    if (found) stamp = found;
    int is_error = (c->cmsg_level == SOL_IP && c->cmsg_type == IP_RECVERR) ||
                   (c->cmsg_level == SOL_IPV6 && c->cmsg_type == IPV6_RECVERR);
    if (!is_error || c->cmsg_len < CMSG_LEN(sizeof(struct sock_extended_err))) continue;
    struct sock_extended_err error;
    memcpy(&error, CMSG_DATA(c), sizeof error);
    if (error.ee_origin != SO_EE_ORIGIN_TIMESTAMPING) continue;
    known = error.ee_info == SCM_TSTAMP_SND || error.ee_info == SCM_TSTAMP_SCHED;
    transmitted->counter = error.ee_data;
    transmitted->from_driver = error.ee_info == SCM_TSTAMP_SND;
  }
  transmitted->realtime_ns = stamp;
  return stamp && known;
}
