#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A resampler of one of the usual libraries. It processes interleaved stereo frames,
/// float, in blocks of 256.
typedef struct LibraryResampler LibraryResampler;

typedef enum {
  RESAMPLER_SOXR_VARIABLE,
  RESAMPLER_SOXR_HQ,
  RESAMPLER_SOXR_VHQ,
  RESAMPLER_SRC_MEDIUM,
  RESAMPLER_SRC_BEST,
  RESAMPLER_ZITA_48,
  RESAMPLER_ZITA_96,
} LibraryKind;

/// Creates a resampler; `ratio` is the output's rate over the input's. Returns null if the
/// library refuses.
LibraryResampler *resampler_create(LibraryKind kind, double ratio);
/// Resamples frames. Returns the number of frames written to `output`, at most `capacity`.
size_t resampler_run(
    LibraryResampler *resampler, const float *input, size_t frames, float *output, size_t capacity);
void resampler_destroy(LibraryResampler *resampler);

#ifdef __cplusplus
}
#endif
