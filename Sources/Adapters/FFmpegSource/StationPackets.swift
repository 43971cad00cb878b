import Clock

/// Cuts what a station sends into whole packets of MP3 or ADTS AAC, and leaves out what is none. So a connection that ends
/// within a packet, and the next one that begins within one, make no noise.
struct StationPackets {
  /// Bytes without a packet after which something else than music is sent: three packets are shorter.
  static let searchLimit = 32 << 10

  private var waiting: [UInt8] = []
  private var shape: Int?
  /// Bytes without a packet by which those in packets have not made up for them.
  private(set) var skipped = 0

  /// Takes bytes, and returns the packets that are whole by now.
  mutating func cut(_ bytes: ArraySlice<UInt8>) -> (bytes: [UInt8], duration: MediaDuration) {
    waiting += bytes
    var whole: [UInt8] = []
    var duration = MediaDuration.zero
    var place = 0
    while let packet = packet(at: &place), place + packet.byteCount <= waiting.count {
      whole += waiting[place..<place + packet.byteCount]
      duration = duration + packet.duration
      place += packet.byteCount
      skipped = max(0, skipped - packet.byteCount)
    }
    waiting.removeFirst(place)
    return (whole, duration)
  }

  /// Returns the packet at `place`, which moves on to it; nil if more must come.
  private mutating func packet(
    at place: inout Int
  ) -> (byteCount: Int, duration: MediaDuration)? {
    while true {
      if let header = PacketHeader(waiting, at: place), header.shape == shape,
        let duration = header.duration
      {
        return (header.byteCount, duration)
      }
      guard waiting.count - place >= 7 else { return nil }
      guard let first = PacketHeader.firstPacket(in: waiting, from: place) else {
        let passed = max(0, waiting.count - place - Self.searchLimit)
        (place, skipped) = (place + passed, skipped + passed)
        return nil
      }
      let header = PacketHeader(waiting, at: first)
      skipped += first - place
      place = first
      shape = header?.shape
      // A packet of something else.
      if header?.duration == nil { (place, shape, skipped) = (place + 1, nil, skipped + 1) }
    }
  }

  /// A new connection begins anywhere.
  mutating func beginAnew() { self = StationPackets() }
}
