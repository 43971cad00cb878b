import Audio
import CFFmpeg

/// Computes how many frames a packet decodes to, from the packet alone.
final class PacketMeter {
  private let codec: Codec
  private let rate: Int
  private let channelCount: Int
  /// Frames per packet if all packets have equally many, or the largest number.
  private let constant: Int
  private var vorbis: (parser: OpaquePointer, library: FFmpegLibrary)?

  /// - Parameter constant: for AAC and ALAC, the frames of a packet, from the configuration.
  init(_ codec: Codec, _ audio: AudioFormat, constant: Int) {
    self.codec = codec
    self.constant = constant
    (rate, channelCount) = (audio.sampleRate, audio.channelCount)
  }

  /// Does the same, and handles Vorbis too, whose headers the demuxer has.
  convenience init?(
    _ codec: Codec, _ audio: AudioFormat, constant: Int, demuxer: Demuxer
  ) {
    self.init(codec, audio, constant: constant)
    if codec == .vorbis {
      guard let parameters = demuxer.stream.pointee.codecpar,
        let parser = demuxer.library.calls.av_vorbis_parse_init(
          parameters.pointee.extradata, parameters.pointee.extradata_size)
      else { return nil }
      vorbis = (parser, demuxer.library)
    }
  }

  deinit {
    guard let vorbis else { return }
    var parser: OpaquePointer? = vorbis.parser
    vorbis.library.calls.av_vorbis_parse_free(&parser)
  }

  /// Returns nil for a packet that is broken, or has another rate or number of channels than the stream.
  func frameCount(of packet: [UInt8]) -> Int? {
    switch codec {
    case .pcm: nil
    case .aac: constant
    case .mp3: mpegAudio(packet)
    case .alac: lossless(packet)
    case .flac: flac(packet)
    case .opus: opus(packet)
    case .vorbis: vorbis(packet)
    case .ac3, .eac3: dolby(packet)
    }
  }

  private func mpegAudio(_ packet: [UInt8]) -> Int? {
    var reader = BitReader(packet.prefix(4))
    guard packet.count > 4, reader.read(11) == 0x7ff else { return nil }
    let version = reader.read(2)
    guard version != 1, reader.read(2) == 1 else { return nil }
    _ = reader.read(1)
    guard reader.read(4) < 15 else { return nil }
    let index = reader.read(2)
    guard index < 3 else { return nil }
    let base = [44_100, 48_000, 32_000][index]
    _ = reader.read(2)
    let channels = reader.read(2) == 3 ? 1 : 2
    guard base >> [2: 1, 0: 2, 3: 0][version, default: 0] == rate, channels == channelCount else {
      return nil
    }
    return version == 3 ? 1_152 : 576
  }

  /// Reads the count from the first element of a packet that is shorter than the others.
  private func lossless(_ packet: [UInt8]) -> Int? {
    var reader = BitReader(packet.prefix(8))
    _ = reader.read(3 + 4 + 12)
    guard reader.read(1) == 1 else { return constant }
    _ = reader.read(3)
    let count = reader.read(32)
    return count > 0 && count <= constant && !reader.isPastEnd ? count : nil
  }

  private func flac(_ packet: [UInt8]) -> Int? {
    guard packet.count > 6, packet[0] == 0xff, packet[1] & 0xfc == 0xf8 else { return nil }
    let code = Int(packet[2] >> 4)
    // The frame's number comes before it, coded like a character in UTF-8.
    let length = max(1, (~packet[4]).leadingZeroBitCount)
    let rest = packet.dropFirst(4 + length).prefix(2).map(Int.init)
    guard rest.count == 2 else { return nil }
    switch code {
    case 1: return 192
    case 2...5: return 576 << (code - 2)
    case 6: return rest[0] + 1
    case 7: return (rest[0] << 8 | rest[1]) + 1
    case 8...15: return 256 << (code - 8)
    default: return nil
    }
  }

  /// RFC 6716, 3.1 and 3.2.
  private func opus(_ packet: [UInt8]) -> Int? {
    guard let first = packet.first else { return nil }
    let configuration = Int(first >> 3)
    let length =
      switch configuration {
      case 0..<12: [480, 960, 1_920, 2_880][configuration % 4]
      case 12..<16: [480, 960][configuration % 2]
      default: [120, 240, 480, 960][configuration % 4]
      }
    let count: Int
    switch first & 3 {
    case 0: count = 1
    case 1, 2: count = 2
    default:
      guard packet.count > 1 else { return nil }
      count = Int(packet[1] & 0x3f)
    }
    return (120...5_760).contains(count * length) ? count * length : nil
  }

  private func vorbis(_ packet: [UInt8]) -> Int? {
    guard let vorbis, !packet.isEmpty else { return nil }
    let count = vorbis.library.calls.av_vorbis_parse_frame(
      vorbis.parser, packet, Int32(clamping: packet.count))
    return count > 0 ? Int(count) : nil
  }

  /// A/52: counts all frames of the first program in the packet; further substreams carry more channels of the
  /// same time.
  private func dolby(_ packet: [UInt8]) -> Int? {
    if codec == .ac3 { return packet.starts(with: [0x0b, 0x77]) ? 1_536 : nil }
    var count = 0
    var rest = packet[...]
    while rest.count > 6 {
      var reader = BitReader(rest.prefix(6))
      guard reader.read(16) == 0x0b77 else { return nil }
      let (type, substream, size) = (reader.read(2), reader.read(3), 2 * (reader.read(11) + 1))
      let rateCode = reader.read(2)
      let blockCode = reader.read(2)
      let blocks = rateCode == 3 ? 6 : [1, 2, 3, 6][blockCode]
      if type != 1, substream == 0 { count += 256 * blocks }
      guard size <= rest.count else { return nil }
      rest = rest.dropFirst(size)
    }
    return count > 0 && rest.isEmpty ? count : nil
  }
}
