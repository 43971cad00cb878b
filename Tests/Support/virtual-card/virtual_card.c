/* A sound card for tests: an ALSA plugin whose pointer follows CLOCK_MONOTONIC at a chosen rate and which
 * records what is written to it, frame by frame, at the place where it would be heard.
 *
 *     pcm.NAME { type virtual_card  dir "/tmp/x"  ppm 40.0  rate 44100  format "S16_LE"  channels 2 }
 *
 * dir        folder for its recordings and control files
 * ppm        its crystal's error (default 0); -900000 makes it ten times slower than its rate
 * wander     wander of its crystal, see crystal.h, from CLOCK_MONOTONIC `since`, in ns
 * step       step of the pointer that programs see, in frames (default 1); 0: the frames of a millisecond
 * latency    microseconds from the pointer to the air; reported to programs (default 0)
 * rate       its only rate, in Hz (default: 44100 to 192000); likewise format and channels
 * takes      1: records each opening in a file of its own, with its times, and looks at the control files every 20 ms
 *
 * DIR/heard      the frames written, in the device's format; overwritten if the program rewinds
 * DIR/starts     a line for each start: CLOCK_MONOTONIC in ns, and the frame of `heard` with which it begins
 * DIR/take-N     with `takes`, in place of `heard`; DIR/take-N.times has a line for the format, then lines with a word
 *                (start, at, stop, dry, suspended, gone), CLOCK_MONOTONIC in ns, and the frame that sounds then
 * DIR/lock       held while the card is open, so that it can be opened once
 * DIR/vanish     while this file exists the card is gone
 * DIR/suspend    while this file exists the card is suspended
 * DIR/underrun   makes one underrun; removed by the card
 * DIR/dry        while this file exists the card runs dry as soon as it is started
 *
 * Nothing runs in the background: each call computes the present place of the pointer. `polls_first.c` tests it.
 */
#define _GNU_SOURCE
#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "crystal.h"

#define CONTROL_NS 20000000ll /* with `takes`: interval of checks for control files */
#define TIMES_NS 100000000ll  /* and of notes of the time */

struct card {
  snd_pcm_ioplug_t io;
  char dir[512];
  struct crystal crystal;
  double latency; /* s */
  bool takes;
  FILE *times;
  int64_t noted, controlled, seen; /* ns */
  int64_t armed; /* when `timer` becomes readable, in ns; 0: it was never set */
  int lock, timer, heard;
  size_t frame_bytes;
  snd_pcm_uframes_t avail_min;
  uint64_t base; /* place in the recording of position 0 of this run */
  bool running, gone;
  int64_t started; /* ns */
  double position; /* within this run, at the last look */
  long step;       /* frames by which `visible` moves, or 0 */
};

static bool control(const struct card *c, const char *what, bool once) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", c->dir, what);
  return once ? unlink(path) == 0 : access(path, F_OK) == 0;
}

/* Returns the position of this run at true time `t`. */
static double position(const struct card *c, int64_t t) {
  double gained = crystal_gain(&c->crystal, t) - crystal_gain(&c->crystal, c->started);
  return ((double)(t - c->started) + gained) * 1e-9 * c->io.rate;
}

/* Returns the time at which this run reaches a position. */
static int64_t time_of(const struct card *c, double position) {
  double span = position / c->io.rate * 1e9 / (1 + c->crystal.ppm * 1e-6);
  for (int i = 0; i < 3; i++) {
    double gained = crystal_gain(&c->crystal, c->started + (int64_t)span) - crystal_gain(&c->crystal, c->started);
    span += (position / c->io.rate * 1e9 - span - gained) / (1 + c->crystal.ppm * 1e-6);
  }
  return c->started + (int64_t)ceil(span);
}

static void note(struct card *c, const char *what, int64_t t, double position) {
  c->noted = t;
  if (c->times)
    fprintf(c->times, "%s %lld %.4f\n", what, (long long)t, (double)c->base + position);
}

static int halt(struct card *c, const char *why, int64_t t, snd_pcm_state_t state, int code) {
  if (c->running)
    note(c, why, t, c->position);
  c->running = false;
  snd_pcm_ioplug_set_state(&c->io, state);
  return code;
}

/* Brings the card to the present. Returns 0, or the reason why it does not run any more. */
static int look(struct card *c) {
  snd_pcm_ioplug_t *io = &c->io;
  int64_t now = true_now();
  bool controlled = !c->takes || now - c->controlled >= CONTROL_NS;
  if (controlled)
    c->controlled = now;
  if (c->gone || (controlled && control(c, "vanish", false))) {
    c->gone = true;
    if (c->running)
      c->position = fmin(position(c, now), (double)io->appl_ptr);
    return halt(c, "gone", now, SND_PCM_STATE_DISCONNECTED, -ENODEV);
  }
  if (!c->running)
    return io->state == SND_PCM_STATE_XRUN ? -EPIPE : io->state == SND_PCM_STATE_SUSPENDED ? -ESTRPIPE : 0;
  c->seen = now = true_now();
  c->position = position(c, now);
  if (c->position >= (double)io->appl_ptr) {
    c->position = (double)io->appl_ptr;
    return halt(c, "dry", time_of(c, c->position), SND_PCM_STATE_XRUN, -EPIPE);
  }
  if (controlled && control(c, "suspend", false))
    return halt(c, "suspended", now, SND_PCM_STATE_SUSPENDED, -ESTRPIPE);
  if (controlled && (control(c, "underrun", true) || control(c, "dry", false)))
    return halt(c, "dry", now, SND_PCM_STATE_XRUN, -EPIPE);
  if (now - c->noted >= TIMES_NS)
    note(c, "at", now, c->position);
  return 0;
}

/* The pointer as programs see it. */
static snd_pcm_sframes_t visible(const struct card *c) {
  snd_pcm_sframes_t whole = (snd_pcm_sframes_t)c->position;
  if (!c->running)
    return whole;
  if (c->step == 0)
    return (snd_pcm_sframes_t)(floor(c->position * 1000 / c->io.rate) * c->io.rate / 1000);
  return whole - whole % c->step;
}

static bool has_space(const struct card *c, snd_pcm_uframes_t written) {
  return c->io.buffer_size + (snd_pcm_uframes_t)visible(c) - written >= c->avail_min;
}

/* Returns the end of the present period, in ns; 0 for a stopped card. */
static int64_t period_end(const struct card *c) {
  double period = (double)c->io.period_size;
  return c->running ? time_of(c, (floor(c->position / period) + 1) * period) : 0;
}

/* Makes poll behave as with the kernel's cards: it returns at once if there is space, otherwise at the end of a period.
 * Nobody reads the timer, so it stays readable until it is set again, and one that is readable need not be set for it. */
static void arm(struct card *c, snd_pcm_uframes_t written) {
  bool at_once = has_space(c, written) && c->io.state != SND_PCM_STATE_DRAINING;
  int64_t ns = at_once ? 1 : period_end(c); /* 1 is long past; 0 would disarm the timer */
  if (at_once && c->armed > 0 && c->armed < c->seen)
    return;
  c->armed = ns;
  struct itimerspec timer = {{0, 0}, {ns / 1000000000, ns % 1000000000}};
  syscall(SYS_timerfd_settime, c->timer, TFD_TIMER_ABSTIME, &timer, NULL);
}

static int card_start(snd_pcm_ioplug_t *io) {
  struct card *c = io->private_data;
  c->started = true_now();
  c->position = 0;
  c->running = true;
  note(c, "start", c->started, 0);
  char path[600];
  snprintf(path, sizeof path, "%s/starts", c->dir);
  FILE *starts = fopen(path, "a");
  if (starts) {
    fprintf(starts, "%lld %llu\n", (long long)c->started, (unsigned long long)c->base);
    fclose(starts);
  }
  arm(c, io->appl_ptr);
  return 0;
}

static int card_stop(snd_pcm_ioplug_t *io) {
  struct card *c = io->private_data;
  if (c->running && look(c) == 0)
    note(c, "stop", true_now(), c->position);
  c->running = false;
  return 0;
}

static int card_prepare(snd_pcm_ioplug_t *io) {
  struct card *c = io->private_data;
  if (c->gone)
    return -ENODEV;
  if (control(c, "suspend", false))
    return -ESTRPIPE;
  /* Frames written but not heard are cut off, as on a real card. */
  c->base += (uint64_t)c->position;
  c->position = 0;
  c->running = false;
  arm(c, 0);
  return 0;
}

static int card_resume(snd_pcm_ioplug_t *io) {
  return control(io->private_data, "suspend", false) ? -EAGAIN : -ENOSYS;
}

static snd_pcm_sframes_t card_pointer(snd_pcm_ioplug_t *io) {
  struct card *c = io->private_data;
  return look(c) == -EPIPE ? -EPIPE : visible(c);
}

static int card_delay(snd_pcm_ioplug_t *io, snd_pcm_sframes_t *delay) {
  struct card *c = io->private_data;
  int code = look(c);
  *delay = (snd_pcm_sframes_t)io->appl_ptr - visible(c);
  if (c->running)
    *delay += (snd_pcm_sframes_t)lround(c->latency * io->rate);
  return code;
}

static snd_pcm_sframes_t card_transfer(snd_pcm_ioplug_t *io, const snd_pcm_channel_area_t *areas,
                                       snd_pcm_uframes_t offset, snd_pcm_uframes_t size) {
  struct card *c = io->private_data;
  int code = look(c);
  if (code < 0)
    return code;
  const char *from = (const char *)areas[0].addr + offset * c->frame_bytes;
  off_t at = (off_t)((c->base + io->appl_ptr) * c->frame_bytes);
  if (pwrite(c->heard, from, size * c->frame_bytes, at) < 0)
    return -errno;
  arm(c, io->appl_ptr + size);
  return (snd_pcm_sframes_t)size;
}

static int card_poll_revents(snd_pcm_ioplug_t *io, struct pollfd *fds, unsigned count,
                             unsigned short *revents) {
  struct card *c = io->private_data;
  (void)count;
  *revents = 0;
  if (!(fds[0].revents & POLLIN))
    return 0;
  if (look(c) < 0) {
    *revents = POLLOUT | POLLERR;
    return 0;
  }
  if (has_space(c, io->appl_ptr))
    *revents = POLLOUT;
  arm(c, io->appl_ptr);
  return 0;
}

static void close_recording(struct card *c) {
  if (c->heard >= 0)
    close(c->heard);
  if (c->times)
    fclose(c->times);
  c->heard = -1;
  c->times = NULL;
}

/* Opens a new take, with its times. */
static int open_take(struct card *c) {
  char path[600];
  int n = 0;
  do
    snprintf(path, sizeof path, "%s/take-%03d", c->dir, n++);
  while ((c->heard = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600)) < 0 && errno == EEXIST);
  strcat(path, ".times");
  c->times = c->heard < 0 ? NULL : fopen(path, "we");
  if (!c->times)
    return -errno;
  setlinebuf(c->times);
  fprintf(c->times, "%s %u %u %.6f %.6f\n", snd_pcm_format_name(c->io.format), c->io.channels, c->io.rate,
          c->crystal.ppm, c->latency);
  c->base = 0;
  return 0;
}

static int card_hw_params(snd_pcm_ioplug_t *io, snd_pcm_hw_params_t *params) {
  struct card *c = io->private_data;
  char path[600];
  (void)params;
  c->frame_bytes = (size_t)snd_pcm_format_physical_width(io->format) / 8 * io->channels;
  snprintf(path, sizeof path, "%s/heard", c->dir);
  close_recording(c);
  if (c->takes)
    return open_take(c);
  c->heard = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  return c->heard < 0 ? -errno : 0;
}

static int card_sw_params(snd_pcm_ioplug_t *io, snd_pcm_sw_params_t *params) {
  struct card *c = io->private_data;
  return snd_pcm_sw_params_get_avail_min(params, &c->avail_min);
}

static int card_close(snd_pcm_ioplug_t *io) {
  struct card *c = io->private_data;
  close(c->timer);
  close(c->lock);
  close_recording(c);
  free(c);
  return 0;
}

static const snd_pcm_ioplug_callback_t callbacks = {
    .start = card_start,
    .stop = card_stop,
    .pointer = card_pointer,
    .transfer = card_transfer,
    .close = card_close,
    .hw_params = card_hw_params,
    .sw_params = card_sw_params,
    .prepare = card_prepare,
    .resume = card_resume,
    .poll_revents = card_poll_revents,
    .delay = card_delay,
};

static int constrain(struct card *c, long rate, long format, long channels) {
  static const unsigned access[] = {SND_PCM_ACCESS_RW_INTERLEAVED};
  static const unsigned formats[] = {SND_PCM_FORMAT_S16_LE, SND_PCM_FORMAT_S24_LE, SND_PCM_FORMAT_S24_3LE,
                                     SND_PCM_FORMAT_S32_LE, SND_PCM_FORMAT_FLOAT_LE};
  unsigned one_format = (unsigned)format;
  snd_pcm_ioplug_t *io = &c->io;
  int code = snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_ACCESS, 1, access);
  if (code >= 0)
    code = format >= 0 ? snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_FORMAT, 1, &one_format)
                       : snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_FORMAT, 5, formats);
  if (code >= 0)
    code = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_CHANNELS, channels ? channels : 1,
                                           channels ? channels : 8);
  if (code >= 0)
    code = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_RATE, rate ? rate : 44100,
                                           rate ? rate : 192000);
  if (code >= 0)
    code = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_PERIOD_BYTES, 64, 1 << 18);
  if (code >= 0)
    code = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_PERIODS, 2, 1024);
  return code;
}

SND_PCM_PLUGIN_DEFINE_FUNC(virtual_card) {
  const char *dir = NULL, *format = NULL, *wander = NULL;
  double ppm = 0, since = 0, latency = 0;
  long rate = 0, channels = 0, step = 1, takes = 0;
  snd_config_iterator_t i, next;
  (void)root;
  snd_config_for_each(i, next, conf) {
    snd_config_t *node = snd_config_iterator_entry(i);
    const char *id;
    if (snd_config_get_id(node, &id) < 0)
      continue;
    if (!strcmp(id, "dir"))
      snd_config_get_string(node, &dir);
    else if (!strcmp(id, "format"))
      snd_config_get_string(node, &format);
    else if (!strcmp(id, "ppm"))
      snd_config_get_ireal(node, &ppm);
    else if (!strcmp(id, "wander"))
      snd_config_get_string(node, &wander);
    else if (!strcmp(id, "since"))
      snd_config_get_ireal(node, &since);
    else if (!strcmp(id, "latency"))
      snd_config_get_ireal(node, &latency);
    else if (!strcmp(id, "takes"))
      snd_config_get_integer(node, &takes);
    else if (!strcmp(id, "step"))
      snd_config_get_integer(node, &step);
    else if (!strcmp(id, "rate"))
      snd_config_get_integer(node, &rate);
    else if (!strcmp(id, "channels"))
      snd_config_get_integer(node, &channels);
  }
  struct card *c = dir && strlen(dir) < sizeof c->dir ? calloc(1, sizeof *c) : NULL;
  if (!c)
    return -EINVAL;
  char path[600];
  strcpy(c->dir, dir);
  snprintf(path, sizeof path, "%s/lock", dir);
  c->latency = latency * 1e-6;
  c->takes = takes != 0;
  c->step = step >= 0 ? step : 1;
  c->heard = -1;
  c->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  c->lock = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  int code = control(c, "vanish", false) || c->lock < 0 ? -ENODEV : 0;
  if (crystal_make(&c->crystal, ppm, wander, (int64_t)since) < 0)
    code = -EINVAL;
  if (code >= 0 && flock(c->lock, LOCK_EX | LOCK_NB) < 0)
    code = -EBUSY;
  c->io.version = SND_PCM_IOPLUG_VERSION;
  c->io.name = "virtual card";
  c->io.callback = &callbacks;
  c->io.private_data = c;
  c->io.poll_fd = c->timer;
  c->io.poll_events = POLLIN;
  c->io.flags = SND_PCM_IOPLUG_FLAG_MONOTONIC | SND_PCM_IOPLUG_FLAG_BOUNDARY_WA;
  if (code >= 0)
    code = snd_pcm_ioplug_create(&c->io, name, stream, mode);
  if (code < 0) {
    close(c->timer);
    if (c->lock >= 0)
      close(c->lock);
    free(c);
    return code;
  }
  long one_format = format && *format ? (long)snd_pcm_format_value(format) : -1;
  if ((code = constrain(c, rate, one_format, channels)) < 0) {
    snd_pcm_ioplug_delete(&c->io); /* calls card_close */
    return code;
  }
  *pcmp = c->io.pcm;
  return 0;
}
SND_PCM_PLUGIN_SYMBOL(virtual_card);
