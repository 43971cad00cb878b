#pragma once
#include <opus/opus.h>
#include <opus/opus_multistream.h>

// The control calls are variadic, which Swift cannot call.

static inline int opus_ms_encoder_set_bitrate(OpusMSEncoder *encoder, opus_int32 bits_per_second) {
  return opus_multistream_encoder_ctl(encoder, OPUS_SET_BITRATE(bits_per_second));
}

static inline int opus_ms_encoder_set_complexity(OpusMSEncoder *encoder, opus_int32 complexity) {
  return opus_multistream_encoder_ctl(encoder, OPUS_SET_COMPLEXITY(complexity));
}

static inline int opus_ms_encoder_get_lookahead(OpusMSEncoder *encoder, opus_int32 *frames) {
  return opus_multistream_encoder_ctl(encoder, OPUS_GET_LOOKAHEAD(frames));
}

static inline int opus_ms_decoder_set_gain(OpusMSDecoder *decoder, opus_int32 q8_decibels) {
  return opus_multistream_decoder_ctl(decoder, OPUS_SET_GAIN(q8_decibels));
}
