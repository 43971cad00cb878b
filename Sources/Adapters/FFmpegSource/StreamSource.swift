package import Audio
package import Sender

/// Audio from a file descriptor, such as standard input: raw samples, or any media format that can be
/// read from its beginning to its end.
///
/// Opening and reading block the thread until there is data. Use a thread of its own, and `interrupt`
/// the `ReadInterruption` from another one to end the wait: the stream then ends.
package final class StreamSource: MediaSource {
  package let format: AudioFormat
  package let sampleType: SampleType
  package let isLossless: Bool
  package let isSeekable = false
  package let supply = Supply.piped

  private let name: String
  private let audio: DecodedAudio
  private var position: Int64 = 0
  private var hasReportedFault = false

  /// Its name in messages.
  package static let standardInput = "standard input"

  /// - Parameters:
  ///   - descriptor: stays open; it belongs to the caller.
  ///   - name: its name in messages.
  ///   - rawFormat: the format of the samples; nil if a header tells it.
  package convenience init(
    descriptor: Int32, name: String = standardInput, rawFormat: RawFormat? = nil,
    channels: ChannelLimit = .stereo, interruption: ReadInterruption
  ) throws(MediaError) {
    try self.init(name, rawFormat, channels) { buffer, count in
      DescriptorInput.read(descriptor, into: buffer, count, interruption)
    }
  }

  /// A stream whose bytes `remote` reads.
  package convenience init(
    remote: any RemoteSource, name: String = standardInput, rawFormat: RawFormat?,
    channels: ChannelLimit = .stereo
  ) throws(MediaError) {
    try self.init(name, rawFormat, channels) { [unowned remote] buffer, count in
      remote.read(into: buffer, count)
    }
  }

  private init(
    _ name: String, _ rawFormat: RawFormat?, _ channels: ChannelLimit,
    _ read: @escaping DescriptorInput.Read
  ) throws(MediaError) {
    let library = try FFmpegLibrary.load(toPlay: name)
    let input = try DescriptorInput(library: library, name: name, read)
    let demuxer = try Demuxer(
      path: name, input: .descriptor(input, rawFormat), library: library)
    audio = try DecodedAudio(demuxer, channels: channels)
    self.name = name
    format = audio.format
    sampleType = rawFormat?.sampleType ?? audio.facts.sampleType
    isLossless = audio.facts.isLossless
  }

  package var metadata: ItemMetadata { audio.metadata }

  /// A pipe can be read only once, but its packets would have to be both decoded and passed on.
  package func packets() throws(PassObstacle) -> any PacketSource {
    guard !isLossless else { throw .notPassable(codec: "PCM") }
    throw .isPiped
  }

  /// Nil: a stream ends when it ends, whatever its header says.
  package var frameCount: Int64? { nil }

  /// - Throws: `MediaError.broken`, once, after the last frame of a stream that broke off.
  package func read(_ count: Int, appendingTo frames: inout [Float]) throws(MediaError) {
    let given = try audio.read(count, appendingTo: &frames)
    position += Int64(given)
    guard given == 0, count > 0, !hasReportedFault, let fault = audio.reader.fault else { return }
    hasReportedFault = true
    throw .broken(path: name, reason: fault)
  }

  /// Succeeds only for the present position of the stream.
  package func seek(toFrame frame: Int64) throws(MediaError) {
    guard frame == position else { throw .notSeekable(path: name) }
  }
}
