/* An Ethernet switch in user space that delays, scatters, loses and throttles.
 *
 *     switch SEED PID...
 *
 * It makes a TAP device eth0 in the network namespace of each process; port 0 belongs to the first. Host N has the address
 * 02:00:00:00:00:NN, so the switch need not learn addresses. A packet passes two lanes, both of which keep the order: up from
 * its host into the switch, then down to the other host. Commands come on standard input, and each gets one line of answer.
 * The switch ends when standard input closes.
 *
 *     set PORT up|down|both KEY=VALUE ...     all times in microseconds
 *       delay=US  jitter=uniform:US|gamma:SHAPE:SCALE  spike=P:MIN:ALPHA:MAX (Pareto's tail)
 *       loss=P  burst=P_ENTER:P_LEAVE:P_LOSS  rate=KBIT:QUEUE_BYTES  stalls=EVERY_S:MIN:MAX (the whole port)
 *     outage PORT SECONDS                     from now
 *     stats                                   packets, bytes and losses, and how late the switch itself was
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/timerfd.h>

#include "crystal.h"

enum { PORTS = 32, LARGEST = 2048, LATE_US = 4000 };

struct packet {
  struct packet *next;
  int64_t due;
  int length;
  unsigned char bytes[LARGEST];
};

struct lane {
  double delay, uniform, shape, scale;
  double spike, spike_least, spike_alpha, spike_most;
  double loss, burst_enter, burst_leave, burst_loss;
  double rate, queue;
  double stall_every, stall_least, stall_most;
  bool in_burst;
  int64_t last, busy_until, next_stall;
  struct packet *first, *final;
  unsigned long packets, bytes, lost;
};

static struct port {
  int tap;
  int64_t stalled_until, off_until;
  struct lane up, down;
} ports[PORTS];
static int port_count;
static unsigned long late[LATE_US + 1];
static uint64_t state;

static double chance(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double gamma_number(double shape, double scale) { /* Marsaglia and Tsang; shape of at least 1 */
  double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
  for (;;) {
    double x = sqrt(-2 * log(chance())) * cos(2 * M_PI * chance()), v = pow(1 + c * x, 3);
    if (v > 0 && log(chance()) < 0.5 * x * x + d - d * v + d * log(v))
      return d * v * scale;
  }
}

static bool is_lost(struct port *p, struct lane *l, int64_t t) {
  if (t < p->off_until)
    return true;
  if (l->burst_enter > 0) {
    l->in_burst = l->in_burst ? chance() >= l->burst_leave : chance() < l->burst_enter;
    if (l->in_burst && chance() < l->burst_loss)
      return true;
  }
  return chance() < l->loss;
}

static void stall(struct port *p, struct lane *l, int64_t t) {
  if (l->stall_every <= 0)
    return;
  if (!l->next_stall)
    l->next_stall = t - (int64_t)(log(chance()) * l->stall_every * 1e9);
  while (t >= l->next_stall) {
    int64_t until = l->next_stall + (int64_t)((l->stall_least + chance() * (l->stall_most - l->stall_least)) * 1e3);
    if (until > p->stalled_until)
      p->stalled_until = until;
    l->next_stall = until - (int64_t)(log(chance()) * l->stall_every * 1e9);
  }
}

/* Returns the time at which a packet that enters the lane at time `t` leaves it, or -1 if it is lost. */
static int64_t pass(struct port *p, struct lane *l, int64_t t, int length) {
  int64_t at = t;
  l->packets++;
  l->bytes += (unsigned long)length;
  bool lost = is_lost(p, l, t);
  if (l->rate > 0) {
    int64_t begin = l->busy_until > t ? l->busy_until : t;
    lost = lost || (double)(begin - t) * l->rate / 8e6 > l->queue;
    if (!lost)
      at = l->busy_until = begin + (int64_t)(length * 8e6 / l->rate);
  }
  if (lost) {
    l->lost++;
    return -1;
  }
  stall(p, l, t);
  if (at < p->stalled_until)
    at = p->stalled_until;
  double us = l->delay + l->uniform * chance() + (l->shape > 0 ? gamma_number(l->shape, l->scale) : 0);
  if (l->spike > 0 && chance() < l->spike)
    us += fmin(l->spike_least * pow(chance(), -1 / l->spike_alpha), l->spike_most);
  at += (int64_t)(us * 1e3);
  l->last = at > l->last ? at : l->last;
  return l->last;
}

static void enter(struct port *p, struct lane *l, int64_t t, const unsigned char *bytes, int length) {
  int64_t due = pass(p, l, t, length);
  struct packet *packet = due < 0 ? NULL : malloc(sizeof *packet);
  if (!packet)
    return;
  packet->next = NULL;
  packet->due = due;
  packet->length = length;
  memcpy(packet->bytes, bytes, (size_t)length);
  *(l->first ? &l->final->next : &l->first) = packet;
  l->final = packet;
}

static struct packet *leave(struct lane *l, int64_t now) {
  struct packet *packet = l->first;
  if (!packet || packet->due > now)
    return NULL;
  l->first = packet->next;
  return packet;
}

/* Moves packets that are due, and returns the time at which the next one is. */
static int64_t move(void) {
  int64_t now = true_now(), next = INT64_MAX;
  struct packet *packet;
  for (int i = 0; i < port_count; i++)
    while ((packet = leave(&ports[i].up, now))) {
      for (int to = 0; to < port_count; to++)
        if (to != i && ((packet->bytes[0] & 1) || packet->bytes[5] == to))
          enter(&ports[to], &ports[to].down, packet->due, packet->bytes, packet->length);
      free(packet);
    }
  for (int i = 0; i < port_count; i++) {
    while ((packet = leave(&ports[i].down, now))) {
      bool off = now < ports[i].off_until;
      ports[i].down.lost += off || write(ports[i].tap, packet->bytes, (size_t)packet->length) < 0;
      int64_t us = (true_now() - packet->due) / 1000;
      late[us < LATE_US ? us : LATE_US]++;
      free(packet);
    }
    struct packet *waiting[] = {ports[i].up.first, ports[i].down.first};
    for (int k = 0; k < 2; k++)
      next = waiting[k] && waiting[k]->due < next ? waiting[k]->due : next;
  }
  return next;
}

static bool set(struct lane *l, const char *pair) {
  l->next_stall = 0;
  return sscanf(pair, "delay=%lf", &l->delay) == 1 || sscanf(pair, "jitter=uniform:%lf", &l->uniform) == 1 ||
         sscanf(pair, "jitter=gamma:%lf:%lf", &l->shape, &l->scale) == 2 || sscanf(pair, "loss=%lf", &l->loss) == 1 ||
         sscanf(pair, "spike=%lf:%lf:%lf:%lf", &l->spike, &l->spike_least, &l->spike_alpha, &l->spike_most) == 4 ||
         sscanf(pair, "burst=%lf:%lf:%lf", &l->burst_enter, &l->burst_leave, &l->burst_loss) == 3 ||
         sscanf(pair, "rate=%lf:%lf", &l->rate, &l->queue) == 2 ||
         sscanf(pair, "stalls=%lf:%lf:%lf", &l->stall_every, &l->stall_least, &l->stall_most) == 3;
}

static int percentile(double share) {
  double total = 0, seen = 0;
  for (int i = 0; i <= LATE_US; i++)
    total += (double)late[i];
  for (int i = 0; i <= LATE_US; i++)
    if ((seen += (double)late[i]) >= share * total)
      return i;
  return LATE_US;
}

static void stats(void) {
  printf("{\"late_us\": {\"p50\": %d, \"p99\": %d, \"max\": %d}, \"ports\": [", percentile(0.5), percentile(0.99),
         percentile(1));
  for (int i = 0; i < port_count; i++)
    printf("%s{\"up_bytes\": %lu, \"down_bytes\": %lu, \"lost\": %lu}", i ? ", " : "", ports[i].up.bytes,
           ports[i].down.bytes, ports[i].up.lost + ports[i].down.lost);
  printf("]}\n");
}

static bool command(char *line) {
  char *verb = strtok(line, " \n"), *number = strtok(NULL, " \n"), *word = strtok(NULL, " \n");
  if (verb && !strcmp(verb, "stats"))
    return stats(), true;
  if (!verb || !number || !word || atoi(number) < 0 || atoi(number) >= port_count)
    return false;
  struct port *p = &ports[atoi(number)];
  if (!strcmp(verb, "outage")) {
    p->off_until = true_now() + (int64_t)(atof(word) * 1e9);
  } else if (!strcmp(verb, "set")) {
    for (char *pair; (pair = strtok(NULL, " \n"));)
      if ((strcmp(word, "down") && !set(&p->up, pair)) || (strcmp(word, "up") && !set(&p->down, pair)))
        return false;
  } else {
    return false;
  }
  return puts("ok") >= 0;
}

static void serve(void) {
  static char text[4096];
  ssize_t size = read(0, text, sizeof text - 1);
  if (size <= 0)
    exit(0);
  text[size] = 0;
  if (!command(text)) /* one command is sent at a time */
    puts("not understood");
}

static int open_tap(const char *pid) {
  char path[64];
  struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
  snprintf(path, sizeof path, "/proc/%s/ns/net", pid);
  strcpy(request.ifr_name, "eth0");
  int home = open("/proc/self/ns/net", O_RDONLY), there = open(path, O_RDONLY);
  int tap = there >= 0 && setns(there, CLONE_NEWNET) == 0 ? open("/dev/net/tun", O_RDWR | O_NONBLOCK) : -1;
  if (tap < 0 || ioctl(tap, TUNSETIFF, &request) < 0 || setns(home, CLONE_NEWNET) < 0) {
    perror(path);
    exit(1);
  }
  close(home);
  close(there);
  return tap;
}

int main(int count, char **words) {
  if (count < 3 || count - 2 > PORTS)
    return fprintf(stderr, "usage: switch SEED PID...\n"), 2;
  state = strtoull(words[1], NULL, 10) * 0x9e3779b97f4a7c15ull + 88172645463325252ull;
  setlinebuf(stdout);
  int events = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  struct epoll_event event = {.events = EPOLLIN};
  for (port_count = 0; port_count < count - 2; port_count++) {
    ports[port_count].tap = open_tap(words[port_count + 2]);
    event.data.fd = port_count;
    epoll_ctl(events, EPOLL_CTL_ADD, ports[port_count].tap, &event);
  }
  event.data.fd = PORTS;
  epoll_ctl(events, EPOLL_CTL_ADD, 0, &event);
  event.data.fd = PORTS + 1;
  epoll_ctl(events, EPOLL_CTL_ADD, timer, &event);
  struct sched_param priority = {.sched_priority = 50};
  sched_setscheduler(0, SCHED_FIFO, &priority);
  mlockall(MCL_CURRENT | MCL_FUTURE);
  puts("ready");

  for (int64_t next = INT64_MAX;;) {
    struct itimerspec at = {{0, 0}, {0, 0}};
    if (next != INT64_MAX)
      at.it_value = (struct timespec){next / 1000000000, next % 1000000000};
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
    struct epoll_event ready[PORTS + 2];
    int n = epoll_wait(events, ready, PORTS + 2, -1);
    move();
    for (int i = 0; i < n; i++) {
      int from = ready[i].data.fd;
      static unsigned char bytes[LARGEST];
      if (from == PORTS)
        serve();
      for (int k = 0, length; from < port_count && k < 32; k++) {
        if ((length = (int)read(ports[from].tap, bytes, sizeof bytes)) < 14)
          break;
        enter(&ports[from], &ports[from].up, true_now(), bytes, length);
      }
    }
    next = move();
  }
}
