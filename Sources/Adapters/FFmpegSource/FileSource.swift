package import Audio
package import Sender

/// A media file of any kind that FFmpeg reads.
package final class FileSource: MediaSource {
  /// What FFmpeg decodes in front of the place that a seek goes to, in seconds, the second value where
  /// the first did not lead there. Codecs that lose need what came before to come out as from the
  /// start: MP3's bit reservoir is up to 511 bytes deep, Opus wants 80 ms.
  private static let leads = [0.3, 10]
  /// Frames of the file that fill the resampler's filter, many times over.
  private static let filterLength: Int64 = 4_096
  /// A place so near ahead, in seconds, is reached sooner by decoding.
  private static let skippableSeconds: Int64 = 1

  package let format: AudioFormat
  package let sampleType: SampleType
  package let isLossless: Bool
  package let frameCount: Int64?
  package let estimatedFrameCount: Int64?
  package let metadata: ItemMetadata

  private let path: String
  private let channels: ChannelLimit
  private let library: FFmpegLibrary
  private var audio: DecodedAudio
  /// The number of the next frame.
  private var position: Int64 = 0
  private var isAtEnd = false

  /// Opens the file and decodes its first frames.
  package init(path: String, channels: ChannelLimit = .stereo) throws(MediaError) {
    try checkMediaFile(path)
    library = try FFmpegLibrary.load(toPlay: path)
    let demuxer = try Self.open(path, library)
    audio = try DecodedAudio(demuxer, channels: channels)
    self.path = path
    self.channels = channels
    format = audio.format
    sampleType = audio.facts.sampleType
    isLossless = audio.facts.isLossless
    frameCount = audio.frameCount
    estimatedFrameCount = audio.estimatedFrameCount
    metadata = demuxer.metadata
  }

  private static func open(
    _ path: String, _ library: FFmpegLibrary
  ) throws(MediaError) -> Demuxer {
    let input: Demuxer.Input =
      OggChain.isChain(path)
      ? .descriptor(
        try DescriptorInput(path: path, interruption: ReadInterruption(), library: library), nil)
      : .file
    return try Demuxer(path: path, input: input, library: library)
  }

  /// - Throws: `MediaError.broken`, once, after the last frame of a file that ends before its time.
  package func read(_ count: Int, appendingTo frames: inout [Float]) throws(MediaError) {
    guard !isAtEnd, count > 0 else { return }
    let remaining = frameCount.map { Int(clamping: $0 - position) } ?? count
    let given = try audio.read(min(count, remaining), appendingTo: &frames)
    position += Int64(given)
    guard given == 0 else { return }
    isAtEnd = true
    if let reason = reasonToEndHere { throw .broken(path: path, reason: reason) }
  }

  private var reasonToEndHere: String? {
    if let fault = audio.reader.fault { return "\(fault); played up to \(seconds(position)) s" }
    // Below a tenth of a second the file's own count may be meant loosely.
    guard let frameCount, frameCount - position > Int64(format.sampleRate / 10) else { return nil }
    return "it ends after \(seconds(position)) of \(seconds(frameCount)) s; is it complete?"
  }

  private func seconds(_ frames: Int64) -> String {
    let tenths = frames / Int64(max(1, format.sampleRate / 10))
    return "\(tenths / 10).\(tenths % 10)"
  }

  package func seek(toFrame frame: Int64) throws(MediaError) {
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

  /// Where to begin decoding, and which played frame that is. When the file is resampled, only every so
  /// many frames of it coincide with a played one.
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
    if ahead >= 0, ahead < Self.skippableSeconds * rate || !audio.reader.canSeekByTimestamp {
      return audio.reader.skip(to: frame)
    }
    for lead in Self.leads {
      let leadFrames = Int64(lead * Double(rate))
      guard frame > leadFrames else { break }
      if audio.reader.seek(to: frame, decodingBefore: leadFrames) { return }
    }
    // From the beginning: exact in every format, and soon done near it.
    audio = try DecodedAudio(Self.open(path, library), channels: channels)
    guard audio.format == format else {
      throw .broken(path: path, reason: "it has changed since it was opened")
    }
    audio.reader.skip(to: frame)
  }
}
