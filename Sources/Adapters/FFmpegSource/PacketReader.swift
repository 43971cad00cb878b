package import Audio
import CFFmpeg
package import Sender

/// The packets of a file or stream, each with the frames of the item that it represents.
package final class PacketReader: PacketSource {
  /// Number of leading packets that are searched for the first audible frame.
  private static let leadingPackets = 8
  /// Limit of consecutive packets that cannot be passed on; after it, the stream counts as broken.
  private static let faultLimit = 500
  /// Limits of one packet on the wire.
  private static let frameLimit = 65_536
  private static let byteLimit = 512 * 1_024
  /// In seconds: no codec primes its decoder for longer, and a longer claim would mean endless packets without
  /// sound.
  private static let longestPriming = 2

  package let format: StreamFormat
  package private(set) var position: Int64 = 0

  private let stream: PassedStream
  private let frameCount: Int64?
  private let canSeek: Bool
  private let open: () throws(MediaError) -> Demuxer
  private var packets: RawPackets
  private let meter: PacketMeter
  private var timestamps: PacketTimestamps?
  /// Number of the first frame that the next packet decodes to; below 0 it is priming.
  private var number: Int64 = 0
  /// The first audible frame.
  private var target: Int64 = 0
  /// True if the next packet is the first for its decoder.
  private var startsRun = true
  /// True if the next packet is the first of Vorbis, which decodes to nothing and is not counted.
  private var nextIsUncounted = false
  private var isAtEnd = false
  /// True if `next` or `seek` has thrown; the reader is then unusable.
  private(set) var hasFailed = false

  /// - Parameters:
  ///   - audio: the same item, opened for its frames.
  ///   - open: opens it once more, for its packets; called again if a place is best reached from the beginning.
  /// - Throws: the reason why its packets cannot be passed on.
  init(
    of audio: DecodedAudio, open: @escaping () throws(MediaError) -> Demuxer
  ) throws(PassObstacle) {
    let packets: RawPackets
    let first: [UInt8]
    do throws(MediaError) {
      packets = RawPackets(try open())
      first = try packets.peek(1).first?.payload ?? []
    } catch {
      throw .unreadable(error)
    }
    let stream = try PassedStream(audio, first: first)
    let shape = stream.format.audio
    guard
      let meter = PacketMeter(
        stream.format.codec, shape, constant: stream.framesPerPacket, demuxer: packets.demuxer)
    else { throw .notPassable(codec: "\(stream.format.codec)") }
    (self.packets, self.stream, self.meter, self.open) = (packets, stream, meter, open)
    format = stream.format
    frameCount = audio.facts.frameCount
    canSeek = audio.reader.canSeekByTimestamp
    do throws(MediaError) { try begin() } catch { throw .unreadable(error) }
    guard -number <= Int64(Self.longestPriming * shape.sampleRate) else {
      throw .notPassable(codec: "\(stream.format.codec)")
    }
  }

  /// Starts at the beginning of the item, whose first packets hold the priming.
  private func begin() throws(MediaError) {
    let leading = try packets.peek(Self.leadingPackets)
    number = -Int64(priming(in: leading))
    startsRun = true
    nextIsUncounted = format.codec == .vorbis
    guard leading.count > 1, let timestamp = leading[1].timestamp else { return }
    let first = nextIsUncounted ? 0 : meter.frameCount(of: payload(of: leading[0])) ?? 0
    timestamps = PacketTimestamps(
      timestamp, number: number + Int64(first), step: format.codec == .opus ? 120 : first,
      rate: format.audio.sampleRate, of: packets.demuxer)
  }

  private func priming(in leading: [RawPackets.Packet]) -> Int {
    var frames = 0
    for (index, packet) in leading.enumerated() {
      guard packet.isDiscarded, format.codec != .vorbis else {
        return frames + (packet.skippedFrames ?? (index == 0 ? stream.priming : 0))
      }
      frames += meter.frameCount(of: payload(of: packet)) ?? 0
    }
    return frames
  }

  private func payload(of packet: RawPackets.Packet) -> [UInt8] {
    guard stream.hasADTSHeaders else { return packet.payload }
    // Data that is no packet, or several, becomes an empty packet, which is skipped.
    return ADTSHeader(packet.payload).map { Array(packet.payload[$0.byteCount...]) } ?? []
  }

  package func next() throws(MediaError) -> EncodedPacket? {
    do throws(MediaError) { return try readOn() } catch {
      hasFailed = true
      throw error
    }
  }

  private func readOn() throws(MediaError) -> EncodedPacket? {
    var faults = 0
    while !isAtEnd, let raw = try packets.next() {
      let payload = payload(of: raw)
      guard (1...Self.byteLimit).contains(payload.count),
        let count = meter.frameCount(of: payload), count <= Self.frameLimit
      else {
        faults += 1
        if faults < Self.faultLimit { continue }
        throw .broken(path: packets.demuxer.path, reason: "its packets change their format")
      }
      let start = number
      let counted = nextIsUncounted ? 0 : count
      nextIsUncounted = false
      number += Int64(counted)
      if startsRun, number <= target - leadFrames { continue }
      let decoded = format.codec == .vorbis && startsRun ? 0 : counted
      startsRun = false
      if let packet = trimmed(payload, from: start, decoded: decoded, raw) { return packet }
    }
    isAtEnd = true
    try checkEnd()
    return nil
  }

  /// Checks for a file that ends early; the decoding reader reports the better error.
  private func checkEnd() throws(MediaError) {
    // The file's own count may be wrong by less than a tenth of a second.
    guard let frameCount, frameCount - position > Int64(format.audio.sampleRate / 10),
      !packets.demuxer.isInterrupted
    else { return }
    throw .broken(path: packets.demuxer.path, reason: "it ends before its time")
  }

  /// Returns the packet without frames outside the item; nil past the item's end.
  private func trimmed(
    _ payload: [UInt8], from start: Int64, decoded: Int, _ raw: RawPackets.Packet
  ) -> EncodedPacket? {
    let end = start + Int64(decoded)
    let limit = frameCount ?? (end - Int64(min(raw.discardedFrames, decoded)))
    let first = min(max(start, target), end)
    let last = max(first, min(end, limit))
    if frameCount.map({ start >= $0 }) ?? false || last == first && first == start && decoded > 0 {
      isAtEnd = true
      return nil
    }
    if last > first { position = last }
    return EncodedPacket(
      payload: payload, skippedFrames: Int(first - start), frameCount: Int(last - first))
  }

  private var leadFrames: Int64 {
    PacketDescription.leadFrames(before: format, framesPerPacket: stream.framesPerPacket)
  }

  package func seek(toFrame frame: Int64) throws(MediaError) {
    target = max(0, frame)
    position = target
    let wasAtEnd = isAtEnd
    isAtEnd = target >= frameCount ?? .max
    guard !isAtEnd else { return }
    guard packets.demuxer.isSeekable else { return try seekWithoutJumps(wasAtEnd) }
    guard try !seekByTimestamp() else { return }
    try beginAgain()
  }

  /// Reads ahead to a later place, and opens the item again for an earlier one.
  private func seekWithoutJumps(_ wasAtEnd: Bool) throws(MediaError) {
    guard number <= target - leadFrames, !wasAtEnd else { return try beginAgain() }
    startsRun = true
  }

  private func beginAgain() throws(MediaError) {
    // Start again from the beginning: exact in every format, and packets are skipped fast.
    do throws(MediaError) {
      packets = RawPackets(try open())
      try begin()
    } catch {
      hasFailed = true
      throw error
    }
  }

  /// Returns false if timestamps do not lead to a place before the target.
  private func seekByTimestamp() throws(MediaError) -> Bool {
    let goal = target - leadFrames
    guard canSeek, goal > 0, let timestamps,
      packets.seek(toTimestamp: timestamps.timestamp(of: goal))
    else { return false }
    // The first packet of Vorbis decodes to nothing: the item continues with the second.
    let isVorbis = format.codec == .vorbis
    guard let first = try packets.peek(2).dropFirst(isVorbis ? 1 : 0).first,
      let found = first.timestamp.flatMap(timestamps.number), found <= target
    else { return false }
    number = found
    nextIsUncounted = isVorbis
    startsRun = true
    return true
  }
}
