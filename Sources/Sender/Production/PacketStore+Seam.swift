import Audio
import Clock

/// Finds where a room can change from one encoding to the other.
extension PacketStore {
  /// Packets of two encodings are out of order by no more than this many: nine packets of Opus are as long as one of FLAC.
  static let reach = 64

  /// The packets with which a room goes on in another encoding.
  struct Seam {
    /// They only prepare the decoder.
    var preparing: [Entry]
    var first: Entry
    /// The number of the packet that follows; nil if there is none yet.
    var next: UInt64?
  }

  /// Returns how a room that has everything up to `time` goes on in another form, with audio of the generation of `entry`,
  /// which is near; nil if there is no packet for it.
  func seam(to form: PacketForm, at time: MediaTime, near entry: Entry) -> Seam? {
    guard let place = index(from: entry.sequence) else { return nil }
    let range = max(first, place - Self.reach)..<min(entries.count, place + Self.reach)
    let found = range.first { index in
      let other = entries[index]
      return other.form == form && other.generation == entry.generation && other.end > time
    }
    guard let found else { return nil }
    let next = entries[found]
    // A packet that begins later would leave a hole; one whose frames lie between those before it leaves none.
    guard next.mediaTime < time + next.format.audio.duration(ofFrames: 1) else { return nil }
    let behind = entries[(found + 1)...].prefix(Self.reach).first { $0.form == form }
    return Seam(
      preparing: preparing(next, at: found, from: range.lowerBound), first: next,
      next: behind?.sequence)
  }

  /// Returns the packet of the usual encoding that follows `entry`; nil if there is none yet.
  func usual(after entry: Entry) -> Entry? {
    guard let place = index(from: entry.sequence + 1) else { return nil }
    return entries[place...].first { $0.form != .small }
  }

  /// Returns the packets of its run before `entry` that a decoder needs. Each run has a format number of its own, and a room
  /// is told only that of the first packet that it gets.
  private func preparing(_ entry: Entry, at place: Int, from lower: Int) -> [Entry] {
    var found: [Entry] = []
    for index in (lower..<place).reversed() where entries[index].form == entry.form {
      let before = entries[index]
      guard before.generation == entry.generation, before.formatID == entry.formatID,
        found.count < entry.format.codec.packetsToPrepare
      else { break }
      found.append(before)
    }
    return found.reversed()
  }
}
