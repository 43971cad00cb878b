import Audio
import Sender

/// The packets of a live stream, from the connection on which it was opened, as they arrive.
///
/// Supports only MP3, and AAC with a header before each packet: their headers give the format, which reveals a change
/// of the stream in the middle.
final class LivePackets: PacketSource {
  /// Consecutive packets of another format, about half a second, after which the stream counts as changed.
  private static let faultLimit = 20
  /// Seconds of passed packets that prepare a decoder to continue from there.
  private static let lead = 0.3
  private static let leadWithReplication = 1.0

  private struct Entry {
    /// The packet with its header.
    var raw: [UInt8]
    var packet: EncodedPacket
  }

  let format: StreamFormat
  private(set) var position: Int64
  /// Reason why there are no more packets.
  private(set) var loss: MediaError?

  private let stream: PassedStream
  private let meter: PacketMeter
  private let packets: RawPackets
  private let header: ADTSHeader?
  private var framesToSkip: Int
  private var waiting: [Entry] = []
  private var recent: [Entry] = []
  private var recentFrames = 0

  /// - Parameters:
  ///   - audio: the stream, from which no frame has been read.
  ///   - frame: the number of its first frame.
  init(_ audio: DecodedAudio, from frame: Int64) throws(PassObstacle) {
    let recorded = audio.reader.takeRecorded()
    // A connection that begins in the middle of a packet yields other bytes first.
    guard let first = recorded.last(where: { ADTSHeader($0.payload) != nil }) ?? recorded.last
    else { throw .isLive }
    let stream = try PassedStream(audio, first: first.payload)
    let codec = stream.format.codec
    guard codec == .mp3 || codec == .aac && stream.hasADTSHeaders else { throw .isLive }
    let demuxer = audio.reader.demuxer
    guard
      let meter = PacketMeter(
        codec, stream.format.audio, constant: stream.framesPerPacket, demuxer: demuxer)
    else { throw .isLive }
    (self.stream, self.meter) = (stream, meter)
    format = stream.format
    position = frame
    packets = RawPackets(demuxer, waiting: recorded)
    header = stream.hasADTSHeaders ? ADTSHeader(first.payload) : nil
    framesToSkip = recorded.first?.skippedFrames ?? 0
  }

  /// - Throws: `MediaError.broken` if the station hangs up, or if its stream changes its format.
  func next() throws(MediaError) -> EncodedPacket? {
    if waiting.isEmpty, loss == nil { read() }
    guard !waiting.isEmpty else {
      if let loss { throw loss }
      return nil
    }
    let entry = waiting.removeFirst()
    position += Int64(entry.packet.frameCount)
    keep(entry)
    return entry.packet
  }

  /// The packets before `position`, which prepare a decoder, and those that were read but not given out.
  var rest: (lead: [[UInt8]], waiting: [[UInt8]]) { (recent.map(\.raw), waiting.map(\.raw)) }

  /// Accepts only the present position.
  func seek(toFrame frame: Int64) throws(MediaError) {
    guard frame == position else { throw .notSeekable(path: packets.demuxer.path) }
  }

  private func keep(_ entry: Entry) {
    let seconds = stream.framesPerPacket > 1_024 ? Self.leadWithReplication : Self.lead
    recent.append(entry)
    recentFrames += entry.packet.frameCount
    while let first = recent.first,
      recentFrames - first.packet.frameCount
        > Int(seconds * Double(format.audio.sampleRate))
    {
      recentFrames -= first.packet.frameCount
      recent.removeFirst()
    }
  }

  /// Reads one more packet, if there is one.
  private func read() {
    let demuxer = packets.demuxer
    for _ in 0..<Self.faultLimit {
      let raw: RawPackets.Packet?
      do throws(MediaError) { raw = try packets.next() } catch {
        loss = error
        return
      }
      guard let raw else {
        if !demuxer.isInterrupted, demuxer.isRadio {
          loss = .broken(path: demuxer.path, reason: "the station hung up")
        }
        return
      }
      if let packet = parsed(raw) { return waiting.append(Entry(raw: raw.payload, packet: packet)) }
    }
    loss = .broken(path: demuxer.path, reason: "its packets change their format")
  }

  private func parsed(_ raw: RawPackets.Packet) -> EncodedPacket? {
    var payload = raw.payload
    if let header {
      guard let own = ADTSHeader(payload), own.rateIndex == header.rateIndex,
        own.channelConfiguration == header.channelConfiguration
      else { return nil }
      payload.removeFirst(own.byteCount)
    }
    guard let count = meter.frameCount(of: payload) else { return nil }
    let skipped = min(framesToSkip, count)
    framesToSkip -= skipped
    let discarded = min(raw.discardedFrames, count - skipped)
    return EncodedPacket(
      payload: payload, skippedFrames: skipped, frameCount: count - skipped - discarded)
  }
}
