import Audio
import Codecs
import FFmpegDecoder
import Foundation
import Sender
import TestSupport
import Testing

/// Chooses the decoder like the receiver's program.
func makeDecoder(_ format: StreamFormat) throws(CodecError) -> any AudioDecoder {
  switch format.codec {
  case .pcm: try PCMDecoder(format: format)
  case .flac, .opus: try AudioCodecs.makeDecoder(for: format)
  case .mp3, .aac, .alac, .vorbis, .ac3, .eac3: try FFmpegDecoder(format: format)
  }
}

/// Returns the valid frames of a packet.
func decode(
  _ packet: EncodedPacket, _ decoder: any AudioDecoder, _ format: StreamFormat
) throws -> [Float] {
  var frames: [Float] = []
  try decoder.decode(packet.payload, appendingTo: &frames)
  let channels = format.audio.channelCount
  let end = (packet.skippedFrames + packet.frameCount) * channels
  try #require(frames.count >= end, "\(frames.count / channels) of \(packet)")
  return Array(frames[packet.skippedFrames * channels..<end])
}

func decodeAll(_ packets: any PacketSource) throws -> [Float] {
  let decoder = try makeDecoder(packets.format)
  var frames: [Float] = []
  while let packet = try packets.next() { frames += try decode(packet, decoder, packets.format) }
  return frames
}

func readAll(_ source: any MediaSource) throws -> [Float] {
  var frames: [Float] = []
  while true {
    let before = frames.count
    try source.read(10_000, appendingTo: &frames)
    if frames.count == before { return frames }
  }
}

func largestDifference(_ a: [Float], _ b: [Float]) -> Float {
  zip(a, b).reduce(0) { max($0, abs($1.0 - $1.1)) }
}

/// Returns the packets, joined, that FFmpeg's own tool copies without decoding.
func copiedPackets(
  of path: String, _ file: PassedFile, in folder: TemporaryFolder
) throws -> [UInt8] {
  let hasHeaders = file.name.hasSuffix("aac") || file.name.hasSuffix("ts")
  let filter = hasHeaders ? ["-bsf:a", "aac_adtstoasc"] : []
  let copy = folder.file("copy.data")
  let input = ["-v", "error", "-y", "-i", path, "-map", "0:a", "-c", "copy"]
  try run("ffmpeg", input + filter + ["-f", "data", copy])
  return [UInt8](try Data(contentsOf: URL(fileURLWithPath: copy)))
}
