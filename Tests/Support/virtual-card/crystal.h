/* A crystal that runs fast or slow and wanders, for the virtual card and for the bench's machine clocks.
 *
 * Its wander is text: "" or
 *     sine:PPM:PERIOD[:PHASE]   seconds and radians
 *     walk:PPM:SEED             a random walk of so many ppm in the square root of a second, pulled back to zero
 *
 * The reading depends on true time only, so a program that restarts finds the clock as if it had run on. True time is
 * CLOCK_MONOTONIC of this machine, read directly, past any library in front of the C library.
 */
#ifndef TUTTI_CRYSTAL_H
#define TUTTI_CRYSTAL_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CRYSTAL_SECONDS 3600 /* after these seconds the walk stands still */

struct crystal {
  double ppm;
  int64_t since; /* true time in ns at which its gain is zero */
  double sine_ppm, period, phase;
  double walk[CRYSTAL_SECONDS + 1], walked[CRYSTAL_SECONDS + 1]; /* each second: ppm, and µs gained until then */
  int walks;
};

static inline int64_t true_now(void) {
  struct timespec t;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* A standard normal number for each seed and index: splitmix64, then Box and Muller. */
static inline double crystal_normal(uint64_t seed, uint64_t index) {
  double u[2];
  for (int i = 0; i < 2; i++) {
    uint64_t x = seed * 2654435761u + 2 * index + (uint64_t)i + 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    x ^= x >> 31;
    u[i] = ((double)(x >> 11) + 0.5) / 9007199254740992.0;
  }
  return sqrt(-2 * log(u[0])) * cos(2 * M_PI * u[1]);
}

/* Returns 0, or -1 if the wander cannot be parsed. */
static inline int crystal_make(struct crystal *c, double ppm, const char *wander, int64_t since) {
  double step;
  unsigned long long seed;
  memset(c, 0, sizeof *c);
  c->ppm = ppm;
  c->since = since;
  if (!wander || !*wander)
    return 0;
  if (sscanf(wander, "sine:%lf:%lf:%lf", &c->sine_ppm, &c->period, &c->phase) >= 2 && c->period > 0)
    return 0;
  if (sscanf(wander, "walk:%lf:%llu", &step, &seed) != 2)
    return -1;
  c->walks = 1;
  for (int k = 1; k <= CRYSTAL_SECONDS; k++) {
    c->walk[k] = 0.999 * c->walk[k - 1] + step * crystal_normal(seed, (uint64_t)k);
    c->walked[k] = c->walked[k - 1] + (c->walk[k] + c->walk[k - 1]) / 2;
  }
  return 0;
}

/* Returns how many ns the crystal is ahead of true time `t`. */
static inline double crystal_gain(const struct crystal *c, int64_t t) {
  double ns = (double)(t - c->since), gain = ns * c->ppm * 1e-6;
  if (c->period > 0) {
    double turn = 2 * M_PI / (c->period * 1e9);
    gain += c->sine_ppm * 1e-6 / turn * (cos(c->phase) - cos(turn * ns + c->phase));
  }
  if (c->walks) {
    double s = fmin(fmax(ns * 1e-9, 0), CRYSTAL_SECONDS - 1e-6), f = s - floor(s);
    int k = (int)s;
    gain += (c->walked[k] + c->walk[k] * f + (c->walk[k + 1] - c->walk[k]) * f * f / 2) * 1e3;
  }
  return gain;
}

#endif
