import Audio
import Sender

extension RawFormat {
  /// FFmpeg's name for the demuxer of such samples.
  var demuxerName: String {
    switch sampleType {
    case .int16: "s16le"
    case .int24: "s24le"
    case .int32: "s32le"
    case .float32: "f32le"
    }
  }
}
