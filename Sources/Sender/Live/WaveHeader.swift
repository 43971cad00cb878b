package import Audio

/// Recognises a WAV header in front of samples that a program writes into a pipe. The length in such a header means
/// nothing.
package enum WaveHeader {
  /// The beginning and the format of the samples.
  package struct Found: Hashable, Sendable {
    package var format: AudioFormat
    package var sampleType: SampleType
    /// Bytes before the first sample.
    package var length: Int

    package init(format: AudioFormat, sampleType: SampleType, length: Int) {
      self.format = format
      self.sampleType = sampleType
      self.length = length
    }
  }

  package enum Answer: Hashable, Sendable {
    case found(Found)
    /// More bytes are needed.
    case incomplete
    /// It is not WAV, or its samples are not supported, for this reason.
    case refused(String)
  }

  /// Longest header that is read. Bytes.
  package static let limit = 64 * 1024
  private static let pcm = 1
  private static let float = 3
  private static let extensible = 0xFFFE

  /// Reads the header from `bytes`, which have come so far.
  package static func read(_ bytes: [UInt8]) -> Answer {
    guard bytes.count >= 12 else {
      return startsLikeWave(bytes) ? .incomplete : .refused("it has no WAV header")
    }
    guard startsLikeWave(bytes), text(bytes, at: 8) == "WAVE" else {
      return .refused("it has no WAV header")
    }
    var shape: (AudioFormat, SampleType)?
    var place = 12
    while place + 8 <= bytes.count {
      let name = text(bytes, at: place)
      let size = number(bytes, at: place + 4, of: 4)
      place += 8
      if name == "data" {
        guard let (format, type) = shape else { return .refused("its WAV header says no format") }
        return .found(Found(format: format, sampleType: type, length: place))
      }
      guard place + size <= limit else { return .refused("its WAV header has no end") }
      guard place + size <= bytes.count else { return .incomplete }
      if name == "fmt " {
        switch readFormat(bytes, at: place, size: size) {
        case .success(let found): shape = found
        case .failure(let problem): return .refused(problem.text)
        }
      }
      place += size + size % 2
    }
    return place < limit ? .incomplete : .refused("its WAV header has no end")
  }

  private struct Problem: Error { var text: String }

  private static func readFormat(
    _ bytes: [UInt8], at place: Int, size: Int
  ) -> Result<(AudioFormat, SampleType), Problem> {
    guard size >= 16 else { return .failure(Problem(text: "its WAV header is broken")) }
    var kind = number(bytes, at: place, of: 2)
    let channels = number(bytes, at: place + 2, of: 2)
    let rate = number(bytes, at: place + 4, of: 4)
    let bits = number(bytes, at: place + 14, of: 2)
    if kind == extensible, size >= 26 { kind = number(bytes, at: place + 24, of: 2) }
    let format = AudioFormat(sampleRate: rate, channelCount: channels)
    guard format.isSupported else {
      return .failure(Problem(text: "\(rate) Hz with \(channels) channels is not supported"))
    }
    switch (kind, bits) {
    case (pcm, 16): return .success((format, .int16))
    case (pcm, 24): return .success((format, .int24))
    case (pcm, 32): return .success((format, .int32))
    case (float, 32): return .success((format, .float32))
    default:
      return .failure(Problem(text: "samples of \(bits) bits, kind \(kind), are not supported"))
    }
  }

  private static func startsLikeWave(_ bytes: [UInt8]) -> Bool {
    bytes.prefix(4).elementsEqual(Array("RIFF".utf8).prefix(bytes.count))
  }

  private static func text(_ bytes: [UInt8], at place: Int) -> String {
    String(decoding: bytes[place..<place + 4], as: UTF8.self)
  }

  private static func number(_ bytes: [UInt8], at place: Int, of count: Int) -> Int {
    (0..<count).reversed().reduce(0) { $0 << 8 | Int(bytes[place + $1]) }
  }
}
