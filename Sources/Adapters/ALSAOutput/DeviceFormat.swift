import CALSA
import Output

extension DeviceFormat {
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
