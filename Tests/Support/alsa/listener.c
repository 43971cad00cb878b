/* Plays 16-bit stereo samples on an ALSA device, as players do, and says which of their frames is heard when, as the device
 * tells it by its delay: listener DEVICE FILE RATE [PAUSE_AFTER], where the program pauses for half a second once so many
 * seconds are written. Prints lines of CLOCK_MONOTONIC in ns and a frame, and in the end "drained". */
#include <alsa/asoundlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BLOCK = 480 };

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static int fail(const char *what, int code) {
  fprintf(stderr, "%s: %s\n", what, snd_strerror(code));
  return 1;
}

static int pause_for_a_while(snd_pcm_t *pcm) {
  struct timespec half = {0, 500000000};
  int code = snd_pcm_pause(pcm, 1);
  if (code < 0)
    return fail("pause", code);
  nanosleep(&half, NULL);
  code = snd_pcm_pause(pcm, 0);
  if (code < 0)
    return fail("resume", code);
  printf("paused\n");
  return 0;
}

int main(int count, char **arguments) {
  if (count < 4)
    return 2;
  snd_pcm_t *pcm;
  int code = snd_pcm_open(&pcm, arguments[1], SND_PCM_STREAM_PLAYBACK, 0);
  if (code < 0)
    return fail("open", code);
  unsigned rate = (unsigned)atoi(arguments[3]);
  code = snd_pcm_set_params(pcm, SND_PCM_FORMAT_S16_LE, SND_PCM_ACCESS_RW_INTERLEAVED, 2, rate, 1, 500000);
  if (code < 0)
    return fail("set_params", code);
  FILE *file = fopen(arguments[2], "rb");
  if (!file)
    return 3;
  long long pause_at = count > 4 ? (long long)(atof(arguments[4]) * rate) : -1;
  short samples[BLOCK * 2];
  long long written = 0;
  size_t got;
  while ((got = fread(samples, 4, BLOCK, file)) > 0) {
    snd_pcm_sframes_t done = snd_pcm_writei(pcm, samples, got), delay;
    if (done < 0)
      return fail("write", (int)done);
    written += done;
    long long before = now();
    code = snd_pcm_delay(pcm, &delay);
    if (code < 0)
      return fail("delay", code);
    if (snd_pcm_state(pcm) == SND_PCM_STATE_RUNNING && delay < written)
      printf("%lld %lld\n", before, written - delay);
    if (pause_at >= 0 && written >= pause_at) {
      pause_at = -1;
      if (pause_for_a_while(pcm))
        return 1;
    }
  }
  code = snd_pcm_drain(pcm);
  if (code < 0)
    return fail("drain", code);
  printf("drained %lld\n", now());
  snd_pcm_close(pcm);
  return 0;
}
