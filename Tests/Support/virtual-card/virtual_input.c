/* A sound card that records, for tests: an ALSA plugin whose pointer follows CLOCK_MONOTONIC at a chosen rate and whose
 * frames contain their own number.
 *
 *     pcm.NAME { type virtual_input  dir "/tmp/x"  ppm 40.0  rate 44100 }
 *
 * dir    folder for its control files
 * ppm    its crystal's error (default 0)
 * rate   its only rate, in Hz (default: 48000)
 *
 * A frame is two samples of 16 bits: the lower 15 bits of its number since the card was opened, and the next 15. Frames that
 * nobody has read when the ring is full are lost, and their numbers with them. As most cards, it can be opened only once at a
 * time; whoever else opens it is told that it is busy.
 *
 * DIR/vanish   while this file exists the card is gone
 * DIR/overrun  makes one overrun; removed by the card
 */
#define _GNU_SOURCE
#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

struct input {
  snd_pcm_ioplug_t io;
  char dir[512];
  double speed; /* frames taken for each frame at the nominal rate */
  int timer;
  int lock; /* of its folder, while it is open */
  snd_pcm_uframes_t avail_min;
  int64_t opened; /* ns of the first start */
  int64_t base;   /* number of the frame at position 0 of this run */
  double position;
  bool running;
};

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static bool control(const struct input *c, const char *what, bool once) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", c->dir, what);
  return once ? unlink(path) == 0 : access(path, F_OK) == 0;
}

static double taken(const struct input *c) {
  return c->opened ? (double)(now_ns() - c->opened) * 1e-9 * c->io.rate * c->speed : 0;
}

/* Brings the card to the present. Returns 0, or the reason why it does not run any more. */
static int look(struct input *c) {
  if (control(c, "vanish", false)) {
    c->running = false;
    snd_pcm_ioplug_set_state(&c->io, SND_PCM_STATE_DISCONNECTED);
    return -ENODEV;
  }
  if (!c->running)
    return c->io.state == SND_PCM_STATE_XRUN ? -EPIPE : 0;
  c->position = taken(c) - (double)c->base;
  if (c->position - (double)c->io.appl_ptr >= (double)c->io.buffer_size || control(c, "overrun", true)) {
    c->running = false;
    snd_pcm_ioplug_set_state(&c->io, SND_PCM_STATE_XRUN);
    return -EPIPE;
  }
  return 0;
}

static int input_start(snd_pcm_ioplug_t *io) {
  struct input *c = io->private_data;
  if (!c->opened)
    c->opened = now_ns();
  c->base = (int64_t)taken(c);
  c->position = 0;
  c->running = true;
  int64_t ns = (int64_t)(io->period_size * 1e9 / io->rate);
  struct timespec span = {ns / 1000000000, ns % 1000000000};
  struct itimerspec timer = {span, span};
  return timerfd_settime(c->timer, 0, &timer, NULL);
}

static int input_stop(snd_pcm_ioplug_t *io) {
  ((struct input *)io->private_data)->running = false;
  return 0;
}

static int input_prepare(snd_pcm_ioplug_t *io) {
  struct input *c = io->private_data;
  c->position = 0;
  c->running = false;
  return control(c, "vanish", false) ? -ENODEV : 0;
}

static snd_pcm_sframes_t input_pointer(snd_pcm_ioplug_t *io) {
  struct input *c = io->private_data;
  int code = look(c);
  return code < 0 ? code : (snd_pcm_sframes_t)c->position;
}

static int input_delay(snd_pcm_ioplug_t *io, snd_pcm_sframes_t *delay) {
  struct input *c = io->private_data;
  int code = look(c);
  *delay = (snd_pcm_sframes_t)c->position - (snd_pcm_sframes_t)io->appl_ptr;
  return code;
}

static snd_pcm_sframes_t input_transfer(snd_pcm_ioplug_t *io, const snd_pcm_channel_area_t *areas,
                                        snd_pcm_uframes_t offset, snd_pcm_uframes_t size) {
  struct input *c = io->private_data;
  int code = look(c);
  if (code < 0)
    return code;
  int16_t *to = (int16_t *)((char *)areas[0].addr + offset * 4);
  for (snd_pcm_uframes_t i = 0; i < size; i++) {
    int64_t number = c->base + (int64_t)(io->appl_ptr + i);
    to[2 * i] = (int16_t)(number & 0x7fff);
    to[2 * i + 1] = (int16_t)(number >> 15 & 0x7fff);
  }
  return (snd_pcm_sframes_t)size;
}

static int input_poll_revents(snd_pcm_ioplug_t *io, struct pollfd *fds, unsigned count, unsigned short *revents) {
  struct input *c = io->private_data;
  uint64_t ticks;
  (void)count;
  *revents = 0;
  if (!(fds[0].revents & POLLIN) || read(c->timer, &ticks, sizeof ticks) < 0)
    return 0;
  if (look(c) < 0)
    *revents = POLLIN | POLLERR;
  else if (c->position - (double)io->appl_ptr >= (double)c->avail_min)
    *revents = POLLIN;
  return 0;
}

static int input_sw_params(snd_pcm_ioplug_t *io, snd_pcm_sw_params_t *params) {
  struct input *c = io->private_data;
  return snd_pcm_sw_params_get_avail_min(params, &c->avail_min);
}

static int input_close(snd_pcm_ioplug_t *io) {
  struct input *c = io->private_data;
  close(c->timer);
  close(c->lock);
  free(c);
  return 0;
}

static const snd_pcm_ioplug_callback_t callbacks = {
    .start = input_start,
    .stop = input_stop,
    .pointer = input_pointer,
    .transfer = input_transfer,
    .close = input_close,
    .sw_params = input_sw_params,
    .prepare = input_prepare,
    .poll_revents = input_poll_revents,
    .delay = input_delay,
};

static int constrain(snd_pcm_ioplug_t *io, unsigned rate) {
  static const unsigned access[] = {SND_PCM_ACCESS_RW_INTERLEAVED};
  static const unsigned formats[] = {SND_PCM_FORMAT_S16_LE};
  int code = snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_ACCESS, 1, access);
  if (code >= 0)
    code = snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_FORMAT, 1, formats);
  if (code >= 0)
    code = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_CHANNELS, 2, 2);
  if (code >= 0)
    code = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_RATE, rate, rate);
  if (code >= 0)
    code = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_PERIOD_BYTES, 64, 1 << 18);
  return code < 0 ? code : snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_PERIODS, 2, 1024);
}

SND_PCM_PLUGIN_DEFINE_FUNC(virtual_input) {
  const char *dir = NULL;
  double ppm = 0;
  long rate = 48000;
  snd_config_iterator_t i, next;
  (void)root;
  snd_config_for_each(i, next, conf) {
    snd_config_t *node = snd_config_iterator_entry(i);
    const char *id;
    if (snd_config_get_id(node, &id) < 0)
      continue;
    if (!strcmp(id, "dir"))
      snd_config_get_string(node, &dir);
    else if (!strcmp(id, "ppm"))
      snd_config_get_ireal(node, &ppm);
    else if (!strcmp(id, "rate"))
      snd_config_get_integer(node, &rate);
  }
  if (stream != SND_PCM_STREAM_CAPTURE || !dir || strlen(dir) >= sizeof((struct input *)0)->dir)
    return -EINVAL;
  struct input *c = calloc(1, sizeof *c);
  if (!c)
    return -ENOMEM;
  strcpy(c->dir, dir);
  c->speed = 1 + ppm * 1e-6;
  c->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  c->io.version = SND_PCM_IOPLUG_VERSION;
  c->io.name = "virtual input";
  c->io.callback = &callbacks;
  c->io.private_data = c;
  c->io.poll_fd = c->timer;
  c->io.poll_events = POLLIN;
  c->io.flags = SND_PCM_IOPLUG_FLAG_MONOTONIC | SND_PCM_IOPLUG_FLAG_BOUNDARY_WA;
  c->lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int code = control(c, "vanish", false) ? -ENODEV : 0;
  if (code == 0 && flock(c->lock, LOCK_EX | LOCK_NB) < 0)
    code = -EBUSY;
  if (code == 0)
    code = snd_pcm_ioplug_create(&c->io, name, stream, mode);
  if (code < 0) {
    close(c->timer);
    close(c->lock);
    free(c);
    return code;
  }
  if ((code = constrain(&c->io, (unsigned)rate)) < 0) {
    snd_pcm_ioplug_delete(&c->io); /* calls input_close */
    return code;
  }
  *pcmp = c->io.pcm;
  return 0;
}
SND_PCM_PLUGIN_SYMBOL(virtual_input);
