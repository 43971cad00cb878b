// A sound card for every program that plays through ALSA, whose loudspeakers are the rooms: aplay, mpv, GStreamer, browsers.
//
//     cc -shared -fPIC -DPIC -I Sources/CTutti/include -o libasound_module_pcm_tutti.so Examples/Sources/alsa/pcm_tutti.c
//       -L .build/release -ltutti-c -lasound -Wl,-z,nodelete
//
// In ~/.asoundrc, with the names of rooms or their addresses:
//
//     pcm_type.tutti { lib "/path/of/libasound_module_pcm_tutti.so" }
//     pcm.tutti { type plug  slave.pcm { type tutti  rooms "Kitchen,10.0.0.7:7770" } }
//
// Frames are enqueued for their times, and time runs from the program's start on. The pointer is the first frame that can
// still be written, and the delay is exact: a frame sounds that long after the program has asked, in all rooms.
#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/timerfd.h>
#include <time.h>
#include <tutti.h>
#include <unistd.h>

enum { MOST_ROOMS = 32, CHANNELS = 2 };
#define SECOND 1000000000ll
#define SLACK (SECOND / 4) // a frame waits so long at most until its packet is full and with the rooms
#define FILL (SECOND / 10)      // time for a program to write on that starts with an empty buffer
#define BROKEN INT64_MIN

struct device {
  snd_pcm_ioplug_t io;
  tutti_renderer *renderer;
  unsigned rate; // of the renderer
  tutti_room *rooms[MOST_ROOMS];
  int room_count, timer;
  snd_pcm_uframes_t avail_min, pointer;
  bool is_dirty;         // something was enqueued since time was 0
  bool is_finished;      // the renderer was told that no more comes, until time is 0 again
  bool is_starting;      // `starter` is to be joined
  pthread_t starter;
  atomic_llong origin;   // instant at which frame 0 sounds, or would; 0 while it is not known
  atomic_llong lead;     // ns by which the pointer is ahead of the sound
  int64_t stood, ends;   // where time stands, in ns, and the instant from which on it does, or 0
};

// --- Time ---

static int64_t span(const struct device *d, snd_pcm_sframes_t frames) {
  return frames / d->rate * SECOND + frames % d->rate * SECOND / d->rate;
}

static snd_pcm_sframes_t frames(const struct device *d, int64_t span) {
  return span / SECOND * d->rate + span % SECOND * d->rate / SECOND;
}

// Returns how much has sounded, in ns; negative until something does.
static int64_t sounded(const struct device *d, int64_t origin) {
  int64_t now = tutti_now();
  return (d->ends && now > d->ends ? d->ends : now) - origin;
}

static snd_pcm_sframes_t device_pointer(snd_pcm_ioplug_t *io) {
  struct device *d = io->private_data;
  int64_t origin = d->origin;
  if (origin == BROKEN)
    snd_pcm_ioplug_set_state(io, SND_PCM_STATE_DISCONNECTED);
  if (origin == 0 || origin == BROKEN)
    return (snd_pcm_sframes_t)d->pointer;
  snd_pcm_sframes_t written = (snd_pcm_sframes_t)io->appl_ptr;
  snd_pcm_sframes_t place = frames(d, sounded(d, origin) + d->lead);
  if (io->state == SND_PCM_STATE_DRAINING && sounded(d, origin) < span(d, written))
    place = place < written ? place : written - 1;
  // A player takes an underrun for the end, and drops the rest. So it is reported once all was heard, or to a late write.
  if (io->state == SND_PCM_STATE_RUNNING && sounded(d, origin) >= span(d, written))
    return -EPIPE;
  if (place >= written && io->state == SND_PCM_STATE_RUNNING && !d->is_finished) {
    tutti_renderer_finish(d->renderer); // so that the rest does not wait for more
    d->is_finished = true;
  }
  if (place > written)
    place = written;
  if (place > (snd_pcm_sframes_t)d->pointer)
    d->pointer = (snd_pcm_uframes_t)place;
  return (snd_pcm_sframes_t)d->pointer;
}

static int device_delay(snd_pcm_ioplug_t *io, snd_pcm_sframes_t *delay) {
  struct device *d = io->private_data;
  int64_t origin = d->origin;
  if (origin == BROKEN)
    return -ENODEV;
  // Until it is known when frame 0 sounds: as long as that takes mostly.
  int64_t gone = origin ? sounded(d, origin) : d->stood - d->lead;
  *delay = (snd_pcm_sframes_t)io->appl_ptr - frames(d, gone);
  return io->state == SND_PCM_STATE_XRUN ? -EPIPE : 0;
}

// --- Polling ---

static bool has_space(const struct device *d, snd_pcm_uframes_t written) {
  return d->io.buffer_size + d->pointer >= written + d->avail_min;
}

// Makes the timer readable at an instant: nobody reads it, so it stays so until it is set again. 0 is never.
static void wake_at(const struct device *d, int64_t instant) {
  int64_t ns = instant ? instant - tutti_now() : 0;
  if (instant && ns < 1)
    ns = 1;
  struct itimerspec timer = {{0, 0}, {ns / SECOND, ns % SECOND}};
  timerfd_settime(d->timer, 0, &timer, NULL);
}

static void arm(const struct device *d, snd_pcm_uframes_t written) {
  int64_t origin = d->origin;
  if (origin == BROKEN || (has_space(d, written) && d->io.state != SND_PCM_STATE_DRAINING))
    wake_at(d, 1);
  else if (origin == 0 || d->ends)
    wake_at(d, 0);
  else if (d->io.state == SND_PCM_STATE_DRAINING)
    wake_at(d, origin + span(d, (snd_pcm_sframes_t)written));
  else
    wake_at(d, origin - d->lead + span(d, (snd_pcm_sframes_t)(written + d->avail_min - d->io.buffer_size) + 1));
}

static int device_poll_revents(
    snd_pcm_ioplug_t *io, struct pollfd *fds, unsigned count, unsigned short *revents) {
  struct device *d = io->private_data;
  (void)count;
  *revents = 0;
  if (!(fds[0].revents & POLLIN))
    return 0;
  if (device_pointer(io) < 0 || d->origin == BROKEN)
    *revents = POLLOUT | POLLERR;
  else if (io->state == SND_PCM_STATE_DRAINING || has_space(d, io->appl_ptr))
    *revents = POLLOUT;
  arm(d, io->appl_ptr);
  return 0;
}

// --- Commands ---

// Lets time run, as soon as a room can play. A thread waits for that: programs may go on writing, and need not wait.
static void *begin(void *argument) {
  struct device *d = argument;
  double latency = tutti_renderer_latency(d->renderer);
  d->lead = SLACK + (latency > 0 ? (int64_t)(latency * SECOND) : 0);
  bool is_full = d->stood > 0 || span(d, (snd_pcm_sframes_t)d->io.appl_ptr) > d->lead + FILL;
  int64_t begun = tutti_renderer_start(d->renderer, 1, is_full ? 0 : tutti_now() + d->lead + FILL);
  if (begun < 0)
    SNDERR("tutti: %s", tutti_last_error());
  d->origin = begun < 0 ? BROKEN : begun - d->stood;
  wake_at(d, 1);
  return NULL;
}

static int device_start(snd_pcm_ioplug_t *io) {
  struct device *d = io->private_data;
  d->ends = 0;
  d->origin = 0;
  d->is_starting = pthread_create(&d->starter, NULL, begin, d) == 0;
  return d->is_starting ? 0 : -EAGAIN;
}

static void wait_for_start(struct device *d) {
  if (d->is_starting)
    pthread_join(d->starter, NULL);
  d->is_starting = false;
}

static int device_stop(snd_pcm_ioplug_t *io) {
  struct device *d = io->private_data;
  if (d->is_starting)
    tutti_renderer_finish(d->renderer); // so that the start does not wait for more
  wait_for_start(d);
  if (d->is_dirty && tutti_renderer_seek(d->renderer, 0) < 0)
    return -ENODEV;
  d->is_dirty = d->is_finished = false;
  d->stood = d->ends = 0;
  d->origin = 0;
  return 0;
}

static int device_prepare(snd_pcm_ioplug_t *io) {
  struct device *d = io->private_data;
  int code = device_stop(io);
  d->pointer = 0;
  arm(d, 0);
  return code;
}

static int device_pause(snd_pcm_ioplug_t *io, int enable) {
  struct device *d = io->private_data;
  if (!enable)
    return device_start(io);
  wait_for_start(d);
  int64_t ends = d->origin == BROKEN ? -1 : tutti_renderer_stop(d->renderer);
  if (ends < 0)
    return -ENODEV;
  d->ends = ends;
  d->stood = ends > d->origin ? ends - d->origin : 0;
  return 0;
}

static int device_drain(snd_pcm_ioplug_t *io) {
  struct device *d = io->private_data;
  if (io->appl_ptr == 0)
    return 0;
  tutti_renderer_finish(d->renderer);
  if ((d->origin == 0 && !d->is_starting && device_start(io) < 0) || io->nonblock)
    return -EAGAIN;
  wait_for_start(d);
  if (d->origin == BROKEN)
    return -ENODEV;
  int64_t left = d->origin + span(d, (snd_pcm_sframes_t)io->appl_ptr) - tutti_now();
  struct timespec rest = {left / SECOND, left % SECOND};
  while (left > 0 && nanosleep(&rest, &rest) < 0 && errno == EINTR)
    ;
  return 0;
}

// Returns whether the time of the next frame is too near for it to come to the rooms.
static bool is_late(const struct device *d) {
  int64_t origin = d->origin;
  bool is_running = d->io.state == SND_PCM_STATE_RUNNING && origin != 0 && origin != BROKEN;
  return d->is_finished || (is_running && frames(d, sounded(d, origin) + d->lead) >= (snd_pcm_sframes_t)d->io.appl_ptr);
}

static snd_pcm_sframes_t device_transfer(
    snd_pcm_ioplug_t *io, const snd_pcm_channel_area_t *areas, snd_pcm_uframes_t offset,
    snd_pcm_uframes_t size) {
  struct device *d = io->private_data;
  const float *samples = (const float *)areas[0].addr + offset * CHANNELS;
  if (is_late(d)) {
    snd_pcm_ioplug_set_state(io, SND_PCM_STATE_XRUN);
    return -EPIPE;
  }
  d->is_dirty = true;
  int code = tutti_renderer_enqueue(d->renderer, samples, size, (double)io->appl_ptr / d->rate);
  if (code < 0)
    return code == TUTTI_AGAIN ? -EAGAIN : -ENODEV;
  arm(d, io->appl_ptr + size);
  return (snd_pcm_sframes_t)size;
}

// --- Opening ---

static int device_hw_params(snd_pcm_ioplug_t *io, snd_pcm_hw_params_t *params) {
  struct device *d = io->private_data;
  (void)params;
  if (d->renderer && d->rate == io->rate)
    return 0;
  tutti_renderer_free(d->renderer);
  d->rate = io->rate;
  d->renderer = tutti_renderer_new((int)io->rate, CHANNELS, 0);
  for (int i = 0; d->renderer && i < d->room_count; i++)
    if (tutti_renderer_add_room(d->renderer, d->rooms[i]) < 0)
      SNDERR("tutti: %s: %s", tutti_room_name(d->rooms[i]), tutti_last_error());
  if (!d->renderer)
    SNDERR("tutti: %s", tutti_last_error());
  return d->renderer ? 0 : -EIO;
}

static int device_sw_params(snd_pcm_ioplug_t *io, snd_pcm_sw_params_t *params) {
  struct device *d = io->private_data;
  return snd_pcm_sw_params_get_avail_min(params, &d->avail_min);
}

static int device_close(snd_pcm_ioplug_t *io) {
  struct device *d = io->private_data;
  wait_for_start(d);
  tutti_renderer_free(d->renderer);
  for (int i = 0; i < d->room_count; i++)
    tutti_room_free(d->rooms[i]);
  close(d->timer);
  free(d);
  return 0;
}

static const snd_pcm_ioplug_callback_t callbacks = {
    .start = device_start,       .stop = device_stop,           .pointer = device_pointer,
    .transfer = device_transfer, .close = device_close,         .hw_params = device_hw_params,
    .sw_params = device_sw_params, .prepare = device_prepare,   .drain = device_drain,
    .pause = device_pause,       .poll_revents = device_poll_revents, .delay = device_delay,
};

// Adds the room of an address such as 10.0.0.7:7770, or the one of that name that announces itself.
static void add_room(struct device *d, char *name) {
  tutti_room *found[MOST_ROOMS], *match = NULL;
  char *colon = strrchr(name, ':');
  if (colon) {
    *colon = 0;
    match = tutti_room_at_new(name, (uint16_t)atoi(colon + 1));
  }
  int count = colon ? 0 : tutti_rooms_search(2, found, MOST_ROOMS);
  for (int i = 0; i < count && i < MOST_ROOMS; i++)
    if (!match && !strcmp(tutti_room_name(found[i]), name))
      match = found[i];
    else
      tutti_room_free(found[i]);
  if (match)
    d->rooms[d->room_count++] = match;
  else
    SNDERR("tutti: there is no room “%s”", name);
}

static void add_rooms(struct device *d, const char *list) {
  char *names = strdup(list), *rest = names, *name;
  while (d->room_count < MOST_ROOMS && (name = strsep(&rest, ",")))
    add_room(d, name);
  free(names);
}

// Other formats are for ALSA's plug to convert. The buffer holds half a second to two, as the rooms want it.
static int constrain(snd_pcm_ioplug_t *io) {
  static const unsigned access[] = {SND_PCM_ACCESS_MMAP_INTERLEAVED, SND_PCM_ACCESS_RW_INTERLEAVED};
  static const unsigned rates[] = {44100, 48000};
  static const unsigned formats[] = {SND_PCM_FORMAT_FLOAT_LE};
  const unsigned second = 48000 * CHANNELS * sizeof(float);
  bool is_refused =
      snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_ACCESS, 2, access) < 0 ||
      snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_FORMAT, 1, formats) < 0 ||
      snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_RATE, 2, rates) < 0 ||
      snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_CHANNELS, CHANNELS, CHANNELS) < 0 ||
      snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_BUFFER_BYTES, second / 2, 2 * second) < 0 ||
      snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_PERIOD_BYTES, second / 100, second / 4) < 0;
  return is_refused ? -EINVAL : 0;
}

SND_PCM_PLUGIN_DEFINE_FUNC(tutti) {
  const char *rooms = NULL;
  snd_config_t *node;
  (void)root;
  if (stream != SND_PCM_STREAM_PLAYBACK || snd_config_search(conf, "rooms", &node) < 0 ||
      snd_config_get_string(node, &rooms) < 0) {
    SNDERR("tutti: it only plays, and needs rooms \"NAME,HOST:PORT\"");
    return -EINVAL;
  }
  struct device *d = calloc(1, sizeof *d);
  if (!d)
    return -ENOMEM;
  add_rooms(d, rooms);
  d->lead = SLACK;
  d->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  d->io.version = SND_PCM_IOPLUG_VERSION;
  d->io.name = "Tutti";
  d->io.callback = &callbacks;
  d->io.private_data = d;
  d->io.poll_fd = d->timer;
  d->io.poll_events = POLLIN;
  d->io.flags = SND_PCM_IOPLUG_FLAG_MONOTONIC | SND_PCM_IOPLUG_FLAG_BOUNDARY_WA;
  int code = d->room_count == 0 ? -ENODEV : snd_pcm_ioplug_create(&d->io, name, stream, mode);
  if (code < 0) {
    device_close(&d->io);
    return code;
  }
  code = constrain(&d->io);
  if (code < 0)
    snd_pcm_ioplug_delete(&d->io); // calls device_close
  else
    *pcmp = d->io.pcm;
  return code;
}
SND_PCM_PLUGIN_SYMBOL(tutti);
