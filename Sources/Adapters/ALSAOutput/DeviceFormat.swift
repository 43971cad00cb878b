import CALSA

/// How the card takes a sample, little-endian. Listed from the most to the least preferred.
package enum DeviceFormat: String, CaseIterable, Sendable {
  case int32 = "s32"
  /// 24 bits in the lower part of four bytes.
  case int24 = "s24"
  /// 24 bits in three bytes.
  case packed24 = "s24_3le"
  case float32 = "float"
  case int16 = "s16"

  package var bytesPerSample: Int {
    switch self {
    case .int32, .int24, .float32: 4
    case .packed24: 3
    case .int16: 2
    }
  }

  var alsa: snd_pcm_format_t {
    switch self {
    case .int32: SND_PCM_FORMAT_S32_LE
    case .int24: SND_PCM_FORMAT_S24_LE
    case .packed24: SND_PCM_FORMAT_S24_3LE
    case .float32: SND_PCM_FORMAT_FLOAT_LE
    case .int16: SND_PCM_FORMAT_S16_LE
    }
  }
}
