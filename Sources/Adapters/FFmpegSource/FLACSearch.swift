import CFFmpeg

/// Seeks in FLAC over the network, for which FFmpeg would need up to 18 requests. Each frame carries the number of
/// its first sample, so interpolation between two known frames soon finds the wanted one. The search enters it into
/// FFmpeg's index.
final class FLACSearch {
  /// In bytes: two of the largest frames that encoders make of 16-bit music, and more than one of 24-bit music.
  private static let windowSize = 32 << 10
  /// A place at most this many bytes ahead is reached by reading instead of by a request.
  private static let nearBytes: Int64 = 32 << 10
  /// Largest number of guesses, more than any file of music needs; beyond it, FFmpeg searches.
  private static let guessLimit = 6

  private let library: FFmpegLibrary
  private let stream: UnsafeMutablePointer<AVStream>
  private let bytes: NetworkBytes
  private let format: FLACFrame.Format
  /// The end of the last frame.
  private let end: FLACFrame

  /// Returns nil for streams of other kinds.
  init?(in demuxer: Demuxer) {
    let stream = demuxer.stream
    guard demuxer.formatName == "flac", demuxer.durationIsKnown, let bytes = demuxer.bytes,
      let parameters = stream.pointee.codecpar?.pointee, let header = parameters.extradata,
      parameters.extradata_size >= 34, stream.pointee.time_base.num == 1
    else { return nil }
    (library, self.stream, self.bytes) = (demuxer.library, stream, bytes)
    let blockSize = UnsafeBufferPointer(start: header, count: 4).map(Int64.init)
    let (least, most) = (blockSize[0] << 8 | blockSize[1], blockSize[2] << 8 | blockSize[3])
    format = FLACFrame.Format(blockSize: least == most ? most : nil)
    end = FLACFrame(sample: stream.pointee.duration, place: demuxer.byteCount)
  }

  /// Returns the time of the frame at which to start reading for `timestamp`, both in samples.
  func reach(_ timestamp: Int64) -> Int64 {
    guard var before = entry(AVSEEK_FLAG_BACKWARD, timestamp), end.place > before.place else {
      return timestamp
    }
    var after = entry(0, timestamp) ?? end
    for _ in 0..<Self.guessLimit {
      if isNear(before, timestamp, after) { return enter(before) }
      let frames = self.frames(from: guess(timestamp, before, after)).filter {
        (before.sample...after.sample).contains($0.sample)
      }
      guard let first = frames.first, let last = frames.last else { return timestamp }
      if first.sample > timestamp {
        after = first
      } else if last.sample > timestamp {
        return enter(frames.last { $0.sample <= timestamp } ?? first)
      } else {
        before = last
      }
    }
    return timestamp
  }

  private func entry(_ flags: Int32, _ timestamp: Int64) -> FLACFrame? {
    guard
      let entry = library.calls.avformat_index_get_entry_from_timestamp(stream, timestamp, flags)
    else { return nil }
    return FLACFrame(sample: entry.pointee.timestamp, place: entry.pointee.pos)
  }

  /// Returns the byte at which a sample should be, by interpolation between two frames.
  private func expected(_ sample: Int64, _ before: FLACFrame, _ after: FLACFrame) -> Int64 {
    guard after.sample > before.sample else { return before.place }
    let share = Double(sample - before.sample) / Double(after.sample - before.sample)
    return before.place + Int64(share * Double(after.place - before.place))
  }

  private func isNear(_ before: FLACFrame, _ sample: Int64, _ after: FLACFrame) -> Bool {
    expected(sample, before, after) - before.place < Self.nearBytes
  }

  /// Returns a place a little before the expected byte, so that the window contains the start of the frame.
  private func guess(_ sample: Int64, _ before: FLACFrame, _ after: FLACFrame) -> Int64 {
    let place = expected(sample, before, after) - Int64(Self.windowSize / 2)
    return min(max(place, before.place), max(before.place, after.place - Int64(Self.windowSize)))
  }

  private func enter(_ frame: FLACFrame) -> Int64 {
    _ = library.calls.av_add_index_entry(
      stream, frame.place, frame.sample, 0, 0, AVINDEX_KEYFRAME)
    bytes.jump(to: frame.place)
    return frame.sample
  }

  private func frames(from place: Int64) -> [FLACFrame] {
    bytes.jump(to: place)
    var window = [UInt8](repeating: 0, count: Self.windowSize)
    let count = library.calls.avio_read(bytes.context, &window, Int32(window.count))
    window.removeLast(window.count - max(0, Int(count)))
    return window.indices.compactMap { index in
      format.sample(in: window, at: index).map {
        FLACFrame(sample: $0, place: place + Int64(index))
      }
    }
  }
}

/// The start of a frame: its first sample, and its first byte in the file.
struct FLACFrame {
  var sample: Int64
  var place: Int64

  /// Properties that all frames of a file share.
  struct Format {
    /// In samples; nil if frames have several sizes, and carry their sample number instead of their frame number.
    let blockSize: Int64?

    /// Returns the first sample of the frame whose header is at `index`; nil if there is none. RFC 9639, section 9.1.
    func sample(in bytes: [UInt8], at index: Int) -> Int64? {
      guard index + 16 <= bytes.count, bytes[index] == 0xff,
        bytes[index + 1] == (blockSize == nil ? 0xf9 : 0xf8)
      else { return nil }
      let (size, rate) = (bytes[index + 2] >> 4, bytes[index + 2] & 0xf)
      let (channels, depth) = (bytes[index + 3] >> 4, bytes[index + 3] >> 1 & 7)
      guard size != 0, rate != 15, channels < 11, depth != 3, bytes[index + 3] & 1 == 0,
        let (number, length) = number(in: bytes, at: index + 4)
      else { return nil }
      var check = index + 4 + length
      check += [6: 1, 7: 2][size, default: 0] + [12: 1, 13: 2, 14: 2][rate, default: 0]
      guard check < bytes.count, Self.sum(bytes[index..<check]) == bytes[check] else { return nil }
      return blockSize.map { $0 * number } ?? number
    }

    /// Reads a number coded like a character in UTF-8, of up to 7 bytes, 36 bits.
    private func number(in bytes: [UInt8], at index: Int) -> (Int64, length: Int)? {
      let ones = (~bytes[index]).leadingZeroBitCount
      if ones == 0 { return (Int64(bytes[index]), 1) }
      guard (2...7).contains(ones) else { return nil }
      var number = Int64(bytes[index] & UInt8(0x7f >> ones))
      for byte in bytes[index + 1..<index + ones] {
        guard byte & 0xc0 == 0x80 else { return nil }
        number = number << 6 | Int64(byte & 0x3f)
      }
      return (number, ones)
    }

    /// Returns the CRC-8 with the polynomial x⁸ + x² + x + 1.
    private static func sum(_ bytes: ArraySlice<UInt8>) -> UInt8 {
      bytes.reduce(0) { sum, byte in
        (0..<8).reduce(sum ^ byte) { sum, _ in sum << 1 ^ (sum & 0x80 == 0 ? 0 : 7) }
      }
    }
  }
}
