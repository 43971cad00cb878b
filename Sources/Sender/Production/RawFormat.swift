package import Audio

/// The format of samples without a header, little-endian and interleaved.
package struct RawFormat: Hashable, Sendable {
  package var audio: AudioFormat
  package var sampleType: SampleType

  package init(audio: AudioFormat, sampleType: SampleType) {
    self.audio = audio
    self.sampleType = sampleType
  }

  /// Reads "rate:bits:channels", for example "48000:16:2"; bits is 16, 24, 32 or f32. Returns nil for
  /// anything else and for formats that `AudioFormat` does not support.
  package init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, let rate = Int(parts[0]), let channels = Int(parts[2]) else {
      return nil
    }
    audio = AudioFormat(sampleRate: rate, channelCount: channels)
    guard audio.isSupported else { return nil }
    switch parts[1] {
    case "16": sampleType = .int16
    case "24": sampleType = .int24
    case "32": sampleType = .int32
    case "f32": sampleType = .float32
    default: return nil
    }
  }
}
