import Audio
import Sender

/// Reads the frames of one item, from any place to which its medium can seek.
final class ItemReader {
  /// Seconds before a sought place at which decoding starts; the second value is for the case that the first did not
  /// lead there. Lossy codecs need the preceding packets to decode exactly as from the start: MP3's bit reservoir is
  /// up to 511 bytes deep, and Opus needs 80 ms.
  private static let leads = [0.3, 10]
  /// Frames of the file that fill the resampler's filter, many times over.
  private static let filterLength: Int64 = 4_096
  /// A place at most this many seconds ahead is reached faster by decoding than by a seek.
  private static let skippableSeconds: Int64 = 1

  private typealias Open = () throws(MediaError) -> DecodedAudio

  let format: AudioFormat
  let frameCount: Int64?
  private(set) var audio: DecodedAudio
  /// The number of the next frame.
  private(set) var position: Int64 = 0

  private let path: String
  private let open: Open
  private var isAtEnd = false

  /// Opens the item and decodes its first frames.
  ///
  /// - Parameters:
  ///   - open: may be called again to reach a place from the beginning.
  ///   - format: the format of the frames; nil for the supported one nearest to the item's.
  init(
    path: String, channels: ChannelLimit, format: AudioFormat? = nil,
    open: @escaping () throws(MediaError) -> Demuxer
  ) throws(MediaError) {
    let open: Open = { () throws(MediaError) in
      try DecodedAudio(open(), channels: channels, format: format)
    }
    audio = try open()
    self.path = path
    self.open = open
    self.format = audio.format
    frameCount = audio.frameCount
  }

  /// - Throws: `MediaError.broken`, once, after the last frame of a file that ends early.
  func read(_ count: Int, appendingTo frames: inout [Float]) throws(MediaError) {
    guard !isAtEnd, count > 0 else { return }
    let remaining = frameCount.map { Int(clamping: $0 - position) } ?? count
    let given = try audio.read(min(count, remaining), appendingTo: &frames)
    position += Int64(given)
    guard given == 0 else { return }
    isAtEnd = true
    if let fault = audio.reader.fault {
      throw .broken(path: path, reason: "\(fault) at \(seconds(position)) s")
    }
    // The file's own count may be wrong by less than a tenth of a second.
    guard let frameCount, frameCount - position > Int64(format.sampleRate / 10) else { return }
    let rate = Int64(format.sampleRate)
    // After a seek beyond its end, the file ends before the place that was sought.
    let end = min(position, audio.decodedEnd)
    throw .endsEarly(path: path, after: end / rate, of: frameCount / rate)
  }

  private func seconds(_ frames: Int64) -> String {
    let tenths = frames / Int64(max(1, format.sampleRate / 10))
    return "\(tenths / 10).\(tenths % 10)"
  }

  /// Continues a live stream that others have read from.
  func goOn(after lead: [[UInt8]], with waiting: [[UInt8]]) {
    audio.reader.goOn(after: lead, with: waiting)
    audio.restart(dropping: 0)
    isAtEnd = false
  }

  func seek(toFrame frame: Int64) throws(MediaError) {
    let target = max(0, frame)
    isAtEnd = false
    guard target < frameCount ?? .max else {
      position = target
      isAtEnd = true
      return
    }
    let start = restartPoint(for: target)
    try moveReader(to: start.decoded)
    audio.restart(dropping: Int(clamping: target - start.played))
    position = target
  }

  /// Returns the frame at which to start decoding, and the played frame that it coincides with. If the file is
  /// resampled, only every so many frames coincide with a played one.
  private func restartPoint(for target: Int64) -> (decoded: Int64, played: Int64) {
    guard audio.isResampled else { return (target, target) }
    let divisor = greatestCommonDivisor(audio.facts.decodedRate, format.sampleRate)
    let decodedStep = Int64(audio.facts.decodedRate / divisor)
    let playedStep = Int64(format.sampleRate / divisor)
    let lead = Self.filterLength / decodedStep + 1
    let step = max(0, target / playedStep - lead)
    let (decoded, overflow) = step.multipliedReportingOverflow(by: decodedStep)
    return overflow ? (.max, target) : (decoded, step * playedStep)
  }

  private func greatestCommonDivisor(_ a: Int, _ b: Int) -> Int {
    b == 0 ? a : greatestCommonDivisor(b, a % b)
  }

  private func moveReader(to frame: Int64) throws(MediaError) {
    let rate = Int64(audio.facts.decodedRate)
    let ahead = frame - audio.reader.position
    let canJump = audio.reader.canSeekByTimestamp && audio.reader.demuxer.isSeekable
    if ahead >= 0, ahead < Self.skippableSeconds * rate || !canJump {
      return audio.reader.skip(to: frame)
    }
    for lead in Self.leads where canJump {
      let leadFrames = Int64(lead * Double(rate))
      guard frame > leadFrames else { break }
      if audio.reader.seek(to: frame, decodingBefore: leadFrames) { return }
    }
    // Start again from the beginning: exact in every format, and fast for a place near it.
    audio = try open()
    guard audio.format == format else {
      throw .broken(path: path, reason: "it has changed since it was opened")
    }
    audio.reader.skip(to: frame)
  }
}
