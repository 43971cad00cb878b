#include "CResamplers.h"

#include <samplerate.h>
#include <soxr.h>
#include <zita-resampler/vresampler.h>

#include <algorithm>
#include <memory>

struct LibraryResampler {
  virtual ~LibraryResampler() = default;
  /// Resamples one block. Returns the number of frames written.
  virtual size_t block(const float *input, size_t frames, float *output, size_t capacity) = 0;
};

namespace {

constexpr size_t blockFrames = 256;
constexpr int channels = 2;

struct Soxr final : LibraryResampler {
  soxr_t handle = nullptr;

  /// A variable resampler is created for the largest ratio that it will ever get.
  Soxr(unsigned long recipe, bool variable, double ratio) {
    auto quality = soxr_quality_spec(recipe, variable ? SOXR_VR : 0);
    auto io = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
    handle = variable ? soxr_create(1.01, 1, channels, nullptr, &io, &quality, nullptr)
                      : soxr_create(1, ratio, channels, nullptr, &io, &quality, nullptr);
    if (handle && variable) soxr_set_io_ratio(handle, 1 / ratio, 0);
  }
  ~Soxr() override { soxr_delete(handle); }

  size_t block(const float *input, size_t frames, float *output, size_t capacity) override {
    size_t used = 0, made = 0;
    soxr_process(handle, input, frames, &used, output, capacity, &made);
    return made;
  }
};

struct SecretRabbit final : LibraryResampler {
  SRC_STATE *state = nullptr;
  double ratio;

  SecretRabbit(int type, double ratio) : ratio(ratio) {
    int error = 0;
    state = src_new(type, channels, &error);
  }
  ~SecretRabbit() override { src_delete(state); }

  size_t block(const float *input, size_t frames, float *output, size_t capacity) override {
    size_t made = 0;
    while (frames > 0) {
      SRC_DATA job = {};
      job.data_in = input;
      job.input_frames = static_cast<long>(frames);
      job.data_out = output + made * channels;
      job.output_frames = static_cast<long>(capacity - made);
      job.src_ratio = ratio;
      if (src_process(state, &job) != 0) break;
      if (job.input_frames_used == 0 && job.output_frames_gen == 0) break;
      input += job.input_frames_used * channels;
      frames -= static_cast<size_t>(job.input_frames_used);
      made += static_cast<size_t>(job.output_frames_gen);
    }
    return made;
  }
};

struct Zita final : LibraryResampler {
  VResampler inner;
  bool works;

  Zita(unsigned halfLength, double ratio) {
    // Set a drift as a player would. A conversion between rates needs a filter of its own.
    bool isDrift = ratio > 0.99 && ratio < 1.01;
    works = inner.setup(isDrift ? 1 : ratio, channels, halfLength) == 0;
    if (works && isDrift) inner.set_rratio(ratio);
  }

  size_t block(const float *input, size_t frames, float *output, size_t capacity) override {
    inner.inp_count = static_cast<unsigned>(frames);
    inner.inp_data = const_cast<float *>(input);
    inner.out_count = static_cast<unsigned>(capacity);
    inner.out_data = output;
    inner.process();
    return capacity - inner.out_count;
  }
};

LibraryResampler *makeSoxr(unsigned long recipe, bool variable, double ratio) {
  auto made = std::make_unique<Soxr>(recipe, variable, ratio);
  return made->handle ? made.release() : nullptr;
}

LibraryResampler *makeSecretRabbit(int type, double ratio) {
  auto made = std::make_unique<SecretRabbit>(type, ratio);
  return made->state ? made.release() : nullptr;
}

LibraryResampler *makeZita(unsigned halfLength, double ratio) {
  auto made = std::make_unique<Zita>(halfLength, ratio);
  return made->works ? made.release() : nullptr;
}

}  // namespace

LibraryResampler *resampler_create(LibraryKind kind, double ratio) {
  switch (kind) {
    case RESAMPLER_SOXR_VARIABLE: return makeSoxr(SOXR_HQ, true, ratio);
    case RESAMPLER_SOXR_HQ: return makeSoxr(SOXR_HQ, false, ratio);
    case RESAMPLER_SOXR_VHQ: return makeSoxr(SOXR_VHQ, false, ratio);
    case RESAMPLER_SRC_MEDIUM: return makeSecretRabbit(SRC_SINC_MEDIUM_QUALITY, ratio);
    case RESAMPLER_SRC_BEST: return makeSecretRabbit(SRC_SINC_BEST_QUALITY, ratio);
    case RESAMPLER_ZITA_48: return makeZita(48, ratio);
    case RESAMPLER_ZITA_96: return makeZita(96, ratio);
  }
  return nullptr;
}

size_t resampler_run(
    LibraryResampler *resampler, const float *input, size_t frames, float *output, size_t capacity) {
  size_t made = 0;
  for (size_t start = 0; start < frames; start += blockFrames) {
    size_t count = std::min(blockFrames, frames - start);
    made += resampler->block(
        input + start * channels, count, output + made * channels, capacity - made);
  }
  return made;
}

void resampler_destroy(LibraryResampler *resampler) { delete resampler; }
