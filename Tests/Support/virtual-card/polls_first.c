/* Plays to a card like programs that poll before each write: polls_first DEVICE. Each frame contains its number.
 *
 * It prints the first promise of the kernel's cards that this card breaks: poll returns if avail_min frames can be
 * written, and waits otherwise.
 */
#include <alsa/asoundlib.h>

enum { RING = 48000, WAKE = 240, WHOLE = RING + 4 * WAKE };

static snd_pcm_t *pcm;

static void must(int good, const char *what) {
  if (!good) {
    puts(what);
    exit(1);
  }
}

/* Returns true if the card takes frames within `limit` ms. */
static int ready(int limit) {
  struct pollfd fd;
  unsigned short events = 0;
  must(snd_pcm_poll_descriptors(pcm, &fd, 1) == 1, "there is not one descriptor");
  while (!events && poll(&fd, 1, limit) > 0)
    must(snd_pcm_poll_descriptors_revents(pcm, &fd, 1, &events) == 0, "events of poll are not understood");
  must(!(events & POLLERR), "the card has failed");
  return events & POLLOUT;
}

static void set_up(const char *device) {
  snd_pcm_hw_params_t *hardware;
  snd_pcm_sw_params_t *software;
  snd_pcm_hw_params_alloca(&hardware);
  snd_pcm_sw_params_alloca(&software);
  must(snd_pcm_open(&pcm, device, SND_PCM_STREAM_PLAYBACK, SND_PCM_NONBLOCK) >= 0, "the card does not open");
  snd_pcm_hw_params_any(pcm, hardware);
  snd_pcm_hw_params_set_access(pcm, hardware, SND_PCM_ACCESS_RW_INTERLEAVED);
  snd_pcm_hw_params_set_format(pcm, hardware, SND_PCM_FORMAT_S32_LE);
  snd_pcm_hw_params_set_channels(pcm, hardware, 1);
  snd_pcm_hw_params_set_rate(pcm, hardware, 48000, 0);
  snd_pcm_hw_params_set_period_size(pcm, hardware, WAKE, 0);
  snd_pcm_hw_params_set_buffer_size(pcm, hardware, RING);
  must(snd_pcm_hw_params(pcm, hardware) >= 0, "the card cannot be set up");
  snd_pcm_sw_params_current(pcm, software);
  snd_pcm_sw_params_set_avail_min(pcm, software, WAKE);
  snd_pcm_sw_params_set_start_threshold(pcm, software, 2 * RING);
  must(snd_pcm_sw_params(pcm, software) >= 0, "the card cannot be told when to wake");
}

int main(int count, char **words) {
  int forever = 60000, written = 0, frames[WAKE];
  set_up(words[count - 1]);
  while (written < WHOLE) {
    must(ready(forever), "poll waits though there is space");
    must(ready(forever), "poll waits though there is still space");
    for (int i = 0; i < WAKE; i++)
      frames[i] = written + i;
    must(snd_pcm_writei(pcm, frames, WAKE) == WAKE, "the card does not take what poll said it would");
    written += WAKE;
    if (written != RING)
      continue;
    must(!ready(0), "poll does not wait though the ring is full");
    must(snd_pcm_start(pcm) == 0, "the card does not start");
  }
  snd_pcm_close(pcm);
  return 0;
}
