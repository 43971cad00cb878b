/* A player that knows true time, to measure the bench itself. It plays a raw S16_LE stereo file at 48 kHz so that frame 0
 * is heard at a given true time, and then corrects nothing. On cards without error two players stay together to the frame;
 * on other cards they drift apart by exactly the cards' difference.
 *
 *     true_player DEVICE FILE TRUE_NS SECONDS
 */
#include <alsa/asoundlib.h>

#include "crystal.h"

enum { RATE = 48000, CHUNK = 480 };

static int fail(const char *what, int code) {
  fprintf(stderr, "true_player: %s: %s\n", what, snd_strerror(code));
  return 1;
}

int main(int count, char **words) {
  static int16_t frames[CHUNK * 2], silence[CHUNK * 2];
  if (count != 5)
    return fprintf(stderr, "usage: true_player DEVICE FILE TRUE_NS SECONDS\n"), 2;
  FILE *file = fopen(words[2], "rb");
  snd_pcm_t *pcm;
  int code = file ? snd_pcm_open(&pcm, words[1], SND_PCM_STREAM_PLAYBACK, 0) : -ENOENT;
  if (code >= 0)
    code = snd_pcm_set_params(pcm, SND_PCM_FORMAT_S16_LE, SND_PCM_ACCESS_RW_INTERLEAVED, 2, RATE, 0, 100000);
  if (code < 0)
    return fail(words[1], code);
  for (int i = 0; i < 5; i++)
    snd_pcm_writei(pcm, silence, CHUNK);
  snd_pcm_start(pcm);
  for (double left = CHUNK; left >= CHUNK;) { /* silence, up to the frame that sounds at the given time */
    snd_pcm_sframes_t delay;
    int64_t before = true_now();
    if ((code = snd_pcm_delay(pcm, &delay)) < 0)
      return fail("delay", code);
    left = (double)(atoll(words[3]) - (before + true_now()) / 2) * 1e-9 * RATE - (double)delay;
    if (left < 0)
      return fprintf(stderr, "true_player: too late\n"), 1;
    snd_pcm_writei(pcm, silence, left < CHUNK ? (snd_pcm_uframes_t)(left + 0.5) : CHUNK);
  }
  long total = atol(words[4]) * RATE;
  for (size_t read; total > 0 && (read = fread(frames, 4, CHUNK, file)) > 0; total -= (long)read)
    if ((code = (int)snd_pcm_writei(pcm, frames, read)) < 0)
      return fail("write", code);
  return 0;
}
