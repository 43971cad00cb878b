import Audio
import CFFmpeg
import Sender

/// The packets of one opened container, in order.
final class RawPackets {
  struct Packet {
    var payload: [UInt8]
    /// In the stream's time base; nil if there is none.
    var timestamp: Int64?
    /// Decoded frames at the beginning that the container marks to be skipped; nil if it marks none.
    var skippedFrames: Int?
    /// Decoded frames at the end that the container marks to be skipped.
    var discardedFrames: Int
    /// True if none of the packet's frames are audible.
    var isDiscarded: Bool
  }

  let demuxer: Demuxer
  private var packet: UnsafeMutablePointer<AVPacket>?
  private var waiting: [Packet] = []

  /// - Parameter waiting: packets that were read before.
  init(_ demuxer: Demuxer, waiting: [Packet] = []) {
    self.demuxer = demuxer
    self.waiting = waiting
    packet = demuxer.library.calls.av_packet_alloc()
  }

  deinit { demuxer.library.calls.av_packet_free(&packet) }

  /// Returns nil at the end, or if a read was abandoned.
  ///
  /// - Throws: `MediaError.broken`.
  func next() throws(MediaError) -> Packet? {
    if !waiting.isEmpty { return waiting.removeFirst() }
    guard let packet else { return nil }
    let code = demuxer.readPacket(into: packet)
    if code == cff_eof || code == cff_exit { return nil }
    guard code >= 0 else {
      throw .broken(path: demuxer.path, reason: demuxer.library.reason(of: code))
    }
    defer { demuxer.library.calls.av_packet_unref(packet) }
    return Packet(packet, demuxer.library)
  }

  /// Returns up to `count` of the packets that `next` will give.
  func peek(_ count: Int) throws(MediaError) -> [Packet] {
    var ahead: [Packet] = []
    while ahead.count < count, let packet = try next() { ahead.append(packet) }
    waiting = ahead + waiting
    return ahead
  }

  /// Returns false if the seek failed.
  func seek(toTimestamp timestamp: Int64) -> Bool {
    waiting = []
    return demuxer.seek(toTimestamp: timestamp)
  }
}

extension RawPackets.Packet {
  init(_ packet: UnsafeMutablePointer<AVPacket>, _ library: FFmpegLibrary) {
    let raw = packet.pointee
    let trim = Self.trim(of: packet, library)
    payload = Array(UnsafeBufferPointer(start: raw.data, count: max(0, Int(raw.size))))
    timestamp = raw.pts == cff_no_pts ? nil : raw.pts
    skippedFrames = trim?.skipped
    discardedFrames = trim?.discarded ?? 0
    isDiscarded = raw.flags & AV_PKT_FLAG_DISCARD != 0
  }

  /// Reads the frames to skip at the beginning and the end: two little-endian numbers of 32 bits.
  private static func trim(
    of packet: UnsafeMutablePointer<AVPacket>, _ library: FFmpegLibrary
  ) -> (skipped: Int, discarded: Int)? {
    var size = 0
    guard
      let data = library.calls.av_packet_get_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, &size),
      size >= 8
    else { return nil }
    let bytes = UnsafeBufferPointer(start: data, count: 8)
    let numbers = [0, 4].map { start in
      (0..<4).reduce(0) { $0 | Int(bytes[start + $1]) << (8 * $1) }
    }
    return (numbers[0], numbers[1])
  }
}
