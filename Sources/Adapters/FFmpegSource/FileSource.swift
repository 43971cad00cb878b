package import Audio
package import Sender

/// A media file of any format that FFmpeg reads.
package final class FileSource: MediaSource {
  package let format: AudioFormat
  package let sampleType: SampleType
  package let isLossless: Bool
  package let frameCount: Int64?
  package let estimatedFrameCount: Int64?
  package let metadata: ItemMetadata

  private let file: MediaFile
  private let library: FFmpegLibrary
  private let reader: ItemReader

  /// Opens the file and decodes its first frames.
  package convenience init(path: String, channels: ChannelLimit = .stereo) throws(MediaError) {
    try self.init(MediaFile(path: path), channels: channels)
  }

  package init(_ file: MediaFile, channels: ChannelLimit = .stereo) throws(MediaError) {
    let path = file.path
    let library = try FFmpegLibrary.load(toPlay: path)
    reader = try ItemReader(path: path, channels: channels) { () throws(MediaError) in
      try Self.open(file, library)
    }
    (self.file, self.library) = (file, library)
    let audio = reader.audio
    format = audio.format
    sampleType = audio.facts.sampleType
    isLossless = audio.facts.isLossless
    frameCount = audio.frameCount
    estimatedFrameCount = audio.estimatedFrameCount
    metadata = audio.metadata
  }

  private static func open(
    _ file: MediaFile, _ library: FFmpegLibrary
  ) throws(MediaError) -> Demuxer {
    let input = try FileInput(file, isSeekable: !OggChain.isChain(file), library: library)
    return try Demuxer(path: file.path, input: .file(input), library: library)
  }

  /// - Throws: `MediaError.broken`, once, after the last frame of a file that ends early.
  package func read(_ count: Int, appendingTo frames: inout [Float]) throws(MediaError) {
    try reader.read(count, appendingTo: &frames)
  }

  package func seek(toFrame frame: Int64) throws(MediaError) { try reader.seek(toFrame: frame) }

  package func packets() throws(PassObstacle) -> any PacketSource {
    // A file that cannot be sought is a chain of streams, which may differ.
    guard reader.audio.reader.demuxer.isSeekable else { throw .notPassable(codec: "chain") }
    let (file, library) = (file, library)
    return try PacketReader(of: reader.audio) { () throws(MediaError) in
      try Self.open(file, library)
    }
  }
}
